// The words of the page in the language chosen.

import { type Language, usePreferences } from "../view/preferences";
import { en, type Words } from "./en";
import { ko } from "./ko";

export const WORDS: Readonly<Record<Language, Words>> = { en, ko };

export function useWords(): Words {
  return WORDS[usePreferences((preferences) => preferences.language)];
}

/** The word for a name that comes as data, or the name itself. */
export function named(table: Readonly<Record<string, string>>, name: string): string {
  return table[name] ?? name;
}
