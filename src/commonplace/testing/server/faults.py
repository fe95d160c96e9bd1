"""All faults, and how often each of them is made."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal
from zlib import MAX_WBITS, Z_FULL_FLUSH, compressobj

import numpy as np

from commonplace import rng
from commonplace.errors import UsageError
from commonplace.rng import Key
from commonplace.testing.server.answers import MODELS, ChatAnswer, Response, Sound, VectorAnswer, as_json, failure
from commonplace.testing.server.streams import error_event

# A fault: one way in which a request to a model goes wrong.


MARK = "zxqfault"
"""Part of every text a fault makes up, so that tests find it wherever it ends up."""

Cure = Literal["retry", "mend", "judge", "refuse", "pause"]
"""`retry` the same request, `mend` the answer that is still in it, `refuse` what there is; `judge` which of the two,
depending on where in the answer it is; or `pause`, because a person must do something first."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One way to go wrong."""

    imitates: str
    """What happens out there, in a line."""
    calls_for: Cure
    """What a good client does about it."""
    spoil: Callable[[Sound | None], Response | None]
    """The response in place of the sound answer; None where that answer gives it nothing to spoil."""


def any_request(imitates: str, response: Response, calls_for: Cure = "retry") -> Fault:
    """Makes a fault that does not look at what was asked."""
    return Fault(imitates, calls_for, lambda _: response)


def chat(imitates: str, calls_for: Cure, spoil: Callable[[ChatAnswer], Response | None]) -> Fault:
    """Makes a fault of chat completions."""
    return Fault(imitates, calls_for, lambda sound: spoil(sound) if isinstance(sound, ChatAnswer) else None)


def vectors(imitates: str, spoil: Callable[[VectorAnswer], Response | None]) -> Fault:
    """Makes a fault of embeddings."""
    return Fault(imitates, "refuse", lambda sound: spoil(sound) if isinstance(sound, VectorAnswer) else None)


def structured(imitates: str, calls_for: Cure, spoil: Callable[[ChatAnswer, dict[str, Any]], Response | None]) -> Fault:
    """Makes a fault of answers that are JSON objects."""
    return chat(imitates, calls_for, lambda answer: spoil(answer, answer.object) if answer.object else None)


# Faults of the message an answer comes in, and of the text it is written as.


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
    "refusal": chat("a model that refuses: `refusal` in place of content", "refuse", _refusal),
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


# Faults between client and model: connections, statuses, bodies that are not a completion.


_HTML = Response(
    200,
    f"<!doctype html><html><body><h1>Welcome</h1><p>{MARK}: please sign in to the network.</p></body></html>".encode(),
    (("Content-Type", "text/html"),),
    marker=MARK,
)
_BUSY = failure(429, f"{MARK}: rate limit reached, try again in 1s", "rate_limit_error")
_OVERFLOW = failure(
    400,
    f"{MARK}: request (9001 tokens) exceeds the available context size (4096 tokens), try increasing it",
    "exceed_context_size_error",
    n_prompt_tokens=9001,
    n_ctx=4096,
)

_UNPAID = failure(402, f"{MARK}: your credit is used up", "insufficient_credit")
_QUOTA = failure(429, f"{MARK}: you exceeded your current quota", "insufficient_quota")
_BOMB_MEGABYTES = 400


def _bomb() -> Response:
    """Makes a completion that begins well and inflates to 400 MB: a megabyte of one letter, over and over."""
    start = b'{"choices": [{"message": {"content": "' + MARK.encode()
    packed = compressobj(9, wbits=MAX_WBITS | 16)
    head = packed.compress(start) + packed.flush(Z_FULL_FLUSH)
    megabyte = packed.compress(b"z" * 2**20) + packed.flush(Z_FULL_FLUSH)  # needs nothing of what is before it
    return Response(
        200,
        head + megabyte * _BOMB_MEGABYTES,
        (
            ("Content-Type", "application/json"),
            ("Content-Encoding", "gzip"),
        ),
        marker=MARK,
    )


