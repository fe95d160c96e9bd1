"""Why something happened: read from the committed turn, never computed again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import partial
from html import escape
from itertools import groupby
from typing import Any, cast

from pydantic import ValidationError

from commonplace.canon import canonical, parsed
from commonplace.character.fact import Fact
from commonplace.cognition.turn import hits
from commonplace.errors import UsageError
from commonplace.memory.record import Memory
from commonplace.memory.shapes import PartJSON
from commonplace.memory.stores.codec import memory_json
from commonplace.run.account import SHOWN, account_text, goal_text, meant, resting_on
from commonplace.run.explained import (
    AskedRow,
    Attempt,
    DecidingRow,
    Heard,
    Hit,
    Link,
    Planned,
    PlannedItem,
    Reacted,
    Reasons,
    Retrieved,
    StoredRow,
    checker,
)
from commonplace.run.integrity import trimmed
from commonplace.run.journal import ModelCall
from commonplace.run.reading import Reading
from commonplace.run.rows import AnswerRow, event_json, item_json
from commonplace.scenario.circumstances import now_sentence
from commonplace.text import clean, one_line, shortened
from commonplace.world.circumstances import subject_of
from commonplace.world.events import (
    NOBODY,
    Acted,
    Began,
    Departed,
    Ended,
    Event,
    Intervened,
    Joined,
    Phase,
    Received,
    Spoke,
    of_kind,
    parse_id,
)

NOT_A_CHARACTER = {
    "TIME_ADVANCED": "The time of day follows from the tick alone.",
    "WEATHER_CHANGED": "The weather follows from the seed and the tick alone.",
    "SCRIPTED": "The scenario's script has it happen at this tick.",
    "GOD_EVENT": "Somebody outside the world put it in.",
}
READ = {"letter": "read in a letter", "notice": "read on the board", "broadcast": "heard on the radio"}
MOST_EVENTS = 1_000_000
"""Above any ordinal in a tick, and small enough for SQLite's integers."""
INPUT = "An input from outside: no turn of a character led to it."
TRACES_TRIMMED = "The reasons of the ticks up to {} were trimmed."


class Explanation(dict[str, Any]):
    """Why something was done or said, in the shape of the public contract; as a text for people."""

    def __str__(self) -> str:
        return as_text(cast("Reasons", self))

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


def why(reading: Reading, event_id: str) -> Explanation:
    """Returns the explanation of an event: `reasons`, printable."""
    return Explanation(reasons(reading, event_id))


def reasons(reading: Reading, event_id: str) -> Reasons:
    """Returns why an event happened. Raises UsageError for an unknown id, naming the nearest."""
    event = event_named(reading, event_id)
    agent, tick = event.agent_id, event.tick
    spoke = event.body if isinstance(event.body, Spoke) else None
    own = agent != NOBODY and event.phase != Phase.INPUT
    trace = reading.trace(agent, tick) if own else {}
    delivered: list[dict[str, Any]] = trace.get("delivered", [])
    retrievals = [*trace.get("retrievals", []), *(one for job in delivered for one in job.get("retrievals", []))]
    found: Reasons = {
        "event": event_json(event, reading.time(tick)),
        "explanation": _explanation(reading, event, own=own),
        "retrievals": _retrievals(reading, agent, tick, retrievals),
        "plan": _plan(reading, agent, tick, trace) if own else {"item": None, "day": []},
        "reaction": _reaction(reading, agent, tick, trace),
        "asked": _asked(reading, agent, tick, trace, delivered) if own else [],
        "account": resting_on(reading, agent, tick, spoke.because) if spoke else [],
        "goals": meant(reading, agent, tick, event.body.because) if own else [],
        "lines": trace.get("lines", []),
        "stored": _stored(reading, agent, trace),
        "heard_from": heard_from(reading, agent, spoke) if spoke else [],
        "delivered": [
            {"kind": job.get("kind"), "about": job.get("about"), "asked_at": job.get("asked_at")} for job in delivered
        ],
    }
    if "panel" in trace:
        found["panel"] = trace["panel"]
    try:
        checker().validate_python(found)
    except ValidationError as error:
        raise reading.damaged(f"the reasons of {event_id}", error) from error
    return found


