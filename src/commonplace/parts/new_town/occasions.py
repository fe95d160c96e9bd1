"""What happens now and then in a generated town: what comes with the week, what comes with the weather, mishaps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, zip_longest
from string import Template
from typing import Any

from commonplace import rng
from commonplace.parts.new_town.census import KEY, Town, town_words
from commonplace.parts.new_town.town_parts import flow, listed, quoted, replies, things_at_work, things_outside

FEWEST_OCCASIONS, MOST_OCCASIONS, PER_OCCASION = 8, 12, 25
"""Kinds of occasions in the smallest town, in the largest, and people for each one more."""


def occasions(towns: Sequence[Town]) -> Iterator[str]:
    """Yields some of what comes with the week, of what comes with the weather and of mishaps, each in turn and, in a
    city, in another quarter."""
    yield "occasions:              # what happens now and then; docs/scenarios.md explains the conditions"
    most = min(MOST_OCCASIONS, FEWEST_OCCASIONS + sum(len(town.people) for town in towns) // PER_OCCASION)
    groups = (rng.shuffled(words, KEY, "occasions", group) for group, words in town_words("occasions").items())
    turns = (one for turn in zip_longest(*groups) for one in turn if one)
    found = ((one, _where(towns[number % len(towns)], one)) for number, one in enumerate(turns))
    for one, (area, names, things) in islice(((one, where) for one, where in found if where), most):
        yield from _occasion(one, area, names, things)
        for follower in one.get("then", ()):
            yield from _occasion(follower, area, names, things, after=one["id"])
    yield ""


def _where(town: Town, one: Mapping[str, Any]) -> tuple[str, Mapping[str, str], Mapping[str, str]] | None:
    """Returns area, names for `$place` and `$boss`, and objects by kind, of the first place where it can happen."""
    for at in one["at"]:
        district = town.centre if at == "centre" else rng.choice(town.districts, KEY, "occasion", one["id"])
        place = district.local if at == "local" else town.find(at) if at not in ("centre", "green") else None
        if at not in ("centre", "green") and place is None:
            continue
        found = things_at_work(place) if place else things_outside(district)
        things = {kind: thing for thing, _, kind in found}
        if things.keys() >= one.get("sets", {}).keys():
            boss = place.staff[0].boss if place and place.staff else ""
            return (place or district).id, {"place": (place or district).name, "boss": boss}, things
    return None


def _occasion(
    one: Mapping[str, Any], area: str, names: Mapping[str, str], things: Mapping[str, str], after: str = ""
) -> Iterator[str]:
    def said(text: str) -> str:
        return quoted(Template(text).substitute(names))

    when: dict[str, Any] = ({"after": after} if after else {}) | one["when"]
    shown = (f"{key}: {_condition(value)}" for key, value in when.items())
    yield f"  - id: {one['id']}"
    yield f"    when: {{{', '.join(shown)}}}"
    yield f"    text: {said(one['text'])}"
    yield f"    to: {{areas: [{area}]}}"
    if "far" in one:
        yield f"    far: {said(one['far'])}"
    if "sets" in one:
        yield f"    sets: {flow({things[kind]: state for kind, state in one['sets'].items()})}"
    yield "    at_once:"
    yield from (f"      - {said(line)}" for line in one["at_once"])
    yield f"    topic: {quoted(one['topic'])}"
    yield f"    sort: {one['sort']}"
    yield "    tell:"
    yield from (f"      - {said(line)}" for line in one["tell"])
    yield from replies(one["replies"], " " * 4)


def _condition(value: int | str | list[str]) -> str:
    if isinstance(value, list):
        return listed(value)
    return str(value) if isinstance(value, int) else quoted(value)
