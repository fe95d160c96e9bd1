"""Requests to a model server: connections, limited retries, and load balancing over several base URLs."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from time import monotonic, time
from typing import Any
from urllib.parse import urlsplit

import httpx2

from commonplace.engine.meter import meter
from commonplace.errors import Paused
from commonplace.parts.model_servers.dialects import Dialect
from commonplace.parts.model_servers.http import (
    LONGEST_ANSWER,
    LONGEST_BODY,
    Key,
    Late,
    Page,
    Unreachable,
    client_options,
    url_of,
)
from commonplace.parts.model_servers.streaming import StreamedAnswer, Streaming, is_stream
from commonplace.rng import Key as Draw
from commonplace.rng import unit

MOST_ATTEMPTS = 5
"""Times a request is sent before the server counts as down, with a wait between two of them; one more for each further
endpoint."""
AT_ONCE = 6
"""The most retries without a wait: of one request, and of all requests to a server that has stopped to answer."""
LONGEST_WAIT = 60.0
"""The most seconds between two attempts, whatever `Retry-After` says."""
PAUSE = 10.0
"""Seconds an endpoint that failed is not used while there are others."""
LATE_IN_A_ROW = 8
"""Consecutive time-outs, over all requests, that count as an outage."""
MOST_BROKEN = 2
"""Streams of one answer that may break before it is asked for at once."""
LONGEST_STREAM = 10
"""The longest stream, as a multiple of the time without a byte after which it is late."""
LAST_WORDS = 1.0
"""Seconds a stream may stay open after its last event."""
TOO_MANY = 429
"""The status of a server that serves others first: a reason to ask more slowly, not an outage."""
NO_CREDIT = frozenset({"insufficient_quota", "billing_hard_limit_reached", "insufficient_balance"})
"""Codes with which a server that is to be paid says what 402 says."""
SPREAD = 0.25
"""Requests that a server sent away together come back within this share of the wait after it."""
_WORTH_TELLING = 3.0
"""A wait of this many seconds or more is logged."""

Sleep = Callable[[float], Awaitable[None]]
_log = logging.getLogger(__name__)


class Outage(Paused):
    """A model server that does not answer, or not usably. The run stops at a tick boundary and can be resumed."""

    def __init__(
        self, server: str, happened: str, *, does: str = "does not answer", hint: str = "check the server"
    ) -> None:
        super().__init__(f"the model server {server} {does}: {happened}", hint=hint)


# ── endpoints ───────────────────────────────────────────────────────────────────────────────────────────────────────


class Endpoint:
    """One base URL with its connections, in the event loop it is first used in. `timeout`: seconds of one request.

    How many requests it takes at once is found out: halved when it sends one away with 429, and raised by one for as
    many pages as it takes at once (additive increase, multiplicative decrease: V. Jacobson, "Congestion avoidance and
    control", 1988).
    """

    def __init__(self, url: str, key: Key, timeout: float, dialect: Dialect | None = None) -> None:
        """`dialect`: OpenAI's protocol unless another is given."""
        self.url = url
        self.in_flight = 0
        self.room = math.inf
        """Requests it takes at once."""
        self.paused_until = 0.0
        """Moment of the monotonic clock before which other endpoints are preferred."""
        self.retries = 1
        """Requests it gets again at once after a fault: one more with each page that comes, up to `AT_ONCE`, and one
        less with each that it gets (a retry budget, as gRPC and Finagle have it)."""
        self.waits = 0
        """Waits for all its requests that have begun so far."""
        self.closed = 0
        """Waits that are under way: until they are over it gets no requests."""
        self._key = key
        self._timeout = timeout
        self._dialect = dialect or Dialect()
        self._client: httpx2.AsyncClient | None = None

    @property
    def is_free(self) -> bool:
        """Tells whether the endpoint takes another request now."""
        return not self.closed and self.in_flight < max(1.0, self.room)

    def sent_away(self) -> None:
        """Lowers the number of requests at once. All requests that are refused together count as one."""
        if not self.closed:
            self.room = max(1.0, min(self.room, self.in_flight + 1) / 2)

    def served(self) -> None:
        """Notes that a page came, which may raise the number of requests at once."""
        self.paused_until = 0.0
        self.room += 1 / self.room
        self.retries = min(AT_ONCE, self.retries + 1)

    async def send(
        self,
        method: str,
        path: str,
        body: dict[str, Any] | None,
        live: Streaming | None = None,
        *,
        repeats: bool = False,
    ) -> Page:
        """Sends one request and returns its page. Raises Late or Unreachable when none came back.

        `live`: ask for an answer that comes as it is written; it is late when nothing more comes of it. `repeats`:
        whether the request was sent before, for the meter.
        """
        began, outcome = monotonic(), "cancelled"
        try:
            page = await self._sent(method, path, body, live)
            outcome = str(page.status)
        except Late:
            outcome = "late"
            raise
        except Unreachable:
            outcome = "unreachable"
            raise
        else:
            return page
        finally:
            meter().requested(urlsplit(self.url).netloc, outcome, monotonic() - began, repeats=repeats)

    async def _sent(self, method: str, path: str, body: dict[str, Any] | None, live: Streaming | None) -> Page:
        gathering = StreamedAnswer(self._dialect, live, self._key) if live else None
        self.in_flight += 1
        try:
            async with asyncio.timeout(self._timeout) as patience:
                page = await self._page(method, path, body, live, gathering, patience)
        except httpx2.ConnectTimeout:
            raise Unreachable("no connection could be made in time") from None
        except (TimeoutError, httpx2.TimeoutException):
            if gathering is None or not gathering.is_whole:
                raise Late(f"no answer within {self._timeout:g} s") from None
            page = gathering.page()
        except httpx2.TransportError as error:
            if gathering is None or not gathering.is_whole:
                raise Unreachable(self._key.scrub(str(error)) or "the connection broke") from None
            page = gathering.page()
        finally:
            self.in_flight -= 1
        return self._dialect.page(page, path, body)

    async def close(self) -> None:
        """Closes the connections; the next request opens new ones."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def _page(
        self,
        method: str,
        path: str,
        body: dict[str, Any] | None,
        live: Streaming | None,
        gathering: StreamedAnswer | None,
        patience: asyncio.Timeout,
    ) -> Page:
        """Returns the page in the words of its protocol."""
        if self._client is None:
            header, more = self._dialect.key_header, self._dialect.headers
            options = client_options(self.url, self._key, self._timeout, header=header, more=more)
            self._client = httpx2.AsyncClient(**options)
        place, sent = self._dialect.request(path, body)
        if live is not None and sent is not None:
            place, sent = self._dialect.streamed(place, sent, usage=live.usage)
        content, longest = bytearray(), LONGEST_BODY if path == "/embeddings" else LONGEST_ANSWER
        async with self._client.stream(method, url_of(self.url, place), json=sent) as response:
            if gathering is not None and _is_live(response):
                return await self._gathered(response, gathering, patience)
            async for chunk in response.aiter_raw():
                content += chunk[: longest - len(content)]
                if len(content) >= longest:
                    break
        page = Page.of(response.status_code, response.headers, bytes(content), self._key, longest)
        if gathering is not None and page.status == 200 and is_stream(page.text):  # under a wrong name, or compressed
            gathering.feed(page.text.encode())
            return gathering.page()
        return page

    async def _gathered(self, response: httpx2.Response, gathering: StreamedAnswer, patience: asyncio.Timeout) -> Page:
        """Returns the page that a stream adds up to. A stream that is stopped takes its connection with it."""
        now = asyncio.get_running_loop().time
        last = now() + LONGEST_STREAM * self._timeout
        async for chunk in response.aiter_raw():
            over = gathering.is_over
            gathering.feed(chunk)
            if gathering.is_cut:
                break
            if not over:
                patience.reschedule(min(last, now() + (LAST_WORDS if gathering.is_over else self._timeout)))
        return gathering.page(response.headers.get("retry-after", ""))


def _is_live(response: httpx2.Response) -> bool:
    """Tells whether a response is streamed."""
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    plain = response.headers.get("content-encoding", "identity") == "identity"
    return response.status_code == 200 and plain and kind in ("text/event-stream", "application/x-ndjson")


class Pool:
    """Endpoints that serve the same model. The clock decides where a request goes, never what is asked."""

    def __init__(self, endpoints: Sequence[Endpoint]) -> None:
        self.endpoints = tuple(endpoints)
        self._freed = asyncio.Event()

    @property
    def name(self) -> str:
        """The base URLs."""
        return ", ".join(endpoint.url for endpoint in self.endpoints)

    def pick(self) -> Endpoint:
        """Returns the endpoint to ask next: one that is not paused, takes a request, and has the fewest in flight."""
        now = monotonic()

        def rank(endpoint: Endpoint) -> tuple[float, bool, int]:
            paused = endpoint.paused_until if endpoint.paused_until > now else 0.0
            return paused, not endpoint.is_free, endpoint.in_flight

        return min(self.endpoints, key=rank)

    async def free(self) -> Endpoint:
        """Waits for an endpoint that takes another request, and returns the one that `pick` chooses."""
        while not (endpoint := self.pick()).is_free:
            self._freed.clear()
            await self._freed.wait()
        return endpoint

    def freed(self) -> None:
        """Wakes the requests that wait for an endpoint."""
        self._freed.set()

    def is_available(self) -> bool:
        """Tells whether an endpoint is not paused."""
        return any(endpoint.paused_until <= monotonic() for endpoint in self.endpoints)

    async def close(self) -> None:
        """Closes all connections."""
        for endpoint in self.endpoints:
            await endpoint.close()


@dataclass(slots=True)
class Health:
    """The recent state of the server, over all requests of a mind."""

    late: int = 0
    """Time-outs since the last page."""
    served: int = 0
    """Pages that came, for anybody."""
    away: bool = False
    """An outage was found and no page has come since."""
    told: bool = False
    """Whether it has been logged that the run waits for it; reset by the next page."""


@dataclass(slots=True)
class Requests:
    """The requests made for one question: what their jitter is drawn from, and what they have cost so far."""

    draw: tuple[Draw, ...]
    calls: int = 0
    """Requests sent."""
    probe_prompt: int = 0
    """Prompt tokens of a probe of the server's capabilities that this question waited for."""
    probe_answer: int = 0
    body: dict[str, Any] | None = None
    """Of the last request for a chat completion."""
    unanswered: bool = False
    """Whether the reply to it held no answer, good or bad."""


class Transport:
    """A sender of requests, which repeats them while the server is busy or down.

    `patient`: a server known to be down still gets all attempts, not one.
    """

    def __init__(self, pool: Pool, health: Health, sleep: Sleep, *, patient: bool) -> None:
        self.pool = pool
        self._health = health
        self._sleep = sleep
        self._patient = patient

    async def post(
        self,
        path: str,
        body: dict[str, Any],
        requests: Requests,
        *,
        final: frozenset[int] = frozenset(),
        live: Streaming | None = None,
    ) -> Page:
        """Returns the page of a POST, whatever its status; a 500 if every attempt got one.

        Statuses in `final` are not tried again. `live`: see `Endpoint.send`; after two streams that broke the answer is
        asked for at once. Raises Late after the second time-out, Outage when the server does not answer.
        """
        return await self._send("POST", path, body, requests, final, live)

    async def get(self, path: str, requests: Requests) -> Page:
        """Returns the page of a GET, as `post` does."""
        return await self._send("GET", path, None, requests, frozenset())

    async def _send(
        self,
        method: str,
        path: str,
        body: dict[str, Any] | None,
        requests: Requests,
        final: frozenset[int],
        live: Streaming | None = None,
    ) -> Page:
        timed_out, happened, page = False, "", None
        attempts = 1 if self._health.away and not self._patient else MOST_ATTEMPTS + len(self.pool.endpoints) - 1
        attempt, at_once, broken, served = 0, 0, 0, self._health.served
        while attempt < attempts:
            endpoint = await self.pool.free()
            before = endpoint.waits, self._health.served
            requests.calls += 1
            try:
                streamed = live if broken < MOST_BROKEN else None
                page = await endpoint.send(method, path, body, streamed, repeats=bool(happened))
            except Late as error:
                self._count_late(str(error))
                if timed_out:
                    raise
                timed_out, happened, page = True, str(error), None
                self._tell(happened)
                attempt += 1
                continue
            except Unreachable as error:
                happened, page = str(error), None
                broken += 1
            finally:
                self.pool.freed()
            if page is not None:
                if page.status in final or not _is_passing(page):
                    endpoint.served()
                    self._health.served += 1
                    self._health.late, self._health.away, self._health.told = 0, False, False
                    return page
                happened = f"{page.status} {page.said()}".strip()
            sent_away, told = (page.status == TOO_MANY, _retry_after(page)) if page else (False, 0.0)
            sets_pace = sent_away or told > 0
            endpoint.paused_until = monotonic() + (told or PAUSE)
            if endpoint.retries and at_once < AT_ONCE and not sets_pace:
                endpoint.retries -= 1
                at_once += 1
                continue
            if sent_away:
                endpoint.sent_away()
                if served != self._health.served:  # others are served: it is this one's turn later
                    attempt, served = 0, self._health.served
            seconds = _seconds_to_wait(attempt, told, requests)
            attempt += 1
            if attempt < attempts and not self.pool.is_available():
                await self._wait_out(endpoint, seconds, happened, before, sets_pace=sets_pace)
        if page is not None and page.status == 500:
            return page
        self._health.away = True
        sent = attempt + at_once
        raise Outage(self.pool.name, f"{happened} ({sent} {'attempt' if sent == 1 else 'attempts'})")

    async def wait(self, attempt: int, happened: str, requests: Requests) -> None:
        """Waits before the server is asked again, longer each time."""
        await self._wait(_seconds_to_wait(attempt, 0.0, requests), happened)

    async def _wait_out(
        self, endpoint: Endpoint, seconds: float, happened: str, before: tuple[int, int], *, sets_pace: bool
    ) -> None:
        """Waits before the next attempt. Nobody sends the endpoint anything meanwhile, unless it serves others.

        `before`: its waits, and the pages that had come, when the request was sent. If a wait for all has begun since,
        it is this one's, too. `sets_pace`: whether the endpoint itself has asked for the wait.
        """
        waits, served = before
        if endpoint.waits != waits and not sets_pace:
            return
        closes = sets_pace or self._health.served == served
        endpoint.closed += closes
        endpoint.waits += closes
        try:
            await self._wait(seconds, happened)
        finally:
            endpoint.closed -= closes
            self.pool.freed()

    async def _wait(self, seconds: float, happened: str) -> None:
        if seconds >= _WORTH_TELLING:
            self._tell(f"{happened}; trying again in {seconds:.0f} s")
        await self._sleep(seconds)

    def _tell(self, happened: str) -> None:
        """Logs once why no answer comes, so that a person who waits knows."""
        if not self._health.told:
            self._health.told = True
            fields = {"event": "waiting_for_server", "fields": {"server": self.pool.name}}
            _log.warning("waiting for the model server %s: %s", self.pool.name, happened, extra=fields)

    def _count_late(self, happened: str) -> None:
        self._health.late += 1
        if self._health.late >= LATE_IN_A_ROW:
            self._health.late, self._health.away = 0, True
            raise Outage(self.pool.name, f"{happened}, {LATE_IN_A_ROW} times in a row")


def is_unpaid(page: Page) -> bool:
    """Tells whether the server refuses to answer until somebody pays."""
    codes = {str(page.get("error", name)) for name in ("code", "type")}
    return page.status == 402 or (page.status == TOO_MANY and bool(codes & NO_CREDIT))


def _is_passing(page: Page) -> bool:
    """Tells whether the fault may be temporary."""
    return not is_unpaid(page) and (page.status in (408, 409, TOO_MANY) or (page.status >= 500 and page.status != 501))


def _seconds_to_wait(attempt: int, told: float, requests: Requests) -> float:
    """Returns the wait the server has `told` and up to a quarter more, else 1, 2, 4 … times a jitter of 0.5–1.5."""
    jitter = unit(*requests.draw, "wait", requests.calls)
    return min(LONGEST_WAIT, told * (1 + SPREAD * jitter) if told else 2.0**attempt * (0.5 + jitter))


def _retry_after(page: Page) -> float:
    """Seconds of `Retry-After`, a number or an HTTP date; 0 if it is missing or invalid."""
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
