"""What a server and model accept, the probe that finds it out, and the requests built from it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

from commonplace.errors import CommonplaceError, UsageError
from commonplace.minds.chat.client import Errand, Outage, Transport
from commonplace.minds.chat.reply import data_in, refuse, said, spoken, usage_of
from commonplace.minds.chat.servers import Server
from commonplace.minds.mind import Ask, RequestKey
from commonplace.minds.prompts.prompt import Message, Prompt, Unusable
from commonplace.openai_http import Late, Page
from commonplace.rng import draw
from commonplace.scenario.model import MindPart

Structure = Literal["json_schema", "json_object", "tool", "text"]

STRUCTURES: tuple[Structure, ...] = ("json_schema", "json_object", "tool", "text")
"""Ways to get a structured answer, the best first: a JSON Schema as response format; the same as llama-cpp-python
takes it; a forced tool call; a schema in the prompt."""

SWITCHES: Mapping[str, Mapping[str, Any]] = {
    "none": {},
    "effort": {"reasoning_effort": "none"},
    "minimal": {"reasoning_effort": "minimal"},
    "low": {"reasoning_effort": "low"},
    "template": {"chat_template_kwargs": {"enable_thinking": False}},
    "slash": {},
}
"""Ways to switch thinking off, as fields of a request; `slash` writes `/no_think` into the prompt instead."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a probe found; requests are built from it."""

    server: str
    """Base URLs."""
    model: str
    models: tuple[str, ...] = ()
    """The models the server lists; may be empty."""
    structured: Structure = "json_schema"
    seed: bool = True
    """Whether it takes a seed."""
    temperature: bool = True
    """Whether it takes a temperature."""
    length: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    """The field that limits an answer."""
    switch: str = "none"
    """How thinking is switched off: a key of `SWITCHES`."""
    thinks: bool = False
    """Whether it thinks although asked not to; its answers then get more tokens."""
    embeddings: int = 0
    """Dimensions of its vectors; 0 when it makes none."""
    context: int = 0
    """Tokens of its context window; 0 when unknown."""
    effort: bool = True
    """Whether it takes a `reasoning_effort` that the settings of a task name."""
    typed: bool = False
    """Whether it is a test server that answers from the typed input."""

    def less(self, page: Page) -> Capabilities | None:
        """The capabilities without the field that a refusal names; None when it names no field that is sent."""
        told = f"{page.get('error', 'param') or ''} {page.said()}".lower()
        if self.length == "max_tokens" and "max_completion_tokens" in told:
            return replace(self, length="max_completion_tokens")
        if self.temperature and "temperature" in told:
            return replace(self, temperature=False)
        if self.seed and "seed" in told:
            return replace(self, seed=False)
        if any(field in told for field in SWITCHES[self.switch]):
            return replace(self, switch="none", thinks=True)
        if self.effort and "reasoning_effort" in told:
            return replace(self, effort=False)
        return None


THINKING_ROOM = 2000
"""Tokens added to an answer's limit when a model cannot be kept from thinking, or may think and no limit is given."""
PLAIN = MindPart()
"""The settings of a task without any."""


def chat_body(
    prompt: Prompt, can: Capabilities, structure: Structure, seed: int, settings: MindPart = PLAIN
) -> dict[str, Any]:
    """The body of `/chat/completions`, with the settings of the task."""
    thinks = bool(settings.thinking or (settings.effort and settings.thinking is None))
    switch = "none" if thinks else can.switch
    room = settings.thinking or (THINKING_ROOM if thinks or can.thinks else 0)
    body: dict[str, Any] = {
        "model": can.model,
        "messages": _messages(prompt, structure, slash=switch == "slash"),
        can.length: prompt.max_tokens + room,
        **SWITCHES[switch],
        **_form(prompt, structure),
    }
    if settings.effort and can.effort:
        body["reasoning_effort"] = settings.effort
    if can.temperature:
        body["temperature"] = prompt.temperature if settings.temperature is None else settings.temperature
    if can.seed:
        body["seed"] = seed
    return body | settings.body


def seed_of(ask: Ask[Any, Any], key: RequestKey, settings: MindPart = PLAIN) -> int:
    """The sampling seed of a question, 31 bits: all servers take them."""
    base = key.seed if settings.seed is None else settings.seed
    return draw(base, key.agent, key.tick, ask.task.name, key.number, key.attempt, "seed") >> 33


def typed_field(ask: Ask[Any, Any], request_key: RequestKey) -> dict[str, Any]:
    """The typed input, for a test server that answers by rules. No other server gets it."""
    key = {name: getattr(request_key, name) for name in ("seed", "agent", "tick", "number", "attempt")}
    return {"commonplace": {"task": ask.task.name, "input": ask.input.model_dump(mode="json"), "request_key": key}}


