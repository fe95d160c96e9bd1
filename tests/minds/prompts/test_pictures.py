"""Every prompt as sent, in English and Korean, compared with stored ones.

`COMMONPLACE_UPDATE_PICTURES=1 pytest tests/minds/prompts` stores them anew: read the difference before committing it.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, cast

import pytest

from commonplace.minds.mind import Ask
from commonplace.minds.notes import Given, Value, changed, fields_of
from commonplace.minds.prompts.book import PromptBook
from commonplace.minds.prompts.prompt import PromptSetting
from commonplace.minds.tasks import REACT
from commonplace.registry import TASKS
from commonplace.world.happenings import Happened
from minds.tasks.asked import SETTING, every_ask, merged

PICTURES = Path(__file__).parent / "pictures"
UPDATE = bool(os.environ.get("COMMONPLACE_UPDATE_PICTURES"))
ASKS = {**every_ask(), "react_merged": Ask(REACT, merged())}
KOREAN = dict(
    line.split(" = ", 1)
    for line in (Path(__file__).parent / "korean.txt").read_text(encoding="utf-8").splitlines()
    if " = " in line
)
"""The sample's English texts and what they are in Korean."""
IDS = {"id", "object_id", "step_target"}


def korean(value: Any) -> Any:
    """The same with every text in it in Korean, a speaker who is asked in Korean and others who are spoken to in it."""
    if isinstance(value, str):
        return KOREAN.get(value, value)
    if isinstance(value, Given | Value):
        fields = {name: inner if name in IDS else korean(inner) for name, inner in fields_of(value)}
        fields |= {"language": "ko"} if "language" in fields else {}
        fields |= {"level": "polite", "address": "박 사장님"} if "level" in fields else {}
        return type(value)(**fields)
    if isinstance(value, Happened):
        return changed(value, **{name: korean(getattr(value, name)) for name in value.__struct_fields__})
    if isinstance(value, Mapping):
        return {key: korean(inner) for key, inner in cast(Mapping[str, Any], value).items()}
    return tuple(map(korean, cast(tuple[Any, ...], value))) if isinstance(value, tuple) else value


def book(language: str, small: Collection[str] = ()) -> PromptBook:
    """The prompts of the sample's town."""
    if language == "en":
        return PromptBook("en", SETTING, small=small)
    named: dict[str, Any] = {
        field: tuple(tuple(korean(text) for text in pair) for pair in getattr(SETTING, field))
        for field in ("places", "private", "people")
    }
    return PromptBook("ko", PromptSetting(title="격자마을", **named), small=small)


def same(name: str, found: str) -> None:
    """Fail with both texts if the stored one is another."""
    path = PICTURES / f"{name}.txt"
    if UPDATE:
        path.parent.mkdir(exist_ok=True)
        path.write_text(found, encoding="utf-8")
    stored = path.read_text(encoding="utf-8") if path.exists() else "(none stored)"
    assert found == stored, f"{path.name} differs (COMMONPLACE_UPDATE_PICTURES=1 stores it)"


@pytest.mark.parametrize("language", ["en", "ko"])
@pytest.mark.parametrize("name", sorted(ASKS))
def test_a_prompt_is_as_it_was_read_last(name: str, language: str) -> None:
    ask = ASKS[name]
    ask = ask if language == "en" else Ask(ask.task, korean(ask.input))
    messages = book(language).prompt(ask).messages
    fixed, rest = messages[0].text.split("\n\n"), messages[1:]
    shown = "\n\n".join([fixed[-1], *(f"[{message.role}]\n{message.text}" for message in rest)])
    same(f"{language}-{name}", f"{shown}\n")


@pytest.mark.parametrize("language", ["en", "ko"])
@pytest.mark.parametrize("name", sorted(name for name, ask in ASKS.items() if TASKS[ask.task.name].small))
def test_a_prompt_in_the_small_form_is_as_it_was_read_last(name: str, language: str) -> None:
    ask = ASKS[name]
    ask = ask if language == "en" else Ask(ask.task, korean(ask.input))
    same(f"small-{language}-{name}", f"{book(language, TASKS).prompt(ask).text}\n")


@pytest.mark.parametrize("language", ["en", "ko"])
def test_rules_and_persona_are_as_they_were_read_last(language: str) -> None:
    ask = ASKS["rate"]
    fixed = book(language).prompt(ask if language == "en" else Ask(ask.task, korean(ask.input))).messages[0].text
    same(f"{language}-rules", "\n\n".join(fixed.split("\n\n")[:-1]) + "\n")
