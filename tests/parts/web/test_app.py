"""What the server answers: the same as the terminal, committed ticks once, and a reason for every refusal."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from commonplace.parts.web import app as application
from commonplace.parts.web import model as m
from commonplace.parts.web import one_file
from commonplace.parts.web.app import make_app
from commonplace.parts.web.library import Library
from commonplace.run.fork import written_fork
from commonplace.run.reading import Reading
from e2e.command import command
from parts.panel.panels import TREES, answers, ledger, played
from parts.web.serving import after_delta, client, live

PROJECT = Path(__file__).parents[3]


def ok(http: TestClient, path: str, **query: Any) -> Any:
    answer = http.get(path, params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


# ── the same everywhere ──────────────────────────────────────────────────────────────────────────────────────────────


def test_the_state_at_every_tick_is_that_of_replay(http: TestClient, folder: Path) -> None:
    frames = m.Frames.model_validate(ok(http, "/api/runs/plaza/frames", **{"from": 0, "to": 100}))
    state = frames.first
    with Reading.open(folder / "plaza.run") as reading:
        for delta in (None, *frames.rest):
            state = after_delta(state, delta) if delta else state
            frame = reading.frame(state.tick)
            assert [(one.agent_id, one.position, one.current_action, one.dialogue) for one in state.agents] == [
                (one.agent_id, one.position, one.doing, one.dialogue) for one in frame.agents.values()
            ]
            assert {one.object_id: (one.state, one.parent) for one in state.objects} == {
                one.object_id: (one.state, one.parent) for one in frame.objects.values()
            }
        assert state.tick == reading.last_tick


def test_why_is_that_of_the_command_line(http: TestClient, folder: Path) -> None:
    said = [line for line in ok(http, "/api/runs/town/lines", category="talk") if line["memories"]]
    for line in said[::8] + ok(http, "/api/runs/town/lines", limit=12):
        printed = command("why", folder / "town.run", line["event_id"], "--json").out
        assert ok(http, f"/api/runs/town/events/{line['event_id']}/why") == json.loads(printed)


def test_events_are_those_of_the_command_line(http: TestClient, folder: Path) -> None:
    rows = command("events", folder / "plaza.run", "--json").rows
    assert ok(http, "/api/runs/plaza/events") == rows
    assert ok(http, "/api/runs/plaza/events", **{"from": 5, "to": 6}) == [row for row in rows if row["tick"] in (5, 6)]


def test_the_description_of_which_the_types_of_the_page_are_made_is_of_these_routes() -> None:
    spec = importlib.util.spec_from_file_location("web_types", PROJECT / "tools" / "web_types.py")
    assert spec is not None and spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert tool.text() == tool.FILE.read_text(encoding="utf-8"), "run tools/web_types.py"


def test_a_run_is_sent_to_a_friend_as_one_file(
    http: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(one_file, "TEMPLATE", tmp_path / "replay.html")
    answer = http.get("/api/runs/plaza/replay.html?from=5&to=9")
    assert answer.status_code == 409 and "make page" in answer.json()["hint"]
    (tmp_path / "replay.html").write_text(f"<title></title>{one_file.PLACE}")
    answer = http.get("/api/runs/plaza/replay.html?from=5&to=9")
    assert answer.headers["content-disposition"] == 'attachment; filename="plaza.html"'
    assert "<title>Linden Square</title>" in answer.text and 'id="data-start"' in answer.text
    assert http.get("/api/runs/plaza/replay.html?from=9&to=5").status_code == 400
    assert http.get("/api/runs/nobody/replay.html").status_code == 404


# ── the library ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_runs_are_listed_with_what_is_wrong_with_them(folder: Path, http: TestClient) -> None:
    (folder / "broken.run").write_bytes(b"not a run at all")
    (folder / "..odd.run").write_bytes(b"")
    cards = {card["run"]: card for card in ok(http, "/api/runs")}
    assert set(cards) == {"town", "plaza", "broken"}
    assert (cards["town"]["title"], cards["town"]["people"], cards["town"]["last_tick"]) == ("Latticeville", 10, 108)
    assert cards["broken"]["problem"] and not cards["town"]["problem"]
    answer = http.get("/api/runs/broken")
    assert answer.status_code in (400, 422)
    assert "Traceback" not in answer.text
    (folder / "broken.run").unlink()


def test_scenarios_are_the_shipped_ones_and_those_of_the_folder(tmp_path: Path) -> None:
    scenarios = tmp_path / "scenarios"
    scenarios.mkdir()
    command("new", scenarios / "mine.yaml")
    (scenarios / "away.yaml").symlink_to("/etc/passwd")
    with client(make_app(Library(tmp_path, scenarios))) as http:
        names = {card["name"]: card for card in ok(http, "/api/scenarios")}
        assert ok(http, "/api/scenarios/mine") == {"text": (scenarios / "mine.yaml").read_text(encoding="utf-8")}
        assert [http.get(f"/api/scenarios/{name}").status_code for name in ("away", "..%2fx", "etc", "%00")] == [
            404
        ] * 4
    assert "latticeville" in names and names["mine"]["people"] == 2 and "away" not in names


def test_a_damaged_run_is_told_not_served(tmp_path: Path, plaza: Path) -> None:
    path = tmp_path / "spoilt.run"
    path.write_bytes(plaza.read_bytes())
    with sqlite3.connect(path) as spoiling:
        spoiling.execute("UPDATE event SET body = '{' WHERE tick = 3")
        spoiling.execute("UPDATE version SET value = '[' WHERE tick = 2")
    with client(make_app(Library(tmp_path))) as http:
        for what in ("frames?from=0&to=9", "lines", "timeline", "metrics", "agents/ines", "events"):
            answer = http.get(f"/api/runs/spoilt/{what}")
            assert answer.status_code in (200, 422), (what, answer.text)
            assert answer.headers["content-type"] in ("application/json", "application/problem+json")
        assert http.get("/api/runs/spoilt/frames?from=0&to=9").status_code == 422


def test_what_emerged_hour_by_hour_is_that_of_the_command_line(http: TestClient, folder: Path) -> None:
    printed = [json.loads(line) for line in command("metrics", folder / "town.run", "--json").out.splitlines()]
    assert ok(http, "/api/runs/town/hours") == printed
    measured, rows = ok(http, "/api/runs/town/metrics", at=31), ok(http, "/api/runs/town/hours", at=31)
    assert [row["tick"] for row in rows] == [0, 12, 24, 31]
    assert rows[:-1] == printed[:3]
    assert rows[-1]["density"] == measured["density"]
    assert rows[-1]["known"] == {one["fact"]: one["share"] for one in measured["spreads"]}


def test_a_panel_is_rated_as_on_the_command_line(tmp_path: Path) -> None:
    played(tmp_path / "first.run")
    second = played(tmp_path / "second.run", TREES, ticks=6)
    with client(make_app(Library(tmp_path))) as http:
        assert "rate" in ok(http, "/api/runs/second")["may"]
        said = [one["id"] for one in answers(second).values()]
        before = ok(http, "/api/runs/second/ratings")
        past = next(
            one["memory"]["details"]["memory_id"]
            for one in ok(http, "/api/runs/second/agents/thesis/memories", limit=200)["found"]
            if one["memory"]["source"] == "store"
        )
        assert {past, *said} < set(before) and set(before.values()) == {0}
        given = http.post("/api/runs/second/ratings", json={"id": said[0], "stars": 4}).json()
        assert given["stars"] == 4 and 0.54 <= given["importance"] <= 1
        assert http.post("/api/runs/second/ratings", json={"id": past, "stars": 2}).status_code == 200
        command("rate", second, said[1], 5)
        after = ok(http, "/api/runs/second/ratings")
        assert [after[one] for one in (said[0], given["memory_id"], past, said[1])] == [4, 4, 2, 5]
        for id, stars, status in (("t1.-.0", 3, 400), ("nobody", 3, 400), (said[0], 6, 422), (said[0], 0, 422)):
            assert http.post("/api/runs/second/ratings", json={"id": id, "stars": stars}).status_code == status
    assert [one["evaluation"]["user_rating"] for one in ledger(tmp_path / "outputs")[-3:]] == [4, 2, 5]
    command("verify", second)


def test_a_town_cannot_be_rated(http: TestClient) -> None:
    assert "rate" not in ok(http, "/api/runs/town")["may"]
    answer = http.get("/api/runs/town/ratings")
    assert (answer.status_code, answer.json()["detail"]) == (400, "not a panel")


def test_a_panel_whose_memories_are_elsewhere_is_not_rated_from_a_page(tmp_path: Path) -> None:
    played(tmp_path / "a.run", ticks=3, memory=tmp_path / "elsewhere")
    with client(make_app(Library(tmp_path))) as http:
        assert "rate" not in ok(http, "/api/runs/a")["may"]
        answer = http.post("/api/runs/a/ratings", json={"id": "t1.thesis.0", "stars": 3})
        assert answer.status_code == 400 and "elsewhere" in answer.json()["detail"]
    assert not (tmp_path / "outputs").exists()


def test_what_a_killed_server_left_of_a_fork_goes_when_the_next_one_begins(tmp_path: Path, plaza: Path) -> None:
    pid = os.fork()
    if pid == 0:
        with written_fork(plaza, 3, tmp_path / "f1.run"):
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(pid, 0)
    assert {path.name for path in tmp_path.iterdir()} == {"f1.run.unfinished", "f1.run.lock"}
    with client(make_app(Library(tmp_path))) as http:
        assert ok(http, "/api/runs") == []
    assert not list(tmp_path.iterdir())


def test_another_run_of_that_name_is_seen(tmp_path: Path, plaza: Path, town: Path) -> None:
    path = tmp_path / "monday.run"
    path.write_bytes(plaza.read_bytes())
    with client(make_app(Library(tmp_path))) as http:
        before = http.get("/api/runs/monday/frames?from=0&to=5")
        other = tmp_path / "other"
        other.write_bytes(town.read_bytes())
        other.replace(path)
        assert ok(http, "/api/runs/monday")["title"] == "Latticeville"
        again = http.get("/api/runs/monday/frames?from=0&to=5", headers={"If-None-Match": before.headers["etag"]})
        assert again.status_code == 200 and again.json() != before.json()


# ── errors ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/api/runs/nobody", 404),
        ("/api/runs/%00", 422),
        ("/api/runs/town/agents/nobody", 404),
        ("/api/runs/town/agents/mira?at=9999", 404),
        ("/api/runs/town/agents/mira/memories?policy=guess", 400),
        ("/api/runs/town/agents/mira/memories?kind=dream", 400),
        ("/api/runs/town/events/t1/why", 404),
        ("/api/runs/town/events/t999.mira.0/why", 404),
        ("/api/runs/town/frames?from=0", 422),
        ("/api/runs/town/frames?from=50&to=1", 400),
        ("/api/runs/town/lines?limit=0", 422),
        ("/api/nothing", 404),
    ],
)
def test_errors_are_problems(http: TestClient, path: str, status: int) -> None:
    answer = http.get(path)
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    body = answer.json()
    assert body["status"] == status and body["title"] and body["detail"]


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("/api/runs/nobody/timeline", "there is no run 'nobody'"),
        ("/api/runs/two%20words", "'two words' cannot be the name of a run"),
        ("/api/runs/folder/town/timeline", "/api/runs/folder/town/timeline"),
        ("/api/nothing", "/api/nothing"),
    ],
)
def test_what_is_not_there_is_named_with_what_there_is_to_do(http: TestClient, path: str, told: str) -> None:
    body = http.get(path).json()
    assert told in body["detail"] and body["hint"]


def test_a_bug_shows_no_traceback(http: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("commonplace.parts.web.library.Library.scenarios", lambda self: 1 / 0)
    answer = http.get("/api/scenarios")
    assert (answer.status_code, answer.headers["content-type"]) == (500, "application/problem+json")
    assert "division" not in answer.text


# ── what may be kept ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_committed_ticks_are_sent_once_and_packed(http: TestClient) -> None:
    first = http.get("/api/runs/town/frames?from=0&to=40")
    assert first.headers["content-encoding"] == "gzip"
    again = http.get("/api/runs/town/frames?from=0&to=40", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    other = http.get("/api/runs/town/frames?from=0&to=41", headers={"If-None-Match": first.headers["etag"]})
    assert other.status_code == 200


def test_files_of_the_page_are_kept_by_their_digest(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_text("<!doctype html>")
    (tmp_path / "assets" / "index-1a2b.js").write_text("1;")
    monkeypatch.setattr(application, "STATIC", tmp_path)
    with client(make_app(Library(folder))) as http:
        index, script = http.get("/"), http.get("/assets/index-1a2b.js")
    assert index.headers["cache-control"] == "no-cache"
    assert "immutable" in script.headers["cache-control"]
    assert script.headers["content-type"].startswith("text/javascript")
    for answer in (index, script):
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["x-content-type-options"] == "nosniff"


def test_without_its_page_the_server_says_how_to_get_it(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(application, "STATIC", tmp_path)
    with client(make_app(Library(folder))) as http:
        answer = http.get("/")
        assert http.get("/api/runs").status_code == 200
    assert answer.status_code == 503 and "`make page` in a clone" in answer.text


# ── the live feed of a run that others make ──────────────────────────────────────────────────────────────────────────


def test_a_page_gets_what_it_has_not_seen(http: TestClient) -> None:
    with live(http, "town", after=105) as message:
        assert message()["type"] == "status"
        assert [message()["seq"] for _ in range(3)] == [106, 107, 108]
    for new in (None, 3, 5000):
        with live(http, "town", after=new) as message:
            assert (message("snapshot", "delta")["type"], new) == ("snapshot", new)


def test_a_tick_is_made_once_for_all(http: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple[str, int]] = []
    feed = http.app.state.sessions.get("plaza").feed  # pyright: ignore[reportAttributeAccessIssue]
    before = feed._made
    monkeypatch.setattr(feed, "_made", lambda kind, tick: made.append((kind, tick)) or before(kind, tick))
    for _ in range(2):
        with live(http, "plaza", after=50) as message:
            assert [message("delta")["seq"] for _ in range(5)] == list(range(51, 56))
    assert made == [("delta", tick) for tick in range(51, 56)]
