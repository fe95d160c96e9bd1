"""Anthropic's and Gemini's protocols, spoken by the test server: their requests as OpenAI's, its responses as theirs.

A response that is not JSON of a completion, a list of models or an error passes as it is, such as a web page.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from commonplace.testing.server.answers import Response

Body = dict[str, Any]
STREAM = ":streamGenerateContent"


@dataclass(frozen=True, slots=True)
class ServedDialect:
    """A protocol as the server speaks it."""

    name: str
    place: str
    """The path of the same request in OpenAI's protocol."""
    chat: Callable[[str, Body], Body]
    """Path and body of a request → the body of OpenAI's."""
    completion: Callable[[Body], Body]
    error: Callable[[Body, int], Body]
    models: Callable[[Body], Body]

    def asked(self, path: str, content: bytes) -> bytes:
        """Returns the body of a request as OpenAI's; leaves what it does not understand for the server to refuse."""
        try:
            return json.dumps(self.chat(path, json.loads(content))).encode() if content else content
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            return json.dumps({"refused": f"{type(error).__name__}: {error}"}).encode()

    def told(self, response: Response) -> Response:
        """Translates a response into this protocol."""
        if response.cut == "half":
            return replace(self.told(replace(response, cut="")), cut="half")
        try:
            data = json.loads(response.body)
        except ValueError:
            return response
        if "error" in data:
            data = self.error(data["error"], response.status)
        elif data.get("object") == "list":
            data = self.models(data)
        elif "choices" in data:
            data = self.completion(data)
        return replace(response, body=json.dumps(data).encode())


def dialect_of(method: str, path: str) -> ServedDialect | None:
    """Returns the protocol that a path belongs to; None for OpenAI's."""
    if path == "/v1/messages":
        return _ANTHROPIC
    if path == "/v1beta/models" and method == "GET":
        return replace(_GEMINI, place="/v1/models")
    if path.startswith("/v1beta/models/") and path.endswith((":generateContent", STREAM)):
        return _GEMINI
    return None


def _schema(schema: Any) -> Body:
    return {"response_format": {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}}


def _tool(name: str, schema: Any) -> Body:
    function = {"type": "function", "function": {"name": name, "parameters": schema}}
    return {"tools": [function], "tool_choice": {"type": "function", "function": {"name": name}}}


# ── Anthropic ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _anthropic_chat(_: str, body: Body) -> Body:
    refused = {"seed", "response_format", "reasoning_effort", "max_completion_tokens"} & set(body)
    if refused or not isinstance(body["max_tokens"], int):
        raise ValueError(f"fields that the Messages API does not have: {sorted(refused)}")
    system = [{"role": "system", "content": part["text"]} for part in body.get("system", ())]
    chat: Body = {"model": body["model"], "messages": system + body["messages"], "stream": body.get("stream")}
    if "commonplace" in body:
        chat["commonplace"] = body["commonplace"]
    form = body.get("output_config", {}).get("format")
    if form:
        chat |= _schema(form["schema"])
    for tool in body.get("tools", ()):
        chat |= _tool(tool["name"], tool["input_schema"])
    return chat


_ANTHROPIC_ENDS = {"length": "max_tokens", "tool_calls": "tool_use", "content_filter": "refusal", "stop": "end_turn"}


def _anthropic_completion(data: Body) -> Body:
    usage, cached = data["usage"], data["usage"]["prompt_tokens_details"]["cached_tokens"]
    told: Body = {"id": "msg_0", "type": "message", "role": "assistant", "model": data["model"], "content": None}
    told["usage"] = {
        "input_tokens": usage["prompt_tokens"] - cached,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": cached,
        "output_tokens": usage["completion_tokens"],
    }
    if not data["choices"]:
        return told | ({"content": [], "stop_reason": "end_turn"} if data["choices"] == [] else {})
    choice = data["choices"][0]
    message, blocks = choice["message"], list[Body]()
    if message.get("reasoning_content"):
        blocks.append({"type": "thinking", "thinking": message["reasoning_content"], "signature": ""})
    if message.get("content"):
        blocks.append({"type": "text", "text": message["content"]})
    for call in message.get("tool_calls", ()):
        function = call["function"]
        blocks.append({"type": "tool_use", "id": "tool_0", "name": function["name"], "input": _object(function)})
    end = "refusal" if message.get("refusal") else _ANTHROPIC_ENDS[choice["finish_reason"]]
    if message.get("refusal"):
        told["stop_details"] = {"type": "refusal", "explanation": message["refusal"]}
    return told | {"content": blocks, "stop_reason": end}


