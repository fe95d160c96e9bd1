"""Whatever lies where a command is pointed at: it is refused at once and in words, and is afterwards what it was.

Each path that a command takes meets a file of something else, a folder, a pipe, a socket, a link to itself, a link to
nothing and, where such can be made, devices.
"""

from __future__ import annotations

import inspect
import os
import shutil
import socket
import stat
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from keyword import iskeyword
from pathlib import Path

import pytest

from commonplace import registry
from commonplace.registry import COMMANDS
from e2e.command import Done, command, started
from sizes import PROVE

PATIENCE = 60
"""Seconds until a command hangs."""
PIPE, FILE, FOLDER, DANGLING = "a pipe", "a file", "a folder", "a link to nothing"


def _file(path: Path) -> None:
    path.write_text("Dear Klaus,\n")


def _folder(path: Path) -> None:
    path.mkdir()
    (path / "letter.txt").write_text("Dear Klaus,\n")


def _socket(path: Path) -> None:
    with closing(socket.socket(socket.AF_UNIX)) as listener:
        listener.bind(str(path))


def _device(kind: int, major: int, minor: int) -> Callable[[Path], None]:
    """A node of its own for a device: the machine's are never at stake."""
    return lambda path: os.mknod(path, kind | 0o666, os.makedev(major, minor))


THINGS: dict[str, Callable[[Path], None]] = {
    PIPE: os.mkfifo,
    FILE: _file,
    FOLDER: _folder,
    DANGLING: lambda path: path.symlink_to("gone"),
    "a link to itself": lambda path: path.symlink_to(path.name),
    "a link to a pipe": lambda path: (os.mkfifo(path.with_name("pipe")), path.symlink_to("pipe"))[1],
    "a socket": _socket,
}
DEVICES = {
    "an endless device": _device(stat.S_IFCHR, 1, 5),
    "a device without end or beginning": _device(stat.S_IFCHR, 1, 3),
    "a block device": _device(stat.S_IFBLK, 7, 250),
}


@dataclass(frozen=True)
class Use:
    """A command line with a path left open, `{}`; the other names in braces are those of the fixture `things`."""

    line: str
    makes: bool = False
    """The path is written, so a link to nothing is in order."""
    meant: tuple[str, ...] = ()
    """Things that are not odd there."""
    ignored: bool = False
    """The path is not looked at in such a line, so the command may do its work."""
    ending: str = ""
    """Of the path's name, where the command heeds it."""

    def meets(self, thing: str) -> bool:
        """Whether the thing is odd there."""
        return thing not in self.meant

    def may_succeed(self, thing: str) -> bool:
        return self.ignored or (self.makes and thing == DANGLING)


def forced(line: str) -> tuple[Use, ...]:
    return Use(line, makes=True), Use(f"{line} --force", makes=True, meant=(FILE,))


