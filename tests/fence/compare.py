"""What must stay as it is while the code changes: histories, answers to people, transcripts and prompts, kept as files.

    python tests/fence/compare.py                 compare everything with the files; show what differs
    python tests/fence/compare.py answers prompts compare these
    python tests/fence/compare.py --write         keep what is there now

Each file belongs to one part and one scenario, such as `answers/sijang.txt`. A change that is meant to alter what
characters do or say writes the files anew, and its difference is read before it is committed.
"""

from __future__ import annotations

import argparse
import asyncio
import lzma
import sys
import tempfile
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import unified_diff
from itertools import product
from pathlib import Path
from typing import Any

from commonplace import create_run
from commonplace.minds.mind import Ask, Reply, RequestKey
from commonplace.minds.offline.mind import OfflineMind
from commonplace.minds.prompts.book import PromptBook
from commonplace.minds.prompts.prompt import setting_of
from commonplace.registry import TASKS
from commonplace.run.reading import Reading
from commonplace.scenario.compiling import load
from commonplace.talk import ask_character, view_at

FOLDER = Path(__file__).parent
TWO_DAYS = 576
STEP = 48
"""Ticks from one pair of digests to the next: of a town, four hours."""
SEEDS = (7, 11, 23)
TOWNS = ("latticeville", "plaza", "sijang")
DUETS = ("sitcom", "sitcom-en")
PANELS = {"dialectic": "Is a town kinder than a city?", "dialectic-ko": "마을이 도시보다 더 다정할까?"}
"""Panel → what it is asked."""
TURNS = 60
"""Ticks of a duet or panel."""
NOON, EVENING = 360, 470
QUESTIONS: Mapping[str, Sequence[str]] = {
    "latticeville": (
        "Who are you?",
        "What do you do?",
        "What are you doing?",
        "Who is here with you?",
        "What did you do today?",
        "What were you doing at ten?",
        "Whom did you meet yesterday?",
        "What was the best thing today?",
        "What will you do tonight?",
        "Who is your best friend?",
        "What do you think of Ezekiel?",
        "How do you know Mira?",
        "When did you last talk to Odalys, and about what?",
        "What did Suki tell you?",
        "Where is Jun?",
        "Have you heard of the lantern festival?",
        "Who told you about the festival?",
        "What do you think of the flood?",
        "Why did you go to the noodle bar?",
        "How are you?",
        "Is there any news?",
        "Do you have a secret?",
        "What happened to the drone?",
    ),
    "sijang": (
        "누구세요?",
        "무슨 일을 하세요?",
        "지금 뭐 하세요?",
        "지금 누구와 같이 있어요?",
        "오늘 뭐 했어요?",
        "열 시에 뭐 하고 있었어요?",
        "어제 누구를 만났어요?",
        "오늘 제일 좋았던 일이 뭐예요?",
        "오늘 저녁에 뭐 할 거예요?",
        "제일 친한 친구가 누구예요?",
        "덕배에 대해 어떻게 생각해요?",
        "순자를 어떻게 알아요?",
        "미정과 마지막으로 언제 이야기했어요?",
        "지우가 무슨 말을 했어요?",
        "태식은 어디 있어요?",
        "노래자랑 이야기 들었어요?",
        "누가 노래자랑 이야기를 해 줬어요?",
        "날씨 어때요?",
        "왜 시장에 갔어요?",
        "잘 지내요?",
        "무슨 새 소식 있어요?",
        "비밀이 있어요?",
        "요즘 뭘 배웠어요?",
    ),
}


@contextmanager
def lived(scenario: str, seed: int, ticks: int, **options: Any) -> Generator[Reading]:
    """A run of that many ticks, or of all that a panel has."""

    async def live(path: Path) -> None:
        with create_run(path, scenario, seed, prompt=PANELS.get(scenario, ""), **options) as run:
            async for _ in run.play(ticks):
                pass

    with tempfile.TemporaryDirectory(prefix="commonplace-") as folder:
        path = Path(folder) / "lived.run"
        asyncio.run(live(path))
        with Reading.open(path) as reading:
            yield reading


def histories(reading: Reading) -> str:
    """Tick, history digest, state digest, to the end."""
    return until(reading, reading.last_tick)


def until(reading: Reading, last: int) -> str:
    """Tick, history digest, state digest."""
    ticks = [*range(STEP, last, STEP), last]
    return "".join(f"{tick:>4} {reading.digest(tick)} {reading.digest(tick, state=True)}\n" for tick in ticks)


def answers(reading: Reading) -> str:
    """What everybody answers at noon and in the evening of the second day, with the memories it rests on."""
    mind = OfflineMind(reading.scenario.language)
    lines: list[str] = []
    for tick in (NOON, EVENING):
        for agent in reading.agent_ids:
            view = view_at(reading, agent, tick)
            lines.append(f"── tick {tick}, {agent}")
            for question in QUESTIONS[reading.scenario.part.name]:
                said = asyncio.run(ask_character(view, question, mind, seed=1))
                lines += [question, f"    {said.answer}  {list(said.because)}"]
    return "\n".join([*lines, ""])


