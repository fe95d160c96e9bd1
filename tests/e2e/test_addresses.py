"""Every command that takes a run takes one in a database, and does with it what it does with a file."""

from __future__ import annotations

import json
import re
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from commonplace.api import open_run
from commonplace.registry import COMMANDS
from commonplace.run.copying import copy_run
from commonplace.run.listing import runs_in
from commonplace.run.place import Address
from e2e.command import Done, command, ends, started
from e2e.lived import once
from e2e.test_tampering import with_offers
from run.databases import Database, Home, fresh, rows_of

SAME = {
    "run": ["run plaza --ticks 3 -o {new} --view plain", "run plaza --ticks 3 -o {new} --view json",
            "run plaza --ticks 2 -o {new} --view none --mind journal:{run}"],
    "resume": ["resume {own} --ticks 2 --view plain", "resume {own} --until 62 --view none"],
    "fork": ["fork {own} --at 40 -o {new} --inject 'A thick fog rolls in.' --forget ines:1",
             "fork {own} --at 20 -o {new} --mind journal:{run}"],
    "replay": ["replay {run} --view plain", "replay {run} --from 50 --view json", "replay {run} --view state"],
    "events": ["events {run}", "events {run} --json --agent ines --since 10", "events {run} --walks"],
    "agents": ["agents {run}", "agents {run} --json --at 30", "agents {run} --past ines"],
    "why": ["why {run} t30.ines.0", "why {run} t31.bruno.0 --json", "why {run} t40.ines.0 --without ines:1"],
    "prompts": ["prompts {run}", "prompts {run} t9.ines.0", "prompts {whole}"],
    "talk": ["talk {own} ines --ask 'Where is Bruno?' --json", "talk {own} --everybody --ask 'What did you do today?'",
             "talk {own} ines --at 20 --ask Why? --no-keep", "talk {own} ines --inner-voice 'Go home.'"],
    "diff": ["diff {run} {other}", "diff {other} {run} --json"],
    "diffusion": ["diffusion {run}", "diffusion {run} --json"],
    "rules": ["rules {run}"],
    "metrics": ["metrics {run}", "metrics {run} --json"],
    "usage": ["usage {run}", "usage {run} --json", "usage {whole} --json"],
    "runs": [],  # its lists are those of test_copying
    "copy": ["copy {run} {new}", "copy {run} {new} --force"],
    "memories": ["memories {run} ines", "memories {run} ines --json --at 30", "memories {run} ines --query fountain",
                 "memories {run} ines --tree"],
    "search": ["search {run} --text fountain", "search {run} ines --json --kind reflection"],
    "copy-memories": ["copy-memories {run} {store}"],
    "forget": ["forget {own} --agent ines --ids 1,2", "forget {own} --query fountain --dry-run"],
    "rate": ["rate {panel} t1.thesis.0 5 --memory {memory}"],
    "mcp": [],  # below
    "serve": [],  # below, and in tests of the server
    "watch": [],  # below
    "digest": ["digest {run}", "digest {run} --at 12", "digest {run} --state"],
    "export": [f"export {{run}} {form} -o {{out}}" for form in (
        "bundle", "csv", "transcript", "events", "memories", "network", "training --offline", "csv --table ticks")],
    "trim": ["trim {own} --before 30", "trim {own} --keep-days 0 --kind traces --kind prompts"],
    "verify": ["verify {run}", "verify {run} --json", "verify {run} --integrity-only",
               "verify {whole} --integrity-only"],
    "estimate": ["estimate plaza --ticks 3 --mind journal:{run}"],
    "doctor": ["doctor --mind journal:{run}"],
}  # fmt: skip
"""Command → lines; what is in braces is a place in the fixture `town`."""
NO_RUN = {"upkeep", "ledger", "scenarios", "check", "new"}
"""They take no run."""
FILES_ONLY = {"rescue": ["rescue {run} -o new.run"], "import": ["import bundle {out} -o {new}"]}


