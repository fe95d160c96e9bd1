"""For tests, here and elsewhere: minds whose answers are laid down."""

from commonplace.testing.minds import Script, ScriptedMind, SlowMind

__all__ = ["Script", "ScriptedMind", "SlowMind"]
