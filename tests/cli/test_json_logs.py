"""`--log-format json`: standard error is an object a line, whoever wrote it, and shows no secret."""

from __future__ import annotations

import io
import json
import logging
import signal
import sys
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from commonplace.cli.json_logs import JsonFormatter, JsonStream
from commonplace.run.reading import Reading
from commonplace.testing.server import Faults, ModelServer
from e2e.command import command, environment, started

JSON = ("--log-format", "json")
KEY = "sk-very-secret-0123456789"


def lines(text: str) -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in text.splitlines()]
    for row in rows:
        assert row.keys() >= {"time", "level", "logger", "event", "message"}
    return rows


def test_a_run_tells_its_ticks_and_its_output_stays_what_it_was(tmp_path: Path) -> None:
    words = ("run", "plaza", "--ticks", 3, "-o")
    plain = command(*words, tmp_path / "a.run", env=environment())
    logged = command(*JSON, *words, tmp_path / "b.run", env=environment())
    by_variable = command(*words, tmp_path / "c.run", env=environment(COMMONPLACE_LOG="json"))
    assert plain.out == logged.out == by_variable.out
    assert plain.err == ""
    rows = lines(logged.err)
    assert [row["event"] for row in rows] == ["started", "committed", "committed", "committed"]
    assert [row["tick"] for row in rows] == [0, 1, 2, 3]
    assert {row["run"] for row in rows} == {str(tmp_path / "b.run")}
    assert all(row["turns"] == 2 and row["seconds"] >= 0 for row in rows[1:])
    assert [row["event"] for row in lines(by_variable.err)] == [row["event"] for row in rows]


@pytest.mark.parametrize(
    ("words", "status", "event"),
    [(("digest", "nothing.run"), 2, "failed"), (("nothing",), 2, "failed"), (("run", "--nothing"), 2, "printed")],
)
def test_what_went_wrong_is_a_line_too(words: tuple[str, ...], status: int, event: str) -> None:
    rows = lines(command(*JSON, *words, status=status, env=environment()).err)
    assert {row["event"] for row in rows} == {event}
    assert "nothing" in " ".join(row["message"] for row in rows)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_who_cannot_read_the_lines_keeps_nothing_from_running(tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        process = started(*JSON, "run", "plaza", "--ticks", 3, "-o", tmp_path / "a.run", stderr=full, anew=True)
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 0 and "tick 3  digest" in out


def test_the_terminal_view_is_not_drawn_over_the_lines() -> None:
    rows = lines(command(*JSON, "run", "plaza", "--view", "tui", status=2, env=environment()).err)
    assert "the terminal view needs a terminal" in rows[-1]["message"]


def test_another_format_is_refused() -> None:
    assert "expected plain or json" in command("--log-format", "xml", "scenarios", status=2, env=environment()).err


def test_no_line_shows_a_key_or_a_prompt(tmp_path: Path) -> None:
    run = tmp_path / "a.run"
    with ModelServer(faults=Faults(0.4, ("wrong_schema", "unavailable"))) as server:
        words = ("run", "plaza", "--ticks", 30, "--view", "none", "--mind", server.url, "--max-calls", 12, "-o", run)
        env = environment(COMMONPLACE_API_KEY=KEY)
        rows = lines(command(*JSON, *words, status=3, env=env).err)
        wrong = command(*JSON, "doctor", "--mind", f"{server.url}?key={KEY}", status=None, env=env)
    assert [row["event"] for row in rows][-2:] == ["paused", "failed"]
    with Reading.open(run) as reading:
        prompts = [call.prompt for row in reading.answers(used=False) if (call := reading.model_call(row))]
    assert prompts
    said = " ".join(json.dumps(row) for row in rows) + wrong.err
    assert KEY not in said
    assert not any(sentence in said for prompt in prompts for sentence in prompt.splitlines() if len(sentence) > 30)


def record(message: str, *values: object, **more: Any) -> logging.LogRecord:
    made = logging.LogRecord("commonplace.x", logging.WARNING, __file__, 1, message, values, None)
    made.__dict__.update(more)
    return made


def test_secrets_are_masked_wherever_they_stand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("POSTGRES_PASSWORD", "none")  # a word, too short to look for
    formatter = JsonFormatter()
    try:
        raise ValueError(f"{KEY} was refused")
    except ValueError:
        trace = sys.exc_info()
    fields = {"url": "postgresql://me:hunter2@db/town", "dsn": "host=db password=hunter2 user=me", "count": 3}
    line = formatter.format(record("no %s for %s\n\ud800", "entry", KEY, event="e", fields=fields, exc_info=trace))
    assert "\n" not in line and KEY not in line and "hunter2" not in line
    row = json.loads(line)
    assert row["message"] == "no entry for [key]\n\ud800" and row["count"] == 3
    assert row["url"] == "postgresql://me:[password]@db/town"
    assert row["dsn"] == "host=db password=[password] user=me"
    assert "ValueError: [key] was refused" in row["exception"]


def test_what_is_printed_is_one_line_a_print(capsys: pytest.CaptureFixture[str]) -> None:
    out = io.StringIO()
    stream = JsonStream(out)
    logger = logging.getLogger("commonplace.cli")
    logger.addHandler(stream.handler)
    logger.setLevel(logging.INFO)
    try:
        print("one\n  two", file=stream)
        print(file=stream)
        print("three", end="", file=stream)
        print(" four", file=stream)
    finally:
        logger.removeHandler(stream.handler)
        logger.setLevel(logging.NOTSET)
    assert [row["message"] for row in lines(out.getvalue())] == ["one\n  two", "three four"]
    assert not stream.isatty()


def test_the_processes_of_a_server_log_alike(tmp_path: Path) -> None:
    server = started(*JSON, "serve", "plaza", "--runs", tmp_path, "--port", 0, "--no-open", anew=True)
    assert server.stdout is not None
    address = server.stdout.readline().strip().partition("#")[0]
    order = Request(
        f"{address}api/runs/plaza-7/control", b'{"action": "speed", "rate": 0}', {"Content-Type": "application/json"}
    )
    urlopen(order).close()
    while json.loads(urlopen(f"{address}api/runs").read())[0]["last_tick"] < 3:
        pass
    server.send_signal(signal.SIGTERM)
    _, err = server.communicate(timeout=60)
    assert {"started", "committed"} <= {row["event"] for row in lines(err)}
