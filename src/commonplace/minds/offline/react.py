"""React to what is new: keep the plan, talk, help, avoid, go; and what the news puts into the plan. And act.

`_CASES` lists the cases in order of urgency; the first that answers decides. An invitation is weighed as well, since
one may accept it while doing something else. What the input also asks for (ratings, words, the action) is answered
as the single question would be, from the reaction's own input.
"""

from __future__ import annotations

from collections.abc import Callable

from commonplace import rng
from commonplace.languages.language import language
from commonplace.minds.notes import NO_PAST, FactNote, GoalNote, Item, Person, Recalled, Spoken, changed, fields_of
from commonplace.minds.offline.account import open_debt, open_hurt
from commonplace.minds.offline.converse import WAITING, converse
from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.favours import directed, helped, looked_for, meant_for, reminded, settled, starts
from commonplace.minds.offline.gatherings import event_name, hearing, invitation
from commonplace.minds.offline.grammar import grammar, reason
from commonplace.minds.offline.hear import heard, remembered
from commonplace.minds.offline.incidents import distress, event, failure, weather
from commonplace.minds.offline.inner_voice import delivery, voice
from commonplace.minds.offline.rate import rate
from commonplace.minds.offline.sayings import occasion_word
from commonplace.minds.offline.scene import COLD
from commonplace.minds.offline.temper import Temper, temper
from commonplace.minds.offline.told import minutes_since
from commonplace.minds.tasks import (
    ActInput,
    ActOutput,
    ConverseInput,
    RateInput,
    ReactInput,
    ReactOutput,
    Stroke,
    Targets,
)
from commonplace.text import is_named
from commonplace.world.happenings import Befell, Did, Said

LATELY = 30 * 60
"""Minutes something remains the talk of the day."""
SPEAKS = 51
"""Score from which the character speaks to somebody."""
MEETINGS = frozenset({"arrived", "doing", "did", "said"})
"""Kinds of news about somebody to speak to."""
NODS = 80
"""Of a hundred farewells, those answered without a word."""
RESTS = frozenset({"acknowledge", "thank", "forgive"})
"""What a line does after which a talk has come to rest."""
THIRD = 60
"""Of a hundred talks at rest, those in which one turns to somebody who has been silent."""
TOLD = frozenset({"tell", "report", "complain", "rejoice", "intend"})
"""What a line does that a bystander may take up."""
NAMED = 25
"""What it adds to the wish to join a talk to be named in it."""
TABLE = 6
"""Of so many people in one place, one may open a talk at a time."""
MORE = 6
"""Lines beyond the length of a talk up to which a question is still answered."""
ASKS_AFTER = 70
"""Of a hundred who have come to see somebody and do not find them, those who ask after them."""
JUST_TALKED = 20
"""Minutes before two who have just talked talk again about what one of them has come for."""
CAN_WAIT = frozenset({"", "ask.topic"})
"""What one means to do with somebody for which nobody is interrupted: a visit, and a question."""
REST = 90
"""Minutes before two who have just talked talk again."""


def react(given: ReactInput, dice: Dice) -> ReactOutput:
    """The reaction, with a reason a person can read, and what is asked for in the same answer."""
    return _completed(_reaction(given, dice), given, dice)


def _reaction(given: ReactInput, dice: Dice) -> ReactOutput:
    is_called = any(news.kind in {"voice", "event"} for news in given.news) or _is_asked(given)
    if given.now is not None and given.now.asleep and not is_called:
        return ReactOutput(decision="keep", reason=reason(given.who.language, "asleep"))
    accepted = invitation(given, dice) or helped(given) or directed(given) or settled(given) or reminded(given, dice)
    for case in _CASES:
        answer = case(given, dice)
        if answer is not None:
            return _with(answer, accepted)
    if accepted is not None:
        return accepted
    return ReactOutput(decision="keep", reason=reason(given.who.language, "nothing"))


