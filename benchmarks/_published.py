"""Readers of conversations that others published, with questions whose evidence is known."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

from _conversations import Asked, Dialogue

BEGIN = datetime(2021, 1, 1, tzinfo=UTC)
"""The time of turns that have none."""


class Published(NamedTuple):
    """A set as its authors publish it."""

    name: str
    files: tuple[str, ...]
    """Patterns of file names. Those of the first pattern that finds any are read."""
    form: str
    """What a file holds; `…` is what is not read."""
    read: Callable[[str, Any], Iterator[Dialogue]]
    """(name of a file, its JSON or that of a line) → dialogues."""

    def dialogues(self, path: Path) -> list[Dialogue]:
        """Reads a file, or the files of a folder in the order of their names. Exits with what was expected where there
        is none, or where one has another form. Questions without evidence are left out."""
        files = [path] if path.is_file() else next(filter(None, (sorted(path.glob(one)) for one in self.files)), [])
        expected = f"expected {' or '.join(self.files)} with {self.form}"
        if not files:
            raise SystemExit(f"{self.name}: nothing to read at {path}; {expected}")
        found: list[Dialogue] = []
        for file in files:
            text = file.read_text(encoding="utf-8")
            try:
                for part in text.splitlines() if file.suffix == ".jsonl" else [text]:
                    found += self.read(file.stem, json.loads(part))
            except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
                raise SystemExit(f"{self.name}: {file} has another form ({error!r}); {expected}") from error
        found = [one._replace(asked=[entry for entry in one.asked if entry.evidence]) for one in found]
        if not any(one.asked for one in found):
            raise SystemExit(f"{self.name}: {path} has no question with evidence; {expected}")
        return found


def said(speaker: str, text: str, caption: str | None = None) -> str:
    return f"{speaker}: {text} [{caption}]" if caption else f"{speaker}: {text}"


def utc(text: str, form: str) -> datetime:
    return datetime.strptime(text, form).replace(tzinfo=UTC)


def places(turns: Sequence[Mapping[str, Any]], key: str, ids: Iterator[Any] | Sequence[Any]) -> frozenset[int]:
    """Returns the positions of the turns with these ids."""
    known = {turn[key]: place for place, turn in enumerate(turns)}
    return frozenset(known[id] for id in ids if id in known)


def sessions(data: Mapping[str, Any]) -> list[tuple[str, list[dict[str, Any]]]]:
    """Returns `session_1`, `session_2` … with their turns."""
    numbers = sorted(int(key.removeprefix("session_")) for key in data if re.fullmatch(r"session_\d+", key))
    return [(f"session_{number}", data[f"session_{number}"]) for number in numbers]


def cited(turns: Sequence[Mapping[str, Any]], key: str, evidence: Sequence[str]) -> frozenset[int]:
    """Returns the positions of turns as people cite them: `D3:12`, `D3:12; D4:1`, `D:3:12`, `D3:05`, and `D3:12-D3:15`
    for all between."""
    known = {tuple(map(int, re.findall(r"\d+", turn[key]))): place for place, turn in enumerate(turns)}
    found: set[int] = set()
    for one in re.findall(r"D:?(\d+):(\d+)(?:\s*-\s*D?(\d+):(\d+))?", " ".join(evidence)):
        first, last = (
            known.get((int(session), int(turn))) for session, turn in (one[:2], one[2:] if one[2] else one[:2])
        )
        if first is not None and last is not None:
            found.update(range(first, last + 1))
    return frozenset(found)


def locomo(name: str, data: Any) -> Iterator[Dialogue]:
    for one in data if isinstance(data, list) else [data]:
        if "conversation" in one:
            talk, questions = one["conversation"], one["qa"]
            turns = [
                {**turn, "id": turn["dia_id"], "at": utc(talk[f"{session}_date_time"], "%I:%M %p on %d %B, %Y")}
                for session, turns in sessions(talk)
                for turn in turns
            ]
        else:
            questions = one["questions"]
            turns = [
                {
                    **turn,
                    "at": datetime.fromisoformat(turn["at"]).replace(tzinfo=UTC),
                    "blip_caption": turn.get("image_caption"),
                }
                for turn in one["turns"]
            ]
        yield Dialogue(
            str(one.get("sample_id", name)),
            [said(turn["speaker"], turn["text"], turn.get("blip_caption")) for turn in turns],
            [turn["at"] for turn in turns],
            [
                Asked(entry["question"], cited(turns, "id", entry.get("evidence", [])), str(entry.get("category", "")))
                for entry in questions
            ],
        )


def realtalk(name: str, data: Any) -> Iterator[Dialogue]:
    turns = [turn for _, turns in sessions(data) for turn in turns]
    yield Dialogue(
        name,
        [said(turn["speaker"], turn["clean_text"], turn.get("blip_caption")) for turn in turns],
        [utc(turn["date_time"], "%d.%m.%Y, %H:%M:%S") for turn in turns],
        [
            Asked(entry["question"], cited(turns, "dia_id", entry["evidence"]), str(entry["category"]))
            for entry in data["qa"]
        ],
    )


def friendsqa(_: str, data: Any) -> Iterator[Dialogue]:
    for scene in data["data"]:
        for paragraph in scene["paragraphs"]:
            turns = paragraph["utterances:"]
            speakers = [" and ".join(turn["speakers"]).replace("#ALL#", "All") for turn in turns]
            yield Dialogue(
                scene["title"],
                [
                    turn["utterance"] if speaker == "#NOTE#" else said(speaker, turn["utterance"])
                    for speaker, turn in zip(speakers, turns, strict=True)
                ],
                [BEGIN] * len(turns),
                [
                    Asked(entry["question"], places(turns, "uid", [one["utterance_id"] for one in entry["answers"]]))
                    for entry in paragraph["qas"]
                ],
            )


def qmsum(name: str, data: Any) -> Iterator[Dialogue]:
    turns = data["meeting_transcripts"]
    yield Dialogue(
        name,
        [said(turn["speaker"], turn["content"]) for turn in turns],
        [BEGIN] * len(turns),
        [
            Asked(
                entry["query"],
                frozenset(n for first, last in entry["relevant_text_span"] for n in range(int(first), int(last) + 1)),
            )
            for entry in data["specific_query_list"]
        ],
    )


def memsim(name: str, data: Any) -> Iterator[Dialogue]:
    def at(text: str, otherwise: datetime = BEGIN) -> datetime:
        numbers = re.search(r"(\d+)年(\d+)月(\d+)日 \S+ (\d+):(\d+)\)?$", text)
        return datetime(*map(int, numbers.groups()), tzinfo=UTC) if numbers else otherwise

    kinds = {name: {"": data}} if isinstance(data, list) else data
    parts = {f"{kind} {scenario}".strip(): kinds[kind][scenario] for kind in kinds for scenario in kinds[kind]}
    for part, trajectories in parts.items():
        for one in trajectories:
            entry = one["QA"] if "QA" in one else one["question_list"][0]
            failed = entry["question"] == "[ERRORQ]" or entry["answer"] == "[ERRORA]"
            asked = Asked(
                entry["question"], frozenset([] if failed else entry["target_step_id"]), part, at(entry["time"])
            )
            messages = one["message_list"]
            if all(isinstance(message, str) for message in messages):  # among others, which have no time
                texts, times = (
                    messages,
                    list(accumulate(messages, lambda before, text: at(text, before), initial=BEGIN))[1:],
                )
            else:
                texts, times = [m["message"] for m in messages], [at(m["time"]) for m in messages]
            yield Dialogue(f"{part} {one['tid']}", texts, times, [asked])


def longmemeval(_: str, data: Any) -> Iterator[Dialogue]:
    for one in data:
        dates = [utc(date, "%Y/%m/%d (%a) %H:%M") for date in one["haystack_dates"]]
        talks = sorted(zip(dates, one["haystack_sessions"], strict=True), key=lambda talk: talk[0])
        turns = [(at, turn) for at, talk in talks for turn in talk]
        answers = frozenset(place for place, (_, turn) in enumerate(turns) if turn.get("has_answer"))
        at = utc(one["question_date"], "%Y/%m/%d (%a) %H:%M")
        unanswered = one["question_id"].endswith("_abs")
        yield Dialogue(
            one["question_id"],
            [said(turn["role"], turn["content"]) for _, turn in turns],
            [at for at, _ in turns],
            [Asked(one["question"], frozenset() if unanswered else answers, one["question_type"], at)],
        )


LOCOMO = Published(
    "LoCoMo",
    ("locomo10.json", "*.json"),
    "[{conversation: {session_1_date_time, session_1: [{speaker, dia_id, text, …}], …}, qa: [{question, evidence}]}]",
    locomo,
)
"""A file of one dialogue with `turns` (id, at, speaker, text, image_caption) and `questions` is read, too."""
REALTALK = Published(
    "REALTALK",
    ("Chat_*.json",),
    "{session_1: [{speaker, dia_id, clean_text, date_time, …}], …, qa: [{question, evidence, category, …}]}",
    realtalk,
)
FRIENDSQA = Published(
    "FriendsQA",
    ("friendsqa_*.json",),
    "{data: [{title, paragraphs: [{'utterances:': [{uid, speakers, utterance}], qas: [{question, answers, …}]}]}]}",
    friendsqa,
)
QMSUM = Published(
    "QMSum",
    ("*.jsonl",),
    "a meeting a line: {meeting_transcripts: [{speaker, content}], specific_query_list: [{query, relevant_text_span}]}",
    qmsum,
)
MEMSIM = Published(
    "MemSim",
    ("memdaily.json", "0?_*.json"),
    "{type: {scenario: [{tid, message_list: [{mid, message, time}], QA: {question, target_step_id, time, …}}]}}",
    memsim,
)
LONGMEMEVAL = Published(
    "LongMemEval",
    ("longmemeval_s.json", "longmemeval_s_cleaned.json"),
    "[{question_id, question_type, question, question_date, haystack_dates, haystack_sessions: [[{role, content}]]}]",
    longmemeval,
)
PUBLISHED = (LOCOMO, REALTALK, FRIENDSQA, QMSUM, MEMSIM, LONGMEMEVAL)
