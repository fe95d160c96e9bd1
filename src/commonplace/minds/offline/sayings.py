"""From memories to what could be said of them: each recalled memory becomes a saying, or nothing.

A saying names the rule that words it, fills its slots from the memory's frame, and carries the `mark` that must not
have fallen before. What the hearer did, said or knows is never told to them as news.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from commonplace.minds.notes import FactNote, Recalled
from commonplace.minds.offline.gatherings import event_name, goes_to, has_said_yes, minutes_since
from commonplace.minds.offline.grammar import english, speech
from commonplace.minds.offline.grammar.grammar import grammar
from commonplace.minds.offline.hear import Heard, content, heard
from commonplace.minds.offline.scene import COLD, Scene

# ── saying ───────────────────────────────────────────────────────────────────────────────────────────────────────────
# Something that could be said, and how the two who talk call what it is about.


@dataclass(slots=True)
class Saying:
    """Something that could be said. Weighed, and joined with its twins, while it is collected; not changed later."""

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


def own_doing(scene: Scene, doing: str) -> str:
    """What I did in my own words to this hearer."""
    return speech.addressed(speech.taken(doing, scene.me.pronoun, "my"), scene.you.name, scene.you.called)


_LONG = frozenset({"which", "that", "who", "until", "as", "while", "when", "before", "after", "he", "she", "they", "I"})


def brief(doing: str) -> str:
    """A doing short enough to have words after it; empty for a longer one."""
    parts = doing.split(" ")
    return doing if len(parts) <= 5 and not _LONG & set(parts) else ""


def speech_place(scene: Scene, name: str) -> str:
    """A place as these two call it: `my flat`, `your flat`, `the workshop`."""
    place = english.named(name)
    for called, own in ((scene.me.called, "my"), (scene.you.called, "your")):
        if place.startswith(f"{called}'s "):
            return f"{own} {place[len(called) + 3 :]}"
    return place


def whereabouts(scene: Scene, frame: Mapping[str, str]) -> dict[str, str]:
    name = frame.get("place_name", "")
    place = speech_place(scene, name)
    return {"at": f"{english.at(name).split(' ', 1)[0]} {place}" if place else "", "place": place}


def pronouns(frame: Mapping[str, str]) -> dict[str, str]:
    pronoun = frame.get("pronoun", "")
    return {"he": pronoun, "him": speech.OBJECT[pronoun]} if pronoun in {"she", "he"} else {}


def is_worth_telling(scene: Scene, doing: str) -> bool:
    """Not sleeping, not walking somewhere, and in the -ing form that fits the templates."""
    first = doing.split(" ", 1)[0]
    if doing.startswith((*fillers(scene.me.language), *_SIMULATED)):
        return False
    return first.endswith("ing") and first not in scene.rules.words("faint") and "talking" not in first


_SIMULATED = (
    "saying ",
    "getting ready to leave",
    "just arriving",
    "having no luck",
    "talking with",
    "going to ",
    "looking over",
    "carrying on",
)
"""How doings begin that nobody would speak of."""


@lru_cache(maxsize=4)
def fillers(language: str) -> tuple[str, ...]:
    """How those things begin that one does to fill the time: nobody speaks of them."""
    found: set[str] = set()
    for name, lines in grammar(language).rules.items():
        if name.startswith(("part.", "hours.", "rest.short")) and not name.endswith(".event"):
            found.update(line.pieces[0] for line in lines if len(line.pieces[0]) > 6)
    return tuple(sorted(found))


# ── makers ───────────────────────────────────────────────────────────────────────────────────────────────────────────
# What each kind of memory gives to say: the slots of its rule, filled from its frame, or nothing.
#
# What the hearer did or said is put to them as a question; it is never told to them as news.


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


# ── sayings ──────────────────────────────────────────────────────────────────────────────────────────────────────────


SEEN = frozenset({"did", "doing", "acted", "plan", "i_said", "event", "thing"})
"""Kinds of memory that are spoken of as what they are, also where their words carry a fact."""
TOLD_ONCE = 60
"""How much less one likes to tell what one remembers telling somebody."""
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
            saying.weight += 2 * memory.importance - rank
            found[saying.mark] = saying
        else:
            twin.ids = (*twin.ids, *saying.ids)
    return list(found.values())


def _saying(scene: Scene, memory: Recalled) -> Saying | None:
    if memory.facts and (memory.frame.get("what") not in SEEN or _is_past_plan(scene, memory)):
        return _fact(scene, memory)
    if memory.tell:
        return _tell(scene, memory)
    maker = _MAKERS.get(memory.frame.get("what", ""))
    return maker(scene, memory, memory.frame) if maker else None


def _is_past_plan(scene: Scene, memory: Recalled) -> bool:
    """Whether one meant to go to an event that has begun."""
    begun = any(scene.notes[name].starts <= scene.moment for name in memory.facts if name in scene.notes)
    return memory.frame.get("what") == "plan" and begun


def _fact(scene: Scene, memory: Recalled) -> Saying | None:
    """News, in the words that carry it; about an event both know of, whether the hearer goes."""
    frame = memory.frame
    note = next((scene.notes[name] for name in memory.facts if name in scene.notes), None)
    if note is None:
        return None
    source = frame.get("who", "") if frame.get("what") == "said" else ""
    if note.starts and note.starts <= scene.moment:
        return _event_come(scene, memory, note)
    if note.id in scene.given.told or scene.you.id in (source, frame.get("to", "")):
        return _event_again(scene, memory, note)
    tells = [text for text in note.tell or (note.text,) if not scene.known(text)]
    tells = [text for text in tells if not speech.mentions(text, scene.you.name, scene.you.called)] or tells
    if not tells or any(scene.known(text) for text in note.tell):
        return None
    text = tells[scene.spread(len(tells), memory.id)]
    led = text.startswith(("Have you heard", "I'm told", "Pass it on", "Tell "))
    slots = {"tell": text, "news": "" if led else text, "x": frame.get("called", "") if source and not led else ""}
    return Saying((memory.id,), "core.fact", slots, 130, text.lower(), content(note.text), (note.id,))


def _event_again(scene: Scene, memory: Recalled, note: FactNote) -> Saying | None:
    """Whether the hearer goes, too; never asked of one who has said so."""
    event = event_name(note)
    if not event or not note.starts or scene.known(event.partition(" ")[2]):
        return None
    slots = {"event": event, "time": english.clock(note.starts[11:16])}
    if not goes_to(scene, note) or has_said_yes(scene, note) or any(scene.known(text) for text in note.tell):
        return None
    return Saying((memory.id,), "invite.again", slots, 10, event.partition(" ")[2], content(event), (), True)


def _event_come(scene: Scene, memory: Recalled, note: FactNote) -> Saying | None:
    """An event that has begun: spoken of where it is, and looked back on when it is over."""
    event, name = event_name(note), event_name(note).partition(" ")[2]
    if not name or any(name in line.text.lower() for line in scene.given.lines):
        return None
    minutes = minutes_since(scene, note)
    if minutes < (note.minutes or 60):
        return _event_here(scene, memory, note, event)
    when = english.when(scene.moment, minutes - (note.minutes or 60) // 2)
    slots, ids, words = {"event": event, "when": when}, (memory.id,), content(event)
    if memory.frame.get("what") == "plan":
        return Saying(ids, "core.went", slots, 44, f"went to {name}", words)
    return Saying(ids, "core.wonder", slots, 20 if name in scene.aired else 34, f"{name} {when}", words, (), True)


def _event_here(scene: Scene, memory: Recalled, note: FactNote, event: str) -> Saying | None:
    """A word on an event one is at, once or twice in an evening."""
    spoken = [one for one in scene.given.recalled if one.frame.get("what") == "i_said" and note.id in one.facts]
    if scene.given.situation.place.id != note.place or any(
        one.minutes_ago <= minutes_since(scene, note) for one in spoken
    ):
        return None
    frame = memory.frame
    told = frame.get("called", "") if frame.get("what") == "said" and frame.get("who") != scene.you.id else ""
    return Saying((memory.id,), "core.here", {"event": event, "x": told}, 120, f"here at {event}", content(event))


def _tell(scene: Scene, memory: Recalled) -> Saying | None:
    you = scene.you
    about_you = memory.frame.get("about", "") == you.id
    lines = [
        line
        for line in memory.tell
        if not scene.known(line)
        and not speech.mentions(line, you.name, you.called)
        and (not about_you or " you" in line)
    ]
    if not lines or scene.you.warmth < COLD:
        return None
    unworn = [line for line in lines if line not in scene.aired] or lines
    text = unworn[scene.spread(len(unworn), memory.id)]
    topic = memory.frame.get("topic", "")
    weight = 40 if len(lines) == len(memory.tell) else 12
    if _told_before(scene, text):
        return None
    weight -= 14 * len(scene.mine) + (TOLD_ONCE if text in scene.aired else 0)
    words = content(text) | content(topic)
    return Saying((memory.id,), "core.tell", {"tell": text, "topic": topic}, weight, text.lower(), words)


def _told_before(scene: Scene, text: str) -> bool:
    """Whether I remember telling this hearer these very words, on whatever day."""
    return any(
        one.frame.get("what") == "i_said" and one.frame.get("to") == scene.you.id and text in one.frame.get("quote", "")
        for one in scene.given.recalled
    )


_MAKERS: Mapping[str, Maker] = {
    "doing": seen,
    "acted": seen,
    "said": said,
    "did": did,
    "thing": thing,
    "absent": absent,
    "refused": refused,
    "event": event,
    "weather": weather,
    "plan": plan,
    "insight": insight,
}


# ── line ─────────────────────────────────────────────────────────────────────────────────────────────────────────────
# A line in the making: words, and the memories they rest on.


LONGEST = 380
"""Characters of a spoken line; the task's own limit is a little higher."""


