"""What ships: every scenario is free of mistakes, the schema is fresh, the page documents every key."""

from __future__ import annotations

import re
import runpy
from collections import Counter
from dataclasses import replace
from hashlib import sha256
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import commonplace
from commonplace.engine.god_mode import asked
from commonplace.errors import CommonplaceError, UsageError
from commonplace.languages.ko.josa import resolved
from commonplace.minds.offline.hear import content
from commonplace.parts.new_town.census import quarters, settled
from commonplace.parts.new_town.scaffold import new, text
from commonplace.scenario import model
from commonplace.scenario.compiling import compiled_from_text, load
from commonplace.scenario.loading import find, read, report
from commonplace.scenario.rules import check
from commonplace.text import sentences
from commonplace.world.script import occurring
from commonplace.world.tree import leads_on
from commonplace.world.weather import ambient_at
from sizes import PROVE, examples

PROJECT = Path(__file__).parents[2]
SCENARIOS = sorted((Path(commonplace.__path__[0]) / "scenarios").glob("*.yaml"))
PARTS = model.Part.__subclasses__()
FRESHEN = "run: python tools/scenario_reference.py"


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_shipped_scenarios_have_no_mistake(path: Path) -> None:
    assert report(check(find(str(path)))) == ""
    assert load(path.stem).part.name == path.stem


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_shipped_scenarios_point_to_the_schema(path: Path) -> None:
    first = path.read_text(encoding="utf-8").splitlines()[0]
    found = re.fullmatch(r"# yaml-language-server: \$schema=(\S+)", first)
    assert found
    assert (path.parent / found[1]).resolve() == (PROJECT / "schema" / "scenario.schema.json").resolve()


PAIRS = ("은(는)", "이(가)", "을(를)", "과(와)")
PARTICLES = {form: pair for pair in PAIRS for form in (pair[0], pair[2]) if form != "이"}  # 영철이: an ending of a name


@pytest.mark.parametrize("name", ["sitcom", "sijang", "dialectic-ko"])
def test_a_particle_after_a_name_in_a_korean_scenario_fits_it(name: str) -> None:
    part = load(name).part
    names = "|".join(sorted({name for one in part.characters for name in (one.name, one.called) if name}))
    found = re.findall(rf"((?:{names}))({'|'.join(PARTICLES)})(?![가-힣])", part.model_dump_json())
    assert [(who, said) for who, said in found if resolved(who + PARTICLES[said]) != who + said] == []
    assert found


def test_the_square_gives_each_character_something_to_tell() -> None:
    plaza = load("plaza")
    for memories in plaza.memories.values():
        assert len(memories) >= 8
        assert all(memory.tell for memory in memories)


def test_nobodys_routine_leads_to_the_event() -> None:
    plaza = load("plaza")
    (fact,) = plaza.facts
    assert fact.starts
    minute = fact.starts.hour * 60 + fact.starts.minute
    for persona in plaza.personas.values():
        assert [item for item in persona.routine if item.at <= minute][-1].place != fact.place


def test_the_stored_schema_is_fresh() -> None:
    stored = (PROJECT / "schema" / "scenario.schema.json").read_text(encoding="utf-8")
    assert stored == model.as_text(), FRESHEN


def test_the_schema_describes_every_key() -> None:
    for part in PARTS:
        assert part.__doc__
        assert [name for name, field in part.model_fields.items() if not field.description] == []


@pytest.mark.parametrize("name", ["scenarios", "lines", "circumstances"])
def test_the_tables_of_the_page_are_fresh(name: str) -> None:
    page = (PROJECT / "docs" / f"{name}.md").read_text(encoding="utf-8")
    with_tables = runpy.run_path(str(PROJECT / "tools" / "scenario_reference.py"))[name]
    assert page == with_tables(page), FRESHEN


@pytest.mark.parametrize("size", [1, 2, 3, 7, 9, 10])
def test_a_new_scenario_has_no_mistake_and_its_size(size: int) -> None:
    written = text("my-town", size)
    assert report(check(read(written, "my-town.yaml"))) == ""
    assert len(compiled_from_text(written).personas) == size


@pytest.mark.parametrize("name", ["3", "2031-10-04", "null", "1e5", "Yes"])
@pytest.mark.parametrize("size", [2, 10])
def test_a_new_scenario_may_have_a_name_that_yaml_takes_for_something_else(name: str, size: int) -> None:
    assert read(text(name, size), "new.yaml").data["name"] == name.lower()


