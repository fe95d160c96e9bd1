"""A bundle holds a run and all it was made from; what comes out is the run that went in, or nothing at all."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.canon import digest
from commonplace.errors import CommonplaceError, DiskFull, UsageError
from commonplace.parts.workbench import bundle as bundles
from commonplace.parts.workbench.bundle import export_bundle, import_bundle
from commonplace.run.file import RunFile
from commonplace.run.reading import Reading
from e2e.command import command, ends, tables
from run.small_runs import MANIFEST, Village, make, plot
from sizes import examples


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("bundle") / "village.run", 6)


@pytest.fixture(scope="module")
def bundle(run: Path) -> Path:
    path = run.with_name("village.zip")
    export_bundle(run, path)
    return path


def parts(bundle: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(bundle) as file:
        return {name: file.read(name) for name in file.namelist()}


def rewritten(bundle: Path, target: Path, change: Callable[[dict[str, bytes]], None], *, seal: bool = True) -> Path:
    """The bundle with other parts; `seal`: its manifest says their sizes and digests."""
    found = parts(bundle)
    change(found)
    if seal:
        manifest = json.loads(found["manifest.json"])
        for name, data in found.items():
            if name in manifest["files"]:
                manifest["files"][name] = {"size": len(data), "digest": bundles._digest([data])}
        found["manifest.json"] = json.dumps(manifest).encode()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in found.items():
            file.writestr(name, data)
    return target


def listed(manifest: dict[str, Any], name: str, data: bytes) -> None:
    manifest["files"][name] = {"size": len(data), "digest": bundles._digest([data])}


def refused(bundle: Path, target: Path) -> str:
    """What is said of a bundle that gives nothing."""
    with pytest.raises(CommonplaceError) as error:
        import_bundle(bundle, target)
    assert [path.name for path in target.parent.iterdir() if path.name.startswith(target.name)] == []
    return str(error.value)


def test_what_comes_out_is_the_run_that_went_in(run: Path, bundle: Path, tmp_path: Path) -> None:
    told = import_bundle(bundle, tmp_path / "back.run")
    assert (told.tick, told.history, told.scenario) == (6, ends(run).history, "village")
    assert ends(tmp_path / "back.run") == ends(run)
    with Reading.open(run) as one, Reading.open(tmp_path / "back.run") as other:
        assert other.manifest == one.manifest
        assert other.events() == one.events()
        assert list(other.frames()) == list(one.frames())


def test_anybody_can_look_inside(run: Path, bundle: Path) -> None:
    found = parts(bundle)
    assert list(found) == ["manifest.json", "run.run", "scenario.yaml"]
    assert found["scenario.yaml"].decode() == MANIFEST.text
    manifest = json.loads(found["manifest.json"])
    assert (manifest["tick"], manifest["history"]) == (6, ends(run).history)


def test_the_same_run_gives_the_same_bundle(run: Path, bundle: Path, tmp_path: Path) -> None:
    export_bundle(run, tmp_path / "again.zip")
    assert (tmp_path / "again.zip").read_bytes() == bundle.read_bytes()


def with_prompts(path: Path, **prompts: str) -> Path:
    with RunFile.create(path, replace(MANIFEST, settings={"prompts": prompts})) as run:
        run.commit(Village().opening())
    return path


def test_the_prompts_of_the_scenario_are_in_it(tmp_path: Path) -> None:
    run = with_prompts(tmp_path / "a.run", **{"rate.txt": "How important is it?"})
    export_bundle(run, tmp_path / "a.zip")
    assert parts(tmp_path / "a.zip")["prompts/rate.txt"] == b"How important is it?"
    import_bundle(tmp_path / "a.zip", tmp_path / "b.run")
    assert ends(tmp_path / "b.run") == ends(run)


def test_a_run_whose_prompts_are_named_like_paths_is_not_exported(tmp_path: Path) -> None:
    run = with_prompts(tmp_path / "a.run", **{"../../evil.txt": "boo"})
    with pytest.raises(CommonplaceError, match="do not trust the file"):
        export_bundle(run, tmp_path / "a.zip")
    assert not (tmp_path / "a.zip").exists()


def test_a_run_that_goes_on_is_exported_as_of_one_tick(tmp_path: Path) -> None:
    live_state = Village()
    with RunFile.create(tmp_path / "a.run", MANIFEST) as run:
        run.commit(live_state.opening())
        run.commit(live_state.tick(plot(1)))
        export_bundle(tmp_path / "a.run", tmp_path / "a.zip")
        run.commit(live_state.tick(plot(2)))
    assert import_bundle(tmp_path / "a.zip", tmp_path / "b.run").tick == 1
    assert sorted(path.name for path in tmp_path.iterdir() if ".lock" not in path.name) == ["a.run", "a.zip", "b.run"]


def test_a_damaged_run_is_not_exported(run: Path, tmp_path: Path) -> None:
    broken = Path(shutil.copy(run, tmp_path / "broken.run"))
    with tables(broken) as connection:
        connection.execute("UPDATE memory SET text = 'never' WHERE tick = 3")
    with pytest.raises(CommonplaceError, match=r"broken\.run, tick 3"):
        export_bundle(broken, tmp_path / "a.zip")
    assert [path.name for path in tmp_path.iterdir() if ".lock" not in path.name] == ["broken.run"]


def test_existing_files_are_refused_and_kept(run: Path, bundle: Path, tmp_path: Path) -> None:
    for name in ("a.zip", "a.run"):
        (tmp_path / name).write_text("mine")
    with pytest.raises(UsageError, match="exists"):
        export_bundle(run, tmp_path / "a.zip")
    with pytest.raises(UsageError, match="exists"):
        import_bundle(bundle, tmp_path / "a.run")
    with pytest.raises(UsageError, match="replace its run"):
        export_bundle(run, run, force=True)
    assert (tmp_path / "a.zip").read_text() == (tmp_path / "a.run").read_text() == "mine"
    export_bundle(run, tmp_path / "a.zip", force=True)
    import_bundle(tmp_path / "a.zip", tmp_path / "a.run", force=True)
    assert ends(tmp_path / "a.run") == ends(run)


# ── a stranger's bundle ──────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "name", ["../out.run", "/etc/out", "prompts/../../out", "prompts/.hidden", "a\\b", "prompts/a/b"]
)
def test_a_part_cannot_be_named_like_a_path(bundle: Path, tmp_path: Path, name: str) -> None:
    def add(found: dict[str, bytes]) -> None:
        manifest = json.loads(found["manifest.json"])
        listed(manifest, name, b"x")
        found |= {name: b"x", "manifest.json": json.dumps(manifest).encode()}

    folder = tmp_path / "in"
    folder.mkdir()
    said = refused(rewritten(bundle, tmp_path / "bad.zip", add), folder / "new.run")
    assert "is not the name of a part" in said
    assert {path.name for path in tmp_path.iterdir()} == {"in", "bad.zip"}


def test_what_the_manifest_does_not_name_is_refused(bundle: Path, tmp_path: Path) -> None:
    def add(found: dict[str, bytes]) -> None:
        found["extra.txt"] = b"hello"

    assert "do not agree about 'extra.txt'" in refused(rewritten(bundle, tmp_path / "a.zip", add), tmp_path / "new.run")


@pytest.mark.parametrize("name", ["run.run", "scenario.yaml"])
def test_a_missing_part_is_refused(bundle: Path, tmp_path: Path, name: str) -> None:
    said = refused(rewritten(bundle, tmp_path / "a.zip", lambda found: found.pop(name) and None), tmp_path / "new.run")
    assert "do not agree about" in said


def test_a_bomb_is_not_inflated(bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundles, "LARGEST", 3 << 20)

    def swell(found: dict[str, bytes]) -> None:
        found["run.run"] += bytes(4 << 20)

    bomb = rewritten(bundle, tmp_path / "bomb.zip", swell)
    assert bomb.stat().st_size < 1 << 20
    assert "too large" in refused(bomb, tmp_path / "new.run")


def test_a_disk_without_room_for_the_run_is_named_and_not_written_to(
    bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=4096))
    with pytest.raises(DiskFull, match=r"free some space in .*, then try again, .* takes [\d,]+ bytes, 4,096 are free"):
        import_bundle(bundle, tmp_path / "in" / "a.run")
    assert not list(tmp_path.iterdir())


def test_a_part_that_lies_about_its_size_is_read_no_further(bundle: Path, tmp_path: Path) -> None:
    """The zip directory says few bytes, the stream holds many."""
    path = Path(shutil.copy(bundle, tmp_path / "liar.zip"))
    with zipfile.ZipFile(path) as file:
        entry = file.getinfo("scenario.yaml")
    manifest = json.loads(parts(path)["manifest.json"])
    real = manifest["files"]["scenario.yaml"]["size"]
    changed = path.read_bytes().replace(real.to_bytes(4, "little"), (10).to_bytes(4, "little"))
    manifest["files"]["scenario.yaml"]["size"] = 10
    path.write_bytes(changed)
    assert entry.file_size == real
    assert "damaged" in refused(path, tmp_path / "new.run")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"bundle": 2}, "newer"),
        ({"bundle": "one"}, "cannot be read"),
        ({"files": []}, "cannot be read"),
        ({"files": {}}, "does not describe a run"),
        ({"tick": "6"}, "does not describe a run"),
        ({"tick": 5}, "not the one that"),
        ({"history": "00" * 16}, "not the one that"),
        ({"scenario": "elsewhere"}, "not the one that"),
    ],
)
def test_a_manifest_that_says_something_else_is_refused(
    bundle: Path, tmp_path: Path, change: dict[str, Any], said: str
) -> None:
    def lie(found: dict[str, bytes]) -> None:
        found["manifest.json"] = json.dumps(json.loads(found["manifest.json"]) | change).encode()

    assert said in refused(rewritten(bundle, tmp_path / "a.zip", lie, seal=False), tmp_path / "new.run")


@pytest.mark.parametrize("name", ["run.run", "scenario.yaml"])
def test_a_part_without_its_digest_is_refused(bundle: Path, tmp_path: Path, name: str) -> None:
    def lie(found: dict[str, bytes]) -> None:
        manifest = json.loads(found["manifest.json"])
        manifest["files"][name]["digest"] = "00" * 16
        found["manifest.json"] = json.dumps(manifest).encode()

    said = refused(rewritten(bundle, tmp_path / "a.zip", lie, seal=False), tmp_path / "new.run")
    assert f"{name} has changed since it was written" in said


def test_a_scenario_that_is_not_the_runs_is_refused(bundle: Path, tmp_path: Path) -> None:
    def lie(found: dict[str, bytes]) -> None:
        found["scenario.yaml"] = b"a harmless one"

    assert "not those of the run" in refused(rewritten(bundle, tmp_path / "a.zip", lie), tmp_path / "new.run")


def test_a_run_that_was_changed_before_it_was_packed_again_is_refused(run: Path, bundle: Path, tmp_path: Path) -> None:
    other = Path(shutil.copy(run, tmp_path / "other.run"))
    with tables(other) as connection:
        connection.execute("UPDATE event SET body = replace(body, 'bell', 'gong')")

    def swap(found: dict[str, bytes]) -> None:
        found["run.run"] = other.read_bytes()

    said = refused(rewritten(bundle, tmp_path / "a.zip", swap), tmp_path / "new.run")
    assert "an event has changed since it was written" in said


@pytest.mark.parametrize("content", [b"", b"PK", b"not a zip at all", b"PK\x05\x06" + bytes(18)])
def test_what_is_no_bundle_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.zip").write_bytes(content)
    assert "not a bundle" in refused(tmp_path / "a.zip", tmp_path / "new.run")
    with pytest.raises(UsageError, match="no such file"):
        import_bundle(tmp_path / "none.zip", tmp_path / "new.run")


@given(st.data())
@examples(80)
def test_no_flipped_byte_goes_unnoticed(
    bundle: Path, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    raw = bytearray(bundle.read_bytes())
    place = data.draw(st.integers(0, len(raw) - 1))
    raw[place] ^= data.draw(st.integers(1, 255))
    folder = tmp_path_factory.mktemp("flip")
    (folder / "a.zip").write_bytes(raw)
    try:
        told = import_bundle(folder / "a.zip", folder / "new.run")
    except CommonplaceError:
        assert not (folder / "new.run").exists()
    else:  # in what a zip file holds besides its parts: dates, attributes, the first of two sizes
        assert told.tick == 6
        assert digest((folder / "new.run").read_bytes()) == digest(parts(bundle)["run.run"])
    shutil.rmtree(folder)


# ── as commands ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_commands_make_a_bundle_and_a_run_of_it(plaza: Path, tmp_path: Path) -> None:
    done = command("export", plaza, "bundle", "-o", tmp_path / "plaza.zip")
    assert done.lines == [f"{tmp_path / 'plaza.zip'}: plaza, tick 60  digest {ends(plaza).history}"]
    command("import", "bundle", tmp_path / "plaza.zip", "-o", tmp_path / "back.run")
    assert ends(tmp_path / "back.run") == ends(plaza)
    command("verify", tmp_path / "back.run")
    assert "file already exists" in command("export", plaza, "bundle", "-o", tmp_path / "plaza.zip", status=2).err
