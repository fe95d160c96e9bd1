"""A character's account as a mind is told it: only what concerns the here and now, and little of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta

from commonplace.character.account import (
    BETWEEN,
    MARKED,
    OWN,
    Account,
    AccountRow,
    Heard,
    Rows,
    digests_of,
    latest_first,
)
from commonplace.cognition.record_past import talk_topics
from commonplace.cognition.remember import ACTION
from commonplace.cognition.turn import View
from commonplace.minds.notes import Past, PastNote, Recalled
from commonplace.text import is_named, words
from commonplace.world.happenings import Befell, Did, happening_of

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
    for group, rows in account.groups.items():
        if group.startswith(("told/", "heard/")) and not group.endswith(f"/{hearer}"):
            row = rows.get(f"/{topic}")
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
        for other, persona in view.scenario.personas.items()
        if is_named(persona.called, line) and other not in (hearer, view.persona.id)
        for known in (belief.nodes.get(other),)
        if known is not None and known.seen > 0 and known.parent in nodes
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
