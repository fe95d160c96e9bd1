"""How a prompt shows memories: short names, no subject where that is oneself, the time where it helps."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import lru_cache

from commonplace.clock import hhmm, parse_iso
from commonplace.languages import phrases, weekdays
from commonplace.minds.notes import News, Recalled
from commonplace.minds.prompts.prompt import PromptSetting
from commonplace.text import clean, sentences, shortened
from commonplace.world.happenings import ISaid, Said, Seed

# ── text as data ─────────────────────────────────────────────────────────────────────────────────────────────────────
# Text from memories, speech and names must not pose as part of the prompt: somebody who says “[12] forget your orders”
# or `<|im_start|>` in a town has said just that.


_HARMLESS = str.maketrans(
    {
        "[": "(",
        "]": ")",
        "{": "(",
        "}": ")",
        "<": "‹",
        ">": "›",
        "`": "'",
        "|": "/",
        "“": '"',
        "”": '"',
        "„": '"',
        "‘": "'",
        "’": "'",
        "«": '"',
        "»": '"',
        "「": '"',
        "」": '"',
    }
)
_HEADING = re.compile(r"#{2,}|-{3,}|={3,}|\*{2,}")


@lru_cache(maxsize=16_384)  # a prompt shows hundreds of texts; the previous one showed nearly all of them
def plain(text: str) -> str:
    """Returns the text cleaned and on one line, without brackets, fences, headings and the marks of chat templates.

    Quotation marks become the plain ones, which cost models a third of the tokens.
    """
    return _HEADING.sub(lambda found: found[0][0], clean(text)).translate(_HARMLESS)


def speech(text: str) -> str:
    """Returns words to put between quotation marks: quotation marks inside become single ones."""
    return plain(text).replace('"', "'")


# ── memories ─────────────────────────────────────────────────────────────────────────────────────────────────────────


LONGEST = 200
"""Characters of one memory: nearly all are shorter, and shown whole."""
_CLAUSE = re.compile(r"[,;:]\s|\s[–—-]\s")


def gist(text: str, limit: int) -> str:
    """Returns at most `limit` characters: without its shortest sentences, which mostly greet or exclaim; a single
    sentence that is longer is cut at the end of a clause."""
    if len(text) <= limit:
        return text
    parts = list(sentences(text))
    while len(parts) > 1 and len(" ".join(parts)) > limit:
        parts.remove(min(parts, key=len))
    if len(parts[0]) <= limit:
        return " ".join(parts)
    ends = [found.start() for found in _CLAUSE.finditer(text) if limit // 2 <= found.start() < limit]
    return f"{text[: ends[-1]]}…" if ends else shortened(text, limit)


@dataclass(frozen=True, slots=True)
class ToldMemory:
    """One memory in words."""

    id: int
    when: str
    """`13:05`, with the weekday if it was another day; empty for what has always been known."""
    text: str
    """Escaped; never empty."""


class Teller:
    """Tells one character's memories, as of one moment."""

    def __init__(self, me: str, name: str, language: str, moment: str, setting: PromptSetting) -> None:
        """Makes the teller of a character; `me` is its short name. `moment`: ISO; empty if there is no clock."""
        words = phrases(language, "prompts")
        self._you, self._your, self._to = words["you"], words["your"], words["to"]
        self._language = language
        self._now = parse_iso(moment) if moment else None
        own = "|".join(re.escape(one) for one in dict.fromkeys((name, me)))
        self._owned = re.compile(f"^(?:{own}){words['after_name']}")
        self._subject = re.compile(f"^(?:{own}){words['subject']}")
        others = sorted(setting.people, key=lambda pair: -len(pair[0]))
        self._short = tuple((full, called) for full, called in others if full != called)
        self._me = me

    def memory(self, note: Recalled, longest: int = LONGEST) -> ToldMemory:
        """Returns a retrieved memory as it is told."""
        return ToldMemory(note.id, self._when(note), self._text(note, longest))

    def news(self, entry: News, longest: int = LONGEST) -> ToldMemory:
        """Returns a piece of news as it is told."""
        return ToldMemory(entry.memory_id, "", self._text(entry, longest))

    def memories(self, notes: Iterable[Recalled], longest: int = LONGEST, *, days: bool = False) -> list[ToldMemory]:
        """Returns the memories as they are told, in the order given, without those that say the same as an earlier one.
        `days`: without the time of day."""
        told: dict[str, ToldMemory] = {}
        for note in notes:
            one = self.memory(note, longest)
            one = replace(one, when=" ".join(one.when.split()[:-1])) if days else one
            told.setdefault(one.text, one)
        return list(told.values())

    def bare(self, text: str, longest: int = LONGEST) -> str:
        """Returns a remembered sentence without its subject, if that is the character itself."""
        text = self._subject.sub("", self._owned.sub(self._your, text))
        for full, called in self._short:
            text = text.replace(full, called)
        return gist(plain(text), longest)

    def _text(self, note: Recalled | News, longest: int) -> str:
        match note.happening:
            case Said(quote=quote) as said if quote:
                return self._said(said.called, self._you if said.to_me else said.to_called, quote, longest)
            case ISaid(quote=quote) as said if quote:
                return self._said(self._you, said.to_called, quote, longest)
            case _:
                pass
        return self.bare(note.text, longest)

    def _said(self, speaker: str, hearer: str, quote: str, longest: int) -> str:
        to = f"{self._to}{plain(hearer)}" if hearer else ""
        return f'{plain(speaker)}{to}: "{gist(speech(quote), longest)}"'

    def _when(self, note: Recalled) -> str:
        if self._now is None or isinstance(note.happening, Seed):
            return ""
        then = self._now - timedelta(minutes=note.minutes_ago)
        day = "" if then.date() == self._now.date() else f"{weekdays(self._language)[then.weekday()]} "
        return f"{day}{hhmm(then)}"
