"""A run as one HTML file that needs no server and no network: the page, and all that it asks of a run as data.

The data lies in blocks: JSON, gzipped, in base64. A block is unpacked when the page first needs it, so the first
picture does not wait for the rest. Everything is made by `Picture` and `why`; what repeats is written once:

- `start`: the town, the time-line and which ticks there are.
- `ticks-N`: the ticks N·48 … N·48+47 as a snapshot and deltas.
- `detail-AGENT`, `metrics`: a value at every tick, as the first one and what changed since (see `changes`).
- `hours`: what emerged hour by hour. The page takes the row of a tick from `metrics`.
- `memories-AGENT`: each memory once, when it was accessed and removed.
- `why-N`: the reasons of the events of these ticks. A turn is written once for all its events, a retrieved memory as
  its id and its scores as the integers of the trace.

`web/src/run/embedded.ts` is the reader.
"""

from __future__ import annotations

import gzip
import json
import re
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, cast

from commonplace.character.state import CharacterState
from commonplace.clock import iso
from commonplace.errors import CommonplaceError, UsageError
from commonplace.memory import Memory
from commonplace.memory.stores.codec import memory_json
from commonplace.parts.web.card import run_card
from commonplace.parts.web.inspector import RunInspector
from commonplace.parts.web.picture import Picture
from commonplace.run.minds import Usage, verdicts
from commonplace.run.reading import MOOD_REACH, Reading, mood
from commonplace.run.rows import Version, from_unix_micros, unpacked_ids
from commonplace.run.versions import STATE_KINDS, restore_state
from commonplace.run.why import why
from commonplace.views.inspection import PAST_KEY
from commonplace.whole_file import written_whole
from commonplace.world.events import NOBODY, Event, Phase

FORMAT = 1
CHUNK = 48
"""Ticks in a block."""
STATIC = Path(__file__).parent / "static"
"""The page as built from `web/`."""
TEMPLATE = STATIC / "replay.html"
"""The page of a replay, without data."""
NO_PAGE = "this Commonplace was built without its page"
GET_PAGE = "`make page` in a clone builds it (Node 20 or newer); what is installed from there afterwards has it"
PLACE = "<!-- the data of the run -->"
"""Where the blocks stand in the page."""
TITLE = re.compile(r"<title>[^<]*</title>")
TABLES = {
    "beliefs": ("node_id",),
    "ties": ("other",),
    "past": PAST_KEY,
    "goals": ("id",),
    "network": ("between",),
    "warmth": ("source", "target"),
    "usage": ("agent_id", "task"),
}
"""Fields that are lists of rows in the order of these keys: written as mappings, so that a change is one row."""

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Written:
    """A replay that was made."""

    path: Path
    first: int
    last: int
    bytes: int


def export(
    reading: Reading,
    target: Path,
    *,
    first: int | str | None = None,
    last: int | str | None = None,
    prompts: bool = False,
    force: bool = False,
    progress: Progress = lambda _: None,
) -> Written:
    """Writes the ticks first … last, by default all, as an HTML file. It appears whole or not at all.

    `prompts`: with what was sent to a model and what it sent back, word by word. Raises UsageError for ticks that the
    run does not have, CommonplaceError where the page was not built.
    """
    page = template()
    with reading.snapshot():
        begin, end = reading.tick(0 if first is None else first), reading.tick(last)
        if begin > end:
            raise UsageError(f"tick {begin} comes after tick {end}", hint="give --from a tick before --to")
        title = run_card(reading.path.stem, reading, reading.scenario.part).title
        with written_whole(target, force=force) as part, part.open("w", encoding="utf-8", newline="\n") as file:
            before, after = TITLE.sub(lambda _: f"<title>{escape(title)}</title>", page, count=1).split(PLACE)
            file.write(before)
            for name, value in blocks(reading, begin, end, prompts=prompts, progress=progress):
                file.write(f'<script type="text/plain" id="data-{name}">{packed(value)}</script>\n')
            file.write(after)
            size = file.tell()
    return Written(target, begin, end, size)


def template() -> str:
    """Returns the page without data. Raises CommonplaceError if it is not there."""
    try:
        page = TEMPLATE.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise CommonplaceError(NO_PAGE, where=str(TEMPLATE), hint=GET_PAGE) from None
    if page.count(PLACE) != 1 or not TITLE.search(page):
        raise CommonplaceError(
            "a page without a place for data", where=str(TEMPLATE), hint="build it again: `make page`"
        )
    return page


