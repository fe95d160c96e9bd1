"""From memories to what could be said of them: each recalled memory becomes a saying, or nothing.

A saying names the rule that words it, fills its slots from what happened, and carries the `mark` that must not
have been said before. What the hearer did, said or knows is never told to them as news: it becomes a question.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from commonplace.languages import listed
from commonplace.minds.notes import COLD, FactNote, Recalled
from commonplace.minds.offline.gatherings import event_name, goes_to, has_said_yes, moment_minutes
from commonplace.minds.offline.hear import Heard, content, remembered, understood
from commonplace.minds.offline.incidents import befallen
from commonplace.minds.offline.rule_tables import ChosenRow, Facts, RuleRow, read_numbers
from commonplace.minds.offline.scene import DraftLine, TalkScene, attended, has_asked, spoke_of, was_spoken_of
from commonplace.minds.offline.template_grammar import Grammar, grammar
from commonplace.minds.offline.told import LONG, Told, minutes_since
from commonplace.world.circumstances import subject_of
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
    Read,
    Said,
    Seed,
    Seen,
    Sky,
    Speech,
    Tried,
    telling,
)

WEIGHTS = read_numbers("sayings")
"""Kind of saying → how much it weighs."""
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
TOLD_ONCE = 90
"""Subtracted from the weight of something the speaker remembers telling already."""
SEEN = Did | Seen | Tried | Planned | ISaid | Befell | Changed
"""Kinds of memory that keep their own kind of saying even if their words carry a fact."""
SECOND_HAND = frozenset({"toast", "heard", "saw", "did", "here", "present", "missed", "noticed"})
"""Sorts of what is told that nobody passes on: deeds and sights, and what is passed on already."""
KEPT = listed("haunt craft cross cross_cold mind busy past habit place pair friend kept once exchange")
"""Kinds of conclusions that one keeps to oneself: they say little to anybody else."""
WITHIN: Mapping[type[Happening], int] = {
    Did: YESTERDAY, Befell: STALE, Read: STALE, Concluded: STALE, Failed: STALE, Tried: STALE,
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
    kind: str
    """A name of `rules/sayings.txt`."""
    mark: str
    """Its own words, lower case: what would make saying it again a repetition."""
    words: frozenset[str]
    """What it shares words with is related to it."""
    topic: str = ""
    of: tuple[Told, ...] = ()
    """What fills the slots that are not given."""
    act: str = ""
    """What it does, where the rule does not say: the words of an author may complain or rejoice."""
    facts: tuple[str, ...] = ()
    subject: str = ""
    """The author's word for what it is about; empty for what no author has written."""
    more: int = 0
    """Weight besides that of its kind."""

    @property
    def weight(self) -> int:
        """Returns the weight of the saying."""
        return WEIGHTS[self.kind] + self.more

    @property
    def names(self) -> tuple[str, ...]:
        """Returns the author's word in the forms that lines may have."""
        one = self.subject.lower().removesuffix("s")
        return one, f"{one}s"

    @property
    def asks(self) -> bool:
        """Tells whether it asks the hearer about themselves."""
        return self.rule.startswith("ask.")


class Remembered(Facts):
    """Something that could be said comes to mind."""


_ROWS = {
    kind: ChosenRow(RuleRow(kind, Remembered, (), weight, {}), Remembered(), ()) for kind, weight in WEIGHTS.items()
}


def worded(scene: TalkScene, saying: Saying) -> DraftLine | None:
    """Returns the line of a saying; None if the grammar has no words for it."""
    line = scene.line(saying.rule, *saying.ids, *saying.of, **{"topic": saying.topic, **saying.slots})
    if not line.text or not scene.is_new_here(line.text):
        return None
    return replace(line, act=saying.act or line.act, facts=saying.facts, rows=(_ROWS[saying.kind],))


def sayings(scene: TalkScene) -> list[Saying]:
    """Returns what the recalled memories give to say to this hearer now, in order of recall."""
    found: dict[str, Saying] = {}
    for rank, memory in enumerate(scene.talk.recalled):
        saying = _saying(scene, memory)
        if saying is None or not saying.mark or scene.known(saying.mark) or _asked_before(scene, saying):
            continue
        twin = found.get(saying.mark)
        if twin is None:
            found[saying.mark] = replace(saying, more=saying.more + 2 * memory.importance - rank)
        else:
            found[saying.mark] = replace(twin, ids=(*twin.ids, *saying.ids))
    return list(found.values())


