"""An assistant remembers, recalls and reads why: the official SDK's client in process, over stdio and over HTTP."""

from __future__ import annotations

import asyncio
import signal
import sys
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from commonplace.errors import UsageError, install
from commonplace.memory import MemoryStream
from e2e.command import command, environment, started

mcp = pytest.importorskip("mcp", reason="mcp is not installed")
stdio = pytest.importorskip("mcp.client.stdio")
mcp_server = pytest.importorskip("commonplace.parts.mcp.server")

READING = {"recall", "explain", "list", "characters"}


class Assistant:
    """Calls tools and returns what they say."""

    def __init__(self, client: Any) -> None:
        self.client = client

    async def __call__(self, tool: str, **arguments: Any) -> dict[str, Any]:
        answer = await self.client.call_tool(tool, arguments)
        assert not answer.is_error, answer.content
        return answer.structured_content

    async def refused(self, tool: str, **arguments: Any) -> str:
        answer = await self.client.call_tool(tool, arguments)
        assert answer.is_error
        return answer.content[0].text


def talk(to: Any, what: Callable[[Assistant], Awaitable[None]]) -> None:
    """Connects the SDK's client to a server in this process, a URL or a program, and lets the assistant do that."""

    async def connected() -> None:
        async with mcp.Client(to, read_timeout_seconds=60) as client:
            await what(Assistant(client))

    asyncio.run(connected())


