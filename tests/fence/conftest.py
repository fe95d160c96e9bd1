"""Runs that other tests live, too."""

from e2e.lived import town

__all__ = ["town"]
