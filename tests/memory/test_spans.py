"""Spans of OpenTelemetry: one a call, nothing of what was said, nothing where nobody asked for them."""

from __future__ import annotations

import sys

import pytest

from commonplace.memory import Memories, MemoryStream
from commonplace.memory.spans import CALLS, instrument, uninstrument
from memory.naive import hours


@pytest.fixture
def ended(monkeypatch):
    pytest.importorskip("opentelemetry.sdk")
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    assert instrument()
    yield exporter.get_finished_spans
    uninstrument()


def test_each_call_is_a_span_without_what_was_said(ended, tmp_path):
    stream = MemoryStream("maria")
    stream.remember("a secret", at=hours(1))
    stream.recall("which secret?", at=hours(2))
    with Memories(tmp_path / "users.db") as memories:
        memories.recall("secret", ["a"], at=hours(1))
    spans = [one for one in ended() if one.attributes.get("commonplace.agent") == "maria"]
    assert [(one.name, one.attributes.get("commonplace.count")) for one in spans] == [
        ("commonplace.memory.remember", None),
        ("commonplace.memory.retrieve", 1),
    ]
    assert "commonplace.memory.recall" in {one.name for one in ended()}
    assert "secret" not in "".join(one.to_json() for one in ended())


def test_an_error_is_recorded_and_raised(ended):
    from commonplace.errors import UsageError

    with pytest.raises(UsageError):
        MemoryStream("maria").remember("", at=hours(1))
    (span,) = ended()
    assert not span.status.is_ok and span.events[0].name == "exception"


def test_twice_is_once_and_it_ends(ended):
    assert instrument()
    MemoryStream("maria").remember("hello", at=hours(1))
    assert len(ended()) == 1
    uninstrument()
    MemoryStream("maria").remember("hello", at=hours(1))
    assert len(ended()) == 1
    assert not [name for owner, names in CALLS.items() for name in names if hasattr(getattr(owner, name), "untraced")]


def test_without_the_package_nothing_happens(monkeypatch):
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    monkeypatch.setitem(sys.modules, "opentelemetry.trace", None)
    before = MemoryStream.remember
    assert not instrument()
    assert MemoryStream.remember is before
