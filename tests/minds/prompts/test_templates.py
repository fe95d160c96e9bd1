"""A scenario's own templates."""

from __future__ import annotations

from pathlib import Path

import pytest

from commonplace.errors import UsageError
from commonplace.minds.prompts.book import PromptBook
from commonplace.minds.prompts.templates import load_overrides
from minds.tasks.asked import SETTING, every_ask


def refused(folder: Path, name: str, text: str | bytes) -> str:
    """What is said about a file."""
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(UsageError) as caught:
        load_overrides(folder)
    assert name in str(caught.value) and caught.value.hint
    return str(caught.value)


def test_a_scenarios_own_template_takes_the_place_of_the_shipped_one(tmp_path: Path) -> None:
    (tmp_path / "persona.txt").write_text("You are {{ me.name }}, and you rhyme.", encoding="utf-8")
    (tmp_path / "react.txt").write_text("Decide!\n---\nNow: {{ input.situation.time }}", encoding="utf-8")
    (tmp_path / ".hidden").write_text("ignored", encoding="utf-8")
    prompt = PromptBook("en", SETTING, load_overrides(tmp_path)).prompt(every_ask()["react"])
    assert prompt.messages[0].text.endswith("You are Mira Sato, and you rhyme.\n\nDecide!")
    assert prompt.messages[1].text == "Now: 10:00"


def test_mistakes_in_a_folder_are_named_with_file_and_line(tmp_path: Path) -> None:
    assert "persona.txt, plan_day.txt" in refused(tmp_path, "reakt.txt", "x\n---\ny")
    (tmp_path / "reakt.txt").unlink()
    assert "react.txt:3" in refused(tmp_path, "react.txt", "x\n---\n{% if %}")
    assert "---" in refused(tmp_path, "react.txt", "no line between")
    assert "UTF-8" in refused(tmp_path, "react.txt", b"\xff\xfe\n---\n")
    with pytest.raises(UsageError, match="is not a folder"):
        load_overrides(tmp_path / "nowhere")


@pytest.mark.parametrize(
    "text",
    [
        "{{ nothing }}\n---\n",
        "{{ input.nothing }}\n---\n",
        "x\n---\n{{ 1 // 0 }}",
        "{{ input.__class__.mro() }}\n---\n",
    ],
)
def test_a_template_that_asks_for_what_there_is_not_is_named(text: str) -> None:
    with pytest.raises(UsageError, match=r"react\.txt"):
        PromptBook("en", SETTING, {"react.txt": text}).prompt(every_ask()["react"])


def test_an_instruction_of_ones_own_is_not_spoken_either() -> None:
    own = "Answer as though the whole village were listening at the door.\n---\nx"
    book = PromptBook("en", SETTING, {"converse.txt": own})
    with pytest.raises(ValueError, match="instead of repeating"):
        book.read(every_ask()["converse"], {"say": "As though the whole village were listening at the door."})


def test_a_template_of_the_small_form_is_replaced_by_one_in_the_folder_of_that_name(tmp_path: Path) -> None:
    (tmp_path / "small").mkdir()
    (tmp_path / "small" / "react.txt").write_text("Choose.\n---\n{{ letters }}?", encoding="utf-8")
    own = load_overrides(tmp_path)
    assert list(own) == ["small/react.txt"]
    assert PromptBook("en", SETTING, own, {"react"}).prompt(every_ask()["react"]).messages[-1].text == "ABCDEF?"
    (tmp_path / "small" / "rate.txt").write_text("Rate.\n---\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"small/rate\.txt is not the name of a template"):
        load_overrides(tmp_path)