def packed(value: Any) -> str:
    """Returns a block: letters, digits, `+`, `/` and `=`, whatever the value holds."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return b64encode(gzip.compress(text.encode(errors="surrogatepass"), 9, mtime=0)).decode()


def blocks(
    reading: Reading, first: int, last: int, *, prompts: bool = False, progress: Progress = lambda _: None
) -> Iterator[tuple[str, Any]]:
    """Yields (name, value) of each block, that of the first picture first."""
    picture = Picture(reading)
    agents = [me for me in reading.agent_ids if me in reading.scenario.personas]
    chunks = range(first // CHUNK, last // CHUNK + 1)
    yield "start", _start(picture, first, last, agents, prompts)
    for number in chunks:
        yield f"ticks-{number}", _ticks(picture, max(first, number * CHUNK), min(last, number * CHUNK + CHUNK - 1))
    progress(f"ticks {first} to {last}")
    streams = {me: _Stream(reading, me, last) for me in agents}
    for me, stream in streams.items():
        yield f"memories-{me}", stream.block()
    progress(f"{sum(len(stream.memories) for stream in streams.values())} memories")
    inspector = RunInspector(picture)
    yield from _over_time(inspector, first, last, streams)
    yield "hours", [row.model_dump(mode="json") for row in inspector.hours(last)[:-1]]
    progress(f"{len(agents)} characters and what was measured")
    for number in chunks:
        upto = min(last, number * CHUNK + CHUNK - 1)
        yield f"why-{number}", _reasons(reading, max(first, number * CHUNK), upto, prompts)
        progress(f"reasons up to tick {upto}")


# ── ticks ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _start(picture: Picture, first: int, last: int, agents: Sequence[str], prompts: bool) -> dict[str, Any]:
    reading = picture.reading
    timeline = picture.timeline()
    town = picture.town(run_card(reading.path.stem, reading, reading.scenario.part))
    ends = {"last_tick": last, "final_tick": last, "time": iso(reading.time(last))}
    return {
        "format": FORMAT,
        "first": first,
        "last": last,
        "chunk": CHUNK,
        "agents": agents,
        "prompts": prompts,
        "town": town.model_copy(update=ends).model_dump(mode="json"),
        "timeline": {
            "last_tick": last,
            "activity": timeline.activity[: last + 1],
            "weather": [[tick, sky] for tick, sky in timeline.weather if tick <= last],
            "marks": [mark.model_dump(mode="json") for mark in timeline.marks if first <= mark.tick <= last],
        },
    }


def _ticks(picture: Picture, first: int, last: int) -> dict[str, Any]:
    """Returns the ticks, with `first` as a snapshot, and as a delta for a reader who comes from the tick before."""
    deltas = [delta.model_dump(mode="json") for delta in picture.deltas(max(1, first), last)]
    return {"first": picture.snapshot(first).model_dump(mode="json"), "deltas": deltas}


# ── values over time ─────────────────────────────────────────────────────────────────────────────────────────────────


def changes(before: Any, after: Any) -> Any:
    """Returns what turns `before` into `after`; None if they are equal.

    `[value]`: another value. A mapping: the changes of the entries named, of which 0 removes one; the entries of a list
    of the same length are named by their numbers.
    """
    if before == after and type(before) is type(after):
        return None
    if isinstance(before, dict) and isinstance(after, dict):
        old, new = cast("dict[str, Any]", before), cast("dict[str, Any]", after)
        found = {key: changes(old[key], value) if key in old else [value] for key, value in new.items()}
        return {key: change for key, change in found.items() if change} | {key: 0 for key in old if key not in new}
    if isinstance(before, list) and isinstance(after, list):
        olds, news = cast("list[Any]", before), cast("list[Any]", after)
        if len(olds) == len(news):
            pairs = enumerate(zip(olds, news, strict=True))
            return {str(number): change for number, (old, new) in pairs if (change := changes(old, new))}
    return [after]


def tabled(value: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the value with `TABLES` as mappings."""
    return {name: _table(rows, TABLES[name]) if name in TABLES else rows for name, rows in value.items()}


