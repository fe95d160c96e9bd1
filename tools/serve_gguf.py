"""llama.cpp's server for one model file; run by the Python of an environment with `xllamacpp`."""

from __future__ import annotations

import argparse
import threading

import xllamacpp


def main() -> None:
    """Serve until the process is ended."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", help="a GGUF file")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--parallel", type=int, default=1, help="requests at once")
    parser.add_argument("--context", type=int, default=4096, help="tokens, shared by the requests at once")
    given = parser.parse_args()
    params = xllamacpp.CommonParams()
    params.model.path = given.model
    params.port = given.port
    params.n_parallel = given.parallel
    params.n_ctx = given.context
    # one thread: several wait for each other at each layer, which a busy machine pays for dearly
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.ui = params.warmup = False
    _server = xllamacpp.Server(params)  # serves as long as it is referred to
    threading.Event().wait()


if __name__ == "__main__":
    main()
