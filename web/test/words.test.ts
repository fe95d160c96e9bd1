import { expect, test } from "vitest";
import { en } from "../src/words/en";
import { ko } from "../src/words/ko";

/** Every word of a language, by its path; functions as what they say about 3. */
function flat(words: object, path = ""): Map<string, string> {
  const found = new Map<string, string>();
  for (const [key, value] of Object.entries(words)) {
    const at = `${path}${key}`;
    if (typeof value === "string") found.set(at, value);
    else if (typeof value === "function") found.set(at, String(value(3, 4, 5)));
    else for (const [inner, text] of flat(value, `${at}.`)) found.set(inner, text);
  }
  return found;
}

test("every word has a Korean one that is Korean, and no particle depends on a name", () => {
  const [english, korean] = [flat(en), flat(ko)];
  expect([...korean.keys()].sort()).toEqual([...english.keys()].sort());
  const same = [...korean].filter(([at, text]) => text === english.get(at)).map(([at]) => at);
  expect(same.sort()).toEqual(
    [
      "app.name",
      "memory.figures",
      "time.perSecond",
      ...[0, 1, 2, 3, 4, 5, 6, 7].map((key) => `settings.keyList.${key}.0`),
    ].sort(),
  );
  for (const text of korean.values()) expect(text).not.toMatch(/[은이을과]\(|\([는가를와]\)/);
});
