"""An explanation as plain text, for a terminal of 80 columns or more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from commonplace.text import clean, shortened

BAR = 10
"""Cells of a full score bar."""
SHOWN = 96
"""Characters of a memory's text."""


def as_text(why: Mapping[str, Any], *, prompts: bool = False) -> str:
    """The explanation `why.why` gives: event, plan, reaction, memories with score bars, questions, what was stored.

    `prompts`: what was asked stands in full above each answer.
    """
    asked = _asked_in_full if prompts else _asked
    sections = (_event, _plan, _reaction, _delivered, _retrievals, asked, _stored, _heard_from)
    return "\n".join(line for section in sections for line in section(why))


def _event(why: Mapping[str, Any]) -> Iterator[str]:
    event = why["event"]
    yield f"{event['id']}  {event['type']}  {event['time']}  {event['place']}".rstrip()
    what = event.get("utterance") or event.get("doing") or event.get("text") or event.get("why") or event.get("reason")
    if what:
        yield f"  “{clean(what)}”" if "utterance" in event else f"  {clean(str(what))}"
    if why.get("explanation"):
        yield f"  {why['explanation']}"


def _plan(why: Mapping[str, Any]) -> Iterator[str]:
    item = why["plan"]["item"]
    if item:
        yield "Plan"
        yield f"  {_clock(item)} {clean(item['action_description'])} ({item['location']})"
    if why["plan"]["day"]:
        yield "  of the day: " + "; ".join(
            f"{_clock(stroke)} {clean(stroke['action_description'])}" for stroke in why["plan"]["day"]
        )


def _clock(item: Mapping[str, Any]) -> str:
    return item["start_time"][11:16]


def _reaction(why: Mapping[str, Any]) -> Iterator[str]:
    reaction = why["reaction"]
    if not reaction:
        return
    parts = [reaction.get(name, "") for name in ("decision", "target", "purpose")]
    yield "Reaction"
    yield "  " + " ".join(clean(part) for part in parts if part)
    if reaction.get("reason"):
        yield f"  because {clean(reaction['reason'])}"
    if reaction.get("because"):
        yield f"  resting on {_ids(reaction['because'])}"


def _delivered(why: Mapping[str, Any]) -> Iterator[str]:
    for job in why.get("delivered", ()):
        about = f" about {job['about']}" if job["about"] else ""
        yield f"Thought of earlier: {job['kind']}{about}, asked at tick {job['asked_at']}"


def _retrievals(why: Mapping[str, Any]) -> Iterator[str]:
    for found in why["retrievals"]:
        count = f"{len(found['hits'])} of {found['candidates']}" if found.get("candidates") else str(len(found["hits"]))
        yield f"Retrieved for {found['purpose'] or 'the moment'} ({found['policy']}, {count} memories)"
        yield f"  query: {shortened(clean(found['query']), SHOWN)}"
        for hit in found["hits"]:
            yield from _hit(hit)


def _hit(hit: Mapping[str, Any]) -> Iterator[str]:
    memory, parts = hit["memory"], hit["parts"]
    top = sum(part["weight"] for part in parts.values())
    text = shortened(clean(memory["text"]), SHOWN) if memory else "(no longer there)"
    name = f"#{memory['id']}" if memory else "#?"
    yield f"  {hit['rank']:>2}. {_bar(hit['score'], top)} {hit['score']:.3f}  {name} {text}"
    if parts:
        yield "      " + "  ".join(
            f"{part} {values['weight']:g}×{values['normalised']:.3f} (raw {values['raw']:.3g})"
            for part, values in parts.items()
        )


def _bar(score: float, top: float) -> str:
    filled = round(BAR * min(1.0, max(0.0, score / top))) if top else 0
    return "█" * filled + "░" * (BAR - filled)


def _asked(why: Mapping[str, Any], *, prompts: bool = False) -> Iterator[str]:
    if why["asked"]:
        yield "Asked"
    for asked in why["asked"]:
        kind = f", {clean(asked['kind'])}" if asked.get("kind") else ""
        flag = "" if asked["outcome"] == "value" else f"  ({asked['outcome']}{kind}: the fallback was used)"
        yield f"  {asked['task']}{flag}"
        for number, attempt in enumerate(asked.get("attempts", ()), start=1):
            if attempt["outcome"] != "value":
                what = clean(attempt["error"] or attempt["kind"] or attempt["outcome"])
                yield f"    attempt {number}: {shortened(what, SHOWN)}"
        if prompts:
            yield from (f"    │ {clean(line)}".rstrip() for line in asked["prompt"].splitlines())
        if asked["answer"] is not None:
            yield "    " + "  ".join(_field(name, value) for name, value in asked["answer"].items() if value)


def _asked_in_full(why: Mapping[str, Any]) -> Iterator[str]:
    return _asked(why, prompts=True)


def _field(name: str, value: Any) -> str:
    return f"{name}: {shortened(clean(str(value)), SHOWN)}"


def _stored(why: Mapping[str, Any]) -> Iterator[str]:
    if why["stored"]:
        yield "Stored"
    for entry in why["stored"]:
        mark = f"#{entry['memory']}" if entry["stored"] else "not"
        text = shortened(clean(entry["text"]), SHOWN)
        yield f"  {mark} {entry['kind']} {entry['importance']:g}  {text}  – {entry['reason']}"


def _heard_from(why: Mapping[str, Any]) -> Iterator[str]:
    for row in why["heard_from"]:
        links = [row, *row["chain"]]
        if row["memory"] is None:
            yield f"“{row['fact']}” has no memory behind it: made up"
            continue
        path = " ← ".join(f"{link['from']} ({link['event_id']})" for link in links if link["from"])
        origin = links[-1]
        end = "further back than is known" if origin["from"] else f"known from the start or seen by {origin['agent']}"
        yield f"“{row['fact']}” from #{row['memory']}: {path + ' ← ' if path else ''}{end}"


def _ids(ids: Sequence[int]) -> str:
    return ", ".join(f"#{memory}" for memory in ids)
