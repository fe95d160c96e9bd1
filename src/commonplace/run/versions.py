"""State as versions: what of the world and of a character changed in a tick, and how both are read back.

Only what differs is written, each with its kind, owner and key (see `tick_record.Version`); None marks what is gone.
The state at tick t is the last version ≤ t of each value.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from commonplace.canon import parsed
from commonplace.character.account import KEY, AccountRow, changed_lines, changed_rows, parts_of, restored
from commonplace.character.goal import KINDS, STATUSES, Goal, Goals
from commonplace.character.goal import restored as restored_goals
from commonplace.character.plan import LEVELS, Plan, PlanItem
from commonplace.character.state import Belief, CharacterState, Job, KnownNode, Relation
from commonplace.run.rows import listed, plain, valued
from commonplace.run.tick_record import Version
from commonplace.world.circumstances import Circumstance, subject_of
from commonplace.world.events import NOBODY, Event
from commonplace.world.state import Body, Conversation, Line, Message, ThingState, World, recorded
from commonplace.world.weather import Imposed

WORLD_KINDS = ("body", "thing", "talk", "line", "barred", "sky", "occasion", "circumstance", "message")
SINGLE = ("day", "closed", "jobs", "reflected", "played", "mood")
KEYED = ("belief", "relation", "card", "weighed", "said", "account", "uttered", "goal")
"""Kinds with a value per key, all of which are read."""
STATE_KINDS = ("plan", *KEYED, *SINGLE)

V = TypeVar("V")


def world_versions(before: World | None, after: World) -> tuple[Version, ...]:
    """What of the world is new at the end of `after.tick`; all of it for tick 0, where `before` is None."""
    old = before or World(-1, {}, {})
    found = [Version(me, "body", "", body and _body(body)) for me, body in _changed(old.bodies, after.bodies)]
    found += [
        Version(object_id, "thing", "", thing and _thing(thing))
        for object_id, thing in _changed(old.things, after.things)
    ]
    for area, talks in _changed(old.conversations, after.conversations):
        found.append(Version(area, "talk", "", talks and [_talk(talk) for talk in talks]))
        found += _new_lines(old.conversations.get(area, ()), talks or ())
    if before is None or old.barred != after.barred:
        found.append(Version(NOBODY, "barred", "", sorted(after.barred)))
    found += [Version(id, "occasion", "", tick) for id, tick in _changed(old.occasions, after.occasions)]
    found += [
        Version(key, "circumstance", "", one and plain(one, "kind", "of"))
        for key, one in _changed(old.circumstances, after.circumstances)
    ]
    found += [Version(id, "message", "", one and plain(one)) for id, one in _changed(old.messages, after.messages)]
    if old.imposed != after.imposed:
        found.append(Version(NOBODY, "sky", "", after.imposed and plain(after.imposed)))
    return tuple(found)


def state_versions(agent: str, before: CharacterState | None, after: CharacterState) -> tuple[Version, ...]:
    """What of a character's state is new; all of it if `before` is None."""
    if before is after:
        return ()
    old = before or CharacterState()
    found = [*_plan(agent, old.plan, after.plan), *_belief(agent, old.belief, after.belief)]
    found += [
        Version(agent, "relation", other, relation and plain(relation, "other"))
        for other, relation in _changed(old.relations, after.relations)
    ]
    found += [Version(agent, "card", name, value) for name, value in _changed(old.card, after.card)]
    found += [Version(agent, "weighed", key, value) for key, value in _changed(old.weighed, after.weighed)]
    found += [Version(agent, "said", key, value) for key, value in _changed(old.said, after.said)]
    if old.account is not after.account:
        rows = changed_rows(old.account, after.account)
        found += [Version(agent, "account", key, row and plain(row, *KEY)) for key, row in rows]
        found += [Version(agent, "uttered", key, tick) for key, tick in changed_lines(old.account, after.account)]
    found += [
        Version(agent, "goal", id, goal and plain(goal, "id"))
        for id, goal in _changed(old.goals.by_id, after.goals.by_id)
    ]
    if old.jobs != after.jobs:
        found.append(Version(agent, "jobs", "", [plain(job) for job in after.jobs]))
    if old.reflected != after.reflected:
        found.append(Version(agent, "reflected", "", after.reflected))
    if old.played != after.played:
        found.append(Version(agent, "played", "", after.played))
    if old.mood != after.mood:
        found.append(Version(agent, "mood", "", after.mood))
    return tuple(found)


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


def characters(connection: sqlite3.Connection) -> list[str]:
    """Every character that ever had a body or a state, sorted."""
    return sorted({owner for kind in ("body", *STATE_KINDS) for owner in _owners(connection, kind)})


def world_versions_at(connection: sqlite3.Connection, at: int) -> list[Version]:
    """All that `restore_world` needs."""
    found = [version for kind in WORLD_KINDS if kind != "line" for version in _of_all(connection, kind, at)]
    for version in [version for version in found if version.kind == "talk"]:
        for talk_id, _, _, count, _ in version.value or ():
            for number in range(count):
                line = _last(connection, "line", version.owner, _line_key(talk_id, number), at)
                if line is None:
                    raise ValueError(f"the talk {talk_id} has no line {number}")
                found.append(line)
    return found


def state_versions_at(connection: sqlite3.Connection, agent: str, at: int) -> list[Version]:
    """All that `restore_state` needs. Items of past days are not read: their ids begin with the day."""
    single = _existing(_last(connection, kind, agent, "", at) for kind in SINGLE)
    day = next((version.value for version in single if version.kind == "day"), None)
    plan = _plan_versions(connection, agent, at, day)
    keyed = (version for kind in KEYED for version in _of_one(connection, kind, agent, at))
    return [*single, *plan, *keyed]


def strokes_at(connection: sqlite3.Connection, agent: str, at: int, item: str) -> Plan:
    """A character's plan without its details: the strokes of the day, and one item more."""
    last = _last(connection, "day", agent, "", at)
    day = None if last is None else last.value
    found = _plan_versions(connection, agent, at, day, lambda key: key.count(".") == 1 or key == item)
    return _plan_of(day, ((version.key, version.value) for version in found))


def goals_at(connection: sqlite3.Connection, agent: str, at: int) -> Goals:
    """A character's goals."""
    found = (version for version in _of_one(connection, "goal", agent, at) if version.value is not None)
    return restored_goals(_as_goal(version.key, version.value) for version in found)


def _plan_versions(
    connection: sqlite3.Connection, agent: str, at: int, day: Any, wanted: Callable[[str], bool] | None = None
) -> list[Version]:
    return _of_one(connection, "plan", agent, at, f"{day}.", wanted) if day is not None else []


def _plan_of(day: Any, items: Iterable[tuple[str, Any]]) -> Plan:
    made = (as_item(key, value) for key, value in items if value is not None)
    return Plan(-1 if day is None else day, tuple(sorted(made, key=_order)))


def moods_at(connection: sqlite3.Connection, at: int) -> dict[str, str]:
    """The moods that characters of a duet have, by character."""
    return {version.owner: version.value for version in _of_all(connection, "mood", at)}


def cards_at(connection: sqlite3.Connection, at: int) -> dict[str, dict[str, Any]]:
    """The cards that inputs have changed up to a tick, by character."""
    found = {owner: _of_one(connection, "card", owner, at) for owner in _owners(connection, "card")}
    return {owner: {version.key: version.value for version in card} for owner, card in found.items() if card}


def newcomers(connection: sqlite3.Connection) -> tuple[tuple[str, int], ...]:
    """(character, tick) of everybody who came after the beginning: whoever has a card with a name."""
    query = "SELECT owner, min(tick) FROM version WHERE kind = 'card' AND key = 'name' GROUP BY owner ORDER BY owner"
    return tuple(connection.execute(query).fetchall())


def first_cards(connection: sqlite3.Connection, came: Iterable[tuple[str, int]]) -> dict[str, dict[str, Any]]:
    """The cards with which newcomers came, by character."""
    query = "SELECT key, value FROM version WHERE kind = 'card' AND owner = ? AND tick = ?"
    return {me: {key: parsed(value) for key, value in connection.execute(query, (me, tick))} for me, tick in came}


def settings_at(connection: sqlite3.Connection, at: int) -> dict[str, Any]:
    """The settings of the run that inputs have changed up to a tick."""
    return {version.key: version.value for version in _of_one(connection, "setting", NOBODY, at)}


def seeds(connection: sqlite3.Connection) -> list[tuple[int, int]]:
    """(tick, seed) of every input that has changed the seed, in order."""
    query = "SELECT tick, value FROM version WHERE kind = 'setting' AND owner = ? AND key = 'seed' ORDER BY tick"
    return [(tick, parsed(value)) for tick, value in connection.execute(query, (NOBODY,)).fetchall()]


SHOWN_KINDS = ("body", "thing", "sky", "circumstance", "day", "plan")
"""What a frame is made of."""


def shown_versions_at(connection: sqlite3.Connection, at: int) -> list[Version]:
    """All that a frame shows: bodies, things, what is so and the plans of the day."""
    found = [version for kind in ("body", "thing", "sky", "circumstance") for version in _of_all(connection, kind, at)]
    for day in _of_all(connection, "day", at):
        found += _of_one(connection, "plan", day.owner, at, f"{day.value}.")
    return found


def circumstances_at(connection: sqlite3.Connection, at: int) -> dict[str, Circumstance]:
    """What is so at the end of a tick, and what was lately."""
    found = sorted(_of_all(connection, "circumstance", at), key=lambda one: one.owner)
    return {one.owner: as_circumstance(one.owner, one.value) for one in found}


def circumstances_ever(connection: sqlite3.Connection, at: int) -> dict[str, Circumstance]:
    """Everything that was so up to a tick, each as it was last, also what is no longer news."""
    query = """SELECT owner, value FROM version WHERE kind = 'circumstance' AND value IS NOT NULL AND tick <= ?
               ORDER BY owner, tick"""
    return {key: as_circumstance(key, parsed(value)) for key, value in connection.execute(query, (at,)).fetchall()}


def as_circumstance(key: str, value: Any) -> Circumstance:
    """A circumstance from its version."""
    kind, of = subject_of(key)
    return valued(Circumstance, value, kind=kind, of=of)


def restore_world(tick: int, versions: Iterable[Version], events: Iterable[Event]) -> World:
    """The world at the end of a tick: from the last version ≤ tick of each value, and the tick's events."""
    kinds = _by_kind(versions)
    lines = {key: listed(Line, value) for (_, key), value in kinds["line"].items()}
    world = World(
        tick=tick,
        bodies={owner: as_body(value) for (owner, _), value in kinds["body"].items()},
        things={owner: listed(ThingState, value) for (owner, _), value in kinds["thing"].items()},
        conversations={
            area: tuple(_as_talk(area, talk, lines) for talk in talks) for (area, _), talks in kinds["talk"].items()
        },
        barred=frozenset(kinds["barred"].get((NOBODY, ""), ())),
        occasions={owner: value for (owner, _), value in kinds["occasion"].items()},
        imposed=as_sky(kinds["sky"].get((NOBODY, ""))),
        circumstances={owner: as_circumstance(owner, value) for (owner, _), value in kinds["circumstance"].items()},
        messages={owner: valued(Message, value) for (owner, _), value in kinds["message"].items()},
    )
    return recorded(world, events)


def restore_state(versions: Iterable[Version]) -> CharacterState:
    """A character's state from the last version ≤ tick of each of its values."""
    kinds = _by_kind(versions)
    single = {kind: next(iter(kinds[kind].values()), None) for kind in SINGLE}
    nodes = {key: listed(KnownNode, value) for (_, key), value in kinds["belief"].items()}
    closed = frozenset((one, other) for one, other in single["closed"] or ())
    return CharacterState(
        plan=_plan_of(single["day"], ((key, value) for (_, key), value in kinds["plan"].items())),
        belief=Belief(nodes, closed),
        relations={key: valued(Relation, value, other=key) for (_, key), value in kinds["relation"].items()},
        jobs=tuple(valued(Job, value) for value in single["jobs"] or ()),
        reflected=single["reflected"] or 0,
        played=bool(single["played"]),
        mood=single["mood"] or "",
        weighed={key: value for (_, key), value in kinds["weighed"].items()},
        said={key: value for (_, key), value in kinds["said"].items()},
        card={key: value for (_, key), value in kinds["card"].items()},
        account=restored(
            [_as_entry(key, value) for (_, key), value in kinds["account"].items()],
            {key: value for (_, key), value in kinds["uttered"].items()},
        ),
        goals=restored_goals(_as_goal(key, value) for (_, key), value in kinds["goal"].items()),
    )


def _by_kind(versions: Iterable[Version]) -> dict[str, dict[tuple[str, str], Any]]:
    """Kind → (owner, key) → value, in order; what is gone is left out."""
    kinds: dict[str, dict[tuple[str, str], Any]] = {kind: {} for kind in (*WORLD_KINDS, *STATE_KINDS)}
    for version in sorted(versions, key=lambda one: (one.owner, one.key)):
        if version.value is not None:
            kinds[version.kind][version.owner, version.key] = version.value
    return kinds


def _owners(connection: sqlite3.Connection, kind: str) -> list[str]:
    """Everybody and everything that ever had a version of the kind, sorted."""
    return [owner for (owner,) in connection.execute(OWNERS, {"kind": kind}).fetchall()]


def _of_all(connection: sqlite3.Connection, kind: str, at: int) -> list[Version]:
    """The values of a kind that has one value per owner."""
    rows = connection.execute(OF_ALL, {"kind": kind, "at": at}).fetchall()
    return [Version(owner, kind, "", parsed(value)) for owner, value in rows if value is not None]


def _of_one(
    connection: sqlite3.Connection,
    kind: str,
    owner: str,
    at: int,
    prefix: str = "",
    wanted: Callable[[str], bool] | None = None,
) -> list[Version]:
    """The values of a kind that one owner has, of keys that begin with the prefix and, if given, are wanted."""
    bounds = {"low": prefix, "high": prefix + TOP}
    rows = connection.execute(OF_ONE, {"kind": kind, "owner": owner, "at": at, **bounds}).fetchall()
    if wanted is not None:
        rows = [row for row in rows if wanted(row[0])]
    return [Version(owner, kind, key, parsed(value)) for key, value in rows if value is not None]


def _last(connection: sqlite3.Connection, kind: str, owner: str, key: str, at: int) -> Version | None:
    row = connection.execute(LAST, (kind, owner, key, at)).fetchone()
    return None if row is None else Version(owner, kind, key, parsed(row[0]))


def _existing(versions: Iterable[Version | None]) -> list[Version]:
    return [version for version in versions if version is not None]


# ── the world ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _body(body: Body) -> dict[str, Any]:
    found = plain(body)
    return found if body.came_from != body.area else {name: cell for name, cell in found.items() if name != "came_from"}


def as_body(value: dict[str, Any]) -> Body:
    """A body from its version."""
    return valued(Body, {"came_from": value["area"], **value})


def as_sky(value: dict[str, Any] | None) -> Imposed | None:
    """An imposed sky from its version."""
    return None if value is None else valued(Imposed, value)


def _thing(thing: ThingState) -> list[Any]:
    return [thing.state, thing.parent, *([thing.progress] if thing.progress else [])]


def _talk(talk: Conversation) -> list[Any]:
    return [talk.id, talk.starter, list(talk.members), len(talk.lines), talk.floor]


def _as_talk(area: str, value: list[Any], lines: Mapping[str, Line]) -> Conversation:
    talk_id, starter, members, count, floor = value
    said = tuple(lines[_line_key(talk_id, number)] for number in range(count))
    return Conversation(talk_id, area, starter, tuple(members), said, floor)


def _new_lines(before: Iterable[Conversation], after: Iterable[Conversation]) -> Iterator[Version]:
    """A line is written once, under its number; the talk itself says how many there are."""
    old = {talk.id: talk.lines for talk in before}
    for talk in after:
        known = old.get(talk.id, ())
        for number, line in enumerate(talk.lines):
            if number >= len(known) or (known[number] is not line and known[number] != line):
                value = [line.tick, line.speaker, line.to, line.utterance]
                if line.speech_act or line.topic:
                    value += [line.speech_act, line.topic]
                yield Version(talk.area, "line", _line_key(talk.id, number), value)


def _line_key(talk_id: str, number: int) -> str:
    return f"{talk_id}#{number}"


# ── a character ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _plan(agent: str, before: Plan, after: Plan) -> Iterator[Version]:
    if before is after:
        return
    if before.day != after.day:
        yield Version(agent, "day", "", after.day)
    old = {item.id: item for item in before.items}
    for key, item in _changed(old, {item.id: item for item in after.items}):
        # `state_versions_at` finds the items of a day by their ids
        if item and not key.startswith(f"{after.day}."):
            raise ValueError(f"plan item {key} in the plan of day {after.day}")
        yield Version(agent, "plan", key, item and _item(item))


def _item(item: PlanItem) -> dict[str, Any]:
    """An item's id tells its level and its parent, which are written only if they differ."""
    implied = _of_id(item.id)
    return {name: cell for name, cell in plain(item, "id").items() if implied.get(name) != cell}


def _as_entry(key: str, value: dict[str, Any]) -> AccountRow:
    """A row of an account from its version. Raises one of `UNREADABLE` for what no rule would write."""
    entry = valued(AccountRow, value, **parts_of(key))
    if not entry.because:
        raise ValueError(f"{key} rests on no memory")
    return entry


def _as_goal(id: str, value: dict[str, Any]) -> Goal:
    """A goal from its version. Raises as `_as_entry` does."""
    goal = valued(Goal, value, id=id)
    if goal.kind not in KINDS or goal.status not in STATUSES or not -1 <= goal.hour < 24 * 60 or not goal.because:
        raise ValueError(f"{id} is not a goal")
    return goal


def as_item(item_id: str, value: dict[str, Any]) -> PlanItem:
    """A plan item from its version."""
    return valued(PlanItem, {**_of_id(item_id), **value}, id=item_id)


def _of_id(item_id: str) -> dict[str, str]:
    depth = item_id.count(".")
    level = LEVELS[depth - 1] if 1 <= depth <= len(LEVELS) else ""
    return {"level": level, "parent": item_id.rpartition(".")[0] if depth > 1 else ""}


def _order(item: PlanItem) -> tuple[int, ...]:
    return tuple(int(part) for part in item.id.split("."))


def _belief(agent: str, before: Belief, after: Belief) -> Iterator[Version]:
    if before is after:
        return
    for node, known in _changed(before.nodes, after.nodes):
        yield Version(agent, "belief", node, known and [known.parent, known.state, known.seen])
    if before.closed != after.closed:
        yield Version(agent, "closed", "", sorted([one, other] for one, other in after.closed))
