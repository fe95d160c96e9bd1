"""Converse: what to say when the action is to talk, the talk a character is in, and the event it is at.

A retrieval scores memories by the words of the moment, so it brings what is alike to them, and each retrieval makes
what it brought more likely to be brought again. `beside()` therefore chooses a part of the memories for a talk by their
subject: today's life, the hearer, news, what one has not told yet.

Where people stand about at an event, nothing need be new for somebody to say something. Each has a turn now and then;
that the event goes on is what is new to them then.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from itertools import islice, tee
from typing import NamedTuple

from commonplace.character.account import Account, as_topic, digests_of_all
from commonplace.character.fact import Fact, carried
from commonplace.character.plan import PlanItem
from commonplace.clock import midnight
from commonplace.cognition.authors_lines import AuthorsLines
from commonplace.cognition.goals import goal_notes
from commonplace.cognition.known_circumstances import aware, in_own_words, known, off, speakable
from commonplace.cognition.past import notes_of, past_with
from commonplace.cognition.remember import ACTION, OBSERVATION, REFLECTION
from commonplace.cognition.retrieve import retrieve
from commonplace.cognition.sentences import sentence
from commonplace.cognition.situation import (
    fact_note,
    fact_notes,
    item_note,
    later_strokes,
    person,
    recalled,
    situation,
    who,
)
from commonplace.cognition.turn import Notebook, TurnView
from commonplace.languages.language import language
from commonplace.memory.record import Memory
from commonplace.minds.notes import TABLE, Gathering, News, PastNote, Recalled, Spoken, changed
from commonplace.minds.offline.hear import digests_to_a_friend, understood
from commonplace.minds.tasks import CONVERSE, ConverseInput, ConverseOutput, ReactOutput
from commonplace.scenario.scenario import Scenario, derived
from commonplace.text import clean, sentences, shortened, words
from commonplace.world.actions import Say
from commonplace.world.happenings import (
    Befell,
    Came,
    Concluded,
    Did,
    Failed,
    Happening,
    Hour,
    ISaid,
    Left,
    Read,
    Said,
    Sky,
    Talked,
    Tried,
    Walked,
    emoji_of,
    happening_of,
)
from commonplace.world.state import Conversation, Line

LONGEST_LINE = 400


async def converse(
    view: TurnView, notebook: Notebook, reaction: ReactOutput, news: Sequence[News], item: PlanItem | None
) -> Say | None:
    """Returns a line for the reaction's target; None if there is nothing to say, or it was said before today.

    The words may have come with the reaction; otherwise they are asked for.
    """
    hearer = reaction.target
    if hearer not in view.world.targets.agents:
        return None
    if reaction.utterance:
        words = ConverseOutput(
            utterance=reaction.utterance, ends=reaction.ends, because=reaction.because, facts=reaction.facts,
            speech_act=reaction.speech_act, topic=reaction.topic,
        )  # fmt: skip
        return line(view, hearer, words, said_today(view, hearer))
    called = view.scenario.personas[hearer].called
    heard = [entry.text for entry in news if entry.kind == "said"]
    parts = (*heard, called, reaction.purpose, reaction.reason)
    k = view.scenario.cognition.k
    found = await retrieve(view, notebook, "talk", parts, k=k - k // (REPLYING if heard else OPENING))
    said = " ".join(f"{line.utterance} {line.topic}" for line in _lines(view, hearer)[-2:])
    found = (*found, *beside(view, notebook, hearer, found, said=said, asked=_asked(view, hearer)))
    found = (*found, *_meant_for(view, notebook, hearer, found))
    if not view.world.talk:
        found = (*found, *news_ahead(view, notebook, found, (hearer,)))
    found = _with_reasons(view, notebook, reaction.because, found)
    relation, said = notebook.relations.get(hearer), said_today(view, hearer)
    past = past_with(view, notebook.account, hearer, found)
    if past.spoken_of:
        notebook.chosen("asked", past.spoken_of.because, 1)
    here, you, lines = situation(view), person(view, hearer, notebook.relations), spoken(view, hearer)
    latest = next((one for one in reversed(lines) if one.speaker == hearer), None)
    sayable = AuthorsLines(view, notebook, you, here.people, latest)
    facts = fact_notes(view.scenario, found, off(known(view), view.persona.id))
    if view.scenario.circumstances:
        found, facts = speakable(view, found), in_own_words(view, facts)
    inputs = ConverseInput(
        who=who(view.persona),
        situation=here,
        hearer=you,
        purpose=reaction.purpose,
        lines=sayable.answered(_with_replies(view, lines)),
        recalled=sayable.told(found),
        facts=sayable.news(facts, found),
        said=said,
        told=aware(view, hearer, relation.shared) if relation else (),
        now=item_note(view.scenario, item) if item else None,
        later=later_strokes(view.scenario, notebook.plan, view.now),
        past=past,
        goals=goal_notes(view, sorted(notebook.goals.open(), key=lambda goal: goal.person != hearer)),
        gathering=gathering(view, notebook, speaks=True),
    )
    answer = await notebook.ask(CONVERSE, inputs)
    return line(view, hearer, answer.value, said)


def _asked(view: TurnView, hearer: str) -> str:
    """Returns the subject that the hearer has just asked about; empty if there is none."""
    talk = view.world.talk
    line = talk.lines[-1] if talk and talk.lines else None
    return line.topic if line and line.speaker == hearer and line.speech_act in ("ask.topic", "ask.more") else ""


def _meant_for(
    view: TurnView, notebook: Notebook, hearer: str, found: Sequence[Recalled]
) -> tuple[Recalled, ...]:  # fmt: skip
    """Returns the memories behind what the character means to do with the hearer."""
    known = {note.id for note in found}
    goals = (goal for goal in notebook.goals.open() if goal.person == hearer or (goal.object and not goal.person))
    ids = [goal.because[-1] for goal in goals if goal.because[-1] not in known]
    memories = [view.draft.get(memory) for memory in dict.fromkeys(ids) if memory in view.draft]
    if memories:
        notebook.chosen("goal", [memory.id for memory in memories], len(memories))
    return recalled(view.scenario, memories, view.now)


def _with_reasons(
    view: TurnView, notebook: Notebook, because: Sequence[int], found: tuple[Recalled, ...]
) -> tuple[Recalled, ...]:
    """Returns the memories that the reaction rests on, then those retrieved, no more than were retrieved."""
    known = {memory.id for memory in found}
    reasons = [view.draft.get(memory) for memory in because if memory not in known and memory in view.draft]
    if reasons:
        notebook.chosen("reason", [memory.id for memory in reasons], len(because))
    return (*recalled(view.scenario, reasons, view.now), *found)[: max(len(found), len(reasons))]


def line(view: TurnView, hearer: str, output: ConverseOutput, said: Sequence[str], emoji: str = "") -> Say | None:
    """Returns the words as they are said; None for no words, or words that this hearer has heard from me today
    (`said`). `emoji` is the mind's own, if it has named one."""
    utterance = shortened(clean(output.utterance), LONGEST_LINE)
    if not utterance or utterance in said:
        return None
    facts = carried(view.scenario.facts, utterance)
    return Say(
        to_agent_id=hearer,
        utterance=utterance,
        facts=facts,
        claimed=tuple(fact for fact in output.facts if fact not in facts),
        carriers=tuple(carrier(view, fact, output.because) for fact in facts),
        ends=output.ends,
        because=tuple(memory for memory in output.because if memory in view.draft),
        speech_act=output.speech_act,
        topic=output.topic,
        emoji=emoji or emoji_for(utterance, output.speech_act, view.scenario.language),
    )


