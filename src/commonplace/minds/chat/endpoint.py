"""An endpoint: one base URL, the connections to it, and how many requests are on their way."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from typing import Any

import httpx2
from openai import APIConnectionError, APIStatusError, APITimeoutError, AsyncOpenAI, DefaultAsyncHttpxClient

from commonplace.minds.chat.key import Key
from commonplace.minds.chat.outage import Late, Unreachable
from commonplace.minds.chat.page import Page
from commonplace.minds.chat.servers import is_loopback

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
