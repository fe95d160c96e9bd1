"""One line of talk: which memory it rests on, and the words around it.

The speaker opens a talk, carries it on, replies or takes leave. A line cites the memories it is made of; without them
it would be another line, or none. With its words come the act they perform and their topic.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Self, cast

from commonplace import rng
from commonplace.minds.mind import Decided
from commonplace.minds.notes import AT_ONCE, COLD, FactNote, Person, Recalled
from commonplace.minds.offline.account import has_asked, open_debt, open_hurt, times_heard
from commonplace.minds.offline.answers import A_WORD, answer_question, is_on_topic, news_reply
from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.favours import SETTLES, favour_reply, goal_sayings, looked_for
from commonplace.minds.offline.gatherings import event_name, goes_to, has_said_yes, moment_minutes
from commonplace.minds.offline.hear import Heard, refuses, remembered
from commonplace.minds.offline.incidents import befallen
from commonplace.minds.offline.inner_voice import thought_aloud
from commonplace.minds.offline.perceive_event import EVENTS, FAR, event_kind
from commonplace.minds.offline.rows import Facts, read_table
from commonplace.minds.offline.sayings import (
    Saying,
    sayings,
    worded,
)  # fmt: skip
from commonplace.minds.offline.scene import CLOSE, Line, Scene, scene_of
from commonplace.minds.tasks import ConverseInput, ConverseOutput
from commonplace.text import is_named
from commonplace.world.circumstances import subject_of
from commonplace.world.happenings import NOTHING_KNOWN, Befell, Planned, Said

TRIES = 6
"""Wordings tried before the speaker stays silent."""
LONGEST = 380
"""Characters of a spoken line; the task's own limit is a little higher."""


def decide(given: ConverseInput, dice: Dice) -> Decided:
    """What to say now, and the row that decided; an empty utterance when nothing remembered gives anything to say."""
    scene = scene_of(given, dice)
    options = [*goal_sayings(scene), *sayings(scene)]
    account: Mapping[str, Any] = {}
    for attempt in range(TRIES):
        choice = TALK.choose(scene.again(attempt), options)
        assert choice is not None, "the last row of talk.txt always holds"
        account = choice.account()
        line = choice.facts.line(choice.row.cells["says"])
        if line is None:
            break
        text = _trimmed(scene.language.finished(line.text))
        if scene.fresh(text):
            said = ConverseOutput(
                utterance=text,
                ends=line.ends,
                because=_with_twins(given.recalled, line.ids),
                facts=line.facts,
                speech_act=line.act,
                topic=line.topic[:60],
            )
            return Decided(said, account)
    return Decided(ConverseOutput(utterance="", ends=True), account)


def converse(given: ConverseInput, dice: Dice) -> ConverseOutput:
    """What to say now."""
    return cast("ConverseOutput", decide(given, dice).value)


