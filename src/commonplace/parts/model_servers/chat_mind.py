"""A mind on a model server."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any, Literal, Protocol

from commonplace.errors import UsageError
from commonplace.memory import lattice, packed
from commonplace.minds.mind import Ask, Flaws, Reply, RequestKey, listener
from commonplace.minds.notes import Value
from commonplace.minds.prompts.prompt import Prompt, Unusable
from commonplace.minds.tasks import EmbedInput, EmbedOutput
from commonplace.parts.model_servers.answer_cache import AnswerCache
from commonplace.parts.model_servers.client import (
    MOST_ATTEMPTS,
    Endpoint,
    Health,
    Outage,
    Pool,
    Requests,
    Sleep,
    Transport,
)
from commonplace.parts.model_servers.dialects import dialect_of
from commonplace.parts.model_servers.http import TEXTS_PER_REQUEST, Key, Late, Page, WrongPage, vectors_in, whole
from commonplace.parts.model_servers.probe import Probe, tiny_body
from commonplace.parts.model_servers.reply import (
    LIMITS,
    LONGEST,
    NO_ANSWER,
    PAGE_KINDS,
    blames_form,
    data_in,
    has_answer,
    is_overflow,
    refuse,
    said,
    spoken,
    usage_of,
)
from commonplace.parts.model_servers.request import (
    PLAIN,
    Capabilities,
    Structure,
    chat_body,
    seed_of,
    typed_field,
)
from commonplace.parts.model_servers.streaming import Streaming
from commonplace.scenario.model import MindPart
from commonplace.servers import SERVERS, KnownServer, Server, server_named, variables
from commonplace.text import clean

CHARACTERS, LEAST_STOPPED = 12, 4000
"""An answer of more characters a token, and of at least so many, is stopped: its server does not keep to the limit."""
LONGEST_RAW = 4000
"""Characters of a raw answer that are kept."""


class PromptCodec(Protocol):
    """A wording of questions and a reading of answers: the part of `PromptBook` that a mind needs."""

    def prompt(self, ask: Ask[Any, Any], *, drop: int = 0, complaint: str = "", tool: bool = False) -> Prompt: ...

    def read(
        self, ask: Ask[Any, Any], data: object, citable: Collection[int] = (), flaws: Flaws | None = None
    ) -> Value: ...

    def read_text(self, ask: Ask[Any, Any], text: str, flaws: Flaws | None = None) -> Value | None: ...

    def read_words(self, ask: Ask[Any, Any], text: str, *, cut: bool = False, flaws: Flaws | None = None) -> Value: ...


@dataclass(slots=True)
class ServerKnowledge:
    """A mind's knowledge about its server; it outlives connections."""

    can: Capabilities | None = None
    """None before the probe."""
    fallen: dict[str, Structure] = field(default_factory=dict[str, Structure])
    """Task → the simpler form of answer to ask for, where the server refused the usual one."""
    dimensions: int = 0
    """Of its vectors; 0 before one was seen."""
    answers: int = 0
    """Replies that held an answer, good or bad."""
    answered: dict[str, Any] | None = None
    """The body of the last request that got one."""
    silent_after: int = -1
    """How many answers had been given when it was found to give no more; -1 if it never was."""
    health: Health = field(default_factory=Health)


class Connections:
    """A mind's connections within one event loop."""

    def __init__(self, server: Server, transport: Transport, knowledge: ServerKnowledge) -> None:
        self.server = server
        self.transport = transport
        self.knowledge = knowledge
        self._probing = asyncio.Lock()
        self._doubting = asyncio.Lock()

    async def capabilities(self, requests: Requests) -> Capabilities:
        """Returns what the server takes, probed once for all questions. Raises as `Probe.capabilities`."""
        async with self._probing:
            if self.knowledge.can is None:
                self.knowledge.can = await Probe(self.server, self.transport, requests).capabilities()
                self.knowledge.dimensions = self.knowledge.dimensions or self.knowledge.can.embeddings
        return self.knowledge.can

    async def must_answer(self, unanswered: Reply, requests: Requests) -> None:
        """Checks, after a reply without an answer, that the server gives any. Raises Outage.

        It is asked once more, up to five times, what it answered last. If it answers, the question alone is malformed.
        If not, the run pauses before anything is kept of what it sent.
        """
        knowledge = self.knowledge
        answers = knowledge.answers  # before others, who may be asking at this time
        async with self._doubting:
            for attempt in range(MOST_ATTEMPTS if knowledge.silent_after != answers else 0):
                if attempt:
                    await self.transport.wait(attempt - 1, unanswered.error, requests)
                if knowledge.answers != answers or await self._answers(requests):
                    return
            if knowledge.answers == answers:
                knowledge.silent_after = answers
                what, hint = unanswered.error, NO_ANSWER[unanswered.kind]
                raise Outage(self.transport.pool.name, what, does="gives no answers", hint=hint)

    async def _answers(self, requests: Requests) -> bool:
        """Tells whether the server answers what it has answered before, or else the same question again."""
        body = self.knowledge.answered or requests.body or tiny_body(await self.capabilities(requests))
        try:
            page = await self.transport.post("/chat/completions", body, requests)
        except Late:
            return False
        await refuse(page, self.server, self.transport, requests)
        prompt_tokens, _, answer_tokens = usage_of(page, body, "")
        requests.probe_prompt += prompt_tokens
        requests.probe_answer += answer_tokens
        if page.status != 200 or not has_answer(page):
            return False
        self.knowledge.answers += 1
        return True


