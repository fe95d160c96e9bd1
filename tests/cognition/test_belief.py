"""What a character believes may be wrong, and it finds out only by going there."""

from __future__ import annotations

from typing import Any

from cognition.hamlet import Puppets, Town, go, hamlet, puppets, use
from commonplace.character.state import UNKNOWN
from commonplace.minds.tasks import PartOut, PlanDayInput, PlanDayOutput, PlanPartsInput, PlanPartsOutput

FLYING = "flying the kite"


def _kite_day(given: PlanDayInput, _: Any) -> PlanDayOutput:
    """Anna means to fly the kite from a quarter to eleven on; everybody else keeps the usual day."""
    if given.who.id != "anna":
        return PlanDayOutput(strokes=given.routine)
    first, work, *rest = given.routine
    at_work = work.model_copy(update={"minutes": 165})
    kite = work.model_copy(update={"start": "10:45", "minutes": 60, "do": FLYING, "location": "green", "routine": -1})
    return PlanDayOutput(strokes=(first, at_work, kite, *rest))


def _fetching(given: PlanPartsInput, request_key: Any) -> PlanPartsOutput | None:
    if given.item.do != FLYING or given.who.id != "anna":
        return None
    gone = any("it is not there" in memory.text for memory in given.recalled)
    part = PartOut(do="looking at the sky", minutes=15)
    fetch = PartOut(do="fetching the kite", minutes=15, object_id="kite", verb="TAKE")
    return PlanPartsOutput(parts=(part,) if gone else (fetch,))


def _stale() -> tuple[Town, Puppets]:
    """Ben takes the kite home while nobody but Cora sees it; then Anna goes to fly it."""
    acts = {("ben", 1): use("kite", "TAKE"), ("ben", 2): go("cabin"), ("ben", 3): go("cabin")}
    scripts = {"plan_day": _kite_day, "plan_minutes": _fetching}
    return puppets(hamlet(fidelity="every_tick"), acts, **scripts)


def test_a_moved_object_is_looked_for_where_it_was_and_the_plan_is_made_anew() -> None:
    town, mind = _stale()
    town.live(9)
    assert town.engine.live_state.world.things["kite"].parent == "ben"
    assert town.state("anna").belief.place_of("kite") == "barn"
    town.live(6)
    moves = [event.body.to for event in town.events("MOVE", "anna")]
    assert moves[:2] == ["green", "barn"]
    rejected = town.events("ACTION_REJECTED", "anna")
    assert [event.body.proposed.object_id for event in rejected] == ["kite"]
    (refused,) = rejected
    noticed = town.remembered("anna", refused.tick + 1)
    missing = next(memory for memory in noticed if memory.event == refused.id)
    assert (missing.kind, missing.text) == (
        "action",
        "Anna Berg looked for the red kite at Barn, but it is not there.",
    )
    assert town.state("anna").belief.place_of("kite") == UNKNOWN
    (changed,) = town.events("PLAN_CHANGED", "anna")
    assert changed.tick == refused.tick + 1
    assert changed.body.reason == missing.text
    assert town.body("anna").doing == "looking at the sky"
    assert mind.ticks("plan_minutes", "anna").count(changed.tick) == 1


def test_what_is_seen_again_is_believed_again() -> None:
    town, _ = _stale()
    town.live(15)
    acts = {
        ("ben", 16): go("green"),
        ("ben", 17): use("kite", "DROP"),
        ("anna", 16): go("green"),
        ("anna", 17): go("barn"),
    }
    town.mind.scripts["act"] = lambda given, request_key: acts.get((request_key.agent, request_key.tick))
    town.live(4)
    assert town.state("anna").belief.place_of("kite") == "green"


def test_a_private_room_is_unknown_until_it_is_seen_from_its_door() -> None:
    town, _ = puppets(hamlet(fidelity="every_tick"), {("anna", 1): go("green")})
    assert not town.state("anna").belief.knows("cabin")
    town.live(2)
    assert town.state("anna").belief.knows("cabin")
    assert not town.state("cora").belief.knows("cabin")
