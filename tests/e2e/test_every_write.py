"""Whatever writes is done or not done: killed at or inside a change to the disk or at any moment, or on a full disk.

Nothing is damaged or left over, and the command can be given again.
"""

from __future__ import annotations

import json
import lzma
import random
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

from commonplace.api import open_run
from commonplace.canon import digest
from commonplace.memory import MemoryStore
from commonplace.memory.stores import open_store
from commonplace.memory.stores.store import load
from commonplace.parts.web.app import STATIC
from commonplace.registry import COMMANDS
from commonplace.run.schema import FORMAT
from e2e import dying
from e2e.command import SOURCE, Ends, command, ends, environment, small_disk, tables
from e2e.lived import once
from parts.panel.panels import ledger, played
from run.formats.make import FOLDER
from scenario.newcomers import FILE
from sizes import PROVE

RUN, OLD, STORE, DATABASE, PANEL, SCENARIO = "other.run", "old.run", "a.store", "a.db", "a.panel", "a.yaml"
"""The stock: one of each kind of what is written. `OLD` is a run of the format before this one."""


@dataclass(frozen=True)
class Operation:
    """A command that changes files.

    In it `@` is what it makes or changes; `OTHER`, `ANSWERS` and `GIVEN` are files that it only reads.
    """

    command: str
    had: str = ""
    """What of the stock is at `@` before."""
    then: str = ""
    """What continues it where it was stopped; empty if it happens at once or not at all."""
    first: str = ""
    """What makes `GIVEN`, another file that it only reads."""
    name: str = "a.run"
    """Of `@`."""
    typed: str = ""
    last: str = ""
    """What it reads, and what it says before that ends."""
    piecemeal: bool = False
    """Whether it is done memory by memory, or line by line, and not at once."""
    adds: bool = False
    """Whether it adds something when it is given again after it was done."""


def _tool(number: int, method: str, **given: object) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": given}) + "\n"


ASSISTANT = (
    _tool(1, "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "a", "version": "1"})
    + json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}) + "\n"
    + _tool(2, "tools/call", name="remember", arguments={"text": "A boat.", "at": "2031-10-05T09:00", "agent": "ines"})
)  # fmt: skip
ORDER = {"scenario": "plaza", "seed": 7, "ticks": 2, "until": 2, "playing": True, "rate": 0, "patience": 0}
OPERATIONS = {
    "create": Operation("run plaza --ticks 0 --view none -o @"),
    "run": Operation("run plaza --ticks 2 --view none -o @", then="resume @ --view none"),
    "run --force": Operation("run plaza --seed 8 --ticks 1 --view none --force -o @", RUN, "resume @ --view none"),
    "resume": Operation("resume @ --until 9 --view none", RUN, "resume @ --until 9 --view none"),
    "fork": Operation("fork OTHER --at 4 -o @ --forget ines:1 --forget bruno:1"),
    "fork --force": Operation("fork OTHER --at 4 --force -o @ --inject 'A thick fog rolls in.'", RUN),
    "serve": Operation(
        "serve", typed="ORDER", last='"ended": true', then="resume @ --until 2 --view none"
    ),
    "talk": Operation("talk @ ines --ask 'Where is Bruno?'", RUN, piecemeal=True, adds=True),
    "talk --inner-voice": Operation("talk @ ines --inner-voice 'Go home.'", RUN),
    "forget": Operation("forget @ --query the", RUN),
    "forget, in a store": Operation("forget @ --query the", STORE, name="a.store", piecemeal=True),
    "forget, in a database": Operation("forget @ --query the", DATABASE, name="a.db", piecemeal=True),
    "forget --everything": Operation("forget @ --agent ines --everything", STORE, name="a.store", piecemeal=True),
    "copy-memories": Operation("copy-memories OTHER jsonl:@", name="a.store", piecemeal=True),
    "copy-memories, to a database": Operation("copy-memories OTHER @", name="a.db", piecemeal=True),
    "rate": Operation("rate ANSWERS t1.thesis.0 5 --memory @", PANEL, name="a.panel", piecemeal=True, adds=True),
    "upkeep": Operation("upkeep @/memory", PANEL, name="a.panel", piecemeal=True),
    "mcp": Operation(
        "mcp @", DATABASE, name="a.db", typed=ASSISTANT, last='"id":2', piecemeal=True, adds=True
    ),
    "export": Operation("export OTHER bundle -o @", name="a.zip"),
    "export html": Operation("export OTHER html -o @", name="a.html"),
    "export csv": Operation("export OTHER csv -o @", name="a.csv"),
    "export transcript": Operation("export OTHER transcript -o @", name="a.md"),
    "export training": Operation("export OTHER training --offline -o @", name="a.jsonl"),
    "import": Operation("import bundle GIVEN -o @", first="export OTHER bundle -o GIVEN"),
    "rescue": Operation("rescue OTHER -o @"),
    "copy": Operation("copy OTHER @"),
    "copy --force": Operation("copy OTHER @ --force", RUN),
    "trim": Operation("trim @ --before 5 --kind traces --kind prompts", RUN),
    "new": Operation("new @ --size 12", name="a.yaml"),
    "new --force": Operation("new @ --force", SCENARIO, name="a.yaml"),
}  # fmt: skip
READING = (
    "replay", "runs", "watch", "events", "agents", "why", "diff", "diffusion", "metrics", "rules", "usage", "memories",
    "prompts", "search", "ledger", "digest", "verify", "scenarios", "check",
    "estimate", "doctor",  # these write to the folder of temporary files
)  # fmt: skip
KILLS = 24 if PROVE else 2
FULL_DISKS = 12 if PROVE else 1
"""For each operation."""


