"""`memories`, `search` and `copy-memories`: the memories in a run or a store."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from typing import Any

import typer

from commonplace.cli.options import AT, JSON, RUN_OR_STORE
from commonplace.errors import UsageError
from commonplace.lookup import moment, opened
from commonplace.memory import Memory, MemoryStream, ScoredMemory
from commonplace.memory.explain import tree
from commonplace.memory.scoring import parts_json
from commonplace.memory.stores import open_store
from commonplace.memory.stores.codec import memory_json
from commonplace.memory.stores.opening import copy
from commonplace.text import clean, one_line
from commonplace.views.lines import json_line


def memories(
    where: str = RUN_OR_STORE,
    agent: str = typer.Argument(help="The character: id, full name or short name."),
    as_json: bool = JSON,
    at: str | None = AT,
    query: str = typer.Option("", "--query", help="Retrieve with this question instead of listing."),
    policy: str = typer.Option("", "--policy", help="Retrieval policy; the run's own if left out, recall in a store."),
    k: int = typer.Option(10, "-k", min=1, help="How many to retrieve."),
    trees: bool = typer.Option(False, "--tree", help="List reflections, each with the memories it is based on."),
) -> None:
    """List what a character remembers; with --query, what it would retrieve, with each part of every score."""
    if trees and (query or as_json):
        raise UsageError(
            "--tree cannot be combined with --query or --json", hint="--tree lists all reflections as text"
        )
    with opened(where) as source:
        agent, chosen = source.character(agent), source.policy(policy, at) if policy else None
        if trees:
            _print_trees(source.stream(agent, at))
            return
        if not query:
            _print(source.memories(agent, at), as_json)
            return
        stream = source.stream(agent, at, chosen)
        now = source.now(agent, at)
        found = stream.retrieve(query, at=now, k=k, purpose="memories", touch=False)
    if not as_json:
        saying: dict[str, list[ScoredMemory]] = {}
        for hit in found.hits:
            saying.setdefault(hit.memory.text, []).append(hit)
        print(stream.explain(first for first, *_ in saying.values()))
        for first, *others in saying.values():
            if others:
                print(f"{', '.join(f'#{one.memory.id}' for one in others)}: the same words as #{first.memory.id}")
        return
    for hit in found.hits:
        parts = parts_json(hit.parts)
        print(json_line({**memory_json(hit.memory), "rank": hit.rank, "score": hit.score, "parts": parts}))


def search(
    where: str = RUN_OR_STORE,
    agent: str = typer.Argument("", help="The character: id or name; all characters if left out."),
    as_json: bool = JSON,
    at: str | None = AT,
    text: str = typer.Option("", "--text", help="Occurs in the text or a tag, in any case."),
    kind: list[str] = typer.Option([], "--kind", help="observation, action, plan or reflection; repeat for another."),
    since: str | None = typer.Option(None, "--since", help="Made at this ISO simulated time or later."),
    until: str | None = typer.Option(None, "--until", help="Made at this ISO simulated time or earlier."),
    place: str = typer.Option("", "--place", help='In this place or within it: "Town > Library".'),
    tag: list[str] = typer.Option([], "--tag", help="Has this tag; repeat to require several."),
    session: str | None = typer.Option(None, "--session", help="Belongs to this run or session."),
    min_importance: float | None = typer.Option(None, "--min-importance", help="At least this important, 1–10."),
    valence: str = typer.Option("", "--valence", help="Emotional valence LOW:HIGH, each −1 … 1 or empty."),
    arousal: str = typer.Option("", "--arousal", help="Emotional arousal LOW:HIGH, each 0 … 1 or empty."),
    keyword: list[str] = typer.Option([], "--keyword", help="Has this emotion keyword; repeat to accept others."),
    detail: list[str] = typer.Option([], "--detail", help="Has PATH=VALUE in its details; repeat to require several."),
    limit: int | None = typer.Option(None, "--limit", min=1, help="At most this many, the latest first."),
) -> None:
    """List the memories that pass all given filters, the latest first. Nothing is scored."""
    wanted: dict[str, Any] = {
        "text": text or None,
        "kinds": kind or None,
        "time_range": (moment("--since", since), moment("--until", until)) if since or until else None,
        "place": tuple(part.strip() for part in place.split(">")) if place else None,
        "tags": tag or None,
        "session": session,
        "min_importance": min_importance,
        "emotion": _emotion(valence, arousal, keyword),
        "details": dict(_detail(one) for one in detail) or None,
    }
    with opened(where) as source:
        agents = [source.character(agent)] if agent else source.agents()
        found = [memory for one in agents for memory in source.stream(one, at).search(**wanted)]
    found.sort(key=lambda memory: memory.created_at, reverse=True)
    _print(found[:limit], as_json, whose=not agent)


def copy_memories(
    source: str = typer.Argument(metavar="FROM", help="A run file or a store; it is not changed."),
    target: str = typer.Argument(metavar="TO", help="A store; created if it does not exist."),
    agent: list[str] = typer.Option([], "--agent", help="Copy only this character; repeat for another."),
) -> None:
    """Copy memories into a store: from a run, as they are at its last tick. Nothing in the store is overwritten."""
    with opened(source) as origin:
        agents = [origin.character(one) for one in agent] or origin.agents()
        copied = {one: origin.stored(one) for one in agents}
    store = open_store(target)
    try:
        count = copy(copied, store, lambda who, done, all_: print(f"{who}: {done} of {all_}", file=sys.stderr))
    finally:
        store.close()
    whose = "1 character" if len(copied) == 1 else f"{len(copied)} characters"
    print(f"copied {count} memories of {whose} to {store.where}")


def _print_trees(stream: MemoryStream) -> None:
    """Prints the reflections that no other reflection cites, latest first."""
    reflections = [memory for memory in stream if memory.kind == "reflection"]
    if not reflections:
        print("no reflections yet", file=sys.stderr)
    below = {cited for memory in reflections for cited in memory.citations}
    for memory in reversed(reflections):
        if memory.id not in below:
            print(tree(stream, memory.id))


def _print(found: Iterable[Memory], as_json: bool, *, whose: bool = False) -> None:
    for memory in found:
        row = memory_json(memory)
        if as_json:
            print(json_line(row))
        else:
            owner = f"{memory.agent:<12} " if whose else ""
            line = f"{owner}{memory.id:>5}  {row['created_at'][:16]}  {memory.importance:>4g}  {clean(memory.text)}"
            print(one_line(line))


def _emotion(valence: str, arousal: str, keywords: list[str]) -> dict[str, Any] | None:
    ranges = {"valence": _range("--valence", valence), "arousal": _range("--arousal", arousal)}
    wanted: dict[str, Any] = {name: value for name, value in ranges.items() if value is not None}
    return ({**wanted, "keywords": keywords} if keywords else wanted) or None


def _range(option: str, text: str) -> tuple[float | None, float | None] | None:
    if not text:
        return None
    low, colon, high = text.partition(":")
    try:
        if colon:
            return float(low) if low else None, float(high) if high else None
    except ValueError:
        pass
    raise UsageError(
        f"{option} {text!r} is not a range", hint=f"expected LOW:HIGH, either may be empty: {option} -1:-0.5"
    )


def _detail(text: str) -> tuple[str, Any]:
    path, equals, value = text.partition("=")
    if not path or not equals:
        raise UsageError(f"--detail {text!r} has no value", hint="expected PATH=VALUE: --detail frame.what=talk")
    try:
        return path, json.loads(value)
    except ValueError:
        return path, value