class ChatMind:
    """A mind whose answers come from a model. `name` as in `servers`; `timeout`: seconds of one request.

    `on_outage`: whether a server that does not answer pauses the run (`Outage` is raised) or each question gets its
    fallback. Raises UsageError for a name that is not a server's, or a missing key. One mind may be used from several
    event loops; each has connections of its own, closed by `close` in that loop.
    """

    paid = True
    max_attempts = 2

    def __init__(
        self,
        name: str,
        book: PromptCodec,
        *,
        servers: Mapping[str, KnownServer] = SERVERS,
        timeout: float = 120.0,
        on_outage: Literal["pause", "fallback"] = "pause",
        sleep: Sleep = asyncio.sleep,
        with_key: bool = True,
        tasks: Mapping[str, MindPart] | None = None,
        cache: AnswerCache | None = None,
    ) -> None:
        """`tasks`: task → its settings; all of them have the same headers. `cache`: answers of earlier runs."""
        self.name = name
        self._book = book
        self._server = server_named(name, servers)
        self._tasks, self._cache = tasks or {}, cache
        headers = next((part.headers for part in self._tasks.values()), dict[str, str]())
        if with_key:
            key = Key.from_environment(self._server.variable, required=self._server.wants_key, headers=headers)
            self._key = key
        else:
            open_headers = {header: value for header, value in headers.items() if not variables([value])}
            self._key, self._server = Key("", "", open_headers), replace(self._server, variable="")
        self._timeout = timeout
        self._pauses = on_outage == "pause"
        self._sleep = sleep
        self._knowledge = ServerKnowledge()
        self._sessions: dict[asyncio.AbstractEventLoop, Connections] = {}
        self._lock = Lock()  # event loops may run in several threads

    async def answer(self, ask: Ask[Any, Any], request_key: RequestKey) -> Reply:
        """Returns the reply of the model. Raises Outage, and UsageError for a key or model that the server refuses."""
        key = request_key
        requests, session = Requests((key.seed, key.agent, key.tick, key.number, key.attempt)), self._session()
        try:
            if ask.task.name == "embed":
                reply = await _embedded(session, ask, key, requests)
            else:
                reply = await self._answered(session, ask, key, requests)
            if requests.unanswered and self._pauses:
                await session.must_answer(reply, requests)
        except Late as error:
            reply = Reply(None, "fault", kind="timeout", error=str(error))
        except Outage as error:
            if self._pauses:
                raise
            reply = Reply(None, "fault", kind="outage", error=error.what)
        if reply.value is None and ask.task.aloud and (listens := listener()) is not None:
            listens(key.agent, "")
        return replace(
            reply,
            prompt_tokens=reply.prompt_tokens + requests.probe_prompt,
            answer_tokens=reply.answer_tokens + requests.probe_answer,
            calls=requests.calls,
        )

    async def capabilities(self) -> Capabilities:
        """Returns what the server takes, probed on first use.

        Raises Outage and UsageError, whatever `on_outage` says.
        """
        session = self._session()
        try:
            return await session.capabilities(Requests((0, "probe")))
        except Late as error:
            raise Outage(session.transport.pool.name, str(error)) from None

    async def close(self) -> None:
        """Closes the connections of the running loop, and the file of answers."""
        if self._cache is not None:
            self._cache.close()
        with self._lock:
            session = self._sessions.pop(asyncio.get_running_loop(), None)
        if session is not None:
            await session.transport.pool.close()

    async def _answered(self, session: Connections, ask: Ask[Any, Any], key: RequestKey, requests: Requests) -> Reply:
        settings = self._tasks.get(ask.task.name, PLAIN)
        tool = settings.structured == "tool"
        prompt = worded(self._book, ask, key, tool=tool)
        attempt = _Attempt(session, self._book, ask, key, requests, prompt, settings, self._cache)
        try:
            page = await attempt.page()
        except Unusable as error:
            requests.unanswered = error.kind in NO_ANSWER
            return Reply(None, "malformed", kind=error.kind, error=str(error), prompt=attempt.prompt.text)
        prompt = attempt.prompt.text
        raw, value, problem, flaws = page.text, None, None, Flaws()
        try:
            answer = said(page)
            raw = answer.text
            value = value_in(self._book, ask, spoken(raw), attempt.prompt, cut=answer.cut, flaws=flaws)
        except Unusable as unusable:
            problem = unusable
        requests.unanswered = not has_answer(page)
        if not requests.unanswered and not attempt.reused:
            self._knowledge.answers += 1
            self._knowledge.answered = requests.body
        if problem is None:
            attempt.keep(page)
        asked, cached, answered = (0, 0, 0) if attempt.reused else usage_of(page, attempt.requests.body or {}, raw)
        return Reply(
            value,
            "malformed" if problem else "value",
            error=str(problem or ""),
            kind=problem.kind if problem else "",
            prompt=prompt,
            raw=whole(raw[:LONGEST_RAW]),
            prompt_tokens=asked,
            cached_tokens=cached,
            answer_tokens=answered,
            flaws=Flaws() if problem else flaws,
            reused=int(attempt.reused),
        )

    def _session(self) -> Connections:
        """Returns the session of the running loop and drops the sessions of closed loops."""
        loop = asyncio.get_running_loop()
        with self._lock:
            if loop not in self._sessions:
                for closed in [known for known in self._sessions if known.is_closed()]:
                    del self._sessions[closed]
                dialect = dialect_of(self._server.kind)
                pool = Pool([Endpoint(url, self._key, self._timeout, dialect) for url in self._server.urls])
                transport = Transport(pool, self._knowledge.health, self._sleep, patient=self._pauses)
                self._sessions[loop] = Connections(self._server, transport, self._knowledge)
            return self._sessions[loop]


