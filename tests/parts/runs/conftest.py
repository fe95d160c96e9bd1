"""What the tests of runs in databases share."""

from engine.in_process import clusters
from run.databases import database

__all__ = ["clusters", "database"]
