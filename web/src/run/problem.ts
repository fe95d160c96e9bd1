// What went wrong, in words a person can act on.

import type { Problem } from "../api";

/** What every call of a `Source` or `Library` rejects with. */
export class Failure extends Error {
  constructor(readonly problem: Problem) {
    super(problem.title);
  }
}

/** The problem of anything that was thrown. */
export function problemOf(thrown: unknown): Problem {
  if (thrown instanceof Failure) return thrown.problem;
  const title = thrown instanceof Error ? thrown.message : String(thrown);
  return { type: "about:blank", title, status: 0, detail: "", hint: "" };
}