def _asked_before(scene: TalkScene, saying: Saying) -> bool:
    """Tells whether I have put the question to this hearer already: a question is asked only once."""
    if not saying.asks or not saying.topic:
        return False
    return has_asked(scene.talk.past, scene.you.id, saying.rule, saying.topic, scene.language)


def _saying(scene: TalkScene, memory: Recalled) -> Saying | None:
    happening = memory.happening
    if memory.facts and (not isinstance(happening, SEEN) or befallen(happening) or _is_past_plan(scene, memory)):
        return _fact(scene, memory)
    if memory.tell:
        return _tell(scene, memory)
    if isinstance(happening, Befell) and happening.sort:
        return None  # others tell of it
    is_kept = isinstance(happening, Concluded) and happening.kind in KEPT
    if is_kept or memory.minutes_ago > WITHIN.get(type(happening), memory.minutes_ago):
        return None
    return _made(scene, memory)


def _made(scene: TalkScene, memory: Recalled) -> Saying | None:
    maker = _MAKERS.get(type(memory.happening))
    return maker(scene, scene.as_told(memory), memory.happening) if maker else None


def _of(told: Told, rule: str, main: str, topic: str | None = None, more: str = "", *, kind: str = "") -> Saying:
    """Returns what a memory gives to say. `main` is what is said, and `more` further words of it; `kind` is given if it
    is not that of the rule."""
    topic = told.spoken.noun_phrase(main) if topic is None else topic
    return Saying((told.id,), rule, {}, kind or rule, main.lower(), content(main) | content(more), topic, (told,))


def if_asked(scene: TalkScene, memory: Recalled) -> Saying | None:
    """Returns what a memory gives to say to somebody who asks about it, even if it is private or was long ago."""
    happening = memory.happening
    if isinstance(happening, Befell) and scene.you.id in happening.there.split():
        return _seen_together(scene, memory, happening)
    if memory.facts or memory.tell:
        return None
    if isinstance(happening, Said):
        is_news = happening.who != scene.me.id and scene.you.id not in (happening.who, happening.to)
        return _heard_from(scene, scene.as_told(memory), happening) if is_news else None
    if type(happening) not in WITHIN or not _is_of_today(scene, memory.minutes_ago, memory.text):
        return None
    is_tried = isinstance(happening, Tried)
    saying = _tried(scene, scene.as_told(memory), happening) if is_tried else _made(scene, memory)
    if saying is None or saying.rule != "core.insight":
        return saying
    # It answers as it is, without words about when one came to think so.
    return replace(saying, rule="core.tell", slots={"tell": saying.slots["text"]})


# ── what is known of an event ────────────────────────────────────────────────────────────────────────────────────────


def _is_past_plan(scene: TalkScene, memory: Recalled) -> bool:
    """Tells whether it is a plan to go to an event that has begun."""
    begun = any(scene.notes[name].starts <= scene.moment for name in memory.facts if name in scene.notes)
    return isinstance(memory.happening, Planned) and begun


def _fact(scene: TalkScene, memory: Recalled) -> Saying | None:
    """Returns news, in the words that carry it; for an event both know of, a question whether the hearer goes."""
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
    rule = "core.so" if subject_of(note.id)[0] else "core.fact"
    return Saying(
        (memory.id,), rule, slots, "core.fact", text.lower(), content(note.text), name,
        act=_sorted_act(happening), facts=(note.id,),
    )  # fmt: skip


def _sorted_act(happening: Happening) -> str:
    """Returns the act of telling news of a sort, as the scenario says or as it was told to me; empty for news without a
    sort."""
    if sort := _sort(happening):
        return telling(sort)
    act = happening.speech_act if isinstance(happening, Speech) else ""
    return act if act in {"complain", "rejoice"} or act.startswith("tell.") else ""


def _sort(happening: Happening) -> str:
    """Returns the sort that its author gave it."""
    return happening.sort if isinstance(happening, Befell | Seed) else ""


def _event_ahead(scene: TalkScene, memory: Recalled, note: FactNote) -> Saying | None:
    """Returns a question whether the hearer goes, too; None if they have said so already."""
    event = event_name(note, scene.language)
    name = scene.language.bare(event)
    if not event or not note.starts or scene.known(name):
        return None
    told = any(scene.known(scene.voiced(text)) for text in note.tell)
    if not goes_to(scene.talk, note) or has_said_yes(scene.talk, note) or told:
        return None
    slots = {"event": event, "time": scene.language.clock(note.starts[11:16])}
    return Saying((memory.id,), "ask.going", slots, "ask.going", name, content(event), event)


