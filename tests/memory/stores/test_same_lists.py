"""Random streams give the same lists of hits from every store."""

from __future__ import annotations

import importlib.util
import random
from dataclasses import replace
from datetime import timedelta

import pytest

from commonplace.memory import Memory, MemoryStream, policies
from commonplace.memory.stores import open_store
from commonplace.memory.stores.store import Add, Forget
from commonplace.testing.stores import START, write
from parts.stores.test_postgres import opened as opened_postgres

PACKAGES = {"chroma": "chromadb", "postgresql": "psycopg"}
KINDS = ("sqlite", "jsonl", "chroma", "postgresql")
WORDS = ("festival", "stove", "Klaus", "library", "promised", "축제에서", "민수가", "last summer", "?")
ALL = tuple(policies.by_name(name) for name in policies.NAMES)


@pytest.fixture(params=KINDS)
def store(request, tmp_path):
    """An empty store of each kind."""
    kind = request.param
    if kind in PACKAGES and importlib.util.find_spec(PACKAGES[kind]) is None:
        pytest.skip(f"{PACKAGES[kind]} is not installed")
    if kind == "postgresql":
        found = opened_postgres(request.getfixturevalue("postgres_url"), tmp_path)
    else:
        found = open_store(f"{kind}:{tmp_path / kind}")
    yield found
    found.close()


def test_the_lists_of_some_streams(store):
    for seed in range(15):
        compare(store, seed)


@pytest.mark.slow
def test_the_lists_of_a_thousand_streams(store):
    for seed in range(1000, 1250):  # of each of four kinds
        compare(store, seed)


def compare(store, seed: int) -> None:
    """All policies, over a stream that was made in RAM and one that was loaded."""
    chance = random.Random(seed)
    agent = f"지우.{seed}/"
    ram = MemoryStream(agent, policies.PARK)
    for _ in range(chance.randint(1, 25)):
        text = " ".join(chance.choice(WORDS) for _ in range(chance.randint(1, 5)))
        at = START + timedelta(minutes=chance.randint(0, 3000))
        ram.remember(text, at=at, importance=chance.uniform(0, 11), session=chance.choice(("", "a/b")), place=("Town",))
    ram.recall(chance.choice(WORDS), at=START + timedelta(days=4), k=3)
    gone = sorted(chance.sample(range(1, ram.last_id + 1), ram.last_id // 5))
    write(store, agent, Add(list(ram), [ram.vector(memory.id) for memory in ram]))
    if gone:
        ram.forget(gone)
        write(store, agent, Forget(gone))
    with MemoryStream.open(store, agent, policies.PARK) as kept:
        for policy in ALL:
            query = " ".join(chance.choice(WORDS) for _ in range(2))
            at = START + timedelta(hours=chance.randint(0, 200))
            options = {"at": at, "policy": policy, "k": chance.choice((1, 5, 30)), "touch": False}
            assert kept.retrieve(query, **options) == ram.retrieve(query, **options), (seed, policy.name, query)
        assert [replace(memory) for memory in kept] == list[Memory](ram)
