"""Characters in workers make the same history, however many workers there are, whoever answers, whenever one dies."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.api import create_run, open_run, resume_run
from commonplace.engine import workers
from commonplace.engine.attempts import attempt_of
from commonplace.engine.budget import Budget
from commonplace.engine.live_state import seen, weather
from commonplace.engine.run import Run
from commonplace.engine.worker import (
    Amend,
    Commit,
    Failure,
    Make,
    Message,
    Play,
    Restore,
    Resume,
    StartJobs,
    packed,
    part_of,
    unpacked,
)
from commonplace.engine.workers import MOST_LOSSES, shares
from commonplace.errors import CommonplaceError, Paused, UsageError
from commonplace.memory import MemoryStream
from commonplace.minds.mind import Ask, Mind
from commonplace.minds.tasks import TASKS
from commonplace.scenario.compiling import load
from commonplace.world.actions import Idle
from e2e.command import Ends, ends
from engine.in_process import Death, InProcess, clusters
from engine.paid_minds import PaidMind, offline, virtually
from scenario.newcomers import zola
from sizes import PROVE, examples

__all__ = ["clusters"]

TICKS = 60 if PROVE else 12
KILLS = 100 if PROVE else 6
EVERYBODY = {"everybody": True, "areas": [], "agents": []}
FOG = {"kind": "god_event", "text": "A thick fog rolls in.", "to": EVERYBODY}
WISHES: Mapping[int, list[dict[str, Any]]] = {
    1: [FOG, {"kind": "inner_voice", "agent_id": "ines", "text": "Somebody should oil the café door."}],
    2: [
        {"kind": "leave", "agent_id": "bruno"},
        {"kind": "join", "area": "cafe", "character": zola()},
        {"kind": "set", "agent_id": "-", "field": "seed", "value": 11},
    ],
    3: [{"kind": "set", "agent_id": "ines", "field": "relation.bruno.warmth", "value": -40}],
    4: [
        {"kind": "forget", "agent_id": "ines", "memory_ids": [1, 3]},
        {"kind": "join", "agent_id": "bruno", "area": "cafe"},
    ],
    5: [{"kind": "set", "agent_id": "-", "field": "seed", "value": 12}],
    6: [{**FOG, "text": "The café is on fire.", "raises": [{"kind": "burning", "of": "cafe", "hours": 1}]}],
    7: [
        {"kind": "set", "agent_id": "zola", "field": "work", "value": "cook"},
        {"kind": "forget", "agent_id": "zola", "memory_ids": [1]},
    ],
    8: [{"kind": "set", "agent_id": "-", "field": "policy", "value": "lexical"}],
    9: [{"kind": "take_over", "agent_id": "ines", "action": {"kind": "IDLE", "doing": "kicks Bruno"}}],
    10: [{"kind": "set", "agent_id": "bruno", "field": "belief.fountain.state", "value": "dry"}],
}  # fmt: skip
"""Tick → the inputs submitted after it."""


def free() -> Mind:
    return offline("plaza")


def paid() -> Mind:
    return PaidMind(offline("plaza"), slips=0.2)


def unpaid() -> Mind:
    """A mind of somebody's own that costs nothing: it answers in the driver all the same."""
    mind = PaidMind(offline("plaza"))
    mind.paid, mind.answer = False, mind._mind.answer  # type: ignore[method-assign]
    return mind


MINDS = {"free": free, "paid": paid, "unpaid": unpaid}


async def lived(run: Run, until: int, wishes: Mapping[int, list[dict[str, Any]]] = WISHES) -> None:
    async for tick in run.play(until=until):
        for body in wishes.get(tick.number, ()):
            run.submit(body)


def eventful(path: Path, mind: Mind, until: int = TICKS, **settings: Any) -> Path:
    """The plaza, with people who put in everything that can be put in."""
    with create_run(path, "plaza", mind=mind, **settings) as run:
        virtually(lived(run, until))
    return path


@pytest.fixture(scope="module", params=MINDS)
def whole(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Callable[[], Mind]]:
    """A run without workers, and its mind."""
    make = MINDS[request.param]
    return eventful(tmp_path_factory.mktemp("whole") / "a.run", make()), make


Whole = tuple[Path, Callable[[], Mind]]


def test_the_run_holds_what_it_should(whole: Whole) -> None:
    with open_run(whole[0]) as run:
        assert {event.type for event in run.events()} >= {
            "FORGOT",
            "CHANGED",
            "JOINED",
            "LEFT",
            "GOD_EVENT",
            "TAKEN_OVER",
        }
        assert [agent for agent, _ in run.newcomers] == ["zola"]
        assert {row.task for row in run.answers()} >= {"plan_day", "react"}


