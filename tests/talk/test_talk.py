"""Talking with characters of a run: answers from their own memories, nothing of history changed, thumbs kept."""

from __future__ import annotations

import asyncio
import gc
import io
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from commonplace.api import create_run, mind_named
from commonplace.cli.talk import said_by
from commonplace.errors import CommonplaceError, Paused, UsageError
from commonplace.minds.mind import Ask, RequestKey
from commonplace.minds.mind import Reply as MindReply
from commonplace.minds.offline.mind import OfflineMind
from commonplace.run.copying import copy_run
from commonplace.run.listing import delete_run
from commonplace.run.reading import Reading
from commonplace.run.talks import folder_of, talks_in
from commonplace.talk import LONGEST, Reply, Talk
from commonplace.testing.server import ModelServer
from e2e.command import command, copied, ends
from run.databases import fresh

QUESTION = "What did you do today?"


@pytest.fixture(params=["file", "database"])
def run(request, plaza, tmp_path):
    if request.param == "file":
        yield copied(plaza, tmp_path, "a.run")
        return
    with fresh(request.getfixturevalue("postgres_url")) as database:
        yield copy_run(plaza, database / "a.run")


in_a_file = pytest.mark.parametrize("run", ["file"], indirect=True)


@pytest.fixture
def reading(run):
    with Reading.open(run) as reading:
        yield reading


def talk(reading: Reading, agent: str = "ines", **options) -> Talk:
    return Talk(reading, agent, mind_named("offline", reading.scenario), **options)


def asked(talk: Talk, question: str) -> Reply:
    return asyncio.run(talk.ask(question))


def test_an_answer_rests_on_the_characters_own_memories(reading):
    with talk(reading) as one:
        reply = asked(one, QUESTION)
    assert reply.answer
    assert reply.rests
    own = {memory.id: memory.text for memory in reading.memories("ines")}
    assert all(rest.memory.text == own[rest.memory.id] for rest in reply.rests)
    assert reply.as_dict()["because"] == [rest.memory.id for rest in reply.rests]


class Mute(OfflineMind):
    """A mind whose answers cannot be used."""

    def answer(self, ask: Ask[Any, Any], request_key: RequestKey) -> MindReply:
        return MindReply(None, "malformed", error="it was prose")


def test_where_the_mind_has_no_usable_answer_the_character_says_nothing(reading):
    with Talk(reading, "ines", Mute("en")) as one:
        reply = asked(one, QUESTION)
        assert (reply.answer, reply.outcome, reply.as_dict()["answer"]) == ("", "malformed", "")
        assert said_by(reply) == "(the mind gave no usable answer: malformed)"
        assert said_by(replace(reply, answer="I swept.", outcome="value")) == "I swept."
        assert one.lines == (), "the talk does not go on from the words of a fallback"
        with pytest.raises(UsageError, match="no answer to rate"):
            one.rate("up")
        assert asyncio.run(one.retry()).question == QUESTION


@in_a_file
def test_talking_changes_nothing_of_the_run(run, plaza):
    before = run.read_bytes()
    with Reading.open(run) as reading, talk(reading) as one:
        asked(one, QUESTION)
        one.rate("up")
    assert run.read_bytes() == before
    assert ends(run) == ends(plaza)


def test_nothing_later_than_the_tick_is_known(run, reading, tmp_path):
    with talk(reading, at=20, keep=False) as one:
        then = asked(one, QUESTION)
    assert all(rest.memory.tick <= 20 for rest in then.rests)
    cut = tmp_path / "cut.run"
    command("fork", run, "--at", 20, "-o", cut)
    with Reading.open(cut) as ended, talk(ended, keep=False) as one:
        assert asked(one, QUESTION).as_dict() == then.as_dict()


def test_a_question_asked_before_is_recognised_in_a_later_talk_with_its_best_received_answer(reading):
    with talk(reading) as one:
        assert asked(one, QUESTION).asked_before is None
        good = asked(one, "How are you?").answer
        one.rate("up", "warm")
        asked(one, QUESTION)
    with talk(reading) as later:
        before = asked(later, "how are you").asked_before
    assert before is not None
    assert (before.question, before.answer, before.received) == ("How are you?", good, 1.0)
    assert before.similarity == pytest.approx(1)