class Talk(Facts):
    """One has to say something to the hearer."""

    def __init__(self, scene: Scene, options: list[Saying]) -> None:
        self._scene, self._options = scene, options

    @classmethod
    def found(cls, scene: Scene, options: list[Saying]) -> Iterator[Self]:
        yield cls(scene, options)

    def line(self, says: str) -> Line | None:
        """The line of a row; `ends` after its name closes the talk where one means to take leave."""
        name, _, ends = says.partition(" ")
        line = getattr(self, name)
        return replace(line, ends=True) if line is not None and ends and self.purpose == "farewell" else line

    @property
    def hearer(self) -> Person:
        """To whom."""
        return self._scene.you

    @property
    def purpose(self) -> str:
        """What for: `greet`, `tell`, `reply`, `farewell` …"""
        return self._scene.talk.purpose

    @property
    def heard(self) -> Heard:
        """The line to answer: what it does (`heard.act`), whether it asks, what it is about."""
        return self._scene.heard

    @property
    def spoken_to(self) -> bool:
        """Whether there is a line to answer."""
        return bool(self._scene.last)

    @property
    def waited_for(self) -> bool:
        """Whether the line wants an answer before anything new is said."""
        return self.heard.asks or self.heard.act.startswith((*WAITING, *ANSWERED_FIRST))

    @property
    def waits(self) -> bool:
        """Whether it is a line that nobody leaves without a word to."""
        return self.heard.asks or self.heard.act.startswith(WAITING)

    @cached_property
    def memory(self) -> Recalled | None:
        """The memory of hearing the line."""
        return _heard_memory(self._scene)

    @cached_property
    def breaking(self) -> Line | None:
        """A word about what has just happened."""
        return _breaking(self._scene, self._options)

    @cached_property
    def thought(self) -> Line | None:
        """What a thought of today wanted said to the hearer."""
        return thought_aloud(self._scene)

    @cached_property
    def turned(self) -> Line | None:
        """A word to somebody in the same talk who has been silent."""
        return _turned(self._scene, self._options)

    @cached_property
    def meant(self) -> Line | None:
        """What one has come to say to the hearer."""
        return _meant(self._scene, self._options)

    @cached_property
    def missed(self) -> Line | None:
        """Something of one's own, after a word on having missed what was said."""
        body = worded(self._scene, self._options[0]) if self._options else None
        lost = self._scene.say("lost") if self.purpose == "reply" and self.heard.asks else ""
        return body.led_by(lost) if body else None

    @cached_property
    def leave(self) -> Line | None:
        """The end of a talk."""
        return _leave(self._scene, self.memory if self.spoken_to else None)

    @cached_property
    def snub(self) -> Line | None:
        """A short word to somebody disliked."""
        return _snub(self._scene, self.memory) if self.memory else None

    @cached_property
    def joined(self) -> Line | None:
        """What one who has overheard the line has to tell on its subject, or says on being named in it."""
        return _joined(self._scene, self._options)

    @cached_property
    def ruled(self) -> Line | None:
        """What the scenario's rules let one say to the line, and the hearer has not heard."""
        given = self._scene.talk.lines[-1].rules if self.memory else ()
        text = _authors(self._scene, given, self._scene.last)
        act = "ask.more" if text.endswith("?") else "acknowledge"
        return Line(text, (self.memory.id,), act, self.heard.topic) if self.memory and text else None

    @cached_property
    def favour(self) -> Line | None:
        """The answer to what is asked, promised, brought or forgiven."""
        return favour_reply(self._scene, self.memory) if self.memory else None

    @cached_property
    def answers_me(self) -> bool:
        """Whether the line answers my news of an event, or my invitation."""
        return _answers_me(self._scene)

    @cached_property
    def news(self) -> Line | None:
        """What one says to news that is followed."""
        return news_reply(self._scene, self.memory) if self.memory and self.memory.facts else None

    @cached_property
    def rsvp(self) -> Line | None:
        """What one says to a yes, a no or a maybe."""
        return _rsvp(self._scene, self.memory, self._options) if self.memory else None

    @property
    def questioned(self) -> bool:
        """Whether the line is a question that wants an answer, not one with which an author's line ends."""
        line = self._scene.talk.lines[-1] if self._scene.talk.lines else None
        return self.heard.asks and not (self.heard.act in TOLD_AS_QUESTIONS and line is not None and line.replies)

    @cached_property
    def authors(self) -> Line | None:
        """What the author gave to say to a question about what I told."""
        return _answer(self._scene, self.memory) if self.memory else None

    @cached_property
    def answer(self) -> Line | None:
        """The answer to a question, from what is remembered."""
        return answer_question(self._scene, self.memory, self._options) if self.memory else None

    @cached_property
    def greeting(self) -> Line | None:
        """A greeting in return, and something of one's own."""
        scene = self._scene
        rule = "react.greet_stranger" if scene.with_stranger else "react.greet"
        greeting = scene.line(rule, self.memory.id) if self.memory else None
        return greeting and greeting.then(scene.aside(_own(scene, self._options)[0]))

    @property
    def nod(self) -> bool:
        """Whether the line says hardly more than a nod, in a talk that has begun."""
        is_short = self._scene.language.length(self._scene.last) < SHORT_ANSWER
        is_nod = self.heard.act in {"acknowledge", "thank"} or (self.heard.act == "answer" and is_short)
        return is_nod and len(self._scene.talk.lines) > 1

    @cached_property
    def goes_on(self) -> Line | None:
        """After a mere nod: something on the subject or another, else the end."""
        return _carry_on(self._scene, self.memory, self._options) if self.memory else None

    @cached_property
    def taken_up(self) -> Line | None:
        """A word on what was told, something of one's own on the subject, a question about it, or two of these."""
        return _taken_up(self._scene, self.memory, self._options) if self.memory else None

    @cached_property
    def comfort(self) -> Line | None:
        """A word about the hearer's trouble."""
        return _comfort(self._scene)

    @cached_property
    def reproach(self) -> Line | None:
        """A word about what the hearer did to me."""
        return _reproach(self._scene)

    @cached_property
    def apology(self) -> Line | None:
        """For a word I broke to the hearer."""
        return _apology(self._scene)

    @cached_property
    def sought(self) -> Line | None:
        """A question about the one whom the speaker has come to see and who is not here."""
        return _sought(self._scene)

    @cached_property
    def opening(self) -> Line | None:
        """A greeting, and something remembered."""
        return _opening(self._scene, self._options)


