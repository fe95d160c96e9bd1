"""A real llama.cpp server, built from what PyPI has of it, with a tiny model of random weights to serve."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

ROOT = Path(__file__).resolve().parent.parent
VERSION = "0.3.36"
"""Of llama-cpp-python, whose source distribution holds llama.cpp's."""
CACHE = ROOT / ".cache" / f"llama-{VERSION}"
_FLAGS = (
    "-DCMAKE_BUILD_TYPE=Release", "-DBUILD_SHARED_LIBS=OFF", "-DLLAMA_BUILD_UI=OFF", "-DLLAMA_USE_PREBUILT_UI=OFF",
    "-DLLAMA_OPENSSL=OFF", "-DLLAMA_BUILD_TESTS=OFF", "-DLLAMA_BUILD_EXAMPLES=OFF", "-DLLAMA_BUILD_APP=OFF",
)  # fmt: skip
_PARALLEL, _CONTEXT = 4, 16384


def step(title: str, command: list[str | Path], log: Path) -> None:
    """Run a command, its output in a log; a failure ends the program with the log's last lines."""
    print(f"{title} … (log: {log.relative_to(ROOT)})", flush=True)
    with log.open("w") as out:
        status = subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, check=False).returncode
    if status:
        sys.exit(f"{title} failed ({status}):\n" + "".join(log.read_text(errors="replace").splitlines(True)[-15:]))


def archive() -> Path:
    """The source distribution."""
    path = CACHE / f"llama_cpp_python-{VERSION}.tar.gz"
    if not path.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        (CACHE.parent / ".gitignore").write_text("*\n")
        wanted = ["--no-binary", ":all:", "--no-deps", f"llama-cpp-python=={VERSION}"]
        command = [sys.executable, "-m", "pip", "download", "--quiet", *wanted, "--dest", CACHE]
        step("downloading llama.cpp's source", command, CACHE / "download.log")
    return path


def built(jobs: int) -> Path:
    """The server's program, built once: a few minutes to a quarter of an hour."""
    program = CACHE / "build" / "bin" / "llama-server"
    if program.exists():
        return program
    source = CACHE / "source"
    if not source.exists():
        with tarfile.open(archive()) as packed:
            packed.extractall(CACHE, filter="data")
        (CACHE / f"llama_cpp_python-{VERSION}").rename(source)
    build = CACHE / "build"
    made = ["cmake", "-S", source / "vendor" / "llama.cpp", "-B", build, "-G", "Ninja", *_FLAGS]
    step("configuring llama.cpp", made, CACHE / "configure.log")
    made = ["nice", "cmake", "--build", build, "--target", "llama-server", f"-j{jobs}"]
    step("building llama-server", made, CACHE / "build.log")
    return program


def environment(*packages: str | Path) -> Path:
    """The Python of a virtual environment of its own, with these packages."""
    folder = CACHE / "venv"
    python = folder / "bin" / "python"
    if not python.exists():
        step("making an environment", [sys.executable, "-m", "venv", folder], CACHE / "venv.log")
    named = [str(package) for package in packages]
    step(f"installing {' '.join(named)}", [python, "-m", "pip", "install", "--quiet", *named], CACHE / "install.log")
    return python


def model() -> Path:
    """The tiny model, with words of this project in its tokeniser."""
    path = CACHE / "tiny.gguf"
    prompts = sorted((ROOT / "src" / "commonplace" / "minds" / "prompts").glob("*/*.txt"))
    texts = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *prompts]
    python = environment("gguf", "numpy")
    step("making a tiny model", [python, ROOT / "tools" / "tiny_gguf.py", path, *texts], CACHE / "model.log")
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


def llama_server(jobs: int, log: Path) -> contextlib.AbstractContextManager[str]:
    """llama.cpp's own server."""
    port = free_port()
    # one thread: those that wait for it spin, which a busy machine pays for dearly
    size = ["-np", str(_PARALLEL), "-c", str(_PARALLEL * _CONTEXT), "-t", "1"]
    where = ["--host", "127.0.0.1", "--port", str(port), "--no-ui", "--offline"]
    return serving([built(jobs), "-m", model(), *size, *where], port, log)


def python_server(log: Path) -> contextlib.AbstractContextManager[str]:
    """llama-cpp-python's server. Building its wheel takes as long as building llama.cpp."""
    python, port = environment(f"llama-cpp-python[server]=={VERSION}"), free_port()
    where = ["--host", "127.0.0.1", "--port", str(port), "--n_ctx", str(_CONTEXT), "--n_threads", "1"]
    alone = ["--interrupt_requests", "false"]  # a second request would end the first
    return serving([python, "-m", "llama_cpp.server", "--model", model(), *where, *alone], port, log)
