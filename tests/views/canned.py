"""A small town with two invented days, and a source over it: what views are tested and looked at with."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from types import SimpleNamespace
from typing import Any, cast

from commonplace.character.persona import Persona
from commonplace.character.plan import Plan, PlanItem
from commonplace.character.state import AREA, Belief, CharacterState, Job, KnownNode, Relation
from commonplace.clock import Clock, iso, parse_iso, part_of_day
from commonplace.engine.stage import Rated
from commonplace.errors import CommonplaceError
from commonplace.memory import Memory, ScoredMemory
from commonplace.memory.scoring import Part
from commonplace.run.frames import AgentFrame, Frame, ObjectFrame
from commonplace.scenario.model import ScenarioPart
from commonplace.views.inspection import Inspection
from commonplace.world.actions import body_of
from commonplace.world.events import NOBODY, Event, Phase

TICK_MINUTES = 10
NASTY = "[bold red]\x1b[31mRED\x1b[0m\x9b2J[/] \x1b]0;owned\x07 \u202eright-to-left\u202c [link=x]y[/link]"
"""Escapes, an OSC title, a direction override and two kinds of markup."""

ROOMS = {
    "noodle-bar": ("Noodle Bar", False, (0, 0, 24, 8)),
    "workshop": ("Drone Workshop", False, (27, 0, 22, 8)),
    "library": ("Library", False, (52, 0, 24, 8)),
    "plaza": ("Lantern Plaza", True, (0, 10, 49, 8)),
    "flats": ("Tower Flats", False, (52, 10, 24, 8)),
    "canal": ("Canal Walk", True, (0, 20, 76, 6)),
}
PEOPLE = {
    "mira": ("Mira Sato", "Mira", 34, "noodle cook", "noodle-bar", "🍜"),
    "jun": ("Jun Park", "Jun", 27, "drone mechanic", "workshop", "🔧"),
    "jiwoo": ("한지우", "지우", 31, "사서", "library", "📚"),
    "theo": ("Theo Marsh", "Theo", 58, "retired ferryman", "canal", "🎣"),
    "seoyeon": ("이서연", "서연", 22, "거리 음악가", "plaza", "🎸"),
    "ada": ("Ada Okoye", "Ada", 45, "night nurse", "flats", "💊"),
}
HOME = "flats"
DOING = {
    "mira": ("skimming the broth", "wiping the counter", "pulling noodles for lunch", "writing the evening menu"),
    "jun": ("repairing a courier drone", "sorting rotors by size", "testing a new battery"),
    "jiwoo": ("서가를 정리하는 중", "옛 지도를 펼쳐 보는 중", "반납된 책에 도장을 찍는 중"),
    "theo": ("watching the floats", "untangling a line", "greeting the barges"),
    "seoyeon": ("기타를 조율하는 중", "새 노래를 흥얼거리는 중", "동전을 세는 중"),
    "ada": ("reading on the balcony", "cooking rice", "ironing a uniform"),
}
TALK = (
    ("mira", "jun", "Did you hear? There is a lantern night on the plaza on Sunday at seven."),
    ("jun", "mira", "On Sunday? I could hang lights from the drones, if the batteries last."),
    ("mira", "jun", "They will last. You always say that and they always do."),
    ("jiwoo", "seoyeon", "일요일 저녁에 광장에서 등불 축제가 있대요. 같이 갈래요?"),
    ("seoyeon", "jiwoo", "정말요? 그럼 제가 새 노래를 부를게요. 아직 가사가 반밖에 없지만요."),
    ("theo", "seoyeon", "Play the one about the ferry, would you."),
    ("ada", "mira", "One bowl to take away, please – and whatever you are smiling about."),
    ("mira", "ada", "Lantern night, Sunday, seven. Everyone is coming; tell the ward."),
)


def scenario(language: str = "en", *, with_map: bool = True) -> ScenarioPart:
    """Six rooms, six people, two of them with Korean names."""
    areas = [
        {"id": id, "name": name, "outdoor": outdoor, "objects": _objects(id)}
        for id, (name, outdoor, _) in ROOMS.items()
    ]
    return ScenarioPart.model_validate(
        {
            "name": "canalside",
            "title": "Canalside" if language == "en" else "운하 마을",
            "language": language,
            "clock": {"tick_minutes": TICK_MINUTES},
            "world": {
                "root": {"id": "town", "name": "Canalside", "outdoor": True, "areas": areas},
                "kinds": {"pot": {"states": ["simmering", "empty"]}, "drone": {"states": ["broken", "mended"]}},
                "ways": [{"between": ["noodle-bar", "plaza"]}, {"between": ["noodle-bar", "workshop"]},
                         {"between": ["workshop", "library"]}, {"between": ["plaza", "flats"]},
                         {"between": ["library", "flats"]}, {"between": ["plaza", "canal"]},
                         {"between": ["flats", "canal"]}, {"between": ["workshop", "plaza"]}],
            },
            "characters": [
                {"id": id, "name": name, "called": called, "age": age, "work": work, "traits": ["warm", "curious"],
                 "home": HOME}
                for id, (name, called, age, work, _, _) in PEOPLE.items()
            ],
            "layout": {"map": {id: box for id, (_, _, box) in ROOMS.items()} if with_map else {}},
        }
    )  # fmt: skip


def _objects(area: str) -> list[dict[str, str]]:
    return {
        "noodle-bar": [{"id": "pot", "name": "broth pot", "kind": "pot"}],
        "workshop": [{"id": "drone", "name": "courier drone", "kind": "drone"}],
    }.get(area, [])


class CannedRatings:
    """Stars that are kept in RAM."""

    def __init__(self, stars: dict[str, float]) -> None:
        self.stars = stars

    def all(self) -> dict[str, float]:
        return dict(self.stars)

    def rate(self, name: str, stars: float) -> Rated:
        self.stars[name] = stars
        return Rated(name, stars, 0.3 + 0.06 * stars)


class CannedSource:
    """Invented frames with everything in them; `Source` for tests. `grow` commits one tick more."""

    def __init__(
        self, last: int = 120, *, live: bool = True, language: str = "en", nasty: bool = False, with_map: bool = True
    ) -> None:
        self.scenario = scenario(language, with_map=with_map)
        self.clock = Clock(parse_iso(self.scenario.clock.start), TICK_MINUTES)
        self.live = live
        self.playing = False
        self.rate = 2.0
        self.mind = "offline"
        self.progress = ""
        self.speaking: dict[str, str] = {}
        self.last_tick = last
        self.final_tick = max(last, 288)
        self.nasty = nasty
        self.calls: list[object] = []
        self.asked: list[tuple[int, int]] = []
        """Ticks whose frames were asked for."""
        self.listeners: list[Callable[[int], None]] = []
        self.talks: list[CannedTalk] = []
        self.stars = CannedRatings({"mem_1": 2.0, f"t{last // 2}.mira.0": 0.0, f"t{last}.mira.0": 0.0})
        self.answering = True

    def grow(self) -> None:
        """Commit the next tick."""
        self.last_tick += 1
        for listener in self.listeners:
            listener(self.last_tick)

    # -------------------------------------------------------------- frames

    def frames(self, first: int, last: int) -> Sequence[Frame]:
        self.asked.append((first, last))
        return [self.frame(tick) for tick in range(first, last + 1)]

    def frame(self, tick: int) -> Frame:
        time = self.clock.time(tick)
        events = tuple(self.events(tick, tick))
        said = {event.agent_id: event for event in events if event.type == "SAY"}
        return Frame(
            tick=tick, time=time, part_of_day=part_of_day(time), sky=sky(tick), wind="calm", temperature="mild",
            agents={id: self._agent(id, tick, said.get(id)) for id in sorted(PEOPLE)},
            objects={
                "drone": ObjectFrame("drone", "courier drone", "mended" if tick > 40 else "broken", "workshop"),
                "pot": ObjectFrame("pot", "broth pot", "simmering", "noodle-bar"),
            },
            events=events, history="0" * 32,
        )  # fmt: skip

    def _agent(self, id: str, tick: int, said: Event | None) -> AgentFrame:
        name, called, *_, emoji = PEOPLE[id]
        asleep = place(id, tick) == HOME and _hour(tick) in (22, 23, 0, 1, 2, 3, 4, 5) and id != "ada"
        return AgentFrame(
            agent_id=id, name=name, called=called, position=place(id, tick), doing=self._doing(id, tick),
            plan_item=f"07:00–12:00 {DOING[id][0]}", dialogue=said.body.utterance if said else "",
            to=said.body.to_agent_id if said else "", emoji="💤" if asleep else emoji, asleep=asleep, goal="",
        )  # fmt: skip

    def _doing(self, id: str, tick: int) -> str:
        return NASTY if self.nasty and id == "mira" else DOING[id][tick // 4 % len(DOING[id])]

    def events(self, first: int, last: int) -> Sequence[Event]:
        return [event for tick in range(max(0, first), min(last, self.last_tick) + 1) for event in self._events(tick)]

    def _events(self, tick: int) -> list[Event]:
        made: list[Event] = []

        def add(phase: Phase, agent: str, type: str, where: str, **body: Any) -> None:
            ordinal = sum(event.agent_id == agent for event in made)
            made.append(Event(tick, phase, agent, ordinal, where, body_of(type, body)))

        self._ambient(tick, add)
        for id in sorted(PEOPLE):
            self._deed(id, tick, add)
        if tick == 42:
            add(Phase.CONSEQUENCE, "jun", "OBJECT_STATE_CHANGED", "workshop", object_id="drone", by="jun",
                **{"from": "broken", "to": "mended"})  # fmt: skip
        if tick % 30 == 12:
            add(Phase.CONSEQUENCE, "jun", "PLAN_CHANGED", "", reason="lantern night needs lights", from_time="")
        if tick % 47 == 20:
            add(Phase.CONSEQUENCE, "theo", "REFLECTED", "", memory_ids=[7, 8, 9])
        if tick == 60:
            text = NASTY if self.nasty else "The power goes out in the noodle bar."
            add(Phase.INPUT, NOBODY, "GOD_EVENT", "noodle-bar", text=text, percepts=[])
        return sorted(made, key=lambda event: event.order)

    def _ambient(self, tick: int, add: Callable[..., None]) -> None:
        now, before = part_of_day(self.clock.time(tick)), part_of_day(self.clock.time(tick - 1))
        if tick and now != before:
            add(Phase.AMBIENT, NOBODY, "TIME_ADVANCED", "", part_of_day=now)
        if tick and sky(tick) != sky(tick - 1):
            add(Phase.AMBIENT, NOBODY, "WEATHER_CHANGED", "", wind="calm", temperature="mild",
                **{"from": sky(tick - 1), "to": sky(tick)})  # fmt: skip

    def _deed(self, id: str, tick: int, add: Callable[..., None]) -> None:
        here = place(id, tick)
        line = TALK[tick // 2 % len(TALK)]
        if tick and place(id, tick - 1) != here:
            add(Phase.ACTION, id, "MOVE", here, to=here, goal=here, **{"from": place(id, tick - 1)})
        elif tick % 2 == 0 and 6 < _hour(tick) < 22 and line[0] == id:
            said = NASTY if self.nasty else line[2]
            add(Phase.ACTION, id, "SAY", here, to_agent_id=line[1], utterance=said, facts=[], claimed=[], carriers=[])
        else:
            add(Phase.ACTION, id, "IDLE", here, doing=self._doing(id, tick))

    # -------------------------------------------------------------- insides

    def why(self, event_id: str) -> Any:
        if not event_id.startswith("t"):
            raise CommonplaceError(f"no event {event_id!r}")
        text = NASTY if self.nasty else "Theo said that lantern night is on Sunday at seven."
        hits = [
            {"memory": {"id": 40 - n, "text": text if n == 0 else f"Jun Park is repairing a courier drone ({n}).",
                        "kind": "observation", "importance": 6 - n},
             "rank": n + 1, "score": 2.4 - n * 0.45,
             "parts": {"recency": {"raw": 0.99 - n * 0.01, "normalised": 0.95 - n * 0.2, "weight": 1},
                       "importance": {"raw": 6 - n, "normalised": 0.6 - n * 0.1, "weight": 1},
                       "relevance": {"raw": 0.71 - n * 0.1, "normalised": 0.85 - n * 0.15, "weight": 1}}}
            for n in range(4)
        ]  # fmt: skip
        return {
            "event": {"id": event_id}, "explanation": "", "lines": [], "account": [], "goals": [], "delivered": [],
            "plan": {"item": {"start_time": "2031-10-04T07:00:00Z", "action_description": "running the noodle bar"},
                     "day": []},
            "reaction": {"decision": "talk", "target": "jun", "reason": "Jun has not heard about lantern night yet.",
                         "because": [40, 12]},
            "retrievals": [{"purpose": "react", "policy": "park", "query": "Jun Park, lantern night", "k": 4,
                            "hits": hits}],
            "asked": [{"task": "REPLY", "outcome": "value", "prompt": "You are Mira Sato …",
                       "answer": {"utterance": text}, "row": None}],
            "stored": [{"kind": "action", "text": "Mira Sato told Jun Park about lantern night.", "importance": 5,
                        "stored": True, "reason": "said"}],
            "heard_from": [{"fact": "festival", "agent": "mira", "memory": 40, "from": "theo", "event_id": "t31.theo.0",
                            "tick": 31, "chain": []}],
        }  # fmt: skip

    def inspect(self, agent_id: str, tick: int) -> Any:
        name, called, age, work, spot, _ = PEOPLE[agent_id]
        background = NASTY if self.nasty else "Took over the place from an aunt, and has never closed on a weekday."
        persona = Persona(
            agent_id, name, called, age, "they", work, ("warm", "curious"), background,
            ("to fill the plaza on Sunday",), HOME, (),
        )  # fmt: skip
        state = CharacterState(
            plan=self._plan(agent_id, tick, spot),
            belief=Belief({"pot": KnownNode("noodle-bar", "simmering", 12), "jun": KnownNode("workshop", "", tick // 2),
                           "noodle-bar": KnownNode("town", AREA, 3), "plaza": KnownNode("town", AREA, 9)}),
            relations={"theo": Relation("theo", "old friend", 64, 0, 31, 3, "He tells her the news before anyone."),
                       "ada": Relation("ada", "rival", -25, 0, -1, 0, "")},
            jobs=(Job("plan_day", tick, tick + 2),),
        )  # fmt: skip
        return CannedInspection(self, agent_id, tick, persona=persona, state=state)

    def _plan(self, agent_id: str, tick: int, spot: str) -> Plan:
        day = self.clock.time(tick).replace(hour=0, minute=0)
        hours = (0, 7, 12, 14, 18, 22, 24)
        strokes = ("sleeping", "running the noodle bar", "serving lunch", "buying scallions", "the rush", "sleep")
        items = [
            PlanItem(f"0.{n}", "day", "", day.replace(hour=hours[n]), (hours[n + 1] - hours[n]) * 60, spot, strokes[n])
            for n in range(6)
        ]
        inner = [
            PlanItem(f"{item.id}.{n}", "hour", item.id, item.start_time + timedelta(hours=n), 60, spot,
                     DOING[agent_id][n % 3])
            for item in items for n in range(item.duration_minutes // 60)
        ]  # fmt: skip
        return Plan(0, (*items, *inner))

    def past(self, tick: int) -> list[dict[str, Any]]:
        heard = NASTY if self.nasty else "there is a lantern night on Sunday"
        rows = (
            ("told", "jun", "lantern night", heard, 2, 0, (3, 9)),
            ("was_asked", "ada", "the broth", "", 1, 0, (8,)),
            ("promised", "theo", "ferry-song", "", 1, tick + 12, (7,)),
            ("did", "", NASTY if self.nasty else "airing the cellar", "", 1, 0, (4,)),
        )
        return [
            {
                "kind": kind, "other": other, "act": "", "topic": topic, "text": text, "times": times,
                "because": list(cited), "time": iso(self.clock.time(tick - 7 * n)), "since": "",
                "due": iso(self.clock.time(due)) if due else "", "event": f"t{tick - 7 * n}.mira.0" if n < 3 else "",
                "memory": f"Mira Sato said to Jun Park: “{heard}”" if n == 0 else "Mira Sato remembers it.",
            }
            for n, (kind, other, topic, text, times, due, cited) in enumerate(rows)
        ]  # fmt: skip

    def goals(self, tick: int) -> list[dict[str, Any]]:
        text = NASTY if self.nasty else "mend the awning"
        rows = (
            ("open", text, "jun", 3, 1, tick + 30, 2, 9),
            ("done", "return the ladder", "theo", 1, 1, 0, 0, 8),
            ("given_up", "call on Ada", "ada", 1, 0, 0, 0, 7),
        )
        return [
            {
                "status": status, "text": what, "person": person, "steps": steps, "done_steps": done, "tries": tries,
                "due": iso(self.clock.time(due)) if due else "", "changed": iso(self.clock.time(tick - 5 * n)),
                "moved_by": moved, "memory": "Mira Sato remembers it.", "event": f"t{tick - 5 * n}.jun.0",
            }
            for n, (status, what, person, steps, done, due, tries, moved) in enumerate(rows)
        ]  # fmt: skip

    def memories(self, tick: int) -> list[dict[str, Any]]:
        heard = NASTY if self.nasty else "Theo Marsh says to Mira Sato: “Lantern night is on Sunday.”"
        texts = (("reflection", "People come to the plaza when somebody gives them a reason.", 8.0, (2, 1)),
                 ("observation", heard, 6.0, ()),
                 ("action", "Mira Sato was wiping the counter.", 2.0, ()))  # fmt: skip
        return [
            {
                "id": 3 - n, "kind": kind, "text": text, "importance": weight,
                "event": "" if n else f"t{tick // 2}.mira.0", "details": {"memory_id": f"mem_{n}"} if n else {},
                "created_at": iso(self.clock.time(tick // 2 - n)),
                "accessed_at": iso(self.clock.time(tick if n == 1 else tick // 2 - n)), "citations": cited,
            }
            for n, (kind, text, weight, cited) in enumerate(texts)
        ]  # fmt: skip

    # -------------------------------------------------------------- control

    def ratings(self) -> CannedRatings:
        """Stars of the latest memory and of the others; the same at each call."""
        return self.stars

    def converse(self, agent_id: str, tick: int) -> CannedTalk:
        """A talk whose answers come when `answering` is set."""
        self.talks.append(CannedTalk(self, agent_id, tick))
        return self.talks[-1]

    def preview(self, text: str, agent_id: str = "") -> str:
        self.calls.append(("preview", text))
        if "nothing" in text:
            raise CommonplaceError("nobody would notice that")
        return f"Mira at the Noodle Bar notices: {text}"

    def submit(self, body: Mapping[str, Any]) -> str:
        self.calls.append(("submit", dict(body)))
        return f"accepted for tick {self.last_tick + 1}"

    def play(self) -> None:
        self.playing = True
        self.calls.append("play")

    def pause(self) -> None:
        self.playing = False
        self.calls.append("pause")

    def step(self) -> None:
        self.calls.append("step")
        self.grow()

    def speed(self, rate: float) -> None:
        self.rate = rate
        self.calls.append(("speed", rate))

    def subscribe(self, committed: Callable[[int], None]) -> Callable[[], None]:
        self.listeners.append(committed)
        return lambda: self.listeners.remove(committed)


class CannedInspection(Inspection):
    """A character of the town, from inside."""

    def __init__(self, source: CannedSource, agent_id: str, tick: int, **known: Any) -> None:
        world = SimpleNamespace(geography=SimpleNamespace(nodes={}), part=source.scenario)
        reading = SimpleNamespace(tick=lambda at: at, time=source.clock.time, frame=source.frame, scenario=world)
        super().__init__(cast("Any", reading), agent_id, tick, **known)
        self.source = source

    memories = property(lambda self: self.source.memories(self.tick))
    past = property(lambda self: self.source.past(self.tick))
    goals = property(lambda self: self.source.goals(self.tick))


class CannedTalk:
    """Answers from two memories, and says what was asked before. A question with `fail` in it has no answer."""

    mind = "offline"

    def __init__(self, source: CannedSource, agent_id: str, tick: int) -> None:
        self.source, self.agent_id, self.tick = source, agent_id, tick
        self.calls: list[object] = []
        self.before: SimpleNamespace | None = None

    async def ask(self, question: str) -> Any:
        self.calls.append(question)
        while not self.source.answering:
            await asyncio.sleep(0.01)
        if "fail" in question:
            raise CommonplaceError("the model server does not answer", hint="check the server")
        heard = NASTY if self.source.nasty else "Theo Marsh says to Mira Sato: “Lantern night is on Sunday at seven.”"
        now = self.source.clock.time(self.tick)
        memory, other = (
            Memory(id, self.agent_id, "observation", text, now, now, self.tick, 6.0)
            for id, text in ((40, heard), (12, "일요일 저녁에 광장에서 등불 축제가 있다고 서연이 말했다. " * 3))
        )
        parts = {"recency": Part(0.9, 0.8, 0.2), "importance": Part(6, 0.6, 0.2), "relevance": Part(0.7, 0.9, 1.2)}
        hit = ScoredMemory(memory, 1, 1.36, parts)
        searched = SimpleNamespace(
            purpose="question", query=question, policy=SimpleNamespace(name="recall"), k=1, candidates=9, hits=(hit,)
        )
        reply = SimpleNamespace(
            agent=self.agent_id, question=question, answer=self._answer(), asked_before=self.before, outcome="value",
            rests=(SimpleNamespace(memory=memory, hit=hit), SimpleNamespace(memory=other, hit=None)),
            retrievals=(searched,),
        )  # fmt: skip
        self.before = SimpleNamespace(question=question, similarity=0.93, answer=reply.answer, received=1.0)
        return reply

    def _answer(self) -> str:
        if self.source.nasty:
            return NASTY
        if self.agent_id not in ("jiwoo", "seoyeon"):
            return f"Yes, lantern night is on Sunday. ({len(self.calls)})"
        return "네, 들었어요. 일요일 저녁 일곱 시에 광장에서 등불 축제가 열린대요. 서연 씨가 그렇게 말해 주었어요."

    async def retry(self) -> Any:
        return await self.ask(str(self.calls[-1]))

    async def rate(self, label: str, note: str = "") -> None:
        self.calls.append((label, note))

    async def close(self) -> None:
        while not self.source.answering:
            await asyncio.sleep(0.01)
        self.calls.append("close")
        if "fail" in self.calls:
            raise CommonplaceError("what was learnt cannot be kept")


def sky(tick: int) -> str:
    """A dry morning, a wet afternoon."""
    return "clear" if tick % 144 < 42 else "cloudy" if tick % 144 < 54 else "rain" if tick % 144 < 84 else "clear"


def place(id: str, tick: int) -> str:
    """Nights at home, days at work, the evening on the plaza; Theo also for noodles at noon."""
    hour = _hour(tick)
    if id == "ada":
        return "noodle-bar" if hour in (12, 18) else HOME
    if hour >= 21 or hour < 6:
        return HOME
    if hour in (19, 20):
        return "plaza"
    if hour in (12, 13) and id in ("theo", "jun"):
        return "noodle-bar"
    return "town" if hour == 17 and id == "theo" else PEOPLE[id][4]


def _hour(tick: int) -> int:
    return (6 + tick * TICK_MINUTES // 60) % 24
