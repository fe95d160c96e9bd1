"""What is built has the page of the browser in it, or whoever builds it has said that it need not."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

STATIC = "src/commonplace/parts/web/static"
"""Built from web/ by `make page`; git does not keep it."""
FILES = ("index.html", "replay.html")
SWITCH = "COMMONPLACE_NO_PAGE"
REFUSAL = f"""\
the page that `serve` and `export html` show is not built. Either build it and try again (Node 20 or newer):
    make page
or build without it; everything else works:
    {SWITCH}=1 pip install .
"""


class Page(BuildHookInterface[Any]):
    """Adds the page. An editable install reads it from the clone, where it may be built later."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Ends the build of a wheel or a source distribution that would lack the page."""
        built = all(Path(self.root, STATIC, name).is_file() for name in FILES)
        if version != "editable" and not built and not os.environ.get(SWITCH):
            self.app.abort(REFUSAL)
        build_data["artifacts"].append(STATIC)
