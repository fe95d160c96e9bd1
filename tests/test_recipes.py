"""The recipes of CONTRIBUTING.md bring what they say when they are followed to the letter."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from processes import context

PROJECT = Path(__file__).parents[1]
_BLOCK = re.compile(
    r"^( *)```(?:python|toml|text)\n *# (\S+), (before|after|at the end|a new file):(?: ([^\n]+))?\n(.*?)^\1```$",
    re.MULTILINE | re.DOTALL,
)

A_PART_OF_A_SCORE = """
from dataclasses import replace
from datetime import UTC, datetime

from commonplace.memory import MemoryStream, policies

at = datetime(2031, 10, 4, tzinfo=UTC)
stream = MemoryStream("maria", policies.LEXICAL)
for text in ("Soup with bread for lunch, and an hour of talk about the old mill", "Soup"):
    stream.remember(text, at=at, importance=5)
detailed = replace(policies.LEXICAL, name="detailed", detail_weight=2.0)
for touch in (False, True, False):
    plain = stream.retrieve("soup", at=at, touch=touch)
    found = stream.retrieve("soup", at=at, policy=detailed, touch=touch)
    assert plain.ids == (2, 1) and "detail" not in plain[0].parts, plain.ids
    assert found.ids == (1, 2), found.ids
    for hit, tokens, share in zip(found, (17.0, 1.0), (1.0, 0.0), strict=True):
        assert hit.parts["detail"] == (tokens, share, 2.0), hit.parts
        assert abs(hit.score - sum(part.weight * part.normalised for part in hit.parts.values())) <= 2**-30
assert "17.0000 → 1.0000 × 2" in stream.explain(found)
assert "detail 1.0000 → 0.0000 × 2" in str(stream.why_not(2, stream.retrieve("soup", at=at, policy=detailed, k=1)))
"""
A_TOWN = r"""
import asyncio
from pathlib import Path

import commonplace

TOWN = '''
name: town
language: {language}
clock: {{start: "2031-10-04T{hour}:00:00", tick_minutes: 5}}
world:
  root: {{id: room, name: room, objects: [{{id: window, name: {window}, kind: window}}]}}
  kinds: {{window: {{states: [dirty, clean], words: {{dirty: {dirty}, clean: {clean}}}{kind}}}}}
characters:
'''
WHO = '''
  - id: {id}
    name: {name}
    age: 40
    pronoun: she
    work: {work}
    traits: [{work}]
    background: {work}
    goals: [{work}]
    home: room
    routine:
'''
STROKE = '      - {{at: "{hour}", do: {do}, place: room}}\n'
KEYS = ("a", "b", "work", "sleep", "window", "dirty", "clean")
NAMES = {
    "en": ("Ada Berg", "Ben Ito", "reading", "sleeping", "window", "is dirty", "is clean"),
    "ko": ("한지우", "박준", "책 읽기", "잠자기", "창문", "더럽다", "깨끗하다"),
}


def town(language, hour, kind=""):
    names = dict(zip(KEYS, NAMES[language]))
    day = "".join(STROKE.format(hour=at, do=names["work"]) for at in ("06:00", "09:00", "12:00", "18:00"))
    day += STROKE.format(hour="22:00", do=names["sleep"])
    people = [WHO.format(id=id, name=names[id], work=names["work"]) + day for id in "ab"]
    text = TOWN.format(language=language, hour=hour, kind=kind, **names) + "".join(people)
    Path(f"{language}.yaml").write_text(text, encoding="utf-8")
    return f"{language}.yaml"


async def played(run, ticks):
    async for _ in run.play(ticks=ticks):
        pass
"""
A_VERB_FOR_OBJECTS = (
    A_TOWN
    + """
from commonplace.views.lines import PlainLines

KIND = ", verbs: {CLEAN: [{from: dirty, to: clean}]}, refusals: {CLEAN clean: %s}"
IN = {
    "en": (
        "The window is clean already.",
        ("Ada Berg was cleaning the window.", "Ada Berg tried to clean the window, but the window is clean already."),
        ("Ada Berg is cleaning the window.", "Ada Berg tries to clean the window, but the window is clean already."),
        "Ada Berg cleans the window",
    ),
    "ko": (
        "창문은 벌써 깨끗하다.",
        ("한지우는 창문 닦는 중이었다.", "한지우는 창문을 닦으려 했지만, 창문은 벌써 깨끗하다."),
        ("한지우는 창문 닦는 중이다.", "한지우가 창문을 닦으려 하지만, 창문은 벌써 깨끗하다."),
        "한지우 창문 닦기",
    ),
}
CLEAN = dict(kind="take_over", agent_id="a", action=dict(kind="INTERACT", object_id="window", verb="CLEAN"))

for language, (refusal, own, seen, line) in IN.items():
    with commonplace.create_run(f"{language}.run", town(language, "10", KIND % refusal)) as run:
        view = PlainLines(run.scenario.part)
        for _ in range(2):
            run.submit(CLEAN)
            asyncio.run(played(run, 3))
    with commonplace.open_run(f"{language}.run") as reading:
        lines = [text.plain for frame in reading.frames() for text in view.lines(frame)]
        a, b = ([memory.text for memory in reading.memories(id)] for id in "ab")
    assert set(own) <= set(a), a
    assert set(seen) <= set(b), b
    assert any(text.endswith(line) for text in lines), lines