def _breaking(scene: Scene, options: list[Saying]) -> Line | None:
    """A word about what has just happened, unless it is what the two are speaking of."""
    for memory in scene.talk.recalled:
        befell = memory.happening
        so = befallen(befell)
        if not isinstance(befell, Befell) or memory.minutes_ago > AT_ONCE or (memory.facts and not so):
            continue
        if so:
            return _at_once(scene, memory, so)
        text, author = befell.text, befell.topic
        topic = scene.language.with_article(author) or scene.language.noun_phrase(text)
        if topic in (scene.my_topic, scene.heard.topic) or scene.you.warmth < COLD:
            return None
        here = scene.talk.situation.place.id
        text = _authors(scene, memory.tell, f"{memory.text} {here}") if _saw_it_too(scene, befell) else ""
        if text:
            return Line(text, (memory.id,), "tell.noticed", topic)
        rule = scene.suited("now", event_kind(scene.rules, text, (*FAR, *EVENTS)))
        if author and rule in {"now", "now.wonder", "now.bright"}:
            rule = "now.topic"
            own = next((option for option in options if memory.id in option.ids), None)
            if own is not None and (told := worded(scene, own)) is not None:
                return told
        line = scene.line(rule, memory.id, about=topic, topic=topic, x=memory.happening.place_name)
        return replace(line, topic=topic) if line.text else None
    return None


def _at_once(scene: Scene, memory: Recalled, so: str) -> Line | None:
    """What is said there and then of what has become so, or is over: by the one it is of, to that one, or by one who
    noticed it to another."""
    kind, of = subject_of(so)
    topic = scene.language.noun_phrase(memory.text)
    part = "struck" if scene.me.id == of else "over" if not memory.tell else "to" if scene.you.id == of else ""
    line = scene.line(f"now.so.{part}.{kind}", memory.id, about=topic, topic=topic) if part else Line("")
    if line.text or part in ("struck", "over"):
        return line if line.text else None
    text = _authors(scene, memory.tell, f"{memory.text} {scene.talk.situation.place.id}")
    return Line(text, (memory.id,), "tell.noticed", topic) if text else None


def _saw_it_too(scene: Scene, befell: Befell) -> bool:
    """Whether the hearer noticed what I remember of an event."""
    return not befell.areas or scene.you.id in befell.there.split()


def _with_twins(recalled: Sequence[Recalled], ids: tuple[int, ...]) -> tuple[int, ...]:
    """The cited memories and any that say the same in the same words: the line rests on each of them."""
    texts = {memory.text for memory in recalled if memory.id in ids}
    return (*ids, *(memory.id for memory in recalled if memory.text in texts and memory.id not in ids))


def _trimmed(text: str) -> str:
    """Within the limit, cut after a sentence."""
    while len(text) > LONGEST:
        cut = max(text.rfind(mark, 0, len(text) - 1) for mark in (". ", "! ", "? "))
        text = text[: cut + 1] if cut > 0 else text[:LONGEST]
    return text


# ── opening ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _opening(scene: Scene, options: list[Saying]) -> Line | None:
    """A greeting, and something remembered: of the hearer rather than of others."""
    saying, body = _first_choice(scene, options)
    if saying is None or body is None:
        return None if scene.mine else _plain_greeting(scene)
    if scene.mine:
        return scene.led(body, "turn", saying.ids[0]) if scene.dice.chance(50, "turn") else scene.aside(body)
    is_grave = saying.rule == "core.so" and body.act != "rejoice"
    greeting = scene.line("greet.grave") if is_grave else _greeting(scene)
    return greeting.then(body).then(_invitation(scene, saying))


def _meant(scene: Scene, options: list[Saying]) -> Line | None:
    """What one has come to say to the hearer."""
    body = next((worded(scene, option) for option in options if option.weight >= SETTLES), None)
    if body is None:
        return None
    if scene.last and scene.heard.act in NODS:
        return _after_nod(scene, body)
    return scene.aside(body) if scene.last or scene.mine else _greeting(scene).then(body)


def _invitation(scene: Scene, saying: Saying) -> Line | None:
    """The news of an event the speaker goes to, with an invitation for somebody the speaker likes."""
    note = next((scene.notes[name] for name in saying.facts), None)
    if note is None or not goes_to(scene.talk, note) or has_said_yes(scene.talk, note) or scene.you.warmth < 0:
        return None
    return Line(scene.say("invite.tail", note.id), act="invite")


