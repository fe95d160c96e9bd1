"""Asking the test server over plain sockets."""

from __future__ import annotations

import http.client
import json
from typing import Any
from urllib.parse import urlsplit

from commonplace.minds.notes import Given, Spoken, as_data
from commonplace.minds.tasks import RateInput
from commonplace.testing.server import ModelServer
from minds.offline import sample

RATING = RateInput(who=sample.mira(), texts=("Jun Park is reading a long letter.", "It begins to rain on the plaza."))
LINE = sample.said(50, "My rotor is bent again.")
REACTION = sample.reaction(
    sample.news("said", LINE.text, 50, LINE.happening, who="jun", to_me=True),
    recalled=(LINE, sample.doing(3, "jun", "repairing a drone")),
    lines=(Spoken(speaker="jun", called="Jun", text="My rotor is bent again."),),
    floor=True,
    unrated=(LINE.text,),
    speaks=True,
)
SCHEMA = {
    "type": "object",
    "properties": {"mood": {"enum": ["glad", "sad"]}, "weight": {"type": "integer", "minimum": 3, "maximum": 5}},
    "required": ["mood", "weight"],
    "additionalProperties": False,
}


def asked(task: str, given: Given, *, tick: int = 1, attempt: int = 0, seed: int = 7, **more: Any) -> dict[str, Any]:
    """The body of a typed question."""
    request_key = {"seed": seed, "agent": "mira", "tick": tick, "number": 0, "attempt": attempt}
    body = {
        "model": "offline",
        "messages": [{"role": "system", "content": RULES}, {"role": "user", "content": f"{task} at tick {tick}"}],
        "commonplace": {"task": task, "input": as_data(given), "request_key": request_key},
    }
    return body | more


RULES = "You are a person of a small town by a canal. Answer with one JSON object and nothing else, in plain words."


def strict(schema: dict[str, Any]) -> dict[str, Any]:
    """The response format of that schema."""
    return {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": schema}}


def forced(schema: dict[str, Any]) -> dict[str, Any]:
    """The fields of a forced tool call."""
    function = {"name": "answer", "parameters": schema}
    return {
        "tools": [{"type": "function", "function": function}],
        "tool_choice": {"type": "function", "function": {"name": "answer"}},
    }


def posted(server: ModelServer, path: str, body: object, timeout: float = 5.0) -> tuple[int, bytes, dict[str, str]]:
    """(status, body, headers) of one request."""
    place = urlsplit(server.url)
    line = http.client.HTTPConnection(place.hostname or "", place.port, timeout=timeout)
    try:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        line.request("POST", f"/v1/{path}", data, {"Content-Type": "application/json"})
        response = line.getresponse()
        return response.status, response.read(), dict(response.getheaders())
    finally:
        line.close()


def chatted(server: ModelServer, body: object) -> dict[str, Any]:
    """The completion; its status must be 200."""
    status, data, _ = posted(server, "chat/completions", body)
    assert status == 200, data
    return json.loads(data)


def content(server: ModelServer, body: object) -> str:
    """The text of a completion."""
    return chatted(server, body)["choices"][0]["message"]["content"]
