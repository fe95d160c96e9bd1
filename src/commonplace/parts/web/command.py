"""`serve`: the village in the browser."""

from __future__ import annotations

import asyncio
import os
import re
import socket
import sys
import webbrowser
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import quote

import typer

from commonplace import registry
from commonplace.api import DEFAULT_SEED, create_run, named_minds
from commonplace.cli import INTERRUPTED, expect_many_objects, stopping_signals
from commonplace.cli.consent import agreed
from commonplace.cli.leaving import leaving
from commonplace.cli.options import TRUST, minds_given
from commonplace.cli.settings import MIND, RUNS
from commonplace.errors import CommonplaceError, UsageError, install
from commonplace.paths import checked_folder, kind_of, text_of
from commonplace.run.place import Address, Place
from commonplace.run.reading import Reading
from commonplace.scenario.compiling import load
from commonplace.trust import named_by_run, named_by_scenario, settle

if TYPE_CHECKING:
    from commonplace.parts.web.listening import Server

P = TypeVar("P", bound=Place)
PORT = 8000
TRIED = 20
"""Ports tried, one after another, when none is given and the first ones are taken."""
TOKEN = re.compile(r"[A-Za-z0-9_-]{24,500}")
EVERYWHERE = ("0.0.0.0", "::")


def serve(
    what: str = typer.Argument(
        "", metavar="[RUN|URL|SCENARIO]", help="A run, a database of runs, or a scenario; the runs folder if left out."
    ),
    host: str = typer.Option("127.0.0.1", "--host", help="Address to listen on; any but loopback needs a token."),
    port: int | None = typer.Option(None, "--port", min=0, max=65535, help="Port; the first free one from 8000 on."),
    runs: Path = typer.Option(Path("runs"), "--runs", envvar=RUNS, help="Folder of the runs."),
    scenarios: Path = typer.Option(Path("scenarios"), "--scenarios", help="Folder of scenarios a page may start."),
    mind: list[str] = typer.Option([], "--mind", envvar=MIND, help="Who answers in a new run, as for `run`."),
    token_file: Path | None = typer.Option(
        None,
        "--token-file",
        help="A file with the token to ask for, on loopback, too; a new one each time if left out.",
    ),
    browser: bool = typer.Option(True, "--open/--no-open", help="Open the page in the browser."),
    trust: bool = TRUST,
) -> None:
    """Show the village in the browser: watch it live, go back in time, ask why, talk, step in.

    A run that is not at its end goes on, unless another process makes its ticks. A scenario starts or goes on with
    runs/<scenario>-7.run.
    """
    try:
        from commonplace.parts.web.app import make_app  # noqa: PLC0415 – an optional extra
        from commonplace.parts.web.guard import Gate, is_loopback  # noqa: PLC0415
        from commonplace.parts.web.library import Library  # noqa: PLC0415
        from commonplace.parts.web.listening import server  # noqa: PLC0415
        from commonplace.parts.web.one_file import GET_PAGE, NO_PAGE, STATIC  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise UsageError(f"`serve` needs {error.name}, which is not installed", hint=install("web")) from error
    for folder in (runs, scenarios):
        checked_folder(folder)
    home, also, chosen = runs, {}, None
    if (address := Address.parsed(what)) is not None:
        home = address.named("")
        registry.found(registry.RUNS["names"])(home)  # a server that cannot be reached is told of now
        chosen = _agreed_run(address, trust=trust) if address.name else None
    elif what:
        chosen = _chosen(what, runs, minds_given(mind), trust=trust)
        also = {chosen.stem: chosen} if chosen.parent.resolve() != runs.resolve() else {}
    token = _token(token_file) if token_file is not None else ""
    gate = Gate.loopback(token) if is_loopback(host) else Gate.network(host, token)
    app = make_app(Library(home, scenarios, also=also), gate, go_on=chosen.stem if chosen is not None else "")
    with _listening(host, port) as listening:
        number = listening.getsockname()[1]
        run = f"run={quote(chosen.stem)}" if chosen is not None else ""
        shown = gate.token if not token else ""  # what is in a file is known, and belongs in no log
        asked = f"?{'&'.join(filter(None, (f'token={shown}', run)))}" if shown else f"#{run}" if run else ""
        url = f"http://{_shown(host)}:{number}/{asked}"

        def announce() -> None:
            print(url, flush=True)
            if token:
                print(f"write ?token=… behind the last slash, with the token in {token_file}", file=sys.stderr)
            elif gate.token:
                print("whoever has this address can see the runs here, and change them", file=sys.stderr)
            if not (STATIC / "index.html").is_file():
                print(f"{NO_PAGE}, only the API is there\n  {GET_PAGE}", file=sys.stderr)
            elif browser and not token and sys.stdout.isatty():
                webbrowser.open(url)

        expect_many_objects()
        asyncio.run(_served(server(app), listening, announce))
    raise typer.Exit(INTERRUPTED)


