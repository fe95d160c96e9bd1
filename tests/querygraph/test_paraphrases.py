"""Korean questions in other words: what merges, what links, and the table of the page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from commonplace.querygraph import GraphConfig, HashedNgrams, QueryGraph, canonical_key
from commonplace.querygraph.embedding import cosine
from commonplace.querygraph.keys import normalised
from querygraph.samples import Clock

PAGE = (Path(__file__).parents[2] / "docs" / "query-graph.md").read_text(encoding="utf-8")
PAIRS = [
    tuple(line.split("\t"))
    for line in Path(__file__).with_name("paraphrases.tsv").read_text(encoding="utf-8").splitlines()
]
ALIKE = ("spacing", "particle", "order", "ending", "words")


def similarities() -> dict[str, list[float]]:
    """Kind of pair → cosines."""
    embed = HashedNgrams().embed
    found: dict[str, list[float]] = {}
    for kind, one, other in PAIRS:
        found.setdefault(kind, []).append(cosine(embed(one), embed(other)))
    return found


def row(tau: float, found: dict[str, list[float]]) -> str:
    """A line of the page's table."""
    hits = {kind: sum(value >= tau for value in values) for kind, values in found.items()}
    right, wrong = sum(hits[kind] for kind in ALIKE), hits["apart"]
    precision, recall = right / (right + wrong), right / sum(len(found[kind]) for kind in ALIKE)
    each = " | ".join(f"{hits[kind]}/{len(found[kind])}" for kind in (*ALIKE, "apart"))
    return f"| {tau:.2f} | {precision:.2f} | {recall:.2f} | {each} |"


def test_there_are_enough_pairs():
    assert len(PAIRS) >= 60
    assert sum(kind == "apart" for kind, *_ in PAIRS) >= 20


def test_the_table_of_the_page_is_what_is_measured():
    found = similarities()
    rows = [row(tau, found) for tau in (0.96, 0.90, 0.80, 0.75, 0.70, 0.60, 0.50)]
    assert re.findall(r"^\| 0\.\d\d \|.*\|$", PAGE, re.MULTILINE) == rows, "\n".join(rows)


@pytest.mark.parametrize(("kind", "one", "other"), PAIRS)
def test_spacing_merges_and_a_near_miss_never_does(kind, one, other):
    graph = QueryGraph(GraphConfig(), clock=Clock())
    same = graph.upsert_query(one) == graph.upsert_query(other)
    if kind == "spacing":
        assert same
    if kind == "apart":
        assert not same


def test_at_the_recommended_setting_most_paraphrases_link():
    graph = QueryGraph(GraphConfig(tau_sim=0.6), clock=Clock())
    linked = 0
    for kind, one, other in PAIRS:
        if kind in ("particle", "order", "ending"):
            graph = QueryGraph(GraphConfig(tau_sim=0.6), clock=Clock())
            graph.upsert_query(one)
            linked += bool(graph.edges(graph.upsert_query(other)))
    assert linked >= 20


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ＰＤＦ 파일", "pdf파일"),
        ("회의실  예약은?!", "회의실 예약은"),
        ("１,０００원", "1000 원"),
        ("Where's Maria?", "WHERES MARIA"),
        ("\u1100\u1161\u11a8", "각"),
        ("STRASSE", "straße"),
    ],
)
def test_one_key_for_what_is_written_otherwise(one, other):
    assert canonical_key(one) == canonical_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("C++ 설치", "C 설치"),
        ("C# 설치", "C 설치"),
        ("3.5점", "35점"),
        ("10:30", "1030"),
        ("50%", "50"),
        ("영하 -5도", "영하 5도"),
        ("왜?", "뭐?"),
    ],
)
def test_another_key_for_what_means_something_else(one, other):
    assert canonical_key(one) != canonical_key(other)


def test_a_text_of_marks_alone_and_scripts_with_vowel_signs_keep_them():
    assert normalised(" ?! ") == "?!"
    assert normalised("कहाँ है?") == "कहाँहै"
    assert normalised("👍 👍") == "👍👍"
