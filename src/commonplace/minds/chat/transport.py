"""Transport: a request goes out again while the server is busy or away, within bounds."""

from __future__ import annotations

import logging
import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from time import time
from typing import Any

from commonplace.minds.chat.endpoint import Endpoint
from commonplace.minds.chat.outage import Late, Outage, Unreachable
from commonplace.minds.chat.page import Page
from commonplace.minds.chat.pool import REST, Pool
from commonplace.rng import Key as Draw
from commonplace.rng import unit

TRIES = 5
"""Times a request is sent before the server counts as away; one more for each further endpoint."""
LONGEST_WAIT = 60.0
"""Seconds waited between two tries, whatever `Retry-After` says."""
LATE_IN_A_ROW = 8
"""Time-outs of any requests, with no page between, that make an outage."""

LONG = 3.0
"""Seconds of waiting from which on it is told."""

Sleep = Callable[[float], Awaitable[None]]
_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Health:
    """How the server has done lately, over all requests of a mind."""

    late: int = 0
    """Time-outs since the last page."""
    away: bool = False
    """An outage was found and no page has come since."""
    told: bool = False
    """That it is waited for; once until a page comes."""


@dataclass(slots=True)
class Errand:
    """One question's way to the server and back: what it draws its jitter from and what it has cost so far."""

    draw: tuple[Draw, ...]
    calls: int = 0
    """Requests sent."""
    probe_prompt: int = 0
    """Prompt tokens of a capability probe made on the way."""
    probe_answer: int = 0


class Transport:
    """Sends requests. `patient`: a server known to be away is given all tries again, not one."""

    def __init__(self, pool: Pool, health: Health, sleep: Sleep, *, patient: bool) -> None:
        self.pool = pool
        self._health = health
        self._sleep = sleep
        self._patient = patient

    async def post(
        self, path: str, body: dict[str, Any], errand: Errand, *, final: frozenset[int] = frozenset()
    ) -> Page:
        """The page a body leads to, whatever it says; a 500 when every try met one. Statuses in `final` are not
        tried again. Raises Late after the second time-out, Outage when the server stays away."""
        return await self._send(lambda endpoint: endpoint.post(path, body), errand, final)

    async def get(self, path: str, errand: Errand) -> Page:
        """A page; like `post`."""
        return await self._send(lambda endpoint: endpoint.get(path), errand, frozenset())

    async def _send(self, send: Callable[[Endpoint], Awaitable[Page]], errand: Errand, final: frozenset[int]) -> Page:
        late, happened, page = False, "", None
        tries = 1 if self._health.away and not self._patient else TRIES + len(self.pool.endpoints) - 1
        for tried in range(tries):
            endpoint = self.pool.pick()
            errand.calls += 1
            try:
                page = await send(endpoint)
            except Late as error:
                self._count_late(str(error))
                if late:
                    raise
                late, happened, page = True, str(error), None
                self._tell(happened)
                continue
            except Unreachable as error:
                happened, page = str(error), None
            if page is not None:
                if page.status in final or not _again(page.status):
                    self._served(endpoint)
                    return page
                happened = f"{page.status} {page.said()}".strip()
            self.pool.failed(endpoint, _told(page) if page and _told(page) else REST)
            if tried + 1 < tries and not self.pool.fresh():
                await self._rest(_wait(tried, page, errand), happened)
        if page is not None and page.status == 500:
            return page
        self._health.away = True
        raise Outage(self.pool.name, f"{happened} ({tries} {'try' if tries == 1 else 'tries'})")

    async def _rest(self, seconds: float, happened: str) -> None:
        if seconds >= LONG:
            self._tell(f"{happened}; trying again in {seconds:.0f} s")
        await self._sleep(seconds)

    def _tell(self, happened: str) -> None:
        """Log why no answer comes, so that a person who waits knows."""
        if not self._health.told:
            self._health.told = True
            _log.warning("waiting for the model server %s: %s", self.pool.name, happened)

    def _served(self, endpoint: Endpoint) -> None:
        self.pool.served(endpoint)
        self._health.late, self._health.away, self._health.told = 0, False, False

    def _count_late(self, happened: str) -> None:
        self._health.late += 1
        if self._health.late >= LATE_IN_A_ROW:
            self._health.late, self._health.away = 0, True
            raise Outage(self.pool.name, f"{happened}, {LATE_IN_A_ROW} times in a row")


def _again(status: int) -> bool:
    return status in (408, 409, 429) or (status >= 500 and status != 501)


def _wait(tried: int, page: Page | None, errand: Errand) -> float:
    """Seconds before the next try: what the server says, else 1, 2, 4 … times a jitter of 0.5–1.5."""
    told = _told(page) if page else 0.0
    return told or min(LONGEST_WAIT, 2.0**tried * (0.5 + unit(*errand.draw, "wait", errand.calls)))


def _told(page: Page) -> float:
    """Seconds of `Retry-After`, given as a number or as a date; 0 when it says nothing sensible."""
    text = page.retry_after.strip()
    try:
        seconds = float(text)
    except ValueError:
        seconds = _until(text)
    return min(LONGEST_WAIT, seconds) if math.isfinite(seconds) and seconds > 0 else 0.0


def _until(date: str) -> float:
    """Seconds until an HTTP date by this machine's clock."""
    try:
        moment = parsedate_to_datetime(date)
    except (ValueError, TypeError, OverflowError):
        return 0.0
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() - time()
