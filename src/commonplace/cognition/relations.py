"""Relations: who is known, when they last talked, and what moves warmth besides the talks themselves.

After a talk the mind weighs its tone (`relate` in `deferred.py`). What is here follows from the character's own account
by rule, the same for every mind: a word kept or broken, what was said about one, a secret that got about, an apology.
Each change cites the memories it rests on, leaves a row in the account and the event `RELATION_CHANGED`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from commonplace.character.account import AccountRow, cited
from commonplace.character.fact import Fact, carried
from commonplace.character.state import WARMTH, Relation
from commonplace.cognition.known_circumstances import concerning
from commonplace.cognition.past import Remembered, oldest, topics_of
from commonplace.cognition.perceive import Percept
from commonplace.cognition.turn import Notebook, TurnView
from commonplace.languages.language import language
from commonplace.scenario.circumstances import subject_names
from commonplace.text import words
from commonplace.world.circumstances import Circumstance
from commonplace.world.events import RelationChanged
from commonplace.world.happenings import (
    Befell,
    Came,
    Happening,
    ISaid,
    Read,
    Said,
    Seen,
    Speech,
    favour_in,
    happening_of,
)

CHANGES: Mapping[str, int] = {
    "kept_word": 5, "broke_word": -10, "spoke_well": 3, "spoke_ill": -5, "told_secret": -12, "apologised": 6,
    "stayed_away": -1, "reproached": -3, "defied": -6, "made_up": 7, "forgave": 5, "stood_by": 5,
}  # fmt: skip
"""By what the other did: the change of warmth."""
HURT, PLEASED = "hurt", "pleased"
"""Kinds of rows in the account: the other did something that pleased me, or that hurt."""
ILL = frozenset({"complain", "snub", "tell.concern"})
WELL = frozenset({"praise", "tell.fond", "comfort", "thank"})
"""Speech acts that, about somebody who hears it, are taken amiss or taken well."""
FELT = {"reproach": "reproached", "defy": "defied", "make_up": "made_up", "forgive": "forgave"}
"""Speech acts to me that change what I think of the speaker, whatever they are about. `defy` answers a reproach, and
`forgive` an apology or an offer to make up."""
FORGETS = 7 * 24 * 60
"""Minutes within which an apology is for something."""
AWAY = 4 * 24 * 60
"""Minutes without a talk after which one feels less close to somebody one likes."""
LIKED = 20


# ── who is known ─────────────────────────────────────────────────────────────────────────────────────────────────────


def acquaint(view: TurnView, notebook: Notebook, percepts: Iterable[Percept]) -> None:
    """Makes acquaintances of people the character meets, notes when it last talked with whom, and the facts that were
    shared."""
    for percept in percepts:
        match percept.happening:
            case ISaid() as said:
                _exchanged(view, notebook, said.to, said.quote)
            case Said() as said:
                _exchanged(view, notebook, said.who, said.quote, exchanged=bool(said.to_me))
            case Read() as read if read.who:
                _exchanged(view, notebook, read.who, read.quote, exchanged=False)
            case happening if happening.who:
                _met(view, notebook, happening.who)
            case _:
                pass


def _met(view: TurnView, notebook: Notebook, other: str) -> Relation:
    relation = notebook.relations.get(other)
    if relation is None:
        relation = Relation(other, known_since=view.tick)
        notebook.relations[other] = relation
    return relation


def _exchanged(view: TurnView, notebook: Notebook, other: str, quote: str, *, exchanged: bool = True) -> None:
    relation = _met(view, notebook, other)
    facts = tuple(fact for fact in carried(view.scenario.facts, quote) if fact not in relation.shared)
    last_talk = view.tick - 1 if exchanged else relation.last_talk
    if facts or last_talk != relation.last_talk:
        notebook.relations[other] = replace(relation, last_talk=last_talk, shared=(*relation.shared, *facts))


# ── what moves warmth ────────────────────────────────────────────────────────────────────────────────────────────────


def warmed(relation: Relation, change: int) -> Relation:
    """Returns the relation with its warmth changed, within −100 … 100."""
    coldest, warmest = WARMTH
    return replace(relation, warmth=min(warmest, max(coldest, relation.warmth + change)))


def feel(view: TurnView, notebook: Notebook, remembered: Iterable[Remembered]) -> None:
    """Weighs what was perceived in this tick, what has become of promises, and days without a word."""
    for percept, memory in sorted(remembered, key=lambda pair: pair[1].id):
        if isinstance(percept.happening, Said):
            _listen(view, notebook, percept.happening, memory.id)
        elif view.scenario.circumstances:
            _suffer(view, notebook, percept.happening, memory.id)
    if 0 <= notebook.account.next_due <= view.tick:
        _miss(view, notebook)
    for fact in view.scenario.facts:
        if fact.starts is None or fact.starts > view.now:
            continue
        if _has_just_ended(view, fact.starts + timedelta(minutes=fact.minutes or 60)):
            _look_back(view, notebook, fact)
    if view.now.hour == 0 and view.now.minute < view.scenario.clock.tick_minutes:
        _drift(view, notebook)


def _listen(view: TurnView, notebook: Notebook, said: Said, memory: int) -> None:
    other, act = said.who, said.act
    topics = topics_of(view.scenario.facts, said)
    if not said.to_me:
        if act in ILL | WELL and _names_me(view, said.quote):
            why = "spoke_ill" if act in ILL else "spoke_well"
            _change(view, notebook, other, why, (memory,), topics, said.topic)
        for topic in topics:
            if told := _my_secret(view, notebook, other, topic):
                _change(view, notebook, other, "told_secret", (*told, memory), (topic,))
    elif favour_in(said.act, "keep"):
        _change(view, notebook, other, "kept_word", (memory,), topics)
    elif act in FELT:
        _change(view, notebook, other, FELT[act], (memory,), topics)
    elif act == "apologise":
        hurt = next(iter(notebook.account.rows(HURT, other)), None)
        done = next(iter(notebook.account.rows(PLEASED, other)), None)
        is_open = hurt is not None and (done is None or done.act != "apologised" or done.tick < hurt.tick)
        if hurt is not None and is_open and view.tick - hurt.tick <= view.scenario.clock.ticks(FORGETS):
            _change(view, notebook, other, "apologised", (*hurt.because[-1:], memory), (hurt.topic,))


def _suffer(view: TurnView, notebook: Notebook, happening: Happening, memory: int) -> None:
    """Changes warmth to whoever wronged me, or wronged somebody in front of me; and, in something bad, to whoever is
    with me or is seen to do something."""
    scenario, me = view.scenario, view.persona.id
    one = scenario.circumstances.get(happening.event) if isinstance(happening, Befell) else None
    if one is not None and one.holds and one.by:
        change, other = scenario.kinds[one.kind].warmth, one.of if one.by == me else one.by
        by = change if one.of == me else int(change / 2) if (one.by == me) == (change > 0) else 0
        why = "was_good" if by > 0 else "wronged" if one.of == me else "saw_wrong"
        is_new = notebook.account.find(HURT if by < 0 else PLEASED, other, why, one.key) is None
        if by and is_new and other in notebook.relations:
            _change(view, notebook, other, why, (memory,), (one.key,), by=by)
    for bad in scenario.circumstances.values():
        kind = scenario.kinds[bad.kind]
        is_mine = bad.holds and kind.sort != "joy" and me in concerning(scenario, bad.of)
        if not is_mine or happening.who in ("", bad.by) or happening.who not in notebook.relations:
            continue
        visits = isinstance(happening, Came) and bool(kind.rests) and bad.of == me
        helps = isinstance(happening, Seen) and _is_about(view, bad, happening.doing)
        is_new = notebook.account.find(PLEASED, happening.who, "stood_by", bad.key) is None
        if is_new and (visits or helps) and scenario.personas[happening.who].home != view.persona.home:
            _change(view, notebook, happening.who, "stood_by", (memory,), (bad.key,))


def _is_about(view: TurnView, bad: Circumstance, doing: str) -> bool:
    """Tells whether somebody's doing names what is bad: the fire, me, the thing that is looked for."""
    words = view.scenario.kinds[bad.kind].words.carrying
    return language(view.scenario.language).occurs((*words, *subject_names(view.scenario, bad.of)), doing)


