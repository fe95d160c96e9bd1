"""Virtual environments of their own, and commands whose output goes to a log."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def step(title: str, command: list[str | Path], log: Path) -> None:
    """Run a command in the project's folder; a failure ends the program with the log's last lines."""
    print(f"{title} … (log: {log})", flush=True)
    with log.open("w") as out:
        status = subprocess.run(command, cwd=ROOT, stdout=out, stderr=subprocess.STDOUT, check=False).returncode
    if status:
        sys.exit(f"{title} failed ({status}):\n" + "".join(log.read_text(errors="replace").splitlines(True)[-15:]))


def environment(folder: Path, *packages: str | Path) -> Path:
    """The Python of the environment `folder/venv`, made if it is not there, with these packages."""
    folder.mkdir(parents=True, exist_ok=True)
    python = folder / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    if not (folder / "venv").exists():
        step("making an environment", [sys.executable, "-m", "venv", folder / "venv"], folder / "venv.log")
    wanted = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages]
    step(f"installing {' '.join(map(str, packages))}", wanted, folder / "install.log")
    return python
