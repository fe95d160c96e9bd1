"""What a character knows of its own past: the rows of its account, and the few of them that a mind is told.

Rows are written from the happenings of percepts, which are the simulator's account, and never from what a mind claims.
Each cites the memory that the percept became: what is not remembered is not known. A mind is told only the rows that
concern the here and now.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta
from itertools import islice, pairwise

from commonplace.character.account import (
    BETWEEN,
    KEPT_DAYS,
    MARKED,
    OWN,
    Account,
    AccountRow,
    Heard,
    Rows,
    as_topic,
    cited,
    digests_of,
    latest_first,
)
from commonplace.character.fact import Fact, carried
from commonplace.clock import midnight
from commonplace.cognition.authors_lines import lines_in, marks_in
from commonplace.cognition.perceive import Percept
from commonplace.cognition.remember import ACTION
from commonplace.cognition.turn import Notebook, TurnView, View
from commonplace.languages import rows, weekdays
from commonplace.memory.record import Memory
from commonplace.minds.notes import Past, PastNote, Recalled
from commonplace.text import is_named, words
from commonplace.world.happenings import (
    SETTLING,
    Befell,
    Did,
    ISaid,
    Read,
    Said,
    Speech,
    asks,
    favour_in,
    happening_of,
    tells,
)
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


MOST_OWN, MOST_WITH = 12, 40
"""Rows about oneself, and rows about a hearer and the subjects of the talk, that a mind is told."""
MOST_WHOLE = 80
LATELY = timedelta(hours=30)
SHARED = 3
"""Words that a line must share with what one did to speak of it."""
SMALL_WORDS = frozenset({"the", "a", "an", "of", "to", "and", "in", "on", "at", "with", "from", "for"})


def past_with(view: View, account: Account, other: str, found: Sequence[Recalled] = ()) -> Past:
    """Returns the past that concerns a hearer: the rows with them, the others whom the character told or from whom it
    heard of the talk's subjects and of the news recalled, and its own latest deeds; with the sentences that this hearer
    has heard, those said lately, and those of the recalled memories that anybody has been told."""
    rows = [row for kind in BETWEEN for row in account.groups.get(f"{kind}/{other}", {}).values()]
    for topic in dict.fromkeys((*talk_topics(view), *(fact for note in found for fact in note.facts))):
        rows += _elsewhere(account, topic, other)
    latest = latest_first(rows)[:MOST_WITH]
    return Past(
        notes=(*notes_of(view, (*latest, *_own(account))), *_seen(view, other), *_asked_about(view, other)),
        said=tuple(sorted(account.lines.get(other, ()))),
        lately=(*_told(account, found), *_in_order(account.lines.get("", {}))),
    )


def own_past(view: View, account: Account) -> Past:
    """Returns the character's own latest deeds, occasions and promises."""
    return Past(notes=notes_of(view, _own(account)), said=(), lately=())


def whole_past(view: View, account: Account) -> Past:
    """Returns the latest rows of every kind, and all rows about promises."""
    rows = [row for row in account.all() if row.kind != MARKED]
    older = (row for row in rows[MOST_WHOLE:] if f"{row.kind}/" in WITH_SOMEBODY)
    return Past(notes=notes_of(view, (*rows[:MOST_WHOLE], *older)), said=(), lately=())


WITH_SOMEBODY = ("promised/", "kept/", "broke/")


def _own(account: Account) -> tuple[AccountRow, ...]:
    """Returns the character's own latest deeds and occasions, and what became of promises."""
    groups = [rows for group, rows in account.groups.items() if group.startswith(ABOUT_ONESELF)]
    made = tuple(map(id, groups))
    known = _OWN.get(made)
    if known is None:
        rows = [row for kind in OWN if kind != "promised" for row in account.rows(kind)[:MOST_OWN]]
        for group, promised in account.groups.items():
            if group.startswith(WITH_SOMEBODY) and not group.endswith("/"):
                rows += promised.values()
        if len(_OWN) >= MOST_ACCOUNTS:
            _OWN.clear()
        known = _OWN[made] = groups, latest_first(rows)[: 2 * MOST_OWN]
    return known[1]


