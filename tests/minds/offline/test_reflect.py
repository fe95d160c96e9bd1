"""Questions, insights, relations, and sentences from god mode."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from commonplace.languages.en.wording import noun_phrase, taken, turned
from commonplace.minds.notes import Past, PastNote, Recalled, Spoken, ThingHere, changed
from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.hear import content
from commonplace.minds.offline.perceive_event import perceive_event
from commonplace.minds.offline.reflect import insights, questions, relate
from commonplace.minds.tasks import Evidence, InsightsInput, PerceiveEventInput, QuestionsInput, RelateInput
from commonplace.parts.duet.talk import duet_turn
from commonplace.parts.duet.tasks import DuetInput
from commonplace.world.happenings import Seed
from minds.offline import sample
from sizes import examples

DICE = Dice((7, "mira", 12, 0))


@examples(300)
@given(
    st.lists(st.integers(1, 60), min_size=3, max_size=30, unique=True).flatmap(
        lambda ids: st.tuples(*map(sample.memories, ids))
    )
)
def test_insights_cite_two_memories_and_restate_none(recalled: tuple[Recalled, ...]) -> None:
    given_ = InsightsInput(
        who=sample.mira("kind"),
        situation=sample.here(),
        evidence=(Evidence(question="?", recalled=recalled),),
        known=(sample.jun(),),
    )
    found = insights(given_, DICE).insights
    by_id = {memory.id: memory for memory in recalled}
    for insight in found:
        own = content(insight.text)
        assert len(insight.because) >= 2 and set(insight.because) <= set(by_id)
        assert all(len(own & content(by_id[one].text)) <= len(own) / 2 for one in insight.because)
        assert insight.text[0].isupper() and insight.text[-1] == "." and "{" not in insight.text
    again = insights(changed(given_, earlier=tuple(one.text for one in found)), DICE).insights
    assert not {one.text for one in again} & {one.text for one in found}


def test_seeing_somebody_at_one_thing_again_and_again_means_something() -> None:
    recalled = tuple(
        sample.doing(n, "kit", f"{verb} the drone", 60 * n)
        for n, verb in enumerate(("mending", "testing", "oiling"), 1)
    )
    given_ = InsightsInput(
        who=sample.mira(), situation=sample.here(), evidence=(Evidence(question="?", recalled=recalled),)
    )
    found = insights(given_, DICE).insights
    assert any(one.about == "kit" and one.frame.get("place") == "workshop" for one in found)


ROOF = InsightsInput(
    who=sample.mira(), situation=sample.here(), evidence=(), known=(sample.jun(),),
    past=Past(
        notes=(
            PastNote(
                kind="kept", other="jun", called="Jun", act="help", topic="the window", named="the window", text="",
                minutes_ago=60, times=1, because=(4, 5),
            ),
        ),
        said=(), lately=(),
    ),
)  # fmt: skip
"""Something to reflect on: Jun has kept his word."""


def shares() -> tuple[int, dict[int, str]]:
    """How many telling words the insight on Jun's word has, and texts that hold one of them, two, and so on."""
    (found,) = insights(ROOF, DICE).insights
    telling = sorted(content(found.text))
    texts = {number: " ".join(telling[:number]) for number in range(1, len(telling) + 1)}
    assert all(len(content(text)) == number for number, text in texts.items())
    return len(telling), texts


def test_an_insight_of_the_past_restates_nothing_that_was_heard_today() -> None:
    (found,) = insights(ROOF, DICE).insights
    heard = Recalled(id=5, text=f"Jun says: “{found.text}”", kind="observation", importance=3, minutes_ago=60)
    assert insights(changed(ROOF, recent=(heard,)), DICE).insights == ()


def test_an_insight_restates_a_memory_that_holds_more_than_half_of_its_words() -> None:
    count, texts = shares()
    for number, text in texts.items():
        heard = Recalled(id=5, text=text, kind="observation", importance=3, minutes_ago=60)
        found = insights(changed(ROOF, recent=(heard,)), DICE).insights
        assert bool(found) == (2 * number <= count), text


def test_an_insight_is_an_earlier_one_again_where_seven_in_ten_of_its_words_are_the_same() -> None:
    count, texts = shares()
    for number, text in texts.items():
        found = insights(changed(ROOF, earlier=(text,)), DICE).insights
        assert bool(found) == (10 * number < 7 * count), text