def test_a_question_whose_answer_was_only_received_badly_is_recognised_and_answered_otherwise(reading):
    with talk(reading) as one:
        bad = asked(one, "What do you think of Bruno?").answer
        one.rate("down")
    with talk(reading) as later:
        reply = asked(later, "what do you think of bruno")
    assert reply.asked_before is not None
    assert (reply.asked_before.answer, reply.asked_before.received) == (bad, -1)
    assert bad not in reply.answer
    with talk(reading) as last:  # where another answer was received well, that one is given
        asked(last, "How are you?")
        last.rate("down")
        asked(last, "How are you?")
        last.rate("up")
    with talk(reading) as again:
        assert asked(again, "How are you?").asked_before.received >= 0


@pytest.mark.parametrize(
    ("question", "other"),
    [
        ("When did you last talk to Bruno?", "When did you last talk to Carla?"),
        ("What did you do this morning?", "What did you do this evening?"),
        ("Do you like tea?", "Do you like rain?"),
    ],
)
def test_questions_spelt_alike_about_something_else_are_not_the_same(question, other, reading):
    with talk(reading) as one:
        asked(one, question)
        one.rate("up")
        assert asked(one, other).asked_before is None
        assert asked(one, question).asked_before is not None


def test_what_was_true_at_another_tick_is_not_said_again(reading):
    with talk(reading, at=20) as one:
        then = asked(one, "What are you doing?").answer
        one.rate("up")
    with talk(reading, at=60) as later:
        now = asked(later, "What are you doing?")
    assert now.asked_before is not None
    assert then not in now.answer


def test_what_was_answered_later_is_not_known_at_an_earlier_tick(reading):
    with talk(reading, at=60) as one:
        asked(one, QUESTION)
        one.rate("up")
    with talk(reading, at=59) as earlier:
        assert asked(earlier, QUESTION).asked_before is None
    with talk(reading, at=60) as again:
        assert asked(again, QUESTION).asked_before is not None


def test_another_try_counts_against_the_answer_and_words_another(reading):
    with talk(reading) as one:
        first = asked(one, "What do you think of Bruno?")
        second = asyncio.run(one.retry())
    assert second.question == first.question
    assert second.asked_before is not None
    assert second.asked_before.received == -0.5
    assert [line.text for line in one.lines] == [second.question, second.answer]


def test_a_question_that_fails_when_it_is_tried_again_can_be_tried_once_more(reading):
    class Unreachable(OfflineMind):
        away = False

        def answer(self, ask, request_key):
            if self.away:
                raise Paused("it does not answer")
            return super().answer(ask, request_key)

    mind = Unreachable()
    with Talk(reading, "ines", mind) as one:
        first = asked(one, QUESTION)
        mind.away = True
        with pytest.raises(Paused):
            asyncio.run(one.retry())
        assert [line.text for line in one.lines] == [QUESTION, first.answer]
        mind.away = False
        assert asyncio.run(one.retry()).question == QUESTION


@in_a_file
def test_a_talk_whose_process_was_killed_is_learnt_from_by_the_next(reading):
    with talk(reading) as one:
        asked(one, QUESTION)
        one.rate("up", "to the point")
    (file,) = folder_of(reading.path, "ines").glob("*.jsonl")
    (file.parent / "learnt.graph").unlink()
    lines = file.read_bytes().splitlines(keepends=True)
    assert json.loads(lines.pop()) == {"closed": True}
    file.write_bytes(b"".join(lines) + b'{"asked":"torn')
    with talk(reading) as later:
        before = asked(later, QUESTION).asked_before
    assert before is not None
    assert before.received == 1
    assert json.loads(file.read_bytes().splitlines()[-1]) == {"closed": True}
    with talk(reading) as last:  # a torn line does no harm to what follows it
        assert asked(last, QUESTION).asked_before is not None


