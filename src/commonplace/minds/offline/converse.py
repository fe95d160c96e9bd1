"""One line of talk: which memory it rests on, and the words around it.

Three situations, a module each: opening (here), replying (`reply`) and taking leave (`leave`). Whatever is said cites
the memories it is made of; without them it would be another line, or none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from commonplace import rng
from commonplace.minds.notes import Recalled
from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.hear import heard
from commonplace.minds.offline.leave import leaving
from commonplace.minds.offline.line import Line, line_of, trimmed
from commonplace.minds.offline.occasions import goes_to, has_said_yes
from commonplace.minds.offline.reply import replying
from commonplace.minds.offline.saying import Saying
from commonplace.minds.offline.sayings import sayings
from commonplace.minds.offline.scene import CLOSE, COLD, Scene, scene_of
from commonplace.minds.tasks import ConverseInput, ConverseOutput

TRIES = 6
"""Wordings tried before the speaker rather keeps silent."""


def converse(given: ConverseInput, dice: Dice) -> ConverseOutput:
    """What to say now; an empty utterance when nothing remembered gives anything to say."""
    scene = scene_of(given, dice)
    options = sayings(scene)
    for attempt in range(TRIES):
        line = _line(scene_at(scene, dice, attempt), options)
        if line is None:
            break
        text = trimmed(scene.finished(line.text))
        if scene.fresh(text):
            cited = _with_twins(given.recalled, line.ids)
            return ConverseOutput(
                utterance=text, ends=line.ends, because=cited, facts=line.facts, topic=line.topic[:60]
            )
    return ConverseOutput(utterance="", ends=True)


def _with_twins(recalled: Sequence[Recalled], ids: tuple[int, ...]) -> tuple[int, ...]:
    """The cited memories and any that say the same in the same words: the line rests on each of them."""
    texts = {memory.text for memory in recalled if memory.id in ids}
    return (*ids, *(memory.id for memory in recalled if memory.text in texts and memory.id not in ids))


def scene_at(scene: Scene, dice: Dice, attempt: int) -> Scene:
    """The scene with other draws for another attempt."""
    if not attempt:
        return scene
    other = dice.with_("again", attempt)
    return replace(scene, dice=other, salt=rng.draw(*other.key, "salt"))


def _line(scene: Scene, options: list[Saying]) -> Line | None:
    if scene.last:
        return replying(scene, options)
    if scene.given.purpose == "farewell":
        return leaving(scene, None)
    opener = _OPENERS.get(scene.given.purpose)
    return (opener(scene, options) if opener else None) or _opening(scene, options)


def _opening(scene: Scene, options: list[Saying]) -> Line | None:
    """A greeting, and something remembered: of the hearer rather than of others."""
    saying = best(scene, options)
    if saying is None:
        return None if scene.mine else _plain_greeting(scene)
    body = line_of(scene, saying)
    if body is None:
        return None
    if scene.mine:
        return body.after(scene.say("turn", {}, saying.ids[0])) if scene.dice.chance(50, "turn") else body
    greeting = _greeting(scene)
    if _wants_lead(saying) and "?" not in greeting and scene.dice.chance(45, "lead"):
        greeting = f"{greeting} {scene.say('lead', {}, saying.ids[0])}"
    return _invited(scene, saying, body.after(greeting))


def _wants_lead(saying: Saying) -> bool:
    return saying.rule in {"core.tell", "core.heard_topic"}


def _invited(scene: Scene, saying: Saying, line: Line) -> Line:
    """An event one goes to oneself is told with an invitation to somebody one likes."""
    note = next((scene.notes[name] for name in saying.facts), None)
    if note is None or not goes_to(scene, note) or has_said_yes(scene, note) or scene.you.warmth < 0:
        return line
    return line.before(scene.say("invite.tail", {"you": scene.you.called}, note.id))


def best(scene: Scene, options: list[Saying]) -> Saying | None:
    """The saying one opens with: weights tilted by purpose and relation, and a draw."""
    ranked = sorted(
        ((_pull(scene, saying) + scene.spread(30, saying.ids[0]), -index) for index, saying in enumerate(options)),
        reverse=True,
    )
    return options[-ranked[0][1]] if ranked else None


def _pull(scene: Scene, saying: Saying) -> int:
    pull = saying.weight
    purpose = scene.given.purpose
    if saying.asks and purpose in {"greet", "ask"}:
        pull += 25 if not scene.mine else 0
    if purpose in {"tell", "invite"} and saying.facts:
        pull += 100
    if _is_stranger(scene) and saying.rule in {"core.tell", "core.insight"}:
        pull -= 30
    return pull


def _is_stranger(scene: Scene) -> bool:
    you = scene.you
    return not you.label and not you.talks and you.warmth < 10


def _greeting(scene: Scene) -> str:
    """By the hour, the time since the last talk, and what the two are to each other."""
    you, slots = scene.you, {"you": scene.you.called, "me": scene.me.called}
    if you.warmth < COLD:
        return scene.say("greet.cold", slots)
    if _is_stranger(scene):
        return scene.say("greet.stranger", slots)
    if 0 <= you.minutes_since_talk < 9 * 60:
        return scene.say("greet.again", slots)
    if you.warmth >= CLOSE and scene.dice.chance(40, "friend"):
        return scene.say("greet.friend", slots)
    part = {"dawn": "morning"}.get(scene.given.situation.part_of_day, scene.given.situation.part_of_day)
    return scene.say(f"greet.{part}", slots) or scene.say("greet.midday", slots)


def _plain_greeting(scene: Scene) -> Line | None:
    """With nothing to tell: a greeting and a question, if one remembers the hearer at all."""
    ids = tuple(
        memory.id
        for memory in scene.given.recalled
        if scene.you.id in (memory.frame.get("who"), memory.frame.get("to"))
    )
    if not ids:
        return None
    if scene.you.warmth < COLD:
        return Line(_greeting(scene), ids)
    greeting = _greeting(scene)
    asks = "ask.well" if scene.dice.chance(50, "well") and "?" not in greeting else "ask.doing"
    return Line(f"{greeting} {scene.say(asks, {'you': scene.you.called})}", ids)


def _comfort(scene: Scene, options: list[Saying]) -> Line | None:  # noqa: ARG001 – one signature for all openers
    """About what the hearer suffers, as one has heard it from them."""
    for memory in scene.given.recalled:
        frame = memory.frame
        if frame.get("what") != "said" or frame.get("who") != scene.you.id:
            continue
        line = heard(frame.get("quote", ""), scene.me.language)
        if line.act == "trouble":
            topic = line.topic if line.topic.startswith("your ") else ""
            slots = {"topic": topic, "you": scene.you.called, "when": scene.when(memory)}
            return Line(scene.say("comfort", slots, memory.id), (memory.id,), topic=line.topic)
    return None


_OPENERS: dict[str, Callable[[Scene, list[Saying]], Line | None]] = {"comfort": _comfort}
