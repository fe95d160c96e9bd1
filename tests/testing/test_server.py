"""The test server: sound answers in every form, usage, latency, and nothing left when it ends."""

from __future__ import annotations

import asyncio
import gc
import json
import subprocess
import sys
import threading
import time
from base64 import b64decode
from contextlib import suppress
from pathlib import Path
from urllib.request import urlopen

import numpy as np
import pytest

from commonplace.errors import UsageError
from commonplace.memory import HashedEmbedder
from commonplace.minds.mind import Ask, RequestKey, estimated_tokens
from commonplace.minds.offline.mind import OfflineMind
from commonplace.minds.tasks import RATE, EmbedInput
from commonplace.minds.tasks.wire import written
from commonplace.testing.server import Latency, ModelServer
from testing.calling import RATING, RULES, SCHEMA, asked, chatted, content, forced, posted, strict


def told(data: str) -> object:
    """A text as JSON."""
    return json.loads(data)


def test_it_names_its_model_and_says_that_it_takes_typed_questions():
    with ModelServer() as server, urlopen(f"{server.url}/models") as response:
        (model,) = json.load(response)["data"]
    assert model["id"] == "offline" and model["commonplace"] == {"typed": True}


def test_a_typed_question_is_answered_by_the_offline_mind_in_every_form():
    value = OfflineMind().answer(Ask(RATE, RATING), RequestKey(7, "mira", 1, 0)).value
    assert value is not None
    with ModelServer() as server:
        plain = told(content(server, asked("rate", RATING)))
        formed = told(content(server, asked("rate", RATING, response_format=strict(SCHEMA))))
        call = chatted(server, asked("rate", RATING, **forced(SCHEMA)))["choices"][0]
    assert plain == formed == told(call["message"]["tool_calls"][0]["function"]["arguments"])
    assert plain == written(Ask(RATE, RATING), value)
    assert call["message"]["content"] is None and call["finish_reason"] == "tool_calls"


@pytest.mark.parametrize("form", [{"response_format": strict(SCHEMA)}, forced(SCHEMA)])
def test_any_other_client_gets_an_instance_of_its_schema(form):
    with ModelServer() as server:
        body = {"model": "x", "messages": [{"role": "user", "content": "How are you?"}], **form}
        message = chatted(server, body)["choices"][0]["message"]
    answer = told(message["content"] or message["tool_calls"][0]["function"]["arguments"])
    assert answer["mood"] in {"glad", "sad"} and 3 <= answer["weight"] <= 5


def test_the_prefix_an_earlier_prompt_had_is_counted_as_cached():
    with ModelServer() as server:
        first = chatted(server, asked("rate", RATING, tick=1))["usage"]
        second = chatted(server, asked("rate", RATING, tick=2))["usage"]
    whole = f"{RULES}\nrate at tick 1"
    assert first["prompt_tokens"] == estimated_tokens(whole)
    assert first["prompt_tokens_details"]["cached_tokens"] == 0
    assert second["prompt_tokens_details"]["cached_tokens"] == estimated_tokens(whole[:-1])


@pytest.mark.parametrize("encoding", ["float", "base64"])
def test_vectors_are_the_hashed_embedders(encoding):
    texts = ["Jun is reading.", "…"]
    with ModelServer() as server:
        _, data, _ = posted(server, "embeddings", {"model": "x", "input": texts, "encoding_format": encoding})
    raw = [row["embedding"] for row in json.loads(data)["data"]]
    vectors = [np.frombuffer(b64decode(one), "<f4") if encoding == "base64" else np.array(one) for one in raw]
    expected = HashedEmbedder().embed_one(texts[0])
    assert expected is not None
    assert np.array_equal(vectors[0], expected) and not vectors[1].any()


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("elsewhere", {}, 404),
        ("chat/completions", b"{", 400),
        ("chat/completions", {"messages": []}, 400),
        ("chat/completions", asked("rate", RATING) | {"commonplace": {"task": "rate"}}, 400),
        ("chat/completions", asked("unheard_of", RATING), 400),
        ("chat/completions", asked("embed", EmbedInput(texts=("x",))), 400),
        ("embeddings", {"input": [1, 2]}, 400),
    ],
)
def test_what_cannot_be_answered_is_refused_with_a_message(path, body, status):
    with ModelServer() as server:
        got, data, _ = posted(server, path, body)
    assert got == status and json.loads(data)["error"]["message"]


def test_sixty_four_requests_are_held_at_once():
    async def one(port: int, number: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        body = json.dumps(asked("rate", RATING, tick=number)).encode()
        for _ in range(2):  # the connection is kept
            head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
            writer.write(head.encode() + body)
            assert b" 200 " in await reader.readline()
            lines = [await reader.readline() for _ in range(3)]
            length = next(int(line.split(b":")[1]) for line in lines if line.lower().startswith(b"content-length"))
            assert json.loads(await reader.readexactly(length))["choices"]
        writer.close()
        await writer.wait_closed()

    async def many(port: int) -> None:
        await asyncio.gather(*(one(port, number) for number in range(64)))

    with ModelServer(latency=Latency(1.0)) as server:
        asyncio.run(many(int(server.url.rsplit(":", 1)[1].partition("/")[0])))
    assert server.log.most_in_flight == 64
    assert len(server.log.entries) == 128 and server.log.in_flight == 0
    assert min(entry.ended - entry.started for entry in server.log.entries) >= 1.0


def test_jitter_depends_on_the_question_alone():
    latency = Latency(0.1, per_token=0.01, jitter=1.0)
    assert latency.of(10, 7, "mira", 1) == latency.of(10, 7, "mira", 1) != latency.of(10, 7, "mira", 2)
    assert 0.2 <= latency.of(10, 7, "mira", 1) < 1.2
    assert Latency(0.1).of(10) == 0.1


def test_nothing_is_left_of_it():
    before = _open()
    stuck = threading.Thread(target=_waiting, args=(server := ModelServer(latency=Latency(60.0)),))
    with server:
        stuck.start()
        while not server.log.in_flight:
            time.sleep(0.01)
        began = time.monotonic()
    stuck.join()
    assert time.monotonic() - began < 10
    gc.collect()  # the error of the request that was cut off holds its socket, and itself
    assert not _open() - before, "what earlier tests have left may go meanwhile"
    with pytest.raises(ConnectionRefusedError):
        posted(server, "chat/completions", {})


def _open() -> set[object]:
    """Threads of this process and, where the system tells, its open files: each socket has a number of its own."""
    found: set[object] = set(threading.enumerate())
    for one in Path("/proc/self/fd").glob("*"):
        with suppress(OSError):  # the descriptor of this folder
            found.add(one.readlink())
    return found


def _waiting(server: ModelServer) -> None:
    with pytest.raises(OSError):
        posted(server, "chat/completions", asked("rate", RATING))


def test_a_port_that_is_taken_is_said():
    with ModelServer() as server, pytest.raises(UsageError, match="cannot be opened"), ModelServer(port=server._port):
        pass


def test_it_serves_people_until_they_have_had_enough():
    command = [sys.executable, "-m", "commonplace.testing.server", "--port", "0", "--faults", "0.5"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = process.stdout.readline().split()[3]
        with urlopen(f"{url}/models") as response:
            assert json.load(response)["data"]
        process.send_signal(2)
        said = process.stdout.read()
    assert process.returncode == 0 and "1 requests, at most 1 at once" in said
