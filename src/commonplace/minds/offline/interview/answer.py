"""`answer`: what a character says to a person who asks it something.

Each kind of question has a function that yields pieces of an answer, the most telling first. A piece rests on the
memories it names, or on the card, the plan or the relations of the input. The answer is the first pieces that were not
said in this talk, at most four sentences; without a piece it is an honest `I don't know`, which cites nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from commonplace.languages import phrases
from commonplace.minds.notes import changed
from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.interview import days, matters, oneself, others, reasons
from commonplace.minds.offline.interview.interview import Interview, Piece, Pieces, tell
from commonplace.minds.question_rules import KINDS, has
from commonplace.minds.tasks import AnswerInput, AnswerOutput
from commonplace.world.happenings import Befell, Came, Changed, Did, Planned, Said, Seen

MOST_SENTENCES = 4
BRIEF = 2
"""Sentences where one thing was asked for."""
END = re.compile(r"[.!?…]+[”\"')]*(?:\s|$)")


def answer(given: AnswerInput, dice: Dice) -> AnswerOutput:
    """Returns an answer in the character's words, and the memories it rests on."""
    talk = Interview(given, dice)
    text, ids = answered(talk)
    return AnswerOutput(answer=text or phrases(given.who.language, "lines")["no_answer"], because=ids)


def answered(talk: Interview) -> tuple[str, tuple[int, ...]]:
    """Returns the text of the answer and the memories it rests on."""
    before = talk.given.before
    if before is not None and before.received == "well" and not talk.asked.then:
        known = {note.id for note in talk.everything}
        lead = talk.say("again.before")
        text = f"{lead.text if lead else ''} {before.answer}"
        return talk.language.finished(text), tuple(one for one in before.because if one in known)
    first = chosen(talk)
    if talk.asked.also is None:
        return joined(talk, first)
    only = changed(talk.given, asked=talk.asked.also)
    second = chosen(Interview(only, talk.dice))
    return joined(talk, first, second)


def chosen(talk: Interview) -> list[Piece | None]:
    """Returns the pieces of the answer to one question, the most telling first, without those said in this talk."""
    before, kind = talk.given.before, talk.asked.kind
    pieces = [piece for piece in pieces_of(talk) if piece is not None and piece.text]
    if has(kind, "small"):
        return [*pieces[:1]]
    fresh = [piece for piece in pieces if not talk.was_said(piece)]
    if before is not None and before.received == "badly":
        fresh = [piece for piece in fresh if (piece.mark or piece.text).lower() not in before.answer.lower()]
        return [talk.say("again.before"), *(fresh or [talk.say("dunno.more")])]
    is_first = kind == "why" or (talk.asked.wants == "whether" and has(kind, "yes"))
    if pieces and pieces[0] not in fresh and is_first and not talk.asked.then:
        fresh = []  # yes or no, and the reason, are said again
    if fresh:
        return [talk.say("again.before") if before is not None else None, *fresh]
    if talk.asked.then:
        ends = [talk.say(rule) for rule in ("dunno.why", "dunno.more")[talk.asked.then != "whyso" :]]
        return [next((end for end in ends if end and not talk.was_said(end)), ends[-1])]
    again = talk.say("again")
    if pieces and again:
        return [replace(pieces[0], text=f"{again.text} {pieces[0].text}"), *pieces[1:2]]
    return list(matters.touching(talk))


def pieces_of(talk: Interview) -> Pieces:
    then = talk.asked.then
    if then == "sure":
        return sources(talk)
    if then == "whyso":
        return reasons.reasons(talk)
    if not then and oneself.are_asked(talk):
        return oneself.promises(talk)
    if talk.asked.kind == "fear" and talk.asked.people:
        return matters.think(talk)
    if talk.asked.wants in {"when", "where", "who"} and (of_last := [one for one in matters.of_last(talk) if one]):
        return of_last
    handler = _HANDLERS.get(talk.asked.kind)
    return handler(talk) if handler else matters.about(talk)