def _first_choice(scene: Scene, options: list[Saying]) -> tuple[Saying | None, Line | None]:
    """The saying to open with and its words: a draw by weights that depend on purpose and relation."""
    return _first_worded(scene, options, [_pull(scene, saying) + scene.spread(30, saying.ids[0]) for saying in options])


def _first_worded(scene: Scene, options: list[Saying], pulls: list[int]) -> tuple[Saying | None, Line | None]:
    """The saying with the strongest pull for which there are words that the hearer has not heard yet, with them."""
    for _, index in sorted((-pull, index) for index, pull in enumerate(pulls)):
        body = worded(scene, options[index])
        if body is not None:
            return options[index], body
    return None, None


def _pull(scene: Scene, saying: Saying) -> int:
    pull, purpose = saying.weight, scene.talk.purpose
    if saying.asks and saying.rule not in IN_PASSING and purpose in {"greet", "ask"}:
        pull += 25 if not scene.mine else 0
    if purpose in {"tell", "invite"} and saying.facts:
        pull += 100
    if scene.with_stranger and saying.rule in {"core.tell", "core.insight"}:
        pull -= 30
    return pull


def _greeting(scene: Scene) -> Line:
    """By the hour, the time since the last talk, and what the two are to each other."""
    you, part = scene.you, scene.talk.situation.part_of_day
    if you.warmth < COLD:
        return scene.line("greet.cold")
    if scene.with_stranger:
        return scene.line("greet.stranger")
    if 0 <= you.minutes_since_talk < 9 * 60:
        return scene.line("greet.again")
    if you.warmth >= CLOSE and scene.dice.chance(20, "friend"):
        return scene.line("greet.friend")
    greeting = scene.line(f"greet.{'morning' if part == 'dawn' else part}")
    return greeting if greeting.text else scene.line("greet.midday")


def _plain_greeting(scene: Scene) -> Line | None:
    """With nothing to tell: a greeting and a question, if the speaker remembers the hearer at all."""
    about = [one for one in scene.talk.recalled if scene.you.id in (one.happening.who, one.happening.to)]
    if not about:
        return None
    greeting = Line("", tuple(memory.id for memory in about)).then(_greeting(scene))
    if scene.you.warmth < COLD:
        return greeting
    asks_how = scene.dice.chance(50, "well") and "?" not in greeting.text
    return greeting.then(scene.line("ask.well" if asks_how else "ask.doing"))


def _comfort(scene: Scene) -> Line | None:
    """A word about the hearer's trouble, as the hearer told it."""
    for memory in scene.talk.recalled:
        if isinstance(memory.happening, Said) and memory.happening.who == scene.you.id:
            line = remembered(memory.happening, scene.me.language)
            if line.act == "complain":
                topic = line.topic if scene.language.may_be_yours(line.topic) else ""
                return scene.line("comfort", memory.id, about=line.topic, topic=topic, when=scene.as_told(memory).when)
    return None


def _turned(scene: Scene, options: list[Saying]) -> Line | None:
    """A word to somebody in the same talk who has been silent, once it has come to rest: a question about something of
    theirs, or something to tell that goes with what was spoken of; no words without either."""
    asking = _first_choice(scene, [option for option in options if option.asks and option.rule in OF_THEIRS])[1]
    if asking is not None:
        return asking.led_by(scene.say("turn.ask"))
    return _first_choice(scene, [option for option in options if not option.asks and is_on_topic(scene, option)])[1]


def _joined(scene: Scene, options: list[Saying]) -> Line | None:
    """What somebody who has overheard a line has to tell on its subject, or says on being named in it; no words
    without either."""
    own, memory = _on_subject(scene, options), _heard_memory(scene)
    told = worded(scene, own) if own is not None else None
    if memory is None or not is_named(scene.me.called, scene.last):
        return told
    return scene.line("join.named", memory.id, about=scene.heard.topic).then(told)


def _sought(scene: Scene) -> Line | None:
    """A question about the one whom the speaker has come to see and who is not here."""
    talk = scene.talk
    goal = looked_for(talk.goals, talk.now, talk.situation.place.id, talk.situation.people)
    if goal is None:
        return None
    return _greeting(scene).then(scene.line("ask.seen", *goal.because[-1:], about=goal.called, x=goal.called))


