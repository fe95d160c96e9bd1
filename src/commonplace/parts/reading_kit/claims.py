"""What people say of their own past, and what they answer, checked against the run.

A *claim* is a sentence about the speaker's own past: that one was somewhere, has not heard something, has told nobody.
A *question* is known to the answerer when the run shows that the answer was there to be given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from commonplace.character.account import as_topic
from commonplace.memory.record import Memory
from commonplace.minds.offline.hear import content, understood
from commonplace.parts.reading_kit.chronicle import AttendedEvent, Chronicle, SpokenLine, plain
from commonplace.parts.reading_kit.wordings import LinePart
from commonplace.text import sentences, words
from commonplace.world.happenings import (
    Came,
    Changed,
    Did,
    Hour,
    ISaid,
    Left,
    Planned,
    Said,
    Sky,
    Talked,
    Walked,
    happening_of,
)

__all__ = ["CheckedQuestion", "Claim", "claims", "questions"]

WAS_THERE = 2
"""Ticks at a place from which on somebody was at what happened there; in fewer one only walks through."""
TELLING = 5
"""Words from which on a sentence is no mere turn of phrase, and saying or hearing it twice tells something."""
ANSWERS = frozenset({"answer", "accept", "decline", "hesitate"})
"""Acts that answer."""
SILENT_ON = Planned | ISaid | Walked | Hour | Sky | Changed | Came | Left | Talked
"""Kinds of memory that hold nothing to tell when asked about a subject."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence about the speaker's own past."""

    line: SpokenLine
    kind: str
    """One of `wordings.KINDS`."""
    is_true: bool | None
    """None when the run does not tell."""


@dataclass(frozen=True, slots=True)
class CheckedQuestion:
    """A question and what became of it."""

    line: SpokenLine
    kind: str
    """Its act, such as `ask.event`; `ask` for any other question."""
    reply: SpokenLine | None
    outcome: str
    """`answered`; `evaded`, by a wording that tells nothing; `turned`, by taking leave or speaking of something else;
    `silence`, without a reply."""
    is_known: bool | None
    """Whether the one who was asked could have told; None for opinions, and where the run does not tell."""


# ── claims ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def claims(chronicle: Chronicle) -> Iterator[Claim]:
    """Yields every claim of the run in order, at most one of a kind in a line."""
    for line in chronicle.lines:
        for kind, check in _CHECKS.items():
            part = next((one for one in line.parts if one.is_a(kind)), None)
            if part is not None:
                yield Claim(line, kind, check(chronicle, line, part))


def _present(chronicle: Chronicle, line: SpokenLine, _part: LinePart) -> bool | None:
    occasion = _occasion(chronicle, line)
    return None if occasion is None else chronicle.attended(line.speaker, occasion) > 0


def _absent(chronicle: Chronicle, line: SpokenLine, _part: LinePart) -> bool | None:
    occasion = _occasion(chronicle, line)
    return None if occasion is None else chronicle.attended(line.speaker, occasion) < WAS_THERE


def _occasion(chronicle: Chronicle, line: SpokenLine) -> AttendedEvent | None:
    """Returns the last event that had begun and that the line or the one before it names."""
    spoken_of = [line, *([line.before] if line.before else [])]
    begun = [one for one in chronicle.occasions if one.first <= line.tick and any(map(one.is_named, spoken_of))]
    return max(begun, key=lambda one: one.first, default=None)


def _unheard(chronicle: Chronicle, line: SpokenLine, _part: LinePart) -> bool | None:
    """Tells whether some part of what was just told had not been heard before this talk."""
    told = line.before
    if told is None:
        return None
    never = chronicle.last + 1
    if any(chronicle.known_since.get((line.speaker, fact), never) < line.began for fact in told.facts):
        return False
    heard, tells = chronicle.heard.get(line.speaker, {}), _telling(told)
    if not tells:
        return True if told.facts else None
    return any(heard.get(plain(one), never) >= line.began for one in tells)


def _first(chronicle: Chronicle, line: SpokenLine, _part: LinePart) -> bool | None:
    if line.before is not None and line.before.act == "ask.who":
        return None  # the only one to have told me
    told = _has_told(chronicle, line)
    return None if told is None else not told


def _told(chronicle: Chronicle, line: SpokenLine, part: LinePart) -> bool | None:
    """Tells whether those who are named, or somebody if nobody is named, were told."""
    personas = chronicle.scenario.personas.items()
    named = {id_ for id_, one in personas if chronicle.spoken.names(part.text, one.name, one.called)}
    if not named:
        return _has_told(chronicle, line)
    mine = _own_line_before(line)
    if mine is None:
        return None
    about = {as_topic(topic) for topic in (mine.topic, line.topic, line.before.topic if line.before else "") if topic}
    told = {one.hearer for one in _told_before(chronicle, line, mine)}
    told |= {one.hearer for one in chronicle.said_before(line.speaker, line.tick) if as_topic(one.topic) in about}
    return named <= told


