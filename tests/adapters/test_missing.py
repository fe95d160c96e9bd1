"""Where a framework is not installed, its adapter says what to install."""

from __future__ import annotations

import sys
from importlib import import_module

import pytest

from commonplace.errors import UsageError, install


@pytest.mark.parametrize(
    ("adapter", "needs", "extra"),
    [
        ("langchain", "langchain_core.chat_history", "langchain"),
        ("langgraph", "langgraph.store.base", "langgraph"),
        ("llamaindex", "llama_index.core.base.base_retriever", "llamaindex"),
        ("openai_agents", "agents.memory.session_settings", "openai-agents"),
    ],
)
def test_the_error_has_the_line_that_installs_it(adapter, needs, extra, monkeypatch):
    monkeypatch.delitem(sys.modules, f"commonplace.adapters.{adapter}", raising=False)
    monkeypatch.setitem(sys.modules, needs, None)
    with pytest.raises(UsageError) as raised:
        import_module(f"commonplace.adapters.{adapter}")
    assert raised.value.hint == install(extra)
