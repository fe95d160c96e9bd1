"""What a character knows of its own past: bounded, aging, citing memories."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from commonplace.character.account import (
    BETWEEN,
    MOST_BETWEEN,
    MOST_CITED,
    MOST_LATELY,
    MOST_LINES,
    MOST_OWN,
    OWN,
    Account,
    AccountRow,
    as_topic,
    digest_of,
)

DAYS = 50
"""Ticks for which these tests keep rows and lines."""
NOTED = st.tuples(
    st.sampled_from((*OWN, *BETWEEN)), st.sampled_from(("", "ben")), st.integers(0, 60), st.integers(0, 9),
    st.integers(1, 99),
)  # fmt: skip


def noted(account: Account, kind: str, topic: object, tick: int, memory: int = 1, **more: object) -> Account:
    entry = AccountRow(kind, topic=str(topic), tick=tick, since=tick, because=(memory,), **more)
    return account.noted(entry, tick - DAYS)


@given(st.lists(NOTED, max_size=120))
def test_it_stays_small_and_every_row_cites_memories(history: list[tuple[str, str, int, int, int]]) -> None:
    account, tick = Account(), 0
    for kind, other, topic, later, memory in history:
        tick += later
        account = noted(account, kind, topic, tick, memory, other=other)
        assert account.find(kind, other, topic=str(topic)) is not None
    for kind in OWN:
        assert len(account.rows(kind, "")) <= MOST_OWN
    for kind in BETWEEN:
        assert len(account.rows(kind, "ben")) <= MOST_BETWEEN
    for entry in account.all():
        assert 1 <= len(entry.because) <= MOST_CITED
        assert list(entry.because) == sorted(set(entry.because))
        assert entry.since <= entry.tick
    assert account.promises() == tuple(entry for entry in account.all() if entry.kind in {"promised", "agreed"})


def test_the_oldest_goes_first_and_what_happened_again_stays_longer() -> None:
    account = noted(noted(Account(), "told", "again", 1), "told", "again", 2)
    for number in range(MOST_BETWEEN + 2):
        account = noted(account, "told", number, 3 + number)
    assert account.find("told", topic="again") is not None
    assert [entry.topic for entry in account.rows("told")][-1] == "again"
    assert account.find("told", topic="0") is None


def test_rows_and_lines_older_than_a_month_are_gone() -> None:
    account = noted(Account(), "told", "old", 1).said("ben", "Long ago.", 1, 1 - DAYS)
    account = noted(account, "told", "new", DAYS + 2).said("ben", "Now.", DAYS + 2, 2)
    assert [entry.topic for entry in account.rows("told")] == ["new"]
    assert set(account.lines["ben"]) == {digest_of("now")}


def test_a_mark_stays_however_old_it_is_and_however_many_there_are() -> None:
    account = noted(Account(), "marked", "forgiven", 1)
    for number in range(MOST_OWN + 5):
        account = noted(account, "marked", number, 10 * DAYS)
    assert account.find("marked", topic="forgiven") is not None
    assert len(account.rows("marked")) == MOST_OWN + 6


def test_a_row_counts_keeps_its_beginning_and_the_first_and_latest_memories() -> None:
    account = Account()
    for memory in (3, 5, 7, 9):
        account = noted(account, "heard", "flood", memory * 2, memory)
    (entry,) = account.rows("heard")
    assert (entry.since, entry.tick, entry.times, entry.because) == (6, 18, 4, (3, 7, 9))


@given(st.lists(NOTED, max_size=40), st.frozensets(st.integers(1, 99)))
def test_what_rests_on_forgotten_memories_alone_is_not_known(
    history: list[tuple[str, str, int, int, int]], forgotten: frozenset[int]
) -> None:
    account = Account()
    for kind, other, topic, tick, memory in history:
        account = noted(account, kind, topic, tick, memory, other=other)
    left = account.without(forgotten)
    assert all(entry.because and not forgotten & {*entry.because} for entry in left.all())
    assert {entry.key for entry in left.all()} == {
        entry.key for entry in account.all() if not forgotten.issuperset(entry.because)
    }
    assert account.without(frozenset({1000})) is account


def test_the_sentences_said_to_each_are_known_and_bounded() -> None:
    account = Account()
    for number in range(MOST_LINES + 5):
        account = account.said("ben", f"Hello. Line {'x' * number}!", number, number - 1000)
    account = account.said("cora", "Hello?", 400, -1000)
    assert len(account.lines["ben"]) == MOST_LINES
    assert len(account.lines[""]) == MOST_LATELY
    assert account.lines["ben"][digest_of("HELLO")] == MOST_LINES + 4
    assert account.lines[""][digest_of("hello.")] == account.lines["cora"][digest_of("hello")] == 400


def test_the_earliest_promise_is_known() -> None:
    account = noted(Account(), "promised", "kite", 1, due=40, other="ben")
    account = noted(account, "promised", "roof", 2, due=20, other="cora")
    assert account.next_due == 20
    (roof,) = account.rows("promised", "cora")
    assert account.dropped(roof).next_due == 40


def test_topics_are_alike_whatever_their_case_and_article() -> None:
    assert as_topic("The Lantern Festival!") == as_topic("lantern festival") == "lantern festival"
    assert as_topic("the") == ""
