"""What a character knows of its own past, kept from what it has just perceived and remembered.

Rows are written from the happenings of percepts, which are the simulator's account, and never from what a mind claims.
Each cites the memory that the percept became: what is not remembered is not known.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta
from itertools import islice, pairwise

from commonplace.character.account import KEPT_DAYS, MARKED, AccountRow, as_topic, cited
from commonplace.character.fact import Fact, carried
from commonplace.clock import midnight
from commonplace.cognition.authors_lines import lines_in, marks_in
from commonplace.cognition.perceive import Percept
from commonplace.cognition.turn import Notebook, TurnView, View
from commonplace.languages import rows, weekdays
from commonplace.memory.record import Memory
from commonplace.world.acts import SETTLING, asks, favour_in, tells
from commonplace.world.happenings import Befell, Did, ISaid, Read, Said, Speech
from commonplace.world.state import Conversation, Line

LATEST_LINES = 4
Remembered = tuple[Percept, Memory]
USUAL_DAYS, EVENING = 2, 21 * 60
"""Days within which a promise is to be kept that names no day, and the minute of that day."""
REPAIRS = frozenset({"REPAIR", "FIX", "MEND"})
"""Verbs with which something is done that is worth knowing later, also where it is a routine."""


def record_past(view: TurnView, notebook: Notebook, remembered: Iterable[Remembered]) -> None:
    """Writes the rows of what was perceived in this tick, and settles the promises whose time has come."""
    known = sorted(remembered, key=lambda pair: pair[1].id)  # whatever order they come in, the rows are the same
    for percept, memory in known:
        match percept.happening:
            case ISaid() as said:
                _i_said(view, notebook, said, memory)
            case Said() as said:
                _said(view, notebook, said, memory)
            case Did() as did:
                _did(view, notebook, did, memory)
            case Befell() as befell:
                _event(view, notebook, befell, memory)
            case Read() as read if read.who:
                for fact in carried(view.scenario.facts, read.quote):
                    _add(view, notebook, "heard", memory, read.who, topic=fact)
            case _:
                pass
        if isinstance(percept.happening, ISaid | Said):
            for mark in marks_in(percept.happening.quote, view.scenario):
                _add(view, notebook, MARKED, memory, topic=mark)
    if not view.world.body.asleep:
        _attend(view, notebook, known)
    if 0 <= notebook.account.next_due <= view.tick:
        _settle(view, notebook)


def _add(
    view: TurnView, notebook: Notebook, kind: str, memory: Memory, other: str = "", act: str = "", topic: str = "",
    named: str = "", due: int = -1,
) -> None:  # fmt: skip
    entry = AccountRow(kind, other, act, topic, view.tick, view.tick, because=(memory.id,), named=named, due=due)
    notebook.account = notebook.account.noted(entry, oldest(view))


def oldest(view: TurnView) -> int:
    """Returns the tick before which rows are forgotten."""
    return view.tick - view.scenario.clock.ticks(KEPT_DAYS * 24 * 60)


# ── talk ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _i_said(view: TurnView, notebook: Notebook, said: ISaid, memory: Memory) -> None:
    """Notes that I told, asked, agreed to or declined something."""
    hearer = said.to
    for text in (said.quote, *lines_in(said.quote, view.scenario)):
        notebook.account = notebook.account.said(hearer, text, view.tick, oldest(view))
    act, topics = said.act, topics_of(view.scenario.facts, said)
    before = _before(view, hearer, said, mine=True)
    if asks(act):
        for topic in topics:
            _add(view, notebook, "asked", memory, hearer, act, topic)
    if act in {"accept", "decline"} and before is not None:
        kind, asked = "promised" if act == "accept" else "declined", _speech(before)
        favour = favour_in(asked.act, "ask")
        for topic in topics_of(view.scenario.facts, asked) or topics:
            due = _due(view, favour, topic, asked, said) if kind == "promised" else -1
            _add(view, notebook, kind, memory, hearer, favour, topic, before.topic, due)
    if favour := favour_in(said.act, "promise"):
        _pledged(view, notebook, "promised", hearer, favour, said, memory)
    if favour := favour_in(said.act, "keep"):
        _kept(view, notebook, hearer, favour, topics, memory)
        if favour == "lend":
            _pledged(view, notebook, "agreed", hearer, "return", said, memory)
    if tells(act):
        for topic in topics:
            _add(view, notebook, "told", memory, hearer, topic=topic, named=said.topic)
    if act in SETTLING:
        _add(view, notebook, "told", memory, hearer, act, topics[0] if topics else "")


def _said(view: TurnView, notebook: Notebook, said: Said, memory: Memory) -> None:
    """Notes that somebody told me, asked me, answered me or agreed to something. Counts only facts in lines said to
    somebody else."""
    other, act = said.who, said.act
    topics = topics_of(view.scenario.facts, said)
    if not said.to_me:
        for fact in carried(view.scenario.facts, said.quote):
            _add(view, notebook, "heard", memory, other, topic=fact)
        return
    before = _before(view, other, said, mine=False)
    if before is not None:
        _replied(view, notebook, said, before, memory)
    if favour := favour_in(said.act, "promise"):
        _pledged(view, notebook, "agreed", other, favour, said, memory)
    if favour := favour_in(said.act, "keep"):
        for row in _rows_on(notebook, "agreed", other, favour, topics):
            notebook.account = notebook.account.dropped(row)
        if favour == "lend":
            _pledged(view, notebook, "promised", other, "return", said, memory)
    if asks(act):
        for topic in topics:
            _add(view, notebook, "was_asked", memory, other, act, topic)
    if tells(act):
        for topic in topics:
            _add(view, notebook, "heard", memory, other, topic=topic, named=said.topic)


def _replied(view: TurnView, notebook: Notebook, said: Said, before: Line, memory: Memory) -> None:
    """Notes what a reply makes of my line before it: an answered question, something agreed to or refused."""
    other, act, asked = said.who, said.act, _speech(before)
    mine = asked.act
    if not asks(mine):
        return
    favour = favour_in(asked.act, "ask")
    for topic in topics_of(view.scenario.facts, asked):
        _add(view, notebook, "answered", memory, other, mine, topic)
        if act in {"accept", "decline"}:
            due = _due(view, favour, topic, asked, said) if favour and act == "accept" else -1
            kind = "agreed" if act == "accept" else "refused"
            _add(view, notebook, kind, memory, other, favour, topic, before.topic, due)


def _pledged(
    view: TurnView, notebook: Notebook, kind: str, other: str, favour: str, line: Speech, memory: Memory
) -> None:
    """Notes a line that promises a favour: mine to the other (`promised`), or the other's to me (`agreed`)."""
    for topic in topics_of(view.scenario.facts, line):
        due = _due(view, favour, topic, line)
        _add(view, notebook, kind, memory, other, favour, topic, line.topic, due)


