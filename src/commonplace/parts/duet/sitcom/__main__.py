"""`python -m commonplace.sitcom [SCENARIO] [-- OPTIONS OF STREAMLIT]`: the page, on this machine alone."""

from __future__ import annotations

import sys
from pathlib import Path

from commonplace.errors import UsageError, install

INSTALL = install("sitcom")


def main(arguments: list[str]) -> int:
    """Serves the page until it is interrupted."""
    try:
        from streamlit.web import cli  # noqa: PLC0415 – an optional package
    except ImportError:
        print(f"commonplace: {UsageError('the page needs the package streamlit', hint=INSTALL)}", file=sys.stderr)
        return UsageError.status
    at = arguments.index("--") if "--" in arguments else len(arguments)
    own, theirs = arguments[:at], arguments[at + 1 :]
    sys.argv = ["streamlit", "run", str(Path(__file__).with_name("app.py")), *theirs, "--", *own]
    cli.main(prog_name="streamlit")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
