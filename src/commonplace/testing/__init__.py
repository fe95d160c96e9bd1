"""For tests, of this project and of others: minds with scripted answers."""

from commonplace.testing.minds import Script, ScriptedMind, SlowMind

__all__ = ["Script", "ScriptedMind", "SlowMind"]