class Town:
    """A run, another one and that of a panel in a folder or a database."""

    def __init__(self, home: Home, folder: Path) -> None:
        self.home = home
        self.folder = folder

    def places(self) -> dict[str, object]:
        return {
            **{name: self.home / f"{name}.run" for name in ("run", "other", "own", "new", "panel", "whole")},
            "store": self.folder / "store.db",
            "memory": self.folder / "outputs",
            "out": self.folder / "out",
        }

    def does(self, line: str, status: int | None = 0) -> Done:
        import shlex

        words = [word.format(**self.places()) for word in shlex.split(line)]
        done = command(*words, status=status, cwd=self.folder)
        return Done(done.command, done.status, self.told(done.out), self.told(done.err))

    def told(self, text: str) -> str:
        """What was said, without where the runs are, and what a run costs in time and space."""
        where = re.escape(str(self.home / "")) if isinstance(self.home, Database) else re.escape(f"{self.home}/")
        text = re.sub(rf"'?{where}#?(\w+)\.run'?", r"<\1>", text)
        text = re.sub(r"; the file is [\d.]+ MB smaller", "", text.replace(str(self.folder), "<folder>"))
        return re.sub(r"\S*/bin/commonplace|\d+\.\d+ (MB|ms|s)\b|[\d,.]+ GB free|\d+ %", "…", text)


