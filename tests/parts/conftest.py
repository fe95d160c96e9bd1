"""What the tests of parts share."""

from e2e.lived import eventful, plaza, plaza_lines, town

__all__ = ["eventful", "plaza", "plaza_lines", "town"]