def _with(answer: ReactOutput, accepted: ReactOutput | None) -> ReactOutput:
    """The answer, with the stroke of an accepted invitation unless it brings its own."""
    if accepted is None or answer.stroke is not None:
        return answer
    if answer.decision == "keep":
        return accepted
    because = (*answer.because, *(one for one in accepted.because if one not in answer.because))
    why = f"{answer.reason}; {accepted.reason}" if answer.reason else accepted.reason
    return answer.model_copy(update={"stroke": accepted.stroke, "reason": why[:300], "because": because})


def act(given: ActInput, dice: Dice) -> ActOutput:  # noqa: ARG001 – the plan decides
    """The plan's next step, if it is a valid target; otherwise the current activity goes on."""
    doing = given.item.do if given.item else ""
    because = given.item.because if given.item else ()
    if given.step == "MOVE" and given.step_target in given.areas:
        return ActOutput(kind="MOVE", to_location_id=given.step_target, because=because)
    if given.step == "INTERACT" and given.step_verb in given.objects.get(given.step_target, ()):
        return ActOutput(
            kind="INTERACT", object_id=given.step_target, verb=given.step_verb, doing=doing, because=because
        )
    return ActOutput(kind="IDLE", doing="" if given.step == "IDLE" else doing, because=because)


# ── people ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _floor(given: ReactInput, dice: Dice) -> ReactOutput | None:
    """Spoken to: a reply, or a farewell when the talk has gone on long enough."""
    if not given.floor or not given.lines:
        return None
    last = given.lines[-1]
    person = next((one for one in given.situation.people if one.id == last.speaker), None)
    if person is None:
        return None
    because = tuple(
        one.memory_id for one in given.news if one.kind == "said" and one.who == person.id and one.memory_id
    )
    line = heard(last, given.who.language)
    if line.act == "farewell":
        return _answer_bye(given, person, because, dice)
    has_passed = not line.asks and not any(one.kind == "said" and one.who == person.id for one in given.news)
    enough = _length(given, person, dice)
    other = None if line.asks or has_passed else _other_word(given, person, enough, dice)
    if other is not None:
        return other.model_copy(update={"because": because})
    rests = line.act in RESTS and (len(given.lines) >= enough or (line.act == "acknowledge" and _nodded(given)))
    if rests or has_passed:
        return ReactOutput(decision="keep", reason=reason(given.who.language, "floor.over"), because=because)
    waits = line.asks or line.act.startswith(WAITING)
    purpose = "farewell" if len(given.lines) >= enough + MORE * waits else "reply"
    kind = "enough" if purpose == "farewell" else "asked" if line.asks else "spoken"
    why = reason(given.who.language, f"floor.{kind}", x=person.called)
    return ReactOutput(decision="talk", target=person.id, purpose=purpose, reason=why, because=because)


def _other_word(given: ReactInput, person: Person, enough: int, dice: Dice) -> ReactOutput | None:
    """Instead of a reply: what one has meant to say to the speaker, or a word to somebody left out."""
    goal = meant_for(given.goals, person, given.now, given.situation.place.id, given.who.home)
    act = heard(given.lines[-1], given.who.language).act
    if goal is not None and len(given.lines) > 1 and act in {*RESTS, "answer"}:
        why = reason(given.who.language, "meet.goal", x=person.called, do=goal.text)
        return ReactOutput(decision="talk", target=person.id, purpose="goal", reason=why)
    third = _left_out(given, person) if act in RESTS else None
    if third is None or len(given.lines) >= enough or not dice.chance(THIRD, "third"):
        return None
    why = reason(given.who.language, "floor.third", x=third.called)
    return ReactOutput(decision="talk", target=third.id, purpose="turn", reason=why)


def _is_asked(given: ReactInput) -> bool:
    """Whether the last line of my talk is a question to me."""
    return given.floor and bool(given.lines) and heard(given.lines[-1], given.who.language).asks


def _nodded(given: ReactInput) -> bool:
    """Whether my own last line was a mere nod."""
    mine = [line for line in given.lines if line.speaker == given.who.id]
    return bool(mine) and heard(mine[-1], given.who.language).act == "acknowledge"


