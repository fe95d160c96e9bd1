"""Four figures on an answer of a panel, each in 0–1 and computed from the run alone.

They measure what can be counted, not whether an answer is good: on what it rests, whether its citations resolve,
whether it can be had again, and how much of it others have taken up.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from commonplace.memory.analyser import content_words
from commonplace.parts.panel.rhythm import PanelAnswer
from commonplace.text import words

SHARED = 2
"""Words of content that a sentence must share with a source to rest on it; all, if it has fewer."""
_DIGITS = 6
_SENTENCE_END = re.compile(r"(?<=[.!?。…])[”’\"')]*\s+")
_QUOTATION = re.compile(r"“([^”]+)”|‘([^’]+)’|\"([^\"]+)\"")


def transparency(text: str, sources: Iterable[str]) -> float:
    """Returns the share of sentences that rest on a source: the question, an earlier answer or a memory it cites.

    A sentence rests on a source if it shares SHARED words of content with it, or all of its own if it has fewer; one
    without any does not.
    """
    known = [content_words(source) for source in sources]
    sentences = [content_words(sentence) for sentence in _SENTENCE_END.split(text) if words(sentence)]
    resting = sum(
        bool(about) and any(len(about & source) >= min(SHARED, len(about)) for source in known) for about in sentences
    )
    return _ratio(resting, len(sentences))


def verifiability(text: str, sources: Sequence[str], cited: int, resolved: int) -> float:
    """Returns the share of citations that resolve; 0 for an answer that cites nothing.

    Citations are the quotations in the text, which resolve if a source has the same words in a row, and the memories
    it names: `cited` of them, of which `resolved` exist. After Hangul a particle may follow in the source.
    """
    quotations = [" ".join(words("".join(found))) for found in _QUOTATION.findall(text)]
    wanted = [f" {one}" if "가" <= one[-1] <= "힣" else f" {one} " for one in quotations if one]
    said = [f" {' '.join(words(source))} " for source in sources]
    found = sum(any(one in source for source in said) for one in wanted)
    return _ratio(found + resolved, len(wanted) + cited)


def reproducibility(outcomes: Sequence[str]) -> float:
    """Returns the share of the questions behind an answer that have a usable answer in the run.

    Those are found there again by resume, verify and replay, whatever the mind would say today; a fallback is not the
    mind's answer. `outcomes`: `value`, `malformed` or `fault` of each question, by its last attempt.
    """
    return _ratio(sum(outcome == "value" for outcome in outcomes), len(outcomes))


def impact(said: PanelAnswer, later: Iterable[PanelAnswer]) -> float:
    """Returns the share of the words an answer brought in that others have taken up in later answers."""
    others = [content_words(one.text) for one in later if one.persona != said.persona and one.tick > said.tick]
    taken = said.own & frozenset[str]().union(*others)
    return _ratio(len(taken), len(said.own))


def mean(values: Sequence[float]) -> float:
    """Returns the mean; 0 for none."""
    return round(sum(values) / len(values), _DIGITS) if values else 0.0


def _ratio(part: int, whole: int) -> float:
    return round(part / whole, _DIGITS) if whole else 0.0