def _event_begun(scene: TalkScene, memory: Recalled, note: FactNote) -> Saying | None:
    """Returns a saying about an event that has begun: at its place a remark, afterwards a look back."""
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
        return Saying(ids, "core.went", slots, "core.went", f"went to {name}", words, event)
    kind = "ask.event.told" if name in scene.aired else "ask.event"
    return Saying(ids, "ask.event", slots, kind, f"{name} {when}", words, event)


def _event_here(scene: TalkScene, memory: Recalled, note: FactNote) -> Saying | None:
    """Returns a remark on the event that the speaker is at, once or twice at its beginning."""
    begun = minutes_since(scene.moment, note)
    has_spoken = any(
        isinstance(one.happening, ISaid) and note.id in one.facts and one.minutes_ago <= begun
        for one in scene.talk.recalled
    )
    if scene.talk.situation.place.id != note.place or has_spoken or begun > JUST:
        return None
    said, event = memory.happening, event_name(note, scene.language)
    told = said.called if isinstance(said, Said) and said.who != scene.you.id else ""
    slots = {"event": event, "x": told}
    return Saying((memory.id,), "core.here", slots, "core.here", f"here at {event}", content(event), event)


# ── what an author has given to tell ─────────────────────────────────────────────────────────────────────────────────


def _tell(scene: TalkScene, memory: Recalled) -> Saying | None:
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
    kind = "core.tell.rest" if len(lines) < len(memory.tell) else "core.tell.noticed" if befell else "core.tell"
    sort = _sort(memory.happening)
    act = telling(sort) if sort else understood(text, scene.me.language).act
    return Saying(
        (memory.id,), "core.tell", {"tell": text}, kind, text.lower(), content(text) | content(subject),
        topic=scene.language.noun_phrase(text, subject),
        act=act if sort or act in PASSED_ON or act.startswith("ask") else "tell", subject=subject,
        more=0 if unsaid else -TOLD_ONCE,
    )  # fmt: skip


def _holds_still(scene: TalkScene, memory: Recalled, text: str) -> bool:
    """Tells whether a line about an occasion is true today, and not about me."""
    if scene.language.mentions(text, scene.me.name, scene.me.called):
        return False
    return _is_of_today(scene, memory.minutes_ago, text)


def _is_of_today(scene: TalkScene, minutes_ago: int, text: str) -> bool:
    """Tells whether words such as `this morning` in what was said or seen are still right."""
    return minutes_ago <= moment_minutes(scene.moment[11:16]) or not scene.rules.has("same_day", text)


# ── what was seen, said and done ─────────────────────────────────────────────────────────────────────────────────────


def _seen(scene: TalkScene, told: Told, seen: Seen | Tried) -> Saying | None:
    """Returns somebody's doing: the hearer's own, as a question; somebody else's, as gossip."""
    if not is_worth_telling(scene, seen.doing) or told.minutes_ago > STALE:
        return None
    if seen.who == scene.you.id:
        return _seen_you(scene, told)
    if seen.who in scene.present or seen.who == scene.me.id or not seen.who:
        return None
    kind = "core.saw" if told.minutes_ago < 240 else "core.saw.earlier"
    return _of(told, "core.saw", told.doing, more=seen.called, kind=kind)


def _seen_you(scene: TalkScene, told: Told) -> Saying | None:
    doing, event = told.doing, occasion(scene, told.doing)
    if event and scene.talk.gathering is not None:
        return None
    if scene.language.addresses(doing) and scene.me.called.lower() in told.written.lower().split(" is ")[-1]:
        return None
    rule = "ask.now" if told.minutes_ago <= FRESH_DOING else "ask.was" if event else "ask.saw"
    return _of(told, rule, doing)


def _said(scene: TalkScene, told: Told, said: Said) -> Saying | None:
    """Returns a saying about what somebody said: a question to the one who said it, hearsay to others."""
    who, quote = said.who, said.quote
    if not quote or who == scene.me.id:
        return None
    line = remembered(said, scene.me.language)
    if line.act not in PASSED_ON or line.sort in SECOND_HAND:
        return None
    if who == scene.you.id:
        return _said_by_you(scene, told, said, line)
    if said.to == scene.you.id or who in scene.present:
        return None
    if scene.language.mentions(quote, scene.you.name, scene.you.called):
        return None
    saying = _heard_from(scene, told, said)
    is_old = saying is not None and spoke_of(scene.talk.past, scene.you.id, saying.topic, scene.language, WEEK)
    return None if is_old else saying