def _left_out(given: ReactInput, speaker: Person) -> Person | None:
    """Of a talk of three or more, who has been silent longest besides me and the last speaker."""
    others = [
        one for one in given.situation.people if one.talk == "mine" and one is not speaker and one.can_be_spoken_to
    ]
    spoke = {line.speaker: number for number, line in enumerate(given.lines)}
    return min(others, key=lambda one: (spoke.get(one.id, -1), one.id), default=None)


def _answer_bye(given: ReactInput, person: Person, because: tuple[int, ...], dice: Dice) -> ReactOutput:
    """A farewell in return, unless I have taken leave already or a nod is enough."""
    mine = [line for line in given.lines if line.speaker == given.who.id]
    has_left = bool(mine) and heard(mine[-1], given.who.language).act == "farewell"
    if has_left or dice.steady().chance(NODS, "bye", given.lines[0].text):
        return ReactOutput(decision="keep", reason=reason(given.who.language, "bye.said"), because=because)
    why = reason(given.who.language, "bye", x=person.called)
    return ReactOutput(decision="talk", target=person.id, purpose="farewell", reason=why, because=because)


def _length(given: ReactInput, person: Person, dice: Dice) -> int:
    """After how many lines to take leave: 3 among strangers at work, 8 among talkative friends, more in a group."""
    mood = temper(given.who)
    wanted = 5 + mood.sociable + (person.warmth > 40) - (person.warmth < 0) - (2 if person.warmth < COLD else 0)
    wanted -= 1 if _is_busy(given, mood) else 0
    others = sum(1 for one in given.situation.people if one.talk == "mine" and one is not person)
    return max(3, min(8, wanted + dice.steady().below(3, "length", given.lines[0].text) - 1)) + others


def _is_busy(given: ReactInput, mood: Temper) -> bool:
    return given.now is not None and (mood.busy > 0 or given.now.object_id != "")


def _avoidance(given: ReactInput, dice: Dice) -> ReactOutput | None:
    """Somebody the character dislikes is here: whoever came last leaves, unless work or home keeps them there."""
    arrived = {news.who: news for news in given.news if news.kind in {"arrived", "doing"} and news.who}
    for person in given.situation.people:
        news = arrived.get(person.id)
        if person.warmth >= COLD or news is None or person.asleep:
            continue
        because = (news.memory_id,) if news.memory_id else ()
        why = reason(given.who.language, "avoid", x=person.called)
        at_home = given.situation.place.id == given.who.home
        held = given.now is not None and bool(given.now.object_id or given.now.because)
        if news.kind == "arrived" or at_home or held or not dice.steady().chance(45, "avoid", person.id, _hour(given)):
            return ReactOutput(decision="avoid", target=person.id, reason=why, because=because)
        do = grammar(given.who.language).say("avoid.do", {"x": person.called}, dice)
        stroke = Stroke(start=given.situation.time, minutes=20, location=given.who.home, do=do, because=because)
        return ReactOutput(decision="avoid", target=person.id, stroke=stroke, reason=why, because=because)
    return None


def _hour(given: ReactInput) -> str:
    return f"{given.situation.day}.{given.situation.time[:2]}"


def _meeting(given: ReactInput, dice: Dice) -> ReactOutput | None:
    """Speak to the person here whom the character most wants to speak to, if any."""
    if given.lines and given.lines[-1].speaker == given.who.id:
        return None
    if not _opens(given, dice):
        return None
    named = {news.who: news for news in given.news if news.who and news.kind in MEETINGS}
    wishes = [
        (score, person.id, purpose, why)
        for person in given.situation.people
        if person.id in named and _is_free(person) and not person.walking
        for score, purpose, why in (_wish(given, person, dice),)
    ]
    if not wishes or max(wishes)[0] < SPEAKS:
        return None
    _, other, purpose, why = max(wishes)
    because = (named[other].memory_id,) if named[other].memory_id else ()
    return ReactOutput(decision="talk", target=other, purpose=purpose, reason=why, because=because)


