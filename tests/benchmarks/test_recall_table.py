"""Published conversations, each in a tiny file of its form, and the table that `benchmarks/recall_table.py` makes."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from measuring import program

TABLE = program("recall_table")
READERS = {published.name: published for published in program("_published").PUBLISHED}

LOCOMO = {
    "sample_id": "conv-1",
    "conversation": {
        "speaker_a": "Ida",
        "speaker_b": "Bo",
        "session_2_date_time": "12:09 am on 13 September, 2023",
        "session_2": [{"speaker": "Bo", "dia_id": "D2:1", "text": "The kayak leaks"}],
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Ida", "dia_id": "D1:1", "text": "Look", "blip_caption": "a red kayak", "img_url": ["x"]},
            {"speaker": "Bo", "dia_id": "D1:2", "text": "Lovely"},
        ],
        "session_3_date_time": "1:56 pm on 8 October, 2023",
    },
    "qa": [
        {"question": "What did Ida buy?", "answer": "a kayak", "evidence": ["D1:1"], "category": 4},
        {"question": "What of it?", "answer": 2, "evidence": ["D:1:02; D2:1", "D7:1"], "category": 1},
        {"question": "Who sank?", "adversarial_answer": "Bo", "evidence": [], "category": 5},
    ],
}
PREPARED = {
    "name": "26",
    "turns": [
        {
            "id": "D1:1",
            "session": 1,
            "at": "2023-05-08T13:56:00",
            "speaker": "Ida",
            "text": "Look",
            "image_caption": "a cat",
        },
    ],
    "questions": [{"question": "What did Ida show?", "category": 4, "evidence": ["D1:1"]}],
}
REALTALK = {
    "name": {"speaker_1": "Ida", "speaker_2": "Bo"},
    "session_1": [
        {"clean_text": f"Line {n}", "speaker": "Ida", "date_time": f"29.12.2023, 22:4{n}:04", "dia_id": f"D1:{n}"}
        for n in (1, 2, 3, 4)
    ],
    "events_session_1": {"agent_a": [], "agent_b": []},
    "qa": [{"question": "Which lines?", "answer": "all", "evidence": ["D1:2-D1:4"], "category": 1}],
}
FRIENDSQA = {
    "version": "2.0",
    "data": [
        {
            "title": "s09_e01_c01",
            "paragraphs": [
                {
                    "utterances:": [
                        {"uid": 0, "speakers": ["#NOTE#"], "utterance": "[ A bakery . ]"},
                        {"uid": 1, "speakers": ["Ida", "Bo"], "utterance": "Bread !"},
                        {"uid": 2, "speakers": ["#ALL#"], "utterance": "Rolls !"},
                    ],
                    "qas": [
                        {
                            "id": "s09_e01_c01_What",
                            "question": "What is sold ?",
                            "answers": [
                                {"answer_text": "Bread", "utterance_id": 1, "inner_start": 0, "is_speaker": False},
                                {"answer_text": "Rolls", "utterance_id": 2, "inner_start": 0, "is_speaker": False},
                            ],
                        }
                    ],
                }
            ],
        }
    ],
}
QMSUM = {
    "topic_list": [{"topic": "Price", "relevant_text_span": [["0", "3"]]}],
    "general_query_list": [{"query": "Summarize the whole meeting.", "answer": "Much was said."}],
    "specific_query_list": [
        {"query": "What of the price?", "answer": "High.", "relevant_text_span": [["0", "1"], ["3", "3"]]}
    ],
    "meeting_transcripts": [{"speaker": "Marketing", "content": f"Point {n} ."} for n in range(4)],
}
MEMSIM_QA = {
    "qid": 0,
    "question": "我去哪里？",
    "answer": "杭州",
    "target_step_id": [1],
    "time": "2024年04月04日 周四 07:42",
}
MEMSIM_MESSAGES = [
    {"mid": 0, "message": "今天下雨。", "time": "2024年04月01日 周一 08:30", "place": "上海"},
    {"mid": 1, "message": "我要去杭州。", "time": "2024年04月02日 周二 09:00", "place": "上海"},
]
MEMSIM = {"simple": {"places": [{"tid": 0, "message_list": MEMSIM_MESSAGES, "QA": MEMSIM_QA}]}}
MEMSIM_PARTS = [
    {"tid": 0, "message_list": MEMSIM_MESSAGES, "question_list": [MEMSIM_QA]},
    {"tid": 1, "message_list": MEMSIM_MESSAGES, "question_list": [{**MEMSIM_QA, "answer": "[ERRORA]"}]},
]
MEMSIM_NOISY = {
    "simple": {
        "places": [
            {
                "tid": 0,
                "message_list": [
                    "今天下雨。 (消息地点 上海, 消息时间 2024年04月01日 周一 08:30)",
                    "猫喝牛奶。",
                    "我要去杭州。 (消息地点 上海, 消息时间 2024年04月02日 周二 09:00)",
                ],
                "QA": {**MEMSIM_QA, "target_step_id": [2]},
            }
        ]
    }
}
LONGMEMEVAL = [
    {
        "question_id": id,
        "question_type": "single-session-user",
        "question": "Which instrument do I play?",
        "answer": "the oboe",
        "question_date": "2023/06/01 (Thu) 10:00",
        "haystack_session_ids": ["b", "a"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/01 (Mon) 09:00"],
        "haystack_sessions": [
            [{"role": "user", "content": "I play the oboe", "has_answer": True}],
            [{"role": "user", "content": "Hello", "has_answer": False}, {"role": "assistant", "content": "Hi"}],
        ],
        "answer_session_ids": ["b"],
    }
    for id in ("q1", "q2_abs")
]


def at(*numbers) -> datetime:
    return datetime(*numbers, tzinfo=UTC)


@pytest.mark.parametrize(
    ("name", "file", "published", "texts", "times", "evidence"),
    [
        (
            *("LoCoMo", "locomo10.json", [LOCOMO]),
            ["Ida: Look [a red kayak]", "Bo: Lovely", "Bo: The kayak leaks"],
            [at(2023, 5, 8, 13, 56), at(2023, 5, 8, 13, 56), at(2023, 9, 13, 0, 9)],
            {"What did Ida buy?": {0}, "What of it?": {1, 2}},
        ),
        (
            *("LoCoMo", "26.json", PREPARED),
            ["Ida: Look [a cat]"],
            [at(2023, 5, 8, 13, 56)],
            {"What did Ida show?": {0}},
        ),
        (
            *("REALTALK", "Chat_1_Ida_Bo.json", REALTALK),
            ["Ida: Line 1", "Ida: Line 2", "Ida: Line 3", "Ida: Line 4"],
            [at(2023, 12, 29, 22, 40 + n, 4) for n in (1, 2, 3, 4)],
            {"Which lines?": {1, 2, 3}},
        ),
        (
            *("FriendsQA", "friendsqa_dev.json", FRIENDSQA),
            ["[ A bakery . ]", "Ida and Bo: Bread !", "All: Rolls !"],
            None,
            {"What is sold ?": {1, 2}},
        ),
        (
            *("QMSum", "val.jsonl", QMSUM),
            [f"Marketing: Point {n} ." for n in range(4)],
            None,
            {"What of the price?": {0, 1, 3}},
        ),
        *(
            (
                *("MemSim", file, published),
                ["今天下雨。", "我要去杭州。"],
                [at(2024, 4, 1, 8, 30), at(2024, 4, 2, 9)],
                {"我去哪里？": {1}},
            )
            for file, published in (("memdaily.json", MEMSIM), ("01_simple_places.json", MEMSIM_PARTS))
        ),
        (
            *("MemSim", "memdaily.json", MEMSIM_NOISY),
            MEMSIM_NOISY["simple"]["places"][0]["message_list"],
            [at(2024, 4, 1, 8, 30), at(2024, 4, 1, 8, 30), at(2024, 4, 2, 9)],
            {"我去哪里？": {2}},
        ),
        (
            *("LongMemEval", "longmemeval_s.json", LONGMEMEVAL),
            ["user: Hello", "assistant: Hi", "user: I play the oboe"],
            [at(2023, 5, 1, 9), at(2023, 5, 1, 9), at(2023, 5, 20, 2, 21)],
            {"Which instrument do I play?": {2}},
        ),
    ],
)
def test_a_published_set_is_read(name, file, published, texts, times, evidence, tmp_path):
    (tmp_path / file).write_text(json.dumps(published), encoding="utf-8")
    first, *others = READERS[name].dialogues(tmp_path)
    assert first.texts == texts
    assert first.times == times if times else len(set(first.times)) == 1
    assert {entry.question: entry.evidence for entry in first.asked} == evidence
    assert not any(dialogue.asked for dialogue in others)
    assert READERS[name].dialogues(tmp_path / file) == [first, *others]


@pytest.mark.parametrize("name", READERS)
def test_what_is_missing_or_has_another_form_is_told(name, tmp_path):
    with pytest.raises(SystemExit, match=f"{name}: nothing to read at .*; expected .*json"):
        READERS[name].dialogues(tmp_path)
    other = tmp_path / READERS[name].files[-1].replace("*", "x").replace("?", "1")
    other.write_text('{"rows": {}}', encoding="utf-8")
    with pytest.raises(SystemExit, match=f"{name}: .* has (another form|no question with evidence).*; expected"):
        READERS[name].dialogues(other)


def test_questions_are_asked_at_their_time_but_after_the_last_turn(tmp_path):
    (tmp_path / "longmemeval_s.json").write_text(json.dumps(LONGMEMEVAL), encoding="utf-8")
    (dialogue, _) = READERS["LongMemEval"].dialogues(tmp_path)
    (entry,) = dialogue.asked
    assert entry.at == at(2023, 6, 1, 10)
    found = TABLE.through(TABLE.policies.RECALL)(dialogue)
    assert 2 in found(entry)
    assert 2 in found(entry._replace(at=at(2023, 5, 2)))


def test_the_table_has_ways_as_rows_and_sets_as_columns(tmp_path, monkeypatch, capsys):
    (tmp_path / "locomo10.json").write_text(json.dumps([LOCOMO]), encoding="utf-8")
    (tmp_path / "val.jsonl").write_text(json.dumps(QMSUM), encoding="utf-8")
    monkeypatch.setattr(TABLE, "WAYS", {"rival": (("no_such_package",), None)})
    monkeypatch.setattr(TABLE, "sentence_embedder", lambda folder: None)

    def printed(*options: str) -> tuple[list[str], str]:
        monkeypatch.setattr(
            "sys.argv", ["recall_table.py", "--locomo", str(tmp_path), "--qmsum", str(tmp_path), *options]
        )
        TABLE.main()
        out, err = capsys.readouterr()
        return out.splitlines(), err

    lines, progress = printed("--markdown")
    assert lines[0] == "| R@5 / R@10 | LoCoMo | QMSum |"
    assert "| turns | 3 | 4 |" in lines
    assert "| questions | 2 | 1 |" in lines
    assert "| recall | 1.000 / 1.000 | 1.000 / 1.000 |" in lines
    assert "rival is left out: no_such_package not installed" in progress
    assert "[meaning] is not installed" in progress
    objects: list[dict[str, Any]] = [json.loads(line) for line in printed("--json", "--limit", "1")[0]]
    assert {one["of"]: one["questions"] for one in objects} == {"LoCoMo": 1, "QMSum": 1}
    assert [one["what"] for one in objects if one["of"] == "QMSum"][:3] == ["most", "random", "BM25, words"]


def test_a_limit_spreads_questions_evenly():
    asked = [TABLE.Asked(str(n), frozenset([0])) for n in range(10)]
    dialogues = [TABLE.Dialogue(name, [""], [at(2023, 1, 1)], asked) for name in ("a", "b", "c")]
    left = TABLE.limited(dialogues, 3)
    assert [[entry.question for entry in dialogue.asked] for dialogue in left] == [["0"], ["0"], ["0"]]
    assert [dialogue.name for dialogue in TABLE.limited(dialogues, 2)] == ["a", "b"]
    assert TABLE.limited(dialogues, None) == TABLE.limited(dialogues, 30) == dialogues


@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # libraries warn of one another
@pytest.mark.parametrize("name", program("_rivals").WAYS)
def test_libraries_find_what_a_question_repeats(name):
    packages, make = program("_rivals").WAYS[name]
    if absent := program("_rivals").missing(packages):  # without importing them: mem0 reads its settings when imported
        pytest.skip(f"{', '.join(absent)} not installed")
    texts = ["Ida: I bake rye bread", "Bo: my kayak leaks", "Ida: the cellar is flooded"]
    dialogue = TABLE.Dialogue("a", texts, [at(2023, 1, 1)] * 3, [])
    found = make(TABLE.HashedEmbedder())(dialogue)
    assert found(TABLE.Asked("What leaks, the kayak?", frozenset()))[0] == 1