@given(st.integers(10, 200 if PROVE else 60))
@examples(6)
def test_a_town_has_homes_work_and_ties_for_all(size: int) -> None:
    town = settled(size)
    people = town.people
    assert len(people) == size
    assert len({one.called for one in people}) == len({one.name for one in people}) == size
    assert [one for home in {id(one.home): one.home for one in people}.values() for one in home.people] == people
    for one in people:
        assert 1 <= len(one.home.people) <= 5
        assert 6 <= len(one.memories) <= 24
        assert len({memory.text for memory in one.memories}) == len(one.memories)
        assert one.retired or one.place or one.trade
        assert all(one.id in tie.other.ties for tie in one.ties.values()), one.name
    written = text("my-town", size)
    assert report(check(read(written, "my-town.yaml"))) == ""
    assert "$" not in written
    assert written == text("my-town", size)


def test_the_lines_of_a_memory_each_tell_something_and_are_told_by_one_person() -> None:
    told = [(memory, person) for person in settled(30).people for memory in person.memories]
    for memory, person in told:
        names = content(" ".join((memory.topic, person.called, *(tie.other.called for tie in person.ties.values()))))
        for one, other in combinations([content(line) - names for line in memory.tell], 2):
            assert len(one & other) <= 0.5 * min(len(one), len(other)), memory.tell
    lines = Counter(line for memory, _ in told for line in memory.tell)
    assert sum(lines.values()) - len(lines) < 0.05 * len(lines)


def test_a_folder_is_not_written_to(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="a folder, not a file"):
        new(tmp_path, force=True)
    assert not tmp_path.with_name(f"{tmp_path.name}.yaml").exists()


def test_new_writes_a_file_and_over_one_only_when_told(tmp_path: Path) -> None:
    path = new(tmp_path / "Meine Stadt", size=3)
    assert path.name == "Meine Stadt.yaml"
    assert load(str(path)).part.name == "meine-stadt"
    before = path.read_text(encoding="utf-8")
    with pytest.raises(UsageError, match="already exists"):
        new(path)
    assert path.read_text(encoding="utf-8") == before
    assert len(load(str(new(path, size=4, force=True))).part.characters) == 4


PAGE = 4096
"""Bytes; a file that was not written to its end is cut at a multiple of it."""


@pytest.mark.parametrize(("size", "step"), [(2, 97), (10, PAGE), *([(9, 16), (40, PAGE)] if PROVE else [])])
def test_a_generated_scenario_that_was_cut_off_is_found(size: int, step: int) -> None:
    whole = text("my-town", size).encode()
    for at in (*range(step, whole.rindex(b"whole: true"), step), whole.rindex(b"whole: true")):
        assert check(read(whole[:at].decode(errors="ignore"), "my-town.yaml")), at


def test_what_a_scenario_says_of_its_size_must_be_so() -> None:
    written = text("my-town", 3)
    [missing] = check(read(written.replace("whole: true", "# whole: true"), "my-town.yaml"))
    assert str(missing).startswith("my-town.yaml:7: people: the end of the file, `whole: true`, is missing")
    [fewer] = check(read(written.replace("people: 3", "people: 4"), "my-town.yaml"))
    assert "the file says that it holds 4 people, and it holds 3 — expected `people: 3`" in str(fewer)
    by_hand = written.replace("people: 3", "# nothing").replace("whole: true", "# nothing")
    assert check(read(by_hand, "my-town.yaml")) == []


@pytest.mark.parametrize("name", ["마을.yaml", "--.yaml", "ÄÖ", "x" * 100])
def test_any_file_name_gives_a_valid_scenario(tmp_path: Path, name: str) -> None:
    assert check(find(str(new(tmp_path / name)))) == []


@pytest.mark.parametrize("path", ["", "/proc/x.yaml", "/dev/null/x.yaml"])
def test_places_that_cannot_be_written_to_are_told_plainly(path: str) -> None:
    with pytest.raises(CommonplaceError):
        new(path)


@pytest.mark.parametrize("size", [0, 10_001, -1])
def test_sizes_have_limits(tmp_path: Path, size: int) -> None:
    with pytest.raises(UsageError, match="1 to 10,000"):
        new(tmp_path / "x.yaml", size)


