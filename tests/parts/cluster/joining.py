"""Joins a cluster: `joining.py ray://HOST:PORT`. Prints what its workers do."""

from __future__ import annotations

import re
import sys
from contextlib import closing

from commonplace.api import prepared
from commonplace.engine.worker import Make, Play, packed, unpacked
from commonplace.engine.workers import WorkerLost
from commonplace.errors import CommonplaceError
from commonplace.parts.cluster.ray_cluster import RayCluster
from commonplace.run.place import place


def main(address: str) -> None:
    """A worker plays, dies, and comes again for another version."""
    loaded, manifest = prepared("plaza")
    with closing(RayCluster(address, manifest, place("postgresql://db/towns#town"), answers=True)) as cluster:
        print(cluster.count, "workers")
        links = [cluster.start() for _ in range(cluster.count + 1)]  # the last one as a successor: there is no free CPU
        for link in links:
            unpacked(link.send(packed(Make(sorted(loaded.personas), 7))).result())
            print(len(unpacked(link.send(packed(Play())).result()).played), "played")
        link.end()
        try:
            link.send(packed(Play())).result()
        except WorkerLost as error:
            print(f"lost: {error}")
        cluster._arguments["version"] = "9.9"
        try:
            unpacked(cluster.start().send(packed(Play())).result())
        except CommonplaceError as error:
            print(re.sub("the worker on .* has", "has", error.what))


if __name__ == "__main__":
    try:
        main(sys.argv[1])
    except CommonplaceError as error:
        print(error, file=sys.stderr)
        sys.exit(1)
