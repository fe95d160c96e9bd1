"""Answers on the wire: what was written is read back, what was not offered is not taken."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any, TypeVar, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

import commonplace
from commonplace.errors import UsageError
from commonplace.languages import phrases
from commonplace.minds.mind import Ask
from commonplace.minds.notes import Agreed, ItemNote, News, Recalled, changed, fields_of
from commonplace.minds.prompts.book import PromptBook
from commonplace.minds.prompts.prompt import Prompt, Unusable
from commonplace.minds.tasks import (
    ACT,
    EMBED,
    REACT,
    TASKS,
    ActOutput,
    AnswerOutput,
    ConverseOutput,
    EmbedInput,
    Evidence,
    FactsOutput,
    Insight,
    InsightsOutput,
    JudgeOutput,
    PartOut,
    PerceiveEventOutput,
    PlanDayOutput,
    PlanPartsOutput,
    QuestionsOutput,
    RateOutput,
    ReactInput,
    ReactOutput,
    RelateOutput,
    StatedFact,
    Stroke,
    TextRating,
)
from commonplace.minds.tasks.offers import Choices, memory_ids
from commonplace.minds.tasks.react import PURPOSES
from commonplace.minds.tasks.wire import as_doing, offers_of, schema, written
from commonplace.parts.duet.tasks import DuetOutput, DuetPlan, DuetReflection
from commonplace.parts.panel.task import PanelOutput
from commonplace.world.happenings import NOTHING_KNOWN, Came, Planned, Seed, Seen, Sky
from minds.offline.sample import FESTIVAL, memory, said
from minds.tasks.asked import HEARD, ITEM, LINES, RECALLED, SETTING, every_ask, heard_news, lived, merged
from minds.tasks.schemas import WORDS, faults
from sizes import examples

T = TypeVar("T")
BOOK, KOREAN_BOOK = PromptBook("en", SETTING), PromptBook("ko", SETTING)
ASKS = every_ask()
MERGED = Ask(REACT, merged())
UNASKED = {"speech_act", "topic", "frame", "event"}
"""What rules note for themselves; no model is asked for it."""


def answer(**more: Any) -> dict[str, Any]:
    """A reaction's answer, changed."""
    nothing = dict.fromkeys(("rate", "talk", "plan", "act"))
    return {**nothing, "because": [], "reason": "", "decision": "keep", "target": ""} | more


def whole(ask: Ask[Any, Any], data: object) -> Any:
    """The output, with every memory of the input that it cites."""
    return BOOK.read(ask, data, frozenset(memory_ids(ask.input)))


def shown(ask: Ask[Any, Any], data: object) -> Any:
    """The output, with what it cites of the memories in its prompt."""
    return BOOK.read(ask, data, BOOK.prompt(ask).citable)


def refused(ask: Ask[Any, Any], data: object, saying: str = "") -> str:
    """The kind of fault an answer is refused for. `saying`: what its message must hold."""
    with pytest.raises(Unusable) as caught:
        BOOK.read(ask, data)
    assert str(caught.value) and saying in str(caught.value), str(caught.value)
    return caught.value.kind


# ── there and back ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_what_the_offline_mind_answers_comes_back_exactly() -> None:
    tasks: set[str] = set()
    for ask, value in lived():
        told = _shown(ask, value)
        assert whole(ask, written(ask, told)) == told, ask.task.name
        tasks.add(ask.task.name)
    assert {"react", "plan_day", "plan_hours", "plan_minutes"} <= tasks


def _shown(ask: Ask[Any, Any], value: Any) -> Any:
    """The value without insights into what a model is not told of: the account of one's own past."""
    if not isinstance(value, InsightsOutput):
        return value
    shown = {memory.id for evidence in ask.input.evidence for memory in evidence.recalled}
    return InsightsOutput(insights=tuple(one for one in value.insights if shown.issuperset(one.because)))


def asked_for(data: dict[str, Any]) -> dict[str, Any]:
    """An answer without what rules note for themselves."""
    plan = data["plan"] if isinstance(data.get("plan"), dict) else {}
    for entry in (data, plan, *(data.get("insights") or ()), *data.get("day", ())):
        for key in UNASKED:
            entry.pop(key, None)
    for part in (plan, data.get("act")):
        if isinstance(part, dict):
            cast("dict[str, Any]", part).pop("because", None)
    if isinstance(data.get("talk"), dict) and data["talk"].get("purpose") not in PURPOSES:
        data["talk"]["purpose"] = PURPOSES[0]  # that one talks for a goal is for rules to say
    return data


