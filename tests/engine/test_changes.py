"""What is changed by hand is history: it has a tick, and every replay and every resumed run meets it again."""

from __future__ import annotations

from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.api import create_run, open_run, resume_run
from commonplace.engine.changes import BELIEF, CARD, FIELDS, RELATION, checked
from commonplace.errors import UsageError
from commonplace.rng import Seeds
from commonplace.run.frames import Frame
from commonplace.scenario.compiling import load
from commonplace.scenario.model import CharacterPart, RelationPart
from commonplace.world.inputs import BODY_FIELDS
from e2e.command import command, ends
from run.small_runs import fork
from sizes import PROVE

AT, MORE = (84, 24) if PROVE else (36, 5)
WISHES: list[dict[str, Any]] = [
    {"agent_id": "mira", "field": "place", "value": "plaza"},
    {"agent_id": "mira", "field": "doing", "value": "standing on a crate"},
    {"agent_id": "mira", "field": "emoji", "value": "📣"},
    {"agent_id": "mira", "field": "age", "value": 61},
    {"agent_id": "mira", "field": "traits", "value": "sly; quiet"},
    {"agent_id": "mira", "field": "goals", "value": ["to leave the town"]},
    {"agent_id": "mira", "field": "home", "value": "teahouse"},
    {"agent_id": "mira", "field": "relation.suki.warmth", "value": "-90"},
    {"agent_id": "suki", "field": "asleep", "value": "true"},
    {"agent_id": "suki", "field": "belief.tin-kettle.state", "value": "hot"},
    {"agent_id": "-", "field": "seed", "value": 99},
    {"agent_id": "-", "field": "policy", "value": "recall"},
]


def lived(path: Path, *wishes: dict[str, Any], ticks: int = 1) -> None:
    with resume_run(path) as run:
        for wish in wishes:
            run.submit({"kind": "set", **wish})
        list(run.play_sync(ticks))


