"""`react`: what to do about what is new, alone or with ratings, words and an action in the same answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Self, cast

from pydantic import Field, ValidationInfo, field_validator

from commonplace.minds.mind import Task, words_in
from commonplace.minds.notes import (
    NO_PAST,
    Agreed,
    Bearing,
    FactNote,
    Gathering,
    Given,
    GoalNote,
    ItemNote,
    News,
    Past,
    Recalled,
    Situation,
    So,
    Spoken,
    Spot,
    Value,
    Who,
    always,
)
from commonplace.minds.prompts.prompt import Unusable
from commonplace.minds.prompts.speech_guard import LONGEST_LINE
from commonplace.minds.prompts.teller import Teller, ToldMemory, gist, plain
from commonplace.minds.tasks.act import ActOutput, DeedAnswer, KnownTargets, is_possible, target_offers, target_values
from commonplace.minds.tasks.converse import LONGEST_EARLIER
from commonplace.minds.tasks.offers import Offers, fact_titles, people, places
from commonplace.minds.tasks.plan import DAY, Stroke
from commonplace.minds.tasks.rate import RATING_TOKENS, TextRating, one_for_each
from commonplace.minds.tasks.scenes import (
    LONGEST_GOAL,
    MOST_GOALS,
    PromptView,
    Values,
    between,
    carried_facts,
    carriers,
    goal_values,
    latest,
    not_present,
    own_places,
    said_before,
    spoken_lines,
    spoken_of,
    unsaid,
)
from commonplace.minds.tasks.wire import (
    LONGEST_DOING,
    LOWER,
    AnswerModel,
    Cited,
    Context,
    Emoji,
    Facts,
    Flag,
    Rule,
    Time,
    Unasked,
    WireValue,
    choice,
    noted,
    phrase,
    seen,
    spoken,
    whole,
    words,
)
from commonplace.text import shortened
from commonplace.world.happenings import (
    Came,
    Changed,
    Happening,
    Hour,
    Left,
    Planned,
    Seen,
    Sky,
    Talked,
    Walked,
)

Decision = Literal["keep", "talk", "go", "help", "avoid", "wait"]
PURPOSES = ("greet", "tell", "ask", "reply", "invite", "thank", "comfort", "apologise", "farewell")
LONGEST_REASON = 300
WORDS_TOKENS, ACTION_TOKENS = 250, 300
"""Additional tokens for what a merged reaction answers as well."""
MOST_TOLD = 1
"""Lines one has said to somebody earlier in the day."""
REACTING = 2
"""Most memories shown when reacting: the prompt also has the plan and the news, and perhaps a talk."""
PASSING = Came | Left | Planned | Talked | Walked | Hour | Sky | Changed | Seen
"""What a memory is of that was over soon: among the best it is left out, and nothing takes its place."""
LONGEST_TOLD = 100
"""Characters of a line said before the talk."""
FEW = 2
"""With at most this many people in sight, the prompt says what they are doing."""


class ReactInput(Given, omit_defaults=True):
    """What is new, and what to weigh it against.

    A mind that is paid by the request is asked for more in the same answer: to rate what is new (`unrated`), to say the
    words if it decides to talk (`speaks`), to act (`targets`).
    """

    who: Who
    situation: Situation
    news: tuple[News, ...]
    now: ItemNote | None
    """What the plan says to do now."""
    later: tuple[ItemNote, ...] = always(())
    """The strokes still ahead today."""
    recalled: tuple[Recalled, ...] = always(())
    facts: tuple[FactNote, ...] = always(())
    lines: tuple[Spoken, ...] = always(())
    """The talk I am in, if any."""
    floor: bool = always(False)
    """Whether I was spoken to and have the floor."""
    places: tuple[Spot, ...] = always(())
    told: Mapping[str, tuple[str, ...]] = always({})
    """Person → ids of facts I know they have heard; for those in sight."""
    unrated: tuple[str, ...] = always(())
    """New memories to be rated in the same answer; empty when they have been."""
    unrated_happenings: tuple[Happening, ...] = always(())
    """What each of them tells of, in their order."""
    unrated_bearings: tuple[Bearing, ...] = ()
    """What each of them has to do with me."""
    speaks: bool = always(False)
    """Whether the answer may hold the words to say."""
    said: Mapping[str, tuple[str, ...]] = always({})
    """Person → lines I have said to them today, which must not be said again; for those in sight, if `speaks`."""
    targets: KnownTargets | None = always(None)
    """`every_tick`: the answer may hold the action itself."""
    past: Past = always(NO_PAST)
    """What I know of my own past, the latest of it."""
    pasts: Mapping[str, Past] = always({})
    """Person → what I know of my past with them; for those in sight, if `speaks`."""
    goals: tuple[GoalNote, ...] = always(())
    """What I mean to do."""
    agreed: tuple[Agreed, ...] = ()
    """What talks have settled for later today and the plan does not have yet."""
    so: tuple[So, ...] = ()
    """What I know to be so, or to have been so lately."""
    gathering: Gathering | None = None
    """The event that I am at."""


class ReactOutput(Value):
    """`keep` the plan; `talk` to `target` about `purpose`; `go` somewhere now; `help` `target`; `avoid` it; `wait`.

    Independently of that, `stroke` puts something new into the plan, now or later today; the plan from now on is then
    remade around it.
    """

    decision: Decision
    target: str = ""
    """Character id."""
    purpose: str = ""
    """greet, tell, ask, reply, invite, thank, comfort, farewell …"""
    stroke: Stroke | None = None
    reason: str = Field(default="", max_length=LONGEST_REASON)
    because: tuple[int, ...] = ()
    ratings: tuple[TextRating, ...] = ()
    """As many as `unrated`, in order."""
    utterance: str = Field(default="", max_length=LONGEST_LINE)
    """The words, if it is to talk and they were asked for; empty leaves them open."""
    ends: bool = False
    facts: tuple[str, ...] = ()
    """Ids of facts the utterance claims to mention."""
    speech_act: str = ""
    """What the utterance does, and what it is about; see `ConverseOutput`."""
    topic: str = ""
    act: ActOutput | None = None
    """The action, if it was asked for."""


class TalkAnswer(WireValue):
    say: Annotated[str, spoken()] = ""
    purpose: Annotated[str, words(40, one_of=PURPOSES)] = ""
    ends: Flag = False
    facts: Facts = ()
    speech_act: Annotated[str, noted(20), Unasked] = ""
    topic: Annotated[str, noted(60), Unasked] = ""


class NewStrokeAnswer(WireValue):
    start: Time
    minutes: Annotated[int, whole(5, DAY)]
    place: Annotated[str, choice("places", needed=lambda _: True)]
    do: Annotated[str, phrase(LONGEST_DOING, needed=True)]
    emoji: Emoji = ""
    because: Annotated[Cited | None, Unasked] = None
    """None: it rests on what the reaction rests on."""
    event: Annotated[str, noted(60), Unasked] = ""


_ONE_FOR_EACH = one_for_each(lambda inputs: inputs.unrated)


def _rate(value: object, context: Context) -> object:
    return _ONE_FOR_EACH.read(value, context) if context.inputs.unrated else None


class ReactAnswer(AnswerModel):
    """What is done comes first, what is thought of the news last. The parts that were not asked for are null; a value
    given there is ignored."""

    decision: Annotated[Decision, LOWER]
    target: Annotated[str, choice("people", needed=lambda context: context.fields.get("decision") == "talk")] = Field(
        default="", validate_default=True
    )
    talk: TalkAnswer | None = None
    plan: NewStrokeAnswer | None = Field(default=None, validate_default=True)
    act: DeedAnswer | None = None
    reason: Annotated[str, seen(LONGEST_REASON)] = ""
    because: Cited = ()
    rate: Annotated[tuple[TextRating, ...] | None, Rule(_rate)] = Field(default=None, validate_default=True)

    @field_validator("decision", mode="after")
    @classmethod
    def _has_somebody_to_talk_to(cls, decision: Decision, info: ValidationInfo) -> Decision:
        if info.context is not None and decision == "talk" and not info.context.offers.people.labels:
            raise Unusable("cannot be talk: nobody is here", "unknown_id")
        return decision

    @field_validator("talk", "act", mode="before")
    @classmethod
    def _only_what_was_asked_for(cls, value: object, info: ValidationInfo) -> object:
        if info.context is None or value is None:
            return value
        inputs: ReactInput = info.context.inputs
        if info.field_name == "act":
            return value if inputs.targets is not None and not _speaks(value) else None
        if info.data.get("decision") != "talk":
            return None
        if inputs.speaks or not isinstance(value, Mapping):
            return value
        return {"purpose": cast(Mapping[str, object], value).get("purpose")}

    @field_validator("plan", mode="after")
    @classmethod
    def _is_there_to_go_by(cls, plan: NewStrokeAnswer | None, info: ValidationInfo) -> NewStrokeAnswer | None:
        decision = info.data.get("decision")
        if info.context is not None and plan is None and decision in {"go", "help", "avoid"}:
            what = "must not be null: to {decision} takes a plan; keep is for none"
            raise Unusable(what, "schema", decision=decision)
        return plan

    def output(self, inputs: ReactInput) -> ReactOutput:
        talk = self.talk or TalkAnswer()
        return ReactOutput(
            decision=self.decision,
            target=self.target,
            purpose=talk.purpose,
            stroke=self._stroke(self.plan) if self.plan else None,
            reason=self.reason,
            because=self.because,
            ratings=self.rate or (),
            utterance=talk.say,
            ends=talk.ends,
            facts=talk.facts,
            speech_act=talk.speech_act,
            topic=talk.topic,
            act=self.act.action(_target_offers(inputs, inputs.targets), self.because)
            if self.act and inputs.targets
            else None,
        )

    def _stroke(self, plan: NewStrokeAnswer) -> Stroke:
        return Stroke(
            start=plan.start,
            minutes=plan.minutes,
            location=plan.place,
            do=plan.do,
            because=self.because if plan.because is None else plan.because,
            emoji=plan.emoji,
            event=plan.event,
        )

    @classmethod
    def of(cls, inputs: ReactInput, value: ReactOutput) -> Self:
        """Returns the answer for an output. Rules may avoid somebody without a plan; that counts as keeping the present
        one."""
        talk = TalkAnswer(
            purpose=value.purpose,
            say=value.utterance,
            ends=value.ends,
            facts=value.facts,
            speech_act=value.speech_act,
            topic=value.topic,
        )
        act = None
        if value.act is not None and value.act.kind != "SAY" and inputs.targets is not None:
            act = DeedAnswer.of_action(_target_offers(inputs, inputs.targets), value.act, value.because)
        return cls(
            rate=value.ratings if inputs.unrated else None,
            because=value.because,
            reason=value.reason,
            decision="keep" if value.decision == "avoid" and value.stroke is None else value.decision,
            target=value.target,
            talk=talk if value.decision == "talk" else None,
            plan=_new_stroke(value.stroke, value.because) if value.stroke else None,
            act=act,
        )


def _speaks(act: object) -> bool:
    """Tells whether a model has put the talk into the action, too."""
    return isinstance(act, Mapping) and str(cast(Mapping[str, object], act).get("kind")).upper() == "SAY"


def _new_stroke(stroke: Stroke, because: tuple[int, ...]) -> NewStrokeAnswer:
    return NewStrokeAnswer(
        start=stroke.start,
        minutes=stroke.minutes,
        place=stroke.location,
        do=stroke.do,
        emoji=stroke.emoji,
        because=None if stroke.because == because else stroke.because,
        event=stroke.event,
    )


def _offers(inputs: ReactInput) -> Offers:
    """Returns the offers. Something new may be done at any known place and wherever the plan leads."""
    here, planned = inputs.situation, (inputs.now, *inputs.later)
    return Offers(
        people=people(here.people),
        places=places((*inputs.places, here.place), planned),
        facts=fact_titles(inputs.facts, inputs.who.language),
    )


def _target_offers(inputs: ReactInput, targets: KnownTargets) -> Offers:
    return target_offers(targets, inputs.places, inputs.situation)


def _scene(inputs: ReactInput, view: PromptView) -> Values:
    teller, targets = view.teller(inputs), inputs.targets
    shown = view.best(teller.memories(unsaid(not_present(inputs.recalled, inputs), inputs.lines), days=True), REACTING)
    # by number: the same old memories come up again and again, and a server has then read their lines before
    passing = {note.id for note in inputs.recalled if isinstance(note.happening, PASSING)}
    memories = sorted((told for told in shown if told.id not in passing), key=lambda told: told.id)
    return {
        "memories": memories,
        "lines": spoken_lines(_earlier(inputs), LONGEST_EARLIER),
        "talks": any(person.can_be_spoken_to for person in inputs.situation.people),
        "partners": _partners(inputs),
        "said": _said(inputs, view),
        "goals": _goals(inputs, view),
        "agreed": _agreed(inputs, view),
        "pasts": _pasts(inputs, view),
        "spoken_of": _spoken_of(inputs),
        "news": _news(inputs, teller),
        "facts": _facts(inputs, memories, view),
        "own_places": own_places(inputs.places, view),
        "doing": _doing(inputs, view),
        "targets": targets
        and target_values(targets, _target_offers(inputs, targets), inputs.situation, inputs.who.language),
    }


def _goals(inputs: ReactInput, view: PromptView) -> list[Values]:
    """Returns the goals, with where and when only if they need somebody at a certain time."""
    goals = inputs.goals[:MOST_GOALS]
    places = [view.offers.places if goal.called and goal.time else None for goal in goals]
    return [value for goal, known in zip(goals, places, strict=True) for value in goal_values((goal,), known)]


def _agreed(inputs: ReactInput, view: PromptView) -> list[Values]:
    """Returns what has to be planned for, where and when, with the memory of what was said."""
    return [
        {
            "id": one.because[-1],
            "text": shortened(plain(one.text), LONGEST_GOAL),
            "place": plain(view.offers.places.label(one.place, "")),
            "time": one.time,
        }
        for one in inputs.agreed
    ]


def _partners(inputs: ReactInput) -> list[str]:
    """Returns the ids of the people the character talks with."""
    me = inputs.who.id
    return list(dict.fromkeys(line.speaker for line in inputs.lines if line.speaker != me))


def _with_whom(inputs: ReactInput) -> list[str]:
    """Returns the ids of the people the character talks with, or of the only one in sight."""
    people = inputs.situation.people
    return _partners(inputs) or [person.id for person in people if len(people) == 1]


def _pasts(inputs: ReactInput, view: PromptView) -> list[Values]:
    """Returns the character's past with them."""
    labels, talking = view.offers.people, bool(inputs.lines)
    return [
        between(inputs.pasts[who], who, labels.label(who), inputs.who.language, talking=talking)
        for who in _with_whom(inputs)
        if who in inputs.pasts
    ]