def _remark(given: ReactInput, dice: Dice) -> ReactOutput | None:
    """A word on an event that is nothing to act upon, to whom the character likes best of those free here."""
    news = next((one for one in given.news if one.kind == "event" and not one.facts), None)
    free = [person for person in given.situation.people if _is_free(person) and person.warmth >= 0]
    if news is None or given.lines or not free or not _opens(given, dice):
        return None
    person = max(free, key=lambda one: (one.warmth, one.id))
    why = reason(given.who.language, "remark", x=person.called)
    because = (news.memory_id,) if news.memory_id else ()
    return ReactOutput(decision="talk", target=person.id, purpose="tell", reason=why, because=because)


def _joining(given: ReactInput, dice: Dice) -> ReactOutput | None:
    """Join a talk going on here at something just told in it, if the character likes company or the teller."""
    if given.lines or given.now is None or _on_the_way(given) or not _opens(given, dice):
        return None
    people = {one.id: one for one in given.situation.people if one.talk == "other" and one.can_be_spoken_to}
    for news in given.news:
        person = people.get(news.who)
        if person is None or news.kind != "said" or news.to_me or person.warmth < COLD:
            continue
        named = is_named(given.who.called, news.happening.quote)
        line, mood = remembered(news.happening, given.who.language), temper(given.who)
        if line.asks or line.act.partition(".")[0] not in TOLD or (0 <= person.minutes_since_talk < REST and not named):
            continue
        score = 12 + person.warmth // 3 + 9 * mood.sociable - 6 * mood.busy + NAMED * named
        if score + dice.steady().below(50, "join", person.id, _hour(given)) >= SPEAKS:
            why = reason(given.who.language, "join.named" if named else "join", x=person.called)
            because = (news.memory_id,) if news.memory_id else ()
            return ReactOutput(decision="talk", target=person.id, purpose="join", reason=why, because=because)
    return None


def _is_free(person: Person) -> bool:
    """Whether somebody is awake, may be spoken to and is in nobody else's talk."""
    return person.can_be_spoken_to and not person.asleep and person.talk != "other"


def _wish(given: ReactInput, person: Person, dice: Dice) -> tuple[int, str, str]:
    """How much the character wants to speak to somebody now, what for and why."""
    since = person.minutes_since_talk
    mood, name = temper(given.who), given.who.language
    meant = _meant(given, person)
    if meant is not None:
        return meant
    if 0 <= since < REST or person.warmth < COLD:
        return 0, "", ""
    note = _untold(given, person)
    score = 20 + person.warmth // 3 + (20 if since < 0 else min(12, since // 60))
    score += (9 if mood.sociable > 0 else 5) * mood.sociable  # the reserved speak less, not to nobody
    score += 8 if person.label else 0
    score += 20 if starts(given.who.id, person, given.situation.moment[:10], dice) else 0
    score -= 12 if _on_the_way(given) else 0
    score -= 6 * mood.busy
    score += dice.steady().below(50, "meet", person.id, _hour(given)) - 18
    if note is not None:
        return score + 26, "invite" if note.starts else "tell", reason(name, "meet.news", x=person.called)
    if _is_sorry_for(given, person):
        return score + 18, "comfort", reason(name, "meet.comfort", x=person.called)
    subject = _talk_of_the_day(given, dice)
    if subject:
        return score + 12, "tell", reason(name, "meet.subject", x=person.called, topic=subject)
    if any(memory.importance >= 6 and memory.happening.who != person.id for memory in given.recalled):
        score += 6
    return score, "greet", reason(name, "meet.like" if person.warmth >= 20 else "meet", x=person.called)


def _meant(given: ReactInput, person: Person) -> tuple[int, str, str] | None:
    """What the character means to say to somebody, or what stands between the two."""
    since, name = person.minutes_since_talk, given.who.language
    goal = meant_for(given.goals, person, given.now, given.situation.place.id, given.who.home)
    if goal is not None and not 0 <= since < JUST_TALKED:
        return SPEAKS + 15, _purpose(goal), reason(name, "meet.goal", x=person.called, do=goal.text)
    if 0 <= since < REST or person.warmth < COLD or not (wrong := _wrong(given, person)):
        return None
    return SPEAKS + 20, wrong, reason(name, f"meet.{wrong}", x=person.called)


