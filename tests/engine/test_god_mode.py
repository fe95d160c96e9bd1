"""A sentence of god mode: what it raises and ends, and what the preview says of it."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from commonplace.api import create_run, resume_run
from commonplace.engine.god_mode import asked, preview
from commonplace.engine.run import Run
from commonplace.errors import UsageError
from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.happens import book
from commonplace.minds.offline.perceive_event import perceive_event
from commonplace.scenario.compiling import compiled_from_text, load
from commonplace.scenario.loading import find
from commonplace.world.circumstances import Circumstance, shipped_kinds, subject_of
from commonplace.world.events import GodSpoke, of_kind
from run.small_runs import fork

SENTENCES = Path(__file__).with_name("god_sentences.txt")


def sentences() -> Iterator[tuple[str, str, frozenset[str]]]:
    town = ""
    for line in SENTENCES.read_text(encoding="utf-8").splitlines():
        town = line.removeprefix("== ") if line.startswith("== ") else town
        text, arrow, wanted = line.partition("=>")
        if arrow and not line.startswith("#"):
            yield town, text.strip(), frozenset(wanted.split())


@pytest.fixture(scope="module")
def towns(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Run]]:
    folder = tmp_path_factory.mktemp("towns")
    runs = {name: create_run(folder / f"{name}.run", name) for name in ("latticeville", "sijang")}
    for run in runs.values():
        list(run.play_sync(36))
    yield runs
    for run in runs.values():
        run.close()


@pytest.mark.parametrize(("town", "text", "wanted"), [*sentences()])
def test_a_sentence_raises_what_it_says(towns: dict[str, Run], town: str, text: str, wanted: frozenset[str]) -> None:
    so = sorted(key[1:] for key in wanted if key.startswith("-"))
    world = replace(
        towns[town].reading.world_at(),
        circumstances={key: Circumstance(*subject_of(key), since=0) for key in so},
    )
    found = perceive_event(asked(text, towns[town].scenario, world), Dice((7, "-", 1, 0)))
    said = {*found.begins, *(f"-{key}" for key in found.ends)}
    said |= {f"by={found.by}"} if found.by else set()
    said |= {f"hours={found.hours}"} if found.hours else set()
    said |= {"?"} if found.unclear else set()
    said |= {"new"} if found.newcomer else set()
    assert said == wanted


def shown_on_the_page() -> Iterator[tuple[str, str, frozenset[str]]]:
    page = (Path(__file__).parents[2] / "docs" / "circumstances.md").read_text(encoding="utf-8")
    head, rows = "| in `latticeville` | begins or ends | in `sijang` | begins or ends |\n|---|---|---|---|\n", page
    for row in rows.split(head)[1].split("\n\n")[0].splitlines():
        english, raised, korean, also = (cell.strip() for cell in row.strip("|").split("|"))
        for town, text, keys in (("latticeville", english, raised), ("sijang", korean, also)):
            yield town, text, frozenset(re.findall(r"`(\w+\.[\w-]+)`", keys))


@pytest.mark.parametrize(("town", "text", "keys"), [*shown_on_the_page()])
def test_the_examples_of_the_page_are_true(towns: dict[str, Run], town: str, text: str, keys: frozenset[str]) -> None:
    world = towns[town].reading.world_at()
    so = {key: Circumstance(*subject_of(key), since=0) for key in sorted(keys)}
    given = asked(text, towns[town].scenario, replace(world, circumstances=so))
    found = perceive_event(given, Dice((7, "-", 1, 0)))
    assert {*found.begins, *found.ends} == keys


def previewed(run: Run, text: str) -> tuple[dict[str, Any], str]:
    body = asyncio.run(run.preview(text))
    return body, run.described(body)


@pytest.mark.parametrize(
    ("town", "text", "says"),
    [
        ("latticeville", "A fire breaks out in the noodle bar",
         ["is on fire (for 2 hours)", "then Mira's Noodle Bar is closed (for 40 hours)", "concerns most: Mira"]),
        ("latticeville", "Halima is ill for five days", ["Halima is ill (for 5 days)", "Odalys (friend who"]),
        ("latticeville", "Bruno breaks his leg", ["Bruno is hurt", "Halima (doctor)"]),
        ("latticeville", "Ezekiel dies", ["Ezekiel is dead (for good)", "Pip (grandfather)"]),
        ("latticeville", "A dog barks", ["everybody will perceive", "only words"]),
        ("latticeville", "The Cedar Baths are flooded", ["nobody is there now; whoever comes"]),
        ("sijang", "국숫집에 불이 난다", ["불이 났다 (2시간 동안)", "그다음: 미정네 국숫집이 문을 닫았다", "미정"]),
        ("sijang", "개가 짖는다", ["모두", "말뿐입니다"]),
    ],
)  # fmt: skip
def test_the_preview_says_what_will_be_so(towns: dict[str, Run], town: str, text: str, says: list[str]) -> None:
    told = previewed(towns[town], text)[1]
    assert [one for one in says if one not in told] == [], told


@pytest.mark.parametrize(("town", "text"), [("latticeville", "Adeyemi is ill"), ("sijang", "그가 죽었다")])
def test_what_may_be_of_one_or_another_is_asked_for(towns: dict[str, Run], town: str, text: str) -> None:
    with pytest.raises(UsageError):
        previewed(towns[town], text)


def test_a_sentence_about_somebody_is_perceived_by_those_with_them(towns: dict[str, Run]) -> None:
    run = towns["latticeville"]
    where = run.reading.world_at().bodies["suki"].area
    body, _ = previewed(run, "Suki faints")
    assert body["to"] == {"everybody": False, "areas": [where], "agents": ["suki"]}


def test_whoever_it_befalls_elsewhere_is_put_there(town: Path, tmp_path: Path) -> None:
    fork(town, 36, tmp_path / "a.run").close()
    with resume_run(tmp_path / "a.run") as run:
        body, told = previewed(run, "Bruno insults Suki at the Fox Shrine")
        assert body["brings"] == {"bruno": "shrine", "suki": "shrine"} and "at Fox Shrine" in told
        run.submit(body)
        [tick] = run.play_sync(1)
        [(_, spoke)] = of_kind(tick.events, GodSpoke)
        assert {agent for agent, _ in spoke.percepts} >= {"bruno", "suki"}
        assert run.reading.world_at().circumstances["insulted.suki"].by == "bruno"


def test_of_two_in_love_each_is_in_love_with_the_other(towns: dict[str, Run]) -> None:
    body, _ = previewed(towns["latticeville"], "Jun and Wren kiss")
    assert [(one["of"], one["by"]) for one in body["raises"]] == [("jun", "wren"), ("wren", "jun")]


@pytest.mark.parametrize(
    ("town", "text"), [("latticeville", "Bruno quarrels with Halima"), ("sijang", "본철이 은영과 싸운다")]
)
def test_a_quarrel_is_of_both_and_takes_place_where_one_of_them_is(towns: dict[str, Run], town: str, text: str) -> None:
    body, _ = previewed(towns[town], text)
    (first, other), (second, one) = [(raised["of"], raised["by"]) for raised in body["raises"]]
    assert (first, other) == (one, second) and len(body.get("brings", {})) <= 1


@pytest.mark.parametrize(
    ("town", "text", "thing"),
    [
        ("latticeville", "Mira has lost the gramophone", "gramophone"),
        ("sijang", "누가 금고를 통째로 훔쳐 갔다", "safe"),
    ],
)
def test_a_thing_that_is_lost_or_stolen_is_not_in_the_world(
    towns: dict[str, Run], town: str, text: str, thing: str
) -> None:
    assert previewed(towns[town], text)[0]["moves"] == [[thing, ""]]


def test_a_stranger_who_asks_for_somebody_is_seen_by_those_at_the_place(towns: dict[str, Run]) -> None:
    body, _ = previewed(towns["sijang"], "박수경이라는 낯선 여자가 찻집에 들어와 윤태식을 찾는다")
    assert body["newcomer"]["area"] == "teashop" and body["to"]["areas"] == ["teashop"] and not body["to"]["agents"]
    assert [one["of"] for one in body["raises"]] == ["taesik"] and "brings" not in body


def test_a_room_closes_while_whoever_keeps_it_alone_is_away(towns: dict[str, Run]) -> None:
    run = towns["latticeville"]
    body, told = previewed(run, "Mira leaves for the coast for two days")
    assert [(one["kind"], one["of"], one["hours"]) for one in body["raises"]] == [
        ("away", "mira", 48), ("closed", "noodle-bar", 48),
    ]  # fmt: skip
    assert "Mira's Noodle Bar is closed (for 2 days)" in told
    assert previewed(towns["sijang"], "미정이 여행을 떠난다")[0]["to"]["agents"] == ["mijeong", "daon"], (
        "who lives with her"
    )
    assert [one["of"] for one in previewed(run, "Odalys is ill")[0]["raises"]] == ["odalys"]


@pytest.mark.parametrize(
    ("text", "kind", "shut", "ends"),
    [
        ("Mira comes back", "away", 20, ["away.mira", "closed.noodle-bar"]),
        ("Mira comes back", "away", 24, ["away.mira"]),  # it burnt while she was away
        ("Mira is well again", "ill", 20, ["ill.mira"]),
    ],
)
def test_a_room_opens_again_with_whoever_left_it_shut_and_for_no_other_reason(
    towns: dict[str, Run], text: str, kind: str, shut: int, ends: list[str]
) -> None:
    run = towns["latticeville"]
    so = {f"{kind}.mira": Circumstance(kind, "mira", since=20)}
    so["closed.noodle-bar"] = Circumstance("closed", "noodle-bar", since=shut)
    world = replace(run.reading.world_at(), circumstances=so)
    body = asyncio.run(preview(text, run.scenario, world, run._engine.driver))  # pyright: ignore[reportPrivateUsage]
    assert body["ends"] == ends


@pytest.mark.parametrize("text", ["", "  ", "…"])
def test_a_sentence_without_words_is_refused(towns: dict[str, Run], text: str) -> None:
    with pytest.raises(UsageError, match="no words"):
        previewed(towns["latticeville"], text)


def test_without_power_nothing_is_switched_on(tmp_path: Path) -> None:
    with create_run(tmp_path / "a.run", "sijang") as run:
        list(run.play_sync(36))
        run.submit(previewed(run, "시장 전체가 정전이다")[0])
        list(run.play_sync(1))
        world = run.reading.world_at()
        assert {world.things[one].state for one in ("guksu-radio", "pharm-sign", "tteok-sign")} == {"꺼짐"}
        list(run.play_sync(40))
        world = run.reading.world_at()
        assert {world.things[one].state for one in ("guksu-radio", "pharm-sign", "tteok-sign")} == {"꺼짐"}


def test_nobody_notices_what_is_drawn_on_their_own_face(towns: dict[str, Run]) -> None:
    body, _ = previewed(towns["latticeville"], "Pip draws a moustache on Bruno")
    assert [one["kind"] for one in body["raises"]] == ["scrawled"] and "bruno" not in body["to"]["agents"]


@pytest.mark.parametrize(
    ("town", "text", "card"),
    [
        ("latticeville", "A 40-year-old sailor named Viktor asks for Mira", ("Viktor", 40, "sailor")),
        ("sijang", "빅토르라는 40세 선원이 미정을 찾아온다", ("빅토르", 40, "선원")),
    ],
)
def test_somebody_whom_nobody_knows_comes_in_after_the_preview_said_so(
    tmp_path: Path, town: str, text: str, card: tuple[str, int, str]
) -> None:
    with create_run(tmp_path / "a.run", town) as run:
        list(run.play_sync(1))
        body, told = previewed(run, text)
        assert card[0] in told and str(card[1]) in told and card[2] in told
        assert len(run.scenario.personas) == len(load(town).personas)
        run.submit(body)
        list(run.play_sync(2))
        found = [one for one in run.scenario.personas.values() if one.name == card[0]]
        assert [(one.name, one.age, one.work) for one in found] == [card]
        assert found[0].id in run.reading.world_at().bodies


def test_a_closed_place_is_a_circumstance_and_a_locked_door_is_a_door(towns: dict[str, Run]) -> None:
    body, _ = previewed(towns["latticeville"], "The arcade is closed")
    assert [one["kind"] for one in body["raises"]] == ["closed"] and not body["closes"]
    body, _ = previewed(towns["latticeville"], "The door of the arcade is locked")
    assert not body["raises"] and body["closes"]


def test_what_is_taken_is_gone_and_is_news(towns: dict[str, Run]) -> None:
    body, _ = previewed(towns["latticeville"], "Somebody steals the gramophone")
    assert body["moves"] == [["gramophone", ""]] and body["raises"][0]["kind"] == "stolen"


@pytest.mark.parametrize("language", ["en", "ko"])
def test_the_rows_are_of_kinds_that_ship(language: str) -> None:
    rows = book(language)
    assert {kind for kinds in (*rows.begins, *rows.ends) for kind in kinds.split()} <= shipped_kinds(language).keys()
    assert shipped_kinds(language).keys() == {kind for kinds in rows.begins for kind in kinds.split()}


HAUNTED = {
    "of": "place",
    "hours": 3,
    "then": {"closed": 2},
    "words": {
        "now": "There is a ghost at {x}.",
        "over": "No ghost walks about {x} any more.",
        "names": "ghost | haunted",
        "tell": ["{X} is haunted, I tell you."],
    },
}


def test_a_kind_of_its_own_works_from_the_file_to_the_talk(tmp_path: Path) -> None:
    document: dict[str, Any] = deepcopy(find("plaza").data)
    document["circumstances"] = {"haunted": HAUNTED}
    document["script"] = [
        {"id": "ghost", "at": "08:00", "text": "Something white floats through the café.", "to": {"areas": ["cafe"]},
         "raises": [{"kind": "haunted", "of": "cafe"}]},
    ]  # fmt: skip
    path = tmp_path / "haunted.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    assert compiled_from_text(path.read_text(encoding="utf-8"), "haunted").kinds["haunted"].hours == 3
    with create_run(tmp_path / "a.run", path) as run:
        list(run.play_sync(12 * 4))
        world = run.reading.world_at()
        assert world.circumstances["haunted.cafe"].holds
        known = {me for me in world.bodies for memory in run.reading.memories(me) if "ghost" in memory.text}
        assert known, "whoever comes in notices it"
        assert previewed(run, "The watch workshop is haunted")[0]["raises"] == [{"kind": "haunted", "of": "workshop"}]
        list(run.play_sync(12 * 2))
        world = run.reading.world_at()
        assert not world.circumstances["haunted.cafe"].holds and world.circumstances["closed.cafe"].holds


def test_what_is_loud_at_night_wakes_those_next_to_it_and_the_dark_wakes_nobody(towns: dict[str, Run]) -> None:
    run, world = towns["latticeville"], towns["latticeville"].reading.world_at()
    asleep = {me: replace(body, area=run.scenario.personas[me].home, asleep=True) for me, body in world.bodies.items()}

    def woken(text: str) -> set[str]:
        driver = run._engine.driver  # pyright: ignore[reportPrivateUsage]
        body = asyncio.run(preview(text, run.scenario, replace(world, bodies=asleep), driver))
        return {agent for agent, _ in body["befalls"]}

    assert woken("Something huge scrapes along the canal wall and moans") == {"ezekiel", "pip", "suki", "wren"}
    assert woken("The lights go out on Canal Walk") == set()


def test_those_with_somebody_who_is_called_by_another_name_perceive_what_befalls_them(towns: dict[str, Run]) -> None:
    body, _ = previewed(towns["latticeville"], "Dr Aziz takes the morning barge to a conference on the coast")
    assert body["to"]["agents"] == ["halima"] and not body["to"]["everybody"]


def test_what_is_lost_is_not_in_the_world(towns: dict[str, Run]) -> None:
    body, told = previewed(towns["latticeville"], "Somebody stole the courier drone from Jun's workshop")
    assert body["moves"] == [["courier-drone", ""]] and "courier drone is gone" in told


def test_everybody_perceives_what_is_so_of_the_whole_town(towns: dict[str, Run]) -> None:
    body, _ = previewed(towns["latticeville"], "the power goes out everywhere and the arcade screens die")
    assert body["to"] == {"everybody": True, "areas": [], "agents": []}


def test_somebody_new_on_the_square_has_a_roof_for_the_night(towns: dict[str, Run]) -> None:
    run = towns["latticeville"]
    body, _ = previewed(run, "A stranger by the name of Tobias Vane walks across the plaza with a wet suitcase")
    assert body["newcomer"]["area"] == "plaza"
    assert not run.scenario.geography.nodes[body["newcomer"]["character"]["home"]].outdoor
