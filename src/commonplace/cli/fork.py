"""`fork`: a copy of a run up to a tick, which can go another way."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NoReturn, cast

import typer

from commonplace.api import inject as inject_sentence
from commonplace.api import mind_named, named_minds, scenario_of
from commonplace.cli.consent import agreed
from commonplace.cli.options import FORCE, RUN, TRUST, minds_given
from commonplace.engine.changes import FIELDS, checked, queueable
from commonplace.engine.run import queue_input
from commonplace.errors import UsageError, command
from commonplace.lookup import Names, character, memory_reference
from commonplace.minds.several import DEFAULT, as_json, chosen
from commonplace.run.fork import written_fork
from commonplace.run.manifest import MIND_OBJECT, OWN_MINDS, TASK_MINDS, Manifest
from commonplace.run.minds import task_minds
from commonplace.run.opening import open_store
from commonplace.run.place import Place, place
from commonplace.run.reading import Reading
from commonplace.scenario.compiling import SUFFIXES, character_json, newcomer_from_file
from commonplace.scenario.model import MindPart
from commonplace.text import clean
from commonplace.trust import mind_named_by_run, named_by_run, remember, settle
from commonplace.world.events import NOBODY
from commonplace.world.inputs import BODY_FIELDS, Join, as_dict


def fork(
    run: Place = RUN,
    at: str = typer.Option(help="The last tick, or ISO simulated time, that both histories share."),
    output: Place = typer.Option(..., "-o", "--output", parser=place, metavar="RUN", help="The new run."),
    force: bool = FORCE,
    inject: str | None = typer.Option(None, "--inject", help="Something that happens at the next tick, as a sentence."),
    forget: list[str] = typer.Option(
        [], "--forget", help="AGENT:ID, a memory to forget at the next tick; repeat for another."
    ),
    mind: list[str] = typer.Option(
        [], "--mind", help="Who answers from then on, as for `run`; the run's own minds if left out."
    ),
    sets: list[str] = typer.Option(
        [], "--set", metavar="AGENT.FIELD=VALUE", help="Change a character at the next tick; repeat for another."
    ),
    join: list[str] = typer.Option(
        [],
        "--join",
        metavar="AGENT|FILE[:AREA]",
        help="Who comes in at the next tick, at home if no area is given: a character who is away, or somebody new "
        "whom a YAML or JSON file describes; repeat for another.",
    ),
    leave: list[str] = typer.Option([], "--leave", metavar="AGENT", help="A character who goes away at the next tick."),
    seed: int | None = typer.Option(None, "--seed", help="Another seed, from the tick after the next on."),
    policy: str = typer.Option("", "--policy", help="Another retrieval policy, from the tick after the next on."),
    trust: bool = TRUST,
) -> None:
    """Copy a run up to a tick, to continue it differently. The run itself is not changed."""
    with Reading.open(run) as reading:
        minds = minds_given(mind)
        manifest = _with_minds(reading.manifest, named_minds(minds)) if minds else None
        if inject is not None:  # the mind is asked what the sentence means
            named = named_by_run(manifest or reading.manifest, set(minds.values()))
            trust = agreed(named, run, trust=trust)
            settle(named, run, trust=trust)
        changes = _Changes(reading, at)
        for wish in join:
            changes.join(wish)
        for wish in sets:
            changes.set(wish)
        for wish in leave:
            changes.leave(wish)
        for name, value in (("seed", seed), ("policy", policy or None)):
            if value is not None:
                changes.set_run(name, value)
        for reference in forget:
            changes.forget(reference)
    with written_fork(run, at, output, force=force, manifest=manifest, fresh=seed is not None) as part:
        # the fork appears with all its inputs
        injected = asyncio.run(inject_sentence(part, inject, minds, trust=trust)) if inject is not None else ""
        with open_store(part) as file:
            tick = file.last_tick
            queue_input(file, file.reading.scenario, *(body for body, _ in changes.made))
    if manifest is not None:
        remember(one for one in mind_named_by_run(manifest) if one.value in minds.values())
    print(f"{output}: the history of {run} up to tick {tick}")
    for words in filter(None, (injected, *(words for _, words in changes.made))):
        print(f"at tick {tick + 1} {words}")
    print(f"continue with: {command('resume', output, '--ticks', 48)}")


class _Changes:
    """The inputs that a fork begins with, each with a sentence about it; checked before anything is written."""

    def __init__(self, reading: Reading, at: str) -> None:
        self.made: list[tuple[dict[str, Any], str]] = []
        self._reading = reading
        self._tick = reading.tick(at)
        self._scenario = reading.scenario_at(self._tick)
        self._where = reading.path
        self._present = set(reading.world_at(self._tick).bodies)

    def join(self, wish: str) -> None:
        """Adds AGENT or AGENT:AREA, FILE or FILE:AREA. Raises UsageError for somebody who is here already, and for
        mistakes in the file."""
        name, colon, place = wish.rpartition(":")
        if not colon or wish.endswith(SUFFIXES):  # a colon in the name of a file is no separator
            name, place = wish, ""
        body: dict[str, Any] = {"kind": "join", **({"area": place} if place else {})}
        if name.endswith(SUFFIXES):
            body["character"] = character_json(newcomer_from_file(name, self._scenario))
        else:
            body["agent_id"] = self._character(name)
            if body["agent_id"] in self._present:
                here = f"{body['agent_id']} is in the world at tick {self._tick} already"
                absent = ", ".join(sorted(self._scenario.personas.keys() - self._present))
                others = absent or "nobody: everybody is here"
                self._refuse(here, f"expected one of {others}, or a file that describes somebody new")
        item, self._scenario = queueable(body, self._scenario)
        assert isinstance(item, Join)
        self._present.add(item.agent_id)
        who = f"{item.agent_id}, who is new," if item.character else item.agent_id
        self.made.append((as_dict(item), f"{who} joins at {item.area}"))

    def leave(self, name: str) -> None:
        """Adds AGENT, who goes away. Raises UsageError for somebody who is not here."""
        me = self._character(name)
        if me not in self._present:
            here = ", ".join(sorted(self._present)) or "nobody"
            self._refuse(f"{me} is not in the world at tick {self._tick}", f"those who are: {here}")
        self.made.append(({"kind": "leave", "agent_id": me}, f"{me} leaves"))

    def set(self, wish: str) -> None:
        """Adds AGENT.FIELD=VALUE. Raises UsageError for what cannot be set, with what can."""
        target, equals, value = wish.partition("=")
        name, dot, field = target.strip().partition(".")
        if not equals or not dot:
            hint = f"expected AGENT.FIELD=VALUE, such as mira.place=plaza; fields are {', '.join(FIELDS)}"
            raise UsageError(f"--set {wish!r} does not say what to change", hint=hint)
        me = self._character(name)
        what, *rest = field.split(".")
        if what == "relation" and len(rest) == 2:
            field = f"relation.{self._character(rest[0])}.{rest[1]}"
        body = checked({"agent_id": me, "field": field, "value": value.strip()}, self._scenario)
        if field in BODY_FIELDS and me not in self._present:
            self._refuse(f"{me} is not in the world at tick {self._tick}", f"let it come: --join {me}:AREA")
        shown = (
            "; ".join(map(str, cast("list[object]", body["value"])))
            if isinstance(body["value"], list)
            else str(body["value"])
        )
        self.made.append((body, f"{me}.{field} becomes {clean(shown)}"))

    def forget(self, reference: str) -> None:
        """Adds AGENT:ID. Raises UsageError for a memory that the character does not have then."""
        agent, number = memory_reference(reference, self._names(), self._where)
        memory = self._reading.stream_at(agent, self._tick).get(number)
        body = {"kind": "forget", "agent_id": agent, "memory_ids": [number]}
        self.made.append((body, f"{agent} forgets: {clean(memory.text)}"))

    def set_run(self, name: str, value: object) -> None:
        """Adds a setting of the run: seed or policy."""
        body = checked({"agent_id": NOBODY, "field": name, "value": value}, self._scenario)
        self.made.append((body, f"the {name} becomes {body['value']}"))

    def _character(self, name: str) -> str:
        return character(name, self._names(), self._where)

    def _names(self) -> Names:
        return {one.id: (one.name, one.called) for one in self._scenario.personas.values()}

    def _refuse(self, what: str, hint: str) -> NoReturn:
        raise UsageError(what, where=str(self._where), hint=hint)


def _with_minds(manifest: Manifest, named: Mapping[str, MindPart]) -> Manifest:
    """Returns the manifest with other minds; the shape of requests stays. Raises UsageError for an unknown mind."""
    for part in named.values():
        mind_named(part.mind or manifest.mind, scenario_of(manifest))
    common, tasks = chosen(manifest.mind, task_minds(manifest), named)
    dropped = {TASK_MINDS, *((MIND_OBJECT, OWN_MINDS) if DEFAULT in named else ())}
    settings = {name: value for name, value in (manifest.settings or {}).items() if name not in dropped}
    if tasks:
        settings[TASK_MINDS] = as_json(tasks)
    return replace(manifest, mind=common, settings=settings)