def _names_me(view: TurnView, quote: str) -> bool:
    name = view.persona.called
    return name in quote and (language(view.scenario.language).has_particles or name.lower() in words(quote))


def _my_secret(view: TurnView, notebook: Notebook, other: str, topic: str) -> tuple[int, ...]:
    """Returns the memory of telling the other a secret of mine on the topic; empty if I never did."""
    row = notebook.account.find("told", other, topic=topic)
    for memory in row.because if row else ():
        if memory in view.memories:
            told = happening_of(view.memories.get(memory).details)
            if isinstance(told, Speech) and told.speech_act == "tell.secret":
                return (memory,)
    return ()


def _miss(view: TurnView, notebook: Notebook) -> None:
    """Blames others who have promised me something and not done it in time: they broke their word."""
    for row in notebook.account.promises():
        if row.kind == "agreed" and 0 <= row.due <= view.tick:
            notebook.account = notebook.account.dropped(row)
            if row.other in notebook.relations and not _is_excused(view, row.other, row.topic):
                _change(view, notebook, row.other, "broke_word", row.because, (row.topic,), row.named)


def _is_excused(view: TurnView, other: str, topic: str) -> bool:
    """Tells whether nobody can blame somebody for not keeping their word: they are gone or have to lie down, or the
    event does not take place."""
    kinds = view.scenario.kinds
    return any(
        one.of == topic or (one.of == other and (kinds[one.kind].gone or bool(kinds[one.kind].rests)))
        for one in view.scenario.circumstances.values()
    )


