"""For tests, of this project and of others: minds with scripted answers, and what every mind must do."""

from commonplace.testing.minds import MindContract, Script, ScriptedMind, SlowMind

__all__ = ["MindContract", "Script", "ScriptedMind", "SlowMind"]