def joined(talk: Interview, *answers: Sequence[Piece | None]) -> tuple[str, tuple[int, ...]]:
    """Returns the first pieces of each answer that fit into four sentences together; a piece is not said twice."""
    taken: list[Piece] = []
    ago = {note.id: note.minutes_ago for note in talk.given.day if not isinstance(note.happening, Planned)}
    for pieces in answers:
        mine, left = 0, (BRIEF if talk.asked.kind == "best" else MOST_SENTENCES) // len(answers)
        for piece in pieces:
            if piece is None or any(same(piece, one) or piece.text in one.text for one in taken):
                continue
            count = len(END.findall(piece.text)) or 1
            if mine and count > left:
                continue
            taken.append(piece)
            mine, left = mine + 1, left - count
            if left <= 0:
                break
    ids = tuple(dict.fromkeys(memory for piece in taken for memory in piece.ids))
    if talk.asked.kind == "day" and len(answers) == 1:
        taken.sort(key=lambda piece: -max((ago.get(memory, 0) for memory in piece.ids), default=0))
    return talk.language.finished(" ".join(_said_once(taken))), ids


def _said_once(pieces: Sequence[Piece]) -> Iterator[str]:
    """Yields the texts; a time is not repeated by the piece that follows."""
    lead = ""
    for piece in pieces:
        text = piece.text[len(lead) :].lstrip(" ,") if lead and piece.lead == lead else piece.text
        yield text[:1].upper() + text[1:]
        lead = piece.lead


def sources(talk: Interview) -> Pieces:
    """Returns the sources of the last answer, when its truth is doubted."""
    if has(talk.asked.kind, "own"):
        return [talk.say("sure.own")]
    kind = changed(talk.asked, then="")
    again = Interview(changed(talk.given, asked=kind, lines=()), talk.dice)
    pieces = [piece for piece in pieces_of(again) if piece is not None and piece.ids]
    ids = [memory for piece in pieces for memory in piece.ids]
    notes = [note for note in talk.of(Said | Seen | Befell | Changed | Did | Came) if note.id in ids]
    if not notes:
        return [talk.say("sure.own")]
    told = tell(talk, notes[0])
    return (
        [talk.say("sure", *(told.ids if told else ()), source=told.text if told else "")]
        if told
        else [talk.say("sure.own")]
    )


def nothing_before(_: Interview) -> Pieces:
    """Returns no pieces: a question that follows another one has that one's kind, and here there is none before."""
    return ()


_HANDLERS: Mapping[str, Callable[[Interview], Pieces]] = {
    **{kind: oneself.small_talk for kind in KINDS if has(kind, "small")},
    **{kind: nothing_before for kind in KINDS if has(kind, "follows")},
    "machine": oneself.machine, "name": oneself.name, "age": oneself.age, "who": oneself.who,
    "traits": oneself.traits, "work": oneself.work, "home": oneself.home, "want": oneself.want,
    "fear": oneself.fear,
    "family": oneself.family, "household": others.household, "whyhome": oneself.home_why, "went": matters.was_there,
    "withwhom": others.with_whom, "miss": oneself.told_with, "rising": days.rising, "bedtime": days.bedtime,
    "secret": oneself.told_with, "regret": oneself.told_with, "slept": days.slept, "hours": days.hours,
    "now": oneself.now, "where": oneself.where_now,
    "here": oneself.here, "date": oneself.date, "asked": oneself.asked, "source": matters.source, "told": matters.told,
    "going": matters.going, "heard": matters.heard, "closest": others.closest, "rival": others.rival,
    "people": others.people, "know": others.know, "talked": others.talked, "said": others.said_by,
    "seen": others.seen, "whois": others.whois, "think": matters.think, "weather": oneself.weather,
    "why": reasons.why, "plan": days.plan, "best": days.best, "news": matters.news,
    "met": others.met, "whereabouts": days.whereabouts, "feel": oneself.feel, "learnt": oneself.learnt,
    "day": days.day, "usual": days.usual, "seenthing": matters.thing, "when": matters.when_was,
    "did": days.did, "favourite": matters.favourite, "whatif": matters.whatif, "advice": matters.advice,
    "story": matters.story, "superlative": matters.superlative, "way": matters.way, "hearsay": others.hearsay,
    "remark": matters.remark, "about": matters.about, "howlong": matters.how_long, "worst": days.worst,
    "owed": oneself.owed,
}  # fmt: skip
if wrong := sorted(_HANDLERS.keys() ^ KINDS.keys()):
    raise ValueError(f"kinds of questions and functions that answer them differ: {', '.join(wrong)}")


def same(one: Piece, other: Piece) -> bool:
    return one.text == other.text or (bool(one.mark) and one.mark.lower() in other.text.lower())