def _has_told(chronicle: Chronicle, line: SpokenLine) -> bool | None:
    """Tells whether the speaker had told somebody else, before this talk, what the line before asks about."""
    mine = _own_line_before(line)
    return None if mine is None else any(True for _ in _told_before(chronicle, line, mine))


def _told_before(chronicle: Chronicle, line: SpokenLine, mine: SpokenLine) -> Iterator[SpokenLine]:
    """Lines to others before this talk that rest on the same, carry the same facts, or have the same words."""
    rests_on = _own_knowledge(chronicle, mine)
    said = {plain(one) for one in _telling(mine)}
    for earlier in chronicle.said_before(line.speaker, line.began):
        if earlier.hearer != line.hearer and (
            earlier.because & rests_on or earlier.facts & mine.facts or said & {plain(one) for one in _telling(earlier)}
        ):
            yield earlier


def _telling(line: SpokenLine) -> list[str]:
    """Returns the sentences of a line that tell something: those that no rule words or that the rules `core` word."""
    parts = (part for part in line.parts if not part.rules or any(rule.startswith("core.") for rule in part.rules))
    texts = [one for part in parts for one in sentences(part.text)]
    return [text for text in texts if len(plain(text).split()) >= TELLING]


def _own_line_before(line: SpokenLine) -> SpokenLine | None:
    """Returns the speaker's last line of the same talk."""
    before = line.before
    while before is not None and before.speaker != line.speaker:
        before = before.before
    return before


def _own_knowledge(chronicle: Chronicle, line: SpokenLine) -> frozenset[int]:
    """Returns what a line rests on, besides having heard the one it answers."""
    memories = chronicle.memories.get(line.speaker, {})
    return frozenset(one for one in line.because if one in memories and not _is_said_by(line.hearer, memories[one]))


def _told_by(chronicle: Chronicle, line: SpokenLine, part: LinePart) -> bool | None:
    """Tells whether the named character said anything about it that the speaker heard."""
    teller = chronicle.named(part.slots.get("x", part.text))
    if not teller:
        return None
    # which words of a template fill which of its slots cannot always be told
    slots = " ".join(value for name, value in part.slots.items() if name != "x")
    about = content(line.topic or slots or part.text)
    facts = line.facts | (line.before.facts if line.before else frozenset[str]())
    for memory in _heard_from(chronicle, line, teller):
        if memory.id in line.because:
            return True
        said = happening_of(memory.details)
        quote = said.quote
        if about & content(f"{quote} {said.topic}"):
            return True
        if any(fact.id in facts and fact.carried_by(quote) for fact in chronicle.facts):
            return True
    return False


def _heard_from(chronicle: Chronicle, line: SpokenLine, teller: str) -> Iterator[Memory]:
    for memory in chronicle.memories.get(line.speaker, {}).values():
        if memory.tick > line.tick:
            return
        if _is_said_by(teller, memory):
            yield memory


def _saw(chronicle: Chronicle, line: SpokenLine, part: LinePart) -> bool | None:
    """Tells whether the sight that the line rests on was possible: both were in one place."""
    memories = chronicle.memories.get(line.speaker, {})
    seen = [memories[one] for one in line.because if one in memories and happening_of(memories[one].details).who]
    named = chronicle.named(part.slots.get("x", part.text))
    seen = [one for one in seen if happening_of(one.details).who == named]
    if not named or not seen:
        return None
    places = chronicle.places
    return any(
        places[line.speaker].get(tick, "-") == places.get(named, {}).get(tick)
        for one in seen
        for tick in (one.tick - 1, one.tick)
    )


def _unseen(chronicle: Chronicle, line: SpokenLine, _part: LinePart) -> bool | None:
    """Tells whether the character asked after was not seen this day."""
    wanted = chronicle.named(line.before.text) if line.before else ""
    return None if not wanted else not _has_seen_today(chronicle, line, line.speaker, wanted)


def _has_seen_today(chronicle: Chronicle, line: SpokenLine, agent: str, other: str) -> bool:
    mine, theirs = chronicle.places.get(agent, {}), chronicle.places.get(other, {})
    ticks = range(max(0, line.tick - chronicle.clock.ticks(24 * 60)), line.tick)
    today = (tick for tick in ticks if chronicle.day(tick) == line.day)
    return any(mine.get(tick, "-") == theirs.get(tick) for tick in today)


def _did(chronicle: Chronicle, line: SpokenLine, _part: LinePart) -> bool | None:
    """Tells whether the deed that the line rests on is in the run."""
    memories = chronicle.memories.get(line.speaker, {})
    deeds = [
        memories[one]
        for one in line.because
        if one in memories and isinstance(happening_of(memories[one].details), Did)
    ]
    return any(one.kind == "action" and one.event for one in deeds) if deeds else None


_CHECKS: Mapping[str, Callable[[Chronicle, SpokenLine, LinePart], bool | None]] = {
    "present": _present,
    "absent": _absent,
    "unheard": _unheard,
    "first": _first,
    "told": _told,
    "told_by": _told_by,
    "saw": _saw,
    "unseen": _unseen,
    "did": _did,
}
"""Kind of claim → whether it is so."""


