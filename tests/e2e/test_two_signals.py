"""Whatever goes on for long ends soon when it is told to, and once more, and without a traceback."""

from __future__ import annotations

import os
import pty
import signal
import socket
import subprocess
import time
from itertools import product
from pathlib import Path

import pytest

from e2e.command import command, copied, ends, finished, started
from pseudo_terminal import terminal

BOUNCE = 0.03
"""Seconds between the two signals of an impatient hand."""
INT, TERM, HUP = signal.SIGINT, signal.SIGTERM, signal.SIGHUP
SIGNALS = {"INT INT": (INT, INT), "TERM INT": (TERM, INT), "INT TERM": (INT, TERM), "TERM": (TERM,), "HUP": (HUP, HUP)}

HELLO = (
    '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},'
    '"clientInfo":{"name":"test","version":"1"}}}\n'
)
UNDER_WAY: dict[str, tuple[tuple[str, ...], str]] = {
    "run": (("run", "plaza", "--ticks", "100000", "-o", "new.run"), "prints"),
    # a tick is finished first: its question has one second
    "run with a model": (
        ("run", "plaza", "--ticks", "100000", "-o", "new.run", "--mind", "{url}", "--timeout", "1"),
        "asks a model",
    ),
    "resume": (("resume", "{run}", "--ticks", "100000"), "prints"),
    "replay": (("replay", "{run}"), "prints"),
    "watch": (("watch", "{run}"), "prints"),
    "verify": (("verify", "{run}"), "says"),
    "serve": (("serve", "plaza", "--port", "0", "--no-open"), "prints"),
    "talk": (("talk", "{run}", "ines"), "answers Where are you?\n"),
    "talk with a model": (("talk", "{run}", "ines", "--ask", "Hello?", "--mind", "{url}"), "asks a model"),
    "mcp": (("mcp", "{run}"), f"answers {HELLO}"),
    "mcp over HTTP": (("mcp", "{run}", "--http", "--port", "0"), "says"),
    "fork": (
        ("fork", "{run}", "--at", "20", "-o", "new.run", "--inject", "The lights go out.", "--mind", "{url}"),
        "asks a model",
    ),
    "doctor": (("doctor", "--mind", "{url}"), "asks a model"),
}
SOME = {
    ("run", "INT TERM"),
    ("resume", "TERM INT"),
    ("replay", "INT INT"),
    ("watch", "TERM"),
    ("serve", "INT INT"),
    ("talk", "HUP"),
    ("fork", "TERM"),
    ("mcp", "INT INT"),
}


@pytest.mark.parametrize(
    ("name", "signals"),
    [pytest.param(*way, marks=() if way in SOME else pytest.mark.slow) for way in product(UNDER_WAY, SIGNALS)],
)
def test_a_command_under_way_ends_when_it_is_told_to(name, signals, plaza, tmp_path):
    words, moment = UNDER_WAY[name]
    run = copied(plaza, tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as model:  # takes questions, and never answers
        url = f"http://127.0.0.1:{model.getsockname()[1]}/v1"
        filled = [word.format(run=run, url=url) for word in words]
        process = started(*filled, cwd=tmp_path, stdin=subprocess.PIPE)
        until(moment, process, model)
        for number, sent in enumerate(SIGNALS[signals]):
            time.sleep(BOUNCE if number else 0)
            process.send_signal(sent)
        done = finished(process, status=None)
    # the shell has 130 for the second, too: Python ends itself so when an import is interrupted, and when it is ending
    assert done.status in (130, -INT, *(-sent for sent in SIGNALS[signals][1:])), done
    for file in (*tmp_path.glob("*.run"), *tmp_path.glob("runs/*.run")):
        command("verify", file, "--integrity-only")
    if signals in ("TERM", "HUP"):  # time to tidy up
        assert not list(tmp_path.glob("*.unfinished*"))


def until(moment: str, process: subprocess.Popen[str], model: socket.socket) -> None:
    """Wait until a command has begun with what it does for long."""
    match moment.partition(" "):
        case "prints", *_:
            assert process.stdout.readline()
        case "says", *_:
            assert process.stderr.readline()
        case "asks", *_:
            asked, _ = model.accept()
            assert asked.recv(
                1
            )  # before that asyncio is still connecting, and leaves its socket open where it is stopped
            asked.detach()
        case _, _, question:
            process.stdin.write(question)
            process.stdin.flush()
            assert process.stdout.readline()


# ── the terminal of a server ────────────────────────────────────────────────────────────────────────────────────────


def served(folder: Path, tick: int) -> bool:
    run = folder / "runs" / "plaza-7.run"
    return run.exists() and ends(run).tick >= tick


def test_a_server_ends_with_its_terminal(tmp_path):
    """Nobody tells it: `make` keeps the signal to itself."""
    with terminal("serve", "plaza", "--port", 0, "--no-open", "--runs", tmp_path / "runs") as shown:
        shown.until(lambda: served(tmp_path, 1))
        assert shown.close() == 130
    command("verify", tmp_path / "runs" / "plaza-7.run", "--integrity-only")


@pytest.mark.parametrize("way", ["nohup", pytest.param("service", marks=pytest.mark.slow)])
def test_a_server_started_to_stay_does_not_need_a_terminal(way, tmp_path):
    master, slave = pty.openpty()
    ignored = (lambda: signal.signal(HUP, signal.SIG_IGN)) if way == "nohup" else None
    process = started(
        *("serve", "plaza", "--port", 0, "--no-open"),
        cwd=tmp_path,
        stdin=slave if way == "nohup" else subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=ignored,
    )
    os.close(slave)
    os.close(master)
    while not served(tmp_path, 6):
        assert process.poll() is None
        time.sleep(0.1)
    process.send_signal(TERM)
    assert process.wait(60) == 130
