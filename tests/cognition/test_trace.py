"""What a trace holds of a question."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import field

from commonplace.cognition.turn import question_entry
from commonplace.minds.mind import Answer
from commonplace.minds.notes import Given, ItemNote, News, Recalled
from commonplace.minds.tasks import PLAN_MINUTES, REACT
from commonplace.minds.tasks.reflect import Evidence
from commonplace.world.happenings import Changed

ITEM = ItemNote(start="07:00", minutes=30, location="bar", location_name="Bar", do="cooking", because=(3, 4))
SHOWN = {
    "start": "07:00", "minutes": 30, "location": "bar", "location_name": "Bar", "do": "cooking", "because": [3, 4]
}  # fmt: skip
MEMORY = Recalled(id=5, text="The stove is lit.", kind="observation", importance=1, minutes_ago=3, happening=Changed())


class Asked(Given):
    """Every shape that a typed input has."""

    item: ItemNote
    none: ItemNote | None = None
    recalled: tuple[Recalled, ...] = ()
    news: tuple[News, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    counts: Mapping[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])
    who: str = ""
    standard: int = 3


def test_memories_are_ids_wherever_they_stand_and_the_rest_is_as_json_has_it() -> None:
    asked = Asked(
        item=ITEM,
        recalled=(MEMORY,),
        news=(News(memory_id=9, kind="did", text="x"),),
        evidence=(Evidence(question="why?", recalled=(MEMORY, MEMORY)),),
        counts={"a": (1, 2)},
        who="left out: the scenario has it",
    )
    entry = question_entry(REACT, asked, Answer(None, "value", 2))
    assert entry == {
        "ordinal": 2,
        "task": "react",
        "outcome": "value",
        "input": {
            "item": SHOWN,
            "recalled": [5],
            "news": [9],
            "evidence": [{"question": "why?", "recalled": [5, 5]}],
            "counts": {"a": [1, 2]},
        },
    }


def test_what_is_at_its_default_is_left_out() -> None:
    entry = question_entry(PLAN_MINUTES, Asked(item=ITEM, standard=3), Answer(None, "fault", 0))
    assert entry["input"] == {"item": SHOWN}
