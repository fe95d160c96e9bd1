"""The JSON Schema of a scenario file, for completion in editors.

`python -m commonplace.scenario.schema schema/scenario.schema.json` writes it; a test fails when the stored one is old.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from commonplace.scenario.model import ScenarioPart


def json_schema() -> dict[str, Any]:
    """The schema, generated from the models; JSON Schema 2020-12."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **ScenarioPart.model_json_schema(by_alias=True),
        "title": "Commonplace scenario",
    }


def as_text() -> str:
    """The schema as it is stored: indented, keys in the order of the models, a newline at the end."""
    return json.dumps(json_schema(), ensure_ascii=False, indent=2) + "\n"


if __name__ == "__main__":
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(as_text(), encoding="utf-8")
    else:
        sys.stdout.write(as_text())