def emoji_for(utterance: str, speech_act: str, language: str) -> str:
    """Returns the emoji over a speaker's head, by the act of the line. A model does not name the act, so its words are
    read."""
    return emoji_of(speech_act or understood(utterance, language).act)


def carrier(view: TurnView, fact_id: str, because: Sequence[int]) -> int:
    """Returns the memory from which a fact is spoken: one the line rests on, else the earliest that carries it, else 0
    (made up)."""
    fact = next(fact for fact in view.scenario.facts if fact.id == fact_id)
    resting = [view.draft.get(memory) for memory in because if memory in view.draft]
    for memory in resting:
        if fact.carried_by(memory.text):
            return memory.id
    return view.draft.earliest(fact.carried_by) or 0


def spoken(view: TurnView, hearer: str = "") -> tuple[Spoken, ...]:
    """Returns the lines of the talk I am in, oldest first; if I am about to join a hearer's talk, the lines of that
    one."""
    personas = view.scenario.personas
    return tuple(
        Spoken(
            speaker=line.speaker,
            called=personas[line.speaker].called,
            text=line.utterance,
            speech_act=line.speech_act,
            topic=line.topic,
            replies=(),
        )
        for line in _lines(view, hearer)[-12:]
    )


def _lines(view: TurnView, hearer: str) -> Sequence[Line]:
    talk = view.world.talk
    return talk.lines if talk else _up_to(hearer, view.world.conversations)


