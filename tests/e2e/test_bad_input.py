"""What cannot be done is refused in words: what, where, what to do. No traceback, the right status, nothing lost."""

from __future__ import annotations

import fcntl
import os
import pty
import random
import resource
import select
import signal
import sqlite3
import subprocess
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from commonplace.cli import main
from commonplace.errors import UsageError
from commonplace.scenario.loading import located
from e2e.command import LENIENT, PATIENCE, PROGRAM, command, copied, ends, environment, finished, small_disk, started
from e2e.lived import PLAZA_TICKS
from sizes import PROVE

READERS = ("events", "agents", "usage", "diffusion", "digest", "verify", "replay", "resume")


def refused(*arguments: object, says: tuple[str, ...], status: int = 2, **settings: object) -> None:
    """The command ends with the status; standard error says all of this, standard output nothing."""
    done = command(*arguments, status=status, **settings)
    for words in says:
        assert words in done.err, done.err
    assert done.out == ""


# ── scenarios ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_unknown_scenario_names_those_there_are(tmp_path):
    refused("run", "plazza", says=("plazza", "Did you mean", "plaza", "latticeville"), cwd=tmp_path)
    assert not list(tmp_path.iterdir())


PLAZA, _ = located("plaza")
SPOILT = {
    "broken YAML": (PLAZA.replace("name: plaza", "name: [plaza"), (":7",)),
    "a tab": (PLAZA.replace("  sky: clear", "\tsky: clear"), ()),
    "a key twice": (PLAZA.replace("stage: town", "stage: town\nstage: town"), ("stage", "a second time", ":11")),
    "an id twice": (PLAZA.replace("- id: bruno\n", "- id: ines\n"), ("ines",)),
    "an unknown key": (PLAZA.replace("sky: clear", "skye: clear"), ("skye", "sky")),
    "an unknown home": (PLAZA.replace("home: ines_home", "home: ines_hoem"), ("ines_hoem", "ines_home")),
    "a number for text": (PLAZA.replace("tick_minutes: 5", "tick_minutes: soon"), ("tick_minutes", "soon")),
    "no characters": (PLAZA[: PLAZA.index("characters:")] + "characters: []\n", ("characters",)),
    "a wrong language": (PLAZA.replace("language: en", "language: fr"), ("fr", "en")),
    "nothing at all": ("", ()),
    "a list": ("- one\n- two\n", ()),
    "only a number": ("42\n", ()),
    "an unknown policy": (PLAZA.replace("fidelity: when_needed", "policy: nope"), ("nope", "park")),
}


