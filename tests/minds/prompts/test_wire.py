"""The wire form: what was written is read back, what was not offered is not taken."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.minds.mind import Ask
from commonplace.minds.prompts.book import PromptBook
from commonplace.minds.prompts.prompt import Unusable
from commonplace.minds.prompts.wire import FORMS, schema, written
from commonplace.minds.prompts.wire.fields import Fields
from commonplace.minds.tasks import ACT, REACT, ActOutput, Rating, ReactInput, ReactOutput, Stroke
from minds.prompts.asked import LINES, RECALLED, SETTING, every_ask, heard_news, lived, merged
from minds.prompts.schemas import faults

BOOK = PromptBook("en", SETTING)
ASKS = every_ask()
MERGED = Ask(REACT, merged())
UNASKED = {"speech_act", "topic", "frame"}
"""What rules note for themselves; no model is asked for it."""


def answer(**more: Any) -> dict[str, Any]:
    """A reaction's answer, changed."""
    return {"because": [], "reason": "", "decision": "keep", "target": "", "purpose": "", "plan": None} | more


def refused(ask: Ask[Any, Any], data: object) -> str:
    """The kind of fault an answer is refused for."""
    with pytest.raises(Unusable) as caught:
        BOOK.read(ask, data)
    assert str(caught.value)
    return caught.value.kind


# ── there and back ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_what_the_offline_mind_answers_comes_back_exactly() -> None:
    tasks: set[str] = set()
    for ask, value in lived():
        assert BOOK.read(ask, written(ask, value)) == value, ask.task.name
        tasks.add(ask.task.name)
    assert {"react", "plan_day", "plan_hours", "plan_minutes"} <= tasks


def test_what_the_offline_mind_answers_fits_the_schema() -> None:
    for ask, value in lived():
        data = written(ask, value)
        for entry in (data, *data.get("insights", ())):
            for key in UNASKED:
                entry.pop(key, None)
        if isinstance(data.get("plan"), dict):
            data["plan"].pop("because", None)
        assert not faults(schema(ask), data), ask.task.name


RATINGS = st.builds(
    Rating,
    importance=st.integers(1, 10),
    valence=st.integers(-100, 100),
    arousal=st.integers(0, 100),
    keywords=st.lists(st.sampled_from(("rain", "debt")), max_size=2).map(tuple),
)
CITED = st.lists(st.sampled_from((1, 2, 3, 4, 8)), max_size=3, unique=True).map(tuple)
ACTIONS = st.one_of(
    st.builds(ActOutput, kind=st.just("IDLE"), doing=st.sampled_from(("", "waiting")), because=CITED),
    st.builds(ActOutput, kind=st.just("MOVE"), to_location_id=st.sampled_from(("plaza", "workshop"))),
    st.builds(ActOutput, kind=st.just("INTERACT"), object_id=st.just("stove"), verb=st.sampled_from(("USE", "OPEN"))),
    st.builds(ActOutput, kind=st.just("SAY"), to_agent_id=st.just("jun"), utterance=st.just("Here you are, Jun.")),
)
STROKES = st.builds(
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
    said: dict[str, Any] = {"purpose": "reply", "utterance": draw(st.sampled_from(("", "Of course, Jun."))),
                            "ends": draw(st.booleans()), "facts": ("lantern_festival",)}  # fmt: skip
    return ReactOutput(
        decision=decision,  # pyright: ignore[reportArgumentType]
        target="jun" if talks or draw(st.booleans()) else "",
        stroke=draw(st.none() | STROKES),
        reason=draw(st.sampled_from(("", "he asked"))),
        because=draw(CITED),
        ratings=draw(st.tuples(RATINGS, RATINGS, RATINGS)),
        act=draw(ACTIONS),
        **(said if talks else {}),
    )


@given(value=reactions())
@settings(max_examples=60)
def test_a_merged_reaction_comes_back_exactly(value: ReactOutput) -> None:
    data = written(MERGED, value)
    assert BOOK.read(MERGED, data) == value
    if isinstance(data["plan"], dict):
        data["plan"].pop("because", None)
    assert not faults(schema(MERGED), data)


def test_schemas_are_closed_objects_without_references() -> None:
    def walk(node: Any) -> None:
        if isinstance(node, dict):
            assert "$ref" not in node
            if node.get("type") == "object":
                assert node["additionalProperties"] is False and node["required"] == list(node["properties"])
            for inner in node.values():
                walk(inner)
        elif isinstance(node, list):
            for inner in node:
                walk(inner)

    for ask in (*ASKS.values(), MERGED):
        assert schema(ask)["type"] == "object"
        walk(schema(ask))
    assert set(FORMS) == set(ASKS)


def test_targets_of_act_are_this_ticks_and_no_others() -> None:
    offered = schema(ASKS["act"])["properties"]["target"]["enum"]
    assert offered == ["", "plaza", "workshop", "stove: USE", "stove: OPEN", "Jun"]
    merged_offer = schema(MERGED)["properties"]["act"]["properties"]["target"]["enum"]
    assert merged_offer == ["", "Lattice Plaza", "Jun's Workshop", "stove: USE", "stove: OPEN", "Jun"]


# ── what was not offered ────────────────────────────────────────────────────────────────────────────────────────────


def test_an_object_with_nothing_that_was_asked_for_is_of_the_wrong_shape() -> None:
    for ask in every_ask().values():
        assert refused(ask, {"confidence": 0.9, "explanation": "none"}) == "schema", ask.task.name


@pytest.mark.parametrize(("given", "read"), [("🍜", "🍜"), ("zzz", ""), ("국수", ""), ("👩‍🍳", "👩‍🍳"), ("A1", "")])
def test_an_emoji_is_a_sign_and_no_word(given: str, read: str) -> None:
    assert Fields({"emoji": given}).emoji("emoji") == read


def test_citations_keep_what_was_offered() -> None:
    value = BOOK.read(ASKS["react"], answer(because=[1, 999, "[2]", "x", 2, None]))
    assert isinstance(value, ReactOutput) and value.because == (1, 2)


def test_talk_needs_somebody_in_sight() -> None:
    assert refused(ASKS["react"], answer(decision="talk", target="Batman")) == "unknown_id"
    assert refused(ASKS["react"], answer(decision="talk", target="")) == "unknown_id"
    value = BOOK.read(ASKS["react"], answer(decision="talk", target="JUN", purpose="reply"))
    assert isinstance(value, ReactOutput) and value.target == "jun"


def test_a_plan_needs_a_known_place_and_a_time() -> None:
    plan = {"start": "10:00", "minutes": 30, "place": "Lattice Plaza", "do": "walking", "emoji": ""}
    value = BOOK.read(ASKS["react"], answer(decision="go", because=[1], plan=plan))
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
        {"text": "Rain suits me.", "because": [6], "importance": 3, "about": "rain"},
    ]
    value: Any = BOOK.read(ASKS["insights"], {"insights": entries})
    assert [(one.because, one.about) for one in value.insights] == [((1,), "jun")]


