"""What people want of each other: things asked for, promised, brought, given back; quarrels and their end.

A goal becomes something to say to the one it takes. Now and then somebody starts: asks for a loan or for help, invites,
promises to bring something. What is agreed becomes a promise of the account, whoever's mind has spoken.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import cached_property
from itertools import product
from typing import Self

from commonplace.character.account import as_topic
from commonplace.languages import weekdays
from commonplace.minds.notes import Agreed, GoalNote, ItemNote, News, Person, Recalled
from commonplace.minds.offline.dice import CHANCES, Dice
from commonplace.minds.offline.gatherings import hhmm, moment_minutes
from commonplace.minds.offline.hear import content
from commonplace.minds.offline.moment import Moment, OfNews, temper
from commonplace.minds.offline.perceive_event import named_place
from commonplace.minds.offline.plan import PROMISED
from commonplace.minds.offline.rule_tables import read_table
from commonplace.minds.offline.sayings import Saying
from commonplace.minds.offline.scene import DraftLine, TalkScene
from commonplace.minds.offline.speech_facts import Speaking
from commonplace.minds.tasks import ReactInput, Stroke
from commonplace.text import is_named
from commonplace.world.happenings import Said

COMES = frozenset({"keep.help", "keep.visit"})
"""Promises for which one must have come on purpose."""
CARRIES = 14
"""Hours before the end of a promise in which one carries with one what is to be brought."""
HELPED = 60
"""Minutes that two work on a thing."""
OCCURS = frozenset({"visit", "matter"})
"""Kinds of goals that one is reminded of by a name."""
TOO_LATE_TO_CALL = "20:30"
SEEN_LATELY = (0, 15, 40, 70, 100, 130, 160)
"""Minutes ago at which somebody was seen who may still be there."""
TALKED_OUT, LOOKS = 10, 40
"""Minutes until one has taken leave of the one who has told one, and minutes planned for where one goes then."""
LIKES = 12
"""Warmth from which one asks somebody for something."""
MOST_PROMISES = 4
"""Open promises with which one promises nothing more."""
SOON = {"keep.lend": 5 * 60, "keep.give": 5 * 60, "keep.return": 20 * 60, "keep.help": 2 * 60, "keep.visit": 2 * 60}
"""Minutes after a promise before which it is not kept: things must be fetched."""
ASKED = {"lend": "ask.lend", "visit": "ask.visit", "help": "ask.favour", "give": "promise.give"}
"""What one starts → the rule for it."""
KINDS = ("lend", "lend", "lend", "visit", "visit", "visit", "help", "help", "give", "give")
AHEAD = (0, 0, 0, 0, 1, 2)
"""Days from now on which one wants it, each as likely as the others: mostly today."""
TOO_LATE = "18:00"
"""Time of day from which on nobody asks for anything for today."""


# ── what one means to do with somebody ───────────────────────────────────────────────────────────────────────────────


def can_say(goal: GoalNote, now: ItemNote | None, place: str, home: str) -> bool:
    """Tells whether a word can settle a goal here: a matter anywhere, a promise if the character has come for it."""
    if not goal.act.startswith("keep."):
        return bool(goal.act) or goal.kind == "visit"
    if _is_for(goal, now):
        return goal.act not in COMES or goal.place in ("", place)
    if goal.act in COMES or goal.minutes < SOON.get(goal.act, 0):
        return False
    return place == home or goal.hours_left < CARRIES


def _is_for(goal: GoalNote, now: ItemNote | None) -> bool:
    return now is not None and not set(now.because).isdisjoint(goal.because)


def meant_for(
    goals: Sequence[GoalNote], person: Person, now: ItemNote | None, place: str, home: str
) -> GoalNote | None:  # fmt: skip
    """Returns the first goal with this person that a word can settle here and now."""
    return next((one for one in goals if one.person == person.id and can_say(one, now, place, home)), None)


def goal_sayings(scene: TalkScene) -> Iterator[Saying]:
    """Yields what the speaker means to say to the hearer, and what it may start with them."""
    talk = scene.talk
    has_defied = any(line.speaker == scene.me.id and line.speech_act == "defy" for line in talk.lines)
    for goal in talk.goals:
        ids = tuple(one.id for one in talk.recalled if one.id in goal.because)
        if goal.person != scene.you.id or not ids or (has_defied and goal.act == "apologise"):
            continue
        if can_say(goal, talk.now, talk.situation.place.id, scene.me.home):
            missed = "ask.missed_here" if talk.lines else "ask.missed"
            rule = RULES.get(goal.act, goal.act) if goal.act else missed
            topic = _as_ours(scene, goal.topic) if goal.topic else ""
            slots = {"topic": topic} if topic else {}
            yield Saying(ids, rule, slots, "goal", f"{goal.topic or rule}".lower(), content(goal.topic), topic)
    yield from _helpers(scene)
    if starts(scene.me.id, scene.you, scene.moment[:10], scene.dice) and _may_ask(scene):
        yield from _started(scene)


RULES = {"reproach": "reproach.word", "apologise": "apology.word", "ask.topic": "ask.goal"}


def _as_ours(scene: TalkScene, topic: str) -> str:
    """Returns the subject of a goal as I name it to the hearer: `kite` → `the kite`, `Jun's rotor` → `your rotor`."""
    own = scene.language.owned(scene.language.turned(_lowered(topic)), scene.me, scene.you)
    return scene.language.with_article(own)


def _lowered(topic: str) -> str:
    return topic[:1].lower() + topic[1:] if topic.startswith(("The ", "A ")) else topic


def _helpers(scene: TalkScene) -> Iterator[Saying]:
    """Yields requests for help with a thing that needs more hands than the speaker's own."""
    for goal in scene.talk.goals:
        ids = tuple(one.id for one in scene.talk.recalled if one.id in goal.because)
        if goal.kind != "repair" or goal.people < 2 or goal.lacks or scene.you.warmth < LIKES or not ids:
            continue
        topic = scene.language.with_article(goal.object_name)
        if _may_ask(scene):
            yield Saying(
                ids[:1], "ask.favour", {"topic": topic, **_day(scene, 0)}, "goal", topic, content(topic), topic
            )


