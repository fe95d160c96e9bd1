from __future__ import annotations

from dataclasses import FrozenInstanceError, fields, replace

import pytest

from commonplace.world.actions import Idle
from commonplace.world.deeds import Intent
from commonplace.world.executor import step
from commonplace.world.inputs import GodEvent, InnerVoice
from commonplace.world.script import Audience, Scripted
from commonplace.world.state import World
from commonplace.world.view import WorldView, look
from commonplace.world.weather import Climate, ambient_at, ambient_events
from world.small_worlds import AGENTS, CLOCK, IDLE, do, go, lived, placed, say, village

TOWN = village()
AMBIENT = ambient_at(Climate(), 1, CLOCK, 0)


def seen(world: World, me: str, town=TOWN) -> WorldView:
    return look(town, world, me, clock=CLOCK, ambient=AMBIENT)


def test_a_view_holds_ones_own_area() -> None:
    view = seen(placed(TOWN), "ann")
    assert (view.tick, view.me, view.area, view.outdoor) == (1, "ann", "kitchen", False)
    assert view.path == ("Town", "Home", "Kitchen")
    assert set(view.bodies) == {"bob", "cyd"}
    assert list(view.things) == ["fridge", "kettle", "stove"]
    assert view.ways == {"home": True}
    assert view.ambient == AMBIENT
    assert seen(placed(TOWN), "dee").outdoor


def test_a_view_has_no_other_attribute_and_cannot_be_changed() -> None:
    view = seen(placed(TOWN), "ann")
    for name in ("world", "geography", "agents", "log", "count"):
        with pytest.raises(AttributeError):
            getattr(view, name)
    with pytest.raises((FrozenInstanceError, AttributeError, TypeError)):
        view.area = "cafe"  # type: ignore[misc]
    assert {one.name for one in fields(view)} == set(WorldView.__slots__)


def test_nothing_elsewhere_shows_in_a_view() -> None:
    world = placed(TOWN)
    away = replace(
        world,
        bodies={**world.bodies, "dee": replace(world.bodies["dee"], doing="dancing")},
        things={**world.things, "lamp": replace(world.things["lamp"], state="on")},
    )
    assert seen(away, "ann") == seen(world, "ann")


def test_targets_are_what_the_place_allows() -> None:
    targets = seen(placed(TOWN), "ann").targets
    assert targets.areas == ("attic", "cafe", "home", "library", "town")
    assert targets.objects == {
        "fridge": ("TAKE",),
        "kettle": ("USE", "TAKE"),
        "stove": ("USE", "CLOSE"),
    }
    assert targets.agents == ("bob", "cyd")


def test_passages_are_no_targets() -> None:
    town = village(edge_cost=2)
    assert not any(town.nodes[area].passage for area in seen(placed(town), "ann", town).targets.areas)


def test_what_one_carries_can_be_dropped_and_what_others_carry_is_out_of_reach() -> None:
    world, _ = lived(TOWN, placed(TOWN), {"ann": do("TAKE", "kettle")})
    assert seen(world, "ann").targets.objects["kettle"] == ("USE", "DROP")
    assert seen(world, "ann").things["kettle"].parent == "ann"
    assert "kettle" not in seen(world, "bob").things
    assert "kettle" not in seen(world, "bob").targets.objects


def test_nobody_speaks_to_a_sleeper() -> None:
    world, _ = lived(TOWN, placed(TOWN), {"bob": Idle(doing="sleeping", asleep=True)})
    assert seen(world, "ann").targets.agents == ("cyd",)


def test_closed_ways_show_and_stay_targets() -> None:
    view = seen(placed(TOWN, ann="home"), "ann")
    assert view.ways == {"attic": False, "kitchen": True, "town": True}
    assert "attic" in view.targets.areas


def test_events_are_what_others_did_and_the_outcome_is_ones_own() -> None:
    world, _ = lived(TOWN, placed(TOWN), {"ann": do("USE", "stove"), "bob": say("cyd")})
    view = seen(world, "ann")
    assert {event.agent_id for event in view.events} == {"bob", "cyd"}
    assert [event.type for event in view.outcome] == ["INTERACT", "OBJECT_STATE_CHANGED", "OBJECT_STATE_CHANGED"]
    assert [event.type for event in seen(world, "bob").outcome] == ["SAY", "CONVERSATION_STARTED"]
    assert seen(world, "dee").events == ()


def test_words_to_somebody_leaving_are_in_its_view() -> None:
    start = placed(TOWN, dee="home")
    world, _ = lived(TOWN, start, {"ann": say("bob"), "bob": go("home"), "dee": Idle(doing="humming")})
    view = seen(world, "bob")
    assert view.area == "home"
    assert [(event.type, event.place) for event in view.events] == [
        ("SAY", "kitchen"),
        ("IDLE", "home"),
        ("CONVERSATION_ENDED", "kitchen"),
    ]


def test_news_reaches_those_it_is_for() -> None:
    climate = Climate(start_sky="rain", step_hours=1, skies={"rain": (("clear", 1),), "clear": (("rain", 1),)})
    script = (
        Scripted("all", 12, "a siren", Audience(everybody=True)),
        Scripted("there", 12, "a smell of soup", Audience(areas=("kitchen",))),
        Scripted("one", 12, "a buzz in the pocket", Audience(agents=("dee",))),
    )
    world, _ = lived(TOWN, placed(TOWN), *[{}] * 11)
    world, _ = step(
        TOWN, world, {me: Intent(IDLE) for me in AGENTS}, clock=CLOCK,
        ambient=ambient_events(climate, 1, CLOCK, 12), scripted=script,
        inputs=(GodEvent(1, "hail", Audience(agents=("dee",))), InnerVoice(2, "ann", "hm")),
    )  # fmt: skip
    told = {
        me: [getattr(event.body, "text", event.type) for event in seen(world, me).news] for me in ("ann", "bob", "dee")
    }
    assert told == {
        "ann": ["WEATHER_CHANGED", "a siren", "a smell of soup", "hm"],
        "bob": ["WEATHER_CHANGED", "a siren", "a smell of soup"],
        "dee": ["WEATHER_CHANGED", "a siren", "a buzz in the pocket", "hail"],
    }
