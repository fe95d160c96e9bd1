"""What tokens cost: whose price it is, what a sum comes to, what a list of one's own does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.errors import UsageError
from commonplace.parts.model_servers.prices import VARIABLE, Price, known_price, price_of
from commonplace.servers import SERVERS

FREE = Price(0, 0, 0)
TOKENS = st.integers(0, 10**9)


@pytest.fixture
def own(tmp_path, monkeypatch):
    """Writes a list of one's own."""

    def write(text: str) -> None:
        path = tmp_path / "mine.yaml"
        path.write_text(text, encoding="utf-8")
        monkeypatch.setenv(VARIABLE, str(path))

    return write


@pytest.mark.parametrize("server", sorted(name for name, known in SERVERS.items() if not known.wants))
def test_a_server_of_ones_own_costs_nothing(server):
    assert price_of(f"{server}:some-model") == FREE
    assert price_of(f"{server}:some-model@http://10.0.0.5:9000/v1") == FREE


@pytest.mark.parametrize("mind", ["offline", "journal:x.run", "http://127.0.0.1:8000/v1", "http://[::1]:80/v1#any"])
def test_what_asks_nobody_outside_costs_nothing(mind):
    assert price_of(mind) == FREE


def test_a_dated_model_costs_what_the_one_without_the_date_does():
    price = price_of("openai:gpt-5-mini-2025-08-07")
    assert price == price_of("openai:gpt-5-mini")
    assert price.cached < price.prompt < price.answer


@pytest.mark.parametrize("mind", ["openai:gpt-5-mini-turbo", "openai:nothing", "https://api.example.com/v1#model"])
def test_an_unknown_price_is_none_and_never_a_guess(mind):
    assert price_of(mind) is None
    with pytest.raises(UsageError, match="not known") as raised:
        known_price(mind)
    assert VARIABLE in raised.value.hint


def test_a_list_of_ones_own_stands_before_the_shipped_one(own):
    own("openai:gpt-5-mini: {prompt: 1, cached: 0.5, answer: 3}\napi.example.com: {prompt: 2, cached: 2, answer: 2}\n")
    assert price_of("openai:gpt-5-mini") == Price(1, 0.5, 3)
    assert price_of("https://api.example.com/v1#whatever") == Price(2, 2, 2)
    assert price_of("ollama:qwen3:8b") == FREE


def test_the_line_an_unknown_price_asks_for_gives_it(own):
    with pytest.raises(UsageError) as raised:
        known_price("https://api.example.com/v1#model")
    own(raised.value.hint.split('"')[1])
    assert known_price("https://api.example.com/v1#model") == Price(0.25, 0.025, 2)


@pytest.mark.parametrize(
    "text",
    [
        "openai:x: 3",
        "openai:x: {prompt: 1, answer: 2}",
        "openai:x: {prompt: 1, cached: 1, answer: -2}",
        "openai:x: {prompt: .nan, cached: 1, answer: 2}",
        "openai:x: {prompt: true, cached: 1, answer: 2}",
        "openai:x: {prompt: cheap, cached: 1, answer: 2}",
        "- openai",
        "a: {",
    ],
)
def test_a_list_that_is_wrong_says_where_and_how_it_is_written(own, text):
    own(f"ollama: {{prompt: 0, cached: 0, answer: 0}}\n{text}\n")
    with pytest.raises(UsageError) as raised:
        price_of("offline")
    assert "mine.yaml" in raised.value.where
    assert "{prompt: 0.25" in raised.value.hint


def test_a_list_that_is_not_there_is_named(monkeypatch):
    monkeypatch.setenv(VARIABLE, "/nowhere/at-all.yaml")
    with pytest.raises(UsageError, match=r"at-all\.yaml"):
        price_of("offline")


@given(TOKENS, TOKENS, TOKENS)
def test_a_cost_counts_every_token_once(prompt, cached, answer):
    even = Price(2, 2, 2)
    assert even.cost(prompt, cached, answer) == pytest.approx(2e-6 * (prompt + answer))
    discounted = Price(2, 1, 2)
    saved = even.cost(prompt, cached, answer) - discounted.cost(prompt, cached, answer)
    assert saved == pytest.approx(1e-6 * min(prompt, cached), abs=1e-6)