@pytest.mark.parametrize("count", [1, 2, 4])
def test_the_whole_file_is_the_same(count: int, whole: Whole, tmp_path: Path, clusters: list[InProcess]) -> None:
    path, make = whole
    eventful(tmp_path / "a.run", make(), workers=count)
    assert records(tmp_path / "a.run") == records(path)
    (cluster,) = clusters
    assert cluster.closed
    assert cluster.started == min(count, 2)


@pytest.mark.parametrize("count", [0, 2])
def test_a_run_that_is_resumed_at_every_tick_makes_the_same_history(
    count: int, tmp_path: Path, clusters: list[InProcess], whole: Whole
) -> None:
    path, make = whole
    create_run(tmp_path / "a.run", "plaza", mind=make(), workers=count).close()
    for tick in range(1, TICKS + 1):
        with resume_run(tmp_path / "a.run", make(), workers=count) as run:
            virtually(lived(run, tick))
    assert ends(tmp_path / "a.run") == ends(path)


def death(seed: int, odds: float) -> Callable[[Message], Death]:
    random = Random(seed)

    def dies(message: Message) -> Death:
        if isinstance(message, Make) or random.random() > odds:
            return ""
        return random.choice(("before", "after"))

    return dies


def killed(path: Path, make: Callable[[], Mind], target: Path, seed: int) -> int:
    """Lives the run again with workers that die; returns how many did."""
    made: list[InProcess] = []

    def cluster(*arguments: Any, **settings: Any) -> InProcess:
        made.append(InProcess(*arguments, **settings, dies=death(seed, 0.12)))
        return made[-1]

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("commonplace.parts.cluster.ray_cluster.RayCluster", cluster)
        patched.setattr(workers, "MOST_LOSSES", 50)
        eventful(target, make(), workers=2)
    assert ends(target) == ends(path)
    assert records(target) == records(path)
    return made[0].started - 2


def records(path: Path) -> list[Any]:
    """All that is chained, tick by tick, the record of reasons and costs included."""
    with open_run(path) as run:
        return run.all("SELECT n, history, state, record FROM tick ORDER BY n")


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 12))])
def test_a_worker_may_die_at_any_message(seed: int, whole: Whole, tmp_path: Path) -> None:
    path, make = whole
    assert killed(path, make, tmp_path / "a.run", seed)


@pytest.mark.parametrize("kind", [Play, Resume, StartJobs, Amend, Commit])
@pytest.mark.parametrize("when", ["before", "after"])
def test_each_message_may_be_lost(
    kind: type[Message], when: Death, tmp_path: Path, clusters: list[InProcess], bought: Path
) -> None:
    """Once in every tick, with a mind that is paid."""
    with create_run(tmp_path / "a.run", "plaza", mind=paid(), workers=2) as run:
        struck: set[int] = set()

        def dies(message: Message) -> Death:
            if isinstance(message, kind) and run.tick not in struck:
                struck.add(run.tick)
                return when
            return ""

        clusters[0].dies = dies
        virtually(lived(run, 8))
    assert struck
    assert records(tmp_path / "a.run") == records(bought)


def test_a_successor_may_die_while_it_starts_jobs(tmp_path: Path, clusters: list[InProcess], bought: Path) -> None:
    """Then its turn of the tick has begun, and is begun anew."""
    with create_run(tmp_path / "a.run", "plaza", mind=paid(), workers=2) as run:
        struck = Counter[int]()

        def dies(message: Message) -> Death:
            struck[run.tick] += isinstance(message, StartJobs)
            return "after" if isinstance(message, StartJobs) and struck[run.tick] < 6 else ""

        clusters[0].dies = dies
        virtually(lived(run, 8))
    assert clusters[0].started > 20
    assert records(tmp_path / "a.run") == records(bought)


