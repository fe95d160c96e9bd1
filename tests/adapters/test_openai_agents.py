"""The session protocol of the OpenAI Agents SDK: items come back exactly, in order, and are memories besides.

The SDK takes seconds to import: tests import it, so that only the worker that runs them does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from datetime import UTC, datetime
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.memory import MemoryStream
from sizes import examples

if TYPE_CHECKING:
    from commonplace.adapters.openai_agents import StreamSession

pytestmark = pytest.mark.skipif(find_spec("agents") is None, reason="openai-agents is not installed")

NOW = datetime(2025, 10, 4, 12, tzinfo=UTC)
ITEMS: list[Any] = [
    {"role": "user", "content": "빵은 언제 사?"},
    {"type": "function_call", "call_id": "c1", "name": "bakery", "arguments": '{"kind": "rye"}'},
    {"type": "function_call_output", "call_id": "c1", "output": "open until nine"},
    {"type": "reasoning", "id": "r1", "summary": []},
    {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "The bakery is open until nine.", "annotations": []}],
    },
]


def session(stream: MemoryStream | None = None, name: str = "monday", **settings: Any) -> StreamSession:
    from commonplace.adapters.openai_agents import StreamSession

    return StreamSession(MemoryStream("bot") if stream is None else stream, name, clock=lambda: NOW, **settings)


def done(what: Awaitable[Any]) -> Any:
    async def wait() -> Any:
        return await what

    return asyncio.run(wait())


def test_it_follows_the_protocol():
    from agents.memory import Session

    assert isinstance(session(), Session)


def test_items_come_back_exactly_from_a_file(tmp_path):
    from agents.memory import SessionSettings

    with MemoryStream.open(tmp_path / "chats.db", "bot") as stream:
        done(session(stream).add_items(ITEMS[:2]))
        done(session(stream, "tuesday").add_items([{"role": "user", "content": "Another talk"}]))
        done(session(stream).add_items(ITEMS[2:]))
    with MemoryStream.open(tmp_path / "chats.db", "bot") as stream:
        monday = session(stream)
        assert done(monday.get_items()) == ITEMS
        assert done(monday.get_items(limit=2)) == ITEMS[-2:]
        assert done(monday.get_items(limit=0)) == []
        assert done(session(stream, session_settings=SessionSettings(limit=1)).get_items()) == ITEMS[-1:]
        (hit,) = stream.recall("when is the bakery open?", at=NOW, k=1)
        assert (hit.memory.text, hit.memory.source) == ("The bakery is open until nine.", "assistant")
        assert done(monday.pop_item()) == ITEMS[-1]
        assert done(monday.get_items()) == ITEMS[:-1]
        done(monday.clear_session())
        assert (done(monday.get_items()), done(monday.pop_item())) == ([], None)
        assert len(done(session(stream, "tuesday").get_items())) == 1


def test_parts_that_are_texts_or_no_text_are_read():
    kept = session()
    items = [{"role": "user", "content": ["a lantern", {"type": "input_image", "text": None}, {"text": "at the gate"}]}]
    done(kept.add_items(items))
    assert done(kept.get_items()) == items
    assert kept._conversation._stream.get(1).text == "a lantern at the gate"


def test_what_a_caller_does_to_items_changes_nothing():
    kept = session()
    item: Any = {"role": "user", "content": [{"type": "input_text", "text": "hello"}]}
    done(kept.add_items([item]))
    item["content"].clear()
    done(kept.get_items())[0]["content"].clear()
    assert done(kept.get_items()) == [{"role": "user", "content": [{"type": "input_text", "text": "hello"}]}]


def test_what_several_pop_at_once_each_gets_once():
    stream = MemoryStream("bot")
    done(session(stream).add_items([{"role": "user", "content": str(number)} for number in range(20)]))

    async def popped() -> list[Any]:
        return await asyncio.gather(*(session(stream).pop_item() for _ in range(24)))

    found = done(popped())
    assert sorted(int(item["content"]) for item in found if item) == list(range(20))
    assert found.count(None) == 4


def test_of_items_that_cannot_be_kept_none_is():
    kept = session()
    with pytest.raises(TypeError):
        done(kept.add_items([ITEMS[0], {"role": "user", "content": object()}]))
    assert done(kept.get_items()) == []


@examples(40)
@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("add"), st.lists(st.dictionaries(st.text(max_size=4), st.text(max_size=9)), max_size=3)),
            st.tuples(st.just("pop"), st.none()),
            st.tuples(st.just("clear"), st.none()),
            st.tuples(st.just("get"), st.none() | st.integers(0, 4)),
        ),
        max_size=12,
    )
)
def test_it_does_what_a_list_does(deeds):
    kept, wanted = session(), list[Any]()
    for deed, value in deeds:
        if deed == "add":
            done(kept.add_items(value))
            wanted += value
        elif deed == "pop":
            assert done(kept.pop_item()) == (wanted.pop() if wanted else None)
        elif deed == "clear":
            done(kept.clear_session())
            wanted.clear()
        else:
            assert done(kept.get_items(value)) == (wanted if value is None else wanted[::-1][:value][::-1])


def test_an_agent_remembers_the_turns_before():
    from agents import Agent, Model, ModelResponse, RunConfig, Runner, Usage
    from openai.types.responses import ResponseOutputMessage, ResponseOutputText

    class Parrot(Model):
        """A model that says how many items it was given."""

        async def get_response(self, system_instructions: Any, input: Any, *rest: Any, **more: Any) -> ModelResponse:
            text = ResponseOutputText(text=f"{len(input)} items", type="output_text", annotations=[])
            said = ResponseOutputMessage(id="m", role="assistant", status="completed", type="message", content=[text])
            return ModelResponse(output=[said], usage=Usage(), response_id=None)

        def stream_response(self, *rest: Any, **more: Any) -> Any:
            raise NotImplementedError

    stream = MemoryStream("bot")
    agent = Agent("parrot", model=Parrot())
    quiet = RunConfig(tracing_disabled=True)

    async def turns() -> list[str]:
        texts = ("hello", "and again")
        return [
            (await Runner.run(agent, text, session=session(stream), run_config=quiet)).final_output for text in texts
        ]

    assert asyncio.run(turns()) == ["1 items", "3 items"]
    assert [memory.text for memory in stream] == ["hello", "1 items", "and again", "3 items"]


def test_facts_of_an_item_are_no_items_and_go_with_it():
    from commonplace.memory import FactsByMind

    stream = MemoryStream("bot", facts=FactsByMind("offline"))
    talk = session(stream)
    items: list[Any] = [{"role": "user", "content": f"I live in {town}."} for town in ("Lyon", "Nice")]
    done(talk.add_items(items))
    assert done(talk.get_items()) == items
    assert len(stream) == 4
    done(talk.pop_item())
    assert [memory.text for memory in stream] == ["I live in Lyon.", "I live in Lyon."]
    done(talk.clear_session())
    assert len(stream) == 0


def test_a_session_begins_with_the_core_blocks():
    stream = MemoryStream("bot")
    stream.blocks.set("user", "Maria, a baker")
    done(session(stream).add_items(ITEMS))
    first = {"role": "system", "content": "# user\nMaria, a baker"}
    assert done(session(stream).get_items(limit=1)) == [first, ITEMS[-1]]
    assert done(session(stream, blocks=False).get_items()) == ITEMS
    done(session(stream).clear_session())
    assert done(session(stream).get_items()) == [first]
    stream.blocks.remove("user")
    assert done(session(stream).get_items()) == []
