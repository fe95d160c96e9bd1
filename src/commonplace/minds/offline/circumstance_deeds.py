"""What somebody does about what has become so, at once and on the days after, and what of its plan is not possible now.

`rules/circumstances.txt` says by whom and where; the words are the rules `so.…` of the grammar.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

from commonplace import rng
from commonplace.minds.notes import ItemNote, News, Person, So, Who
from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.gatherings import hhmm, moment_minutes
from commonplace.minds.offline.incidents import Noticed, befallen
from commonplace.minds.offline.moment import Moment, Temper, temper
from commonplace.minds.offline.rule_tables import ChosenRow, Facts, read_table
from commonplace.minds.offline.template_grammar import Grammar, grammar
from commonplace.minds.tasks import PlanDayInput, ReactInput, Stroke
from commonplace.world.happenings import Befell

BEFORE = 30
"""Minutes before an event at which a stretch of plan at its place is for it."""
AFTER_A_WORD = 10
"""Minutes until one has heard out the one who has told one."""
MOURNS = 1
"""Days for which kin of the dead leave everything else but meals."""
GROWN = 14
"""Age from which one is let near a fire, and can be left alone."""
LIKED = 20
"""Warmth from which one sits with somebody, or says goodbye to the dead."""


class Plight(Facts):
    """Something that is so, as it concerns the character here and now, or on the day that it plans."""

    so: So
    """What the character knows of it."""
    seen: bool
    """Whether the character notices it itself."""

    def __init__(
        self, so: So, who: Who, dice: Dice, *, here: str = "", people: Sequence[Person] = (), seen: bool = False
    ) -> None:
        self.so, self._who, self._dice, self._here, self._people, self.seen = so, who, dice, here, people, seen

    @classmethod
    def found(cls, plight: Self) -> Iterator[Self]:
        yield plight

    @cached_property
    def mood(self) -> Temper:
        """Returns the character's temper."""
        return temper(self._who)

    @property
    def kind(self) -> str:
        """Returns the kind of the circumstance: `burning`, `ill` …"""
        return self.so.kind

    @property
    def subject(self) -> str:
        """Returns the sort of its subject: `person`, `place`, `thing`, `fact` or `town`."""
        return self.so.subject

    @property
    def struck(self) -> bool:
        """Tells whether it is a circumstance of the character itself."""
        return self.so.of == self._who.id

    @property
    def did(self) -> bool:
        """Tells whether the character caused it, or is the other one of two."""
        return self.so.by == self._who.id

    @property
    def mine(self) -> bool:
        """Tells whether its subject belongs to the character."""
        return self.so.tie == "own"

    @property
    def kin(self) -> bool:
        """Tells whether its subject lives with the character or is related to it."""
        return self.so.tie == "kin"

    @property
    def dear(self) -> bool:
        """Tells whether its subject is kin, somebody close, or a place or a thing of theirs."""
        return self.so.tie in {"kin", "close"}

    @property
    def liked(self) -> bool:
        """Tells whether the character likes the person it concerns."""
        return self.so.person is not None and self.so.person.warmth >= LIKED

    @property
    def present(self) -> bool:
        """Tells whether its subject is in sight."""
        return any(one.id == self.so.of for one in self._people)

    @property
    def there(self) -> bool:
        """Tells whether the character is at its place, or next to it."""
        return self.seen or self._here in (self.so.place, self.so.near)

    @property
    def doer(self) -> Person | None:
        """Returns the person who caused it, if in sight and not asleep."""
        return next((one for one in self._people if one.id == self.so.by and one.can_be_spoken_to), None)

    @property
    def capable(self) -> bool:
        """Tells whether it is in the character's nature to do something about it."""
        mood = self.mood
        return self._who.age >= GROWN and (mood.helpful > 0 or mood.handy > 0 or mood.brave > 0 or self.so.heals)

    @property
    def child(self) -> bool:
        """Tells whether the character is a child."""
        return self._who.age < GROWN

    @property
    def runs(self) -> bool:
        """Tells whether the character is the one of those here who runs for help: the same for all, never kin, and no
        child if that can be helped."""
        here = sorted(
            [
                self._who.id,
                *(one.id for one in self._people if one.id not in (self.so.of, self.so.by) and not one.asleep),
            ]
        )
        key = (self._dice.key[0], "runs", self.so.id)
        return len(here) > 1 and here[rng.below(len(here), *key)] == self._who.id

    @property
    def help_away(self) -> bool:
        """Tells whether there is a healer to fetch who is not here."""
        healer = self.so.healer
        return healer is not None and not self.so.heals and all(one.id != healer.id for one in self._people)

    @property
    def alone(self) -> bool:
        """Tells whether nobody else is here who could run for help."""
        return not any(one.id not in (self.so.of, self.so.by) and not one.asleep for one in self._people)

    @property
    def bereaved(self) -> bool:
        """Tells whether the character likes somebody who lived with a person that is gone."""
        return self.so.bereaved is not None and self.so.bereaved.warmth >= LIKED

    @property
    def days(self) -> int:
        """Returns the days since it began."""
        return self.so.days_ago


