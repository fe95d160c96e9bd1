"""The questions of a run asked again, with another mind or other prompts, and figures that compare the answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from commonplace.analysis.voices import distance_of_voices, said_twice
from commonplace.engine.driver import Drive, Driver, NoJournal
from commonplace.minds.mind import Answer, Ask, Mind
from commonplace.minds.notes import Value
from commonplace.minds.prompts.book import PromptBook
from commonplace.parts.workbench.questions import Key, PromptAttempt, in_words, value_of
from commonplace.rng import Seeds
from commonplace.run.journal import ModelCall
from commonplace.run.rows import AnswerRow


@dataclass(frozen=True, slots=True)
class Variant:
    """The answers to some questions: those of the run, or those of a mind that was asked again."""

    name: str
    attempts: Mapping[Key, tuple[PromptAttempt, ...]]


@dataclass(frozen=True, slots=True)
class Figures:
    """Figures on how good the answers of a variant are."""

    variant: str
    questions: int
    usable: int
    """Questions with a usable answer."""
    asked_again: int
    """Questions of which an answer could not be used, and that were asked again."""
    replaced: int
    """Questions without a usable answer: the fallback stands in."""
    lines: int
    """Answers in which somebody speaks."""
    said_twice: float | None
    """The share of these lines that repeat an earlier one, or one of the talk, word for word; None without lines."""
    voices: float | None
    """`distance_of_voices` of these lines; None with fewer than two speakers."""
    prompt_tokens: int
    """Per question, all attempts together."""
    answer_tokens: int


async def answered(
    name: str, mind: Mind, asks: Mapping[Key, Ask[Any, Any]], seeds: Seeds, book: PromptBook, concurrency: int
) -> Variant:
    """Asks a mind the questions of a run, under the seeds of the run. The mind is closed at the end."""
    journal = _Calls()
    driver = Driver(mind, journal, seeds, durable=True, concurrency=concurrency)
    drives = {key: Drive(key[0], key[1], _put(Ask(ask.task, ask.input)), key[2]) for key, ask in asks.items()}
    try:
        await driver.run(drives.values())
    finally:
        await mind.close()
    return Variant(
        name,
        {
            key: in_words(((row, journal.calls[row.agent, row.tick, row.ordinal, row.attempt]) for row in drive.rows),
                          asks[key], book)
            for key, drive in drives.items()
        },
    )  # fmt: skip


async def _put(ask: Ask[Any, Any]) -> Answer[Any]:
    return await ask


class _Calls(NoJournal):
    """A journal that keeps what was sent and received in memory."""

    def __init__(self) -> None:
        self.calls: dict[tuple[str, int, int, int], ModelCall] = {}

    def keep(self, row: AnswerRow, call: ModelCall) -> None:
        """Notes the call."""
        self.calls[row.agent, row.tick, row.ordinal, row.attempt] = call


def figures(variant: Variant, asks: Mapping[Key, Ask[Any, Any]]) -> Figures:
    """Returns the figures of a variant; `asks` are its questions, in the order of time."""
    ends = [variant.attempts[key] for key in asks]
    usable = sum(attempts[-1].row.outcome == "value" for attempts in ends)
    lines = list(_lines(variant, asks))
    return Figures(
        variant=variant.name,
        questions=len(ends),
        usable=usable,
        asked_again=sum(len(attempts) > 1 for attempts in ends),
        replaced=len(ends) - usable,
        lines=len(lines),
        said_twice=said_twice((line, heard) for _, line, heard in lines),
        voices=distance_of_voices((speaker, line) for speaker, line, _ in lines),
        prompt_tokens=_mean(ends, "prompt_tokens"),
        answer_tokens=_mean(ends, "answer_tokens"),
    )


def _mean(ends: Sequence[tuple[PromptAttempt, ...]], name: str) -> int:
    counts = (attempt.row.usage.get(name, 0) for attempts in ends for attempt in attempts)
    return round(sum(counts) / len(ends)) if ends else 0


def _lines(variant: Variant, asks: Mapping[Key, Ask[Any, Any]]) -> Iterator[tuple[str, str, Iterable[str]]]:
    """Yields who speaks in an answer, the words, and the lines that the question shows."""
    for key, ask in asks.items():
        row = variant.attempts[key][-1].row
        if row.outcome == "value" and (line := line_of(value_of(ask, row))):
            yield key[0], line, [one.text for one in getattr(ask.input, "lines", ())]


def line_of(value: Value) -> str:
    """Returns what is said in an answer; empty where nobody speaks."""
    return getattr(value, "utterance", "") or getattr(value, "answer", "")
