"""What a new memory has to do with the one who remembers it."""

from __future__ import annotations

from typing import Any

import pytest

from cognition.hamlet import Town, hamlet, puppets, tell, use
from commonplace.memory import Memory


def so(kind: str, of: str, areas: list[str], at: str = "10:10") -> Any:
    """A change of the hamlet: something that is so from a time on, noticed in some areas."""

    def change(document: dict[str, Any]) -> None:
        told = {"id": f"{kind}-{of}", "at": at, "text": f"Something befalls {of}.", "to": {"areas": areas}}
        document["script"] = [told | {"raises": [{"kind": kind, "of": of}]}]

    return change


def noticed(town: Town, agent: str, key: str) -> Memory:
    """The first memory of what is so."""
    return next(one for one in town.memories(agent) if one.details.get("frame", {}).get("event") == key)


def seen_by(agent: str, kind: str, of: str, area: str) -> float:
    """What it weighs for somebody who notices it from an area."""
    town, _ = puppets(hamlet(so(kind, of, [area]), importance="rules"), {})
    return noticed(town.live(5), agent, f"{kind}.{of}").importance


def test_a_fire_in_ones_own_place_weighs_more_than_in_that_of_somebody_dear_and_least_in_a_strangers() -> None:
    mine, dear, strangers = (
        seen_by("anna", "burning", "bakery", "bakery"),
        seen_by("anna", "burning", "barn", "bakery"),
        seen_by("cora", "burning", "loft", "barn"),
    )
    assert mine > dear > strangers


@pytest.mark.parametrize(("label", "warmth"), [("friend", 40), ("brother", 0)])
def test_the_illness_of_somebody_dear_or_of_a_relative_weighs_more_than_a_strangers(label: str, warmth: int) -> None:
    def change(document: dict[str, Any]) -> None:
        so("ill", "ben", ["bakery", "barn"])(document)
        document["characters"][0]["relations"] = [{"to": "ben", "label": label, "warmth": warmth}]

    town, _ = puppets(hamlet(change, importance="rules"), {})
    town.live(5)
    dear, stranger, own = (noticed(town, agent, "ill.ben").importance for agent in ("anna", "cora", "ben"))
    assert own > dear > stranger


def test_to_see_it_weighs_more_than_to_be_told_of_it_and_to_overhear_it_less_still() -> None:
    def change(document: dict[str, Any]) -> None:
        so("burning", "loft", ["green"])(document)
        cora = document["characters"][2]
        document["characters"].append(cora | {"id": "dora", "name": "Dora Finn", "home": "green", "starts_at": "barn"})

    line = "Cora, there is a fire in the loft."
    town, _ = puppets(hamlet(change, fidelity="every_tick", importance="rules"), {("ben", 4): tell("cora", line)})
    town.live(6)
    told, overheard = (
        next(one.importance for one in town.memories(agent) if line in one.text) for agent in ("cora", "dora")
    )
    assert seen_by("cora", "burning", "loft", "barn") > told > overheard > 1


def test_the_tenth_time_that_the_same_is_seen_is_routine() -> None:
    def change(document: dict[str, Any]) -> None:
        document["world"]["kinds"]["kettle"]["verbs"]["CLOSE"] = [{"to": "cold", "seen": "The kettle falls silent."}]
        document["characters"][2] |= {"starts_at": "bakery"}

    acts = {("cora", tick): use("kettle", "USE" if tick % 2 else "CLOSE") for tick in range(1, 24)}
    town, _ = puppets(hamlet(change, fidelity="every_tick", importance="rules", novelty_window=0), acts)
    town.live(24)
    sung = [one.importance for one in town.memories("anna") if one.text == "The kettle begins to sing."]
    assert len(sung) >= 10 and sung[0] == 2 and sung[9] == 1
