"""What a dialogue leaves in memory: only lines that matter, each decision with its reason (the sitcom document's §6.4).

A line is kept when the rules give it `duet.store_importance` or more, or when it holds a promise, a quarrel or, heard
from the other, a new fact. What says nearly the same as a memory does not become another one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from itertools import islice

from commonplace.cognition.remember import ACTION, OBSERVATION, NewMemory, remember, rules
from commonplace.cognition.situation import who
from commonplace.cognition.turn import Notebook, TurnView
from commonplace.languages import phrases, word_list
from commonplace.languages.language import language as spoken
from commonplace.memory.importance import HIGHEST, VERSION, Rating, forms, stems
from commonplace.minds.tasks import RATE, RateInput
from commonplace.text import words
from commonplace.world.happenings import Speech, happening_of

CORRECTION = 2
"""The most by which a mind may correct the rules: it never decides alone."""
ALIKE = 0.7
"""Share of words two lines have in common from which on they say the same."""
COMPARED = 300
"""Latest memories a line is compared with."""


@dataclass(frozen=True, slots=True)
class DialogueLine:
    """A line of the dialogue that may become a memory."""

    text: str
    """The sentence that is remembered."""
    said: Speech
    event: str
    own: bool
    is_placeholder: bool = False
    """Stands for a turn without a usable answer."""

    @property
    def quote(self) -> str:
        """The words that were said."""
        return self.said.quote


@dataclass(frozen=True, slots=True)
class StoreDecision:
    """A decision to remember a line or not, with its reason."""

    importance: int
    kept: bool
    reason: str


async def store_lines(view: TurnView, notebook: Notebook, lines: Sequence[DialogueLine]) -> None:
    """Remembers the lines that matter. The trace keeps the reason for each line."""
    for line, rating in zip(lines, await _ratings(view, notebook, lines), strict=True):
        decision = decide(view, line, rating)
        kind = ACTION if line.own else OBSERVATION
        if decision.kept:
            moment = view.now if line.own else view.scenario.clock.time(view.tick - 1)
            kept = NewMemory(
                line.text, kind, line.said, moment, line.event,
                reason=decision.reason, importance=decision.importance,
            )  # fmt: skip
            await remember(view, notebook, [kept])  # one by one: the second may say what the first one says
        else:
            notebook.not_stored(line.text, decision.reason, decision.importance, kind)


def decide(view: TurnView, line: DialogueLine, rating: Rating) -> StoreDecision:
    """Decides whether a line is remembered. The first reason that applies is the one given."""
    say = phrases(view.scenario.language, "stored")
    weight, threshold = rating.importance, view.scenario.part.duet.store_importance
    same = 0 if line.is_placeholder else _remembered(view, line.quote)
    if line.is_placeholder:
        kept, reason = False, say["placeholder"]
    elif same:
        kept, reason = False, say["same"].format(memory=same)
    elif weight >= threshold:
        because = ", ".join(f"{say[rule]} “{word}”" for rule, word in rating.because.items())
        kept, reason = True, say["important"].format(weight=weight, because=because)
    else:
        finding, word = _finding(view, line)
        kept, reason = bool(word), say[finding].format(word=word, weight=weight, threshold=threshold)
    return StoreDecision(weight, kept, reason)


def _finding(view: TurnView, line: DialogueLine) -> tuple[str, str]:
    """Returns why a line matters although the rules rate it low, with the words that show it; `noise` for no reason."""
    promise = found_promise(line.quote, view.scenario.language)
    if not promise and line.said.speech_act in _PROMISING:
        promise = line.said.topic or line.said.speech_act
    found = {"promise": promise, "conflict": found_conflict(line.quote)}
    if not line.own:
        found["fact"] = _new_fact(view, line)
    return next(((finding, word) for finding, word in found.items() if word), ("noise", ""))


# ── importance ───────────────────────────────────────────────────────────────────────────────────────────────────────


async def _ratings(view: TurnView, notebook: Notebook, lines: Sequence[DialogueLine]) -> list[Rating]:
    """Rates each line by the rules. With `importance: both` or `mind` the mind's rating corrects them.

    A correction is kept in the state under the hash of the line, so that the same line always weighs the same.
    """
    rater = rules(view)
    found = [rater.explain(line.quote) for line in lines]
    if view.scenario.cognition.importance == "rules":
        return found
    keys = [_key(view, line.quote) for line in lines]
    quotes = {key: line.quote for key, line in zip(keys, lines, strict=True) if not line.is_placeholder}
    asked = {key: quote for key, quote in quotes.items() if key not in notebook.weighed}
    if asked:
        answer = await notebook.ask(RATE, RateInput(who=who(view.persona), texts=tuple(asked.values())))
        if answer.outcome == "value":
            pairs = zip(asked, answer.value.ratings, strict=False)
            notebook.weighed.update((key, rating.importance) for key, rating in pairs)
    return [corrected(rating, notebook.weighed.get(key)) for key, rating in zip(keys, found, strict=True)]


def corrected(rating: Rating, opinion: int | None) -> Rating:
    """Returns the rules' rating, moved towards the mind's by at most `CORRECTION`."""
    if opinion is None or opinion == rating.importance:
        return rating
    low, high = max(1, rating.importance - CORRECTION), min(HIGHEST, rating.importance + CORRECTION)
    weight = min(high, max(low, opinion))
    return Rating(weight, {**rating.because, "mind": f"{weight - rating.importance:+d}"})


def _key(view: TurnView, quote: str) -> str:
    """Returns the hash of all that the importance of a line depends on."""
    parts = (quote, VERSION, view.scenario.language, *view.persona.goals)
    return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


# ── what a line holds ────────────────────────────────────────────────────────────────────────────────────────────────

_PROMISING = frozenset({"promise", "accept", "agree"})
"""Speech acts that bind the speaker."""
_LEAVING = ("갈", "할 말은 할", "들어갈", "말할", "얘기할", "이야기할", "말해 줄", "얘기해 줄", "바꿀", "물어볼")
"""Before -게: takes leave or announces what is said next, and binds nobody."""
_RIEUL, _FINALS, _FIRST = 8, 28, 0xAC00


@cache
def _will(language: str) -> re.Pattern[str]:
    return re.compile(phrases(language, "patterns")["will"], re.IGNORECASE)


def found_promise(quote: str, language: str) -> str:
    """Returns the words of a line that promise something, empty for none: `약속`, `내가 낼게`, `I'll pay`."""
    listed = _mentioned(quote, "promise")
    if listed:
        return listed
    for found in _will(language).finditer(quote.replace("’", "'")):
        said = found[0].strip()
        if not spoken(language).has_particles:
            return said
        if (ord(said[-1]) - _FIRST) % _FINALS == _RIEUL and not said.endswith(_LEAVING):
            return f"{said}게"
    return ""


def found_conflict(quote: str) -> str:
    """Returns the word of quarrel or reproach in a line, empty for none."""
    return _mentioned(quote, "conflict")


def _mentioned(text: str, listing: str) -> str:
    listed = _listed(listing)
    return next((word for word in words(text.replace("’", "'")) if not listed.isdisjoint(forms(word))), "")


@cache
def _listed(listing: str) -> frozenset[str]:
    return stems(getattr(word_list("auto"), listing))


_STATED = re.compile(r"[^.!?…]+(?:[.!…]+|$)(?!\?)")
_FIGURE = re.compile(
    r"\d[\d:.,]*\s?[가-힣%]{0,2}|[월화수목금토일]요일|내일|모레|글피"
    r"|(?:한|두|세|네|다섯|여섯|일곱|여덟|아홉|열|열한|열두) ?시"
    r"|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\btomorrow\b|\btonight\b|\b(?:at|by|until) noon\b"
    r"|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve) o'clock\b",
    re.IGNORECASE,
)


def _new_fact(view: TurnView, line: DialogueLine) -> str:
    """Returns what a heard line says that no memory has: a seed fact, the subject of a telling, a number or a day."""
    draft, language = view.draft, view.scenario.language
    for fact in view.scenario.facts:
        if fact.carried_by(line.quote) and draft.earliest(fact.carried_by) is None:
            return fact.text.get(language, fact.id)
    topic, tells = line.said.topic, line.said.speech_act.startswith("tell")
    if topic and tells and draft.earliest(lambda text: topic in text) is None:
        return topic
    for stated in _STATED.finditer(line.quote.replace("’", "'")):
        if line.quote[stated.end() : stated.end() + 1] == "?":
            continue
        for figure in _FIGURE.finditer(stated[0]):
            said = figure[0].strip(" .,:")
            if draft.earliest(lambda text, said=said: said.casefold() in text.casefold()) is None:
                return said
    return ""


def _remembered(view: TurnView, quote: str) -> int:
    """Returns the id of the latest memory of a line that says nearly the same; 0 for none."""
    said = frozenset(words(quote))
    for memory in islice(view.draft.backwards(), COMPARED):
        known = happening_of(memory.details).quote
        if known and alike(said, frozenset(words(known))):
            return memory.id
    return 0


def alike(one: frozenset[str], other: frozenset[str]) -> bool:
    """Tells whether two sets of words share at least `ALIKE` of all their words."""
    return len(one & other) >= ALIKE * len(one | other) and bool(one)
