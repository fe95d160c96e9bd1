"""A session: the connections of a mind within one event loop. What it has learnt of its server outlives them."""

from __future__ import annotations

from dataclasses import dataclass, field

from commonplace.minds.chat.capabilities import Capabilities, Structure
from commonplace.minds.chat.once import Once
from commonplace.minds.chat.probe import Probe
from commonplace.minds.chat.servers import Server
from commonplace.minds.chat.transport import Errand, Health, Transport


@dataclass(slots=True)
class Knowledge:
    """What a mind has learnt of its server."""

    can: Capabilities | None = None
    """None before the probe."""
    fallen: dict[str, Structure] = field(default_factory=dict[str, Structure])
    """Tasks for which the server took a lesser form than usual."""
    dimensions: int = 0
    """Of its vectors; 0 before one was seen."""
    health: Health = field(default_factory=Health)


class Session:
    """What a mind holds while a loop runs."""

    def __init__(self, server: Server, transport: Transport, knowledge: Knowledge) -> None:
        self.server = server
        self.transport = transport
        self.knowledge = knowledge
        self._probe: Once[Capabilities] = Once()

    async def capabilities(self, errand: Errand) -> Capabilities:
        """What the server takes, probed once for all who ask. Raises what `Probe` raises."""
        if self.knowledge.can is None:
            self.knowledge.can = await self._probe.get(Probe(self.server, self.transport, errand).capabilities)
            self.knowledge.dimensions = self.knowledge.dimensions or self.knowledge.can.embeddings
        return self.knowledge.can

    async def close(self) -> None:
        """End all connections."""
        await self.transport.pool.close()
