"""What happened, as a type and as a memory keeps it."""

from __future__ import annotations

from typing import Any, get_args

import msgspec.structs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.world.happenings import (
    ACTS,
    FAVOURS,
    NOTHING_KNOWN,
    Changed,
    Happened,
    Happening,
    ISaid,
    Said,
    Speech,
    as_frame,
    asks,
    favour_in,
    happening_of,
    tells,
)
from sizes import examples

KINDS: tuple[type[Any], ...] = tuple(kind for kind in get_args(Happening) if kind is not Happened)
WORDS = st.text(max_size=12)


def values(kind: type[Any]) -> st.SearchStrategy[Any]:
    fields = {field.name: field.type for field in msgspec.structs.fields(kind)}
    parts = {name: WORDS if wanted is str else st.sampled_from(get_args(wanted)) for name, wanted in fields.items()}
    return st.builds(kind, **parts)


@examples(300)
@given(st.sampled_from(KINDS).flatmap(values))
def test_a_happening_is_read_as_it_was_kept(happening: Happening) -> None:
    frame = as_frame(happening)
    assert happening_of({"frame": frame}) == happening
    assert list(frame) == sorted(frame) and all(isinstance(word, str) for word in frame.values())


def test_what_does_not_apply_is_not_kept() -> None:
    assert as_frame(ISaid(to="jun", quote="Hello.")) == {"quote": "Hello.", "to": "jun", "what": "i_said"}
    assert as_frame(Said(who="jun", quote="")) == {"quote": "", "to": "", "to_me": "", "what": "said", "who": "jun"}


@pytest.mark.parametrize(
    "details",
    [
        {},
        {"frame": {}},
        {"frame": "said"},
        {"frame": ["what", "said"]},
        {"frame": {"quote": "Hello."}},
        {"frame": {"what": "unheard of"}},
        {"frame": {"what": ["said"]}},
        {"frame": {"what": "said", "quote": ["민수", {"deep": 1}]}},
        {"frame": {"what": "said", "to_me": "perhaps"}},
    ],
)
def test_details_of_anybody_elses_memory_are_no_happening(details: dict[str, Any]) -> None:
    assert happening_of(details) is NOTHING_KNOWN


def test_what_others_have_added_to_a_happening_is_passed_over() -> None:
    frame = {"what": "thing", "object": "kite", "state": "torn", "words": "torn", "mood": "sad"}
    assert happening_of({"frame": frame}) == Changed(object="kite", state="torn", words="torn")


def test_a_line_does_what_its_speaker_says_and_a_question_asks() -> None:
    assert Speech(quote="Is it raining?").act == "ask"
    assert Speech(quote="Is it raining?", speech_act="weather").act == "weather"
    assert Speech(quote="It is raining.").act == ""


@pytest.mark.parametrize("kind", sorted(FAVOURS))
def test_a_favour_is_asked_for_offered_or_done(kind: str) -> None:
    assert favour_in(f"promise.{kind}", "promise") == favour_in(f"keep.{kind}", "keep") == kind
    assert not favour_in(f"keep.{kind}", "ask") and not favour_in(kind, "keep")


def test_help_is_asked_for_and_offered_in_two_ways() -> None:
    assert favour_in("ask.favour", "ask") == "help" and favour_in("ask.help", "ask") == ""
    assert favour_in("ask.lend", "ask") == "lend"


def test_an_act_that_asks_tells_nothing() -> None:
    assert {act for act in ACTS if asks(act) and tells(act)} == {"invite"}
