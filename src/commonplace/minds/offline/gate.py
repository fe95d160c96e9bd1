"""The gate before a reaction: the rows answer, in place of a mind that costs something, where they find nothing in the
news for the character."""

from __future__ import annotations

from commonplace.minds.mind import Reply, RequestKey
from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.moment import Moment
from commonplace.minds.offline.react import REACTIONS, decide
from commonplace.minds.offline.rows import Choice
from commonplace.minds.tasks import ReactInput, ReactOutput

CLOSE = 50
"""How far, of a hundred, a number may be from the bound of a row that nearly decided: the rows leave it to the mind. As
far as a wish to talk is drawn, so that the dice alone do not close the gate."""
BOUNDS = frozenset({"<", "<=", ">", ">="})


def nothing_for_me(given: ReactInput, request_key: RequestKey) -> Reply | None:
    """The rows' answer if it keeps the plan as it is and no row that does something else was close; None if the mind
    has to be asked."""
    dice = Dice.of(request_key)
    answer, row = decide(given, dice)
    assert isinstance(answer, ReactOutput)
    if answer.decision != "keep" or answer.stroke is not None:
        return None
    choice = REACTIONS.choose(given, dice)
    return None if choice is None or _is_close(choice) else Reply(answer, row=row, needless=1)


def _is_close(choice: Choice[Moment]) -> bool:
    """Whether a row that does something would have decided, had one number been a little higher or lower."""
    return any(
        not row.cells["does"].startswith("keep")
        and _misses_by_little(row.when[met].test, row.when[met].values, row.when[met].value(facts))
        and all(one.is_met(facts) for one in row.when[met + 1 :])
        for row, facts, met in choice.passed
    )


def _misses_by_little(test: str, values: frozenset[str], found: object) -> bool:
    return test in BOUNDS and isinstance(found, int) and all(abs(found - int(bound)) <= CLOSE for bound in values)
