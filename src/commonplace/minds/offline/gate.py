"""The gate: rules answer, in place of a mind that costs something, where they find nothing to decide: in news that has
nothing for the character, and in small talk, after which one sees the other as before."""

from __future__ import annotations

from functools import cache

from commonplace.languages import word_list
from commonplace.memory.importance import forms, stems
from commonplace.minds.mind import Reply, RequestKey
from commonplace.minds.notes import Spoken, Who
from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.hear import heard
from commonplace.minds.offline.moment import Moment
from commonplace.minds.offline.rate import is_moving
from commonplace.minds.offline.react import REACTIONS, decide
from commonplace.minds.offline.reflect import relate
from commonplace.minds.offline.rule_tables import ChosenRow
from commonplace.minds.offline.template_grammar import grammar
from commonplace.minds.tasks import ReactInput, ReactOutput, RelateInput
from commonplace.text import words

CLOSE = 50
"""How far, of a hundred, a number may be from the bound of a row that nearly decided: the rows leave it to the mind. As
far as a wish to talk is drawn, so that the dice alone do not close the gate."""
BOUNDS = frozenset({"<", "<=", ">", ">="})
USUAL = range(-2, 4)
"""Changes of warmth after most talks."""
BINDING = frozenset({"thank", "praise", "accept", "decline", "ask.going", "ask.lend", "ask.visit", "ask.favour"})
"""Acts of lines, besides those that are moving, after which one may see the other in another way."""
IN_PASSING = ("thank", "apologise", "praise", "snub", "decline")
"""What a line whose speaker's mind does not say what it does may do in any of its sentences."""


def nothing_for_me(given: ReactInput, request_key: RequestKey) -> Reply | None:
    """Returns the rows' answer if it keeps the plan as it is and no row that does something else was close; None if the
    mind has to be asked."""
    dice = Dice.of(request_key)
    answer, row = decide(given, dice)
    assert isinstance(answer, ReactOutput)
    if answer.decision != "keep" or answer.stroke is not None:
        return None
    choice = REACTIONS.choose(given, dice)
    return None if choice is None or _is_close(choice) else Reply(answer, row=row, needless=1)


def _is_close(choice: ChosenRow[Moment]) -> bool:
    """Tells whether a row that does something would have decided, had one number been a little higher or lower."""
    return any(
        not row.cells["does"].startswith("keep")
        and _misses_by_little(row.when[met].test, row.when[met].values, row.when[met].value(facts))
        and all(one.is_met(facts) for one in row.when[met + 1 :])
        for row, facts, met in choice.passed
    )


def _misses_by_little(test: str, values: frozenset[str], found: object) -> bool:
    return test in BOUNDS and isinstance(found, int) and all(abs(found - int(bound)) <= CLOSE for bound in values)


def only_small_talk(given: RelateInput, request_key: RequestKey) -> Reply | None:
    """Returns the rules' change of warmth and the old view, or the rules' view if there was none. Returns None, so that
    the mind is asked, if a line touches or binds one of the two, or the warmth changes by more than usual."""
    answer = relate(given, Dice.of(request_key))
    if answer.warmth_change not in USUAL or any(_touches(line, given.who) for line in given.lines):
        return None
    return Reply(answer.model_copy(update={"summary": given.other.summary or answer.summary}), needless=1)


def _touches(line: Spoken, me: Who) -> bool:
    """Tells whether a line does something to one of the two, or has a word about a promise or a quarrel. What the
    character tells, even a secret, says nothing about the other."""
    told = heard(line, me.language)
    act = f"{told.act}.{told.sort}" if told.sort else told.act
    if not (act.startswith("tell") and line.speaker == me.id) and (is_moving(act) or act in BINDING):
        return True
    if not line.speech_act and any(grammar(me.language).has(does, line.text) for does in IN_PASSING):
        return True
    spoken = words(line.text.replace("’", "'"))
    return any(not _telling(me.language).isdisjoint(forms(word)) for word in spoken)


@cache
def _telling(language: str) -> frozenset[str]:
    """Returns the stems of the words of promises and quarrels."""
    return stems(word_list(language).promise | word_list(language).conflict)
