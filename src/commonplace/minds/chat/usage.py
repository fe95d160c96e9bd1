"""Usage: the tokens an answer cost, as the server tells, else estimated."""

from __future__ import annotations

from commonplace.memory import estimate_tokens
from commonplace.minds.chat.page import Page

_MOST = 10_000_000
"""Tokens no request has; a server that tells more tells nonsense."""


def usage_of(page: Page, asked: str, answered: str) -> tuple[int, int, int]:
    """Prompt tokens, those of them the server had read before, answer tokens."""
    prompt = _count(page, "prompt_tokens")
    answer = _count(page, "completion_tokens")
    cached = _count(page, "prompt_tokens_details", "cached_tokens") or 0
    prompt = estimate_tokens(asked) if prompt is None else prompt
    return prompt, min(cached, prompt), estimate_tokens(answered) if answer is None else answer


def _count(page: Page, *path: str) -> int | None:
    told = page.get("usage", *path)
    return told if isinstance(told, int) and not isinstance(told, bool) and 0 <= told <= _MOST else None
