"""What events say, as types and as a run file keeps it."""

from __future__ import annotations

import json
from typing import Any

import msgspec.structs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.canon import canonical
from commonplace.world.actions import ACTIONS, Idle, Interact, Move, Say, body_of, proposed
from commonplace.world.events import TYPES, ActionRejected, EventBody, Foreign, Idled, Spoke, TakenOver
from sizes import examples

EVERY = {**TYPES, **{name: kind.event for name, kind in ACTIONS.items()}}
WORDS = st.text(max_size=12)
ODD: dict[str, st.SearchStrategy[Any]] = {
    "proposed": st.one_of(
        st.builds(Idle, doing=WORDS),
        st.builds(Move, to_location_id=WORDS),
        st.builds(Interact, object_id=WORDS, verb=WORDS),
        st.builds(Say, to_agent_id=WORDS, utterance=WORDS),
    ).map(proposed),
    "action": st.dictionaries(WORDS, WORDS, max_size=2),
    "value": st.one_of(WORDS, st.integers(-9, 9), st.booleans(), st.lists(WORDS, max_size=2)),
}


def bodies(kind: type[Any]) -> st.SearchStrategy[Any]:
    fields = msgspec.structs.fields(kind)
    return st.builds(kind, **{field.name: ODD.get(field.name, st.from_type(field.type)) for field in fields})


@examples(300)
@given(st.sampled_from(sorted(EVERY)).flatmap(lambda name: st.tuples(st.just(name), bodies(EVERY[name]))))
def test_what_an_event_says_is_read_as_it_was_written(given: tuple[str, EventBody]) -> None:
    name, body = given
    written = canonical(body.plain())
    assert body.type == name
    assert body_of(name, json.loads(written)) == body
    assert list(body.plain()) == sorted(body.plain())


def test_what_does_not_apply_is_not_written() -> None:
    assert Idled(doing="").plain() == {"doing": ""}
    spoke = Spoke(to_agent_id="jun", utterance="Hello.", facts=(), claimed=(), carriers=())
    assert spoke.plain().keys() == {"to_agent_id", "utterance", "facts", "claimed", "carriers"}
    assert TakenOver(action={}).plain() == {"action": {}}
    rejected = ActionRejected(proposed=proposed(Idle(doing="")), why="no")
    assert canonical(rejected.plain()) == b'{"proposed":{"doing":"","kind":"IDLE"},"why":"no"}'


def test_a_type_that_only_a_stage_knows_is_kept_as_it_is() -> None:
    mulled = body_of("MULLED", {"text": "Hm.", "mood": ["sad", 3]})
    assert mulled == Foreign(name="MULLED", content={"text": "Hm.", "mood": ["sad", 3]})
    assert (mulled.type, mulled.because) == ("MULLED", ())
    assert mulled.plain() == {"mood": ["sad", 3], "text": "Hm."}


@pytest.mark.parametrize("plain", [{}, {"doing": 3}, {"doing": "x", "because": ["x"]}, {"doing": "x", "asleep": 1}])
def test_what_no_event_says_is_refused(plain: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"Object missing required|Expected"):
        body_of("IDLE", plain)


def test_keys_that_others_have_added_are_passed_over() -> None:
    assert body_of("IDLE", {"doing": "reading", "mood": "calm"}) == Idled(doing="reading")
