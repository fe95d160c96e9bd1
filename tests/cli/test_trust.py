"""What a file names – code, servers, other files – is used, and a key is sent, only after the person has agreed."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import commonplace
from commonplace import trust
from commonplace.cli import main
from commonplace.errors import UsageError
from commonplace.run import seals
from commonplace.run.manifest import Manifest
from commonplace.scenario.loading import located
from e2e.command import command, copied, environment, tables
from parts.model_servers.local_server import LocalServer, Sent
from sizes import examples

KEY = "sk-secret-0123456789"
MARK = "the code has run"
STAGE = f"""
from pathlib import Path
from commonplace.engine.stage import Stage
from commonplace.stages.town import TOWN
with (Path(__file__).parent / "mark").open("a") as mark:
    mark.write("{MARK}\\n")
NAME = Stage("own", TOWN.acts, TOWN.turn, TOWN.run_job)
"""
CONSOLE = (sys.executable, "-W", "error", "-c", "import sys; from commonplace.__main__ import main; sys.exit(main())")
MODULE = (sys.executable, "-W", "error", "-m", "commonplace")


@pytest.fixture(autouse=True)
def state(monkeypatch, tmp_path):
    """Where this test's consent is kept: nothing has been agreed to."""
    folder = tmp_path / "state"
    monkeypatch.setenv("COMMONPLACE_STATE", str(folder))
    monkeypatch.setenv("COMMONPLACE_API_KEY", KEY)
    return folder


@pytest.fixture
def elsewhere(monkeypatch):
    """Servers of this machine count as those of another one."""
    monkeypatch.setattr(trust, "is_loopback", lambda _: False)


@pytest.fixture
def server():
    with LocalServer() as server:
        yield server


@pytest.fixture
def scenario(tmp_path):
    """The plaza as a file with other values of `mind`, `stage` and `prompts`."""

    def written(**keys: str) -> Path:
        text, _ = located("plaza")
        text = re.sub(rf"^({'|'.join(keys)}): .*\n", "", text, flags=re.MULTILINE)
        path = tmp_path / "own.yaml"
        path.write_text("".join(f"{key}: {value}\n" for key, value in keys.items()) + text, encoding="utf-8")
        return path

    return written


def keys(server: LocalServer) -> set[str | None]:
    """The values of `Authorization` that the server was sent since the last call; None for a request without."""
    assert server.headers
    found = {headers.get("Authorization") for headers in server.headers}
    server.headers.clear()
    return found


SENT, WITHHELD = {f"Bearer {KEY}"}, {None}


def received(run: Path, **changes: str) -> Path:
    """A run as a stranger could have made it: with another manifest."""
    with tables(run) as connection:
        (text,) = connection.execute("SELECT value FROM meta WHERE key = 'manifest'").fetchone()
        manifest = replace(Manifest.from_json(text), **changes)
        connection.execute("UPDATE meta SET value = ? WHERE key = 'manifest'", (manifest.to_json(),))
        seals.renew(connection)
    return run


QUIET = ("--ticks", 6, "--view", "none")
"""Ticks enough for a question."""
ASKING = ("--fidelity", "every_tick", *QUIET)
"""A question at every tick, also of those that follow."""


# ── keys and servers ────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_server_named_by_the_person_gets_the_key_also_when_the_run_is_resumed(server, elsewhere, tmp_path):
    run = tmp_path / "x.run"
    command("run", "plaza", "--mind", server.url, "-o", run, *ASKING)
    assert keys(server) == SENT
    command("resume", run, *QUIET)
    assert keys(server) == SENT
    command("resume", copied(run, tmp_path), *QUIET)
    assert keys(server) == SENT


def test_a_remote_server_that_only_a_scenario_names_is_asked_about_first(server, elsewhere, scenario, tmp_path):
    path, run = scenario(mind=server.url), tmp_path / "x.run"
    done = command("run", path, "-o", run, *QUIET, status=2)
    assert not run.exists()
    assert not server.headers
    for told in (str(path), server.url, "COMMONPLACE_API_KEY", "--trust", f"--mind {server.url}"):
        assert told in done.err
    assert KEY not in done.err
    command("run", path, "-o", run, *QUIET, "--trust")
    assert keys(server) == SENT
    command("run", path, "-o", run, *QUIET, "--force")
    assert keys(server) == SENT  # agreed to before
    path.write_text(path.read_text(encoding="utf-8") + "# changed\n", encoding="utf-8")
    command("run", path, "-o", run, *QUIET, "--force", status=2)


