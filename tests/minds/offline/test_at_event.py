"""At an event: who comes is welcomed, those who stand about talk, and at the end people take leave."""

from __future__ import annotations

import asyncio
from functools import cache
from typing import Any

import pytest

from commonplace.character.account import digests_of
from commonplace.engine.characters import Characters
from commonplace.engine.driver import Driver, NoJournal
from commonplace.engine.live_state import initial_state
from commonplace.engine.lockstep import Lockstep
from commonplace.minds.notes import FactNote, Gathering, ItemNote, PastNote, Person, changed
from commonplace.minds.offline import OfflineMind
from commonplace.minds.offline.converse import decide
from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.react import react
from commonplace.minds.offline.template_grammar import grammar
from commonplace.minds.tasks import ConverseInput, ConverseOutput, ReactOutput
from commonplace.scenario.compiling import compiled_from_text
from commonplace.stages.town import TOWN
from minds.offline import sample

# ── eight people on a green ──────────────────────────────────────────────────────────────────────────────────────────

GUESTS = {
    "anna": ("17:30", "kind, friendly"),
    "bert": ("17:45", "dry, patient"),
    "cleo": ("17:50", "brisk, practical"),
    "dora": ("17:55", "shy, quiet"),
    "emil": ("18:10", "dreamy, curious"),
    "fred": ("18:15", "outgoing"),
    "gina": ("18:30", "formal, polite"),
    "hugo": ("18:40", "kind, outgoing"),
}
WORDS = {
    "en": (
        "There is a harvest feast on the green tonight at six.",
        "[[harvest], [feast]]",
        "the green",
        "resting at home",
    ),
    "ko": ("오늘 저녁 여섯 시에 풀밭에서 추수 잔치가 열린다.", "[[추수], [잔치]]", "풀밭", "집에서 쉬기"),
}
NAMES = dict(zip(GUESTS, ("철수", "영희", "민수", "지우", "하람", "미정", "태식", "순자"), strict=True))


def village(language: str) -> str:
    """A green and a house, and a feast that all eight know of and go to by their routine."""
    news, groups, green, _ = WORDS[language]
    people = "\n".join(person(id, language, *guest) for id, guest in GUESTS.items())
    return f"""
name: feast
language: {language}
clock: {{start: 2031-10-04T17:30:00, tick_minutes: 5}}
climate: {{sky: clear}}
world:
  root:
    id: village
    name: {"Village" if language == "en" else "마을"}
    outdoor: true
    areas:
      - {{id: green, name: {green}, outdoor: true}}
      - {{id: house, name: {"The House" if language == "en" else "큰집"}}}
characters:
{people}
facts:
  - id: feast
    text: {{{language}: "{news}"}}
    groups: {{{language}: {groups}}}
    originators: [{", ".join([*GUESTS][:5])}]
    place: green
    starts: "2031-10-04T18:00:00"
    minutes: 120
"""


def person(id: str, language: str, comes: str, traits: str) -> str:
    """One of the eight."""
    rest = WORDS[language][-1]
    sleep = "sleeping" if language == "en" else "잠자기"
    name = id.capitalize() if language == "en" else NAMES[id]
    goes, work = ("standing on the green", "gardener") if language == "en" else ("풀밭에 서 있기", "정원사")
    return f"""
  - id: {id}
    name: {name}
    called: {name}
    age: {30 + 5 * (sorted(GUESTS).index(id))}
    pronoun: she
    work: {work}
    traits: [{traits}]
    background: {work}
    goals: [{work}]
    home: house
    routine:
      - {{at: "05:00", do: {rest}, place: house}}
      - {{at: "12:00", do: {rest}, place: house}}
      - {{at: "{comes}", do: {goes}, place: green}}
      - {{at: "20:20", do: {rest}, place: house}}
      - {{at: "23:00", do: {sleep}, place: house}}
"""