def _token(file: Path) -> str:
    """Returns the token in a file. Raises UsageError for one that could be guessed, or does not fit into an address."""
    token = text_of(file, "a token").strip()
    if not TOKEN.fullmatch(token):
        what = "no token of at least 24 letters, digits, - and _"
        raise UsageError(what, where=str(file), hint=f"make one: openssl rand -hex 24 > {file}")
    return token


async def _served(server: Server, listening: socket.socket, announce: Callable[[], None]) -> None:
    """Serves until a signal comes or the terminal is closed.

    Without a terminal, and under `nohup`, only signals count.
    """
    heeded = any(number.name == "SIGHUP" for number in stopping_signals())
    terminals = [descriptor for descriptor in (0, 1, 2) if heeded and os.isatty(descriptor)]
    async with leaving(server.leave, terminals):
        announce()
        await server.serve(sockets=[listening])


def _chosen(what: str, runs: Path, minds: Mapping[str, str], *, trust: bool) -> Path:
    """Returns the run to show: a file, a run of the folder, or that of a scenario, which is made if it is not there."""
    for path in (Path(what), runs / f"{what}.run"):
        if path.suffix == ".run" and kind_of(path) == "file":
            return _agreed_run(path, trust=trust)
    if what.endswith(".run"):
        raise UsageError("no such run", where=what, hint="`commonplace serve` alone lists those there are")
    loaded = load(what)
    path = runs / f"{loaded.part.name}-{DEFAULT_SEED}.run"
    if kind_of(path) == "file":
        return _agreed_run(path, trust=trust)
    trust = agreed(named_by_scenario(loaded, named_minds(minds)), what, trust=trust)
    create_run(path, what, mind=minds, trust=trust).close()
    return path


def _agreed_run(path: P, *, trust: bool) -> P:
    with Reading.open(path) as reading:
        named = named_by_run(reading.manifest)
    if agreed(named, path, trust=trust):
        settle(named, path, trust=True)
    return path


def _listening(host: str, port: int | None) -> socket.socket:
    """Opens a listening socket. Raises CommonplaceError for an unavailable address or port."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    wanted = [port] if port is not None else [*range(PORT, PORT + TRIED), 0]
    for number in wanted:
        listening = socket.socket(family, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((host, number))
            listening.listen(256)
        except OSError as error:
            listening.close()
            if number == wanted[-1]:
                what = f"{host}:{number} cannot be listened on ({error.strerror or error})"
                raise CommonplaceError(what, hint="give another one with --host and --port") from error
        else:
            return listening
    raise AssertionError


def _shown(host: str) -> str:
    """Returns the host as others reach it; of all addresses the one that leads out of this machine."""
    if host in EVERYWHERE:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                probe.connect(("192.0.2.1", 9))  # for documentation only; nothing is sent
                host = probe.getsockname()[0]
            except OSError:
                host = socket.gethostname()
    return f"[{host}]" if ":" in host else host
