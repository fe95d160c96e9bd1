"""From memories to what could be said of them: each recalled memory becomes a saying, or nothing.

A saying names the rule that words it, fills its slots from the memory's frame, and carries the `mark` that must not
have fallen before. What the hearer did, said or knows is never told to them as news.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from commonplace.minds.offline.grammar import english, speech
from commonplace.minds.offline.hear import content, heard
from commonplace.minds.offline.scene import COLD, Scene
from commonplace.minds.tasks import FactNote, Recalled

FRESH_DOING = 25
"""Minutes for which somebody's doing may still be spoken of as going on."""
STALE_DOING = 2 * 24 * 60


@dataclass(frozen=True, slots=True)
class Saying:
    """Something that could be said."""

    ids: tuple[int, ...]
    """The memories it rests on; twins share a saying."""
    rule: str
    slots: Mapping[str, str]
    weight: int
    mark: str
    """Its own words, lower case: what would make saying it again a repetition."""
    words: frozenset[str]
    facts: tuple[str, ...] = ()
    asks: bool = False
    """Whether it is put to the hearer about themselves."""


Maker = Callable[[Scene, Recalled, Mapping[str, str]], Saying | None]


def sayings(scene: Scene) -> list[Saying]:
    """What the recalled memories give to say to this hearer now, in order of recall."""
    found: dict[str, Saying] = {}
    for rank, memory in enumerate(scene.given.recalled):
        saying = _saying(scene, memory)
        if saying is None or not saying.mark or scene.known(saying.mark):
            continue
        twin = found.get(saying.mark)
        if twin is None:
            found[saying.mark] = replace(saying, weight=saying.weight + 2 * memory.importance - rank)
        else:
            found[saying.mark] = replace(twin, ids=(*twin.ids, *saying.ids))
    return list(found.values())


def _saying(scene: Scene, memory: Recalled) -> Saying | None:
    if memory.facts:
        return _fact(scene, memory)
    if memory.tell:
        return _tell(scene, memory)
    maker = _MAKERS.get(memory.frame.get("what", ""))
    return maker(scene, memory, memory.frame) if maker else None


def _fact(scene: Scene, memory: Recalled) -> Saying | None:
    """News, in the words that carry it; about an event both know of, whether the hearer goes."""
    frame = memory.frame
    note = next((scene.notes[name] for name in memory.facts if name in scene.notes), None)
    if note is None:
        return None
    source = frame.get("who", "") if frame.get("what") == "said" else ""
    if note.id in scene.given.told or source == scene.you.id:
        return _event_again(scene, memory, note)
    tells = [text for text in note.tell or (note.text,) if not scene.known(text)]
    tells = [text for text in tells if not speech.mentions(text, scene.you.name, scene.you.called)] or tells
    if not tells or any(scene.known(text) for text in note.tell):
        return None
    text = scene.dice.choice(tells, "tell", memory.id)
    slots = {"tell": text, "x": frame.get("called", "") if source else ""}
    return Saying((memory.id,), "core.fact", slots, 130, text.lower(), content(note.text), (note.id,))


def _event_again(scene: Scene, memory: Recalled, note: FactNote) -> Saying | None:
    event = event_name(note)
    if not event or not note.starts or note.starts <= scene.moment or scene.known(event.partition(" ")[2]):
        return None
    slots = {"event": event, "time": english.clock(note.starts[11:16])}
    if not goes_to(scene, note):
        return None
    return Saying((memory.id,), "invite.again", slots, 40, event.partition(" ")[2], content(event), (), True)


def event_name(note: FactNote) -> str:
    """What an event is called: `the lantern festival`."""
    return speech.topic(note.text)


def goes_to(scene: Scene, note: FactNote) -> bool:
    """Whether the event stands in the plan for today."""
    name = event_name(note).partition(" ")[2]
    start = note.starts[11:16]
    return any(
        (bool(name) and name in item.do) or (item.location == note.place and bool(note.place) and _spans(item.start, item.minutes, start))
        for item in scene.given.later
    )


def _spans(start: str, minutes: int, moment: str) -> bool:
    begun = int(start[:2]) * 60 + int(start[3:5])
    at = int(moment[:2]) * 60 + int(moment[3:5])
    return begun <= at < begun + minutes and at - begun <= 30


def _tell(scene: Scene, memory: Recalled) -> Saying | None:
    you = scene.you
    about_you = memory.frame.get("about", "") == you.id
    lines = [
        line
        for line in memory.tell
        if not scene.known(line) and not speech.mentions(line, you.name, you.called) and (not about_you or " you" in line)
    ]
    if not lines or scene.you.warmth < COLD:
        return None
    text = scene.dice.choice(lines, "tell", memory.id)
    topic = memory.frame.get("topic", "")
    weight = 50 if len(lines) == len(memory.tell) else 20
    words = content(text) | content(topic)
    return Saying((memory.id,), "core.tell", {"tell": text, "topic": topic}, weight, text.lower(), words)


