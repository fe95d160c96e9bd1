"""`python -m commonplace` and the command `commonplace`."""

from __future__ import annotations

__all__ = ["main"]


def main() -> int:
    """Run the command of this process. An interruption while the parts are being loaded is one like any other."""
    try:
        from commonplace import cli  # noqa: PLC0415 – takes half a second, in which somebody may press Ctrl-C

        return cli.main()
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    raise SystemExit(main())
