"""Faults of what an answer says: well-formed JSON that cannot be used, vectors that do not fit."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from commonplace.testing.server.answering import ChatAnswer, VectorAnswer
from commonplace.testing.server.fault import MARK, Fault, structured, vectors
from commonplace.testing.server.http import Response

FOREIGN = {
    "en": f"오늘은 {MARK} 날씨가 참 좋아서 다리 건너 시장까지 천천히 걸어가 볼 생각이에요.",
    "ko": f"The weather is so fine {MARK} today that I am thinking of walking to the market across the bridge.",
}
"""What a model says that has slipped out of the language it was spoken to in."""
_HAN = f"今天{MARK}天气很好，我想慢慢走到桥那边的市场去看看。"
_MODEL = f"As an AI language model, {MARK} I don't have feelings, but I'm happy to play along."
_LEAK = 80


def spoiled(data: Any, change: Callable[[Any], Any]) -> Any:
    """The JSON with every leaf changed."""
    if isinstance(data, dict):
        return {name: spoiled(part, change) for name, part in data.items()}  # pyright: ignore[reportUnknownVariableType]
    if isinstance(data, list):
        return [spoiled(part, change) for part in data]  # pyright: ignore[reportUnknownVariableType]
    return change(data)


def _where(fits: Callable[[Any], bool], put: Any) -> Callable[[ChatAnswer, dict[str, Any]], Response | None]:
    """Put something in the place of every leaf that fits; nothing to spoil where none does."""

    def spoil(answer: ChatAnswer, data: dict[str, Any]) -> Response | None:
        new = put(answer) if callable(put) else put
        worse = spoiled(data, lambda leaf: new if fits(leaf) else leaf)
        if worse == data:
            return None
        return answer.said(json.dumps(worse, ensure_ascii=False), marker=new if isinstance(new, str) else "")

    return spoil


def _is_number(leaf: Any) -> bool:
    return isinstance(leaf, int | float) and not isinstance(leaf, bool)


def _is_words(leaf: Any) -> bool:
    return isinstance(leaf, str) and " " in leaf


def _is_name(leaf: Any) -> bool:
    return isinstance(leaf, str) and leaf != "" and " " not in leaf


def _foreign(answer: ChatAnswer) -> str:
    typed = answer.chat.commonplace
    language = typed.input.get("who", {}).get("language", "en") if typed else "en"
    return FOREIGN.get(language, FOREIGN["en"])


def _leaked(answer: ChatAnswer) -> str:
    """A piece of the instructions."""
    return " ".join(answer.chat.messages[0].text.split())[:_LEAK]


def _wrong_schema(answer: ChatAnswer, _: dict[str, Any]) -> Response:
    return answer.said(json.dumps({"answer": {"text": f"{MARK} yes"}, "confidence": 0.9}), marker=MARK)


def _wrong_types(answer: ChatAnswer, data: dict[str, Any]) -> Response:
    return answer.said(json.dumps({name: {MARK: [None]} for name in data}), marker=MARK)


def _list(answer: ChatAnswer, _: dict[str, Any]) -> Response:
    return answer.said(json.dumps([MARK, MARK]), marker=MARK)


def _with(addition: str) -> Callable[[ChatAnswer, dict[str, Any]], Response | None]:
    """Something added within every text of several words."""

    def spoil(answer: ChatAnswer, data: dict[str, Any]) -> Response | None:
        worse = spoiled(data, lambda leaf: leaf.replace(" ", f"{addition} ", 1) if _is_words(leaf) else leaf)
        return answer.said(json.dumps(worse, ensure_ascii=False), marker=addition) if worse != data else None

    return spoil


def _short(answer: VectorAnswer) -> Response:
    return answer.told((answer.vectors[0][:-7], *answer.vectors[1:]))


def _missing(answer: VectorAnswer) -> Response:
    return answer.told(answer.vectors[1:])


def _not_numbers(answer: VectorAnswer) -> Response:
    return answer.told(tuple(np.full_like(vector, np.nan) for vector in answer.vectors))


VALUE: Mapping[str, Fault] = {
    "wrong_schema": structured("another object than was asked for", "refuse", _wrong_schema),
    "wrong_types": structured("the right names with the wrong types", "refuse", _wrong_types),
    "list": structured("a list in place of the object", "refuse", _list),
    "out_of_range": structured("numbers out of range", "judge", _where(_is_number, 100_000)),
    "unknown_ids": structured("ids and words that were not offered", "judge", _where(_is_name, f"{MARK}_id")),
    "wrong_language": structured("another language than the character's", "judge", _where(_is_words, _foreign)),
    "chinese": structured("a model that falls into Chinese", "judge", _where(_is_words, _HAN)),
    "leaked_prompt": structured("instructions repeated as speech", "judge", _where(_is_words, _leaked)),
    "leaked_model": structured("a character that says it is a model", "judge", _where(_is_words, _MODEL)),
    "control_characters": structured("control and bidi characters in words", "mend", _with("\u0007\u202e\u0000")),
    "surrogates": structured("halves of surrogate pairs in words", "mend", _with("\ud83d")),
    "short_vector": vectors("a vector of another size than the others", _short),
    "missing_vector": vectors("fewer vectors than texts", _missing),
    "nan_vectors": vectors("vectors that are no numbers", _not_numbers),
}