def _explanation(reading: Reading, event: Event, *, own: bool) -> str:
    held = event.body.held if isinstance(event.body, Acted | Departed | Joined) else ""
    if held or isinstance(event.body, Began | Ended):
        return _circumstance(reading, event, held)
    if isinstance(event.body, Received):
        return f"{', '.join(event.body.readers)}: {read_in(event.body)}, which came with {event.body.message}."
    if not own:
        return NOT_A_CHARACTER.get(event.type, INPUT)
    upto = trimmed(reading).get("trace", -1)
    return TRACES_TRIMMED.format(upto) if event.tick <= upto and not reading.trace(event.agent_id, event.tick) else ""


def _circumstance(reading: Reading, event: Event, held: str) -> str:
    """Tells what raised or ended a circumstance. With `held`, which made the event happen, tells that and its cause."""
    if not held:
        return _cause(reading, event)
    kind, of = subject_of(held)
    if isinstance(event.body, Joined):
        return f"{held} is over."
    since = reading.circumstances_at(event.tick)[held].since
    began = [one for one in reading.events(since, since, type="BEGAN") if one.body.plain()["circumstance"] == held]
    scenario = reading.scenario_at(event.tick)
    sentence = now_sentence(scenario, kind, of, began[-1].body.plain().get("by", ""))
    return f"{sentence} Whatever the character wanted, {held} made it do this. {_cause(reading, began[-1])}"


def _cause(reading: Reading, event: Event) -> str:
    """Tells what began or ended a circumstance: an event of the same tick, what it follows, or the end of its time."""
    key: str = event.body.plain()["circumstance"]
    begins, kinds, kind = isinstance(event.body, Began), reading.scenario.kinds, subject_of(key)[0]
    events = reading.events(event.tick, event.tick)
    for other, outside in of_kind(events, Intervened):
        if key in (outside.raises if begins else outside.ends):
            return f"It {'began' if begins else 'ended'} with {other.id}: “{clean(outside.text)}”"
    for other in events:
        if not isinstance(other.body, Began | Ended) or isinstance(other.body, Began) == begins:
            continue
        cause, of = subject_of(other.body.circumstance)
        then = kinds[cause].then if begins else kinds[cause].ends.split()
        if of == subject_of(key)[1] and kind in then:
            return f"{other.body.circumstance} {'was over, and it follows' if begins else 'ended it'} ({other.id})."
    return "Its time was over."


def event_named(reading: Reading, event_id: str) -> Event:
    """Returns the event of an id. Raises UsageError for an unknown id, naming the nearest."""
    try:
        tick, agent, ordinal = parse_id(event_id)
    except ValueError:
        hint = "an event's id looks like t12.mira.0; `commonplace events` lists them"
        raise UsageError(f"{event_id!r} is not an event id", where=str(reading.path), hint=hint) from None
    event = reading.event(tick, agent, ordinal) if tick <= reading.last_tick and ordinal <= MOST_EVENTS else None
    if event is None:
        raise UsageError(
            f"there is no event {event_id}", where=str(reading.path), hint=_nearest(reading, event_id, tick)
        )
    return event


def _nearest(reading: Reading, event_id: str, tick: int) -> str:
    last = reading.last_tick
    if not 0 <= tick <= last:
        return f"the run has ticks 0 to {last}"
    ids = [event.id for event in reading.events(max(0, tick - 1), tick + 1)]
    near = get_close_matches(event_id, ids, n=3, cutoff=0)
    return f"near it are {', '.join(near)}" if near else "`commonplace events` lists all"


def _retrievals(reading: Reading, agent: str, tick: int, retrievals: Iterable[Mapping[str, Any]]) -> list[Retrieved]:
    """Hits with the memory they brought, last accessed as it was when they were scored: the tick before."""
    accessed = reading.accesses(agent, tick - 1)

    def hit(rank: int, id: int, score: float, parts: Mapping[str, PartJSON]) -> Hit:
        memory = reading.memory(agent, id, accessed.get(id))
        return {"memory": memory and memory_json(memory), "rank": rank, "score": score, "parts": parts}

    return [
        {
            "purpose": one["purpose"],
            "query": one["query"],
            "policy": one["policy"],
            "k": one["k"],
            "candidates": one.get("candidates"),
            "hits": [hit(rank, *found) for rank, found in enumerate(hits(one), start=1)],
        }
        for one in retrievals
    ]


