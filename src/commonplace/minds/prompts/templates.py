"""The texts of prompts: a Jinja2 template per task and language, and what a scenario puts in their place.

Values are never templates: what stands in a memory is not looked at by Jinja. The sandbox is there for templates that
come with somebody else's scenario.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from jinja2 import BaseLoader, DictLoader, StrictUndefined, TemplateError, TemplateSyntaxError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from commonplace.errors import UsageError

LANGUAGES = ("en", "ko")
PARTS = ("rules.txt", "persona.txt", "parts.txt", "plan_parts.txt", "again.txt")
"""Shared by the tasks: `parts.txt` holds macros, `again.txt` asks again. All others are tasks."""
_TAGS = re.compile(r"\{%.*?%\}|\{\{.*?\}\}|\{#.*?#\}", re.DOTALL)
BETWEEN = "\n---\n"
"""In a task's template: above it what is the same for a character at every tick, below it what changes."""
TEXTS = Path(__file__).parent


@cache
def shipped(language: str) -> Mapping[str, str]:
    """File name → template. Raises UsageError for a language there are none in."""
    if language not in LANGUAGES:
        raise UsageError(f"there are no prompts in {language!r}", hint=f"the languages are {', '.join(LANGUAGES)}")
    return {path.name: path.read_text(encoding="utf-8") for path in sorted((TEXTS / language).glob("*.txt"))}


def load_overrides(folder: str | Path) -> Mapping[str, str]:
    """The templates of a scenario's own folder. Raises UsageError for one that no task has, or that cannot be read."""
    folder = Path(folder)
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder}", where="prompts", hint="name a folder beside the scenario file")
    texts: dict[str, str] = {}
    for path in sorted(folder.iterdir()):
        if not path.name.startswith("."):
            texts[path.name] = _checked(path)
    return texts


def _checked(path: Path) -> str:
    accepted = shipped(LANGUAGES[0])
    if path.name not in accepted:
        raise UsageError(
            "no prompt is called so", where=str(path), hint=f"files are called {', '.join(sorted(accepted))}"
        )
    try:
        text = path.read_text(encoding="utf-8")
        environment(DictLoader({})).parse(text)
    except UnicodeDecodeError as error:
        raise UsageError("this is not text in UTF-8", where=str(path), hint="save it as UTF-8") from error
    except TemplateSyntaxError as error:
        raise UsageError(
            f"the template cannot be read: {error.message}",
            where=f"{path}:{error.lineno}",
            hint="templates are Jinja2: {{ value }}, {% if … %}, {% for … %}; docs/prompts.md lists the values",
        ) from error
    if path.name not in PARTS and BETWEEN not in f"\n{text}\n":
        raise UsageError(
            "the template lacks its line ---",
            where=str(path),
            hint="above it stands what never changes for a character, below it the rest",
        )
    return text


def environment(loader: BaseLoader) -> ImmutableSandboxedEnvironment:
    """Sandboxed; an unknown value is an error; nothing is escaped, since values are escaped before."""
    return ImmutableSandboxedEnvironment(
        loader=loader,
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )


class Templates:
    """The templates of one language, some of them a scenario's own."""

    def __init__(self, language: str, overrides: Mapping[str, str]) -> None:
        self.texts = {**shipped(language), **overrides}
        self._environment = environment(DictLoader(self.texts))

    @property
    def literals(self) -> tuple[str, ...]:
        """What the templates themselves say, between the values."""
        return tuple(part for text in self.texts.values() for part in _TAGS.split(text))

    def whole(self, name: str, values: Mapping[str, object]) -> str:
        """A template in words. Raises UsageError where it asks for a value there is not."""
        try:
            return self._environment.get_template(name).render(values).strip()
        except (TemplateError, TypeError, ValueError, ArithmeticError) as error:
            raise UsageError(
                f"the template asks for something there is not: {error}",
                where=f"prompts: {name}",
                hint="docs/prompts.md lists the values of each template",
            ) from error

    def halves(self, name: str, values: Mapping[str, object]) -> tuple[str, str]:
        """A task's template: what is the same at every tick, and what changes."""
        fixed, _, changing = f"\n{self.whole(name, values)}\n".partition(BETWEEN)
        return fixed.strip(), changing.strip()