def _has_just_ended(view: TurnView, ends: datetime) -> bool:
    return ends <= view.now < ends + timedelta(minutes=view.scenario.clock.tick_minutes)


def _look_back(view: TurnView, notebook: Notebook, fact: Fact) -> None:
    """Judges those who had agreed to come to an event I was at: whoever came kept their word, whoever I have not seen
    broke it."""
    mine = notebook.account.find("attended", topic=fact.id)
    if mine is None or fact.starts is None:
        return
    began = view.scenario.clock.tick(fact.starts)
    for other in sorted(notebook.relations):
        agreed = notebook.account.find("agreed", other, topic=fact.id)
        known = notebook.belief.nodes.get(other)
        if agreed is None or known is None or _is_excused(view, other, fact.id):
            continue
        because = (*agreed.because, *mine.because[-1:])
        if other in view.world.bodies or (known.parent == fact.place and known.seen >= began):
            _change(view, notebook, other, "kept_word", because, (fact.id,))
        elif max(known.seen, notebook.relations[other].last_talk) < began:
            _change(view, notebook, other, "broke_word", because, (fact.id,))


def _drift(view: TurnView, notebook: Notebook) -> None:
    """Lowers the warmth a little for people the character likes and has not talked with for days; it cites their last
    words."""
    away = view.scenario.clock.ticks(AWAY)
    for other, relation in sorted(notebook.relations.items()):
        if relation.warmth > LIKED and 0 <= relation.last_talk < view.tick - away:
            last = next(iter(notebook.account.rows("heard", other)), None)
            _change(view, notebook, other, "stayed_away", last.because[-1:] if last else (), ())


def _change(
    view: TurnView, notebook: Notebook, other: str, why: str, because: tuple[int, ...], topics: tuple[str, ...],
    named: str = "", by: int = 0,
) -> None:  # fmt: skip
    relation, by = notebook.relations[other], by or CHANGES[why]
    changed = warmed(relation, by)
    if changed.warmth == relation.warmth or not because:
        return
    notebook.relations[other] = replace(changed, because=cited(relation.because, because))
    kind = HURT if by < 0 else PLEASED
    topic = topics[0] if topics else ""
    row = AccountRow(kind, other, why, topic, view.tick, view.tick, because=cited((), because), named=named)
    notebook.account = notebook.account.noted(row, oldest(view))
    notebook.notes.append(
        RelationChanged(other=other, change=by, warmth=changed.warmth, why=why, because=tuple(because))
    )
