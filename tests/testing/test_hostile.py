"""Whole runs on a server that gets worse: what pauses them, what is kept of it, and that they go on afterwards."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from commonplace.api import open_run
from commonplace.cli import main
from commonplace.run.rows import AnswerRow
from commonplace.testing.server import Faults, Limit, ModelServer
from e2e.command import Ends, copied, ends, environment
from sizes import PROVE
from testing.test_injected import found, live

SOUND = Faults(0.0)
BEFORE, UNTIL = 20, 24
"""Ticks before the server breaks, and to the end: somebody gets up and meets somebody in between."""

GIVES_NO_ANSWERS = (
    "html", "empty_object", "no_choices", "empty_choices", "null_content", "empty_content", "reasoning_only",
    "bad_request", "bomb",
)  # fmt: skip
WANTS_MONEY = ("unpaid", "quota")
STAYS_AWAY = ("reset", "half", "rate_limited", "server_error", "unavailable", "error_event", "error_first")
FIRST = ("html", "null_content", "bad_request", "unpaid", "rate_limited")
"""Those of the fast suite; `make prove` tries all."""
PAUSING = [kind for kind in (*GIVES_NO_ANSWERS, *WANTS_MONEY, *STAYS_AWAY) if PROVE or kind in FIRST]


@pytest.fixture(autouse=True)
def waits_for_nothing(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Waiting between attempts takes no time."""
    if "limit" not in request.node.originalname:
        monkeypatch.setattr("commonplace.parts.model_servers.client._seconds_to_wait", lambda *_: 0.0)


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture(scope="module")
def before(server: ModelServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose server has answered everything so far. Not to be written to."""
    path = tmp_path_factory.mktemp("hostile") / "before.run"
    assert main(["run", "plaza", "--mind", server.url, "--ticks", str(BEFORE), "--view", "none", "-o", str(path)]) == 0
    return path


@pytest.fixture(scope="module")
def untroubled(before: Path) -> Ends:
    """How it ends if nothing happens."""
    path = copied(before, before.parent, "whole.run")
    assert resumed(path) == 0
    return ends(path)


def resumed(path: Path) -> int:
    """The status of going on to the last tick."""
    return main(["resume", str(path), "--ticks", str(UNTIL - ends(path).tick), "--view", "none"])


def unusable(path: Path) -> list[AnswerRow]:
    """What a run keeps of unusable answers, also of the tick that did not end."""
    with open_run(path) as reading:
        rows = reading.answers(last=UNTIL + 1, used=False)
    return [row for row in rows if row.outcome != "value"]


@pytest.mark.parametrize("to_all", [False, True] if PROVE else [False])
@pytest.mark.parametrize("kind", PAUSING)
def test_what_waiting_and_asking_do_not_mend_pauses_the_run_and_nothing_is_kept_of_it(
    kind, to_all, server, before, untroubled, tmp_path, capsys
):
    path = copied(before, tmp_path)
    server.faults = Faults(1.0, (kind,), to_all=to_all)
    try:
        status = resumed(path)
    finally:
        server.faults = SOUND
    told = capsys.readouterr().err
    if status == 2:  # there is no list of models, so the server is taken for another one
        assert to_all and "list of models" in told
    else:
        assert status == 3
        assert f"the model server {server.url}" in told
        assert f"commonplace resume {path}" in told
    what, *todo = [line for line in told.splitlines() if not line.startswith("waiting for")]
    assert any(words in what for words in MESSAGES[status == 3 and group(kind)]) and todo
    assert BEFORE <= ends(path).tick < UNTIL
    assert not unusable(path)
    assert resumed(path) == 0
    assert ends(path) == untroubled
    assert not unusable(path)


def group(kind: str) -> tuple[str, ...]:
    return next(kinds for kinds in (GIVES_NO_ANSWERS, WANTS_MONEY, STAYS_AWAY) if kind in kinds)


MESSAGES = {
    GIVES_NO_ANSWERS: ("gives no answers",),
    WANTS_MONEY: ("until it is paid",),
    STAYS_AWAY: ("does not answer",),
    False: ("list of models",),
}
"""What the message says is wrong."""


def test_a_server_that_recovers_in_time_changes_nothing(server, before, untroubled, tmp_path):
    """Each request fails once."""
    path = copied(before, tmp_path)
    server.faults = Faults(0.4, ("rate_limited", "unavailable", "server_error", "reset", "half"), seed=3)
    try:
        assert resumed(path) == 0
    finally:
        server.faults = SOUND
    assert ends(path) == untroubled
    assert not unusable(path)


TICKS = 12
IN_WORDS = (
    "wrong_language", "chinese", "russian", "stage_directions", "apology", "leaked_model", "leaked_prompt", "fragments",
    "prompt_lines", "field_names", "control_characters", "surrogates",
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("kind", [None, *IN_WORDS])
def test_words_that_are_not_a_persons_reach_no_history(kind, tmp_path):
    """Half of the answers have them, of each sort or of one. A morning of all faults at once is in `test_injected`."""
    faults = Faults(0.5, (kind,) if kind else IN_WORDS, seed=4)
    village = live(tmp_path / "words.run", "latticeville", 120, faults)
    assert set(village.faults) == ({kind} if kind else set(IN_WORDS))
    assert not found(village)


SPAN = 1.0 if PROVE else 0.03
"""Seconds in which the server gives three answers: in the fast suite time itself is smaller, nothing else."""


def test_twenty_five_people_live_on_a_server_with_a_limit_of_three_requests(tmp_path):
    """Three in a second, `Retry-After: 1`."""
    main(["new", str(tmp_path / "many.yaml"), "--size", "25"])
    with ModelServer(limit=Limit(3, SPAN)) as server:
        path = tmp_path / "limited.run"
        start = ["run", str(tmp_path / "many.yaml"), "--mind", server.url, "--ticks", str(TICKS), "--view", "none"]
        assert main([*start, "-o", str(path)]) == 0
    assert not unusable(path)
    sent_away = server.log.faults["limit"]
    assert 0 < sent_away < 2 * len(server.log.asked)


def test_a_small_body_that_inflates_to_400_megabytes_stays_small(tmp_path):
    """Thirty-two at once, in a process of its own."""
    with ModelServer(faults=Faults(1.0, ("bomb",))) as server:
        done = subprocess.run(
            [sys.executable, "-c", BOMBED, server.url],
            capture_output=True,
            text=True,
            env=environment(PYTHONPATH=TESTS),
            check=True,
        )
    told = json.loads(done.stdout)
    assert told["kinds"] == ["page"]
    assert told["megabytes"] < 250


TESTS = str(Path(__file__).parent.parent)
BOMBED = """
import asyncio, json, sys
from commonplace.parts.model_servers.chat_mind import ChatMind
from parts.model_servers.local_server import PlainBook, RATING, request_key, using

async def work(mind):
    return await asyncio.gather(*(mind.answer(RATING, request_key(number)) for number in range(32)))

replies = using(ChatMind(sys.argv[1], PlainBook(), on_outage="fallback"), work)
# what getrusage tells begins with the size of the process that started this one
high = next(line for line in open("/proc/self/status") if line.startswith("VmHWM:"))
megabytes = int(high.split()[1]) / 1024
print(json.dumps({"kinds": sorted({reply.kind for reply in replies}), "megabytes": megabytes}))
"""
