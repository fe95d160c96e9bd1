"""Metrics for Prometheus: what a run and the server count, and where it can be read."""
