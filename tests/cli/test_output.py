"""Tables: plain and whole in a pipe, fitted to a terminal, never cut off. And what is said of work that takes long."""

from __future__ import annotations

from io import StringIO
from time import sleep

import pytest

from commonplace.cli.output import print_table, working

HEAD = ("character", "what", "asked")
ROWS = [["mira", "a long story about lanterns and about the people who carry them", "1,204"], ["zoë", "", "7"]]


def test_a_pipe_gets_whole_plain_lines(capsys):
    print_table(HEAD, ROWS, words=2)
    head, first, second = capsys.readouterr().out.splitlines()
    assert head.split() == list(HEAD)
    assert first.split("  ")[0] == "mira"
    assert ROWS[0][1] in first
    assert (head[-5:], first[-5:], second[-5:]) == ("asked", "1,204", "    7")


def test_text_that_could_steer_a_terminal_or_rich_is_shown_as_it_is(capsys):
    print_table(("what",), [["\x1b[31mred\x1b[0m [bold]not bold[/bold]"]], words=1)
    assert "\x1b" not in (out := capsys.readouterr().out)
    assert "[bold]not bold[/bold]" in out


@pytest.fixture
def terminal(monkeypatch):
    """Standard output as a terminal of some columns."""

    def of(columns: int, **variables: str) -> None:
        monkeypatch.setattr("sys.stdout.isatty", lambda: True)
        for name, value in {"COLUMNS": str(columns), "TERM": "xterm", "NO_COLOR": "", **variables}.items():
            monkeypatch.setenv(name, value)

    return of


def test_a_terminal_gets_long_words_wrapped_and_figures_whole(terminal, capsys):
    terminal(40, NO_COLOR="1")
    print_table(HEAD, ROWS, words=2)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 3
    assert max(map(len, lines)) <= 40
    assert "1,204" in lines[1]


def test_a_terminal_that_is_too_narrow_still_gets_every_word(terminal, capsys):
    terminal(10, NO_COLOR="1")
    print_table(HEAD, ROWS, words=2)
    out = capsys.readouterr().out
    assert "character" in out
    assert "…" not in out


@pytest.mark.parametrize(("variables", "styled"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)])
def test_styles_are_for_terminals_that_want_them(terminal, capsys, variables, styled):
    terminal(80, **variables)
    print_table(HEAD, ROWS, words=2)
    assert ("\x1b[" in capsys.readouterr().out) == styled


class Screen(StringIO):
    """A terminal that is written to."""

    def isatty(self) -> bool:
        return True


def test_what_takes_long_says_on_a_terminal_how_far_it_is(monkeypatch):
    monkeypatch.setattr("commonplace.cli.output.EVERY", 0.001)
    monkeypatch.setattr("sys.stderr", screen := Screen())
    monkeypatch.setenv("TERM", "xterm")
    ticks = iter(range(1, 1_000_000))
    with working(lambda: f"tick {next(ticks)}\x1b[31m"):
        while "tick 3" not in screen.getvalue():
            sleep(0.001)
    assert "tick 1[31m (0 s)" in screen.getvalue()
    assert "\x1b[31m" not in screen.getvalue()
    assert screen.getvalue().endswith("\r\x1b[K"), "the line is gone"


@pytest.mark.parametrize(("stream", "term"), [(StringIO(), "xterm"), (Screen(), "dumb")])
def test_elsewhere_nothing_is_said(monkeypatch, stream, term):
    monkeypatch.setattr("commonplace.cli.output.EVERY", 0.001)
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setenv("TERM", term)
    with working(lambda: "busy"):
        sleep(0.02)
    assert stream.getvalue() == ""
