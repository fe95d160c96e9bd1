"""A model server for tests and demonstrations: real HTTP, the offline mind's answers, faults and latency on request."""

from commonplace.testing.server.faults import FAULTS, MARK, Fault, Faults
from commonplace.testing.server.server import Entry, Latency, Limit, Log, ModelServer

__all__ = ["FAULTS", "MARK", "Entry", "Fault", "Faults", "Latency", "Limit", "Log", "ModelServer"]