def _plan(reading: Reading, agent: str, tick: int, trace: Mapping[str, Any]) -> Planned:
    """Returns the item followed, and the day's strokes as they were at the end of the tick."""
    followed = trace.get("item", "")
    plan = reading.strokes_at(agent, tick, followed)
    item = plan.item(followed)
    return {"item": item and item_json(item), "day": [*map(item_json, plan.level("day"))]}


def _reaction(reading: Reading, agent: str, tick: int, trace: Mapping[str, Any]) -> Reacted | None:
    """Returns what was decided: as the trace has it, or the answer to the question it names."""
    reaction: Reacted | None = trace.get("reaction")
    if reaction is None or "asked" not in reaction:
        return reaction
    rows = reading.answers(tick, tick, agent=agent)
    answer = next((row for row in reversed(rows) if row.ordinal == reaction["asked"]), None)
    decided = _value(answer) or {"reason": "no usable answer"}
    blank: dict[str, Any] = {"decision": "keep", "target": "", "purpose": "", "reason": "", "because": []}
    return cast("Reacted", {**blank, **decided, **reaction})


def _stored(reading: Reading, agent: str, trace: Mapping[str, Any]) -> list[StoredRow]:
    """Lists what was remembered, then what was not, each with the reason."""
    found = [_dropped(*entry) for entry in trace.get("dropped", ())]
    for id, reason in reversed(trace.get("stored", ())):
        memory = reading.memory(agent, id)
        if memory is not None:
            row: StoredRow = {
                "kind": memory.kind,
                "text": memory.text,
                "importance": memory.importance,
                "stored": True,
                "reason": reason,
                "memory": memory.id,
            }
            found.insert(0, row)
    return found


def _dropped(text: str, reason: str, importance: int = 0, kind: str = "observation") -> StoredRow:
    return {
        "kind": kind, "text": text, "importance": importance, "stored": False, "reason": reason, "memory": 0
    }  # fmt: skip


def _asked(
    reading: Reading, agent: str, tick: int, trace: Mapping[str, Any], delivered: Iterable[Mapping[str, Any]]
) -> list[AskedRow]:
    """Lists the turn's questions, then those of thoughts that arrived in it, which belong to the tick of the asking."""
    asked = _answered(reading, agent, tick, trace.get("asked", ()))
    for job in delivered:
        asked += _answered(reading, agent, job["asked_at"], job.get("asked", ()))
    return asked


def _answered(reading: Reading, agent: str, tick: int, asked: Iterable[Mapping[str, Any]]) -> list[AskedRow]:
    rows = {number: list(group) for number, group in groupby(reading.answers(tick, tick, agent=agent), _ordinal)}
    return [_question(reading, entry, rows.get(entry["ordinal"], [])) for entry in asked]


def _question(reading: Reading, entry: Mapping[str, Any], rows: Sequence[AnswerRow]) -> AskedRow:
    last = rows[-1] if rows else None
    attempts = [_attempt(row, reading.model_call(row) or ModelCall()) for row in rows]
    return {
        "task": entry["task"],
        "prompt": (attempts[-1]["prompt"] if attempts else "") or canonical(entry["input"]).decode(),
        "answer": _value(last),
        "outcome": entry["outcome"],
        "kind": attempts[-1]["kind"] if attempts else "",
        "ordinal": entry["ordinal"],
        "reused": bool(last and last.usage.get("reused")),
        "needless": bool(last and last.usage.get("needless")),
        "flaws": dict(last.usage.get("flaws", {})) if last else {},
        "row": _row(last),
        "attempts": attempts if len(attempts) > 1 else [],
    }


def _row(answer: AnswerRow | None) -> DecidingRow | None:
    """Returns the row of a table that decided the answer; None where none is kept."""
    kept: Mapping[str, Any] = answer.usage if answer is not None else {}
    return {"row": kept["row"], "when": kept["when"], "nearly": kept["nearly"]} if "row" in kept else None


