// What was asked of the mind, added up.

import { numberOf, textOf } from "./memory";

export interface UsageSum {
  readonly name: string;
  readonly asked: number;
  readonly cached: number;
  readonly fallbacks: number;
  readonly lost: number;
  readonly tokensIn: number;
  readonly tokensOut: number;
  readonly cost: number;
}

type Line = Readonly<Record<string, unknown>>;

/** Sums by task or by person, the busiest first. */
export function sums(lines: readonly Line[], by: "task" | "agent_id"): readonly UsageSum[] {
  const found = new Map<string, UsageSum>();
  for (const line of lines) {
    const name = textOf(line[by]);
    found.set(name, added(found.get(name) ?? nothing(name), line));
  }
  return [...found.values()].sort((one, other) => other.asked - one.asked || one.name.localeCompare(other.name));
}

export function total(rows: readonly UsageSum[]): UsageSum {
  return rows.reduce(
    (sum, row) => ({
      name: "",
      asked: sum.asked + row.asked,
      cached: sum.cached + row.cached,
      fallbacks: sum.fallbacks + row.fallbacks,
      lost: sum.lost + row.lost,
      tokensIn: sum.tokensIn + row.tokensIn,
      tokensOut: sum.tokensOut + row.tokensOut,
      cost: sum.cost + row.cost,
    }),
    nothing(""),
  );
}

function nothing(name: string): UsageSum {
  return { name, asked: 0, cached: 0, fallbacks: 0, lost: 0, tokensIn: 0, tokensOut: 0, cost: 0 };
}

function added(sum: UsageSum, line: Line): UsageSum {
  return {
    name: sum.name,
    asked: sum.asked + numberOf(line.asked),
    cached: sum.cached + numberOf(line.from_cache),
    fallbacks: sum.fallbacks + numberOf(line.fallbacks),
    lost: sum.lost + numberOf(line.lost),
    tokensIn: sum.tokensIn + numberOf(line.prompt_tokens),
    tokensOut: sum.tokensOut + numberOf(line.answer_tokens),
    cost: sum.cost + numberOf(line.cost),
  };
}
