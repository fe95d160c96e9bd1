"""A model server for tests and demonstrations: real HTTP, the offline mind's answers, faults and latency on request."""

from commonplace.testing.server.fault import MARK, Fault
from commonplace.testing.server.faults import FAULTS, Faults
from commonplace.testing.server.latency import Latency
from commonplace.testing.server.log import Entry, Log
from commonplace.testing.server.server import ModelServer

__all__ = ["FAULTS", "MARK", "Entry", "Fault", "Faults", "Latency", "Log", "ModelServer"]
