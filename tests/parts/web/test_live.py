"""A live run is a process of its own: pages steer it, and neither a page nor the end of the server can harm it."""

from __future__ import annotations

import json
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.request import urlopen

import pytest
from fastapi.testclient import TestClient

from commonplace.api import DEFAULT_SEED, create_run
from commonplace.errors import install
from commonplace.parts.web import feed as feeding
from commonplace.parts.web.app import make_app
from commonplace.parts.web.library import Library
from commonplace.run.copying import copy_run
from commonplace.run.file import RunFile
from commonplace.run.listing import delete_run
from commonplace.run.opening import open_store
from commonplace.run.place import Address, Place
from commonplace.run.reading import Reading
from commonplace.testing.server import Latency, ModelServer
from e2e.command import command, started
from parts.web.serving import client, listening, live, until, watching
from run.databases import Home, fresh
from sizes import PROVE


@pytest.fixture(scope="module", params=["files", "database"])
def lively(
    request: pytest.FixtureRequest, plaza: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Home, TestClient]]:
    """A folder or a database with one live run, `plaza-7`, that stands at some tick."""
    with ExitStack() as stack:
        if request.param == "files":
            home: Home = tmp_path_factory.mktemp("lively")
            place: Place = home
        else:
            home = stack.enter_context(fresh(request.getfixturevalue("postgres_url")))
            place = Address(home.url)
            copy_run(plaza, home / "first")
        http = stack.enter_context(client(make_app(Library(place))))
        answer = http.post("/api/runs", json={"scenario": "plaza", "ticks": 40})
        assert answer.status_code == 201, answer.text
        assert answer.json()["run"] == "plaza-7" and answer.json()["live"]
        with live(http, "plaza-7") as message:
            http.post("/api/runs/plaza-7/control", json={"action": "speed", "rate": 0})
            while message("delta", "snapshot")["seq"] < 2:
                pass
        assert http.post("/api/runs/plaza-7/control", json={"action": "pause"}).json()["playing"] is False
        between_ticks = {"kind": "god", "text": "It rains.", "preview": True}  # one may still be being made
        assert http.post("/api/runs/plaza-7/inputs", json=between_ticks).status_code == 200
        yield home, http


def run_in(home: Home, name: str) -> Place:
    return home / f"{name}.run" if isinstance(home, Path) else home / name


def at(http: TestClient) -> int:
    return http.get("/api/runs/plaza-7").json()["last_tick"]


def test_a_page_steps_and_everybody_sees_it(lively: tuple[Home, TestClient]) -> None:
    _, http = lively
    before = at(http)
    with live(http, "plaza-7", after=before) as one, live(http, "plaza-7", after=before) as other:
        assert http.post("/api/runs/plaza-7/control", json={"action": "step"}).status_code == 200
        assert one("delta") == other("delta")
    assert at(http) == before + 1


def test_a_sentence_typed_in_the_page_happens(lively: tuple[Home, TestClient]) -> None:
    folder, http = lively
    inputs = "/api/runs/plaza-7/inputs"
    text = "A thick fog rolls in."
    preview = http.post(inputs, json={"kind": "god", "text": text, "preview": True}).json()
    assert text in preview["text"]
    accepted = http.post(inputs, json={"kind": "god", "text": text}).json()
    assert accepted["tick"] == preview["tick"] == at(http) + 1, (preview, accepted)
    assert http.post(inputs, json={"kind": "voice", "agent_id": "ines", "text": "Go home."}).status_code == 200
    assert http.post(inputs, json={"kind": "voice", "agent_id": "nobody", "text": "Go."}).status_code == 400
    with live(http, "plaza-7", after=at(http)) as message:
        http.post("/api/runs/plaza-7/control", json={"action": "step"})
        assert text in [line["text"] for line in message("delta")["lines"]]
        http.post("/api/runs/plaza-7/control", json={"action": "step"})
        message("delta")
    events = http.get("/api/runs/plaza-7/events").json()
    assert [event["text"] for event in events if event["type"] == "GOD_EVENT"] == [text]
    command("verify", run_in(folder, "plaza-7"))