def _spoken_of(inputs: ReactInput) -> Values | None:
    """Returns what the character knows about the subject of the talk's latest line."""
    who = inputs.lines[-1].speaker if inputs.lines else ""
    return spoken_of(inputs.pasts[who], _partners(inputs), inputs.who.language) if who in inputs.pasts else None


def _said(inputs: ReactInput, view: PromptView) -> list[Values]:
    """Returns what the character has told today to those it talks with, or to the first one in sight, before the talk
    shown."""
    wanted = _partners(inputs) or [person.id for person in inputs.situation.people][:1]
    lines = {who: said_before(inputs.said.get(who, ()), inputs.lines)[-MOST_TOLD:] for who in wanted}
    return [
        {"called": view.offers.people.label(who), "lines": [gist(line, LONGEST_TOLD) for line in told]}
        for who, told in lines.items()
        if told
    ]


def _earlier(inputs: ReactInput) -> Sequence[Spoken]:
    """Returns the latest lines of the talk, without the last one if the news has it in full."""
    quotes = [entry.happening.quote for entry in inputs.news if entry.kind == "said"]
    heard = bool(inputs.lines) and inputs.lines[-1].text in quotes
    return latest(inputs.lines[:-1] if heard else inputs.lines)


def _news(inputs: ReactInput, teller: Teller) -> list[dict[str, Any]]:
    """Returns first the news that must be rated, `marked`, in the order of the ratings; then other news. An `id` of 0
    cannot be cited."""
    by_text = {entry.text: entry for entry in reversed(inputs.news)}
    marked = [
        teller.news(by_text[text]) if text in by_text else ToldMemory(0, "", teller.bare(text))
        for text in inputs.unrated
    ]
    rest = [teller.news(entry) for entry in inputs.news if entry.text not in inputs.unrated]
    return [{"told": told, "marked": index < len(marked)} for index, told in enumerate((*marked, *rest))]


