"""Whatever was done before, and in whatever order, a question is answered as if everything were computed anew."""

from __future__ import annotations

import dataclasses

from hypothesis import given
from hypothesis import strategies as st

from commonplace.memory import Draft, MemoryStream, policies
from memory import naive
from memory.naive import NaiveStream, hours
from memory.strategies import asked, close_moments, importances, questions, remember, shown, spoken, stream_of, vectors
from memory.test_retrieval import HEAVY, close
from sizes import examples

POLICIES = (policies.PARK, policies.LEXICAL, policies.RECALL, policies.REPO2023, HEAVY)
entries = st.tuples(spoken, close_moments, importances, vectors)
asks = st.tuples(questions, st.integers(0, 40), st.sampled_from(POLICIES), st.booleans())
some = st.lists(st.integers(1, 12), min_size=1, max_size=3)
steps = st.one_of(
    st.tuples(st.just("ask"), asks),
    st.tuples(st.just("ask"), asks),
    st.tuples(st.just("remember"), entries),
    st.tuples(st.sampled_from(("forget", "archive", "unarchive")), some),
    st.tuples(st.just("revise"), st.tuples(st.integers(1, 12), importances)),
    st.tuples(st.just("draft"), st.tuples(st.lists(entries, min_size=1, max_size=2), asks, st.booleans())),
    st.tuples(st.just("snapshot"), st.none()),
    st.tuples(st.just("ask then"), asks),
)


class Life:
    """A stream, the plain model beside it, and the latest snapshot of both."""

    def __init__(self, drawn) -> None:
        self.stream: MemoryStream
        self.stream, self.model = stream_of(policies.RECALL, drawn)
        self.archived: set[int] = set()
        self.snapshot()

    def snapshot(self, _=None) -> None:
        self.then = self.stream.snapshot()
        self.seen = [(row, row.accessed, row.there) for row in self.model.rows]

    def ask_then(self, ask) -> None:
        rows = [dataclasses.replace(row, accessed=accessed, there=there) for row, accessed, there in self.seen]
        self.compare(self.then, NaiveStream(rows), ask)

    def ask(self, ask) -> None:
        self.compare(self.stream, self.model, ask)

    def compare(self, who, model: NaiveStream, ask) -> list[int]:
        query, at, policy, touch = ask
        expected = naive.retrieve(model.there(), asked(query), hours(at), policy, 4)
        close(shown(who.recall(query, at=hours(at), k=4, touch=touch, policy=policy)), expected)
        found = [id for id, _ in expected] if touch else []
        if who is self.stream:
            model.touch(found, hours(at))
        return found

    def remember(self, entry) -> None:
        remember(self.stream, self.model, entry)

    def forget(self, ids) -> None:
        self.archived -= self.gone(self.stream.forget(self.known(ids)))

    def archive(self, ids) -> None:
        self.archived |= self.gone(self.stream.archive(self.known(ids)))

    def unarchive(self, ids) -> None:
        back = self.stream.unarchive(self.known(ids))
        assert set(back) == set(self.known(ids)) & self.archived
        for id in back:
            self.model.rows[id - 1].there = True
        self.archived -= set(back)

    def revise(self, change) -> None:
        id, importance = change
        if id in self.stream:
            self.stream.revise(id, importance=importance)
            self.model.rows[id - 1].importance = importance

    def draft(self, turn) -> None:
        added, ask, kept = turn
        draft = Draft(self.stream)
        model = NaiveStream(list(self.model.rows))
        for entry in added:
            remember(draft, model, entry)
        found = self.compare(draft, model, ask)
        if kept:
            self.stream.apply(draft.delta)
            model.touch(found, hours(ask[1]))
            self.model = model

    def known(self, ids) -> list[int]:
        return [id for id in ids if id <= self.stream.last_id]

    def gone(self, ids) -> set[int]:
        for id in ids:
            self.model.rows[id - 1].there = False
        return set(ids)


@examples(300)
@given(drawn=st.lists(entries, max_size=8), script=st.lists(steps, max_size=12), last=asks)
def test_every_answer_is_what_a_plain_recomputation_gives(drawn, script, last):
    life = Life(drawn)
    for verb, argument in [*script, ("ask", last), ("ask then", last), ("ask", last)]:
        getattr(life, verb.replace(" ", "_"))(argument)
