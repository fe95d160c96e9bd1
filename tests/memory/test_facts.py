"""Facts that somebody finds in memories: each with its words, dropped without them, and never at the cost of a text."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.errors import CommonplaceError, UsageError
from commonplace.memory import Fact, FactsByMind, Memories, Memory, MemoryStream, Quote, RestatementRules
from commonplace.memory.explain import tree
from commonplace.minds.tasks import FactsOutput, StatedFact
from commonplace.testing import ScriptedMind
from commonplace.testing.server import Faults, ModelServer
from memory.naive import hours
from sizes import examples


class Notes:
    """Finds what a test says, or raises it, and keeps what it was asked."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[list[str], list[str]]] = []
        self.meanwhile: Callable[[], object] = lambda: None

    def __call__(self, memories: Sequence[Memory], before: Sequence[Memory]) -> Any:
        self.asked.append(([one.full_text for one in memories], [one.full_text for one in before]))
        self.meanwhile()
        answer = self.answers.pop(0) if self.answers else []
        if isinstance(answer, Exception):
            raise answer
        return answer


LYON = Fact("Klaus moved to Lyon.", "i MOVED  to lyon.")


def test_a_fact_is_a_memory_with_the_words_it_was_made_of():
    stream = MemoryStream("a", facts=Notes([LYON]))
    said = stream.remember(
        "Hi – I moved to Lyon, at last", at=hours(1), source="Klaus", session="s", place=("Town",), tags=["x"],
        valid_until=hours(9), expires_at=hours(8), importance=9,
    )  # fmt: skip
    [fact] = stream.facts_of([said.id])
    assert (fact.id, fact.text, fact.kind, fact.tags) == (2, "Klaus moved to Lyon.", "observation", ("fact",))
    assert (fact.created_at, fact.source, fact.session, fact.place) == (hours(1), "Klaus", "s", ("Town",))
    assert (fact.valid_until, fact.expires_at) == (hours(9), hours(8))
    assert fact.quotes == Quote(1, 5, 20, "I moved to Lyon")
    assert said.full_text[5:20] == "I moved to Lyon"
    assert "facts_error" not in said.details
    assert stream.get(1) == said
    assert stream.unextracted == ()
    hits = stream.recall("Lyon", at=hours(2), tags=["fact"])
    assert "#2 Klaus moved to Lyon. (from #1: “I moved to Lyon”)" in stream.explain(hits)
    assert tree(stream, 2).splitlines()[1].strip().startswith("#1 observation 9")


@pytest.mark.parametrize("words", ["I live in Lyon", "", "…", "art", "moved Lyon", "oved to Lyo"])
def test_a_fact_whose_words_were_not_said_is_dropped_and_counted(words):
    stream = MemoryStream("a", facts=Notes([Fact("x y", words), LYON, LYON]))
    said = stream.remember("I started well: I moved to Lyon", at=hours(1))
    assert [one.text for one in stream.facts_of([1])] == [LYON.text]
    assert said.details["facts_dropped"] == 1
    assert stream.unextracted == ()


def test_words_are_looked_for_in_the_line_named_else_where_they_are_alone():
    said = ["yes, both", "Yes, both of “them”", "we are five"]
    found = [
        Fact("one", "yes", 2),
        Fact("two", "We are five", 1),
        Fact("three", "yes, both", 3),  # which?
        Fact("four", 'both of "them"', 99),
    ]
    stream = MemoryStream("a", facts=Notes(found))
    memories = stream.add_many(said, at=hours(1))
    quoted = {one.text: one.quotes.id for one in stream.search(tags=["fact"]) if one.quotes}
    assert quoted == {"one": 2, "two": 3, "four": 2}
    assert [one.details.get("facts_dropped") for one in memories] == [None, None, 1]


def test_signs_that_a_prompt_replaces_are_no_other_words():
    stream = MemoryStream("a", facts=Notes([Fact("x y", "buy 'rye' (two)")]))
    stream.remember("Please buy “rye” [two]!", at=hours(1))
    assert [one.quotes.words for one in stream.facts_of([1]) if one.quotes] == ["buy “rye” [two]"]


@examples(100)
@given(text=st.text(min_size=1, max_size=40), start=st.integers(0, 40), end=st.integers(0, 40), upper=st.booleans())
def test_the_place_of_words_is_that_of_what_it_shows(text, start, end, upper):
    try:
        stream = MemoryStream("a")
        whole = stream.remember(text, at=hours(0)).full_text
    except UsageError:
        return
    words = whole[start:end].upper() if upper else whole[start:end]
    stream.facts = Notes([Fact("it is so", words)])
    found = stream.extract([1])
    assert len(found.facts) + found.dropped == 1
    for fact in found.facts:
        quote = fact.quotes
        assert quote is not None and whole[quote.start : quote.end] == quote.words != ""


