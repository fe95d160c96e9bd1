"""Remember: percepts and plans become memories, each with its importance; what is not new is not stored.

The rules weigh a memory when it is stored; the mind's rating takes their place in the same turn. Where requests are
merged, what waits to be rated goes along with the reaction.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache

from commonplace.character.fact import carried
from commonplace.cognition.bearing import bearing, sort_of_news, times
from commonplace.cognition.perceive import Percept
from commonplace.cognition.retrieve import embedded
from commonplace.cognition.situation import named, who
from commonplace.cognition.turn import Notebook, TurnView
from commonplace.memory.embedding import Vector
from commonplace.memory.importance import BASE, RuleRater
from commonplace.memory.record import Emotion, Memory
from commonplace.minds.notes import Bearing, News
from commonplace.minds.tasks import RATE, RateInput, TextRating
from commonplace.minds.weights import habituated, start, weight
from commonplace.scenario.scenario import Scenario, derived
from commonplace.world.happenings import (
    Absent,
    Failed,
    Happening,
    as_frame,
    happening_of,
)

OBSERVATION, ACTION, PLAN, REFLECTION = "observation", "action", "plan", "reflection"


@dataclass(frozen=True, slots=True)
class NewMemory:
    """A memory about to be rated and stored."""

    text: str
    """From `sentence()`; what a mind says in its own words stands in quotation marks, except in an insight."""
    kind: str
    """OBSERVATION, ACTION, PLAN or REFLECTION. A reflection also begins the sum that leads to the next one anew."""
    happening: Happening
    """What the simulator knows of its making."""
    at: datetime
    """When it happened: now, or a tick ago for one's own actions."""
    event: str = ""
    citations: tuple[int, ...] = ()
    """Ids of the memories it rests on: a reflection must have some, a plan may, others must not."""
    tags: tuple[str, ...] = ()
    reason: str = "new"
    """Shown by `commonplace why` under *Stored*."""
    importance: int = 0
    """1–10 where the mind has given it already; 0: to be rated."""


@dataclass(frozen=True, slots=True)
class StoredPercepts:
    """What became of a tick's percepts."""

    remembered: tuple[tuple[Percept, Memory], ...] = ()
    """Those that became memories, in order of attention."""
    news: tuple[News, ...] = ()
    """Those of them that are a reason to react."""


async def store_percepts(view: TurnView, notebook: Notebook, percepts: Sequence[Percept]) -> StoredPercepts:
    """Stores percepts as memories."""
    if not percepts:
        return StoredPercepts()
    fresh: set[str] | None = None
    drafts: list[NewMemory] = []
    remembered: list[Percept] = []
    for percept in percepts:
        if not view.scenario.cognition.observe and not percept.own:
            continue
        if not percept.always_new:
            fresh = _fresh_texts(view) if fresh is None else fresh
            if percept.text in fresh:
                notebook.not_stored(percept.text, "remembered a moment ago")
                continue
        remembered.append(percept)
        drafts.append(_draft(view, percept))
    news = {percept.text for percept in remembered if _is_news(percept)}
    memories = await remember(view, notebook, drafts, news)
    pairs = tuple(zip(remembered, memories, strict=True))
    if pairs:
        notebook.trace["percepts"] = [[percept.kind, memory.id] for percept, memory in pairs]
    return StoredPercepts(pairs, tuple(_news(view, percept, memory) for percept, memory in pairs if _is_news(percept)))


def _draft(view: TurnView, percept: Percept) -> NewMemory:
    """Returns a percept as a new memory; one's own deed becomes an action memory, created one tick ago, when it was
    done."""
    clock = view.scenario.clock
    tick = view.tick - 1 if percept.own else view.tick
    kind = ACTION if percept.own else OBSERVATION
    return NewMemory(percept.text, kind, percept.happening, clock.time(tick), percept.event)


def _fresh_texts(view: TurnView) -> set[str]:
    """Returns the texts remembered within the novelty window."""
    since = view.tick - view.scenario.cognition.novelty_window
    fresh: set[str] = set()
    for memory in view.draft.backwards():
        if memory.tick < since:
            break
        fresh.add(memory.text)
    return fresh


def _is_news(percept: Percept) -> bool:
    if percept.own:
        return isinstance(percept.happening, Failed | Absent)
    return not percept.passing


def _news(view: TurnView, percept: Percept, memory: Memory) -> News:
    return News(
        memory_id=memory.id,
        kind=percept.kind,
        text=percept.text,
        who=percept.happening.who,
        to_me=percept.to_me,
        importance=round(memory.importance),
        happening=named(view.scenario, percept.happening),
        facts=carried(view.scenario.facts, percept.text),
    )


