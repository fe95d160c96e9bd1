"""What the pages say is so: commands, options, settings, folders, links, names, programs."""

from __future__ import annotations

import ast
import importlib
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, get_args

import pytest
import typer.main

from commonplace.cli import app
from commonplace.cli.options import Durability, Fidelity, View
from commonplace.cognition.deferred import JOBS
from commonplace.engine.stage import Stage
from commonplace.errors import DISTRIBUTION
from commonplace.minds.tasks import TASKS
from commonplace.run.reading import Reading
from commonplace.scenario.model import CognitionPart
from commonplace.world.happenings import Happened, Happening, as_frame, happening_of
from e2e import lived
from e2e.command import command, environment

PROJECT = Path(__file__).parents[1]
PACKAGE = PROJECT / "src" / "commonplace"
PAGES = sorted([*PROJECT.glob("*.md"), *PROJECT.glob("docs/**/*.md")])
GROUP: Any = typer.main.get_command(app)
COMMANDS: dict[str, Any] = {name: GROUP.get_command(None, name) for name in GROUP.list_commands(None)}
GENERAL = {"--help", "-h", "--debug", "--log-format", "--version", "--install-completion", "--show-completion"}
GIVEN = {"musing.py"}  # written by the reader of docs/stages.md
town = lived.town
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def shown(path: Path) -> str:
    return path.relative_to(PROJECT).as_posix()


def page(name: str) -> str:
    return (PROJECT / name).read_text(encoding="utf-8")


def blocks(text: str, language: str) -> list[str]:
    return [body for found, body in FENCE.findall(text) if found == language]


def prose(text: str) -> str:
    return FENCE.sub("", text)


def without_sql(text: str) -> str:
    """The text without its queries, whose names are those of a schema; they are tried in tests/parts/runs."""
    return FENCE.sub(lambda block: "" if block[1] == "sql" else block[0], text)


@cache
def headings(text: str) -> list[tuple[int, str]]:
    return [(len(marks), title.strip()) for marks, title in re.findall(r"^(#+) (.*)$", prose(text), re.MULTILINE)]


# ── the command line ────────────────────────────────────────────────────────────────────────────────────────────────


def sections() -> dict[str, str]:
    """Command → its part of the page."""
    parts = re.split(r"^### `([\w-]+)`$", page("docs/command-line.md"), flags=re.MULTILINE)
    return {
        name: re.split(r"^## ", body, flags=re.MULTILINE)[0]
        for name, body in zip(parts[1::2], parts[2::2], strict=True)
    }


def test_every_command_is_documented_and_exists():
    assert sorted(sections()) == sorted(COMMANDS)


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_option_is_documented_and_exists(name):
    section = sections()[name]
    options = {option for one in COMMANDS[name].params if one.param_type_name == "option" for option in one.opts}
    written = set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", "\n".join(re.findall(r"`([^`\n]+)`", prose(section)))))
    assert written - GENERAL == options - GENERAL
    assert f"commonplace {name}" in section, "an example"


def test_every_choice_and_default_is_documented():
    for choice in (*View, *Fidelity, *Durability):
        assert f"`{choice.value}`" in sections()["run"]
    for name, one in COMMANDS.items():
        for option in one.params:
            if isinstance(option.default, int) and not isinstance(option.default, bool):
                assert re.search(rf"\b{option.default}\b", sections()[name]), (name, option.name)


@pytest.mark.parametrize("path", PAGES, ids=shown)
def test_no_page_names_a_command_that_is_not_there(path):
    code = re.findall(
        r"`commonplace ([a-z][\w-]*)|^(?:\$ )?commonplace ([a-z][\w-]*)", path.read_text(encoding="utf-8"), re.MULTILINE
    )
    assert {one or other for one, other in code} - COMMANDS.keys() == set()


def test_every_exit_status_is_documented():
    assert re.findall(r"^\| (\d+) \|", page("docs/command-line.md"), re.MULTILINE) == ["0", "1", "2", "3", "130"]


# ── tasks, settings, happenings ───────────────────────────────────────────────────────────────────────────────────────


def test_every_task_is_documented_with_its_limit():
    rows = re.findall(r"^\| `(\w+)` \|.*\| (\d+) \|$", page("docs/minds.md"), re.MULTILINE)
    assert rows == [(name, str(task.max_tokens)) for name, task in TASKS.items()]


def test_every_deferred_job_is_explained():
    (rows,) = re.findall(r"^\| job \|.*\n\|.*\n((?:\|.*\n)+)", page("docs/cognition.md"), re.MULTILINE)
    assert sorted(re.findall(r"^\| `(\w+)`", rows, re.MULTILINE)) == sorted(JOBS)