"""
)
A_TASK = (
    A_TOWN
    + """
from commonplace.minds.offline.mind import OfflineMind
from commonplace.minds.prompts.book import PromptBook
from commonplace.minds.prompts.prompt import setting_of
from commonplace.minds.several import GROUPS
from commonplace.scenario.compiling import load

IN = {
    "en": ("A day like a slow river", "What do you call this day?"),
    "ko": ("느린 강 같은 하루", "오늘 하루를 뭐라고 부르겠습니까?"),
}


class Listening(OfflineMind):
    def __init__(self, language, scenario):
        super().__init__(language)
        self.book, self.prompts, self.replies = PromptBook(language, setting_of(load(scenario))), [], []

    def answer(self, ask, request_key):
        reply = super().answer(ask, request_key)
        if ask.task.name == "title":
            self.prompts.append(self.book.prompt(ask).text)
            self.replies.append(reply.value)
        return reply


assert "title" in GROUPS["reflect"]
for language, (title, question) in IN.items():
    scenario = town(language, "20")
    mind = Listening(language, scenario)
    with commonplace.create_run(f"{language}.run", scenario, mind=mind) as run:
        asyncio.run(played(run, 13))
    assert [reply.title for reply in mind.replies] == [title, title], mind.replies
    assert all(reply.because and question in text for reply, text in zip(mind.replies, mind.prompts)), mind.prompts
    with commonplace.open_run(f"{language}.run") as reading:
        assert "title" in [row["task"] for row in reading.usage()], reading.usage()
        assert "title" in [one["task"] for one in reading.why("t12.a.0")["asked"]], reading.why("t12.a.0")
"""
)
AN_ACTION = (
    A_TOWN
    + """
from dataclasses import replace
from types import SimpleNamespace

from commonplace.minds.offline.mind import OfflineMind
from commonplace.minds.prompts.book import PromptBook
from commonplace.minds.prompts.prompt import setting_of
from commonplace.parts.terminal.god_mode import parsed
from commonplace.parts.workbench.counterfactual import Rerun
from commonplace.scenario.compiling import load
from commonplace.views.lines import PlainLines
from commonplace.views.town_names import TownNames
from commonplace.world.actions import ACTIONS

IN = {
    "en": (
        ("Ben", "WAVE (wave to somebody)"),
        ("Ada Berg was waving to Ben Ito.", "Ada Berg is waving to Ben Ito."),
        "Ada Berg waves to Ben",
    ),
    "ko": (
        ("박준", "WAVE(손 흔들기)"),
        ("한지우는 박준에게 손 흔드는 중이었다.", "한지우는 박준에게 손 흔드는 중이다."),
        "한지우 박준에게 손 흔들기",
    ),
}


class Waving(OfflineMind):
    def __init__(self, language, scenario):
        super().__init__(language)
        self.book, self.prompts = PromptBook(language, setting_of(load(scenario))), []

    def answer(self, ask, request_key):
        reply = super().answer(ask, request_key)
        if (ask.task.name, request_key.agent, request_key.tick) != ("act", "a", 3):
            return reply
        self.prompts.append(self.book.prompt(ask).text)
        name = ask.input.situation.people[0].called
        return replace(reply, value=self.book.read(ask, {"kind": "WAVE", "target": name}))


for language, ((b, kind), (own, seen), line) in IN.items():
    scenario = town(language, "10")
    with Path(scenario).open("a", encoding="utf-8") as file:
        file.write("cognition: {fidelity: every_tick}")
    mind = Waving(language, scenario)
    with commonplace.create_run(f"{language}.run", scenario, mind=mind) as run:
        asyncio.run(played(run, 6))
        names = TownNames.of(run.scenario.part)
        for whom in (b, "b", "nobody"):
            typed = parsed(f"/do a wave {whom}", names)
            if typed:
                run.submit(typed.body)
                asyncio.run(played(run, 2))
        run.submit(dict(kind="take_over", agent_id="b", action=dict(kind="WAVE", to_agent_id="c")))
        asyncio.run(played(run, 3))
        view = PlainLines(run.scenario.part)
    assert typed is None
    (prompt,) = mind.prompts
    assert kind in prompt and f"WAVE: {b}" in prompt, prompt
    with commonplace.open_run(f"{language}.run") as reading:
        waved = [event for event in reading.events() if event.type == "WAVE"]
        lines = [text.plain for frame in reading.frames() for text in view.lines(frame)]
        mine, theirs = ([memory.text for memory in reading.memories(id)] for id in "ab")
        rejected = [event.body for event in reading.events(type="ACTION_REJECTED")]
    assert [event.tick for event in waved][0] == 3 and len(waved) >= 3, waved
    assert {event.body.to_agent_id for event in waved} == {"b"}
    assert own in mine and seen in theirs, (mine, theirs)
    assert any(text.endswith(line) for text in lines), lines
    assert [(one.proposed.kind, one.why) for one in rejected] == [("WAVE", "c does not see it")], rejected

