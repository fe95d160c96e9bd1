"""Gemini's generateContent."""

from __future__ import annotations

import json
import re
from dataclasses import replace
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
from commonplace.parts.model_servers.http import Page
from commonplace.parts.model_servers.request import STRUCTURES, Structure

_UNKNOWN = frozenset({"pattern"})
"""Keywords of our schemas that it does not know."""
_TRANSLATED = frozenset(
    {
        "model", "messages", "response_format", "tools", "tool_choice", "reasoning_effort", "seed", "temperature",
        "top_p", "top_k", "max_completion_tokens", "max_tokens", "stream",
    }
)  # fmt: skip
_CONFIG = {
    "temperature": "temperature", "seed": "seed", "top_p": "topP", "top_k": "topK",
    "max_tokens": "maxOutputTokens", "max_completion_tokens": "maxOutputTokens",
}  # fmt: skip
"""Our fields, and what they are called in `generationConfig`."""
_BUDGETS = {"none": 0, "minimal": 512, "low": 1024, "medium": 8192, "high": 24_576}
"""Tokens of thinking for models before Gemini 3, which know no levels."""
_WITHHELD = frozenset({"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE", "IMAGE_SAFETY"})
_BLAMES = (
    ("reasoning_effort", re.compile(r"thinking", re.IGNORECASE)),
    ("response_format", re.compile(r"response_?(json_?)?schema|response_?mime|json mode", re.IGNORECASE)),
    ("tools", re.compile(r"function|tool", re.IGNORECASE)),
    ("temperature", re.compile(r"temperature")),
    ("seed", re.compile(r"\bseed\b")),
)
"""Our fields, by what a refusal calls them."""
_USED_UP = re.compile(r"PerDay|credits are depleted|spending cap|spend limit", re.IGNORECASE)
"""What a refusal with 429 says that no wait of a minute ends."""


class Gemini(Dialect):
    """Requests to `/models/MODEL:generateContent`. What a prompt shares with earlier ones is cached by itself."""

    title = "Gemini's generateContent"
    forms: tuple[Structure, ...] = tuple(form for form in STRUCTURES if form != "json_object")
    embeds = False
    key_header = "x-goog-api-key"

    def request(self, path: str, body: Body | None) -> tuple[str, Body | None]:
        """See `Dialect.request`."""
        if path != CHAT or body is None:
            return path, body
        sent = {name: value for name, value in body.items() if name not in _TRANSLATED}
        config: Body = {theirs: body[ours] for ours, theirs in _CONFIG.items() if body.get(ours) is not None}
        config |= _thinking(body)
        schema, function = form_of(body)
        if function:
            sent |= _tool(function)
        elif body.get("response_format"):
            config["responseMimeType"] = "application/json"
            if schema:
                config["responseJsonSchema"] = without(schema, _UNKNOWN)
        given = sent.pop("generationConfig", {})
        return f"/models/{body['model']}:generateContent", sent | _contents(body) | {"generationConfig": config | given}

    def page(self, page: Page, path: str, body: Body | None) -> Page:
        """See `Dialect.page`."""
        del body
        if page.status >= 400:
            return _refusal(page)
        if page.status != 200:
            return page
        if path != CHAT:
            return _models(page)
        usage = members(page.get("usageMetadata"))
        if page.get("promptFeedback", "blockReason"):
            return completion(page, {"content": None}, "content_filter", _usage(usage))
        if page.get("candidates", 0) is None:
            return page
        return completion(page, *_said(page), _usage(usage))

    def streamed(self, path: str, body: Body, *, usage: bool) -> tuple[str, Body]:
        """See `Dialect.streamed`."""
        del usage
        return path.replace(":generateContent", ":streamGenerateContent?alt=sse"), body

    def gather(self, whole: Body, event: Body) -> tuple[str, str]:
        """See `Dialect.gather`."""
        whole |= {name: part for name, part in event.items() if name != "candidates" and part is not None}
        if event.get("candidates") == []:
            whole.setdefault("candidates", [])
        said = thought = ""
        for candidate in items(event.get("candidates"))[:1]:
            so_far = _candidate(whole)
            so_far |= {name: part for name, part in candidate.items() if name != "content" and part is not None}
            for part in items(members(candidate.get("content")).get("parts")):
                so_far["content"]["parts"].append(part)
                call = members(part.get("functionCall"))
                added = json.dumps(call.get("args"), ensure_ascii=False) if call else _text([part])
                said, thought = (said, thought + added) if part.get("thought") is True else (said + added, thought)
        return said, thought

    def is_ended(self, whole: Body) -> bool:
        """See `Dialect.is_ended`. A prompt that is blocked, or a filter that drops answers, gets no candidate."""
        candidates = items(whole.get("candidates"))
        return any(candidate.get("finishReason") for candidate in candidates) or (bool(whole) and not candidates)

    def cut(self, whole: Body) -> None:
        """See `Dialect.cut`."""
        _candidate(whole)["finishReason"] = "MAX_TOKENS"