def test_every_setting_of_cognition_is_explained():
    settings = re.split(r"^## Settings$", page("docs/cognition.md"), flags=re.MULTILINE)[1]
    explained = re.findall(r"`(\w+)`", " ".join(re.findall(r"^\| (`.*?) \|", settings, re.MULTILINE)))
    assert sorted(explained) == sorted(CognitionPart.model_fields)


def happenings() -> list[tuple[str, str, set[str], list[str]]]:
    """(type, `what`, other keys, kinds of memory) of each row of the table of happenings."""
    rows = re.findall(
        r"^\| `([A-Z]\w+)` \| `(\w+)` \| (.*?) \|.*\| ([\w, ]+) \|$", page("docs/cognition.md"), re.MULTILINE
    )
    return [(type_, what, set(re.findall(r"`(\w+)`", keys)), kinds.split(", ")) for type_, what, keys, kinds in rows]


def test_every_type_of_happening_has_a_row():
    assert {type_: what for type_, what, *_ in happenings()} == {
        kind.__name__: kind.__struct_config__.tag for kind in get_args(Happening) if kind is not Happened
    }


def test_the_happenings_of_a_lived_town_are_those_of_the_table(town):
    table = {what: (keys, kinds) for _, what, keys, kinds in happenings()}
    with Reading.open(town) as run:
        for memory in (memory for agent in run.agent_ids for memory in run.memories(agent)):
            frame = dict(memory.details["frame"])
            keys, kinds = table[frame.pop("what")]
            assert memory.kind in kinds and frame.keys() <= keys, memory
            assert as_frame(happening_of(memory.details)) == memory.details["frame"]


# ── the readme ──────────────────────────────────────────────────────────────────────────────────────────────────────


def tree(readme: str) -> list[str]:
    """The folders of the tree, as paths."""
    (block,) = [block for block in blocks(page(readme), "text") if "src/commonplace/" in block]
    under = ("", "src/commonplace/", "src/commonplace/parts/")
    lines = re.findall(r"^( *)([\w./-]+)/ ", block, re.MULTILINE)
    return [f"{under[len(indent) // 2]}{name}" for indent, name in lines]


def folders(under: Path) -> Iterator[str]:
    """Folders with something in them that is not left out of the repository."""
    ignored = page(".gitignore").split()
    for folder in sorted(path for path in under.iterdir() if path.is_dir() and f"{path.name}/" not in ignored):
        kept = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
        if folder.name != ".git" and next(kept, None):
            yield folder.relative_to(PROJECT).as_posix()


@pytest.mark.parametrize("readme", ["README.md", "README.ko.md"])
def test_the_tree_names_every_folder_and_no_other(readme):
    named = tree(readme)
    assert [name for name in named if not (PROJECT / name).is_dir()] == []
    there = [*(name for name in folders(PROJECT) if name != "src"), *folders(PACKAGE), *folders(PACKAGE / "parts")]
    assert [name for name in there if name not in named] == []
    modules = {path.stem for path in PACKAGE.glob("[a-z]*.py")}
    (beside,) = re.findall(r"^src/commonplace/.*: (.*)$", page(readme), re.MULTILINE)
    assert set(beside.split(", ")) == modules


def test_both_readmes_are_level():
    english, korean = page("README.md"), page("README.ko.md")
    assert [level for level, _ in headings(english)] == [level for level, _ in headings(korean)]
    for language in ("console", "python"):
        assert blocks(english, language) == blocks(korean, language)
    assert tree("README.md") == tree("README.ko.md")
    others = {"README.md", "README.ko.md"}
    assert [link for link in links(english) if link not in others] == [
        link.replace(".ko.md", ".md") for link in links(korean) if link not in others
    ]


def test_the_console_examples_run(tmp_path):
    for block in blocks(page("README.md"), "console"):
        for line, expected in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
            name, *arguments = shlex.split(line)
            if name == "make":
                assert re.search(rf"^{arguments[0]}:", page("Makefile"), re.MULTILINE), line
                continue
            assert name == "commonplace"
            done = command(*arguments, cwd=tmp_path)
            shown = [*done.lines, *done.err.splitlines()]
            for wanted in expected.splitlines():
                pattern = wanted.replace("[", "[[]").replace("…", "*")
                assert any(fnmatchcase(one, pattern) for one in shown), (line, wanted, shown)


EACH = "import runpy, sys\nfor program in sys.argv[1:]: runpy.run_path(program, run_name='__main__')"
"""Runs programs one after the other, each with names of its own: to start Python for each takes longer than they do."""