@pytest.mark.parametrize("bad", [CommonplaceError("no server"), [("only one",)], ["text"], [Fact(1, 2)], 7, None])
def test_a_failure_costs_the_facts_and_not_the_memory(bad, caplog, tmp_path):
    with MemoryStream.open(tmp_path / "a.db", "a", facts=Notes(bad)) as stream:
        with caplog.at_level(logging.WARNING, "commonplace.memory"):
            said = stream.remember("I moved to Lyon", at=hours(1), details={"note": 1})
        assert "the facts of a failed" in caplog.text
        assert said.details["facts_error"] and len(stream) == 1
    with MemoryStream.open(tmp_path / "a.db", "a", facts=Notes(bad, [LYON])) as stream:
        assert stream.unextracted == (1,)
        assert stream.extract().failed == (1,)
        assert [one.text for one in stream.extract().facts] == [LYON.text]
        assert stream.unextracted == () and dict(stream.get(1).details) == {"note": 1}
        assert stream.extract().facts == []


def test_a_process_that_dies_while_the_mind_thinks_has_kept_the_text(tmp_path):
    class Killed(BaseException):
        pass

    def die():
        raise Killed

    notes = Notes()
    notes.meanwhile = die
    with MemoryStream.open(tmp_path / "a.db", "a", facts=notes) as stream, pytest.raises(Killed):
        stream.remember("I moved to Lyon", at=hours(1))
    with MemoryStream.open(tmp_path / "a.db", "a") as stream:
        assert (stream.get(1).text, stream.unextracted) == ("I moved to Lyon", (1,))
        with pytest.raises(UsageError, match="finds no facts"):
            stream.extract()


def test_asking_again_replaces_the_facts_of_before():
    stream = MemoryStream("a", facts=Notes([LYON], CommonplaceError("down"), [LYON._replace(text="K. is in Lyon")]))
    stream.remember("I moved to Lyon", at=hours(1))
    assert stream.extract([1]).failed == (1,)
    assert [one.id for one in stream.facts_of([1])] == [2]
    stream.extract()
    assert [(one.id, one.text) for one in stream.facts_of([1])] == [(3, "K. is in Lyon")]


def test_a_text_that_changes_is_asked_about_again_and_one_that_goes_meanwhile_gets_no_facts():
    notes = Notes([LYON])
    stream = MemoryStream("a", facts=notes)
    stream.remember("I moved to Lyon", at=hours(1))
    stream.revise(1, text="I moved to Nice", at=hours(2))
    assert stream.unextracted == (1,)
    [fact] = stream.facts_of([1])
    assert fact.quotes and fact.quotes.words == "I moved to Lyon"
    for meanwhile in (lambda: stream.revise(1, text="I moved away", at=hours(3)), lambda: stream.forget([1])):
        notes.answers, notes.meanwhile = [[Fact("Klaus is in Nice", "I moved")]], meanwhile
        stream.extract()
        assert stream.search(text="Nice", tags=["fact"]) == []


def test_a_fact_stays_when_its_source_is_forgotten_unless_it_is_named_too():
    stream = MemoryStream("a", facts=Notes([LYON], [LYON]))
    stream.add_many(["I moved to Lyon"], at=hours(1))
    stream.forget([1])
    assert [one.quotes.words for one in stream if one.quotes] == ["I moved to Lyon"]
    assert tree(stream, 2).splitlines()[1] == "  #1 (forgotten)"
    stream.remember("I moved to Lyon", at=hours(2))
    stream.forget([3, *(fact.id for fact in stream.facts_of([3]))])
    assert [one.id for one in stream] == [2]


def test_what_is_asked_about_at_once_and_what_is_told_besides():
    notes = Notes()
    stream = MemoryStream("a", facts=notes)
    stream.add_many([{"text": f"a{n}", "session": "s"} for n in range(25)], at=hours(1))
    assert [len(some) for some, _ in notes.asked] == [20, 5]
    assert notes.asked[1][1] == ["a16", "a17", "a18", "a19"]
    stream.remember("b", at=hours(2), session="other")
    assert notes.asked[-1] == (["b"], [])
    stream.remember("c", at=hours(2), session="s")
    assert notes.asked[-1] == (["c"], ["a21", "a22", "a23", "a24"])
    stream.remember("d", at=hours(30), session="s")
    assert notes.asked[-1] == (["d"], [])
    stream.remember("e" * 7000, at=hours(31), session="s")
    assert (len(notes.asked[-1][0][0]), notes.asked[-1][1]) == (7000, ["d"])


def test_plans_and_reflections_are_not_asked_about():
    notes = Notes()
    stream = MemoryStream("a", facts=notes)
    stream.remember("bread", at=hours(1), kind="plan")
    stream.remember("I like bread", at=hours(1), kind="reflection", citations=[1])
    stream.revise(1, text="milk")
    assert notes.asked == [] and stream.unextracted == ()


