"""Look at the canned town: `PYTHONPATH=src:tests python tests/parts/terminal/look.py [--recorded]`.

`--shot FILE.svg WIDTHxHEIGHT TICK KEYS…` saves and prints a picture instead.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from commonplace.parts.terminal.screen import TownApp
from parts.terminal.picture import screen_text
from views.canned import CannedSource


async def shot(file: str, size: str, tick: int, keys: list[str]) -> None:
    """Save a picture of the screen after the keys."""
    width, height = (int(part) for part in size.split("x"))
    light = "light" in keys
    keys = [key for key in keys if key != "light"]
    app = TownApp(CannedSource(tick, language="ko" if "ko" in keys else "en"), light=light)
    keys = [key for key in keys if key != "ko"]
    async with app.run_test(size=(width, height)) as pilot:
        await pilot.pause(0.2)
        await pilot.press(*keys)
        await pilot.pause(0.2)
        Path(file).write_text(app.export_screenshot())
        print(screen_text(app))


if __name__ == "__main__":
    if "--shot" in sys.argv:
        at = sys.argv.index("--shot")
        asyncio.run(shot(sys.argv[at + 1], sys.argv[at + 2], int(sys.argv[at + 3]), sys.argv[at + 4 :]))
    else:
        TownApp(CannedSource(120, live="--recorded" not in sys.argv)).run()
