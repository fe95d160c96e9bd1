// Language, colours, motion; and the keys there are.

import { type ReactElement, useId } from "react";
import { type Language, type Theme, usePreferences } from "../view/preferences";
import { useWords } from "../words";

const LANGUAGES: Readonly<Record<Language, string>> = { en: "English", ko: "한국어" };

export function Settings(): ReactElement {
  const words = useWords();
  const { language, theme, reducedMotion, set } = usePreferences();
  const themes: Readonly<Record<Theme, string>> = {
    auto: words.settings.auto,
    light: words.settings.light,
    dark: words.settings.dark,
  };
  return (
    <div className="settings">
      <Choice
        label={words.settings.language}
        options={LANGUAGES}
        value={language}
        choose={(chosen) => set({ language: chosen })}
      />
      <Choice label={words.settings.theme} options={themes} value={theme} choose={(chosen) => set({ theme: chosen })} />
      <label className="check">
        <input
          type="checkbox"
          checked={reducedMotion}
          onChange={(event) => set({ reducedMotion: event.target.checked })}
        />
        <span>{words.settings.motion}</span>
      </label>
      <h3>{words.settings.keys}</h3>
      <dl className="keys">
        {words.settings.keyList.map(([keys, what]) => (
          <div key={keys}>
            <dt>
              {keys.split(" ").map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

interface ChoiceProps<T extends string> {
  readonly label: string;
  readonly options: Readonly<Record<T, string>>;
  readonly value: T;
  choose(option: T): void;
}

/** One of a few, all in sight. */
export function Choice<T extends string>({ label, options, value, choose }: ChoiceProps<T>): ReactElement {
  const name = useId();
  return (
    <fieldset className="choice">
      <legend>{label}</legend>
      <div>
        {(Object.entries(options) as [T, string][]).map(([option, text]) => (
          <label key={option}>
            <input type="radio" name={name} checked={option === value} onChange={() => choose(option)} />
            <span>{text}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
