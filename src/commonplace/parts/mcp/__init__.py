"""Memories and runs for assistants, by the Model Context Protocol."""