@pytest.mark.parametrize(
    ("size", "digest"), [(9, "2d2b497f189c8aab"), (57, "18fa991c48110cd4"), (200, "3f1c3ec5349d9674")]
)
def test_a_town_is_written_with_the_same_words_as_ever(size: int, digest: str) -> None:
    assert sha256(text("town", size).encode()).hexdigest().startswith(digest)


@pytest.mark.parametrize("size", [250, pytest.param(2000, marks=pytest.mark.slow)])
def test_a_city_has_several_quarters_whose_people_know_their_own(tmp_path: Path, size: int) -> None:
    path = new(tmp_path / "city", size)
    scenario, towns = load(str(path)), quarters(size)
    names = [one.name for one in scenario.personas.values()]
    areas = [node.name for node in scenario.geography.nodes.values() if node.type == "area"]
    assert len(set(names)) == size and len(set(areas)) == len(areas)
    assert path.stat().st_size < 6_500 * size
    assert len({one.called for one in asked("Ada Falk falls ill", scenario, scenario.opening).people}) == size
    for town in towns:
        known = scenario.states[town.people[0].id].belief
        assert {one.centre.id for one in towns if known.knows(one.centre.id)} == {town.centre.id}
        assert all(known.knows(place.id) for place in town.places)
        assert scenario.geography.distance(town.people[0].home.id, towns[0].centre.id) <= 8


def test_what_breaks_in_latticeville_can_be_mended_there() -> None:
    """From every state that says so, some verb leads on, and what it needs comes with an occasion."""
    scenario = load("latticeville")
    kinds, things = scenario.geography.kinds, scenario.opening.things
    brought = {pair for one in scenario.occasions.all for pair in one.event.sets}
    for kind in kinds.values():
        for state in {"broken", "torn"}.intersection(kind.states):
            assert leads_on(kind, state), (kind.id, state)
        for need, state in (pair for one in kind.transitions for pair in one.needs):
            assert (need, state) in brought or things[need].state == state, (kind.id, need)


@pytest.mark.parametrize("size", [10, pytest.param(100, marks=pytest.mark.slow)])
def test_every_occasion_of_a_new_town_happens_in_some_weeks_and_changes_its_things(size: int) -> None:
    scenario = compiled_from_text(text("my-town", size))
    occasions, world, found = scenario.occasions, scenario.opening, Counter[str]()
    assert 8 <= len(occasions.all) <= 16
    for tick in range(1, scenario.clock.ticks(10 * 7 * 24 * 60)):
        if tick % 12 == 1:
            ambient = ambient_at(scenario.climate, 7, scenario.clock, tick)
        now = occurring(occasions, 7, scenario.clock, replace(world, tick=tick - 1), ambient)
        found.update(one.id for one in now)
        world = replace(world, occasions={**world.occasions, **{one.id: tick for one in now}})
    assert found.keys() == {one.event.id for one in occasions.all}
    assert max(found.values()) <= 30
    for one in occasions.all:
        assert len(scenario.tells[one.event.id].at_once) >= 2
        for line in scenario.tells[one.event.id].lines:
            assert any(sentence in scenario.replies for sentence in sentences(line)), line
        for thing, state in one.event.sets:
            kind = scenario.geography.kinds[scenario.geography.nodes[thing].kind]
            assert state in kind.states
            assert state not in ("broken", "torn") or leads_on(kind, state)


@pytest.mark.parametrize("name", ["latticeville", "sijang"])
def test_two_weeks_of_a_shipped_town_are_not_the_same(name: str) -> None:
    scenario = load(name)
    world, ambient = scenario.opening, ambient_at(scenario.climate, 7, scenario.clock, 0)
    week = scenario.clock.ticks(7 * 24 * 60)
    found: list[tuple[int, str]] = []
    for tick in range(1, 3 * week):
        now = occurring(scenario.occasions, 7, scenario.clock, replace(world, tick=tick - 1), ambient)
        found += [(tick, one.id) for one in now]
        world = replace(world, occasions={**world.occasions, **{one.id: tick for one in now}})
    weeks = {tuple(id for tick, id in found if tick // week == number) for number in range(3)}
    assert len(weeks) == 3, weeks
    days = Counter(scenario.clock.day(tick) for tick, _ in found)
    assert max(days.values()) <= 8, "a handful of happenings a day at the most"
