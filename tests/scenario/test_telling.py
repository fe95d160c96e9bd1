"""When an author's lines may be said: what conditions can name, and what `check` says about mistakes in them."""

from __future__ import annotations

import re
from copy import deepcopy
from importlib.resources import files
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Meta

from commonplace.conditions import Misread, condition, examine, names
from commonplace.errors import UsageError
from commonplace.scenario.compiling import compiled_from_text, newcomer
from commonplace.scenario.loading import Mistake, read, report
from commonplace.scenario.model import CharacterPart
from commonplace.scenario.rules import check
from commonplace.scenario.telling import Moment, Place, Somebody, Telling, Terms, Thing
from scenario.drafts import DRAFT, line_of
from sizes import examples

PLAIN = "tell: [I burned the broth.]"
TOLD = """tell:
          - {say: I burned the broth., when: [hearer.warmth >= 20, not alone], only_to: [jonas], once: ever,
             sets: [ashamed]}
          - {say: I left the stove on., after: [1], when: [things.stove.state = hot, hour >= 18]}
          - {say: It was the best pot., when: [people.jonas.talks > 2, sky = rain storm, weekday = sat sun]}
        replies:
          - {say: I could smell it., who: [jonas], when: [not home, act != ask], sets: [forgiven]}
          - {say: "Which pot?", to: [3], when: [place.id = bar, place.outdoor, not marks.forgiven],
             answer: The big one.}"""
GOALS = "{want: to be forgiven, when: [marks.forgiven, hour >= 6]}"
WITH_GOALS = DRAFT.replace("age: 41", f"age: 41\n    goals: [to cook better, {GOALS}]")
LINES = WITH_GOALS.replace(
    f"- {{text: Mira Aldana burned the broth., about: jonas, {PLAIN}}}",
    f"- text: Mira Aldana burned the broth.\n        about: jonas\n        {TOLD}",
)


def _mistakes(old: str, new: str) -> tuple[str, list[Mistake]]:
    assert LINES.count(old) == 1, old
    text = LINES.replace(old, new)
    return text, check(read(text, "lines.yaml"))


def test_conditions_that_are_right_are_no_mistakes_and_end_up_with_their_lines() -> None:
    assert check(read(LINES, "lines.yaml")) == []
    terms = compiled_from_text(LINES, "lines.yaml").terms
    assert terms["I left the stove on."] == Terms(
        ("things.stove.state = hot", "hour >= 18"), after=("I burned the broth.",)
    )
    assert terms["I burned the broth."].hearers == {"jonas"}
    assert terms["I could smell it."].speakers == {"jonas"}
    assert terms["I could smell it."].sets == ("forgiven",)


def test_a_line_without_conditions_has_no_terms() -> None:
    assert compiled_from_text(DRAFT, "draft.yaml").terms == {}


def test_a_goal_can_name_all_but_what_needs_a_hearer() -> None:
    assert set(names(Telling)) - set(names(Moment)) == {"hearer", "hours_ago", "act", "topic"}


@pytest.mark.parametrize("of", [Telling, Somebody, Thing, Place], ids=lambda of: of.__name__)
def test_what_a_condition_can_name_is_described(of: type) -> None:
    hints = get_type_hints(of, include_extras=True)
    assert set(hints) == set(names(of))
    for name, hint in hints.items():
        described = [one.description for one in get_args(hint)[1:] if isinstance(one, Meta)]
        assert described and described[0], f"{of.__name__}.{name}"