@dataclass(frozen=True, slots=True)
class Line:
    """What will be said."""

    text: str
    ids: tuple[int, ...]
    facts: tuple[str, ...] = ()
    topic: str = ""
    ends: bool = False

    def after(self, words: str) -> Line:
        """With something said before it."""
        return replace(self, text=f"{words} {self.text}".strip())

    def before(self, words: str) -> Line:
        """With something said after it."""
        return replace(self, text=f"{self.text} {words}".strip())

    def joined(self, other: Line | None) -> Line:
        """With another line after it: both their memories are cited."""
        if other is None:
            return self
        ids = (*self.ids, *(one for one in other.ids if one not in self.ids))
        facts = (*self.facts, *(one for one in other.facts if one not in self.facts))
        return Line(f"{self.text} {other.text}".strip(), ids, facts, other.topic or self.topic, self.ends or other.ends)


def line_of(scene: Scene, saying: Saying) -> Line | None:
    """A saying worded; None when the grammar has no words for it."""
    slots = {"you": scene.you.called, "me": scene.me.called, **saying.slots}
    text = scene.say(saying.rule, slots, saying.ids[0])
    return Line(text, saying.ids, saying.facts, saying.slots.get("topic", "")) if text else None


def trimmed(text: str) -> str:
    """Within the limit, cut after a sentence."""
    while len(text) > LONGEST:
        cut = max(text.rfind(mark, 0, len(text) - 1) for mark in (". ", "! ", "? "))
        text = text[: cut + 1] if cut > 0 else text[:LONGEST]
    return text