@pytest.mark.parametrize("name", ["README.md", "docs/minds.md", "docs/python.md"])
def test_the_programs_of_a_page_run(name, tmp_path):
    programs = blocks(page(name), "python")
    assert programs
    for number, program in enumerate(programs):
        (tmp_path / f"{number}.py").write_text(program, encoding="utf-8")
    python("-W", "error", "-c", EACH, *(f"{number}.py" for number in range(len(programs))), folder=tmp_path)


def test_the_stage_of_the_page_lives(tmp_path):
    (program,) = blocks(page("docs/stages.md"), "python")
    (tmp_path / "musing.py").write_text(program, encoding="utf-8")
    command("new", "my-town.yaml", cwd=tmp_path)
    scenario = tmp_path / "my-town.yaml"
    plain = re.sub(r"^stage:.*\n", "", scenario.read_text(encoding="utf-8"), flags=re.MULTILINE)
    scenario.write_text(f"stage: musing:MUSING\n{plain}", encoding="utf-8")
    env = environment(PYTHONPATH=str(tmp_path))
    done = command("run", "my-town.yaml", "--ticks", "6", "-o", "t.run", "--trust", cwd=tmp_path, env=env)
    assert "thinking of something" in done.out
    assert "the same history" in command("verify", "t.run", cwd=tmp_path, env=env).err


def test_the_fields_of_a_stage_are_documented():
    rows = re.findall(
        r"^\| `(\w+)(?:\(.*?\))?` \|", page("docs/stages.md").split("## What a stage is")[1], re.MULTILINE
    )
    assert rows == list(Stage.__dataclass_fields__)


# ── every page ──────────────────────────────────────────────────────────────────────────────────────────────────────


def links(text: str) -> list[str]:
    found = re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", prose(text)))
    return [link for link in found if not link.startswith(("http://", "https://", "mailto:"))]


def anchor(title: str) -> str:
    """As the usual viewers make it of a heading."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


@pytest.mark.parametrize("path", PAGES, ids=shown)
def test_no_link_is_broken(path):
    for link in links(path.read_text(encoding="utf-8")):
        name, _, part = link.partition("#")
        target = (path.parent / name).resolve() if name else path
        assert target.exists(), link
        if part:
            assert part in [anchor(title) for _, title in headings(target.read_text(encoding="utf-8"))], link


@pytest.mark.parametrize("path", PAGES, ids=shown)
def test_every_module_and_file_named_exists(path):
    text = without_sql(path.read_text(encoding="utf-8"))
    new = [f"commonplace.{name.replace('/', '.')}" for name in re.findall(r"# (\S+)\.py, a new file:", text)]
    for name in re.findall(r"\bcommonplace(?:\.[a-zA-Z_]\w*)+", text):
        assert importable(name) or name in new, name
    for name in re.findall(r"`([\w./-]+/[\w.-]+\.\w+|\w+\.py)`", text):
        assert any(file.endswith(f"/{name}") for file in files()) or name in GIVEN, name


@cache
def files() -> list[str]:
    """The paths of the project's files, without those of the environments."""
    found: list[str] = []
    for folder, folders, names in os.walk(PROJECT):
        folders[:] = [name for name in folders if name not in (".git", ".venv", "node_modules")]
        found += [f"{folder}/{name}" for name in names]
    return found


def importable(name: str) -> bool:
    """Whether a dotted name is a module, or something in one; a module is found without being imported."""
    module, *rest = name.split(".")
    while rest and is_module(f"{module}.{rest[0]}"):
        module = f"{module}.{rest.pop(0)}"
    found: Any = importlib.import_module(module) if rest else None
    for part in rest:
        if not hasattr(found, part):
            return False
        found = getattr(found, part)
    return True


def is_module(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:  # what is before the last dot is no package
        return False


def test_every_function_named_is_defined():
    defined: set[str] = set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                defined |= {
                    f"{node.name}.{one.name}"
                    for one in node.body
                    if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)
                }
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                defined.add(node.name)
    for name in ("ARCHITECTURE.md", "docs/cognition.md", "docs/why.md", "docs/minds.md", "docs/talking.md"):
        named = re.findall(r"`(?:[a-z]\w*\.)?((?:[A-Z]\w*\.)?\w+)\([^`]*\)`", prose(page(name)))
        assert [function for function in named if function not in defined] == [], name


