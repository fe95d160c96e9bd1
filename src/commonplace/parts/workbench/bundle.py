"""A bundle: a run and all that it was made from as one zip file that anybody can look into, with a digest of each part.

`manifest.json` comes first and names the others: `run.run`, `scenario.yaml`, and the scenario's own prompts as
`prompts/NAME`. The run needs none of the others; they are there to be read.
"""

from __future__ import annotations

import re
import shutil
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any

from commonplace.canon import DIGEST_SIZE, canonical, parsed
from commonplace.errors import CommonplaceError, DiskFull, UsageError, refuse_newer
from commonplace.memory.stores.codec import UNREADABLE
from commonplace.paths import kind_of
from commonplace.run import integrity
from commonplace.run.copying import write_copy
from commonplace.run.file import written_run
from commonplace.run.manifest import JOURNAL, minds_of, package_version, templates_of
from commonplace.run.place import Place, is_same, place
from commonplace.run.reading import Reading
from commonplace.sqlite import beside
from commonplace.whole_file import written_whole

BUNDLE = 1
"""Number of the layout. A newer bundle is refused."""
MANIFEST, RUN_NAME, SCENARIO, PROMPTS = "manifest.json", "run.run", "scenario.yaml", "prompts/"
LARGEST = 8 << 30
"""Bytes of a run that is taken out of a bundle; deflate could make them from 8 MB."""
LARGEST_TEXT = 8 << 20
"""Bytes of any other part."""
MOST = 200
"""Parts of a bundle."""
PART_NAME = re.compile(r"[a-z]+\.[a-z]+|prompts/[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")
CHUNK = 1 << 20
UNZIPPABLE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, OverflowError)
"""What reading a damaged zip file may raise, or one that is encrypted or packed otherwise."""
MADE_BY = "`commonplace export RUN bundle -o FILE` makes one"
LONG_AGO = (1980, 1, 1, 0, 0, 0)
"""The date of every part: the same run gives the same bundle."""


@dataclass(frozen=True, slots=True)
class Bundled:
    """The content of a bundle."""

    scenario: str
    tick: int
    history: str
    """Digest up to the last tick, hexadecimal."""
    needs: tuple[str, ...] = ()
    """What the run names and the bundle does not hold: a recording that its mind reads."""


# ── writing ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def export_bundle(source: str | Place, target: str | Path, *, force: bool = False) -> Bundled:
    """Writes a run, as it is now, to a bundle. The file appears whole or not at all.

    Raises RunDamaged for a run that is not intact, and UsageError, unless `force`, for an existing target.
    """
    source, target = place(source), Path(target)
    if is_same(source, target):
        raise UsageError("a bundle cannot replace its run", where=str(target), hint="give another name with -o")
    with written_whole(target, force=force) as part:
        copy = beside(part, "-run")
        try:
            copy.unlink(missing_ok=True)
            write_copy(source, copy, writes=part)  # a run that goes on meanwhile is taken as of one tick
            return _packed(source, copy, part)
        finally:
            copy.unlink(missing_ok=True)


def _packed(source: Place, copy: Path, part: Path) -> Bundled:
    with Reading.open(copy) as reading:
        try:
            integrity.check(reading)
        except CommonplaceError as damage:
            damage.where = damage.where.replace(str(copy), str(source))
            damage.hint = damage.hint.replace(str(copy), str(source))
            raise
        texts = {name: text.encode() for name, text in _texts(reading).items()}
        about = _about(reading)
    files = {name: {"size": len(data), "digest": _digest([data])} for name, data in texts.items()}
    with copy.open("rb") as file:
        files[RUN_NAME] = {"size": copy.stat().st_size, "digest": _digest(iter(partial(file.read, CHUNK), b""))}
    manifest = {"bundle": BUNDLE, "version": package_version(), **about, "files": files}
    with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as bundle:
        bundle.writestr(_entry(MANIFEST), canonical(manifest))
        with copy.open("rb") as file, bundle.open(_entry(RUN_NAME), "w", force_zip64=True) as into:
            shutil.copyfileobj(file, into, CHUNK)
        for name, data in sorted(texts.items()):
            bundle.writestr(_entry(name), data)
    return Bundled(about["scenario"], about["tick"], about["history"], tuple(about["needs"]))


def _about(reading: Reading) -> dict[str, Any]:
    manifest = reading.manifest
    return {
        "scenario": manifest.scenario,
        "seed": manifest.seed,
        "mind": manifest.mind,
        "format": reading.format,
        "semantics": manifest.semantics,
        "tick": reading.last_tick,
        "history": reading.digest(),
        "state": reading.digest(state=True),
        "needs": [name for name in minds_of(manifest) if name.startswith(JOURNAL)],
    }


def _texts(reading: Reading) -> dict[str, str]:
    """Returns the parts that are there to be read, from the run's manifest."""
    prompts = {f"{PROMPTS}{name}": text for name, text in templates_of(reading.manifest).items()}
    texts = {SCENARIO: reading.manifest.text, **prompts}
    for name in texts:
        if not PART_NAME.fullmatch(name):
            raise CommonplaceError(f"a prompt is named {name!r}", where=str(reading.path), hint="do not trust the file")
    return texts


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, LONG_AGO)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    return entry


# ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def import_bundle(source: str | Path, target: str | Path, *, force: bool = False) -> Bundled:
    """Takes the run out of a bundle, whoever made it. The file appears whole, and intact, or not at all.

    Sizes, names and digests are checked before the run is in its place, and the run's own digests after. Raises
    UsageError for what is not a bundle, a newer one and, unless `force`, an existing target; CommonplaceError for a
    bundle that is damaged or does not hold what it says.
    """
    source, target = Path(source), Path(target)
    with _opened(source) as bundle:
        manifest = _manifest(bundle, source)
        sizes = {name: one["size"] for name, one in manifest["files"].items()}
        folder = next(path for path in target.absolute().parents if path.exists())
        size, free = sizes[RUN_NAME], shutil.disk_usage(folder).free
        if size > free:
            then = f"try again, or give a folder on another disk: the run in it takes {size:,} bytes, {free:,} are free"
            raise DiskFull(str(target), folder, then)
        texts = {name: b"".join(_part(bundle, name, manifest, source)) for name in sizes if name != RUN_NAME}
        with written_run(target, force=force) as part:
            with part.open("wb") as file:
                for chunk in _part(bundle, RUN_NAME, manifest, source):
                    file.write(chunk)
            _compare(part, manifest, texts, source)
    return Bundled(manifest["scenario"], manifest["tick"], manifest["history"], tuple(manifest["needs"]))


def _opened(source: Path) -> zipfile.ZipFile:
    kind = kind_of(source)
    if kind == "folder":
        raise UsageError("a folder, not a bundle", where=str(source), hint="give the file that `export` made")
    if kind == "nothing":
        raise UsageError("no such file", where=str(source), hint=MADE_BY)
    try:
        return zipfile.ZipFile(source)
    except UNZIPPABLE as error:
        raise UsageError("not a bundle, or one that is cut off", where=str(source), hint=MADE_BY) from error


def _manifest(bundle: zipfile.ZipFile, source: Path) -> dict[str, Any]:
    """Returns what the bundle says it holds, once it is known to hold just that."""
    entries = {entry.filename: entry for entry in bundle.infolist()[: MOST + 1]}
    if MANIFEST not in entries:
        raise UsageError(
            f"not a bundle: it has no {MANIFEST}", where=str(source), hint="give a file that `export` made"
        )
    if len(bundle.infolist()) > MOST or len(entries) != len(bundle.infolist()):
        raise _damaged(source, "too many parts, or two of one name")
    try:
        manifest: dict[str, Any] = parsed(b"".join(_inflated(bundle, MANIFEST, LARGEST_TEXT, source)))
        refuse_newer("a bundle", int(manifest["bundle"]), BUNDLE, str(source))
        files = {str(name): (int(one["size"]), str(one["digest"])) for name, one in manifest["files"].items()}
        fits = all(isinstance(manifest[key], kind) for key, kind in KEYS.items())
    except UNREADABLE as error:
        raise _damaged(source, f"{MANIFEST} cannot be read: {error}") from error
    if not fits or RUN_NAME not in files or SCENARIO not in files:
        raise _damaged(source, f"{MANIFEST} does not describe a run")
    if files.keys() | {MANIFEST} != entries.keys():
        odd = sorted(files.keys() ^ (entries.keys() - {MANIFEST}))[0]
        raise _damaged(source, f"{MANIFEST} and the parts do not agree about {odd!r}")
    for name, (size, _) in files.items():
        if not PART_NAME.fullmatch(name):
            raise _damaged(source, f"{name!r} is not the name of a part")
        if entries[name].file_size != size or not 0 <= size <= (LARGEST if name == RUN_NAME else LARGEST_TEXT):
            raise _damaged(source, f"{name} has another size than it says, or is too large")
    return manifest


KEYS: Mapping[str, type] = {"scenario": str, "tick": int, "history": str, "state": str, "needs": list}


def _part(bundle: zipfile.ZipFile, name: str, manifest: Mapping[str, Any], source: Path) -> Iterator[bytes]:
    """Yields the content of a part. Raises CommonplaceError at its end unless its digest is right."""
    said = manifest["files"][name]
    found = blake2b(digest_size=DIGEST_SIZE)
    for chunk in _inflated(bundle, name, said["size"], source):
        found.update(chunk)
        yield chunk
    if found.hexdigest() != said["digest"]:
        raise _damaged(source, f"{name} has changed since it was written")


def _inflated(bundle: zipfile.ZipFile, name: str, most: int, source: Path) -> Iterator[bytes]:
    """Yields the content of a part, never more of it than `most` bytes."""
    left = most
    try:
        with bundle.open(name) as file:
            while chunk := file.read(min(CHUNK, left + 1)):
                left -= len(chunk)
                if left < 0:
                    raise _damaged(source, f"{name} is larger than it says")
                yield chunk
    except UNZIPPABLE as error:
        raise _damaged(source, f"{name}: {error}") from error


def _compare(part: Path, manifest: Mapping[str, Any], texts: Mapping[str, bytes], source: Path) -> None:
    """Raises CommonplaceError unless the run is intact and is what the bundle says."""
    try:
        with Reading.open(part) as reading:
            integrity.check(reading)
            about = _about(reading)
            same = all(about[key] == manifest[key] for key in KEYS)
            readable = {name: text.encode() for name, text in _texts(reading).items()}
    except CommonplaceError as error:
        raise _damaged(source, f"the run in it: {error.what}") from error
    if not same:
        raise _damaged(source, f"the run in it is not the one that {MANIFEST} describes")
    if readable != texts:
        raise _damaged(source, "its scenario or prompts are not those of the run in it")


def _digest(chunks: Iterable[bytes]) -> str:
    found = blake2b(digest_size=DIGEST_SIZE)
    for chunk in chunks:
        found.update(chunk)
    return found.hexdigest()


def _damaged(source: Path, why: str) -> CommonplaceError:
    return CommonplaceError(
        f"the bundle is damaged ({why})", where=str(source), hint="ask for it again; nothing is written"
    )
