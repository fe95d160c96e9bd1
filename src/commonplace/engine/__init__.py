"""The engine: who goes when. It knows no stage by name and nothing of what a turn does."""