def _table(rows: Sequence[Mapping[str, Any]], keys: Sequence[str]) -> dict[str, Any]:
    parts = ((row, [row[key] for key in keys]) for row in rows)
    return {" ".join(one if isinstance(one, str) else " ".join(one) for one in part): row for row, part in parts}


class _Over:
    """A value at successive ticks: the first one whole, then what changed."""

    def __init__(self) -> None:
        self.rows: list[list[Any]] = []
        self._now: dict[str, Any] | None = None

    def at(self, tick: int, value: Mapping[str, Any]) -> None:
        now = tabled(value)
        if self._now is None:
            self.rows.append([tick, now])
        elif change := changes(self._now, now):
            self.rows.append([tick, change])
        self._now = now


def _over_time(
    inspector: RunInspector, first: int, last: int, streams: Mapping[str, _Stream]
) -> Iterator[tuple[str, Any]]:
    """Yields everybody's details and the measures, at every tick."""
    reading = inspector.reading
    states, usage = _States(reading, first), Usage(last)
    usage.add(reading.answers(0, first - 1, used=False))
    details = {me: _Over() for me in streams}
    measures, measured = _Over(), dict[str, Any]()
    for tick in range(first, last + 1):
        states.advance(tick)
        for me, stream in streams.items():
            state = states.of(me)
            known = {"state": state, "mood": state.mood or stream.mood(tick), "knows": stream.knows(tick)}
            detail = inspector.agent(me, tick, **known)
            details[me].at(tick, {name: part for name, part in detail.items() if name not in ("tick", "time")})
        asked = reading.answers(tick, tick, used=False)
        usage.add(asked)
        if tick == first or states.moved or _speaks(reading, tick):
            everybody = {me: states.of(me) for me in reading.agent_ids}
            counted = reading.usage_rows(usage)
            measured = inspector.measured(tick, everybody, counted).model_dump(mode="json", exclude={"tick"})
            measures.at(tick, measured)
        elif asked:
            counted = reading.usage_rows(usage)
            measured |= {"usage": counted, "verdicts": verdicts(counted, reading.scenario.language)}
            measures.at(tick, measured)
    yield from ((f"detail-{me}", over.rows) for me, over in details.items())
    yield "metrics", measures.rows


def _speaks(reading: Reading, tick: int) -> bool:
    """Tells whether the tick can have changed what was measured: words, who heard those before, who is there."""
    heard = {
        "SAY",
        "CONVERSATION_STARTED",
        "JOINED",
        "LEFT",
        "CHANGED",
        "FORGOT",
        "GOD_EVENT",
        "INNER_VOICE",
        "BEGAN",
        "ENDED",
        "RECEIVED",
    }
    return any(event.type in heard for event in reading.events(max(0, tick - 1), tick))


class _States:
    """Everybody's state, carried forward from tick to tick."""

    def __init__(self, reading: Reading, first: int) -> None:
        self.moved = True
        """Whether the last tick changed how somebody sees another."""
        self._reading = reading
        self._next = first
        self._made: dict[str, CharacterState] = {me: reading.state_at(me, first) for me in reading.agent_ids}
        self._values: dict[str, dict[tuple[str, str], Version]] = {}
        for _, version in reading.versions(0, first):
            self._note(version)

    def advance(self, tick: int) -> None:
        """Goes to the tick after the one reached."""
        self.moved = False
        for _, version in self._reading.versions(tick, tick):
            self._note(version)
            if version.kind in STATE_KINDS:
                self._made.pop(version.owner, None)
            self.moved = self.moved or version.kind in ("relation", "card")

    def of(self, agent: str) -> CharacterState:
        """Returns the state of a character."""
        if agent not in self._made:
            self._made[agent] = restore_state(self._current(agent))
        return self._made[agent]

    def _note(self, version: Version) -> None:
        if version.kind in STATE_KINDS:
            self._values.setdefault(version.owner, {})[version.kind, version.key] = version

    def _current(self, agent: str) -> Iterator[Version]:
        """Items of past days left out: their ids begin with the day."""
        values = self._values.get(agent, {})
        day = values.get(("day", ""))
        for (kind, key), version in values.items():
            if kind != "plan" or (day is not None and key.startswith(f"{day.value}.")):
                yield version


