"""What the tests of runs share."""

from e2e.lived import plaza

__all__ = ["plaza"]
