"""Memories as nested documents in folders of JSON lines, and forgetting by a policy."""