def test_a_run_that_replaces_another_begins_without_its_talks(run, reading):
    with talk(reading) as one:
        asked(one, QUESTION)
    reading.close()
    with create_run(run, scenario="plaza", force=True):
        pass
    with Reading.open(run) as new, talk(new, at=0) as later:
        assert asked(later, QUESTION).asked_before is None


@in_a_file
def test_two_talks_at_once_keep_a_file_each(reading):
    with talk(reading) as one, talk(reading) as other:
        asked(one, QUESTION)
        asked(other, "How are you?")
        one.rate("up")
        other.rate("up")
    files = sorted(folder_of(reading.path, "ines").glob("*.jsonl"))
    assert [json.loads(file.read_bytes().splitlines()[0])["asked"] for file in files] == [QUESTION, "How are you?"]
    with talk(reading) as later:
        assert {
            question: asked(later, question).asked_before is not None for question in (QUESTION, "How are you?")
        } == {
            QUESTION: True,
            "How are you?": True,
        }


@in_a_file
def test_a_talk_in_which_nothing_is_said_leaves_no_file(reading):
    talk(reading).close()
    assert not list(folder_of(reading.path, "ines").glob("*.jsonl"))


def test_nothing_is_kept_if_nobody_wants_it(reading):
    with talk(reading, keep=False) as one:
        asked(one, QUESTION)
        one.rate("up")
    assert not talks_in(reading.path)
    assert not (isinstance(reading.path, Path) and list(reading.path.parent.glob("*.talks")))


@in_a_file
@pytest.mark.parametrize("line", [b"nonsense\n", b'{"asked": 3}\n', b'{"more": ""}\n', b"[" * 70_000])
def test_a_file_that_cannot_be_read_is_named_with_its_line(line, reading):
    with talk(reading) as one:
        asked(one, QUESTION)
    (file,) = folder_of(reading.path, "ines").glob("*.jsonl")
    file.write_bytes(line + file.read_bytes())
    with pytest.raises(CommonplaceError, match="line 1: the line cannot be read"):
        talk(reading)


@pytest.mark.parametrize(("question", "why"), [("", "empty"), (" \x1b\n", "empty"), ("x" * 2001, "2,001 characters")])
def test_a_question_that_is_none_is_refused(question, why, reading):
    with talk(reading, keep=False) as one, pytest.raises(UsageError, match=why):
        asked(one, question)
    assert LONGEST == 2000


def test_a_note_that_would_fill_the_file_is_refused(reading):
    with talk(reading) as one:
        asked(one, QUESTION)
        with pytest.raises(UsageError, match="the note has 2,001 characters"):
            one.rate("up", "x" * (LONGEST + 1))


def test_a_model_server_is_asked_and_its_connections_are_closed(reading):
    with ModelServer() as server:
        mind = mind_named(server.url, reading.scenario)
        with Talk(reading, "ines", mind, keep=False) as one:
            replies = [asked(one, QUESTION), asked(one, "How are you?")]
    del mind
    gc.collect()  # a connection left open would warn here
    assert [reply.outcome for reply in replies] == ["value", "value"]


def test_there_must_be_an_answer_to_rate(reading):
    with talk(reading, keep=False) as one:
        with pytest.raises(UsageError, match="no answer"):
            one.rate("up")
        with pytest.raises(UsageError, match="no answer"):
            asyncio.run(one.retry())


# ── the command ──────────────────────────────────────────────────────────────────────────────────────────────────────


def typed(monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))


def test_a_question_on_the_command_line_is_answered_in_words_or_json(run):
    words = command("talk", run, "Ines", "--ask", QUESTION, "--no-keep")
    (row,) = command("talk", run, "ines", "--ask", QUESTION, "--json", "--no-keep").rows
    assert words.lines[0] == row["answer"]
    assert row["memories"][0]["id"] == row["because"][0]
    assert f"#{row['because'][0]}" in words.lines[1]
    assert row["tick"] == 60
    assert row["asked_before"] is None


