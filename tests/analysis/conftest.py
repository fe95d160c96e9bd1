"""What the tests of the analysis share."""

from e2e.lived import plaza, town

__all__ = ["plaza", "town"]