def _attempt(row: AnswerRow, call: ModelCall) -> Attempt:
    return {
        "outcome": row.outcome,
        "kind": row.usage.get("kind", ""),
        "error": call.error,
        "prompt": call.prompt,
        "raw": call.raw,
        "seconds": call.seconds,
    }


def _ordinal(row: AnswerRow) -> int:
    return row.ordinal


def _value(row: AnswerRow | None) -> Any:
    return parsed(row.body) if row is not None and row.body else None


# ── who told whom ───────────────────────────────────────────────────────────────────────────────────────────────────
# From a line that was said back over memories and earlier lines to who knew it first.


def heard_from(reading: Reading, speaker: str, said: Spoke) -> list[Heard]:
    """Returns how the speaker came to know each seed fact in a SAY."""
    facts = {fact.id: fact for fact in reading.facts()}
    rows: list[Heard] = []
    for number, fact_id in enumerate(said.facts):
        carrier = said.carriers[number] if number < len(said.carriers) else 0
        links = chain(reading, facts.get(fact_id), speaker, carrier)
        made_up: Link = {"agent": speaker, "memory": None, "from": "", "event_id": "", "tick": None}
        nearest = links[0] if links else made_up
        rows.append({"fact": fact_id, **nearest, "chain": links[1:]})
    return rows


def chain(reading: Reading, fact: Fact | None, agent: str, memory_id: int) -> list[Link]:
    """Returns a link for each who passed it on, the nearest first, the origin last.

    Memories only rest on earlier ones and are made of earlier events. In a file that says otherwise this ends where it
    meets a memory again.
    """
    links: list[Link] = []
    met: set[tuple[str, int]] = set()
    while memory_id:
        memory = _carrying(reading, fact, agent, memory_id, met)
        if memory is None:
            break
        event = reading.event(*parse_id(memory.event)) if memory.event else None
        link: Link = {"agent": agent, "memory": memory.id, "from": "", "event_id": memory.event, "tick": memory.tick}
        links.append(link)
        if event is not None and isinstance(event.body, Received):
            link["read"] = read_in(event.body)
            if event.body.by not in reading.agent_ids:
                break
            agent, memory_id = event.body.by, written_from(reading, fact, event.body)
            link["from"], link["tick"] = agent, event.tick
            continue
        if event is None or not isinstance(event.body, Spoke) or event.agent_id == agent:
            break
        link["from"], link["tick"] = event.agent_id, event.tick
        memory_id = spoken_from(event.body, fact.id if fact else "")
        agent = event.agent_id
    return links


def spoken_from(said: Spoke, fact_id: str) -> int:
    """Returns the speaker's memory from which a fact in a SAY was spoken; 0 for none."""
    pairs = zip(said.facts, said.carriers, strict=False)
    return next((carrier for spoken, carrier in pairs if spoken == fact_id), 0)


def read_in(received: Received) -> str:
    """Tells where a fact was read: `read in a letter from mira`."""
    return f"{READ[received.form]} from {received.by}" if received.by else READ[received.form]


def written_from(reading: Reading, fact: Fact | None, received: Received) -> int:
    """Returns the memory from which a character wrote a fact into a message: the first that carries it; 0 for none."""
    sent = parse_id(received.message)[0]
    known = reading.memories(received.by, sent) if fact else []
    return next((memory.id for memory in known if fact and fact.carried_by(memory.text)), 0)


def _carrying(
    reading: Reading, fact: Fact | None, agent: str, memory_id: int, met: set[tuple[str, int]]
) -> Memory | None:
    """Returns the memory or the earliest one under it that carries the fact: follows a thought to what it rests on.

    Returns None for a memory in `met`, to which all that is read is added.
    """
    if (agent, memory_id) in met:
        return None
    met.add((agent, memory_id))
    memory = reading.memory(agent, memory_id)
    if memory is None or memory.event or fact is None:
        return memory
    under = [_carrying(reading, fact, agent, cited, met) for cited in memory.citations]
    found = [one for one in under if one is not None and fact.carried_by(one.text)]
    return min(found, key=lambda one: one.id, default=memory)


# ── as text ─────────────────────────────────────────────────────────────────────────────────────────────────────────
# For a terminal of 80 columns or more.


