"""What a run tells a meter: the figures are those of its file, no history depends on them, and the page lists them."""

from __future__ import annotations

import json
import re
import socket
import sys
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from fastapi.testclient import TestClient
from prometheus_client.parser import text_string_to_metric_families

from commonplace import create_run, resume_run
from commonplace.engine.budget import Budget
from commonplace.engine.meter import Meter, metered
from commonplace.engine.run import Run
from commonplace.errors import Paused, UsageError, install
from commonplace.parts.metrics.exposition import Exposition, exposed
from commonplace.parts.metrics.figures import BUCKETS, METRICS, RUN, Figures
from commonplace.parts.web.app import make_app
from commonplace.parts.web.library import Library
from commonplace.run.reading import Reading
from commonplace.testing.server import Faults, ModelServer
from e2e.command import command, ends
from parts.web.serving import client, live

PAGE = Path(__file__).parents[3] / "docs" / "operating.md"
TICKS = 60
OWN = {name for name, row in METRICS.items() if row.labels[:1] != RUN}


def scraped(text: str) -> dict[str, dict[tuple[tuple[str, str], ...], float]]:
    """Sample → its labels, but for the run → its value."""
    found: dict[str, dict[tuple[tuple[str, str], ...], float]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            labels = tuple(sorted((name, value) for name, value in sample.labels.items() if name != "run"))
            found.setdefault(sample.name, {})[labels] = sample.value
    return found


def shown(figures: Figures) -> str:
    return Exposition({"a": figures.samples()}).text("")[0].decode()


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, ModelServer]:
    """A run of a model that makes mistakes, what its meter says at the end, and the server."""
    path, figures = tmp_path_factory.mktemp("asked") / "a.run", Figures()
    voice = {"kind": "inner_voice", "agent_id": "ines", "text": "Go home."}
    with (
        ModelServer(faults=Faults(0.4, ("wrong_schema", "unavailable"))) as server,
        metered(figures),
        create_run(path, "plaza", mind=server.url) as run,
    ):
        for until in (TICKS // 2, TICKS):
            run.submit(voice)
            for _ in run.play_sync(until=until, budget=Budget(calls=10_000)):
                pass
    return path, shown(figures), server


def test_history_is_the_same_whether_somebody_counts_or_not(tmp_path: Path) -> None:
    for name, by in {"counted.run": Figures(), "plain.run": Meter()}.items():
        with metered(by), create_run(tmp_path / name, "plaza") as run:
            for _ in run.play_sync(TICKS):
                pass
    assert ends(tmp_path / "counted.run") == ends(tmp_path / "plain.run")


def test_the_figures_are_those_of_the_file(asked: tuple[Path, str, ModelServer]) -> None:
    path, text, _ = asked
    found = scraped(text)
    with Reading.open(path) as reading:
        rows = list(reading.answers(used=False))
        events = len(list(reading.events(1, TICKS)))
        (memories,) = reading.one("SELECT count(*) FROM memory")
    assert found["commonplace_ticks_total"][()] == found["commonplace_tick"][()] == TICKS
    assert found["commonplace_events_total"][()] == events
    assert found["commonplace_memories"][()] == memories
    assert found["commonplace_agent_turns_total"][()] == TICKS * found["commonplace_characters"][()]
    assert found["commonplace_inputs_total"] == {(("kind", "inner_voice"),): 2}
    assert found["commonplace_run_bytes"][()] > 0
    for phase in ("cognition", "world", "commit"):
        assert found["commonplace_tick_seconds_count"][("phase", phase),] == TICKS
    unusable = Counter(row.task for row in rows if row.outcome != "value")
    counted = Counter[str]()
    for labels, value in found["commonplace_unusable_answers_total"].items():
        counted[dict(labels)["task"]] += int(value)
    assert counted == unusable and unusable
    last = {(row.agent, row.tick, row.ordinal): row for row in rows}.values()
    settled = sum(found["commonplace_questions_total"].values())
    assert settled == len(last)
    assert not any(found["commonplace_questions_waiting"].values())
    assert not any(found["commonplace_questions_in_flight"].values())
    used = Counter[str]()
    for row in rows:
        used.update({kind: row.usage.get(f"{kind}_tokens", 0) for kind in ("prompt", "cached", "answer")})
    assert {dict(labels)["kind"]: value for labels, value in found["commonplace_tokens_total"].items()} == used


def test_requests_and_retries_are_counted_for_each_server(asked: tuple[Path, str, ModelServer]) -> None:
    _, text, server = asked
    found, host = scraped(text), server.url.split("/")[2]
    outcomes = {
        dict(labels)["outcome"]: value for labels, value in found["commonplace_model_server_requests_total"].items()
    }
    assert outcomes.keys() >= {"200", "503"}
    assert sum(outcomes.values()) == len(server.log.entries)
    assert found["commonplace_model_server_retries_total"][("server", host),] == outcomes["503"]


def test_what_was_paid_for_before_is_counted_apart(tmp_path: Path) -> None:
    figures = Figures()
    with ModelServer() as server:
        for budget in (Budget(calls=4), Budget(calls=500)):  # the first is reached in the middle of a tick
            with create_or_resume(tmp_path / "a.run", server.url) as run, metered(figures), suppress(Paused):
                for _ in run.play_sync(until=12, budget=budget):
                    pass
    found = scraped(shown(figures))
    assert {dict(labels)["source"] for labels in found["commonplace_questions_total"]} == {"mind", "journal", "rules"}
    left = found["commonplace_budget_remaining"][("unit", "calls"),]
    assert 0 < 500 - left < len(server.log.entries)


def create_or_resume(path: Path, mind: str) -> Run:
    return resume_run(path, mind) if path.exists() else create_run(path, "latticeville", mind=mind)


def test_no_label_names_a_character_or_shows_what_was_said(asked: tuple[Path, str, ModelServer]) -> None:
    path, text, _ = asked
    with Reading.open(path) as reading:
        names = [*reading.scenario.personas, *(one.name for one in reading.scenario.personas.values())]
    for labels in re.findall(r"\{(.*)\}", text):
        assert not any(name in labels for name in names), labels


def test_buckets_of_a_histogram_add_up() -> None:
    figures = Figures()
    for seconds in (0.0001, 0.001, 0.3, 999):
        figures.requested("host:1", "200", seconds, repeats=False)
    found = scraped(shown(figures))
    counts = {
        dict(labels)["le"]: count for labels, count in found["commonplace_model_server_request_seconds_bucket"].items()
    }
    assert counts["0.001"] == 2 and counts["0.5"] == 3 and counts["300.0"] == 3 and counts["+Inf"] == 4
    assert len(counts) == len(BUCKETS) + 1
    passed = json.loads(json.dumps(figures.samples()))
    assert (
        Exposition({"a": passed}).text("")[0].decode().split("# HELP commonplace")[1:]
        == shown(figures).split("# HELP commonplace")[1:]
    )


def test_a_tick_that_was_broken_off_is_not_timed(tmp_path: Path) -> None:
    figures = Figures()
    figures.entered("cognition")
    with metered(figures), create_run(tmp_path / "a.run", "plaza") as run:
        for _ in run.play_sync(1):
            pass
    assert scraped(shown(figures))["commonplace_tick_seconds_count"][("phase", "cognition"),] == 1


# ── where they can be read ───────────────────────────────────────────────────────────────────────────────────────────


def fetched(port: int, **headers: str) -> str:
    with urlopen(Request(f"http://127.0.0.1:{port}/metrics", headers=headers), timeout=30) as page:
        return page.read().decode()


def free_port() -> int:
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        return place.getsockname()[1]


def test_a_run_shows_them_at_a_port_to_this_machine_alone(tmp_path: Path) -> None:
    port = free_port()
    with exposed(port, tmp_path / "a.run"):
        with create_run(tmp_path / "a.run", "plaza") as run:
            for _ in run.play_sync(2):
                pass
        assert scraped(fetched(port))["commonplace_ticks_total"][()] == 2
        with pytest.raises(HTTPError, match="421"):
            fetched(port, Host="elsewhere.example")
        with pytest.raises(UsageError, match="cannot be listened on"), exposed(port, tmp_path / "b.run"):
            pass


def test_the_option_changes_nothing_that_is_printed(tmp_path: Path) -> None:
    words = ("run", "plaza", "--ticks", 3, "--view", "none", "-o")
    plain = command(*words, tmp_path / "a.run").out
    assert command(*words, tmp_path / "b.run", "--metrics", free_port()).out == plain
    assert command("resume", tmp_path / "b.run", "--ticks", 0, "--view", "none", "--metrics", free_port()).out == plain


def test_without_the_package_a_run_needs_no_meter_and_the_option_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith("prometheus_client")]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, "commonplace.parts.metrics.exposition")
    words = ("run", "plaza", "--ticks", 1, "--view", "none", "-o", tmp_path / "a.run")
    assert install("web") in command(*words, "--metrics", free_port(), status=2).err
    assert not (tmp_path / "a.run").exists()
    command(*words)


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with client(make_app(Library(tmp_path_factory.mktemp("runs")))) as http:
        yield http