# (what takes the place of what; words whose line is named; words of the message; the nearest name)
MISTAKES = {
    "unknown name": ("not alone]", "not alon]", "I burned the broth", "there is no 'alon'", "alone"),
    "unknown below": ("hearer.warmth >= 20", "hearer.warmt >= 20", "I burned", "there is no 'warmt'", "warmth"),
    "unknown person": ("people.jonas.talks", "people.jona.talks", "the best pot", "there is no 'jona'", "jonas"),
    "unknown thing": ("things.stove.state", "things.stow.state", "I left", "there is no 'stow'", "stove"),
    "unknown state": ("state = hot", "state = hott", "I left", "is never 'hott'", "hot"),
    "unknown place": ("place.id = bar", "place.id = baar", "Which pot", "is never 'baar'", "bar"),
    "unknown act": ("act != ask", "act != asks", "could smell", "is never 'asks'", "ask"),
    "unknown sky": ("sky = rain storm", "sky = rain strom", "the best pot", "is never 'strom'", "storm"),
    "no blanks": ("hour >= 18", "hour>=18", "I left", "'hour>=18' is not a condition", ""),
    "no number": ("hour >= 18", "hour >= evening", "I left", "not a whole number", ""),
    "no such hour": ("hour >= 18", "hour >= 24", "I left", "'hour >= 24' never holds", ""),
    "never": ("hour >= 18", "hour >= 18, hour < 6", "I left", "'hour >= 18' and 'hour < 6' never hold together", ""),
    "unknown hearer": ("only_to: [jonas]", "only_to: [jonah]", "I burned", "there is no character", "jonas"),
    "unknown speaker": ("who: [jonas]", "who: [bar]", "could smell", "is an area, not a character", ""),
    "after beyond": ("after: [1]", "after: [4]", "I left", "there is no line 4", ""),
    "after itself": ("after: [1]", "after: [2]", "I left", "heard before itself", ""),
    "after nothing": ("after: [1]", "after: [0]", "I left", "1 or more", ""),
    "unknown mark": ("not marks.forgiven", "not marks.forgivn", "Which pot", "there is no 'forgivn'", "forgiven"),
    "compared mark": ("not marks.forgiven", "marks.forgiven = 1", "Which pot", "it is so or not", ""),
    "mark is no id": ("sets: [ashamed]", "sets: [Ashamed]", "Ashamed", "an id made of", ""),
    "mark by chance": ("I could smell it.", "Hm.", "Hm.", "anybody may say", ""),
    "goal of a hearer": ("hour >= 6]", "hearer]", "to be forgiven", "there is no 'hearer'", ""),
    "goal that never counts": ("hour >= 6]", "hour > 23]", "to be forgiven", "the goal never counts", ""),
    "unknown once": ("once: ever", "once: never", "I burned", "ever or hearer", "ever"),
    "when as text": ("when: [not home, act != ask]", "when: not home", "could smell", "a list", ""),
    "unknown key": ("only_to: [jonas]", "onlyto: [jonas]", "I burned", 'the key "onlyto" means nothing', "only_to"),
}  # fmt: skip


@pytest.mark.parametrize("case", MISTAKES)
def test_a_mistake_in_when_a_line_is_said_is_named_on_its_line(case: str) -> None:
    old, new, at, words, near = MISTAKES[case]
    text, found = _mistakes(old, new)
    assert len(found) == 1, report(found)
    assert found[0].line == line_of(text, at)
    assert words in found[0].what or words in found[0].expected, report(found)
    assert found[0].nearest == near
    assert found[0].expected


def test_mistakes_in_a_rule_are_named_and_its_words_stand_nowhere_else() -> None:
    rule = "rules:\n  - {when: [act = complian], who: [jonah], says: [I left the stove on.]}\n"
    found = check(read(LINES + "\n" + rule, "lines.yaml"))
    assert sorted(one.nearest for one in found) == ["", "complain", "jonas"]
    assert 'under other conditions at "rules"' in report(found)


def test_a_mark_that_nothing_sets_is_a_mistake() -> None:
    found = check(read(LINES.replace(", sets: [forgiven]", ""), "lines.yaml"))
    assert [one.what for one in found] == [f"there is no 'forgiven' in '{one}marks.forgiven'" for one in ("", "not ")]
    text = DRAFT.replace("age: 41", "age: 41\n    goals: [{want: peace, when: [marks.forgiven]}]")
    assert "the file defines none yet" in report(check(read(text, "lines.yaml")))
    rule = "rules: [{when: [hour > 1], says: [All is forgiven.], sets: [forgiven]}]\n"
    assert check(read(LINES.replace(", sets: [forgiven]", "") + "\n" + rule, "lines.yaml")) == []


