"""What the village in the browser costs: bytes on the wire, processor time, and what fifty viewers cost the run.

    python benchmarks/web.py [--seconds 20] [--pairs 5] [--json]

Each row is a server started by `commonplace serve` with one live run at 2 ticks a second, from seven on; a large
town may make fewer. Bytes are those of one page's live connection, compressed, as they come from the socket. Processor
time is that of the process, by the system's count. The pairs run latticeville with and without 50 pages, one of which
reads nothing, in turn: at 10 ticks a second, and as fast as it goes. The pages are on the same machine.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import selectors
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import yaml

from commonplace import create_run
from commonplace.parts.new_town.scaffold import text

QUARTER = 25
MORNING = 12
"""Ticks from six to seven o'clock, before most are up."""


def crowd(people: int) -> str:
    """A town of quarters of 25 people, each with its square, café and homes."""
    one: dict[str, Any] = yaml.safe_load(text("crowd", QUARTER))
    ids = set(re.findall(r'"id": "([a-z0-9_]+)"', dumped([one["world"]["root"], one["characters"]])))
    pattern = re.compile(f'(?<!"kind": )"({"|".join(sorted(ids, key=len, reverse=True))})"')
    areas: list[Any] = []
    characters: list[Any] = []
    for number in range(people // QUARTER):

        def named(part: Any, number: int = number) -> Any:
            return json.loads(pattern.sub(lambda found: f'"{found[1]}-{number}"', dumped(part)))

        areas.append(named(one["world"]["root"]))
        characters += [{**named(who), "name": f"{who['name']} {number}"} for who in one["characters"]]
    for fact in one["facts"]:
        fact.update(originators=[f"{fact['originators'][0]}-0"], place=f"{fact['place']}-0")
    root = {"id": "town", "name": "Town", "outdoor": True, "areas": areas}
    return dumped({**one, "world": {**one["world"], "root": root}, "characters": characters, "script": []})


def dumped(value: Any) -> str:
    """As JSON that the fast reader of YAML takes: it knows no long lines. YAML reads moments as such."""
    return json.dumps(value, default=lambda moment: moment.isoformat(), indent=0, ensure_ascii=False)


class Viewer:
    """One page's live connection, without compression unless asked for; reads or does not."""

    def __init__(self, port: int, run: str, *, packed: bool = True) -> None:
        self.bytes = 0
        self.socket = socket.create_connection(("127.0.0.1", port))
        extension = "Sec-WebSocket-Extensions: permessage-deflate\r\n" if packed else ""
        self.socket.sendall(
            f"GET /api/runs/{run}/live HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\n"
            "Connection: Upgrade\r\n"
            f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{extension}\r\n".encode()
        )
        self.socket.setblocking(False)


def read(viewers: list[Viewer], seconds: float) -> None:
    """Let viewers read for some seconds."""
    with selectors.DefaultSelector() as selector:
        for viewer in viewers:
            selector.register(viewer.socket, selectors.EVENT_READ, viewer)
        ends = time.monotonic() + seconds
        while (left := ends - time.monotonic()) > 0:
            for key, _ in selector.select(left):
                key.data.bytes += len(key.data.socket.recv(1 << 20))


class Served:
    """A server with one live run."""

    def __init__(self, port: int, run: str, process: int) -> None:
        self.port, self.run, self.process = port, run, process

    @property
    def worker(self) -> int:
        """The process that makes the ticks."""
        children = Path(f"/proc/{self.process}/task/{self.process}/children").read_text().split()
        return int(children[0])

    def control(self, **order: Any) -> None:
        """Steer the run."""
        url = f"http://127.0.0.1:{self.port}/api/runs/{self.run}/control"
        with urlopen(Request(url, json.dumps(order).encode(), {"Content-Type": "application/json"})):
            pass

    @property
    def tick(self) -> int:
        """The last tick."""
        with urlopen(f"http://127.0.0.1:{self.port}/api/runs") as answer:
            return json.load(answer)[0]["last_tick"]

    def snapshot(self) -> bytes:
        """The whole state at the last tick, as it is sent."""
        tick = self.tick
        with urlopen(f"http://127.0.0.1:{self.port}/api/runs/{self.run}/frames?from={tick}&to={tick}") as answer:
            return answer.read()

    def reach(self, tick: int) -> None:
        """As fast as it goes up to a tick, then 2 a second."""
        self.control(action="speed", rate=0)
        while self.tick < tick:
            time.sleep(0.1)
        self.control(action="speed", rate=2)


def used(process: int) -> float:
    """Processor seconds of a process so far."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def serving(folder: Path, scenario: str) -> Generator[Served]:
    """A new run of the scenario, served live."""
    path = folder / "bench.run"
    create_run(path, scenario, 7, force=True).close()
    command = [
        sys.executable,
        "-m",
        "commonplace",
        "serve",
        str(path),
        "--runs",
        str(folder),
        "--port",
        "0",
        "--no-open",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            port = int(process.stdout.readline().split(":")[2].split("/")[0])
            yield Served(port, "bench", process.pid)
        finally:
            process.terminate()
            process.wait()


def size(folder: Path, people: int, seconds: float) -> dict[str, Any]:
    """One page watching a town of so many people at 2 ticks a second."""
    scenario = folder / "crowd.yaml"
    scenario.write_text(crowd(people), encoding="utf-8")
    with serving(folder, str(scenario)) as served:
        served.reach(MORNING)
        viewers = [Viewer(served.port, served.run), Viewer(served.port, served.run, packed=False)]
        while viewers[1].bytes < 2000:  # the snapshot comes when the scenario has been read
            read(viewers, 0.2)
        read(viewers, 1)
        for one in viewers:
            one.bytes = 0
        before = used(served.process), used(served.worker), served.tick
        began = time.monotonic()
        while (took := time.monotonic() - began) < seconds or (served.tick < before[2] + 12 and took < 6 * seconds):
            read(viewers, 0.5)
        ticks = max(1, served.tick - before[2])
        row = {
            "people": people,
            "ticks_per_second": ticks / took,
            "snapshot_bytes": len(served.snapshot()),
            "bytes_per_tick": viewers[0].bytes / ticks,
            "bytes_per_tick_unpacked": viewers[1].bytes / ticks,
            "server_ms_per_tick": 1000 * (used(served.process) - before[0]) / ticks,
            "worker_ms_per_tick": 1000 * (used(served.worker) - before[1]) / ticks,
        }
        for one in viewers:
            one.socket.close()
    return row


def pair(folder: Path, rate: float, seconds: float, viewers: int) -> tuple[float, float, float]:
    """(ticks a second, milliseconds of processor time of the run a tick, share of a core the server used)."""
    with serving(folder, "latticeville") as served:
        served.reach(MORNING)
        pages = [Viewer(served.port, served.run) for _ in range(viewers)]
        reading = pages[1:]  # the first reads nothing
        served.control(action="speed", rate=rate)
        before = used(served.process), used(served.worker), served.tick
        began = time.monotonic()
        read(reading, seconds)
        ticks, took = served.tick - before[2], time.monotonic() - began
        cpu = used(served.worker) - before[1]
        for one in pages:
            one.socket.close()
        return ticks / took, 1000 * cpu / ticks, (used(served.process) - before[0]) / took


def main() -> None:
    """Print tables, or JSON lines."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--sizes", type=int, nargs="*", default=[25, 200, 1000])
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for people in given.sizes:
            row = size(folder, people, given.seconds)
            show(row, given.json, SIZES)
        for rate in (10.0, 0.0) if given.pairs else ():
            pairs = [
                (pair(folder, rate, given.seconds / 2, 0), pair(folder, rate, given.seconds / 2, 50))
                for _ in range(given.pairs)
            ]
            cost = [with_[1] / without[1] - 1 for without, with_ in pairs]
            slower = [1 - with_[0] / without[0] for without, with_ in pairs]
            row = {
                "rate": rate,
                "ticks_per_second": [statistics.median(one[n][0] for one in pairs) for n in (0, 1)],
                "ms_per_tick": [statistics.median(one[n][1] for one in pairs) for n in (0, 1)],
                "server_cpu": [statistics.median(one[n][2] for one in pairs) for n in (0, 1)],
                "cost": statistics.median(cost),
                "slower": statistics.median(slower),
            }
            show(row, given.json, PAIRS)


SIZES = (
    "{people:>5} people  {ticks_per_second:.2f} ticks/s  {bytes_per_tick:,.0f} B a tick ({bytes_per_tick_unpacked:,.0f}"
    " unpacked)  snapshot {snapshot_bytes:,} B  server {server_ms_per_tick:.1f} ms, run {worker_ms_per_tick:.1f} ms"
    " a tick"
)
PAIRS = (
    "rate {rate:g}: {ticks_per_second[0]:.1f} ticks/s alone, {ticks_per_second[1]:.1f} with 50 pages"
    " ({slower:+.1%} slower);"
    " the run uses {ms_per_tick[0]:.2f} → {ms_per_tick[1]:.2f} ms a tick ({cost:+.1%});"
    " the server {server_cpu[0]:.1%} → {server_cpu[1]:.1%} of a core"
)


def show(row: dict[str, Any], as_json: bool, form: str) -> None:
    """Print a row."""
    print(json.dumps(row) if as_json else form.format(**row), flush=True)


if __name__ == "__main__":
    main()
