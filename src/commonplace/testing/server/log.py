"""What a server was asked, kept in memory."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from commonplace.rng import Key
from commonplace.testing.server.answering import Usage


@dataclass(frozen=True, slots=True)
class Entry:
    """One request and how it was met."""

    path: str
    key: tuple[Key, ...]
    """(seed, agent, tick, task, number, attempt); empty for a request that does not tell it."""
    tries: int
    """How often the same was requested before."""
    task: str
    fault: str
    """Name of the fault; empty when it was answered as it should be."""
    marker: str
    """A text of the fault that may never be said or remembered."""
    status: int
    usage: Usage
    started: float
    """Seconds of a clock that only moves forward; `ended` when the response was written or the client had left."""
    ended: float


@dataclass(slots=True)
class Log:
    """All requests of a server's life, in the order in which they ended."""

    entries: list[Entry] = field(default_factory=list[Entry])
    in_flight: int = 0
    most_in_flight: int = 0

    def begun(self) -> None:
        """A request has been read."""
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)

    def ended(self, entry: Entry) -> None:
        """It has been met, or its client has left."""
        self.in_flight -= 1
        self.entries.append(entry)

    @property
    def faults(self) -> Counter[str]:
        """How often each fault was made."""
        return Counter(entry.fault for entry in self.entries if entry.fault)

    @property
    def asked(self) -> list[Entry]:
        """The requests that were a character's questions."""
        return [entry for entry in self.entries if entry.key]
