"""A sequence of deeds that any store can be put through, and what it must hold after each.

python deeds.py WHERE FIRST     does them from number FIRST on, for ever, and prints each number once it is done
"""

from __future__ import annotations

import random
import sys
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import count

import numpy as np

from commonplace.memory import Memory
from commonplace.memory.stores import Store, Stored, open_store
from commonplace.memory.stores.store import tombstone
from commonplace.testing.stores import START, memory

AGENT = "지우 / 1"


@dataclass
class Model:
    """What a store holds, in the plainest way. It has the methods of one."""

    memories: list[Memory] = field(default_factory=list)
    forgotten: set[int] = field(default_factory=set)
    archived: set[int] = field(default_factory=set)

    @property
    def there(self) -> list[int]:
        return [one.id for one in self.memories if one.id not in self.forgotten | self.archived]

    def append(self, agent, memories, vectors):
        self.memories += memories

    def touch(self, agent, accesses):
        for id, at in accesses.items():
            self.memories[id - 1] = replace(self.memories[id - 1], accessed_at=at)

    def remove(self, agent, ids):
        self.forgotten |= set(ids)
        self.archived -= set(ids)

    def archive(self, agent, ids):
        self.archived |= set(ids)

    def restore(self, agent, ids):
        self.archived -= set(ids)

    def state(self):
        alive = tuple(one for one in self.memories if one.id not in self.forgotten)
        return alive, frozenset(self.forgotten), frozenset(self.archived)


def state_of(stored: Stored):
    """As `Model.state`."""
    alive = tuple(one for one in stored.memories if one.id not in stored.forgotten)
    assert all(
        one == replace(tombstone(AGENT, one.id), kind=one.kind) for one in stored.memories if one.id in stored.forgotten
    )
    return alive, stored.forgotten, stored.archived


def deed(number: int, model: Model, store: Store | Model) -> None:
    """Does deed `number`, which depends on what the model holds before it."""
    chance = random.Random(f"deed {number}")
    kind = chance.choice(("add", "add", "add", "touch", "forget", "archive", "restore"))
    last = len(model.memories)
    some = sorted(chance.sample(model.there, min(len(model.there), 3)))
    if kind == "touch" and some:
        store.touch(AGENT, dict.fromkeys(some, START + timedelta(days=1, seconds=number)))
    elif kind == "forget" and some:
        store.remove(AGENT, some[:2])
    elif kind == "archive" and some:
        store.archive(AGENT, some)
    elif kind == "restore" and model.archived:
        store.restore(AGENT, sorted(model.archived)[:2])
    else:
        more = chance.choice((1, 1, 2, 40))
        memories = [memory(last + place, AGENT, text=f"deed {number} 🏮 " + "lantern " * 20, session=f"s{number % 3}")
                    for place in range(1, more + 1)]  # fmt: skip
        vector = np.arange(4, dtype=np.float32)
        store.append(AGENT, memories, [vector if one.id % 2 else None for one in memories])


def model_after(deeds: int) -> Model:
    """The model after the first so many."""
    model = Model()
    for number in range(deeds):
        deed(number, model, model)
    return model


def main(where: str, first: int) -> None:
    store = open_store(where)
    model = model_after(first)
    for number in count(first):
        deed(number, model, store)
        deed(number, model, model)
        print(number, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
