"""OpenAI's protocol, and what another one may do differently."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from commonplace.parts.model_servers.http import Page
from commonplace.parts.model_servers.request import STRUCTURES, Structure

Body = dict[str, Any]
CHAT = "/chat/completions"


class Dialect:
    """OpenAI's protocol, sent as it is."""

    title = "OpenAI's protocol"
    forms: tuple[Structure, ...] = STRUCTURES
    """The ways to get a structured answer that it has, the best first; the last is `text`."""
    embeds = True
    """Whether it makes vectors."""
    headers: Mapping[str, str] = {}
    """Further headers of each request."""
    key_header = "Authorization"

    def request(self, path: str, body: Body | None) -> tuple[str, Body | None]:
        """Path and body of a request as this protocol has them."""
        return path, body

    def page(self, page: Page, path: str, body: Body | None) -> Page:
        """The page of that request as OpenAI's protocol has it. `path` and `body` are those before the translation."""
        del path, body
        return page


def refusal(page: Page, message: str, *, status: int = 0, **more: Any) -> Page:
    """The page as OpenAI words an error. `status`: another one than the page's own."""
    return replace(page, status=status or page.status, data={"error": {"message": message, **more}})


def completion(page: Page, message: Body, finish: str, usage: Body) -> Page:
    """The page as a chat completion with one choice."""
    return replace(page, data={"choices": [{"message": message, "finish_reason": finish}], "usage": usage})


def tool_call(name: object, arguments: object) -> Body:
    """A call of a tool in a message."""
    return {"type": "function", "function": {"name": name, "arguments": arguments}}


def members(value: object) -> dict[str, object]:
    """A JSON object; empty for anything else."""
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


def items(value: object) -> list[dict[str, object]]:
    """The JSON objects in a list; none for anything else."""
    return [members(item) for item in cast("list[object]", value)[:1000]] if isinstance(value, list) else []


def tokens(*counts: object) -> int | None:
    """The sum of the counts that are there; None if none is."""
    known = [count for count in counts if isinstance(count, int) and not isinstance(count, bool)]
    return sum(known) if known else None


def form_of(body: Body) -> tuple[Any, Body]:
    """(JSON Schema of the answer or None, the function whose call is forced or nothing)."""
    form: Body = body.get("response_format") or {}
    tools: list[Body] = body.get("tools") or []
    named: Body = form.get("json_schema") or {}
    schema: Any = named.get("schema") or form.get("schema")
    return schema, tools[0]["function"] if tools else {}


def without(schema: Any, keywords: frozenset[str]) -> Any:
    """A JSON Schema without some keywords, which are never names of properties."""
    if isinstance(schema, list):
        return [without(part, keywords) for part in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    kept = {name: part for name, part in cast(Body, schema).items() if name not in keywords}
    return {
        name: {key: without(inner, keywords) for key, inner in part.items()}
        if name == "properties"
        else without(part, keywords)
        for name, part in kept.items()
    }
