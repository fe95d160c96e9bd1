"""React to what is new: keep the plan, talk, help, avoid, go; and what the news puts into the plan.

The cases stand in order of urgency in `_CASES`; the first that answers decides. An invitation is weighed besides, since
one may accept it while doing something else. What the input asks for besides (`merged`) goes with whatever was decided.
"""

from __future__ import annotations

from collections.abc import Callable

from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.happenings import distress, event, failure, voice, weather
from commonplace.minds.offline.invitations import invitation
from commonplace.minds.offline.meeting import avoidance, floor, meeting
from commonplace.minds.offline.merged import completed
from commonplace.minds.tasks import ReactInput, ReactOutput

Case = Callable[[ReactInput, Dice], ReactOutput | None]

_CASES: tuple[Case, ...] = (voice, event, floor, distress, weather, avoidance, failure, meeting)


def react(given: ReactInput, dice: Dice) -> ReactOutput:
    """The reaction, with a reason a person can read, and what is asked for in the same answer."""
    return completed(_reaction(given, dice), given, dice)


def _reaction(given: ReactInput, dice: Dice) -> ReactOutput:
    if given.now is not None and given.now.asleep and not any(news.kind in {"voice", "event"} for news in given.news):
        return ReactOutput(decision="keep", reason="asleep")
    accepted = invitation(given, dice)
    for case in _CASES:
        answer = case(given, dice)
        if answer is not None:
            return _with(answer, accepted)
    if accepted is not None:
        return accepted
    return ReactOutput(decision="keep", reason="nothing that changes my plans")


def _with(answer: ReactOutput, accepted: ReactOutput | None) -> ReactOutput:
    """The answer, with the stroke of an accepted invitation unless it brings its own."""
    if accepted is None or answer.stroke is not None:
        return answer
    because = (*answer.because, *(one for one in accepted.because if one not in answer.because))
    reason = f"{answer.reason}; {accepted.reason}" if answer.reason else accepted.reason
    return ReactOutput(
        decision=answer.decision,
        target=answer.target,
        purpose=answer.purpose,
        stroke=accepted.stroke,
        reason=reason[:300],
        because=because,
    )
