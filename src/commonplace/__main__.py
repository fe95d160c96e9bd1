"""`python -m commonplace` and the command `commonplace`."""

from __future__ import annotations

from commonplace.cli import main

__all__ = ["main"]

if __name__ == "__main__":
    raise SystemExit(main())
