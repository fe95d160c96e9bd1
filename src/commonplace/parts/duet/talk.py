"""Talk outside a town, made of the town's talk: the turns of a duet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from commonplace.languages.language import language
from commonplace.minds.notes import Recalled, Situation, Spoken, Spot, changed
from commonplace.minds.offline.converse import converse
from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.hear import heard, remembered
from commonplace.minds.offline.scene import CLOSE, DraftLine, TalkScene, scene_of
from commonplace.minds.offline.template_grammar import grammar
from commonplace.minds.tasks import ConverseInput, ConverseOutput
from commonplace.parts.duet.tasks import DuetInput, DuetOutput
from commonplace.parts.duet.thread import developed
from commonplace.world.happenings import ISaid, Said

UNSTORED = 0
"""Id of a line just heard that did not become a memory; never cited."""
_NOWHERE = Situation(
    moment="2031-10-04T12:00:00", time="12:00", day=0, weekday="", part_of_day="midday", sky="", wind="",
    temperature="", place=Spot(id="stage", name="stage"),
)  # fmt: skip
"""A stage has no clock: it is always noon, so that memories are told with `just now` or without a time."""


def duet_turn(given: DuetInput, dice: Dice) -> DuetOutput:
    """Returns the plan and the utterance. When everything has been said, the oldest line may be repeated."""
    said = _line(given, dice)
    while said is None and (given.said or given.heard):
        given = changed(given, said=_later(given.said), heard=_later(given.heard))
        said = _line(given, dice)
    return _output(given, said or _question(given, dice), dice)


def _later(lines: Sequence[str]) -> tuple[str, ...]:
    """Returns the later half of them; nothing of a single one."""
    return tuple(lines[(len(lines) + 1) // 2 :])


def _line(given: DuetInput, dice: Dice) -> ConverseOutput | None:
    """Returns a line that was not said before; None when only a second goodbye is left."""
    line = developed(scene_of(_duet_talk(given), dice), given.untold)
    if line is not None:
        return ConverseOutput(utterance=line.text, because=line.ids, speech_act=line.act, topic=line.topic[:60])
    # Nobody leaves a stage: where a reply would take leave, the speaker opens another subject or takes one further.
    reply = converse(_duet_talk(given), dice)
    said = None
    if _is_enough(given):
        said = _changed(given, dice)
    elif len(given.said) >= WARMED_UP and dice.chance(25, "further"):
        said = _further(given, dice)
    said = said or reply
    if said.ends:
        opened = converse(_duet_talk(given, opens=True), dice)
        is_new = opened.utterance and not opened.ends
        said = opened if is_new else _further(given, dice) or _changed(given, dice) or said
    has_taken_leave = any(heard(line, given.who.language).act == "farewell" for line in given.lines[-2:])
    return None if not said.utterance or (said.ends and has_taken_leave) else said


def _question(given: DuetInput, dice: Dice) -> ConverseOutput:
    """Returns a line for somebody who remembers hardly anything."""
    line = scene_of(_duet_talk(given), dice).line("ask.doing")
    return ConverseOutput(utterance=line.text, speech_act=line.act)


def _output(given: DuetInput, said: ConverseOutput, dice: Dice) -> DuetOutput:
    return DuetOutput(
        plan=_plan(given, dice)[:200],
        utterance=said.utterance,
        because=tuple(memory for memory in said.because if memory != UNSTORED),
        speech_act=said.speech_act,
        topic=said.topic,
    )


# ── taking a subject further ─────────────────────────────────────────────────────────────────────────────────────────


Move = tuple[str, Recalled, dict[str, str]]
"""A rule, the memory it rests on, and its slots."""
WARMED_UP = 10
"""Lines of mine after which a subject may come up again."""
OFTEN = 4
"""Lines of mine with a subject in them that make a running gag of it."""
LATEST, ENOUGH = 8, 4
"""So many of the latest lines about one subject are enough of it."""
TELLING = 6
"""Letters by which the words around a subject are recognised."""


def _further(given: DuetInput, dice: Dice) -> ConverseOutput | None:
    """Returns a line that answers, recalls a promise, makes one, joins two subjects or jokes about one.

    Words that I have used for another subject are taken only when there are no others.
    """
    scene = scene_of(_duet_talk(given), dice)
    latest = tuple(line.topic for line in scene.talk.lines[-2:])
    moves = [*_answers(scene), *dice.shuffled(list(_moves(scene, latest)), "moves")]
    moves = moves or dice.shuffled(list(_moves(scene, ())), "moves")
    lines = [line for move in moves for attempt in range(3) for line in _worded(scene.again(attempt), move)]
    line = next((one for one in lines if not _is_worn(scene, one)), lines[0] if lines else None)
    if line is None:
        return None
    return ConverseOutput(utterance=line.text, because=line.ids, speech_act=line.act, topic=line.topic[:60])


def _is_enough(given: DuetInput) -> bool:
    """Tells whether the latest lines were all about one subject. Nothing more of it is recalled then."""
    spoken = language(given.who.language)
    topic = next((spoken.bare(line.topic) for line in reversed(given.lines) if line.topic), "")
    latest = [line.text.lower() for line in given.lines[-LATEST:]]
    return bool(topic) and topic in latest[-1] and sum(topic in text for text in latest) >= ENOUGH


def _changed(given: DuetInput, dice: Dice) -> ConverseOutput | None:
    """Returns a question about anything else. Returns None after a question, and when no question is left."""
    scene = scene_of(_duet_talk(given), dice)
    if scene.heard.asks or not scene.talk.recalled:
        return None
    move = "stage.change", scene.talk.recalled[0], {"topic": ""}
    line = next((line for attempt in range(3) for line in _worded(scene.again(attempt), move)), None)
    return ConverseOutput(utterance=line.text, because=line.ids, speech_act=line.act) if line else None


def _worded(scene: TalkScene, move: Move) -> Iterator[DraftLine]:
    """Yields the line of a move, unless it was said before."""
    rule, memory, slots = move
    line = scene.line(rule, memory.id, about=slots["topic"], **slots)
    line = replace(line, text=scene.language.finished(line.text))
    if scene.fresh(line.text) and line.text not in scene.talk.said:
        yield line


def _is_worn(scene: TalkScene, line: DraftLine) -> bool:
    """Tells whether the speaker has said the same about something else."""
    around = max(line.text.lower().split(scene.language.bare(line.topic)), key=len).strip()
    return len(around) >= TELLING and around in scene.past


def _answers(scene: TalkScene) -> Iterator[Move]:
    """Yields lines about the subject that the last line asks about."""
    memory = next((one for one in scene.talk.recalled if scene.last and one.happening.quote == scene.last), None)
    if memory is not None and scene.heard.asks and scene.heard.topic:
        yield "stage.answer", memory, {"topic": scene.heard.topic}


def _moves(scene: TalkScene, latest: tuple[str, ...]) -> Iterator[Move]:
    """Yields the moves that the recalled memories allow, without the subjects of the `latest` lines."""
    about = [(one, one.happening.topic) for one in scene.talk.recalled]
    subjects = [topic for _, topic in about if scene.language.is_common(topic) and topic not in latest]
    for one, topic in about:
        if topic not in subjects:
            continue
        act, known = remembered(one.happening, scene.me.language).act, one.happening
        slots = {"topic": topic, "other": next((name for name in subjects if name != topic), "")}
        if isinstance(known, Said) and known.to_me:
            yield "stage.hold" if act == "intend" else "stage.callback", one, slots
        elif isinstance(known, ISaid):
            yield "stage.kept" if act == "intend" else "stage.promise", one, slots
        else:
            yield "stage.muse", one, slots
        if sum(1 for text in scene.talk.said if scene.language.bare(topic) in text.lower()) >= OFTEN:
            yield "stage.gag", one, slots
        if slots["other"]:
            yield "stage.link", one, slots
        if scene.you.warmth >= CLOSE and scene.dice.chance(20, "fond", one.id):
            yield "stage.fond", one, slots


def _duet_talk(given: DuetInput, *, opens: bool = False) -> ConverseInput:
    """Returns the turn as a line of talk. The last line counts as heard even if it was not stored as a memory."""
    recalled, last = given.recalled, given.lines[-1] if given.lines else None
    if opens:
        recalled = (*recalled, *(note for note in given.untold if note not in recalled))
    if last is not None and last.speaker == given.other.id and not any(last.text in one.text for one in recalled):
        recalled = (*recalled, _just_heard(last))
    mine = tuple(line for line in given.lines if line.speaker == given.who.id)
    return ConverseInput(
        who=given.who, situation=_NOWHERE, hearer=given.other,
        purpose="tell" if opens else "reply" if given.lines else "greet",
        lines=mine if opens else given.lines, recalled=recalled, said=(*given.said, *given.heard),
    )  # fmt: skip


def _just_heard(line: Spoken) -> Recalled:
    said = Said(who=line.speaker, called=line.called, quote=line.text, to_me="1")
    return Recalled(id=UNSTORED, text=line.text, kind="observation", importance=3, minutes_ago=0, happening=said)


def _plan(given: DuetInput, dice: Dice) -> str:
    rules = grammar(given.who.language)
    spoken = rules.language
    if not given.lines:
        return rules.say("duet.tell", {}, dice)
    line = heard(given.lines[-1], given.who.language)
    rule = "duet.end" if line.act == "farewell" else "duet.answer" if line.asks else "duet.react"
    return spoken.finished(rules.say(rule, {"you": given.other.called, "topic": line.topic}, dice))
