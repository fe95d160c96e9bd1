"""`python -m commonplace` and the command `commonplace`."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> int:
    """Run the command of this process. Ctrl-C while modules are being imported has status 130 like any other."""
    _forget_start_folder()
    try:
        from commonplace import cli  # noqa: PLC0415 – Ctrl-C during the import must be caught

        return cli.main()
    except KeyboardInterrupt:
        return 130


def _forget_start_folder() -> None:
    """Take out what Python puts first into its search path: the current folder with `-m`, else the script's.

    A file that lies there must not be imported because a run names it or because it has the name of a library.
    PYTHONPATH stays: it is what somebody has asked for.
    """
    if not sys.flags.safe_path:
        del sys.path[:1]


if __name__ == "__main__":
    raise SystemExit(main())