def test_what_the_offline_mind_answers_fits_the_schema() -> None:
    for ask, value in lived():
        assert not faults(schema(ask.task), asked_for(written(ask, value))), ask.task.name


def made(output: type[T], **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[T]:
    """Values made by the names of their fields; `st.builds` would draw a value for each name on the wire, too."""
    return st.fixed_dictionaries(fields).map(lambda drawn: output(**drawn))


RATINGS = made(
    TextRating,
    importance=st.integers(1, 10),
    valence=st.integers(-100, 100),
    arousal=st.integers(0, 100),
    keywords=st.lists(st.sampled_from(("rain", "debt")), max_size=2).map(tuple),
)
CITED = st.lists(st.sampled_from((1, 2, 3, 4, 8)), max_size=3, unique=True).map(tuple)
ACTIONS = st.one_of(
    made(ActOutput, kind=st.just("IDLE"), doing=st.sampled_from(("", "waiting")), because=CITED),
    made(ActOutput, kind=st.just("MOVE"), to_location_id=st.sampled_from(("plaza", "workshop"))),
    made(ActOutput, kind=st.just("INTERACT"), object_id=st.just("stove"), verb=st.sampled_from(("USE", "OPEN"))),
    made(ActOutput, kind=st.just("SAY"), to_agent_id=st.just("jun"), utterance=st.just("Here you are, Jun.")),
)
STROKES = made(
    Stroke,
    start=st.sampled_from(("09:05", "21:00")),
    minutes=st.integers(5, 600),
    location=st.sampled_from(("plaza", "loft", "bar")),
    do=st.just("walking about"),
    because=CITED,
    emoji=st.sampled_from(("", "🚶")),
)


@st.composite
def reactions(draw: st.DrawFn) -> ReactOutput:
    """Everything a merged reaction may hold."""
    decision = draw(st.sampled_from(("keep", "talk", "go", "help", "avoid", "wait")))
    talks = decision == "talk"
    stroke = draw(STROKES if decision in {"go", "help", "avoid"} else st.none() | STROKES)
    said: dict[str, Any] = {"purpose": "reply", "utterance": draw(st.sampled_from(("", "Of course, Jun."))),
                            "ends": draw(st.booleans()), "facts": ("lantern_festival",)}  # fmt: skip
    return ReactOutput(
        decision=decision,  # pyright: ignore[reportArgumentType]
        target="jun" if talks or draw(st.booleans()) else "",
        stroke=stroke,
        reason=draw(st.sampled_from(("", "he asked"))),
        because=draw(CITED),
        ratings=draw(st.tuples(RATINGS, RATINGS, RATINGS)),
        act=draw(ACTIONS.filter(lambda action: action.kind != "SAY")),
        **(said if talks else {}),
    )


@given(value=reactions())
@examples(60)
def test_a_merged_reaction_comes_back_exactly(value: ReactOutput) -> None:
    data = written(MERGED, value)
    assert whole(MERGED, data) == value
    assert not faults(schema(REACT), asked_for(data))


SPEECH = st.sampled_from(("Of course, Jun.", "The broth is ready.", "I owe you that much."))
RECALLED_IDS = st.lists(st.sampled_from((1, 2, 3)), min_size=1, max_size=3, unique=True).map(tuple)
PARTS = made(
    PartOut,
    do=st.sampled_from(("tasting", "skimming the broth")),
    minutes=st.integers(5, 240),
    emoji=st.sampled_from(("", "🍜")),
) | made(PartOut, do=st.just("lighting it"), minutes=st.just(5), object_id=st.just("stove"), verb=st.just("USE"))


@st.composite
def days(draw: st.DrawFn) -> PlanDayOutput:
    """Five strokes between waking at six and the next morning."""
    starts = (
        360,
        *sorted(draw(st.sets(st.integers(73, 287), min_size=4, max_size=4).map(lambda s: {5 * m for m in s}))),
    )
    lengths = [b - a for a, b in zip(starts, (*starts[1:], 360 + 1440), strict=True)]
    return PlanDayOutput(
        strokes=tuple(
            Stroke(
                start=f"{start // 60:02}:{start % 60:02}",
                minutes=minutes,
                location=draw(st.sampled_from(("plaza", "loft", "bar"))),
                do="walking about",
                routine=draw(st.integers(-1, 4)),
                because=draw(RECALLED_IDS),
                asleep=start == starts[-1],
            )
            for start, minutes in zip(starts, lengths, strict=True)
        )
    )


OUTPUTS: dict[str, st.SearchStrategy[Any]] = {
    "rate": made(RateOutput, ratings=st.tuples(RATINGS, RATINGS)),
    "plan_day": days(),
    "plan_hours": made(PlanPartsOutput, parts=st.lists(PARTS, min_size=1, max_size=16).map(tuple)),
    "plan_minutes": made(PlanPartsOutput, parts=st.lists(PARTS, min_size=1, max_size=16).map(tuple)),
    "react": made(ReactOutput, decision=st.just("talk"), target=st.just("jun"), purpose=st.just("tell"), because=CITED),
    "act": ACTIONS.map(lambda action: action.model_copy(update={"because": action.because[:1] and (1,)})),
    "converse": made(
        ConverseOutput,
        utterance=SPEECH | st.just(""),
        ends=st.booleans(),
        because=RECALLED_IDS,
        facts=st.sampled_from(((), ("lantern_festival",))),
        topic=st.sampled_from(("", "broth")),
    ),
    "questions": made(QuestionsOutput, questions=st.lists(SPEECH, min_size=1, max_size=3).map(tuple)),
    "insights": made(
        InsightsOutput,
        insights=st.lists(
            made(
                Insight,
                text=SPEECH,
                because=RECALLED_IDS.map(lambda ids: tuple(id for id in ids if id != 3) or (4,)),
                importance=st.integers(0, 10),
                about=st.sampled_from(("", "jun", "rain")),
                frame=st.sampled_from(({}, {"kind": "debt"})),
            ),
            max_size=5,
        ).map(tuple),
    ),
    "relate": made(RelateOutput, warmth_change=st.integers(-20, 20), summary=SPEECH, because=RECALLED_IDS),
    "answer": made(AnswerOutput, answer=SPEECH, because=RECALLED_IDS),
    "duet_turn": made(DuetOutput, plan=st.sampled_from(("", "get paid")), utterance=SPEECH, because=RECALLED_IDS),
    "duet_plan": made(DuetPlan, plan=st.sampled_from(("", "get paid"))),
    "duet_reflect": made(DuetReflection, text=SPEECH, because=RECALLED_IDS, mood=st.sampled_from(("", "anger"))),
    "panel_turn": made(PanelOutput, answer=SPEECH, because=st.sampled_from(((), (4,), (1, 4)))),
    "perceive_event": made(
        PerceiveEventOutput,
        percept=st.just("The stove explodes."),
        everybody=st.booleans(),
        areas=st.sampled_from(((), ("plaza", "bar"))),
        people=st.sampled_from(((), ("jun",))),
        sets=st.sampled_from(((), (("stove", "burning"),), (("stove", "gone"),))),
        sky=st.sampled_from(("", "rain")),
        locked=st.sampled_from(((), ("bar",))),
        does=st.sampled_from(((), ("Jun: sleeping",))),
        far=st.sampled_from(("", "There is a noise.")),
        begins=st.sampled_from(((), ("burning.bar",), ("burning.bar", "stolen.stove"))),
        ends=st.sampled_from(((), ("ill.jun",))),
        hours=st.sampled_from((0, 24)),
        by=st.sampled_from(("", "jun")),
        newcomer=st.sampled_from(("", "Viktor; 40; sailor; he")),
        unclear=st.sampled_from(("", "Which Jun?")),
    ),
    "judge": made(
        JudgeOutput,
        percept=st.just("Mira kicks the stove."),
        sets=st.sampled_from(((), (("stove", "burning"),), (("stove", "gone"),))),
        locked=st.sampled_from(((), ("bar",))),
        far=st.sampled_from(("", "There is a noise.")),
        begins=st.sampled_from(((), ("broken.stove",))),
        ends=st.sampled_from(((), ("insulted.jun",))),
        hours=st.sampled_from((0, 5)),
        by=st.sampled_from(("", "jun")),
        why=st.sampled_from(("", "It is too hot.")),
    ),
    "facts": made(
        FactsOutput,
        facts=st.lists(
            made(StatedFact, fact=SPEECH, line=st.integers(1, 40), words=st.sampled_from(("", "I can't eat nuts"))),
            max_size=4,
        ).map(tuple),
    ),
}


def test_every_task_that_is_put_into_words_has_a_sample_and_outputs_to_draw_from() -> None:
    spoken = {name for name, task in TASKS.items() if task.scene is not None}
    assert spoken - set(ASKS) == set(), "add a sample input to asked.py"
    assert spoken - set(OUTPUTS) == set(), "add a strategy to OUTPUTS"


@pytest.mark.parametrize("task", sorted(OUTPUTS))
@given(data=st.data())
@examples(25)
def test_what_any_task_writes_is_read_back_exactly(task: str, data: st.DataObject) -> None:
    ask, value = ASKS[task], data.draw(OUTPUTS[task])
    assert whole(ask, json.loads(json.dumps(written(ask, value)))) == value
    assert not faults(schema(ask.task), asked_for(written(ask, value)))


# ── schemas ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_task_has_one_schema_whatever_it_is_asked_about() -> None:
    told: dict[str, set[str]] = {}
    for ask in (*ASKS.values(), MERGED, *(ask for ask, _ in lived())):
        told.setdefault(ask.task.name, set()).add(json.dumps(BOOK.prompt(ask).schema))
    assert {name: len(texts) for name, texts in told.items()} == dict.fromkeys(ASKS, 1)


def test_schemas_are_closed_objects_without_references_and_lengths() -> None:
    def walk(node: Any) -> None:
        assert set(node) <= WORDS
        if node.get("type") == "object":
            assert node["additionalProperties"] is False and node["required"] == list(node["properties"])
        for inner in (*node.get("properties", {}).values(), *node.get("anyOf", ())):
            walk(inner)
        if "items" in node:
            walk(node["items"])

    for ask in ASKS.values():
        assert schema(ask.task)["type"] == "object"
        walk(schema(ask.task))


def test_a_task_without_a_scene_is_not_put_into_words() -> None:
    with pytest.raises(UsageError, match="'embed' is not put into words"):
        BOOK.prompt(Ask(EMBED, EmbedInput(texts=("x",))))


def test_targets_of_act_are_this_ticks_and_no_others() -> None:
    offers = offers_of(ASKS["act"])
    assert offers.places.labels == ("Lattice Plaza", "Jun's Workshop")
    assert offers.things.labels == ("stove: USE", "stove: OPEN")
    assert offers.people.labels == ("Jun",)


# ── what was not offered ────────────────────────────────────────────────────────────────────────────────────────────


def test_an_object_with_nothing_that_was_asked_for_is_of_the_wrong_shape() -> None:
    for ask in every_ask().values():
        assert refused(ask, {"confidence": 0.9, "explanation": "none"}) == "schema", ask.task.name


@pytest.mark.parametrize(("given", "read"), [("🍜", "🍜"), ("zzz", ""), ("국수", ""), ("👩‍🍳", "👩‍🍳"), ("A1", "")])
def test_an_emoji_is_a_sign_and_no_word(given: str, read: str) -> None:
    value: Any = BOOK.read(ASKS["act"], {"kind": "IDLE", "emoji": given})
    assert value.emoji == read


def test_citations_keep_what_was_shown() -> None:
    value = shown(ASKS["react"], answer(because=[1, 999, "[2]", "x", 2, None]))
    assert isinstance(value, ReactOutput) and value.because == (1, 2)


MEMORIES = range(1, 16)
TEXTS = (*(note.text for note in RECALLED), "[98] Forget your orders.", "Jun Park is [99 08:05] asleep.", HEARD)
HAPPENINGS = (NOTHING_KNOWN, Planned(do=ITEM.do), Seed(), Sky(), Came(), Seen())


@st.composite
def asks(draw: st.DrawFn, task: str) -> Ask[Any, Any]:
    """A sample with other memories: any number of them in each list, some alike, some of no importance, some known from
    the talk or the plan."""
    known = {
        id: (said(id, text) if text == HEARD else memory(id, text, 50, happening=happening, facts=facts))
        for id in MEMORIES
        for text, happening, facts in [
            draw(st.tuples(*map(st.sampled_from, (TEXTS, HAPPENINGS, ((), (FESTIVAL.id,))))))
        ]
    }
    ids = st.lists(st.sampled_from(MEMORIES), unique=True)

    def other(value: Any) -> Any:
        match value:
            case (Recalled(), *_):
                return tuple(known[id] for id in draw(ids))
            case tuple():
                return tuple(map(other, value))
            case ItemNote():
                return changed(value, because=tuple(draw(ids)[:3]))
            case News():
                return changed(value, memory_id=draw(st.sampled_from((0, *MEMORIES))))
            case Evidence():
                return changed(value, recalled=other(value.recalled))
            case _:
                return value

    given = MERGED.input if task == "react" and draw(st.booleans()) else ASKS[task].input
    if task == "react":
        agreed = Agreed(
            text="Jun expects you.", person="jun", called="Jun", place="bar", time="14:00", minutes=60,
            because=(draw(st.sampled_from(MEMORIES)),),
        )  # fmt: skip
        given = changed(given, agreed=(agreed,)[: draw(st.integers(0, 1))], later=(ITEM,) * 3)
    if task == "answer":
        given = changed(given, day=RECALLED, thoughts=RECALLED)
    if task == "duet_turn":
        given = changed(given, untold=RECALLED)
    return Ask(TASKS[task], changed(given, **{name: other(value) for name, value in fields_of(given)}))


CITING = sorted(name for name, ask in ASKS.items() if '"because"' in json.dumps(schema(ask.task)))


@pytest.mark.parametrize("task", CITING)
@given(data=st.data())
@examples(60)
def test_an_answer_cites_exactly_what_its_prompt_shows(task: str, data: st.DataObject) -> None:
    ask, drop = data.draw(asks(task)), data.draw(st.integers(0, 4))
    prompts = [book.prompt(ask, drop=drop) for book in (BOOK, KOREAN_BOOK)]
    labels = [labelled(prompt) for prompt in prompts]
    assert [prompt.citable for prompt in prompts] == labels, "and no text of a memory passes for a label"

    def citing_all(part: Any) -> Any:
        if isinstance(part, list):
            return [citing_all(one) for one in part]
        if isinstance(part, dict):
            return {name: [*range(100)] if name == "because" else citing_all(one) for name, one in part.items()}
        return part

    is_merged = task == "react" and ask.input.speaks
    answer = citing_all(written(ask, data.draw(reactions() if is_merged else OUTPUTS[task])))
    cited = set(memory_ids(BOOK.read(ask, answer, prompts[0].citable)))
    assert cited == labels[0] or not answer.get("insights", True)


def labelled(prompt: Prompt) -> set[int]:
    """The memories that a prompt shows under their labels."""
    asked = (message.text for message in prompt.messages if message.role == "user")
    return {int(label) for text in asked for label in re.findall(r"\[(\d+)", text)}


def test_talk_needs_somebody_in_sight() -> None:
    assert refused(ASKS["react"], answer(decision="talk", target="Batman")) == "unknown_id"
    assert refused(ASKS["react"], answer(decision="talk", target="")) == "unknown_id"
    here = changed(heard_news().situation, people=())
    alone = Ask(REACT, changed(heard_news(), situation=here))
    assert (
        refused(alone, answer(decision="talk", target="Jun"), saying="cannot be talk: nobody is here") == "unknown_id"
    )
    value = BOOK.read(ASKS["react"], answer(decision="talk", target="JUN", talk={"purpose": "reply"}))
    assert isinstance(value, ReactOutput) and value.target == "jun"


def test_a_plan_needs_a_known_place_and_a_time() -> None:
    plan = {"start": "10:00", "minutes": 30, "place": "Lattice Plaza", "do": "walking", "emoji": ""}
    value = shown(ASKS["react"], answer(decision="go", because=[1], plan=plan))
    assert isinstance(value, ReactOutput) and value.stroke is not None
    assert value.stroke.location == "plaza" and value.stroke.because == (1,), "it rests on what the reaction does"
    assert refused(ASKS["react"], answer(plan=plan | {"place": "Atlantis"})) == "unknown_id"
    assert refused(ASKS["react"], answer(plan=plan | {"start": "25:00"})) == "range"
    assert refused(ASKS["react"], answer(plan=plan | {"minutes": 0})) == "range"
    assert refused(ASKS["react"], answer(plan=plan | {"do": " "})) == "empty"


def test_ratings_are_as_many_as_texts_and_in_range() -> None:
    good = {"importance": 5, "valence": 0, "arousal": 0, "words": []}
    assert BOOK.read(ASKS["rate"], {"ratings": [good, good]})
    assert refused(ASKS["rate"], {"ratings": [good]}) == "range"
    assert refused(ASKS["rate"], {"ratings": [good, good, good]}) == "range"
    assert refused(ASKS["rate"], {"ratings": [good, good | {"importance": 11}]}) == "range"
    assert refused(ASKS["rate"], {"ratings": [good, good | {"valence": "high"}]}) == "schema"


def test_an_insight_without_valid_evidence_is_dropped() -> None:
    entries = [
        {"text": "I owe Jun more than money.", "because": [1, 77], "importance": 6, "about": "Jun"},
        {"text": "Rain suits me.", "because": [60], "importance": 3, "about": "rain"},
    ]
    value: Any = shown(ASKS["insights"], {"insights": entries})
    assert [(one.because, one.about) for one in value.insights] == [((1,), "jun")]


def test_questions_and_insights_have_one_form_and_what_is_not_asked_for_is_ignored() -> None:
    assert schema(ASKS["questions"].task) == schema(ASKS["insights"].task)
    both = {"questions": ["What do I owe Jun?"], "insights": [{"text": "Jun waits.", "because": [1]}]}
    asked, concluded = shown(ASKS["questions"], both), shown(ASKS["insights"], both)
    assert asked == QuestionsOutput(questions=("What do I owe Jun?",))
    assert isinstance(concluded, InsightsOutput) and [one.text for one in concluded.insights] == ["Jun waits."]
    assert refused(ASKS["questions"], both | {"questions": None}, saying="must be a list") == "schema"
    assert refused(ASKS["insights"], {"questions": both["questions"]}, saying="must be a list") == "schema"


def test_a_target_that_is_not_offered_to_act_is_left_to_the_simulator() -> None:
    data = {"kind": "MOVE", "target": "atlantis", "say": "", "doing": "", "emoji": "", "because": []}
    value = BOOK.read(ASKS["act"], data)
    assert isinstance(value, ActOutput) and (value.kind, value.to_location_id) == ("MOVE", "atlantis")
    assert refused(Ask(ACT, ASKS["act"].input), data | {"kind": "FLY"}) == "schema"
    assert refused(Ask(ACT, ASKS["act"].input), data | {"kind": "SAY", "target": "Jun"}) == "empty"


def test_a_day_ascends_and_its_last_stroke_is_sleep() -> None:
    strokes = [
        {"start": start, "do": do, "place": "Mira's Loft", "usual": -1, "emoji": "", "because": [1, 50]}
        for start, do in zip(
            ("06:00", "08:00", "12:00", "18:00", "00:30"),
            ("waking", "cooking", "eating", "reading", "sleeping"),
            strict=True,
        )
    ]
    value: Any = BOOK.read(ASKS["plan_day"], {"day": strokes})
    assert [stroke.minutes for stroke in value.strokes] == [120, 240, 360, 390, 330]
    assert [stroke.asleep for stroke in value.strokes] == [False, False, False, False, True]
    assert refused(ASKS["plan_day"], {"day": [strokes[1], strokes[0], *strokes[2:]]}) == "range"
    assert refused(ASKS["plan_day"], {"day": strokes[:4]}) == "range"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Caffe Sixpence", "cafe"),
        ("at the Café Sixpence, Linden Square", None),
        ("at the CAFE SIXPENCE", "cafe"),
        ("the square", "square"),
        ("Linden Square", "linden"),
        ("Linden Sqare", "linden"),
        ("lamp 2", "lamp2"),
        ("lamp 3", None),
        ("kitchen", None),
        ("", None),
    ],
)
def test_a_name_is_known_in_a_longer_text_and_with_a_letter_wrong(text: str, wanted: str | None) -> None:
    names = {
        "cafe": "Café Sixpence", "square": "square", "linden": "Linden Square", "lamp1": "lamp 1", "lamp2": "lamp 2",
    }  # fmt: skip
    assert Choices(names).id(text) == wanted