@pytest.mark.parametrize(("text", "says"), SPOILT.values(), ids=SPOILT)
def test_a_scenario_with_a_mistake_is_refused_with_its_line(text, says, tmp_path):
    assert text != PLAZA
    scenario = tmp_path / "spoilt.yaml"
    scenario.write_text(text, encoding="utf-8")
    refused("run", scenario, "-o", "x.run", "--ticks", 2, says=("spoilt.yaml", *says), cwd=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["spoilt.yaml"]
    refused("check", scenario, says=("spoilt.yaml", *says))


def test_an_area_nobody_can_reach_is_a_mistake(tmp_path):
    shut = PLAZA.replace("  root:\n", "  ways:\n    - {between: [square, cafe], closed: true}\n  root:\n", 1)
    scenario = tmp_path / "shut.yaml"
    scenario.write_text(shut, encoding="utf-8")
    refused("check", scenario, says=("shut.yaml", "cafe"))


@pytest.mark.parametrize("stage", ["nope", "nope:NOPE", "commonplace.stages.town:NOPE", "json:loads", ":", "os"])
def test_an_unknown_stage_names_those_there_are(stage, tmp_path):
    scenario = tmp_path / "staged.yaml"
    scenario.write_text(PLAZA.replace("stage: town", f"stage: '{stage}'"), encoding="utf-8")
    refused("run", scenario, "-o", tmp_path / "x.run", says=(stage, "town", "duet"))
    assert not (tmp_path / "x.run").exists()


@pytest.mark.parametrize(
    "content", [b"\xff\xfe\x00", b"name: caf\xe9\n", b"\x00" * 100], ids=["UTF-16", "Latin", "zeros"]
)
def test_bytes_that_are_no_text_are_refused(content, tmp_path):
    scenario = tmp_path / "bytes.yaml"
    scenario.write_bytes(content)
    refused("run", scenario, "-o", tmp_path / "x.run", says=("bytes.yaml",))


@pytest.mark.parametrize("path", ["{folder}", "/dev/full/x.yaml", "a" * 300, "{folder}/none.yaml"])
def test_a_scenario_that_is_no_file_is_refused(path, tmp_path):
    refused("run", path.format(folder=tmp_path), says=("commonplace: ",), cwd=tmp_path)


# ── files that are no runs ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def strange(tmp_path_factory):
    """Files and other things that are no runs."""
    folder = tmp_path_factory.mktemp("strange")
    (folder / "text.run").write_text("not a run\n" * 200)
    (folder / "empty.run").write_bytes(b"")
    with sqlite3.connect(folder / "other.run") as connection:
        connection.execute("CREATE TABLE event(x)")
    connection.close()
    (folder / "dangling.run").symlink_to(folder / "nowhere.run")
    (folder / "folder.run").mkdir()
    return folder


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("text.run", "not a Commonplace run"),
        ("empty.run", "not a Commonplace run"),
        ("other.run", "not a Commonplace run"),
        ("dangling.run", "no such run"),
        ("missing.run", "no such run"),
        ("folder.run", "a folder, not a run"),
    ],
)
@pytest.mark.parametrize("reader", ["events", "verify", "resume"])
def test_what_is_no_run_is_refused_and_left_alone(name, says, reader, strange):
    before = {path: path.stat().st_mtime_ns for path in strange.glob("*") if path.exists()}
    refused(reader, strange / name, says=(name, says, "\n  "))
    assert {path: path.stat().st_mtime_ns for path in strange.glob("*") if path.exists()} == before


@pytest.mark.parametrize("reader", [reader for reader in READERS if reader not in ("events", "verify", "resume")])
def test_every_command_that_reads_refuses_a_missing_run(reader, tmp_path):
    refused(reader, tmp_path / "missing.run", says=("missing.run: no such run",))


def test_a_run_of_a_newer_version_is_refused(plaza, tmp_path):
    run = copied(plaza, tmp_path)
    with sqlite3.connect(run) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    for reader in ("events", "resume", "verify"):
        refused(reader, run, says=("format 99", "use a newer"))


@pytest.mark.parametrize("keep", [0.5, 0.95], ids=["half", "nearly all"])
def test_a_file_that_was_cut_off_says_that_it_is_damaged(keep, plaza, tmp_path):
    run = copied(plaza, tmp_path)
    os.truncate(run, int(run.stat().st_size * keep))
    for reader in ("verify", "resume", "events"):
        done = command(reader, run, status=None)
        if reader == "verify":
            assert done.status == 1
        if done.status:
            assert done.status == 1
            assert "damaged" in done.err
            assert str(run) in done.err


# ── places that cannot be written ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("place", ["/proc/x.run", "/proc/nowhere/x.run", "{file}/x.run", "/dev/full/x.run"])
def test_a_place_that_cannot_be_written_is_named(place, tmp_path):
    (tmp_path / "file").write_text("x")
    target = place.format(file=tmp_path / "file")
    refused("run", "plaza", "-o", target, "--ticks", 2, says=(target, "folder cannot be"), status=1)


def test_a_name_that_is_too_long_is_refused(tmp_path):
    done = command("run", "plaza", "-o", tmp_path / ("x" * 300), "--ticks", 2, status=None)
    assert done.status in (1, 2)
    assert "xxx" in done.err


@pytest.mark.parametrize("reader", ["events", "verify", "rescue", "resume"])
def test_a_finished_run_can_be_read_where_nothing_can_be_written(reader, plaza, tmp_path):
    options = {"resume": ("--ticks", "1"), "rescue": ("-o", tmp_path / "saved.run")}
    with read_only(plaza, tmp_path) as run:
        done = command(reader, run, *options.get(reader, ()), status=None, **nobody())
        if reader == "resume":
            assert done.status == 1
            assert "cannot be written" in done.err
        else:
            assert done.status == 0
            assert done.out