def _messages(prompt: Prompt, structure: Structure, *, slash: bool) -> list[dict[str, str]]:
    messages = [{"role": message.role, "content": message.text} for message in prompt.messages]
    if structure == "text" and prompt.schema:
        schema = json.dumps(prompt.schema, ensure_ascii=False, separators=(",", ":"))
        messages[-1]["content"] += f"\n\nAnswer with one JSON object of this JSON Schema and nothing else:\n{schema}"
    if slash:
        messages[-1]["content"] += " /no_think"
    return messages


def _form(prompt: Prompt, structure: Structure) -> dict[str, Any]:
    """The fields that ask for an answer of the prompt's shape."""
    match structure:
        case "json_schema":
            named = {"name": prompt.task, "strict": True, "schema": prompt.schema}
            return {"response_format": {"type": "json_schema", "json_schema": named}}
        case "json_object":
            return {"response_format": {"type": "json_object", "schema": prompt.schema}}
        case "tool":
            function = {"name": prompt.task, "description": "The answer.", "parameters": prompt.schema}
            return {
                "tools": [{"type": "function", "function": function}],
                "tool_choice": {"type": "function", "function": {"name": prompt.task}},
            }
        case "text":
            return {}


# ── probe ────────────────────────────────────────────────────────────────────────────────────────────────────────────


_WORD = "lantern"
"""A word that no model says unless the schema is enforced."""
_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"word": {"type": "string", "enum": [_WORD]}},
    "required": ["word"],
    "additionalProperties": False,
}
_PLAIN = Prompt("probe", (Message("user", "Say yes."),), {}, 48, 0.0)
_SHAPED = Prompt("probe", (Message("user", "Answer with a JSON object that has one word in it."),), _SCHEMA, 48, 0.0)


def tiny_body(can: Capabilities) -> dict[str, Any]:
    """A request that any server answers which answers at all."""
    return chat_body(_SHAPED, can, can.structured, seed=1)


_ORDER: Mapping[str, tuple[str, ...]] = {
    "openai": ("effort", "minimal", "low"),
    "ollama": ("effort", "slash"),
    "lmstudio": ("effort", "template", "slash"),
}
_ANY_ORDER = ("template", "effort", "slash")
"""Switches of thinking that are tried, by kind of server; vLLM and llama.cpp know the template's."""
_HIDDEN_THINKER = re.compile(r"^(o\d|gpt-[5-9])")
"""OpenAI models that think without showing it."""
_CONTEXT_FIELDS = ("max_model_len", "context_length", "context_window", "max_context_length")


class Probe:
    """Finds the capabilities of one server and model."""

    def __init__(self, server: Server, transport: Transport, errand: Errand) -> None:
        self._server = server
        self._transport = transport
        self._errand = errand

    async def capabilities(self) -> Capabilities:
        """What was found. Raises UsageError for a key or model the server refuses, Outage when it does not answer."""
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
        return Capabilities(self._transport.pool.name, model, models, context=_context(entry), typed=_is_typed(entry))

    async def _thinking(self, can: Capabilities) -> Capabilities:
        """With thinking switched off, if the model thinks and can be kept from thinking."""
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
        """With the first form of answer that the model keeps to; one failure may be chance, two are not."""
        for structure in STRUCTURES[:-1]:
            for _ in range(2):
                can, page = await self._asked(can, _SHAPED, structure)
                if page is not None and _obeys(page):
                    return replace(can, structured=structure)
        return replace(can, structured="text")

    async def _asked(self, can: Capabilities, prompt: Prompt, structure: Structure) -> tuple[Capabilities, Page | None]:
        """The page of a tiny prompt, None for a refusal; a field that a refusal names is left out from then on."""
        while True:
            body = chat_body(prompt, can, structure, seed=1)
            page = await self._transport.post("/chat/completions", body, self._errand, final=frozenset({500}))
            if page.status == 200:
                prompt_tokens, _, answer_tokens = usage_of(page, prompt.text, "")
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
        body = {"model": can.model, "input": ["lantern"], "encoding_format": "float"}
        try:
            page = await self._transport.post("/embeddings", body, self._errand, final=_ANY_STATUS)
        except (Late, Outage):
            return 0
        vector = page.get("data", 0, "embedding")
        return len(cast("list[object]", vector)) if page.status == 200 and isinstance(vector, list) else 0


_ANY_STATUS = frozenset(range(400, 600))


def _nameless(page: Page, name: str) -> CommonplaceError:
    """The error when no model was named and none is listed."""
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