def test_lines_that_come_after_each_other_in_a_circle_can_never_be_said() -> None:
    _, found = _mistakes("once: ever,", "once: ever, after: [3],")
    assert found == []
    text = LINES.replace("once: ever,", "once: ever, after: [3],").replace(
        "[people.jonas", "[hour < 9], after: [2], x: ["
    )
    text = re.sub(r"when: \[hour < 9\], after: \[2\], x: \[[^\]]*\]", "after: [2]", text)
    circle = check(read(text, "lines.yaml"))
    assert [one.what for one in circle] == ["the line would have to be heard before itself"] * 3


def test_the_same_words_under_other_conditions_are_a_mistake() -> None:
    _, found = _mistakes("say: It was the best pot.", "say: I left the stove on.")
    assert [one.what for one in found] == ['the same words stand under other conditions at "mira"']


@pytest.mark.parametrize("stage", ["duet", "panel"])
def test_a_stage_that_does_not_look_at_conditions_refuses_them(stage: str) -> None:
    told = {
        one.line
        for one in check(read(f"stage: {stage}\n{LINES}", "lines.yaml"))
        if "looks at no conditions" in one.what
    }
    assert told == {
        line_of(LINES, words) + 1
        for words in ("to be forgiven", "I burned", "I left", "It was the", "I could", "Which pot")
    }


def test_of_a_character_that_is_misshapen_no_second_mistake_is_made() -> None:
    text = LINES.replace("name: Jonas Weber", "name: 12")
    assert len(check(read(text, "lines.yaml"))) == 1


def test_somebody_who_comes_later_has_no_conditions() -> None:
    scenario = compiled_from_text(DRAFT, "draft.yaml")
    line = {"say": "I walked here.", "when": ["hearer.id = mira"], "only_to": ["mira"]}
    given: dict[str, Any] = {
        "id": "kim", "name": "Kim Oh", "age": 20, "traits": ["shy"], "home": "shed",
        "routine": [{"at": f"{hour:02}:00", "do": do, "place": "shed"}
                    for hour, do in ((7, "waking"), (8, "digging"), (12, "eating"), (14, "resting"), (22, "sleeping"))],
        "memories": [{"text": "Kim Oh walked a whole day.", "tell": [line]}],
    }  # fmt: skip
    with pytest.raises(UsageError, match="the lines of somebody who comes later have no conditions"):
        newcomer(given, scenario)
    wrong = deepcopy(given)
    wrong["memories"][0]["tell"][0]["when"] = ["hearer.id = mirra"]
    with pytest.raises(UsageError, match="is never 'mirra'"):
        newcomer(wrong, scenario)
    clash = deepcopy(given)
    clash["memories"][0]["tell"][0]["say"] = "I burned the broth."
    with pytest.raises(UsageError, match="the same words stand under other conditions"):
        newcomer(clash, scenario)


PAGE = (Path(__file__).parents[2] / "docs" / "lines.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```yaml\n# (\w+), in (\w+)\n(.*?)```", PAGE, re.DOTALL)


def test_the_page_has_lines_in_both_languages() -> None:
    assert {town for _, town, _ in EXAMPLES} == {"latticeville", "sijang"}
    assert sum(len(re.findall("when:|only_to:|after:|once:", block)) > 0 for *_, block in EXAMPLES) == len(EXAMPLES)


@pytest.mark.parametrize("town", ["latticeville", "sijang"])
def test_the_lines_of_the_page_can_be_pasted_into_a_town(town: str) -> None:
    written = files("commonplace.scenarios").joinpath(f"{town}.yaml").read_text(encoding="utf-8")
    for who, where, block in EXAMPLES:
        if where == town:
            at = written.index("    memories:\n", written.index(f"  - id: {who}\n    name:")) + len("    memories:\n")
            written = written[:at] + "".join(f"      {line}\n" for line in block.splitlines()) + written[at:]
    assert check(read(written, "town.yaml")) == []
    terms = compiled_from_text(written, "town.yaml").terms
    assert len(terms) >= 5