def test_a_fact_supersedes_what_was_said_before_its_source_and_nothing_later():
    notes = Notes(
        [Fact("Anna lives in Seoul.", "I live in Seoul", 1), Fact("Anna now lives in Busan.", "I moved to Busan", 2)],
        [Fact("Anna now lives in Daegu.", "moved to Daegu")],
    )
    stream = MemoryStream("anna", facts=notes, restatements=RestatementRules())
    stream.add_many(["I live in Seoul", "I moved to Busan"], at=hours(1))
    assert {one.id: one.supersedes for one in stream} == {1: (), 2: (1,), 3: (), 4: (1, 3)}
    stream.remember("I moved to Daegu", at=hours(9))
    hits = stream.recall("Where does Anna live?", at=hours(10), tags=["fact"], current=True)
    assert next(one.memory.text for one in hits) == "Anna now lives in Daegu."
    assert all(id < 5 for id in stream.get(6).supersedes) and 4 in stream.get(6).supersedes


def test_facts_find_their_sources_in_another_stream(tmp_path):
    stream = MemoryStream("a", facts=Notes([], [LYON]))
    stream.remember("hello", at=hours(1))
    stream.remember("I moved to Lyon", at=hours(1))
    stream.export(tmp_path / "a.jsonl")
    other = MemoryStream("b", facts=Notes())
    other.remember("first", at=hours(0))
    other.import_(tmp_path / "a.jsonl")
    assert other.get(4).quotes == Quote(3, 0, 15, "I moved to Lyon")
    lines = (tmp_path / "a.jsonl").read_text(encoding="utf-8").splitlines()
    (tmp_path / "b.jsonl").write_text(lines[2], encoding="utf-8")
    assert other.import_(tmp_path / "b.jsonl")[0].quotes == Quote(0, 0, 15, "I moved to Lyon")
    hits = other.recall("Klaus", at=hours(2), tags=["fact"])
    assert "(from #3: “" in other.explain(hits) and "(from elsewhere: “" in other.explain(hits)


@pytest.mark.parametrize("given", [None, 7, "text", {}, {"id": "1"}, {"id": 1, "start": 0, "end": 2}])
def test_what_others_keep_under_that_name_is_no_quotation(given):
    stream = MemoryStream("a")
    memory = stream.remember("bread", at=hours(1), details={"quotes": given})
    assert memory.quotes is None
    assert "from" not in stream.explain(stream.recall("bread", at=hours(2)))


def test_an_index_and_a_pool_keep_who_finds_facts(tmp_path):
    notes, rules = Notes(), RestatementRules()
    with MemoryStream.open(tmp_path / "a.db", "a") as stream:
        stream.add_many([f"line {n}" for n in range(1100)], at=hours(1))
    with MemoryStream.open(tmp_path / "a.db", "a", facts=notes, restatements=rules) as stream:
        assert (stream.facts, stream.restatements) == (notes, rules)
    with Memories(tmp_path / "a.db", facts=notes) as memories, memories.stream("a") as stream:
        stream.remember("I moved to Lyon", at=hours(2))
    assert notes.asked[-1][0] == ["I moved to Lyon"]


# ── by a mind ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_mind_finds_facts_over_http_also_within_an_event_loop():
    with ModelServer() as server:
        stream = MemoryStream("a", facts=FactsByMind(server.url))

        async def said() -> None:
            await stream.aremember("I moved to Lyon. Where is Jun?", at=hours(1), source="Klaus")
            stream.remember("나는 부산으로 이사했다", at=hours(2))

        asyncio.run(said())
        assert [one.text for one in stream if one.quotes] == ["I moved to Lyon.", "나는 부산으로 이사했다"]
        stream.facts = None
        stream.remember("Ida is my sister", at=hours(3))
        stream.facts = FactsByMind(server.url)
        assert len(asyncio.run(stream.aextract([5])).facts) == 1


def test_a_server_that_is_down_or_answers_badly_loses_nothing():
    with ModelServer(faults=Faults(rate=1, kinds=("wrong_schema",))) as server:
        stream = MemoryStream("a", facts=FactsByMind(server.url))
        stream.remember("I moved to Lyon", at=hours(1))
    stream.remember("I like tea", at=hours(1) + timedelta(minutes=1))
    assert stream.unextracted == (1, 2)
    assert all("found no facts" in stream.get(id).details["facts_error"] for id in (1, 2))
    with ModelServer(faults=Faults(rate=1, kinds=("fenced",))) as server:
        stream.facts = FactsByMind(server.url)
        assert [one.text for one in stream.extract().facts] == ["I moved to Lyon", "I like tea"]


def test_a_mind_of_ones_own_and_a_name_of_none():
    answer = FactsOutput(facts=(StatedFact(fact="Klaus is in Lyon.", line=1, words="Lyon"),))
    mind = ScriptedMind({"facts": lambda inputs, key: answer})
    stream = MemoryStream("a", facts=FactsByMind(mind))
    stream.remember("Lyon!", at=hours(1), source="Klaus")
    assert [one.text for one in stream.facts_of([1])] == ["Klaus is in Lyon."]
    asked = mind.asked[0][1].input
    assert (asked.lines[0].speaker, asked.day) == ("Klaus", f"{hours(1):%A %Y-%m-%d}")
    offline = MemoryStream("a", facts=FactsByMind("offline"))
    offline.remember("I moved to Lyon. Really?", at=hours(1))
    assert len(offline.facts_of([1])) == 1
    with pytest.raises(UsageError, match="not the name of a model server"):
        FactsByMind("klaus")
