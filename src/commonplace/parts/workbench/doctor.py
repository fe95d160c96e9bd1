"""`doctor`: checks the machine, the packages, the terminal and a mind, or a database or a cluster; every finding says
what to do about it."""

from __future__ import annotations

import asyncio
import os
import platform
import re
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import AsyncIterator, Container, Iterable, Iterator, Sequence
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from commonplace.api import book, mind_named
from commonplace.cli.options import JSON, TIMEOUT
from commonplace.cli.settings import MIND, runs_folder
from commonplace.errors import DISTRIBUTION, CommonplaceError, install
from commonplace.parts.model_servers.client import Outage
from commonplace.parts.model_servers.dialects import dialect_of
from commonplace.parts.model_servers.forms import remember_form
from commonplace.parts.model_servers.prices import VARIABLE, price_of
from commonplace.parts.workbench.check_cluster import cluster
from commonplace.parts.workbench.check_postgres import is_database, postgres
from commonplace.parts.workbench.checks import BROKEN, FINE, NOTE, Check, broken_by, installed
from commonplace.parts.workbench.trial import MENDED, TOWNS, USABLE, USELESS, Trial, fitness, questions, too_hard, tried
from commonplace.paths import checked_folder
from commonplace.registry import TASKS
from commonplace.run.manifest import package_version
from commonplace.scenario.compiling import load
from commonplace.scenario.scenario import Scenario
from commonplace.servers import Server, is_server, server_named
from commonplace.text import clean, shortened
from commonplace.views.lines import json_line

if TYPE_CHECKING:
    from commonplace.parts.model_servers.chat_mind import ChatMind
    from commonplace.parts.model_servers.request import Capabilities


def doctor(
    target: str = typer.Argument(
        "",
        metavar="[DATABASE|CLUSTER]",
        help="Check this instead: postgresql://…, embedded:FOLDER, ray://HOST:PORT, or ray for this machine.",
    ),
    mind: str = typer.Option(
        "", "--mind", envvar=MIND, help="Report what this mind's server can do, and ask it ten real questions."
    ),
    timeout: float = TIMEOUT,
    as_json: bool = JSON,
) -> None:
    """Check the machine, the packages, the terminal and, if one is named, a mind; or a database or a cluster."""
    if target:
        findings = postgres(target) if is_database(target) else cluster(target)
        mind = ""
    else:
        findings = machine()
    broken = sum(_print(finding, as_json=as_json) for finding in findings)
    if mind:
        broken += asyncio.run(_print_all(examined(mind, timeout), as_json=as_json))
    if broken:
        raise typer.Exit(1)


async def _print_all(findings: AsyncIterator[Check], *, as_json: bool) -> int:
    """Prints findings as they come and returns how many are broken."""
    return sum([_print(finding, as_json=as_json) async for finding in findings])


def _print(finding: Check, *, as_json: bool) -> bool:
    """Prints a finding and returns whether it is broken."""
    print(json_line(asdict(finding)) if as_json else finding, flush=True)
    return finding.state == BROKEN


# ── the machine ───────────────────────────────────────────────────────────────────────────────────────────────────────


SMALLEST = (80, 24)
"""Columns and lines the terminal view needs."""
RULER = ("|한글 마을|🏮|→ ◆|", "|         |  |   |")
"""Line up where a terminal gives Hangul and emoji two columns each."""
_WANTED = re.compile(r"^([\w.-]+)")
_EXTRA = re.compile(r"extra == [\"']([\w-]+)[\"']")


def machine() -> Iterator[Check]:
    """Checks everything that is not a mind."""
    yield Check(FINE, f"Commonplace {package_version()}, Python {platform.python_version()}, {platform.platform()}")
    yield from packages()
    yield database()
    yield folder(runs_folder())
    yield from terminal()
    yield from prices()


def packages() -> Iterator[Check]:
    """Checks the required packages: those needed always, then those of each extra."""
    needs = _needs()
    if not needs:
        yield Check(NOTE, "not installed as a package, so its requirements are unknown", "pip install -e .")
        return
    for extra, names in sorted(needs.items()):
        found = {name: installed(name) for name in names}
        missing = [name for name, number in found.items() if not number]
        what = f"[{extra}] " if extra else ""
        if not missing:
            yield Check(FINE, what + ", ".join(f"{name} {number}" for name, number in found.items()))
        elif extra:
            yield Check(NOTE, f"{what}not installed: {', '.join(missing)}", install(extra))
        else:
            yield Check(BROKEN, f"missing: {', '.join(missing)}", install())


