"""What is found by its name, and imported when it is first used. A part is registered here and nowhere else.

The core imports no part. What a part adds is a row in a table of this module: an import path within
the package, `module:NAME`, or a command.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, Literal, NamedTuple, TypeVar, get_args

T = TypeVar("T")

QuestionGroup = Literal["talk", "plan", "reflect", "decide"]
QUESTION_GROUPS: tuple[QuestionGroup, ...] = get_args(QuestionGroup)


class TaskRow(NamedTuple):
    """A question that minds answer: the row of a task."""

    task: str
    """`minds.mind.Task`."""
    answer: str
    """How the offline mind answers it: a function of the task's input and `minds.offline.dice.Dice`."""
    group: Literal["", QuestionGroup] = ""
    """The tasks with which it can be given a mind of its own."""
    small: str = ""
    """How it is asked in the small form: `minds.small.form.Small`; empty: as in the full one."""


STAGES = {
    "town": "stages.town:TOWN",
    "duet": "parts.duet.stage:DUET",
    "panel": "parts.panel.stage:PANEL",
}
"""Who acts at a tick, and what they do in it: `engine.stage.Stage`."""
TASKS: Mapping[str, TaskRow] = {
    "rate": TaskRow("minds.tasks.rate:RATE", "minds.offline.rate:rate"),
    "plan_day": TaskRow(
        "minds.tasks.plan:PLAN_DAY", "minds.offline.plan:plan_day", "plan", "minds.small.plan_day:PLAN_DAY"
    ),
    "plan_hours": TaskRow("minds.tasks.plan:PLAN_HOURS", "minds.offline.plan:plan_hours", "plan"),
    "plan_minutes": TaskRow("minds.tasks.plan:PLAN_MINUTES", "minds.offline.plan:plan_minutes", "plan"),
    "react": TaskRow("minds.tasks.react:REACT", "minds.offline.react:decide", "decide", "minds.small.react:REACT"),
    "act": TaskRow("minds.tasks.act:ACT", "minds.offline.react:act", "decide"),
    "converse": TaskRow(
        "minds.tasks.converse:CONVERSE", "minds.offline.converse:decide", "talk", "minds.small.talk:CONVERSE"
    ),
    "questions": TaskRow("minds.tasks.reflect:QUESTIONS", "minds.offline.reflect:questions", "reflect"),
    "insights": TaskRow("minds.tasks.reflect:INSIGHTS", "minds.offline.reflect:insights", "reflect"),
    "relate": TaskRow("minds.tasks.reflect:RELATE", "minds.offline.reflect:relate", "reflect"),
    "embed": TaskRow("minds.tasks.embed:EMBED", "minds.offline.mind:embed"),
    "answer": TaskRow(
        "minds.tasks.answer:ANSWER", "minds.offline.interview.answer:answer", "talk", "minds.small.talk:ANSWER"
    ),
    "duet_plan": TaskRow("parts.duet.tasks:DUET_PLAN", "parts.duet.thought:duet_plan", "talk"),
    "duet_turn": TaskRow(
        "parts.duet.tasks:DUET_TURN", "parts.duet.talk:duet_turn", "talk", "minds.small.talk:DUET_TURN"
    ),
    "duet_reflect": TaskRow("parts.duet.tasks:DUET_REFLECT", "parts.duet.thought:duet_reflect", "reflect"),
    "panel_turn": TaskRow(
        "parts.panel.task:PANEL_TURN", "parts.panel.offline:panel_turn", "talk", "minds.small.talk:PANEL_TURN"
    ),
    "perceive_event": TaskRow(
        "minds.tasks.perceive_event:PERCEIVE_EVENT", "minds.offline.perceive_event:perceive_event"
    ),
    "judge": TaskRow("minds.tasks.judge:JUDGE", "minds.offline.judge:judge"),
    "facts": TaskRow("minds.tasks.facts:FACTS", "minds.offline.facts:facts"),
}
"""The questions there are."""
MINDS = {
    "offline": "minds.offline.mind:OfflineMind",
    "server": "parts.model_servers.chat_mind:ChatMind",
    "local": "parts.model_servers.local:LocalMind",
    "cache": "parts.model_servers.answer_cache:AnswerCache",
    "price": "parts.model_servers.prices:known_price",
    "form": "parts.model_servers.forms:remembered_form",
}
"""Who answers; what keeps the answers of servers, what they cost, and the form that suits a model."""
STORES = {
    "sqlite": "memory.stores.sqlite:SQLiteStore",
    "jsonl": "parts.coordinates.jsonl:JSONLStore",
    "chroma": "parts.stores.chroma:ChromaStore",
    "postgresql": "parts.stores.postgres:PostgresStore",
    "embedded": "parts.stores.postgres:EmbeddedStore",
}
"""Where memories last, by the scheme of an address: `memory.stores.store.Store`."""
RUNS = {
    "source": "parts.runs.store:RunSource",
    "store": "parts.runs.store:DatabaseRun",
    "fork": "parts.runs.store:fork",
    "copy": "parts.runs.store:copy",
    "list": "parts.runs.store:runs_of",
    "names": "parts.runs.store:names",
    "only_runs": "parts.runs.store:only_runs",
    "delete": "parts.runs.store:delete",
    "log": "parts.runs.talks:DatabaseLog",
    "talks": "parts.runs.talks:talks",
    "put_talks": "parts.runs.talks:put_talks",
}
"""Runs in a database: how one is read, written, forked, copied, listed and deleted, and where talks about it are."""
CLUSTERS = {"ray": "parts.cluster.ray_cluster:RayCluster"}
"""What starts workers: `engine.workers.Cluster`."""
MEMORY = {
    "DatabaseStream": "parts.stores.postgres_stream:DatabaseStream",
    "E5Embedder": "parts.model_servers.nano_e5:E5Embedder",
    "FactsByMind": "parts.model_servers.facts:FactsByMind",
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
    "metrics": "parts.metrics.exposition:exposed",
    "without": "parts.workbench.without:print_counterfactual",
}
"""What compares two runs, and one with what would have been without a memory; what shows the figures of a run."""


