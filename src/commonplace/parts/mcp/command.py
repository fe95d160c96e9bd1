"""`mcp`: memories or a run as tools for an assistant."""

from __future__ import annotations

import os
import sys
from contextlib import closing, redirect_stdout

import typer

from commonplace.cli import INTERRUPTED, interrupts
from commonplace.parts.mcp.server import refuse_missing_sdk, serve_http, serve_stdio, server, tools_of


def mcp(
    where: str = typer.Argument(
        metavar="STORE|RUN", help="A store (FILE, FOLDER/, chroma:FOLDER, postgresql://…), made if missing; or a run."
    ),
    agent: str = typer.Option("", "--agent", help="Whose memories are meant where a call names nobody."),
    facts: str = typer.Option(
        "",
        "--facts",
        metavar="MIND",
        help="Who finds facts in what is remembered, such as ollama:qwen3:4b; else nobody.",
    ),
    http: bool = typer.Option(False, "--http", help="Serve streamable HTTP instead of standard input and output."),
    host: str = typer.Option("127.0.0.1", "--host", help="With --http: an address of this machine."),
    port: int = typer.Option(8765, "--port", min=0, max=65535, help="With --http: the port; 0 for any free one."),
) -> None:
    """Serve a store, or a run to read, to an assistant by the Model Context Protocol."""
    refuse_missing_sdk()
    try:
        with closing(tools_of(where, agent, facts)) as tools:
            for repair in tools.repairs:
                print(f"{where}: {repair}", file=sys.stderr)
            made = server(tools)
            if http:
                serve_http(made, host, port, lambda url: print(url, file=sys.stderr))
            else:
                # messages are JSON in UTF-8, so they need no printable stream
                with redirect_stdout(getattr(sys.stdout, "styled", sys.stdout)):
                    serve_stdio(made)
    except BaseException:
        if not interrupts:
            raise
        # a thread of the SDK waits for the next line of standard input, and Python would wait for the thread
        os._exit(INTERRUPTED)
