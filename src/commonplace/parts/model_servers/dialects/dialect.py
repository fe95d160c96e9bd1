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
        """Returns path and body of a request as this protocol has them."""
        return path, body

    def page(self, page: Page, path: str, body: Body | None) -> Page:
        """Returns the page of that request as OpenAI's protocol has it.

        `path` and `body` are those before the translation.
        """
        del path, body
        return page

    def streamed(self, path: str, body: Body, *, usage: bool) -> tuple[str, Body]:
        """Returns path and body of a request, as this protocol has them, for a streamed answer.

        `usage`: whether to ask for the usage, where that is a field of its own.
        """
        return path, body | {"stream": True} | ({"stream_options": {"include_usage": True}} if usage else {})

    def gather(self, whole: Body, event: Body) -> tuple[str, str]:
        """Adds an event of a stream to the body of the whole answer.

        Returns the new parts of the answer and of the thinking.
        """
        whole |= {name: part for name, part in event.items() if name not in ("choices", "object") and part is not None}
        said = thought = ""
        for choice in items(event.get("choices")):
            if choice.get("index", 0) != 0:
                continue
            so_far = _choice(whole)
            so_far |= {
                name: part for name, part in choice.items() if name not in ("delta", "message") and part is not None
            }
            delta = members(choice.get("delta") or choice.get("message"))
            added = _added(so_far["message"], delta)
            said, thought = said + added[0], thought + added[1]
        if event.get("choices") == []:
            whole.setdefault("choices", [])
        return said, thought

    def is_ended(self, whole: Body) -> bool:
        """Tells whether the body says how the answer ended."""
        return any(choice.get("finish_reason") for choice in items(whole.get("choices")))

    def cut(self, whole: Body) -> None:
        """Marks the answer of the body as cut off."""
        _choice(whole)["finish_reason"] = "length"


def _choice(whole: Body) -> Body:
    """Returns the choice so far; some servers begin with an empty list."""
    choices: list[Body] = whole.get("choices") or [{"message": {}}]
    whole["choices"] = choices
    return choices[0]


_THOUGHTS = ("reasoning_content", "reasoning", "thinking")


def _added(message: Body, delta: dict[str, object]) -> tuple[str, str]:
    """Adds what is new to a message. Returns the new parts of the answer and of the thinking."""
    said = thought = ""
    for name, part in delta.items():
        if name == "tool_calls":
            said += "".join(_called(message.setdefault(name, []), call) for call in items(part))
        elif name == "function_call":
            said += _joined(message.setdefault(name, {}), members(part))
        elif isinstance(part, list):
            message[name] = (message.get(name) or []) + part
        elif isinstance(part, str) and name != "role":
            message[name] = (message.get(name) or "") + part
            said += part if name in ("content", "refusal") else ""
            thought += part if name in _THOUGHTS else ""
        elif part is not None:
            message[name] = part
    return said, thought


def _called(calls: list[Body], new: dict[str, object]) -> str:
    """Adds a part of a tool call to the calls. Returns what it adds to the arguments of the first."""
    index = new.get("index", 0)
    place = next((place for place, call in enumerate(calls) if call["index"] == index), len(calls))
    if place == len(calls):
        calls.append({"index": index, "type": "function", "function": {}})
    added = _joined(calls[place]["function"], members(new.get("function")))
    return "" if place else added


def _joined(function: Body, new: dict[str, object]) -> str:
    """Adds a name and a part of the arguments to a function that is called. Returns the part it adds."""
    if new.get("name"):
        function["name"] = new["name"]
    arguments = new.get("arguments")
    if not isinstance(arguments, str):
        return ""
    function["arguments"] = function.get("arguments", "") + arguments
    return arguments


def refusal(page: Page, message: str, *, status: int = 0, **more: Any) -> Page:
    """Returns the page as OpenAI words an error. `status`: another one than the page's own."""
    return replace(page, status=status or page.status, data={"error": {"message": message, **more}})


def completion(page: Page, message: Body, finish: str, usage: Body) -> Page:
    """Returns the page as a chat completion with one choice."""
    return replace(page, data={"choices": [{"message": message, "finish_reason": finish}], "usage": usage})


def tool_call(name: object, arguments: object) -> Body:
    """Returns a call of a tool in a message."""
    return {"type": "function", "function": {"name": name, "arguments": arguments}}


def members(value: object) -> dict[str, object]:
    """Returns a JSON object; empty for anything else."""
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


def items(value: object) -> list[dict[str, object]]:
    """Returns the JSON objects in a list; none for anything else."""
    return [members(item) for item in cast("list[object]", value)[:1000]] if isinstance(value, list) else []


def tokens(*counts: object) -> int | None:
    """Returns the sum of the counts that are there; None if none is."""
    known = [count for count in counts if isinstance(count, int) and not isinstance(count, bool)]
    return sum(known) if known else None


def form_of(body: Body) -> tuple[Any, Body]:
    """Returns (JSON Schema of the answer or None, the function whose call is forced or nothing)."""
    form: Body = body.get("response_format") or {}
    tools: list[Body] = body.get("tools") or []
    named: Body = form.get("json_schema") or {}
    schema: Any = named.get("schema") or form.get("schema")
    return schema, tools[0]["function"] if tools else {}


def without(schema: Any, keywords: frozenset[str]) -> Any:
    """Returns a JSON Schema without some keywords, which are never names of properties."""
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
