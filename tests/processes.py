"""Processes of multiprocessing that start quickly."""

from __future__ import annotations

import multiprocessing
import sys
from multiprocessing.context import BaseContext

from sizes import PROVE

OFTEN = ("hypothesis", "pytest", "commonplace.ledger", "commonplace.memory.stores.sqlite", "commonplace.testing.stores")
"""What they import."""


def context() -> BaseContext:
    """On Linux they are forked from one that has imported this; elsewhere, and in `make prove`, each starts anew."""
    if PROVE or sys.platform != "linux":
        return multiprocessing.get_context("spawn")
    forking = multiprocessing.get_context("forkserver")
    forking.set_forkserver_preload([*OFTEN])
    return forking
