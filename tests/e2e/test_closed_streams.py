"""Every command without standard input, output or error, as `>&-` and careless parents start it."""

from __future__ import annotations

import signal
import subprocess
from contextlib import suppress
from itertools import product
from pathlib import Path

import pytest

from commonplace.registry import COMMANDS
from e2e.command import command, copied, ends, finished, started

CLOSED = {"input": (0,), "output": (1,), "error": (2,), "outputs": (1, 2), "all": (0, 1, 2)}
LOST = "commonplace: standard output is closed: all is done, but what was to be printed is lost\n"
USES: dict[str, tuple[str, ...]] = {
    "run": ("plaza", "--ticks", "2", "-o", "{folder}/new.run"),
    "resume": ("{run}", "--ticks", "1"),
    "fork": ("{run}", "--at", "20", "-o", "{folder}/new.run"),
    "runs": ("{folder}",),
    "replay": ("{run}",),
    "events": ("{run}",),
    "agents": ("{run}",),
    "why": ("{run}", "t9.ines.0"),
    "prompts": ("{run}", "t9.ines.0"),
    "talk": ("{run}", "ines"),
    "diff": ("{run}", "{run}"),
    "diffusion": ("{run}",),
    "metrics": ("{run}",),
    "rules": ("{run}",),
    "usage": ("{run}",),
    "memories": ("{run}", "ines"),
    "search": ("{run}",),
    "copy-memories": ("{run}", "{folder}/new.db"),
    "forget": ("{run}", "--agent", "ines", "--ids", "3", "--dry-run"),
    "rate": ("{run}", "t9.ines.0", "5"),
    "upkeep": ("{folder}",),
    "ledger": ("verify", "{folder}"),
    "mcp": ("{run}",),
    "estimate": ("plaza",),
    "doctor": (),
    "copy": ("{run}", "{folder}/copied.run"),
    "digest": ("{run}",),
    "export": ("{run}", "bundle", "-o", "{folder}/new.zip"),
    "import": ("bundle", "{bundle}", "-o", "{folder}/new.run"),
    "rescue": ("{run}", "-o", "{folder}/new.run"),
    "trim": ("{run}", "--keep-days", "1"),
    "verify": ("{run}",),
    "scenarios": (),
    "check": ("plaza",),
    "new": ("{folder}/new.yaml",),
}
UNTIL_TOLD = ("serve", "watch")
REFUSED = ("rate", "upkeep", "ledger")
"""What is named is no panel's run, no store, and no ledger."""


def test_no_command_is_left_out():
    assert USES.keys() | set(UNTIL_TOLD) == COMMANDS.keys()


@pytest.fixture(scope="module")
def bundle(plaza, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("bundle") / "plaza.zip"
    command("export", plaza, "bundle", "-o", path)
    return path


SOME = {("run", "all"), ("verify", "error"), ("talk", "input"), *((name, "output") for name in USES if name != "mcp")}


@pytest.mark.parametrize(
    ("name", "closed"),
    [pytest.param(*way, marks=() if way in SOME else pytest.mark.slow) for way in product(USES, CLOSED)],
)
def test_a_command_does_its_work_without_standard_streams(name, closed, plaza, bundle, tmp_path):
    """What it prints goes nowhere: never into a file that has got the descriptor of a closed stream."""
    run = copied(plaza, tmp_path)
    words = [word.format(run=run, folder=tmp_path, bundle=bundle) for word in USES[name]]
    done = finished(started(name, *words, closed=CLOSED[closed], cwd=tmp_path), status=None)
    assert "a bug in Commonplace" not in done.err
    made = next((Path(word) for word in words if "/new." in word), None)
    if name in REFUSED:
        assert done.status == 2
    elif 1 not in CLOSED[closed]:
        assert done.status == 0
        assert done.out or name in ("talk", "mcp", "copy-memories", "forget")
    else:
        assert done.status == 1
        assert done.out == ""
        assert done.err.endswith(LOST) or 2 in CLOSED[closed]
    assert made is None or made.stat().st_size > 1000
    for file in tmp_path.glob("*.run"):
        command("verify", file, "--integrity-only")
    if name in ("run", "fork"):
        assert ends(tmp_path / "new.run") == ends(plaza, 2 if name == "run" else 20)


@pytest.mark.parametrize("name", UNTIL_TOLD)
def test_what_goes_on_until_it_is_told_otherwise_does_so_without_standard_streams(name, plaza, tmp_path):
    run = copied(plaza, tmp_path)
    words = ("plaza", "--port", "0", "--no-open") if name == "serve" else (run,)
    process = started(
        name, *words, closed=(0, 1, 2), cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    served = tmp_path / "runs" / "plaza-7.run"
    while not (served.exists() and ends(served).tick > 0 if name == "serve" else run in opened_by(process.pid)):
        assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 130


def opened_by(process: int) -> set[Path]:
    """The files that a process has open (Linux)."""
    found: set[Path] = set()
    for descriptor in Path(f"/proc/{process}/fd").iterdir():
        with suppress(FileNotFoundError):
            found.add(descriptor.readlink())
    return found
