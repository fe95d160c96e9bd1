"""A mind on a model server that speaks the OpenAI protocol."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any, Literal, Protocol

from commonplace.minds.chat.client import Endpoint, Errand, Pool, Sleep, Transport
from commonplace.minds.chat.embeddings import embedded
from commonplace.minds.chat.page import Key, Late, Outage, Page, usage_of, whole
from commonplace.minds.chat.reply import PAGE_KINDS, blames_form, data_in, is_overflow, refuse, said, spoken
from commonplace.minds.chat.request import STRUCTURES, Capabilities, Structure, chat_body, seed_of, typed_field
from commonplace.minds.chat.servers import SERVERS, Known, server_named
from commonplace.minds.chat.session import Knowledge, Session
from commonplace.minds.mind import Ask, Reply, RequestKey
from commonplace.minds.notes import Value
from commonplace.minds.prompts.prompt import Prompt, Unusable

# ── book ─────────────────────────────────────────────────────────────────────────────────────────────────────────────
# What a mind on a model server needs to know of prompts.


class Book(Protocol):
    """Puts questions into words and reads answers."""

    def prompt(self, ask: Ask[Any, Any], *, drop: int = 0, complaint: str = "", last: str = "") -> Prompt:
        """The question in words. `drop`: so many of the lowest-scored memories are left out. `complaint` and `last`:
        what was wrong with the last raw answer, and that answer."""
        ...

    def read(self, ask: Ask[Any, Any], data: object) -> Value:
        """The typed answer of parsed JSON. Raises Unusable."""
        ...

    def read_text(self, ask: Ask[Any, Any], text: str) -> Value | None:
        """The typed answer of free text; None for a task where free text is none."""
        ...


# ── exchange ─────────────────────────────────────────────────────────────────────────────────────────────────────────
# An exchange: one question asked until the server gives a page with an answer, or there is nothing left to try.


@dataclass(slots=True)
class Exchange:
    """One question on its way."""

    session: Session
    book: Book
    ask: Ask[Any, Any]
    request_key: RequestKey
    errand: Errand
    prompt: Prompt
    """As last sent."""
    drop: int = 0
    """Memories left out so far."""

    async def page(self) -> Page:
        """A page of status 200. Raises Unusable when the server refuses the question, Late, Outage, UsageError."""
        can = await self.session.capabilities(self.errand)
        structure = self._structure(can)
        while True:
            page = await self.session.transport.post("/chat/completions", self._body(can, structure), self.errand)
            if page.status == 200:
                self._remember(can, structure)
                return page
            await refuse(page, self.session.server, self.session.transport, self.errand)
            if is_overflow(page):
                self._shorten(page)
            elif (less := can.less(page)) is not None and page.status in (400, 422):
                can = self.session.knowledge.can = less
            elif blames_form(page) and structure != STRUCTURES[-1]:
                structure = STRUCTURES[STRUCTURES.index(structure) + 1]
            elif page.status >= 500:
                self.session.knowledge.health.away = True
                raise Outage(self.session.transport.pool.name, f"{page.status} {page.said()}".strip())
            else:
                raise Unusable(f"the server refused the request: {page.status} {page.said()}", "refused_request")

    def _body(self, can: Capabilities, structure: Structure) -> dict[str, Any]:
        body = chat_body(self.prompt, can, structure, seed_of(self.ask, self.request_key))
        return body | typed_field(self.ask, self.request_key) if can.typed else body

    def _structure(self, can: Capabilities) -> Structure:
        return self.session.knowledge.fallen.get(self.ask.task.name, can.structured)

    def _remember(self, can: Capabilities, structure: Structure) -> None:
        if structure != self._structure(can):
            self.session.knowledge.fallen[self.ask.task.name] = structure

    def _shorten(self, page: Page) -> None:
        """Leave out half of the memories that are left. Raises Unusable when there are none."""
        if not self.prompt.memories:
            raise Unusable(f"the prompt is too long for the model: {page.said()}", "overflow")
        self.drop += (self.prompt.memories + 1) // 2
        self.prompt = worded(self.book, self.ask, self.request_key, self.drop)


def worded(book: Book, ask: Ask[Any, Any], request_key: RequestKey, drop: int = 0) -> Prompt:
    """The question in words, quoting what was wrong with the answer before it, if that was the model's doing."""
    before = request_key.before
    if before is None or before.outcome != "malformed" or not before.raw or before.kind in PAGE_KINDS:
        return book.prompt(ask, drop=drop)
    return book.prompt(ask, drop=drop, complaint=before.error, last=before.raw)


# ── chat_mind ────────────────────────────────────────────────────────────────────────────────────────────────────────


LONGEST_RAW = 4000
"""Characters of a raw answer that are kept."""


class ChatMind:
    """Answers by a model. `name` as in `servers`; `timeout` in seconds, of one request.

    `on_outage`: whether a server that stays away pauses the run (`Outage` is raised) or lets every question meet its
    fallback. Raises UsageError for a name that is none, or a key that is missing. One mind may be used from several
    event loops; each has its own connections, given up by `rest` in that loop.
    """

    paid = True
    max_attempts = 2

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

    async def answer(self, ask: Ask[Any, Any], request_key: RequestKey) -> Reply:
        """The reply of the model. Raises Outage, and UsageError for a key or a model the server does not take."""
        errand = Errand(
            (request_key.seed, request_key.agent, request_key.tick, request_key.number, request_key.attempt)
        )
        try:
            reply = await self._reply(ask, request_key, errand)
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
        """What the server takes; probed on first use. Raises Outage and UsageError, whatever `on_outage` says."""
        session = self._here()
        try:
            return await session.capabilities(Errand((0, "probe")))
        except Late as error:
            raise Outage(session.transport.pool.name, str(error)) from None

    async def close(self) -> None:
        """Give up this loop's connections."""
        with self._lock:
            session = self._sessions.pop(asyncio.get_running_loop(), None)
        if session is not None:
            await session.close()

    async def _reply(self, ask: Ask[Any, Any], request_key: RequestKey, errand: Errand) -> Reply:
        if ask.task.name == "embed":
            try:
                return await embedded(self._here(), ask, request_key, errand)
            except Unusable as error:
                return Reply(None, "malformed", kind=error.kind, error=str(error))
        exchange = Exchange(self._here(), self._book, ask, request_key, errand, worded(self._book, ask, request_key))
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