@pytest.fixture(scope="module")
def changed(town: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The town with everything changed that can be. Not to be written to."""
    path = tmp_path_factory.mktemp("changes") / "changed.run"
    fork(town, AT, path, fresh=True).close()
    lived(path, *WISHES, ticks=MORE)
    return path


def test_every_change_is_an_event_of_its_tick(changed: Path) -> None:
    with open_run(changed) as run:
        events = run.events(AT, AT + 2, type="CHANGED")
        assert {event.tick for event in events} == {AT + 1}
        assert {(event.agent_id, event.body.field) for event in events} == {
            (wish["agent_id"], wish["field"]) for wish in WISHES
        }
        [home] = [event for event in events if event.body.field == "home"]
        assert run.why(home.id)["explanation"].startswith("An input from outside")


def test_the_state_is_what_was_set(changed: Path) -> None:
    with open_run(changed) as run:
        then = AT + 1
        body = run.world_at(then).bodies["mira"]
        assert (body.area, body.doing, body.emoji) == ("plaza", "standing on a crate", "📣")
        assert run.world_at(then).bodies["suki"].asleep
        state = run.state_at("mira", then)
        assert state.card == {
            "age": 61, "goals": ["to leave the town"], "home": "teahouse", "traits": ["sly", "quiet"],
        }  # fmt: skip
        assert state.relations["suki"].warmth == -90
        assert state.belief.knows("teahouse")
        assert run.state_at("suki", then).belief.nodes["tin-kettle"].state == "hot"
        assert run.settings_at(then) == {"seed": 99, "policy": "recall"}
        assert run.settings_at(AT) == {}
        assert run.cards_at(AT) == {}
        assert run.state_at("mira", AT + MORE).card == state.card


def test_a_changed_card_is_what_the_mind_is_told(changed: Path) -> None:
    with open_run(changed) as run:
        mira = run.scenario.personas["mira"]
        now = mira.changed(run.cards_at()["mira"])
    assert (now.home, now.traits, now.age, now.name) == ("teahouse", ("sly", "quiet"), 61, mira.name)
    with resume_run(changed.with_name("changed.run")) as run:
        view = run._engine.live_state.view("mira")
        assert asdict(view.persona) == asdict(now)
        assert view.scenario.policy.name == "recall"


def test_it_verifies(changed: Path) -> None:
    assert "the same history" in command("verify", changed).err


def test_resuming_at_every_tick_gives_the_same_history(changed: Path, town: Path, tmp_path: Path) -> None:
    path = tmp_path / "often.run"
    fork(town, AT, path, fresh=True).close()
    lived(path, *WISHES)
    for _ in range(MORE - 1):
        lived(path)
    assert ends(path) == ends(changed)


def test_a_fork_of_it_goes_the_same_way(changed: Path, tmp_path: Path) -> None:
    fork(changed, AT + 2, tmp_path / "again.run").close()
    lived(tmp_path / "again.run", ticks=MORE - 2)
    assert ends(tmp_path / "again.run") == ends(changed)


def test_nobody_perceives_that_something_was_changed(changed: Path) -> None:
    with open_run(changed) as run:
        world = run.world_at(AT + 1)
        assert not any(event.type == "CHANGED" for own in world.outcomes.values() for event in own)
        assert not any(event.type == "CHANGED" for told in world.told.values() for event in told)
        assert not any(event.type == "CHANGED" for here in world.happened.values() for event in here)


def test_who_is_put_elsewhere_leaves_the_talk(town: Path, tmp_path: Path) -> None:
    with open_run(town) as run:
        tick, talk = next(
            (tick, talk)
            for tick in range(20, 100)
            for talks in run.world_at(tick).conversations.values()
            for talk in talks
            if len(talk.members) == 2
            and any(talk.id == one.id for later in run.world_at(tick + 1).conversations.values() for one in later)
        )
    me = talk.members[0]
    fork(town, tick, tmp_path / "torn.run").close()
    lived(tmp_path / "torn.run", {"agent_id": me, "field": "place", "value": "garden"}, ticks=2)
    with open_run(tmp_path / "torn.run") as run:
        after = run.world_at(tick + 1)
        assert after.bodies[me].area == "garden"
        assert not any(talk.id == one.id for talks in after.conversations.values() for one in talks)
        assert any(event.type == "CONVERSATION_ENDED" for event in run.events(tick + 1, tick + 1, agent=me))
    assert "the same history" in command("verify", tmp_path / "torn.run").err


def test_the_weather_is_that_of_the_new_seed_from_the_next_tick_on(changed: Path) -> None:
    with open_run(changed) as run, open_run(changed) as other:
        frames: list[Frame] = list(run.frames(AT, AT + MORE))
        for frame in reversed(frames):
            assert other.frame(frame.tick) == frame
        assert (run.seeds.at(AT + 1), run.seeds.at(AT + 2)) == (7, 99)
        for before, frame in pairwise(frames):
            [*news] = [event for event in frame.events if event.type == "WEATHER_CHANGED"]
            assert [event.body.to for event in news] == ([frame.sky] if frame.sky != before.sky else [])


@given(st.lists(st.tuples(st.integers(0, 40), st.integers()), max_size=5, unique_by=lambda pair: pair[0]).map(sorted))
def test_a_seed_holds_from_the_tick_after_it_was_set(changes: list[tuple[int, int]]) -> None:
    seeds = Seeds(7)
    for tick, seed in changes:
        seeds = seeds.changed(tick, seed)
    for tick in range(-1, 45):
        assert seeds.at(tick) == Seeds(7, changes).at(tick)
        assert seeds.at(tick) == ([7] + [seed for changed, seed in changes if changed < max(tick, 0)])[-1]


# ── what cannot be set ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("moood", "glad", "fields are place, doing"),
        ("relation.jun.warmht", 1, "did you mean relation.OTHER.warmth"),
        ("goal", "x", "did you mean goals"),
        ("place", "noodlebar", "the nearest is 'noodle-bar'"),
        ("home", "nowhere", "the nearest is"),
        ("relation.june.warmth", 1, "the nearest is 'jun'"),
        ("relation.jun.warmth", 101, "less than or equal to 100"),
        ("relation.jun.warmth", "cold", "integer"),
        ("relation.jun.label", "x" * 61, "60 characters"),
        ("age", -1, "greater than or equal to 0"),
        ("pronoun", "it", "'she', 'he' or 'they'"),
        ("traits", "", "at least 1"),
        ("asleep", "perhaps", "boolean"),
        ("doing", "x" * 200, "120 characters"),
        ("belief.tin-kettle.state", "molten", "the nearest is"),
        ("belief.mira.place", "plaza", "object or area 'mira'"),
        ("belief.nothing.place", "plaza", "the nearest is"),
    ],
)
def test_what_does_not_fit_is_refused_with_what_does(field: str, value: object, said: str) -> None:
    with pytest.raises(UsageError) as error:
        checked({"agent_id": "mira", "field": field, "value": value}, load("latticeville"))
    assert said in str(error.value)


def test_a_setting_that_does_not_exist_is_refused() -> None:
    for field, value, said in (
        ("speed", 3, "settings are seed, policy"),
        ("policy", "recal", "recall"),
        ("seed", "x", ""),
    ):
        with pytest.raises(UsageError) as error:
            checked({"agent_id": "-", "field": field, "value": value}, load("plaza"))
        assert said in str(error.value)


def test_an_unknown_character_or_a_missing_value_is_refused(tmp_path: Path) -> None:
    with create_run(tmp_path / "a.run", "plaza") as run:
        for body in ({"agent_id": "nobody", "field": "age", "value": 3}, {"agent_id": "ines", "field": "age"}, {}):
            with pytest.raises(UsageError):
                run.submit({"kind": "set", **body})
        assert run.file.queued() == ()


def test_every_field_is_one_of_the_scenario() -> None:
    assert set(CARD) <= CharacterPart.model_fields.keys()
    assert set(RELATION) <= RelationPart.model_fields.keys()
    named = {
        *BODY_FIELDS,
        *CARD,
        *(f"relation.OTHER.{one}" for one in RELATION),
        *(f"belief.THING.{one}" for one in BELIEF),
    }
    assert set(FIELDS) == named


# ── as a command ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_fork_with_changes_says_them_and_parts_at_the_next_tick(plaza: Path, tmp_path: Path) -> None:
    new = tmp_path / "new.run"
    done = command(
        "fork", plaza, "--at", 30, "-o", new,
        "--set", "Ines.relation.Bruno.warmth=-20", "--set", "ines.place=Square",
        "--leave", "bruno", "--seed", 8, "--policy", "recall",
    )  # fmt: skip
    assert done.lines[1:3] == [
        "at tick 31 ines.relation.bruno.warmth becomes -20",
        "at tick 31 ines.place becomes square",
    ]
    assert ends(new) == ends(plaza, 30)
    command("resume", new, "--ticks", 3, "--view", "none")
    with open_run(new) as run, open_run(plaza) as parent:
        assert run.diff(parent)["parted"]["tick"] == 31
        assert "bruno" not in run.world_at().bodies
        assert run.state_at("ines", 31).relations["bruno"].warmth == -20
    assert "the same history" in command("verify", new).err
    command("fork", new, "--at", 33, "-o", tmp_path / "back.run", "--join", "bruno:cafe")
    command("resume", tmp_path / "back.run", "--ticks", 1, "--view", "none")
    with open_run(tmp_path / "back.run") as run:
        assert run.world_at().bodies["bruno"].area == "cafe"


@pytest.mark.parametrize(
    ("option", "wish", "said"),
    [
        ("--set", "ines", "AGENT.FIELD=VALUE"),
        ("--set", "ines.age", "AGENT.FIELD=VALUE"),
        ("--set", "inez.age=3", "did you mean ines"),
        ("--set", "ines.agee=3", "did you mean age"),
        ("--join", "ines", "in the world at tick 30 already"),
        ("--join", "ines:nowhere", "in the world at tick 30 already"),
        ("--leave", "nobody", "there is no character"),
        ("--policy", "recal", "recall"),
    ],
)
def test_a_wrong_wish_makes_no_file(plaza: Path, tmp_path: Path, option: str, wish: str, said: str) -> None:
    done = command("fork", plaza, "--at", 30, "-o", tmp_path / "new.run", option, wish, status=2)
    assert said in done.err
    assert list(tmp_path.iterdir()) == []


def test_an_unchanged_fork_keeps_the_digest_of_its_parent(plaza: Path, tmp_path: Path) -> None:
    new = tmp_path / "new.run"
    command("fork", plaza, "--at", 40, "-o", new)
    command("resume", new, "--until", 60, "--view", "none")
    assert ends(new) == ends(plaza)
