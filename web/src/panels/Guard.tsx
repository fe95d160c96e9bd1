// A panel that fails says so in its own place; the rest of the page goes on.

import { Component, type ReactNode } from "react";
import type { Problem } from "../api";
import { problemOf } from "../run/problem";
import { ProblemNote } from "./parts";

interface GuardProps {
  readonly children: ReactNode;
}

/** A class because React catches errors in classes alone. */
export class Guard extends Component<GuardProps, { readonly problem: Problem | null }> {
  override state: { readonly problem: Problem | null } = { problem: null };

  static getDerivedStateFromError(thrown: unknown): { readonly problem: Problem } {
    return { problem: problemOf(thrown) };
  }

  override render(): ReactNode {
    const { problem } = this.state;
    if (!problem) return this.props.children;
    return (
      <div className="pad">
        <ProblemNote problem={problem} retry={() => this.setState({ problem: null })} />
      </div>
    );
  }
}