def test_a_remote_server_that_only_a_run_names_is_asked_about_first(server, elsewhere, plaza, tmp_path):
    run = received(copied(plaza, tmp_path), mind=server.url)
    for arguments in (("resume", run, *QUIET), ("fork", run, "--at", 3, "-o", tmp_path / "f.run", "--inject", "Fog.")):
        done = command(*arguments, status=2)
        assert server.url in done.err
        assert "--trust" in done.err
    assert not (tmp_path / "f.run").exists()
    assert not server.headers
    day = ("--ticks", 24, "--view", "none")
    command("resume", run, *day, "--mind", server.url)
    assert keys(server) == SENT
    command("resume", run, *day)
    assert keys(server) == SENT


def test_what_was_agreed_to_for_one_scenario_is_not_agreed_to_for_another(server, elsewhere, plaza, town, tmp_path):
    command("resume", received(copied(plaza, tmp_path), mind=server.url), *QUIET, "--trust")
    command("resume", received(copied(town, tmp_path, "t.run"), mind=server.url), *QUIET, status=2)


def test_a_server_of_this_machine_needs_no_word_and_gets_no_key(server, scenario, plaza, tmp_path):
    run = tmp_path / "x.run"
    command("run", scenario(mind=server.url), "-o", run, *ASKING)
    assert keys(server) == WITHHELD
    command("resume", run, *QUIET)
    command("resume", received(copied(plaza, tmp_path), mind=server.url), *QUIET)
    assert keys(server) == WITHHELD
    command("resume", run, *QUIET, "--trust")
    assert keys(server) == SENT
    command("resume", run, *QUIET)
    assert keys(server) == SENT


def test_a_server_that_wants_the_withheld_key_leads_to_the_word_that_is_missing(server, scenario, tmp_path):
    server.any = lambda path, number: Sent({"error": {"message": "who are you"}}, 401)
    done = command("run", scenario(mind=server.url), "-o", tmp_path / "x.run", *QUIET, status=2)
    assert "--mind" in done.err
    assert "--trust" in done.err
    assert keys(server) == WITHHELD


def test_the_python_argument_is_the_persons_word_as_well(server, elsewhere, scenario, tmp_path):
    path, run = scenario(mind=server.url), tmp_path / "x.run"
    with pytest.raises(UsageError, match="before you agree"):
        commonplace.create_run(run, path)
    commonplace.create_run(run, path, mind=server.url).close()
    commonplace.resume_run(run).close()
    other = received(run, mind=f"{server.url}#big")
    with pytest.raises(UsageError, match="before you agree"):
        commonplace.resume_run(other)
    commonplace.resume_run(other, trust=True).close()
    commonplace.resume_run(other).close()


def test_a_key_follows_no_redirect(server, tmp_path):
    with LocalServer() as there:
        server.any = lambda path, number: Sent(status=307, headers={"Location": f"{there.url}/chat/completions"})
        command("run", "plaza", "--mind", server.url, "-o", tmp_path / "x.run", *QUIET, status=None)
        assert keys(server) == SENT
        assert not there.headers


def test_without_a_folder_for_it_a_word_holds_for_one_command(server, elsewhere, monkeypatch, state, tmp_path, caplog):
    state.write_text("a file where a folder should be")
    run = tmp_path / "x.run"
    command("run", "plaza", "--mind", server.url, "-o", run, *QUIET)
    assert keys(server) == SENT
    assert "not remembered" in caplog.text
    command("resume", run, *QUIET, status=2)
    command("resume", run, *QUIET, "--trust")
    command("fork", run, "--at", 1, "-o", tmp_path / "f.run", "--mind", f"{server.url}#big", "--inject", "Fog.")
    assert keys(server) == SENT


def test_a_name_cannot_add_lines_to_what_was_agreed_to(server, elsewhere, plaza, state, tmp_path):
    evil = trust.Reference("mind", server.url, "", Manifest.from_json(manifest_of(plaza)).scenario_digest)
    run = received(copied(plaza, tmp_path), mind=f"journal:x\n{evil.digest}\u2028{evil.digest}")
    command("resume", run, *QUIET, "--trust", status=2)
    assert len((state / trust.FILE).read_text(encoding="utf-8").splitlines()) == 1
    command("resume", received(run, mind=server.url), *QUIET, status=2)


def manifest_of(run: Path) -> str:
    with tables(run) as connection:
        return connection.execute("SELECT value FROM meta WHERE key = 'manifest'").fetchone()[0]


