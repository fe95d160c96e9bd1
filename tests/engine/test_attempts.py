"""An answer that cannot be used is asked for again; every attempt is kept, and every replay meets what was used."""

from __future__ import annotations

import json

import pytest

from commonplace.api import open_run
from commonplace.cli import main
from commonplace.engine.verify import CommittedAnswers
from commonplace.errors import Paused
from commonplace.run.journal import Diverged
from commonplace.run.why import as_text, why
from e2e.command import ends, tables
from engine.paid_minds import FarMind, PaidMind, lived, offline

TICKS = 40


@pytest.fixture(scope="module")
def slipping(tmp_path_factory):
    """A run whose mind slips now and then, and the mind."""
    path = tmp_path_factory.mktemp("slips") / "a.run"
    mind = PaidMind(offline())
    lived(path, mind, TICKS)
    return path, mind


def attempts(path) -> dict[tuple[str, int, int], list[tuple[int, str]]]:
    with tables(path) as connection:
        query = "SELECT agent, tick, ordinal, attempt, outcome FROM answer ORDER BY agent, tick, ordinal, attempt"
        found: dict[tuple[str, int, int], list[tuple[int, str]]] = {}
        for *key, attempt, outcome in connection.execute(query):
            found.setdefault(tuple(key), []).append((attempt, outcome))
    return found


def test_a_malformed_answer_is_asked_for_again_and_both_are_kept(slipping):
    path, mind = slipping
    kept = attempts(path)
    assert sorted(mind.asked) == sorted((*key, attempt) for key, rows in kept.items() for attempt, _ in rows)
    shapes = {tuple(outcome for _, outcome in rows) for rows in kept.values()}
    assert shapes == {("value",), ("malformed", "value"), ("malformed", "malformed")}
    assert all([attempt for attempt, _ in rows] == list(range(len(rows))) for rows in kept.values())


def test_every_attempt_is_counted_and_faults_by_kind(slipping):
    path, mind = slipping
    with open_run(path) as reading:
        *_, total = reading.usage()
    kept = attempts(path)
    failed = sum(outcome != "value" for rows in kept.values() for _, outcome in rows)
    assert total["asked"] == len(kept)
    assert total["calls"] == len(mind.asked)
    assert total["prompt_tokens"] == 100 * len(mind.asked)
    assert total["fallbacks"] == sum(rows[-1][1] != "value" for rows in kept.values()) > 0
    assert total["faults"] == {"json": failed}
    assert total["from_cache"] == 0


def test_a_replay_meets_what_was_used(slipping):
    assert main(["verify", str(slipping[0])]) == 0


def test_a_replay_that_asks_something_else_says_what(slipping):
    with open_run(slipping[0]) as reading:
        row = next(row for row in reading.answers() if row.task == "react")
        with pytest.raises(Diverged, match=r"was 'react'; its input has changed; .*odd") as caught:
            CommittedAnswers(reading).find(
                row.agent, row.tick, row.ordinal, b"another", task="react", inputs=lambda: '{"news":"odd"}'
            )
    assert f"question {row.ordinal} of {row.agent} at tick {row.tick}" in caught.value.what


@pytest.mark.parametrize("cut", [1, 2])
def test_reasons_show_the_prompt_and_what_went_wrong_before(slipping, cut):
    path, _ = slipping
    shape = ["malformed", "value"] if cut == 1 else ["malformed", "malformed"]
    agent, tick, ordinal = next(
        key for key, rows in attempts(path).items() if [outcome for _, outcome in rows] == shape and key[2] < 1000
    )
    with open_run(path) as reading:
        reasons = json.loads(json.dumps(why(reading, f"t{tick}.{agent}.0")))
        [asked] = [one for one in reasons["asked"] if one["ordinal"] == ordinal]
        name = reading.scenario.personas[agent].name
    task = asked["task"]
    assert asked["prompt"] == f'{task}, attempt 1: {{"{task}'
    first, second = asked["attempts"]
    assert first["prompt"] == f"{task}, attempt 0: {name}"
    assert (first["outcome"], first["kind"], first["error"]) == ("malformed", "json", "it ends too early")
    assert first["raw"] == f'{{"{task}'
    assert second["outcome"] == asked["outcome"] == shape[1]
    assert asked["kind"] == ("" if cut == 1 else "json")
    assert (asked["answer"] is None) == (cut == 2)
    assert "attempt 1: it ends too early" in as_text(reasons)


def test_a_fault_is_final(tmp_path):
    class Faulty(PaidMind):
        async def answer(self, ask, request_key):
            reply = await super().answer(ask, request_key)
            return reply if reply.value else type(reply)(None, "fault", kind="timeout")

    path, mind = tmp_path / "a.run", Faulty(offline())
    lived(path, mind, 12)
    assert {attempt for *_, attempt in mind.asked} == {0}
    assert any(rows == [(0, "fault")] for rows in attempts(path).values())


def test_a_value_of_another_task_is_asked_for_again(tmp_path):
    class Confused(PaidMind):
        async def answer(self, ask, request_key):
            reply = await super().answer(ask, request_key)
            return type(reply)(ask.input) if request_key.attempt == 0 and request_key.tick % 2 else reply

    path, mind = tmp_path / "a.run", Confused(offline(), slips=0.0)
    lived(path, mind, 8)
    odd = [rows for key, rows in attempts(path).items() if key[1] % 2]
    assert odd
    assert all(rows == [(0, "malformed"), (1, "value")] for rows in odd)
    with open_run(path) as reading:
        assert set(reading.usage()[-1]["faults"]) == {"schema"}


@pytest.fixture(scope="module")
def clumsy(tmp_path_factory):
    """A run whose mind slips more often than not."""
    path = tmp_path_factory.mktemp("clumsy") / "a.run"
    lived(path, PaidMind(offline(), slips=0.7), 6)
    return path


@pytest.mark.parametrize("good", [6, 8, 33])
def test_after_a_crash_between_two_attempts_the_second_is_asked(good, clumsy, tmp_path):
    """The file as a crash leaves it: of the answers not used yet, no second attempt was made."""
    path = tmp_path / "a.run"
    with pytest.raises(Paused):
        lived(path, FarMind(offline(), good, slips=0.7), 6)
    with tables(path) as connection:
        connection.execute("DELETE FROM answer WHERE used IS NULL AND attempt = 1")
        unused = "SELECT agent, tick, ordinal FROM answer WHERE used IS NULL AND outcome = 'malformed'"
        open_ones = set(connection.execute(unused))
    assert open_ones
    before = set(attempts(path))
    again = PaidMind(offline(), slips=0.7)
    lived(path, again, 6)
    assert ends(path) == ends(clumsy)
    assert not {key[:3] for key in again.asked if key[3] == 0} & before
    assert {(*key, 1) for key in open_ones} <= set(again.asked)
    assert prompts(path) == prompts(clumsy)  # what was wrong at first was told again
    assert main(["verify", str(path)]) == 0


def prompts(path) -> dict[tuple[object, ...], str]:
    """Of every attempt."""
    with open_run(path) as reading:
        rows = reading.answers()
        return {(row.agent, row.tick, row.ordinal, row.attempt): reading.model_call(row).prompt for row in rows}
