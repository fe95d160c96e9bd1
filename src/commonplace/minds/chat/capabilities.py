"""Capabilities: what a server and model were found to take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from commonplace.minds.chat.page import Page

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
    """What a probe found, and what requests are therefore made like."""

    server: str
    """Base URLs."""
    model: str
    models: tuple[str, ...] = ()
    """All the server lists; empty when it lists none."""
    structured: Structure = "json_schema"
    seed: bool = True
    """Whether it takes a seed."""
    temperature: bool = True
    """Whether it takes a temperature."""
    bounds: bool = True
    """Whether a schema may bound the length of texts; OpenAI's may not."""
    length: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    """The field that limits an answer."""
    switch: str = "none"
    """How thinking is switched off: a key of `SWITCHES`."""
    thinks: bool = False
    """Whether it thinks all the same; answers are then given more room."""
    embeddings: int = 0
    """Dimensions of its vectors; 0: it makes none."""
    context: int = 0
    """Tokens of its context window; 0: not told."""
    typed: bool = False
    """Whether it is a test server that answers from the typed input."""

    def less(self, page: Page) -> Capabilities | None:
        """The capabilities without the field that a refusal blames; None when it blames none that is sent."""
        told = f"{page.get('error', 'param') or ''} {page.said()}".lower()
        if self.length == "max_tokens" and "max_completion_tokens" in told:
            return replace(self, length="max_completion_tokens")
        if self.bounds and ("maxlength" in told or "minlength" in told):
            return replace(self, bounds=False)
        if self.temperature and "temperature" in told:
            return replace(self, temperature=False)
        if self.seed and "seed" in told:
            return replace(self, seed=False)
        if any(field in told for field in SWITCHES[self.switch]):
            return replace(self, switch="none", thinks=True)
        return None
