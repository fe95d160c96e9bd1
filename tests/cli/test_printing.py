"""Nothing that a file, a model or a person wrote reaches the terminal as anything but text."""

from __future__ import annotations

import io
import json
import logging
import re
import sys
import unicodedata
from contextlib import redirect_stdout
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.canon import digest
from commonplace.cli import main
from commonplace.memory import MemoryStream
from commonplace.run.rows import deflated, inflated
from commonplace.scenario.loading import located
from commonplace.text import PrintableStream, one_line, printable, printable_json
from e2e.command import command, copied, tables
from sizes import examples

BIDI = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
HIDDEN = "\u061c\u180e\u200b\u200c\u200e\u200f\u2060\ufeff\ufff9\U000e0041"


def steers(character: str) -> bool:
    """Whether a character may not be printed: by Unicode's own tables, not by ours."""
    return (
        (unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") and character not in "\n\t")
        or unicodedata.bidirectional(character) in BIDI
        or character in HIDDEN
    )


@cache
def steering() -> list[str]:
    """All characters that may not be printed."""
    return [character for character in map(chr, range(sys.maxunicode + 1)) if steers(character)]


STEERS = st.deferred(lambda: st.sampled_from(steering()))
HOSTILE = "\x1b]0;owned\x07\x1b[7777m\x9b2J\x08\r\x85\u2028\u202e\u2066\u200f\u061c\ufeff\U000e0041\x7f\n0000 fake line"


def test_every_character_that_steers_is_taken_out_or_spelt():
    whole = "a".join(steering())
    assert not any(map(steers, printable(whole)))
    spelt = printable_json(json.dumps([whole], ensure_ascii=False))
    assert not any(map(steers, spelt))
    assert json.loads(spelt) == [whole]


@given(st.text(alphabet=st.one_of(st.characters(), STEERS), max_size=60))
@examples(100)
def test_a_printable_text_stays_as_it_is_and_json_keeps_its_value(text):
    assert printable(printable(text)) == printable(text)
    assert not any(map(steers, printable(text)))
    assert len(one_line(text).split("\n")) == 1
    assert json.loads(printable_json(json.dumps(text, ensure_ascii=False))) == text


def test_what_people_write_is_printed_as_it_is():
    for text in ("two\nlines\tand  blanks", "한글 마을", "👩‍👩‍👧 ❤️‍🔥", "e\u0301", "café – “quoted”", "שלום", "مرحبا"):
        assert printable(text) == text


# ── runs and stores full of it ──────────────────────────────────────────────────────────────────────────────────────


def spoilt(value: Any, hostile: str) -> Any:
    """JSON with something in every text of more than a word; ids stay, so that the run can be read."""
    if isinstance(value, dict):
        return {key: spoilt(one, hostile) for key, one in value.items()}
    if isinstance(value, list):
        return [spoilt(one, hostile) for one in value]
    return f"{value[:1]}{hostile}{value[1:]}{hostile}" if isinstance(value, str) and " " in value else value


def spoil(run: Path, hostile: str) -> Path:
    """Hostile characters in every text of a run."""

    def json_cell(text: str) -> str:
        return json.dumps(spoilt(json.loads(text), hostile)) if text else text

    def trace(data: bytes) -> bytes:
        return deflated(json_cell(inflated(data).decode()).encode())

    def free(text: str) -> str:
        return f"{text[:1]}{hostile}{text[1:]}"

    cells = {
        "event": {"body": json_cell},
        "version": {"value": json_cell},
        "answer": {"body": json_cell, "task": free},
        "input": {"body": json_cell},
        "memory": {"text": free, "details": trace},
        "trace": {"body": trace},
    }
    with tables(run) as connection:
        for table, columns in cells.items():
            for column, change in columns.items():
                connection.create_function("changed", 1, change)
                connection.execute(f"UPDATE {table} SET {column} = changed({column}) WHERE {column} IS NOT NULL")
        (manifest,) = connection.execute("SELECT value FROM meta WHERE key = 'manifest'").fetchone()
        connection.execute("UPDATE meta SET value = ? WHERE key = 'manifest'", (renamed(manifest, hostile),))
    return run


def renamed(manifest: str, hostile: str) -> str:
    """A manifest with hostile names in its scenario, and a mind of that kind."""
    given = json.loads(manifest)
    quoted = "".join(f"\\U{ord(character):08x}" for character in hostile)
    names = re.compile(r"^( *(?:- )?(?:name|title|summary|work|do)): ([A-Z][^\n\"#:]+)$", re.MULTILINE)
    text = names.sub(lambda found: f'{found[1]}: "{found[2]}{quoted}"', given["text"])
    assert text != given["text"]
    digested = digest(text.encode()).hex()
    return json.dumps({**given, "text": text, "scenario_digest": digested, "mind": f"journal:{hostile}"})


COMMANDS = [
    ("events", "RUN"),
    ("events", "RUN", "--json"),
    ("agents", "RUN"),
    ("agents", "RUN", "--json"),
    ("diffusion", "RUN"),
    ("usage", "RUN"),
    ("usage", "RUN", "--json"),
    ("memories", "RUN", "ines"),
    ("memories", "RUN", "ines", "--json"),
    ("memories", "RUN", "ines", "--query", "the fountain"),
    ("memories", "RUN", "ines", "--tree"),
    ("memories", "RUN", HOSTILE),
    ("search", "RUN"),
    ("search", "RUN", "--json"),
    ("search", "RUN", "--since", HOSTILE),
    ("why", "RUN"),
    ("why", "RUN", "t9.ines.0"),
    ("why", "RUN", "t20.bruno.0", "--prompts"),
    ("why", "RUN", "t30.ines.0", "--json"),
    ("why", "RUN", "t9.ines.0", "--without", "ines:1"),
    ("why", "RUN", HOSTILE),
    ("replay", "RUN", "--view", "plain"),
    ("replay", "RUN", "--view", "json"),
    ("digest", "RUN"),
    ("verify", "RUN"),
    ("resume", "RUN"),
    ("resume", "RUN", "--trust"),
    ("fork", "RUN", "--at", "20", "-o", "fork.run", "--force", "--forget", "ines:3"),
    ("forget", "RUN", "--agent", "ines", "--ids", "3,4", "--dry-run"),
    ("copy-memories", "RUN", "new.db"),
    ("estimate", "RUN"),
    ("diff", "RUN", "RUN"),
    ("export", "RUN", "bundle", "-o", "bundle.zip"),
    ("import", "bundle", HOSTILE, "-o", "new.run"),
    ("trim", HOSTILE, "--keep-days", "1"),
    ("check", HOSTILE),
    ("run", "plaza", "--mind", HOSTILE),
    ("ledger", "verify", HOSTILE),
    (HOSTILE,),
    ("events", "RUN", f"--{HOSTILE}"),
]


@pytest.fixture(scope="module")
def hostile(eventful, tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    return spoil(copied(eventful, folder, "hostile.run"), HOSTILE)


@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda words: " ".join(words).replace(HOSTILE, "HOSTILE"))
def test_no_command_prints_what_steers(arguments, hostile, tmp_path):
    words = [str(hostile) if word == "RUN" else word for word in arguments]
    done = command(*words, status=None, cwd=tmp_path)
    assert done.out or done.err
    assert not any(map(steers, done.out + done.err))
    assert "a bug in Commonplace" not in done.err
    if "--json" in arguments:
        assert done.rows
        assert "owned" in done.out


def test_the_run_is_as_hostile_as_it_should_be(hostile):
    for arguments in (
        ("events", hostile),
        ("memories", hostile, "ines"),
        ("agents", hostile),
        ("why", hostile, "t9.ines.0"),
    ):
        assert "owned" in command(*arguments).out
    for arguments in (("events", hostile), ("memories", hostile, "ines"), ("search", hostile), ("agents", hostile)):
        assert not [line for line in command(*arguments).lines if line.startswith("0000 fake line")]


@given(st.data())
@examples(3)
def test_no_text_of_a_run_steers_wherever_it_is_printed(eventful, tmp_path_factory, data):
    text = data.draw(st.lists(st.one_of(STEERS, st.text(max_size=3)), min_size=5).map("".join))
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "ignore")  # SQLite keeps no lone surrogates
    folder = tmp_path_factory.mktemp("drawn")
    run = spoil(copied(eventful, folder, "drawn.run"), text)
    for words in data.draw(st.lists(st.sampled_from(COMMANDS[:26]), min_size=4, max_size=4, unique=True)):
        done = command(*(str(run) if word == "RUN" else word for word in words), status=None, cwd=folder)
        assert not any(map(steers, done.out + done.err))