class Helped(OfNews):
    """Somebody has come to help with a thing that takes two: now it is got on with."""

    def __init__(self, given: ReactInput, dice: Dice, news: News, goal: GoalNote) -> None:
        super().__init__(given, dice, news)
        self.goal, self.ids = goal, (*goal.because[-1:], news.memory_id)

    @classmethod
    def found(cls, given: ReactInput, dice: Dice) -> Iterator[Self]:
        here = {thing.id for thing in given.situation.things}
        for news, goal in product(given.news, given.goals):
            said = news.happening
            is_help = isinstance(said, Said) and said.to_me and said.speech_act == "keep.help"
            is_it = is_help and as_topic(goal.object_name) == as_topic(said.topic)
            if is_it and goal.kind == "repair" and goal.object in here:
                yield cls(given, dice, news, goal)

    @property
    def stroke(self) -> Stroke:
        """Returns the stroke of working on it for an hour."""
        return self.from_now(self.spoken.gerund(self.goal.text)[:120], HELPED, emoji="🔧")


class Settled(Moment):
    """What has just been agreed for later today, the first of it."""

    def __init__(self, given: ReactInput, dice: Dice, agreed: Agreed) -> None:
        super().__init__(given, dice)
        self._agreed, self.ids = agreed, agreed.because

    @classmethod
    def found(cls, given: ReactInput, dice: Dice) -> Iterator[Self]:
        known = {spot.id for spot in given.places}
        yield from (cls(given, dice, one) for one in given.agreed if one.place in known)

    @property
    def agreed(self) -> Agreed:
        """Returns the agreement: its goal, the other person, and who comes to whom."""
        return self._agreed

    @property
    def stroke(self) -> Stroke:
        """Returns the stroke of doing it when it is due."""
        one = self.agreed
        return Stroke(
            start=one.time, minutes=one.minutes, location=one.place, do=self.spoken.gerund(one.text)[:120],
            because=self.ids, emoji=PROMISED,
        )  # fmt: skip


def looked_for(goals: Sequence[GoalNote], now: ItemNote | None, place: str, here: Iterable[Person]) -> GoalNote | None:
    """Returns the goal for which the character has come here to see somebody who is not here."""
    if now is None or now.location != place:
        return None
    present = {person.id for person in here}
    return next((one for one in goals if one.person and one.person not in present and _is_for(one, now)), None)


