"""Every task asked once, a reaction in all its forms, and a plaza's asks with the offline mind's answers."""

from __future__ import annotations

import asyncio
from functools import cache
from typing import Any

from commonplace.engine.characters import Characters
from commonplace.engine.driver import Driver, NoJournal
from commonplace.engine.live_state import initial_state
from commonplace.engine.lockstep import Lockstep
from commonplace.minds.mind import Ask, Reply, RequestKey
from commonplace.minds.notes import (
    Given,
    GoalNote,
    Hint,
    ItemNote,
    Past,
    PastNote,
    Spoken,
    ThingHere,
    Value,
    changed,
    fields_of,
)
from commonplace.minds.offline.mind import OfflineMind
from commonplace.minds.prompts.prompt import PromptSetting
from commonplace.minds.tasks import (
    TASKS,
    ActInput,
    AnswerInput,
    ConverseInput,
    Evidence,
    FactsInput,
    InsightsInput,
    JudgeInput,
    KnownTargets,
    Line,
    PerceiveEventInput,
    PlanDayInput,
    PlanPartsInput,
    QuestionsInput,
    RateInput,
    ReactInput,
    RelateInput,
    Stroke,
)
from commonplace.parts.duet.tasks import DuetInput, DuetReflectInput
from commonplace.parts.panel.task import PanelInput
from commonplace.scenario.compiling import load
from commonplace.stages.town import TOWN
from commonplace.world.happenings import Came, Seed
from minds.offline.sample import FESTIVAL, PLACES, here, jun, memory, mira, news, reaction, said

SETTING = PromptSetting(
    title="Latticeville",
    places=tuple((spot.id, spot.name) for spot in PLACES if spot.id != "loft"),
    private=(("loft", "Mira's Loft"),),
    people=(("Mira Sato", "Mira"), ("Jun Park", "Jun")),
)
HEARD = "The kettle has broken again. Could you look after the bar for an hour?"
LINES = (
    Spoken(speaker="jun", called="Jun", text="Morning, Mira."),
    Spoken(speaker="mira", called="Mira", text="Morning, Jun. Noodles?"),
    Spoken(speaker="jun", called="Jun", text=HEARD),
)
RECALLED = (
    said(4, HEARD),
    memory(1, "Mira Sato owes Jun Park for the broth pot.", 600, happening=Seed()),
    memory(2, "There is a lantern festival at the plaza tonight at seven.", 300, facts=("lantern_festival",)),
    memory(3, "Jun Park is repairing a drone.", 40),
    memory(5, "Mira Sato was skimming the broth.", 50),
    memory(6, "It begins to rain.", 1500),
    memory(7, "Jun Park said that he would go.", 20),
)
ITEM = ItemNote(start="09:00", minutes=90, location="bar", location_name="Mira's Noodle Bar", do="skimming the broth")
STOVE = ThingHere(id="stove", name="stove", state="cold", verbs=("USE", "OPEN"))
TARGETS = KnownTargets(areas=("plaza", "workshop"), objects={"stove": ("USE", "OPEN")}, agents=("jun",),
                       step="INTERACT", step_target="stove", step_verb="USE")  # fmt: skip
ROUTINE = tuple(
    Stroke(start=start, minutes=240, location=place, do=do, routine=index, asleep=do == "sleeping")
    for index, (start, place, do) in enumerate(
        (("06:00", "loft", "getting up"), ("08:00", "bar", "cooking"), ("12:00", "bar", "serving"),
         ("16:00", "plaza", "resting"), ("22:00", "loft", "sleeping"))
    )
)  # fmt: skip
STOVE_HERE = changed(here(), things=(STOVE,))


PAST = Past(
    notes=(
        PastNote(
            kind="told", other="jun", called="Jun", topic="stove", named="the stove", minutes_ago=5, because=(90,)
        ),
        PastNote(
            kind="told", other="kit", called="Kit", topic="stove", named="the stove", minutes_ago=300, because=(60,)
        ),
        PastNote(
            kind="heard", other="jun", called="Jun", topic="drone", named="a drone", minutes_ago=900, because=(50,)
        ),
        PastNote(kind="promised", other="jun", called="Jun", topic="festival", minutes_ago=950, because=(49,)),
        PastNote(
            kind="hurt", other="jun", called="Jun", act="broke_word", topic="rent", minutes_ago=2000, because=(9,)
        ),
        PastNote(
            kind="attended", topic="fair", text="The first barge of the year comes in.", minutes_ago=1500, because=(8,)
        ),
        PastNote(kind="saw", other="kit", called="Kit", text="Canal Walk", minutes_ago=35),
        PastNote(kind="did", named="skimming the broth", minutes_ago=40, because=(7,)),
    )
)
"""What Mira knows of herself: of the stove she is talking with Jun just now."""
GOALS = (
    GoalNote(id="a", kind="repair", text="mend the stove", place="bar", time="14:00", lacks="poker", day="tomorrow",
             steps=3, done_steps=1),
    GoalNote(id="b", kind="promise", text="bring Jun the ladder"),
)  # fmt: skip


def heard_news(**more: object) -> ReactInput:
    """Jun has spoken, and somebody has come."""
    entries = (
        news("said", f"Jun Park says to Mira Sato: “{HEARD}”", 4, said(4, HEARD).happening, who="jun", to_me=True),
        news("arrived", "Kit Vale comes in from Canal Walk.", 8, Came(who="kit"), who="kit"),
    )
    given: dict[str, object] = {"recalled": RECALLED, "facts": (FESTIVAL,), "lines": LINES, "floor": True}
    return reaction(*entries, situation=STOVE_HERE, **(given | more))


