"""Who told whom: `diffusion` and `heard_from`, over a history written by hand."""

from __future__ import annotations

import pytest

from commonplace.analysis.diffusion import diffusion
from commonplace.memory import Draft, MemoryStream
from commonplace.run.manifest import Manifest
from commonplace.run.opening import create_store
from commonplace.run.place import Place
from commonplace.run.reading import Reading
from commonplace.run.rows import TickRecord
from commonplace.run.versions import state_versions, world_versions
from commonplace.run.why import as_text, why
from commonplace.scenario.compiling import compiled_from_text
from commonplace.world.events import Event, GodSpoke, Phase, Spoke
from run.databases import Home

CHARACTER = """
  - {{id: {0}, name: {1}, age: 30, traits: [kind], home: home,
      routine: [{{at: "07:00", do: waking, place: home}}, {{at: "08:00", do: eating, place: home}},
                {{at: "09:00", do: working, place: home}}, {{at: "18:00", do: resting, place: home}},
                {{at: "22:00", do: sleeping, place: home}}]}}"""
TEXT = """name: small
world:
  root: {id: home, name: Home}
facts:
  - id: party
    text: {en: there is a party on Friday, ko: 금요일에 잔치가 있다}
    groups: {en: [[party, feast], [friday]], ko: [[잔치], [금요일]]}
    originators: [ann]
characters:""" + "".join(CHARACTER.format(me, me.title()) for me in ("ann", "bob", "cyd", "dee", "eve"))
SCENARIO = compiled_from_text(TEXT)
MANIFEST = Manifest(scenario="small", text=TEXT, seed=1, mind="offline")
TOLD = "There is a party, come on Friday!"


class Story:
    """Lines said and heard, one tick after another."""

    def __init__(self, path: Place) -> None:
        self.run = create_store(path, MANIFEST)
        self.streams = {me: MemoryStream(me) for me in SCENARIO.personas}
        self.drafts: dict[str, Draft] = {}
        versions = list(world_versions(None, SCENARIO.opening))
        for me, state in SCENARIO.states.items():
            versions += state_versions(me, None, state)
        for part in SCENARIO.memories["ann"]:
            self.remember("ann", part.text, 0)
        self.commit(0, (), tuple(versions))

    def remember(self, me: str, text: str, tick: int, event: str = "", **fields) -> int:
        if me not in self.drafts:
            self.drafts[me] = Draft(self.streams[me])
        return self.drafts[me].remember(text, at=SCENARIO.clock.time(tick), tick=tick, event=event, **fields).id

    def commit(self, tick: int, events: tuple[Event, ...], versions=()) -> None:
        deltas = {me: draft.delta for me, draft in self.drafts.items()}
        for me, delta in deltas.items():
            self.streams[me].apply(delta)
        self.drafts = {}
        self.run.commit(TickRecord(tick, events, deltas, versions, ()))

    def said(self, tick: int, me: str, to: str, text: str, carrier: int, claimed=()) -> Event:
        carries = SCENARIO.facts[0].carried_by(text)
        spoke = Spoke(
            to_agent_id=to, utterance=text, facts=("party",) if carries else (), claimed=tuple(claimed),
            carriers=(carrier,) if carries else (),
        )  # fmt: skip
        return Event(tick, Phase.ACTION, me, 0, "home", spoke)

    def heard(self, event: Event, *hearers: str) -> dict[str, int]:
        text = f"{event.agent_id.title()} says: “{event.body.utterance}”"
        return {me: self.remember(me, text, event.tick + 1, event.id) for me in hearers}