def transcript(reading: Reading) -> str:
    """What was said, line by line."""
    said = reading.events(type="SAY")
    return "".join(f"{event.tick:>3} {event.agent_id}: {event.body.utterance}\n" for event in said)


class Asked(OfflineMind):
    """The offline mind under the name of a model, so that it is asked what a model is asked; keeps the prompts."""

    name = "ollama:"

    def __init__(self, scenario: str, small: Collection[str] = ()) -> None:
        loaded = load(scenario)
        super().__init__(loaded.language)
        self._book = PromptBook(loaded.language, setting_of(loaded), small=small)
        self._small = small
        self.prompts: list[str] = []

    def answer(self, ask: Ask[Any, Any], request_key: RequestKey) -> Reply:
        if ask.task.name in self._small if self._small else ask.task.scene is not None:
            prompt = self._book.prompt(ask)
            which = f"t{request_key.tick}.{request_key.agent}.{request_key.number}"
            self.prompts.append(f"══ {which} {prompt.task}\n{prompt.text}\n")
        return super().answer(ask, request_key)


def prompts(scenario: str, ticks: int = TWO_DAYS // 2) -> str:
    """Every prompt of a day, or of its first ticks; for a name such as `plaza-small` those in the small form."""
    town = scenario.removesuffix(SMALL)
    mind = Asked(town, [name for name, row in TASKS.items() if row.small] if town != scenario else ())
    with lived(town, SEEDS[0], ticks, mind=mind):
        return "\n".join(mind.prompts)


PARTS: Mapping[str, Mapping[str, Callable[[Reading], str]]] = {
    "histories": dict.fromkeys((*TOWNS, *DUETS, *PANELS), histories),
    "answers": dict.fromkeys(QUESTIONS, answers),
    "transcripts": dict.fromkeys((*DUETS, *PANELS), transcript),
}
"""Part → scenario → what is read of a run of it."""
SMALL = "-small"
WITH_PROMPTS = ("latticeville", "sijang", f"plaza{SMALL}", f"sijang{SMALL}")


def kept(part: str, name: str) -> str:
    """What the file of a part and a scenario holds; empty without one."""
    path = _path(part, name)
    if not path.exists():
        return ""
    return lzma.decompress(path.read_bytes()).decode() if path.suffix == ".xz" else path.read_text(encoding="utf-8")


def keep(part: str, name: str, text: str) -> None:
    """Replace that file."""
    path = _path(part, name)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(lzma.compress(text.encode(), preset=9) if path.suffix == ".xz" else text.encode())


def _path(part: str, name: str) -> Path:
    return FOLDER / part / f"{name}.{'txt.xz' if part == 'prompts' else 'txt'}"


def of_a_run(scenario: str, seed: int, parts: Collection[str]) -> Iterator[tuple[str, str, str]]:
    """(part, name of its file, text) that a run holds: its histories, and with the first seed the rest."""
    read = {part: scenarios[scenario] for part, scenarios in PARTS.items() if part in parts and scenario in scenarios}
    if seed != SEEDS[0]:
        read = {part: reader for part, reader in read.items() if part == "histories"}
    if read:
        with lived(scenario, seed, TWO_DAYS if scenario in TOWNS else TURNS) as reading:
            for part, reader in read.items():
                yield part, f"{scenario}-{seed}" if part == "histories" else scenario, reader(reading)


def now(parts: Collection[str]) -> Iterator[tuple[str, str, str]]:
    """(part, name of its file, text) of all that the parts hold."""
    for scenario, seed in product(PARTS["histories"], SEEDS):
        yield from of_a_run(scenario, seed, parts)
    if "prompts" in parts:
        yield from (("prompts", scenario, prompts(scenario)) for scenario in WITH_PROMPTS)


def difference(part: str, name: str, text: str, most: int = 40, only: int | None = None) -> str:
    """The first lines that differ from the file, or from so many of its first characters; empty if none does."""
    before = kept(part, name)[:only]
    if before == text:
        return ""
    lines = unified_diff(before.splitlines(), text.splitlines(), f"{part}/{name}", "now", lineterm="", n=1)
    shown = [line for line, _ in zip(lines, range(most), strict=False)]
    return "\n".join(shown)


def main() -> int:
    """Compare, or write; status 1 if something differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    every = [*PARTS, "prompts"]
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(every)}; all if none is named")
    parser.add_argument("--write", action="store_true", help="keep what is there now")
    given = parser.parse_args()
    if unknown := sorted({*given.parts} - {*every}):
        parser.error(f"there is no part {unknown[0]!r}; the parts are {', '.join(every)}")
    differs = 0
    for part, name, text in now(given.parts or every):
        if given.write:
            keep(part, name, text)
        elif shown := difference(part, name, text):
            differs += 1
            print(shown)
    print(f"{differs} files differ", file=sys.stderr)
    return int(differs > 0)


if __name__ == "__main__":
    raise SystemExit(main())