def test_what_a_character_does_is_typed_in_the_page(lively: tuple[Home, TestClient]) -> None:
    folder, http = lively
    inputs = "/api/runs/plaza-7/inputs"
    deed = {"kind": "attempt", "agent_id": "ines", "text": "I fly over the roofs"}
    said = http.post(inputs, json={**deed, "preview": True}).json()["text"]
    assert said == http.post(inputs, json=deed).json()["text"].partition(": ")[2]
    assert http.post(inputs, json={**deed, "agent_id": "nobody"}).status_code == 400
    command("verify", run_in(folder, "plaza-7"))


def test_a_run_reaches_its_end_and_can_go_on(lively: tuple[Home, TestClient]) -> None:
    _, http = lively
    with live(http, "plaza-7", after=at(http)) as message:
        http.post("/api/runs/plaza-7/control", json={"action": "play"})
        while (ended := message("status"))["live"]:
            pass
        assert ended["progress"] == "reached tick 40"
    assert at(http) == 40
    card = http.get("/api/runs").json()[0]
    assert (card["live"], card["playing"], card["last_tick"]) == (False, False, 40)
    assert http.post("/api/runs/plaza-7/control", json={"action": "step"}).json()["live"]
    until(lambda: at(http) == 41)


def test_a_fork_is_another_history(lively: tuple[Home, TestClient]) -> None:
    folder, http = lively
    made = http.post("/api/runs/plaza-7/fork", json={"at": 3, "run": "other", "inject": "It smells of smoke."})
    assert made.status_code == 201, made.text
    assert (made.json()["run"], made.json()["last_tick"]) == ("other", 3)
    with Reading.open(run_in(folder, "other")) as reading:
        assert [row.body["text"] for row in reading.queued()] == ["It smells of smoke."]
    assert http.post("/api/runs/plaza-7/fork", json={"at": 3, "run": "other"}).status_code == 409
    assert http.post("/api/runs/plaza-7/fork", json={"at": 999}).status_code == 404


def test_a_talk_is_gone_on_with_and_rated(http: TestClient, folder: Path) -> None:
    ask = {"agent_id": "mira", "at": 100, "question": "Have you heard of the festival?"}
    first = http.post("/api/runs/town/talk", json=ask).json()
    assert first["answer"] and first["rests"] and first["rests"][0]["memory"]["agent"] == "mira"
    rated = http.post("/api/runs/town/talk", json={**ask, "question": "", "thumb": "up"}).json()
    assert rated == first
    again = http.post("/api/runs/town/talk", json={**ask, "question": "", "retry": True}).json()
    assert again["question"] == first["question"]
    with client(http.app) as stranger:  # another visitor has a talk of its own
        refused = stranger.post("/api/runs/town/talk", json={**ask, "question": "", "thumb": "up"})
        assert refused.status_code == 400
    assert http.post("/api/runs/town/talk", json={**ask, "agent_id": "nobody"}).status_code in (400, 404)


def test_the_process_of_a_live_run_shows_no_password(plaza: Path, postgres_url: str) -> None:
    with fresh(postgres_url) as database:
        copy_run(plaza, database / "plaza")
        secret = Address(database.url.replace("postgres:@", "postgres:hunter-22@"))
        assert "hunter-22" in secret.server
        with client(make_app(Library(secret))) as http:
            assert http.post("/api/runs/plaza/control", json={"action": "step"}).status_code == 200
            workers = [
                command
                for process in Path("/proc").glob("[0-9]*")
                if b"commonplace.parts.web.worker" in (command := _bytes(process / "cmdline"))
            ]
            assert workers
            assert not any(b"hunter-22" in one for one in workers)
            assert "hunter-22" not in http.get("/api/runs").text + http.get("/api/runs/plaza").text


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:  # it has ended
        return b""