def _purpose(goal: GoalNote) -> str:
    return goal.act if goal.act in {"reproach", "apologise"} else "goal"


def _sought(given: ReactInput, dice: Dice) -> ReactOutput | None:
    """A word with somebody one has come to see."""
    if given.lines or given.now is None:
        return None
    for person in given.situation.people:
        goal = meant_for(given.goals, person, given.now, given.situation.place.id, given.who.home)
        if goal is None or not person.can_be_spoken_to or person.asleep or 0 <= person.minutes_since_talk < JUST_TALKED:
            continue
        if goal.act in CAN_WAIT and not (_is_free(person) and _opens(given, dice)):
            continue
        if not set(given.now.because).isdisjoint(goal.because) and not _would_interrupt(given, person):
            why = reason(given.who.language, "meet.goal", x=person.called, do=goal.text)
            return ReactOutput(
                decision="talk",
                target=person.id,
                purpose=_purpose(goal) if _is_free(person) else "goal",
                reason=why,
                because=goal.because[-1:],
            )
    return None


def _looks_for(given: ReactInput, dice: Dice) -> ReactOutput | None:
    """A question to somebody here about the one whom one has come to see and who is not here."""
    place, people = given.situation.place.id, given.situation.people
    goal = None if given.lines else looked_for(given.goals, given.now, place, people)
    if goal is None or not dice.steady().chance(ASKS_AFTER, "after", goal.id, _hour(given)) or not _opens(given, dice):
        return None
    free = [one for one in people if _is_free(one) and one.warmth >= 0 and not one.talk]
    free = [one for one in free if not 0 <= one.minutes_since_talk < JUST_TALKED and not one.walking]
    if not free:
        return None
    person = max(free, key=lambda one: (one.warmth, one.id))
    why = reason(given.who.language, "looks", x=goal.called)
    return ReactOutput(decision="talk", target=person.id, purpose="seek", reason=why, because=goal.because[-1:])


def _would_interrupt(given: ReactInput, person: Person) -> bool:
    """Whether somebody is in a talk with others that has not come to rest."""
    acts = [remembered(one.happening, given.who.language).act for one in given.news if one.kind == "said"]
    return person.talk == "other" and bool(acts) and RESTS.isdisjoint(acts)


def _wrong(given: ReactInput, person: Person) -> str:
    """What stands between the two: `reproach` for what they did to me lately, `apologise` for a word I broke to them.

    Each is spoken of once."""
    past = given.pasts.get(person.id, NO_PAST)
    if person.warmth >= COLD and open_hurt(past, person.id) is not None:
        return "reproach"
    return "apologise" if open_debt(past, person.id) is not None else ""


def _talk_of_the_day(given: ReactInput, dice: Dice) -> str:
    """What has happened lately and is on everybody's mind: an event that has begun, or something perceived."""
    for note in given.facts:
        if note.starts and 0 <= minutes_since(given.situation.moment, note) < LATELY:
            return event_name(note, language(given.who.language))
    if not dice.chance(60, "subject"):
        return ""
    rules = grammar(given.who.language)
    for memory in given.recalled:
        if isinstance(memory.happening, Befell) and memory.minutes_ago < LATELY:
            return rules.language.noun_phrase(memory.text) or rules.first("what_happened", {})
        word = occasion_word(rules, memory.happening.doing)
        if isinstance(memory.happening, Did) and word and memory.minutes_ago < LATELY:
            return rules.language.with_article(word)
    return ""