# ── memories ─────────────────────────────────────────────────────────────────────────────────────────────────────────


class _Stream:
    """A character's memories up to a tick, forgotten or not, and what follows from them at earlier ticks."""

    def __init__(self, reading: Reading, agent: str, last: int) -> None:
        query = "SELECT id FROM memory WHERE agent = ? AND tick <= ? ORDER BY id"
        found = (reading.memory(agent, id_) for (id_,) in reading.all(query, agent, last))
        self.memories: list[Memory] = [memory for memory in found if memory is not None]
        removed = "SELECT id, removed FROM memory WHERE agent = ? AND removed <= ? ORDER BY id"
        self.removed: dict[int, int] = dict(reading.all(removed, agent, last))
        touched = "SELECT tick, at, ids FROM touch WHERE agent = ? AND tick <= ? ORDER BY tick"
        rows = reading.all(touched, agent, last)
        self.touched = [[tick, iso(from_unix_micros(at)), list(unpacked_ids(ids))] for tick, at, ids in rows]
        self.policies = _policies(reading, last)
        self._facts = [
            (fact.id, [memory for memory in self.memories if fact.carried_by(memory.text)])
            for fact in reading.facts(last)
        ]

    def block(self) -> dict[str, Any]:
        """Returns the memories. `accessed_at` of each is its first access."""
        return {
            "memories": [memory_json(memory) for memory in self.memories],
            "removed": [[id_, tick] for id_, tick in self.removed.items()],
            "touched": self.touched,
            "policies": self.policies,
        }

    def mood(self, tick: int) -> str:
        """Returns the mood that follows from the latest memories of the tick."""
        latest: list[Memory] = []
        for memory in reversed(self.memories):
            if self._has(memory, tick):
                latest.append(memory)
                if len(latest) == MOOD_REACH:
                    break
        return mood(memory.emotion for memory in reversed(latest))

    def knows(self, tick: int) -> list[str]:
        """Facts that a memory of the tick carries."""
        return [fact for fact, carrying in self._facts if any(self._has(memory, tick) for memory in carrying)]

    def _has(self, memory: Memory, tick: int) -> bool:
        return memory.tick <= tick < self.removed.get(memory.id, tick + 1)


def _policies(reading: Reading, last: int) -> list[list[Any]]:
    """Returns (tick, policy of the run from then on)."""
    changed = [tick for tick, version in reading.versions(1, last) if version.kind == "setting"]
    return [[tick, reading.scenario_at(tick).policy.name] for tick in (0, *dict.fromkeys(changed))]


# ── reasons ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _reasons(reading: Reading, first: int, last: int, prompts: bool) -> dict[str, Any]:
    """Returns each event with its own reasons; what the events of a turn have in common stands in `turns`."""
    turns: dict[str, Any] = {}
    events: dict[str, Any] = {}
    for event in sorted(reading.events(first, last), key=lambda one: one.agent_id):  # like things lie side by side
        whole = why(reading, event.id)
        events[event.id] = {
            name: whole.pop(name) for name in ("event", "explanation", "heard_from", "account", "goals")
        }
        if event.agent_id == NOBODY or event.phase == Phase.INPUT:
            continue
        turn = f"{event.agent_id} {event.tick}"
        events[event.id]["turn"] = turn
        if turn not in turns:
            turns[turn] = _turn(reading, event, whole, prompts)
    return {"turns": turns, "events": events}


def _turn(reading: Reading, event: Event, whole: dict[str, Any], prompts: bool) -> dict[str, Any]:
    trace = reading.trace(event.agent_id, event.tick)
    delivered: list[dict[str, Any]] = trace.get("delivered", [])
    return {
        **whole,
        "retrievals": [*trace.get("retrievals", []), *(one for job in delivered for one in job.get("retrievals", []))],
        "asked": whole["asked"] if prompts else [_unworded(asked) for asked in whole["asked"]],
        "stored": [[entry["memory"], entry["reason"]] if entry["stored"] else entry for entry in whole["stored"]],
    }


def _unworded(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a question without what was sent and what came back, word by word."""
    attempts = [{**attempt, "prompt": "", "raw": ""} for attempt in asked["attempts"]]
    return {**asked, "prompt": "", "attempts": attempts}
