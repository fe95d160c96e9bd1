// What was asked of the mind, added up.

type Line = Readonly<Record<string, unknown>>;
type UsageSum = ReturnType<typeof summed>;

/** The figures of usage lines, added up under a name. */
export function summed(name: string, lines: readonly Line[]) {
  const sum = (figure: string): number => lines.reduce((before, line) => before + Number(line[figure]), 0);
  return {
    name,
    asked: sum("asked"),
    cached: sum("from_cache"),
    fallbacks: sum("fallbacks"),
    lost: sum("lost"),
    tokensIn: sum("prompt_tokens"),
    tokensOut: sum("answer_tokens"),
    cost: sum("cost"),
  };
}

/** Sums by task or by person, the busiest first. */
export function sums(lines: readonly Line[], by: "task" | "agent_id"): readonly UsageSum[] {
  const names = [...new Set(lines.map((line) => String(line[by])))];
  return names
    .map((name) =>
      summed(
        name,
        lines.filter((line) => line[by] === name),
      ),
    )
    .sort((one, other) => other.asked - one.asked || one.name.localeCompare(other.name));
}