async def remember(
    view: TurnView, notebook: Notebook, drafts: Sequence[NewMemory], news: Container[str] = ()
) -> list[Memory]:
    """Stores everything with the importance that the rules give it, and lets the mind rate its share.

    With `importance: both` that share is `news` (texts), with `mind` it is everything. A sentence that the mind has
    rated before is not asked about again, and weighs less the more often it was perceived lately. With `requests:
    merged` that share waits for the turn's `rate`, so nothing may be remembered after it.
    """
    if not drafts:
        return []
    vectors = await embedded(view.scenario, notebook, [draft.text for draft in drafts])
    wanted, merged = view.scenario.cognition.importance, view.scenario.cognition.requests == "merged"
    memories: list[Memory] = []
    for draft in drafts:
        asked = not draft.importance and (wanted == "mind" or (wanted == "both" and draft.text in news))
        before = view.rated.get(draft.text) if asked else None
        waits = asked and before is None
        if draft.importance or (waits and not merged):  # rated in this very call
            importance: float = draft.importance or BASE
        else:
            importance = _weight(view, notebook, draft) if before is None else _again(view, draft, before)
        memory = _store(view, notebook, draft, importance, vectors.get(draft.text))
        memories.append(memory)
        if waits:
            notebook.unrated.setdefault(draft.text, []).append(memory.id)
    if merged or not notebook.unrated:
        return memories
    await rate(view, notebook)
    return [view.draft.get(memory.id) for memory in memories]


def _weight(view: TurnView, notebook: Notebook, draft: NewMemory) -> int:
    """Returns the importance by the rules: by what happened, or by its words if nothing else is known of it."""
    found = weight(draft.happening, _bearing(view, notebook, draft.text, draft.happening))
    return rules(view, start(draft.happening))(draft.text) if found is None else found


def _again(view: TurnView, draft: NewMemory, before: float) -> float:
    """Returns the importance of a sentence that the mind has rated `before`."""
    return habituated(before, times(view, draft.text, draft.happening)) if before > 1 else before


async def rate(view: TurnView, notebook: Notebook) -> None:
    """Asks the mind, in one question, to rate everything that waits for it."""
    if notebook.unrated:
        names = _names(view.scenario, view.persona.id)
        happenings, bearings = unrated(view, notebook)
        inputs = RateInput(
            who=who(view.persona),
            texts=tuple(notebook.unrated),
            happenings=happenings,
            names=names,
            bearings=bearings,
        )
        answer = await notebook.ask(RATE, inputs)
        rated(view, notebook, answer.value.ratings)


def unrated(view: TurnView, notebook: Notebook) -> tuple[tuple[Happening, ...], tuple[Bearing, ...]]:
    """Returns the happening of each sentence that waits to be rated, and its bearing on the character."""
    happenings = {
        text: happening_of(view.draft.get(memories[0]).details) for text, memories in notebook.unrated.items()
    }
    return tuple(happenings.values()), tuple(_bearing(view, notebook, text, it) for text, it in happenings.items())


def _bearing(view: TurnView, notebook: Notebook, text: str, happening: Happening) -> Bearing:
    """Returns the `bearing`, which is found once in a turn."""
    found = notebook.bearings.get((text, happening))
    if found is None:
        found = notebook.bearings[text, happening] = bearing(view, text, happening)
    return found


def rated(view: TurnView, notebook: Notebook, ratings: Sequence[TextRating]) -> None:
    """Applies the mind's ratings to what waited for them, in order; a missing one counts as 3."""
    padded = (*ratings, *(TextRating(importance=BASE) for _ in range(len(notebook.unrated) - len(ratings))))
    view.draft.weigh(
        {
            memory: (rating.importance, _emotion(rating) or _felt(view, text, memories[0]))
            for rating, (text, memories) in zip(padded, notebook.unrated.items(), strict=False)
            for memory in memories
        }
    )
    notebook.unrated = {}


def rules(view: TurnView, base: int = BASE) -> RuleRater:
    """Returns the rules for words, with the character's goals and the names it knows; `base` is the weight a sentence
    starts with."""
    names = _names(view.scenario, view.persona.id)
    return _rater(view.scenario.language, view.persona.goals, names, base)


@cache
def _rater(language: str, goals: tuple[str, ...], names: tuple[str, ...], base: int) -> RuleRater:
    return RuleRater(language, goal=" ".join(goals), names=names, base=base)


@derived
def _names(scenario: Scenario, me: str) -> tuple[str, ...]:
    return tuple(persona.called for persona in scenario.personas.values() if persona.id != me)


def _store(view: TurnView, notebook: Notebook, draft: NewMemory, importance: float, vector: Vector | None) -> Memory:
    memory = view.draft.remember(
        draft.text,
        at=draft.at,
        tick=view.tick,
        importance=importance,
        embedding=vector,
        kind=draft.kind,
        place=view.world.path,
        citations=tuple(memory for memory in draft.citations if memory in view.draft),
        event=draft.event,
        tags=draft.tags,
        details={"frame": as_frame(draft.happening)},
    )
    notebook.stored(memory.id, draft.reason)
    return memory


FEELS = {"loss": (-0.9, 0.5, "grief"), "worry": (-0.5, 0.7, "anxiety"), "joy": (0.8, 0.6, "joy")}
"""Valence, arousal and name of what somebody feels whom such news concerns."""


def _felt(view: TurnView, text: str, memory: int) -> Emotion | None:
    """Returns the emotion if the words do not tell it: for a circumstance of the character or of somebody dear."""
    sort = sort_of_news(view, text, happening_of(view.draft.get(memory).details))
    if sort not in FEELS:
        return None
    valence, arousal, name = FEELS[sort]
    return Emotion(valence, arousal, 1.0, (name,))


def _emotion(rating: TextRating) -> Emotion | None:
    if not rating.valence and not rating.arousal:
        return None
    return Emotion(rating.valence / 100, rating.arousal / 100, 1.0, rating.keywords)
