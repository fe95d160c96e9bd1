"""Ray starts workers on this machine: it listens to nobody else, a killed worker costs nothing, nothing is left."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from socket import socket
from tempfile import TemporaryDirectory

import pytest

from commonplace.parts.cluster.ray_cluster import ALONE
from commonplace.run.manifest import package_version
from e2e.command import command, ends, environment, finished, started
from parts.cluster.processes import alive, folders_of, kill, started_by, until, workers_of
from sizes import PROVE

pytest.importorskip("ray")

KILLS = 12 if PROVE else 2
TICKS = 60
TOKEN = "c0de" * 16
LOOPBACK = {"0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000"}
"""127.0.0.1 as Linux writes it, by itself and in IPv6."""


def run(path: Path, *options: object, ticks: int = TICKS) -> subprocess.Popen[str]:
    """A plaza with two workers, a tick a line or more."""
    words = ("run", "plaza", "-o", path, "--ticks", ticks, "--workers", 2, "--view", "json", *options)
    return started(*words, env=environment(), anew=True, start_new_session=True)


def test_workers_are_killed_and_the_history_is_the_same(plaza: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    script = (sys.executable, "-W", "error", str(Path(__file__).with_name("killing.py")))
    process = started(path, TICKS, KILLS, program=script, env=environment(), anew=True)
    done = finished(process)
    seen = json.loads(done.out)
    assert {*seen["ports"]} <= LOOPBACK
    assert any("gcs_server" in words for words in seen["processes"].values())
    assert len(done.err.splitlines()) == done.err.count("another one takes over") == KILLS
    assert ends(path) == ends(plaza)
    until(lambda: not alive(map(int, seen["processes"])))
    assert [one.name for one in tmp_path.iterdir()] == ["a.run"]
    assert not folders_of(process.pid)
    assert "the same history" in command("verify", path).err


@pytest.mark.parametrize(
    "sign",
    [signal.SIGINT, signal.SIGTERM, pytest.param(signal.SIGKILL, marks=pytest.mark.slow)],
    ids=lambda sign: sign.name,
)
def test_no_process_is_left_when_a_run_is_ended(sign: signal.Signals, tmp_path: Path) -> None:
    process = run(tmp_path / "a.run", ticks=100_000)
    assert process.stdout
    next(line for line in process.stdout if json.loads(line)["tick"] > 1)
    others = started_by(process.pid)
    assert len(workers_of(process.pid)) == 2
    if sign is signal.SIGINT:
        os.killpg(process.pid, sign)  # as a terminal does
    else:
        process.send_signal(sign)
    process.stdout.read()
    until(lambda: not alive(others))
    if sign is not signal.SIGKILL:
        assert "continue with" in finished(process, status=130).err
        assert not folders_of(process.pid)
    else:
        finished(process, status=-9)
        for one in folders_of(process.pid):
            shutil.rmtree(one.parent)
    assert command("resume", tmp_path / "a.run", "--ticks", 1, "--view", "none").status == 0


@pytest.mark.parametrize("workers", ["0x2", "-1", "1001", "ray://", "ray://here", "ray://me@here:1", "http://here:1"])
def test_what_is_not_a_number_of_workers_is_refused(workers: str, tmp_path: Path) -> None:
    done = command("run", "plaza", "-o", tmp_path / "a.run", "--workers", workers, "--view", "none", status=2)
    assert f"{workers!r} is not a number of workers" in done.err
    assert "ray://HOST:10001" in done.err
    assert not (tmp_path / "a.run").exists()


def test_a_cluster_cannot_have_the_characters_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    done = command("run", "plaza", "-o", path, "--workers", "ray://127.0.0.1:9", "--view", "none", status=2)
    assert f"{path}: the workers of a cluster cannot read a file of this machine" in done.err
    assert "a database" in done.err


def test_without_ray_the_line_that_installs_it_is_told(tmp_path: Path) -> None:
    hidden = "import sys; sys.modules['ray'] = None; from commonplace.__main__ import main; sys.exit(main())"
    words = ("run", "plaza", "-o", str(tmp_path / "a.run"), "--workers", "2")
    done = subprocess.run(
        [sys.executable, "-c", hidden, *words], env=environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "workers need Ray, which is not installed" in done.stderr
    assert "[cluster]" in done.stderr


@pytest.fixture
def head(tmp_path: Path) -> Iterator[str]:
    """The address of a cluster with two CPUs, which wants a token."""
    with socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    if 10001 < port < 20000:
        pytest.skip("Ray's own processes may have this port")
    with TemporaryDirectory(prefix="rh-", dir="/tmp") as folder:
        words = [f"--ray-client-server-port={port}", "--port=0", f"--temp-dir={folder}", "--num-cpus=2"]
        quiet = ["--include-dashboard=false", "--node-ip-address=127.0.0.1", "--object-store-memory=100000000"]
        log = tmp_path / "head.log"
        with log.open("w") as out:
            process = subprocess.Popen(
                [Path(sys.executable).with_name("ray"), "start", "--head", "--block", *words, *quiet],
                stdout=out, stderr=out, env=environment(**ALONE, RAY_AUTH_TOKEN=TOKEN),
            )  # fmt: skip
        try:
            until(lambda: "Ray runtime started" in log.read_text() or process.poll() is not None)
            yield f"ray://127.0.0.1:{port}"
        finally:
            others = started_by(process.pid)
            for one in (process.pid, *others):
                kill(one)
            process.wait()
            until(lambda: not alive(others))


@pytest.mark.slow
def test_a_cluster_has_workers_for_those_with_its_token_and_versions(head: str) -> None:
    script = (sys.executable, str(Path(__file__).with_name("joining.py")))
    done = command(head, program=script, env=environment(RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=TOKEN))
    assert done.lines == [
        "2 workers",
        *["2 played"] * 3,
        "lost: The actor died unexpectedly before finishing this task",
        f"has Commonplace {package_version()}, and the run is driven by 9.9",
    ]
    done = command(head, program=script, env=environment(RAY_AUTH_MODE="token", RAY_AUTH_TOKEN="0" * 64), status=1)
    assert f"{head}: the cluster does not answer" in done.err
    assert "RAY_AUTH_TOKEN" in done.err
