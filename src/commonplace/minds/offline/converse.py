"""One line of talk: which memory it rests on, and the words around it.

The speaker opens a talk, carries it on, replies or takes leave: `rules/talk.txt` lists the cases, and `Utterance` says
what its conditions name. A line cites the memories it is made of; without them it would be another line, or none. With
its words come the act they perform and their topic.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, cast

from commonplace.minds.mind import Decided
from commonplace.minds.notes import Recalled
from commonplace.minds.offline.answers import answer_question, news_reply
from commonplace.minds.offline.at_event import at_event, is_over
from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.favours import favour_reply, goal_sayings
from commonplace.minds.offline.gatherings import event_name
from commonplace.minds.offline.inner_voice import thought_aloud
from commonplace.minds.offline.openings import (
    apology,
    breaking,
    comfort,
    meant,
    opening,
    reproach,
    sought,
    turned,
)  # fmt: skip
from commonplace.minds.offline.replies import (
    REPLIES,
    Bystander,
    Greet,
    Nod,
    Replying,
    Rsvp,
    Snub,
    Taken,
    authors_answer,
    authors_words,
    leave,
)  # fmt: skip
from commonplace.minds.offline.rule_tables import ChosenRow, read_table
from commonplace.minds.offline.sayings import sayings, worded
from commonplace.minds.offline.scene import DraftLine, scene_of
from commonplace.minds.offline.speech_facts import Speaking
from commonplace.minds.tasks import ConverseInput, ConverseOutput
from commonplace.world.happenings import NOTHING_KNOWN, Said

TRIES = 6
"""Wordings tried before the speaker stays silent."""
LONGEST = 380
"""Characters of a spoken line; the task's own limit is a little higher."""
WAITING = ("apologise", "reproach", "make_up", "keep.", "promise.")
"""Beginnings of what a line does, besides asking, that nobody leaves without a word to."""
ANSWERED_FIRST = ("make_up", "defy", "forgive", "accept", "decline")
"""What else a line does that wants an answer before anything new is said."""
TOLD_AS_QUESTIONS = frozenset({"ask", "ask.why"})
"""Questions that an author's line may end with, which want a word on what was told rather than an answer."""
SHORT_ANSWER = 46
"""Characters below which an answer counts as a mere nod."""


def decide(given: ConverseInput, dice: Dice) -> Decided:
    """Returns what to say now, and the row that decided; an empty utterance if nothing remembered gives anything to
    say."""
    scene = scene_of(given, dice)
    options = [*goal_sayings(scene), *sayings(scene)]
    rows: Sequence[ChosenRow[Any]] = ()
    for attempt in range(TRIES):
        choice = TALK.decide(Utterance(scene.again(attempt), options))
        assert choice is not None, "the last row of talk.txt always holds"
        line = choice.facts.line(choice.row.cells["says"])
        rows = (choice, *(line.rows if line is not None else ()))
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
            return Decided(said, ChosenRow.accounts(rows))
    return Decided(ConverseOutput(utterance="", ends=True), ChosenRow.accounts(rows))


def converse(given: ConverseInput, dice: Dice) -> ConverseOutput:
    """Returns what to say now."""
    return cast("ConverseOutput", decide(given, dice).value)


