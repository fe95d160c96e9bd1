"""The engine runs ticks: who acts when, whose answers are used, what is committed. It knows no stage by name."""
