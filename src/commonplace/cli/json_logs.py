"""Logs as JSON: everything that goes to standard error, an object a line. Loaded only where it is asked for."""

from __future__ import annotations

import io
import json
import logging
import os
import re
import sys
from datetime import UTC, datetime
from typing import Any, TextIO

from commonplace.engine.meter import position
from commonplace.servers import is_secret

SHORTEST_SECRET = 8
"""Characters from which on the value of a variable such as `OPENAI_API_KEY` is masked; shorter ones are words."""
_PASSWORD = re.compile(r"(://[^:/@\s]*):[^@/\s]*@|(?i:(password=)[^&\s]*)")


class JsonFormatter(logging.Formatter):
    """Writes a record as JSON: `time`, `level`, `logger`, `event`, `run` and `tick` where there are any, and `message`.

    What a caller adds is `extra={"event": …, "fields": {…}}`. Passwords in URLs, and values of environment variables
    whose names say that they hold a key, are masked.
    """

    def __init__(self) -> None:
        super().__init__()
        named = (value for name, value in os.environ.items() if is_secret(name) or name == "PGPASSWORD")
        self._secrets = [value for value in named if len(value) >= SHORTEST_SECRET]

    def format(self, record: logging.LogRecord) -> str:
        """Returns one line."""
        moment = datetime.fromtimestamp(record.created, UTC)
        line: dict[str, Any] = {
            "time": moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": getattr(record, "event", "message"),
        }
        if (here := position()) is not None:
            line |= {"run": str(here.run), "tick": here.tick}
        line |= {"message": record.getMessage(), **getattr(record, "fields", {})}
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps({name: self._masked(value) for name, value in line.items()})

    def _masked(self, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        for secret in self._secrets:
            value = value.replace(secret, "[key]")
        return _PASSWORD.sub(lambda found: f"{found[1]}:[password]@" if found[1] else f"{found[2]}[password]", value)


class _Lines(logging.StreamHandler[TextIO]):
    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 – the name in the standard library
        """Loses the line: to say so on standard error would be another one that fails."""


class JsonStream(io.TextIOBase):
    """Standard error while logs are JSON: what is printed there becomes a record. It is no terminal."""

    def __init__(self, to: TextIO) -> None:
        self.handler = _Lines(to)
        self.handler.setFormatter(JsonFormatter())
        self._begun = ""
        self._log = logging.getLogger("commonplace.cli")

    def write(self, text: str, /) -> int:
        """Takes a text; it is a record as soon as it ends with a new line, so that one `print` is one line."""
        self._begun += text
        if self._begun.endswith("\n"):
            said, self._begun = self._begun.strip("\n"), ""
            if said:
                self._log.info("%s", said, extra={"event": "printed"})
        return len(text)

    def error(self, message: str) -> None:
        """Writes why the command failed."""
        self._log.error("%s", message, extra={"event": "failed"})

    def fileno(self) -> int:
        """Returns the descriptor below."""
        return self.handler.stream.fileno()


def use_json() -> None:
    """Writes logs, and whatever else goes to standard error, as JSON from now on. A second call does nothing."""
    if isinstance(sys.stderr, JsonStream):
        return
    stream = JsonStream(getattr(sys.stderr, "styled", sys.stderr))
    sys.stderr = stream
    logging.basicConfig(handlers=[stream.handler], level=logging.WARNING, force=True)
    logging.getLogger("commonplace").setLevel(logging.INFO)
    logging.captureWarnings(True)