def _reproach(scene: Scene) -> Line | None:
    """A word about what the hearer did to me."""
    hurt = open_hurt(scene.talk.past, scene.you.id)
    if hurt is None:
        return None
    rule, event = f"reproach.{hurt.act}", _event_of(scene, hurt.topic)
    if hurt.named and hurt.act == "broke_word":
        rule = "reproach.word"
    line = scene.line(rule, *hurt.because, about=hurt.topic, event=event, topic=hurt.named)
    return _greeting(scene).then(line)


def _apology(scene: Scene) -> Line | None:
    """For a word I broke to the hearer."""
    broke = open_debt(scene.talk.past, scene.you.id)
    if broke is None:
        return None
    rule, event = "apology.word" if broke.named else "apology", _event_of(scene, broke.topic)
    line = scene.line(rule, *broke.because, about=broke.topic, event=event, topic=broke.named)
    return _greeting(scene).then(line)


def _event_of(scene: Scene, fact: str) -> str:
    note = scene.notes.get(fact)
    return event_name(note, scene.language) if note else ""


# ── replying ─────────────────────────────────────────────────────────────────────────────────────────────────────────


IN_PASSING = frozenset({"ask.now", "ask.saw"})
"""Rules for a question about what the hearer was seen doing."""
OF_THEIRS = frozenset({"ask.was", "ask.topic", "ask.goal"})
"""Rules for a question about what the hearer has told or been at."""
WAITING = ("apologise", "reproach", "make_up", "keep.", "promise.")
"""Beginnings of what a line does, besides asking, that nobody leaves without a word to."""
ANSWERED_FIRST = ("make_up", "defy", "forgive", "accept", "decline")
"""What else a line does that wants an answer before anything new is said."""
TOLD_AS_QUESTIONS = frozenset({"ask", "ask.why"})
"""Questions that an author's line may end with, which want a word on what was told rather than an answer."""
NODS = frozenset({"acknowledge", "thank", "forgive", "apologise"})
"""What a line does that needs no word more."""
ASKED_BACK = frozenset({"tell", "complain", "rejoice", "intend"})
"""What a line must do to be asked about."""
GOSSIP = ASKED_BACK | {"praise"}
"""What a line must do for a third person in it to be worth a word."""
ON_TOPIC = 50
"""Weight of what goes on with the topic of the talk."""
OF_ONES_OWN, SAID_BEFORE, ASKS_BACK = 70, 10, 35
"""Of a hundred: how often one answers with something of one's own on the subject, with something that one has told
others, and else asks about it."""
LET_STAND = 60
"""Of a hundred answers to one's own question, those that a talk may end on."""
ANOTHER = 45
"""Of a hundred talks that have come to rest, those in which somebody brings up another subject."""
SHORT_ANSWER = 46
"""Characters below which an answer counts as a mere nod."""


def _heard_memory(scene: Scene) -> Recalled | None:
    for memory in scene.talk.recalled:
        said = memory.happening
        if isinstance(said, Said) and said.who == scene.you.id and said.quote == scene.last:
            return memory
    return next((one for one in scene.talk.recalled if scene.last in one.text and one.happening == NOTHING_KNOWN), None)


def _snub(scene: Scene, memory: Recalled) -> Line:
    topic = scene.heard.topic
    names_it = bool(topic) and scene.dice.chance(40, "cold")
    line = scene.line("cold.topic" if names_it else "cold", memory.id, topic=topic)
    return line.then(Line("", ends=len(scene.talk.lines) >= 2))


def _answers_me(scene: Scene) -> bool:
    """Whether the line answers my news of an event, or my invitation."""
    if scene.talk.lines[-1].speech_act:
        return scene.heard.act in {"accept", "decline", "hesitate"}
    # A line without an act may answer in any words: what I spoke of last decides.
    if not scene.mine or scene.heard.asks or "?" in scene.last:
        return False
    ahead = [event_name(note, scene.language) for note in scene.talk.facts if note.starts > scene.moment]
    return scene.my_topic in ahead and bool(scene.my_topic)


def _rsvp(scene: Scene, memory: Recalled, options: list[Saying]) -> Line:
    """A reaction to the yes, the no or the maybe, and something else while the talk is young."""
    act = scene.heard.act
    if not scene.talk.lines[-1].speech_act and refuses(scene.last, scene.me.language):
        act = "decline"
    first = scene.line(f"react.{act}" if act in {"accept", "decline"} else "react.hesitate", memory.id)
    goes_on = scene.is_young and scene.dice.chance(60, "rsvp")
    return first.then(_more(scene, options) if goes_on else None)