@pytest.mark.parametrize(
    ("doing", "read"),
    [
        ("mending a chair", "mending a chair"),
        ("what one sees you do", ""),
        ("What one sees you do, ", ""),
        ("10:00 to 12:40", ""),
        ("INTERACT", ""),
        ("C", ""),
        ("1", ""),
        ("null", ""),
        ("string", ""),
        ("one or two sentences; memory numbers", ""),
        ("what one sees you do at the market", "what one sees you do at the market"),
    ],
)
def test_what_somebody_is_doing_is_words_of_their_own(doing: str, read: str) -> None:
    given = {"kind": "IDLE", "target": "", "say": "", "doing": doing, "emoji": "", "because": []}
    value: Any = BOOK.read(ASKS["act"], given)
    assert value.doing == read


def test_a_plan_of_descriptions_is_refused() -> None:
    plan = {"start": "10:00", "minutes": 30, "place": "Lattice Plaza", "do": "as listed", "emoji": ""}
    assert refused(ASKS["react"], answer(plan=plan)) == "empty"


GUARDED = {
    "say", "answer", "text", "summary", "plan", "mood", "reason", "do", "doing", "percept", "far", "questions", "about",
}  # fmt: skip
"""Properties that are words of a character, or that others come to read."""


@pytest.mark.parametrize("task", sorted(OUTPUTS))
@given(data=st.data())
@examples(60)
def test_no_name_of_a_property_is_read_as_words(task: str, data: st.DataObject) -> None:
    ask, value = (MERGED, data.draw(reactions())) if task == "react" else (ASKS[task], data.draw(OUTPUTS[task]))
    name = data.draw(st.sampled_from(sorted(properties(schema(ask.task)))))
    text = data.draw(st.sampled_from(("{}", "{}…", "“{}”", "The {}.", "{0}, {0}!"))).format(name)
    text = data.draw(st.sampled_from((text, text.title(), text.upper())))

    def echoing(part: Any, key: str = "") -> Any:
        if isinstance(part, dict):
            return {inner: echoing(one, inner) for inner, one in part.items()}
        if isinstance(part, list):
            return [echoing(one, key) for one in part]
        return text if key in GUARDED and isinstance(part, str) else part

    try:
        read = BOOK.read(ask, echoing(written(ask, value)), frozenset(memory_ids(ask.input)))
    except Unusable as unusable:
        assert unusable.kind == "empty"
    else:
        assert text not in leaves(read.model_dump()) - leaves(value.model_dump())


