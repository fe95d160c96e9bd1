"""The run file: history and state of one lived scenario, and how they are read."""
