"""What comes to mind besides what a retrieval finds: today's life, the hearer, what one has not told yet, news.

A retrieval scores memories by the words of the moment, so it brings what is alike to them, and each retrieval makes
what it brought more likely to be brought again. A part of the memories for a talk is therefore chosen by its subject.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from functools import partial
from itertools import islice, tee

from commonplace.character.account import Account, as_topic, digests_of_all
from commonplace.cognition.remember import ACTION, OBSERVATION, REFLECTION
from commonplace.cognition.situation import recalled
from commonplace.cognition.turn import Notebook, TurnView
from commonplace.memory.record import Memory
from commonplace.minds.notes import Recalled
from commonplace.text import words
from commonplace.world.happenings import (
    Befell,
    Came,
    Concluded,
    Did,
    Failed,
    Happening,
    Hour,
    Left,
    Read,
    Said,
    Sky,
    Talked,
    Tried,
    Walked,
    happening_of,
)

OPENING = REPLYING = 2
"""One of how many memories for a line is chosen by what it is about."""
MOST_ON_SUBJECT = 4
"""Memories on what is being spoken of that come before all others."""
LATELY = timedelta(hours=20)
"""How long something belongs to today's life."""
OF_LATE, MOST_HEARD = timedelta(days=10), 2
"""How long one remembers by its subject what one is asked about, and how much of what others said of it."""
FIRST = 60
"""Among how many of the first memories those of the scenario, or of a newcomer's file, are looked for."""
OWN_LIFE = Concluded | Befell | Read | Did | Failed | Tried
"""Memories, besides what others said, that tell something to one who asks about a subject."""
DULL = Hour | Walked | Left | Came | Talked | Sky
"""Memories that are nothing to talk about by themselves."""


def beside(
    view: TurnView, notebook: Notebook, hearer: str, found: Sequence[Recalled], said: str = "", asked: str = ""
) -> tuple[Recalled, ...]:
    """Returns as many memories as `found` leaves room for. First come those on the subject of what has just been `said`
    that the hearer has not been told, and what the character heard, concluded and did on a subject that it is `asked`
    about; then, in turn, memories of today, of the hearer, and those not told to the hearer."""
    wanted = view.scenario.cognition.k - len(found)
    if wanted < 1:
        return ()
    lately, count = view.draft.weightiest(view.now - LATELY, OBSERVATION)
    today, of_hearer = tee((memory, happening_of(memory.details)) for memory in lately)
    untold, known = _untold(view, notebook.account, hearer), {note.id for note in found}
    named = (one for one in untold if _is_named(as_topic(happening_of(one.details).topic), said))
    subject = list(islice(named, MOST_ON_SUBJECT))
    groups = {
        "today": (memory for memory, known in today if not isinstance(known, DULL) and not _concerns(known, hearer)),
        "own": untold,
        "hearer": (memory for memory, known in of_hearer if not isinstance(known, DULL) and _concerns(known, hearer)),
    }
    about = as_topic(asked)
    first = {"subject": subject, "heard": said_of(view, hearer, about), "asked": lived_of(view, about)}
    chosen = _in_turn(first, known, wanted)
    chosen |= _in_turn(groups, known, wanted - sum(map(len, chosen.values())))
    for purpose, memories in chosen.items():
        notebook.chosen(purpose, [memory.id for memory in memories], count + len(untold))
    memories = [memory for some in chosen.values() for memory in some]
    return recalled(view.scenario, memories, view.now)