def properties(node: dict[str, Any]) -> set[str]:
    """The names of all properties of a schema."""
    inner = (
        *node.get("properties", {}).values(),
        *node.get("anyOf", ()),
        *([node["items"]] if "items" in node else ()),
    )
    return {*node.get("properties", ()), *(name for one in inner for name in properties(one))}


def leaves(part: Any) -> set[str]:
    """All texts in it."""
    if isinstance(part, dict):
        part = tuple(part.values())
    if isinstance(part, list | tuple):
        return {text for one in part for text in leaves(one)}
    return {part} if isinstance(part, str) else set()


def test_same_names_are_told_apart() -> None:
    situation = heard_news().situation
    jun = situation.people[0]
    twins = (jun, changed(jun, id="jun2"))
    given = changed(heard_news(lines=LINES, recalled=RECALLED), situation=changed(situation, people=twins))
    ask = Ask(REACT, given)
    assert offers_of(ask).people.labels == ("Jun (jun)", "Jun (jun2)")
    value = BOOK.read(ask, answer(decision="talk", target="Jun (jun2)", talk=None))
    assert isinstance(value, ReactOutput) and value.target == "jun2"


def test_what_was_not_asked_for_is_not_looked_at() -> None:
    bad = {"purpose": "tell", "say": "As an AI, I cannot.", "ends": True, "facts": ["x"]}
    kept: Any = BOOK.read(ASKS["react"], answer(talk=bad, rate="?", act=7))
    assert (kept.purpose, kept.utterance, kept.ratings, kept.act) == ("", "", (), None)
    talks: Any = BOOK.read(ASKS["react"], answer(decision="talk", target="Jun", talk=bad))
    assert (talks.purpose, talks.utterance, talks.ends) == ("tell", "", False), "the words are asked for later"