def _due(view: TurnView, favour: str, topic: str, *lines: Speech) -> int:
    """Returns when a promise has to be kept: at the end of an event, on the day that the words name, or within two
    days."""
    if not favour:
        return _ends(view, topic)
    days = _named_day(view, " ".join(line.quote for line in lines).lower())
    days = USUAL_DAYS if days is None else days
    return view.scenario.clock.tick(midnight(view.now) + timedelta(days=days, minutes=EVENING))


def _named_day(view: TurnView, quotes: str) -> int | None:
    """Returns the days from now to the day that the words name; None if they name none."""
    language = view.scenario.language
    found = {name.lower(): (number - view.now.weekday()) % 7 or 7 for number, name in enumerate(weekdays(language))}
    found |= {name: int(days) for name, days in rows(language, "days", "ahead")}
    said = min((name for name in found if name in quotes), key=lambda name: (-len(name), name), default="")
    return found.get(said)


def _kept(
    view: TurnView, notebook: Notebook, other: str, favour: str, topics: Sequence[str], memory: Memory
) -> None:  # fmt: skip
    for row in _rows_on(notebook, "promised", other, favour, topics):
        notebook.account = notebook.account.dropped(row)
        _settled(view, notebook, row, "kept", cited(row.because, (memory.id,)))


def _rows_on(notebook: Notebook, kind: str, other: str, favour: str, topics: Sequence[str]) -> list[AccountRow]:
    rows = (notebook.account.find(kind, other, favour, topic) for topic in topics)
    return [row for row in rows if row is not None]