@dataclass(slots=True)
class _Attempt:
    """One question, asked in simpler forms and with fewer memories until the server accepts it."""

    session: Connections
    book: PromptCodec
    ask: Ask[Any, Any]
    request_key: RequestKey
    requests: Requests
    prompt: Prompt
    """As last sent."""
    settings: MindPart = PLAIN
    cache: AnswerCache | None = None
    dropped: int = 0
    """Memories left out so far."""
    reused: bool = False
    """Whether the page is one that an earlier run got for the same request."""

    async def page(self) -> Page:
        """Returns a page of status 200.

        Raises Unusable when the server refuses the question, Late, Outage, UsageError.
        """
        knowledge, transport = self.session.knowledge, self.session.transport
        can = await self.session.capabilities(self.requests)
        usual = structure = knowledge.fallen.get(self.ask.task.name, self.settings.structured or can.structured)
        simpler = self._simpler(can, usual)
        while True:
            body = self.requests.body = self._body(can, structure)
            known = self.cache.page(body) if self.cache is not None else None
            if known is not None:
                self.reused = True
                return known
            once = frozenset({500}) if structure != usual else frozenset[int]()  # in its usual form it was repeated
            live = self._live(can, body)
            page = await transport.post("/chat/completions", body, self.requests, final=once, live=live)
            if page.status == 200:
                if structure != usual:
                    knowledge.fallen[self.ask.task.name] = structure
                return page
            await refuse(page, self.session.server, transport, self.requests)
            if is_overflow(page):
                self._shorten(page)
            elif page.status in (400, 422) and (less := can.less(page)) is not None:
                can = knowledge.can = less
            elif blames_form(page) and simpler:
                structure = simpler.pop(0)
            elif page.status >= 500:
                knowledge.health.away = True
                raise Outage(transport.pool.name, f"{page.status} {page.said()}".strip())
            else:
                raise Unusable(f"the server refused the request: {page.status} {page.said()}", "refused_request")

    def _live(self, can: Capabilities, body: dict[str, Any]) -> Streaming | None:
        """Returns how the answer is streamed; None if it comes at once, as a server or the settings may want."""
        if can.stream == "no" or "stream" in body:
            return None
        limit = next((most for name in LIMITS if isinstance(most := body.get(name), int)), LONGEST)
        return Streaming(can.stream == "usage", min(LONGEST, max(LEAST_STOPPED, CHARACTERS * limit)), self._heard())

    def _heard(self) -> Callable[[str], object] | None:
        """Tells who listens what is said so far; None if nobody does, or nothing is said aloud."""
        listens, agent, inputs, aloud = listener(), self.request_key.agent, self.ask.input, self.ask.task.aloud
        if listens is None or aloud is None or self.prompt.letters:
            return None
        small = self.prompt.small  # then the answer is what is said
        return lambda written: (words := clean(written) if small else aloud(inputs, written)) and listens(agent, words)

    def _simpler(self, can: Capabilities, usual: Structure) -> list[Structure]:
        """Returns the forms to try when the usual one is refused: after the settings' form, those the model obeys."""
        forms = dialect_of(self.session.server.kind).forms
        named = usual == self.settings.structured and usual != can.structured
        first = forms.index(can.structured) if named else forms.index(usual) + 1 if usual in forms else -1
        return [form for form in forms[first:] if form != usual]

    def keep(self, page: Page) -> None:
        """Keeps the page of a usable answer for later runs."""
        if self.cache is not None and self.requests.body is not None and not self.reused:
            self.cache.keep(self.requests.body, page)

    def _body(self, can: Capabilities, structure: Structure) -> dict[str, Any]:
        seed = seed_of(self.ask, self.request_key, self.settings)
        body = chat_body(self.prompt, can, structure, seed, self.settings)
        return body | typed_field(self.ask, self.request_key) if can.typed else body

    def _shorten(self, page: Page) -> None:
        """Leaves out half of the remaining memories. Raises Unusable when none remain."""
        if not self.prompt.memories:
            raise Unusable(f"the prompt is too long for the model: {page.said()}", "overflow")
        self.dropped += (self.prompt.memories + 1) // 2
        self.prompt = worded(
            self.book, self.ask, self.request_key, self.dropped, tool=self.settings.structured == "tool"
        )


