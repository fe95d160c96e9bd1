"""The runs folder and the scenarios that a page may start. Nothing outside the folders is reached.

A page names a run by its file's name without `.run`, and a scenario by its name; it never gives a path.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import Any, cast

from commonplace.api import DEFAULT_SEED, inject
from commonplace.errors import CommonplaceError, UsageError
from commonplace.languages import known
from commonplace.parts.web import model as wire
from commonplace.parts.web.card import broken_card, run_card, without_credentials
from commonplace.registry import RUNS, STAGES, found
from commonplace.run.fork import written_fork
from commonplace.run.manifest import OFFLINE
from commonplace.run.place import Address, Place
from commonplace.run.reading import Reading
from commonplace.run.tables import last_write
from commonplace.scenario.loading import RULES, KeyPath, Source, find, located, read, report, shipped
from commonplace.scenario.model import ClockPart, ScenarioPart
from commonplace.scenario.rules import examined
from commonplace.servers import is_server
from commonplace.text import clean, shortened
from commonplace.whole_file import tidy

ENDING = ".run"
NAME = re.compile(wire.RUN_NAME)
NAMES = "a name has letters, digits, hyphens and dots"
MOST_RUNS = 500
"""Runs that are listed, the latest first."""
SCENARIO_FILES = (".yaml", ".yml", ".json")
TICK_MINUTES, DAY = ClockPart().tick_minutes, 24 * 60
SHOWN = 300
"""Characters of what is wrong with a run."""


class NotFound(UsageError):
    """An error: nothing has that name."""


class Conflict(UsageError):
    """An error: the name is taken, or another process has the run."""


class Library:
    """The runs of a folder or a database, and a folder of scenarios. Several threads may use it."""

    def __init__(self, home: Place, scenarios: Path | None = None, *, also: Mapping[str, Path] | None = None) -> None:
        """`also`: runs that lie elsewhere, by the name a page uses; whoever starts the server names them."""
        self.home = home
        self._scenarios = scenarios
        self._also = dict(also or {})
        if isinstance(home, Path):
            tidy(home, ENDING)

    # ── runs ────────────────────────────────────────────────────────────────────────────────────────────────────────

    def path(self, name: str) -> Place:
        """Returns where a run is. Raises NotFound for a name without one, whatever lies at such a path elsewhere."""
        if name in self._also:
            return self._also[name]
        if NAME.fullmatch(name) and self._is_taken(name):
            path = self._place(name)
            if isinstance(path, Address) or (path.is_file() and path.resolve().parent == path.parent.resolve()):
                return path
        raise NotFound(
            f"there is no run {shortened(clean(name), 100)!r}",
            hint="the library lists those there are: `GET /api/runs`",
        )

    def _place(self, name: str) -> Place:
        return self.home.named(name) if isinstance(self.home, Address) else self.home / f"{name}{ENDING}"

    def _is_taken(self, name: str) -> bool:
        if isinstance(self.home, Address):
            return name in found(RUNS["names"])(self.home)
        return (self.home / f"{name}{ENDING}").exists()

    def free(self, wanted: str) -> tuple[str, Place]:
        """Returns a free name like the wanted one, and the place for it."""
        base = re.sub(r"[^\w가-힣.-]", "-", wanted).lstrip(".-")[:90] or "run"
        for number in count(1):
            name = base if number == 1 else f"{base}-{number}"
            if name not in self._also and not self._is_taken(name):
                return name, self._place(name)
        raise AssertionError

    def reserved(self, name: str | None, wanted: str) -> tuple[str, Place]:
        """Returns the place for a new run of that name, or of one like `wanted`.

        Raises Conflict for a name that is taken.
        """
        if name is None:
            return self.free(wanted)
        if not NAME.fullmatch(name):
            raise UsageError(f"{name!r} cannot be the name of a run", hint=NAMES)
        if name in self._also or self._is_taken(name):
            raise Conflict(f"there is a run {name!r} already", hint="choose another name")
        return name, self._place(name)

    def cards(self, shown: Callable[[str, Place], wire.RunCard]) -> Iterator[wire.RunCard]:
        """Yields a card for each run, the latest first.

        `shown` makes it of name and place: `card`, where nobody knows more.
        """
        for name, path in list(self._runs())[:MOST_RUNS]:
            yield shown(name, path)

    def _runs(self) -> Iterator[tuple[str, Place]]:
        if isinstance(self.home, Address):
            names: list[str] = found(RUNS["names"])(self.home)
            yield from ((name, self._place(name)) for name in names if NAME.fullmatch(name))
            return
        here = [path for path in self.home.glob(f"*{ENDING}") if NAME.fullmatch(path.stem) and path.is_file()]
        named = {path.stem: path for path in here if path.resolve().parent == self.home.resolve()} | self._also
        yield from sorted(named.items(), key=lambda one: _written(one[1]), reverse=True)

    def fork(self, name: str, body: wire.Fork) -> str:
        """Copies a run up to a tick, adds something that happens next, and returns the copy's name."""
        source = self.path(name)
        new, target = self.reserved(body.run, f"{name}-t{body.at}")
        with written_fork(source, body.at, target) as part:
            if body.inject:
                asyncio.run(inject(part, body.inject))
        return new

    def unreadable(self) -> Iterator[str]:
        """Yields why the runs cannot be listed, if so. A folder that is not there yet is made with the first run."""
        if isinstance(self.home, Address):
            try:
                found(RUNS["names"])(self.home)
            except CommonplaceError as error:
                yield f"the database of runs cannot be read ({error.what})"
            return
        try:
            next(self.home.iterdir(), None)
        except FileNotFoundError:
            pass
        except OSError as error:
            yield f"the folder of runs cannot be read ({error.strerror or error})"

    # ── scenarios ───────────────────────────────────────────────────────────────────────────────────────────────────

    def scenarios(self) -> list[wire.ScenarioCard]:
        """Lists the scenarios a page may start: shipped ones, and the files of the scenarios folder."""
        cards = [_scenario_card(name, *located(name)) for name, _, _ in shipped()]
        cards += [_scenario_card(name, *located(str(path))) for name, path in self._files().items()]
        return [card for card in cards if card is not None]

    def scenario(self, name: str) -> str:
        """Returns what `create_run` takes for the name. Raises NotFound for any other than `scenarios` lists."""
        if name in {one for one, _, _ in shipped()}:
            return name
        path = self._files().get(name)
        if path is None:
            known = ", ".join(card.name for card in self.scenarios())
            raise NotFound(f"there is no scenario {shortened(clean(name), 100)!r}", hint=f"there are {known}")
        return str(path)

    def text(self, name: str) -> str:
        """Returns the text of a scenario. Raises NotFound for any other than `scenarios` lists."""
        return find(self.scenario(name)).text

    def _files(self) -> dict[str, Path]:
        if self._scenarios is None or not self._scenarios.is_dir():
            return {}
        home, names = self._scenarios.resolve(), {name for name, _, _ in shipped()}
        files = [path for path in sorted(home.iterdir()) if path.suffix in SCENARIO_FILES and path.is_file()]
        own = [path for path in files if not path.name.endswith(RULES) and path.resolve().parent == home]
        return {path.stem: path for path in own if path.stem not in names}