def topics_of(facts: Sequence[Fact], line: Speech) -> tuple[str, ...]:
    """Returns the topics of a line: the seed facts its words carry, else its own topic."""
    topic = as_topic(line.topic)
    return carried(facts, line.quote) or ((topic,) if topic else ())


def talk_topics(view: View) -> tuple[str, ...]:
    """Returns the topics of the latest lines of the character's talk."""
    lines = view.world.talk.lines[-LATEST_LINES:] if view.world.talk else ()
    return tuple(dict.fromkeys(topic for line in lines for topic in topics_of(view.scenario.facts, _speech(line))))


def _before(view: TurnView, other: str, line: Speech, *, mine: bool) -> Line | None:
    """Returns the line that a line of the talk between me and another answers; `mine` tells that the answer is mine."""
    me = view.persona.id
    speaker, asker = (me, other) if mine else (other, me)
    for talk in view.world.conversations:
        if me in talk.members and other in talk.members:
            return _answered(talk, speaker, asker, line.quote)
    return None


def _answered(talk: Conversation, speaker: str, asker: str, quote: str) -> Line | None:
    for before, said in reversed(tuple(pairwise(talk.lines))):
        if said.speaker == speaker and said.utterance == quote:
            return before if before.speaker == asker and before.to == speaker else None
    return None


def _speech(line: Line) -> Speech:
    return Speech(quote=line.utterance, speech_act=line.speech_act, topic=line.topic)


# ── what one did and was at ──────────────────────────────────────────────────────────────────────────────────────────


def _did(view: TurnView, notebook: Notebook, did: Did, memory: Memory) -> None:
    """Notes something done that is not routine."""
    stroke = view.state.plan.at(view.now - timedelta(minutes=view.scenario.clock.tick_minutes), "day")
    if stroke is not None and stroke.routine < 0 and not stroke.asleep:
        _add(view, notebook, "did", memory, topic=as_topic(stroke.action_description), named=stroke.action_description)
    elif did.verb in REPAIRS:
        _add(view, notebook, "did", memory, topic=as_topic(did.doing))


def _event(view: TurnView, notebook: Notebook, befell: Befell, memory: Memory) -> None:
    """Notes a scripted event that I saw at its place."""
    if befell.event and view.world.area in befell.areas.split():
        _add(view, notebook, "attended", memory, topic=befell.event)


def _attend(view: TurnView, notebook: Notebook, known: Sequence[Remembered]) -> None:
    """Notes the events of facts that go on where I am. If nothing new is perceived, it cites the latest memory,
    once."""
    for fact in view.scenario.facts:
        if fact.place != view.world.area or not fact.goes_on(view.now):
            continue
        memories = [memory for _, memory in known]
        if not memories and notebook.account.find("attended", topic=fact.id) is None:
            memories = list(islice(view.draft.backwards(), 1))
        if memories:
            about = next((memory for memory in memories if fact.carried_by(memory.text)), memories[0])
            _add(view, notebook, "attended", about, topic=fact.id)


def _ends(view: TurnView, topic: str) -> int:
    """Returns the tick at which the event of a fact is over; −1 for anything else."""
    fact = view.scenario.fact(topic)
    if fact is None or fact.starts is None:
        return -1
    return view.scenario.clock.tick(fact.starts + timedelta(minutes=fact.minutes or 60))


def _settle(view: TurnView, notebook: Notebook) -> None:
    """Settles the promises whose time is over: whoever was there kept it, whoever was not broke it."""
    account = notebook.account
    for entry in account.promises():
        if entry.kind != "promised" or not 0 <= entry.due <= view.tick:
            continue
        there = account.find("attended", topic=entry.topic) if not entry.act else None
        kept = there is not None and there.tick >= entry.since
        because = cited(entry.because, there.because if there and kept else ())
        notebook.account = notebook.account.dropped(entry)
        _settled(view, notebook, entry, "kept" if kept else "broke", because)


def _settled(view: TurnView, notebook: Notebook, promise: AccountRow, kind: str, because: tuple[int, ...]) -> None:
    row = AccountRow(
        kind, promise.other, promise.act, promise.topic, view.tick, view.tick, because=because, named=promise.named
    )
    notebook.account = notebook.account.noted(row, oldest(view))