def _seen(scene: Scene, memory: Recalled, frame: Mapping[str, str]) -> Saying | None:
    """Somebody's doing: the hearer's own, as a question; somebody else's, as gossip."""
    who, doing = frame.get("who", ""), frame.get("doing", "")
    if not _worth_telling(scene, doing) or memory.minutes_ago > STALE_DOING:
        return None
    if who == scene.you.id:
        return _seen_you(scene, memory, doing)
    if who in scene.present or who == scene.me.id or not who:
        return None
    doing = speech.addressed(doing, scene.you.name, scene.you.called)
    slots = {"x": frame.get("called", ""), "doing": doing, **_where(scene, frame), "when": scene.when(memory), **_he(frame)}
    return Saying((memory.id,), "core.saw", slots, 24, doing.lower(), content(doing) | content(frame.get("called", "")))


def _seen_you(scene: Scene, memory: Recalled, doing: str) -> Saying | None:
    doing = speech.addressed(speech.taken(doing, scene.you.pronoun, "your"), scene.me.name, scene.me.called)
    if " you" in f" {doing}" and scene.me.called.lower() in memory.text.lower().split(" is ")[-1]:
        return None
    now = memory.minutes_ago <= FRESH_DOING
    slots = {"doing": doing, "when": scene.when(memory)}
    rule = "ask.now" if now else "ask.saw"
    return Saying((memory.id,), rule, slots, 34 if now else 40, doing.lower(), content(doing), (), True)


def _worth_telling(scene: Scene, doing: str) -> bool:
    """Not sleeping, not walking somewhere, and in the -ing form that fits the templates."""
    first = doing.split(" ", 1)[0]
    return first.endswith("ing") and first not in scene.rules.words("faint") and "talking" not in first


def _where(scene: Scene, frame: Mapping[str, str]) -> dict[str, str]:
    name = frame.get("place_name", "")
    place = speech_place(scene, name)
    return {"at": f"{english.at(name).split(' ', 1)[0]} {place}" if place else "", "place": place}


def speech_place(scene: Scene, name: str) -> str:
    """A place as these two call it: `my flat`, `your flat`, `the workshop`."""
    place = english.named(name)
    for called, own in ((scene.me.called, "my"), (scene.you.called, "your")):
        if place.startswith(f"{called}'s "):
            return f"{own} {place[len(called) + 3 :]}"
    return place


def _he(frame: Mapping[str, str]) -> dict[str, str]:
    pronoun = frame.get("pronoun", "")
    return {"he": pronoun, "him": speech.OBJECT[pronoun]} if pronoun in {"she", "he"} else {}


def _said(scene: Scene, memory: Recalled, frame: Mapping[str, str]) -> Saying | None:
    """What somebody said: taken up again with the one who said it to me, passed on to others."""
    who, quote, called = frame.get("who", ""), frame.get("quote", ""), frame.get("called", "")
    if not quote or who == scene.me.id:
        return None
    line = heard(quote, scene.me.language)
    if line.asks or line.act in {"bye", "hello", "thanks", "apology", "weather", "kind"}:
        return None
    if who == scene.you.id:
        return _said_by_you(scene, memory, frame, line.topic)
    if frame.get("to", "") == scene.you.id or who in scene.present or speech.mentions(quote, scene.you.name, scene.you.called):
        return None
    report = speech.reported(quote, frame.get("pronoun", "")) or ""
    if speech.mentions(report, scene.me.name, scene.me.called):
        return None
    slots = {"x": called, "when": scene.when(memory), "report": report}
    if report:
        return Saying((memory.id,), "core.heard", slots, 30, report.lower(), content(quote))
    slots["topic"] = speech.topic(quote, called=called)
    mark = slots["topic"].rpartition("'s ")[2].lower()
    return Saying((memory.id,), "core.heard_topic", slots, 18, mark, content(slots["topic"])) if mark else None


def _said_by_you(scene: Scene, memory: Recalled, frame: Mapping[str, str], topic: str) -> Saying | None:
    if not frame.get("to_me") or memory.minutes_ago < 45 or not topic or scene.known(topic.partition(" ")[2]):
        return None
    slots = {"topic": topic, "when": scene.when(memory)}
    return Saying((memory.id,), "ask.topic", slots, 46, topic.partition(" ")[2], content(topic), (), True)


def _did(scene: Scene, memory: Recalled, frame: Mapping[str, str]) -> Saying | None:
    doing = frame.get("doing", "")
    if not _worth_telling(scene, doing) or memory.minutes_ago > 24 * 60:
        return None
    doing = own_doing(scene, doing)
    if " you" in f" {doing}" or not doing:
        return None
    return Saying((memory.id,), "core.did", {"doing": doing, "when": scene.when(memory)}, 10, doing.lower(), content(doing))