@contextmanager
def read_only(plaza, tmp_path):
    """A copy in a folder that nobody but root may write to."""
    folder = tmp_path / "read-only"
    folder.mkdir()
    run = copied(plaza, folder)
    run.chmod(0o444)
    folder.chmod(0o555)
    # what leads there must be open to the user the command runs as
    for parent in list(folder.parents)[: len(folder.parents) - 1]:
        if os.geteuid() == 0 and parent.stat().st_uid == 0 and str(parent) != "/":
            parent.chmod(parent.stat().st_mode | 0o055)
    yield run
    folder.chmod(0o755)


def nobody() -> dict[str, object]:
    """Settings under which the command is not root, to whom every folder is open."""
    if os.geteuid() != 0:
        return {}
    return {"preexec_fn": _without_privileges}


def _without_privileges() -> None:
    """Root without the right to pass over permissions: the user stays, the capabilities go."""
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
        libc.prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    data = (ctypes.c_uint32 * 6)()
    libc.capget(header, data)
    for word in (0, 1, 2):
        data[word] &= ~0b110 & 0xFFFFFFFF
    libc.capset(header, data)


# ── a full disk ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_file_that_cannot_grow_loses_no_committed_tick(plaza, tmp_path):
    """A limit on the size of files, as quotas set it."""
    run = tmp_path / "limited.run"
    limit = 400_000
    done = command(
        "run", "plaza", "--ticks", PLAZA_TICKS, "-o", run, "--view", "none", status=1,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )  # fmt: skip
    assert str(run) in done.err
    assert "disk" in done.err
    reached = ends(run)
    assert 0 < reached.tick < PLAZA_TICKS
    assert reached == ends(plaza, reached.tick)
    command("resume", run, "--view", "none")
    assert ends(run) == ends(plaza)


def test_a_town_that_does_not_fit_leaves_no_part_of_it(tmp_path):
    done = command(
        "new", tmp_path / "town", "--size", 10, status=1,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000)),
    )  # fmt: skip
    assert "town.yaml: the disk is full" in done.err
    assert not list(tmp_path.iterdir())


def test_a_full_disk_loses_no_committed_tick(plaza, tmp_path):
    with small_disk(tmp_path / "disk", 700) as disk:
        run = disk / "x.run"
        done = command("run", "plaza", "--ticks", PLAZA_TICKS, "-o", run, "--view", "none", status=1)
        assert "the disk is full" in done.err
        assert f"commonplace resume {run}" in done.err
        rest = copied(run, tmp_path, "rescued.run")
        if (wal := run.with_name(f"{run.name}-wal")).exists():
            copied(wal, tmp_path, "rescued.run-wal")
    reached = ends(rest)
    assert 0 < reached.tick < PLAZA_TICKS
    assert reached == ends(plaza, reached.tick)
    command("resume", rest, "--view", "none")
    assert ends(rest) == ends(plaza)


def test_a_disk_too_small_to_begin_on_leaves_nothing_behind(tmp_path):
    with small_disk(tmp_path / "disk", 8) as disk:
        refused("run", "plaza", "-o", disk / "x.run", "--ticks", 2, says=("the disk is full", "x.run"), status=1)
        assert not (disk / "x.run").exists()


def test_output_that_cannot_be_written_is_said_in_words(plaza):
    for arguments in (("events", plaza), ("digest", plaza)):
        with Path("/dev/full").open("w") as full:
            done = command(*arguments, status=1, stdout=full)
        assert "the output: cannot be read or written (No space left" in done.err


# ── what is there already, and what is in use ───────────────────────────────────────────────────────────────────────


