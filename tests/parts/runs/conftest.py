"""What the tests of runs in databases share."""

from run.databases import database

__all__ = ["database"]
