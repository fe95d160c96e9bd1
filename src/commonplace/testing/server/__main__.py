"""`python -m commonplace.testing.server`: the server for people, until Ctrl-C."""

from __future__ import annotations

import argparse
import sys
import threading
from contextlib import suppress

from commonplace.errors import CommonplaceError
from commonplace.testing.server.faults import FAULTS, MARK, Faults
from commonplace.testing.server.server import Latency, Limit, Log, ModelServer


def main(arguments: list[str] | None = None) -> int:
    """Serve until interrupted, then print what was asked; returns the exit status."""
    given = _parser().parse_args(arguments)
    if given.list:
        for name, fault in FAULTS.items():
            print(f"{name:<20} {fault.imitates}")
        return 0
    try:
        latency = Latency(given.latency / 1000, given.per_token / 1000, given.jitter / 1000)
        kinds = tuple(given.kinds.split(",")) if given.kinds else tuple(FAULTS)
        faults = Faults(given.faults, kinds, given.seed, given.to_all)
        limit = Limit(given.limit) if given.limit else None
        with ModelServer(latency=latency, faults=faults, limit=limit, port=given.port) as server:
            with suppress(KeyboardInterrupt):
                print(
                    f"run with --mind {server.url} (Ctrl-C stops the server; texts of faults contain {MARK})",
                    flush=True,
                )
                threading.Event().wait()
            print()
    except CommonplaceError as error:
        print(error, file=sys.stderr)
        return error.status
    _summary(server.log)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m commonplace.testing.server", description=main.__doc__)
    parser.add_argument("--port", type=int, default=8089, help="port on 127.0.0.1 (0: any)")
    parser.add_argument("--latency", type=float, default=0.0, help="milliseconds before an answer")
    parser.add_argument("--per-token", type=float, default=0.0, help="additional milliseconds per token of the answer")
    parser.add_argument("--jitter", type=float, default=0.0, help="up to this many additional milliseconds, at random")
    parser.add_argument("--faults", type=float, default=0.0, help="share of the questions that get a fault, 0 to 1")
    parser.add_argument("--kinds", default="", help="names of the faults to make, separated by commas (default: all)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the faults")
    parser.add_argument("--to-all", action="store_true", help="faults for requests that no character makes, too")
    parser.add_argument("--limit", type=int, default=0, help="most answers a second; other requests get 429")
    parser.add_argument("--list", action="store_true", help="list the faults and exit")
    return parser


def _summary(log: Log) -> None:
    tokens = sum(entry.usage.prompt for entry in log.entries)
    cached = sum(entry.usage.cached for entry in log.entries)
    print(f"{len(log.entries)} requests, at most {log.most_in_flight} at once")
    print(f"{tokens} prompt tokens, {cached} of them in a prefix read before")
    for name, count in sorted(log.faults.items()):
        print(f"{count:>6} {name}")


if __name__ == "__main__":
    sys.exit(main())