def _facts(inputs: ReactInput, memories: Sequence[ToldMemory], view: PromptView) -> list[Values]:
    """Returns facts that a shown memory or the news carries, if somebody who can be told has not heard them, with the
    people in sight who have."""
    carrying = carriers(inputs.recalled, memories)
    carrying |= {fact: entry.memory_id for entry in inputs.news for fact in entry.facts}
    labels = view.offers.people.labels_by_id
    hearers = {person.id for person in inputs.situation.people if person.can_be_spoken_to}
    hearers &= set(_partners(inputs)) or hearers
    heard = {fact: [who for who, known in inputs.told.items() if fact in known and who in labels] for fact in carrying}
    new = {fact: memory for fact, memory in carrying.items() if hearers - set(heard[fact])}
    return carried_facts(inputs.facts, new, {fact: [labels[who] for who in heard[fact]] for fact in new}, view)


def _doing(inputs: ReactInput, view: PromptView) -> list[Values]:
    """Returns what people in sight, if they are few, are seen doing, unless the news tells it; nothing during a
    talk."""
    if inputs.lines or len(inputs.situation.people) > FEW:
        return []
    told = {entry.who for entry in inputs.news}
    return [
        {"called": view.offers.people.label(person.id), "doing": plain(person.doing)}
        for person in inputs.situation.people
        if person.doing and person.id not in told and not person.asleep
    ]


def _is_possible(inputs: ReactInput, value: ReactOutput) -> bool:
    return inputs.targets is None or value.act is None or is_possible(inputs.targets, value.act)


def _aloud(inputs: ReactInput, written: str) -> str:
    """Returns the words to say. Words beside another decision than to talk are not said."""
    talks = inputs.speaks and words_in(written, "decision").strip().lower() == "talk"
    return words_in(written, "say") if talks else ""


def _extra_tokens(inputs: ReactInput) -> int:
    return (
        RATING_TOKENS * len(inputs.unrated)
        + WORDS_TOKENS * inputs.speaks
        + ACTION_TOKENS * (inputs.targets is not None)
    )


REACT = Task(
    "react",
    ReactInput,
    ReactOutput,
    lambda _: ReactOutput(decision="keep", reason="no usable answer"),
    max_tokens=350,
    temperature=0.7,
    scene=_scene,
    offers=_offers,
    answer=ReactAnswer,
    possible=_is_possible,
    aloud=_aloud,
    extra_tokens=_extra_tokens,
)
