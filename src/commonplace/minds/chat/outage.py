"""What a server can do to a question besides answering it."""

from __future__ import annotations

from commonplace.errors import Paused


class Outage(Paused):
    """A model server that stayed away; the run stops at a tick boundary and can be resumed."""

    def __init__(self, server: str, happened: str) -> None:
        super().__init__(f"the model server {server} does not answer: {happened}", todo="see to the server")


class Unreachable(Exception):
    """No page came back: refused, reset, cut off."""


class Late(Exception):
    """No page came back in time."""