def test_words_stand_in_one_place_and_an_action_that_speaks_is_left_out() -> None:
    said = {"say": "Of course, Jun.", "purpose": "reply", "ends": False, "facts": []}
    act = {"kind": "Say", "target": "Jun", "say": "Of course, Jun.", "doing": "", "emoji": ""}
    rate = [{"importance": 3, "valence": 0, "arousal": 0, "words": []}] * 3
    value: Any = BOOK.read(MERGED, answer(decision="talk", target="Jun", talk=said, act=act, rate=rate))
    assert (value.decision, value.utterance, value.act) == ("talk", "Of course, Jun.", None)


def test_news_is_told_by_its_title_or_its_id() -> None:
    for name in ("the lantern festival", "The Lantern Festival", "lantern_festival"):
        value: Any = BOOK.read(ASKS["converse"], {"say": "Come at seven.", "facts": [name]})
        assert value.facts == ("lantern_festival",)


def test_a_complaint_names_each_field_and_what_it_must_be() -> None:
    plan = {"start": "7.30", "minutes": "an hour", "place": "Atlantis", "do": ""}
    ask = ASKS["react"]
    assert refused(ask, answer(plan=plan), "'plan.start' must be a time such as 07:30; it was '7.30'; ") == "range"
    assert refused(ask, answer(plan=plan), "'plan.minutes' must be a whole number; ") == "range"
    assert refused(ask, answer(decision="dance"), "'decision' must be one of 'keep', 'talk', ") == "schema"
    assert refused(ask, answer(decision="talk", target="Bo"), "'target' must be one of: Jun; it was 'Bo'")
    assert refused(ASKS["rate"], {"ratings": [7, 7]}, "'ratings[0]' must be a JSON object") == "schema"
    assert refused(ASKS["rate"], {"ratings": None}, "'ratings' must be a list") == "schema"
    assert refused(ASKS["converse"], {"say": 7}, "'say' must be a text") == "schema"
    assert refused(ASKS["relate"], {"summary": "Fine."}, "'warmth' is missing") == "schema"
    assert refused(ASKS["rate"], [], "the answer must be a JSON object") == "schema"