def _taken_up(scene: Scene, memory: Recalled, options: list[Saying]) -> Line:
    """A word on what was told, something of one's own on the same subject, a question about it, or two of these."""
    length = len(scene.talk.lines)
    news = _coming(scene, options)
    if news is not None and scene.dice.chance(50, "news", length):
        body = worded(scene, news)
        return _reaction(scene, memory).then(scene.led(body, "turn") if body else None)
    own = _on_subject(scene, options)
    if own is not None and scene.heard.kind == "noticed" and not _is_written_on(scene, own):
        own = None  # both have just noticed it: only an author has more to say
    is_tender = scene.heard.kind in scene.rules.words("tender")
    often = OF_ONES_OWN if own is not None and own.weight > 0 else SAID_BEFORE
    if own is not None and scene.dice.chance(often, "own", length):
        body = worded(scene, own)
        if body is not None and not is_tender and scene.dice.chance(60, "at once", length):
            return Line("", (memory.id,)).then(scene.led(body, "reminds") if scene.dice.chance(15, "reminds") else body)
        return _reaction(scene, memory, asks=False).then(body)
    reaction = _reaction(scene, memory)
    if _is_told_so(scene) and scene.is_young and scene.dice.chance(ANOTHER, "another", length):
        return reaction.then(_more(scene, options))
    if reaction.act.startswith("ask") or reaction.text in map(scene.voiced, scene.talk.lines[-1].replies):
        return reaction
    question = _question(scene) if scene.dice.chance(ASKS_BACK, "back", length) else None
    return reaction.then(question)


def _is_written_on(scene: Scene, own: Saying) -> bool:
    """Whether an author wrote the saying on the subject of the last line itself."""
    bare = scene.language.bare
    return own.rule == "core.tell" and bare(scene.heard.topic) in (bare(own.subject), bare(own.topic))


def _is_told_so(scene: Scene) -> bool:
    """Whether the line answers my question, and nobody has written what to say to it."""
    return scene.my_kind == "ask.more" and scene.heard.kind == "tell" and not scene.talk.lines[-1].replies


def _reaction(scene: Scene, memory: Recalled, *, asks: bool = True) -> Line:
    """The first words of a reply: those of the author, about the third person spoken of, or by what the line did."""
    return _given(scene, memory, asks=asks and _may_go_on(scene)) or _reaction_of(scene, memory)


def _may_go_on(scene: Scene) -> bool:
    """Whether a question about the subject may find something: after two lines on it there is seldom more."""
    line = scene.talk.lines[-1]
    told = sum(1 for one in scene.talk.lines if one.speaker == line.speaker and one.topic == line.topic)
    told = max(told, times_heard(scene.talk.past, scene.you.id, line.topic))
    return not _has_just_asked(scene) and (told < 2 or (told < 3 and scene.dice.chance(ASKS_BACK, "more of it")))


def _given(scene: Scene, memory: Recalled, *, asks: bool) -> Line | None:
    """What the author of a line gave to say to it, unless the hearer has heard it from me."""
    given = scene.talk.lines[-1].replies
    text = _authors(scene, [one for one in given if asks or not one.endswith("?")], scene.last)
    if not text:
        return None
    return Line(text, (memory.id,), "ask.more" if text.endswith("?") else "acknowledge", scene.heard.topic)


def _authors(scene: Scene, lines: Iterable[str], key: str) -> str:
    """One of the author's sentences that nobody has said in this talk and that the hearer has not heard from me."""
    own, you, me = scene.language, scene.you, scene.me
    said = "\n".join(line.text for line in scene.talk.lines)
    left = [
        one
        for one in map(scene.voiced, lines)
        if one not in said and not scene.known(one) and not scene.has_told(one)
        and not own.mentions(one, you.name, you.called) and not own.mentions(one, me.name, me.called)
    ]  # fmt: skip
    left = [one for one in left if not scene.has_said(one)] or left
    if not left:
        return ""
    # Of several who speak at once in a place, each takes another.
    here, place = sorted({*scene.present, me.id}).index(me.id), scene.talk.situation.place.id
    return left[(here + rng.below(len(left), scene.dice.key[0], place, "reply", key)) % len(left)]


def _answer(scene: Scene, memory: Recalled) -> Line | None:
    """What the author gave to say to a question about what I told, unless I have said it to the hearer."""
    if scene.heard.act != "ask.more":
        return None
    given = map(scene.voiced, scene.talk.lines[-1].replies)
    unsaid = (one for one in given if not scene.known(one) and not scene.has_told(one))
    answer = next((one for one in unsaid if not scene.language.mentions(one, scene.you.name, scene.you.called)), None)
    if answer is None:
        return None
    mine = scene.mine[-1] if scene.mine else ""
    told = tuple(one.id for one in scene.talk.recalled if any(words in mine for words in one.tell))
    return Line(answer, (memory.id, *told), "tell", scene.heard.topic)