def own_doing(scene: Scene, doing: str) -> str:
    """What I did in my own words to this hearer."""
    return speech.addressed(speech.taken(doing, scene.me.pronoun, "my"), scene.you.name, scene.you.called)


def _thing(scene: Scene, memory: Recalled, frame: Mapping[str, str]) -> Saying | None:
    words = frame.get("words", "")
    if not words or not any(word in scene.rules.words("faulty") for word in words.split()) or memory.minutes_ago > STALE_DOING:
        return None
    name = frame.get("object_name", "")
    thing = speech_place(scene, name)
    first, _, rest = words.partition(" ")
    still = f"{first} still {rest}" if first in {"is", "are"} else words
    if memory.minutes_ago < 30:
        still = words
    slots = {
        "thing": thing, "bare_thing": english.named(name)[4:] if thing.startswith("the ") else "", "words": words,
        "still": still, "when": scene.when(memory), **_where(scene, frame),
    }  # fmt: skip
    return Saying((memory.id,), "core.thing", slots, 30, f"{thing} {words}".lower(), content(name) | content(words))


def _absent(scene: Scene, memory: Recalled, frame: Mapping[str, str]) -> Saying | None:
    thing = speech_place(scene, frame.get("object_name", ""))
    slots = {"thing": thing, "when": scene.when(memory), **_where(scene, frame)}
    if not slots["at"] or memory.minutes_ago > STALE_DOING:
        return None
    return Saying((memory.id,), "core.absent", slots, 36, thing.lower(), content(thing))


def _refused(scene: Scene, memory: Recalled, frame: Mapping[str, str]) -> Saying | None:
    thing, why = speech_place(scene, frame.get("object_name", "")), english.lowered(frame.get("why", "").strip().rstrip("."))
    if not thing or not why or memory.minutes_ago > STALE_DOING:
        return None
    slots = {"thing": thing, "why": why, "when": scene.when(memory)}
    return Saying((memory.id,), "core.refused", slots, 34, why.lower(), content(thing) | content(why))


def _event(scene: Scene, memory: Recalled, frame: Mapping[str, str]) -> Saying | None:
    text = (frame.get("text", "") or memory.text).strip().rstrip(".!")
    if memory.minutes_ago > STALE_DOING or speech.mentions(text, scene.me.name, scene.me.called):
        return None
    text = speech.addressed(text, scene.you.name, scene.you.called)
    told = english.past(text)
    slots = {"past": english.lowered(told), "when": scene.when(memory), "topic": speech.topic(text)}
    if " you " in f" {text} ":
        return None
    rule = "core.event" if told else "core.event_topic"
    mark = told.lower() or slots["topic"]
    return Saying((memory.id,), rule, slots, 70, mark, content(text)) if mark else None


def _weather(scene: Scene, memory: Recalled, frame: Mapping[str, str]) -> Saying | None:
    sky = frame.get("sky", "")
    if memory.minutes_ago > 180 or sky != scene.given.situation.sky:
        return None
    if f"core.weather.{sky}" not in scene.rules.rules:
        return None
    return Saying((memory.id,), f"core.weather.{sky}", {"when": scene.when(memory)}, 12, sky, frozenset({sky}))


def _plan(scene: Scene, memory: Recalled, frame: Mapping[str, str]) -> Saying | None:
    start, do = frame.get("start", ""), frame.get("do", "")
    if not start or start <= scene.given.situation.time or memory.minutes_ago > 24 * 60 or not _worth_telling(scene, do):
        return None
    do = own_doing(scene, do)
    if " you" in f" {do}":
        return None
    slots = {"do": do, "time": english.clock(start), **_where(scene, frame)}
    return Saying((memory.id,), "core.plan", slots, 18, do.lower(), content(do))


def _insight(scene: Scene, memory: Recalled, frame: Mapping[str, str]) -> Saying | None:
    """A conclusion of mine; of one about the hearer its `you` wording, if it has one."""
    if frame.get("about", "") == scene.you.id:
        text, rule, weight = frame.get("you", ""), "core.insight_you", 40
    else:
        text, rule, weight = frame.get("say", "") or memory.text, "core.insight", 30
        if speech.mentions(text, scene.you.name, scene.you.called) or speech.mentions(text, scene.me.name, scene.me.called):
            return None
    if not text or scene.you.warmth < COLD:
        return None
    text = text if text.endswith((".", "!", "?")) else f"{text}."
    slots = {"text": text, "low_text": english.lowered(text), "you": scene.you.called}
    return Saying((memory.id,), rule, slots, weight, text.lower().rstrip("."), content(text))


_MAKERS: Mapping[str, Maker] = {
    "doing": _seen,
    "acted": _seen,
    "said": _said,
    "did": _did,
    "thing": _thing,
    "absent": _absent,
    "refused": _refused,
    "event": _event,
    "weather": _weather,
    "plan": _plan,
    "insight": _insight,
}
