"""What a person may mean by a few words: `the noodle bar` is Mira's Noodle Bar, `the drone` the only drone there is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from commonplace.text import words

SHORTEST = 3
"""Letters of a word that may stand for a whole name."""


def spoken_words(text: str) -> str:
    """The words of a text between spaces, for whole-word search."""
    return f" {' '.join(words(text.replace('’', chr(39))))} "


def named_fully(name: str, spoken: str) -> bool:
    """Whether the name occurs as it stands, its article aside."""
    plain = " ".join(words(name.removeprefix("The ").removeprefix("the ")))
    return bool(plain) and f" {plain} " in spoken


def meant(names: Mapping[str, str], spoken: str) -> tuple[str, ...]:
    """Ids of what is named: fully, or else without its owner, or by its last words where these fit one thing only.

    A name that lies inside another one that was named does not count.
    """
    found = {key: form for key, name in names.items() for form in (_matched(names, name, spoken),) if form}
    return tuple(
        key for key, form in found.items()
        if not any(form != other and f" {form} " in f" {other} " for other in found.values())
    )  # fmt: skip


def places_meant(names: Mapping[str, str], spoken: str) -> tuple[str, ...]:
    """As `meant`, for areas: where nothing else fits, the first word of a name will do, `the canal` for Canal Walk."""
    return meant(names, spoken) or tuple(
        key for key, name in names.items()
        if "'s " not in name and f" {_plain(name).partition(' ')[0]} " in spoken
        and sum(1 for other in names.values() if _plain(other).startswith(_plain(name).partition(" ")[0])) == 1
    )  # fmt: skip


def _matched(names: Mapping[str, str], name: str, spoken: str) -> str:
    """The longest form of a name that was used; empty for none."""
    for form in _forms(name):
        if f" {form} " in spoken and (form == _plain(name) or _is_the_only(names, form)):
            return form
    return ""


def _plain(name: str) -> str:
    return " ".join(words(name.removeprefix("The ").removeprefix("the ")))


def _forms(name: str) -> Iterator[str]:
    """`Mira's Noodle Bar` → itself, `noodle bar`, `bar`."""
    yield _plain(name)
    _, owner, rest = name.partition("'s ")
    parts = words(rest if owner else name)
    for first in range(len(parts)):
        form = " ".join(parts[first:])
        if len(form) >= SHORTEST:
            yield form


def _is_the_only(names: Mapping[str, str], form: str) -> bool:
    return sum(1 for name in names.values() if f" {_plain(name)}".endswith(f" {form}")) == 1