def _reaction_of(scene: Scene, memory: Recalled) -> Line:
    line, about = scene.heard, scene.heard.topic
    if _is_told_so(scene):
        told = scene.line("react.told", memory.id, about=about)
        if told.text:
            return told
    person = _third(scene) if line.act in GOSSIP else None
    topic = _unnamed(scene, about)
    is_cold = person is not None and person[1] < COLD
    by_sort = scene.suited("react", line.sort) if line.sort else "react"
    if line.sort == "noticed":
        by_sort = scene.suited(by_sort, _just_noticed(scene))
    if by_sort != "react" and not is_cold:
        reaction = scene.line(by_sort, memory.id, about=about, topic=topic, x=person[0] if person else "")
        if reaction.text:
            return reaction
    if person and (is_cold or scene.dice.chance(35, "gossip")):
        return scene.line("react.gossip_cold" if is_cold else "react.gossip", memory.id, about=about, x=person[0])
    # To what an author has written no consolation fits.
    act = "tell" if line.act == "complain" and scene.talk.lines[-1].replies else line.act
    rule = scene.suited("react.answer", scene.my_kind) if act == "answer" else f"react.{act}"
    is_about_you = line.act == "tell" and person is None and scene.language.is_own(scene.last)
    if is_about_you and not scene.dice.chance(45, "plain"):
        rule = "react.own"
    reaction = scene.line(rule, memory.id, about=about, topic=topic)
    return reaction if reaction.text else scene.line("react.tell", memory.id, about=about, topic=topic)


def _just_noticed(scene: Scene) -> str:
    """The kind of event that I have just noticed myself; empty for none."""
    events = ((one.happening, one.minutes_ago) for one in scene.talk.recalled)
    found = next((one for one, ago in events if isinstance(one, Befell) and ago <= AT_ONCE), None)
    return event_kind(scene.rules, found.text, (*FAR, *EVENTS)) if found is not None else ""


def _unnamed(scene: Scene, topic: str) -> str:
    """The topic, unless I have named it already in this talk, since nobody names it in every line."""
    have_named = bool(topic) and any(scene.language.bare(topic) in mine.lower() for mine in scene.mine)
    return "" if have_named else topic


def _third(scene: Scene) -> tuple[str, int] | None:
    """Somebody else named in the last line whom I know: short name and warmth as far as I see them here."""
    warmth = {person.called: person.warmth for person in scene.talk.situation.people}
    for memory in scene.talk.recalled:
        called = memory.happening.called
        if called and called not in (scene.you.called, scene.me.called) and called in scene.last:
            return called, warmth.get(called, 0)
    return None


def _on_subject(scene: Scene, options: list[Saying]) -> Saying | None:
    """What I have to tell on the subject of the last line: what weighs most and shares most with it."""
    said = scene.heard.words
    fitting = [
        (option.weight + A_WORD * len(said & option.words), -index)
        for index, option in enumerate(options)
        if not option.asks and is_on_topic(scene, option)
    ]
    return options[-max(fitting)[1]] if fitting else None


def _question(scene: Scene) -> Line | None:
    """A question about what was just told, by its kind; None where I asked just now, or have asked it before."""
    line = scene.heard
    if line.act not in ASKED_BACK or not _may_go_on(scene):
        return None
    is_silent = bool(line.sort) and scene.language.bare(line.topic) not in scene.last
    topic = "" if is_silent else _unnamed(scene, line.topic)
    person = _third(scene)
    # To what an author has written the author's replies fit, and no offer of help does.
    kind = line.kind if line.sort or not scene.talk.lines[-1].replies else "tell"
    question = scene.line(f"follow.{kind}", about=line.topic, topic=topic, x=person[0] if person else "")
    if not question.text or has_asked(scene.talk.past, scene.you.id, question.act, line.topic, scene.language):
        return None
    return question


def _has_just_asked(scene: Scene) -> bool:
    return scene.my_kind == "ask.more" or (bool(scene.mine) and scene.mine[-1].endswith("?"))


def _coming(scene: Scene, options: list[Saying]) -> Saying | None:
    """What there is to tell of an event that is still ahead."""
    ahead = {note.id for note in scene.talk.facts if note.starts > scene.moment}
    return next((option for option in options if ahead & set(option.facts)), None)