def _opens(given: ReactInput, dice: Dice) -> bool:
    """Whether I am one of the few, of those awake and free here, who may open a talk now: the same answer for all, so
    that people do not speak at once. There is one for each `TABLE` people, and others with every tick."""
    here = sorted([given.who.id, *(one.id for one in given.situation.people if _is_free(one) and not one.talk)])
    place, moment = given.situation.place.id, given.situation.moment
    if len(here) <= TABLE:
        return here[rng.below(len(here), dice.key[0], "opens", place, moment)] == given.who.id
    return given.who.id in rng.shuffled(here, dice.key[0], "opens", place, moment)[: -(-len(here) // TABLE)]


def _untold(given: ReactInput, person: Person) -> FactNote | None:
    """News I carry that this person, as far as I know, has not heard: not from me, and it was not they who told me."""
    told = given.told.get(person.id, ())
    for note in given.facts:
        if note.id in told or (note.starts and note.starts <= given.situation.moment):
            continue
        carrying = [memory for memory in given.recalled if note.id in memory.facts]
        if carrying and not any(_shared(memory, person) for memory in carrying):
            return note
    return None


def _shared(memory: Recalled, person: Person) -> bool:
    return person.id in (memory.happening.who, memory.happening.to)


def _is_sorry_for(given: ReactInput, person: Person) -> bool:
    """Whether the person told me of a trouble, not just now and not long ago."""
    return any(
        isinstance(memory.happening, Said)
        and memory.happening.who == person.id
        and 60 <= memory.minutes_ago <= 24 * 60
        and remembered(memory.happening, given.who.language).act == "complain"
        for memory in given.recalled
    )


def _on_the_way(given: ReactInput) -> bool:
    return given.now is not None and given.now.location != given.situation.place.id


Case = Callable[[ReactInput, Dice], ReactOutput | None]

_CASES: tuple[Case, ...] = (
    voice,
    event,
    _floor,
    distress,
    weather,
    delivery,
    _avoidance,
    failure,
    _sought,
    _looks_for,
    _remark,
    _meeting,
    _joining,
)


# ── what is asked for besides ────────────────────────────────────────────────────────────────────────────────────────


def _completed(answer: ReactOutput, given: ReactInput, dice: Dice) -> ReactOutput:
    """The answer and what the input asks for with it; the answer as it is when it asks for nothing more."""
    if given.unrated:
        new = RateInput(who=given.who, texts=given.unrated, happenings=given.unrated_happenings)
        ratings = rate(new, dice.with_("ratings")).ratings
        answer = answer.model_copy(update={"ratings": ratings})
    if given.targets is not None:
        answer = answer.model_copy(update={"act": _action(answer, given, given.targets, dice.with_("act"))})
    if given.speaks and answer.decision == "talk":
        answer = _spoken(answer, given, dice.with_("words"))
    return answer


def _spoken(answer: ReactOutput, given: ReactInput, dice: Dice) -> ReactOutput:
    """With the words, resting on what the line rests on; left open when these memories give nothing to say."""
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
    )


def _with_news(answer: ReactOutput, given: ReactInput) -> tuple[Recalled, ...]:
    """What is recalled, after the news that the reaction rests on."""
    known = {memory.id for memory in given.recalled}
    fresh = (hearing(one) for one in given.news if one.memory_id in answer.because and one.memory_id not in known)
    return (*fresh, *given.recalled)


def _overheard(given: ReactInput, hearer: Person) -> tuple[Spoken, ...]:
    """What the hearer has just said to others, where the character joins their talk."""
    return tuple(
        Spoken(speaker=said.who, called=hearer.called, text=said.quote, speech_act=said.speech_act, topic=said.topic)
        for said in (news.happening for news in given.news)
        if hearer.talk == "other" and isinstance(said, Said) and said.who == hearer.id and not said.to_me
    )


def _action(answer: ReactOutput, given: ReactInput, targets: Targets, dice: Dice) -> ActOutput:
    """The plan's next step; where a stroke that begins now leads, or staying where one waits."""
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


def _towards(targets: Targets, place: str) -> Targets:
    """The targets with a walk to the place as next step; with none, empty."""
    kind = "MOVE" if place else "IDLE"
    return changed(targets, step=kind, step_target=place, step_verb="", step_doing="")


def _item(stroke: Stroke) -> Item:
    return Item(
        start=stroke.start,
        minutes=stroke.minutes,
        location=stroke.location,
        location_name=stroke.location,
        do=stroke.do,
        because=stroke.because,
    )
