"""A mind in this process: llama.cpp with a model in a GGUF file, by `xllamacpp`."""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from threading import Lock
from types import ModuleType
from typing import Any, Literal
from weakref import WeakKeyDictionary

from commonplace.errors import UsageError, install
from commonplace.minds.mind import Ask, Reply, RequestKey
from commonplace.parts.model_servers.answer_cache import AnswerCache
from commonplace.parts.model_servers.chat_mind import ChatMind, PromptCodec
from commonplace.parts.model_servers.client import Sleep
from commonplace.parts.model_servers.http import Key
from commonplace.parts.model_servers.request import Capabilities
from commonplace.paths import kind_of
from commonplace.scenario.model import MindPart
from commonplace.servers import server_named

CONTEXT = 8192
"""Tokens of the context, or those the model was made for if they are fewer."""
_MAGIC = b"GGUF"


class LocalMind(ChatMind):
    """A mind that runs a model in a file. `name`: `local:FILE.gguf`; the rest as in `ChatMind`.

    The library serves the OpenAI protocol from threads of its own, so the event loop stays free. It is started before
    the first question, at a free port of this machine and with a key that is in no file, and stopped when the mind is
    closed in its last event loop.

    Questions are answered one at a time and no computed prefix is kept: what llama.cpp computes depends in its last
    bits on what is computed beside it and what it has kept, and one bit may change a word.

    Raises UsageError for a file that is missing or no GGUF, and where the library is not installed.
    """

    def __init__(
        self,
        name: str,
        book: PromptCodec,
        *,
        timeout: float = 120.0,
        on_outage: Literal["pause", "fallback"] = "pause",
        sleep: Sleep = asyncio.sleep,
        with_key: bool = False,  # noqa: ARG002 – any mind may be told; there is no key that could leave this machine
        tasks: Mapping[str, MindPart] | None = None,
        cache: AnswerCache | None = None,
    ) -> None:
        super().__init__(
            name, book, timeout=timeout, on_outage=on_outage, sleep=sleep, with_key=False, tasks=tasks, cache=cache
        )
        self._path = _gguf(server_named(name).model)
        self._library = _library()
        self.stays = False
        """Whether the model stays loaded while no connection is open, as long as this mind is in use."""
        self._running: Any = None
        self._starting = Lock()
        self._turns: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()

    async def answer(self, ask: Ask[Any, Any], request_key: RequestKey) -> Reply:
        """Returns the reply of the model. Raises Outage, and UsageError for a file that llama.cpp cannot read."""
        async with self._turns.setdefault(asyncio.get_running_loop(), asyncio.Lock()):
            await asyncio.to_thread(self._start)
            return await super().answer(ask, request_key)

    async def capabilities(self) -> Capabilities:
        """Returns what the model does, found on first use. Raises as `answer`."""
        await asyncio.to_thread(self._start)
        return await super().capabilities()

    async def close(self) -> None:
        """Closes the connections of the running loop; after the last one the model is unloaded, unless it `stays`."""
        await super().close()
        await asyncio.to_thread(self._stop)

    def _start(self) -> None:
        with self._starting:
            if self._running is not None:
                return
            key = secrets.token_urlsafe(32)
            params = self._library.CommonParams()
            params.model.path = str(self._path)
            params.model_alias = {self._path.name}
            params.port = 0
            params.api_keys = [key]
            params.n_ctx, params.n_parallel, params.cache_prompt = CONTEXT, 1, False
            for threads in (params.cpuparams, params.cpuparams_batch):
                threads.n_threads = max(1, (os.cpu_count() or 1) // 2)
                threads.poll = 0  # threads that wait for each other would spin, which a busy machine pays for dearly
            params.embedding = params.ui = params.warmup = False
            params.verbosity = 0
            try:
                self._running = self._library.Server(params)
            except RuntimeError as error:
                raise UsageError(
                    f"llama.cpp cannot load {self._path}", hint="it is damaged, or of a newer kind: try another file"
                ) from error
            self._key = Key("", key)
            self._server = replace(self._server, urls=(f"{self._running.listening_address}/v1",), model="")

    def _stop(self) -> None:
        with self._starting:
            if not self._sessions and not self.stays:
                self._running = None


def _gguf(name: str) -> Path:
    path = Path(name).expanduser()
    kind_of(path)  # refuses a pipe, which would be waited for
    try:
        with path.open("rb") as file:
            magic = file.read(len(_MAGIC))
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}", hint="write `local:FILE.gguf`") from error
    if magic != _MAGIC:
        raise UsageError(f"{path} is not a GGUF file", hint="llama.cpp reads models in this format alone")
    return path


def _library() -> ModuleType:
    try:
        import xllamacpp  # noqa: PLC0415 # pyright: ignore[reportMissingTypeStubs] – an extra
    except ImportError as error:
        raise UsageError("`local:` needs xllamacpp, which is not installed", hint=install("local")) from error
    return xllamacpp
