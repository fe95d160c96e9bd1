"""Killed at any instant, gone on with: the digests of a run never killed, and every file in between can be read."""

from __future__ import annotations

import _sqlite3
import asyncio
import json
import lzma
import random
import select
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from commonplace.api import open_run
from commonplace.canon import digest
from commonplace.engine.driver import JOB_ORDINALS
from commonplace.errors import UsageError
from commonplace.run.schema import FORMAT
from e2e import paying
from e2e.command import SOURCE, Ends, command, copied, ends, environment, started, tables
from e2e.lived import once
from run.formats.make import FOLDER
from scenario.newcomers import FILE
from sizes import PROVE

TICKS = {"plaza": 300, "latticeville": 96} if PROVE else {"plaza": 200, "latticeville": 45}
SPANS = (("start", 1.0), ("ticks", 0.4))
"""Kills fall within so many seconds of the process's start, or of the first tick it shows."""


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory):
    """The runs that nobody kills, by scenario."""
    return {
        scenario: once(
            tmp_path_factory,
            f"unbroken-{scenario}.run",
            lambda run, name=scenario: command("run", name, "--ticks", TICKS[name], "-o", run, "--view", "none"),
        )
        for scenario in TICKS
    }


@pytest.mark.parametrize("scenario", TICKS)
def test_a_run_killed_at_random_moments_ends_as_one_never_killed(scenario, unbroken, tmp_path):
    kill_and_go_on(scenario, unbroken[scenario], tmp_path, kills=2, seed=3)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("scenario", TICKS)
def test_a_hundred_kills(scenario, seed, unbroken, tmp_path):
    kill_and_go_on(scenario, unbroken[scenario], tmp_path, kills=10, seed=seed + 100)


def kill_and_go_on(scenario: str, unbroken: Path, folder: Path, kills: int, seed: int) -> None:
    """Kill a run, and what goes on with it, from outside; look at the file every other time; then let it end in peace.

    A run that comes to its end before its kills are spent is followed by another.
    """
    chance = random.Random(f"{scenario} {seed}")
    number = 0
    while kills > 0:
        run = folder / f"killed-{number}.run"
        number += 1
        fresh = ("run", scenario, "--ticks", TICKS[scenario], "--force", "-o", run)
        given = fresh
        while kills > 0:
            status = killed(given, chance)
            if status == 0:
                break
            kills -= status == -signal.SIGKILL
            given = ("resume", run)
            if status > 0:  # refused: it was killed before anything was committed
                assert last_tick(run) < 0
                given = fresh
            elif chance.random() < 0.5:
                assert_readable(run)
        command(*(fresh if last_tick(run) < 0 else ("resume", run)), "--view", "none")
        assert ends(run) == ends(unbroken)
    command("verify", run)


def killed(arguments: tuple[object, ...], chance: random.Random) -> int:
    """Start the command and kill it some time later; its status, −9 unless it had ended by itself."""
    begin, longest = chance.choice(SPANS)
    process = started(*arguments, "--view", "json", stderr=subprocess.DEVNULL)
    with process:
        if begin == "ticks":
            select.select([process.stdout], [], [], 60)
        deadline = time.monotonic() + chance.uniform(0, longest)
        while (left := deadline - time.monotonic()) > 0:  # a full pipe would stop it
            if select.select([process.stdout], [], [], left)[0] and not process.stdout.buffer.read1(1 << 16):
                break
        process.send_signal(signal.SIGKILL)
    return process.returncode


def last_tick(run: Path) -> int:
    """The last one committed; −1 for none."""
    try:
        with open_run(run) as reading:
            return reading.last_tick
    except UsageError:
        return -1


def assert_readable(run: Path) -> None:
    """What was committed can be looked at in every way, and is sound."""
    last = last_tick(run)
    if last < 0:
        return
    assert f"tick {last} " in command("verify", run, "--integrity-only").out
    rows = command("events", run, "--json").rows
    assert {row["tick"] for row in rows} <= set(range(1, last + 1))
    assert not last or rows[-1]["tick"] == last