def over(where: object, what: Callable[[Assistant], Awaitable[None]], agent: str = "") -> None:
    """The same with a server in this process, over a store or a run."""
    tools = mcp_server.tools_of(str(where), agent)
    try:
        talk(mcp_server.server(tools), what)
    finally:
        tools.close()


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small run."""
    path = tmp_path_factory.mktemp("mcp") / "plaza.run"
    command("run", "plaza", "--ticks", "30", "--view", "none", "-o", path)
    return path


# ── a store ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_facts_are_found_in_what_is_remembered_where_a_mind_is_named(tmp_path, run):
    tools = mcp_server.tools_of(str(tmp_path / "a.db"), "me", "offline")

    async def day(ask: Assistant) -> None:
        await ask("remember", text="Hello there! Klaus moved to Lyon.", source="maria")
        fact, _ = (await ask("list"))["memories"]
        assert (fact["text"], fact["source"], fact["tags"]) == ("Klaus moved to Lyon.", "maria", ["fact"])
        assert fact["details"]["quotes"]["words"] == "Klaus moved to Lyon"

    try:
        talk(mcp_server.server(tools), day)
    finally:
        tools.close()
    with pytest.raises(UsageError, match="nothing is remembered in a run"):
        mcp_server.tools_of(str(run), "", "offline")


def test_an_assistant_remembers_recalls_with_reasons_and_forgets(tmp_path):
    async def day(ask: Assistant) -> None:
        kept = await ask("remember", text="Klaus is allergic to nuts", source="maria", tags=["health"], importance=8)
        await ask("remember", text="The stove is burning", at="2031-10-04T09:00")
        assert (kept["id"], kept["agent"], kept["importance"], kept["tags"]) == (1, "user", 8.0, ["health"])
        assert abs((datetime.now(UTC) - datetime.fromisoformat(kept["created_at"])).total_seconds()) < 60
        found = await ask("recall", query="what is Klaus allergic to?", at="2031-10-05T09:00", k=1)
        (hit,) = found["hits"]
        assert hit["memory"]["text"] == "Klaus is allergic to nuts"
        assert hit["why"].startswith("it shares words with the question (+1.00)")
        assert hit["score"] == pytest.approx(sum(part["adds"] for part in hit["parts"]))
        assert hit["parts"][0].keys() == {"name", "meaning", "raw", "normalised", "weight", "adds"}
        why = await ask("explain", id=1, query="what is Klaus allergic to?", k=1)
        assert (why["recalled"], why["hit"]["memory"]["id"]) == (True, 1)
        why_not = await ask("explain", id=2, query="what is Klaus allergic to?", k=1, at="2031-10-05T09:00")
        assert (why_not["recalled"], why_not["hit"]) == (False, None)
        assert "Others scored higher than memory 2" in why_not["reason"]
        assert [one["id"] for one in (await ask("list", only={"tags": ["health"]}))["memories"]] == [1]
        assert (await ask("forget", ids=[1])) == {"agent": "user", "ids": [1], "dry_run": False}
        assert (await ask("list"))["total"] == 1
        assert await ask("characters") == {"characters": [{"id": "user", "name": "", "place": "", "doing": ""}]}

    over(tmp_path / "notes.db", day, agent="user")
    with MemoryStream.open(tmp_path / "notes.db", agent="user") as stream:
        assert [memory.text for memory in stream] == ["The stove is burning"]


def test_an_assistant_is_told_what_fits_and_hears_the_same_once(tmp_path):
    async def day(ask: Assistant) -> None:
        for text in ("Klaus is allergic to nuts", "The stove is burning", "klaus is allergic to nuts!"):
            await ask("remember", text=text, at="2031-10-04T09:00")
        found = await ask("recall", query="what is Klaus allergic to?", at="2031-10-05T09:00")
        assert (found["fits"], found["confidence"] > 0.5) == (True, True)
        assert [(hit["memory"]["id"], hit["repeats"]) for hit in found["hits"]] == [(1, [3]), (2, [])]
        why_not = await ask("explain", id=3, query="what is Klaus allergic to?", at="2031-10-05T09:00")
        assert "a hit says the same" in why_not["reason"]
        found = await ask("recall", query="zeppelin quartz", at="2031-10-05T09:00")
        assert (found["fits"], found["confidence"] < 0.5) == (False, True)
        assert not any("shares words" in hit["why"] or "fit" in hit["why"] for hit in found["hits"])
        assert (await ask("recall", query=""))["confidence"] is None

    over(tmp_path / "notes.db", day, agent="user")


def test_of_what_does_not_fit_the_reasons_say_that_the_best_is_weak():
    stream = MemoryStream("me", embedder=lambda texts: [[1.0, float("lantern" not in text)] for text in texts])
    at = datetime(2031, 10, 4, tzinfo=UTC)
    stream.add_many(["a lantern and a stove", "bread"], at=at)
    hit = stream.recall("lantern", at=at)[0]
    assert "its meaning is near the question's (+0.50)" in mcp_server.hit_of(hit).why
    weak = mcp_server.hit_of(hit, fits=False)
    assert "but not near (+0.50)" in weak.why and "is near the" not in weak.why
    assert {part.name: part.adds for part in weak.parts}["cosine"] == 0.5


def test_tools_say_whether_they_only_read(tmp_path, run):
    async def hints(ask: Assistant) -> None:
        tools = (await ask.client.list_tools()).tools
        known = {tool.name: tool.annotations for tool in tools}
        reading = {name for name, hint in known.items() if hint.read_only_hint}
        assert reading == (
            {*READING, "blocks"}
            if "remember" in known
            else {*READING, "ask_character", "character", "why", "who_knows", "transcript"}
        )
        assert known.keys() - reading == (
            {"remember", "batch", "update", "archive", "forget", "set_block"} if "remember" in known else set()
        )
        assert all(hint.destructive_hint == (name == "forget") for name, hint in known.items() if name not in reading)
        assert all(tool.output_schema and tool.description for tool in tools)
        assert all(tool.input_schema["additionalProperties"] is False for tool in tools)
        assert all("description" in one for tool in tools for one in tool.input_schema["properties"].values())
        assert "data" in ask.client.instructions

    over(tmp_path / "notes.db", hints)
    over(run, hints)


def test_wrong_use_is_an_error_with_a_next_step_and_no_traceback(tmp_path):
    async def mistakes(ask: Assistant) -> None:
        assert "give `agent`" in await ask.refused("recall", query="who?")
        for agent in ("maria", "klaus"):
            await ask("remember", text="a lantern", agent=agent)
        assert "give `agent`: klaus, maria" in await ask.refused("list")
        assert "did you mean maria?" in await ask.refused("recall", query="who?", agent="mria")
        assert "at least one visible character" in await ask.refused("remember", text=" ", agent="maria")
        assert "expected an ISO time" in await ask.refused("recall", query="who?", agent="maria", at="monday")
        assert "ids go from 1 to 1" in await ask.refused("forget", ids=[7], agent="maria")
        assert "Traceback" not in await ask.refused("recall", query="who?", agent="maria", k=0)
        said = await ask.refused("remember", text="a kite", agent="maria", date="2031-10-04")
        assert "no argument 'date'; the arguments are text, agent, at," in said
        assert (await ask("remember", text="and a stove", agent="maria"))["id"] == 2, "it goes on after errors"

    over(tmp_path / "notes.db", mistakes)


def test_many_are_kept_at_once_corrected_set_aside_and_forgotten_by_a_filter(tmp_path):
    async def day(ask: Assistant) -> None:
        notes = [{"text": f"bread {day}", "at": f"2025-10-0{day}", "tags": ["food"]} for day in (1, 2, 3)]
        kept = await ask("batch", memories=notes)
        assert [(one["id"], one["created_at"][:10]) for one in kept["memories"]] == [
            (1, "2025-10-01"),
            (2, "2025-10-02"),
            (3, "2025-10-03"),
        ]
        assert "date" in await ask.refused("batch", memories=[{"text": "bread"}, {"text": "ink", "date": "2025-10-04"}])
        said = await ask("update", id=2, text="rye bread", tags=["food", "rye"], at="2025-11-01")
        assert (said["text"], said["tags"]) == ("rye bread", ["food", "rye"])
        assert said["details"]["history"] == [{"text": "bread 2", "tags": ["food"], "until": "2025-11-01T00:00:00Z"}]
        assert (await ask("archive", ids=[3]))["ids"] == [3]
        assert (await ask("list"))["total"] == 2
        assert (await ask("archive", ids=[3], restore=True))["ids"] == [3]
        only = {"tags": ["food"], "until": "2025-10-02"}
        assert (await ask("forget", only=only, dry_run=True))["ids"] == [1, 2]
        assert (await ask("list"))["total"] == 3
        assert (await ask("forget", only=only))["ids"] == [1, 2]
        assert "give either ids or where" in await ask.refused("forget")
        assert [one["id"] for one in (await ask("list"))["memories"]] == [3]

    over(tmp_path / "notes.db", day, agent="user")


def test_core_blocks_are_written_read_and_removed(tmp_path):
    async def day(ask: Assistant) -> None:
        assert (await ask("blocks"))["blocks"] == []
        await ask("set_block", name="user", text="Maria, a baker")
        written = await ask("set_block", name="tone", text="brief")
        assert written["blocks"][1] == {"name": "tone", "text": "brief", "limit": 2000}
        assert "of 2000 characters" in await ask.refused("set_block", name="user", text="x" * 2001)
        await ask("set_block", name="tone", text="")
        assert [one["text"] for one in (await ask("blocks"))["blocks"]] == ["Maria, a baker"]

    over(tmp_path / "notes.db", day, agent="user")
    over(tmp_path / "notes.db", lambda ask: ask("blocks"), agent="user")


def test_what_expires_is_not_recalled_later(tmp_path):
    async def day(ask: Assistant) -> None:
        gone = "2025-10-01T18:00:00Z"
        await ask("remember", text="the car is in the garage", at="2025-10-01T08:00", expires_at=gone)
        await ask("batch", memories=[{"text": "the car is blue", "at": "2025-10-01T09:00", "expires_at": gone}])
        await ask("remember", text="the car is fast", at="2025-10-01T09:00")
        for at, wanted in (("2025-10-01T12:00", [1, 2, 3]), (gone, [3])):
            hits = (await ask("recall", query="the car", at=at))["hits"]
            assert sorted(hit["memory"]["id"] for hit in hits) == wanted
        assert (await ask("forget", only={"expired_by": gone}, dry_run=True))["ids"] == [1, 2]
        assert "time" in await ask.refused("remember", text="ink", expires_at="soon")

    over(tmp_path / "notes.db", day, agent="user")


def test_filters_and_a_least_relevance_hold_in_recall(tmp_path):
    async def questions(ask: Assistant) -> None:
        for day, (text, source, tags) in enumerate(
            [("bread", "ana", ["food"]), ("bread", "klaus", []), ("ink", "ana", [])]
        ):
            await ask("remember", text=f"{source} likes {text}", at=f"2025-10-0{day + 1}", source=source, tags=tags)

        async def found(**more: Any) -> list[int]:
            return sorted(
                hit["memory"]["id"] for hit in (await ask("recall", query="who likes bread?", **more))["hits"]
            )

        assert await found() == [1, 2, 3]
        assert await found(only={"source": "ana"}) == [1, 3]
        assert await found(only={"source": "ana", "tags": ["food"]}) == [1]
        assert await found(only={"since": "2025-10-02", "until": "2025-10-02"}) == [2]
        assert await found(at="2025-10-02T12:00") == [1, 2], "what was made later is not seen"
        assert await found(min_relevance=0.5) == [1, 2]
        assert (await ask("recall", query="qwerty zxcv", min_relevance=0.1))["hits"] == []
        assert "the kinds are" in await ask.refused("list", only={"kinds": ["dream"]})
        assert "Extra inputs" in await ask.refused("list", only={"colour": "red"})

    over(tmp_path / "notes.db", questions, agent="user")


def test_what_is_no_longer_true_comes_after_what_is_and_says_so(tmp_path):
    async def day(ask: Assistant) -> None:
        await ask("remember", text="I live in Seoul", at="2031-10-04T09:00")
        kept = await ask("remember", text="I moved to Busan", at="2031-10-05T09:00")
        await ask("remember", text="the fair is on", at="2031-10-05T09:00", valid_until="2031-10-06", supersedes=[2])
        assert kept["details"] == {"supersedes": [1]}
        question = {"query": "where do I live?", "at": "2031-10-05T10:00"}
        await ask("forget", ids=[3])
        first, second = (await ask("recall", **question))["hits"]
        assert (first["memory"]["id"], first["note"]) == (2, "")
        assert "it takes the place of what it supersedes" in first["why"]
        assert (second["memory"]["id"], second["note"]) == (1, "superseded by #2 on 2031-10-05")
        assert [hit["memory"]["id"] for hit in (await ask("recall", **question, current=False))["hits"]] == [1, 2]
        assert "It is superseded by #2" in (await ask("explain", id=1, **question))["reason"]
        assert "It is superseded by #2" in (await ask("explain", id=1, k=1, **question))["reason"]
        assert "superseded memory 9 does not exist" in await ask.refused("remember", text="x", supersedes=[9])

    over(tmp_path / "notes.db", day, "user")


def test_two_assistants_share_a_store(tmp_path):
    ours, theirs = (mcp_server.tools_of(str(tmp_path / "notes.db"), "user") for _ in range(2))

    async def day(first: Assistant) -> None:
        async with mcp.Client(mcp_server.server(theirs)) as client:
            second = Assistant(client)
            for number in range(3):
                assert (await first("remember", text=f"a lantern {number}"))["id"] == 2 * number + 1
                assert (await second("remember", text=f"a stove {number}"))["id"] == 2 * number + 2
            (hit,) = (await first("recall", query="which stove?", k=1))["hits"]
            assert hit["memory"]["text"].startswith("a stove")
            await second("forget", ids=[1])
            assert [one["id"] for one in (await first("list"))["memories"]] == [6, 5, 4, 3, 2]

    try:
        talk(mcp_server.server(ours), day)
    finally:
        ours.close()
        theirs.close()


# ── a run ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_assistant_reads_why_who_knows_what_and_what_was_said(run):
    before = run.read_bytes()

    async def questions(ask: Assistant) -> None:
        said = await ask("transcript", limit=5)
        assert said["total"] >= len(said["utterances"]) > 0
        last = said["utterances"][-1]
        why = await ask("why", event_id=last["event_id"])
        assert why["reasons"]["event"]["utterance"] == last["text"]
        assert last["text"] in why["text"]
        own = await ask("transcript", agent=last["speaker"], since=str(last["tick"]))
        assert last in own["utterances"]
        (fact, *_) = (await ask("who_knows"))["facts"]
        assert set(fact["originators"]) <= set(fact["knowers"])
        assert (await ask("who_knows", fact=fact["fact"]))["facts"] == [fact]
        people = [one["id"] for one in (await ask("characters"))["characters"]]
        assert last["speaker"] in people
        found = await ask("recall", query=last["text"], agent=people[0], k=3)
        assert (len(found["hits"]), found["agent"]) == (3, people[0])
        plans = await ask("recall", query=last["text"], agent=people[0], only={"kinds": ["plan"]})
        assert {hit["memory"]["kind"] for hit in plans["hits"]} <= {"plan"}
        listed = await ask("list", agent=people[0], limit=2)
        assert len(listed["memories"]) == 2 < listed["total"]
        answer = await ask("ask_character", agent=people[0], question="What did you do today?", at="30")
        assert answer["answer"]
        assert answer["memories"]
        assert all(one["memory"]["created_at"] <= answer["time"] for one in answer["memories"])
        assert "the question is empty" in await ask.refused("ask_character", agent=people[0], question=" ")
        why = await ask("explain", agent=people[0], id=found["hits"][0]["memory"]["id"], query=last["text"])
        assert why["recalled"]
        early = (await ask("list", agent=people[0], at=0))["total"]
        assert early < (await ask("list", agent=people[0], at="15"))["total"] < listed["total"]
        assert (await ask("transcript", since=0, until=0))["total"] == 0
        assert (await ask("who_knows", at=0))["facts"][0]["knowers"] == fact["originators"]
        assert "looks like t12.mira.0" in await ask.refused("why", event_id="yesterday")
        assert "no fact is" in await ask.refused("who_knows", fact="qqq")
        inside = await ask("character", agent=people[0])
        assert inside["agent_id"] == people[0]
        assert inside["plan"]["day"]
        assert "give `agent`" in await ask.refused("list")

    over(run, questions)
    assert run.read_bytes() == before


# ── real processes ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_over_stdio_what_is_remembered_survives_the_server(tmp_path):
    words = ["-W", "error", "-m", "commonplace", "mcp", str(tmp_path / "notes.db"), "--agent", "지우"]
    program = stdio.StdioServerParameters(command=sys.executable, args=words, env=environment())

    async def day(ask: Assistant) -> None:
        await ask("remember", text="빵이 좋아 🍞")
        assert (await ask("recall", query="빵이 좋아?"))["hits"][0]["memory"]["text"] == "빵이 좋아 🍞"

    talk(program, day)
    with MemoryStream.open(tmp_path / "notes.db", agent="지우") as stream:
        assert [memory.text for memory in stream] == ["빵이 좋아 🍞"]


def test_over_http_two_clients_read_a_run(run):
    process = started("mcp", run, "--http", "--port", "0")
    with process:
        assert process.stderr is not None
        url = process.stderr.readline().strip()
        try:
            for _ in range(2):
                talk(url, reads_why)
        finally:
            process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
        assert "Traceback" not in process.stderr.read()


def test_two_interruptions_end_it_without_a_traceback(run):
    with started("mcp", run, "--http", "--port", "0") as process:
        assert process.stderr is not None
        process.stderr.readline()
        for _ in range(2):
            process.send_signal(signal.SIGINT)
            time.sleep(0.05)
        assert process.wait(60) == 130
        assert process.stderr.read() == ""


async def reads_why(ask: Assistant) -> None:
    (last,) = (await ask("transcript", limit=1))["utterances"]
    assert last["text"] in (await ask("why", event_id=last["event_id"]))["text"]


def test_without_the_sdk_the_error_says_how_to_install_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "mcp.server.mcpserver", None)
    done = command("mcp", tmp_path / "notes.db", status=2)
    assert install("mcp") in done.err
    assert not (tmp_path / "notes.db").exists()


def test_only_this_machine_is_served(tmp_path):
    for host in ("0.0.0.0", "::", "example.org"):
        done = command("mcp", tmp_path / "notes.db", "--http", "--host", host, status=2)
        assert "asks nobody for a password" in done.err


def test_a_port_that_is_taken_is_refused(tmp_path):
    with mcp_server._listener("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        done = command("mcp", tmp_path / "notes.db", "--http", "--port", port, status=2)
    assert f"port {port} cannot be used" in done.err


def test_a_leading_tilde_is_the_home_of_the_user(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("notes.db", "notes/"):
        tools = mcp_server.tools_of(f"~/{name}", "me")
        tools.remember("a lantern")
        tools.close()
    assert (tmp_path / "notes.db").is_file()
    assert (tmp_path / "notes" / "index.json").is_file()
