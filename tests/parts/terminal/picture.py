"""Screens as text, compared with stored ones. `COMMONPLACE_UPDATE_PICTURES=1 pytest tests/views` stores them anew."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from textual.app import App

PICTURES = Path(__file__).parent / "pictures"
UPDATE = bool(os.environ.get("COMMONPLACE_UPDATE_PICTURES"))


def screen_text(app: App[Any]) -> str:
    """What is on the screen, all layers, without colours."""
    strips = app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip).rstrip() for strip in strips) + "\n"


def same_picture(name: str, found: str) -> None:
    """Fail with both pictures if the stored one is another."""
    path = PICTURES / f"{name}.txt"
    if UPDATE:
        path.parent.mkdir(exist_ok=True)
        path.write_text(found, encoding="utf-8")
    stored = path.read_text(encoding="utf-8") if path.exists() else "(none stored)"
    assert found == stored, f"{name} differs (COMMONPLACE_UPDATE_PICTURES=1 stores it)\n{stored}\n--- found\n{found}"