@pytest.fixture
def reading(home: Home):
    story = Story(home / "a.run")
    first = story.said(1, "ann", "bob", TOLD, 1)
    story.commit(1, (first,))
    ids = story.heard(first, "bob", "cyd")
    story.remember("ann", f"Ann said to Bob: “{TOLD}”", 2, first.id, kind="action")
    second = story.said(2, "bob", "cyd", "A feast! On Friday, Cyd.", ids["bob"])
    story.commit(2, (second,))
    story.heard(second, "cyd", "ann")
    thought = story.remember("cyd", "People like Friday's party.", 3, kind="reflection", citations=(ids["cyd"],))
    third = story.said(3, "cyd", "dee", "금요일에 잔치가 있대요.", thought)
    invented = story.said(3, "eve", "dee", "The party is on Friday, surely.", 0)
    story.commit(3, (third, invented))
    story.heard(third, "dee")
    story.heard(invented, "dee")
    vague = story.said(4, "dee", "eve", "Something is up at the weekend.", 0, claimed=("party",))
    story.commit(4, (vague,))
    story.run.close()
    with Reading.open(home / "a.run") as reading:
        yield reading


def test_the_tree_of_who_told_whom(reading: Reading) -> None:
    (row,) = diffusion(reading)
    assert row["originators"] == ["ann"]
    assert row["knowers"] == ["ann", "bob", "cyd", "dee"]
    assert row["share"] == 4 / 5
    assert [(edge["from"], edge["to"], edge["event_id"]) for edge in row["tree"]] == [
        ("ann", "bob", "t1.ann.0"),
        ("ann", "cyd", "t1.ann.0"),
        ("cyd", "dee", "t3.cyd.0"),
    ]
    assert row["tree"][0]["words"] == ["party", "friday"]
    assert row["tree"][2]["words"] == ["잔치", "금요일"]
    assert row["tree"][0]["memory"] == 1
    assert (row["made_up"], row["claimed"]) == (1, 1)


def test_as_of_a_tick(reading: Reading) -> None:
    assert [diffusion(reading, tick)[0]["knowers"] for tick in (0, 1, 2)] == [["ann"], ["ann"], ["ann", "bob", "cyd"]]


def test_who_hears_a_made_up_line_does_not_know(home: Home) -> None:
    story = Story(home / "a.run")
    invented = story.said(1, "eve", "dee", TOLD, 0)
    story.commit(1, (invented,))
    carrier = story.heard(invented, "dee")["dee"]
    own = story.remember("eve", f"Eve said to Dee: “{TOLD}”", 2, invented.id, kind="action")
    again = story.said(2, "eve", "bob", TOLD, own)
    passed_on = story.said(2, "dee", "bob", TOLD, carrier)
    story.commit(2, (passed_on, again))
    story.heard(again, "bob")
    story.heard(passed_on, "bob")
    story.commit(3, ())
    (row,) = diffusion(story.run.reading)
    story.run.close()
    assert row["knowers"] == ["ann"]
    assert row["tree"] == []
    assert row["made_up"] == 3


def test_who_reads_it_somewhere_begins_it_anew(home: Home) -> None:
    story = Story(home / "a.run")
    god = Event(1, Phase.INPUT, "-", 0, "", GodSpoke(text=TOLD, percepts=(("eve", TOLD),)))
    story.commit(1, (god,))
    carrier = story.remember("eve", f"A poster: {TOLD}", 2, god.id)
    told = story.said(2, "eve", "bob", TOLD, carrier)
    story.commit(2, (told,))
    story.heard(told, "bob")
    story.commit(3, ())
    (row,) = diffusion(story.run.reading)
    story.run.close()
    assert row["originators"] == ["ann", "eve"]
    assert row["knowers"] == ["ann", "bob", "eve"]


def test_a_line_is_followed_to_its_origin(reading: Reading) -> None:
    (row,) = why(reading, "t3.cyd.0")["heard_from"]
    assert (row["fact"], row["agent"], row["from"], row["event_id"], row["tick"]) == (
        "party",
        "cyd",
        "ann",
        "t1.ann.0",
        1,
    )
    assert [(link["agent"], link["from"], link["event_id"]) for link in row["chain"]] == [("ann", "", "")]
    assert "ann (t1.ann.0) ← known from the start" in as_text(why(reading, "t3.cyd.0"))


def test_a_made_up_line_comes_from_nowhere(reading: Reading) -> None:
    (row,) = why(reading, "t3.eve.0")["heard_from"]
    assert (row["memory"], row["from"]) == (None, "")
    assert "made up" in as_text(why(reading, "t3.eve.0"))
