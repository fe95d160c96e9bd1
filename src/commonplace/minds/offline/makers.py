"""What each kind of memory gives to say: the slots of its rule, filled from its frame, or nothing.

What the hearer did or said is put to them as a question; it is never told to them as news.
"""

from __future__ import annotations

from collections.abc import Mapping

from commonplace.minds.notes import Recalled
from commonplace.minds.offline.grammar import english, speech
from commonplace.minds.offline.hear import Heard, content, heard
from commonplace.minds.offline.saying import (
    Saying,
    brief,
    is_worth_telling,
    own_doing,
    pronouns,
    speech_place,
    whereabouts,
)
from commonplace.minds.offline.scene import COLD, Scene

FRESH_DOING = 25
JUST = 45
"""Minutes after which one speaks of an occasion as something that was."""
STALE_DOING = 2 * 24 * 60
LONG_EVENT = 80


def seen(scene: Scene, memory: Recalled, frame: Mapping[str, str]) -> Saying | None:
    """Somebody's doing: the hearer's own, as a question; somebody else's, as gossip."""
    who, doing = frame.get("who", ""), frame.get("doing", "")
    if not is_worth_telling(scene, doing) or memory.minutes_ago > STALE_DOING:
        return None
    if who == scene.you.id:
        return _seen_you(scene, memory, doing)
    if who in scene.present or who == scene.me.id or not who:
        return None
    doing = speech.addressed(doing, scene.you.name, scene.you.called)
    slots = {
        "x": frame.get("called", ""),
        "doing": doing,
        "short": brief(doing),
        **whereabouts(scene, frame),
        "when": scene.when(memory),
        **pronouns(frame),
    }
    return Saying(
        (memory.id,),
        "core.saw",
        slots,
        38 if memory.minutes_ago < 240 else 24,
        doing.lower(),
        content(doing) | content(frame.get("called", "")),
    )


def _seen_you(scene: Scene, memory: Recalled, doing: str) -> Saying | None:
    doing = speech.addressed(speech.taken(doing, scene.you.pronoun, "your"), scene.me.name, scene.me.called)
    if " you" in f" {doing}" and scene.me.called.lower() in memory.text.lower().split(" is ")[-1]:
        return None
    now = memory.minutes_ago <= FRESH_DOING
    slots = {"doing": doing, "when": scene.when(memory), "short": brief(doing)}
    rule = "ask.now" if now else "ask.saw"
    if not now and is_festive(scene, doing):
        rule, slots["doing"] = "ask.was", doing
    return Saying((memory.id,), rule, slots, 34 if now else 40, doing.lower(), content(doing), (), True)


def said(scene: Scene, memory: Recalled, frame: Mapping[str, str]) -> Saying | None:
    """What somebody said: taken up again with the one who said it to me, passed on to others."""
    who, quote = frame.get("who", ""), frame.get("quote", "")
    if not quote or who == scene.me.id:
        return None
    line = heard(quote, scene.me.language)
    if line.asks or line.act in {"bye", "hello", "thanks", "apology", "weather", "kind"}:
        return None
    if who == scene.you.id:
        return _said_by_you(scene, memory, frame, line)
    if frame.get("to", "") == scene.you.id or who in scene.present:
        return None
    if speech.mentions(quote, scene.you.name, scene.you.called):
        return None
    return _heard_from(scene, memory, frame, quote)


def _heard_from(scene: Scene, memory: Recalled, frame: Mapping[str, str], quote: str) -> Saying | None:
    """Passed on to somebody else: reported where it reads well, otherwise only what it was about."""
    called = frame.get("called", "")
    report = speech.reported(quote, frame.get("pronoun", ""))
    if speech.mentions(report, scene.me.name, scene.me.called):
        return None
    slots = {"x": called, "when": scene.when(memory), "report": report}
    if report:
        return Saying((memory.id,), "core.heard", slots, 30, report.lower(), content(quote))
    slots["topic"] = speech.topic(quote, called=called)
    mark = slots["topic"].rpartition("'s ")[2].lower()
    return Saying((memory.id,), "core.heard_topic", slots, 18, mark, content(slots["topic"])) if mark else None


def _said_by_you(scene: Scene, memory: Recalled, frame: Mapping[str, str], line: Heard) -> Saying | None:
    topic = line.topic
    if not frame.get("to_me") or memory.minutes_ago < 45 or not topic or scene.known(topic.partition(" ")[2]):
        return None
    if not topic.startswith("your ") and line.act not in {"intend", "trouble"}:
        return None
    slots = {"topic": topic, "when": scene.when(memory)}
    return Saying((memory.id,), "ask.topic", slots, 46, topic.partition(" ")[2], content(topic), (), True)


def did(scene: Scene, memory: Recalled, frame: Mapping[str, str]) -> Saying | None:
    doing = frame.get("doing", "")
    if not is_worth_telling(scene, doing) or memory.minutes_ago > 24 * 60:
        return None
    doing = own_doing(scene, doing)
    if " you" in f" {doing}" or not doing:
        return None
    slots = {"doing": doing, "short": brief(doing), "when": scene.when(memory)}
    if is_festive(scene, doing) and memory.minutes_ago > JUST:
        slots["event"] = f"the {_event_word(scene, doing)}"
        return Saying((memory.id,), "core.was", slots, 62, f"the {_event_word(scene, doing)}", content(doing))
    return Saying((memory.id,), "core.did", slots, 10, doing.lower(), content(doing))


