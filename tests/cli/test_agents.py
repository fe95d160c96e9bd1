"""`agents` lists who is there, what one of them knows of its past, or what it means to do."""

from __future__ import annotations

import json

from commonplace.cli import main


def told(capsys, *arguments: object) -> list[dict[str, object]]:
    assert main([*map(str, arguments), "--json"]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_the_past_of_a_character_quotes_what_was_said(town, capsys):
    rows = told(capsys, "agents", town, "--past", "suki")
    assert main(["agents", str(town), "--past", "suki"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(rows)
    quoted = [(row, line) for row, line in zip(rows, lines, strict=True) if row["text"]]
    assert quoted
    assert all(f"“{str(row['text'])[:20]}" in line for row, line in quoted)


def test_past_and_goals_are_asked_for_one_at_a_time(town, capsys):
    assert main(["agents", str(town), "--past", "suki", "--goals", "suki"]) == 2
    said = capsys.readouterr().err
    assert "--past and --goals are two lists" in said
    assert "one of them at a time" in said


def test_nobody_of_that_name_says_so(town, capsys):
    assert main(["agents", str(town), "--goals", "nobody"]) == 2
    assert "nobody" in capsys.readouterr().err
