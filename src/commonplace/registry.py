"""What is found by its name, and imported when it is first used. A part is registered here and nowhere else.

The core imports no part. What a part adds is a row in a table of this module: an import path within
the package, `module:NAME`, or a command.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")

STAGES = {
    "town": "stages.town:TOWN",
    "duet": "parts.duet.stage:DUET",
    "panel": "parts.panel.stage:PANEL",
}
"""Who acts at a tick, and what they do in it: `engine.stage.Stage`."""
TASKS = {
    "rate": "minds.tasks.rate:RATE",
    "plan_day": "minds.tasks.plan_day:PLAN_DAY",
    "plan_hours": "minds.tasks.plan_parts:PLAN_HOURS",
    "plan_minutes": "minds.tasks.plan_parts:PLAN_MINUTES",
    "react": "minds.tasks.react:REACT",
    "act": "minds.tasks.act:ACT",
    "converse": "minds.tasks.converse:CONVERSE",
    "questions": "minds.tasks.reflect:QUESTIONS",
    "insights": "minds.tasks.reflect:INSIGHTS",
    "relate": "minds.tasks.relate:RELATE",
    "embed": "minds.tasks.embed:EMBED",
    "answer": "minds.tasks.answer:ANSWER",
    "duet_plan": "parts.duet.tasks:DUET_PLAN",
    "duet_turn": "parts.duet.tasks:DUET_TURN",
    "duet_reflect": "parts.duet.tasks:DUET_REFLECT",
    "panel_turn": "parts.panel.task:PANEL_TURN",
    "perceive_event": "minds.tasks.perceive_event:PERCEIVE_EVENT",
}
"""The questions a mind answers: `minds.mind.Task`."""
ANSWERS = {
    "rate": "minds.offline.rate:rate",
    "plan_day": "minds.offline.plan:plan_day",
    "plan_hours": "minds.offline.plan:plan_hours",
    "plan_minutes": "minds.offline.plan:plan_minutes",
    "react": "minds.offline.react:react",
    "act": "minds.offline.react:act",
    "converse": "minds.offline.converse:converse",
    "questions": "minds.offline.reflect:questions",
    "insights": "minds.offline.reflect:insights",
    "relate": "minds.offline.reflect:relate",
    "embed": "minds.offline.mind:embed",
    "answer": "minds.offline.interview.answer:answer",
    "duet_plan": "parts.duet.thought:duet_plan",
    "duet_turn": "parts.duet.talk:duet_turn",
    "duet_reflect": "parts.duet.thought:duet_reflect",
    "panel_turn": "parts.panel.offline:panel_turn",
    "perceive_event": "minds.offline.perceive_event:perceive_event",
}
"""How the offline mind answers each of them: a function of the task's input and `minds.offline.dice.Dice`."""
MINDS = {
    "offline": "minds.offline.mind:OfflineMind",
    "server": "parts.model_servers.chat_mind:ChatMind",
    "cache": "parts.model_servers.answer_cache:AnswerCache",
    "price": "parts.model_servers.prices:known_price",
}
"""Who answers; what keeps the answers of servers, and what they cost."""
STORES = {
    "sqlite": "memory.stores.sqlite:SQLiteStore",
    "jsonl": "parts.coordinates.jsonl:JSONLStore",
    "chroma": "parts.stores.chroma:ChromaStore",
    "postgresql": "parts.stores.postgres:PostgresStore",
    "embedded": "parts.stores.postgres:EmbeddedStore",
}
"""Where memories last, by the scheme of an address: `memory.stores.store.Store`."""
MEMORY = {
    "DatabaseStream": "parts.stores.postgres_stream:DatabaseStream",
    "MemoryCoordinate": "parts.coordinates.document:MemoryCoordinate",
    "MemoryStore": "parts.coordinates.memory_store:MemoryStore",
    "SentenceEmbedder": "parts.model_servers.embedders:SentenceEmbedder",
    "ServerEmbedder": "parts.model_servers.embedders:ServerEmbedder",
}
"""What `commonplace.memory` offers besides its own."""
VIEWS = {
    "live": "parts.terminal.command:watch_live",
    "recorded": "parts.terminal.command:watch_recorded",
}
"""What shows a run that is made, and one that was."""
TOOLS = {
    "diff": "parts.workbench.diff:diff",
    "without": "parts.workbench.without:print_counterfactual",
}
"""What compares two runs, and one with what would have been without a memory."""


class Entry(NamedTuple):
    """A command. Its function in `module` has its name."""

    module: str
    summary: str
    """At most 60 characters, so that a line of `--help` holds it."""
    example: str
    """What to type after `commonplace`."""


