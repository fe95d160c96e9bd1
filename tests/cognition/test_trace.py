"""What a trace holds of a question."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from commonplace.cognition.trace import question_entry
from commonplace.minds.mind import Answer
from commonplace.minds.notes import Item, News, Recalled, Value
from commonplace.minds.tasks import PLAN_MINUTES, REACT
from commonplace.minds.tasks.reflect import Evidence

ITEM = Item(start="07:00", minutes=30, location="bar", location_name="Bar", do="cooking", because=(3, 4))
FRAME = {"what": "thing"}
MEMORY = Recalled(id=5, text="The stove is lit.", kind="observation", importance=1, minutes_ago=3, frame=FRAME)


class Asked(Value):
    """Every shape that a typed input has."""

    item: Item
    none: Item | None = None
    recalled: tuple[Recalled, ...] = ()
    news: tuple[News, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    counts: Mapping[str, tuple[int, ...]] = Field(default_factory=dict)
    who: str = ""
    standard: int = 3


def test_memories_are_ids_wherever_they_stand_and_the_rest_is_as_pydantic_writes_it() -> None:
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
            "item": ITEM.model_dump(mode="json", exclude_defaults=True),
            "recalled": [5],
            "news": [9],
            "evidence": [{"question": "why?", "recalled": [5, 5]}],
            "counts": {"a": [1, 2]},
        },
    }


def test_what_is_at_its_default_is_left_out() -> None:
    entry = question_entry(PLAN_MINUTES, Asked(item=ITEM, standard=3), Answer(None, "fault", 0))
    assert entry["input"] == {"item": ITEM.model_dump(mode="json", exclude_defaults=True)}
