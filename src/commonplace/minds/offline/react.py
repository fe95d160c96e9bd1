"""React to what is new: keep the plan, talk, help, avoid, go; and what the news puts into the plan. And act.

`rules/react.txt` lists the cases; the classes here and in `incidents` and `inner_voice` say what its conditions name.
An invitation is weighed as well, since one may accept it while doing something else. What the input also asks for
(ratings, words, the action) is answered as the single question would be, from the reaction's own input.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Self, cast

from commonplace.minds.mind import Decided
from commonplace.minds.notes import (
    AT_ONCE,
    NO_PAST,
    FactNote,
    GoalNote,
    ItemNote,
    News,
    Person,
    Recalled,
    Spoken,
    changed,
    fields_of,
)  # fmt: skip
from commonplace.minds.offline.at_event import Lull, Newcomer, is_over
from commonplace.minds.offline.circumstance_deeds import Absence, Barred, Discovery
from commonplace.minds.offline.converse import WAITING, converse
from commonplace.minds.offline.dice import CHANCES, Dice
from commonplace.minds.offline.favours import Directed, Helped, Reminded, Settled, looked_for, meant_for, starts
from commonplace.minds.offline.gatherings import Invited, event_name, hearing
from commonplace.minds.offline.hear import Heard, heard, remembered
from commonplace.minds.offline.incidents import Distress, Failure, Incident, Rain, befallen
from commonplace.minds.offline.inner_voice import Delivery, Thought
from commonplace.minds.offline.moment import Here, Moment, OfNews, is_grave
from commonplace.minds.offline.rate import rate
from commonplace.minds.offline.rule_tables import ChosenRow, Filled, RuleTable, read_table
from commonplace.minds.offline.sayings import occasion_word
from commonplace.minds.offline.scene import open_debt, open_hurt
from commonplace.minds.offline.template_grammar import grammar
from commonplace.minds.offline.told import minutes_since
from commonplace.minds.tasks import (
    ActInput,
    ActOutput,
    ConverseInput,
    KnownTargets,
    RateInput,
    ReactInput,
    ReactOutput,
    Stroke,
)
from commonplace.text import is_named
from commonplace.world.happenings import Befell, Did, Happening, Said

LATELY = 30 * 60
"""Minutes something remains the talk of the day."""
MEETINGS = frozenset({"arrived", "doing", "did", "said"})
"""Kinds of news about somebody to speak to."""
RESTS = frozenset({"acknowledge", "thank", "forgive"})
"""What a line does after which a talk has come to rest."""
TOLD = frozenset({"tell", "report", "complain", "rejoice", "intend"})
"""What a line does that a bystander may take up."""
NAMED = 25
"""What it adds to the wish to join a talk to be named in it."""
MORE = 6
"""Lines beyond the length of a talk up to which a question is still answered."""
CAN_WAIT = frozenset({"", "ask.topic"})
"""What one means to do with somebody for which nobody is interrupted: a visit, and a question."""


def decide(given: ReactInput, dice: Dice) -> Decided:
    """Returns the reaction and its row. The reaction has a reason for people, and what else the same answer has to
    hold."""
    choice = REACTIONS.choose(given, dice)
    assert choice is not None, "the last row of react.txt always holds"
    answer, account = reaction(choice), choice.account()
    plans = None if choice.facts.sleeps_on or answer.stroke is not None else PLANS.choose(given, dice)
    if plans is not None:
        answer, account = _with_plans(answer, reaction(plans)), plans.account(account)
    return Decided(_completed(answer, given, dice), account)


def react(given: ReactInput, dice: Dice) -> ReactOutput:
    """Returns the reaction alone."""
    return cast("ReactOutput", decide(given, dice).value)


def _with_plans(answer: ReactOutput, accepted: ReactOutput) -> ReactOutput:
    """Returns the answer with the plans that the news causes, besides the reaction itself."""
    if answer.decision == "keep":
        return accepted
    because = (*answer.because, *(one for one in accepted.because if one not in answer.because))
    why = f"{answer.reason}; {accepted.reason}" if answer.reason else accepted.reason
    return answer.model_copy(update={"stroke": accepted.stroke, "reason": why[:300], "because": because})


def reaction(choice: ChosenRow[Moment]) -> ReactOutput:
    """Returns the reaction of a row: `does` is a decision, the person and the purpose; `reason` is a rule, with what
    fills it."""
    row, facts, _ = choice
    decision, whom, purpose = (*row.cells["does"].split(), "", "")[:3]
    target: Person | None = getattr(facts, whom) if whom else None
    rule, *slots = facts.filled(row.cells["reason"]).split()
    given = {"x": target.called} if target else {}
    given |= {name: facts.get(path) for name, _, path in (slot.partition("=") for slot in slots)}
    why = grammar(facts.given.who.language).first(f"reason.{rule}", Filled(facts, given))
    return ReactOutput.model_validate(
        {
            "decision": decision,
            "target": target.id if target else "",
            "purpose": facts.filled(purpose),
            "stroke": getattr(facts, row.cells["stroke"]) if row.cells["stroke"] else None,
            "reason": why,
            "because": facts.ids,
        }
    )


def act(given: ActInput, dice: Dice) -> ActOutput:  # noqa: ARG001 – the plan decides
    """Returns the plan's next step if it is a valid target; otherwise the current activity goes on."""
    doing = given.item.do if given.item else ""
    because = given.item.because if given.item else ()
    if given.step == "MOVE" and given.step_target in given.areas:
        return ActOutput(kind="MOVE", to_location_id=given.step_target, because=because)
    if given.step == "INTERACT" and given.step_verb in given.objects.get(given.step_target, ()):
        return ActOutput(
            kind="INTERACT", object_id=given.step_target, verb=given.step_verb, doing=doing, because=because
        )
    return ActOutput(kind="IDLE", doing="" if given.step == "IDLE" else doing, because=because)


