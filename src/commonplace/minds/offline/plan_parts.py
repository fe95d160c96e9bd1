"""The inside of a plan item: an hour-sized or a 5–15-minute list of what one does, from the routine, the things at
hand and what one remembers of them."""

from __future__ import annotations

from collections.abc import Sequence

from commonplace.minds.notes import Hint, Recalled, ThingHere
from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.grammar.english import named
from commonplace.minds.offline.grammar.grammar import Grammar, grammar
from commonplace.minds.offline.temper import temper
from commonplace.minds.tasks import PartOut, PlanPartsInput, PlanPartsOutput
from commonplace.text import words

KINDS = ("sleep", "wake", "eat", "walk", "work", "social", "rest")
MOST = 16
MENDING = ("OPEN", "USE")
"""Verbs that may put a thing right, the likelier first."""
REFUSED = 6 * 60
"""Minutes for which one does not try again what did not work."""
RECENT = 45
"""Minutes for which something just done is not begun again, if there is something else."""


def plan_hours(given: PlanPartsInput, dice: Dice) -> PlanPartsOutput:
    """Hour-sized parts: the routine's phases in their order, of varied length."""
    rules = grammar(given.who.language)
    names = [hint.do for hint in given.hints] or _generic(given, rules, "hours", dice)
    count = max(1, min(len(names), given.item.minutes // 40 or 1, 6))
    chosen = _kept_in_order(names, count, dice)
    parts = tuple(
        PartOut(do=name[:120], minutes=_hour_length(given, len(chosen), dice, index))
        for index, name in enumerate(chosen)
    )
    return PlanPartsOutput(parts=parts)


def _hour_length(given: PlanPartsInput, parts: int, dice: Dice, index: int) -> int:
    even = given.item.minutes // parts
    return max(5, min(240, even + dice.between(-3, 3, "hours", index) * 5))


def _kept_in_order(names: Sequence[str], count: int, dice: Dice) -> list[str]:
    """So many of the names as drawn, in their own order."""
    kept = set(dice.shuffled(range(len(names)), "phases")[:count])
    return [name for index, name in enumerate(names) if index in kept]


def plan_minutes(given: PlanPartsInput, dice: Dice) -> PlanPartsOutput:
    """Actions of 5–15 minutes until the item is full, in a drawn order, none twice in a row."""
    rules = grammar(given.who.language)
    broken = _broken(given, rules)
    refused = {
        (memory.frame.get("object", ""), memory.frame.get("verb", ""))
        for memory in given.recalled
        if memory.frame.get("what") == "refused" and memory.minutes_ago < REFUSED
    }
    usable = [
        hint for hint in given.hints
        if not hint.object_id or (hint.object_id not in broken and (hint.object_id, hint.verb) not in refused)
    ]  # fmt: skip
    if given.item.asleep:
        return PlanPartsOutput(parts=(PartOut(do=given.item.do, minutes=min(240, max(5, given.item.minutes))),))
    queue = _queue(given, usable, rules, dice)
    repair = _relit(given, rules, dice) or _repair(given, broken, rules, refused, dice)
    return PlanPartsOutput(parts=_filled([*repair, *queue], given.item.minutes, dice))


def _relit(given: PlanPartsInput, rules: Grammar, dice: Dice) -> list[PartOut]:
    """Who has gone to see about the power puts on again what it put out, last of all and one thing after another."""
    if not given.item.because or not frozenset(words(given.item.do)) & rules.words("mends.power"):
        return []
    dark = [thing for thing in given.things if thing.state in rules.words("dark.states") and "OPEN" in thing.verbs]
    return [PartOut(do=given.item.do, minutes=10)] + [
        PartOut(
            do=rules.say("relight", "", {"thing": named(thing.name)}, dice.with_(thing.id)), minutes=5,
            object_id=thing.id, verb="OPEN", emoji="💡",
        )
        for thing in dark[:3]
    ]  # fmt: skip


def _queue(given: PlanPartsInput, hints: Sequence[Hint], rules: Grammar, dice: Dice) -> list[PartOut]:
    """The routine's steps, the first one mostly first, what was done just now last, with a generic one in between."""
    steps = [_part_of(hint) for hint in hints]
    ordered = (
        [*steps[:1], *dice.shuffled(steps[1:], "steps")] if dice.chance(60, "first") else dice.shuffled(steps, "steps")
    )
    just_done = {memory.frame.get("doing", "") for memory in given.recalled if memory.minutes_ago <= RECENT}
    ordered = [part for part in ordered if part.do not in just_done] + [
        part for part in ordered if part.do in just_done
    ]
    others = [PartOut(do=do[:120], minutes=5) for do in _generic(given, rules, "part", dice)]
    if not ordered:
        return others[:4]
    if len(ordered) < 3:
        return [*ordered, *others[:1]]
    if dice.chance(35, "breather"):
        ordered.insert(1 + dice.below(len(ordered), "where"), _breather(given, rules, others, dice))
    return ordered


def _breather(given: PlanPartsInput, rules: Grammar, others: Sequence[PartOut], dice: Dice) -> PartOut:
    if others and dice.chance(50, "kind"):
        return others[0]
    return PartOut(do=rules.pick("rest.short", dice) or given.item.do, minutes=5)


def _part_of(hint: Hint) -> PartOut:
    return PartOut(
        do=hint.do[:120], minutes=max(5, min(15, hint.minutes or 10)), location=hint.location,
        object_id=hint.object_id, verb=hint.verb, emoji=hint.emoji,
    )  # fmt: skip


def _filled(queue: Sequence[PartOut], total: int, dice: Dice) -> tuple[PartOut, ...]:
    """The queue over and over until the time is full, each time with other lengths."""
    parts: list[PartOut] = []
    left = total
    while left > 0 and len(parts) < MOST:
        part = queue[len(parts) % len(queue)]
        minutes = 5 * dice.between(1 if part.minutes <= 5 else 2, 2 if part.minutes <= 5 else 3, "minutes", len(parts))
        parts.append(part.model_copy(update={"minutes": minutes}))
        left -= minutes
    return tuple(parts) or (PartOut(do=queue[0].do, minutes=5),)


def kind_of(rules: Grammar, do: str) -> str:
    """sleep, wake, eat, walk, work, social, rest, event or plain, by the words of what is done."""
    if do.startswith("going to the "):
        return "event"
    spoken = frozenset(words(do))
    return next((kind for kind in KINDS if spoken & rules.words(f"kind.{kind}")), "plain")


def _generic(given: PlanPartsInput, rules: Grammar, level: str, dice: Dice) -> list[str]:
    """Things one does at such a time; the last word of an event's name fills its slot, so that seeing somebody there is
    not being told of it."""
    kind = kind_of(rules, given.item.do)
    if given.item.because and kind not in {"event", "sleep"} and level == "part":
        return [given.item.do]
    event = f"the {given.item.do.rpartition(' ')[2]}"
    names = [name.replace("{event}", event) for name in _raw(rules, f"{level}.{kind}")]
    names = names or list(_raw(rules, f"{level}.plain"))
    return dice.shuffled(names, "generic") if level == "part" else names


def _raw(rules: Grammar, rule: str) -> tuple[str, ...]:
    return tuple(
        "".join(piece if index % 2 == 0 else f"{{{piece}}}" for index, piece in enumerate(line.pieces))
        for line in rules.rules.get(rule, ())
    )


def _broken(given: PlanPartsInput, rules: Grammar) -> dict[str, ThingHere | Recalled]:
    """Things that do not work, as seen or as remembered: id → what says so."""
    faulty = rules.words("faulty") - {"out", "closed", "dark", "cold", "empty", "dirty"}
    found: dict[str, ThingHere | Recalled] = {}
    for memory in reversed(given.recalled):
        frame = memory.frame
        if frame.get("what") in {"thing", "refused"} and frame.get("object"):
            said = frame.get("words", "") or frame.get("why", "")
            if frozenset(words(said)) & faulty:
                found[frame["object"]] = memory
            else:
                found.pop(frame["object"], None)
    for thing in given.things:
        if frozenset(words(thing.state)) & faulty:
            found[thing.id] = thing
        elif thing.id in found and thing.state:
            del found[thing.id]
    return found


def _repair(
    given: PlanPartsInput,
    broken: dict[str, ThingHere | Recalled],
    rules: Grammar,
    refused: set[tuple[str, str]],
    dice: Dice,
) -> list[PartOut]:
    """A handy character sees to what is broken where it is, with a verb that has not been refused of late."""
    here = [thing for thing in given.things if thing.id in broken]
    if not here or not temper(given.who).handy or given.item.asleep:
        return []
    thing = here[0]
    verb = next((one for one in MENDING if one in thing.verbs and (thing.id, one) not in refused), "")
    if not verb and any(thing.id == one for one, _ in refused):
        return []
    do = rules.say("repair", "", {"thing": named(thing.name)}, dice)
    return [PartOut(do=do, minutes=15, object_id=thing.id if verb else "", verb=verb, emoji="🔧")]
