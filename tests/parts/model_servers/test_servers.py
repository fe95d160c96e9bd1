from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.errors import UsageError
from commonplace.servers import SERVERS, is_loopback, is_server, server_named
from sizes import examples


@pytest.mark.parametrize(
    ("name", "kind", "urls", "model"),
    [
        ("ollama:qwen3:8b", "ollama", ("http://127.0.0.1:11434/v1",), "qwen3:8b"),
        ("vllm:Qwen/Qwen3-8B", "vllm", ("http://127.0.0.1:8000/v1",), "Qwen/Qwen3-8B"),
        ("lmstudio:a@q4", "lmstudio", ("http://127.0.0.1:1234/v1",), "a@q4"),
        ("llamacpp:", "llamacpp", ("http://127.0.0.1:8080/v1",), ""),
        ("llamacpp:@http://127.0.0.1:9/v1", "llamacpp", ("http://127.0.0.1:9/v1",), ""),
        ("vllm:a/b@http://x:1/v1,http://y:2/v1", "vllm", ("http://x:1/v1", "http://y:2/v1"), "a/b"),
        ("http://x:1/v1/", "", ("http://x:1/v1",), ""),
        ("https://x/api,http://y/v1#m:1/2", "", ("https://x/api", "http://y/v1"), "m:1/2"),
        ("http://[::1]:8080/v1", "", ("http://[::1]:8080/v1",), ""),
    ],
)
def test_a_name_says_server_addresses_and_model(name, kind, urls, model):
    server = server_named(name)
    assert is_server(name)
    assert (server.kind, server.urls, server.model) == (kind, urls, model)


@pytest.mark.parametrize("name", ["offline", "ollama", "journal:a.run", "", "gpt:4", "file:///etc"])
def test_other_names_are_no_servers(name):
    assert not is_server(name)
    with pytest.raises(UsageError, match="not the name of a model server"):
        server_named(name)


@pytest.mark.parametrize(
    "name",
    [
        "http://user:sk-12345678@x/v1",
        "vllm:m@http://sk-12345678@x/v1",
        "http://x/v1?key=sk-12345678",
        "http://a/v1,http://:sk-12345678@x/v1",
        "http://[sk-12345678/v1",
    ],
)
def test_a_key_in_a_name_is_refused_without_being_repeated(name):
    with pytest.raises(UsageError) as refused:
        server_named(name)
    assert "12345678" not in str(refused.value)


@pytest.mark.parametrize(
    "name", ["http://", "http://x", "http://x/v1,", "http://x:99999/v1", "http://x/v1,http://x/v1/", "openai:"]
)
def test_a_name_that_cannot_be_used_is_refused_with_the_next_step(name):
    with pytest.raises(UsageError) as refused:
        server_named(name)
    assert refused.value.hint


@examples(60)
@given(st.text(max_size=30), st.sampled_from(["", "http://", "ollama:", "vllm:m@http://", "openai:m@https://x/v1,"]))
def test_any_name_is_read_or_refused(rest, start):
    try:
        server_named(start + rest)
    except UsageError as refused:
        assert str(refused)


def test_the_key_of_openai_is_for_its_own_address_only():
    assert server_named("openai:m").variable == "OPENAI_API_KEY"
    assert server_named("openai:m@https://elsewhere/v1").variable == "COMMONPLACE_API_KEY"


def test_servers_of_this_machine_are_told_apart():
    assert all(is_loopback(known.url) is not known.wants for known in SERVERS.values())
    assert is_loopback("http://localhost:1/v1")
    assert is_loopback("http://[::1]/v1")
    assert not is_loopback("http://localhost.example.com/v1")
