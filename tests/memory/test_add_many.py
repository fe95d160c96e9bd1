"""Adding a conversation in one line."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.errors import UsageError
from commonplace.memory import MemoryStream
from commonplace.memory.stores import open_store
from commonplace.memory.stores.store import Add
from memory.naive import hours
from memory.test_failing_parts import Moody
from sizes import examples

CHAT = [
    {"role": "system", "content": "You are kind."},
    {"role": "user", "name": "Maria", "content": "I moved to Lyon", "created_at": "2031-10-04T08:00:00Z"},
    {"role": "assistant", "content": [{"type": "text", "text": "How"}, {"type": "image_url"}, "nice!"]},
    {"role": "assistant", "content": None, "tool_calls": [1]},
    {"role": "user", "content": "  ", "timestamp": 1},
]


def test_one_line_adds_a_conversation():
    stream = MemoryStream("maria")
    said, answered = stream.add_many(CHAT, at=hours(1))
    assert (said.text, said.source, said.created_at) == (
        "I moved to Lyon",
        "Maria",
        datetime(2031, 10, 4, 8, tzinfo=UTC),
    )
    assert (answered.text, answered.source, answered.created_at) == ("How nice!", "assistant", hours(1))
    assert said.details == {"role": "user"}
    assert list(stream) == [said, answered]
    assert stream.recall("where did Maria move?", at=hours(2), touch=False)[0].memory == said
    assert MemoryStream("x").add_many(CHAT, at=hours(1), system=True)[0].text == "You are kind."


def test_texts_and_fields_of_remember_are_items_too():
    stream = MemoryStream("maria")
    first = stream.remember("a lantern", at=hours(0))
    added = stream.add_many(
        [
            "a stove",
            {"text": "they burn", "at": hours(2), "kind": "reflection", "citations": [first.id], "importance": 9},
        ],
        at=hours(1),
    )
    assert [(one.id, one.text, one.created_at, one.kind, one.citations) for one in added] == [
        (2, "a stove", hours(1), "observation", ()),
        (3, "they burn", hours(2), "reflection", (1,)),
    ]
    assert stream.add_many([]) == []


def test_a_message_whose_parts_or_first_time_are_null():
    parts = [{"type": "image_url", "text": None}, {"type": "text", "text": "a lantern"}, "at the gate"]
    message = {"role": "user", "content": parts, "created_at": None, "timestamp": 0}
    (memory,) = MemoryStream("maria").add_many([message])
    assert (memory.text, memory.created_at) == ("a lantern at the gate", datetime(1970, 1, 1, tzinfo=UTC))


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        (7, "not an item"),
        ({"content": 3}, "content"),
        ({"content": [3]}, "part"),
        ({"role": 3, "content": "x"}, "role"),
        ({"role": "user", "text": "x"}, "no 'text'"),
        ({"role": "user", "contents": "x"}, "no 'contents'"),
        ({"text": "x", "colour": "red"}, "colour"),
        ({"importance": 3}, "no text"),
        ({"text": 3}, "text"),
        ({"text": "x", "importance": "high"}, "importance"),
        ({"text": "x", "kind": "dream"}, "kind"),
        ({"text": "x", "citations": [9], "kind": "plan"}, "9"),
        ({"role": "user", "content": "x", "timestamp": "yesterday"}, "time"),
        ({"role": "user", "content": "x", "timestamp": 1e300}, "time"),
    ],
)
def test_a_wrong_item_is_named_and_nothing_is_added(wrong, named):
    stream = MemoryStream("maria")
    with pytest.raises(UsageError, match=named) as caught:
        stream.add_many(["fine", wrong, "fine"], at=hours(0))
    assert "item 1" in str(caught.value)
    assert len(stream) == 0


def test_items_need_a_time_and_a_list():
    with pytest.raises(UsageError, match="item 0: it has no time"):
        MemoryStream("maria").add_many(["x"])
    for wrong in ("x", {"role": "user", "content": "x"}):
        with pytest.raises(UsageError, match="list"):
            MemoryStream("maria").add_many(wrong, at=hours(0))


def test_all_are_embedded_at_once_and_stored_at_once(tmp_path):
    embedder = Moody()
    store = open_store(tmp_path / "s.db")
    batches: list[int] = []
    write = store.write

    def counted(agent, operations, mark):
        batches.extend(len(one.memories) for one in operations if isinstance(one, Add))
        return write(agent, operations, mark)

    store.write = counted
    with MemoryStream.open(store, "maria", embedder=embedder) as stream:
        stream.add_many([f"lantern {number}" for number in range(50)], at=hours(0))
        assert (embedder.batches, batches) == ([50], [50])
        embedder.down = ValueError()
        stream.add_many([f"stove {number}" for number in range(3)], at=hours(0))
        assert stream.unembedded == (51, 52, 53)
    with MemoryStream.open(store, "maria", embedder=WordsAgain()) as stream:
        assert stream.unembedded == (51, 52, 53)
        assert stream.reembed() == 3
    with MemoryStream.open(store, "maria", embedder=WordsAgain()) as stream:
        assert stream.unembedded == ()
        assert stream.vector(53) is not None
    store.close()


class WordsAgain(Moody):
    pass


@examples(40)
@given(texts=st.lists(st.sampled_from(["lantern", "stove 난로", " ", "Klaus: hello"]), max_size=8))
def test_many_at_once_are_many_one_by_one(texts):
    at_once, one_by_one = MemoryStream("maria"), MemoryStream("maria")
    added = at_once.add_many(texts, at=hours(0))
    for text in filter(str.strip, texts):
        one_by_one.remember(text, at=hours(0))
    assert list(at_once) == list(one_by_one) == added
    assert [at_once.vector(one.id).tolist() for one in added] == [one_by_one.vector(one.id).tolist() for one in added]