BAR = 10
"""Cells of a full score bar."""


def as_text(why: Reasons, *, prompts: bool = False) -> str:
    """Formats what `why.why` returns: event, plan, reaction, memories with score bars, questions, what was stored.

    `prompts`: print what was asked in full above each answer.
    """
    sections = (
        _event_lines,
        _plan_lines,
        _goal_lines,
        _reaction_lines,
        _delivered_lines,
        _retrieval_lines,
        _past_lines,
        partial(_asked_lines, prompts=prompts),
        _author_lines,
        _stored_lines,
        _heard_from_lines,
    )
    return "\n".join(one_line(line) for section in sections for line in section(why))


def _event_lines(why: Reasons) -> Iterator[str]:
    event = why["event"]
    yield f"{event['id']}  {event['type']}  {event['time']}  {event['place']}".rstrip()
    what = event.get("utterance") or event.get("doing") or event.get("text") or event.get("why") or event.get("reason")
    if what:
        yield f"  “{clean(what)}”" if "utterance" in event else f"  {clean(str(what))}"
    if why["explanation"]:
        yield f"  {why['explanation']}"


def _plan_lines(why: Reasons) -> Iterator[str]:
    item = why["plan"]["item"]
    if item:
        yield "Plan"
        yield f"  {_clock(item)} {clean(item['action_description'])} ({item['location']})"
    if why["plan"]["day"]:
        yield "  of the day: " + "; ".join(
            f"{_clock(stroke)} {clean(stroke['action_description'])}" for stroke in why["plan"]["day"]
        )


def _clock(item: PlannedItem) -> str:
    return item["start_time"][11:16]


def _reaction_lines(why: Reasons) -> Iterator[str]:
    reaction = why["reaction"]
    if not reaction:
        return
    parts = [reaction.get(name, "") for name in ("decision", "target", "purpose")]
    yield "Reaction"
    yield "  " + " ".join(clean(part) for part in parts if part)
    if reaction.get("reason"):
        yield f"  because {clean(reaction['reason'])}"
    if because := reaction.get("because"):
        yield f"  resting on {_ids(because)}"


def _delivered_lines(why: Reasons) -> Iterator[str]:
    for job in why["delivered"]:
        about = f" about {job['about']}" if job["about"] else ""
        yield f"Thought of earlier: {job['kind']}{about}, asked at tick {job['asked_at']}"


def _retrieval_lines(why: Reasons) -> Iterator[str]:
    for found in why["retrievals"]:
        count = f"{len(found['hits'])} of {found['candidates']}" if found.get("candidates") else str(len(found["hits"]))
        yield f"Retrieved for {found['purpose'] or 'the moment'} ({found['policy']}, {count} memories)"
        if found["query"]:
            yield f"  query: {shortened(clean(found['query']), SHOWN)}"
        for hit in found["hits"]:
            yield from _hit_lines(hit)


def _hit_lines(hit: Hit) -> Iterator[str]:
    memory, parts = hit["memory"], hit["parts"]
    top = sum(part["weight"] for part in parts.values())
    text = shortened(clean(memory["text"]), SHOWN) if memory else "(no longer there)"
    name = f"#{memory['id']}" if memory else "#?"
    scored = f"{_bar(hit['score'], top)} {hit['score']:.3f}  " if parts else ""
    yield f"  {hit['rank']:>2}. {scored}{name} {text}"
    if parts:
        yield "      " + "  ".join(
            f"{part} {values['weight']:g}×{values['normalised']:.3f} (raw {values['raw']:.3g})"
            for part, values in parts.items()
        )


def _goal_lines(why: Reasons) -> Iterator[str]:
    """Yields lines about the goals that the character had before."""
    if why["goals"]:
        yield "Means to"
    yield from (f"  {goal_text(row)}  – {_ids(row['because'])}" for row in why["goals"])


def _past_lines(why: Reasons) -> Iterator[str]:
    """Yields lines about what the character knew of its own past before."""
    if why["account"]:
        yield "Knows of its own past"
    yield from (f"  {account_text(row)}  – {_ids(row['because'])}" for row in why["account"])