class Directed(OfNews):
    """Somebody has seen whom one looks for, and not long ago: one goes there, once the talk is over."""

    def __init__(self, given: ReactInput, dice: Dice, news: News, goal: GoalNote, place: str) -> None:
        super().__init__(given, dice, news)
        self._goal, self._place, self.ids = goal, place, (news.memory_id, *goal.because[-1:])

    @classmethod
    def found(cls, given: ReactInput, dice: Dice) -> Iterator[Self]:
        asked = next((line for line in reversed(given.lines) if line.speaker == given.who.id), None)
        if asked is None or asked.speech_act != "ask.seen":
            return
        goal = next((one for one in given.goals if one.person and one.called == asked.topic), None)
        for news in given.news if goal is not None else ():
            quote = news.happening.quote
            place = named_place(given.places, quote) if news.kind == "said" and news.to_me else None
            if goal is not None and place is not None and place.id != given.situation.place.id:
                yield cls(given, dice, news, goal, place.id)

    @property
    def goal(self) -> GoalNote:
        """Returns the goal for which the character has come."""
        return self._goal

    @property
    def lately(self) -> bool:
        """Tells whether the words say that it was not long ago."""
        moment, quote = self.given.situation.moment, self.news.happening.quote.lower()
        return any(self.spoken.when(moment, minutes).lower() in quote for minutes in SEEN_LATELY)

    @property
    def stroke(self) -> Stroke:
        """Returns the stroke of going there."""
        return Stroke(
            start=hhmm(moment_minutes(self.given.situation.time) + TALKED_OUT), minutes=LOOKS, location=self._place,
            do=self.spoken.gerund(self.goal.text)[:120], because=self.ids,
            emoji=PROMISED if self.goal.kind == "promise" else "💬",
        )  # fmt: skip


class Reminded(OfNews):
    """Somebody speaks of one whom the character has been meaning to see."""

    def __init__(self, given: ReactInput, dice: Dice, news: News, goal: GoalNote) -> None:
        super().__init__(given, dice, news)
        self._goal, self.ids = goal, (news.memory_id, *goal.because[-1:])

    @classmethod
    def found(cls, given: ReactInput, dice: Dice) -> Iterator[Self]:
        said = (news for news in given.news if news.kind == "said" and news.to_me)
        for news, goal in product(said, given.goals):
            if goal.kind in OCCURS and goal.called and is_named(goal.called, news.happening.quote):
                yield cls(given, dice, news, goal)

    @property
    def goal(self) -> GoalNote:
        """Returns the goal that it has with them."""
        return self._goal

    @property
    def _planned(self) -> list[ItemNote]:
        return [item for item in (self.given.now, *self.given.later) if item is not None]

    @property
    def today(self) -> bool:
        """Tells whether they can be met later today."""
        return self.given.situation.time < self.goal.time < TOO_LATE_TO_CALL

    @property
    def meant(self) -> bool:
        """Tells whether the plan includes it anyway."""
        return any(not set(self.goal.because).isdisjoint(item.because) for item in self._planned)

    @property
    def taken(self) -> bool:
        """Tells whether the plan has something else at that time that is not routine."""
        begun = [item for item in self._planned if item.start <= self.goal.time]
        return bool(begun) and bool(max(begun, key=lambda item: item.start).because)

    @property
    def whim(self) -> int:
        """Returns a number of 0 … 99 that stays the same for this goal for a day."""
        return self.dice.steady().below(100, "reminded", self.goal.id, self.given.situation.moment[:10])

    @property
    def stroke(self) -> Stroke:
        """Returns the stroke of seeing them."""
        return Stroke(
            start=self.goal.time, minutes=LOOKS, location=self.goal.place,
            do=self.spoken.gerund(self.goal.text)[:120], because=self.ids, emoji="💬",
        )  # fmt: skip


def starts(me: str, person: Person, day: str, dice: Dice) -> bool:
    """Tells whether the character wants something of somebody today: the same whenever it is asked."""
    return person.warmth >= LIKES and dice.steady().chance(CHANCES["favour.starts"], "start", me, person.id, day)


def _may_ask(scene: TalkScene) -> bool:
    """Tells whether nothing has been asked of or promised to the hearer these days, and the talk has not turned to
    favours."""
    rules = frozenset(ASKED.values())
    asked = any(
        note.other == scene.you.id and note.minutes_ago < 2 * 24 * 60 and (note.act in rules or note.kind == "promised")
        for note in scene.talk.past.notes
    )
    return not asked and not any(line.speech_act in rules for line in scene.talk.lines)


