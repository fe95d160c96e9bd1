"""A file that describes somebody new is checked as a scenario is: what is wrong, on its line, and what is right."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.errors import UsageError
from commonplace.parts.new_town.scaffold import text
from commonplace.scenario.compiling import (
    LARGEST,
    as_changed,
    card_of,
    character_json,
    compiled_from_text,
    load,
    newcomer,
    newcomer_from_file,
    with_character,
)
from commonplace.scenario.loading import read
from scenario.newcomers import ZOLA, zola
from sizes import examples

PLAZA = load("plaza")


def refusal(path: Path, written: str | bytes) -> str:
    path.write_bytes(written if isinstance(written, bytes) else written.encode())
    with pytest.raises(UsageError) as error:
        newcomer_from_file(path, PLAZA)
    return str(error.value)


def test_a_file_and_an_input_describe_the_same_character(tmp_path: Path) -> None:
    written, encoded = tmp_path / "zola.yaml", tmp_path / "zola.json"
    written.write_text(ZOLA, encoding="utf-8")
    encoded.write_text(json.dumps(zola(), indent="\t", ensure_ascii=False), encoding="utf-8")
    character = newcomer(zola(), PLAZA)
    assert newcomer_from_file(written, PLAZA) == newcomer_from_file(encoded, PLAZA) == character
    assert newcomer(character_json(character), PLAZA) == character


def test_a_card_holds_the_whole_persona() -> None:
    character = newcomer(zola(called="Zo"), PLAZA)
    here = with_character(PLAZA, character)
    again = as_changed(PLAZA, {"zola": json.loads(json.dumps(card_of(character)))})
    for scenario in (here, again):
        persona = scenario.personas["zola"]
        assert (persona.name, persona.called, persona.home, persona.wakes) == ("Zola Brandt", "Zo", "cafe", 390)
        assert scenario.geography.name("zola") == "Zola Brandt"
        assert list(scenario.personas) == ["bruno", "ines", "zola"]
        assert scenario.geography.distance("cafe", "square") == PLAZA.geography.distance("cafe", "square")
    assert as_changed(again, {"zola": {**card_of(character), "age": 35}}).personas["zola"].age == 35
    assert "zola" not in PLAZA.personas


@pytest.mark.parametrize(
    ("piece", "instead", "line", "said"),
    [
        ("home: cafe", "home: caffe", 9, 'zola › home: there is no area "caffe" — did you mean "cafe"?'),
        ("home: cafe\n", "", 1, 'the key "home" is missing'),
        ("traits:", "trait:", 6, 'the key "trait" means nothing here — did you mean "traits"?'),
        ("age: 34", "age: old", 3, '"old" is not valid here — expected a whole number'),
        ("id: zola", "id: ines", 1, 'the id "ines" is the id of Ines Okafor already'),
        ("id: zola", "id: fountain", 1, 'the id "fountain" is an area or object already'),
        ("id: zola", "id: a--b", 1, "taken by the simulator"),
        ("name: Zola Brandt", "name: bruno salt", 2, 'the name "bruno salt" is that of "bruno"'),
        ("name: Zola Brandt", "name: Ines Brandt", 2, 'the name "Ines" is that of "ines" — expected another name'),
        ("to: ines", "to: inez", 17, 'zola › relations › 1 › to: there is no character "inez"'),
        ("to: ines", "to: zola", 17, "a relation to oneself"),
        ("to: ines", "to: cafe", 17, '"cafe" is an area, not a character'),
        ("warmth: 60", "warmth: 600", 17, "100 or less"),
        ("place: square}\n  - {at: \"23", "place: ines_home}\n  - {at: \"23", 14, "private and not known to"),
        ("do: sleeping", "do: waiting", 15, "the last item of the day is not sleep"),
        ("topic: tunnel", "about: nobody", 21, 'there is no character "nobody"'),
        ("- There is an", "- say: A tunnel.\n        once: ever\n      - There is an", 23, "no conditions"),
        ("home: cafe", "home: cafe\ncarries: [loupe]", 10, "somebody who comes later brings no objects"),
        ("home: cafe", "home: cafe\nknows: [ines_hom]", 10, 'did you mean "ines_home"?'),
        ("home: cafe", "home: cafe\nstarts_at: nowhere", 10, 'there is no area "nowhere"'),
        ("age: 34", "age: 34\nage: 35", 4, 'the key "age" is here a second time'),
        ("memories:", "memories: &m\n  - *m\nx:", 19, "`*m` refers to the anchor `&m`"),
    ],
)  # fmt: skip
def test_a_mistake_is_named_with_its_line(piece: str, instead: str, line: int, said: str, tmp_path: Path) -> None:
    assert piece in ZOLA
    message = refusal(tmp_path / "zola.yaml", ZOLA.replace(piece, instead))
    assert f"zola.yaml:{line}: " in message
    assert said in message


def test_all_mistakes_are_told_at_once(tmp_path: Path) -> None:
    spoilt = ZOLA.replace("home: cafe", "home: caffe").replace("to: ines", "to: inez").replace("age: 34", "age: old")
    message = refusal(tmp_path / "zola.yaml", spoilt)
    assert "has 3 mistakes" in message
    assert [line.split(":")[1] for line in message.splitlines()[1:4]] == ["3", "9", "17"]


@pytest.mark.parametrize(
    "written",
    [
        "",
        "- just\n- a list",
        "zola",
        "id: [",
        "\x00",
        b"\xff\xfe",
        "id: !!python/object/apply:os.system [ls]",
        "a: &a [*a]",
        "[" * 200,
        "id: zola\n---\nid: zola",
        "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\n"
        "d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: [*e,*e,*e,*e,*e,*e,*e,*e,*e]",
        ZOLA + "#" * LARGEST,
        ZOLA.replace("memories:", "memories:\n  - &m {text: " + "x" * 2000 + "}\n  - [" + "*m, " * 300 + "]"),
        ZOLA + "  - &m {text: " + "x" * 2000 + "}\n" + "  - *m\n" * 200,
        "{" + json.dumps(zola())[1:-1] + ', "age": NaN}',
    ],
    ids=lambda written: str(written[:12]),
)
def test_a_hostile_file_is_refused_with_what_is_wrong(written: str | bytes, tmp_path: Path) -> None:
    assert "zola.yaml" in refusal(tmp_path / "zola.yaml", written)


@pytest.mark.parametrize("path", ["nowhere.yaml", ".", "x" * 300 + ".yaml", "a\0b.yaml"])
def test_a_path_that_is_no_file_is_refused(path: str) -> None:
    with pytest.raises(UsageError, match=r"cannot be read|a folder, not a file"):
        newcomer_from_file(path, PLAZA)


NOBODY: list[dict[str, Any]] = [
    {"age": 34.5},
    {"age": float("nan")},
    {"name": "\ud800"},
    {"name": "\u200b"},
    {"traits": [{}]},
    {"traits": {1: 2}},
    {"routine": [{"at": "06:30"}]},
    {"memories": [{"text": "x", "importance": 11}]},
    {"memories": [{"text": "x" * 2000}] * 200},
    {"id": None},
    {"background": {1}},
]


@pytest.mark.parametrize("changes", NOBODY, ids=lambda changes: next(iter(changes)))
def test_what_is_not_a_character_is_refused_as_an_input(changes: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        newcomer(zola(**changes), PLAZA)


KEYS = [*zola(), "to", "text"]
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-200, 200) | st.text(max_size=6) | st.sampled_from(["cafe", "ines"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3),
    max_leaves=8,
)


@examples(80)
@given(st.dictionaries(st.sampled_from([*zola(), "knows", "absent", "x"]), json_values, max_size=4))
def test_whatever_is_given_is_a_character_or_is_refused(changes: dict[str, Any]) -> None:
    try:
        character = newcomer({**zola(), **changes}, PLAZA)
    except UsageError as error:
        assert "zola" in str(error) or "newcomer" in str(error)
    else:
        assert newcomer(character_json(character), PLAZA) == character
        assert as_changed(PLAZA, {character.id: card_of(character)}).personas[character.id].name == character.name


def test_nobody_comes_into_a_duet() -> None:
    with pytest.raises(UsageError, match="dialogue of two characters"):
        newcomer(zola(), load(str(Path(__file__).parents[1] / "engine" / "bench_talk.yaml")))


def test_a_stage_of_ones_own_may_go_without_a_routine() -> None:
    quiet = compiled_from_text("stage: somewhere:ELSE\n" + text("village", 2))
    home = next(iter(quiet.personas.values())).home
    assert newcomer(zola(home=home, routine=None, relations=None), quiet).routine == ()


def test_the_one_in_the_documentation_can_come() -> None:
    page = (Path(__file__).parents[2] / "docs" / "scenarios.md").read_text(encoding="utf-8")
    [written] = [block for block in page.split("```") if block.startswith("yaml\nid: zola")]
    given = read(written.removeprefix("yaml"), "docs/scenarios.md").data
    assert newcomer(given, load("latticeville")).home == "noodle-bar"
