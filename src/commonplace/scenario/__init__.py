"""Scenarios: read, checked and compiled into the values a run starts from."""
