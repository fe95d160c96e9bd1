"""How the offline mind words what it has decided: an engine, and data for each language."""
