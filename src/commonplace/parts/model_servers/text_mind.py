"""A mind on a function from a prompt to text: a client of your own."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

from commonplace.minds.mind import Ask, Flaws, Reply, RequestKey
from commonplace.minds.prompts.prompt import Unusable
from commonplace.parts.model_servers.chat_mind import LONGEST_RAW, Book, value_in, worded
from commonplace.parts.model_servers.http import whole
from commonplace.parts.model_servers.reply import spoken
from commonplace.parts.model_servers.request import chat_messages

RETRIES = 2
"""Times the function is called again after it has failed."""
FIRST_WAIT = 0.5
"""Seconds before it is called again; twice as many before the next time."""
_log = logging.getLogger(__name__)


class TextMind:
    """Answers by `complete`, which is given a prompt and returns the answer, JSON or plain words.

    Whatever `complete` raises costs the answer after `RETRIES` further calls, and nothing else.
    """

    paid = True
    max_attempts = 2

    def __init__(
        self,
        complete: Callable[[str], str],
        book: Book,
        *,
        name: str = "text",
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self.name = name
        self._complete = complete
        self._book = book
        self._sleep = sleep

    def answer(self, ask: Ask[Any, Any], request_key: RequestKey) -> Reply:
        """The reply to one question; a `fault` where the function failed, `malformed` for an unusable answer."""
        if ask.task.scene is None:
            return Reply(None, "fault", kind="task", error=f"{ask.task.name} is not put into words")
        prompt = worded(self._book, ask, request_key)
        text = "\n\n".join(f"[{one['role']}]\n{one['content']}" for one in chat_messages(prompt, "text"))
        raw, calls, error = self._written(ask.task.name, text)
        if raw is None:
            return Reply(None, "fault", error, "client", text, calls=calls)
        flaws = Flaws()
        try:
            value, problem = value_in(self._book, ask, spoken(raw), prompt, flaws=flaws), None
        except Unusable as unusable:
            value, problem = None, unusable
            _log.error("%s: the answer cannot be read: %s", ask.task.name, unusable)
        return Reply(
            value,
            "malformed" if problem else "value",
            error=str(problem or ""),
            kind=problem.kind if problem else "",
            prompt=text,
            raw=whole(raw[:LONGEST_RAW]),
            flaws=Flaws() if problem else flaws,
            calls=calls,
        )

    def _written(self, task: str, text: str) -> tuple[str | None, int, str]:
        """The answer, the calls it took, and what was wrong with the last one; None if all failed."""
        failed = ""
        for attempt in range(RETRIES + 1):
            if attempt:
                self._sleep(FIRST_WAIT * 2 ** (attempt - 1))
            try:
                return str(self._complete(text)), attempt + 1, ""
            except Exception as error:  # of a library that is not known here
                _log.error("%s: attempt %d failed: %s", task, attempt + 1, error)
                failed = str(error)
        return None, RETRIES + 1, failed

    async def close(self) -> None:
        """Nothing to close."""
