"""A run as one HTML file: what is in it equals what the server answers, and nothing in it is markup.

Read here as `web/src/run/embedded.ts` reads it; a slow test has that program read it too.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import subprocess
from base64 import b64decode
from collections.abc import Iterator
from functools import cache
from html import escape
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from playwright.sync_api import expect

from browser import CHROMIUM, browser
from commonplace.cognition.turn import hits
from commonplace.memory.stores.codec import memory_json
from commonplace.parts.web import model as wire
from commonplace.parts.web import one_file
from commonplace.parts.web.card import run_card
from commonplace.parts.web.inspector import RunInspector
from commonplace.parts.web.one_file import PLACE, TABLES, TEMPLATE, changes, tabled
from commonplace.parts.web.picture import Picture
from commonplace.run.reading import Reading
from commonplace.run.why import why
from e2e.command import command, copied
from parts.web.serving import after_delta
from sizes import examples

PAGE = f"<!doctype html><html><head><title>Commonplace</title></head><body>{PLACE}</body></html>"
WEB = Path(__file__).parents[3] / "web"
built = pytest.mark.skipif(not TEMPLATE.exists(), reason="the page is not built: make page")


@pytest.fixture(autouse=True)
def page(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page without a program, unless a test asks for the real one."""
    if "real_page" not in request.fixturenames:
        path = tmp_path / "replay.html"
        path.write_text(PAGE, encoding="utf-8")
        monkeypatch.setattr(one_file, "TEMPLATE", path)


@pytest.fixture
def real_page() -> None:
    """The page as it is built."""