def _own(scene: Scene, options: list[Saying], asks: int = 0) -> tuple[Line | None, bool]:
    """Something of mine, by weight and a draw, on the topic rather than on another, and whether it is on the topic;
    `asks` is added to the weight of questions."""
    options = [option for option in options if option.weight >= 0 and option.rule not in IN_PASSING]
    pulls = [
        option.weight
        + (asks if option.asks else ON_TOPIC if is_on_topic(scene, option) else 0)
        + scene.spread(40, option.ids[0])
        for option in options
    ]
    saying, body = _first_worded(scene, options, pulls)
    return body, saying is not None and is_on_topic(scene, saying)


def _more(scene: Scene, options: list[Saying]) -> Line | None:
    """Something of mine after a word on what was said: of another subject after words that lead up to it."""
    body, is_on_it = _own(scene, options)
    return body if is_on_it or body is None else scene.led(body, "turn")


def _after_nod(scene: Scene, body: Line) -> Line:
    """Words on another subject, after a nod to the last line and some that lead up to them."""
    return scene.led(body, "turn").led_by(scene.say(scene.suited("nod", scene.heard.act)))


def _carry_on(scene: Scene, memory: Recalled, options: list[Saying]) -> Line | None:
    """After a mere nod: something on the subject or, now and then, on another while the talk is young; leave
    otherwise."""
    body, is_on_it = _own(scene, options, asks=10) if scene.is_young else (None, False)
    if body is not None and is_on_it:
        return body
    if body is not None and scene.dice.chance(ANOTHER, "another"):
        return _after_nod(scene, body)
    return _leave(scene, memory)


# ── taking leave ─────────────────────────────────────────────────────────────────────────────────────────────────────


DUE = 25
"""Minutes ahead from which an appointment elsewhere is a reason to leave."""


def _leave(scene: Scene, last: Recalled | None) -> Line | None:
    """The end of a talk: a last word on what was said. After a mere nod, a farewell where there is a reason to go or
    something ahead of both; None where nothing more need be said, or no memory supports it."""
    plan = _plan_memory(scene)
    ids = tuple(memory.id for memory in (last, plan) if memory is not None)
    if not ids:
        return None
    if scene.heard.act == "farewell":
        words = _good_night(scene) or scene.say("bye.back")
        return Line(words, ids[:1], "farewell", ends=True)
    is_told_so = _is_told_so(scene) and scene.dice.chance(LET_STAND, "stand")
    if last is not None and scene.heard.act not in NODS and not is_told_so:
        return replace(_reaction(scene, last, asks=False), act="acknowledge", ends=True)
    words = f"{_reason(scene)} {_until(scene)}".strip() or _good_night(scene)
    return Line(words, ids, "farewell", ends=True) if words else None


def _good_night(scene: Scene) -> str:
    hour = int(scene.talk.situation.time[:2])
    return scene.say("bye.night") if hour >= 22 or hour < 4 else ""


def _until(scene: Scene) -> str:
    """The event that both go to, as the last words."""
    if scene.you.warmth < COLD:
        return ""
    note = next((note for note in scene.talk.facts if _both_go(scene, note)), None)
    return scene.say("bye.event", event=event_name(note, scene.language)) if note else ""


def _both_go(scene: Scene, note: FactNote) -> bool:
    """Whether both are known to go, the event is ahead and elsewhere, and no earlier farewell has named it."""
    name = event_name(note, scene.language)
    if not name or not goes_to(scene.talk, note) or note.place == scene.talk.situation.place.id:
        return False
    have_parted = any(scene.known(words.format(event=name)) for words in scene.rules.every("meeting"))
    return has_said_yes(scene.talk, note) and not have_parted


def _reason(scene: Scene) -> str:
    """The reason to leave: what comes within the hour somewhere else; empty without one."""
    here = scene.talk.situation
    following = next((item for item in scene.talk.later if not item.asleep), None)
    if following is None or not following.location_name or following.location == here.place.id:
        return ""
    minutes = moment_minutes(following.start) - moment_minutes(here.time)
    if not 0 < minutes <= DUE:
        return ""
    return scene.line("bye.later", scene.as_told(following)).text


def _plan_memory(scene: Scene) -> Recalled | None:
    """The memory of the plan that is the reason to leave, if it was recalled."""
    called = {item.do for item in (*([scene.talk.now] if scene.talk.now else ()), *scene.talk.later[:1])}
    plans = ((memory, memory.happening) for memory in scene.talk.recalled)
    return next((memory for memory, plan in plans if isinstance(plan, Planned) and plan.do in called), None)


TALK = read_table("talk", Talk)