@in_a_file
def test_a_conversation_over_standard_input_takes_commands(run, monkeypatch):
    typed(monkeypatch, "Who are you?", "/up clear", "/why", "", "/retry", "/nonsense", "/quit", "How are you?")
    done = command("talk", run, "ines")
    assert "noted" in done.err
    assert "/retry" in done.err
    assert "asked before: Who are you? (similarity 1.00, well received)" in done.out
    file = folder_of(run, "ines") / "0001.jsonl"
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert [next(iter(line.keys() & {"asked", "received", "closed"})) for line in lines] == [
        "asked", "received", "received", "asked", "closed",
    ]  # fmt: skip


def test_everybody_is_asked_the_same_and_a_battery_is_asked_of_one(run, tmp_path):
    table = command("talk", run, "--everybody", "--ask", "Who are you?").out
    assert "Ines" in table
    assert "Bruno" in table
    battery = tmp_path / "questions.txt"
    battery.write_text("Who are you?\n\nHow are you?\n", encoding="utf-8")
    rows = command("talk", run, "ines", "--questions", battery, "--json").rows
    assert [row["question"] for row in rows] == ["Who are you?", "How are you?"]


def test_an_inner_voice_is_an_input_of_the_next_tick(run):
    done = command("talk", run, "ines", "--inner-voice", "Look at the fountain.")
    assert "ines will hear it at tick 61" in done.err
    command("resume", run, "--ticks", 2, "--view", "none")
    command("verify", run)
    with Reading.open(run) as reading:
        assert any("Look at the fountain." in memory.text for memory in reading.memories("ines"))


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ((), "it is not clear whom"),
        (("ines", "--everybody"), "it is not clear whom"),
        (("zoe",), "there is no character 'zoe'"),
        (("--everybody",), "needs a question"),
        (("ines", "--at", "99", "--ask", "x"), "no tick 99"),
        (("ines", "--questions", "nowhere.txt"), "cannot be read"),
        (("ines", "--inner-voice", "x", "--ask", "x"), "cannot be combined"),
    ],
)
def test_what_cannot_be_asked_is_said(words, why, run):
    assert why in command("talk", run, *words, status=2).err


@in_a_file
def test_where_nothing_can_be_written_the_hint_says_how_to_ask_all_the_same(run):
    Path(f"{run}.talks").write_text("in the way")
    assert "--no-keep" in command("talk", run, "ines", "--ask", QUESTION, status=1).err
    command("talk", run, "ines", "--ask", QUESTION, "--no-keep")


def test_talks_go_along_with_a_copy_whose_next_talk_knows_them(run, tmp_path, postgres_url):
    with Reading.open(run) as reading, talk(reading) as one:
        asked(one, QUESTION)
        one.rate("up", "well put")
    with Reading.open(run) as reading, talk(reading, "bruno") as one:
        asked(one, "Where is Ines?")
    with fresh(postgres_url) as database:
        copy = copy_run(run, database / "copy")
        back = copy_run(copy, tmp_path / "back.run")
        for place in (copy, back):
            kept = talks_in(place)
            assert kept == talks_in(run)
            assert [(one.agent, one.number, len(one.lines)) for one in kept] == [("bruno", 1, 1), ("ines", 1, 2)]
            with Reading.open(place) as reading, talk(reading) as one:
                before = asked(one, QUESTION).asked_before
                assert before and (before.question, before.received) == (QUESTION, 1)
        delete_run(copy)
        assert database.execute("SELECT count(*) FROM talk") == [(0,)]


def test_a_role_that_may_only_read_is_told_how_to_ask_all_the_same(plaza, postgres_url):
    with fresh(postgres_url) as database:
        copy_run(plaza, database / "a.run")
        with pytest.MonkeyPatch.context() as patched:
            patched.setenv("PGOPTIONS", "-c default_transaction_read_only=on")
            assert "--no-keep" in command("talk", database / "a.run", "ines", "--ask", QUESTION, status=1).err
            command("talk", database / "a.run", "ines", "--ask", QUESTION, "--no-keep")
