"""What a character means to do over hours and days: goals with what they need, how far they are, and how they end.

The goals of a character are a value, replaced at each commit. They are kept by the simulator from what the character
perceived and from its account of its own past, never from what a mind claims, and each change cites a memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace

from commonplace.character.account import cited

KINDS = ("repair", "promise", "matter", "visit")
"""`repair`: a thing one answers for; `promise`: a word given to somebody; `matter`: something to say to somebody;
`visit`: somebody one has not talked with for days."""
OPEN, DONE, GIVEN_UP, OVERTAKEN = "open", "done", "given_up", "overtaken"
STATUSES = (OPEN, DONE, GIVEN_UP, OVERTAKEN)
"""`given_up`: its time is over, or it failed too often; `overtaken`: somebody else did it, or it has no point now."""
MOST_OPEN, MOST_CLOSED = 8, 12
"""Open goals of a character; closed ones that are kept."""


@dataclass(frozen=True, slots=True)
class Goal:
    """Something a character means to do."""

    id: str
    """What it is about, and the tick at which it was opened: no two goals of a character have the same."""
    kind: str
    """One of `KINDS`."""
    text: str
    """In the words of a wish, in the scenario's language: `bring Suki the ladder`, `지붕 고치기`."""
    act: str = ""
    """The speech act that settles it where that takes a word: `keep.bring`, `apologise`. Else empty."""
    topic: str = ""
    """What it is about as the account has it."""
    named: str = ""
    """The topic as it was named last."""
    person: str = ""
    """Needs: the character id of whom it takes; empty for nobody else."""
    object: str = ""
    """Needs: the id of the object it is done to."""
    place: str = ""
    """Needs: the area where it can be done; empty for wherever the person or the object is."""
    hour: int = -1
    """Needs: the minute of the day at which it can be done; −1 for any."""
    steps: int = 1
    """Of how many steps it consists."""
    done_steps: int = 0
    opened: int = 0
    """Tick."""
    changed: int = 0
    """Tick of the last change."""
    due: int = -1
    """The tick by which it is to be done; −1 for no time."""
    tries: int = 0
    """Attempts that failed."""
    status: str = OPEN
    """One of `STATUSES`. What is closed stays closed."""
    because: tuple[int, ...] = ()
    """Ids of memories it rests on, ascending."""
    moved_by: int = 0
    """The memory that caused the last change."""

    @property
    def about(self) -> str:
        """Returns what it is about: only one goal about the same is open."""
        return about(self.kind, self.act, self.person, self.topic)

    @property
    def is_open(self) -> bool:
        """Tells whether it is still meant to be done."""
        return self.status == OPEN

    def moved(self, tick: int, memory: int, **changes: object) -> Goal:
        """Returns the goal after a change that a memory caused."""
        because = cited(self.because, (memory,))
        return replace(self, changed=tick, moved_by=memory, because=because, **changes)  # pyright: ignore[reportArgumentType] – fields by name


def about(kind: str, act: str, person: str, topic: str) -> str:
    """Returns what a goal is about, in one string."""
    return f"{kind}/{act}/{person}/{topic}"


@dataclass(frozen=True, slots=True)
class Goals:
    """All goals of a character, open and lately closed, by id. Their order has no meaning."""

    by_id: Mapping[str, Goal] = field(default_factory=dict[str, Goal])
    next_due: int = -1
    """The earliest tick by which an open goal is to be done; −1 for none. Follows from the goals."""
    _open: tuple[Goal, ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        found = [goal for goal in self.by_id.values() if goal.is_open]
        object.__setattr__(self, "_open", tuple(sorted(found, key=lambda goal: (goal.opened, goal.id))))

    def all(self) -> tuple[Goal, ...]:
        """Returns all goals: open ones in order of their opening, then closed ones, latest first."""
        closed = sorted(self.closed(), key=lambda goal: (-goal.changed, goal.id))
        return (*self.open(), *closed)

    def open(self) -> tuple[Goal, ...]:
        """Returns the open goals in order of their opening."""
        return self._open

    def closed(self) -> Iterator[Goal]:
        """Returns the goals that have ended, in no order."""
        return (goal for goal in self.by_id.values() if not goal.is_open)

    def find(self, kind: str, act: str = "", person: str = "", topic: str = "") -> Goal | None:
        """Returns the open goal about this."""
        wanted = about(kind, act, person, topic)
        return next((goal for goal in self._open if goal.about == wanted), None)

    def lately(self, wanted: str, since: int) -> bool:
        """Tells whether a goal about this is open, or has ended since a tick."""
        return any(goal.about == wanted and (goal.is_open or goal.changed >= since) for goal in self.by_id.values())

    def with_opened(self, goal: Goal) -> Goals:
        """Returns the goals with one more; themselves if one about the same is open, or if there is no room."""
        opened = self.open()
        if goal.id in self.by_id or len(opened) >= MOST_OPEN or any(one.about == goal.about for one in opened):
            return self
        return restored({**self.by_id, goal.id: goal})

    def with_changed(self, goal: Goal) -> Goals:
        """Returns the goals with one of them changed. A closed goal does not change; if there are many closed ones, the
        oldest go."""
        known = self.by_id.get(goal.id)
        if known is None or not known.is_open:
            return self
        goals = {**self.by_id, goal.id: goal}
        closed = sorted((one.changed, one.id) for one in goals.values() if not one.is_open)
        for _, id in closed[: max(0, len(closed) - MOST_CLOSED)]:
            del goals[id]
        return restored(goals)

    def without(self, memories: AbstractSet[int]) -> Goals:
        """Returns the goals without those that rest on these memories alone; themselves if there are none."""
        touched = [goal for goal in self.by_id.values() if not memories.isdisjoint(goal.because)]
        if not touched:
            return self
        goals = dict(self.by_id)
        for goal in touched:
            left = tuple(memory for memory in goal.because if memory not in memories)
            if left:
                moved_by = goal.moved_by if goal.moved_by in left else left[-1]
                goals[goal.id] = replace(goal, because=left, moved_by=moved_by)
            else:
                del goals[goal.id]
        return restored(goals)


def restored(by_id: Mapping[str, Goal]) -> Goals:
    """Restores a character's goals from the goals by id."""
    due = min((goal.due for goal in by_id.values() if goal.is_open and goal.due >= 0), default=-1)
    return Goals(by_id, due)
