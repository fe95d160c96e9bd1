"""One line of talk: which memory it rests on, and the words around it.

Three situations, a module each: opening (here), replying (`reply`) and taking leave (`leave`). Whatever is said cites
the memories it is made of; without them it would be another line, or none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from commonplace import rng
from commonplace.minds.notes import FactNote, Item, Recalled
from commonplace.minds.offline.answers import answer_question, news_reply
from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.gatherings import event_name, goes_to, has_said_yes
from commonplace.minds.offline.grammar import english, speech
from commonplace.minds.offline.hear import Heard, content, has_any, heard, is_nod
from commonplace.minds.offline.sayings import (
    Line,
    Saying,
    brief,
    fillers,
    line_of,
    own_doing,
    sayings,
    speech_place,
    trimmed,
)
from commonplace.minds.offline.scene import CLOSE, COLD, Scene, scene_of
from commonplace.minds.tasks import ConverseInput, ConverseOutput
from commonplace.text import words

# ── leave ────────────────────────────────────────────────────────────────────────────────────────────────────────────
# Taking leave: with what comes next, a good wish, and the memory of what was last said.


DUE = 25
"""Minutes before something elsewhere from which one speaks of having to be there."""


def leaving(scene: Scene, last: Recalled | None) -> Line | None:
    """A farewell that names what calls; answers one with a short one. None when nothing remembered carries it."""
    plan = _plan_memory(scene)
    ids = tuple(memory.id for memory in (last, plan) if memory is not None)
    if not ids:
        return None
    slots = {"you": scene.you.called}
    if scene.last and heard(scene.last, scene.me.language).act == "bye":
        return Line(_good_night(scene, slots) or scene.say("bye.back", slots), ids[:1], ends=True)
    reason = scene.say(*_reason(scene))
    return Line(f"{reason} {_wish(scene, slots)}", ids, ends=True)


def _good_night(scene: Scene, slots: dict[str, str]) -> str:
    hour = int(scene.given.situation.time[:2])
    return scene.say("bye.night", slots) if hour >= 22 or hour < 4 else ""


def _wish(scene: Scene, slots: dict[str, str]) -> str:
    """The last words: until the event both go to, luck with what was spoken of, or plain ones."""
    if scene.you.warmth < COLD:
        return ""
    for note in scene.given.facts:
        if _both_go(scene, note) and scene.dice.chance(50, "until"):
            return scene.say("bye.event", {"event": event_name(note)})
    line = heard(scene.last, scene.me.language)
    if line.topic and line.act in {"trouble", "intend"} and scene.dice.chance(60, "luck"):
        return scene.say("bye.topic", {"topic": line.topic})
    return _good_night(scene, slots) or scene.say("bye.tail", slots)


def _both_go(scene: Scene, note: FactNote) -> bool:
    """Whether both are known to go, it is still to come and somewhere else, and one has not parted until it before."""
    name = event_name(note)
    if not name or not goes_to(scene, note) or note.place == scene.given.situation.place.id:
        return False
    return has_said_yes(scene, note) and not _parted_with(scene, name)


def _parted_with(scene: Scene, event: str) -> bool:
    """Whether one has parted until this event before."""
    return any(scene.known(f"{word} {event}") for word in ("at", "until"))


def _reason(scene: Scene) -> tuple[str, dict[str, str]]:
    """Why one goes: what comes within the hour, else what one is at, else nothing in particular."""
    following = next((item for item in scene.given.later if not item.asleep), None)
    elsewhere = following is not None and following.location != scene.given.situation.place.id
    if following is not None and elsewhere and 0 < _minutes_until(scene, following) <= DUE:
        place = speech_place(scene, following.location_name)
        spot = f"{english.at(following.location_name).split(' ', 1)[0]} {place}" if place else ""
        if place:
            return "bye.later", {"at": spot, "place": place, "time": english.clock(following.start)}
    now = scene.given.now
    if now is not None and now.do.split(" ", 1)[0].endswith("ing") and not now.asleep:
        do = own_doing(scene, now.do)
        if not speech.mentions(do, scene.me.name, scene.me.called) and " you" not in f" {do}" and _is_work(scene, do):
            return "bye.plan", {"do": do, "short": brief(do)}
    return "bye.plain", {}


def _is_work(scene: Scene, do: str) -> bool:
    first = do.split(" ", 1)[0]
    if do.startswith(fillers(scene.me.language)):
        return False
    return first not in scene.rules.words("faint") and first not in {"going", "walking", "chatting", "talking"}


def _minutes_until(scene: Scene, item: Item) -> int:
    now = scene.given.situation.time
    return int(item.start[:2]) * 60 + int(item.start[3:5]) - int(now[:2]) * 60 - int(now[3:5])


def _plan_memory(scene: Scene) -> Recalled | None:
    """The memory of the plan that calls, if it was recalled."""
    dos = {item.do for item in (*([scene.given.now] if scene.given.now else ()), *scene.given.later[:1])}
    return next(
        (
            memory
            for memory in scene.given.recalled
            if memory.frame.get("what") == "plan" and memory.frame.get("do") in dos
        ),
        None,
    )


# ── reply ────────────────────────────────────────────────────────────────────────────────────────────────────────────
# Replying: what was said is understood, then reacted to, answered, passed by or met with something of one's own.


ASKED_BACK = frozenset({"statement", "trouble", "joy", "intend"})
REPORT = "report"
"""The act of telling what happened."""
_GOSSIP = frozenset({"statement", "trouble", "joy", "intend", "kind"})
_OWN = re.compile(r"\b(I|I've|I'm|I'd|my|me)\b")
ACK = 46
"""A statement shorter than this, about nothing that can be named, only keeps a talk going."""


def replying(scene: Scene, options: list[Saying]) -> Line | None:
    """The reply to the last line, if one remembers hearing it; otherwise one has missed it."""
    memory = heard_memory(scene)
    if memory is None:
        return _missed(scene, options)
    line = heard(scene.last, scene.me.language)
    if line.act == "bye" or scene.given.purpose == "farewell":
        return leaving(scene, memory)
    return _minded(scene, memory, line, options)


def _minded(scene: Scene, memory: Recalled, line: Heard, options: list[Saying]) -> Line | None:
    """The reply to a line that is no farewell: by what the two are to each other, and by what it does."""
    if scene.you.warmth < COLD:
        return _cold(scene, memory, line)
    if _answers_me(scene, line):
        return _rsvp(scene, memory, line, options)
    if memory.facts:
        told = news_reply(scene, memory, options)
        if told is not None:
            return told
    if line.asks and line.act != REPORT:
        return answer_question(scene, memory, line, options)
    return _met(scene, memory, line, options)


def _answers_me(scene: Scene, line: Heard) -> bool:
    """Whether the line answers the news of an event that I have just told, or my asking along."""
    if not scene.mine or line.asks or "?" in scene.last:
        return False
    notes = [note for note in scene.given.facts if note.starts > scene.moment]
    return any(text in scene.mine[-1] for note in notes for text in (*note.tell, event_name(note)) if text)


def _rsvp(scene: Scene, memory: Recalled, line: Heard, options: list[Saying]) -> Line | None:
    """A word about the yes, the no or the perhaps, and something else while the talk is young."""
    act = "declines" if has_any(scene.rules, "declines.more", scene.last) else line.act
    rule = f"react.{act}" if act in {"accepts", "declines"} else "react.perhaps"
    first = Line(scene.say(rule, {"you": scene.you.called}, memory.id), (memory.id,))
    own = _own(scene, options, "turn", 0) if len(scene.given.lines) < 5 and scene.dice.chance(60, "rsvp") else None
    return first.joined(own)


def heard_memory(scene: Scene) -> Recalled | None:
    """The memory of the line just heard."""
    for memory in scene.given.recalled:
        frame = memory.frame
        if frame.get("what") == "said" and frame.get("who") == scene.you.id and frame.get("quote") == scene.last:
            return memory
    return next(
        (one for one in scene.given.recalled if scene.last in one.text and not one.frame.get("what")),
        None,
    )


def _missed(scene: Scene, options: list[Saying]) -> Line | None:
    body = line_of(scene, options[0]) if options else None
    return body.after(scene.say("lost", {})) if body else None


def _cold(scene: Scene, memory: Recalled, line: Heard) -> Line:
    rule = "cold.topic" if line.topic and scene.dice.chance(40, "cold") else "cold"
    ends = len(scene.given.lines) >= 2
    return Line(scene.say(rule, {"topic": line.topic}, memory.id), (memory.id,), topic=line.topic, ends=ends)


def _met(scene: Scene, memory: Recalled, line: Heard, options: list[Saying]) -> Line | None:
    """A statement: a reaction, and sometimes a question or something of one's own that goes with it."""
    if line.act == "hello":
        return _hello(scene, memory, options)
    is_ack = (len(scene.last) < ACK and line.act == "statement") or is_nod(scene.last, scene.me.language)
    is_ack = is_ack and len(scene.given.lines) > 1
    own = related(line, options)
    if is_ack and own is None:
        return _carry_on(scene, memory, options)
    reaction = Line(_reaction(scene, memory, line), (memory.id,), topic=line.topic)
    return reaction.joined(_follow_up(scene, line, own, options))