def test_an_existing_file_is_not_written_over(plaza, tmp_path):
    run = copied(plaza, tmp_path)
    before = run.read_bytes()
    refused("run", "plaza", "-o", run, "--ticks", 2, says=(str(run), "--force"))
    assert run.read_bytes() == before
    note = tmp_path / "diary.txt"
    note.write_text("dear diary")
    refused("run", "plaza", "-o", note, "--ticks", 2, says=("diary.txt", "--force"))
    assert note.read_text() == "dear diary"
    refused("run", "plaza", "-o", tmp_path, "--ticks", 2, says=("a folder",))
    refused("run", "plaza", "-o", tmp_path, "--ticks", 2, "--force", says=("a folder",))
    command("run", "plaza", "-o", run, "--ticks", 2, "--force", "--view", "none")
    assert ends(run) == ends(plaza, 2)


def test_a_bad_scenario_does_not_cost_the_file_that_force_would_replace(plaza, tmp_path):
    run = copied(plaza, tmp_path)
    bad = tmp_path / "bad.yaml"
    bad.write_text("name: [")
    refused("run", bad, "-o", run, "--force", says=("bad.yaml",))
    refused("run", "plaza", "--mind", "nope", "-o", run, "--force", says=("nope", "offline"))
    assert ends(run) == ends(plaza)


def test_a_run_in_use_is_refused_and_can_be_looked_at(plaza, tmp_path):
    run = copied(plaza, tmp_path)
    process = started("resume", run, "--ticks", 100_000, "--view", "json")
    try:
        process.stdout.readline()
        pid = str(process.pid)
        refused("resume", run, "--ticks", 1, says=(str(run), f"process {pid}"))
        refused("run", "plaza", "-o", run, "--force", "--ticks", 1, says=(str(run), f"process {pid}"))
        assert len(command("events", run, "--json").rows) > 60
        command("verify", run, "--integrity-only")
        assert int(command("verify", run).lines[-1].split()[1]) >= PLAZA_TICKS
    finally:
        process.send_signal(signal.SIGINT)
        done = finished(process, status=130)
    assert "interrupted" in done.err
    assert not run.with_name(f"{run.name}.lock").exists()
    command("resume", run, "--ticks", 1, "--view", "none")


