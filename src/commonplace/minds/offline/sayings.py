"""From memories to what could be said of them: each recalled memory becomes a saying, or nothing.

A saying names the rule that words it, fills its slots from what happened, and carries the `mark` that must not
have been said before. What the hearer did, said or knows is never told to them as news: it becomes a question.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from commonplace.minds.notes import FactNote, Recalled
from commonplace.minds.offline.account import attended, has_asked, spoke_of, was_spoken_of
from commonplace.minds.offline.gatherings import event_name, goes_to, has_said_yes, minutes_since, moment_minutes
from commonplace.minds.offline.grammar import Grammar, grammar
from commonplace.minds.offline.hear import Heard, content, remembered, understood
from commonplace.minds.offline.scene import COLD, Line, Scene
from commonplace.world.acts import telling
from commonplace.world.happenings import (
    Absent,
    Befell,
    Changed,
    Concluded,
    Did,
    Failed,
    Happening,
    ISaid,
    Missing,
    Planned,
    Said,
    Seed,
    Seen,
    Sky,
    Speech,
    Tried,
)

FRESH_DOING = 25
"""Minutes somebody is assumed to go on with what they were seen doing."""
JUST = 45
"""Minutes after which an occasion is spoken of as past, and the hearer is asked about what they told earlier."""
STALE = 2 * 24 * 60
"""Minutes after which sights are no longer worth telling."""
YESTERDAY = 24 * 60
TALKED_OF = 4 * 24 * 60
"""Minutes for which what has happened is told by those who noticed it."""
WEEK = 7 * YESTERDAY
"""Minutes for which two who have spoken of a thing need not be told of it."""
LONG_EVENT = 80
"""Characters above which a report is told only up to its first comma, because nobody recites."""
SMALL_TALK = 8
"""Weight of a question about what the hearer was seen doing: for those who have nothing to tell."""
TOLD_ONCE = 90
"""Subtracted from the weight of something the speaker remembers telling already."""
SEEN = Did | Seen | Tried | Planned | ISaid | Befell | Changed
"""Kinds of memory that keep their own kind of saying even if their words carry a fact."""
SECOND_HAND = frozenset({"heard", "saw", "did", "here", "noticed"})
"""Sorts of what is told that nobody passes on: deeds and sights, and what is passed on already."""
KEPT = frozenset(
    {
        "haunt",
        "craft",
        "cross",
        "cross_cold",
        "mind",
        "busy",
        "past",
        "habit",
        "place",
        "pair",
        "friend",
        "kept",
        "once",
        "exchange",
    }
)
"""Kinds of conclusions that one keeps to oneself: they say little to anybody else."""
WITHIN: Mapping[type[Happening], int] = {
    Did: YESTERDAY, Befell: STALE, Concluded: STALE, Failed: STALE, Tried: STALE,
}  # fmt: skip
"""Kind of memory → minutes after which one speaks of it only if one is asked about it."""
PASSED_ON = frozenset({"tell", "report", "complain", "rejoice", "intend"})
"""What a line must do to be worth passing on."""


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
    """What it shares words with is related to it."""
    topic: str = ""
    act: str = ""
    """What it does, where the rule does not say: the words of an author may complain or rejoice."""
    facts: tuple[str, ...] = ()
    subject: str = ""
    """The author's word for what it is about; empty for what no author has written."""

    @property
    def names(self) -> tuple[str, ...]:
        """The author's word as lines may have it."""
        one = self.subject.lower().removesuffix("s")
        return one, f"{one}s"

    @property
    def asks(self) -> bool:
        """Whether it asks the hearer about themselves."""
        return self.rule.startswith("ask.")


def worded(scene: Scene, saying: Saying) -> Line | None:
    """The line of a saying; None when the grammar has no words for it."""
    line = scene.line(saying.rule, *saying.ids, about=saying.topic, **saying.slots)
    if not line.text:
        return None
    return replace(line, act=saying.act or line.act, facts=saying.facts)