@dataclass(frozen=True, slots=True)
class DeedPlan:
    """What a row says: what for, where, for how long, and what it is called."""

    role: str
    place: str
    minutes: int
    do: str
    at: str = ""


DEEDS = read_table("circumstances", Plight)
DAYS = read_table("days", Plight)
EMOJI = {"fight": "🪣", "heal": "🩺", "fetch": "🏃", "search": "🔍", "mend": "🔧", "mourn": "🖤", "farewell": "🕯️"}


def deed(choice: ChosenRow[Plight] | None, rules: Grammar, dice: Dice) -> DeedPlan | None:
    """Returns the deed of a row; None if the row has none, or there is no place for it."""
    if choice is None or not choice.row.cells["where"]:
        return None
    cells, so = choice.row.cells, choice.facts.so
    role, where = choice.row.name.partition("+")[0], cells["where"]
    place = "" if where == "here" else getattr(so, where)
    slots = {
        "x": so.person.called if so.person else "", "what": so.called, "y": so.healer.called if so.healer else "",
        "z": so.bereaved.called if so.bereaved else "",
    }  # fmt: skip
    of_kind = rules.say(f"so.{role}.{so.kind}", slots, dice)
    do = of_kind or rules.say(f"so.{role}", slots, dice)
    return (
        DeedPlan(role, place, int(cells["minutes"]), do, cells.get("at", ""))
        if do and (place or where == "here")
        else None
    )


# ── when one learns of it ────────────────────────────────────────────────────────────────────────────────────────────


class Discovery(Noticed):
    """Something has become so, and the character learns of it now: it notices, or it is told."""

    so: So
    """What it is."""
    at_once: bool
    """Whether the character notices it itself."""
    it: Plight
    """It, as it concerns the character."""

    def __init__(self, given: ReactInput, dice: Dice, news: News, so: So) -> None:
        super().__init__(given, dice, news)
        self.so, self.at_once = so, isinstance(news.happening, Befell)
        self.it = Plight(so, given.who, dice, here=self.here, people=self.people, seen=self.at_once)

    @classmethod
    def found(cls, given: ReactInput, dice: Dice) -> Iterator[Self]:
        first = {so.memory: so for so in given.so if so.holds}
        over = {so.id: so for so in given.so if not so.holds}
        for news in given.news:
            so = (first.get(news.memory_id) if news.memory_id else None) or over.get(befallen(news.happening))
            if so is not None:
                yield cls(given, dice, news, so)

    @property
    def over(self) -> bool:
        """Tells whether it is over."""
        return not self.so.holds

    @property
    def person(self) -> Person | None:
        """Returns the person it concerns most, if in sight and awake."""
        return next(
            (one for one in self.people if one.id == self.so.of and one.can_be_spoken_to and not one.asleep), None
        )

    @property
    def doer(self) -> Person | None:
        """Returns the person who caused it, if in sight."""
        return self.it.doer

    @cached_property
    def _deed(self) -> DeedPlan | None:
        return deed(DEEDS.choose(self.it), self.rules, self.dice)

    @property
    def role(self) -> str:
        """Returns the role in which the character acts on it; empty for nothing in particular."""
        return self._deed.role if self._deed else ""

    @property
    def respond(self) -> Stroke | None:
        """Returns the stroke of acting on it: now, or after listening to whoever tells of it."""
        deed = self._deed
        if deed is None:
            return None
        now = self.from_now(deed.do[:120], deed.minutes, deed.place, emoji=EMOJI.get(deed.role, ""))
        later = hhmm(moment_minutes(now.start) + AFTER_A_WORD)
        return now if self.at_once or later < now.start else now.model_copy(update={"start": later})


class Absence(Moment):
    """Somebody is not where one is used to meeting them, and one does not know why."""

    def __init__(self, given: ReactInput, dice: Dice, so: So) -> None:
        super().__init__(given, dice)
        self.so, self.ids = so, (so.memory,) if so.memory else ()

    @classmethod
    def found(cls, given: ReactInput, dice: Dice) -> Iterator[Self]:
        planned = {one for item in (given.now, *given.later) if item is not None for one in item.because}
        yield from (cls(given, dice, so) for so in given.so if so.kind == "absent" and so.memory not in planned)

    @property
    def whim(self) -> int:
        """Returns a number of 0 … 99 that stays the same for them for an hour."""
        return self.dice.steady().below(100, "absent", self.so.of, self.hour)

    @property
    def stroke(self) -> Stroke:
        """Returns the stroke of looking for them where they live."""
        do = self.rules.say("so.look", {"x": self.so.called}, self.dice)
        return self.from_now(do, 25, self.so.place, emoji="🔍")


