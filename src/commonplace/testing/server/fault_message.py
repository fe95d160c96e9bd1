"""Faults of the message an answer comes in, and of the text it is written as."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from commonplace.testing.server.answering import ChatAnswer
from commonplace.testing.server.fault import MARK, Fault, chat, structured
from commonplace.testing.server.http import Response

_ENDLESS = 20_000
"""Repetitions: half a megabyte."""


def _reasoning(answer: ChatAnswer) -> Response:
    return answer.completed({"content": None, "reasoning_content": f"{MARK}: I should first consider"}, "length")


def _refusal(answer: ChatAnswer) -> Response:
    return answer.completed({"content": None, "refusal": f"I'm sorry, but {MARK} I can't help with that."})


def _other_form(answer: ChatAnswer) -> Response:
    if answer.chat.tool is None:
        return answer.called("answer", answer.text)
    return answer.completed({"content": answer.text})


def _truncated(answer: ChatAnswer) -> Response | None:
    text = answer.text
    return answer.said(text[: len(text) * 2 // 3], "length") if len(text) > 8 else None


def _endless(answer: ChatAnswer) -> Response:
    return answer.said(f'{{"{MARK}": "' + f"and then {MARK} and " * _ENDLESS, "length", MARK)


def _trailing_commas(answer: ChatAnswer, data: dict[str, object]) -> Response:
    return answer.said(re.sub(r"(?=[}\]]$)", ",", json.dumps(data, ensure_ascii=False, indent=1), flags=re.MULTILINE))


def _single_quotes(answer: ChatAnswer, data: dict[str, object]) -> Response | None:
    text = json.dumps(data, ensure_ascii=False)
    return None if "'" in text or "\\" in text else answer.said(text.replace('"', "'"))


def _fenced(answer: ChatAnswer, data: dict[str, object]) -> Response:
    return answer.said(f"```json\n{json.dumps(data, ensure_ascii=False, indent=2)}\n```")


def _prose(answer: ChatAnswer, data: dict[str, object]) -> Response:
    text = json.dumps(data, ensure_ascii=False)
    return answer.said(f"Sure! Here is the {MARK} answer:\n\n{text}\n\nLet me know if {MARK} helps.", marker=MARK)


def _thinking(answer: ChatAnswer, data: dict[str, object]) -> Response:
    text = json.dumps(data, ensure_ascii=False)
    return answer.said(f'<think>\n{MARK}: maybe {{"{MARK}": 1}}?\n</think>\n\n{text}', marker=MARK)


def _still_thinking(answer: ChatAnswer, _: dict[str, object]) -> Response:
    return answer.said(f"<think>\n{MARK}: let me see, they were told to answer", "length", MARK)


MESSAGE: Mapping[str, Fault] = {
    "null_content": chat(
        "an empty message: content is null", "refuse", lambda answer: answer.completed({"content": None})
    ),
    "empty_content": chat("a model that stops at once: content is empty", "refuse", lambda answer: answer.said("")),
    "reasoning_only": chat("a reasoning model out of tokens: all of it thought, no content", "refuse", _reasoning),
    "refusal": chat("a model that will not: `refusal` in place of content", "refuse", _refusal),
    "filtered": chat(
        "a content filter: finish_reason content_filter, no content",
        "refuse",
        lambda answer: answer.completed({"content": None}, "content_filter"),
    ),
    "other_form": chat("a tool call where content was asked for, or the other way round", "mend", _other_form),
    "truncated": chat("an answer cut off at the token limit", "refuse", _truncated),
    "endless": chat("a model in a loop on a server without a limit: half a megabyte", "refuse", _endless),
    "trailing_commas": structured("almost JSON: trailing commas", "mend", _trailing_commas),
    "single_quotes": structured("almost JSON: single quotes", "mend", _single_quotes),
    "fenced": structured("JSON in a code fence", "mend", _fenced),
    "prose": structured("JSON with pleasantries around it", "mend", _prose),
    "think_closed": structured("a <think> block before the answer", "mend", _thinking),
    "think_open": structured("a <think> block that never ends", "refuse", _still_thinking),
}
