"""The terminal view as somebody at a terminal has it."""

from __future__ import annotations

import re
import shlex
import signal

import pytest
import typer

from commonplace.api import open_run
from commonplace.errors import RunDamaged
from commonplace.parts.terminal import command as shown
from e2e.command import command, ends
from pseudo_terminal import Terminal, terminal

COLOUR = re.compile(rb"[34]8;2;(\d+);(\d+);(\d+)")


def leave(shown: Terminal) -> int:
    shown.press(b"q")
    status = shown.end()
    assert b"Traceback" not in shown.drawn
    return status


def test_a_live_run_is_shown_and_left(plaza, tmp_path):
    run = tmp_path / "a folder" / "seen & left.run"
    with terminal("run", "plaza", "--ticks", 6, "-o", run) as shown:
        shown.until_drawn("reached tick 6")
        assert leave(shown) == 0
        assert b"Linden Square" in shown.drawn
        assert f"tick 6  digest {ends(plaza, 6).history}".encode() in shown.drawn
        assert f"commonplace resume {shlex.quote(str(run))}".encode() in shown.drawn
    assert ends(run) == ends(plaza, 6), "looking on changes nothing"


def test_a_run_can_be_left_before_its_first_picture(tmp_path):
    run = tmp_path / "left.run"
    with terminal("run", "plaza", "-o", run) as shown:
        shown.until_drawn("\x1b[?1049h")  # the other screen: keys are read from here on
        assert leave(shown) == 0
    with open_run(run) as reading:
        assert reading.last_tick >= 0


def test_without_colours_it_is_grey(plaza):
    with terminal("replay", plaza, "--from", 30, NO_COLOR="1", COLORTERM="truecolor") as shown:
        shown.until_drawn("Linden Square")
        for key in (b"3", b"i", b"4", b"2", b"?"):
            shown.press(key)
            before = len(shown.drawn)
            shown.until(lambda before=before: len(shown.drawn) > before)
        shown.press(b"q")  # closes the keys
        assert leave(shown) == 0
    colours = set(COLOUR.findall(shown.drawn))
    assert colours
    assert all(len(set(colour)) == 1 for colour in colours)


@pytest.mark.parametrize("name", ["dumb", ""])
def test_a_dumb_terminal_gets_lines_and_is_told_why(name, tmp_path):
    with terminal("run", "plaza", "--ticks", 3, "-o", tmp_path / "x.run", TERM=name) as shown:
        assert shown.end() == 0
    assert b"plain lines, because TERM is dumb or not set" in shown.drawn
    assert b"tick 3  digest" in shown.drawn
    assert b"\x1b" not in shown.drawn


def test_a_dumb_terminal_asked_for_the_view_says_what_to_do(plaza):
    with terminal("replay", plaza, "--view", "tui", TERM="dumb") as shown:
        assert shown.end() == 2
    assert b"TERM=xterm-256color" in shown.drawn
    assert b"--view plain" in shown.drawn


@pytest.mark.parametrize("stream", ["stdin", "stdout", "stderr"])
def test_the_view_is_for_a_terminal_that_all_streams_lead_to(stream, tmp_path):
    """The keys come from the first, and Textual draws on the last."""
    words = ("run", "plaza", "--ticks", 3, "-o", tmp_path / "x.run")
    with terminal(*words, "--view", "tui", elsewhere=[stream]) as shown:
        assert shown.end() == 2
    assert b"--view plain" in shown.drawn or stream == "stderr"
    assert not list(tmp_path.iterdir())
    with terminal(*words, elsewhere=[stream]) as shown:
        assert shown.end() == 0
    assert b"tick 3  digest" in shown.drawn or stream == "stdout"


@pytest.mark.parametrize("name", ["resume", "replay", "watch"])
def test_without_a_terminal_no_command_shows_the_view(name, plaza):
    done = command(name, plaza, "--view", "tui", status=2)
    assert "the terminal view needs a terminal, and standard input is not one" in done.err


def test_a_terminal_that_does_not_know_its_size_gets_the_view(plaza):
    """Two guesses of Textual differ by a line, and the screen was laid out for one and the other for ever."""
    with terminal("replay", plaza, "--from", 30, columns=0, lines=0) as shown:
        shown.until_drawn("Linden Square")
        assert leave(shown) == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_ends_the_view_and_its_run_at_a_tick_boundary(number, tmp_path):
    run = tmp_path / "a.run"
    with terminal("run", "plaza", "-o", run) as shown:
        shown.until(lambda: run.exists() and ends(run).tick >= 2)
        shown.process.send_signal(number)
        assert shown.end() == 130
    assert b"Traceback" not in shown.drawn
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.run"]  # closed, not killed
    command("verify", run)


def test_a_terminal_that_is_closed_without_a_word_ends_the_view_and_its_run(tmp_path):
    """Whoever started the program may keep the signal to itself, as `make` does."""
    run = tmp_path / "a.run"
    with terminal("run", "plaza", "-o", run) as shown:
        shown.until(lambda: run.exists() and ends(run).tick >= 2)
        assert shown.close() == 130
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.run"]
    command("verify", run)


class Ended:
    """A view that has been left."""

    def __init__(self, failure=None, return_code=0):
        self.failure, self.return_code = failure, return_code

    async def run_async(self):
        pass


def test_a_view_that_ends_by_a_mistake_fails():
    shown._show(Ended())
    with pytest.raises(RunDamaged, match="tick 19"):
        shown._show(Ended(RunDamaged("tick 19 cannot be read"), 1))
    with pytest.raises(typer.Exit) as left:
        shown._show(Ended(return_code=1))
    assert left.value.exit_code == 1