# ── arguments ───────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "arguments",
    [
        ("nonsense",),
        ("run",),
        ("run", "plaza", "--nonsense"),
        ("run", "plaza", "--ticks", "-3"),
        ("run", "plaza", "--ticks", "many"),
        ("run", "plaza", "--ticks", "1.5"),
        ("run", "plaza", "--seed", "x"),
        ("run", "plaza", "--fidelity", "nope"),
        ("run", "plaza", "--view", "nope"),
        ("run", "plaza", "--mind", "nope"),
        ("run", "plaza", "--concurrency", "0"),
        ("run", "plaza", "--synchronous", "OFF"),
        ("run", "plaza", "-o", ""),
        ("run", "plaza", "latticeville"),
        ("resume", "{run}", "--ticks", "2", "--until", "99"),
        ("resume", "{run}", "--ticks", "-2"),
        ("resume", "{run}", "--until", "yesterday"),
        ("resume", "{run}", "--until", "²"),
        ("resume", "{run}", "--until", ""),
        ("resume", "{run}", "--until", "9999-12-31T23:59:59-23:59"),
        ("resume", "{run}", "--until", "3"),
        ("resume", "{run}", "--until", "2031-10-04T06:15:00"),
        ("digest", "{run}", "--at", "99"),
        ("digest", "{run}", "--at", "-1"),
        ("digest", "{run}", "--at", "²"),
        ("digest", "{run}", "--at", "soon"),
        ("digest", "{run}", "--at", ""),
        ("digest", "{run}", "--at", "1999-01-01"),
        ("digest", "{run}", "--at", "2031-10-09T00:00:00"),
        ("agents", "{run}", "--at", "99999999999999999999999"),
        ("memories", "{run}", "ines", "--at", "61"),
        ("memories", "{run}"),
        ("memories", "{run}", "nobody"),
        ("memories", "{run}", "ines", "--query", "x", "-k", "0"),
        ("memories", "{run}", "ines", "--query", "x", "--policy", "nope"),
        ("why", "{run}", "--prompts"),
        ("why", "{run}", "nonsense"),
        ("why", "{run}", "t3"),
        ("why", "{run}", "t3.nobody.0"),
        ("why", "{run}", "t3.ines.99"),
        ("why", "{run}", "t61.ines.0"),
        ("why", "{run}", "t-1.ines.0"),
        ("why", "{run}", "t999999999999999999999.ines.0"),
        ("why", "{run}", "t3.ines.0.0"),
        ("why", "{run}", ""),
        ("replay", "{run}", "--from", "61"),
        ("replay", "{run}", "--from", "soon"),
        ("new",),
        ("new", "{folder}"),
        ("new", "{folder}/x.yaml", "--size", "0"),
        ("new", "{folder}/x.yaml", "--size", "10001"),
        ("check",),
        ("check", "{folder}/none.yaml"),
    ],
    ids=" ".join,
)
def test_wrong_use_is_status_2_and_words(arguments, plaza, tmp_path, capsys, monkeypatch):
    run = copied(plaza, tmp_path)
    monkeypatch.chdir(tmp_path)
    assert main([word.format(run=run, folder=tmp_path) for word in arguments]) == 2
    said = capsys.readouterr()
    assert len(said.err) > 30
    assert "Traceback" not in said.err
    assert said.out == ""
    assert ends(run) == ends(plaza)
    assert list(tmp_path.iterdir()) == [run]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("resume", "{run}", "--until", "3"), ("--until 3", "tick 60", "copy.run")),
        (("digest", "{run}", "--at", "99"), ("99", "ticks 0 to 60", "copy.run")),
        (("digest", "{run}", "--at", "soon"), ("soon", "a tick", "2031-")),
        (("resume", "{run}", "--until", "soon"), ("soon", "a number", "2031-")),
        (("memories", "{run}", "nobody"), ("nobody", "bruno, ines")),
        (("memories", "{run}", "ines", "--query", "x", "--policy", "nope"), ("nope", "park")),
        (("why", "{run}", "t3.inez.0"), ("t3.inez.0", "t3.ines.0")),
        (("why", "{run}", "t61.ines.0"), ("t61.ines.0", "ticks 0 to 60")),
        (("why", "{run}", "x"), ("'x'", "t12.mira.0", "commonplace events")),
        (("run", "plaza", "--mind", "nope"), ("nope", "offline")),
        (("run", "plaza", "--fidelity", "nope"), ("--fidelity", "nope", "when_needed")),
        (("run", "plaza", "--ticks", "many"), ("--ticks",)),
        (("nonsense",), ("nonsense", "-h")),
    ],
    ids=" ".join,
)
def test_a_refusal_names_the_thing_the_value_and_what_is_accepted(arguments, says, plaza, tmp_path):
    run = copied(plaza, tmp_path)
    refused(*(word.format(run=run) for word in arguments), says=says, cwd=tmp_path)


def test_debug_shows_where_an_error_comes_from(tmp_path):
    arguments = [*PROGRAM, "--debug", "events", str(tmp_path / "missing.run")]
    done = subprocess.run(arguments, env=environment(), capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 2
    assert "Traceback" in done.stderr
    assert done.stderr.splitlines()[-2].startswith("commonplace: ")


# ── interruptions and closed pipes ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
def test_an_interruption_is_status_130_and_says_how_to_go_on(number, plaza, tmp_path):
    run = tmp_path / "stopped.run"
    process = started("run", "plaza", "--ticks", 100_000, "-o", run)
    process.stdout.readline()
    process.send_signal(number)
    done = finished(process, status=130)
    assert f"commonplace resume {run}" in done.err
    assert "interrupt again to stop at once" in done.err
    reached = ends(run)
    assert done.lines[-1] == f"tick {reached.tick}  digest {reached.history}"
    assert not list(tmp_path.glob("stopped.run?*"))
    command("resume", run, "--ticks", 1, "--view", "none")
    assert ends(run).tick == reached.tick + 1


def test_a_closed_terminal_ends_a_run_at_a_tick_boundary(tmp_path):
    """It says so twice, itself and through its shell, and nothing can be written to it any more."""
    run = tmp_path / "a.run"
    master, slave = pty.openpty()
    process = started("run", "plaza", "--ticks", 100_000, "-o", run, "--view", "plain", stdout=slave, stderr=slave)
    os.close(slave)
    os.read(master, 100)
    os.close(master)
    for _ in range(2):
        process.send_signal(signal.SIGHUP)
    assert process.wait(PATIENCE) == 130
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.run"]
    assert ends(run).tick >= 0


def test_under_nohup_a_closed_terminal_is_ignored(tmp_path):
    run = tmp_path / "a.run"
    ignored = lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)  # noqa: E731
    process = started("run", "plaza", "--ticks", 30, "-o", run, "--view", "plain", preexec_fn=ignored)
    process.stdout.readline()
    process.send_signal(signal.SIGHUP)
    finished(process)
    assert ends(run).tick == 30


