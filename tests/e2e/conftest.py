"""What the tests of the whole program share."""

from e2e.lived import eventful, plaza, plaza_lines, town
from memory.stores.conftest import postgres_url

__all__ = ["eventful", "plaza", "plaza_lines", "postgres_url", "town"]
