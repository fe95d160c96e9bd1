"""Remember: percepts and plans become memories, each with its importance; what is not new is not stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import takewhile

from commonplace.character.fact import carried
from commonplace.cognition.notebook import Notebook
from commonplace.cognition.percept import Percept
from commonplace.cognition.situation import named, who
from commonplace.cognition.turn import TurnView
from commonplace.memory.importance import RuleRater
from commonplace.memory.record import Emotion, Memory
from commonplace.minds.notes import News
from commonplace.minds.tasks import RATE, RateInput, Rating

OBSERVATION, ACTION, PLAN, REFLECTION = "observation", "action", "plan", "reflection"


@dataclass(frozen=True, slots=True)
class Draftling:
    """A memory about to be rated and stored."""

    text: str
    kind: str
    frame: Mapping[str, str]
    at: datetime
    tick: int
    event: str = ""
    citations: tuple[int, ...] = ()
    tags: tuple[str, ...] = ()
    reason: str = "new"
    place: tuple[str, ...] = ()
    details: Mapping[str, object] = field(default_factory=dict[str, object])


async def remember(view: TurnView, notebook: Notebook, drafts: Sequence[Draftling]) -> list[Memory]:
    """Rate what was never rated before, all in one question, and store everything."""
    if not drafts:
        return []
    ratings = await _ratings(view, notebook, [draft.text for draft in drafts])
    return [_store(view, notebook, draft, ratings[draft.text]) for draft in drafts]


def _store(view: TurnView, notebook: Notebook, draft: Draftling, rating: Rating) -> Memory:
    memory = view.draft.remember(
        draft.text,
        at=draft.at,
        tick=draft.tick,
        importance=rating.importance,
        kind=draft.kind,
        place=draft.place or view.world.path,
        citations=draft.citations,
        emotion=_emotion(rating),
        event=draft.event,
        tags=draft.tags,
        details={"frame": ordered(draft.frame), **draft.details},
    )
    notebook.stored(memory.id, draft.reason)
    return memory


def ordered(frame: Mapping[str, str]) -> dict[str, str]:
    """The frame in the order of its keys, as it is when read back: questions that show it have one digest."""
    return dict(sorted(frame.items()))


def _emotion(rating: Rating) -> Emotion | None:
    if not rating.valence and not rating.arousal:
        return None
    return Emotion(rating.valence / 100, rating.arousal / 100, 1.0, rating.keywords)


async def _ratings(view: TurnView, notebook: Notebook, texts: Sequence[str]) -> dict[str, Rating]:
    """The same sentence always weighs the same for a character: what is in its stream already is not asked again."""
    ratings: dict[str, Rating] = {}
    for text in texts:
        if text in view.rated:
            ratings[text] = Rating(importance=round(view.rated[text]))
    unknown = tuple(dict.fromkeys(text for text in texts if text not in ratings))
    if not unknown:
        return ratings
    names = tuple(persona.called for persona in view.scenario.personas.values())
    if view.scenario.cognition.importance == "rules":
        rater = RuleRater(view.scenario.language, goal=" ".join(view.persona.goals), names=names)
        return ratings | {text: Rating(importance=rater.rate(text)) for text in unknown}
    answer = await notebook.ask(RATE, RateInput(who=who(view.persona), texts=unknown, names=names))
    given = answer.value.ratings
    padded = (*given, *(Rating(importance=3) for _ in unknown[len(given) :]))
    return ratings | dict(zip(unknown, padded, strict=False))


async def store_percepts(view: TurnView, notebook: Notebook, percepts: Sequence[Percept]) -> tuple[News, ...]:
    """Percepts → memories; returns what is news: a reason to react, in order of attention."""
    fresh = _fresh_texts(view)
    drafts: list[Draftling] = []
    remembered: list[Percept] = []
    for percept in percepts:
        if not view.scenario.cognition.observe and not percept.own:
            continue
        if not percept.always_new and percept.text in fresh:
            notebook.not_stored(percept.text, "remembered a moment ago")
            continue
        remembered.append(percept)
        drafts.append(_draft(view, percept))
    memories = await remember(view, notebook, drafts)
    if memories:
        pairs = zip(remembered, memories, strict=True)
        notebook.trace["percepts"] = [[percept.kind, memory.id] for percept, memory in pairs]
    return tuple(
        _news(view, percept, memory) for percept, memory in zip(remembered, memories, strict=True) if _is_news(percept)
    )


def _draft(view: TurnView, percept: Percept) -> Draftling:
    """What one did oneself becomes an action memory created when it was done, one tick ago."""
    clock = view.scenario.clock
    tick = view.tick - 1 if percept.own else view.tick
    kind = ACTION if percept.own else OBSERVATION
    return Draftling(percept.text, kind, percept.frame, clock.time(tick), view.tick, percept.event)


def _fresh_texts(view: TurnView) -> set[str]:
    """Texts remembered within the novelty window."""
    since = view.tick - view.scenario.cognition.novelty_window
    return {memory.text for memory in takewhile(lambda memory: memory.tick >= since, view.draft.backwards())}


def _is_news(percept: Percept) -> bool:
    if percept.own:
        return percept.frame["what"] in {"refused", "absent"}
    return not percept.passing


def _news(view: TurnView, percept: Percept, memory: Memory) -> News:
    return News(
        memory_id=memory.id,
        kind=percept.kind,  # pyright: ignore[reportArgumentType] – one of News' kinds by construction
        text=percept.text,
        who=percept.frame.get("who", ""),
        to_me=percept.to_me,
        importance=round(memory.importance),
        frame=named(view.scenario, percept.frame),
        facts=carried(view.scenario.facts, percept.text),
    )