def _candidate(whole: Body) -> Body:
    """Returns the candidate so far."""
    candidates: list[Body] = whole.get("candidates") or [{"content": {"parts": []}}]
    whole["candidates"] = candidates
    return candidates[0]


def _contents(body: Body) -> Body:
    """Returns the messages; system prompts stand apart."""
    roles = {"assistant": "model"}
    system = [{"text": part["content"]} for part in body["messages"] if part["role"] == "system"]
    said = [
        {"role": roles.get(part["role"], "user"), "parts": [{"text": part["content"]}]}
        for part in body["messages"]
        if part["role"] != "system"
    ]
    return {"contents": said} | ({"systemInstruction": {"parts": system}} if system else {})


def _thinking(body: Body) -> Body:
    effort = body.get("reasoning_effort")
    if not effort:
        return {}
    if effort == "none" or re.match(r"gemini-[12]\b", body["model"]):
        return {"thinkingConfig": {"thinkingBudget": _BUDGETS.get(effort, 0)}}
    return {"thinkingConfig": {"thinkingLevel": effort}}


def _tool(function: Body) -> Body:
    declared = {"name": function["name"], "description": function.get("description", "")}
    declared["parametersJsonSchema"] = without(function["parameters"], _UNKNOWN)
    calling = {"mode": "ANY", "allowedFunctionNames": [function["name"]]}
    return {"tools": [{"functionDeclarations": [declared]}], "toolConfig": {"functionCallingConfig": calling}}


def _said(page: Page) -> tuple[Body, str]:
    """Returns the message of a candidate, and how it ended."""
    parts = items(page.get("candidates", 0, "content", "parts"))
    thoughts = [part for part in parts if part.get("thought") is True]
    message: Body = {"content": _text([part for part in parts if part not in thoughts]) or None}
    if thoughts:
        message["reasoning_content"] = _text(thoughts)
    calls = [members(part["functionCall"]) for part in parts if "functionCall" in part]
    if calls:
        message["tool_calls"] = [tool_call(call.get("name"), call.get("args")) for call in calls]
    end = str(page.get("candidates", 0, "finishReason"))
    if end in _WITHHELD:
        return {"content": None}, "content_filter"
    return message, "length" if end == "MAX_TOKENS" else "stop"


def _text(parts: list[dict[str, object]]) -> str:
    return "".join(text for part in parts if isinstance(text := part.get("text"), str))


def _usage(usage: dict[str, object]) -> dict[str, Any]:
    """Returns the token counts. Gemini counts thoughts apart from the answer; both are paid as output."""
    thoughts = usage.get("thoughtsTokenCount")
    return {
        "prompt_tokens": usage.get("promptTokenCount"),
        "completion_tokens": tokens(usage.get("candidatesTokenCount"), thoughts),
        "prompt_tokens_details": {"cached_tokens": usage.get("cachedContentTokenCount")},
        "completion_tokens_details": {"reasoning_tokens": thoughts},
    }


def _models(page: Page) -> Page:
    """Returns the list of models: names without `models/`, with the length of their context."""
    if page.listed("models") is None:
        return page
    listed = [
        {
            **entry,
            "id": str(entry.get("name", "")).removeprefix("models/"),
            "context_length": entry.get("inputTokenLimit"),
        }
        for entry in items(page.get("models"))
    ]
    return replace(page, data={"data": listed})


def _refusal(page: Page) -> Page:
    """Returns an error. An invalid key and a used-up quota are recognised by their reasons."""
    error = members(page.get("error"))
    if not error:
        return page
    told, details = page.said(), items(error.get("details"))
    reasons = {str(detail.get("reason")) for detail in details}
    if page.status == 400 and "API_KEY_INVALID" in reasons:
        return refusal(page, told, status=401)
    if page.status == 429 and _USED_UP.search(f"{told} {details}"):
        return refusal(page, told, code="insufficient_quota")
    if page.status == 429:
        delay = next((str(detail["retryDelay"]) for detail in details if "retryDelay" in detail), "")
        page = replace(page, retry_after=page.retry_after or delay.removesuffix("s"))
    fields = " ".join(
        str(place.get("field", "")) for detail in details for place in items(detail.get("fieldViolations"))
    )
    found = (field for field, words in _BLAMES if words.search(fields) or words.search(told))
    blamed = next(found, None) if page.status == 400 else None
    return refusal(page, told, type=error.get("status"), param=blamed)