GROUPS: Mapping[str, Mapping[str, Entry]] = {
    "Run": {
        "run": Entry(
            "cli.play",
            "Run a scenario into a new run file.",
            "run latticeville --ticks 288 --seed 7 -o monday.run",
        ),
        "resume": Entry(
            "cli.play", "Continue a run where it stopped.", "resume monday.run --until 2031-10-05T12:00:00"
        ),
        "fork": Entry(
            "cli.fork",
            "Copy a run up to a tick, to continue it differently.",
            'fork monday.run --at 60 -o dark.run --inject "The lights go out."',
        ),
    },
    "Look": {
        "replay": Entry("cli.watch", "Show a recorded run again.", "replay monday.run --from 144"),
        "serve": Entry("parts.web.command", "Show a village in the browser.", "serve latticeville"),
        "watch": Entry("cli.watch", "Follow a run while another process runs it.", "watch monday.run"),
        "events": Entry("cli.inspect", "List everything that happened.", "events monday.run --agent mira --type SAY"),
        "agents": Entry(
            "cli.inspect", "List the characters: where they are, what they do.", "agents monday.run --json"
        ),
        "why": Entry("cli.inspect", "Explain why something was done or said.", "why monday.run t31.mira.0"),
        "talk": Entry(
            "cli.talk",
            "Ask a character anything; history does not change.",
            'talk monday.run mira --ask "Where is Jun?"',
        ),
        "diff": Entry(
            "parts.workbench.show_diff",
            "Show where two runs part, and what differs then.",
            "diff monday.run dark.run",
        ),
        "diffusion": Entry("cli.inspect", "Show how far each seed fact has spread.", "diffusion monday.run --json"),
        "usage": Entry(
            "parts.workbench.costs",
            "Show what was asked of the mind, and its cost.",
            "usage monday.run --json",
        ),
    },
    "Memories": {
        "memories": Entry(
            "cli.memories",
            "List or retrieve a character's memories.",
            "memories monday.run mira --query festival",
        ),
        "search": Entry("cli.memories", "Filter memories.", 'search monday.run --place "Town > Library" --json'),
        "copy-memories": Entry("cli.memories", "Copy memories into a store.", "copy-memories monday.run monday.db"),
        "forget": Entry(
            "parts.coordinates.command",
            "Forget memories for good.",
            "forget memories/ --agent maria --tags test --dry-run",
        ),
        "rate": Entry(
            "parts.panel.command",
            "Rate an answer of a panel.",
            "rate runs/dialectic-7.run t3.synthesis.0 5",
        ),
        "ledger": Entry("parts.workbench.ledger", "Show or verify a ledger.", "ledger verify outputs/ledger"),
        "mcp": Entry(
            "parts.mcp.command",
            "Serve memories or a run to an assistant (MCP).",
            "mcp notes.db --agent maria",
        ),
    },
    "Plan": {
        "estimate": Entry(
            "parts.workbench.costs",
            "Estimate calls, tokens and cost before a run.",
            "estimate latticeville --mind openai:gpt-5-mini --ticks 288",
        ),
        "doctor": Entry(
            "parts.workbench.doctor",
            "Check this machine and, if named, a mind.",
            "doctor --mind ollama:qwen3:8b",
        ),
    },
    "Check": {
        "digest": Entry("cli.inspect", "Print the digest of a run's history.", "digest monday.run --at 144"),
        "export": Entry(
            "parts.workbench.files",
            "Write a run to one file to send or to keep.",
            "export monday.run bundle -o monday.zip",
        ),
        "import": Entry(
            "parts.workbench.files",
            "Make a run of such a file.",
            "import bundle monday.zip -o received.run",
        ),
        "rescue": Entry(
            "parts.workbench.files",
            "Save what is intact of a damaged run.",
            "rescue monday.run -o saved.run",
        ),
        "trim": Entry(
            "parts.workbench.files",
            "Drop old reasons to make a run's file smaller.",
            "trim monday.run --keep-days 1",
        ),
        "verify": Entry("cli.inspect", "Check a run file and run it again to compare.", "verify monday.run"),
    },
    "Scenarios": {
        "scenarios": Entry("cli.scenarios", "List the scenarios that ship with Commonplace.", "scenarios"),
        "check": Entry("cli.scenarios", "Report every mistake in a scenario.", "check my-town.yaml"),
        "new": Entry("parts.new_town.command", "Write a small scenario to start from.", "new my-town.yaml --size 5"),
    },
}
"""Title → command → where it is; the order is that of `--help`."""
COMMANDS: Mapping[str, Entry] = {name: entry for group in GROUPS.values() for name, entry in group.items()}


def found(where: str) -> Any:
    """What an import path of a table leads to."""
    module, _, name = where.partition(":")
    return getattr(import_module(f"commonplace.{module}"), name)


class Registered(Mapping[str, T]):
    """A table of import paths as what they lead to, each imported when it is looked up."""

    def __init__(self, table: Mapping[str, str]) -> None:
        self._table = table

    def __getitem__(self, name: str) -> T:
        return found(self._table[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._table)

    def __len__(self) -> int:
        return len(self._table)
