"""What is registered can be imported; what needs nothing of it loads nothing of it; the core keeps to its size."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

from commonplace import registry
from commonplace.engine.stage import Stage
from e2e.command import environment

PROJECT = Path(__file__).parents[1]
TABLES = ("STAGES", "MINDS", "STORES", "MEMORY", "VIEWS", "TOOLS")
LIBRARIES = """
import json, sys
from datetime import datetime
before = set(sys.modules)
from commonplace.ledger import Ledger
from commonplace.memory import MemoryStream
from commonplace.querygraph import QueryGraph
with MemoryStream.open("notes.db", agent="maria") as stream:
    stream.remember("The stove is warm.", at=datetime(2031, 1, 1))
    stream.recall("stove", at=datetime(2031, 1, 2))
graph = QueryGraph()
graph.record_answer(graph.upsert_query("Who is Klaus?"), "A student.")
graph.search("Klaus")
Ledger("ledger").log_event("a session", "note", at=datetime(2031, 1, 1))
loaded = {name.partition(".")[0] for name in set(sys.modules) - before} - set(sys.stdlib_module_names)
print(json.dumps(sorted(name for name in loaded if not name.startswith(("_", "cython_runtime")))))
"""


@pytest.mark.parametrize("table", TABLES)
def test_every_row_leads_to_something(table: str) -> None:
    for name, where in getattr(registry, table).items():
        found = registry.found(where)
        assert found is not None
        if isinstance(found, Stage):
            assert found.name == name


def test_every_question_leads_to_a_task_and_to_a_function() -> None:
    for name, row in registry.TASKS.items():
        assert registry.found(row.task).name == name
        assert callable(registry.found(row.answer))


def test_every_command_is_a_function_of_its_name() -> None:
    for name, entry in registry.COMMANDS.items():
        assert callable(registry.found(f"{entry.module}:{name.replace('-', '_')}{'_' * (name == 'import')}"))


def test_memory_query_graph_and_ledger_load_four_packages(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LIBRARIES], cwd=tmp_path, env=environment(), check=True, capture_output=True, text=True
    )
    assert json.loads(done.stdout) == ["Stemmer", "commonplace", "filelock", "numpy", "xxhash"]


def test_no_folder_has_more_lines_of_code_than_its_budget() -> None:
    spec = importlib.util.spec_from_file_location("lines", PROJECT / "tools" / "lines.py")
    assert spec is not None and spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert tool.over() == [], "tools/lines.py counts them; a budget in tools/lines.txt rises with its reason behind it"
