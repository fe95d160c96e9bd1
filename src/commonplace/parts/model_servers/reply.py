"""From a page to what the model said, and from that to data. Every oddity becomes `Unusable`, with its kind."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from json_repair import repair_json

from commonplace.errors import UsageError
from commonplace.minds.mind import Flaws, estimated_tokens
from commonplace.minds.prompts.prompt import Unusable
from commonplace.parts.model_servers.client import Outage, Requests, Transport, is_unpaid
from commonplace.parts.model_servers.http import Late, Page, each_text, loads, whole
from commonplace.parts.model_servers.request import prompt_text
from commonplace.servers import Server

LONGEST = 32_000
"""Characters of an answer that are read; no requested answer is longer."""
_MENDED = 8_000
"""Longest almost-JSON, in characters, that is repaired: the time it takes may grow with the square."""
_NESTED = 200
"""Most brackets of an almost-JSON that is repaired."""

PAGE_KINDS = frozenset({"page", "choices", "overflow", "refused_request"})
"""Kinds of fault that the server caused, so there is nothing to quote to the model."""
NO_ANSWER = {
    "page": "check the address: something else answers there, such as a proxy or a page to sign in",
    "choices": "look at the server's log, or choose another --mind",
    "empty": "look at the server's log, or choose another model",
    "refused_request": "look at the server's log, or choose another --mind",
}
"""Kinds of fault of a server that may give no answers at all, and what to do about one that gives none."""

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")

_BROKEN_OFF = re.compile("[\"':]")
"""Follows the last brace of an answer only if the answer breaks off."""


@dataclass(frozen=True, slots=True)
class ModelReply:
    """A model's words."""

    text: str
    """The answer as it came, cut at `LONGEST`."""
    cut: bool
    """Whether a length limit ended it."""
    thought: bool
    """Whether it thought before, or instead."""


def said(page: Page) -> ModelReply:
    """Returns a model's words in a chat completion. Raises Unusable if there are none."""
    if not isinstance(page.data, dict):
        raise Unusable(f"the server's response is not a JSON object: {page.said()[:100]}".rstrip(": "), "page")
    if page.get("choices", 0) is None:
        raise Unusable("the server's answer has no choices", "choices")
    refusal, finish = page.get("choices", 0, "message", "refusal"), page.get("choices", 0, "finish_reason")
    text = _content(page)
    if not text.strip():
        text = _arguments(page)
    if isinstance(refusal, str) and refusal.strip() and not text.strip():
        raise Unusable(f"the model refused: {refusal.strip()[:300]}", "refusal")
    if finish == "content_filter":
        raise Unusable("the answer was withheld by a content filter", "filtered")
    return ModelReply(text[:LONGEST], finish == "length" or len(text) > LONGEST, _thought(page, text))


def has_answer(page: Page) -> bool:
    """Tells whether a page holds an answer, good or bad."""
    try:
        spoken(said(page).text)
    except Unusable as error:
        return error.kind not in NO_ANSWER
    return True


def spoken(text: str) -> str:
    """Returns the text without thinking, control characters and code fence. Raises Unusable when nothing is left."""
    after_thinking = text.rpartition("</think>")[2].partition("<think>")[0]
    text = _CONTROL.sub("", after_thinking).strip()
    if text.startswith("```"):
        text = text.partition("\n")[2].strip().removesuffix("```").strip()
    if not text:
        raise Unusable("the answer is empty", "empty")
    return text


def data_in(text: str, *, cut: bool, flaws: Flaws | None = None) -> dict[str, Any]:
    """Returns the JSON object in an answer: exact, else the first one in its text, else repaired. Raises Unusable.

    An answer that was cut, or breaks off within a string or a value, is not repaired: its end would be made up.
    A repair is added to `flaws`.
    """
    start, end = text.find("{"), text.rfind("}")
    for part in (text, text[start : end + 1]) if start >= 0 else ():
        found = each_text(loads(part), whole)
        if isinstance(found, dict):
            return cast("dict[str, Any]", found)
    if cut or (start >= 0 and _BROKEN_OFF.search(text, max(start, end + 1))):
        raise Unusable("the answer was cut off; be shorter", "truncated")
    if start < 0:
        raise Unusable("the answer is not a JSON object", "json")
    mended = _mended(text[start : end + 1])
    if flaws is not None:
        flaws["repaired"] += 1
    return mended


def _mended(text: str) -> dict[str, Any]:
    if len(text) <= _MENDED and text.count("{") + text.count("[") <= _NESTED:
        try:
            found = repair_json(text, return_objects=True, skip_json_loads=True)
        except (ValueError, RecursionError):
            found = None
        if isinstance(found, list) and found:  # an object with something after it
            found = found[0]
        if isinstance(found, dict) and found:
            return cast("dict[str, Any]", found)
    raise Unusable("the answer is not a JSON object and could not be repaired", "json")


def _content(page: Page) -> str:
    content = page.get("choices", 0, "message", "content")
    if isinstance(content, list):
        parts = [_part(part) for part in cast("list[object]", content)[:1000]]
        return "".join(parts)
    return content if isinstance(content, str) else ""


def _part(part: object) -> str:
    """Returns the text of one part of a content in parts."""
    text = cast("dict[str, object]", part).get("text") if isinstance(part, dict) else part
    return text if isinstance(text, str) else ""


