"""A mind on a function of your own: from the messages of a chat and a JSON Schema to an answer."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from inspect import isawaitable
from pathlib import Path
from typing import Any, Literal

from commonplace.api import book, prepared
from commonplace.minds.mind import Ask, Flaws, Reply, RequestKey, estimated_tokens
from commonplace.minds.prompts.prompt import Prompt, Unusable
from commonplace.parts.model_servers.chat_mind import LONGEST_RAW, value_in, worded
from commonplace.parts.model_servers.client import Sleep
from commonplace.parts.model_servers.http import whole
from commonplace.parts.model_servers.reply import spoken
from commonplace.parts.model_servers.request import chat_messages
from commonplace.registry import TASKS
from commonplace.run.manifest import OFFLINE, templates_of
from commonplace.scenario.scenario import Scenario

Complete = Callable[[list[dict[str, str]], Mapping[str, Any]], object | Awaitable[object]]
"""Messages, each with `role` and `content`, and the JSON Schema of the answer → the answer: a text, or its data."""
RETRIES = 2
"""Times the function is called again after it has failed."""
FIRST_WAIT = 0.5
"""Seconds before it is called again; twice as many before the next time."""
_log = logging.getLogger(__name__)


class PromptMind:
    """A mind whose answers come from a function, which gets a prompt as messages and the JSON Schema of the answer.

    The function returns JSON as text or as data; plain words do for tasks that take them. It may be an `async def`:
    then several questions are open at once. Whatever it raises costs the answer after `RETRIES` further calls, and
    nothing else. Tokens are estimated. Texts for vectors (`embed`) are not put to it.
    """

    paid = True
    max_attempts = 2

    def __init__(
        self,
        complete: Complete,
        scenario: str | Path | Scenario,
        *,
        name: str = "prompt",
        form: Literal["full", "small"] = "full",
        trust: bool = False,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        """`scenario`: as of `create_run`, for its names and language, and its prompts where you `trust` them; or a
        compiled one, such as `open_run(path).scenario`, which is asked about with the shipped prompts.

        `name` goes into runs. `form`: in the small form the schema is empty, and the answer plain words. Raises
        UsageError for a scenario with mistakes and for prompts that are not trusted.
        """
        self.name = name
        self._complete = complete
        self._sleep = sleep
        small = TASKS if form == "small" else ()
        if isinstance(scenario, Scenario):
            self._book = book(scenario, small=small)
        else:
            loaded, manifest = prepared(scenario, mind=OFFLINE, trust=trust, prompts=True)
            self._book = book(loaded, templates_of(manifest), small)

    async def answer(self, ask: Ask[Any, Any], request_key: RequestKey) -> Reply:
        """Returns the reply to a question: a `fault` if the function failed, `malformed` for an unusable answer."""
        if ask.task.scene is None:
            return Reply(None, "fault", kind="task", error=f"{ask.task.name} is not put into words")
        prompt = worded(self._book, ask, request_key)
        raw, calls, error = await self._written(prompt)
        schema = json.dumps(prompt.schema, ensure_ascii=False) if prompt.schema else ""
        sent = estimated_tokens(f"{schema}\n{prompt.text}") * calls
        if raw is None:
            return Reply(None, "fault", error, "client", prompt.text, prompt_tokens=sent, calls=calls)
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
            prompt=prompt.text,
            raw=whole(raw[:LONGEST_RAW]),
            flaws=Flaws() if problem else flaws,
            prompt_tokens=sent,
            answer_tokens=estimated_tokens(raw),
            calls=calls,
        )

    async def _written(self, prompt: Prompt) -> tuple[str | None, int, str]:
        """Returns the answer, the calls it took, and what was wrong with the last one; None if all failed."""
        failed = ""
        for attempt in range(RETRIES + 1):
            if attempt:
                await self._sleep(FIRST_WAIT * 2 ** (attempt - 1))
            try:
                found = self._complete(chat_messages(prompt, "json_schema"), prompt.schema)
                found = await found if isawaitable(found) else found
                return found if isinstance(found, str) else json.dumps(found, ensure_ascii=False), attempt + 1, ""
            except Exception as error:  # of a library that is not known here
                _log.error("%s: attempt %d failed: %s", prompt.task, attempt + 1, error)
                failed = str(error)
        return None, RETRIES + 1, failed

    async def close(self) -> None:
        """Does nothing."""
