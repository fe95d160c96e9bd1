"""Converse: what to say when the action is to talk, and the talk a character is in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from commonplace.character.fact import carried
from commonplace.character.plan import PlanItem
from commonplace.clock import midnight
from commonplace.cognition.authors_lines import AuthorsLines
from commonplace.cognition.beside import OPENING, REPLYING, beside, news_ahead
from commonplace.cognition.gathering import gathering
from commonplace.cognition.goals import goal_notes
from commonplace.cognition.known_circumstances import aware, in_own_words, known, off, speakable
from commonplace.cognition.past import past_with
from commonplace.cognition.remember import ACTION
from commonplace.cognition.retrieve import retrieve
from commonplace.cognition.situation import fact_notes, item_note, later_strokes, person, recalled, situation, who
from commonplace.cognition.turn import Notebook, TurnView
from commonplace.minds.notes import News, Recalled, Spoken, changed
from commonplace.minds.offline.hear import understood
from commonplace.minds.tasks import CONVERSE, ConverseInput, ConverseOutput, ReactOutput
from commonplace.text import clean, sentences, shortened
from commonplace.world.actions import Say
from commonplace.world.acts import emoji_of
from commonplace.world.happenings import ISaid, happening_of
from commonplace.world.state import Conversation, Line

LONGEST_LINE = 400


async def converse(
    view: TurnView, notebook: Notebook, reaction: ReactOutput, news: Sequence[News], item: PlanItem | None
) -> Say | None:
    """Returns a line for the reaction's target; None if there is nothing to say, or it was said before today.

    The words may have come with the reaction; otherwise they are asked for.
    """
    hearer = reaction.target
    if hearer not in view.world.targets.agents:
        return None
    if reaction.utterance:
        words = ConverseOutput(
            utterance=reaction.utterance, ends=reaction.ends, because=reaction.because, facts=reaction.facts,
            speech_act=reaction.speech_act, topic=reaction.topic,
        )  # fmt: skip
        return line(view, hearer, words, said_today(view, hearer))
    called = view.scenario.personas[hearer].called
    heard = [entry.text for entry in news if entry.kind == "said"]
    parts = (*heard, called, reaction.purpose, reaction.reason)
    k = view.scenario.cognition.k
    found = await retrieve(view, notebook, "talk", parts, k=k - k // (REPLYING if heard else OPENING))
    said = " ".join(f"{line.utterance} {line.topic}" for line in _lines(view, hearer)[-2:])
    found = (*found, *beside(view, notebook, hearer, found, said=said, asked=_asked(view, hearer)))
    found = (*found, *_meant_for(view, notebook, hearer, found))
    if not view.world.talk:
        found = (*found, *news_ahead(view, notebook, found, (hearer,)))
    found = _with_reasons(view, notebook, reaction.because, found)
    relation, said = notebook.relations.get(hearer), said_today(view, hearer)
    past = past_with(view, notebook.account, hearer, found)
    if past.spoken_of:
        notebook.chosen("asked", past.spoken_of.because, 1)
    here, you, lines = situation(view), person(view, hearer, notebook.relations), spoken(view, hearer)
    latest = next((one for one in reversed(lines) if one.speaker == hearer), None)
    sayable = AuthorsLines(view, notebook, you, here.people, latest)
    facts = fact_notes(view.scenario, found, off(known(view), view.persona.id))
    if view.scenario.circumstances:
        found, facts = speakable(view, found), in_own_words(view, facts)
    inputs = ConverseInput(
        who=who(view.persona),
        situation=here,
        hearer=you,
        purpose=reaction.purpose,
        lines=sayable.answered(_with_replies(view, lines)),
        recalled=sayable.told(found),
        facts=sayable.news(facts, found),
        said=said,
        told=aware(view, hearer, relation.shared) if relation else (),
        now=item_note(view.scenario, item) if item else None,
        later=later_strokes(view.scenario, notebook.plan, view.now),
        past=past,
        goals=goal_notes(view, sorted(notebook.goals.open(), key=lambda goal: goal.person != hearer)),
        gathering=gathering(view, notebook, speaks=True),
    )
    answer = await notebook.ask(CONVERSE, inputs)
    return line(view, hearer, answer.value, said)


def _asked(view: TurnView, hearer: str) -> str:
    """Returns the subject that the hearer has just asked about; empty if there is none."""
    talk = view.world.talk
    line = talk.lines[-1] if talk and talk.lines else None
    return line.topic if line and line.speaker == hearer and line.speech_act in ("ask.topic", "ask.more") else ""


def _meant_for(
    view: TurnView, notebook: Notebook, hearer: str, found: Sequence[Recalled]
) -> tuple[Recalled, ...]:  # fmt: skip
    """Returns the memories behind what the character means to do with the hearer."""
    known = {note.id for note in found}
    goals = (goal for goal in notebook.goals.open() if goal.person == hearer or (goal.object and not goal.person))
    ids = [goal.because[-1] for goal in goals if goal.because[-1] not in known]
    memories = [view.draft.get(memory) for memory in dict.fromkeys(ids) if memory in view.draft]
    if memories:
        notebook.chosen("goal", [memory.id for memory in memories], len(memories))
    return recalled(view.scenario, memories, view.now)


def _with_reasons(
    view: TurnView, notebook: Notebook, because: Sequence[int], found: tuple[Recalled, ...]
) -> tuple[Recalled, ...]:
    """Returns the memories that the reaction rests on, then those retrieved, no more than were retrieved."""
    known = {memory.id for memory in found}
    reasons = [view.draft.get(memory) for memory in because if memory not in known and memory in view.draft]
    if reasons:
        notebook.chosen("reason", [memory.id for memory in reasons], len(because))
    return (*recalled(view.scenario, reasons, view.now), *found)[: max(len(found), len(reasons))]


def line(view: TurnView, hearer: str, output: ConverseOutput, said: Sequence[str], emoji: str = "") -> Say | None:
    """Returns the words as they are said; None for no words, or words that this hearer has heard from me today
    (`said`). `emoji` is the mind's own, if it has named one."""
    utterance = shortened(clean(output.utterance), LONGEST_LINE)
    if not utterance or utterance in said:
        return None
    facts = carried(view.scenario.facts, utterance)
    return Say(
        to_agent_id=hearer,
        utterance=utterance,
        facts=facts,
        claimed=tuple(fact for fact in output.facts if fact not in facts),
        carriers=tuple(carrier(view, fact, output.because) for fact in facts),
        ends=output.ends,
        because=tuple(memory for memory in output.because if memory in view.draft),
        speech_act=output.speech_act,
        topic=output.topic,
        emoji=emoji or emoji_for(utterance, output.speech_act, view.scenario.language),
    )