def _with_replies(view: TurnView, lines: tuple[Spoken, ...]) -> tuple[Spoken, ...]:
    """Returns the lines, the latest with the replies that the author of the scenario wrote for it."""
    given = view.scenario.replies
    if not given or not lines or lines[-1].speaker == view.persona.id:
        return lines
    replies = (given[one] for one in reversed(sentences(lines[-1].text)) if one in given)
    if not _own_plight(view).isdisjoint(sentences(lines[-1].text)):
        return lines  # what others say to it is not for the one whom it is about
    last = _answer(view, lines) if lines[-1].speech_act == "ask.more" else next(replies, ())
    return (*lines[:-1], changed(lines[-1], replies=last)) if last else lines


def _own_plight(view: TurnView) -> frozenset[str]:
    """Returns the sentences that tell of the character's own circumstances, and of those it has caused."""
    scenario, me = view.scenario, view.persona.id
    tells = (scenario.tells[key] for key, one in scenario.circumstances.items() if me in (one.of, one.by))
    return frozenset(line for tell in tells for line in (*tell.lines, *tell.at_once))


def _answer(view: TurnView, lines: tuple[Spoken, ...]) -> tuple[str, ...]:
    """Returns the author's answers to a question about my own last line."""
    mine = next((one.text for one in reversed(lines) if one.speaker == view.persona.id), "")
    asked, answers = sentences(lines[-1].text)[-1:], view.scenario.answers
    told = ((one, question) for one in reversed(sentences(mine)) for question in asked)
    return next(((answers[pair],) for pair in told if pair in answers), ())


def _up_to(hearer: str, talks: Iterable[Conversation]) -> tuple[Line, ...]:
    """Returns the lines of the talk a hearer is in, up to the hearer's own last one."""
    lines = next((talk.lines for talk in talks if hearer in talk.members), ())
    last = max((number for number, line in enumerate(lines, 1) if line.speaker == hearer), default=0)
    return lines[:last]


def has_floor(view: TurnView) -> bool:
    """Tells whether the last line of my talk was addressed to me."""
    talk = view.world.talk
    return talk is not None and talk.floor == view.persona.id


def said_today(view: TurnView, hearer: str) -> tuple[str, ...]:
    """Returns what I have said to this hearer since midnight, oldest first."""
    mine = (happening_of(memory.details) for memory in view.draft.since(midnight(view.now), ACTION))
    return tuple(said.quote for said in mine if isinstance(said, ISaid) and said.to == hearer)