def _needs() -> dict[str, list[str]]:
    """Maps each extra to its packages; those always needed are under the empty name."""
    try:
        lines = metadata(DISTRIBUTION).get_all("Requires-Dist") or []
    except PackageNotFoundError:
        return {}
    needs: dict[str, list[str]] = {}
    for line in lines:
        wanted, extra = _WANTED.match(line), _EXTRA.search(line)
        if wanted:
            needs.setdefault(extra[1] if extra else "", []).append(wanted[1])
    return needs


def database() -> Check:
    """Checks that SQLite supports write-ahead logging, which run files use."""
    with tempfile.TemporaryDirectory(prefix="commonplace-") as temporary:
        connection = sqlite3.connect(Path(temporary) / "probe.run")
        try:
            (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        finally:
            connection.close()
    if mode != "wal":
        return Check(
            BROKEN, f"SQLite {sqlite3.sqlite_version} has no write-ahead log here", "use another build of Python"
        )
    return Check(FINE, f"SQLite {sqlite3.sqlite_version}")


def folder(wanted: Path) -> Check:
    """Checks the default folder of runs, or the nearest one above it that exists."""
    try:
        checked_folder(wanted)
    except CommonplaceError as error:
        return broken_by(error)
    place = next(path for path in (wanted, *wanted.resolve().parents) if path.is_dir())
    try:
        with tempfile.NamedTemporaryFile(dir=place, prefix=".commonplace-"):
            free = shutil.disk_usage(place).free
    except OSError as error:
        hint = "choose another place with -o, or start from another folder"
        return Check(BROKEN, f"{place.resolve()} cannot be written to ({error.strerror})", hint)
    return Check(FINE, f"runs are written to {wanted.resolve()}, {free / 1e9:,.1f} GB free")


def terminal() -> Iterator[Check]:
    """Checks whether the terminal view can be shown here, and how wide characters are drawn."""
    if (sys.stdout.encoding or "").lower().replace("-", "") != "utf8":
        yield Check(NOTE, f"the output encoding is {sys.stdout.encoding}", "set PYTHONUTF8=1")
    if not (sys.stdout.isatty() and sys.stdin.isatty()):
        yield Check(NOTE, "not a terminal: runs are shown as plain lines", "--view selects another view")
        return
    size = shutil.get_terminal_size()
    what = f"terminal {os.environ.get('TERM', '')}, {size.columns}×{size.lines}"
    if size < SMALLEST:
        yield Check(NOTE, what, "the terminal view needs 80×24: make the window larger, or use --view plain")
    else:
        yield Check(FINE, what)
    hint = "if the bars of the two lines are not aligned, choose a monospaced font with Hangul and emoji"
    yield Check(NOTE, f"{RULER[0]}\n        {RULER[1]}", hint)


def prices() -> Iterator[Check]:
    """Checks the user's own price list, if there is one."""
    own = os.environ.get(VARIABLE)
    if own:
        try:
            price_of("offline")
        except CommonplaceError as error:
            yield broken_by(error)
        else:
            yield Check(FINE, f"prices from {own}")


# ── a mind ────────────────────────────────────────────────────────────────────────────────────────────────────────────


LONGEST_WHY = 120
"""Characters of what was wrong with an answer."""
STRUCTURES = {
    "json_schema": "takes a JSON Schema",
    "json_object": "takes a JSON Schema as `json_object`",
    "tool": "answers in a forced tool call",
    "json_mode": "answers in some JSON object, with the schema in the prompt",
    "text": "answers in text only: expect more unusable answers",
}


async def examined(name: str, timeout: float) -> AsyncIterator[Check]:
    """Checks everything about a mind, up to the first thing that fails."""
    try:
        if is_server(name):
            async for finding in _served(name, timeout):
                yield finding
        else:
            yield Check(FINE, f"{mind_named(name, load(TOWNS[0])).name} asks no server")
        yield _price(name)
    except Outage as error:
        hint = "start the server there, or give its address: SERVER:MODEL@URL; --timeout waits longer"
        yield Check(BROKEN, error.what, hint)
    except CommonplaceError as error:
        yield broken_by(error)


async def _served(name: str, timeout: float) -> AsyncIterator[Check]:
    """Checks what a server can do, and what its answers to real questions are worth."""
    server, found = server_named(name), list[Trial]()
    for town in TOWNS:
        scenario = load(town)
        mind = _impatient(name, scenario, timeout)
        try:
            if town == TOWNS[0]:
                if server.urls:
                    yield _key(server)
                for finding in _able(await mind.capabilities(), server.kind):
                    yield finding
            async for one in tried(mind, await questions(town, name), scenario.language):
                found.append(one)
                yield _tried(one)
        finally:
            await mind.close()
    small = list[Trial]()
    async for one in _in_small_form(name, timeout, too_hard(found)):
        small.append(one)
        yield _tried(one, ", small form")
    usable = sum(one.grade != USELESS for one in small)
    suits = bool(small) and usable * 2 >= len(small)
    remember_form(name, "small" if suits else "full")
    if suits:
        hint = "remembered for this model; `form: full` in a scenario, or `run --form full`, asks it in the full form"
        yield Check(FINE, f"the small form suits it: {usable} of {len(small)} answers can be used", hint)
        again = {(one.task, one.language): one for one in small}
        found = [again.get((one.task, one.language), one) for one in found]
    yield _fit(found)


async def _in_small_form(name: str, timeout: float, hard: Sequence[Trial]) -> AsyncIterator[Trial]:
    """Checks the same questions in the small form."""
    for town in TOWNS if hard else ():
        scenario = load(town)
        mind = _impatient(name, scenario, timeout, TASKS)
        asked = [one.question for one in hard if one.language == scenario.language]
        try:
            async for one in tried(mind, asked, scenario.language):
                yield one
        finally:
            await mind.close()


def _impatient(name: str, scenario: Scenario, timeout: float, small: Container[str] = ()) -> ChatMind:
    """Returns a mind that does not wait between attempts. `small`: the tasks that it is asked in the small form."""
    from commonplace.parts.model_servers.chat_mind import ChatMind  # noqa: PLC0415 – imports the OpenAI client
    from commonplace.parts.model_servers.local import LocalMind  # noqa: PLC0415 – likewise

    kind = ChatMind if server_named(name).urls else LocalMind
    return kind(name, book(scenario, small=small), timeout=timeout, sleep=_at_once)


async def _at_once(_: float) -> None:
    pass


def _key(server: Server) -> Check:
    """Checks that a key is set. The key itself is never shown."""
    if os.environ.get(server.variable):
        return Check(FINE, f"a key is set in {server.variable}")
    return Check(FINE, f"no key is set in {server.variable}; most local servers need none")


def _able(can: Capabilities, kind: str) -> Iterator[Check]:
    listed = f"; it lists {', '.join(can.models[:10])}{' …' if len(can.models) > 10 else ''}" if can.models else ""
    yield Check(FINE, f"{can.server} answers, model {can.model}{listed}")
    yield Check(FINE, f"spoken to in {dialect_of(kind).title}")
    state = NOTE if can.structured == "text" else FINE
    yield Check(state, f"{STRUCTURES[can.structured]}; seed {_yes(can.seed)}, temperature {_yes(can.temperature)}")
    if can.thinks:
        hint = "answers take longer and cost more: choose a model without thinking, or switch it off in the server"
        yield Check(NOTE, "the model thinks before it answers, and this cannot be switched off", hint)
    else:
        yield Check(FINE, f"thinking: {'none' if can.switch == 'none' else f'switched off ({can.switch})'}")
    context = f"{can.context:,} tokens" if can.context else "unknown"
    vectors = f"{can.embeddings} dimensions" if can.embeddings else "none"
    yield Check(FINE, f"context {context}; embeddings: {vectors}")


def _yes(does: bool) -> str:
    return "yes" if does else "no"


def _tried(one: Trial, form: str = "") -> Check:
    """Checks one question: whether the answer can be used, and what it took.

    `form`: words for it, unless it is the full one.
    """
    took = f"{one.seconds:.1f} s, {one.prompt_tokens:,} + {one.answer_tokens:,} tokens"
    why = f" ({shortened(clean(one.why), LONGEST_WHY)})" if one.why else ""
    return Check(FINE if one.grade == USABLE else NOTE, f"{one.task} ({one.language}{form}): {one.grade}{why}; {took}")


def _fit(found: Iterable[Trial]) -> Check:
    """Reports what the model is fit for, by its answers."""
    fit = fitness(found)
    titles = {USABLE: "fit for", MENDED: "with repairs", USELESS: "not fit for"}
    what = "; ".join(f"{title} {', '.join(fit[grade])}" for grade, title in titles.items() if fit[grade])
    if not fit[USELESS]:
        return Check(FINE, what)
    hint = "such answers are replaced, or lose their words: try a larger model, or one for these with --mind TASK=NAME"
    return Check(NOTE if fit[USABLE] or fit[MENDED] else BROKEN, what, hint)


def _price(name: str) -> Check:
    price = price_of(name)
    if price is None:
        return Check(
            NOTE,
            "its price is unknown",
            "--max-calls and --max-tokens work; --max-cost needs a price, see docs/command-line.md",
        )
    if not (price.prompt or price.answer):
        return Check(FINE, "costs nothing")
    return Check(
        FINE, f"${price.prompt:g} a million tokens of prompt (${price.cached:g} cached), ${price.answer:g} of answer"
    )