# ── at every change to the disk ─────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Operation:
    """A command that changes files. In it `@` is what it makes or changes, `OTHER` a run that it only reads."""

    command: str
    had: bool = False
    """Whether there is a run at `@` before."""
    then: str = ""
    """What continues it where it was stopped; empty if it happens at once or not at all."""
    first: str = ""
    """What makes `GIVEN`, another file that it only reads."""
    name: str = "a.run"
    """Of the file `@`."""


OPERATIONS = {
    "create": Operation("run plaza --ticks 0 --view none -o @"),
    "run": Operation("run plaza --ticks 2 --view none -o @", then="resume @ --view none"),
    "run --force": Operation("run plaza --seed 8 --ticks 1 --view none --force -o @", True, "resume @ --view none"),
    "resume": Operation("resume @ --until 9 --view none", True, "resume @ --until 9 --view none"),
    "fork": Operation("fork OTHER --at 4 -o @ --forget ines:1 --forget bruno:1"),
    "fork --force": Operation("fork OTHER --at 4 --force -o @ --inject 'A thick fog rolls in.'", True),
    "forget": Operation("forget @ --query the", True),
    "trim": Operation("trim @ --before 5 --kind traces --kind prompts", True),
    "export": Operation("export OTHER bundle -o @", name="a.zip"),
    "import": Operation("import bundle GIVEN -o @", first="export OTHER bundle -o GIVEN"),
    "rescue": Operation("rescue OTHER -o @"),
}
KILLS = 330 if PROVE else 22
FULL_DISKS = 220 if PROVE else 11


@pytest.fixture(scope="module")
def short(tmp_path_factory):
    """The run there is before; somebody whom the scenario does not know waits to come in."""

    def make(run):
        alone = run.with_name("alone.run")
        command("run", "plaza", "--ticks", 6, "-o", alone, "--view", "none")
        command("fork", alone, "--at", 6, "--join", FILE, "-o", run)

    return once(tmp_path_factory, "short.run", make)