wave = ACTIONS["WAVE"].action(to_agent_id="b")
assert Rerun(SimpleNamespace(action=wave), ()).deed == "WAVE to b"
"""
)
PROOFS = {
    "An action": AN_ACTION,
    "A task": A_TASK,
    "A part of a score": A_PART_OF_A_SCORE,
    "A verb for objects": A_VERB_FOR_OBJECTS,
}
"""Recipe → a program that fails unless it has been followed."""
WITHOUT = {
    "A task": (
        "No module named 'commonplace.minds.tasks.title'",
        "languages/en/prompts/title.txt is the prompt of no task",
        "the task 'title' has no prompt languages/en/prompts/title.txt",
        "the task 'title' has no prompt languages/ko/prompts/title.txt",
        "No module named 'commonplace.minds.offline.title'",
        "",
        "",
        "No module named 'commonplace.cognition.title'",
        "name 'title' is not defined",
        "",
    ),
    "A part of a score": (
        "the part 'detail' of a score has a function and no weight",
        "name '_detail' is not defined",
        "the part 'detail' of a score has a weight and no function",
    ),
    "An action": (
        "No module named 'commonplace.world.wave'",
        "name 'Wave' is not defined",
        "languages/en/phrases.toml has words for 'WAVE', which is no action",
        "the action 'WAVE' has no words in languages/en/phrases.toml",
        "the action 'WAVE' has no words in languages/ko/phrases.toml",
    ),
    "A verb for objects": (
        "languages/en/phrases.toml has words for 'CLEAN', which is no verb",
        "the verb 'CLEAN' has no words in languages/en/phrases.toml",
        "the verb 'CLEAN' has no words in languages/ko/phrases.toml",
    ),
}
"""Recipe → what is said if one of its steps is left out; empty where nothing is: nobody has words, or nobody asks."""


class Step(NamedTuple):
    """Lines to add to a file of the package."""

    file: str
    where: str
    """`before` or `after` a line, `at the end`, or `a new file`."""
    anchor: str
    """The line, without its indentation; empty without one."""
    lines: str


def steps(recipe: str) -> list[Step]:
    """The blocks of a recipe."""
    page = (PROJECT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (text,) = re.findall(rf"^\*\*{recipe}\.\*\*(.*?)(?=^\*\*)", page, re.MULTILINE | re.DOTALL)
    return [
        Step(file, where, anchor, _outdented(lines, margin))
        for margin, file, where, anchor, lines in _BLOCK.findall(text)
    ]


def _outdented(lines: str, margin: str) -> str:
    return "".join(line.removeprefix(margin) for line in lines.splitlines(keepends=True))


def follow(step: Step, package: Path) -> None:
    path = package / step.file
    assert path.exists() == (step.where != "a new file"), step.file
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True) if path.exists() else []
    at = len(lines)
    if step.anchor:
        (at,) = [number for number, line in enumerate(lines) if line.strip() == step.anchor]
    lines.insert(at + (step.where == "after"), step.lines)
    path.write_text("".join(lines), encoding="utf-8")


def proved(recipe: str, done: list[Step], folder: Path) -> str:
    """What goes wrong when the proof of a recipe is asked of a copy of the package after these steps."""
    package = folder / "commonplace"
    without = ("scenarios",) if "commonplace.parts" in PROOFS[recipe] else ("scenarios", "parts")
    shutil.copytree(PROJECT / "src" / "commonplace", package, ignore=shutil.ignore_patterns(*without))
    for step in done:
        follow(step, package)
    said = folder / "said.txt"
    process = context().Process(target=asked, args=(PROOFS[recipe], folder, said))  # pyright: ignore[reportAttributeAccessIssue]
    process.start()
    process.join()
    assert bool(process.exitcode) == bool(said.read_text(encoding="utf-8"))
    return said.read_text(encoding="utf-8")


def asked(proof: str, folder: Path, said: Path) -> None:
    """Runs a proof in this process, with the package in a folder; writes what goes wrong to a file."""
    os.chdir(folder)
    with said.open("w") as file:
        os.dup2(file.fileno(), 2)
    for name in [name for name in sys.modules if name.split(".")[0] == "commonplace"]:
        del sys.modules[name]
    sys.path.insert(0, str(folder))
    exec(proof, {"__name__": "__main__"})  # noqa: S102


@pytest.mark.parametrize("recipe", PROOFS)
def test_a_recipe_that_is_followed_to_the_letter_brings_what_it_says(recipe: str, tmp_path: Path) -> None:
    assert not proved(recipe, steps(recipe), tmp_path)


@pytest.mark.parametrize("recipe", PROOFS)
def test_a_step_that_is_left_out_is_named(recipe: str, tmp_path: Path) -> None:
    every = steps(recipe)
    for number, said in zip(range(len(every)), WITHOUT[recipe], strict=True):
        if said:
            assert said in proved(recipe, every[:number] + every[number + 1 :], tmp_path / str(number))