# ── a talk ───────────────────────────────────────────────────────────────────────────────────────────────────────────


class Floor(Moment):
    """Somebody has spoken in the character's talk, and it has the floor."""

    def __init__(self, given: ReactInput, dice: Dice, person: Person) -> None:
        super().__init__(given, dice)
        self._person = person
        self._news = [one for one in given.news if one.kind == "said" and one.who == person.id]
        self.ids = tuple(one.memory_id for one in self._news if one.memory_id)

    @classmethod
    def found(cls, given: ReactInput, dice: Dice) -> Iterator[Self]:
        if given.floor and given.lines:
            last = given.lines[-1].speaker
            yield from [cls(given, dice, one) for one in given.situation.people if one.id == last][:1]

    @property
    def person(self) -> Person:
        """Returns the speaker."""
        return self._person

    @cached_property
    def heard(self) -> Heard:
        """Returns their line: its act (`heard.act`), whether it asks, its topic."""
        return heard(self.given.lines[-1], self.given.who.language)

    @cached_property
    def mine(self) -> Heard | None:
        """Returns my own last line of the talk."""
        lines = [line for line in self.given.lines if line.speaker == self.given.who.id]
        return heard(lines[-1], self.given.who.language) if lines else None

    @property
    def unheard(self) -> bool:
        """Tells whether the line asks nothing and is not new: I let it pass before."""
        return not self.heard.asks and not self._news

    @cached_property
    def length(self) -> int:
        """Returns after how many lines to take leave: 3 among strangers at work, 8 among talkative friends, more in a
        group."""
        person, mood = self.person, self.mood
        wanted = 5 + mood.sociable + (person.warmth > 40) - (person.warmth < 0) - 2 * person.cold - self.busy
        others = sum(1 for one in self.people if one.talk == "mine" and one is not person)
        drawn = self.dice.steady().below(3, "length", self.given.lines[0].text)
        return max(3, min(8, wanted + drawn - 1)) + others

    @property
    def long(self) -> bool:
        """Tells whether the talk has lasted as long as I like to talk with this person here."""
        return len(self.given.lines) >= self.length

    @property
    def spent(self) -> bool:
        """Tells whether it has lasted so long that I take leave even after a line that wants an answer."""
        waits = self.heard.asks or self.heard.act.startswith(WAITING)
        return len(self.given.lines) >= self.length + MORE * waits

    @property
    def over(self) -> bool:
        """Tells whether the event that we are at is over, or is about to end."""
        return is_over(self.given.gathering, self.given.situation.moment)

    @property
    def begun(self) -> bool:
        """Tells whether more than one line has been said."""
        return len(self.given.lines) > 1

    @cached_property
    def goal(self) -> GoalNote | None:
        """Returns the goal that I have with the speaker and can settle here."""
        return meant_for(self.given.goals, self.person, self.now, self.here, self.given.who.home)

    @cached_property
    def third(self) -> Person | None:
        """Returns the member of a talk of three or more who has been silent longest, besides me and the speaker."""
        spoke = {line.speaker: number for number, line in enumerate(self.given.lines)}
        others = [one for one in self.people if one.talk == "mine" and one is not self.person and one.can_be_spoken_to]
        return min(others, key=lambda one: (spoke.get(one.id, -1), one.id), default=None)

    @property
    def whim(self) -> int:
        """Returns a number of 0 … 99 that stays the same for this talk."""
        return self.dice.steady().below(100, "bye", self.given.lines[0].text)