def news_ahead(
    view: TurnView, notebook: Notebook, found: Sequence[Recalled], others: Iterable[str]
) -> tuple[Recalled, ...]:  # fmt: skip
    """Returns the news that the character knows, that is not over, and that one of these others has not heard as far as
    the character knows. It comes to mind at every meeting, whatever the words of the moment are."""
    here = [other for other in others if other in notebook.relations]
    ids: list[int] = []
    for fact in view.scenario.facts:
        is_over = fact.starts is not None and fact.starts <= view.now
        if is_over or any(fact.id in note.facts for note in found):
            continue
        if any(fact.id not in notebook.relations[other].shared for other in here):
            memory = view.draft.earliest(fact.carried_by)
            ids += [memory] if memory else []
    if not ids:
        return ()
    notebook.chosen("news", ids, len(ids))
    return recalled(view.scenario, [view.draft.get(memory) for memory in ids], view.now)


def _concerns(happening: Happening, hearer: str) -> bool:
    return hearer in (happening.who, happening.about)


def _untold(view: TurnView, account: Account, hearer: str) -> list[Memory]:
    """Returns memories of the scenario of which this hearer has not heard everything meant for it, least told first."""
    to_them = account.lines.get(hearer, {}).keys()
    to_anybody = set[str]().union(*account.lines.values())
    found: list[tuple[int, int, float, int, Memory]] = []
    terms = view.scenario.terms
    others = {line for line, of in terms.items() if of.hearers and hearer not in of.hearers}
    for memory in view.draft.first(FIRST):
        tells = digests_of_all(tuple(line for line in memory.details.get("tell", ()) if line not in others))
        if not any(map(to_them.isdisjoint, tells)):
            continue
        said = len(tells) - sum(map(to_anybody.isdisjoint, tells))
        topic = as_topic(happening_of(memory.details).topic)
        told = account.find("told", hearer, topic=topic)
        found.append((told.times if told else 0, said, -memory.importance, memory.id, memory))
    return [memory for *_, memory in sorted(found, key=lambda one: one[:-1])]


def said_of(view: TurnView, hearer: str, topic: str) -> list[Memory]:
    """Returns the latest lines on a subject that others than the hearer said to others than the hearer."""
    found: list[Memory] = []
    for memory in _on(view, OBSERVATION, topic):
        said = happening_of(memory.details)
        if isinstance(said, Said) and hearer not in (said.who, said.to) and _is_named(topic, said.quote):
            found.append(memory)
    return found[: -MOST_HEARD - 1 : -1]


def lived_of(view: TurnView, topic: str) -> list[Memory]:
    """Returns the character's latest conclusion on a subject, the last thing that happened with it, and the last thing
    that the character did with it, or that it and others did in vain."""
    latest: dict[type[Happening], Memory] = {}
    for kind in (REFLECTION, OBSERVATION, ACTION):
        for memory in _on(view, kind, topic):
            lived = happening_of(memory.details)
            if isinstance(lived, OWN_LIFE):
                latest[type(lived)] = memory
    return list(latest.values())


def _on(view: TurnView, kind: str, topic: str) -> Iterator[Memory]:
    """Returns the memories of a kind whose text names a subject, oldest first, as far back as a subject brings them to
    mind."""
    if not topic:
        return iter(())
    return view.draft.since(view.now - OF_LATE, kind, partial(_is_named, topic))


def _is_named(topic: str, text: str) -> bool:
    low, stem = text.lower(), topic.removesuffix("s")
    if stem not in low:  # nearly always, and far sooner told than by words
        return False
    if not topic.isascii() or " " in topic:
        return topic in low
    return bool(topic) and not {topic, f"{topic}s", stem}.isdisjoint(words(low))


def _in_turn(groups: Mapping[str, Iterable[Memory]], known: set[int], wanted: int) -> dict[str, list[Memory]]:
    """Returns the first of each group, then the second of each, until there are as many as wanted."""
    chosen: dict[str, list[Memory]] = {}
    left = {name: (memory for memory in memories if memory.id not in known) for name, memories in groups.items()}
    while wanted and left:
        for name, memories in list(left.items()):
            memory = next(memories, None)
            if memory is None:
                del left[name]
            elif wanted:
                known.add(memory.id)
                chosen.setdefault(name, []).append(memory)
                wanted -= 1
    return chosen