RECORDED = "journal:{}"
MIND = f"--mind {RECORDED}"
PATHS: dict[str, tuple[Use, ...]] = {
    "run scenario": (Use("run {} --ticks 1 -o new.run --view none"),),
    "run output": forced("run plaza --ticks 1 --view none -o {}"),
    "run mind": (
        Use(f"run plaza --ticks 1 -o new.run {MIND}"),
        Use(f"run plaza -o new.run --ticks 1 --mind react={RECORDED}"),
    ),
    "run memory": (Use("run dialectic --prompt Why? --ticks 1 -o new.run --memory {}", meant=(FOLDER,)),),
    "run cache": (Use("run plaza --ticks 0 -o new.run --mind ollama:x --view none --cache {}", makes=True),),
    "resume run": (Use("resume {} --ticks 1"),),
    "resume mind": (Use(f"resume {{run}} --ticks 1 {MIND}"),),
    "resume memory": (Use("resume {panel} --ticks 1 --memory {}", meant=(FOLDER,)),),
    "resume cache": (Use("resume {asked} --ticks 0 --view none --cache {}", makes=True),),
    "fork run": (Use("fork {} --at 1 -o new.run"),),
    "fork output": forced("fork {run} --at 1 -o {}"),
    "fork mind": (Use(f"fork {{run}} --at 1 -o new.run {MIND}"),),
    "fork join": (Use("fork {run} --at 1 -o new.run --join {}", ending=".yaml"),),
    "replay run": (Use("replay {}"),),
    "replay mind": (Use(f"replay {{run}} --from 3 {MIND}", ignored=True),),
    "serve what": (Use("serve {} --port 0 --no-open"), Use("serve {} --port 0 --no-open", ending=".run")),
    "serve mind": (Use(f"serve plaza --port 0 --no-open {MIND}"),),
    "serve runs": (Use("serve --runs {} --port 0 --no-open", meant=(FOLDER,)),),
    "serve token_file": (Use("serve --token-file {} --port 0 --no-open"),),
    "serve scenarios": (Use("serve --scenarios {} --port 0 --no-open", meant=(FOLDER,)),),
    "watch run": (Use("watch {}"),),
    "watch mind": (),  # used by the terminal view only, which opens it as `talk` does
    "events run": (Use("events {}"),),
    "runs where": (Use("runs {}", meant=(FOLDER,)), Use("runs {} --delete a --yes", meant=())),
    "copy source": (Use("copy {} new.run"), Use("copy {} embedded:new#a")),
    "copy target": (*forced("copy {run} {}"), Use("copy {run} embedded:{}", makes=True)),
    "agents run": (Use("agents {}"),),
    "why run": (Use("why {} t1.ines.0"),),
    "talk run": (Use("talk {} ines --ask Why?"), Use("talk {} ines --inner-voice Go.")),
    "talk questions": (Use("talk {run} ines --questions {}", meant=(FILE,)),),
    "talk mind": (Use(f"talk {{run}} ines --ask Why? {MIND}"),),
    "diff first": (Use("diff {} {run}"),),
    "diff second": (Use("diff {run} {}"),),
    "diffusion run": (Use("diffusion {}"),),
    "metrics run": (Use("metrics {}"),),
    "prompts run": (Use("prompts {}"), Use("prompts {} t9.ines.0")),
    "prompts templates": (Use("prompts {run} --task rate --templates {}"),),
    "prompts mind": (Use(f"prompts {{run}} t9.ines.0 {MIND}"),),
    "rules run": (Use("rules {}"),),
    "usage run": (Use("usage {}"),),
    "memories where": (Use("memories {} ines"), Use("memories jsonl:{} ines"), Use("memories {} ines", ending=".run")),
    "search where": (Use("search {}"), *(Use(f"search {kind}:{{}}") for kind in ("sqlite", "chroma", "embedded"))),
    "copy-memories source": (Use("copy-memories {} new.db"),),
    "copy-memories target": (
        Use("copy-memories {store} {}", makes=True),
        Use("copy-memories {store} jsonl:{}", makes=True, meant=(FOLDER,)),
    ),
    "forget where": (
        Use("forget {} --query boat"),
        Use("forget {} --query boat --dry-run"),
        Use("forget {} --agent ines --everything"),
        Use("forget {} --query boat", ending=".run"),
    ),
    "forget policy": (Use("forget {store} --policy {}"), Use("forget {run} --policy {} --dry-run")),
    "forget ledger": (Use("forget {store} --agent ines --ids 1 --ledger {}", makes=True, meant=(FOLDER,)),),
    "rate where": (Use("rate {} t1.synthesis.0 5"), Use("rate {} t1.synthesis.0 5", ending=".run")),
    "rate ledger": (Use("rate {store} nobody 5 --ledger {}", meant=(FOLDER,)),),
    "upkeep where": (Use("upkeep {}"),),
    "upkeep ledger": (Use("upkeep {store} --ledger {}", makes=True, meant=(FOLDER,)),),
    "rate memory": (Use("rate {panel} t1.thesis.0 5 --memory {}", meant=(FOLDER,)),),
    "ledger path": (Use("ledger show {}"), Use("ledger verify {}")),
    "mcp where": (Use("mcp {}", makes=True),),
    "mcp facts": (Use("mcp new.db --facts local:{}"),),
    "estimate scenario": (Use("estimate {}"),),
    "estimate mind": (Use(f"estimate plaza --ticks 1 {MIND}"),),
    "doctor target": (Use("doctor {}"), Use("doctor embedded:{}")),
    "doctor mind": (Use(f"doctor {MIND}"),),
    "digest run": (Use("digest {}"),),
    "export run": (
        Use("export {} bundle -o new.zip"),
        Use("export {} html -o new.html"),
        Use("export {} bundle"),
        Use("export {} csv"),
        Use("export {} training --offline"),
        Use("export {} network"),
    ),
    "export output": (
        *forced("export {run} bundle -o {}"),
        *forced("export {run} html --to 1 -o {}"),
        *forced("export {run} csv -o {}"),
        *forced("export {run} training --offline -o {}"),
        *forced("export {run} transcript -o {}"),
    ),
    "import source": (Use("import bundle {} -o new.run"),),
    "import output": forced("import bundle {bundle} -o {}"),
    "rescue run": (Use("rescue {} -o new.run"),),
    "rescue output": forced("rescue {run} -o {}"),
    "rescue scenario": (Use("rescue {run} -o new.run --scenario {}", meant=(FILE,)),),
    "trim run": (Use("trim {} --keep-days 0"),),
    "verify run": (Use("verify {}"), Use("verify {} --integrity-only"), Use("verify embedded:{}")),
    "check names": (Use("check {}"),),
    "new path": (Use("new {}", makes=True, ending=".yaml"),),
}
NO_PATHS = {
    *(
        "agent",
        "arousal",
        "ask",
        "at",
        "before",
        "delete",
        "detail",
        "event",
        "event_id",
        "first",
        "forget",
        "goals",
        "host",
        "ids",
    ),
    *(
        "inject",
        "inner_voice",
        "keyword",
        "kind",
        "last",
        "leave",
        "now",
        "past",
        "persona",
        "place",
        "prompt",
        "query",
    ),
    *("session", "sets", "since", "start", "tag", "tags", "text", "type_", "until", "valence", "without", "workers"),
    *("export table", "prompts task", "fork policy", "ledger memory", "memories policy", "run policy"),
}
"""Parameters that are text and name no file, by themselves or with their command."""