def card(name: str, path: Place) -> wire.RunCard:
    """Returns what the library shows of a run, or why it cannot be opened."""
    try:
        with Reading.open(path) as reading:
            return run_card(name, reading)
    except (CommonplaceError, OSError, ValueError, OverflowError) as error:
        what = error.what if isinstance(error, CommonplaceError) else str(error)
        return broken_card(name, shortened(clean(what), SHOWN))


def _written(path: Path) -> float:
    try:
        return last_write(path).timestamp()
    except (OSError, ValueError):
        return 0.0


@lru_cache(maxsize=64)
def _scenario_card(name: str, text: str, origin: str) -> wire.ScenarioCard | None:
    data: Any = read(text, origin).data
    if not isinstance(data, dict):
        return None
    top = cast("dict[str, Any]", data)
    characters, clock = top.get("characters"), top.get("clock")
    minutes: Any = cast("dict[str, Any]", clock).get("tick_minutes") if isinstance(clock, dict) else None
    return wire.ScenarioCard(
        name=name,
        title=clean(str(top.get("title") or name)),
        summary=clean(str(top.get("summary") or "")),
        language=known(top.get("language")),
        stage=clean(str(top.get("stage") or "town")),
        people=len(cast("list[Any]", characters)) if isinstance(characters, list) else 0,
        seed=DEFAULT_SEED,
        ticks=DAY // minutes if isinstance(minutes, int) and 0 < minutes <= DAY else DAY // TICK_MINUTES,
    )


# ── scenarios written in a page ──────────────────────────────────────────────────────────────────────────────────────


def checked(text: str) -> wire.Checked:
    """Returns everything that keeps a page from starting this scenario, in the order of lines; else what it is."""
    source = read(text, "scenario")
    part, mistakes = examined(source)
    found = [
        wire.Finding(
            level="error",
            line=mistake.line,
            column=0,
            what=clean(f"{mistake.where}: {mistake.what}" if mistake.where else mistake.what),
            hint=clean(f"did you mean {mistake.nearest!r}?" if mistake.nearest else mistake.expected),
        )
        for mistake in mistakes
    ] + [
        wire.Finding(level="error", line=line, column=0, what=what, hint="save it as a file and use `commonplace run`")
        for line, what in (_reaching_out(source, part) if part is not None else ())
    ]
    card = _scenario_card(part.name, text, "scenario") if part is not None and not found else None
    return wire.Checked(findings=found, scenario=card)


def refuse(text: str) -> ScenarioPart:
    """Returns the scenario of a text from a page. Raises UsageError if it has mistakes or reaches out."""
    source = read(text, "scenario")
    part, mistakes = examined(source)
    if part is None or mistakes:
        raise UsageError(clean(report(mistakes)), hint="POST /api/scenarios/check lists them")
    for line, what in _reaching_out(source, part):
        raise UsageError(f"line {line}: {what}", hint="save it as a file and start it with `commonplace run`")
    return part


def _reaching_out(source: Source, part: ScenarioPart) -> Iterator[tuple[int, str]]:
    """Yields (line, what is wrong) for what a page may not name: code, prompts, servers and other files."""
    if part.stage not in STAGES:
        yield source.line(("stage",)), f"a scenario from a page cannot name code: stage {clean(part.stage)!r}"
    if part.prompts:
        yield source.line(("prompts",)), "a scenario from a page cannot name a folder of prompts"
    minds: list[tuple[KeyPath, str]] = [(("mind",), part.mind)]
    minds += [(("characters", n, "mind"), one.mind) for n, one in enumerate(part.characters)]
    minds += [(("minds", name), one.mind) for name, one in part.minds.items()]
    for path, mind in minds:
        if mind not in ("", OFFLINE):
            what = "a model server" if is_server(mind) else "a mind"
            yield source.line(path), f"a scenario from a page cannot name {what}: {without_credentials(mind)!r}"
