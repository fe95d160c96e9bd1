from __future__ import annotations

from base64 import b64decode

import numpy as np
import pytest

from commonplace.memory import lattice, unpacked
from commonplace.minds.mind import Ask
from commonplace.minds.tasks import EMBED, EmbedInput
from parts.model_servers.local_server import LocalServer, Sent, asked, minded

TEXTS = ("rain", "sun", "snow")


def vector(text: str) -> list[float]:
    return [len(text), 1.5, text.count("s")]


def vectors(body):
    entries = [{"index": place, "embedding": vector(text)} for place, text in enumerate(body["input"])]
    return {"data": entries, "usage": {"prompt_tokens": 5}}


def embedding(texts=TEXTS):
    return Ask(EMBED, EmbedInput(texts=texts))


def test_vectors_come_on_the_lattice_in_the_order_of_their_texts():
    with LocalServer() as server:
        server.embed = lambda body: Sent({**vectors(body), "data": vectors(body)["data"][::-1]})
        reply = asked(minded(server.url), embedding())
    for text, packed in zip(TEXTS, reply.value.vectors, strict=True):
        assert np.array_equal(unpacked(b64decode(packed)), lattice(vector(text)))
    assert reply.prompt_tokens >= 5


def test_empty_texts_and_zero_vectors_have_no_vector():
    with LocalServer() as server:
        server.embed = lambda body: Sent(
            {"data": [{"embedding": [0.0, 0.0] if t == "nil" else [1, 2]} for t in body["input"]]}
        )
        reply = asked(minded(server.url), embedding(("rain", " ", "nil", "")))
    assert [bool(vector) for vector in reply.value.vectors] == [True, False, False, False]


def test_many_texts_are_sent_in_parts():
    with LocalServer() as server:
        server.embed = lambda body: Sent(vectors(body))
        reply = asked(minded(server.url), embedding(tuple(f"t{n}" for n in range(150))))
    assert len(reply.value.vectors) == 150
    assert reply.calls == server.paths.count("/v1/embeddings") + 3


def broken(change):
    def embed(body):
        entries = vectors(body)["data"]
        return Sent({"data": change(entries) if body["input"] != ["lantern"] else entries})

    return embed


@pytest.mark.parametrize(
    ("embed", "kind"),
    [
        (broken(lambda entries: entries[:-1]), "vectors"),
        (broken(lambda entries: [*entries, entries[0]]), "vectors"),
        (broken(lambda entries: [*entries[:-1], {"embedding": [1, 2]}]), "vectors"),
        (broken(lambda entries: [{"embedding": [1, 2]} for _ in entries]), "vectors"),
        (broken(lambda entries: [{"embedding": []} for _ in entries]), "vectors"),
        (broken(lambda entries: [{"embedding": "AACAPw=="} for _ in entries]), "vectors"),
        (broken(lambda entries: [{"embedding": [1, None, 2]} for _ in entries]), "vectors"),
        (broken(lambda entries: [{"embedding": [1, True, 1e999]} for _ in entries]), "page"),
        (broken(lambda entries: [{"embedding": [1, 2, 1e300]} for _ in entries]), "vectors"),
        (broken(lambda entries: [{"embedding": [1, 10**400, 1]} for _ in entries]), "vectors"),
        (broken(lambda entries: [None for _ in entries]), "vectors"),
        (broken(lambda entries: {"0": 1}), "page"),
        (lambda body: Sent(b'{"data": [{"embedding": [NaN, 1, 2]}]}'), "page"),
        (lambda body: Sent(b"<html>"), "page"),
        (lambda body: Sent(status=501), "refused_request"),
        (lambda body: Sent(status=400), "refused_request"),
    ],
)
def test_vectors_that_cannot_be_used_are_malformed(embed, kind):
    with LocalServer() as server:
        server.embed = embed
        reply = asked(minded(server.url), embedding())
    assert (reply.value, reply.outcome, reply.kind) == (None, "malformed", kind)
