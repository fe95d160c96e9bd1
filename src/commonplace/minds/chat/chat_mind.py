"""A mind on a model server that speaks the OpenAI protocol."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from threading import Lock
from typing import Any, Literal

from commonplace.minds.asking import Ask
from commonplace.minds.chat.book import Book
from commonplace.minds.chat.capabilities import Capabilities
from commonplace.minds.chat.embeddings import embedded
from commonplace.minds.chat.endpoint import Endpoint
from commonplace.minds.chat.exchange import Exchange, worded
from commonplace.minds.chat.key import Key
from commonplace.minds.chat.outage import Late, Outage
from commonplace.minds.chat.page import Page, whole
from commonplace.minds.chat.pool import Pool
from commonplace.minds.chat.reading import data_in, said, spoken
from commonplace.minds.chat.servers import SERVERS, Known, server_named
from commonplace.minds.chat.session import Knowledge, Session
from commonplace.minds.chat.transport import Errand, Sleep, Transport
from commonplace.minds.chat.usage import usage_of
from commonplace.minds.mind import Asker, Reply
from commonplace.minds.notes import Value
from commonplace.minds.prompts.prompt import Unusable

LONGEST_RAW = 4000
"""Characters of a raw answer that are kept."""


class ChatMind:
    """Answers by a model. `name` as in `servers`; `timeout` in seconds, of one request.

    `on_outage`: whether a server that stays away pauses the run (`Outage` is raised) or lets every question meet its
    fallback. Raises WrongUse for a name that is none, or a key that is missing. One mind may be used from several event
    loops; each has its own connections, given up by `rest` in that loop.
    """

    costs = True
    tries = 2

    def __init__(
        self,
        name: str,
        book: Book,
        *,
        servers: Mapping[str, Known] = SERVERS,
        timeout: float = 120.0,
        on_outage: Literal["pause", "fallback"] = "pause",
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self.name = name
        self._book = book
        self._server = server_named(name, servers)
        self._key = Key.of(self._server)
        self._timeout = timeout
        self._pauses = on_outage == "pause"
        self._sleep = sleep
        self._knowledge = Knowledge()
        self._sessions: dict[asyncio.AbstractEventLoop, Session] = {}
        self._lock = Lock()
        """Held while sessions are looked up: loops may run in several threads."""

    async def answer(self, ask: Ask[Any, Any], asker: Asker) -> Reply:
        """The reply of the model. Raises Outage, and WrongUse for a key or a model the server does not take."""
        errand = Errand((asker.seed, asker.agent, asker.tick, asker.number, asker.attempt))
        try:
            reply = await self._reply(ask, asker, errand)
        except Late as error:
            reply = Reply(None, "fault", kind="timeout", error=str(error))
        except Outage as error:
            if self._pauses:
                raise
            reply = Reply(None, "fault", kind="outage", error=error.what)
        return replace(
            reply,
            prompt_tokens=reply.prompt_tokens + errand.probe_prompt,
            answer_tokens=reply.answer_tokens + errand.probe_answer,
            calls=errand.calls,
        )

    async def capabilities(self) -> Capabilities:
        """What the server takes; probed on first use. Raises Outage and WrongUse, whatever `on_outage` says."""
        session = self._here()
        try:
            return await session.capabilities(Errand((0, "probe")))
        except Late as error:
            raise Outage(session.transport.pool.name, str(error)) from None

    async def rest(self) -> None:
        """Give up this loop's connections."""
        with self._lock:
            session = self._sessions.pop(asyncio.get_running_loop(), None)
        if session is not None:
            await session.close()

    async def _reply(self, ask: Ask[Any, Any], asker: Asker, errand: Errand) -> Reply:
        if ask.task.name == "embed":
            try:
                return await embedded(self._here(), ask, asker, errand)
            except Unusable as error:
                return Reply(None, "malformed", kind=error.kind, error=str(error))
        exchange = Exchange(self._here(), self._book, ask, asker, errand, worded(self._book, ask, asker))
        try:
            page = await exchange.page()
        except Unusable as error:
            return Reply(None, "malformed", kind=error.kind, error=str(error), prompt=exchange.prompt.text)
        return self._read(ask, page, exchange.prompt.text)

    def _read(self, ask: Ask[Any, Any], page: Page, prompt: str) -> Reply:
        """The reply on a page, with what it cost."""
        raw, value, error = page.text, None, None
        try:
            answer = said(page)
            raw = answer.text
            value = self._value(ask, spoken(raw), cut=answer.cut)
        except Unusable as unusable:
            error = unusable
        asked, cached, answered = usage_of(page, prompt, raw)
        return Reply(
            value,
            "malformed" if error else "value",
            error=str(error or ""),
            kind=error.kind if error else "",
            prompt=prompt,
            raw=whole(raw[:LONGEST_RAW]),
            prompt_tokens=asked,
            cached_tokens=cached,
            answer_tokens=answered,
        )

    def _value(self, ask: Ask[Any, Any], text: str, *, cut: bool) -> Value:
        """The typed answer: from JSON, or from free text where that will do. Raises Unusable."""
        try:
            data = data_in(text, cut=cut)
        except Unusable:
            free = None if "{" in text else self._book.read_text(ask, text)
            if free is None:
                raise
            return free
        return self._book.read(ask, data)

    def _here(self) -> Session:
        """The session of the running loop; those of loops that are closed are forgotten."""
        loop = asyncio.get_running_loop()
        with self._lock:
            if loop not in self._sessions:
                for closed in [known for known in self._sessions if known.is_closed()]:
                    del self._sessions[closed]
                self._sessions[loop] = self._opened()
            return self._sessions[loop]

    def _opened(self) -> Session:
        pool = Pool([Endpoint(url, self._key, self._timeout) for url in self._server.urls])
        transport = Transport(pool, self._knowledge.health, self._sleep, patient=self._pauses)
        return Session(self._server, transport, self._knowledge)
