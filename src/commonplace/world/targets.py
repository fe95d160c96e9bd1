"""Which actions a scene allows a character: computed the same way for the mind's schema and for the executor."""

from __future__ import annotations

from commonplace.world.actions import VERBS, Targets
from commonplace.world.geography import Geography
from commonplace.world.objects import verbs
from commonplace.world.state import Scene


def targets(geography: Geography, scene: Scene, me: str) -> Targets:
    """What `me`, who is in the scene, may do next tick, as far as the world knows."""
    return Targets(destinations(geography, scene), _objects(geography, scene, me), partners(scene, me))


def destinations(geography: Geography, scene: Scene) -> tuple[str, ...]:
    """Every area that can be walked to with all ways open, but this one; a closed way is found at the way."""
    return tuple(area for area in geography.destinations if area != scene.area)


def partners(scene: Scene, me: str) -> tuple[str, ...]:
    """Whom `me` may speak to: somebody awake here who is free, or in my own talk while I have the floor."""
    mine = next((talk for talk in scene.conversations if me in talk.members), None)
    if mine is not None and mine.floor != me:
        return ()
    busy = {member for talk in scene.conversations if talk is not mine for member in talk.members}
    return tuple(other for other, body in scene.bodies.items() if other != me and not body.asleep and other not in busy)


def object_verbs(geography: Geography, scene: Scene, object_id: str, me: str) -> tuple[str, ...]:
    """What `me` may try on an object: nothing on one that is neither here nor carried by me."""
    thing = scene.things.get(object_id)
    if thing is None or thing.parent not in (scene.area, me):
        return ()
    kind = geography.kinds[geography.nodes[object_id].kind]
    if not kind.portable:
        return verbs(kind)
    handling = "DROP" if thing.parent == me else "TAKE"
    known = {verb for verb in verbs(kind) if verb not in ("TAKE", "DROP")} | {handling}
    return tuple(verb for verb in VERBS if verb in known)


def _objects(geography: Geography, scene: Scene, me: str) -> dict[str, tuple[str, ...]]:
    usable = {id: object_verbs(geography, scene, id, me) for id in sorted(scene.things)}
    return {id: known for id, known in usable.items() if known}