# ── questions ────────────────────────────────────────────────────────────────────────────────────────────────────────


def questions(chronicle: Chronicle) -> Iterator[CheckedQuestion]:
    """Yields every question of the run in order, with its reply."""
    for line in chronicle.lines:
        kind = _kind(line, chronicle.scenario.language)
        if kind:
            reply = chronicle.replies.get(line.event.id)
            check = None if _has_gone(chronicle, line) else _KNOWN.get(kind)
            is_known = check(chronicle, line) if check else None
            yield CheckedQuestion(line, kind, reply, _outcome(line, reply), is_known)


def _has_gone(chronicle: Chronicle, line: SpokenLine) -> bool:
    """Tells whether the asked character left the place while the question was put."""
    here, theirs = (chronicle.places.get(one, {}).get(line.tick) for one in (line.speaker, line.hearer))
    return None not in (here, theirs) and here != theirs


def _kind(line: SpokenLine, language: str) -> str:
    """Returns what a line asks: its act, or what its words ask where the mind named no act; empty for no question."""
    act = line.act
    if not act and line.text.rstrip("\"”'").endswith("?"):
        act = understood(line.text, language).act
        act = act if act.startswith("ask") else "ask"
    return act if act.startswith("ask") or act == "invite" else ""


def _outcome(line: SpokenLine, reply: SpokenLine | None) -> str:
    if reply is None:
        return "silence"
    is_fine = any("answer.fine" in part.rules for part in reply.parts)  # one word of it is a snub elsewhere: `Fine.`
    if reply.is_a("evasion") and not is_fine:
        return "evaded"
    if reply.act in ANSWERS or (not reply.act and not reply.text.endswith("?")):
        return "answered"
    if any(rule.startswith("answer.") for part in reply.parts for rule in part.rules):
        return "answered"
    asked = content(f"{line.text} {line.topic} {line.before.text if line.before else ''}")
    told = f"{reply.text} {reply.topic}"
    of_it = asked & content(told) or {*words(as_topic(line.topic))} & {*words(told)}
    is_about_it = reply.act != "farewell" and bool(of_it)
    return "answered" if is_about_it else "turned"


def _always(_chronicle: Chronicle, _line: SpokenLine) -> bool | None:
    return True


def _was_there(chronicle: Chronicle, line: SpokenLine) -> bool | None:
    occasion = _occasion(chronicle, line)
    return None if occasion is None else chronicle.attended(line.hearer, occasion) >= WAS_THERE


def _has_reason(chronicle: Chronicle, line: SpokenLine) -> bool | None:
    """Tells whether the line asked about rests on something its speaker remembers."""
    asked = line.before
    if asked is None or asked.speaker != line.hearer:
        return None
    return bool(_own_knowledge(chronicle, asked))


def _has_seen(chronicle: Chronicle, line: SpokenLine) -> bool | None:
    wanted = chronicle.named(line.text)
    return _has_seen_today(chronicle, line, line.hearer, wanted) if wanted and wanted != line.hearer else None


def _has_more(chronicle: Chronicle, line: SpokenLine) -> bool | None:
    """Tells whether the asked character remembers something of the subject that it has not told the asker."""
    topic = line.topic or (line.before.topic if line.before else "")
    subject = content(topic) or frozenset(words(as_topic(topic)))
    if not subject:
        return None
    lines = [one for one in chronicle.said_before(line.hearer, line.tick + 1) if one.hearer == line.speaker]
    cited = frozenset[int]().union(*(one.because for one in lines))
    said = " ".join(one.text for one in lines)
    for memory in chronicle.memories.get(line.hearer, {}).values():
        if memory.tick > line.tick:
            break
        if _is_of_use(memory, line) and subject <= {*words(memory.text)} | content(memory.text):
            untold = [one for one in memory.details.get("tell", ()) if one not in said]
            if untold or memory.id not in cited:
                return True
    return False


def _is_of_use(memory: Memory, line: SpokenLine) -> bool:
    known = happening_of(memory.details)
    if not isinstance(known, Said):
        return not isinstance(known, SILENT_ON)
    is_asked = known.speech_act.startswith("ask") or known.quote.endswith("?")
    return not is_asked and known.who != line.speaker


_KNOWN: Mapping[str, Callable[[Chronicle, SpokenLine], bool | None]] = {
    "ask.event": _was_there,
    "ask.more": _has_more,
    "ask.topic": _has_more,
    "ask.then": _has_more,
    "ask.since": _has_more,
    "ask.why": _has_reason,
    "ask.who": _has_reason,
    "ask.seen": _has_seen,
    "ask.else": _always,
    "ask.well": _always,
    "ask.doing": _always,
    "ask.going": _always,
    "invite": _always,
}
"""Act → whether the one asked could tell. What is not here asks for an opinion or for help."""


def _is_said_by(speaker: str, memory: Memory) -> bool:
    said = happening_of(memory.details)
    return isinstance(said, Said) and said.who == speaker