def test_a_server_shows_those_of_its_runs_and_its_own(serving: TestClient) -> None:
    assert serving.post("/api/runs", json={"scenario": "plaza", "ticks": 2}).status_code == 201
    with live(serving, "plaza-7") as message:
        serving.post("/api/runs/plaza-7/control", json={"action": "speed", "rate": 0})
        while message("delta", "snapshot")["seq"] < 2:
            pass
        answer = serving.get("/metrics", headers={"Accept": "application/openmetrics-text; version=1.0.0"})
        assert answer.headers["content-type"].startswith("application/openmetrics-text")
        answer = serving.get("/metrics")
    assert answer.status_code == 200 and answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    found = scraped(answer.text)
    assert found["commonplace_sockets"][()] == found["commonplace_live_views"][()] == 1
    assert found["commonplace_runs"][("state", "open"),] == 1
    assert found.keys() >= OWN


# ── the page ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_page_lists_every_metric_with_its_labels() -> None:
    rows = re.findall(r"^\| `(commonplace_\w+)` \| (\w+) \| (.*?) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    listed = {name: (kind, tuple(re.findall(r"`(\w+)`", labels))) for name, kind, labels in rows}
    assert listed == {name: (row.kind, row.labels) for name, row in METRICS.items()}


def test_every_metric_of_a_run_is_counted_somewhere(asked: tuple[Path, str, ModelServer]) -> None:
    names = {family.name for family in text_string_to_metric_families(asked[1])}
    counted = {name for name in METRICS if name.removesuffix("_total") in names}
    assert counted == METRICS.keys() - OWN | {"commonplace_info"}


def test_the_queries_of_the_page_name_what_there_is() -> None:
    text = PAGE.read_text(encoding="utf-8")
    ending = re.compile(r"_(bucket|sum|count)$")
    blocks = "".join(re.findall(r"```(?:promql|yaml)\n(.*?)```", text, re.DOTALL))
    for name in set(re.findall(r"\bcommonplace_\w+", blocks)):
        assert name in METRICS or ending.sub("", name) in METRICS, name
