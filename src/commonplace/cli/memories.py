"""Commands about memories, wherever they are: in a run or in a store."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

import typer

from commonplace.cli.kept import opened
from commonplace.clock import parse_iso
from commonplace.errors import WrongUse
from commonplace.memory import Memory, MemoryStream, policies
from commonplace.memory.stores import open_store
from commonplace.memory.stores.copying import copy
from commonplace.memory.tree import tree
from commonplace.run.shown import memory_json
from commonplace.views.lines import json_line

WHERE = typer.Argument(help="A run file or a store: FILE, FOLDER, chroma:FOLDER, embedded:FOLDER, postgresql://…")
JSON = typer.Option(False, "--json", help="One JSON value a line.")
AT = typer.Option(None, "--at", help="A tick or an ISO simulated time; the latest there is if left out.")


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("memories", epilog="Example: commonplace memories monday.run mira --query festival")(memories)
    app.command("search", epilog='Example: commonplace search monday.run --place "Town > Library" --json')(search)
    app.command("copy-memories", epilog="Example: commonplace copy-memories monday.run monday.db")(copy_memories)


def memories(
    where: str = WHERE,
    agent: str = typer.Argument(help="The character's id."),
    as_json: bool = JSON,
    at: str | None = AT,
    query: str = typer.Option("", "--query", help="Retrieve with this question instead of listing."),
    policy: str = typer.Option("", "--policy", help="Retrieval policy; the run's own, or recall, if left out."),
    k: int = typer.Option(10, "-k", min=1, help="How many to retrieve."),
    trees: bool = typer.Option(False, "--tree", help="The reflections, each opened down to what it rests on."),
) -> None:
    """What a character remembers; with --query, what it would retrieve, and each part of every score."""
    chosen = policies.by_name(policy) if policy else None
    if trees and (query or as_json):
        raise WrongUse("--tree with --query or --json", todo="it lists all reflections, for people to read")
    with opened(where) as kept:
        if trees:
            _print_trees(kept.stream(agent, at))
            return
        if not query:
            _print(kept.memories(agent, at), as_json)
            return
        stream = kept.stream(agent, at, chosen)
        now = kept.now(agent, at)
        found = stream.retrieve(query, at=now, k=k, purpose="memories", touch=False)
    if not as_json:
        print(stream.explain(found.hits))
        return
    for hit in found.hits:
        parts = {name: part._asdict() for name, part in hit.parts.items()}
        print(json_line({**memory_json(hit.memory), "rank": hit.rank, "score": hit.score, "parts": parts}))


def search(
    where: str = WHERE,
    agent: str = typer.Argument("", help="The character's id; all characters if left out."),
    as_json: bool = JSON,
    at: str | None = AT,
    text: str = typer.Option("", "--text", help="Occurs in the text or a tag, whatever the case."),
    kind: list[str] = typer.Option([], "--kind", help="Of this kind; may be given again for another."),
    since: str | None = typer.Option(None, "--since", help="Made at this ISO simulated time or later."),
    until: str | None = typer.Option(None, "--until", help="Made at this ISO simulated time or earlier."),
    place: str = typer.Option("", "--place", help='In this place or within it: "Town > Library".'),
    tag: list[str] = typer.Option([], "--tag", help="Has this tag; given again, that one too."),
    session: str | None = typer.Option(None, "--session", help="Of this run or session."),
    min_importance: float | None = typer.Option(None, "--min-importance", help="At least so important, 1–10."),
    valence: str = typer.Option("", "--valence", help="Felt between LOW:HIGH, each −1 … 1 or empty."),
    arousal: str = typer.Option("", "--arousal", help="Stirred between LOW:HIGH, each 0 … 1 or empty."),
    keyword: list[str] = typer.Option([], "--keyword", help="With one of these words of emotion."),
    detail: list[str] = typer.Option([], "--detail", help="PATH=VALUE in the details; given again, that one too."),
    limit: int | None = typer.Option(None, "--limit", min=1, help="At most so many, the latest made."),
) -> None:
    """The memories that pass all filters given, the latest made first."""
    wanted: dict[str, Any] = {
        "text": text or None,
        "kinds": kind or None,
        "time_range": (_time("--since", since), _time("--until", until)) if since or until else None,
        "place": tuple(part.strip() for part in place.split(">")) if place else None,
        "tags": tag or None,
        "session": session,
        "min_importance": min_importance,
        "emotion": _feeling(valence, arousal, keyword),
        "details": dict(_detail(one) for one in detail) or None,
    }
    with opened(where) as kept:
        found = [
            memory for one in ([agent] if agent else kept.agents()) for memory in kept.stream(one, at).search(**wanted)
        ]
    found.sort(key=lambda memory: memory.created_at, reverse=True)
    _print(found[:limit], as_json, whose=not agent)


def copy_memories(
    source: str = typer.Argument(metavar="FROM", help="A run file or a store; it is only read."),
    target: str = typer.Argument(metavar="TO", help="A store; made if there is none."),
    agent: list[str] = typer.Option([], "--agent", help="Only this character; may be given again for another."),
) -> None:
    """Copy memories into a store, whole: of a run as they are at its last tick. What is there is not overwritten."""
    with opened(source) as kept:
        copied = {one: kept.stored(one) for one in agent or kept.agents()}
    store = open_store(target)
    try:
        count = copy(copied, store, _progress)
    finally:
        store.close()
    whose = "1 character" if len(copied) == 1 else f"{len(copied)} characters"
    print(f"copied {count} memories of {whose} to {store.where}")


def _progress(agent: str, done: int, count: int) -> None:
    print(f"{agent}: {done} of {count}", file=sys.stderr)


def _print_trees(stream: MemoryStream) -> None:
    """Reflections that no other cites, latest first."""
    reflections = [memory for memory in stream if memory.kind == "reflection"]
    below = {cited for memory in reflections for cited in memory.citations}
    for memory in reversed(reflections):
        if memory.id not in below:
            print(tree(stream, memory.id))


def _print(found: Iterable[Memory], as_json: bool, *, whose: bool = False) -> None:
    for memory in found:
        row = memory_json(memory)
        print(json_line(row) if as_json else (f"{memory.agent:<12} " if whose else "") + _line(row))


def _line(row: Mapping[str, Any]) -> str:
    return f"{row['id']:>5}  {row['created_at'][:16]}  {row['importance']:>4g}  {row['text']}"


def _time(option: str, text: str | None) -> datetime | None:
    try:
        return None if text is None else parse_iso(text)
    except ValueError as error:
        raise WrongUse(f"{option} {text!r}", todo="give an ISO time such as 2031-10-04T08:00") from error


def _feeling(valence: str, arousal: str, keywords: list[str]) -> dict[str, Any] | None:
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
    raise WrongUse(f"{option} {text!r}", todo=f"give LOW:HIGH, each a number or empty: {option} -1:-0.5")


def _detail(text: str) -> tuple[str, Any]:
    path, equals, value = text.partition("=")
    if not path or not equals:
        raise WrongUse(f"--detail {text!r}", todo="give PATH=VALUE: --detail frame.what=talk")
    try:
        return path, json.loads(value)
    except ValueError:
        return path, value