class Overheard(OfNews):
    """Something is told in a talk of others here."""

    @classmethod
    def found(cls, given: ReactInput, dice: Dice) -> Iterator[Self]:
        moment = Moment(given, dice)
        if not given.lines and given.now is not None and not moment.walking and moment.opens:
            yield from (cls(given, dice, one) for one in given.news if one.kind == "said" and not one.to_me)

    @cached_property
    def person(self) -> Person | None:
        """Returns the teller, if they are in a talk with others and may be spoken to."""
        person = self.seen(self.news.who)
        return person if person is not None and person.talk == "other" and person.can_be_spoken_to else None

    @property
    def named(self) -> bool:
        """Tells whether I am named in it."""
        return is_named(self.given.who.called, self.news.happening.quote)

    @property
    def told(self) -> bool:
        """Tells whether the line tells something that a bystander may take up."""
        line = remembered(self.news.happening, self.given.who.language)
        return not line.asks and line.act.partition(".")[0] in TOLD

    @property
    def wish(self) -> int:
        """Returns how much I want to join: I like the teller or company, or am named."""
        if self.person is None:
            return 0
        wish = 12 + self.person.warmth // 3 + 9 * self.mood.sociable - 6 * self.mood.busy + NAMED * self.named
        return wish + self.dice.steady().below(50, "join", self.person.id, self.hour)


# ── somebody here ────────────────────────────────────────────────────────────────────────────────────────────────────


class Disliked(OfNews):
    """Somebody the character dislikes has come, or it has come upon them."""

    def __init__(self, given: ReactInput, dice: Dice, news: News, person: Person) -> None:
        super().__init__(given, dice, news)
        self._person = person

    @classmethod
    def found(cls, given: ReactInput, dice: Dice) -> Iterator[Self]:
        arrived = {news.who: news for news in given.news if news.kind in {"arrived", "doing"} and news.who}
        for one in given.situation.people:
            if one.cold and one.id in arrived and not one.asleep:
                yield cls(given, dice, arrived[one.id], one)

    @property
    def person(self) -> Person:
        """Returns the person."""
        return self._person

    @property
    def stays(self) -> bool:
        """Tells whether I stay: I was here first, live here, or am kept by work or by something I mean to do."""
        kept = self.now is not None and bool(self.now.object_id or self.now.because)
        return self.news.kind == "arrived" or self.here == self.given.who.home or kept

    @property
    def whim(self) -> int:
        """Returns a number of 0 … 99 that stays the same for them for an hour."""
        return self.dice.steady().below(100, "avoid", self.person.id, self.hour)

    @property
    def leave(self) -> Stroke:
        """Returns the stroke of going home for a while."""
        do = self.rules.say("avoid.do", {"x": self.person.called}, self.dice)
        return self.from_now(do, 20, self.given.who.home)


class Sought(Moment):
    """Somebody is here whom the character means to do something with."""

    def __init__(self, given: ReactInput, dice: Dice, person: Person, goal: GoalNote) -> None:
        super().__init__(given, dice)
        self._person, self._goal = person, goal
        self.ids = goal.because[-1:]

    @classmethod
    def found(cls, given: ReactInput, dice: Dice) -> Iterator[Self]:
        place, home = given.situation.place.id, given.who.home
        for one in given.situation.people if not given.lines and given.now is not None else ():
            goal = meant_for(given.goals, one, given.now, place, home)
            if goal is not None and one.can_be_spoken_to and not one.asleep and not one.just_talked:
                yield cls(given, dice, one, goal)

    @property
    def person(self) -> Person:
        """Returns the person."""
        return self._person

    @property
    def goal(self) -> GoalNote:
        """Returns the goal that it has with them."""
        return self._goal

    @property
    def waits(self) -> bool:
        """Tells whether it has to wait until they are free and somebody may speak."""
        return self.goal.act in CAN_WAIT and not (self.person.free and self.opens)

    @property
    def came_for(self) -> bool:
        """Tells whether the plan has brought it here for this."""
        return self.now is not None and not set(self.now.because).isdisjoint(self.goal.because)

    @property
    def interrupts(self) -> bool:
        """Tells whether they are in a talk with others that has not come to rest."""
        said = [one.happening for one in self.given.news if one.kind == "said"]
        acts = [remembered(one, self.given.who.language).act for one in said]
        return self.person.talk == "other" and bool(acts) and RESTS.isdisjoint(acts)


