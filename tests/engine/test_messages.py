"""Letters, notices and the radio: who reads them, when, and what is known of it afterwards."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from commonplace.analysis.diffusion import diffusion
from commonplace.api import create_run, open_run, resume_run
from commonplace.engine.god_mode import asked
from commonplace.engine.live_state import LiveState, restored_state
from commonplace.engine.run import Run
from commonplace.errors import UsageError
from commonplace.minds.offline.happens import message
from commonplace.run.why import as_text, heard_from, why
from commonplace.scenario.compiling import compiled_from_text, load
from commonplace.views.lines import entry_of
from commonplace.views.town_names import TownNames
from commonplace.world.events import Received, Spoke, parse_id
from commonplace.world.happenings import Read, happening_of
from e2e.command import command, ends

PLAZA = (files("commonplace.scenarios") / "plaza.yaml").read_text(encoding="utf-8")
WITH_RADIO = PLAZA.replace("name: gramophone, kind", "name: small radio, kind")
CLOCK = "The tower clock will strike again at six this evening."


def sends(words: str, to: str = "", **more: Any) -> dict[str, Any]:
    return {"kind": "god_event", "text": "…", "to": {}, "message": {"words": words, "to": to, **more}}


def puts(run: Run, agent: str, area: str, *, asleep: bool = False) -> None:
    """Somebody is in an area, and stays as a person plays it."""
    run.submit({"kind": "set", "agent_id": agent, "field": "place", "value": area})
    run.submit({"kind": "set", "agent_id": agent, "field": "asleep", "value": asleep})


def plays(path: Path, scenario: str = "plaza", **there: str) -> Run:
    run = create_run(path, scenario, seed=7)
    for agent in ("bruno", "ines"):
        puts(run, agent, there.get(agent, "square"))
        run.submit({"kind": "take_over", "agent_id": agent})
    list(run.play_sync(2))
    return run


def reads(run: Run, ticks: int) -> list[tuple[int, str, tuple[str, ...]]]:
    """(tick from now, place, readers) of what is read."""
    first = run.tick
    events = [event for tick in run.play_sync(ticks) for event in tick.events]
    return [(one.tick - first, one.place, one.body.readers) for one in events if isinstance(one.body, Received)]


def known(run: Run, agent: str) -> list[str]:
    return [one.text for one in run.reading.memories(agent) if isinstance(happening_of(one.details), Read)]


def test_a_letter_lies_at_home_and_nobody_else_knows_its_words(tmp_path: Path) -> None:
    with plays(tmp_path / "a.run") as run:
        run.submit(sends("The pots are sold.", "ines", by="her sister"))
        assert reads(run, 4) == []
        puts(run, "bruno", "ines_home")
        puts(run, "ines", "ines_home")
        assert reads(run, 3) == [(1, "ines_home", ("ines",))]
        assert known(run, "ines") == ["A letter from her sister says: “The pots are sold.”"]
        assert not [one for one in run.reading.memories("bruno") if "pots" in one.text]
        assert not run.reading.world_at().messages


def test_a_letter_that_is_handed_over_is_read_where_its_reader_wakes(tmp_path: Path) -> None:
    with plays(tmp_path / "a.run") as run:
        puts(run, "ines", "square", asleep=True)
        run.submit(sends("Come.", "ines", by="bruno", handed=True))
        assert reads(run, 3) == []
        puts(run, "ines", "square")
        assert reads(run, 2) == [(1, "square", ("ines",))]
        [memory] = [one for one in run.reading.memories("ines") if isinstance(happening_of(one.details), Read)]
        assert happening_of(memory.details).who == "bruno"


def test_a_notice_is_read_once_by_each_who_comes_and_taken_down_after_a_week(tmp_path: Path) -> None:
    with plays(tmp_path / "a.run", bruno="cafe") as run:
        run.submit(sends(CLOCK, "square"))
        assert reads(run, 3) == [(2, "square", ("ines",))]
        puts(run, "bruno", "square")
        assert reads(run, 3) == [(1, "square", ("bruno",))]
        [held] = run.reading.world_at().messages.values()
        assert held.read_by == ("bruno", "ines")


@pytest.mark.parametrize(
    ("how", "heard"),
    [
        ({"sets": [["gramophone", "playing"]]}, True),
        ({"sets": [["gramophone", "silent"]]}, False),
        ({"sets": [["gramophone", "playing"]], "raises": [{"kind": "broken", "of": "gramophone"}]}, False),
        ({"sets": [["gramophone", "playing"]], "raises": [{"kind": "dark", "of": "-"}]}, False),
        ({"sets": [["gramophone", "playing"]], "moves": [["gramophone", ""]]}, False),
    ],
)
def test_a_broadcast_is_heard_in_the_next_tick_where_a_radio_plays(tmp_path: Path, how: Any, heard: bool) -> None:
    scenario = tmp_path / "radio.yaml"
    scenario.write_text(WITH_RADIO, encoding="utf-8")
    place = load(str(scenario)).geography.nodes["gramophone"].parent_id
    with plays(tmp_path / "a.run", str(scenario), ines=place) as run:
        run.submit({"kind": "god_event", "text": "…", "to": {"agents": []}, **how})
        list(run.play_sync(1))
        run.submit(sends("A storm is coming."))
        assert reads(run, 4) == ([(2, place, ("ines",))] if heard else [])
        assert known(run, "bruno") == []
        assert not run.reading.world_at().messages


# ── sentences ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "to", "by", "words"),
    [
        ("Mira gets a letter from her sister: the pots are sold", "mira", "her sister", "The pots are sold."),
        ("Halima sends Jun a letter: come at once", "jun", "halima", "Come at once."),
        ("A notice on the plaza says the festival is cancelled", "plaza", "", "The festival is cancelled."),
        ("A poster on the notice board says that Suki is ill.", "plaza", "", "Suki is ill."),
        ("The radio says a storm is coming", "", "", "A storm is coming."),
        ("은영이 언니한테서 항아리가 다 팔렸다는 편지를 받는다", "eunyeong", "언니", "항아리가 다 팔렸다."),
        ("광장 게시판에 노래자랑이 취소됐다는 공지가 붙었다", "madang", "", "노래자랑이 취소됐다."),
        ("라디오에서 큰비가 온다고 한다", "", "", "큰비가 온다."),
    ],
)
def test_a_sentence_sends_a_message(text: str, to: str, by: str, words: str) -> None:
    scenario = load("sijang" if text[0] > "\u1100" else "latticeville")
    found = message(asked(text, scenario, scenario.opening))
    assert found is not None
    assert (found.post.to, found.post.by, found.post.words) == (to, by, words)


@pytest.mark.parametrize(
    "text",
    [
        "Mira gets a letter",
        "Mira dreams that she gets a letter: the pots are sold",
        "Adeyemi gets a letter: come home",
        "The radio breaks",
        "Bruno pins a medal on Suki",
        "The notice board falls over",
    ],
)
def test_other_sentences_are_what_they_were(text: str) -> None:
    scenario = load("latticeville")
    assert message(asked(text, scenario, scenario.opening)) is None


def test_what_a_message_says_is_known_by_its_readers_and_no_more_so(tmp_path: Path) -> None:
    with plays(tmp_path / "a.run", bruno="cafe") as run:
        body = asyncio.run(run.preview("A notice on the square says the café is on fire"))
        assert "now Ines Okafor" in run.described(body)
        assert "nothing in the world changes" in run.described(body)
        run.submit(body)
        list(run.play_sync(3))
        assert not run.reading.circumstances_at()
        assert known(run, "ines") == ["A notice on the board says: “The café is on fire. Café Sixpence is on fire.”"]


def test_who_will_read_it_and_when_is_said_before(tmp_path: Path) -> None:
    with plays(tmp_path / "a.run") as run:
        for text, said in (
            ("Ines gets a letter: come", "Ines Okafor will read it at 06:20, or when next awake"),
            ("A letter for Ines: come", "at 06:20 at the earliest"),
            ("The radio says a storm is coming", "no radio plays now"),
        ):
            assert said in run.described(asyncio.run(run.preview(text))), text


# ── deeds ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_person_writes_a_letter_and_those_there_see_that_it_is_one(tmp_path: Path) -> None:
    with plays(tmp_path / "a.run") as run:
        body = asyncio.run(run.preview("I write a letter to Ines: I am sorry about the clock", "bruno"))
        assert body["message"] == {"words": "I am sorry about the clock.", "to": "ines", "by": "bruno"}
        assert "Ines Okafor will read it" in run.described(body)
        run.submit(body)
        list(run.play_sync(3))
        assert [one.text for one in run.reading.memories("ines") if "letter" in one.text] == [
            "Bruno writes a letter to Ines."
        ]
        assert any("“I am sorry about the clock.”" in one.text for one in run.reading.memories("bruno"))


def test_a_notice_hangs_only_where_its_writer_is(tmp_path: Path) -> None:
    with plays(tmp_path / "a.run", bruno="cafe") as run:
        far = asyncio.run(run.preview("I pin a note up on the square: closed today", "bruno"))
        assert "is not here" in run.described(far)
        run.submit(far)
        list(run.play_sync(2))
        assert not run.reading.world_at().messages
        run.submit({"kind": "take_over", "agent_id": "bruno"})
        here = asyncio.run(run.preview("I put up a note: closed today", "bruno"))
        assert here["message"]["to"] == "cafe"


def test_nobody_can_be_written_to_whom_nobody_knows(tmp_path: Path) -> None:
    with plays(tmp_path / "a.run") as run, pytest.raises(UsageError, match="no character or area 'inez'"):
        run.submit(sends("Come.", "inez"))


# ── state and evidence ───────────────────────────────────────────────────────────────────────────────────────────────

TICKS = 30
POSTS: Mapping[int, Sequence[dict[str, Any]]] = {
    2: [sends(CLOCK, "square", by="ines"), sends("The pots are sold.", "bruno", by="his aunt")],
    4: [sends("I will be late.", "ines", by="bruno", handed=True), sends("A storm is coming.")],
    15: [sends("Closed.", "cafe")],
}


def _states(path: Path) -> Iterator[LiveState]:
    with create_run(path, "plaza", seed=7) as run:
        yield run._engine.live_state
        for _ in run.play_sync(TICKS):
            yield run._engine.live_state
            for body in POSTS.get(run.tick, ()):
                run.submit(body)


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("messages") / "plaza.run"
    for _ in _states(path):
        pass
    return path


def test_a_restored_state_is_the_one_that_ran_at_every_tick(lived: Path, tmp_path: Path) -> None:
    waiting = 0
    with open_run(lived) as reading:
        for tick, live in enumerate(_states(tmp_path / "again.run")):
            assert restored_state(reading, reading.scenario, tick).world == live.world
            waiting = max(waiting, len(live.world.messages))
    assert waiting > 2


def test_it_verifies_and_is_the_same_when_it_is_resumed_at_every_tick(lived: Path, tmp_path: Path) -> None:
    path = tmp_path / "resumed.run"
    create_run(path, "plaza", seed=7).close()
    for _ in range(TICKS):
        with resume_run(path) as run:
            for _ in run.play_sync(1):
                for body in POSTS.get(run.tick, ()):
                    run.submit(body)
    assert ends(path) == ends(lived)
    assert command("verify", lived).status == 0


def test_a_fork_has_the_messages_that_waited(lived: Path, tmp_path: Path) -> None:
    path = tmp_path / "fork.run"
    assert command("fork", lived, "--at", 5, "-o", path).status == 0
    with open_run(lived) as reading, resume_run(path) as run:
        assert run.reading.world_at(5).messages == reading.world_at(5).messages != {}


def test_an_event_says_who_read_what_from_whom(lived: Path) -> None:
    with open_run(lived) as reading:
        [event] = [one for one in reading.events(type="RECEIVED") if one.body.words == "I will be late."]
        assert "ines: read in a letter from bruno, which came with t5.-." in as_text(why(reading, event.id))
        line = entry_of(event, TownNames.of(reading.scenario.part))
        assert (line.category, line.text) == ("world", "Ines read in a letter from Bruno: “I will be late.”")


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_nobody_knows_what_a_letter_said_without_evidence(tmp_path: Path, seed: int) -> None:
    """A fact that begins with messages alone: each who knows it read it, or heard it from somebody who did."""
    path = tmp_path / "town.run"
    with create_run(path, "latticeville", seed=seed) as run:
        list(run.play_sync(24))
        run.submit({"kind": "god_event", "text": "Wren falls ill.", "to": {"agents": ["wren"]},
                    "raises": [{"kind": "ill", "of": "wren"}]})  # fmt: skip
        run.submit(sends("Wren Halloran is ill.", "suki", by="her cousin", handed=True))
        run.submit(sends("Wren Halloran is ill, they say.", "plaza", by="jun"))
        list(run.play_sync(48))
    with open_run(path) as reading:
        [row] = [one for one in diffusion(reading) if one["fact"] == "ill.wren"]
        fact = next(one for one in reading.facts() if one.id == "ill.wren")
        edges = {edge["to"]: edge for edge in row["tree"]}
        assert edges["suki"]["read"] == "read in a letter from her cousin"
        heard, known_by = reading.witnesses(), [*fact.originators]
        for edge in row["tree"]:
            assert edge["to"] in dict(heard[edge["event_id"]]), edge
            assert edge["from"] == "-" or edge["from"] in (*known_by, *row["originators"]), edge
            assert not ("read" in edge and edge["from"] == "jun"), "Jun made it up"
            known_by.append(edge["to"])
        for agent in {*row["knowers"]} - {*edges}:
            carrying = [one for one in reading.memories(agent) if fact.carried_by(one.text)]
            events = [reading.event(*parse_id(one.event)) for one in carrying if one.event]
            assert [one for one in events if not isinstance(one.body, Spoke | Received)], agent


def test_who_read_it_says_so_where_it_was_passed_on(tmp_path: Path) -> None:
    path = tmp_path / "chain.run"
    with plays(path, bruno="cafe") as run:
        run.submit(sends("Nobody knows.", "cafe"))
        run.submit(sends(CLOCK, "bruno", by="ines", handed=True))
        list(run.play_sync(4))
        fact = run.reading.scenario.fact("clock_strikes")
        carrier = next(one for one in run.reading.memories("bruno") if fact.carried_by(one.text))
        said = Spoke(
            to_agent_id="ines", utterance=CLOCK, facts=(fact.id,), claimed=(), carriers=(carrier.id,)
        )  # fmt: skip
        [row] = heard_from(run.reading, "bruno", said)
        assert (row["from"], row["read"]) == ("ines", "read in a letter from ines")
        assert row["chain"][-1]["agent"] == "ines"
        [told] = [one for one in diffusion(run.reading) if one["fact"] == fact.id]
        assert [(edge["from"], edge["to"]) for edge in told["tree"]] == [("ines", "bruno")]
        account = run.reading.state_at("bruno", run.tick).account
        assert [one.topic for one in account.rows("heard", "ines")] == [fact.id]


# ── in a scenario ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_script_of_the_documentation_sends_its_messages(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "messages.md").read_text(encoding="utf-8")
    [rows] = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    scenario = tmp_path / "own.yaml"
    scenario.write_text(PLAZA.replace("\nscript:\n", f"\nscript:\n{rows}", 1), encoding="utf-8")
    with create_run(tmp_path / "a.run", str(scenario)) as run:
        events = [event for tick in run.play_sync(30) for event in tick.events]
        sent = {one.body.script: one for one in events if one.type == "SCRIPTED" and one.body.message}
        read = {one.body.message: one for one in events if isinstance(one.body, Received)}
        assert [one.tick for one in sent.values()] == [2, 4, 6]
        assert read[sent["pots"].id].place == "ines_home"
        assert read[sent["pots"].id].body.readers == ("ines",)
        assert sent["warning"].id not in read
        assert entry_of(sent["pots"], TownNames.of(run.scenario.part)).text == "a letter for Ines: “The pots are sold.”"
        ids = {one.id for one in sent.values()}
        assert not [one for me in ("bruno", "ines") for one in run.reading.memories(me) if one.event in ids]
    assert command("verify", tmp_path / "a.run").status == 0


@pytest.mark.parametrize(
    ("row", "mistake"),
    [
        ("{id: pots, at: '06:10'}", "it says nothing"),
        ("{id: pots, at: '06:10', message: {to: inez, words: Hi.}}", 'no character or area "inez"'),
    ],
)
def test_a_message_that_cannot_be_sent_is_a_mistake(row: str, mistake: str) -> None:
    with pytest.raises(UsageError) as refused:
        compiled_from_text(PLAZA.replace("\nscript:\n", f"\nscript:\n  - {row}\n", 1))
    assert mistake in str(refused.value)