def test_a_hostile_store_prints_as_text(tmp_path):
    stream = MemoryStream.open(tmp_path / "store.db", agent="mira")
    stream.remember("an innocent memory", at=datetime(2031, 10, 4, 12, tzinfo=UTC))
    stream.close()
    with tables(tmp_path / "store.db") as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for name in names:
            columns = [row[1] for row in connection.execute(f"PRAGMA table_info({name})")]
            for column in {"text"} & set(columns):
                connection.execute(f"UPDATE {name} SET {column} = {column} || ?", (HOSTILE,))
    for words in (
        ("memories", "mira"),
        ("search",),
        ("memories", "mira", "--json"),
        ("memories", "mira", "--query", "an"),
    ):
        done = command(words[0], tmp_path / "store.db", *words[1:], status=None)
        assert "owned" in done.out, done
        assert not any(map(steers, done.out + done.err))


# ── styles, warnings, streams ───────────────────────────────────────────────────────────────────────────────────────


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


STYLE = re.compile(r"\x1b\[[\d;]*m")


@pytest.mark.parametrize("arguments", [("agents", "RUN"), ("replay", "RUN", "--view", "plain"), ("why", "RUN")])
def test_on_a_terminal_only_our_own_styles_are_left(arguments, hostile, monkeypatch):
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    with redirect_stdout(Screen()) as screen:
        assert main([str(hostile) if word == "RUN" else word for word in arguments]) == 0
    shown = screen.getvalue()
    assert STYLE.search(shown)
    assert "\x1b[7777m" not in shown
    assert not any(map(steers, STYLE.sub("", shown)))
    assert "owned" in shown


