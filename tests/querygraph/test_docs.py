"""The programs of the page run."""

from __future__ import annotations

import re
from pathlib import Path

from commonplace.querygraph import GraphConfig

PAGE = (Path(__file__).parents[2] / "docs" / "query-graph.md").read_text(encoding="utf-8")


def test_the_programs_of_the_page_run(capsys):
    names: dict[str, object] = {}
    for program in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(compile(program, "docs/query-graph.md", "exec"), names)  # noqa: S102 - our own page
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_the_defaults_of_the_page_are_those_of_the_settings():
    for name in ("max_nodes", "max_edges", "half_life_min", "tau_dup", "tau_sim", "protect_min_degree"):
        session, agent = re.findall(rf"^\| `{name}` \| ([\d.,]+) \| ([\d.,]+) \|", PAGE, re.MULTILINE)[0]
        assert float(session.replace(",", "")) == getattr(GraphConfig(), name)
        assert float(agent.replace(",", "")) == getattr(GraphConfig.agent(), name)
