"""The probe that finds out what a server and model accept."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeGuard, cast

from commonplace.errors import CommonplaceError, UsageError
from commonplace.minds.prompts.prompt import ChatMessage, Prompt, Unusable
from commonplace.parts.model_servers.client import Outage, Requests, Transport
from commonplace.parts.model_servers.dialects import dialect_of
from commonplace.parts.model_servers.http import Late, Page
from commonplace.parts.model_servers.reply import data_in, refuse, said, spoken, usage_of
from commonplace.parts.model_servers.request import Capabilities, Structure, chat_body
from commonplace.servers import Server

_WORD = "lantern"
"""A word that no model says unless the schema is enforced."""
_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"word": {"type": "string", "enum": [_WORD]}},
    "required": ["word"],
    "additionalProperties": False,
}
_PLAIN = Prompt("probe", (ChatMessage("user", "Say yes."),), {}, 48, 0.0)
_SHAPED = Prompt(
    "probe", (ChatMessage("user", "Answer with a JSON object that has one word in it."),), _SCHEMA, 48, 0.0
)


def tiny_body(can: Capabilities) -> dict[str, Any]:
    """Returns a request that any working server answers."""
    return chat_body(_SHAPED, can, can.structured, seed=1)


_ORDER: Mapping[str, tuple[str, ...]] = {
    "openai": ("effort", "minimal", "low"),
    "anthropic": ("effort", "minimal", "low"),
    "gemini": ("effort", "minimal", "low"),
    "openrouter": ("effort", "minimal", "low"),
    "ollama": ("effort", "slash"),
    "lmstudio": ("effort", "template", "slash"),
}
_ANY_ORDER = ("template", "effort", "slash")
"""Switches of thinking that are tried, by kind of server; vLLM and llama.cpp know the template's."""
_HIDDEN_THINKER = re.compile(r"^(o\d|gpt-[5-9])")
"""OpenAI models that think without showing it."""
_CONTEXT_FIELDS = ("max_model_len", "context_length", "context_window", "max_context_length")


class Probe:
    """A probe of one server and model, which finds their capabilities."""

    def __init__(self, server: Server, transport: Transport, requests: Requests) -> None:
        self._server = server
        self._transport = transport
        self._errand = requests

    async def capabilities(self) -> Capabilities:
        """Returns what was found.

        Raises UsageError for a refused key or model, Outage when the server does not answer.
        """
        can = await self._listed()
        can = await self._thinking(can)
        can = await self._structured(can)
        return replace(can, embeddings=await self._dimensions(can))

    async def _listed(self) -> Capabilities:
        page = await self._transport.get("/models", self._errand)
        if page.status in (401, 403) or 300 <= page.status < 400:
            await refuse(page, self._server, self._transport, self._errand)
        entries = _entries(page)
        models = tuple(str(entry["id"]) for entry in entries)
        model = self._server.model or (models[0] if models else "")
        if not model:
            raise _nameless(page, self._transport.pool.name)
        entry = next((entry for entry in entries if entry["id"] == model), entries[0] if entries else {})
        name, known = self._transport.pool.name, entry.get("owned_by") == "llamacpp"
        can = Capabilities(name, model, models, context=_context(entry), typed=_is_typed(entry), grammar=known)
        taken = entry.get("supported_parameters") if entry.get("id") == model else None  # as OpenRouter lists them
        return replace(can, seed="seed" in taken, temperature="temperature" in taken) if _is_list(taken) else can

    async def _thinking(self, can: Capabilities) -> Capabilities:
        """Switches thinking off, if the model thinks and can be kept from thinking."""
        can, page = await self._asked(can, _PLAIN, "text")
        hidden = self._server.kind == "openai" and bool(_HIDDEN_THINKER.match(can.model))
        if page is None or not (_thinks(page) or hidden):
            return can
        for switch in _ORDER.get(self._server.kind, _ANY_ORDER):
            tried, page = await self._asked(replace(can, switch=switch, temperature=True), _PLAIN, "text")
            if page is not None and tried.switch == switch and (switch == "low" or not _thinks(page)):
                return replace(tried, thinks=switch == "low")
        return replace(can, thinks=True)

    async def _structured(self, can: Capabilities) -> Capabilities:
        """Chooses the first form of answer that the model keeps to; one failure may be chance, two are not."""
        for structure in dialect_of(self._server.kind).forms[:-1]:
            for _ in range(2):
                can, page = await self._asked(can, _SHAPED, structure)
                if page is not None and _obeys(page):
                    return replace(can, structured=structure)
        return replace(can, structured="text")

    async def _asked(self, can: Capabilities, prompt: Prompt, structure: Structure) -> tuple[Capabilities, Page | None]:
        """Returns the page of a tiny prompt, None for a refusal.

        A field that a refusal names is left out from then on.
        """
        while True:
            body = chat_body(prompt, can, structure, seed=1)
            page = await self._transport.post("/chat/completions", body, self._errand, final=frozenset({500}))
            if page.status == 200:
                prompt_tokens, _, answer_tokens = usage_of(page, body, "")
                self._errand.probe_prompt += prompt_tokens
                self._errand.probe_answer += answer_tokens
                return can, page
            await refuse(page, self._server, self._transport, self._errand)
            less = can.less(page) if page.status in (400, 422) else None
            if less is None:
                return can, None
            can = less

    async def _dimensions(self, can: Capabilities) -> int:
        """Dimensions of the server's vectors; 0 when it makes none."""
        if not dialect_of(self._server.kind).embeds:
            return 0
        body = {"model": can.model, "input": ["lantern"], "encoding_format": "float"}
        try:
            page = await self._transport.post("/embeddings", body, self._errand, final=_ANY_STATUS)
        except (Late, Outage):
            return 0
        vector = page.get("data", 0, "embedding")
        return len(cast("list[object]", vector)) if page.status == 200 and isinstance(vector, list) else 0


