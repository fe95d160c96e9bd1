"""The form of questions that suits a model, as `doctor` has found it: kept for the person, in the folder of state."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any, Literal

from commonplace.errors import CommonplaceError
from commonplace.paths import kind_of
from commonplace.servers import server_named
from commonplace.trust import state_folder
from commonplace.whole_file import written_whole

Form = Literal["full", "small"]
FILE = "forms.json"
"""Addresses and model → form. Removing an entry, or the file, is forgetting it."""
_log = logging.getLogger(__name__)


def remembered_form(mind: str) -> str:
    """Returns `full` or `small`, or nothing for a model that was not tried. Raises UsageError for an unknown server."""
    form = _kept().get(_key(mind))
    return form if form in ("full", "small") else ""


def remember_form(mind: str, form: Form) -> None:
    """Keeps the form of a model. If the folder cannot be written to, it has to be tried again."""
    path = _path()
    try:
        with written_whole(path, force=True) as file:
            file.write_text(json.dumps(_kept() | {_key(mind): form}, ensure_ascii=False, indent=1) + "\n", "utf-8")
    except CommonplaceError as error:
        _log.warning("%s: the form is not remembered: %s", path, error)


def _key(mind: str) -> str:
    """Names the model by server and address: `llamacpp:` and `http://127.0.0.1:8080/v1` are the same."""
    server = server_named(mind)
    return f"{','.join(server.urls) or server.kind}#{server.model}"


def _kept() -> dict[str, Any]:
    """Returns what is remembered; nothing where the file cannot be read."""
    try:
        found = json.loads(_path().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}  # pyright: ignore[reportUnknownVariableType]


def _path() -> Path:
    path = state_folder() / FILE
    kind_of(path)
    return path