@cache
def evening(language: str) -> list[tuple[str, dict[str, Any]]]:
    """All that happened up to nine, with the time."""
    scenario = compiled_from_text(village(language), "green")
    live_state, _ = initial_state(scenario, 7)
    engine = Lockstep(Characters(live_state, TOWN, Driver(OfflineMind(language), NoJournal(), 7, durable=False)))
    loop, events = asyncio.new_event_loop(), list[tuple[str, dict[str, Any]]]()
    try:
        for _ in range(42):
            one = loop.run_until_complete(engine.run_tick())
            engine.apply(one)
            happened = ({"type": event.type, "who": event.agent_id, **event.body.plain()} for event in one.tick.events)
            events += [(f"{one.tick.time:%H:%M}", event) for event in happened]
    finally:
        loop.close()
    return events


def lines(language: str, since: str = "00:00", until: str = "24:00") -> list[dict[str, Any]]:
    return [one for time, one in evening(language) if one["type"] == "SAY" and since <= time < until]


@pytest.mark.parametrize("language", ["en", "ko"])
@pytest.mark.parametrize(("since", "until"), [("18:00", "19:00"), ("19:00", "20:00")])
def test_eight_people_at_an_event_say_fifteen_lines_in_each_hour(language: str, since: str, until: str) -> None:
    said = lines(language, since, until)
    assert len(said) >= 15
    assert len({one["who"] for one in said}) >= 6
    assert len({one["utterance"] for one in said}) > 0.9 * len(said)


@pytest.mark.parametrize("language", ["en", "ko"])
def test_nobody_says_a_line_twice_in_an_evening(language: str) -> None:
    said = [(one["who"], one["utterance"]) for one in lines(language)]
    assert len(said) == len(set(said))


@pytest.mark.parametrize("language", ["en", "ko"])
def test_whoever_comes_while_somebody_is_free_is_welcomed(language: str) -> None:
    came = {
        one["who"]: time
        for time, one in evening(language)
        if one["type"] == "MOVE" and one["to"] == "green" and time < "19:00"
    }
    assert len(came) >= 7
    welcomed = {
        one["to_agent_id"]
        for time, one in evening(language)
        if one["type"] == "SAY" and one["speech_act"] == "greet" and came.get(one["to_agent_id"], "24:00") < time
    }
    late = {who for who, time in came.items() if time >= "18:10"}
    assert len(late) >= 3 and len(late - welcomed) <= 1


@pytest.mark.parametrize(("language", "night"), [("en", "night"), ("ko", "잘 자")])
def test_good_night_is_wished_at_the_end_and_never_before(language: str, night: str) -> None:
    leave = [(time, one) for time, one in evening(language) if one.get("speech_act") == "farewell"]
    assert len([time for time, _ in leave if time >= "19:50"]) >= 3
    assert all(time >= "19:50" for time, one in leave if night in one["utterance"].lower())
    assert any(night in one["utterance"].lower() for _, one in leave)


# ── what one says ────────────────────────────────────────────────────────────────────────────────────────────────────

KNOWN = 12
PLAZA = sample.PLACES[2]
EVENT = Gathering(note=sample.FESTIVAL, because=(KNOWN,), host="jun")
OTHER = changed(sample.jun(), id="suki", name="Suki Vale", called="Suki")


def at(
    time: str, *people: Person, event: Gathering = EVENT, purpose: str = "mingle", number: int = 0, sky: str = "clear"
) -> tuple[ConverseOutput, str]:
    """A line to the first of these people, and the row that decided."""
    talk = ConverseInput(
        who=sample.mira(), situation=sample.here(time, place=PLAZA, people=people, sky=sky), hearer=people[0],
        purpose=purpose, gathering=event,
    )  # fmt: skip
    said = decide(talk, Dice((7, "mira", number, 0)))
    assert isinstance(said.value, ConverseOutput)
    return said.value, str(said.row["row"]).removeprefix("at_event + event.")


def rows(time: str, *people: Person, **more: Any) -> set[str]:
    """The rows that decide over twenty evenings."""
    found = [at(time, *people, number=number, **more) for number in range(20)]
    assert all(KNOWN in said.because for said, _ in found)
    return {row for _, row in found}


