"""What a character attempts is judged, happens where it is, and is seen by those who are there; the rest is refused."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager

import pytest

from commonplace.api import create_run, resume_run
from commonplace.cli import main
from commonplace.engine.attempts import meant
from commonplace.errors import UsageError
from commonplace.minds.mind import Reply
from commonplace.minds.offline.mind import OfflineMind
from commonplace.minds.tasks import ActOutput, JudgeOutput
from commonplace.world.happenings import happening_of

BREAKS = {
    "kind": "attempt",
    "agent_id": "bruno",
    "text": "Bruno breaks the tower clock.",
    "raises": [{"kind": "broken", "of": "tower_clock", "by": "bruno"}],
}


@contextmanager
def on_the_square(path, *there: str, mind=""):
    """The plaza at seven, with some of its people on the square, awake, and each played by a person."""
    with create_run(path, "plaza", mind=mind) as run:
        for agent in ("bruno", "ines"):
            home = "square" if agent in there else f"{agent}_home"
            run.submit({"kind": "set", "agent_id": agent, "field": "place", "value": home})
            run.submit({"kind": "set", "agent_id": agent, "field": "asleep", "value": False})
            run.submit({"kind": "take_over", "agent_id": agent})
        list(run.play_sync(2))
        yield run


def happened(ticks, type: str) -> list:
    return [event.body for tick in ticks for event in tick.events if event.type == type]


def test_those_who_are_there_see_who_did_it_and_no_one_else_does(tmp_path):
    for there, seen in (("bruno", "ines"), True), (("bruno",), False):
        path = tmp_path / f"{seen}.run"
        with on_the_square(path, *there) as run:
            run.submit(BREAKS)
            ticks = list(run.play_sync(2))
            [god] = happened(ticks, "GOD_EVENT")
            [began] = happened(ticks, "BEGAN")
            noticed = [memory for memory in run.reading.memories("ines") if "breaks the tower clock" in memory.text]
            assert (god.by, began.circumstance, began.by) == ("bruno", "broken.tower_clock", "bruno")
            assert [agent for agent, _ in god.percepts] == sorted(there)
            assert [happening_of(memory.details).who for memory in noticed] == (["bruno"] if seen else [])
        assert main(["verify", str(path)]) == 0


def test_what_is_elsewhere_stays_as_it_is(tmp_path):
    with on_the_square(tmp_path / "far.run", "bruno") as run:
        far = {**BREAKS, "sets": [["coffee_machine", "hot"]], "raises": [{"kind": "insulted", "of": "ines"}]}
        assert "coffee machine is not here. Ines Okafor is not here." in run.described(far)
        run.submit(far)
        ticks = list(run.play_sync(1))
        assert not happened(ticks, "BEGAN")
        assert run.reading.world_at(run.tick).things["coffee_machine"].state == "cold"


def test_a_place_next_door_can_be_closed_but_not_set_on_fire(tmp_path):
    with on_the_square(tmp_path / "door.run", "bruno") as run:
        run.submit({**BREAKS, "raises": [{"kind": kind, "of": "cafe"} for kind in ("closed", "burning")]})
        assert [one.circumstance for one in happened(list(run.play_sync(1)), "BEGAN")] == ["closed.cafe"]


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ({"kind": "set", "agent_id": "bruno", "field": "asleep", "value": True}, "Bruno Salt is asleep"),
        (
            {"kind": "god_event", "text": "Bruno is ill.", "to": {}, "raises": [{"kind": "ill", "of": "bruno"}]},
            "Bruno Salt has to rest",
        ),
    ],
)
def test_who_sleeps_or_has_to_rest_does_nothing(tmp_path, how, why):
    with on_the_square(tmp_path / "rest.run", "bruno") as run:
        run.submit(how)
        list(run.play_sync(1))
        assert run.described(asyncio.run(run.preview("I break the tower clock", "bruno"))) == f"{why}."
        run.submit(BREAKS)
        ticks = list(run.play_sync(1))
        assert not happened(ticks, "BEGAN")
        assert [rejected.why for rejected in happened(ticks, "ACTION_REJECTED")] == [why]


def test_a_deed_is_read_by_rules_and_shown_before_it_happens(tmp_path):
    path = tmp_path / "rows.run"
    with on_the_square(path, "bruno", "ines") as run:
        body = asyncio.run(run.preview("I slap Ines in front of the fountain", "bruno"))
        assert run.described(body) == (
            "Ines Okafor will see: “Bruno slaps Ines in front of the fountain. Ines has been insulted.” "
            "Ines has been insulted."
        )
        impossible = asyncio.run(run.preview("I spread my arms and fly over the roofs", "bruno"))
        assert "Bruno spreads his arms.” Nothing else comes of it. Nobody can do that." in run.described(impossible)
        run.submit(body)
        list(run.play_sync(1))
    with resume_run(path) as run:
        list(run.play_sync(3))
        assert run.reading.world_at(run.tick).circumstances["insulted.ines"].by == "bruno"
    assert main(["verify", str(path)]) == 0


class Referee(OfflineMind):
    """A mind that judges what no rule understands, and lets Bruno act in words of its own."""

    name = "referee"

    def __init__(self, doing: str = "") -> None:
        super().__init__()
        self.judged: list[str] = []
        self.doing = doing

    def answer(self, ask, request_key):
        if ask.task.name == "judge":
            self.judged.append(ask.input.text)
            assert set(ask.input.can) >= {"insulted.ines", "broken.fountain"}
            assert "rich.bruno" not in ask.input.can
            return Reply(JudgeOutput(percept="Bruno sings.", sets=(("fountain", "dry"),), why="Nobody claps."))
        if ask.task.name == "act" and self.doing and ask.input.who.id == "bruno":
            return Reply(ActOutput(kind="IDLE", doing=self.doing))
        return super().answer(ask, request_key)


def test_a_mind_is_asked_about_what_no_rule_understands(tmp_path):
    mind = Referee()
    with on_the_square(tmp_path / "mind.run", "bruno", "ines", mind=mind) as run:
        body = asyncio.run(run.preview("I sing the fountain to sleep", "bruno"))
        asyncio.run(run.preview("I slap Ines", "bruno"))
        assert mind.judged == ["I sing the fountain to sleep"]
        assert run.described(body) == "Ines Okafor will see: “Bruno sings.” fountain becomes dry. Nobody claps."
        run.submit(body)
        list(run.play_sync(1))
        assert run.reading.world_at(run.tick).things["fountain"].state == "dry"


def test_what_a_mind_says_it_does_happens_where_rules_understand_it(tmp_path):
    mind = Referee("slapping Ines")
    with create_run(tmp_path / "own.run", "plaza", mind=mind, fidelity="every_tick") as run:
        for agent in ("bruno", "ines"):
            run.submit({"kind": "set", "agent_id": agent, "field": "place", "value": "square"})
            run.submit({"kind": "set", "agent_id": agent, "field": "asleep", "value": False})
        ticks = list(run.play_sync(6))
        began = happened(ticks, "BEGAN")
        assert [(one.circumstance, one.by) for one in began] == [("insulted.ines", "bruno")]
        assert not mind.judged
        world = run.reading.world_at(run.tick)
        assert meant("bruno", "slapping himself", run.scenario, world) is None
        assert meant("bruno", "admiring Ines", run.scenario, world) is None


def test_deeds_are_done_one_after_another(tmp_path):
    with on_the_square(tmp_path / "two.run", "bruno") as run:
        run.submit(BREAKS)
        run.submit({"kind": "attempt", "agent_id": "bruno", "text": "Bruno laughs."})
        told = [[god.text for god in happened([tick], "GOD_EVENT")] for tick in list(run.play_sync(2))]
        assert told == [["Bruno breaks the tower clock."], ["Bruno laughs."]]


def test_what_cannot_be_so_is_refused(tmp_path):
    with on_the_square(tmp_path / "no.run", "bruno") as run, pytest.raises(UsageError, match="cannot be 'ill'"):
        run.submit({**BREAKS, "raises": [{"kind": "ill", "of": "fountain"}]})
