"""A pool: the endpoints of a mind, shared out by load."""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic

from commonplace.minds.chat.endpoint import Endpoint

REST = 10.0
"""Seconds an endpoint that failed is left alone while there are others."""


class Pool:
    """Endpoints that serve the same model. The clock decides where a request goes, never what is asked."""

    def __init__(self, endpoints: Sequence[Endpoint]) -> None:
        self.endpoints = tuple(endpoints)

    @property
    def name(self) -> str:
        """The base URLs."""
        return ", ".join(endpoint.url for endpoint in self.endpoints)

    def pick(self) -> Endpoint:
        """The one with the fewest requests in flight, then the first, among those not resting; else the one whose rest
        ends first."""
        fresh = [endpoint for endpoint in self.endpoints if endpoint.rests_until <= monotonic()]
        if not fresh:
            return min(self.endpoints, key=lambda endpoint: endpoint.rests_until)
        return min(fresh, key=lambda endpoint: endpoint.in_flight)

    def fresh(self) -> bool:
        """Whether there is one that does not rest."""
        return any(endpoint.rests_until <= monotonic() for endpoint in self.endpoints)

    def failed(self, endpoint: Endpoint, seconds: float = REST) -> None:
        """Leave an endpoint alone for a while."""
        endpoint.rests_until = monotonic() + seconds

    def served(self, endpoint: Endpoint) -> None:
        """It answered: it need not rest."""
        endpoint.rests_until = 0.0

    async def close(self) -> None:
        """End all connections."""
        for endpoint in self.endpoints:
            await endpoint.close()
