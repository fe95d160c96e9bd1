"""Transport: a request goes out again while the server is busy or away, within bounds."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from time import monotonic, time
from typing import Any

import httpx2
from openai import APIConnectionError, APIStatusError, APITimeoutError, AsyncOpenAI, DefaultAsyncHttpxClient

from commonplace.minds.chat.page import Key, Late, Outage, Page, Unreachable
from commonplace.minds.chat.servers import is_loopback
from commonplace.rng import Key as Draw
from commonplace.rng import unit

# ── endpoint ─────────────────────────────────────────────────────────────────────────────────────────────────────────
# An endpoint: one base URL, the connections to it, and how many requests are on their way.


LONGEST_BODY = 16 * 2**20
"""Bytes of a body that are read; the rest is left."""
_CONNECT = 10.0
"""Seconds a connection may take."""
_SENT = frozenset({"host", "accept", "connection", "content-type", "content-length", "transfer-encoding"})
"""Headers that are sent as they are; none of those the SDK adds from the environment is."""


class Endpoint:
    """Requests out, pages in, for the loop it is first used in. `timeout`: seconds of one request, all in all."""

    def __init__(self, url: str, key: Key, timeout: float) -> None:
        self.url = url
        self.in_flight = 0
        self.rests_until = 0.0
        """Moment of the monotonic clock before which others are preferred."""
        self._key = key
        self._timeout = timeout
        self._client: AsyncOpenAI | None = None

    async def get(self, path: str) -> Page:
        """A page. Raises Late or Unreachable when none came back."""
        return await self._page("GET", path, None)

    async def post(self, path: str, body: dict[str, Any]) -> Page:
        """The page a body of JSON leads to. Raises Late or Unreachable when none came back."""
        return await self._page("POST", path, body)

    async def close(self) -> None:
        """End the connections; the next request makes new ones."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _page(self, method: str, path: str, body: dict[str, Any] | None) -> Page:
        self.in_flight += 1
        try:
            async with asyncio.timeout(self._timeout):
                response = await self._response(method, path, body)
        except (TimeoutError, APITimeoutError) as error:
            if isinstance(error.__cause__, httpx2.ConnectTimeout):
                raise Unreachable("no connection could be made in time") from None
            raise Late(f"no answer within {self._timeout:g} s") from None
        except APIConnectionError as error:
            raise Unreachable(self._key.scrub(str(error.__cause__ or "") or "the connection broke")) from None
        finally:
            self.in_flight -= 1
        return Page.of(response.status_code, response.content, self._key, response.headers.get("retry-after", ""))

    async def _response(self, method: str, path: str, body: dict[str, Any] | None) -> httpx2.Response:
        client = self._client = self._client or self._opened()
        try:
            if method == "GET":
                return await client.get(path, cast_to=httpx2.Response)
            return await client.post(path, cast_to=httpx2.Response, body=body)
        except APIStatusError as error:
            return error.response

    def _opened(self) -> AsyncOpenAI:
        logging.getLogger("httpcore2").setLevel(
            logging.INFO
        )  # below that it repeats headers, and a server may echo a key
        limit = httpx2.Timeout(self._timeout, connect=min(_CONNECT, self._timeout), pool=None)
        return AsyncOpenAI(
            api_key="unused",  # `_own_headers` puts the key in
            base_url=self.url,
            timeout=limit,
            max_retries=0,
            http_client=DefaultAsyncHttpxClient(
                timeout=limit,
                follow_redirects=False,
                verify=self.url.startswith("https:"),  # reading the certificates takes 40 ms; plain http needs none
                trust_env=not is_loopback(self.url),
                event_hooks={"request": [self._own_headers], "response": [_capped]},
            ),
        )

    async def _own_headers(self, request: httpx2.Request) -> None:
        for name in {name.lower() for name in request.headers} - _SENT:
            del request.headers[name]
        request.headers["User-Agent"] = "commonplace"
        request.headers["Accept-Encoding"] = "identity"
        if self._key:
            request.headers["Authorization"] = self._key.header()


async def _capped(response: httpx2.Response) -> None:
    if isinstance(response.stream, httpx2.AsyncByteStream):
        response.stream = _Capped(response.stream)


class _Capped(httpx2.AsyncByteStream):
    """A body that ends after `LONGEST_BODY` bytes."""

    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = LONGEST_BODY
        async for chunk in self._stream:
            yield chunk[:left]
            left -= len(chunk)
            if left <= 0:
                return

    async def aclose(self) -> None:
        await self._stream.aclose()


# ── pool ─────────────────────────────────────────────────────────────────────────────────────────────────────────────
# A pool: the endpoints of a mind, shared out by load.


REST = 10.0
"""Seconds an endpoint that failed is left alone while there are others."""


class Pool:
    """Endpoints that serve the same model. The clock decides where a request goes, never what is asked."""

    def __init__(self, endpoints: Sequence[Endpoint]) -> None:
        self.endpoints = tuple(endpoints)

    @property
    def name(self) -> str:
        """The base URLs."""
        return ", ".join(endpoint.url for endpoint in self.endpoints)

    def pick(self) -> Endpoint:
        """The one with the fewest requests in flight, then the first, among those not resting; else the one whose rest
        ends first."""
        fresh = [endpoint for endpoint in self.endpoints if endpoint.rests_until <= monotonic()]
        if not fresh:
            return min(self.endpoints, key=lambda endpoint: endpoint.rests_until)
        return min(fresh, key=lambda endpoint: endpoint.in_flight)

    def fresh(self) -> bool:
        """Whether there is one that does not rest."""
        return any(endpoint.rests_until <= monotonic() for endpoint in self.endpoints)

    def failed(self, endpoint: Endpoint, seconds: float = REST) -> None:
        """Leave an endpoint alone for a while."""
        endpoint.rests_until = monotonic() + seconds

    def served(self, endpoint: Endpoint) -> None:
        """It answered: it need not rest."""
        endpoint.rests_until = 0.0

    async def close(self) -> None:
        """End all connections."""
        for endpoint in self.endpoints:
            await endpoint.close()


# ── transport ────────────────────────────────────────────────────────────────────────────────────────────────────────


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
        max_attempts = 1 if self._health.away and not self._patient else TRIES + len(self.pool.endpoints) - 1
        for tried in range(max_attempts):
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
            if tried + 1 < max_attempts and not self.pool.fresh():
                await self._rest(_wait(tried, page, errand), happened)
        if page is not None and page.status == 500:
            return page
        self._health.away = True
        raise Outage(self.pool.name, f"{happened} ({max_attempts} {'try' if max_attempts == 1 else 'tries'})")

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
