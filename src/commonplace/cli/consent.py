"""The question whether what a file names may be used: asked on a terminal, answered by `--trust` elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from commonplace.errors import UsageError
from commonplace.trust import Reference, listed, unsettled

YES = ("y", "yes")


def agreed(named: Sequence[Reference], where: object, *, trust: bool) -> bool:
    """Asks whether all of it may be used from now on, where a question is needed; `trust` is a yes.

    False where nothing needs a question, or nobody is there to answer it: then what is missing is refused when it is
    used. Raises UsageError for a no.
    """
    if trust or not unsettled(named) or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return trust
    print(f"{where} itself names\n{listed(named)}", file=sys.stderr)
    print("Use this? The answer is remembered for this file. [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().casefold() not in YES:
        raise UsageError("nothing of it is used", where=str(where), hint="nothing was started or changed")
    return True