def test_an_interruption_at_any_moment_is_status_130_without_a_traceback(tmp_path):
    """Also while the program is still being loaded. Before Python has begun, the system's own way ends it."""
    chance = random.Random(8)
    for number in range(8 if PROVE else 2):
        run = tmp_path / f"{number}.run"
        process = started("run", "plaza", "--ticks", 100_000, "-o", run, "--view", "none", program=LENIENT)
        time.sleep(chance.uniform(0.12, 1.2))
        process.send_signal(signal.SIGINT)
        done = finished(process, status=None)
        assert done.status in (130, -signal.SIGINT), done.err
        if run.exists():
            command("verify", run, "--integrity-only")


def swallowed_interruption() -> None:
    with suppress(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_an_interruption_that_code_cannot_pass_on_is_not_printed(monkeypatch):
    class Lost:
        def __del__(self) -> None:
            swallowed_interruption()
            raise KeyboardInterrupt

    def interrupted(words) -> int:
        Lost()
        raise RuntimeError

    monkeypatch.setattr("commonplace.cli._run", interrupted)
    assert command("events", "a.run", status=130).err == ""


@pytest.mark.parametrize("lost_as", [RuntimeError("Error calling __set_name__"), UsageError("not valid")])
def test_an_interruption_that_a_library_takes_for_another_error_is_one_all_the_same(monkeypatch, lost_as):
    def interrupted(words) -> int:
        swallowed_interruption()
        raise lost_as

    monkeypatch.setattr("commonplace.cli._run", interrupted)
    assert command("events", "a.run", status=130).err == ""


def test_an_interruption_that_a_library_swallows_ends_a_run_before_its_first_tick(monkeypatch, tmp_path):
    run = tmp_path / "a.run"
    monkeypatch.setattr("commonplace.cli.play.expect_many_objects", swallowed_interruption)
    command("run", "plaza", "--ticks", 100_000, "-o", run, "--view", "none", status=130)
    assert ends(run).tick == 0


@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        (("events",), 7),
        (("replay",), 0),
        (("resume", "--ticks", "400"), 7),
        pytest.param(("events",), 0, marks=pytest.mark.slow),
        pytest.param(("replay",), 7, marks=pytest.mark.slow),
        pytest.param(("resume", "--ticks", "400"), 0, marks=pytest.mark.slow),
    ],
)
def test_a_closed_pipe_is_no_error_worth_a_traceback(arguments, lines, plaza, tmp_path):
    run = copied(plaza, tmp_path)
    process = started(arguments[0], run, *arguments[1:])
    if hasattr(fcntl, "F_SETPIPE_SZ"):  # else all of it may fit into the pipe before it is closed
        fcntl.fcntl(process.stdout, fcntl.F_SETPIPE_SZ, 4096)
    for _ in range(lines):
        process.stdout.readline()
    process.stdout.close()
    select.select([process.stderr], [], [], 60)
    err = process.stderr.read()
    process.stderr.close()
    assert process.wait() == 1
    assert err == "" if arguments[0] != "resume" else err.startswith("the output was closed; continue with: ")
    assert len(err.splitlines()) < 2
    assert ends(run, PLAZA_TICKS) == ends(plaza)
