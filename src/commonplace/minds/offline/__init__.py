"""The offline mind: every task answered by rules and a grammar, deterministically, with no model."""

from commonplace.minds.offline.mind import OfflineMind

__all__ = ["OfflineMind"]
