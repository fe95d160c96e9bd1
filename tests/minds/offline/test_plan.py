"""Days have 5–8 strokes in order, bent by what is remembered; their insides vary."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from commonplace.minds.notes import Hint, ItemNote, Recalled, ThingHere
from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.gatherings import moment_minutes
from commonplace.minds.offline.plan import plan_day, plan_hours, plan_minutes
from commonplace.minds.tasks import PlanDayInput, PlanPartsInput, Stroke
from commonplace.world.happenings import Concluded, Failed, Seed
from minds.offline import sample
from sizes import examples

DICE = Dice((7, "mira", 0, 0))
STARTS = ("05:50", "07:10", "09:30", "12:00", "14:00", "17:00", "19:30", "20:30", "22:00")


def routine(count: int) -> tuple[Stroke, ...]:
    starts = (*STARTS[: count - 1], "22:40")
    return tuple(
        Stroke(
            start=start, minutes=60, location=("loft", "bar", "plaza")[index % 3], do=f"doing number {index}",
            routine=index, asleep=index == count - 1,
        )
        for index, start in enumerate(starts)
    )  # fmt: skip


def day(
    count: int = 6, recalled: tuple[Recalled, ...] = (), dice: Dice = DICE, sky: str = "clear", **more: object
) -> tuple[Stroke, ...]:
    base = {
        "who": sample.mira("outgoing"), "situation": sample.here("05:50", sky=sky), "wakes": "05:50",
        "routine": routine(count), "recalled": recalled, "facts": (sample.FESTIVAL,), "places": sample.PLACES,
    }  # fmt: skip
    return plan_day(PlanDayInput(**(base | more)), dice).strokes  # type: ignore[arg-type]


HEARD = sample.said(41, sample.FESTIVAL.tell[0], 900, facts=(sample.FESTIVAL.id,))
WISH = sample.memory(
    42, "Talking with Jun does me good.", 600,
    happening=Concluded(about="jun", wish="spend some time with Jun", place="workshop"),
)  # fmt: skip
MEANS = sample.memory(43, "Mira Sato wants to fix the leaking roof.", 900, happening=Seed(topic="roof"))
ASKED = sample.said(44, "You should come by the workshop.", 900)
SEEN = sample.doing(45, "jun", "repairing a drone", 800)


def test_an_early_person_begins_everything_but_the_day_earlier_than_a_late_one() -> None:
    early, late = (day(who=sample.mira(trait)) for trait in ("an early riser", "a night owl"))
    between = [moment_minutes(b.start) - moment_minutes(a.start) for a, b in zip(early, late, strict=True)]
    assert between == [0, *[10] * (len(early) - 1)]


@examples(300)
@given(
    st.integers(2, 9),
    st.integers(0, 500),
    st.permutations((HEARD, WISH, MEANS, ASKED, SEEN)),
    st.integers(0, 5),
    st.booleans(),
)
def test_a_day_is_five_to_eight_strokes_in_order(
    count: int, tick: int, recalled: list[Recalled], many: int, rains: bool
) -> None:
    strokes = day(count, tuple(recalled[:many]), Dice((7, "mira", tick, 0)), "rain" if rains else "clear")
    starts = [moment_minutes(stroke.start) for stroke in strokes]
    assert 5 <= len(strokes) <= 8
    assert starts == sorted(set(starts)) and strokes[0].start == "05:50"
    assert strokes[-1].asleep and not any(stroke.asleep for stroke in strokes[:-1])
    for stroke, following in zip(strokes, starts[1:], strict=False):
        assert moment_minutes(stroke.start) + stroke.minutes == following


def test_an_event_heard_of_is_in_the_day_and_cites_the_hearing() -> None:
    fresh = [stroke for stroke in day(recalled=(HEARD,)) if stroke.because]
    assert [(stroke.location, stroke.because, stroke.event) for stroke in fresh] == [("plaza", (41,), "the festival")]
    assert not [stroke for stroke in day() if stroke.because]


def test_a_wish_becomes_a_stroke() -> None:
    found = [stroke for stroke in day(recalled=(WISH,)) if stroke.because == (42,)]
    assert [(stroke.do, stroke.location) for stroke in found] == [("spending some time with Jun", "workshop")]


def test_a_wish_fills_no_hours_that_are_not_its_own() -> None:
    """Where the day has no room for all, something else goes than what is gone back to after a wish."""
    for tick in range(40):
        strokes = day(9, (WISH, MEANS), Dice((7, "mira", tick, 0)))
        wishes = [stroke for stroke in strokes if stroke.because and not stroke.asleep]
        assert wishes
        assert all(stroke.minutes <= 75 for stroke in wishes)


def test_what_was_left_undone_and_a_visit_owed_come_up() -> None:
    dos = {
        stroke.do
        for tick in range(12)
        for stroke in day(recalled=(MEANS, ASKED, SEEN), dice=Dice((7, "mira", tick, 0)))
    }
    assert "fixing the leaking roof" in dos
    assert {"visiting Jun", "dropping in on Jun"} & dos


def test_no_two_days_are_the_same() -> None:
    days = {tuple(stroke.start for stroke in day(dice=Dice((7, "mira", tick, 0)))) for tick in range(20)}
    assert len(days) > 15


def parts(minutes: int = 60, tick: int = 0, **more: object) -> PlanPartsInput:
    base = {
        "who": sample.mira("brisk"), "situation": sample.here(),
        "item": ItemNote(
            start="10:00", minutes=minutes, location="bar", location_name="Noodle Bar", do="serving lunch"
        ),
        "hints": tuple(Hint(do=do, object_id=thing, verb="USE" if thing else "") for do, thing in (
            ("ladling broth", ""), ("wiping the counter", ""), ("boiling water", "kettle"), ("slicing scallions", ""),
        )),
    }  # fmt: skip
    return PlanPartsInput(**(base | more))  # type: ignore[arg-type]


@given(st.integers(5, 300), st.integers(0, 100))
def test_minutes_fill_the_item_in_5_to_15_minute_actions(minutes: int, tick: int) -> None:
    found = plan_minutes(parts(minutes), Dice((7, "mira", tick, 0))).parts
    assert all(5 <= part.minutes <= 15 for part in found)
    assert sum(part.minutes for part in found) >= min(minutes, 80)


def test_the_inside_of_an_hour_varies() -> None:
    assert len({tuple(p.do for p in plan_minutes(parts(), Dice((7, "mira", t, 0))).parts) for t in range(20)}) > 8
    assert len({tuple(p.minutes for p in plan_hours(parts(240), Dice((7, "mira", t, 0))).parts) for t in range(20)}) > 5


def done(do: str, event: str) -> set[str]:
    """What an hour is filled with that rests on a memory."""
    hour = ItemNote(
        start="18:45", minutes=60, location="plaza", location_name="Lattice Plaza", do=do, because=(41,), event=event
    )
    return {p.do for t in range(20) for p in plan_minutes(parts(item=hour, hints=()), Dice((7, "mira", t, 0))).parts}


def test_an_hour_that_leads_to_an_event_is_spent_at_it() -> None:
    found = done("going to the lantern festival", "the festival")
    assert {"taking in the festival", "enjoying the festival", "watching people arrive"} <= found
    assert done("going to the lantern festival", "") == {"going to the lantern festival"}


def test_an_hour_of_no_name_of_its_own_is_no_sixteen_times_the_same() -> None:
    hour = ItemNote(
        start="08:10", minutes=120, location="bar", location_name="Mira's Noodle Bar", do="doing the bulk of it",
        because=(4,),
    )  # fmt: skip
    doings = {part.do for part in plan_minutes(parts(item=hour, hints=()), DICE).parts}
    assert len(doings) > 2 and hour.do not in doings


def test_what_is_broken_is_left_alone_or_repaired_by_the_handy() -> None:
    broken = (ThingHere(id="kettle", name="kettle", state="broken", verbs=("USE",)),)
    for tick in range(10):
        dice = Dice((7, "mira", tick, 0))
        assert not any(part.object_id == "kettle" for part in plan_minutes(parts(things=broken), dice).parts)
        handy = plan_minutes(parts(things=broken, who=sample.mira("handy")), dice).parts
        assert any("the kettle" in part.do for part in handy)


def test_what_did_not_work_is_not_tried_again_at_once() -> None:
    failed = Failed(object="kettle", object_name="kettle", verb="USE", why="The kettle is empty.")
    refused = sample.memory(9, "Mira Sato tried to use the kettle, but the kettle is empty.", 30, happening=failed)
    assert not any(part.object_id for part in plan_minutes(parts(recalled=(refused,)), DICE).parts)