class Opened:
    """A file, read as the page reads it."""

    def __init__(self, text: str) -> None:
        found = re.findall(r'<script type="text/plain" id="data-([^"]*)">([A-Za-z0-9+/=]*)</script>', text)
        self.packed: dict[str, str] = dict(found)
        self.start = self.block("start")

    @cache  # noqa: B019 – one test each
    def block(self, name: str) -> Any:
        return json.loads(gzip.decompress(b64decode(self.packed[name])))

    def snapshots(self) -> Iterator[dict[str, Any]]:
        """Every tick, made of the first one and deltas; each block begins with the tick that the deltas make."""
        now: wire.Snapshot | None = None
        for number in range(self.start["first"] // 48, self.start["last"] // 48 + 1):
            block = self.block(f"ticks-{number}")
            for delta in block["deltas"]:
                if now:
                    now = after_delta(now, wire.Delta.model_validate(delta))
                    yield now.model_dump(mode="json")
                elif delta["tick"] > block["first"]["tick"]:
                    now = after_delta(wire.Snapshot.model_validate(block["first"]), wire.Delta.model_validate(delta))
                    yield block["first"]
                    yield now.model_dump(mode="json")
                if now and now.tick == block["first"]["tick"]:
                    assert now.model_dump(mode="json") == block["first"]

    @cache  # noqa: B019
    def over(self, name: str) -> list[tuple[int, dict[str, Any]]]:
        (first, now), *rest = self.block(name)
        states = [(first, now)]
        for tick, change in rest:
            states.append((tick, now := applied(now, change)))
        return states

    def at(self, name: str, tick: int) -> dict[str, Any]:
        """A value at a tick, with its tables as lists."""
        value = next(value for since, value in reversed(self.over(name)) if since <= tick)
        made = {key: [row for _, row in sorted(cell.items())] if key in TABLES else cell for key, cell in value.items()}
        if "past" in made:
            made["past"].sort(key=lambda row: row["time"], reverse=True)
            made["goals"].sort(key=lambda goal: goal["changed"], reverse=True)
            made["goals"].sort(key=lambda goal: goal["opened"] if goal["status"] == "open" else "￿")
        return made

    def memories(self, agent: str, tick: int) -> list[dict[str, Any]]:
        stream, accessed = self.block(f"memories-{agent}"), self.accesses(agent, tick)
        removed = dict(stream["removed"])
        return [
            {**one, "accessed_at": accessed.get(one["id"], one["accessed_at"])}
            for one in stream["memories"]
            if one["tick"] <= tick < removed.get(one["id"], tick + 1)
        ]

    def accesses(self, agent: str, tick: int) -> dict[int, str]:
        touched = self.block(f"memories-{agent}")["touched"]
        return {id_: at for when, at, ids in touched if when <= tick for id_ in ids}

    def why(self, event_id: str) -> dict[str, Any]:
        tick = int(event_id[1:].partition(".")[0])
        block = self.block(f"why-{tick // 48}")
        own: dict[str, Any] = dict(block["events"][event_id])
        name = own.pop("turn", None)
        if name is None:
            nothing = {"item": None, "day": list[Any]()}
            return {
                "retrievals": [],
                "plan": nothing,
                "reaction": None,
                "asked": [],
                "stored": [],
                "delivered": [],
                "lines": [],
                **own,
            }
        turn = block["turns"][name]
        agent = name.split()[0]
        accessed = self.accesses(agent, tick - 1)
        by_id = {one["id"]: one for one in self.block(f"memories-{agent}")["memories"]}

        def hit(rank: int, id_: int, score: float, parts: Any) -> dict[str, Any]:
            memory = {**by_id[id_], "accessed_at": accessed.get(id_, by_id[id_]["accessed_at"])}
            return {"memory": memory, "rank": rank, "score": score, "parts": parts}

        def stored(entry: Any) -> dict[str, Any]:
            if isinstance(entry, dict):
                return cast("dict[str, Any]", entry)
            id_, reason = cast("tuple[int, str]", entry)
            fields = {key: by_id[id_][key] for key in ("kind", "text", "importance")}
            return {**fields, "stored": True, "reason": reason, "memory": id_}

        return {
            **turn,
            **own,
            "retrievals": [
                {
                    **{key: found[key] for key in ("purpose", "query", "policy", "k")},
                    "candidates": found.get("candidates"),
                    "hits": [hit(rank, *one) for rank, one in enumerate(hits(found), start=1)],
                }
                for found in turn["retrievals"]
            ],
            "stored": [stored(entry) for entry in turn["stored"]],
        }


def applied(before: Any, change: Any) -> Any:
    """The inverse of `changes`."""
    if isinstance(change, list):
        return cast("list[Any]", change)[0]
    entries = cast("dict[str, Any]", change)
    if isinstance(before, list):
        rows = cast("list[Any]", before)
        return [applied(row, entries[str(index)]) if str(index) in entries else row for index, row in enumerate(rows)]
    old = cast("dict[str, Any]", before)
    new = old | {key: applied(old.get(key), one) for key, one in entries.items() if one != 0}
    return {key: value for key, value in new.items() if entries.get(key) != 0}


def exported(run: Path, folder: Path, *options: object) -> Opened:
    target = folder / "story.html"
    command("export", run, "html", "-o", target, *options)
    return Opened(target.read_text(encoding="utf-8"))


def dump(model: wire.Wire) -> dict[str, Any]:
    return model.model_dump(mode="json")


# ── the same answers ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_what_two_facts_of_one_line_are_rows_of_stays_two_rows() -> None:
    row = {"kind": "told", "other": "jun", "act": "", "topic": "the news", "since": "2031-10-04T08:00:00Z"}
    assert len(tabled({"past": [{**row, "text": "A festival."}, {**row, "text": "A barge."}]})["past"]) == 2


def test_every_tick_character_memory_and_measure_is_that_of_the_server(eventful: Path, tmp_path: Path) -> None:
    """Of a run in which people come, go and are spoken to from outside."""
    file = exported(eventful, tmp_path)
    with Reading.open(eventful) as reading:
        picture, last = Picture(reading), reading.last_tick
        inspector = RunInspector(picture)
        assert file.start["timeline"] == dump(picture.timeline())
        assert file.start["town"] == {**dump(picture.town(run_card(eventful.stem, reading))), "final_tick": last}
        assert list(file.snapshots()) == [dump(picture.snapshot(tick)) for tick in range(last + 1)]
        for tick in range(last + 1):
            measured = dump(inspector.metrics(tick))
            assert file.at("metrics", tick) | {"tick": tick} == measured, tick
            for agent in reading.agent_ids:
                detail = inspector.agent(agent, tick)
                assert {"tick": tick, "time": detail["time"], **file.at(f"detail-{agent}", tick)} == detail
                if tick % 7 == 0:
                    assert file.memories(agent, tick) == [memory_json(one) for one in reading.memories(agent, tick)]


def test_the_reasons_of_every_event_are_those_of_the_command(plaza: Path, eventful: Path, tmp_path: Path) -> None:
    for run in (plaza, eventful):
        file = exported(run, tmp_path, "--prompts", "--force")
        with Reading.open(run) as reading:
            for event in reading.events(0 if run is eventful else 40):
                assert file.why(event.id) == json.loads(json.dumps(why(reading, event.id))), event.id


def test_prompts_and_raw_answers_are_left_out_unless_they_are_asked_for(plaza: Path, tmp_path: Path) -> None:
    file = exported(plaza, tmp_path, "--from", 20, "--to", 40)
    with Reading.open(plaza) as reading:
        whole = [why(reading, event.id) for event in reading.events(20, 40)]
    assert any(asked["prompt"] for one in whole for asked in one["asked"])
    for one in whole:
        for asked in one["asked"]:
            asked["prompt"] = ""
        assert file.why(one["event"]["id"]) == json.loads(json.dumps(one))


def test_a_part_of_a_run_holds_nothing_of_what_came_after(plaza: Path, tmp_path: Path) -> None:
    file = exported(plaza, tmp_path, "--from", "2031-10-04T08:00", "--to", 45)
    first, last = file.start["first"], file.start["last"]
    assert 0 < first < last == 45 == file.start["town"]["last_tick"] == file.start["timeline"]["last_tick"]
    with Reading.open(plaza) as reading:
        picture = Picture(reading)
        assert list(file.snapshots()) == [dump(picture.snapshot(tick)) for tick in range(first, last + 1)]
        for agent in reading.agent_ids:
            memories = file.block(f"memories-{agent}")
            assert max(one["tick"] for one in memories["memories"]) <= last
            assert max((tick for tick, *_ in memories["touched"]), default=0) <= last
            detail = RunInspector(Picture(reading)).agent(agent, 45)
            assert {"tick": 45, "time": detail["time"], **file.at(f"detail-{agent}", 45)} == detail
        assert all(first <= mark["tick"] <= last for mark in file.start["timeline"]["marks"])


def test_the_same_run_gives_the_same_file(plaza: Path, tmp_path: Path) -> None:
    one, other = (exported(plaza, tmp_path, "--from", 40, "--force").packed for _ in range(2))
    assert one == other


VALUES = st.recursive(
    st.integers(0, 3) | st.none() | st.text("ab", max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "__proto__", "0"]), inner),
)