class Command(NamedTuple):
    """A command. Its function in `module` has its name."""

    module: str
    summary: str
    """At most 60 characters, so that a line of `--help` holds it."""
    example: str
    """What to type after `commonplace`."""


GROUPS: Mapping[str, Mapping[str, Command]] = {
    "Run": {
        "run": Command(
            "cli.play",
            "Run a scenario into a new run file.",
            "run latticeville --ticks 288 --seed 7 -o monday.run",
        ),
        "resume": Command(
            "cli.play", "Continue a run where it stopped.", "resume monday.run --until 2031-10-05T12:00:00"
        ),
        "fork": Command(
            "cli.fork",
            "Copy a run up to a tick, to continue it differently.",
            'fork monday.run --at 60 -o dark.run --inject "The lights go out."',
        ),
    },
    "Look": {
        "runs": Command("parts.workbench.places", "List the runs of a folder or a database.", "runs --json"),
        "replay": Command("cli.watch", "Show a recorded run again.", "replay monday.run --from 144"),
        "serve": Command("parts.web.command", "Show a village in the browser.", "serve latticeville"),
        "watch": Command("cli.watch", "Follow a run while another process runs it.", "watch monday.run"),
        "events": Command("cli.inspect", "List everything that happened.", "events monday.run --agent mira --type SAY"),
        "agents": Command(
            "cli.inspect", "List the characters: where they are, what they do.", "agents monday.run --json"
        ),
        "why": Command("cli.inspect", "Explain why something was done or said.", "why monday.run t31.mira.0"),
        "prompts": Command(
            "parts.workbench.prompts",
            "Show what a model was sent, and ask it again otherwise.",
            "prompts monday.run t31.mira.0",
        ),
        "talk": Command(
            "cli.talk",
            "Ask a character anything; history does not change.",
            'talk monday.run mira --ask "Where is Jun?"',
        ),
        "diff": Command(
            "parts.workbench.show_diff",
            "Show where two runs part, and what differs then.",
            "diff monday.run dark.run",
        ),
        "diffusion": Command("cli.inspect", "Show how far each seed fact has spread.", "diffusion monday.run --json"),
        "metrics": Command(
            "cli.inspect", "Show hour by hour who knows whom, and what is known.", "metrics monday.run --every 12"
        ),
        "rules": Command(
            "parts.workbench.rules",
            "Show which rows and lines decided, and how often.",
            "rules monday.run",
        ),
        "usage": Command(
            "parts.workbench.costs",
            "Show what was asked of the mind, and its cost.",
            "usage monday.run --json",
        ),
    },
    "Memories": {
        "memories": Command(
            "cli.memories",
            "List or retrieve a character's memories.",
            "memories monday.run mira --query festival",
        ),
        "search": Command("cli.memories", "Filter memories.", 'search monday.run --place "Town > Library" --json'),
        "copy-memories": Command("cli.memories", "Copy memories into a store.", "copy-memories monday.run monday.db"),
        "forget": Command(
            "parts.coordinates.command",
            "Forget memories for good.",
            "forget memories/ --agent maria --tags test --dry-run",
        ),
        "rate": Command(
            "parts.panel.command",
            "Rate an answer of a panel, or a memory.",
            "rate runs/dialectic-7.run t3.synthesis.0 5",
        ),
        "upkeep": Command(
            "parts.coordinates.command",
            "Do what a store of coordinates needs once a day.",
            "upkeep outputs/memory",
        ),
        "ledger": Command("parts.workbench.ledger", "Show or verify a ledger.", "ledger verify outputs/ledger"),
        "mcp": Command(
            "parts.mcp.command",
            "Serve memories or a run to an assistant (MCP).",
            "mcp notes.db --agent maria",
        ),
    },
    "Plan": {
        "estimate": Command(
            "parts.workbench.costs",
            "Estimate calls, tokens and cost before a run.",
            "estimate latticeville --mind openai:gpt-5-mini --ticks 288",
        ),
        "doctor": Command(
            "parts.workbench.doctor",
            "Check this machine, a mind, a database or a cluster.",
            "doctor --mind ollama:qwen3:8b",
        ),
    },
    "Check": {
        "copy": Command(
            "parts.workbench.places",
            "Copy a run between files and databases.",
            "copy monday.run postgresql://localhost/town",
        ),
        "digest": Command("cli.inspect", "Print the digest of a run's history.", "digest monday.run --at 144"),
        "export": Command(
            "parts.workbench.files",
            "Write a run to one file to send or to keep.",
            "export monday.run bundle -o monday.zip",
        ),
        "import": Command(
            "parts.workbench.files",
            "Make a run of such a file.",
            "import bundle monday.zip -o received.run",
        ),
        "rescue": Command(
            "parts.workbench.files",
            "Save what is intact of a damaged run.",
            "rescue monday.run -o saved.run",
        ),
        "trim": Command(
            "parts.workbench.files",
            "Drop old reasons to make a run's file smaller.",
            "trim monday.run --keep-days 1",
        ),
        "verify": Command("cli.inspect", "Check a run file and run it again to compare.", "verify monday.run"),
    },
    "Scenarios": {
        "scenarios": Command("cli.scenarios", "List the scenarios that ship with Commonplace.", "scenarios"),
        "check": Command("cli.scenarios", "Report every mistake in a scenario.", "check my-town.yaml"),
        "new": Command("parts.new_town.command", "Write a small scenario to start from.", "new my-town.yaml --size 5"),
    },
}
"""Title → command → where it is; the order is that of `--help`."""
COMMANDS: Mapping[str, Command] = {name: entry for group in GROUPS.values() for name, entry in group.items()}


def found(where: str) -> Any:
    """Imports what an import path of a table names."""
    module, _, name = where.partition(":")
    return getattr(import_module(f"commonplace.{module}"), name)


class Registered(Mapping[str, T]):
    """A column of `TASKS`, of which each member is imported when it is looked up."""

    def __init__(self, column: Literal["task", "answer"]) -> None:
        self._column = column

    def __getitem__(self, name: str) -> T:
        return found(getattr(TASKS[name], self._column))

    def __iter__(self) -> Iterator[str]:
        return iter(TASKS)

    def __len__(self) -> int:
        return len(TASKS)
