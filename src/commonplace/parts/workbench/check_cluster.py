"""What `doctor` checks of Ray: of a cluster by asking each of its nodes, of this machine without starting anything."""

from __future__ import annotations

import logging
import os
import platform
import shutil
import socket
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from commonplace.errors import DISTRIBUTION, UsageError, install
from commonplace.parts.workbench.checks import BROKEN, FINE, NOTE, Check, installed
from commonplace.run.manifest import package_version
from commonplace.text import clean, shortened

LOCAL, SCHEME = "ray", "ray://"
PORT = 10001
"""Where the head of a cluster takes clients, unless told otherwise."""
PATIENCE = 60
"""Seconds that a node has for an answer; it may have to start a process for it."""
LEAST_SHARED = 1 << 30
"""Bytes of shared memory below which Ray keeps its objects on the disk."""


class Node(NamedTuple):
    """What a node says of itself."""

    python: str
    ray: str
    commonplace: str
    """Empty if it is not installed there."""


def is_cluster(target: str) -> bool:
    """Tells whether `cluster` checks it."""
    return target == LOCAL or target.startswith(SCHEME)


def cluster(target: str) -> Iterator[Check]:
    """Checks this machine for `ray`, else the cluster at ray://HOST:PORT. Raises UsageError for another target."""
    if not is_cluster(target):
        hint = "expected postgresql://USER@HOST/DATABASE, embedded:FOLDER, ray://HOST:PORT or ray"
        raise UsageError(f"{shortened(clean(target), 100)!r} is neither a database nor a cluster", hint=hint)
    number = installed("ray")
    if not number:
        yield Check(BROKEN, "not installed: ray", install("cluster"))
        return
    yield Check(FINE, f"ray {number}, Python {platform.python_version()}, Commonplace {package_version()} here")
    if target == LOCAL:
        yield from _machine()
    else:
        yield from _cluster(target)


def _machine() -> Iterator[Check]:
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    hint = "" if cpus > 1 else "workers gain nothing on one CPU: run without --workers"
    yield Check(NOTE if hint else FINE, f"CPUs that can be used: {cpus}", hint)
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        yield Check(FINE, f"{memory / 1e9:,.1f} GB of memory")
    shared = Path("/dev/shm")
    if shared.is_dir() and (free := shutil.disk_usage(shared).free) < LEAST_SHARED:
        hint = "Ray will use the disk instead, which is slow: start the container with --shm-size=2g"
        yield Check(NOTE, f"{free / 1e6:,.0f} MB of shared memory are free", hint)


def _cluster(target: str) -> Iterator[Check]:
    try:
        host, port = urlsplit(target).hostname or "", urlsplit(target).port or PORT
        socket.create_connection((host, port), timeout=10).close()
    except (OSError, ValueError) as error:
        hint = (
            f"on its head: ray start --head --ray-client-server-port={PORT}; and let this machine through to that port"
        )
        yield Check(BROKEN, f"{target} cannot be reached ({error})", hint)
        return
    import ray  # noqa: PLC0415 – an optional package, which takes a second

    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        ray.init(f"{SCHEME}{host}:{port}", log_to_driver=False, logging_level=logging.ERROR)
    except Exception as error:  # what Ray raises is of many kinds, its own and of gRPC
        said = shortened(clean(str(error)), 300)
        hint = (
            "Python and Ray must be of equal versions everywhere, and RAY_AUTH_TOKEN that of the cluster, if it has one"
        )
        yield Check(BROKEN, f"{target} refuses this client ({said})", hint)
        return
    try:
        yield from _nodes(ray)
    finally:
        ray.shutdown()


def _nodes(ray: Any) -> Iterator[Check]:
    def about() -> tuple[str, str, str]:  # by itself: it runs where Commonplace may not be installed
        try:
            mine = version(DISTRIBUTION)
        except PackageNotFoundError:
            mine = ""
        return platform.python_version(), ray.__version__, mine

    alive = [node for node in ray.nodes() if node["Alive"]]
    if gone := len(ray.nodes()) - len(alive):
        yield Check(
            NOTE, f"nodes that have left the cluster: {gone}", "what they did is done by others; see `ray status` there"
        )
    total = ray.cluster_resources()
    cpus, memory = total.get("CPU", 0), total.get("memory", 0)
    hint = "" if cpus >= 1 else "give its nodes some: ray start --num-cpus N"
    what = f"nodes: {len(alive)}; CPUs: {cpus:g}; memory for actors: {memory / 1e9:,.1f} GB"
    yield Check(BROKEN if hint else FINE, what, hint)
    free = ray.available_resources().get("CPU", 0)
    if cpus and free < 1:
        yield Check(NOTE, "no CPU is free", "other programs use the cluster: workers wait until they end")
    strategy = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy
    asked = {
        node["NodeManagerAddress"]: ray.remote(about)
        .options(num_cpus=0, scheduling_strategy=strategy(node["NodeID"], soft=False))
        .remote()
        for node in alive
    }
    here = Node(platform.python_version(), installed("ray"), package_version())
    for address, answer in asked.items():
        try:
            yield compared(address, Node(*ray.get(answer, timeout=PATIENCE)), here)
        except Exception as error:  # as above
            hint = "see the logs of its Ray, in /tmp/ray/session_latest/logs"
            yield Check(BROKEN, f"{address} does not answer ({shortened(clean(str(error)), 200)})", hint)


def compared(address: str, node: Node, here: Node) -> Check:
    """Checks whether a node has what it must share with this machine."""
    what = f"{address}: Python {node.python}, ray {node.ray}, "
    if not node.commonplace:
        return Check(
            BROKEN, f"{what}no Commonplace", f"install Commonplace {here.commonplace} there, with the extra cluster"
        )
    what += f"Commonplace {node.commonplace}"
    if node.commonplace != here.commonplace:
        hint = f"the rules of a town must be the same everywhere: install Commonplace {here.commonplace} there"
        return Check(BROKEN, what, hint)
    minor = [number.split(".")[:2] for number in (node.python, here.python)]
    if node.ray != here.ray or minor[0] != minor[1]:
        return Check(BROKEN, what, f"install Python {'.'.join(minor[1])} and ray {here.ray} there")
    return Check(FINE, what)