@examples(200)
@given(st.dictionaries(st.text("ab", max_size=1), VALUES), st.dictionaries(st.text("ab", max_size=1), VALUES))
def test_what_changed_makes_the_one_of_the_other(before: dict[str, Any], after: dict[str, Any]) -> None:
    change = changes(before, after)
    assert (change is None) == (before == after)
    assert change is None or applied(before, change) == after


# ── nothing of a run is markup ───────────────────────────────────────────────────────────────────────────────────────

EVIL = "</title></script><!--<script>document.title=1</script><img src=x onerror=a()>"


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A run whose title, names and words try to be markup."""
    plain = (Path(one_file.__file__).parents[2] / "scenarios" / "plaza.yaml").read_text(encoding="utf-8")
    scenario = tmp_path / "evil.yaml"
    changed = plain.replace("title: Linden Square", f"title: {json.dumps(EVIL)}")
    scenario.write_text(changed.replace("name: Café Sixpence", f"name: {json.dumps(EVIL)}"), encoding="utf-8")
    run = tmp_path / "evil.run"
    command("run", scenario, "--ticks", 3, "-o", run, "--view", "none")
    return run


def test_no_text_of_a_run_gets_out_of_its_block(hostile: Path, tmp_path: Path) -> None:
    target = tmp_path / "story.html"
    command("export", hostile, "html", "-o", target)
    text = target.read_text(encoding="utf-8")
    file = Opened(text)
    assert any(EVIL in area["name"] for area in file.start["town"]["areas"])
    without = re.sub(r'<script type="text/plain" id="data-[a-z0-9_-]+">[A-Za-z0-9+/=]*</script>\n', "", text)
    assert without == PAGE.replace("Commonplace", escape(EVIL)).replace(PLACE, "")


# ── the command ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_command_says_what_it_made_and_what_is_in_it(plaza: Path, tmp_path: Path) -> None:
    run = copied(plaza, tmp_path, "monday.run")
    done = command("export", run, "html", "--from", 50)
    assert done.out.startswith(f"{run.with_suffix('.html')}: ticks 50 to 60, ")
    assert "all memories" in done.err
    assert run.with_suffix(".html").stat().st_size > 10_000
    assert "already exists" in command("export", run, "html", status=2).err


def test_what_cannot_be_exported_is_refused(plaza: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "story.html"
    for options, words in (
        (("--from", 9, "--to", 3), "comes after"),
        (("--to", 99), "no tick 99"),
        (("--from", "noon"), "neither a tick"),
    ):
        assert words in command("export", plaza, "html", "-o", target, *options, status=2).err
    assert "for html" in command("export", plaza, "bundle", "-o", tmp_path / "x.zip", "--prompts", status=2).err
    monkeypatch.setattr(one_file, "TEMPLATE", tmp_path / "nowhere.html")
    assert "make page" in command("export", plaza, "html", "-o", target, status=1).err
    assert not target.exists()


# ── the page itself ──────────────────────────────────────────────────────────────────────────────────────────────────


@built
@pytest.mark.usefixtures("real_page")
def test_only_the_program_of_the_page_may_run() -> None:
    page = one_file.template()
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert policy
    rules = dict(rule.strip().split(" ", 1) for rule in policy[1].split(";"))
    assert rules["default-src"] == "'none'"
    assert re.fullmatch(r"'sha256-[^' ]+'", rules["script-src"])
    assert "connect-src" not in rules
    assert not re.search(r"<(script|link|img)[^>]*\b(src|href)=", page.split("<style")[0])


@built
@pytest.mark.slow
@pytest.mark.skipif(
    not (WEB / "node_modules").exists() or not shutil.which("npx"), reason="needs Node and web/node_modules"
)
def test_the_page_reads_what_the_server_answers(town: Path, tmp_path: Path) -> None:
    with Reading.open(town) as reading:
        picture, last = Picture(reading), reading.last_tick
        inspector = RunInspector(picture)
        blocks = {name: one_file.packed(value) for name, value in one_file.blocks(reading, 0, last, prompts=True)}
        answers: list[tuple[str, list[Any], Any]] = [("timeline", [], dump(picture.timeline()))]
        for first in range(0, last, 17):
            answers.append(("frames", [first, first + 60], dump(picture.frames(first, first + 60))))
            answers.append(("metrics", [first], dump(inspector.metrics(first))))
            answers.append(("hours", [first], [dump(row) for row in inspector.hours(first)]))
            lines = [dump(line) for line in picture.lines(first, text="a", limit=40)]
            answers.append(("lines", [{"to": first, "text": "A", "limit": 40}], lines))
        for agent in reading.agent_ids:
            for tick in range(0, last + 1, 9):
                answers.append(("agent", [agent, tick], inspector.agent(agent, tick)))
            answers += _remembered(inspector, agent, last)
        answers += [("why", [event.id], why(reading, event.id)) for event in reading.events(60, 100)]
    (tmp_path / "blocks.json").write_text(json.dumps(blocks), encoding="utf-8")
    (tmp_path / "answers.json").write_text(json.dumps(answers), encoding="utf-8")
    done = subprocess.run(
        ["npx", "vitest", "run", "test/embedded.test.ts"],
        cwd=WEB, env={**os.environ, "COMMONPLACE_REPLAY": str(tmp_path)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:]
    assert "skipped" not in done.stdout


def _remembered(inspector: RunInspector, agent: str, last: int) -> Iterator[tuple[str, list[Any], Any]]:
    for filters in (
        {}, {"kind": "action"}, {"place": "plaza"}, {"emotion": "pleasant"}, {"emotion": "joy"}, {"min_importance": 5},
        {"since": "2031-10-04T08:00:00Z", "until": "2031-10-04T11:00:00Z"}, {"offset": 3, "limit": 5}, {"ids": [1, 5]},
    ):  # fmt: skip
        answer = inspector.memories(agent, last - 3, **cast("dict[str, Any]", filters))
        yield "memories", [agent, {"at": last - 3, **filters}], dump(answer)


@built
@pytest.mark.slow
@pytest.mark.skipif(not CHROMIUM, reason="chromium is not installed")
@pytest.mark.usefixtures("real_page")
def test_it_opens_from_the_disk_and_says_why_a_line_was_said(town: Path, hostile: Path, tmp_path: Path) -> None:
    target, evil = tmp_path / "story.html", tmp_path / "evil.html"
    with Reading.open(town) as reading:
        said = next(one for one in reversed(reading.events(60, 100, type="SAY")) if why(reading, one.id)["retrievals"])
        hit = why(reading, said.id)["retrievals"][0]["hits"][0]
    command("export", town, "html", "-o", target, "--from", said.tick - 20, "--to", said.tick)
    command("export", hostile, "html", "-o", evil)
    with browser() as page:
        line = page.get_by_role("slider")
        page.goto(evil.as_uri())
        expect(line).to_have_attribute("aria-valuemax", "3")
        assert page.title().startswith(EVIL)
        assert page.locator("img[src=x]").count() == 0
        page.goto(f"{target.as_uri()}#at={said.tick}")
        expect(line).to_have_attribute("aria-valuenow", str(said.tick))
        expect(line).to_have_attribute("aria-valuemin", str(said.tick - 20))
        page.locator("button.speech", has_text=said.body.utterance).last.click()
        expect(page.get_by_text("What came to mind")).to_be_visible()
        page.evaluate("for (const fold of document.querySelectorAll('.cards details')) fold.open = true")
        expect(page.locator(".cards").get_by_text(hit["memory"]["text"]).first).to_be_visible()
        assert page.evaluate("violations") == []
