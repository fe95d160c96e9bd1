// How somebody sees the others: from the warmest to the coldest, with what it rests on.

import { type ReactElement, useState } from "react";
import type { Tie } from "../api";
import { useView } from "../view/context";
import { useWords } from "../words";
import { Evidence } from "./Memories";
import { Name, Portrait, When } from "./parts";

export function Ties({ agent, ties }: { readonly agent: string; readonly ties: readonly Tie[] }): ReactElement {
  const words = useWords();
  if (ties.length === 0) return <p className="soft">{words.ties.none}</p>;
  const sorted = [...ties].sort((one, other) => other.warmth - one.warmth || one.other.localeCompare(other.other));
  return (
    <ul className="ties">
      {sorted.map((tie) => (
        <Row key={tie.other} agent={agent} tie={tie} />
      ))}
    </ul>
  );
}

function Row({ agent, tie }: { readonly agent: string; readonly tie: Tie }): ReactElement {
  const words = useWords();
  const language = useView((view) => view.town.language);
  const [open, setOpen] = useState(false);
  return (
    <li className="tie">
      <Portrait agent={tie.other} />
      <div>
        <span className="row spread">
          <span>
            <Name agent={tie.other} />{" "}
            <span className="soft" lang={language}>
              {tie.label}
            </span>
          </span>
          <span className="aside">
            {words.ties.talks(tie.talks)} {tie.last_talk >= 0 && <When tick={tie.last_talk} />}
          </span>
        </span>
        <WarmthBar warmth={tie.warmth} />
        {tie.summary && <p lang={language}>{tie.summary}</p>}
        {tie.because.length > 0 && (
          <button type="button" className="link soft" aria-expanded={open} onClick={() => setOpen(!open)}>
            {words.ties.because} ({tie.because.length})
          </button>
        )}
        {open && <Evidence agent={agent} ids={tie.because} depth={2} />}
      </div>
    </li>
  );
}

/** From the middle to the right for liking, to the left for disliking. */
export function WarmthBar({ warmth }: { readonly warmth: number }): ReactElement {
  const words = useWords();
  const share = Math.min(100, Math.abs(warmth)) / 2;
  return (
    <span
      className="warmth"
      role="img"
      aria-label={`${words.ties.warmth} ${warmth}`}
      title={`${words.ties.warmth} ${warmth}`}
    >
      <i
        className={warmth < 0 ? "cold" : "warm"}
        style={{ width: `${share}%`, left: `${warmth < 0 ? 50 - share : 50}%` }}
      />
    </span>
  );
}
