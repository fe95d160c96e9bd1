"""Responses as streams: a body that would come at once as the events that add up to it, in each protocol."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from commonplace.testing.server.answers import Response

Body = dict[str, Any]
_PIECE = re.compile(r"\s*\S{1,8}|\s+")
_LONGEST = 60_000
"""Characters of a text that come in pieces; what is longer comes in larger ones."""


def streamed(response: Response, protocol: str) -> Response:
    """Returns the response as events. What is not a body of the protocol, such as an error, comes at once."""
    try:
        data: Body = json.loads(response.body)
    except ValueError:
        return response
    if response.cut in ("reset", "hang") or response.status != 200 or not data or "error" in data:
        return response
    pieces = tuple(_EVENTS[protocol](data))
    if response.broken is not None:
        pieces = response.broken(pieces, protocol)
    return replace(response, body=b"", headers=(("Content-Type", "text/event-stream"),), pieces=pieces)


def _event(data: Body | str, name: str = "") -> bytes:
    text = data if isinstance(data, str) else json.dumps(data)
    return (f"event: {name}\n" if name else "").encode() + f"data: {text}\n\n".encode()


def error_event(protocol: str, status: int, message: str) -> bytes:
    """Returns an error in the middle of a stream."""
    if protocol == "anthropic":
        return _event({"type": "error", "error": {"type": "api_error", "message": message}}, "error")
    return _event({"error": {"code": status, "message": message, "type": "server_error"}})


def _parts(text: str) -> list[str]:
    """Returns the text in pieces of about a token."""
    if len(text) > _LONGEST:
        return [text[start : start + 2000] for start in range(0, len(text), 2000)]
    return _PIECE.findall(text) or [text]


# ── OpenAI ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _openai(data: Body) -> Iterator[bytes]:
    head = {"id": data.get("id"), "object": "chat.completion.chunk", "model": data.get("model")}
    for choice in data["choices"] or ():
        for delta in _deltas(choice["message"]):
            yield _event(head | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
        yield _event(head | {"choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]})
    yield _event(head | {"choices": [] if data["choices"] is not None else None, "usage": data["usage"]})
    yield _event("[DONE]")


def _deltas(message: Body) -> Iterator[Body]:
    yield {"role": message["role"], "content": message.get("content") and ""}
    for name in ("reasoning_content", "refusal", "content"):
        for part in _parts(message.get(name) or ""):
            yield {name: part} if part else {}
    for index, call in enumerate(message.get("tool_calls", ())):
        named = {"name": call["function"]["name"], "arguments": ""}
        yield {"tool_calls": [{"index": index, "id": call["id"], "type": "function", "function": named}]}
        for part in _parts(call["function"]["arguments"]):
            yield {"tool_calls": [{"index": index, "function": {"arguments": part}}]}


# ── Anthropic ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _anthropic(data: Body) -> Iterator[bytes]:
    def event(kind: str, **more: Any) -> bytes:
        return _event({"type": kind, **more}, kind)

    usage = {**data["usage"], "output_tokens": 1}
    yield event("message_start", message={**data, "content": [], "stop_reason": None, "usage": usage})
    yield event("ping")
    for index, block in enumerate(data["content"] or ()):
        field, name = _ANTHROPIC_FIELDS[block["type"]]
        empty: Any = {} if field == "input" else ""
        yield event("content_block_start", index=index, content_block={**block, field: empty})
        whole: Any = block[field]
        for part in _parts(whole if isinstance(whole, str) else json.dumps(whole)):
            kind = "input_json" if field == "input" else field
            yield event("content_block_delta", index=index, delta={"type": f"{kind}_delta", name: part})
        yield event("content_block_stop", index=index)
    if "stop_reason" in data:
        end = {name: data[name] for name in ("stop_reason", "stop_details") if name in data}
        yield event("message_delta", delta=end, usage={"output_tokens": data["usage"]["output_tokens"]})
    yield event("message_stop")


_ANTHROPIC_FIELDS = {
    "text": ("text", "text"),
    "thinking": ("thinking", "thinking"),
    "tool_use": ("input", "partial_json"),
}
"""Type of a block → where it has its content, and where an event has a part of it."""


# ── Gemini ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _gemini(data: Body) -> Iterator[bytes]:
    """Calls of functions come whole."""
    rest = {name: part for name, part in data.items() if name != "candidates"}
    for candidate in data.get("candidates") or ():
        for part in candidate["content"]["parts"]:
            for text in _parts(part["text"]) if "text" in part else [""]:
                new = {**part, "text": text} if "text" in part else part
                yield _event({"candidates": [{"content": {"role": "model", "parts": [new]}}], **rest})
        yield _event({"candidates": [{**candidate, "content": {"role": "model", "parts": []}}], **rest})
    if not data.get("candidates"):
        yield _event(data)


_EVENTS: Mapping[str, Callable[[Body], Iterator[bytes]]] = {
    "openai": _openai, "anthropic": _anthropic, "gemini": _gemini,
}  # fmt: skip
