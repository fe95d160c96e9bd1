"""Diff: where two runs part, and what differs afterwards."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from commonplace.analysis.diffusion import diffusion
from commonplace.canon import parsed
from commonplace.character.state import Relation
from commonplace.clock import iso
from commonplace.errors import UsageError
from commonplace.run.digest import unpacked_parts
from commonplace.run.manifest import own_minds, task_settings
from commonplace.run.reading import Reading
from commonplace.run.rows import EVENT, event_from, event_json
from commonplace.world.events import Event

__all__ = ["diff"]

SETTINGS = ("scenario_digest", "seed", "mind", "fidelity", "policy", "embedder", "language", "stage")
"""What of two manifests is compared; and `minds`, those of characters and tasks."""
SPANS = 20
"""Stretches listed per character in which it is in two different places; `ticks` counts all of them."""
CHUNK = 256
"""Ticks whose events are compared together."""
CITED = ("because", "memory_ids")
"""Fields of events that hold numbers of memories: two events that differ in nothing else count as the same."""

Runs = tuple[Reading, Reading]
Place = str | None


def diff(first: Reading, second: Reading, at: int | str | None = None) -> dict[str, Any]:
    """Compares two runs up to a tick: `at`, or the last one that both have. Returns JSON with these keys:

    - `runs`: path, scenario, seed, mind and last tick of each; `settings`: what differs in their manifests, as pairs.
    - `related`: False for runs of different scenarios; nothing is compared then, and the rest is empty.
    - `compared`: the tick up to which both are compared; `time`, when it ends.
    - `parted`: `{tick, time, events}`, the first tick at which the histories differ and the events that only the one
      or the other has in it, as a pair of lists; None while the histories are the same.
    - `state_parted`: `{tick, kinds}`, the first tick at which the states differ, and the kinds of rows; or None.
    - `events`, a line per character and type, since the parting: `{agent_id, type, only: [n, n], both}`.
    - `places`, a line per character that was elsewhere: `{agent_id, ticks, spans: [{from, to, places}], at_end}`. A
      place is an area id; None for somebody who is not in the world.
    - `facts`, a line per seed fact that is not known to the same characters: `{fact, text, only: [ids, ids], both}`.
    - `beliefs` about objects and areas that differ: `{agent_id, about, believed}`, a pair of `{place, state}` or None.
    - `relations` that differ: `{agent_id, other, warmth, label, talks}`, each a pair; None for somebody not known.

    Raises UsageError for a tick that one of the runs does not have, and for a run without ticks.
    """
    runs = (first, second)
    with first.snapshot(), second.snapshot():
        found = _described(runs)
        if not found["related"]:
            return found
        tick = _last(runs, at)
        parted = _parting(runs, tick, 1)
        state_parted = _parting(runs, tick, 2)
        found |= {"compared": tick, "time": iso(first.time(tick))}
        if parted is not None:
            events = [[event_json(event, run.time(parted)) for event in only] for run, only in _only(runs, parted)]
            found["parted"] = {"tick": parted, "time": iso(first.time(parted)), "events": events}
            found["events"] = _events(runs, parted, tick)
            found["places"] = _places(runs, parted, tick)
            found["facts"] = _facts(runs, tick)
        if state_parted is not None:
            found["state_parted"] = {"tick": state_parted, "kinds": _kinds(runs, state_parted)}
            found["beliefs"] = _beliefs(runs, tick)
            found["relations"] = _relations(runs, tick)
        return found


def _described(runs: Runs) -> dict[str, Any]:
    """Describes two runs, whatever they are; everything that is compared later is empty."""
    one, other = (json.loads(run.manifest.to_json()) for run in runs)
    settings = {name: [one[name], other[name]] for name in SETTINGS if one[name] != other[name]}
    minds = [{"characters": own_minds(run.manifest), "tasks": task_settings(run.manifest)} for run in runs]
    if minds[0] != minds[1]:
        settings["minds"] = minds
    return {
        "runs": [
            {
                "path": str(run.path),
                "scenario": run.manifest.scenario,
                "seed": run.manifest.seed,
                "mind": run.manifest.mind,
                "last_tick": run.last_tick,
            }
            for run in runs
        ],
        "settings": settings,
        "related": "scenario_digest" not in settings or one["scenario"] == other["scenario"],
        **dict.fromkeys(("compared", "time", "parted", "state_parted")),
        **{key: [] for key in ("events", "places", "facts", "beliefs", "relations")},
    }


def _last(runs: Runs, at: int | str | None) -> int:
    """Returns the tick up to which the runs are compared."""
    for run in runs:
        if run.last_tick < 0:
            raise UsageError("the run has no ticks yet", where=str(run.path), hint="resume it first")
    if at is None:
        return min(run.last_tick for run in runs)
    return min(run.tick(at) for run in runs)


# ── where they part ──────────────────────────────────────────────────────────────────────────────────────────────────


def _parting(runs: Runs, tick: int, column: int) -> int | None:
    """Returns the first tick up to `tick` whose digests differ: of the histories (column 1) or the states (2)."""
    query = "SELECT n, history, state FROM tick WHERE n <= ? ORDER BY n"
    pairs = zip(*(run.all(query, tick) for run in runs), strict=True)
    return next((one[0] for one, other in pairs if one[column] != other[column]), None)


def _kinds(runs: Runs, tick: int) -> list[str]:
    """Returns the kinds of rows in which a tick differs."""
    query = "SELECT parts FROM tick WHERE n = ?"
    one, other = (unpacked_parts(run.one(query, tick)[0]) for run in runs)
    return [kind for kind in one if one[kind] != other.get(kind)]


def _only(runs: Runs, tick: int) -> list[tuple[Reading, list[Event]]]:
    """Returns the events of a tick that only the one run or the other has, in canonical order."""
    one, other = ([(_key(row), row) for row in _rows(run, tick, tick)] for run in runs)
    shared = Counter(key for key, _ in one) & Counter(key for key, _ in other)
    return [(run, list(_without(rows, shared))) for run, rows in zip(runs, (one, other), strict=True)]


def _without(rows: Iterable[tuple[Key, Row]], shared: Counter[Key]) -> Iterator[Event]:
    left = Counter(shared)
    for key, row in rows:
        if left[key]:
            left[key] -= 1
        else:
            yield event_from(row)


# ── events ───────────────────────────────────────────────────────────────────────────────────────────────────────────

Row = tuple[int, int, str, int, str, str]
Key = tuple[int, str, str, str]
"""Tick, character, type, body: what makes an event the same in both runs."""


def _rows(run: Reading, first: int, last: int) -> list[Row]:
    query = f"SELECT {EVENT} FROM event WHERE tick BETWEEN ? AND ? ORDER BY tick, phase, agent, ordinal"
    return run.all(query, first, last)


def _key(row: Row) -> Key:
    tick, _, agent, _, type_, body = row
    if any(name in body for name in CITED):
        body = json.dumps({name: value for name, value in parsed(body).items() if name not in CITED})
    return (tick, agent, type_, body)


def _events(runs: Runs, first: int, last: int) -> list[dict[str, Any]]:
    """Counts how often each type of event of each character happened in one run only, and in both."""
    only, both = (Counter[tuple[str, str]](), Counter[tuple[str, str]]()), Counter[tuple[str, str]]()
    for begin in range(first, last + 1, CHUNK):
        one, other = (Counter(map(_key, _rows(run, begin, min(begin + CHUNK - 1, last)))) for run in runs)
        for counts, keys in ((only[0], one - other), (only[1], other - one), (both, one & other)):
            for (_, agent, type_, _), count in keys.items():
                counts[agent, type_] += count
    return [
        {
            "agent_id": agent,
            "type": type_,
            "only": [counts[agent, type_] for counts in only],
            "both": both[agent, type_],
        }
        for agent, type_ in sorted({*only[0], *only[1]})
    ]


# ── places ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _places(runs: Runs, first: int, last: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for agent in _everybody(runs):
        whereabouts = [_whereabouts(run, agent, first, last) for run in runs]
        apart = list(_apart(whereabouts, last))
        if apart:
            found.append(
                {
                    "agent_id": agent,
                    "ticks": sum(end - begin + 1 for begin, end, _ in apart),
                    "spans": [{"from": begin, "to": end, "places": places} for begin, end, places in apart[:SPANS]],
                    "at_end": [known[-1][1] for known in whereabouts],
                }
            )
    return found


def _whereabouts(run: Reading, agent: str, first: int, last: int) -> list[tuple[int, Place]]:
    """Returns (tick, place) from tick `first` on, whenever it changes; the first entry is of `first`."""
    query = "SELECT tick, value FROM version WHERE kind = 'body' AND owner = ? AND key = '' AND tick <= ? ORDER BY tick"
    found: list[tuple[int, Place]] = [(first, None)]
    for tick, value in run.all(query, agent, last):
        body = parsed(value)
        place = body["area"] if body else None
        if tick <= first:
            found = [(first, place)]
        elif place != found[-1][1]:
            found.append((tick, place))
    return found


def _apart(whereabouts: Sequence[Sequence[tuple[int, Place]]], last: int) -> Iterator[tuple[int, int, list[Place]]]:
    """Yields the stretches (from, to, places) in which somebody is in two different places."""
    changes = [dict(known) for known in whereabouts]
    ticks = sorted({*changes[0], *changes[1]})
    places: list[Place] = [None, None]
    for begin, following in zip(ticks, [*ticks[1:], last + 1], strict=True):
        places = [known.get(begin, place) for known, place in zip(changes, places, strict=True)]
        if places[0] != places[1]:
            yield (begin, following - 1, places)


# ── what they know and think ─────────────────────────────────────────────────────────────────────────────────────────


def _facts(runs: Runs, tick: int) -> list[dict[str, Any]]:
    lines = [{line["fact"]: line for line in diffusion(run, tick)} for run in runs]
    found: list[dict[str, Any]] = []
    for fact in {**lines[0], **lines[1]}:
        one, other = (set(line[fact]["knowers"]) if fact in line else set[str]() for line in lines)
        if one != other:
            text = (lines[0].get(fact) or lines[1][fact])["text"]
            only = [sorted(one - other), sorted(other - one)]
            found.append({"fact": fact, "text": text, "only": only, "both": sorted(one & other)})
    return found


def _beliefs(runs: Runs, tick: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for agent in _everybody(runs):
        one, other = (_believed(run, agent, tick) for run in runs)
        found += [
            {"agent_id": agent, "about": node, "believed": [one.get(node), other.get(node)]}
            for node in sorted({*one, *other})
            if one.get(node) != other.get(node)
        ]
    return found


def _believed(run: Reading, agent: str, tick: int) -> dict[str, dict[str, str]]:
    """Returns a character's beliefs about objects and areas, without those about where others are."""
    if agent not in run.agent_ids:
        return {}
    nodes = run.state_at(agent, tick).belief.nodes
    people = run.scenario.personas
    return {node: {"place": known.parent, "state": known.state} for node, known in nodes.items() if node not in people}


def _relations(runs: Runs, tick: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for agent in _everybody(runs):
        one, other = (_related(run, agent, tick) for run in runs)
        for whom in sorted({*one, *other}):
            pair = [_view(one.get(whom)), _view(other.get(whom))]
            if pair[0] != pair[1]:
                found.append(
                    {"agent_id": agent, "other": whom, **{name: [view[name] for view in pair] for name in VIEW}}
                )
    return found


VIEW = ("warmth", "label", "talks")


def _view(relation: Relation | None) -> dict[str, Any]:
    return {name: None if relation is None else getattr(relation, name) for name in VIEW}


def _related(run: Reading, agent: str, tick: int) -> Mapping[str, Relation]:
    return run.state_at(agent, tick).relations if agent in run.agent_ids else {}


def _everybody(runs: Runs) -> list[str]:
    return sorted({agent for run in runs for agent in run.agent_ids})
