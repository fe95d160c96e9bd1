"""Debian's chromium, driven over its debugging protocol: enough to click, to wait for words and to take a picture."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import time
from base64 import b64decode
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

CHROMIUM = shutil.which("chromium") or ""
PATIENCE = 60.0
"""Seconds to wait for what must come."""


class Browser:
    """One page."""

    def __init__(self, socket: Any) -> None:
        self._socket = socket
        self._number = 0

    def send(self, method: str, **params: Any) -> Any:
        """One command, and its result."""
        self._number += 1
        self._socket.send(json.dumps({"id": self._number, "method": method, "params": params}))
        while True:
            message = json.loads(self._socket.recv(timeout=PATIENCE))
            if message.get("id") == self._number:
                if "navigated" in message.get("error", {}).get("message", ""):
                    return None
                assert "error" not in message, message
                return message["result"]

    def run(self, script: str) -> Any:
        """The value of an expression of JavaScript; None where the page was left while it was worked out."""
        found = self.send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if found is None:
            return None
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def wait(self, script: str) -> Any:
        """The first value of an expression that is true."""
        ends = time.monotonic() + PATIENCE
        while time.monotonic() < ends:
            if value := self.run(script):
                return value
            time.sleep(0.05)
        raise AssertionError(f"not within {PATIENCE:g} s: {script}\n{self.text()[-2000:]}")

    def open(self, url: str) -> None:
        """Go to a page."""
        self.send("Page.navigate", url=url)

    def text(self) -> str:
        """The words of the page."""
        return self.run("document.body?.innerText") or ""

    def until(self, words: str) -> None:
        """Wait for words on the page."""
        self.wait(f"document.body?.innerText.includes({json.dumps(words)})")

    def click(self, words: str, selector: str = "button, summary, label") -> None:
        """Click what says the words."""
        finds = f"[...document.querySelectorAll({json.dumps(selector)})]"
        element = f"{finds}.filter(e => e.innerText.trim().includes({json.dumps(words)}) && !e.disabled).at(-1)"
        self.wait(f"!!{element}")
        self.run(f"{element}.click()")

    def press(self, words: str, selector: str = "button, summary, label, [role=tab]") -> None:
        """Press the mouse on what says the words, wherever it is by then."""
        finds = f"[...document.querySelectorAll({json.dumps(selector)})]"
        says = f"(e.innerText + (e.ariaLabel ?? '') + (e.placeholder ?? '')).includes({json.dumps(words)})"
        element = f"{finds}.filter(e => {says} && !e.disabled && e.checkVisibility()).at(-1)"
        self.wait(f"!!{element}")
        self.run(f"{element}.scrollIntoView({{block: 'nearest'}})")
        middle = "(({x, y, width, height}) => [x + width / 2, y + height / 2])"
        x, y = self.run(f"{middle}({element}.getBoundingClientRect())")
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            held = {"button": "left", "clickCount": 1} if kind != "mouseMoved" else {}
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, **held)

    def type(self, text: str) -> None:
        """Type into what has the focus."""
        self.send("Input.insertText", text=text)

    def picture(self, path: Path) -> bytes:
        """A picture of the window, also written to a file."""
        data = b64decode(self.send("Page.captureScreenshot", format="png")["data"])
        path.write_bytes(data)
        return data


@contextmanager
def browser(width: int = 1280, height: int = 1000) -> Generator[Browser]:
    """A window of chromium without a screen; it reaches this machine only."""
    from websockets.sync.client import connect

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        options = [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
            "--disable-component-update", "--remote-debugging-port=0", f"--user-data-dir={folder}",
            f"--window-size={width},{height}", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
        ]  # fmt: skip
        process = subprocess.Popen(
            [CHROMIUM, *options, "about:blank"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": folder},
        )  # fmt: skip
        try:
            port = _port(Path(folder) / "DevToolsActivePort")
            with urlopen(f"http://127.0.0.1:{port}/json/list") as answer:
                (page,) = [one for one in json.load(answer) if one["type"] == "page"]
            with connect(page["webSocketDebuggerUrl"], max_size=None) as socket:
                yield Browser(socket)
        finally:
            process.terminate()
            process.wait(timeout=PATIENCE)


def _port(file: Path) -> int:
    ends = time.monotonic() + PATIENCE
    while time.monotonic() < ends:
        if file.exists() and (lines := file.read_text().splitlines()):
            return int(lines[0])
        time.sleep(0.05)
    raise AssertionError("chromium did not start")