TRANSPORT: Mapping[str, Fault] = {
    "reset": any_request("a server that crashes: the connection is reset", Response(0, cut="reset")),
    "half": chat(
        "a proxy that gives up: the body ends half-way", "retry", lambda answer: replace(answer.sound(), cut="half")
    ),
    "hang": any_request("a model stuck in its queue: nothing comes until the client gives up", Response(0, cut="hang")),
    "rate_limited": any_request(
        "a provider's limit: 429 with Retry-After", replace(_BUSY, headers=(*_BUSY.headers, ("Retry-After", "1")))
    ),
    "server_error": any_request(
        "a bug of the server: 500", failure(500, f"{MARK}: internal server error", "server_error")
    ),
    "unavailable": any_request(
        "a model being loaded: 503", failure(503, f"{MARK}: Loading model", "unavailable_error")
    ),
    "bad_request": any_request(
        "a request the server rejects: 400",
        failure(400, f"{MARK}: unsupported parameter", "invalid_request_error"),
        "refuse",
    ),
    "overflow": chat("a prompt longer than the context, as llama.cpp says it: 400", "retry", lambda _: _OVERFLOW),
    "html": any_request("a captive portal: 200 with a web page", _HTML, "refuse"),
    "empty_object": any_request("a gateway that swallows errors: 200 with {}", as_json({}), "refuse"),
    "no_choices": chat(
        "a gateway's error in a 200: choices is null", "refuse", lambda answer: as_json(answer.body(None))
    ),
    "bomb": any_request("a response of 400 kB that inflates to 400 MB", _bomb(), "refuse"),
    "unpaid": any_request("an account without credit: 402", _UNPAID, "pause"),
    "quota": any_request("a quota that is used up: 429 with insufficient_quota", _QUOTA, "pause"),
    "empty_choices": chat("a filter that drops answers: no choices", "refuse", lambda answer: as_json(answer.body([]))),
}


# Faults of what an answer says: well-formed JSON that cannot be used, vectors that do not fit.


FOREIGN = {
    "en": f"오늘은 {MARK} 날씨가 참 좋아서 다리 건너 시장까지 천천히 걸어가 볼 생각이에요.",
    "ko": f"The weather is so fine {MARK} today that I am thinking of walking to the market across the bridge.",
}
"""What a model says that has slipped out of the language it was spoken to in."""
_HAN = f"今天{MARK}天气很好，我想慢慢走到桥那边的市场去看看。"
_MODEL = f"As an AI language model, {MARK} I don't have feelings, but I'm happy to play along."
_CYRILLIC = f"Сегодня {MARK} такая хорошая погода, что я думаю пройтись до рынка за мостом."
_APOLOGY = f"I'm sorry, but I can't assist with that {MARK} request."
_FRAGMENT = f'}}, {MARK} ":{{ ]['
_PROMPT_LINE = f"Ben was here {MARK} [38 08:05] was stirring two sugars into a cup"
_FIELD = "what one sees you do"
_LEAK = 80


def spoiled(data: Any, change: Callable[[Any], Any]) -> Any:
    """Returns the JSON with every leaf changed."""
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
    """Returns a piece of the instructions."""
    return " ".join(answer.chat.messages[0].text.split())[:_LEAK]


def _wrong_schema(answer: ChatAnswer, _: dict[str, Any]) -> Response:
    return answer.said(json.dumps({"answer": {"text": f"{MARK} yes"}, "confidence": 0.9}), marker=MARK)


def _wrong_types(answer: ChatAnswer, data: dict[str, Any]) -> Response:
    return answer.said(json.dumps({name: {MARK: [None]} for name in data}), marker=MARK)


def _list(answer: ChatAnswer, _: dict[str, Any]) -> Response:
    return answer.said(json.dumps([MARK, MARK]), marker=MARK)


def _with(addition: str) -> Callable[[ChatAnswer, dict[str, Any]], Response | None]:
    """Returns a function that adds something within every text of several words."""

    def spoil(answer: ChatAnswer, data: dict[str, Any]) -> Response | None:
        worse = spoiled(data, lambda leaf: leaf.replace(" ", f"{addition} ", 1) if _is_words(leaf) else leaf)
        return answer.said(json.dumps(worse, ensure_ascii=False), marker=addition) if worse != data else None

    return spoil


def _directed(answer: ChatAnswer, data: dict[str, Any]) -> Response | None:
    """Returns the answer with something acted, in brackets, before every text of several words."""
    acted = f"(smiles {MARK})"
    worse = spoiled(data, lambda leaf: f"{acted} {leaf}" if _is_words(leaf) else leaf)
    return answer.said(json.dumps(worse, ensure_ascii=False), marker=acted) if worse != data else None


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
    "russian": structured("a model that falls into Russian", "judge", _where(_is_words, _CYRILLIC)),
    "apology": structured("an assistant that declines in words", "judge", _where(_is_words, _APOLOGY)),
    "fragments": structured("pieces of JSON in place of words", "judge", _where(_is_words, _FRAGMENT)),
    "prompt_lines": structured("lines of the prompt in place of words", "judge", _where(_is_words, _PROMPT_LINE)),
    "field_names": structured("what is said about a field in place of words", "judge", _where(_is_words, _FIELD)),
    "stage_directions": structured("stage directions before the words", "mend", _directed),
    "leaked_prompt": structured("instructions repeated as speech", "judge", _where(_is_words, _leaked)),
    "leaked_model": structured("a character that says it is a model", "judge", _where(_is_words, _MODEL)),
    "control_characters": structured("control and bidi characters in words", "mend", _with("\u0007\u202e\u0000")),
    "surrogates": structured("halves of surrogate pairs in words", "mend", _with("\ud83d")),
    "short_vector": vectors("a vector of another size than the others", _short),
    "missing_vector": vectors("fewer vectors than texts", _missing),
    "nan_vectors": vectors("vectors that are not numbers", _not_numbers),
}