def said_to(view: TurnView, hearers: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Returns `said_today` by hearer, without hearers to whom I have said nothing."""
    return {hearer: said for hearer in hearers if (said := said_today(view, hearer))}


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


BEFORE, AFTER = timedelta(minutes=20), timedelta(minutes=30)
"""How long before it begins, and after it ends, people are at an event."""
LAST = timedelta(minutes=10)
"""How long before the end people begin to take leave."""
MOST_MISSING = 3
QUOTE = "“"


def gathering(view: TurnView, notebook: Notebook, *, speaks: bool) -> Gathering | None:
    """Returns the event that the character is at and knows of, or None. A character that `speaks` is also told what has
    been said there."""
    at = _here(view)
    memory = view.draft.earliest(at.fact.carried_by) if at is not None else None
    if at is None or memory is None:
        return None
    return Gathering(
        note=changed(fact_note(view.scenario, at.fact), tell=()),
        because=(memory,),
        host=next(iter(at.fact.originators), ""),
        heard=tuple(sorted(_heard(view, at.begins - BEFORE))) if speaks else (),
        just_come=view.world.body.came_from != view.world.area,
        missing=tuple(_missing(view, notebook, at))[:MOST_MISSING],
    )


def lull(view: TurnView) -> tuple[News, ...]:
    """Returns news that the event goes on, for a character who is in no talk there and whose turn it is to say
    something."""
    at = _here(view)
    memory = view.draft.earliest(at.fact.carried_by) if at is not None and _has_turn(view, at) else None
    if at is None or memory is None:
        return ()
    name = language(view.scenario.language).noun_phrase(at.fact.said_in(view.scenario.language))
    text = sentence(view.scenario.language, "underway", event=name)
    return (News(memory_id=memory, kind="gathering", text=text),) if name else ()


class At(NamedTuple):
    """An event at a place, with its beginning and end."""

    fact: Fact
    begins: datetime
    ends: datetime


def _here(view: TurnView) -> At | None:
    """Returns the event that goes on here, whether the character knows of it or not; None if it knows that the event is
    cancelled."""
    now = (at for at in _events(view.scenario, view.world.area) if at.begins - BEFORE <= view.now < at.ends + AFTER)
    at = next(now, None)
    return None if at is None or at.fact.id in off(known(view), view.persona.id) else at


@derived
def _events(scenario: Scenario, area: str) -> tuple[At, ...]:
    return tuple(
        At(fact, fact.starts, fact.starts + timedelta(minutes=fact.minutes or 60))
        for fact in scenario.facts
        if fact.place == area and fact.starts is not None
    )


def _heard(view: TurnView, since: datetime) -> set[str]:
    """Returns the digests of the sentences I have said and heard since then, which memories have in quotation marks."""
    kept = (
        one.text
        for kind in (OBSERVATION, ACTION)
        for one in view.draft.since(since, kind, says=lambda text: QUOTE in text)
    )
    lines = (text.partition(QUOTE)[2].rstrip("”") for text in kept)
    return {one for line in lines for one in digests_to_a_friend(line, view.scenario.language)}


def _missing(view: TurnView, notebook: Notebook, at: At) -> Iterator[PastNote]:
    """Yields those who said they would come, then those I told of it, if I have not seen them since it was about to
    begin."""
    clock, belief = view.scenario.clock, notebook.belief
    for kind in ("agreed", "told"):
        for other in sorted(notebook.relations):
            row = notebook.account.find(kind, other, topic=at.fact.id)
            seen = belief.nodes.get(other)
            if row is None or other in view.world.bodies:
                continue
            if seen is None or clock.time(seen.seen) < at.begins - BEFORE:
                yield from notes_of(view, (row,))


def _has_turn(view: TurnView, at: At) -> bool:
    """Tells whether it is my turn in this tick among all who are awake and in no talk here. One of each `TABLE` people
    has it, one after the other; towards the end every second one."""
    talking = {member for talk in view.world.conversations for member in talk.members}
    bodies = {**view.world.bodies, view.persona.id: view.world.body}
    free = sorted(one for one, body in bodies.items() if one not in talking and not body.asleep and not body.goal)
    if len(free) < 2 or view.persona.id not in free:
        return False
    every = 2 if at.ends - view.now <= LAST else -(-len(free) // -(-len(free) // TABLE))
    return (free.index(view.persona.id) + view.tick) % every == 0