def merged(**more: object) -> ReactInput:
    """The same, asked for everything at once."""
    given = heard_news()
    unrated = ("Mira Sato was skimming the broth.", *(entry.text for entry in given.news))
    return heard_news(
        unrated=unrated, speaks=True, targets=TARGETS, **({"pasts": {"jun": PAST}, "goals": GOALS} | more)
    )


def every_ask() -> dict[str, Ask[Any, Any]]:
    """By task."""
    who, situation = mira(), here()
    parts = PlanPartsInput(who=who, situation=situation, item=ITEM, hints=(Hint(do="tasting"),), things=(STOVE,))
    evidence = (Evidence(question="What do I owe?", recalled=RECALLED[:3]),)
    inputs: dict[str, Given] = {
        "rate": RateInput(who=who, texts=("Mira Sato fell.", "Jun Park is asleep.")),
        "plan_day": PlanDayInput(who=who, situation=situation, wakes="06:00", routine=ROUTINE, recalled=RECALLED,
                                 facts=(FESTIVAL,), places=PLACES, yesterday=("06:00 running",), known=(jun(),),
                                 past=PAST, goals=GOALS),
        "plan_hours": parts,
        "plan_minutes": parts,
        "react": heard_news(),
        "act": ActInput(who=who, situation=STOVE_HERE, places=PLACES, item=ITEM, recalled=RECALLED,
                        **dict(fields_of(TARGETS))),
        "converse": ConverseInput(who=who, situation=situation, hearer=jun(), purpose="reply", lines=LINES,
                                  recalled=RECALLED, facts=(FESTIVAL,), said=("Morning, Jun. Noodles?",), now=ITEM,
                                  past=PAST, goals=GOALS),
        "questions": QuestionsInput(who=who, situation=situation, recent=RECALLED),
        "insights": InsightsInput(who=who, situation=situation, evidence=evidence, recent=RECALLED, known=(jun(),)),
        "relate": RelateInput(who=who, situation=situation, other=jun(), lines=LINES, recalled=RECALLED),
        "answer": AnswerInput(who=who, situation=situation, question="How are you?", recalled=RECALLED,
                              past=PAST, goals=GOALS),
        "duet_turn": DuetInput(who=who, other=jun(), goal="be paid", setting="A bar.", lines=LINES, recalled=RECALLED,
                               said=("Pay me.",), reflection="Jun owes me.", mood="anger", plan="ask again"),
        "duet_plan": DuetInput(who=who, other=jun(), goal="be paid", setting="A bar.", lines=LINES, recalled=RECALLED,
                               reflection="Jun owes me.", mood="anger"),
        "duet_reflect": DuetReflectInput(who=who, other=jun(), goal="be paid", lines=LINES, recalled=RECALLED,
                                         earlier=("Jun is slow.",), mood="anger"),
        "panel_turn": PanelInput(who=who, role="thesis", seed_prompt="What is home?", depth=1, step=2, lines=LINES,
                                 recalled=RECALLED[:2]),
        "perceive_event": PerceiveEventInput(text="The stove explodes", areas=PLACES, people=(jun(),), things=(STOVE,),
                                             states={"stove": ("cold", "burning")}, located={"stove": "bar"},
                                             circumstances={"ill.jun": "Jun", "burning.bar": "Café Sixpence",
                                                            "stolen.stove": "stove"},
                                             so=("ill.jun",), now="2031-10-04T06:00:00"),
        "judge": JudgeInput(text="I kick the stove", areas=PLACES, people=(mira(), jun()), things=(STOVE,),
                            states={"stove": ("cold", "burning")}, located={"stove": "bar"},
                            circumstances={"broken.stove": "stove", "insulted.jun": "Jun"}, so=("insulted.jun",),
                            doer=mira(), place="bar", here=("bar", "mira", "jun", "stove"), can=("broken.stove",)),
        "facts": FactsInput(lines=(Line(speaker="Jun Park", text="I moved to Lyon. I can't eat nuts."),
                                   Line(speaker="", text="Buy \"rye\" [two].")),
                            before=(Line(speaker="Mira", text="How are you?"),), day="Saturday 2031-10-04"),
    }  # fmt: skip
    return {name: Ask(TASKS[name], value) for name, value in inputs.items()}


class _Listening(OfflineMind):
    """The offline mind, and what it was asked and answered."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[tuple[Ask[Any, Any], Value]] = []

    def answer(self, ask: Ask[Any, Any], request_key: RequestKey) -> Reply:
        reply = super().answer(ask, request_key)
        if reply.value is not None:
            self.heard.append((ask, reply.value))
        return reply


@cache
def lived(name: str = "plaza", ticks: int = 150, seed: int = 7) -> tuple[tuple[Ask[Any, Any], Value], ...]:
    """What a town asks in its first hours, with the offline mind's answers."""
    mind = _Listening()
    live_state, _ = initial_state(load(name), seed)
    engine = Lockstep(Characters(live_state, TOWN, Driver(mind, NoJournal(), seed, durable=False)))

    async def live() -> None:
        for _ in range(ticks):
            engine.apply(await engine.run_tick())

    asyncio.run(live())
    return tuple(mind.heard)