def test_every_command_is_known_to_write_or_only_to_read():
    writing = {operation.command.split()[0] for operation in OPERATIONS.values()}
    assert writing | {*READING} == {*COMMANDS}
    assert not writing & {*READING}


# ── the stock, and scenes made of it ────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def stock(tmp_path_factory):
    """A folder with one of each kind of file. Somebody whom the scenario does not know waits to come into the run."""

    def make(folder):
        folder.mkdir()
        (old,) = FOLDER.glob(f"format-{FORMAT - 1}.run.xz")
        (folder / OLD).write_bytes(lzma.decompress(old.read_bytes()))
        run, alone = folder / RUN, folder / "alone.run"
        command("run", "plaza", "--ticks", 6, "-o", alone, "--view", "none")
        command("fork", alone, "--at", 6, "--join", FILE, "-o", run)
        command("copy-memories", run, f"jsonl:{folder / STORE}")
        command("copy-memories", run, folder / DATABASE)
        played(folder / "answers.run", ticks=3)
        (folder / "outputs").rename(folder / PANEL)
        command("new", folder / SCENARIO, "--size", 3)

    return once(tmp_path_factory, "stock", make)


class Scene:
    """A folder with what an operation needs, before it."""

    def __init__(self, operation: Operation, folder: Path, stock: Path) -> None:
        self.operation, self.folder, self.target = operation, folder, folder / operation.name
        self.before = stock / operation.had if operation.had else None
        folder.mkdir()
        self._paths = {"OTHER": folder / RUN, "ANSWERS": folder / "answers.run", "GIVEN": folder / "given"}
        for word in ("OTHER", "ANSWERS"):
            if word in f"{operation.command} {operation.first}".split():
                shutil.copy2(stock / self._paths[word].name, folder)
        if operation.first:
            command(*self.words(operation.first))
        self.only_read = {path: path.read_bytes() for path in folder.iterdir()}
        if self.before is not None and self.before.is_dir():
            shutil.copytree(self.before, self.target)
        elif self.before is not None:
            shutil.copy2(self.before, self.target)

    def words(self, line: str) -> list[str]:
        """A command with its paths."""
        return [str(self._paths.get(word, word.replace("@", str(self.target)))) for word in shlex.split(line)]

    def content(self) -> dict:
        """What counts of the target, part by part; empty if it is not there."""
        return content_of(self.target)

    def earlier(self) -> dict:
        """The same before the operation."""
        return content_of(self.before) if self.before is not None else {}

    def names(self) -> set[str]:
        """Of all files in the folder, those that are only read left out."""
        there = {path for path in self.folder.rglob("*") if path.is_file()} - {*self.only_read}
        return {str(path.relative_to(self.folder)) for path in there}


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    """Lets a scene's operation happen, with a fault: see `dying.py`."""
    library = dying.library(tmp_path_factory.mktemp("library"))
    if library is None:
        pytest.skip("no C compiler for Linux: what a process changes cannot be counted")
    # OpenBLAS would start threads, and a process with threads should not fork
    env = environment(OPENBLAS_NUM_THREADS="1", PYTHONPATH=SOURCE, LD_PRELOAD=str(library))
    given = [sys.executable, dying.__file__]
    with subprocess.Popen(given, env=env, encoding="utf-8", stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:

        def happen(scene: Scene, fault: str = "", at: float = 0) -> dict:
            operation = scene.operation
            typed = operation.typed.replace("ORDER", json.dumps({**ORDER, "path": str(scene.target)}) + "\n")
            given = {"arguments": scene.words(operation.command), "typed": typed, "last": operation.last}
            process.stdin.write(json.dumps({**given, "fault": fault, "at": at}) + "\n")
            process.stdin.flush()
            return json.loads(process.stdout.readline())

        yield happen
        process.stdin.close()


# ── killed, or out of space ─────────────────────────────────────────────────────────────────────────────────────────


def left_over(scene: Scene) -> list[str]:
    """Files that only a killed process may leave."""
    return [name for name in scene.names() if ".unfinished" in name or name.endswith(".lock")]


class Whole:
    """What an operation makes that is left in peace."""

    def __init__(self, scene: Scene, changes: str, seconds: float) -> None:
        self.scene, self.changes, self.seconds = scene, changes, seconds
        self.content, self.names = scene.content(), scene.names()
        self._later: Ends | None = None

    def after(self) -> Ends:
        """Of the run, a tick later."""
        if self._later is None:
            later = Path(shutil.copy(self.scene.target, self.scene.folder / "later.run"))
            command("resume", later, "--ticks", 1, "--view", "none")
            self._later = ends(later)
        return self._later


def left_in_peace(name: str, machine: Callable, stock: Path, folder: Path) -> Whole:
    """What an operation does that nothing happens to."""
    if name == "export html" and not (STATIC / "index.html").exists():
        pytest.skip("the page is not built: make page")
    if name == "mcp" and find_spec("mcp") is None:
        pytest.skip("mcp is not installed")
    scene = Scene(OPERATIONS[name], folder / "whole", stock)
    done = machine(scene)
    assert done["status"] == 0, done["said"]
    assert not left_over(scene)
    return Whole(scene, done["changes"], done["seconds"])


@pytest.fixture(scope="module", params=OPERATIONS)
def whole(request, machine, stock, tmp_path_factory):
    """An operation that nothing happens to."""
    return left_in_peace(request.param, machine, stock, tmp_path_factory.mktemp("peace"))


def test_killed_at_any_moment_it_is_done_or_not_done(whole, machine, stock, tmp_path):
    operation = whole.scene.operation
    chance = random.Random(operation.command)
    for number, at in enumerate(chosen(whole.changes, KILLS, chance)):
        fault = ("kill", "half", "time")[number % 3]
        scene = Scene(operation, tmp_path / f"at-{number}", stock)
        killed = machine(scene, fault, chance.uniform(0, whole.seconds) if fault == "time" else at)
        assert killed["status"] == -signal.SIGKILL or fault == "time", (fault, at, killed["said"])
        assert "Traceback" not in killed["said"]
        assert_done_or_not(scene, whole, machine)
        shutil.rmtree(scene.folder)


def test_a_disk_that_is_full_from_any_change_on_spoils_nothing(whole, machine, stock, tmp_path):
    operation = whole.scene.operation
    chance = random.Random(f"full {operation.command}")
    for number, at in enumerate(chosen(whole.changes, FULL_DISKS, chance)):
        scene = Scene(operation, tmp_path / f"at-{number}", stock)
        done = machine(scene, ("full", "no room")[number % 2], at)
        happened = scene.content() != scene.earlier()
        assert_told_of_a_full_disk(scene, done["status"], done["said"], happened)
        assert not left_over(scene)
        assert_done_or_not(scene, whole, machine)
        shutil.rmtree(scene.folder)


@pytest.mark.parametrize("name", OPERATIONS if PROVE else ("run", "copy-memories", "export", "new"))
def test_on_a_small_disk_that_is_really_full_it_is_the_same(name, machine, stock, tmp_path):
    whole = left_in_peace(name, machine, stock, tmp_path)
    chance = random.Random(f"really {name}")
    size = sum((whole.scene.folder / name).stat().st_size for name in whole.names)
    for number in range(6 if PROVE else 1):
        with small_disk(tmp_path / f"disk-{number}", 16_000) as disk:
            scene = Scene(whole.scene.operation, disk / "scene", stock)
            ballast = disk / "ballast"
            ballast.write_bytes(bytes(shutil.disk_usage(disk).free - chance.randrange(0, size, 4096)))
            done = machine(scene)
            assert_told_of_a_full_disk(scene, done["status"], done["said"], scene.content() != scene.earlier())
            ballast.unlink()
            assert_done_or_not(scene, whole, machine)


def test_a_run_of_an_older_format_is_brought_up_to_date_or_is_not(machine, stock, tmp_path):
    operation = Operation("forget @ --query the", OLD)
    whole = Scene(operation, tmp_path / "whole", stock)
    changes = machine(whole)["changes"]
    for at in chosen(changes, KILLS, random.Random(5)):
        scene = Scene(operation, tmp_path / f"at-{at}", stock)
        machine(scene, ("kill", "half")[at % 2], at)
        for run in {scene.target, *scene.folder.glob(f"a.run.format-{FORMAT - 1}")}:  # the copy, if there is one
            command("verify", run, "--integrity-only")
        with open_run(scene.target) as reading:
            queued = reading.queued()
        if not queued or queued[-1].body["kind"] != "forget":
            assert machine(scene)["status"] == 0
        assert scene.content() == whole.content()


def assert_told_of_a_full_disk(scene: Scene, status: int, said: str, happened: bool) -> None:
    """What is said names what to do, and that works; nothing needs to be said of a file that is complete."""
    assert "Traceback" not in said and "bug in Commonplace" not in said, said
    if not status and "the disk is full" not in said:
        assert happened
        return
    assert status in ((0, 1) if scene.operation.typed else (1,)), said  # 0: it is an answer that says it
    assert "the disk is full" in said, said
    assert f"free some space in {scene.folder}" in said, said
    makes_ticks = scene.operation.command.split()[0] in ("run", "resume", "serve")
    if f"then commonplace resume {scene.target}" in said:
        assert makes_ticks and scene.content(), said
    else:
        assert not (makes_ticks and happened), said


def chosen(changes: str, number: int, chance: random.Random) -> list[int]:
    """The numbers of some changes, in any order. Half of them are of another sort than the change before."""
    turns = [at for at in range(1, len(changes)) if changes[at] != changes[at - 1]]
    some = chance.sample(turns, min(number // 2, len(turns)))
    rest = sorted({*range(len(changes))} - {*some})
    mixed = [*some, *chance.sample(rest, min(number - len(some), len(rest)))]
    chance.shuffle(mixed)
    return mixed


def assert_done_or_not(scene: Scene, whole: Whole, machine: Callable) -> None:
    """What there is now is what was there before, or what the operation makes, or leads there; nothing is left over."""
    operation, run = scene.operation, scene.operation.name.endswith(".run")
    assert {path: path.read_bytes() for path in scene.only_read} == scene.only_read
    now, before, done = scene.content(), scene.earlier(), whole.content
    if operation.then and now not in (before, done):
        reached = ends(scene.target)
        assert reached == ends(whole.scene.target, reached.tick)
    elif operation.piecemeal:
        assert all(now.get(key) in (before.get(key), done.get(key)) for key in {*now, *before, *done})
    else:
        assert now in (before, done)
    if run and scene.target.exists():
        command("verify", scene.target)
    if now == before or operation.piecemeal:
        assert machine(scene)["status"] in ((0, 2) if now == done else (0,))  # 2: nothing is left to be forgotten
    elif operation.then:
        command(*scene.words(operation.then))
    elif not operation.had or "--force" in operation.command:
        # it is there already, and may be refused; what a killed process left goes all the same
        assert machine(scene)["status"] == (0 if "--force" in operation.command else 2)
    now = scene.content()
    assert now.items() >= done.items() if operation.adds else operation.then or now == done
    if run:
        if not operation.adds:
            assert ends(scene.target) == ends(whole.scene.target)
        command("resume", scene.target, "--ticks", 1, "--view", "none")
        assert ends(scene.target) == whole.after()
    if not operation.adds:
        assert scene.names() == whole.names


def content_of(path: Path) -> dict:
    """What counts of a file or folder, part by part; looked at in a copy, since whoever opens some files mends them."""
    if not path.exists():
        return {}
    with tempfile.TemporaryDirectory() as folder:
        for one in path.parent.glob(f"{path.name}*"):
            copied = shutil.copytree if one.is_dir() else shutil.copy
            copied(one, Path(folder) / one.name)
        there = Path(folder) / path.name
        match path.suffix:
            case ".run":
                return _tables(there) | _talks(there)
            case ".db" | ".store":
                return _memories(there)
            case ".panel":
                return _panel(there)
        return {"bytes": digest(there.read_bytes()).hex()}


def _tables(run: Path) -> dict:
    with tables(run) as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        rows = {name: sorted(connection.execute(f"SELECT * FROM {name}"), key=repr) for name in names}
        return {name: digest(repr(all_of_them).encode()).hex() for name, all_of_them in rows.items()}


def _talks(run: Path) -> dict:
    files = sorted(run.with_name(f"{run.name}.talks").rglob("*.jsonl"))
    lines = [line for file in files for line in file.read_bytes().splitlines(keepends=True)]
    return {line: "" for line in lines if line.endswith(b"\n")}  # a torn one does not count


def _memories(place: Path) -> dict:
    store = open_store(f"jsonl:{place}" if place.is_dir() else place)
    try:
        found = {agent: load(store, agent) for agent in store.agents()}
    finally:
        store.close()
    return {
        (agent, memory.id): (repr(memory), memory.id in stored.archived)
        for agent, stored in found.items()
        for memory in stored.memories
        if memory.id not in stored.forgotten
    }


def _panel(folder: Path) -> dict:
    with MemoryStore(folder / "memory") as store:
        kept = {one.memory_id: repr(one.to_dict()) for one in store.get_recent(1000)}
    return kept | {entry["hash"]: "" for entry in ledger(folder)}