@pytest.fixture(scope="module")
def machine():
    """Runs commands with a fault: see `dying.py`."""
    if not getattr(_sqlite3, "__file__", None):
        pytest.skip("this Python has SQLite built in, so its system calls cannot be replaced")
    # OpenBLAS would start threads, and a process with threads should not fork
    env = environment(OPENBLAS_NUM_THREADS="1", PYTHONPATH=SOURCE)
    given = [sys.executable, Path(__file__).with_name("dying.py")]
    with subprocess.Popen(given, env=env, encoding="utf-8", stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:

        def run(words: list[str], fault: str = "", at: int = 0) -> dict:
            process.stdin.write(json.dumps({"arguments": words, "fault": fault, "at": at}) + "\n")
            process.stdin.flush()
            return json.loads(process.stdout.readline())

        yield run
        process.stdin.close()


class Scene:
    """A folder with the runs of an operation, before it."""

    def __init__(self, operation: Operation, folder: Path, short: Path) -> None:
        self.folder = folder
        self.target = folder / operation.name
        folder.mkdir()
        shutil.copy(short, folder / "other.run")
        if operation.first:
            command(*self.words(operation.first))
        self.only_read = {path: path.read_bytes() for path in folder.iterdir()}
        if operation.had:
            shutil.copy(short, self.target)

    def words(self, line: str) -> list[str]:
        """A command with its paths."""
        paths = {"@": self.target, "OTHER": self.folder / "other.run", "GIVEN": self.folder / "given"}
        return [str(paths.get(word, word)) for word in shlex.split(line)]


@pytest.mark.parametrize("name", OPERATIONS)
def test_killed_at_any_change_to_the_disk_it_is_done_or_not_done(name, machine, short, tmp_path):
    for at, scene, whole in scenes(OPERATIONS[name], machine, short, tmp_path, KILLS):
        killed = machine(scene.words(OPERATIONS[name].command), "kill", at)
        assert killed["status"] == -signal.SIGKILL
        assert_done_or_not(OPERATIONS[name], scene, whole, short)
        shutil.rmtree(scene.folder)


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_disk_that_is_full_from_any_change_on_spoils_nothing(name, machine, short, tmp_path):
    for at, scene, whole in scenes(OPERATIONS[name], machine, short, tmp_path, FULL_DISKS):
        done = machine(scene.words(OPERATIONS[name].command), "full", at)
        assert "Traceback" not in done["said"]
        if done["status"]:
            assert done["status"] == 1, done["said"]
            assert f"commonplace: {scene.target}: the disk is full" in done["said"], (at, done["said"])
            assert str(scene.folder) in done["said"].split("free some space in ")[1]
        assert not list(scene.folder.glob("*.unfinished*"))
        happened = assert_done_or_not(OPERATIONS[name], scene, whole, short)
        assert done["status"] or happened
        shutil.rmtree(scene.folder)


def test_a_run_of_an_older_format_is_brought_up_to_date_or_is_not(machine, tmp_path):
    (stored,) = FOLDER.glob(f"format-{FORMAT - 1}.run.xz")
    old = lzma.decompress(stored.read_bytes())
    words = ["forget", str(tmp_path / "a.run"), "--query", "the"]

    def anew(fault: str = "", at: int = 0) -> dict:
        for file in tmp_path.iterdir():
            file.unlink()
        (tmp_path / "a.run").write_bytes(old)
        return machine(words, fault, at)

    changes = anew()["changes"]
    done = content(tmp_path / "a.run")
    for at in chosen(changes, KILLS // len(OPERATIONS), random.Random(5)):
        anew("kill", at)
        for run in {tmp_path / "a.run", *tmp_path.glob(f"a.run.format-{FORMAT - 1}")}:  # the copy, if there is one
            command("verify", run, "--integrity-only")
        with open_run(tmp_path / "a.run") as reading:
            queued = reading.queued()
        if not queued or queued[-1].body["kind"] != "forget":
            command(*words)
        assert content(tmp_path / "a.run") == done


def scenes(
    operation: Operation, machine: Callable, short: Path, folder: Path, all_faults: int
) -> Iterator[tuple[int, Scene, Scene]]:
    """(the number of a change, a scene for it, the scene where the operation was left in peace), many times."""
    whole = Scene(operation, folder / "whole", short)
    done = machine(whole.words(operation.command))
    assert done["status"] == 0, done["said"]
    for at in chosen(done["changes"], all_faults // len(OPERATIONS), random.Random(operation.command)):
        yield at, Scene(operation, folder / f"at-{at}", short), whole


def chosen(changes: list[str], number: int, chance: random.Random) -> list[int]:
    """The numbers of some changes. Half of them are of another sort than the change before."""
    turns = [at for at in range(1, len(changes)) if changes[at] != changes[at - 1]]
    some = chance.sample(turns, min(number // 2, len(turns)))
    rest = sorted({*range(len(changes))} - {*some})
    return sorted([*some, *chance.sample(rest, min(number - len(some), len(rest)))])


def assert_done_or_not(operation: Operation, scene: Scene, whole: Scene, short: Path) -> bool:
    """What there is now is what was there before, or what the operation makes, and leads there; whether it is that."""
    assert {path: path.read_bytes() for path in scene.only_read} == scene.only_read
    is_run = scene.target.suffix == ".run"
    now, before, done = content(scene.target), content(short) if operation.had else None, content(whole.target)
    if operation.then and now not in (before, done):
        reached = ends(scene.target)
        assert reached == ends(whole.target, reached.tick)
    else:
        assert now in (before, done)
    if is_run and scene.target.exists():
        command("verify", scene.target)
    if now == before:
        command(*scene.words(operation.command))
    elif operation.then:
        command(*scene.words(operation.then))
    assert operation.then or content(scene.target) == done
    if is_run:
        assert ends(scene.target) == ends(whole.target)
        command("resume", scene.target, "--ticks", 1, "--view", "none")
        assert ends(scene.target) == after(whole.target)
        assert {entry.name for entry in scene.folder.iterdir()} == {
            path.name for path in [*scene.only_read, scene.target]
        }
    return now != before


def content(file: Path) -> dict[str, str] | str | None:
    """A digest of the rows of each table, in a copy; of its bytes, if it is no run; None if there is no file."""
    if not file.exists():
        return None
    if file.suffix != ".run":
        return digest(file.read_bytes()).hex()
    with tempfile.TemporaryDirectory() as folder:
        for one in file.parent.glob(f"{file.name}*"):
            shutil.copy(one, folder)
        with tables(Path(folder) / file.name) as connection:
            names = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
            rows = {name: sorted(connection.execute(f"SELECT * FROM {name}"), key=repr) for name in names}
            return {name: digest(repr(all_of_them).encode()).hex() for name, all_of_them in rows.items()}


def after(whole: Path) -> Ends:
    """A tick later."""
    later = whole.with_name("later.run")
    if not later.exists():
        shutil.copy(whole, later)
        command("resume", later, "--ticks", 1, "--view", "none")
    return ends(later)


# ── answers that cost something ─────────────────────────────────────────────────────────────────────────────────────


def test_no_answer_is_paid_for_twice(tmp_path, unbroken):
    chance = random.Random(11)
    run, bill = tmp_path / "paid.run", tmp_path / "bill.txt"
    given = [sys.executable, paying.__file__, *map(str, (run, bill, *PAID))]
    kept: set[Attempt] = set()
    used = 0
    for _ in range(3 if PROVE else 2):
        before = len(paid(bill))
        with subprocess.Popen(given, env=environment(), stdout=subprocess.PIPE) as process:
            enough = before + chance.randint(15, 40)
            while len(paid(bill)) < enough and process.poll() is None:
                time.sleep(0.001)
            process.send_signal(signal.SIGKILL)
        assert not kept & set(paid(bill)[before:])
        kept = journaled(run)
        must = used_already(paid(bill))
        assert must <= kept
        used = max(used, len(must))
    before = len(paid(bill))
    asyncio.run(paying.main(run, bill, *PAID))
    assert not kept & set(paid(bill)[before:])
    assert used > 20
    assert any(attempt for *_, attempt in kept)
    command("verify", run)
    whole, once_paid = tmp_path / "whole.run", tmp_path / "whole.txt"
    asyncio.run(paying.main(whole, once_paid, *PAID))
    assert ends(run) == ends(whole)
    assert ends(run).history == ends(unbroken["latticeville"], PAID[1]).history  # every slip was mended
    assert set(paid(once_paid)) == set(paid(bill))
    assert len(paid(once_paid)) == len(set(paid(once_paid)))


PAID = "latticeville", 30 if PROVE else 20
"""The scenario and its ticks."""
Attempt = tuple[str, int, int, int]
"""Character, tick, ordinal, attempt."""


def paid(bill: Path) -> list[Attempt]:
    """Every answer that was given, in order."""
    rows = [line.split() for line in bill.read_text().splitlines()] if bill.exists() else []
    return [(agent, int(tick), int(ordinal), int(attempt)) for agent, tick, ordinal, attempt in rows]


def used_already(answers: list[Attempt]) -> set[Attempt]:
    """Those after which the same turn asked on: they were used, so they must have been kept."""
    last: dict[tuple[str, int, int], tuple[int, int]] = {}
    for agent, tick, ordinal, attempt in answers:
        turn = agent, tick, ordinal // JOB_ORDINALS
        last[turn] = max((ordinal, attempt), last.get(turn, (-1, 0)))
    return {one for one in answers if one[2:] < last[one[0], one[1], one[2] // JOB_ORDINALS]}


def journaled(run: Path) -> set[Attempt]:
    """The attempts in the file. It is looked at in a copy: whoever opens the file itself mends it."""
    copy = copied(run, run.parent, "looked-at.run")
    wal = run.with_name(f"{run.name}-wal")
    if wal.exists():
        copied(wal, run.parent, f"{copy.name}-wal")
    with tables(copy) as connection:
        return set(connection.execute("SELECT agent, tick, ordinal, attempt FROM answer"))


def test_the_test_would_notice_a_lost_tick(plaza, tmp_path):
    run = copied(plaza, tmp_path)
    with tables(run) as connection:
        connection.execute("DELETE FROM event WHERE tick = 40 AND agent = 'ines'")
    with pytest.raises(AssertionError):
        assert_readable(run)
