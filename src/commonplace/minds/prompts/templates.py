"""The templates of prompts: a Jinja2 file per task and language, and a scenario's own in their place.

Values are never templates: Jinja does not interpret the text of a memory. Templates run in a sandbox because they may
come with somebody else's scenario.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path

from jinja2 import DictLoader, StrictUndefined, TemplateError, TemplateSyntaxError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from commonplace.errors import UsageError
from commonplace.languages import DEFAULT, LANGUAGES, file_texts
from commonplace.minds.prompts.prompt import PARTS, SMALL
from commonplace.paths import is_inside

_TAGS = re.compile(r"\{%.*?%\}|\{\{.*?\}\}|\{#.*?#\}", re.DOTALL)
BETWEEN = "\n---\n"
"""Divides a task's template: above it is what stays the same for a character at every tick, below it what changes."""
LARGEST = 100_000
"""Bytes of a template; the largest that ships has a few thousand."""


@cache
def shipped(language: str) -> Mapping[str, str]:
    """Returns file name → template; the names of the small form begin with their folder. Raises UsageError for a
    language without templates."""
    if language not in LANGUAGES:
        raise UsageError(f"there are no prompts in {language!r}", hint=f"the languages are {', '.join(LANGUAGES)}")
    small = file_texts(language, f"prompts/{SMALL}")
    return {**file_texts(language, "prompts"), **{f"{SMALL}{name}": text for name, text in small.items()}}


def load_overrides(folder: str | Path, *, beside: Path | None = None) -> Mapping[str, str]:
    """Returns the templates in a scenario's own folder, by file name.

    `beside`: the folder of a scenario file that names `folder`. Nothing outside of it is read, because the texts go
    into the run and to a model. Raises UsageError for a folder outside, for a file that would replace no shipped
    template, and for one that is not a template.
    """
    if beside is not None:
        _refuse_outside(Path(folder), beside)
        folder = beside / folder
    folder = Path(folder)
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder", where="prompts", hint="name a folder beside the scenario file")
    inside = [*folder.iterdir(), *((folder / SMALL).iterdir() if (folder / SMALL).is_dir() else ())]
    paths = [path for path in sorted(inside) if not path.name.startswith(".") and path != folder / SMALL]
    if beside is not None:
        for path in paths:
            _refuse_outside(path.relative_to(beside), beside)
    return {name: _checked(path, name) for path in paths for name in (path.relative_to(folder).as_posix(),)}


def _refuse_outside(path: Path, beside: Path) -> None:
    """Raises UsageError for an absolute path, for `..`, and for a symbolic link that leads out of the folder."""
    if not is_inside(path, beside):
        raise UsageError(
            f"{str(path)!r} is outside the folder of the scenario",
            where="prompts",
            hint="name a folder beside the scenario file, without links that lead elsewhere",
        )


def _checked(path: Path, name: str) -> str:
    accepted = shipped(DEFAULT)
    if name not in accepted:
        raise UsageError(
            f"{name} is not the name of a template",
            where=str(path),
            hint=f"use one of {', '.join(sorted(accepted))}",
        )
    if not path.is_file() or path.stat().st_size > LARGEST:
        raise UsageError(f"the template is not a file of at most {LARGEST:,} bytes", where=str(path))
    try:
        text = path.read_text(encoding="utf-8")
        environment().parse(text)
    except UnicodeDecodeError as error:
        raise UsageError("the template is not UTF-8 text", where=str(path), hint="save the file as UTF-8") from error
    except TemplateSyntaxError as error:
        raise UsageError(
            f"the template cannot be read: {error.message}",
            where=f"{path}:{error.lineno}",
            hint="templates are Jinja2: {{ value }}, {% if … %}, {% for … %}; docs/prompts.md lists the values",
        ) from error
    if name not in PARTS and BETWEEN not in f"\n{text}\n":
        raise UsageError(
            "the template has no line ---",
            where=str(path),
            hint="put above it what never changes for a character, below it the rest",
        )
    return text


@lru_cache(maxsize=8)  # compiling a template takes longer than filling it in, and each mind has a book of its own
def environment(texts: tuple[tuple[str, str], ...] = ()) -> ImmutableSandboxedEnvironment:
    """Returns a sandbox for templates, in which an unknown value is an error. It escapes nothing: all values have been
    made `plain`."""
    return ImmutableSandboxedEnvironment(
        loader=DictLoader(dict(texts)),
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )


class Templates:
    """The templates of one language, some of them a scenario's own."""

    def __init__(self, language: str, overrides: Mapping[str, str]) -> None:
        self.texts = {**shipped(language), **overrides}
        self._environment = environment(tuple(self.texts.items()))

    @property
    def literals(self) -> tuple[str, ...]:
        """Returns the words of the templates between the values: instructions that nobody may speak."""
        return tuple(part for text in self.texts.values() for part in _TAGS.split(text))

    def whole(self, name: str, values: Mapping[str, object]) -> str:
        """Returns a template filled in. Raises UsageError for an unknown value and any other error in the template."""
        try:
            return self._environment.get_template(name).render(values).strip()
        except (TemplateError, TypeError, ValueError, ArithmeticError) as error:
            raise UsageError(
                f"the template cannot be filled in: {error}",
                where=f"prompts: {name}",
                hint="docs/prompts.md lists the values of each template",
            ) from error

    def halves(self, name: str, values: Mapping[str, object]) -> tuple[str, str]:
        """Returns a task's template filled in, in two parts: what is the same at every tick, and what changes."""
        fixed, _, changing = f"\n{self.whole(name, values)}\n".partition(BETWEEN)
        return fixed.strip(), changing.strip()
