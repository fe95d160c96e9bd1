"""What a person has set for all commands: environment variables, and a file that sets them.

Options name their variable themselves; what is typed comes first, then the environment, then the file.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from commonplace.errors import UsageError

FILE_VARIABLE = "COMMONPLACE_SETTINGS"
"""Environment variable with the path of the file; empty: no file. Not set: `settings.toml` in the platform's folder."""
MIND, RUNS, VIEW, CACHE = "COMMONPLACE_MIND", "COMMONPLACE_RUNS", "COMMONPLACE_VIEW", "COMMONPLACE_CACHE"
LOG = "COMMONPLACE_LOG"
CONCURRENCY, TIMEOUT = "COMMONPLACE_CONCURRENCY", "COMMONPLACE_TIMEOUT"
SETTINGS = {
    "mind": MIND,
    "runs": RUNS,
    "view": VIEW,
    "cache": CACHE,
    "concurrency": CONCURRENCY,
    "timeout": TIMEOUT,
    "log": LOG,
    "prices": "COMMONPLACE_PRICES",
}
"""Name in the file → environment variable. Keys of servers are not among them: they stay in the environment."""


def settings_file() -> Path | None:
    """Returns where the file of settings is, whether it exists or not; None if there is to be none."""
    named = os.environ.get(FILE_VARIABLE)
    if named is not None:
        return Path(named).expanduser() if named else None
    from platformdirs import user_config_path  # noqa: PLC0415 – start-up speed

    return user_config_path("commonplace", appauthor=False) / "settings.toml"


def runs_folder() -> Path:
    """Returns where runs are kept that are given no path: `COMMONPLACE_RUNS`, or `runs` here."""
    return Path(os.environ.get(RUNS) or "runs").expanduser()


def use_settings() -> None:
    """Sets the variables that the file names and the environment does not.

    Raises UsageError for a file that is no TOML, and for a name or value that is not one of a setting.
    """
    file = settings_file()
    if file is None or not file.is_file():
        return
    import tomllib  # noqa: PLC0415 – start-up speed

    where = str(file)
    try:
        given = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"the settings cannot be read ({error})", where=where, hint="mend or move the file") from error
    for name, value in given.items():
        if name not in SETTINGS:
            raise UsageError(f"there is no setting {name!r}", where=where, hint=f"there are {', '.join(SETTINGS)}")
        os.environ.setdefault(SETTINGS[name], _text(name, value, where))


def _text(name: str, value: Any, where: str) -> str:
    if isinstance(value, list) and all(isinstance(one, str) for one in value):  # pyright: ignore[reportUnknownVariableType]
        return " ".join(value)  # pyright: ignore[reportUnknownArgumentType]
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return str(value)
    raise UsageError(
        f"the setting {name} is {value!r}", where=where, hint="expected a text, a number or a list of texts"
    )