def test_what_is_theirs_is_named_by_a_pronoun_beside_their_name() -> None:
    row = PastNote(
        kind="heard", other="jun", called="Jun", act="tell", topic="roof", named="my roof", text="",
        minutes_ago=60, times=1, because=(4, 5),
    )  # fmt: skip
    given_ = InsightsInput(
        who=sample.mira(), situation=sample.here(), evidence=(), known=(sample.jun(),),
        past=Past(notes=(row,), said=(), lately=()),
    )  # fmt: skip
    (found,) = insights(given_, DICE).insights
    assert "his roof" in found.text.lower() and "Jun's" not in found.text
    assert "Jun's roof" in found.frame["you"], "said to Jun it is turned into `your roof`"


def test_questions_are_about_what_fills_the_memories() -> None:
    recent = tuple(sample.doing(n, "kit", "repairing a drone", n) for n in range(1, 9))
    asked = questions(QuestionsInput(who=sample.mira(), situation=sample.here(), recent=recent), DICE).questions
    assert len(asked) == 3 and any("Kit" in one for one in asked) and all(one.endswith("?") for one in asked)
    assert len(questions(QuestionsInput(who=sample.mira(), situation=sample.here(), recent=()), DICE).questions) == 3


def related(*texts: str, warmth: int = 20) -> int:
    lines = tuple(Spoken(speaker="jun", called="Jun", text=text) for text in texts)
    answer = relate(
        RelateInput(who=sample.mira(), situation=sample.here(), other=sample.jun(warmth), lines=lines), DICE
    )
    assert answer.summary.startswith("Jun, ") and "  " not in answer.summary
    return answer.warmth_change


def test_warmth_follows_the_tone() -> None:
    assert related("Thank you, that was lovely.") > related("The tram is late.") > 0 > related("Is that all?")
    assert related("Thank you.", warmth=99) <= 1


def test_a_god_sentence_reaches_the_right_people() -> None:
    given_ = PerceiveEventInput(
        text="the power goes out in Mira's Noodle Bar", areas=sample.PLACES, people=(sample.jun(),),
        things=(ThingHere(id="sign", name="neon sign", state="lit"), ThingHere(id="lamp", name="lamp", state="lit")),
        states={"sign": ("lit", "dark"), "lamp": ("lit", "dark")}, located={"sign": "bar", "lamp": "loft"},
    )  # fmt: skip
    seen = perceive_event(given_, DICE)
    assert seen.areas == ("bar",) and not seen.everybody and seen.sets == (("sign", "dark"),)
    assert seen.percept == "The power goes out in Mira's Noodle Bar."
    assert perceive_event(changed(given_, text="Jun hears a bell."), DICE).people == ("jun",)
    assert perceive_event(changed(given_, text="Jun sings, and everybody hears it"), DICE).everybody
    assert perceive_event(changed(given_, text="It smells of snow"), DICE).everybody


def test_a_duet_rests_on_memories_and_on_the_line_before() -> None:
    tell = sample.memory(2, "Seed", tell=sample.TELLS[:1], happening=Seed(topic="broth"))
    first = duet_turn(DuetInput(who=sample.mira(), other=sample.jun(), goal="", setting="", recalled=(tell,)), DICE)
    assert sample.TELLS[0] in first.utterance and first.because == (2,) and first.plan
    lines = (Spoken(speaker="jun", called="Jun", text="How are you?"),)
    second = duet_turn(
        DuetInput(who=sample.mira(), other=sample.jun(), goal="", setting="", lines=lines, recalled=(tell,)), DICE
    )
    assert second.utterance and second.utterance != first.utterance and 0 not in second.because


def test_words_are_taken_up_by_somebody_else() -> None:
    assert taken("looking for her keys", "she", "my") == "looking for my keys"
    assert taken("talking to himself about his kite", "he", "your") == "talking to yourself about your kite"
    assert noun_phrase("I still owe Kit for the battery.") == "the battery"
    assert turned(noun_phrase("My roof leaks.")) == "your roof" and turned("my roof", my="Jun's") == "Jun's roof"
