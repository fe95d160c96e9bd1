"""The key of a server: from the environment, into one header, and nowhere else."""

from __future__ import annotations

import os

from commonplace.errors import WrongUse
from commonplace.minds.chat.servers import Server

_SECRET = 8
"""Characters from which on a key is taken out of what a server says; shorter ones are words like `none`."""


class Key:
    """A key that does not show itself."""

    def __init__(self, variable: str, value: str) -> None:
        self.variable = variable
        self._value = value
        self._spellings = (value, value.replace("/", "\\/"), value.replace("+", "\\u002B"))
        """As some servers write it in JSON."""

    @classmethod
    def of(cls, server: Server) -> Key:
        """The key in the server's environment variable. Raises WrongUse when it is missing and wanted, or no key."""
        value = os.environ.get(server.variable, "").strip()
        if server.wants_key and not value:
            raise WrongUse(f"{server.variable} is not set", todo=f"type: export {server.variable}=YOUR-KEY")
        if not (value.isascii() and value.isprintable()) or " " in value:
            raise WrongUse(f"{server.variable} holds characters that no key has", todo="set it again, without them")
        return cls(server.variable, value)

    def __repr__(self) -> str:
        return f"Key({self.variable})"

    def __bool__(self) -> bool:
        return bool(self._value)

    def header(self) -> str:
        """The value of the `Authorization` header. For the request alone."""
        return f"Bearer {self._value}"

    def scrub(self, text: str) -> str:
        """The text without the key."""
        if len(self._value) >= _SECRET:
            for spelling in self._spellings:
                text = text.replace(spelling, "[key]")
        return text