def sayings(scene: Scene) -> list[Saying]:
    """What the recalled memories give to say to this hearer now, in order of recall."""
    found: dict[str, Saying] = {}
    for rank, memory in enumerate(scene.talk.recalled):
        saying = _saying(scene, memory)
        if saying is None or not saying.mark or scene.known(saying.mark) or _asked_before(scene, saying):
            continue
        twin = found.get(saying.mark)
        if twin is None:
            found[saying.mark] = replace(saying, weight=saying.weight + 2 * memory.importance - rank)
        else:
            found[saying.mark] = replace(twin, ids=(*twin.ids, *saying.ids))
    return list(found.values())


def _asked_before(scene: Scene, saying: Saying) -> bool:
    """Whether I have put the question to this hearer already: asked once is asked."""
    if not saying.asks or not saying.topic:
        return False
    return has_asked(scene.talk.past, scene.you.id, saying.rule, saying.topic, scene.language)


def _saying(scene: Scene, memory: Recalled) -> Saying | None:
    happening = memory.happening
    if memory.facts and (not isinstance(happening, SEEN) or _is_past_plan(scene, memory)):
        return _fact(scene, memory)
    if memory.tell:
        return _tell(scene, memory)
    if isinstance(happening, Befell) and happening.sort:
        return None  # others tell of it
    is_kept = isinstance(happening, Concluded) and happening.kind in KEPT
    if is_kept or memory.minutes_ago > WITHIN.get(type(happening), memory.minutes_ago):
        return None
    return _made(scene, memory)


def _made(scene: Scene, memory: Recalled) -> Saying | None:
    maker = _MAKERS.get(type(memory.happening))
    return maker(scene, memory, memory.happening) if maker else None


def if_asked(scene: Scene, memory: Recalled) -> Saying | None:
    """What a memory gives to say to one who asks about it: also what one keeps to oneself, and what was long ago."""
    happening = memory.happening
    if isinstance(happening, Befell) and scene.you.id in happening.there.split():
        return _seen_together(scene, memory, happening)
    if memory.facts or memory.tell:
        return None
    if isinstance(happening, Said):
        is_news = happening.who != scene.me.id and scene.you.id not in (happening.who, happening.to)
        return heard_from(scene, memory, happening) if is_news else None
    if type(happening) not in WITHIN or not _is_of_today(scene, memory, memory.text):
        return None
    saying = _tried(scene, memory, happening) if isinstance(happening, Tried) else _made(scene, memory)
    if saying is None or saying.rule != "core.insight":
        return saying
    # It answers as it is, without words about when one came to think so.
    return replace(saying, rule="core.tell", slots={"tell": saying.slots["text"]})


# ── what is known of an event ────────────────────────────────────────────────────────────────────────────────────────


def _is_past_plan(scene: Scene, memory: Recalled) -> bool:
    """Whether it is a plan to go to an event that has begun."""
    begun = any(scene.notes[name].starts <= scene.moment for name in memory.facts if name in scene.notes)
    return isinstance(memory.happening, Planned) and begun


def _fact(scene: Scene, memory: Recalled) -> Saying | None:
    """News, in the words that carry it; about an event both know of, whether the hearer goes."""
    happening = memory.happening
    note = next((scene.notes[name] for name in memory.facts if name in scene.notes), None)
    if note is None:
        return None
    source = happening.who if isinstance(happening, Said) else ""
    if note.starts and note.starts <= scene.moment:
        return _event_begun(scene, memory, note)
    if note.id in scene.talk.told or scene.you.id in (source, happening.to):
        return _event_ahead(scene, memory, note)
    own = [scene.voiced(text) for text in note.tell or (note.text,)]
    tells = [text for text in own if not scene.known(text) and not scene.has_told(text)]
    tells = [text for text in tells if not scene.language.mentions(text, scene.you.name, scene.you.called)] or tells
    if not tells or (note.tell and any(scene.known(text) for text in own)):
        return None
    tells = [text for text in tells if not scene.has_said(text)] or tells
    text = tells[scene.spread(len(tells), memory.id)]
    # Words that lead in themselves take no `Jun told me` before them.
    leads_in = scene.language.leads_in(text) or text.lower().startswith(tuple(scene.rules.words("lead_in")))
    slots = {
        "tell": text,
        "news": "" if leads_in else text,
        "x": happening.called if source and not leads_in else "",
    }
    name = event_name(note, scene.language)
    return Saying(
        (memory.id,), "core.fact", slots, 130, text.lower(), content(note.text), name,
        act=_sorted_act(happening), facts=(note.id,),
    )  # fmt: skip