def test_every_page_is_in_the_index_and_every_decision_says_what_would_change_it():
    linked = {(PROJECT / "docs" / link.partition("#")[0]).resolve() for link in links(page("docs/index.md"))}
    assert {
        path for path in PAGES if "docs" in path.relative_to(PROJECT).parts and path.name != "index.md"
    } - linked == set()
    for path in (PROJECT / "docs" / "decisions").glob("*.md"):
        text = path.read_text(encoding="utf-8")
        assert all(f"**{part}" in text for part in ("Chosen", "Dropped", "What would change our mind")), path.name


@pytest.fixture(scope="module")
def site():
    """The program that builds the documentation site, as a module."""
    spec = spec_from_file_location("build_site", PROJECT / "tools" / "build_site.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def entries(nav: Any) -> Iterator[str]:
    """The pages of a navigation, however deep they stand."""
    if isinstance(nav, str):
        yield nav
    else:
        for part in nav.values() if isinstance(nav, dict) else nav:
            yield from entries(part)


def test_the_navigation_of_the_site_has_every_page_once(site):
    project = tomllib.loads(page("zensical.toml"))["project"]
    assert sorted(entries(project["nav"])) == sorted(["tutorial.md", *filter(None, map(site.place_of, PAGES))])
    assert all((site.DOCS / name).is_file() for name in project["extra_css"])


def test_a_picture_of_a_page_stays_one_on_the_site_and_every_picture_is_on_a_page(site, tmp_path, monkeypatch):
    monkeypatch.setattr(site, "PAGES", tmp_path)
    pictures: list[str] = []
    for path in PAGES:
        place = site.place_of(path)
        if place:
            (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
            site.write(path, tmp_path / place)
            written = site.PICTURE.findall((tmp_path / place).read_text(encoding="utf-8"))
            assert len(written) == len(site.PICTURE.findall(path.read_text(encoding="utf-8"))), path
            pictures += [Path(place).parent.joinpath(picture).as_posix() for picture in written]
    assert set(pictures) == {file.relative_to(site.DOCS).as_posix() for file in site.DOCS.rglob("*.png")}


READ_FILE = re.compile(r"(?<![\w./-])([a-z][a-z0-9-]*\.(?:run|yaml))(?![\w.(])")
"""A run or a scenario in a command or a program."""


@pytest.mark.parametrize(
    "path", [path for path in PAGES if path.parent.name != "decisions" and path.name != "CHANGELOG.md"], ids=shown
)
def test_a_run_or_scenario_in_an_example_is_made_there_or_introduced(path):
    text = without_sql(path.read_text(encoding="utf-8"))
    code = "\n".join([*(body for _, body in FENCE.findall(text)), *re.findall(r"`([^`\n]+ [^`\n]+)`", prose(text))])
    made = re.findall(r"""(?:-o |\bnew |create_run\([^"\n]*")([\w-]+\.\w+)""", code)
    introduced = re.findall(r"`([\w.-]+)`", page("docs/index.md").partition("In the examples,")[2].partition("\n\n")[0])
    assert set(READ_FILE.findall(code)) - {*made, *introduced} == set()


def test_nobody_is_told_to_install_the_program_that_has_our_name_on_pypi():
    assert tomllib.loads(page("pyproject.toml"))["project"]["name"] == DISTRIBUTION
    theirs = re.compile(r"""pip install(?: -\S+)* ["']?commonplace(?![-_\w]).*""")
    places = ("src", "tests", "tools", "examples", "benchmarks", ".github")
    texts = [file for place in places for ending in ("py", "yml") for file in (PROJECT / place).rglob(f"*.{ending}")]
    told = {
        shown(path): found
        for path in [*PAGES, PROJECT / "Makefile", *texts]
        if (found := theirs.findall(path.read_text(encoding="utf-8")))
    }
    assert told == {}


def test_the_changelog_has_the_version():
    version = tomllib.loads(page("pyproject.toml"))["project"]["version"]
    assert (2, version) in headings(page("CHANGELOG.md"))


def test_every_dependency_has_its_reason():
    wanted = tomllib.loads(page("pyproject.toml"))["project"]["dependencies"]
    reasons = re.findall(r"^\| ([\w.-]+) \|", page("docs/decisions/dependencies.md"), re.MULTILINE)
    assert sorted(re.split(r"[><=]", one)[0].lower() for one in wanted) == sorted(
        name.lower() for name in reasons if name != "package"
    )


# ── running things ──────────────────────────────────────────────────────────────────────────────────────────────────


def python(*arguments: str, folder: Path) -> str:
    """What a program of its own prints; both streams."""
    paths = os.pathsep.join([str(folder), str(PROJECT / "src")])
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": paths, "PYTHONUTF8": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout
