"""The whole state at the end of a tick: the tree of places with all that is in them, plans, and what is believed of it.

A debugger for those who write scenarios and minds; the other views show what happened.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from commonplace.character.state import UNKNOWN, Belief, CharacterState
from commonplace.clock import hhmm
from commonplace.run.reading import Reading
from commonplace.run.rows import item_phrase
from commonplace.text import one_line
from commonplace.world.geography import Geography
from commonplace.world.state import NOWHERE, World
from commonplace.world.tree import Node

INDENT = "  "


def world_tree(geography: Geography, world: World) -> dict[str, Node]:
    """Returns all nodes by id as they are at the end of a tick, without what is gone and who is not in the world.

    The parent of an object is the area it lies in or the character that carries it.
    """
    nodes: list[Node] = []
    for node in geography.nodes.values():
        if node.type == "agent" and node.id in world.bodies:
            nodes.append(replace(node, parent_id=world.bodies[node.id].area))
        elif node.type == "object" and world.things[node.id].parent != NOWHERE:
            thing = world.things[node.id]
            nodes.append(replace(node, parent_id=thing.parent, state=thing.state))
        elif node.type == "area":
            nodes.append(node)
    return _with_children(nodes)


def belief_tree(geography: Geography, belief: Belief) -> dict[str, Node]:
    """Returns what a character believes to be where, in the same shape. Something that it has missed has no parent."""
    known = [node for node in geography.nodes.values() if belief.knows(node.id)]
    seen = [(node, belief.nodes[node.id]) for node in known]
    return _with_children(
        replace(node, parent_id=there.parent, state=there.state if node.type == "object" else node.state)
        for node, there in seen
    )


def _with_children(nodes: Iterable[Node]) -> dict[str, Node]:
    by_id = {node.id: node for node in nodes}
    children: dict[str, list[str]] = {}
    for node in by_id.values():
        children.setdefault(node.parent_id, []).append(node.id)
    return {id: replace(node, children=tuple(children.get(id, ()))) for id, node in by_id.items()}


def state_lines(reading: Reading, tick: int) -> Iterator[str]:
    """Yields the state at the end of a tick, line by line."""
    frame, geography = reading.frame(tick), reading.scenario_at(tick).geography
    world, states = reading.world_at(tick), reading.states_at(tick)
    tree = world_tree(geography, world)
    yield f"tick {tick}  {hhmm(frame.time)}  {frame.part_of_day}, {frame.sky}, {frame.temperature}"
    for one in frame.circumstances:
        until = f", until {hhmm(reading.time(one.until))}" if one.until else ""
        yield one_line(f"{one.text} [{one.key}] since {hhmm(reading.time(one.since))}{until}")
    yield from _branch(tree, world, geography.root, 0)
    for me, state in sorted(states.items()):
        if me in world.bodies:
            yield from _mind(geography, tree, me, state, reading, tick)


def _branch(tree: Mapping[str, Node], world: World, id: str, depth: int) -> Iterator[str]:
    node, label = tree[id], tree[id].name
    if node.type == "object":
        label = f"{node.name} [{id}]: {node.state}"
    elif node.type == "agent":
        body = world.bodies[id]
        walking = f", on the way to {tree[body.goal].name}" if body.goal else ""
        label = f"{node.name} [{id}]: {'asleep' if body.asleep else body.doing}{walking}"
    yield one_line(f"{INDENT * depth}{label}")
    for child in sorted(node.children, key=lambda child: ("object", "agent", "area").index(tree[child].type)):
        yield from _branch(tree, world, child, depth + 1)


def _mind(
    geography: Geography, tree: Mapping[str, Node], me: str, state: CharacterState, reading: Reading, tick: int
) -> Iterator[str]:
    now = reading.time(tick)
    yield one_line(f"{geography.name(me)}: {item_phrase(state.plan.current(now)) or 'no plan yet'}")
    ahead = [item_phrase(stroke) for stroke in state.plan.level("day") if stroke.start_time > now]
    if ahead:
        yield one_line(f"{INDENT}plans: {'; '.join(ahead)}")
    if state.jobs:
        yield one_line(f"{INDENT}thinks about: {', '.join(f'{job.kind} until tick {job.due}' for job in state.jobs)}")
    wrong = list(_otherwise(geography, tree, belief_tree(geography, state.belief), me))
    yield f"{INDENT}knows {len(state.belief.nodes)} of {len(tree)} nodes{', and believes otherwise:' if wrong else ''}"
    yield from (one_line(f"{INDENT * 2}{line}") for line in wrong)


def _otherwise(geography: Geography, tree: Mapping[str, Node], believed: Mapping[str, Node], me: str) -> Iterator[str]:
    """Yields what differs from a character's belief."""
    for id, node in believed.items():
        true = tree.get(id)
        if node.type == "area" or id == me:
            continue
        if true is None or node.parent_id != true.parent_id:
            where = geography.name(node.parent_id) if node.parent_id != UNKNOWN else "nobody knows where"
            yield f"{node.name}: {where}; it is {geography.name(true.parent_id) if true else 'gone'}"
        elif node.state != true.state:
            yield f"{node.name}: {node.state}; it is {true.state}"


def print_state(reading: Reading, tick: int) -> None:
    """Prints the state at the end of a tick."""
    print("\n".join(state_lines(reading, tick)), end="\n\n", flush=True)
