"""State as versions: what of the world and of a character changed in a tick, and how both are read back.

`WORLD` and `STATE` list the kinds of state. Writing, comparing, reading and restoring follow from these two tables.
Only what differs is written, each value with its kind, owner and key (see `rows.Version`); None marks what is
gone. The state at tick t is the last version ≤ t of each value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from commonplace.canon import parsed
from commonplace.character import account, goal
from commonplace.character.account import AccountRow
from commonplace.character.goal import Goal, Goals
from commonplace.character.plan import LEVELS, Plan, PlanItem
from commonplace.character.state import Belief, CharacterState, Job, KnownNode, Relation
from commonplace.run.place import Connection
from commonplace.run.rows import Version, cells, listed, of_type, plain, valued
from commonplace.world.circumstances import Circumstance, subject_of
from commonplace.world.events import NOBODY, Event
from commonplace.world.state import Body, Conversation, Line, Message, ThingState, World, recorded
from commonplace.world.weather import Imposed

V = TypeVar("V")


# ── forms: a value as JSON and back ─────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Form:
    """How a value that has a key becomes JSON, and back. Reading raises one of `UNREADABLE` for what is not a value."""

    write: Callable[[str, Any], Any]
    read: Callable[[str, Any], Any]


AS_IS = Form(lambda _, value: value, lambda _, value: value)


def scalar(kind: type[Any]) -> Form:
    """Returns the form of a string, a number or a truth value."""
    return Form(AS_IS.write, lambda _, value: of_type(kind, value))


def record(
    cls: type[Any],
    told: Callable[[str, dict[str, Any]], Mapping[str, Any]] = lambda _key, _value: {},
    is_sound: Callable[[Any], bool] = lambda _value: True,
) -> Form:
    """Returns the form of a dataclass as an object of its fields, without those at their default.

    `told` gives the fields that the key or other fields tell: they are written where they differ. `is_sound` says
    whether a rule could have made a value.
    """

    def write(key: str, value: Any) -> dict[str, Any]:
        found = plain(value)
        known = told(key, found)
        return {name: cell for name, cell in found.items() if known.get(name) != cell}

    def read(key: str, found: dict[str, Any]) -> Any:
        value = valued(cls, {**told(key, found), **found})
        if not is_sound(value):
            raise ValueError(f"{key} is no {cls.__name__.lower()} that a rule would make")
        return value

    return Form(write, read)


def row(cls: type[Any]) -> Form:
    """Returns the form of a dataclass as a list of its fields, less the optional ones if all are at their default."""
    return Form(lambda _, value: cells(value), lambda _, found: listed(cls, found))


def _of_item(id: str, _: object) -> dict[str, str]:
    depth = id.count(".")
    level = LEVELS[depth - 1] if 1 <= depth <= len(LEVELS) else ""
    return {"id": id, "level": level, "parent": id.rpartition(".")[0] if depth > 1 else ""}


def _of_circumstance(key: str, _: object) -> dict[str, str]:
    return dict(zip(("kind", "of"), subject_of(key), strict=True))


def _of_entry(key: str, _: object) -> dict[str, str]:
    return dict(zip(("kind", "other", "act", "topic"), key.split("/", 3), strict=True))


def _is_sound_goal(one: Goal) -> bool:
    return one.kind in goal.KINDS and one.status in goal.STATUSES and -1 <= one.hour < 24 * 60 and bool(one.because)


_BARRED = Form(lambda _, ways: sorted(ways), lambda _, ways: frozenset(ways))
_CLOSED = Form(lambda _, ways: sorted([*way] for way in ways), lambda _, ways: frozenset((a, b) for a, b in ways))
_JOBS = Form(lambda _, jobs: [plain(job) for job in jobs], lambda _, jobs: tuple(valued(Job, job) for job in jobs))
_TALKS = Form(
    lambda _, talks: [[one.id, one.starter, list(one.members), len(one.lines), one.floor] for one in talks],
    lambda area, talks: [(area, *talk) for talk in talks],
)
"""The talks of an area without their lines, which have a kind of their own."""


# ── the kinds ───────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of state: the field that holds it, and how its values are written."""

    name: str
    field: str
    """Of `World` or `CharacterState`."""
    form: Form
    part: str = ""
    """The field of that field's value that is meant; empty for all of it."""
    depth: int = 1
    """How many keys lead to a value: 0 for a single value, 1 in a mapping, 2 in a mapping of mappings."""
    view: Callable[[Any], Any] | None = None
    """Makes a mapping of a field that is none."""
    stays: bool = False
    """Whether values remain when they are gone, because those of another kind say which of them count."""

    def changed(self, before: Any, after: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
        """Yields (keys, value as JSON) of what differs between two states; None for what is gone."""
        old, new = getattr(before, self.field), getattr(after, self.field)
        if old is new:
            return
        if self.view is not None:
            old, new = self.view(old), self.view(new)
        elif self.part:
            old, new = getattr(old, self.part), getattr(new, self.part)
        if self.depth == 0:
            found = [((), new)] if old != new else []
        elif self.depth == 1:
            found = [((key,), value) for key, value in _changed(old, new)]
        else:
            found = [
                ((outer, key), value)
                for outer in dict.fromkeys((*old, *new))
                for key, value in _changed(old.get(outer, {}), new.get(outer, {}))
            ]
        for keys, value in found:
            if value is not None:
                yield keys, self.form.write("/".join(keys), value)
            elif not self.stays:
                yield keys, None


def _changed(before: Mapping[str, V], after: Mapping[str, V]) -> Iterator[tuple[str, V | None]]:
    """Keys whose value is new, with it; keys that are gone, with None."""
    if before is after:
        return
    for key, value in after.items():
        old = before.get(key)
        if old is not value and old != value:
            yield key, value
    for key in before:
        if key not in after:
            yield key, None


def _items(plan: Plan) -> dict[str, PlanItem]:
    for item in plan.items:
        if not item.id.startswith(f"{plan.day}."):  # `state_versions_at` finds the items of a day by their ids
            raise ValueError(f"plan item {item.id} in the plan of day {plan.day}")
    return {item.id: item for item in plan.items}


def _plan(items: Mapping[str, PlanItem], day: int = -1) -> Plan:
    return Plan(day, tuple(sorted(items.values(), key=lambda item: [int(part) for part in item.id.split(".")])))


def _lines(conversations: Mapping[str, tuple[Conversation, ...]]) -> dict[str, dict[str, Line]]:
    """Returns area → id of a talk and number of a line → the line.

    A line is written once; the talk says how many there are.
    """
    return {
        area: {_line_key(talk.id, number): line for talk in talks for number, line in enumerate(talk.lines)}
        for area, talks in conversations.items()
    }


def _line_key(talk_id: str, number: int) -> str:
    return f"{talk_id}#{number}"


def _conversations(
    talks: Mapping[str, list[tuple[str, str, str, list[str], int, str]]], lines: Mapping[str, Line]
) -> dict[str, tuple[Conversation, ...]]:
    return {
        area: tuple(
            Conversation(id, area, starter, tuple(members), tuple(lines[_line_key(id, n)] for n in range(count)), floor)
            for area, id, starter, members, count, floor in found
        )
        for area, found in talks.items()
    }


WORLD = (
    Kind("body", "bodies", record(Body, lambda _, body: {"came_from": body["area"]})),
    Kind("thing", "things", row(ThingState)),
    Kind("talk", "conversations", _TALKS, "talks", view=lambda talks: talks),
    Kind("line", "conversations", row(Line), "lines", depth=2, view=_lines, stays=True),
    Kind("barred", "barred", _BARRED, depth=0),
    Kind("sky", "imposed", record(Imposed), depth=0),
    Kind("occasion", "occasions", scalar(int)),
    Kind("circumstance", "circumstances", record(Circumstance, _of_circumstance)),
    Kind("message", "messages", record(Message)),
)
"""What is state in a `World`. The owner of a version is the first key, or nobody."""

STATE = (
    Kind("day", "plan", scalar(int), "day", depth=0),
    Kind("plan", "plan", record(PlanItem, _of_item), "items", view=_items),
    Kind("belief", "belief", row(KnownNode), "nodes"),
    Kind("closed", "belief", _CLOSED, "closed", depth=0),
    Kind("relation", "relations", record(Relation, lambda key, _: {"other": key})),
    Kind("jobs", "jobs", _JOBS, depth=0),
    Kind("reflected", "reflected", scalar(int), depth=0),
    Kind("played", "played", scalar(bool), depth=0),
    Kind("mood", "mood", scalar(str), depth=0),
    Kind("weighed", "weighed", scalar(int)),
    Kind("said", "said", scalar(str)),
    Kind("card", "card", AS_IS),
    Kind("account", "account", record(AccountRow, _of_entry, lambda entry: bool(entry.because)), "groups", depth=2),
    Kind("uttered", "account", scalar(int), "lines", depth=2),
    Kind("goal", "goals", record(Goal, lambda key, _: {"id": key}, _is_sound_goal), "by_id"),
)
"""What is state in a `CharacterState`. The owner of a version is the character, its key is made of all keys."""

WHOLE: Mapping[str, Callable[..., Any]] = {
    "conversations": _conversations,
    "plan": _plan,
    "belief": Belief,
    "account": account.restored,
    "goals": goal.restored,
}
"""Field → what makes its value of its parts, a mapping of which has all keys joined."""
BY_NAME = {kind.name: kind for kind in (*WORLD, *STATE)}
STATE_KINDS = tuple(kind.name for kind in STATE)


def world_versions(before: World | None, after: World) -> tuple[Version, ...]:
    """Returns what of the world is new at the end of `after.tick`; all of it for tick 0, where `before` is None."""
    old = before or World(-1, {}, {})
    found = [
        Version(keys[0] if keys else NOBODY, kind.name, "".join(keys[1:]), value)
        for kind in WORLD
        for keys, value in kind.changed(old, after)
    ]
    if before is None and not after.barred:  # every file says which ways are barred at first
        found.append(Version(NOBODY, "barred", "", []))
    return tuple(found)


def state_versions(agent: str, before: CharacterState | None, after: CharacterState) -> tuple[Version, ...]:
    """Returns what of a character's state is new; all of it if `before` is None."""
    if before is after:
        return ()
    old = before or CharacterState()
    changed = ((kind.name, keys, value) for kind in STATE for keys, value in kind.changed(old, after))
    return tuple([Version(agent, name, "/".join(keys), value) for name, keys, value in changed])


def value_of(version: Version) -> Any:
    """Returns the value of a version; None for what is gone. Raises one of `UNREADABLE` for what no rule writes."""
    if version.value is None:
        return None
    return BY_NAME[version.kind].form.read(version.key or version.owner, version.value)


def restore_world(tick: int, versions: Iterable[Version], events: Iterable[Event]) -> World:
    """Restores the world at the end of a tick from the last version ≤ tick of each value, and the tick's events."""
    return recorded(World(tick, **_restored(WORLD, versions)), events)


def restore_state(versions: Iterable[Version]) -> CharacterState:
    """Restores a character's state from the last version ≤ tick of each of its values."""
    return CharacterState(**_restored(STATE, versions))


def _restored(kinds: Iterable[Kind], versions: Iterable[Version]) -> dict[str, Any]:
    """Returns field → value. A single value that has no version is left at its default."""
    found: dict[str, dict[str, Any]] = {kind.name: {} for kind in kinds}
    for version in sorted(versions, key=lambda one: (one.owner, one.key)):
        if version.value is not None:
            found[version.kind][version.key or version.owner] = value_of(version)
    fields: dict[str, Any] = {}
    for kind in kinds:
        for value in (found[kind.name],) if kind.depth else found[kind.name].values():
            if kind.part:
                fields.setdefault(kind.field, {})[kind.part] = value
            else:
                fields[kind.field] = value
    return {name: WHOLE[name](**value) if name in WHOLE else value for name, value in fields.items()}


# ── reading the state at a tick ───────────────────────────────────────────────────────────────────────────────────
# Each value's last version is found by skipping along the index: the cost depends on how many values there are, not on
# how many ticks were run.


OWNERS = """
WITH RECURSIVE found(owner) AS (
  SELECT min(owner) FROM version WHERE kind = :kind
  UNION ALL
  SELECT (SELECT min(owner) FROM version WHERE kind = :kind AND owner > found.owner) FROM found
  WHERE found.owner IS NOT NULL)
SELECT owner FROM found WHERE owner IS NOT NULL
"""
OF_ALL = f"""
SELECT owner, (SELECT value FROM version WHERE kind = :kind AND owner = live.owner AND key = '' AND tick <= :at
               ORDER BY tick DESC LIMIT 1)
FROM ({OWNERS}) AS live
"""
OF_ONE = """
WITH RECURSIVE found(key) AS (
  SELECT min(key) FROM version WHERE kind = :kind AND owner = :owner AND key >= :low
  UNION ALL
  SELECT (SELECT min(key) FROM version WHERE kind = :kind AND owner = :owner AND key > found.key) FROM found
  WHERE found.key < :high)
SELECT key, (SELECT value FROM version WHERE kind = :kind AND owner = :owner AND key = found.key AND tick <= :at
             ORDER BY tick DESC LIMIT 1)
FROM found WHERE key < :high
"""
LAST = """
SELECT value FROM version WHERE kind = ? AND owner = ? AND key = ? AND tick <= ? ORDER BY tick DESC LIMIT 1
"""
TOP = "\U0010ffff"
"""Above every key."""


def characters(connection: Connection) -> list[str]:
    """Returns every character that ever had a body or a state, sorted."""
    return sorted({owner for kind in ("body", *STATE_KINDS) for owner in _owners(connection, kind)})


def world_versions_at(connection: Connection, at: int) -> list[Version]:
    """Returns all versions that `restore_world` needs."""
    found = [version for kind in WORLD if not kind.stays for version in _of_all(connection, kind.name, at)]
    for version in [version for version in found if version.kind == "talk"]:
        for talk_id, _, _, count, _ in version.value or ():
            for number in range(count):
                line = _last(connection, "line", version.owner, _line_key(talk_id, number), at)
                if line is None:
                    raise ValueError(f"the talk {talk_id} has no line {number}")
                found.append(line)
    return found


def state_versions_at(connection: Connection, agent: str, at: int) -> list[Version]:
    """Returns all versions that `restore_state` needs. Skips items of past days: their ids begin with the day."""
    found = _plan_versions(connection, agent, at)
    for kind in STATE:
        if kind.depth == 0 and kind.name != "day":
            last = _last(connection, kind.name, agent, "", at)
            found += [last] if last is not None else []
        elif kind.depth and kind.name != "plan":
            found += _of_one(connection, kind.name, agent, at)
    return found


def strokes_at(connection: Connection, agent: str, at: int, item: str) -> Plan:
    """Returns a character's plan without its details: the strokes of the day, and one item more."""
    return restore_state(_plan_versions(connection, agent, at, lambda key: key.count(".") == 1 or key == item)).plan


def goals_at(connection: Connection, agent: str, at: int) -> Goals:
    """Returns a character's goals."""
    return restore_state(_of_one(connection, "goal", agent, at)).goals


def _plan_versions(
    connection: Connection, agent: str, at: int, wanted: Callable[[str], bool] | None = None
) -> list[Version]:
    day = _last(connection, "day", agent, "", at)
    return [] if day is None else [day, *_of_one(connection, "plan", agent, at, f"{day.value}.", wanted)]


def moods_at(connection: Connection, at: int) -> dict[str, str]:
    """Returns the moods that characters of a duet have, by character."""
    return {version.owner: version.value for version in _of_all(connection, "mood", at)}


def cards_at(connection: Connection, at: int) -> dict[str, dict[str, Any]]:
    """Returns the cards that inputs have changed up to a tick, by character."""
    found = {owner: _of_one(connection, "card", owner, at) for owner in _owners(connection, "card")}
    return {owner: {version.key: version.value for version in card} for owner, card in found.items() if card}


def newcomers(connection: Connection) -> tuple[tuple[str, int], ...]:
    """Returns (character, tick) of everybody who came after the beginning: whoever has a card with a name."""
    query = "SELECT owner, min(tick) FROM version WHERE kind = 'card' AND key = 'name' GROUP BY owner ORDER BY owner"
    return tuple(connection.execute(query).fetchall())


def first_cards(connection: Connection, came: Iterable[tuple[str, int]]) -> dict[str, dict[str, Any]]:
    """Returns the cards with which newcomers came, by character."""
    query = "SELECT key, value FROM version WHERE kind = 'card' AND owner = ? AND tick = ?"
    return {me: {key: parsed(value) for key, value in connection.execute(query, (me, tick))} for me, tick in came}


def settings_at(connection: Connection, at: int) -> dict[str, Any]:
    """Returns the settings of the run that inputs have changed up to a tick."""
    return {version.key: version.value for version in _of_one(connection, "setting", NOBODY, at)}


def seeds(connection: Connection) -> list[tuple[int, int]]:
    """Returns (tick, seed) of every input that has changed the seed, in order."""
    query = "SELECT tick, value FROM version WHERE kind = 'setting' AND owner = ? AND key = 'seed' ORDER BY tick"
    return [(tick, parsed(value)) for tick, value in connection.execute(query, (NOBODY,)).fetchall()]


SHOWN_KINDS = ("body", "thing", "sky", "circumstance", "day", "plan")
"""What a frame is made of."""


def shown_versions_at(connection: Connection, at: int) -> list[Version]:
    """Returns all that a frame shows: bodies, things, circumstances and the plans of the day."""
    found = [version for kind in ("body", "thing", "sky", "circumstance") for version in _of_all(connection, kind, at)]
    for day in _of_all(connection, "day", at):
        found += _of_one(connection, "plan", day.owner, at, f"{day.value}.")
    return found


def circumstances_at(connection: Connection, at: int) -> dict[str, Circumstance]:
    """Returns the circumstances that hold at the end of a tick or held lately, by key."""
    found = sorted(_of_all(connection, "circumstance", at), key=lambda one: one.owner)
    return {one.owner: value_of(one) for one in found}


def circumstances_ever(connection: Connection, at: int) -> dict[str, Circumstance]:
    """Returns every circumstance up to a tick as it last was, including those that are no longer news."""
    query = """SELECT owner, value FROM version WHERE kind = 'circumstance' AND value IS NOT NULL AND tick <= ?
               ORDER BY owner, tick"""
    rows = connection.execute(query, (at,)).fetchall()
    return {key: value_of(Version(key, "circumstance", "", parsed(value))) for key, value in rows}


def _owners(connection: Connection, kind: str) -> list[str]:
    """Returns everybody and everything that ever had a version of the kind, sorted."""
    return [owner for (owner,) in connection.execute(OWNERS, {"kind": kind}).fetchall()]


def _of_all(connection: Connection, kind: str, at: int) -> list[Version]:
    """Returns the values of a kind that has one value per owner."""
    rows = connection.execute(OF_ALL, {"kind": kind, "at": at}).fetchall()
    return [Version(owner, kind, "", parsed(value)) for owner, value in rows if value is not None]


def _of_one(
    connection: Connection,
    kind: str,
    owner: str,
    at: int,
    prefix: str = "",
    wanted: Callable[[str], bool] | None = None,
) -> list[Version]:
    """Returns one owner's values of a kind whose keys begin with `prefix` and, if it is given, pass `wanted`."""
    bounds = {"low": prefix, "high": prefix + TOP}
    rows = connection.execute(OF_ONE, {"kind": kind, "owner": owner, "at": at, **bounds}).fetchall()
    if wanted is not None:
        rows = [row for row in rows if wanted(row[0])]
    return [Version(owner, kind, key, parsed(value)) for key, value in rows if value is not None]


def _last(connection: Connection, kind: str, owner: str, key: str, at: int) -> Version | None:
    row = connection.execute(LAST, (kind, owner, key, at)).fetchone()
    return None if row is None else Version(owner, kind, key, parsed(row[0]))
