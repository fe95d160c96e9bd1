"""Remember: percepts and plans become memories, each with its importance; what is not new is not stored.

The rules weigh a memory when it is stored, also by what it has to do with the one who remembers it (`bearing()`). The
mind's rating takes their place in the same turn. Where requests are merged, what waits to be rated goes along with the
reaction.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any

from commonplace.character.fact import carried
from commonplace.character.persona import Persona
from commonplace.cognition.perceive import Percept
from commonplace.cognition.retrieve import embedded
from commonplace.cognition.situation import CLOSE, named, who
from commonplace.cognition.turn import Notebook, TurnView
from commonplace.languages import word_list
from commonplace.memory.embedding import Vector
from commonplace.memory.importance import BASE, RuleRater, forms, stems
from commonplace.memory.record import Emotion, Memory
from commonplace.minds.notes import Bearing, News, changed
from commonplace.minds.offline.rate import habituated, start, weight
from commonplace.minds.tasks import RATE, RateInput, TextRating
from commonplace.scenario.scenario import Scenario, derived
from commonplace.text import is_named, words
from commonplace.world.circumstances import TOWN, subject_of
from commonplace.world.happenings import (
    Absent,
    Befell,
    Came,
    Changed,
    Concluded,
    Did,
    Failed,
    Happening,
    Left,
    Planned,
    Read,
    Said,
    Seen,
    Speech,
    Voiced,
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


EVERYBODY = 200
"""Characters of a town in which each knows the names of all."""


@derived
def _names(scenario: Scenario, me: str) -> tuple[str, ...]:
    """Returns the short names of the others; in a city, of those whose homes lie around places that it has known from
    the start."""
    personas = scenario.personas
    if len(personas) <= EVERYBODY:
        return tuple(persona.called for persona in personas.values() if persona.id != me)
    known = scenario.states[me].belief.nodes if me in scenario.states else ()
    near = sorted(other for area in known for other in _residents(scenario).get(area, ()) if other != me)
    return tuple(personas[other].called for other in near)


@derived
def _residents(scenario: Scenario) -> Mapping[str, Sequence[str]]:
    """Returns the characters whose homes lie in an area, by area."""
    found: dict[str, list[str]] = {}
    for one in scenario.personas.values():
        found.setdefault(scenario.geography.nodes[one.home].parent_id, []).append(one.id)
    return found


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


LATELY = 2
"""Days over which one gets used to things."""
WORKDAY = 300
"""Minutes a day from which a place that is not one's home counts as one's own."""
NEWS = 8
"""Weight of a seed fact: as its author wants it followed, it is news to everybody."""
_ALIKE = ("what", "who", "object", "doing", "verb", "state", "sky", "event", "do", "why")
"""What two happenings have in common that are the same kind of thing about the same subject."""
_NO_FRAME: Mapping[str, Any] = {}


def bearing(view: TurnView, text: str, happening: Happening) -> Bearing:
    """Returns the bearing of a sentence about to be remembered. Repetitions are counted only if they matter."""
    told = _told(view, text, happening)
    concerns = tuple(_subjects(view, happening, told))
    found = Bearing(
        weight=max((_weight_of(view.scenario, id) for id in told), default=0),
        mine=_names_me(view, happening) or any(_is_mine(view, one) for one in concerns),
        dear=any(_is_dear(view, one) for one in concerns),
        spoilt=isinstance(happening, Changed) and _is_spoilt(view, happening),
        occasion=isinstance(happening, Did | Seen) and _goes_on(view, happening),
    )
    is_routine = weight(happening, found) in {None, 1}
    return found if is_routine else changed(found, times=times(view, text, happening))


def times(view: TurnView, text: str, happening: Happening) -> int:
    """Returns how often the same was perceived lately: the same kind of thing about the same subject, news of the same,
    or the same sentence."""
    since = view.tick - view.scenario.clock.ticks(LATELY * 24 * 60)
    facts = [fact for id in _told(view, text, happening) if (fact := view.scenario.fact(id)) is not None]
    alike = _alike(as_frame(happening)) if _recurs(happening) else ()
    found = 0
    for memory in view.draft.backwards():  # a loop: it goes through hundreds for each memory that is not routine
        if memory.tick < since:
            break
        if memory.tick < view.tick:
            frame = memory.details.get("frame", _NO_FRAME) if alike else _NO_FRAME
            is_alike = bool(alike) and frame.get("what") == alike[0] and _alike(frame) == alike
            found += memory.text == text or is_alike or any(fact.carried_by(memory.text) for fact in facts)
    return found


def _recurs(happening: Happening) -> bool:
    """Tells whether its type and ids identify it; a line, a thought and a step of longer work are new each time."""
    if isinstance(happening, Befell | Did):
        return bool(happening.event if isinstance(happening, Befell) else not happening.progress)
    return not isinstance(happening, Speech | Voiced | Concluded)


def _alike(frame: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(map(frame.get, _ALIKE))


# ── what it is about ─────────────────────────────────────────────────────────────────────────────────────────────────


def _told(view: TurnView, text: str, happening: Happening) -> tuple[str, ...]:
    """Returns the ids of the circumstances and seed facts that it tells of."""
    if isinstance(happening, Befell) and happening.event:
        return (happening.event,)
    if isinstance(happening, Befell | Speech | Planned | Read):
        return carried(view.scenario.facts, happening.quote if isinstance(happening, Speech | Read) else text)
    return ()


def sort_of_news(view: TurnView, text: str, happening: Happening) -> str:
    """Returns the sort of the circumstance that it tells of, if that is the character's own or of somebody dear; else
    empty."""
    for id in _told(view, text, happening) if view.scenario.circumstances else ():
        kind, of = subject_of(id)
        if id in view.scenario.circumstances and (_is_mine(view, of) or _is_dear(view, of)):
            return view.scenario.kinds[kind].sort
    return ""


def _weight_of(scenario: Scenario, id: str) -> int:
    kind = scenario.kinds.get(subject_of(id)[0])
    return kind.weight if kind else NEWS if scenario.fact(id) else 0


def _subjects(view: TurnView, happening: Happening, told: Iterable[str]) -> Iterator[str]:
    """Yields the ids of the characters, things and places that it concerns."""
    for id in told:
        fact = view.scenario.fact(id)
        yield subject_of(id)[1] or (fact.place if fact else "")
    match happening:
        case Befell():
            is_so = bool(subject_of(happening.event)[1])  # then its areas are where it is noticed
            yield from () if is_so or happening.far else happening.areas.split()
        case Came() | Left():
            yield happening.who
        case Failed(object=""):
            yield happening.place
        case _:
            yield happening.object


def _names_me(view: TurnView, happening: Happening) -> bool:
    """Tells whether others speak of me, or do something to me."""
    me, called = view.persona.id, view.persona.called
    if isinstance(happening, Said):
        return not happening.to_me and is_named(called, happening.quote)
    return isinstance(happening, Seen) and (happening.to == me or is_named(called, happening.doing))


def _is_mine(view: TurnView, of: str) -> bool:
    """Tells whether it is the character itself, its home, work place or thing, or the whole town."""
    if of in {view.persona.id, TOWN}:
        return True
    held = view.world.things.get(of)
    if held is not None and held.parent == view.persona.id:
        return True
    return not _own(view.persona).isdisjoint(_places(view.scenario, of))


def _is_dear(view: TurnView, of: str) -> bool:
    """Tells whether it is somebody dear, or their home or place of work."""
    others = {of} if of in view.scenario.personas else _owners(view.scenario, of)
    return any(_holds_dear(view, other) for other in others)


def _holds_dear(view: TurnView, other: str) -> bool:
    relation = view.state.relations.get(other)
    return relation is not None and (relation.warmth >= CLOSE or _is_kin(relation.label, view.scenario.language))


@lru_cache(maxsize=4096)
def _is_kin(label: str, language: str) -> bool:
    """Tells whether a label names a relative."""
    kin = stems(word_list(language).kin)
    return any(not kin.isdisjoint(forms(word)) for word in words(label))


@derived
def _owners(scenario: Scenario, of: str) -> frozenset[str]:
    """Returns whose home or place of work a place is or holds."""
    owners = _belonging(scenario)
    return frozenset(id for place in scenario.geography.inside(of) for id in owners.get(place, ()))


@derived
def _belonging(scenario: Scenario) -> Mapping[str, Sequence[str]]:
    """Returns place → whose home or place of work it is."""
    found: dict[str, list[str]] = {}
    for id, one in scenario.personas.items():
        for place in _own(one):
            found.setdefault(place, []).append(id)
    return found


@derived
def _places(scenario: Scenario, of: str) -> frozenset[str]:
    """Returns the areas that a place is or holds, or the area where a thing belongs."""
    node = scenario.geography.nodes.get(of)
    if node is None or of in scenario.personas:
        return frozenset()
    return scenario.geography.inside(of) if node.type == "area" else frozenset({node.parent_id})


@lru_cache(maxsize=1 << 14)  # one for each character of a city, as they take turns
def _own(persona: Persona) -> frozenset[str]:
    """Returns the home and the place of work, where the routine spends most of the rest of the day."""
    spent = Counter[str]()
    for item, following in pairwise((*persona.routine, *persona.routine[:1])):
        spent[item.place] += (following.at - item.at) % (24 * 60)
    del spent[persona.home]
    work = [place for place, minutes in spent.most_common(1) if minutes >= WORKDAY]
    return frozenset({persona.home, *work})


def _is_spoilt(view: TurnView, seen: Changed) -> bool:
    """Tells whether the thing is in a state that needs a repair."""
    geography = view.scenario.geography
    return any(one.source == seen.state for one in geography.kinds[geography.nodes[seen.object].kind].repairs)


def _goes_on(view: TurnView, happening: Did | Seen) -> bool:
    """Tells whether it was done at an event: one that the plan has led to, or one of a fact that goes on there."""
    at = view.scenario.clock.time(view.tick - 1)
    stroke = view.state.plan.at(at, "day") if isinstance(happening, Did) else None
    if stroke is not None and stroke.event and stroke.location == happening.place:
        return True
    return any(fact.place == happening.place and fact.goes_on(at) for fact in view.scenario.facts)
