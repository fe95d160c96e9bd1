"""English words in the forms that a sentence needs: verbs in -ing, `a` or `an`."""

from __future__ import annotations

from pathlib import Path

import pytest

from commonplace.languages.en.wording import gerund, polished
from commonplace.languages.language import language

FORMS = Path(__file__).with_name("english_forms.txt")


def forms() -> dict[str, list[str]]:
    """Section of the table → its words."""
    sections: dict[str, list[str]] = {}
    for line in FORMS.read_text(encoding="utf-8").splitlines():
        if line.startswith("== "):
            sections[line[3:]] = []
        elif not line.startswith("#"):
            sections[list(sections)[-1]] += line.split()
    return sections


def test_verbs_double_their_last_letter_where_dictionaries_do() -> None:
    verbs = [entry.split("=") for entry in forms()["verbs"]]
    assert len(verbs) > 600
    wrong = {verb: gerund(verb) for verb, known in verbs if gerund(verb) not in known.split("/")}
    assert wrong == {}


@pytest.mark.parametrize("article", ["a", "an"])
def test_the_article_follows_the_sound(article: str) -> None:
    words = forms()[article]
    assert len(words) > 150
    said = {word: polished(f"That is a {word}.") for word in words}
    assert {word: line for word, line in said.items() if line != f"That is {article} {word}."} == {}


@pytest.mark.parametrize(
    ("phrase", "doing"),
    [
        ("admit it", "admitting it"), ("beg your pardon", "begging your pardon"), ("stir the tea", "stirring the tea"),
        ("open the door", "opening the door"), ("quit", "quitting"), ("tie the boat up", "tying the boat up"),
        ("picnic outside", "picnicking outside"), ("travel home", "travelling home"), ("be here", "being here"),
        ("re-set the clock", "re-setting the clock"), ("double-check the list", "double-checking the list"),
        ("Begin again", "Beginning again"), ("program the lamp", "programming the lamp"), ("mimic it", "mimicking it"),
        ("tar the roof", "tarring the roof"), ("layer the cake", "layering the cake"),
    ],
)  # fmt: skip
def test_a_command_becomes_a_doing(phrase: str, doing: str) -> None:
    assert gerund(phrase) == doing


@pytest.mark.parametrize(
    ("line", "finished"),
    [
        ("a hour ago I had a MRI.", "An hour ago I had an MRI."),
        ("A honest man, a unidentified one, a useful one.", "An honest man, an unidentified one, a useful one."),
        ("plan A and plan B; vitamin A is good", "Plan A and plan B; vitamin A is good"),
        ("In plan A I'm last.", "In plan A I'm last."),
    ],
)
def test_a_finished_line_has_the_right_articles(line: str, finished: str) -> None:
    assert language("en").finished(line) == finished