def _sorted_act(happening: Happening) -> str:
    """The act of telling news of a sort, as the scenario says or as it was told to me; empty for news of no sort."""
    if sort := _sort(happening):
        return telling(sort)
    act = happening.speech_act if isinstance(happening, Speech) else ""
    return act if act in {"complain", "rejoice"} or act.startswith("tell.") else ""


def _sort(happening: Happening) -> str:
    """What its author says it is."""
    return happening.sort if isinstance(happening, Befell | Seed) else ""


def _event_ahead(scene: Scene, memory: Recalled, note: FactNote) -> Saying | None:
    """Whether the hearer goes, too; never asked of one who has said so."""
    event = event_name(note, scene.language)
    name = scene.language.bare(event)
    if not event or not note.starts or scene.known(name):
        return None
    told = any(scene.known(scene.voiced(text)) for text in note.tell)
    if not goes_to(scene.talk, note) or has_said_yes(scene.talk, note) or told:
        return None
    slots = {"event": event, "time": scene.language.clock(note.starts[11:16])}
    return Saying((memory.id,), "ask.going", slots, 10, name, content(event), event)


def _event_begun(scene: Scene, memory: Recalled, note: FactNote) -> Saying | None:
    """An event that has begun: spoken of where it is, and looked back on when it is over."""
    event = event_name(note, scene.language)
    name = scene.language.bare(event)
    if not name or any(name in line.text.lower() for line in scene.talk.lines):
        return None
    minutes = minutes_since(scene.moment, note)
    if minutes < (note.minutes or 60):
        return _event_here(scene, memory, note)
    when = scene.language.when(scene.moment, minutes - (note.minutes or 60) // 2)
    slots, ids, words = {"event": event, "when": when}, (memory.id,), content(event)
    if minutes - (note.minutes or 60) > YESTERDAY or was_spoken_of(scene.talk.past, scene.you.id, note.id):
        return None
    if isinstance(memory.happening, Planned):
        if attended(scene.talk.past, note.id, scene.language) is None:
            return None
        return Saying(ids, "core.went", slots, 44, f"went to {name}", words, event)
    return Saying(ids, "ask.event", slots, 20 if name in scene.aired else 34, f"{name} {when}", words, event)


def _event_here(scene: Scene, memory: Recalled, note: FactNote) -> Saying | None:
    """A remark on the event the speaker is at, once or twice in an evening."""
    begun = minutes_since(scene.moment, note)
    has_spoken = any(
        isinstance(one.happening, ISaid) and note.id in one.facts and one.minutes_ago <= begun
        for one in scene.talk.recalled
    )
    if scene.talk.situation.place.id != note.place or has_spoken:
        return None
    said, event = memory.happening, event_name(note, scene.language)
    told = said.called if isinstance(said, Said) and said.who != scene.you.id else ""
    slots = {"event": event, "x": told}
    return Saying((memory.id,), "core.here", slots, 120, f"here at {event}", content(event), event)


# ── what an author has given to tell ─────────────────────────────────────────────────────────────────────────────────


def _tell(scene: Scene, memory: Recalled) -> Saying | None:
    you = scene.you
    is_about_you = memory.happening.about == you.id
    lines = [
        line
        for line in map(scene.voiced, memory.tell)
        if not scene.known(line)
        and not scene.language.mentions(line, you.name, you.called)
        and (not is_about_you or scene.language.addresses(line))
    ]
    if not lines or you.warmth < COLD:
        return None
    befell = memory.happening if isinstance(memory.happening, Befell) else None
    if befell:
        lines = [line for line in lines if _holds_still(scene, memory, line)]
    if befell and (memory.minutes_ago > TALKED_OF or you.id in befell.there.split()):
        return None
    lines = [line for line in lines if not scene.has_told(line) and line not in scene.told]
    if not lines:
        return None
    unsaid = [line for line in lines if line not in scene.aired and not scene.has_said(line)]
    # A story goes in its author's order; of those who noticed the same each begins elsewhere.
    text = (unsaid or lines)[scene.spread(len(unsaid or lines), memory.id) if befell else 0]
    subject = memory.happening.topic
    weight = 54 if len(lines) == len(memory.tell) else 26
    weight += 40 if befell and len(lines) == len(memory.tell) else 0
    weight -= 0 if unsaid else TOLD_ONCE
    sort = _sort(memory.happening)
    act = telling(sort) if sort else understood(text, scene.me.language).act
    return Saying(
        (memory.id,), "core.tell", {"tell": text}, weight, text.lower(), content(text) | content(subject),
        topic=scene.language.noun_phrase(text, subject),
        act=act if sort or act in PASSED_ON or act.startswith("ask") else "tell", subject=subject,
    )  # fmt: skip


def _holds_still(scene: Scene, memory: Recalled, text: str) -> bool:
    """Whether what is told of an occasion is true today, and not about me."""
    if scene.language.mentions(text, scene.me.name, scene.me.called):
        return False
    return _is_of_today(scene, memory, text)


def _is_of_today(scene: Scene, memory: Recalled, text: str) -> bool:
    """Whether words such as `this morning` in what was said or seen are still right."""
    return memory.minutes_ago <= moment_minutes(scene.moment[11:16]) or not scene.rules.has("same_day", text)


# ── what was seen, said and done ─────────────────────────────────────────────────────────────────────────────────────


def _seen(scene: Scene, memory: Recalled, seen: Seen | Tried) -> Saying | None:
    """Somebody's doing: the hearer's own, as a question; somebody else's, as gossip."""
    who, doing = seen.who, seen.doing
    if not is_worth_telling(scene, doing) or memory.minutes_ago > STALE:
        return None
    if who == scene.you.id:
        return _seen_you(scene, memory, doing)
    if who in scene.present or who == scene.me.id or not who:
        return None
    spoken = scene.language
    doing = spoken.addressed(doing, scene.you.name, scene.you.called)
    called = seen.called
    slots = {
        "x": called, **spoken.doing(doing), **whereabouts(scene, seen.place_name), "when": scene.when(memory),
        **spoken.pronouns(seen.pronoun),
    }  # fmt: skip
    weight = 38 if memory.minutes_ago < 240 else 24
    words = content(doing) | content(called)
    return Saying((memory.id,), "core.saw", slots, weight, doing.lower(), words, spoken.noun_phrase(doing))


def _seen_you(scene: Scene, memory: Recalled, doing: str) -> Saying | None:
    spoken = scene.language
    doing = spoken.addressed(spoken.taken(doing, scene.you.pronoun, "your"), scene.me.name, scene.me.called)
    if spoken.addresses(doing) and scene.me.called.lower() in memory.text.lower().split(" is ")[-1]:
        return None
    now = memory.minutes_ago <= FRESH_DOING
    rule = "ask.now" if now else "ask.was" if occasion(scene, doing) else "ask.saw"
    slots = {**spoken.doing(doing), "when": scene.when(memory), "event": occasion(scene, doing)}
    topic = spoken.noun_phrase(doing)
    weight = 40 if rule == "ask.was" else SMALL_TALK
    return Saying((memory.id,), rule, slots, weight, doing.lower(), content(doing), topic)


def _said(scene: Scene, memory: Recalled, said: Said) -> Saying | None:
    """What somebody said: asked about when talking to the one who said it, passed on to others."""
    who, quote = said.who, said.quote
    if not quote or who == scene.me.id:
        return None
    line = remembered(said, scene.me.language)
    if line.act not in PASSED_ON or line.sort in SECOND_HAND:
        return None
    if who == scene.you.id:
        return _said_by_you(scene, memory, said, line)
    if said.to == scene.you.id or who in scene.present:
        return None
    if scene.language.mentions(quote, scene.you.name, scene.you.called):
        return None
    saying = heard_from(scene, memory, said)
    is_old = saying is not None and spoke_of(scene.talk.past, scene.you.id, saying.topic, scene.language, WEEK)
    return None if is_old else saying


def heard_from(scene: Scene, memory: Recalled, said: Said) -> Saying | None:
    """What somebody said, passed on to somebody else: reported where it reads well, otherwise in the very words."""
    called, quote = said.called, said.quote
    spoken = scene.language
    report = spoken.reported(quote, said.pronoun, said.topic)
    if spoken.mentions(report, scene.me.name, scene.me.called):
        return None
    your = "my" if said.to_me else spoken.possessed(said.to_called)
    topic = spoken.turned(said.topic or spoken.noun_phrase(quote), spoken.possessed(called), your)
    if not _is_of_today(scene, memory, quote):
        return None
    quoted = "" if report else spoken.quotable(quote, said.topic)
    if not (report or quoted) or spoken.mentions(quoted, scene.me.name, scene.me.called):
        return None
    slots = {"x": called, "when": scene.when(memory), "report": report, "quote": quoted}
    told = report or quoted
    return Saying((memory.id,), "core.heard", slots, 34, told.lower(), content(told), topic)


def _said_by_you(scene: Scene, memory: Recalled, said: Said, line: Heard) -> Saying | None:
    topic, bare = line.topic, scene.language.bare(line.topic)
    if not said.to_me or memory.minutes_ago < JUST or not topic or scene.known(bare):
        return None
    if not scene.language.may_be_yours(topic) and line.act not in {"intend", "complain"}:
        return None
    slots = {"topic": topic, "when": scene.when(memory)}
    return Saying((memory.id,), "ask.topic", slots, 46, bare, content(topic), topic)


def _did(scene: Scene, memory: Recalled, did: Did) -> Saying | None:
    doing = did.doing
    if not is_worth_telling(scene, doing):
        return None
    doing, spoken = own_doing(scene, doing), scene.language
    if spoken.addresses(doing) or not doing:
        return None
    slots = {**spoken.doing(doing), "when": scene.when(memory)}
    event = occasion(scene, doing)
    if event and memory.minutes_ago > JUST:
        return Saying((memory.id,), "core.was", {**slots, "event": event}, 62, event, content(doing), event)
    return Saying((memory.id,), "core.did", slots, 10, doing.lower(), content(doing), spoken.noun_phrase(doing))


def _thing(scene: Scene, memory: Recalled, changed: Changed) -> Saying | None:
    """A thing that does not work, told once to each; not to those whose place it is in, who know."""
    words, name = changed.words, changed.object_name
    if not scene.rules.has("faulty", words) or memory.minutes_ago > STALE:
        return None
    thing, spoken = scene.language.place(name, scene.me, scene.you), scene.language
    told = spoke_of(scene.talk.past, scene.you.id, thing, spoken, WEEK)
    if told or scene.you.called in changed.place_name or _have_talked_of(scene, spoken.bare(thing)):
        return None
    slots = {
        "thing": thing, "bare_thing": spoken.bare(thing) if spoken.is_common(thing) else "",
        **spoken.state(words, memory.minutes_ago), "when": scene.when(memory), **whereabouts(scene, changed.place_name),
    }  # fmt: skip
    mark = spoken.bare(thing).lower()
    weight = 8 if mark in scene.aired.lower() else 30
    return Saying((memory.id,), "core.thing", slots, weight, mark, content(name) | content(words), thing)


def _have_talked_of(scene: Scene, name: str) -> bool:
    """Whether I remember a line between the two of us with the name in it."""
    return any(
        scene.you.id in (one.happening.who, one.happening.to) and name in one.happening.quote.lower()
        for one in scene.talk.recalled
    )


def _absent(scene: Scene, memory: Recalled, absent: Absent | Missing) -> Saying | None:
    thing = scene.language.place(absent.object_name, scene.me, scene.you)
    slots = {"thing": thing, "when": scene.when(memory), **whereabouts(scene, absent.place_name)}
    if not slots["at"] or memory.minutes_ago > STALE:
        return None
    return Saying((memory.id,), "core.absent", slots, 36, thing.lower(), content(thing), thing)


def _refused(scene: Scene, memory: Recalled, failed: Failed | Tried) -> Saying | None:
    thing = scene.language.place(failed.object_name, scene.me, scene.you)
    why = scene.language.why(failed.why)
    if not thing or not why or memory.minutes_ago > STALE:
        return None
    slots = {"thing": thing, "why": why, "when": scene.when(memory)}
    return Saying((memory.id,), "core.refused", slots, 34, why.lower(), content(thing) | content(why), thing)


def _tried(scene: Scene, memory: Recalled, tried: Tried) -> Saying | None:
    """What somebody else was seen to fail at, and why."""
    saying = _refused(scene, memory, tried)
    if saying is None or tried.who in (scene.me.id, scene.you.id):
        return None
    return replace(saying, rule="answer.tried", slots={**saying.slots, "x": tried.called})


def _seen_together(scene: Scene, memory: Recalled, befell: Befell) -> Saying | None:
    """What one has not told yet of something that happened, to one who was there, too."""
    lines = (one for one in map(scene.voiced, memory.tell) if _holds_still(scene, memory, one))
    text = next((one for one in lines if not scene.known(one) and not scene.has_told(one)), "")
    if not text:
        return None
    happened = befell.text or memory.text
    words, topic = content(happened) | content(text), scene.language.noun_phrase(happened)
    return Saying((memory.id,), "answer.together", {"text": text}, 40, text.lower(), words, topic)


def _event(scene: Scene, memory: Recalled, befell: Befell) -> Saying | None:
    """Something that happened, told in the past tense where its verb is known."""
    text = (befell.text or memory.text).strip().rstrip(".!")
    spoken = scene.language
    if spoken.mentions(text, scene.me.name, scene.me.called):
        return None
    text = spoken.addressed(text, scene.you.name, scene.you.called)
    if not text or spoken.addresses(f"{text} "):
        return None
    head = text.partition(",")[0]
    told = spoken.told(head if spoken.length(text) > LONG_EVENT and len(head.split()) >= 4 else text)
    topic = spoken.noun_phrase(text)
    slots = {"past": told, "when": scene.when(memory), "topic": topic}
    mark = told.lower() or topic
    weight = 20 if mark[: LONG_EVENT // 2] in scene.aired.lower() else 40
    rule = "core.event" if told else "core.event_topic"
    return Saying((memory.id,), rule, slots, weight, mark, content(text), topic)


def _weather(scene: Scene, memory: Recalled, weather: Sky) -> Saying | None:
    sky = weather.sky
    rule = f"core.weather.{sky}"
    if memory.minutes_ago > 180 or sky != scene.talk.situation.sky or rule not in scene.rules.rules:
        return None
    return Saying((memory.id,), rule, {"when": scene.when(memory)}, 12, sky, frozenset({sky}))


def _plan(scene: Scene, memory: Recalled, planned: Planned) -> Saying | None:
    start, do = planned.start, planned.do
    if not start or start <= scene.talk.situation.time or memory.minutes_ago > YESTERDAY:
        return None
    if not is_worth_telling(scene, do):
        return None
    do, spoken = own_doing(scene, do), scene.language
    if spoken.addresses(do):
        return None
    slots = {**spoken.doing(do, "do"), "time": spoken.clock(start), **whereabouts(scene, planned.place_name)}
    return Saying((memory.id,), "core.plan", slots, 18, do.lower(), content(do), spoken.noun_phrase(do))


def _insight(scene: Scene, memory: Recalled, concluded: Concluded) -> Saying | None:
    """A conclusion of mine; of one about the hearer its `you` wording, if it has one."""
    you, me, spoken = scene.you, scene.me, scene.language
    if concluded.about == you.id:
        text, rule, weight = concluded.you, "core.insight_you", 20
    else:
        text, rule, weight = concluded.say or memory.text, "core.insight", 38
        if spoken.mentions(text, you.name, you.called) or spoken.mentions(text, me.name, me.called):
            return None
    if not text or you.warmth < COLD:
        return None
    text = spoken.finished(spoken.owned(scene.voiced(text), me, you))
    text = text if text.endswith((".", "!", "?")) else f"{text}."
    slots = {"text": text, "low_text": spoken.lowered(text)}
    mark = text.lower().rstrip(".")
    return Saying((memory.id,), rule, slots, weight, mark, content(text), concluded.topic)


_MAKERS: Mapping[type[Happening], Callable[[Scene, Recalled, Any], Saying | None]] = {
    Seen: _seen,
    Tried: _seen,
    Said: _said,
    Did: _did,
    Changed: _thing,
    Absent: _absent,
    Missing: _absent,
    Failed: _refused,
    Befell: _event,
    Sky: _weather,
    Planned: _plan,
    Concluded: _insight,
}


# ── doings and places, as these two call them ────────────────────────────────────────────────────────────────────────


def own_doing(scene: Scene, doing: str) -> str:
    """What I did in my own words to this hearer."""
    own = scene.language.taken(doing, scene.me.pronoun, "my")
    return scene.language.addressed(own, scene.you.name, scene.you.called)


def whereabouts(scene: Scene, name: str) -> dict[str, str]:
    """A place as these two call it."""
    spoken = scene.language
    return {"at": spoken.at_place(name, scene.me, scene.you), "place": spoken.place(name, scene.me, scene.you)}


def is_worth_telling(scene: Scene, doing: str) -> bool:
    """Not sleeping, not walking somewhere, no mere pastime, and in the -ing form that fits the templates."""
    head = scene.language.head(doing)
    if is_simulated(scene.rules, doing) or doing in pastimes(scene.me.language):
        return False
    return scene.language.is_doing(doing) and head not in scene.rules.words("faint") | scene.rules.words("talk")


def is_simulated(rules: Grammar, doing: str) -> bool:
    """Whether a doing is one that only the simulator would mention."""
    parts = tuple(rules.words("simulated"))
    return doing.startswith(parts) or doing.endswith(parts)


@lru_cache(maxsize=4)
def pastimes(language: str) -> frozenset[str]:
    """Activities that fill the time: nobody mentions them."""
    rules = grammar(language)
    kinds = [name for name in rules.rules if name.startswith(("part.", "hours.", "rest.short"))]
    return frozenset(doing for name in kinds if not name.endswith(".event") for doing in rules.every(name))


def occasion(scene: Scene, doing: str) -> str:
    """The event that an activity is part of: `taking in the festival` → `the festival`; empty for any other."""
    return scene.language.with_article(occasion_word(scene.rules, doing))


def occasion_word(rules: Grammar, doing: str) -> str:
    """The first word for an event in what somebody does; empty for none."""
    return next((word for word in rules.language.in_order(doing) if word in rules.words("occasion")), "")