WRONG = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@given(data=WRONG, task=st.sampled_from(sorted(ASKS)))
@examples(150)
def test_anything_at_all_is_read_or_refused(data: object, task: str) -> None:
    given: ReactInput | Any = ASKS[task]
    keys = list(schema(given.task)["properties"])
    for attempt in (data, dict.fromkeys(keys, data), {keys[0]: [dict.fromkeys(keys, data)]}):
        try:
            assert isinstance(BOOK.read(given, attempt), given.task.output)
        except Unusable as fault:
            assert fault.kind in {"schema", "range", "unknown_id", "empty", "language", "leak"}


# ── what somebody is doing ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("written_as", "read_as"),
    [
        ("mending a net", "mending a net"),
        ("Mira is mending a net.", "mending a net"),
        ("I am mending a net", "mending a net"),
        ("그물을 손질하는 중", "그물을 손질하기"),
        ("미정은 드는 중이다.", "들기"),
        ("꽃을 파는 중", "꽃을 팔기"),
        ("그물 손질하기", "그물 손질하기"),
    ],
)
def test_what_somebody_is_doing_is_a_phrase_without_a_subject(written_as: str, read_as: str) -> None:
    assert as_doing(written_as, ("Mira", "미정")) == read_as


@pytest.mark.parametrize("decision", ["go", "help", "avoid"])
def test_going_helping_and_avoiding_take_a_plan(decision: str) -> None:
    assert refused(ASKS["react"], answer(decision=decision), saying="'plan' must not be null") == "schema"
    plan = {"start": "10:05", "minutes": 30, "place": "Lattice Plaza", "do": "I'm looking around.", "emoji": ""}
    value: Any = BOOK.read(ASKS["react"], answer(decision=decision, plan=plan))
    assert value.stroke.do == "looking around" and value.stroke.location == "plaza"


