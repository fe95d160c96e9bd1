"""Anthropic's Messages API."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from commonplace.parts.model_servers.dialects.dialect import (
    CHAT,
    Body,
    Dialect,
    completion,
    form_of,
    items,
    members,
    refusal,
    tokens,
    tool_call,
    without,
)
from commonplace.parts.model_servers.http import Page, loads
from commonplace.parts.model_servers.request import Structure

_UNKNOWN = frozenset({"minimum", "maximum", "minItems", "maxItems", "pattern"})
"""Keywords of our schemas that structured outputs refuse; the bounds hold when an answer is read."""
_TRANSLATED = frozenset(
    {
        "messages", "response_format", "tools", "tool_choice", "reasoning_effort", "seed",
        "max_completion_tokens", "max_tokens",
    }
)  # fmt: skip
_SWITCHES: dict[str, Body] = {
    "none": {"thinking": {"type": "disabled"}},
    "minimal": {"thinking": {"type": "between_tools"}},
}
"""Ways to switch thinking off: most models take the first, Sonnet 5.5 the second."""
_ENDS = {"max_tokens": "length", "model_context_window_exceeded": "length", "tool_use": "tool_calls"}
_BLAMES = (
    ("max_tokens", re.compile(r"max_tokens")),
    ("reasoning_effort", re.compile(r"thinking|effort")),
    ("response_format", re.compile(r"output_config|output_format|input_schema")),
)
"""Our fields, by what a refusal calls them."""
_UNPAID = re.compile(r"credit balance|usage limits?\b|spend(ing)? limit", re.IGNORECASE)


class Anthropic(Dialect):
    """Requests to `/messages`; the end of the system prompt is marked for the cache."""

    title = "Anthropic's Messages API"
    forms: tuple[Structure, ...] = ("json_schema", "tool", "text")
    embeds = False
    headers: Mapping[str, str] = {"anthropic-version": "2023-06-01"}
    key_header = "x-api-key"

    def request(self, path: str, body: Body | None) -> tuple[str, Body | None]:
        """See `Dialect.request`."""
        if path != CHAT or body is None:
            return path, body
        limit = body.get("max_completion_tokens") or body.get("max_tokens")
        sent = {name: value for name, value in body.items() if name not in _TRANSLATED}
        return "/messages", _merged(sent, {"max_tokens": limit}, _messages(body), _thinking(body), _form(body))

    def page(self, page: Page, path: str, body: Body | None) -> Page:
        """See `Dialect.page`."""
        del body
        if page.get("type") == "error" or page.status >= 400:
            return _refusal(page)
        if path != CHAT or page.status != 200 or not (page.get("content", 0) or page.get("stop_reason")):
            return page
        blocks = items(page.get("content"))
        message: Body = {"content": "".join(_texts(blocks, "text")) or None}
        if any(block.get("type") in ("thinking", "redacted_thinking") for block in blocks):
            message["reasoning_content"] = "".join(_texts(blocks, "thinking")) or "(not shown)"
        calls = [
            tool_call(block.get("name"), block.get("input")) for block in blocks if block.get("type") == "tool_use"
        ]
        if calls:
            message["tool_calls"] = calls
        end = str(page.get("stop_reason"))
        if end == "refusal":
            told = page.get("stop_details", "explanation") or message["content"]
            message = {"content": None, "refusal": told or "it stopped with `refusal`"}
        return completion(page, message, _ENDS.get(end, "stop"), _usage(members(page.get("usage"))))

    def streamed(self, path: str, body: Body, *, usage: bool) -> tuple[str, Body]:
        """See `Dialect.streamed`."""
        del usage
        return path, body | {"stream": True}

    def gather(self, whole: Body, event: Body) -> tuple[str, str]:
        """See `Dialect.gather`."""
        blocks: list[Body] = whole.setdefault("content", [])
        match event.get("type"):
            case "message_start":
                whole |= {**members(event.get("message")), "content": blocks}
            case "content_block_start":
                blocks.append({**members(event.get("content_block")), "index": event.get("index")})
            case "content_block_delta":
                block = next((block for block in blocks if block["index"] == event.get("index")), Body())
                return _grown(block, members(event.get("delta")))
            case "content_block_stop":
                for block in blocks:
                    if block["index"] == event.get("index") and isinstance(block.get("input"), str):
                        found = loads(block["input"])
                        block["input"] = block["input"] if found is None else found
            case "message_delta":
                whole |= members(event.get("delta"))
                counted = {name: count for name, count in members(event.get("usage")).items() if count is not None}
                whole["usage"] = members(whole.get("usage")) | counted
            case "message_stop":
                whole["ended"] = True
            case _:
                pass
        return "", ""

    def is_ended(self, whole: Body) -> bool:
        """See `Dialect.is_ended`."""
        return bool(whole.get("stop_reason") or whole.get("ended"))

    def cut(self, whole: Body) -> None:
        """See `Dialect.cut`."""
        whole["stop_reason"] = "max_tokens"


def _grown(block: Body, delta: dict[str, object]) -> tuple[str, str]:
    """Adds what is new to a block. Returns the new parts of the answer and of the thinking."""
    match delta:
        case {"type": "text_delta", "text": str(text)}:
            block["text"] = block.get("text", "") + text
            return text, ""
        case {"type": "input_json_delta", "partial_json": str(text)}:
            before = block.get("input")
            block["input"] = (before if isinstance(before, str) else "") + text
            return text, ""
        case {"type": "thinking_delta", "thinking": str(text)}:
            block["thinking"] = block.get("thinking", "") + text
            return "", text
        case _:
            return "", ""


def _messages(body: Body) -> Body:
    """Returns the messages. System prompts stand apart, and all up to their end is read from the cache next time."""
    system = [{"type": "text", "text": part["content"]} for part in body["messages"] if part["role"] == "system"]
    said = [part for part in body["messages"] if part["role"] != "system"]
    if not system:
        return {"messages": said}
    system[-1]["cache_control"] = {"type": "ephemeral"}
    return {"system": system, "messages": said}


def _thinking(body: Body) -> Body:
    effort = body.get("reasoning_effort")
    return _SWITCHES.get(str(effort), {"output_config": {"effort": effort}}) if effort else {}


def _form(body: Body) -> Body:
    schema, function = form_of(body)
    if function:
        tool = {"name": function["name"], "description": function.get("description", "")}
        tool["input_schema"] = function["parameters"]
        return {"tools": [tool], "tool_choice": {"type": "tool", "name": function["name"]}}
    if schema:
        return {"output_config": {"format": {"type": "json_schema", "schema": without(schema, _UNKNOWN)}}}
    return {}


def _merged(*parts: Body) -> Body:
    """Merges all fields; those of `output_config` come from several parts."""
    whole: Body = {}
    for part in parts:
        both = {**whole.get("output_config", {}), **part.get("output_config", {})}
        whole |= part
        if both:
            whole["output_config"] = both
    return whole


def _texts(blocks: list[dict[str, object]], kind: str) -> list[str]:
    return [text for block in blocks if block.get("type") == kind and isinstance(text := block.get(kind), str)]


def _usage(usage: dict[str, object]) -> dict[str, Any]:
    """Returns the token counts.

    Anthropic counts what it read from the cache, and wrote into it, apart from the rest.
    """
    cached = usage.get("cache_read_input_tokens")
    return {
        "prompt_tokens": tokens(usage.get("input_tokens"), cached, usage.get("cache_creation_input_tokens")),
        "completion_tokens": usage.get("output_tokens"),
        "prompt_tokens_details": {"cached_tokens": cached},
    }


def _refusal(page: Page) -> Page:
    """Returns an error. A spending limit is marked as unpaid, whatever its status."""
    told = page.said()
    if page.status in (400, 429) and _UNPAID.search(told):
        return refusal(page, told, status=402, type="billing_error")
    if not members(page.get("error")):
        return page
    blamed = next((field for field, words in _BLAMES if words.search(told)), None) if page.status == 400 else None
    return refusal(page, told, type=page.get("error", "type"), param=blamed)