GOAL_EXAMPLES = re.findall(r"```yaml\n# (\w+), in (\w+): goals\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize(("who", "town", "block"), GOAL_EXAMPLES)
def test_the_goals_of_the_page_can_be_those_of_a_character(who: str, town: str, block: str) -> None:
    document = yaml.safe_load(files("commonplace.scenarios").joinpath(f"{town}.yaml").read_text(encoding="utf-8"))
    character = next(one for one in document["characters"] if one["id"] == who)
    character |= yaml.safe_load(block)
    lines = [block for name, _, block in EXAMPLES if name == who]
    character["memories"] += [memory for block in lines for memory in yaml.safe_load(block)]
    text = yaml.safe_dump(document, allow_unicode=True)
    assert check(read(text, "town.yaml")) == []
    persona = compiled_from_text(text, "town.yaml").personas[who]
    assert len(persona.goals) == len(persona.goals_when) + 1 == 3


def test_a_goal_without_conditions_is_written_as_its_words() -> None:
    goals = ["to rest", {"want": "to sing", "when": ["sky = rain"]}]
    part = CharacterPart.model_validate({"id": "a", "name": "A", "age": 3, "traits": ["shy"], "home": "b",
                                         "routine": [], "goals": goals})  # fmt: skip
    assert part.model_dump(mode="json", exclude_defaults=True)["goals"] == goals


# ── files with whatever mistakes ─────────────────────────────────────────────────────────────────────────────────────

PIECES = sorted({*re.findall(r"[a-z_]+|\d+|[<>=!]+|[\[\]{},.:-]", TOLD), *names(Telling), *names(Somebody)})
OTHERS = [
    *PIECES, "", " ", "''", '"', "not", "not not", "=", "=>", "999999999999", "-1", "1.5", "null", "true", "~", "*x",
    "&x", "[[", "{}", "한국", "\u200b", "x" * 300, "\n", "#", "| ", "?", "hour", "things", "people.mira.warmth <",
]  # fmt: skip
AT, END = LINES.index("tell:\n"), LINES.index("  - id: jonas")


@st.composite
def _mutated(draw: st.DrawFn) -> str:
    """The scenario with one to three pieces of its lines gone, doubled, or another piece."""
    told = re.findall(r"[a-z_]+|\d+|[<>=!]+|\s+|.", LINES[AT:END])
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(told) - 1))
        told[at] = draw(st.sampled_from(["", told[at] * 2, *OTHERS]))
    return LINES[:AT] + "".join(told) + LINES[END:]


@given(_mutated())
@examples(3000)
def test_of_any_file_check_says_what_is_wrong_where_and_what_to_do(text: str) -> None:
    found = check(read(text, "lines.yaml"))
    for one in found:
        assert one.what and 1 <= one.line <= text.count("\n") + 1
        says_what_to_do = one.expected or re.search("is missing|a second time|leave it out", one.what)
        assert says_what_to_do or not one.where, report([one])  # without a place: the file is no YAML
        assert "\n" not in one.what
    if not found:  # then it can be run, and each of its conditions is looked at
        for terms in compiled_from_text(text, "lines.yaml").terms.values():
            assert all(one.is_met(_moment()) in (True, False) for one in terms.conditions)


@given(st.lists(st.sampled_from([*PIECES, " ", " ", "."]), min_size=1, max_size=6).map("".join))
@examples(3000)
def test_any_condition_is_read_to_its_end_or_refused_in_words(text: str) -> None:
    try:
        found = condition(text, Telling)
        examine(found, Telling, {"people": ["jonas"], "things": ["stove"]})
    except Misread as refused:
        assert str(refused)
        return
    assert found.is_met(_moment()) in (True, False)


def _moment() -> Telling:
    somebody = Somebody("jonas", "Jonas", 30, 2, 41, "rival", "he")
    return Telling(
        hearer=somebody, people={"jonas": somebody}, things={"stove": Thing("hot")}, place=Place("bar"), home=False,
        alone=True, marks={}, sky="rain", temperature="cool", weekday="sat", day=1, hour=19, hours_ago=3, act="tell",
        topic="pot",
    )  # fmt: skip