def test_runs_of_a_database_are_listed_shown_and_talked_with(plaza: Path, postgres_url: str) -> None:
    with fresh(postgres_url) as database:
        copy_run(plaza, database / "plaza")
        copy_run(plaza, database / "not a name for a page")
        with client(make_app(Library(Address(database.url)))) as http:
            (card,) = http.get("/api/runs").json()
            assert (card["run"], card["last_tick"], card["live"]) == ("plaza", 60, False)
            assert http.get("/api/runs/plaza/frames?from=3&to=5").status_code == 200
            ask = {"agent_id": "ines", "at": 50, "question": "Where is Bruno?"}
            assert http.post("/api/runs/plaza/talk", json=ask).json()["answer"]
            assert http.get("/api/runs/nothing").status_code == 404
            with open_store(database / "plaza"):
                town = http.get("/api/runs/plaza").json()
                assert town["live"] and "control" not in town["may"]
                refused = http.post("/api/runs/plaza/control", json={"action": "play"})
                assert refused.status_code == 409 and "another process" in refused.json()["detail"]
            delete_run(database / "plaza")
            assert http.get("/api/runs/plaza").status_code == 404
            copy_run(plaza, database / "plaza")
            assert http.get("/api/runs/plaza").json()["last_tick"] == 60


# ── scenarios of a page ──────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (("mind: offline", "mind: http://10.0.0.1/v1#m"), "model server"),
        (("mind: offline", "mind: journal:/etc/passwd"), "cannot name a mind"),
        (("mind: offline", "stage: os:system"), "cannot name code"),
        (("mind: offline", "stage: commonplace.stages.town:TOWN"), "cannot name code"),
        (("mind: offline", "prompts: ../.ssh"), "folder of prompts"),
        (("mind: offline", "mindd: offline"), "mindd"),
    ],
)
def test_a_scenario_from_a_page_cannot_reach_out(
    http: TestClient, tmp_path: Path, folder: Path, change: tuple[str, str], reason: str
) -> None:
    command("new", tmp_path / "mine.yaml")
    text = (tmp_path / "mine.yaml").read_text(encoding="utf-8")
    text = text.replace("\nlanguage:", "\nmind: offline\nlanguage:", 1)
    fine = http.post("/api/scenarios/check", json={"text": text}).json()
    assert fine["findings"] == [] and fine["scenario"]["people"] > 1 and fine["scenario"]["seed"] == DEFAULT_SEED
    wrong = http.post("/api/scenarios/check", json={"text": text.replace(*change)}).json()
    found = wrong["findings"]
    assert wrong["scenario"] is None
    assert any(reason in one["what"] for one in found) and all(one["line"] for one in found)
    refused = http.post("/api/runs", json={"text": text.replace(*change), "run": "mine"})
    assert refused.status_code == 400 and reason in refused.json()["detail"]
    assert not (folder / "mine.run").exists()


def test_only_known_scenarios_are_started(http: TestClient) -> None:
    for name in ("/etc/passwd", "../x", "nothing", "latticeville.yaml"):
        assert http.post("/api/runs", json={"scenario": name}).status_code == 404
    assert http.post("/api/runs", json={}).status_code == 400
    assert http.post("/api/runs", json={"scenario": "plaza", "run": "town"}).status_code == 409


# ── slow, lost and killed ────────────────────────────────────────────────────────────────────────────────────────────


def test_a_run_that_another_process_makes_is_watched(folder: Path, http: TestClient) -> None:
    with RunFile.open(folder / "plaza.run"):
        town = http.get("/api/runs/plaza").json()
        assert town["live"] and "control" not in town["may"] and "talk" in town["may"]
        refused = http.post("/api/runs/plaza/control", json={"action": "play"})
        assert refused.status_code == 409 and "another process" in refused.json()["detail"]
        with live(http, "plaza", after=60) as message:
            assert message("status")["live"]
    with live(http, "plaza", after=60) as message:
        assert not message("status")["live"]
    assert "control" in http.get("/api/runs/plaza").json()["may"]