class Missed(Moment):
    """The one whom the character has come to see is not here."""

    @classmethod
    def found(cls, given: ReactInput, dice: Dice) -> Iterator[Self]:
        moment = cls(given, dice)
        if not given.lines and moment.goal is not None:
            moment.ids = moment.goal.because[-1:]
            yield moment

    @cached_property
    def goal(self) -> GoalNote | None:
        """Returns the goal for which it has come."""
        return looked_for(self.given.goals, self.now, self.here, self.people)

    @property
    def missed(self) -> str:
        """Returns the name of the person who is not here."""
        return self.goal.called if self.goal else ""

    @property
    def whim(self) -> int:
        """Returns a number of 0 … 99 that stays the same for them for an hour."""
        return self.dice.steady().below(100, "after", self.goal.id if self.goal else "", self.hour)

    @cached_property
    def person(self) -> Person | None:
        """Returns the person to ask: the best liked of those free here and in no talk."""
        free = (one for one in self.people if one.free and one.warmth >= 0 and not one.talk and not one.walking)
        return self.best([one for one in free if not one.just_talked])


class Remark(OfNews):
    """Something has happened that is nothing to act upon."""

    @classmethod
    def found(cls, given: ReactInput, dice: Dice) -> Iterator[Self]:
        yield from [cls(given, dice, one) for one in given.news if one.kind == "event" and not one.facts][:1]

    @cached_property
    def person(self) -> Person | None:
        """Returns the best liked of the people who are free here."""
        return self.best([one for one in self.people if one.free and one.warmth >= 0])


# ── whom to speak to ─────────────────────────────────────────────────────────────────────────────────────────────────