def test_every_path_of_every_command_is_tried_here() -> None:
    """Whoever adds a command or an option says here how it meets an odd path, or that it names none."""
    found: set[str] = set()
    for name, entry in COMMANDS.items():
        function = f"{name}_" if iskeyword(name) else name.replace("-", "_")
        for parameter in inspect.signature(registry.found(f"{entry.module}:{function}")).parameters.values():
            key, kind = f"{name} {parameter.name}", str(parameter.annotation)
            if "Path" in kind or "Place" in kind or ("str" in kind and not NO_PATHS & {parameter.name, key}):
                found.add(key)
    assert found == PATHS.keys()


@pytest.fixture(scope="session")
def made(plaza: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the commands are otherwise given. Not to be written to."""
    folder = tmp_path_factory.mktemp("made")
    shutil.copy(plaza, folder / "run")
    command("run", "plaza", "--mind", "ollama:x", "--ticks", 0, "-o", folder / "asked", "--view", "none")
    command("run", "dialectic", "--prompt", "Why?", "--ticks", 1, "-o", folder / "panel", "--view", "none")
    command("copy-memories", folder / "run", folder / "store")
    command("export", folder / "run", "bundle", "-o", folder / "bundle")
    return folder


@pytest.fixture
def things(made: Path, tmp_path: Path) -> dict[str, Path]:
    shutil.copytree(made, tmp_path / "made")
    return {path.name: path for path in (tmp_path / "made").iterdir()}


def ended(line: str, folder: Path) -> Done:
    """A command that may hang: it is a process, and is ended if it does."""
    with started(*line.split(), cwd=folder, stdin=subprocess.DEVNULL, anew=False) as process:
        try:
            out, err = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    return Done(tuple(line.split()), process.returncode, out, err)


def seen(folder: Path, *, times: bool = True) -> dict[str, tuple[int, ...]]:
    """What is in a folder and below: which file each thing is, of what kind and size, and when it was changed."""
    found: dict[str, tuple[int, ...]] = {}
    for path in (folder, *sorted(folder.rglob("*"))):
        about = path.lstat()
        of_file = (about.st_size, about.st_mtime_ns * times) if stat.S_ISREG(about.st_mode) else ()
        found[str(path.relative_to(folder))] = (about.st_ino, about.st_mode, about.st_rdev, *of_file)
    return found


def meet(use: Use, thing: str, things: dict[str, Path], folder: Path) -> None:
    """The command meets the thing, which is afterwards what it was, and so is everything else."""
    folder.mkdir()
    odd = folder / f"odd{use.ending}"
    {**THINGS, **DEVICES}[thing](odd)
    before, given = seen(folder), seen(things["run"].parent, times=False)
    done = ended(use.line.replace("{}", odd.name).format(**things), folder)
    case = f"{thing}: {use.line}\n→ {done.status}\n{done.err}"
    assert "Traceback" not in done.err, case
    assert "a bug in Commonplace" not in done.err, case
    assert "Exception ignored" not in done.err, case
    assert seen(folder)[odd.name] == before[odd.name], case
    if use.may_succeed(thing) and done.status == 0:
        return
    assert done.status in (1, 2), case
    assert len(done.err.strip().splitlines()) >= 2 or use.line.startswith("doctor"), case
    assert seen(folder) == before, case
    assert seen(things["run"].parent, times=False) == given, case


def cases() -> Iterator[tuple[str, Use, str]]:
    """Each use of each path with every thing; in small one use of each path, half of them with a pipe."""
    others = [thing for thing in [*THINGS, *DEVICES] if thing != PIPE]
    for number, (key, uses) in enumerate(PATHS.items()):
        turn = number // 2
        tried = [PIPE if number % 2 else others[turn % len(others)]]
        for use in uses if PROVE else uses[turn % len(uses) :][:1] if uses else ():
            for thing in [*THINGS, *DEVICES] if PROVE else tried:
                if use.meets(thing):
                    yield key, use, thing


CASES = {
    f"{name}, {what}": [
        (use, thing)
        for key, use, thing in cases()
        if key.split()[0] == name and (thing in DEVICES) is (what == "devices")
    ]
    for name in COMMANDS
    for what in ("paths", "devices")
}


@pytest.mark.parametrize("name", [name for name, found in CASES.items() if found])
def test_a_command_refuses_what_is_not_meant_and_leaves_it(name: str, things: dict[str, Path], tmp_path: Path) -> None:
    if name.endswith("devices"):
        try:
            DEVICES["an endless device"](tmp_path / "probe")
        except OSError as error:
            pytest.skip(f"devices cannot be made here ({error.strerror})")
    for number, (use, thing) in enumerate(CASES[name]):
        meet(use, thing, things, tmp_path / str(number))