class Utterance(Speaking):
    """One has to say something to the hearer."""

    def line(self, says: str) -> DraftLine | None:
        """Returns the line of a row; `ends` after its name closes the talk if the speaker means to take leave."""
        name, _, ends = says.partition(" ")
        line = getattr(self, name)
        return replace(line, ends=True) if line is not None and ends and self.purpose == "farewell" else line

    def _reply(self, kind: type[Replying]) -> DraftLine | None:
        return kind(self._scene, self._options, self.memory).said(REPLIES) if self.memory else None

    @property
    def spoken_to(self) -> bool:
        """Tells whether there is a line to answer."""
        return bool(self._scene.last)

    @property
    def waited_for(self) -> bool:
        """Tells whether the line wants an answer before anything new is said."""
        return self.heard.asks or self.heard.act.startswith((*WAITING, *ANSWERED_FIRST))

    @property
    def waits(self) -> bool:
        """Tells whether the line is one that nobody leaves without an answer."""
        return self.heard.asks or self.heard.act.startswith(WAITING)

    @cached_property
    def memory(self) -> Recalled | None:
        """Returns the memory of hearing the line."""
        scene = self._scene
        for memory in scene.talk.recalled:
            said = memory.happening
            if isinstance(said, Said) and said.who == scene.you.id and said.quote == scene.last:
                return memory
        return next(
            (one for one in scene.talk.recalled if scene.last in one.text and one.happening == NOTHING_KNOWN), None
        )

    @cached_property
    def breaking(self) -> DraftLine | None:
        """Returns a word about what has just happened."""
        return breaking(self._scene, self._options)

    @cached_property
    def thought(self) -> DraftLine | None:
        """Returns the line that a thought of today wanted said to the hearer."""
        return thought_aloud(self._scene)

    @cached_property
    def turned(self) -> DraftLine | None:
        """Returns a word to somebody in the same talk who has been silent."""
        return turned(self._scene, self._options)

    @cached_property
    def meant(self) -> DraftLine | None:
        """Returns what the speaker has come to say to the hearer."""
        return meant(self._scene, self._options)

    @cached_property
    def missed(self) -> DraftLine | None:
        """Returns something of the speaker's own, after a word on having missed what was said."""
        body = worded(self._scene, self._options[0]) if self._options else None
        lost = self._scene.say("lost") if self.purpose == "reply" and self.heard.asks else ""
        return body.led_by(lost) if body else None

    @cached_property
    def leave(self) -> DraftLine | None:
        """Returns the end of a talk."""
        return leave(self._scene, self.memory if self.spoken_to else None)

    @property
    def over(self) -> bool:
        """Tells whether the event that we are at is over, or is about to end."""
        return is_over(self._scene.talk.gathering, self._scene.moment)

    @cached_property
    def home(self) -> DraftLine | None:
        """Returns a goodbye at the end of an event, after a word on what was said."""
        word, goodbye = self.leave, at_event(self._scene, self._options)
        return goodbye if word is None or goodbye is None or word.act == "farewell" else word.then(goodbye)

    @cached_property
    def snub(self) -> DraftLine | None:
        """Returns a short word to somebody disliked."""
        return self._reply(Snub)

    @cached_property
    def joined(self) -> DraftLine | None:
        """Returns what somebody who has overheard the line has to tell on its subject, or says on being named in it."""
        return self._reply(Bystander)

    @cached_property
    def ruled(self) -> DraftLine | None:
        """Returns an answer to the line that the scenario's rules allow and the hearer has not heard."""
        given = self._scene.talk.lines[-1].rules if self.memory else ()
        text = authors_words(self._scene, given, self._scene.last)
        act = "ask.more" if text.endswith("?") else "acknowledge"
        return DraftLine(text, (self.memory.id,), act, self.heard.topic) if self.memory and text else None

    @cached_property
    def favour(self) -> DraftLine | None:
        """Returns the answer to a request, a promise, something brought, or forgiveness."""
        return favour_reply(self._scene, self.memory) if self.memory else None

    @cached_property
    def answers_me(self) -> bool:
        """Tells whether the line answers my news of an event, or my invitation."""
        scene = self._scene
        if scene.talk.lines[-1].speech_act:
            return scene.heard.act in {"accept", "decline", "hesitate"}
        # A line without an act may answer in any words: what I spoke of last decides.
        if not scene.mine or scene.heard.asks or "?" in scene.last:
            return False
        ahead = [event_name(note, scene.language) for note in scene.talk.facts if note.starts > scene.moment]
        return scene.my_topic in ahead and bool(scene.my_topic)

    @cached_property
    def news(self) -> DraftLine | None:
        """Returns the answer to news that the speaker follows."""
        return news_reply(self._scene, self.memory) if self.memory and self.memory.facts else None

    @cached_property
    def rsvp(self) -> DraftLine | None:
        """Returns the answer to a yes, a no or a maybe."""
        return self._reply(Rsvp)

    @property
    def questioned(self) -> bool:
        """Tells whether the line is a question that wants an answer, and not only one that ends an author's line."""
        line = self._scene.talk.lines[-1] if self._scene.talk.lines else None
        return self.heard.asks and not (self.heard.act in TOLD_AS_QUESTIONS and line is not None and line.replies)

    @cached_property
    def authors(self) -> DraftLine | None:
        """Returns the author's answer to a question about what I told."""
        return authors_answer(self._scene, self.memory) if self.memory else None

    @cached_property
    def answer(self) -> DraftLine | None:
        """Returns the answer to a question, from what is remembered."""
        return answer_question(self._scene, self.memory, self._options) if self.memory else None

    @cached_property
    def greeting(self) -> DraftLine | None:
        """Returns a greeting in return, and something of one's own."""
        return self._reply(Greet)

    @property
    def nod(self) -> bool:
        """Tells whether the line is hardly more than a nod, in a talk that has begun."""
        is_short = self._scene.language.length(self._scene.last) < SHORT_ANSWER
        is_nod = self.heard.act in {"acknowledge", "thank"} or (self.heard.act == "answer" and is_short)
        return is_nod and len(self._scene.talk.lines) > 1

    @cached_property
    def goes_on(self) -> DraftLine | None:
        """Returns the line after a mere nod: something on the subject or another, else the end."""
        return self._reply(Nod)

    @cached_property
    def taken_up(self) -> DraftLine | None:
        """Returns a word on what was told, something of one's own on the subject, a question about it, or two of
        these."""
        return self._reply(Taken)

    @cached_property
    def guest(self) -> DraftLine | None:
        """Returns a line at an event to somebody who comes, stands about or stays."""
        return at_event(self._scene, self._options)

    @cached_property
    def comfort(self) -> DraftLine | None:
        """Returns a word about the hearer's trouble."""
        return comfort(self._scene)

    @cached_property
    def reproach(self) -> DraftLine | None:
        """Returns a word about what the hearer did to me."""
        return reproach(self._scene)

    @cached_property
    def apology(self) -> DraftLine | None:
        """Returns an apology for a word I broke to the hearer."""
        return apology(self._scene)

    @cached_property
    def sought(self) -> DraftLine | None:
        """Returns a question about the person whom the speaker has come to see and who is not here."""
        return sought(self._scene)

    @cached_property
    def opening(self) -> DraftLine | None:
        """Returns a greeting, and something remembered."""
        return opening(self._scene, self._options)


def _with_twins(recalled: Sequence[Recalled], ids: tuple[int, ...]) -> tuple[int, ...]:
    """Returns the cited memories and any that say the same in the same words: the line rests on each of them."""
    texts = {memory.text for memory in recalled if memory.id in ids}
    return (*ids, *(memory.id for memory in recalled if memory.text in texts and memory.id not in ids))


def _trimmed(text: str) -> str:
    """Returns the text within the limit, cut after a sentence."""
    while len(text) > LONGEST:
        cut = max(text.rfind(mark, 0, len(text) - 1) for mark in (". ", "! ", "? "))
        text = text[: cut + 1] if cut > 0 else text[:LONGEST]
    return text


TALK = read_table("talk", Utterance)