def _hello(scene: Scene, memory: Recalled, options: list[Saying]) -> Line:
    you = scene.you
    stranger = not you.label and not you.talks and you.warmth < 10
    rule = "react.hello_stranger" if stranger else "react.hello"
    opener = Line(scene.say(rule, {"you": you.called, "me": scene.me.called}), (memory.id,))
    return opener.joined(_own(scene, options, "turn", 0))


def _reaction(scene: Scene, memory: Recalled, line: Heard) -> str:
    """The first words of a reply: about the third person spoken of, or by what the line did."""
    slots = {"topic": line.topic if not scene_mentions(scene, line.topic) else "", "you": scene.you.called}
    person = _third(scene) if line.act in _GOSSIP else None
    if person and scene.dice.chance(60, "gossip"):
        rule = "react.gossip_cold" if person[1] < COLD else "react.gossip"
        return scene.say(rule, {"x": person[0]}, memory.id)
    rule = "react.own" if line.act == "statement" and _OWN.search(scene.last) else f"react.{line.act}"
    if rule == "react.own" and scene.dice.chance(45, "plain"):
        rule = "react.statement"
    return scene.say(rule, slots, memory.id) or scene.say("react.statement", slots, memory.id)


def scene_mentions(scene: Scene, topic: str) -> bool:
    """Whether I have named the topic already in this talk: one does not name it in every line."""
    return bool(topic) and any(topic.partition(" ")[2] in mine.lower() for mine in scene.mine)