def emoji_for(utterance: str, speech_act: str, language: str) -> str:
    """Returns the emoji over a speaker's head, by the act of the line. A model does not name the act, so its words are
    read."""
    return emoji_of(speech_act or understood(utterance, language).act)


def carrier(view: TurnView, fact_id: str, because: Sequence[int]) -> int:
    """Returns the memory from which a fact is spoken: one the line rests on, else the earliest that carries it, else 0
    (made up)."""
    fact = next(fact for fact in view.scenario.facts if fact.id == fact_id)
    resting = [view.draft.get(memory) for memory in because if memory in view.draft]
    for memory in resting:
        if fact.carried_by(memory.text):
            return memory.id
    return view.draft.earliest(fact.carried_by) or 0


def spoken(view: TurnView, hearer: str = "") -> tuple[Spoken, ...]:
    """Returns the lines of the talk I am in, oldest first; if I am about to join a hearer's talk, the lines of that
    one."""
    personas = view.scenario.personas
    return tuple(
        Spoken(
            speaker=line.speaker,
            called=personas[line.speaker].called,
            text=line.utterance,
            speech_act=line.speech_act,
            topic=line.topic,
            replies=(),
        )
        for line in _lines(view, hearer)[-12:]
    )


def _lines(view: TurnView, hearer: str) -> Sequence[Line]:
    talk = view.world.talk
    return talk.lines if talk else _up_to(hearer, view.world.conversations)


def _with_replies(view: TurnView, lines: tuple[Spoken, ...]) -> tuple[Spoken, ...]:
    """Returns the lines, the latest with the replies that the author of the scenario wrote for it."""
    given = view.scenario.replies
    if not given or not lines or lines[-1].speaker == view.persona.id:
        return lines
    replies = (given[one] for one in reversed(sentences(lines[-1].text)) if one in given)
    if not _own_plight(view).isdisjoint(sentences(lines[-1].text)):
        return lines  # what others say to it is not for the one whom it is about
    last = _answer(view, lines) if lines[-1].speech_act == "ask.more" else next(replies, ())
    return (*lines[:-1], changed(lines[-1], replies=last)) if last else lines


def _own_plight(view: TurnView) -> frozenset[str]:
    """Returns the sentences that tell of the character's own circumstances, and of those it has caused."""
    scenario, me = view.scenario, view.persona.id
    tells = (scenario.tells[key] for key, one in scenario.circumstances.items() if me in (one.of, one.by))
    return frozenset(line for tell in tells for line in (*tell.lines, *tell.at_once))


def _answer(view: TurnView, lines: tuple[Spoken, ...]) -> tuple[str, ...]:
    """Returns the author's answers to a question about my own last line."""
    mine = next((one.text for one in reversed(lines) if one.speaker == view.persona.id), "")
    asked, answers = sentences(lines[-1].text)[-1:], view.scenario.answers
    told = ((one, question) for one in reversed(sentences(mine)) for question in asked)
    return next(((answers[pair],) for pair in told if pair in answers), ())


def _up_to(hearer: str, talks: Iterable[Conversation]) -> tuple[Line, ...]:
    """Returns the lines of the talk a hearer is in, up to the hearer's own last one."""
    lines = next((talk.lines for talk in talks if hearer in talk.members), ())
    last = max((number for number, line in enumerate(lines, 1) if line.speaker == hearer), default=0)
    return lines[:last]


def has_floor(view: TurnView) -> bool:
    """Tells whether the last line of my talk was addressed to me."""
    talk = view.world.talk
    return talk is not None and talk.floor == view.persona.id


def said_today(view: TurnView, hearer: str) -> tuple[str, ...]:
    """Returns what I have said to this hearer since midnight, oldest first."""
    mine = (happening_of(memory.details) for memory in view.draft.since(midnight(view.now), ACTION))
    return tuple(said.quote for said in mine if isinstance(said, ISaid) and said.to == hearer)


def said_to(view: TurnView, hearers: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Returns `said_today` by hearer, without hearers to whom I have said nothing."""
    return {hearer: said for hearer in hearers if (said := said_today(view, hearer))}