# Faults of answers that come as they are written. What was sent of them must not be used.


Pieces = tuple[bytes, ...]


def stream(imitates: str, broken: Callable[[Pieces, str], Pieces]) -> Fault:
    """Makes a fault of a stream; an answer that is to come at once gives it nothing to spoil."""
    return chat(
        imitates, "retry", lambda answer: replace(answer.sound(), broken=broken) if answer.chat.stream else None
    )


def _begun(pieces: Pieces, *then: bytes) -> Pieces:
    """Returns the first events, fewer than the answer needs, and what comes in place of the others."""
    return (*pieces[: min(3, len(pieces) // 2)], *then)


STREAM: Mapping[str, Fault] = {
    "no_events": stream("a stream without an event", lambda _, __: (b"\n",)),
    "only_pings": stream("a proxy that keeps a dead stream awake, then gives up", lambda _, __: (b": ping\n\n",) * 3),
    "unfinished": stream(
        "a stream that ends before the answer does, as if it were whole", lambda pieces, _: _begun(pieces)
    ),
    "half_event": stream(
        "a stream that ends within an event", lambda pieces, _: _begun(pieces, pieces[len(pieces) // 2][:20])
    ),
    "half_name": stream("a stream that ends within the name of a field", lambda pieces, _: _begun(pieces, b"da")),
    "error_event": stream(
        "a server that fails while it writes: an error as an event",
        lambda pieces, protocol: _begun(pieces, error_event(protocol, 500, f"{MARK}: overloaded")),
    ),
    "error_first": stream(
        "a server that fails before it writes: an error as the only event",
        lambda _, protocol: (error_event(protocol, 500, f"{MARK}: overloaded"),),
    ),
    "page_in_stream": stream(
        "a proxy's page of an error in the middle of a stream",
        lambda pieces, _: _begun(pieces, f"data: <html>{MARK} 502</html>\n\n".encode()),
    ),
    "not_utf8": stream(
        "bytes in a stream that are not UTF-8", lambda pieces, _: _begun(pieces, b"data: \xff\xfe\xed\xa0\n\n")
    ),
    "list_event": stream("a list for an event", lambda pieces, _: _begun(pieces, f'data: ["{MARK}"]\n\n'.encode())),
    "deep_event": stream(
        "an event of a hundred thousand brackets",
        lambda pieces, _: _begun(pieces, b"data: " + b"[" * 100_000 + b"\n\n"),
    ),
}


FAULTS: Mapping[str, Fault] = {**TRANSPORT, **STREAM, **MESSAGE, **VALUE}


@dataclass(frozen=True, slots=True)
class Faults:
    """A share of the questions gets a fault, drawn from what is asked and how often it was asked before."""

    rate: float
    """0 … 1, of each request."""
    kinds: tuple[str, ...] = tuple(FAULTS)
    seed: int = 0
    to_all: bool = False
    """Whether requests that do not name a character get one, too: the list of models, and what a client tries out."""

    def __post_init__(self) -> None:
        """Raises UsageError for a rate outside 0 … 1 and for an unknown kind."""
        if not 0 <= self.rate <= 1:
            raise UsageError(f"a rate of faults is a number from 0 to 1, not {self.rate}")
        unknown = sorted(set(self.kinds) - set(FAULTS))
        if unknown:
            raise UsageError(f"there is no fault {unknown[0]!r}", hint=f"there are: {', '.join(FAULTS)}")

    def met(self, sound: Sound | None, *key: Key) -> tuple[str, Response]:
        """(name of the fault, response); an empty name with the sound answer.

        A fault that finds nothing to spoil leaves it to the next kind. `sound`: None for the list of models.
        """
        if self.kinds and rng.unit(self.seed, "fault", *key) < self.rate:
            first = rng.below(len(self.kinds), self.seed, "kind", *key)
            for name in (*self.kinds[first:], *self.kinds[:first]):
                response = FAULTS[name].spoil(sound)
                if response is not None:
                    return name, response
        return "", sound.sound() if sound else as_json(MODELS)