def _object(function: Body) -> Any:
    """Returns the arguments of a call: an object in these protocols; text that is not JSON stays text."""
    try:
        return json.loads(function["arguments"])
    except ValueError:
        return function["arguments"]


def _anthropic_error(error: Body, _: int) -> Body:
    kind = "overloaded_error" if error["type"] == "unavailable_error" else error["type"]
    return {"type": "error", "error": {"type": kind, "message": error["message"]}, "request_id": "req_0"}


_ANTHROPIC = ServedDialect(
    "anthropic", "/v1/chat/completions", _anthropic_chat, _anthropic_completion, _anthropic_error, lambda models: models
)


# ── Gemini ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _gemini_chat(path: str, body: Body) -> Body:
    unknown = set(body) - _GEMINI_FIELDS
    if unknown:
        raise ValueError(f"Unknown name {sorted(unknown)[0]!r}: Cannot find field.")
    system = [
        {"role": "system", "content": part["text"]} for part in body.get("systemInstruction", {}).get("parts", ())
    ]
    said = [{"role": turn["role"], "content": turn["parts"][0]["text"]} for turn in body["contents"]]
    model = path.removeprefix("/v1beta/models/").partition(":")[0]
    chat: Body = {"model": model, "messages": system + said, "stream": path.endswith(STREAM)}
    if "commonplace" in body:
        chat["commonplace"] = body["commonplace"]
    config = body.get("generationConfig", {})
    if config.get("responseMimeType") == "application/json":
        chat |= _schema(config.get("responseJsonSchema", {"type": "object"}))
    for tool in body.get("tools", ()):
        declared = tool["functionDeclarations"][0]
        chat |= _tool(declared["name"], declared["parametersJsonSchema"])
    return chat


_GEMINI_FIELDS = frozenset(
    {"contents", "systemInstruction", "generationConfig", "tools", "toolConfig", "safetySettings", "commonplace"}
)
_GEMINI_ENDS = {"length": "MAX_TOKENS", "content_filter": "SAFETY", "stop": "STOP", "tool_calls": "STOP"}


def _gemini_completion(data: Body) -> Body:
    usage = data["usage"]
    told: Body = {
        "usageMetadata": {
            "promptTokenCount": usage["prompt_tokens"],
            "candidatesTokenCount": usage["completion_tokens"],
            "cachedContentTokenCount": usage["prompt_tokens_details"]["cached_tokens"],
            "totalTokenCount": usage["total_tokens"],
        }
    }
    if not data["choices"]:
        return told | {"candidates": data["choices"]}
    choice = data["choices"][0]
    message, parts = choice["message"], list[Body]()
    if message.get("refusal"):
        return told | {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}
    if message.get("reasoning_content"):
        parts.append({"text": message["reasoning_content"], "thought": True})
    if message.get("content"):
        parts.append({"text": message["content"]})
    for call in message.get("tool_calls", ()):
        function = call["function"]
        parts.append({"functionCall": {"name": function["name"], "args": _object(function)}})
    content = {"role": "model", "parts": parts}
    return told | {"candidates": [{"content": content, "finishReason": _GEMINI_ENDS[choice["finish_reason"]]}]}


_STATUSES = {400: "INVALID_ARGUMENT", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE"}


def _gemini_error(error: Body, status: int) -> Body:
    details: list[Body] = []
    if error["type"] == "insufficient_quota":
        violation = {"quotaId": "GenerateRequestsPerDayPerProjectPerModel"}
        details.append({"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [violation]})
    named = _STATUSES.get(status, "UNKNOWN")
    return {"error": {"code": status, "message": error["message"], "status": named, "details": details}}


def _gemini_models(models: Body) -> Body:
    return {
        "models": [
            {"commonplace": entry["commonplace"], "name": f"models/{entry['id']}", "inputTokenLimit": 32_768}
            for entry in models["data"]
        ]
    }


_GEMINI = ServedDialect(
    "gemini", "/v1/chat/completions", _gemini_chat, _gemini_completion, _gemini_error, _gemini_models
)
