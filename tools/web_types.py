"""Writes web/openapi.json, of which every build, check and test of the page makes its types (`web/src/api.d.ts`)."""

from __future__ import annotations

import json
from pathlib import Path

from commonplace.parts.web.app import make_app
from commonplace.parts.web.library import Library

FILE = Path(__file__).parents[1] / "web" / "openapi.json"


def text() -> str:
    """The description as it is stored."""
    return json.dumps(make_app(Library(Path("runs"))).openapi(), ensure_ascii=False, indent=1) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