class Barred(Moment):
    """The plan has something that is not possible as it is: see `spoiled`."""

    def __init__(self, given: ReactInput, dice: Dice, item: ItemNote, so: So, rule: str) -> None:
        super().__init__(given, dice)
        self._item, self.so, self._rule, self.ids = item, so, rule, (so.memory,)

    @classmethod
    def found(cls, given: ReactInput, dice: Dice) -> Iterator[Self]:
        for item in (*((given.now,) if given.now else ()), *given.later) if given.so else ():
            so, rule = next(spoiled(given.so, given.who, item, chosen=bool(item.because or item.event)), (None, ""))
            if so is not None:
                yield cls(given, dice, item, so, rule)

    @property
    def stroke(self) -> Stroke:
        """Returns the stroke that replaces it until the next one begins."""
        item, now = self._item, self.given.situation.time
        start, minutes = item.start, item.minutes
        if item is self.given.now:
            following = (moment_minutes(one.start) for one in self.given.later if one.start > now)
            start, minutes = now, max(5, min(240, min(following, default=24 * 60) - moment_minutes(now)))
        place, do, emoji = instead(self.so, self._rule, self.given.who, item.location, self.dice)
        return Stroke(
            start=start, minutes=minutes, location=place, do=do, because=self.ids, asleep=item.asleep, emoji=emoji
        )


def spoiled(notes: Sequence[So], who: Who, item: ItemNote | Stroke, *, chosen: bool) -> Iterator[tuple[So, str]]:
    """Yields each circumstance that makes a stretch of plan impossible as it is, with the rule for what to do instead:
    the character has to lie down, the place is barred, an event does not take place, or somebody or something it needs
    is not there."""
    rules = grammar(who.language)
    for so in notes:
        rule = ""
        if not so.holds or so.memory in item.because:
            continue
        if item.location in so.barred:
            own = "so.avoid" if so.wrong else "so.own_shut"
            rule = "so.sleep" if item.asleep else own if so.tie == "own" else "so.shut"
        elif item.asleep:
            rule = "so.sleep" if so.gone and so.instead != who.home == item.location else ""
        elif so.rests and so.of == who.id:
            rule = "so.lie"
        elif so.days_ago <= MOURNS and not rules.has("kind.eat", item.do) and (
            (so.kind == "dead" and so.tie == "kin") or (so.kind == "grieving" and so.of == who.id)
        ):  # fmt: skip
            rule = "so.mourn" if so.gone else "so.withdraw"
        elif so.subject == "fact" and so.starts and item.location == so.place:
            ahead = moment_minutes(so.starts[11:16]) - moment_minutes(item.start)
            rule = "so.off" if 0 <= ahead < item.minutes and (chosen or ahead <= BEFORE) else ""
        elif unpowered(so, item.location):
            rule = "so.unlit" if rules.has("electric", item.do) else ""
        elif so.names and rules.language.occurs(so.names, item.do) and (so.gone or so.subject == "thing"):
            lost = so.tie == "own" and so.kind != "broken"
            rule = "so.without" if so.gone else "so.search" if lost else "so.do_without"
        if rule:
            yield so, rule


def unpowered(so: So, place: str) -> bool:
    """Tells whether there is no power at a place."""
    return so.kind == "dark" and so.holds and so.place in ("", place)


def instead(so: So, rule: str, who: Who, place: str, dice: Dice) -> tuple[str, str, str]:
    """Returns where the character goes instead, what it does there, and its emoji."""
    where = {
        "so.own_shut": so.near,
        "so.shut": so.instead,
        "so.avoid": so.instead,
        "so.sleep": so.instead,
        "so.off": so.instead,
        "so.lie": who.home,
        "so.mourn": who.home if who.age >= GROWN else place,
        "so.withdraw": who.home,
    }
    slots = {"what": so.called, "x": so.called, "y": so.person.called if so.person else ""}
    do = grammar(who.language).say(rule, slots, dice.with_(so.id))[:120]
    return where.get(rule, place), do, "🚪" if rule in ("so.shut", "so.own_shut") else ""


# ── on the days after ────────────────────────────────────────────────────────────────────────────────────────────────


def changed(given: PlanDayInput, stroke: Stroke, start: int, dice: Dice) -> Stroke:
    """Returns a stroke of the routine as the circumstances allow it."""
    at = stroke.model_copy(update={"start": hhmm(start)})
    so, rule = next(spoiled(given.so, given.who, at, chosen=False), (None, ""))
    if so is None:
        return stroke
    place, do, emoji = instead(so, rule, given.who, stroke.location, dice.with_(start))
    update = {"location": place, "do": do, "routine": -1, "because": (so.memory,), "emoji": emoji}
    return stroke.model_copy(update=update)


def deeds_of_the_day(given: PlanDayInput, dice: Dice) -> Iterator[tuple[str, Stroke]]:
    """Yields the deeds about circumstances on a day, each with its time of day; an empty time means any."""
    for so in given.so:
        plight = Plight(so, given.who, dice)
        found = deed(DAYS.choose(plight), grammar(given.who.language), dice.with_(so.id))
        if found is not None:
            emoji = EMOJI.get(found.role, "💭")
            yield found.at, Stroke(
                start="00:00", minutes=found.minutes, location=found.place, do=found.do[:120], because=(so.memory,),
                emoji=emoji,
            )  # fmt: skip