@pytest.fixture(scope="module")
def stock(plaza: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The runs as files. Not to be written to."""
    folder = tmp_path_factory.mktemp("stock")
    shutil.copy(plaza, folder / "run.run")
    shutil.copy(once(tmp_path_factory, "whole.run", with_offers), folder / "whole.run")
    command("fork", plaza, "--at", 30, "-o", folder / "other.run", "--inject", "A thick fog rolls in.")
    command("resume", folder / "other.run", "--ticks", 9, "--view", "none")
    command("run", "dialectic", "--prompt", "Why?", "--ticks", 1, "-o", folder / "panel.run", "--view", "none")
    return folder


@pytest.fixture(scope="module")
def towns(stock: Path, postgres_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Town, Town]]:
    """The same runs in a folder and in a database."""
    folder = tmp_path_factory.mktemp("in files")
    elsewhere = tmp_path_factory.mktemp("in a database")
    with fresh(postgres_url) as database:
        for name in ("run", "other", "panel", "whole"):
            shutil.copy(stock / f"{name}.run", folder / f"{name}.run")
            copy_run(stock / f"{name}.run", database / f"{name}.run")
        for one in (folder, elsewhere):
            shutil.copytree(stock / "outputs", one / "outputs")
        yield Town(folder, folder), Town(database, elsewhere)


def test_every_command_is_tried() -> None:
    assert {*SAME, *NO_RUN, *FILES_ONLY} == {*COMMANDS}


@pytest.mark.parametrize("line", [line for lines in SAME.values() for line in lines])
def test_it_says_and_does_the_same(line: str, towns: tuple[Town, Town]) -> None:
    seen = []
    for town in towns:
        for name in ("new", "own"):
            _remove(town, name)
        if "{own}" in line or "--force" in line:
            copy_run(town.home / "run.run", town.home / ("own.run" if "{own}" in line else "new.run"))
        for path in (town.folder / "out", town.folder / "store.db"):
            path.unlink(missing_ok=True)
        done = town.does(line)
        left = {name: _rows(town, name) for name in ("own", "new") if f"{{{name}}}" in line}
        out = town.folder / "out"
        # a bundle holds the file that SQLite wrote, and where it came from is in it
        written = out.read_bytes() if out.exists() and "bundle" not in line else b""
        seen.append((done.out, done.err, left, written))
    file, database = seen
    assert file[0] == database[0]
    assert file[1] == database[1]
    assert file[2] == database[2]
    assert file[3] == database[3]


def _remove(town: Town, name: str) -> None:
    if name in {one.run.removesuffix(".run") for one in runs_in(_all(town.home))}:
        command("runs", _all(town.home), "--delete", f"{name}.run", "--yes")


def _all(home: Home) -> Path | Address:
    return Address(home.url) if isinstance(home, Database) else home


def _rows(town: Town, name: str) -> object:
    found = rows_of(town.home / f"{name}.run", seals=False)
    # a mind by journal is named by where it is
    found["meta"] = [(key, town.told(value)) for key, value in found["meta"]]
    return found


@pytest.mark.parametrize("line", [line for lines in FILES_ONLY.values() for line in lines])
def test_what_is_done_with_files_only_says_so(line: str, towns: tuple[Town, Town]) -> None:
    done = towns[1].does(line, status=2)
    assert "this is done with files only" in done.err
    assert "commonplace copy" in done.err


def test_an_export_is_named_after_the_run(towns: tuple[Town, Town], tmp_path: Path) -> None:
    command("export", towns[1].home / "run.run", "csv", cwd=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["run.run.events.csv"]


def test_a_trim_leaves_what_forks_share(towns: tuple[Town, Town]) -> None:
    town = towns[1]
    for name in ("new", "own"):
        _remove(town, name)
    copy_run(town.home / "run.run", town.home / "own.run")
    town.does("fork {own} --at 40 -o {new}")
    assert "its past is also that of new" in town.does("trim {own} --keep-days 0", status=2).err
    town.does("resume {new} --ticks 2 --view none")
    assert "trimmed 4 traces" in town.does("trim {new} --before 43").out
    for name in ("new", "own"):
        town.does(f"verify {{{name}}}")
        _remove(town, name)


def test_a_page_of_it_has_the_same_memories(towns: tuple[Town, Town]) -> None:
    from commonplace.parts.web.one_file import _Stream

    seen = []
    for town in towns:
        with open_run(town.home / "whole.run") as run:
            streams = [_Stream(run, agent, run.last_tick) for agent in run.agent_ids]
            seen.append([(one.memories, one.removed) for one in streams])
    assert seen[0] == seen[1]
    assert any(removed for _, removed in seen[0])


def test_a_watch_follows_it(towns: tuple[Town, Town]) -> None:
    with started("watch", towns[1].home / "run.run", "--view", "json") as watching:
        assert watching.stdout is not None
        assert json.loads(watching.stdout.readline())["tick"] == 60
        watching.send_signal(signal.SIGINT)
        assert watching.wait(20) == 130


def test_an_assistant_is_given_it(towns: tuple[Town, Town]) -> None:
    pytest.importorskip("mcp.server.mcpserver")
    from commonplace.parts.mcp.server import tools_of

    for town in towns:
        tools = tools_of(str(town.home / "run.run"))
        try:
            assert type(tools).__name__ == "RunTools"
        finally:
            tools.close()


def test_a_database_with_one_run_and_no_memories_needs_no_name(postgres_url: str, stock: Path, tmp_path: Path) -> None:
    with fresh(postgres_url) as database:
        copy_run(stock / "run.run", database / "run")
        whole = Address(database.url)
        named = command("memories", database / "run", "ines").out
        assert command("memories", whole, "ines").out == named
        assert command("digest", whole).out == command("digest", stock / "run.run").out
        command("export", whole, "csv", cwd=tmp_path)
        assert (tmp_path / "run.events.csv").exists()
        command("copy-memories", database / "run", whole)  # a store of memories in the same database
        assert command("memories", database / "run", "ines").out == named
        assert len(command("memories", whole, "ines").lines) == len(named.splitlines())
        assert ends(database / "run") == ends(stock / "run.run")  # pyright: ignore[reportArgumentType]


def test_a_password_is_in_no_journal_that_a_run_names(tmp_path: Path) -> None:
    named = "journal:postgresql://ann:hunter22@localhost/town#a"
    done = command("run", "plaza", "--mind", named, "-o", tmp_path / "new.run", status=2)
    assert "cannot hold a password" in done.err
    assert "hunter22" not in done.err
    assert not (tmp_path / "new.run").exists()
