"""Faults between client and model: connections, statuses, bodies that are no completion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from commonplace.testing.server.fault import MARK, Fault, any_request, chat
from commonplace.testing.server.http import Response, as_json, failure

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
        "a request the server will not have: 400",
        failure(400, f"{MARK}: unsupported parameter", "invalid_request_error"),
        "refuse",
    ),
    "overflow": chat("a prompt longer than the context, as llama.cpp says it: 400", "retry", lambda _: _OVERFLOW),
    "html": any_request("a captive portal: 200 with a web page", _HTML, "refuse"),
    "empty_object": any_request("a gateway that swallows errors: 200 with {}", as_json({}), "refuse"),
    "no_choices": chat(
        "a gateway's error in a 200: choices is null", "refuse", lambda answer: as_json(answer.body(None))
    ),
    "empty_choices": chat("a filter that drops answers: no choices", "refuse", lambda answer: as_json(answer.body([]))),
}