_ANY_STATUS = frozenset(range(400, 600))


def _nameless(page: Page, name: str) -> CommonplaceError:
    """Returns the error when no model was named and none is listed."""
    if page.status >= 500:
        return Outage(name, f"{page.status} {page.said()}".strip())
    if page.status == 200 and page.listed("data") is not None:
        hint = "load one there, or name one: SERVER:MODEL or URL#MODEL"
        return UsageError(f"the model server {name} lists no model", hint=hint)
    told = f"{page.status} {page.said()[:100]}".strip()
    return UsageError(
        f"the model server has no list of models under {name}/models: {told}",
        hint="check the port and the path, usually /v1; a server without such a list needs URL#MODEL",
    )


def _entries(page: Page) -> list[dict[str, object]]:
    listed = page.listed("data") if page.status == 200 else None
    entries = (cast("dict[str, object]", entry) for entry in listed or () if isinstance(entry, dict))
    return [entry for entry in entries if isinstance(entry.get("id"), str) and entry["id"]]


def _context(entry: Mapping[str, object]) -> int:
    meta = entry.get("meta")
    of_meta = cast("dict[str, object]", meta).get("n_ctx") if isinstance(meta, dict) else None
    told = [entry.get(name) for name in _CONTEXT_FIELDS] + [of_meta]
    return next((size for size in told if isinstance(size, int) and size > 0), 0)


def _is_list(value: object) -> TypeGuard[list[object]]:
    return isinstance(value, list)


def _is_typed(entry: Mapping[str, object]) -> bool:
    mark = entry.get("commonplace")
    return isinstance(mark, dict) and cast("dict[str, object]", mark).get("typed") is True


def _thinks(page: Page) -> bool:
    try:
        answer = said(page)
    except Unusable:
        return False
    return answer.thought or (answer.cut and not answer.text.strip())


def _obeys(page: Page) -> bool:
    try:
        answer = said(page)
        return data_in(spoken(answer.text), cut=answer.cut).get("word") == _WORD
    except Unusable:
        return False
