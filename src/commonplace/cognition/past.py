"""A character's account as a mind is told it: only what concerns the here and now, and little of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta

from commonplace.character.account import BETWEEN, OWN, Account, Entry, Heard
from commonplace.character.fact import Fact
from commonplace.cognition.account import talk_topics
from commonplace.cognition.remember import ACTION
from commonplace.cognition.turn import View
from commonplace.minds.notes import Past, PastNote, noted
from commonplace.text import words

MOST_OWN, MOST_WITH = 12, 40
"""Rows about oneself, and rows about a hearer and the subjects of the talk, that a mind is told."""
MOST_WHOLE = 80
LATELY = timedelta(hours=30)
SHARED = 3
"""Words that a line must share with what one did to speak of it."""
SMALL_WORDS = frozenset({"the", "a", "an", "of", "to", "and", "in", "on", "at", "with", "from", "for"})


def past_with(view: View, account: Account, other: str) -> Past:
    """What concerns a hearer: the rows with them, whom else one told or heard of the talk's subjects, and one's own
    latest deeds; with the sentences that this hearer has heard and those said lately."""
    rows = [row for kind in BETWEEN for row in account.rows(kind, other)]
    for topic in talk_topics(view):
        rows += _elsewhere(account, topic, other)
    latest = sorted(rows, key=lambda row: (-row.tick, row.key))[:MOST_WITH]
    return noted(
        Past,
        notes=(*_notes(view, (*latest, *_own(account))), *_seen(view, other), *_asked_about(view, other)),
        said=tuple(sorted(account.lines.get(other, ()))),
        lately=_in_order(account.lines.get("", {})),
    )


def own_past(view: View, account: Account) -> Past:
    """One's own latest deeds, occasions and promises."""
    return noted(Past, notes=_notes(view, _own(account)), said=(), lately=())


def whole_past(view: View, account: Account) -> Past:
    """The latest rows of every kind."""
    return noted(Past, notes=_notes(view, account.all()[:MOST_WHOLE]), said=(), lately=())


WITH_SOMEBODY = ("promised/", "kept/", "broke/")


def _own(account: Account) -> list[Entry]:
    rows = [row for kind in OWN if kind != "promised" for row in account.rows(kind)[:MOST_OWN]]
    for group, promised in account.groups.items():
        if group.startswith(WITH_SOMEBODY) and not group.endswith("/"):
            rows += promised.values()
    return sorted(rows, key=lambda row: (-row.tick, row.key))[: 2 * MOST_OWN]


def _elsewhere(account: Account, topic: str, hearer: str) -> Iterable[Entry]:
    """Whom else one told of a topic, and from whom else one heard of it."""
    for group, rows in account.groups.items():
        if group.startswith(("told/", "heard/")) and not group.endswith(f"/{hearer}"):
            row = rows.get(f"/{topic}")
            if row is not None:
                yield row


def _seen(view: View, hearer: str) -> list[PastNote]:
    """Where one last saw those whom the latest line names."""
    talk = next((talk for talk in view.world.conversations if view.persona.id in talk.members), None)
    line = talk.lines[-1].utterance if talk and talk.lines else ""
    belief, nodes, minutes = view.state.belief, view.scenario.geography.nodes, view.scenario.clock.tick_minutes
    return [
        noted(
            PastNote, kind="saw", other=other, called=persona.called, act="", topic="", named="",
            text=nodes[known.parent].name, minutes_ago=(view.world.tick - known.seen) * minutes, times=1, because=(),
        )
        for other, persona in view.scenario.personas.items()
        if persona.called in line and other not in (hearer, view.persona.id)
        for known in (belief.nodes.get(other),)
        if known is not None and known.seen > 0 and known.parent in nodes
    ]  # fmt: skip


def _asked_about(view: View, hearer: str) -> list[PastNote]:
    """What one was doing lately that the hearer's latest line speaks of."""
    talk = next((talk for talk in view.world.conversations if view.persona.id in talk.members), None)
    line = talk.lines[-1] if talk and talk.lines else None
    if line is None or line.speaker != hearer:
        return []
    said = frozenset(words(line.utterance)) - SMALL_WORDS
    if len(said) < SHARED:
        return []
    for memory in view.memories.since(view.now - LATELY, ACTION):
        doing = memory.details.get("frame", {}).get("doing", "")
        if doing and len(said.intersection(words(doing))) >= SHARED:
            minutes = (view.now - memory.created_at) // timedelta(minutes=1)
            return [
                noted(
                    PastNote, kind="did", other="", called="", act="", topic="", named=doing, text="",
                    minutes_ago=minutes, times=1, because=(memory.id,),
                )
            ]  # fmt: skip
    return []


def _in_order(heard: Heard) -> tuple[str, ...]:
    return tuple(sentence for sentence, _ in sorted(heard.items(), key=lambda pair: (pair[1], pair[0])))


def _notes(view: View, rows: Sequence[Entry]) -> tuple[PastNote, ...]:
    scenario, tick = view.scenario, view.world.tick
    minutes, facts = scenario.clock.tick_minutes, {fact.id: fact for fact in scenario.facts}
    return tuple(
        noted(
            PastNote,
            kind=row.kind,
            other=row.other,
            called=scenario.personas[row.other].called if row.other in scenario.personas else "",
            act=row.act,
            topic=row.topic,
            named=row.named,
            text=_text(view, facts.get(row.topic), row),
            minutes_ago=(tick - row.tick) * minutes,
            times=row.times,
            because=row.because,
        )
        for row in rows
    )


def _text(view: View, fact: Fact | None, row: Entry) -> str:
    """What a seed fact says, or the scripted event of a row; empty for any other topic."""
    if fact is not None:
        return fact.text.get(view.scenario.language) or next(iter(fact.text.values()))
    if row.kind != "attended" or row.because[-1] not in view.memories:
        return ""
    return str(view.memories.get(row.because[-1]).details.get("frame", {}).get("text", ""))