def value_in(
    book: PromptCodec, ask: Ask[Any, Any], text: str, prompt: Prompt, *, cut: bool = False, flaws: Flaws | None = None
) -> Value:
    """Returns the typed answer: from JSON, from free text where the task takes it, or from words in the small form.

    Raises Unusable.
    """
    flaws = Flaws() if flaws is None else flaws
    if prompt.small:
        return book.read_words(ask, text, cut=cut, flaws=flaws)
    try:
        data = data_in(text, cut=cut, flaws=flaws)
    except Unusable:
        free = None if "{" in text else book.read_text(ask, text, flaws)
        if free is None:
            raise
        flaws["repaired"] += 1
        return free
    return book.read(ask, data, prompt.citable, flaws)


def worded(book: PromptCodec, ask: Ask[Any, Any], key: RequestKey, drop: int = 0, *, tool: bool = False) -> Prompt:
    """Returns the prompt. A repeated one says what was wrong with the last answer, if that was the model's doing."""
    before = key.before
    if before is None or before.outcome != "malformed" or not before.raw or before.kind in PAGE_KINDS:
        return book.prompt(ask, drop=drop, tool=tool)
    return book.prompt(ask, drop=drop, complaint=before.error, tool=tool)


async def _embedded(
    session: Connections, ask: Ask[EmbedInput, EmbedOutput], key: RequestKey, requests: Requests
) -> Reply:
    """Returns lattice vectors of the texts by `/embeddings`; the vector of an empty text is empty."""
    dialect = dialect_of(session.server.kind)
    if not dialect.embeds:
        raise UsageError(f"{dialect.title} makes no vectors", hint="name another mind for `embed`")
    can = await session.capabilities(requests)
    body: dict[str, Any] = {"model": can.model, "encoding_format": "float"}
    if can.typed:
        body |= typed_field(ask, key)
    texts = [text for text in ask.input.texts if text.strip()]
    vectors: list[str] = []
    tokens = 0
    try:
        for start in range(0, len(texts), TEXTS_PER_REQUEST):
            part = texts[start : start + TEXTS_PER_REQUEST]
            sent = body | {"input": part}
            page = await session.transport.post("/embeddings", sent, requests)
            if page.status != 200:
                await refuse(page, session.server, session.transport, requests)
                raise WrongPage(f"the server refused to embed: {page.status} {page.said()}", "refused_request")
            vectors += [_packed(vector, session.knowledge) for vector in vectors_in(page, len(part))]
            tokens += usage_of(page, sent, "")[0]
    except WrongPage as error:
        requests.unanswered = error.kind in NO_ANSWER
        return Reply(None, "malformed", kind=error.kind, error=str(error))
    remaining = iter(vectors)
    value = EmbedOutput(vectors=tuple(next(remaining) if text.strip() else "" for text in ask.input.texts))
    return Reply(value, prompt_tokens=tokens)


def _packed(vector: list[float], knowledge: ServerKnowledge) -> str:
    """Packs a lattice vector as base64 of int16, empty for a zero vector. Raises WrongPage if the size has changed."""
    knowledge.dimensions = knowledge.dimensions or len(vector)
    if len(vector) != knowledge.dimensions:
        raise WrongPage(f"a vector of {len(vector)} dimensions; expected {knowledge.dimensions}", "vectors")
    found = lattice(vector)
    return "" if found is None else b64encode(packed(found)).decode()