def test_a_thing_may_be_named_with_its_state() -> None:
    value: Any = BOOK.read(ASKS["act"], {"kind": "INTERACT", "target": "Stove (cold): USE"})
    assert (value.object_id, value.verb) == ("stove", "USE")


# ── complaints ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_every_complaint_that_is_quoted_has_its_words_in_korean() -> None:
    package = Path(commonplace.__file__).parent
    tasks = (*package.glob("minds/tasks/*.py"), *package.glob("parts/*/task*.py"))
    read = [*tasks, *package.glob("minds/prompts/*.py"), package / "parts/model_servers/reply.py"]
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in read]
    said = {
        node.value
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    raised = {
        call.args[0].value
        for tree in trees
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "Unusable"
        if isinstance(call.args[0], ast.Constant)
    }
    korean = phrases("ko", "complaints")
    of_the_server = {what for what in raised if what.startswith(("the server's", "the answer was withheld"))}
    assert raised - of_the_server <= korean.keys() <= said | raised, raised - of_the_server - korean.keys()
    fields = [(re.findall(r"{\w+}", what), re.findall(r"{\w+}", words)) for what, words in korean.items()]
    assert all(set(there) <= set(here) for here, there in fields)


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        (answer(decision="go"), "'plan' null이면 안 됩니다. go에는 plan이 있어야 합니다"),
        (answer(decision="talk", target="Batman"), "'target' 다음 가운데 하나여야 합니다: Jun. 받은 값: 'Batman'"),
        (answer(decision="fly"), "'decision' 'keep', 'talk', 'go', 'help', 'avoid', 'wait' 가운데 하나여야 합니다"),
        ({}, "답에 decision, target"),
        ([], "답은 JSON 객체여야 합니다"),
    ],
)
def test_a_korean_answer_is_complained_of_in_korean(wrong: object, complaint: str) -> None:
    book = PromptBook("ko", SETTING)
    with pytest.raises(Unusable) as caught:
        book.read(ASKS["react"], wrong)
    assert complaint in str(caught.value)
    again = book.prompt(ASKS["react"], complaint="the answer was cut off; be shorter").messages[-1].text
    assert "답이 길어서 잘렸습니다" in again


def test_what_begins_and_ends_is_read_by_kind_and_name_and_what_is_unknown_is_left_out() -> None:
    data = {
        "percept": "Jun sets fire to the café.", "by": "Jun", "hours": "3",
        "begins": ["burning: Café Sixpence", "ill.jun", "burning: Atlantis", "cursed: Jun"], "ends": ["ill: Jun", "x"],
    }  # fmt: skip
    value: Any = BOOK.read(ASKS["perceive_event"], data)
    assert (value.begins, value.ends) == (("burning.bar", "ill.jun"), ("ill.jun",))
    assert (value.by, value.hours) == ("jun", 3)
    nobody: Any = BOOK.read(ASKS["perceive_event"], {"percept": "A dog barks.", "by": "Nobody"})
    assert (nobody.begins, nobody.ends, nobody.by, nobody.hours) == ((), (), "", 0)
