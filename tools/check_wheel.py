"""Builds the source distribution and its wheel, tries the wheel in an environment of its own, leaves both in dist/.

    make wheel
    python tools/check_wheel.py --kind tar.gz    tries what lies in dist/ and builds nothing

What is tried is what a newcomer does: a run, a replay as one file, and, once the line in the error has installed what
`serve` and `mcp` need, the page in the browser and an assistant's first words.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path
from urllib.parse import urljoin
from urllib.request import urlopen

from environment import ROOT, environment, step

DIST = ROOT / "dist"
HELLO = (
    '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},'
    '"clientInfo":{"name":"check","version":"1"}}}\n'
)
"""What an assistant says first."""


class Installed:
    """The command `commonplace` of an environment, away from the clone."""

    def __init__(self, python: Path, folder: Path) -> None:
        self.command = python.with_name("commonplace")
        self.folder = folder
        self.variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}

    def run(self, *arguments: str, status: int = 0, typed: str = "") -> str:
        """What it prints, on both streams, to what is typed."""
        ended = subprocess.run(
            [self.command, *arguments],
            cwd=self.folder,
            env=self.variables,
            input=typed,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if ended.returncode != status:
            sys.exit(f"commonplace {shlex.join(arguments)} ended with {ended.returncode}:\n{ended.stdout}")
        return ended.stdout

    def page(self, *arguments: str) -> tuple[str, str]:
        """What `serve` shows at `/`, and the script that the page names."""
        serve = [self.command, "serve", *arguments, "--port", "0", "--no-open"]
        with subprocess.Popen(serve, cwd=self.folder, env=self.variables, stdout=subprocess.PIPE, text=True) as process:
            try:
                assert process.stdout is not None
                url = process.stdout.readline().strip()
                if not url:
                    sys.exit("serve ended without an address")
                page = read(url)
                (script,) = re.findall(r'<script[^>]* src="([^"]+)"', page)
                return page, read(urljoin(url, script))
            finally:
                process.terminate()


def read(url: str) -> str:
    """What a server answers; a status above 399 is an error."""
    with urlopen(url, timeout=30) as answer:
        return answer.read().decode()


def main() -> None:
    """Build, install, try."""
    options = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    options.add_argument("--kind", choices=("whl", "tar.gz"), help="try the file of this kind in dist/")
    kind = options.parse_args().kind
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if kind:
            (built,) = DIST.glob(f"*.{kind}")
            tried(Installed(environment(folder / "user", built), folder))
            return
        builder = environment(folder / "builder", "build")
        step("building", [builder, "-m", "build", "--outdir", folder / "dist", ROOT], folder / "build.log")
        (wheel,) = (folder / "dist").glob("*.whl")
        python = environment(folder / "user", wheel)
        tried(Installed(python, folder))
        DIST.mkdir(exist_ok=True)
        for built in sorted((folder / "dist").iterdir()):
            shutil.copy(built, DIST)
            print(f"dist/{built.name}: {built.stat().st_size / 1e6:.1f} MB")


def tried(commonplace: Installed) -> None:
    """What must go from a wheel."""
    commonplace.run("run", "plaza", "--ticks", "12", "--view", "none", "-o", "plaza.run")
    commonplace.run("verify", "plaza.run")
    commonplace.run("export", "plaza.run", "html", "-o", "plaza.html")
    replay = (commonplace.folder / "plaza.html").read_text(encoding="utf-8")
    assert 'id="data-start"' in replay, "the replay has no data"
    for command in ("serve", "mcp"):
        install = commonplace.run(command, "plaza.run", status=2).splitlines()[-1]
        step(f"installing what {command} needs", [*shlex.split(install), "--quiet"], commonplace.folder / "extra.log")
    page, script = commonplace.page("plaza.run")
    assert "<title>" in page and len(script) > 1000, "the page is not whole"
    assert '"serverInfo"' in commonplace.run("mcp", "plaza.run", typed=HELLO), "no answer to an assistant"
    print("run, verify, export html, serve and mcp: fine")


if __name__ == "__main__":
    main()
