"""A sequence of deeds that any store can be put through, and what it must hold after each.

python deeds.py WHERE FIRST     does them from number FIRST on, for ever, and prints each number once it is done
"""

from __future__ import annotations

import random
import sys
from dataclasses import replace
from datetime import timedelta
from itertools import count

import numpy as np

from commonplace.memory.stores import Stored, open_store
from commonplace.memory.stores.store import Add, Archive, Forget, Operation, Restore, Touch, Writer, fold, tombstone
from commonplace.testing.stores import START, memory

AGENT = "지우 / 1"


def state_of(stored: Stored):
    """(memories that are not forgotten, ids of those that are, ids of archived ones)."""
    alive = tuple(one for one in stored.memories if one.id not in stored.forgotten)
    assert all(
        one == replace(tombstone(AGENT, one.id), kind=one.kind) for one in stored.memories if one.id in stored.forgotten
    )
    return alive, frozenset(stored.forgotten), frozenset(stored.archived)


def deed(number: int, model: Stored) -> Operation:
    """Deed `number`, which depends on what there is before it."""
    chance = random.Random(f"deed {number}")
    kind = chance.choice(("add", "add", "add", "touch", "forget", "archive", "restore"))
    last = model.last_id
    there = [one.id for one in model.memories if one.id not in model.forgotten | model.archived]
    some = sorted(chance.sample(there, min(len(there), 3)))
    if kind == "touch" and some:
        return Touch(dict.fromkeys(some, START + timedelta(days=1, seconds=number)))
    if kind == "forget" and some:
        return Forget(some[:2])
    if kind == "archive" and some:
        return Archive(some)
    if kind == "restore" and model.archived:
        return Restore(sorted(model.archived)[:2])
    more = chance.choice((1, 1, 2, 40))
    memories = [memory(last + place, AGENT, text=f"deed {number} 🏮 " + "lantern " * 20, session=f"s{number % 3}")
                for place in range(1, more + 1)]  # fmt: skip
    vector = np.arange(4, dtype=np.float32)
    return Add(memories, [vector if one.id % 2 else None for one in memories])


def model_after(deeds: int) -> Stored:
    """What there is after the first so many."""
    model = Stored(agent=AGENT)
    for number in range(deeds):
        fold((deed(number, model),), model)
    return model


def main(where: str, first: int) -> None:
    writer = Writer(open_store(where), AGENT)
    for number in count(first):
        writer.write(deed(number, writer.stored))
        print(number, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