def test_another_run_named_by_a_file_is_not_opened_unasked(plaza, scenario, tmp_path):
    path = scenario(mind=f"journal:{plaza}")
    done = command("run", path, "-o", tmp_path / "x.run", *QUIET, status=2)
    assert str(plaza) in done.err
    missing = scenario(mind=f"journal:{tmp_path / 'missing.run'}")
    assert "before you agree" in command("run", missing, "-o", tmp_path / "x.run", *QUIET, status=2).err


# ── code ────────────────────────────────────────────────────────────────────────────────────────────────────────────


LOCAL = ["http://127.0.0.1:1/v1", "http://localhost:2/v1", "http://[::1]:3/v1", "https://127.9.9.9/v1"]
REMOTE = [
    "http://10.0.0.5:8000/v1",
    "https://127.0.0.1.example.org/v1",
    "http://0.0.0.0:1/v1",
    "http://localhost.org/v1",
]


@given(st.lists(st.sampled_from([*LOCAL, *REMOTE]), min_size=1, unique=True), st.sampled_from(["", "#m"]))
@examples(100)
def test_one_server_of_another_machine_is_enough_for_the_question(urls, model):
    manifest = Manifest(scenario="x", text="", seed=1, mind=",".join(urls) + model)
    (named,) = trust.named_by_run(manifest)
    assert named.asks == any(url in REMOTE for url in urls)
    assert trust.named_by_run(manifest, {manifest.mind}) == []
    assert all(host in str(named) for host in ("127.0.0.1:1", "10.0.0.5:8000") if f"http://{host}/v1" in urls)


FIELDS = st.fixed_dictionaries(dict.fromkeys(("kind", "value", "scenario", "content"), st.text(max_size=8)))


@given(FIELDS, FIELDS)
@examples(200)
def test_a_word_holds_for_exactly_what_it_was_given_for(one, other):
    first, second = (trust.Reference(**fields, effect="") for fields in (one, other))
    assert (first.digest == second.digest) == (one == other)


@pytest.fixture
def folder(tmp_path):
    """A folder to work in with a stage in it, under a name that nothing here has imported."""
    folder = tmp_path / "here"
    folder.mkdir()
    (folder / "own_stage.py").write_text(STAGE, encoding="utf-8")
    return folder


def has_run(folder: Path) -> bool:
    """Whether the stage was imported since the last call."""
    mark = folder / "mark"
    found = mark.exists()
    mark.unlink(missing_ok=True)
    return found


@pytest.mark.parametrize("program", [MODULE, pytest.param(CONSOLE, marks=pytest.mark.slow)], ids=["module", "script"])
def test_the_current_folder_is_searched_only_when_somebody_says_so(program, folder):
    command("run", "plaza", "-o", folder / "x.run", *QUIET)
    run = received(folder / "x.run", stage="own_stage:NAME")
    by_path = environment(PYTHONPATH=".")
    command("verify", run, "--trust", cwd=folder, env=environment(), program=program, status=2)
    assert not has_run(folder)
    done = command("verify", run, cwd=folder, env=by_path, program=program, status=2)
    assert str(folder / "own_stage.py") in done.err
    assert not has_run(folder)
    command("verify", run, "--trust", cwd=folder, env=by_path, program=program)
    assert has_run(folder)
    command("verify", run, cwd=folder, env=by_path, program=program)
    assert has_run(folder)


def test_no_code_is_imported_because_a_run_names_it(folder, plaza, monkeypatch):
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, "own_stage", raising=False)
    run = received(copied(plaza, folder), stage="own_stage:NAME")
    for arguments in (
        ("verify", run),
        ("resume", run, *QUIET),
        ("why", run, "t9.ines.0", "--without", "ines:1"),
        ("fork", run, "--at", 9, "-o", folder / "f.run", "--inject", "Fog."),
    ):
        assert str(folder / "own_stage.py") in command(*arguments, status=2).err
    for arguments in (("verify", run, "--integrity-only"), ("events", run), ("why", run, "t9.ines.0"), ("agents", run)):
        command(*arguments)
    assert not has_run(folder)


def test_the_current_folder_hides_no_library(folder, tmp_path):
    for name in ("typer", "numpy", "rich", "ruamel", "sqlite3", "json"):
        (folder / f"{name}.py").write_text("raise SystemExit('not this one')", encoding="utf-8")
    done = command("run", "plaza", "-o", "x.run", *QUIET, cwd=folder, env=environment(), program=MODULE)
    assert "not this one" not in done.err


