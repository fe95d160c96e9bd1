"""`python -m commonplace` and the command `commonplace`."""

from __future__ import annotations

__all__ = ["main"]


def main() -> int:
    """Run the command of this process. Ctrl-C while modules are being imported has status 130 like any other."""
    try:
        from commonplace import cli  # noqa: PLC0415 – Ctrl-C during the import must be caught

        return cli.main()
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    raise SystemExit(main())