@pytest.fixture(scope="module")
def bought(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight ticks with a mind that is paid."""
    return eventful(tmp_path_factory.mktemp("bought") / "a.run", paid(), 8)


def test_nothing_is_asked_twice_when_a_worker_dies(tmp_path: Path, clusters: list[InProcess]) -> None:
    mind = PaidMind(offline("plaza"), slips=0.0)
    with create_run(tmp_path / "a.run", "plaza", mind=mind, workers=2) as run:
        random = Random(3)
        clusters[0].dies = lambda message: "after" if isinstance(message, Resume) and random.random() < 0.2 else ""
        virtually(lived(run, 8, {}))
    assert clusters[0].started > 2
    assert len(mind.asked) == len({*mind.asked})


def test_questions_of_all_workers_are_in_flight_together(tmp_path: Path, clusters: list[InProcess]) -> None:
    most = []
    for count in (0, 3):
        mind = PaidMind(offline(), slips=0.0, delay=5.0)
        with create_run(tmp_path / f"{count}.run", "latticeville", mind=mind, workers=count) as run:
            virtually(lived(run, 6, {}))
        most.append(mind.most)
    assert most[0] == most[1] > 3
    assert records(tmp_path / "0.run") == records(tmp_path / "3.run")


def test_a_worker_that_keeps_dying_stops_the_run_which_can_be_resumed(
    tmp_path: Path, clusters: list[InProcess], caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "a.run"
    with (
        pytest.raises(CommonplaceError, match="2 of the characters died 6 times") as raised,
        create_run(path, "plaza", workers=1) as run,
    ):
        virtually(lived(run, 2, {}))
        clusters[0].dies = lambda message: "before"
        virtually(lived(run, 4, {}))
    assert f"{path}, tick 2" in str(raised.value)
    assert clusters[0].started == 1 + MOST_LOSSES
    assert "(killed); another one takes over" in caplog.text
    with resume_run(path) as run:
        virtually(lived(run, 4, {}))


@pytest.mark.parametrize("whole", ["paid"], indirect=True)
def test_a_run_goes_on_with_another_number_of_workers_after_a_budget(
    whole: Whole, tmp_path: Path, clusters: list[InProcess]
) -> None:
    path, make = whole
    mind = make()
    target, pauses, wishes = tmp_path / "a.run", 0, dict(WISHES)
    create_run(target, "plaza", mind=mind, workers=2).close()
    for count in (2, 3, 0, 1, 2, 0, 4, 1) * 9:
        with resume_run(target, mind, workers=count) as run:
            try:
                virtually(spent(run, wishes))
            except Paused:
                pauses += 1
                continue
        break
    assert pauses > 2
    assert ends(target) == ends(path)


async def spent(run: Run, wishes: dict[int, list[dict[str, Any]]]) -> None:
    async for tick in run.play(until=TICKS, budget=Budget(calls=2)):
        for body in wishes.pop(tick.number, ()):
            run.submit(body)


@pytest.mark.parametrize(("scenario", "prompt"), [("sitcom-en", ""), ("dialectic", "Should cities ban cars?")])
def test_other_stages_have_workers_too(scenario: str, prompt: str, tmp_path: Path, clusters: list[InProcess]) -> None:
    """A duet and a panel."""
    for count in (0, 2):
        with create_run(tmp_path / f"{count}" / "a.run", scenario, prompt=prompt, workers=count) as run:
            virtually(lived(run, 12, {}))
    assert records(tmp_path / "2" / "a.run") == records(tmp_path / "0" / "a.run")
    assert clusters[0].started == 2


def test_a_worker_has_its_own_characters_only_and_the_driver_has_none(
    tmp_path: Path, clusters: list[InProcess], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, made = tmp_path / "a.run", []
    init = MemoryStream.__init__

    def counted(stream: MemoryStream, agent: str, *rest: Any, **more: Any) -> None:
        made.append(agent)
        init(stream, agent, *rest, **more)

    monkeypatch.setattr(MemoryStream, "__init__", counted)
    with create_run(path, "latticeville", workers=3) as run:
        assert sorted(made) == sorted(run.scenario.personas)
        virtually(lived(run, 2, {}))
    made.clear()
    with resume_run(path, workers=2) as run:
        (one, other) = (message for message in clusters[1].sent if isinstance(message, Restore))
        assert sorted(made) == sorted([*one.agents, *other.agents]) == sorted(run.scenario.personas)
        assert Path(one.where).is_absolute()
        (tick,) = run.play_sync(1)
        assert tick.events
        assert not tick.turns
        with pytest.raises(AssertionError):
            _ = run._engine.live_state


def test_whom_a_person_plays_is_known(tmp_path: Path, clusters: list[InProcess]) -> None:
    with create_run(tmp_path / "a.run", "plaza", workers=2) as run:
        run.submit({"kind": "take_over", "agent_id": "ines", "action": {"kind": "IDLE", "doing": "hums"}})
        virtually(lived(run, 2, {}))
        assert run.plays("ines")
        assert not run.plays("bruno")
        assert not run.plays("nobody")


def test_what_goes_wrong_in_a_worker_is_told_by_the_driver(
    tmp_path: Path, clusters: list[InProcess], monkeypatch: pytest.MonkeyPatch
) -> None:
    with create_run(tmp_path / "a.run", "plaza", workers=2) as run:
        monkeypatch.setattr("commonplace.engine.worker.Characters.play", lambda self: 1 / 0)
        with pytest.raises(ZeroDivisionError) as raised:
            virtually(lived(run, 1, {}))
        assert "in _reply" in "".join(raised.value.__notes__)


def test_a_taken_file_is_refused_before_a_worker_is_started(tmp_path: Path, clusters: list[InProcess]) -> None:
    (tmp_path / "a.run").write_text("mine")
    with pytest.raises(UsageError, match="already exists"):
        create_run(tmp_path / "a.run", "plaza", workers=2)
    assert not clusters[0].started
    assert clusters[0].closed


# ── how characters are divided ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("count", [1, 2, 3, 4, 10, 99])
def test_characters_are_divided_equally_and_by_district(count: int) -> None:
    scenario = load("latticeville")
    parts = shares(scenario, count)
    sizes = [len(part) for part in parts]
    assert sorted(agent for part in parts for agent in part) == sorted(scenario.personas)
    assert len(parts) == min(count, len(scenario.personas))
    assert max(sizes) - min(sizes) <= 1
    homes = [scenario.personas[agent].home for part in parts for agent in part]
    assert len(set(homes)) == 1 + sum(one != other for one, other in pairwise(homes))


@examples(20)
@given(st.data())
def test_who_is_where_makes_no_difference(data: st.DataObject) -> None:
    scenario = load("latticeville")
    count = data.draw(st.integers(1, 3))
    homes = {agent: data.draw(st.integers(0, count - 1)) for agent in scenario.personas}
    parts = [[agent for agent, home in homes.items() if home == number] for number in range(count)]
    with pytest.MonkeyPatch.context() as patched, TemporaryDirectory() as folder:
        patched.setattr("commonplace.parts.cluster.ray_cluster.RayCluster", InProcess)
        patched.setattr(workers, "shares", lambda *_: parts)
        path = Path(folder) / "a.run"
        with create_run(path, "latticeville", workers=count) as run:
            virtually(lived(run, 8, {}))
        assert ends(path) == _without()


@cache
def _without() -> Ends:
    with TemporaryDirectory() as folder, create_run(Path(folder) / "a.run", "latticeville") as run:
        virtually(lived(run, 8, {}))
        return Ends(run.tick, run.reading.digest(), run.reading.digest(state=True))


# ── what crosses ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_part_of_the_world_shows_its_characters_all_they_can_see(plaza: Path, town: Path) -> None:
    random, heard = Random(1), 0
    for path in (plaza, town):
        with open_run(path) as run:
            for tick in range(run.last_tick):
                scenario = run.scenario_at(tick)
                ways = sorted(scenario.geography.ways)
                world = replace(run.world_at(tick), barred=frozenset(random.sample(ways, len(ways) // 2)))
                ambient = weather(scenario, run.seeds, world)
                agents = random.sample(sorted(scenario.personas), len(scenario.personas) // 2)
                part = replace(part_of(world, agents), circumstances=world.circumstances)
                heard += len(world.heard)
                for agent in {*agents} & world.bodies.keys():
                    assert seen(scenario, part, ambient, agent) == seen(scenario, world, ambient, agent)
                    other = random.choice(sorted(world.bodies))
                    deed = Idle(doing=f"kicks {scenario.personas[other].called} and locks the door")
                    assert attempt_of(agent, deed, scenario, part) == attempt_of(agent, deed, scenario, world)
    assert heard


@pytest.mark.parametrize("name", sorted(TASKS))
def test_a_task_crosses_by_its_name_with_the_settings_of_the_question(name: str) -> None:
    ask = Ask(replace(TASKS[name], temperature=0.125), None)  # type: ignore[arg-type]
    assert unpacked(packed(ask)) == ask


class Odd(CommonplaceError):
    """One that cannot be made again from its words."""

    def __init__(self, one: int, other: int) -> None:
        super().__init__(f"{one} is not {other}", where="here", hint="count again")


def test_an_error_that_cannot_cross_goes_as_its_words() -> None:
    from commonplace.engine.worker import _failure

    with pytest.raises(CommonplaceError, match="1 is not 2") as raised:
        unpacked(packed(_failure(Odd(1, 2))))
    assert "count again" in str(raised.value)
    local = type("Local", (Exception,), {})
    with pytest.raises(RuntimeError, match="Local: gone"):
        unpacked(packed(_failure(local("gone"))))
    assert isinstance(pickle.loads(packed(_failure(UsageError("no", hint="yes")))), Failure)