def is_festive(scene: Scene, doing: str) -> bool:
    """Whether a doing is the inside of an event: `taking in the festival`."""
    return bool(_event_word(scene, doing))


def _event_word(scene: Scene, doing: str) -> str:
    return next((word for word in doing.lower().split(" ") if word in scene.rules.words("occasion")), "")


def thing(scene: Scene, memory: Recalled, frame: Mapping[str, str]) -> Saying | None:
    words = frame.get("words", "")
    if (
        not words
        or not any(word in scene.rules.words("faulty") for word in words.split())
        or memory.minutes_ago > STALE_DOING
    ):
        return None
    name = frame.get("object_name", "")
    thing = speech_place(scene, name)
    first, _, rest = words.partition(" ")
    still = f"{first} still {rest}" if first in {"is", "are"} else words
    if memory.minutes_ago < 30:
        still = words
    slots = {
        "thing": thing, "bare_thing": english.named(name)[4:] if thing.startswith("the ") else "", "words": words,
        "still": still, "when": scene.when(memory), **whereabouts(scene, frame),
    }  # fmt: skip
    return Saying((memory.id,), "core.thing", slots, 30, f"{thing} {words}".lower(), content(name) | content(words))


def absent(scene: Scene, memory: Recalled, frame: Mapping[str, str]) -> Saying | None:
    thing = speech_place(scene, frame.get("object_name", ""))
    slots = {"thing": thing, "when": scene.when(memory), **whereabouts(scene, frame)}
    if not slots["at"] or memory.minutes_ago > STALE_DOING:
        return None
    return Saying((memory.id,), "core.absent", slots, 36, thing.lower(), content(thing))


def refused(scene: Scene, memory: Recalled, frame: Mapping[str, str]) -> Saying | None:
    thing, why = (
        speech_place(scene, frame.get("object_name", "")),
        english.lowered(frame.get("why", "").strip().rstrip(".")),
    )
    if not thing or not why or memory.minutes_ago > STALE_DOING:
        return None
    slots = {"thing": thing, "why": why, "when": scene.when(memory)}
    return Saying((memory.id,), "core.refused", slots, 34, why.lower(), content(thing) | content(why))


def event(scene: Scene, memory: Recalled, frame: Mapping[str, str]) -> Saying | None:
    text = (frame.get("text", "") or memory.text).strip().rstrip(".!")
    if memory.minutes_ago > STALE_DOING or speech.mentions(text, scene.me.name, scene.me.called):
        return None
    text = speech.addressed(text, scene.you.name, scene.you.called)
    told = english.past(_brief(text))
    slots = {"past": english.lowered(told), "when": scene.when(memory), "topic": speech.topic(text)}
    if " you " in f" {text} ":
        return None
    rule = "core.event" if told else "core.event_topic"
    mark = told.lower() or slots["topic"]
    weight = 20 if mark[: LONG_EVENT // 2] in scene.aired.lower() else 70
    return Saying((memory.id,), rule, slots, weight, mark, content(text)) if mark else None


def _brief(text: str) -> str:
    """A long report as far as its first comma: one does not recite."""
    head = text.partition(",")[0]
    return head if len(text) > LONG_EVENT and len(head.split()) >= 4 else text


def weather(scene: Scene, memory: Recalled, frame: Mapping[str, str]) -> Saying | None:
    sky = frame.get("sky", "")
    if memory.minutes_ago > 180 or sky != scene.given.situation.sky:
        return None
    if f"core.weather.{sky}" not in scene.rules.rules:
        return None
    return Saying((memory.id,), f"core.weather.{sky}", {"when": scene.when(memory)}, 12, sky, frozenset({sky}))


def plan(scene: Scene, memory: Recalled, frame: Mapping[str, str]) -> Saying | None:
    start, do = frame.get("start", ""), frame.get("do", "")
    if (
        not start
        or start <= scene.given.situation.time
        or memory.minutes_ago > 24 * 60
        or not is_worth_telling(scene, do)
    ):
        return None
    do = own_doing(scene, do)
    if " you" in f" {do}":
        return None
    slots = {"do": do, "short": brief(do), "time": english.clock(start), **whereabouts(scene, frame)}
    return Saying((memory.id,), "core.plan", slots, 18, do.lower(), content(do))


def insight(scene: Scene, memory: Recalled, frame: Mapping[str, str]) -> Saying | None:
    """A conclusion of mine; of one about the hearer its `you` wording, if it has one."""
    if frame.get("about", "") == scene.you.id:
        text, rule, weight = frame.get("you", ""), "core.insight_you", 18 if frame.get("kind") == "cross" else 40
    else:
        text, rule, weight = frame.get("say", "") or memory.text, "core.insight", 30
        if speech.mentions(text, scene.you.name, scene.you.called) or speech.mentions(
            text, scene.me.name, scene.me.called
        ):
            return None
    if not text or scene.you.warmth < COLD:
        return None
    text = text if text.endswith((".", "!", "?")) else f"{text}."
    slots = {"text": text, "low_text": english.lowered(text), "you": scene.you.called}
    return Saying((memory.id,), rule, slots, weight, text.lower().rstrip("."), content(text))