class Wish(Moment):
    """Somebody the character may speak to; `rules/wish.txt` says how much it wants to, what for and why."""

    def __init__(self, given: ReactInput, dice: Dice, person: Person) -> None:
        super().__init__(given, dice)
        self._person = person

    @classmethod
    def found(cls, given: ReactInput, dice: Dice, person: Person) -> Iterator[Self]:
        yield cls(given, dice, person)

    @property
    def person(self) -> Person:
        """Returns the person."""
        return self._person

    @property
    def liking(self) -> int:
        """Returns how much the character wants to speak to them at all."""
        person, mood, since = self.person, self.mood, self.person.minutes_since_talk
        liking = 20 + person.warmth // 3 + (20 if since < 0 else min(12, since // 60))
        liking += (9 if mood.sociable > 0 else 5) * mood.sociable  # the reserved speak less, not to nobody
        liking += 8 if person.label else 0
        liking += 20 if starts(self.given.who.id, person, self.given.situation.moment[:10], self.dice) else 0
        liking -= 12 * self.walking + 6 * mood.busy
        return liking + self.dice.steady().below(50, "meet", person.id, self.hour) - 18

    @cached_property
    def goal(self) -> GoalNote | None:
        """Returns the goal that it has with them and can settle here."""
        return meant_for(self.given.goals, self.person, self.now, self.here, self.given.who.home)

    @property
    def wrong(self) -> str:
        """Returns what stands between the two: `reproach` for what they did to me lately, `apologise` for a word I
        broke to them. Each comes up once."""
        past = self.given.pasts.get(self.person.id, NO_PAST)
        if not self.person.cold and open_hurt(past, self.person.id) is not None:
            return "reproach"
        return "apologise" if open_debt(past, self.person.id) is not None else ""

    @cached_property
    def fact(self) -> FactNote | None:
        """Returns news that they, as far as I know, have not heard: not from me, and it was not they who told me."""
        given, told = self.given, self.given.told.get(self.person.id, ())
        for note in given.facts:
            if note.id in told or (note.starts and note.starts <= given.situation.moment):
                continue
            carrying = [one.happening for one in given.recalled if note.id in one.facts]
            if carrying and not any(self.person.id in (one.who, one.to, *_noticed_with(one)) for one in carrying):
                return note
        return None

    @property
    def urgent(self) -> bool:
        """Tells whether something has begun within minutes, or lately without their knowing, that matters more than a
        greeting."""
        grave, fact = [one for one in self.given.so if is_grave(one)], self.fact
        return any(one.minutes_ago <= AT_ONCE or (fact is not None and fact.id == one.id) for one in grave)

    @property
    def sorry(self) -> bool:
        """Tells whether they told me of a trouble, not just now and not long ago."""
        return any(
            isinstance(one.happening, Said)
            and one.happening.who == self.person.id
            and 60 <= one.minutes_ago <= 24 * 60
            and remembered(one.happening, self.given.who.language).act == "complain"
            for one in self.given.recalled
        )

    @cached_property
    def topic(self) -> str:
        """Returns the subject that is on everybody's mind: an event that has begun, or something perceived lately."""
        for note in self.given.facts:
            if note.starts and 0 <= minutes_since(self.given.situation.moment, note) < LATELY:
                return event_name(note, self.spoken)
        if not self.dice.chance(CHANCES["meet.subject"], "subject"):
            return ""
        for memory in self.given.recalled:
            happening, is_late = memory.happening, memory.minutes_ago < LATELY
            if isinstance(happening, Befell) and is_late:
                return self.spoken.noun_phrase(memory.text) or self.rules.first("what_happened", {})
            word = occasion_word(self.rules, happening.doing)
            if isinstance(happening, Did) and word and is_late:
                return self.spoken.with_article(word)
        return ""

    @property
    def moved(self) -> bool:
        """Tells whether something important comes to mind that is not from them."""
        return any(one.importance >= 6 and one.happening.who != self.person.id for one in self.given.recalled)


def _noticed_with(happening: Happening) -> Sequence[str]:
    """Returns the people who were there when a circumstance began."""
    return happening.there.split() if isinstance(happening, Befell) and befallen(happening) else ()


class Meeting(OfNews):
    """Whom of those here the character most wants to speak to."""

    def __init__(self, given: ReactInput, dice: Dice, news: News, by: ChosenRow[Wish]) -> None:
        super().__init__(given, dice, news)
        self.by, self._wish, self._row = by, by.facts, by.row

    @classmethod
    def found(cls, given: ReactInput, dice: Dice) -> Iterator[Self]:
        moment, me = Moment(given, dice), given.who.id
        if (given.lines and given.lines[-1].speaker == me) or not (moment.opens or moment.bursting):
            return
        named = {news.who: news for news in given.news if news.who and news.kind in MEETINGS}
        others = (one for one in given.situation.people if one.id in named and one.free and not one.walking)
        chosen = ((named[one.id], found) for one in others if (found := WISHES.choose(given, dice, one)))
        meetings = [cls(given, dice, news, found) for news, found in chosen]
        yield from sorted(meetings, key=lambda one: (one.wish, one.person.id))[-1:]

    @property
    def person(self) -> Person:
        """Returns the person."""
        return self._wish.person

    @cached_property
    def wish(self) -> int:
        """Returns how much it wants to speak to them."""
        more = self._row.cells["wish"]
        return int(more) + (self._wish.liking if more.startswith("+") else 0)

    @property
    def purpose(self) -> str:
        """Returns the purpose."""
        return self._wish.filled(self._row.cells["purpose"])

    @property
    def why(self) -> str:
        """Returns the rule of the reason."""
        return self._wish.filled(self._row.cells["reason"])

    @property
    def goal(self) -> GoalNote | None:
        """Returns the goal that it has with them and can settle here."""
        return self._wish.goal

    @property
    def topic(self) -> str:
        """Returns the subject that is on everybody's mind."""
        return self._wish.topic


REACTIONS: RuleTable[Moment] = read_table("react", *(
    Discovery, Delivery, Disliked, Distress, Incident, Failure, Floor, Here, Lull, Meeting, Missed, Newcomer, Overheard,
    Remark, Sought, Thought, Rain,
))  # fmt: skip
PLANS: RuleTable[Moment] = read_table("plans", Absence, Barred, Discovery, Directed, Helped, Invited, Reminded, Settled)
WISHES = read_table("wish", Wish)