def test_a_target_that_is_not_offered_to_act_is_left_to_the_simulator() -> None:
    data = {"kind": "MOVE", "target": "atlantis", "say": "", "doing": "", "emoji": "", "because": []}
    value = BOOK.read(ASKS["act"], data)
    assert isinstance(value, ActOutput) and (value.kind, value.to_location_id) == ("MOVE", "atlantis")
    assert refused(Ask(ACT, ASKS["act"].input), data | {"kind": "FLY"}) == "schema"
    assert refused(Ask(ACT, ASKS["act"].input), data | {"kind": "SAY", "target": "Jun"}) == "empty"


def test_a_day_ascends_and_its_last_stroke_is_sleep() -> None:
    strokes = [
        {"start": start, "do": do, "place": "Mira's Loft", "usual": -1, "emoji": "", "because": [1, 50]}
        for start, do in (("06:00", "a"), ("08:00", "b"), ("12:00", "c"), ("18:00", "d"), ("00:30", "sleeping"))
    ]
    value: Any = BOOK.read(ASKS["plan_day"], {"day": strokes})
    assert [stroke.minutes for stroke in value.strokes] == [120, 240, 360, 390, 330]
    assert [stroke.asleep for stroke in value.strokes] == [False, False, False, False, True]
    assert refused(ASKS["plan_day"], {"day": [strokes[1], strokes[0], *strokes[2:]]}) == "range"
    assert refused(ASKS["plan_day"], {"day": strokes[:4]}) == "range"


def test_same_names_are_told_apart() -> None:
    situation = heard_news().situation
    jun = situation.people[0]
    twins = (jun, jun.model_copy(update={"id": "jun2"}))
    given = heard_news(lines=LINES, recalled=RECALLED).model_copy(
        update={"situation": situation.model_copy(update={"people": twins})}
    )
    ask = Ask(REACT, given)
    assert schema(ask)["properties"]["target"]["enum"] == ["", "Jun (jun)", "Jun (jun2)"]
    value = BOOK.read(ask, answer(decision="talk", target="Jun (jun2)", purpose="greet"))
    assert isinstance(value, ReactOutput) and value.target == "jun2"


WRONG = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@given(data=WRONG, task=st.sampled_from(sorted(ASKS)))
@settings(max_examples=150)
def test_anything_at_all_is_read_or_refused(data: object, task: str) -> None:
    given: ReactInput | Any = ASKS[task]
    keys = list(schema(given)["properties"])
    for attempt in (data, dict.fromkeys(keys, data), {keys[0]: [dict.fromkeys(keys, data)]}):
        try:
            assert isinstance(BOOK.read(given, attempt), given.task.output)
        except Unusable as fault:
            assert fault.kind in {"schema", "range", "unknown_id", "empty", "language", "leak"}