def _heard_from(scene: TalkScene, told: Told, said: Said) -> Saying | None:
    """Returns what somebody said, passed on to somebody else: reported if it reads well, otherwise word for word."""
    spoken, passed_on = scene.language, told.report or told.quote
    if not passed_on or spoken.mentions(passed_on, scene.me.name, scene.me.called):
        return None
    if not _is_of_today(scene, told.minutes_ago, said.quote):
        return None
    your = "my" if said.to_me else spoken.possessed(said.to_called)
    topic = spoken.turned(said.topic or spoken.noun_phrase(said.quote), spoken.possessed(said.called), your)
    return _of(told, "core.heard", passed_on, topic)


def _said_by_you(scene: TalkScene, told: Told, said: Said, line: Heard) -> Saying | None:
    topic, bare = line.topic, scene.language.bare(line.topic)
    if not said.to_me or told.minutes_ago < JUST or not topic or scene.known(bare):
        return None
    if not scene.language.may_be_yours(topic) and line.act not in {"intend", "complain"}:
        return None
    return replace(_of(told, "ask.topic", topic, topic), mark=bare)


def _did(scene: TalkScene, told: Told, did: Did) -> Saying | None:
    if not is_worth_telling(scene, did.doing) or not told.doing:
        return None
    event = occasion(scene, told.doing)
    if event and scene.talk.gathering is not None:
        return None  # it goes on, and is spoken of as what one sees
    if event and told.minutes_ago > JUST:
        return replace(_of(told, "core.was", event, event, told.doing), slots={"event": event})
    return _of(told, "core.did", told.doing)


def _thing(scene: TalkScene, told: Told, changed: Changed) -> Saying | None:
    """Returns a saying about a thing that does not work, told once to each person, but not to those who know because
    they live or work there."""
    thing, spoken = told.thing, scene.language
    if not scene.rules.has("faulty", changed.words) or told.minutes_ago > STALE:
        return None
    is_told = spoke_of(scene.talk.past, scene.you.id, thing, spoken, WEEK)
    if is_told or scene.you.called in changed.place_name or _have_talked_of(scene, spoken.bare(thing)):
        return None
    mark = spoken.bare(thing).lower()
    kind = "core.thing.told" if mark in scene.aired.lower() else "core.thing"
    return replace(_of(told, "core.thing", changed.object_name, thing, changed.words, kind=kind), mark=mark)


def _have_talked_of(scene: TalkScene, name: str) -> bool:
    """Tells whether I remember a line between the two of us with the name in it."""
    return any(
        scene.you.id in (one.happening.who, one.happening.to) and name in one.happening.quote.lower()
        for one in scene.talk.recalled
    )


def _absent(_scene: TalkScene, told: Told, _: Absent | Missing) -> Saying | None:
    is_telling = bool(told.at) and told.minutes_ago <= STALE
    return _of(told, "core.absent", told.thing, told.thing) if is_telling else None


def _refused(_scene: TalkScene, told: Told, _: Failed | Tried) -> Saying | None:
    is_telling = told.thing and told.why and told.minutes_ago <= STALE
    return _of(told, "core.refused", told.why, told.thing, told.thing) if is_telling else None


def _tried(scene: TalkScene, told: Told, tried: Tried) -> Saying | None:
    """Returns what somebody else was seen to fail at, and why."""
    saying = _refused(scene, told, tried)
    return (
        replace(saying, rule="answer.tried", kind="answer.tried")
        if saying and tried.who not in (scene.me.id, scene.you.id)
        else None
    )


def _seen_together(scene: TalkScene, memory: Recalled, befell: Befell) -> Saying | None:
    """Returns what the speaker has not told yet about something that happened, for somebody who was there, too."""
    lines = (one for one in map(scene.voiced, memory.tell) if _holds_still(scene, memory, one))
    text = next((one for one in lines if not scene.known(one) and not scene.has_told(one)), "")
    happened = befell.text or memory.text
    saying = _of(scene.as_told(memory), "answer.together", text, scene.language.noun_phrase(happened), happened)
    return replace(saying, slots={"text": text}) if text else None


