"""OpenRouter: OpenAI's protocol for the models of many providers, of which each takes other fields."""

from __future__ import annotations

import re
from dataclasses import replace

from commonplace.parts.model_servers.dialects.dialect import CHAT, Body, Dialect, completion, refusal
from commonplace.parts.model_servers.http import Page

_NOBODY = re.compile(r"no endpoints found that (can handle|support)", re.IGNORECASE)
"""What a 404 says if the model is there, but no provider takes all fields of the request."""
_LEFT_OUT = ("seed", "temperature", "reasoning_effort", "response_format", "tools")
"""Fields of a request that can be done without, in the order in which they are left out."""


class OpenRouter(Dialect):
    """Only providers that take all fields of a request get it: others would ignore the form of the answer."""

    title = "OpenRouter's form of OpenAI's protocol"

    def request(self, path: str, body: Body | None) -> tuple[str, Body | None]:
        """See `Dialect.request`."""
        if path != CHAT or body is None:
            return path, body
        sent = {name: value for name, value in body.items() if name != "reasoning_effort"}
        sent["provider"] = {"require_parameters": True, **body.get("provider", {})}
        if effort := body.get("reasoning_effort"):
            sent["reasoning"] = {"effort": effort}
        if str(body["model"]).startswith("anthropic/"):
            sent["messages"] = [_marked(message) for message in body["messages"]]
        return path, sent

    def page(self, page: Page, path: str, body: Body | None) -> Page:
        """See `Dialect.page`. An error of a provider may come with status 200."""
        if path != CHAT or body is None:
            return page
        inner = page.get("error", "code") or page.get("choices", 0, "error", "code")
        if page.status == 200 and isinstance(inner, int) and 400 <= inner < 600:
            told = str(page.get("error", "message") or page.get("choices", 0, "error", "message"))
            page = refusal(page, told, status=inner, metadata=page.get("error", "metadata"))
        if page.status == 403 and page.get("error", "metadata", "reasons") is not None:
            return replace(completion(page, {"content": None}, "content_filter", {}), status=200)
        if page.status == 404 and _NOBODY.search(page.said()):
            blamed = next((field for field in _LEFT_OUT if body.get(field) is not None), None)
            return refusal(page, f"no provider takes all of the request, such as {blamed}", status=400, param=blamed)
        return page


def _marked(message: Body) -> Body:
    """Returns a system prompt with its end marked for the cache, as Anthropic's models need it."""
    if message["role"] != "system":
        return message
    part = {"type": "text", "text": message["content"], "cache_control": {"type": "ephemeral"}}
    return {**message, "content": [part]}