def test_what_is_said_rests_on_the_memory_of_the_event_and_fits_the_moment() -> None:
    assert rows("18:50", OTHER) == {"soon"}
    assert rows("19:05", OTHER) == {"begins"}
    assert {"here", "clear"} <= rows("19:40", OTHER)
    assert "wet" in rows("19:40", OTHER, sky="rain")
    assert "other" in rows("19:40", OTHER, sample.jun())


def test_the_host_is_thanked_in_the_course_of_the_evening_and_nobody_else() -> None:
    evening = [f"{19 + minute // 60}:{minute % 60:02}" for minute in range(15, 110, 5)]
    assert any("thanks" in rows(time, sample.jun()) for time in evening)
    assert not any("thanks" in rows(time, OTHER) for time in evening)


def test_a_glass_is_raised_at_a_festival_and_at_no_meeting() -> None:
    meeting = changed(sample.FESTIVAL, text="There is a meeting about the drains at the plaza tonight at seven.")
    evening = [f"{19 + minute // 60}:{minute % 60:02}" for minute in range(15, 110, 5)]
    assert any("toast" in rows(time, OTHER) for time in evening)
    assert not any("toast" in rows(time, OTHER, event=changed(EVENT, note=meeting)) for time in evening)


def test_who_said_they_would_come_is_missed() -> None:
    suki = PastNote(kind="agreed", other="suki", called="Suki", topic=sample.FESTIVAL.id, because=(30,))
    event = changed(EVENT, host="ezekiel", missing=(suki,))
    found = [at("19:40", sample.jun(), event=event, number=number)[0] for number in range(20)]
    missed = [one for one in found if one.speech_act == "tell.missed"]
    assert missed
    assert all("Suki" in one.utterance and 30 in one.because for one in missed)


def test_what_has_been_said_at_the_event_by_anybody_is_not_said_there_again() -> None:
    first = at("19:05", OTHER)[0].utterance
    heard = changed(EVENT, heard=tuple(sorted(digests_of(first))))
    assert at("19:05", OTHER, event=heard)[0].utterance not in ("", first)


@pytest.mark.parametrize("language", ["en", "ko"])
def test_each_case_has_twelve_wordings(language: str) -> None:
    cases = {name: found for name, found in grammar(language).rules.items() if name.startswith("event.missed")}
    cases |= {
        f"event.{name}": grammar(language).rules[f"event.{name}"]
        for name in ("welcome", "welcome_host", "awaited", "late", "soon", "begins", "here", "thing", "wet", "clear",
                     "other", "toast", "thanks", "part", "part_night", "part_next", "part_host")
    }  # fmt: skip
    assert {name: len(found) for name, found in cases.items() if len(found) < 12} == {}


# ── whether one says something ───────────────────────────────────────────────────────────────────────────────────────


def reacts(note: FactNote = sample.FESTIVAL, time: str = "19:40", since: int = 200) -> list[ReactOutput]:
    """What one does over twenty evenings, having one's turn."""
    now = ItemNote(start="18:45", minutes=150, location="plaza", location_name="Lattice Plaza", do="looking about")
    given = sample.reaction(
        sample.news("gathering", "People are standing about at the lantern festival.", KNOWN),
        situation=sample.here(time, place=PLAZA, people=(sample.jun(since=since),)),
        gathering=changed(EVENT, note=note), now=now,
    )  # fmt: skip
    return [react(given, Dice((7, "mira", number, 0))) for number in range(20)]


def test_who_has_a_turn_mostly_says_something_to_somebody_they_have_not_just_talked_to() -> None:
    said = [one for one in reacts() if one.decision == "talk"]
    assert len(said) > 10
    assert {(one.target, one.purpose, one.because) for one in said} == {("jun", "mingle", (KNOWN,))}
    assert all(one.decision == "keep" for one in reacts(since=10))
    assert {one.purpose for one in reacts(time="20:55") if one.decision == "talk"} == {"part"}


def test_nobody_makes_small_talk_at_a_funeral() -> None:
    funeral = changed(sample.FESTIVAL, text="There is a funeral at the plaza tonight at seven.")
    assert all(one.decision == "keep" for one in reacts(funeral))