def _event(scene: TalkScene, told: Told, _: Befell) -> Saying | None:
    """Returns something that happened, told in the past tense if its verb is known."""
    text = told.written.strip().rstrip(".!")
    spoken = scene.language
    if spoken.mentions(text, scene.me.name, scene.me.called):
        return None
    text = spoken.addressed(text, scene.you.name, scene.you.called)
    if not text or spoken.addresses(f"{text} "):
        return None
    topic = spoken.noun_phrase(text)
    mark = told.past.lower() or topic
    kind = "core.event.told" if mark[: LONG // 2] in scene.aired.lower() else "core.event"
    return replace(_of(told, "core.event" if told.past else "core.event_topic", text, topic, kind=kind), mark=mark)


def _read(scene: TalkScene, told: Told, read: Read) -> Saying | None:
    """Returns what the speaker has read or heard on the radio, word for word."""
    spoken, quote = scene.language, read.quote.rstrip(".")
    if any(spoken.mentions(quote, one.name, one.called) for one in (scene.me, scene.you)) or read.who == scene.you.id:
        return None
    kind = "core.event.told" if quote.lower() in scene.aired.lower() else "core.event"
    return replace(_of(told, f"core.read.{read.form}", quote, kind=kind), slots={"text": quote})


def _weather(scene: TalkScene, told: Told, weather: Sky) -> Saying | None:
    sky = weather.sky
    rule = f"core.weather.{sky}"
    if told.minutes_ago > 180 or sky != scene.talk.situation.sky or rule not in scene.rules.rules:
        return None
    return replace(_of(told, rule, sky, "", kind="core.weather"), words=frozenset({sky}))


def _plan(scene: TalkScene, told: Told, planned: Planned) -> Saying | None:
    is_over = planned.start <= scene.talk.situation.time or told.minutes_ago > YESTERDAY
    if is_over or not is_worth_telling(scene, planned.do) or not told.doing:
        return None
    return _of(told, "core.plan", told.doing)


def _insight(scene: TalkScene, told: Told, concluded: Concluded) -> Saying | None:
    """Returns a conclusion of mine; about the hearer, its `you` wording, if it has one."""
    you, me, spoken = scene.you, scene.me, scene.language
    if concluded.about == you.id:
        text, rule = concluded.you, "core.insight_you"
    else:
        text, rule = concluded.say or told.written, "core.insight"
        if spoken.mentions(text, you.name, you.called) or spoken.mentions(text, me.name, me.called):
            return None
    if not text or you.warmth < COLD:
        return None
    text = spoken.finished(spoken.owned(scene.voiced(text), me, you))
    text = text if text.endswith((".", "!", "?")) else f"{text}."
    saying = _of(told, rule, text, concluded.topic)
    return replace(saying, mark=saying.mark.rstrip("."), slots={"text": text, "low_text": spoken.lowered(text)})


_MAKERS: Mapping[type[Happening], Callable[[TalkScene, Told, Any], Saying | None]] = {
    Seen: _seen,
    Tried: _seen,
    Said: _said,
    Did: _did,
    Changed: _thing,
    Absent: _absent,
    Missing: _absent,
    Failed: _refused,
    Befell: _event,
    Read: _read,
    Sky: _weather,
    Planned: _plan,
    Concluded: _insight,
}


# ── doings and places, as these two call them ────────────────────────────────────────────────────────────────────────


def is_worth_telling(scene: TalkScene, doing: str) -> bool:
    """Tells whether a doing is worth telling: not sleeping, walking somewhere or a mere pastime, and in the -ing form
    that fits the templates."""
    head = scene.language.head(doing)
    if is_simulated(scene.rules, doing) or doing in pastimes(scene.me.language):
        return False
    return scene.language.is_doing(doing) and head not in scene.rules.words("faint") | scene.rules.words("talk")


def is_simulated(rules: Grammar, doing: str) -> bool:
    """Tells whether a doing is one that only the simulator would mention."""
    parts = tuple(rules.words("simulated"))
    return doing.startswith(parts) or doing.endswith(parts)


@lru_cache(maxsize=4)
def pastimes(language: str) -> frozenset[str]:
    """Returns the activities that only fill the time: nobody mentions them."""
    rules = grammar(language)
    kinds = [name for name in rules.rules if name.startswith(("part.", "hours.", "rest.short"))]
    return frozenset(doing for name in kinds if not name.endswith(".event") for doing in rules.every(name))


def occasion(scene: TalkScene, doing: str) -> str:
    """Returns the event that an activity is part of: `taking in the festival` → `the festival`; empty for any other
    activity."""
    return scene.language.with_article(occasion_word(scene.rules, doing))


def occasion_word(rules: Grammar, doing: str) -> str:
    """Returns the first word for an event in a doing; empty if there is none."""
    return next((word for word in rules.language.in_order(doing) if word in rules.words("occasion")), "")