def test_who_reads_nothing_gets_a_snapshot_later_and_holds_nobody_up(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeding, "BEHIND", 3)
    app = make_app(Library(folder))
    with listening(app) as port, socket.create_connection(("127.0.0.1", port)) as lazy:
        lazy.sendall(upgrade(port, "town"))
        feed = until(lambda: app.state.sessions._open.get("town")).feed
        until(lambda: feed._looking)
        asked: list[tuple[str, int]] = []
        monkeypatch.setattr(feed, "_made", lambda kind, n: asked.append((kind, n)) or big(kind, n))
        with watching(port, "town", after=108) as message:
            for tick in range(109, 160):  # as if the run went on
                feed._looking.get_loop().call_soon_threadsafe(feed.changed, tick)
                assert message("delta", "snapshot")["seq"] == tick
        assert len([one for one in asked if one[0] == "delta"]) == 51  # the lazy one has asked for a few of the same
        assert len(feed._sent) <= 2 * feeding.BEHIND
        rest = b""
        while b'"seq": 159' not in rest[-200_000:]:
            rest += lazy.recv(1 << 20)
        assert rest.count(b'"seq"') < 30 and rest.count(b'"snapshot"') >= 2


def big(kind: str, tick: int) -> str:
    """A message that a connection does not take at once."""
    return json.dumps({"type": kind, "x": "x" * 300_000, "seq": tick})


def upgrade(port: int, run: str) -> bytes:
    """What opens the feed of a run, without compression."""
    head = f"GET /api/runs/{run}/live HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\n"
    key = "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="
    return f"{head}Connection: Upgrade\r\n{key}\r\n\r\n".encode()


def test_killed_and_started_again_the_server_goes_on(tmp_path: Path) -> None:
    """Nothing is missing and nothing doubled for a page that comes back, and the run verifies."""
    runs = tmp_path / "runs"
    seen: list[int] = []
    for kills in range(4 if PROVE else 2):
        server = started("serve", "plaza", "--runs", runs, "--port", 0, "--no-open")
        try:
            assert server.stdout is not None
            port = int(server.stdout.readline().split(":")[2].split("/")[0])
            with watching(port, "plaza-7", after=seen[-1] if seen else None) as message:
                _post(port, "control", {"action": "speed", "rate": 15})
                for _ in range(20):
                    seen.append(message("delta", "snapshot")["seq"])
        finally:
            server.send_signal(signal.SIGKILL if kills == 0 else signal.SIGTERM)
            server.communicate(timeout=60)
    assert seen == list(range(seen[0], seen[0] + len(seen)))
    until(lambda: not _workers(runs))
    command("verify", runs / "plaza-7.run")
    with Reading.open(runs / "plaza-7.run") as reading:
        assert reading.last_tick >= seen[-1]


def _post(port: int, what: str, body: dict[str, object]) -> None:
    from urllib.request import Request

    url = f"http://127.0.0.1:{port}/api/runs/plaza-7/{what}"
    with urlopen(Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})) as answer:
        assert answer.status == 200


def _workers(runs: Path) -> str:
    """The lock of a run is deleted when its process ends."""
    return "".join(path.name for path in runs.glob("*.lock"))


def test_it_says_which_extra_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fastapi", None)
    monkeypatch.delitem(sys.modules, "commonplace.parts.web.app")
    assert install("web") in command("serve", status=2).err


def test_a_page_sees_what_is_said_while_it_is_written(tmp_path: Path) -> None:
    with ModelServer(latency=Latency(per_token=0.003)) as server:
        with create_run(tmp_path / "spoken.run", "plaza", ticks=40, mind=server.url):
            pass
        with client(make_app(Library(tmp_path))) as http, live(http, "spoken") as message:
            assert http.post("/api/runs/spoken/control", json={"action": "play"}).status_code == 200
            http.post("/api/runs/spoken/control", json={"action": "speed", "rate": 0})
            while not (said := message("speaking")["lines"]):
                pass
            assert all(isinstance(words, str) and words for words in said.values())
            message("delta")  # the line itself, in place of what was shown