def test_a_stage_that_a_scenario_names_is_used_once_agreed_to(folder, scenario, monkeypatch):
    monkeypatch.syspath_prepend(folder)
    path, run = scenario(stage="own_stage:NAME"), folder / "x.run"
    for arguments in (("run", path, "-o", run, *QUIET), ("estimate", path, "--ticks", 2)):
        assert "own_stage:NAME" in command(*arguments, status=2).err
    assert not has_run(folder)
    command("run", path, "-o", run, *QUIET, "--trust")
    assert has_run(folder)
    command("verify", run, env=environment(PYTHONPATH=str(folder)))


def test_a_stage_of_this_process_needs_no_word(folder, scenario, monkeypatch):
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, "own_stage", raising=False)
    path, run = scenario(stage="own_stage:NAME"), folder / "x.run"
    with pytest.raises(UsageError, match="before you agree"):
        commonplace.create_run(run, path)
    __import__("own_stage")
    commonplace.create_run(run, path).close()
    commonplace.resume_run(run).close()
    command("verify", run, env=environment(PYTHONPATH=str(folder)))  # whoever made it has run that code


# ── the question ────────────────────────────────────────────────────────────────────────────────────────────────────


class Terminal:
    """A terminal on which somebody types one line."""

    def __init__(self, line: str) -> None:
        self.line = line

    def isatty(self) -> bool:
        return True

    def readline(self) -> str:
        return self.line


@pytest.mark.parametrize("answer", ["", "\n", "n\n", "yes please\n"])
def test_anything_but_a_yes_is_a_no(answer, server, elsewhere, scenario, monkeypatch, capfd, tmp_path):
    monkeypatch.setattr(sys, "stdin", Terminal(answer))
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    assert trust_main("run", scenario(mind=server.url), "-o", tmp_path / "x.run", *QUIET) == 2
    assert not server.headers


@pytest.mark.parametrize("answer", ["y\n", "Yes\n"])
def test_a_yes_is_remembered(answer, server, elsewhere, scenario, monkeypatch, capsys, tmp_path):
    path, run = scenario(mind=server.url), tmp_path / "x.run"
    monkeypatch.setattr(sys, "stdin", Terminal(answer))
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    assert trust_main("run", path, "-o", run, *QUIET) == 0
    asked = capsys.readouterr().err
    assert server.url in asked
    assert asked.count("[y/N]") == 1
    assert keys(server) == SENT
    assert trust_main("resume", run, *QUIET) == 0
    assert "[y/N]" not in capsys.readouterr().err


def trust_main(*arguments: object) -> int:
    return main([*map(str, arguments)])


# ── prompts ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("named", ["../outside", "/etc", "inner/../../outside", "link", "linked", "~/x"])
def test_prompts_stay_in_the_folder_of_the_scenario(named, scenario, tmp_path):
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    outside.mkdir()
    (outside / "rules.txt").write_text("a secret", encoding="utf-8")
    (tmp_path / "link").symlink_to(outside, target_is_directory=True)
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "rules.txt").symlink_to(outside / "rules.txt")
    path = scenario(prompts=named.replace("outside", outside.name))
    assert "prompts" in command("check", path, status=2).err
    done = command("run", path, "-o", tmp_path / "x.run", *QUIET, "--trust", status=2)
    assert "prompts" in done.err
    assert not (tmp_path / "x.run").exists()


def test_prompts_of_a_file_are_asked_about_where_a_model_would_see_them(server, scenario, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "rules.txt").write_text("Mind the lanterns.", encoding="utf-8")
    path, run = scenario(prompts="mine"), tmp_path / "x.run"
    command("run", path, "-o", run, *QUIET)
    command("run", path, "-o", run, *QUIET, "--force", "--mind", server.url, status=2)
    command("run", path, "-o", run, *QUIET, "--force", "--mind", server.url, "--trust")
    (tmp_path / "mine" / "rules.txt").write_text("Mind the lamps.", encoding="utf-8")
    command("run", path, "-o", run, *QUIET, "--force", "--mind", server.url)  # the same folder
    command("resume", run, *QUIET)
    manifest = Manifest.from_json(manifest_of(run))
    settings = {**(manifest.settings or {}), "prompts": {"rules.txt": "Do as I say."}}
    command("resume", received(run, settings=settings), *QUIET, status=2)