def _bar(score: float, top: float) -> str:
    filled = round(BAR * min(1.0, max(0.0, score / top))) if top else 0
    return "█" * filled + "░" * (BAR - filled)


def _asked_lines(why: Reasons, *, prompts: bool) -> Iterator[str]:
    if why["asked"]:
        yield "Asked"
    for asked in why["asked"]:
        kind = f", {clean(asked['kind'])}" if asked.get("kind") else ""
        used = "  (an answer that an earlier run got)" if asked.get("reused") else ""
        used = "  (kept without asking: nothing for me)" if asked.get("needless") else used
        flag = used if asked["outcome"] == "value" else f"  ({asked['outcome']}{kind}: the fallback was used)"
        flaws = ", ".join(f"{clean(flaw)} {count}" for flaw, count in asked.get("flaws", {}).items())
        yield f"  {asked['task']}{flag}" + (f"  (not as it came: {flaws})" if flaws else "")
        for number, attempt in enumerate(asked.get("attempts", ()), start=1):
            if attempt["outcome"] != "value":
                what = clean(attempt["error"] or attempt["kind"] or attempt["outcome"])
                yield f"    attempt {number}: {shortened(what, SHOWN)}"
        if prompts:
            yield from (f"    │ {clean(line)}".rstrip() for line in asked["prompt"].splitlines())
        if asked["answer"] is not None:
            yield "    " + "  ".join(_field(name, value) for name, value in asked["answer"].items() if value)
        if row := asked.get("row"):
            held = "".join(f"; {clean(one)}" for one in row["when"])
            yield f"    by the row {clean(row['row'])}{held}"
            yield from (f"    not {clean(name)}, for want of: {clean(failed)}" for name, failed in row["nearly"])


def _author_lines(why: Reasons) -> Iterator[str]:
    if why["lines"]:
        yield "Lines with conditions"
    for line in why["lines"]:
        words = f"“{shortened(clean(line['say']), SHOWN)}”"
        held = f"held back, for want of: {line['failed']}" if line["failed"] else "; ".join(line["when"])
        yield f"  {words}  {clean(held)}".rstrip()


def _field(name: str, value: Any) -> str:
    return f"{name}: {shortened(clean(_worded(name, value)), SHOWN)}"


def _worded(name: str, value: Any) -> str:
    """Puts a part of an answer into words. Commas stand between what is listed, semicolons between objects."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        members = cast("Mapping[str, Any]", value).items()
        return ", ".join(f"{key} {_worded(key, member)}" for key, member in members if member)
    if isinstance(value, list):
        listed = cast("Sequence[Any]", value)
        texts = [f"#{one}" if name == "because" else _worded(name, one) for one in listed]
        return ("; " if any(isinstance(one, dict) for one in listed) else ", ").join(texts)
    return str(value)


def _stored_lines(why: Reasons) -> Iterator[str]:
    if why["stored"]:
        yield "Stored"
    for entry in why["stored"]:
        mark = f"#{entry['memory']}" if entry["stored"] else "not"
        text = shortened(clean(entry["text"]), SHOWN)
        yield f"  {mark} {entry['kind']} {entry['importance']:g}  {text}  – {entry['reason']}"


def _heard_from_lines(why: Reasons) -> Iterator[str]:
    yield from map(heard_text, why["heard_from"])


def heard_text(row: Heard) -> str:
    """Returns how a fact came to its speaker: `“festival” from #12: mira (t4.mira.0) ← known from the start …`."""
    links: list[Link] = [row, *row["chain"]]
    if row["memory"] is None:
        return f"“{row['fact']}” has no memory behind it: made up"
    path = " ← ".join(f"{link['from']} ({_passed(link)})" for link in links if link["from"])
    origin = links[-1]
    end = "earlier than is known" if origin["from"] else f"known from the start or seen by {origin['agent']}"
    end = f"{origin['agent']} ({_passed(origin)})" if "read" in origin and not origin["from"] else end
    return f"“{row['fact']}” from #{row['memory']}: {path + ' ← ' if path else ''}{end}"


def _passed(link: Link) -> str:
    return ": ".join(filter(None, (link["event_id"], link.get("read"))))


def _ids(ids: Sequence[int]) -> str:
    return ", ".join(f"#{memory}" for memory in ids)