def _arguments(page: Page) -> str:
    """Returns the arguments of a tool call."""
    for path in (("tool_calls", 0, "function", "arguments"), ("function_call", "arguments")):
        found = page.get("choices", 0, "message", *path)
        if isinstance(found, str):
            return found
        if isinstance(found, dict):
            return json.dumps(found, ensure_ascii=False)
    return ""


def _thought(page: Page, text: str) -> bool:
    fields = (page.get("choices", 0, "message", name) for name in ("reasoning_content", "reasoning", "thinking"))
    if any(isinstance(field, str) and field.strip() for field in fields):
        return True
    tokens = page.get("usage", "completion_tokens_details", "reasoning_tokens")
    if isinstance(tokens, int) and tokens > 0:
        return True
    thinking = text.partition("<think>")[2].partition("</think>")[0]
    return bool(thinking.strip()) or ("</think>" in text and "<think>" not in text)


_ADDED = 2000
"""Tokens that a provider may add to a prompt: of its chat template, and of what it says about tools."""
LIMITS = ("max_tokens", "max_completion_tokens")
"""The fields of a request that limit its answer."""


def usage_of(page: Page, body: Mapping[str, Any], answered: str) -> tuple[int, int, int]:
    """Returns prompt tokens, those of them the server had read before, and answer tokens.

    What the server reports counts. What it does not report, or what is more than a token per byte that was sent and
    per byte that came back or was allowed, is estimated from the body that was sent and the answer.
    """
    allowed = next((most for name in LIMITS if isinstance(most := body.get(name), int)), 0)
    prompt = _count(page, len(json.dumps(body)) + _ADDED, "prompt_tokens")
    answer = _count(page, len(page.text.encode()) + allowed, "completion_tokens")
    cached = _count(page, prompt or 0, "prompt_tokens_details", "cached_tokens") or 0
    prompt = estimated_tokens(prompt_text(body)) if prompt is None else prompt
    return prompt, cached, estimated_tokens(answered) if answer is None else answer


def _count(page: Page, most: int, *path: str) -> int | None:
    told = page.get("usage", *path)
    return told if isinstance(told, int) and not isinstance(told, bool) and 0 <= told <= most else None


# ── refusals ─────────────────────────────────────────────────────────────────────────────────────────────────────────


_OVERFLOW = re.compile(
    r"exceed_context_size|context_length_exceeded|context (length|size|window)|maximum context|n_ctx"
    r"|exceeds? (the )?(available|model'?s?) context|too (long|many tokens)|(prompt|input) is too (long|large)",
    re.IGNORECASE,
)
_FORM = re.compile(r"response_?format|json_?schema|schema|grammar|guided|tool|function", re.IGNORECASE)


def is_overflow(page: Page) -> bool:
    """Tells whether the prompt was too long."""
    if page.status == 413:
        return True
    return page.status in (400, 422, 500) and bool(_OVERFLOW.search(_complaint(page)))


def blames_form(page: Page) -> bool:
    """Tells whether the server refused the requested form of answer; a 500 may always mean that."""
    return page.status == 500 or (page.status in (400, 422) and bool(_FORM.search(_complaint(page))))


async def refuse(page: Page, server: Server, transport: Transport, requests: Requests) -> None:
    """Raises UsageError when the page is about the key, the model or the address, Outage when it wants money.

    Else nothing happens.
    """
    name = transport.pool.name
    if is_unpaid(page):
        told = f"{page.status} {page.said()}".rstrip()
        raise Outage(name, told, does="answers no more until it is paid", hint="pay for it, or choose another --mind")
    if page.status in (401, 403):
        said = f"{page.status} {page.said()}".rstrip()
        if not server.variable:
            raise UsageError(
                f"the model server {name} wants a key, and got none because only a file names it: {said}",
                hint="if your key may be sent there, name it yourself with --mind, or add --trust",
            )
        raise UsageError(
            f"the model server {name} does not accept the key: {said}",
            hint=f"the key is taken from the environment: export {server.variable}=YOUR-KEY",
        )
    if page.status == 404:
        raise await _missing(page, server, transport, requests)
    if 300 <= page.status < 400:
        raise UsageError(
            f"the model server {name} sends requests elsewhere ({page.status})", hint="name the base URL it leads to"
        )


async def _missing(page: Page, server: Server, transport: Transport, requests: Requests) -> UsageError:
    """Returns the error for a 404, which may mean the model or the path."""
    listed = await _listed(transport, requests)
    if listed is None:
        return UsageError(
            f"nothing answers under {transport.pool.name}: 404 {page.said()}".rstrip(": "),
            hint="a base URL usually ends with /v1",
        )
    model = f"the model `{server.model}`" if server.model else "such a model"
    known = ", ".join(listed[:20]) + (" …" if len(listed) > 20 else "") if listed else "none"
    return UsageError(
        f"the model server {transport.pool.name} does not have {model}: {page.said()}",
        hint=f"models it lists: {known}",
    )


async def _listed(transport: Transport, requests: Requests) -> list[str] | None:
    """Returns the models the server lists; None when it has no such page."""
    try:
        page = await transport.get("/models", requests)
    except (Late, Outage):
        return None
    listed = page.listed("data") if page.status == 200 else None
    if listed is None:
        return None
    return [name for name in (page.get("data", place, "id") for place in range(len(listed))) if isinstance(name, str)]


def _complaint(page: Page) -> str:
    """Returns the kinds and words of a refusal."""
    return " ".join(str(page.get("error", name) or "") for name in ("type", "code", "param")) + " " + page.said()