ABOUT_ONESELF = tuple(f"{kind}/" for kind in OWN)
_OWN: dict[tuple[int, ...], tuple[list[Rows], tuple[AccountRow, ...]]] = {}
"""By the addresses of the groups about oneself, which are kept with them: the rows told last."""
MOST_ACCOUNTS = 64


def _elsewhere(account: Account, topic: str, hearer: str) -> Iterable[AccountRow]:
    """Yields the rows of others whom the character told of a topic, or from whom it heard of it."""
    for group, found in account.groups.items():
        if group.startswith(("told/", "heard/")) and not group.endswith(f"/{hearer}"):
            row = found.get(f"/{topic}")
            if row is not None:
                yield row


def _seen(view: View, hearer: str) -> list[PastNote]:
    """Returns where the people whom the latest line names were last seen."""
    talk = view.world.talk
    line = talk.lines[-1].utterance if talk and talk.lines else ""
    belief, nodes, minutes = view.state.belief, view.scenario.geography.nodes, view.scenario.clock.tick_minutes
    return [
        PastNote(kind="saw", other=other, called=persona.called, act="", topic="", named="",
            text=nodes[known.parent].name, minutes_ago=(view.world.tick - known.seen) * minutes, times=1, because=(),
        )
        for other, known in sorted(belief.nodes.items() if line else ())
        if known.seen > 0 and other not in (hearer, view.persona.id) and known.parent in nodes
        for persona in (view.scenario.personas.get(other),)
        if persona is not None and is_named(persona.called, line)
    ]  # fmt: skip


def _asked_about(view: View, hearer: str) -> list[PastNote]:
    """Returns recent doings of the character that the hearer's latest line asks about."""
    talk = view.world.talk
    line = talk.lines[-1] if talk and talk.lines else None
    if line is None or line.speaker != hearer or not (line.speech_act.startswith("ask") or "?" in line.utterance):
        return []
    said = frozenset(words(line.utterance)) - SMALL_WORDS
    if len(said) < SHARED:
        return []
    others = {""}
    for memory in view.memories.since(view.now - LATELY, ACTION):
        done = happening_of(memory.details)
        doing = done.doing if isinstance(done, Did) else ""
        if doing in others:  # the same few things are done all day
            continue
        others.add(doing)
        parts = words(doing)
        if len(said.intersection(parts)) >= SHARED and not said.isdisjoint((parts[0], parts[-1])):
            minutes = (view.now - memory.created_at) // timedelta(minutes=1)
            return [
                PastNote(kind="did", other="", called="", act="", topic="", named=doing, text="",
                    minutes_ago=minutes, times=1, because=(memory.id,),
                )
            ]  # fmt: skip
    return []


def _told(account: Account, found: Iterable[Recalled]) -> list[str]:
    """Returns the digests of those lines of these memories that anybody has been told."""
    return sorted({one for note in found for tell in note.tell for one in digests_of(tell) if account.has_said(one)})


def _in_order(heard: Heard) -> tuple[str, ...]:
    return tuple([sentence for _, sentence in sorted(zip(heard.values(), heard, strict=True))])


def notes_of(view: View, rows: Sequence[AccountRow]) -> tuple[PastNote, ...]:
    """Returns rows as a mind is told them."""
    return tuple([_note(view, row) for row in rows])


def _note(view: View, row: AccountRow) -> PastNote:
    """Returns a row as a mind is told it."""
    scenario = view.scenario
    fact = scenario.fact(row.topic)
    return PastNote(
        kind=row.kind,
        other=row.other,
        called=scenario.personas[row.other].called if row.other in scenario.personas else "",
        act=row.act,
        topic=row.topic,
        named=row.named,
        text=fact.said_in(scenario.language) if fact else _attended(view, row),
        minutes_ago=(view.world.tick - row.tick) * scenario.clock.tick_minutes,
        times=row.times,
        because=row.because,
    )


def _attended(view: View, row: AccountRow) -> str:
    """Returns what was seen of an event, as long as it is remembered."""
    if row.kind != "attended" or row.because[-1] not in view.memories:
        return ""
    befell = happening_of(view.memories.get(row.because[-1]).details)
    return befell.text if isinstance(befell, Befell) else ""
