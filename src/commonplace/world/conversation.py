"""Who is talking with whom: pure rules over the talks of one area and what was said there in one tick.

First SAYs that touch (a common speaker or addressee) make one conversation. A talk that touches another talk through
the same tick's SAYs becomes one with it: the older goes on, the younger ends. So a character is in one talk at most.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace

from commonplace.world.state import Conversation, Line

SILENCE = 2
"""Ticks without a word after which a conversation has ended."""


@dataclass(frozen=True, slots=True)
class Talk:
    """What one tick made of the talks of one area."""

    ongoing: tuple[Conversation, ...]
    started: tuple[Conversation, ...] = ()
    """Those that began, their members as they began."""
    ended: tuple[Conversation, ...] = ()
    """Those that ended, with the members they had before anybody left; all of them were here a tick ago."""


def converse(area: str, tick: int, talks: Sequence[Conversation], lines: Sequence[Line], here: Container[str]) -> Talk:
    """Fold one tick: `lines` in canonical order (by speaker), `here` those who are in the area at its end."""
    ongoing: list[Conversation] = []
    started: list[Conversation] = []
    ended: list[Conversation] = []
    for group in _groups(talks, lines):
        elders = sorted((talk for talk in talks if group & set(talk.members)), key=_age)
        said = tuple(line for line in lines if line.speaker in group)
        ended += elders[1:]
        if elders:
            talk = _continued(elders[0], said, group)
        else:
            talk = _begun(area, tick, said, group)
            started.append(talk)
        staying = tuple(member for member in talk.members if member in here)
        if len(staying) < 2 or tick - talk.lines[-1].tick >= SILENCE:
            ended.append(talk)
        else:
            ongoing.append(replace(talk, members=staying) if staying != talk.members else talk)
    return Talk(_by_id(ongoing), _by_id(started), _by_id(ended))


def participants(talk: Conversation) -> list[str]:
    """Everybody who took part, sorted: who spoke or was spoken to, still here or not."""
    return sorted({name for line in talk.lines for name in (line.speaker, line.to)})


def transcript(talk: Conversation) -> list[list[str]]:
    """The lines as [speaker, addressee, utterance]."""
    return [[line.speaker, line.to, line.utterance] for line in talk.lines]


def _begun(area: str, tick: int, said: tuple[Line, ...], group: set[str]) -> Conversation:
    starter = min(line.speaker for line in said)
    return Conversation(f"{area}.{tick}.{starter}", area, starter, tuple(sorted(group)), said, said[-1].to)


def _continued(talk: Conversation, said: tuple[Line, ...], group: set[str]) -> Conversation:
    if not said:
        return talk
    return replace(talk, members=tuple(sorted(group)), lines=(*talk.lines, *said), floor=said[-1].to)


def _groups(talks: Sequence[Conversation], lines: Sequence[Line]) -> list[set[str]]:
    """Connected components of who shares a talk or a line."""
    groups: list[set[str]] = []
    for circle in [*(set(talk.members) for talk in talks), *({line.speaker, line.to} for line in lines)]:
        touching = [group for group in groups if group & circle]
        groups = [group for group in groups if not group & circle]
        groups.append(circle.union(*touching))
    return groups


def _age(talk: Conversation) -> tuple[int, str]:
    return talk.lines[0].tick, talk.id


def _by_id(talks: list[Conversation]) -> tuple[Conversation, ...]:
    return tuple(sorted(talks, key=lambda talk: talk.id))