def _third(scene: Scene) -> tuple[str, int] | None:
    """Somebody else named in the last line whom I know: short name and warmth as far as I see them here."""
    warmth = {person.called: person.warmth for person in scene.given.situation.people}
    spoken = scene.last
    for memory in scene.given.recalled:
        called = memory.frame.get("called", "")
        if called and called not in (scene.you.called, scene.me.called) and called in spoken:
            return called, warmth.get(called, 0)
    return None


def related(line: Heard, options: list[Saying]) -> Saying | None:
    """The saying of mine that shares most with what was said."""
    shared = [(len(line.words & option.words), option.weight, -index) for index, option in enumerate(options)]
    top = max(shared, default=(0, 0, 0))
    return options[-top[2]] if top[0] else None


def _follow_up(scene: Scene, line: Heard, own: Saying | None, options: list[Saying]) -> Line | None:
    """News of what is ahead, a question back, something of one's own that goes with it, something new, or nothing."""
    news = _coming(scene, options)
    if news is not None and scene.dice.chance(50, "news", len(scene.given.lines)):
        body = line_of(scene, news)
        return body.after(scene.say("turn", {})) if body else None
    roll = scene.dice.below(100, "follow", len(scene.given.lines))
    if own is not None and not own.asks and roll < 65:
        body = line_of(scene, own)
        lead = "reminds" if _goes_with(line, own) else "turn"
        return body.after(scene.say(lead, {})) if body and roll < 40 else body
    if roll < 70 and line.act in ASKED_BACK and not _asked_lately(scene):
        slots = {"topic": "" if scene_mentions(scene, line.topic) else line.topic}
        return Line(scene.say(_question(scene, line), slots), ())
    if roll < 84 and len(scene.given.lines) < 5:
        return _own(scene, options, "turn", 0)
    return None


def _coming(scene: Scene, options: list[Saying]) -> Saying | None:
    """What there is to tell of an event that is still ahead."""
    ahead = {note.id for note in scene.given.facts if note.starts > scene.moment}
    return next((option for option in options if ahead & set(option.facts)), None)


def _goes_with(line: Heard, own: Saying) -> bool:
    """Whether what the two share is a thing, not some word."""
    named = content(line.topic) | content(own.slots.get("topic", ""))
    return bool(line.words & own.words & named)


def _question(scene: Scene, line: Heard) -> str:
    """The kind of question that fits what was said: a secret, something of long ago, a feeling, anything else."""
    if line.act != "statement":
        return f"follow.{line.act}"
    spoken = frozenset(words(scene.last))
    kinds = ("secret", "long_ago", "feeling")
    return next((f"follow.{kind}" for kind in kinds if spoken & scene.rules.words(kind)), "follow.statement")


def _asked_lately(scene: Scene) -> bool:
    return bool(scene.mine) and scene.mine[-1].endswith("?")


def _own(scene: Scene, options: list[Saying], lead: str, asks: int) -> Line | None:
    """Something of mine, by weight and a draw; `asks` is added to the weight of questions."""
    if not options:
        return None
    pulls = [
        (option.weight + (asks if option.asks else 0) + scene.spread(40, option.ids[0]), -index)
        for index, option in enumerate(options)
    ]
    body = line_of(scene, options[-max(pulls)[1]])
    return body.after(scene.say(lead, {})) if body and lead and scene.dice.chance(40, "lead") else body


def _carry_on(scene: Scene, memory: Recalled, options: list[Saying]) -> Line | None:
    """After a mere nod: something new while the talk is young, leave otherwise."""
    if len(scene.given.lines) < 5:
        body = _own(scene, options, "turn", 10)
        if body is not None:
            return body
    return leaving(scene, memory)


# ── converse ─────────────────────────────────────────────────────────────────────────────────────────────────────────


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
