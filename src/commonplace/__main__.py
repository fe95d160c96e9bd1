"""`python -m commonplace` and the command `commonplace`."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType

__all__ = ["main"]


def main() -> int:
    """Run the command of this process. A signal before and after it ends the process: nothing is to be tidied up."""
    for number in (signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):  # Windows has no SIGHUP
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _end)
    _open_closed_streams()
    _forget_start_folder()
    from commonplace import cli  # noqa: PLC0415 – a signal during the import is heeded, too

    return cli.main()


def _end(_number: int, _frame: FrameType | None) -> None:
    os._exit(130)


def _open_closed_streams() -> None:
    """Read nothing from, and write nowhere to, the standard streams that whoever started this process has closed.

    Their descriptors would be those of the next files opened, and what anything prints would go into a run.
    """
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(descriptor, True)
    os.close(descriptor)
    for descriptor, (name, mode) in enumerate({"stdin": "r", "stdout": "w", "stderr": "w"}.items()):
        if getattr(sys, name) is None:
            setattr(sys, name, open(descriptor, mode, encoding="utf-8", closefd=False))  # noqa: SIM115


def _forget_start_folder() -> None:
    """Take out what Python puts first into its search path: the current folder with `-m`, else the script's.

    A file that lies there must not be imported because a run names it or because it has the name of a library.
    PYTHONPATH stays: it is what somebody has asked for.
    """
    if not sys.flags.safe_path:
        del sys.path[:1]


if __name__ == "__main__":
    raise SystemExit(main())
