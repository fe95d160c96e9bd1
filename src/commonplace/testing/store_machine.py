"""A stream in a store must stay equal to a stream in RAM under the same operations."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from commonplace.memory import MemoryStream, policies
from commonplace.memory.retrieval import Options
from commonplace.memory.stores.store import Store
from commonplace.testing.stores import START, WordCounts

WORDS = ("festival", "stove", "Klaus", "library", "축제에서", "민수가", "🏮")
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
moments = st.integers(0, 2000).map(lambda minutes: START + timedelta(minutes=minutes))
importances = st.integers(1, 10)
some_ids = st.sets(st.integers(1, 12), max_size=4)
Parts = dict[str, Any]
PARTS: Parts = {"embedder": WordCounts(), "policy": policies.PARK}


def compare_with_ram(open_store: Callable[[Path], Store], folder: Path, *, examples: int, steps: int = 20) -> None:
    """Draw `examples` sequences of up to `steps` operations and apply each to both. Stores are made in the folder."""

    class Machine(StreamMachine):
        def opened(self) -> Store:
            return open_store(self.where)

        where_in = folder

    limits = settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        suppress_health_check=(HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much),
        database=None,
    )
    run_state_machine_as_test(Machine, settings=limits)  # pyright: ignore[reportUnknownMemberType]


class StreamMachine(RuleBasedStateMachine):
    """Two streams, one in a store."""

    where_in: Path

    def opened(self) -> Store:
        """Opens the store of this sequence."""
        raise NotImplementedError

    @initialize()
    def begin(self) -> None:
        self.where = Path(tempfile.mkdtemp(dir=self.where_in)) / "s"
        self.store = self.opened()
        self.kept = MemoryStream.open(self.store, "지우 / x", **PARTS)
        self.model = MemoryStream("지우 / x", **PARTS)

    @rule(text=texts, at=moments, importance=importances)
    def remember(self, text: str, at: Any, importance: int) -> None:
        self._both(lambda stream: stream.remember(text, at=at, importance=importance, place=("Town",)))

    @rule(text=texts, at=moments, cited=st.integers(1, 12))
    def reflect(self, text: str, at: Any, cited: int) -> None:
        if cited in self.model:
            self._both(lambda stream: stream.remember(text, at=at, importance=5, kind="reflection", citations=[cited]))

    @rule(text=texts, at=moments, k=st.integers(1, 4))
    def recall(self, text: str, at: Any, k: int) -> None:
        self._both(lambda stream: stream.recall(text, at=at, k=k))

    @rule(ids=some_ids)
    def forget(self, ids: set[int]) -> None:
        self._both(lambda stream: stream.forget(self._known(ids)))

    @rule(ids=some_ids)
    def archive(self, ids: set[int]) -> None:
        self._both(lambda stream: stream.archive(self._known(ids)))

    @rule(ids=some_ids)
    def unarchive(self, ids: set[int]) -> None:
        self._both(lambda stream: stream.unarchive(self._known(ids)))

    @rule(id=st.integers(1, 12), importance=importances, note=texts)
    def revise(self, id: int, importance: int, note: str) -> None:
        if id in self.model:
            self._both(lambda stream: stream.revise(id, importance=importance, details={"note": note}))

    @rule(id=st.integers(1, 12), text=texts, at=moments)
    def rewrite(self, id: int, text: str, at: Any) -> None:
        if id in self.model:
            self._both(lambda stream: stream.revise(id, text=text, tags=text.split(), at=at))

    @rule()
    def reopen(self) -> None:
        self.kept.close()
        self.store.close()
        self.store = self.opened()
        self.kept = MemoryStream.open(self.store, "지우 / x", **PARTS)

    @invariant()
    def are_equal(self) -> None:
        kept, model = self.kept, self.model
        assert list(kept) == list(model)
        assert kept.archived == model.archived
        assert (kept.last_id, kept.importance_since_reflection()) == (
            model.last_id,
            model.importance_since_reflection(),
        )
        for policy in (policies.PARK, policies.LEXICAL):
            asked: Options = {"policy": policy, "touch": False, "k": 20}
            at = START + timedelta(days=2)
            found, wanted = (stream.retrieve("festival 축제 Klaus", at=at, **asked) for stream in (kept, model))
            assert (found.hits, found.candidates) == (wanted.hits, wanted.candidates)

    def teardown(self) -> None:
        if hasattr(self, "kept"):
            self.kept.close()
            self.store.close()

    def _known(self, ids: Iterable[int]) -> list[int]:
        return [id for id in sorted(ids) if id <= self.model.last_id]

    def _both(self, deed: Callable[[MemoryStream], Any]) -> None:
        assert deed(self.kept) == deed(self.model)