def test_warnings_and_tracebacks_are_text_too(capsys, monkeypatch, tmp_path):
    def told(*_: object) -> None:
        logging.getLogger("commonplace.anything").warning("the server says %s", HOSTILE)
        raise RuntimeError(HOSTILE)

    monkeypatch.setattr("commonplace.cli.scenarios.shipped", told)
    monkeypatch.setattr(logging.getLogger("commonplace"), "propagate", True)
    assert main(["--debug", "scenarios"]) == 1
    err = capsys.readouterr().err
    assert "Traceback" in err
    assert "owned" in err
    assert not any(map(steers, err))


def test_a_scenario_with_hostile_mistakes_is_reported_as_text(tmp_path):
    text, _ = located("plaza")
    path = tmp_path / "own.yaml"
    path.write_text(text.replace("stage: town", r'stage: "\e]0;owned\a\N\L\u202E\n0000"'), encoding="utf-8")
    for words in (("check", path), ("run", path)):
        done = command(*words, status=2, cwd=tmp_path)
        assert "owned" in done.err
        assert not any(map(steers, done.err))


def test_a_stream_offers_no_way_around():
    below = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)
    stream = PrintableStream(below)
    stream.writelines([HOSTILE, "\ud800"])
    assert not hasattr(stream, "buffer")
    assert not any(map(steers, below.buffer.getvalue().decode()))