# ── what is asked for besides ────────────────────────────────────────────────────────────────────────────────────────


def _completed(answer: ReactOutput, given: ReactInput, dice: Dice) -> ReactOutput:
    """Returns the answer with what else the input asks for; the answer itself if it asks for nothing more."""
    if given.unrated:
        new = RateInput(
            who=given.who,
            texts=given.unrated,
            happenings=given.unrated_happenings,
            bearings=given.unrated_bearings,
        )
        ratings = rate(new, dice.with_("ratings")).ratings
        answer = answer.model_copy(update={"ratings": ratings})
    if given.targets is not None:
        answer = answer.model_copy(update={"act": _action(answer, given, given.targets, dice.with_("act"))})
    if given.speaks and answer.decision == "talk":
        answer = _spoken(answer, given, dice.with_("words"))
    return answer


def _spoken(answer: ReactOutput, given: ReactInput, dice: Dice) -> ReactOutput:
    """Returns the answer with words, which rest on what the line rests on; without words if these memories give nothing
    to say."""
    hearer = next((person for person in given.situation.people if person.id == answer.target), None)
    if hearer is None:
        return answer
    line = converse(_talk(answer, given, hearer), dice)
    if not line.utterance:
        return answer
    fields = ("utterance", "ends", "facts", "because", "speech_act", "topic")
    return answer.model_copy(update={name: getattr(line, name) for name in fields})


def _talk(answer: ReactOutput, given: ReactInput, hearer: Person) -> ConverseInput:
    return ConverseInput(
        who=given.who,
        situation=given.situation,
        hearer=hearer,
        purpose=answer.purpose,
        lines=given.lines or _overheard(given, hearer),
        recalled=_with_news(answer, given),
        facts=given.facts,
        said=given.said.get(hearer.id, ()),
        told=given.told.get(hearer.id, ()),
        now=given.now,
        later=given.later,
        past=given.pasts.get(hearer.id, NO_PAST),
        goals=given.goals,
        gathering=given.gathering,
    )


def _with_news(answer: ReactOutput, given: ReactInput) -> tuple[Recalled, ...]:
    """Returns the recalled memories after the news that the reaction rests on."""
    known = {memory.id for memory in given.recalled}
    fresh = (hearing(one) for one in given.news if one.memory_id in answer.because and one.memory_id not in known)
    return (*fresh, *given.recalled)


def _overheard(given: ReactInput, hearer: Person) -> tuple[Spoken, ...]:
    """Returns what the hearer has just said to others, if the character joins their talk."""
    return tuple(
        Spoken(speaker=said.who, called=hearer.called, text=said.quote, speech_act=said.speech_act, topic=said.topic)
        for said in (news.happening for news in given.news)
        if hearer.talk == "other" and isinstance(said, Said) and said.who == hearer.id and not said.to_me
    )


def _action(answer: ReactOutput, given: ReactInput, targets: KnownTargets, dice: Dice) -> ActOutput:
    """Returns the plan's next step; if a stroke begins now, a step towards it, and if the character waits, staying."""
    item, stroke = given.now, answer.stroke
    if stroke is not None and stroke.start == given.situation.time:
        item = _item(stroke)
        targets = _towards(targets, "" if stroke.location == given.situation.place.id else stroke.location)
    elif answer.decision == "wait" and targets.step == "MOVE":
        targets = _towards(targets, "")
    asked = ActInput(
        **dict(fields_of(targets)),
        who=given.who,
        situation=given.situation,
        item=item,
        reaction=answer.reason if answer.decision != "keep" else "",
        recalled=given.recalled,
    )
    return act(asked, dice)


def _towards(targets: KnownTargets, place: str) -> KnownTargets:
    """Returns the targets with a walk to the place as next step; without a place, an empty step."""
    kind = "MOVE" if place else "IDLE"
    return changed(targets, step=kind, step_target=place, step_verb="", step_doing="")


def _item(stroke: Stroke) -> ItemNote:
    return ItemNote(
        start=stroke.start,
        minutes=stroke.minutes,
        location=stroke.location,
        location_name=stroke.location,
        do=stroke.do,
        because=stroke.because,
    )
