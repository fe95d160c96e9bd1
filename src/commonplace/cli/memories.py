"""Commands about memories, wherever they are: in a run or in a store."""

from __future__ import annotations

import json
import sys
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

import typer

from commonplace.api import scenario_of
from commonplace.clock import parse_iso
from commonplace.errors import UsageError
from commonplace.memory import Memory, MemoryStream, Policy, policies
from commonplace.memory.analysis import analyser
from commonplace.memory.embedding import default_embedder
from commonplace.memory.explain import tree
from commonplace.memory.stores import Store, Stored, open_store
from commonplace.memory.stores.codec import memory_json
from commonplace.memory.stores.opening import copy
from commonplace.memory.stores.store import refuse_other_embedder, settings_of
from commonplace.run.reading import Reading, open_read_only
from commonplace.run.schema import RUN
from commonplace.sqlite import application_id
from commonplace.views.lines import json_line

# ── kept ─────────────────────────────────────────────────────────────────────────────────────────────────────────────
# What a run and a store of memories have in common: characters, and what each remembers.


class Kept(Protocol):
    """Memories that are only looked at. `at`: a tick or an ISO simulated time, or None for the latest there is.

    Each method raises UsageError for a character there is none of.
    """

    def agents(self) -> Sequence[str]:
        """The characters, sorted."""
        ...

    def memories(self, agent: str, at: str | None) -> Sequence[Memory]:
        """What the character remembers, oldest first."""
        ...

    def stream(self, agent: str, at: str | None, policy: Policy | None = None) -> MemoryStream:
        """The same, to search and retrieve from; changes to it are kept nowhere. None: the policy it was made for."""
        ...

    def now(self, agent: str, at: str | None) -> datetime:
        """The simulated time of a question that is asked then."""
        ...

    def stored(self, agent: str) -> Stored:
        """All there is of the character, with what was forgotten and archived."""
        ...


@contextmanager
def opened(where: str) -> Generator[Kept]:
    """The run or store of that name. Raises UsageError where there is none."""
    if is_run(where):
        with Reading.open(Path(where)) as reading:
            yield KeptInRun(reading)
        return
    store = open_store(where, create=False)
    try:
        for repair in store.repairs:
            print(f"{store.where}: {repair}", file=sys.stderr)
        yield KeptInStore(store)
    finally:
        store.close()


class KeptInRun:
    """The memories of a run."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading

    def agents(self) -> Sequence[str]:
        """The characters, sorted."""
        return self._reading.agent_ids

    def memories(self, agent: str, at: str | None) -> Sequence[Memory]:
        """What the character remembered at the end of that tick."""
        return self._reading.memories(agent, at)

    def stream(self, agent: str, at: str | None, policy: Policy | None = None) -> MemoryStream:
        """The character's stream at the end of that tick."""
        return self._reading.stream_at(agent, at, **({} if policy is None else {"policy": policy}))

    def now(self, agent: str, at: str | None) -> datetime:  # noqa: ARG002 - one clock for all
        """The end of that tick."""
        return scenario_of(self._reading.manifest).clock.time(self._reading.tick(at))

    def stored(self, agent: str) -> Stored:
        """All of a character at the last tick."""
        stream = self._reading.stream_at(agent)
        memories = self._reading.memories(agent, forgotten=True)
        manifest, embedder = self._reading.manifest, default_embedder()
        return Stored(
            memories,
            [stream.vector(memory.id) if memory.id in stream else None for memory in memories],
            forgotten=frozenset(memory.id for memory in memories if memory.id not in stream),
            settings={**settings_of(embedder, manifest.language), "embedder": manifest.embedder},
        )


class KeptInStore:
    """The memories of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def agents(self) -> Sequence[str]:
        """The characters, sorted."""
        return self._store.agents()

    def memories(self, agent: str, at: str | None) -> Sequence[Memory]:
        """What the character remembers of the time up to then."""
        return list(self.stream(agent, at))

    def stream(self, agent: str, at: str | None, policy: Policy | None = None) -> MemoryStream:
        """The character's stream, without what was made after that time; accesses are those of now.

        Raises UsageError where the policy compares vectors and those here are not the built-in embedder's.
        """
        stored = self.stored(agent)
        policy = policy or policies.RECALL
        if policy.relevance == "cosine":
            refuse_other_embedder(stored.settings, default_embedder(), self._store.where)
        until = None if at is None else _moment(at)
        later = (memory.id for memory in stored.memories if until is not None and memory.created_at > until)
        return MemoryStream.restore(
            agent,
            stored.memories,
            stored.vectors,
            forgotten={*stored.forgotten, *later},
            archived=stored.archived,
            policy=policy,
            analyser=analyser(stored.settings.get("language", "en")),
        )

    def now(self, agent: str, at: str | None) -> datetime:
        """That time; if None, the latest at which anything was made or accessed."""
        if at is not None:
            return _moment(at)
        memories = self.memories(agent, None)
        if not memories:
            raise UsageError(f"{agent} remembers nothing", where=self._store.where, hint="give a time with --at")
        return max(max(memory.created_at, memory.accessed_at) for memory in memories)

    def stored(self, agent: str) -> Stored:
        """All there is of the character."""
        self._known(agent)
        return self._store.load(agent)

    def _known(self, agent: str) -> None:
        if agent not in self._store.agents():
            there = ", ".join(self._store.agents()) or "none yet"
            hint = f"the characters are {there}"
            raise UsageError(f"there is no character {agent!r}", where=self._store.where, hint=hint)


def _moment(at: str) -> datetime:
    try:
        return parse_iso(at)
    except ValueError as error:
        raise UsageError(f"--at {at!r} of a store", hint="give an ISO time such as 2031-10-04T08:00") from error


def memory_named(text: str) -> tuple[str, int]:
    """`AGENT:ID` as both. Raises UsageError for anything else."""
    agent, _, number = text.rpartition(":")
    if not agent or not number.isdecimal():
        raise UsageError(
            f"{text!r} names no memory", hint="a memory is AGENT:ID, such as mira:41; `memories` shows ids"
        )
    return agent, int(number)


def is_run(where: str) -> bool:
    """Whether it is a SQLite file that says of itself that it is a run."""
    path = Path(where)
    if not path.is_file():
        return path.suffix == ".run"
    try:
        connection = open_read_only(path)
    except UsageError:
        return path.suffix == ".run"
    try:
        return application_id(connection) == RUN.application_id
    finally:
        connection.close()


# ── memories ─────────────────────────────────────────────────────────────────────────────────────────────────────────


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
        raise UsageError("--tree with --query or --json", hint="it lists all reflections, for people to read")
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
        raise UsageError(f"{option} {text!r}", hint="give an ISO time such as 2031-10-04T08:00") from error


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
    raise UsageError(f"{option} {text!r}", hint=f"give LOW:HIGH, each a number or empty: {option} -1:-0.5")


def _detail(text: str) -> tuple[str, Any]:
    path, equals, value = text.partition("=")
    if not path or not equals:
        raise UsageError(f"--detail {text!r}", hint="give PATH=VALUE: --detail frame.what=talk")
    try:
        return path, json.loads(value)
    except ValueError:
        return path, value