def _started(scene: TalkScene) -> Iterator[Saying]:
    about = next((one for one in scene.talk.recalled if scene.you.id in (one.happening.who, one.happening.to)), None)
    if about is None:
        return
    dice = scene.dice.steady().with_("start", scene.you.id, scene.moment[:10], about.id)
    kind = dice.choice(KINDS, "kind")
    things = scene.rules.every(f"thing.{kind}")
    if not things:
        return
    thing, _, why = dice.choice(things, "thing").partition(" = ")
    topic = scene.language.with_article(scene.language.bare(thing)) if kind in {"lend", "give"} else thing
    slots = {
        "thing": thing,
        "topic": topic,
        "bare": scene.language.bare(thing),
        "why": why,
        **_day(scene, dice.choice(AHEAD, "day")),
    }
    yield Saying((about.id,), ASKED[kind], slots, "start", topic.lower(), content(thing), topic)


def _day(scene: TalkScene, ahead: int) -> dict[str, str]:
    """Returns the slots `day` and `on` for a day from now: `Thursday` and `on Thursday`. Late in the day, today is
    tomorrow."""
    if not ahead and scene.talk.situation.time < TOO_LATE:
        today = scene.rules.every("day.today")[0]
        return {"day": today, "on": today}
    ahead = max(1, ahead)
    names = [*scene.rules.every("day.tomorrow"), *scene.rules.every("day.on")]
    tomorrow, on = names[0], names[1]
    if ahead == 1:
        return {"day": tomorrow, "on": tomorrow}
    weekday = weekdays(scene.me.language)[(date.fromisoformat(scene.moment[:10]).weekday() + ahead) % 7]
    return {"day": weekday, "on": on.replace("{day}", weekday)}


# ── what one says to it ──────────────────────────────────────────────────────────────────────────────────────────────


def favour_reply(scene: TalkScene, memory: Recalled) -> DraftLine | None:
    """Returns the answer to a request, a promise, something brought, or forgiveness; None for any other line."""
    line = Favour(scene, memory=memory).said(FAVOURS)
    return line if line is not None and line.text else None


class Favour(Speaking):
    """The line may be about what the two want of each other."""

    @property
    def asked(self) -> str:
        """Returns the favour that is asked for: `lend`, `visit`, `help`."""
        return self.heard.act.partition(".")[2].replace("favour", "help")

    @property
    def agrees(self) -> bool:
        """Tells whether the character promises it; it does if it likes the other and has promised little."""
        scene, promises = self._scene, sum(goal.kind == "promise" for goal in self._scene.talk.goals)
        made_up = scene.dice.steady().below(100, "favour", scene.you.id, scene.heard.topic, scene.moment[:10])
        return promises < MOST_PROMISES and made_up < CHANCES["favour.agrees"] + scene.you.warmth // 2

    @property
    def my_topic(self) -> str:
        """Returns the topic of my last line."""
        return self._scene.my_topic

    @property
    def brought(self) -> bool:
        """Tells whether the other keeps a promise."""
        return self.heard.act.startswith("keep.")

    @property
    def defies(self) -> bool:
        """Tells whether the character answers back; it does if it is proud, or likes the other little."""
        scene = self._scene
        percent = CHANCES["favour.defies"] - scene.you.warmth // 2 + 8 * max(0, temper(scene.me).brave)
        percent = max(CHANCES["favour.defies_friend"], percent)
        return scene.dice.steady().chance(percent, "defies", scene.you.id, scene.moment[:10])

    @property
    def enough(self) -> DraftLine:
        """Returns an empty line that ends the talk."""
        return DraftLine("", ends=True)

    @property
    def day(self) -> str:
        """Returns the day that the line names: `Thursday`."""
        return self._named_day.get("day", "")

    @property
    def on(self) -> str:
        """Returns the day with its preposition: `on Thursday`."""
        return self._named_day.get("on", "")

    @cached_property
    def _named_day(self) -> Mapping[str, str]:
        days = (_day(self._scene, ahead) for ahead in range(8))
        return next((slots for slots in days if slots["day"].lower() in self._scene.last.lower()), dict[str, str]())


FAVOURS = read_table("favours", Favour)
