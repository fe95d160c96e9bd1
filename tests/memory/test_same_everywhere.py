"""The same lists whatever the processor can do and however many threads its library takes."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import numpy as np
import pytest

PROGRAM = """
import sys
from datetime import UTC, datetime, timedelta

from commonplace.memory import MemoryStream, policies
from commonplace.memory.embedding import HashedEmbedder

WORDS = "lantern festival mill baker mayor chemistry rent heron lake promise bread October".split()


class Meaning:
    name, dimensions = "meaning", 384

    def __init__(self):
        self.embed = HashedEmbedder().embed


def sentence(number):
    return "Tom: " + " ".join(WORDS[number * step % 12] for step in (1, 5, 7, 11)) + "?" * (number % 3 == 0)


stream = MemoryStream("maria", embedder=Meaning())
start = datetime(2031, 10, 4, tzinfo=UTC)
for number in range(400):
    stream.remember(sentence(number), at=start + timedelta(minutes=17 * number))
for policy in (policies.PARK, policies.LEXICAL, policies.TWO_STAGE, policies.REPO2023, policies.RECALL):
    for number in range(0, 400, 37):
        found = stream.retrieve(sentence(number), at=start + timedelta(days=6), policy=policy)
        print(policy.name, [(hit.memory.id, hit.score, hit.parts) for hit in found])
"""

X86 = {
    "OPENBLAS_CORETYPE=Nehalem": {"OPENBLAS_CORETYPE": "Nehalem"},
    "OPENBLAS_CORETYPE=Haswell": {"OPENBLAS_CORETYPE": "Haswell"},
}
THREADS = {f"{count} threads": {"OPENBLAS_NUM_THREADS": count} for count in ("1", "2")}


def plain() -> dict[str, dict[str, str]]:
    """NumPy without what it would choose on this processor."""
    from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__  # its own tests read them there

    found = [name for name in __cpu_dispatch__ if __cpu_features__.get(name)]
    return {"plain NumPy": {"NPY_DISABLE_CPU_FEATURES": " ".join(found)}} if found else {}


SETTINGS = {**THREADS, **plain(), **(X86 if platform.machine() in ("x86_64", "AMD64") else {})}


def said(settings: dict[str, str]) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("OPENBLAS", "NPY_"))}
    environment.update(settings, PYTHONPATH=os.pathsep.join(sys.path))
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def usual() -> str:
    return said({})


@pytest.mark.parametrize("name", SETTINGS)
def test_every_setting_brings_back_the_same_memories_with_the_same_scores(name, usual):
    assert usual.count("\n") == 55
    assert said(SETTINGS[name]) == usual


def test_numbers_between_lattice_vectors_are_exact():
    from commonplace.memory.embedding import HashedEmbedder

    one, other = HashedEmbedder().embed(["the lantern festival", "a lantern at the mill"])
    assert float(np.vecdot(one, other)) == sum(int(a) * int(b) for a, b in zip(one, other, strict=True))
