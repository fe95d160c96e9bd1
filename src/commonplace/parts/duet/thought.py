"""What stands behind a line of a duet: the plan asked for by itself, and the reflection on the dialogue."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from commonplace.languages import phrases
from commonplace.languages.ko.josa import resolved
from commonplace.languages.language import language
from commonplace.minds.notes import Spoken
from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.hear import Heard, heard
from commonplace.minds.prompts.speech_guard import first_sentences
from commonplace.parts.duet.talk import duet_turn
from commonplace.parts.duet.tasks import DuetInput, DuetPlan, DuetReflectInput, DuetReflection
from commonplace.world.happenings import asks, tells

PLAIN = "plain"
"""The kind of a line that tells nothing in particular."""
FEW = 4
"""Words of such a line from which on it is worth a thought."""


def duet_plan(given: DuetInput, dice: Dice) -> DuetPlan:
    """Returns the plan that goes with the line."""
    return DuetPlan(plan=duet_turn(given, dice).plan)


def duet_reflect(given: DuetReflectInput, dice: Dice) -> DuetReflection:
    """Returns what the other said lately, in the other's words, and what the speaker makes of it.

    Each line is thought over once; nothing where there is no new one.
    """
    known, words = " ".join(given.earlier), language(given.who.language)
    for line, said in _worth_a_thought(given):
        quote = _point(line.text)
        if quote in known:
            continue
        topic = words.turned(said.topic, "my", words.pronouns(given.other.pronoun).get("his", "their"))
        slots = {"quote": quote, "other": given.other.called, "topic": topic}
        begun, made_of_it = (_worded(given, kind, slots, known, dice) for kind in ("said", _kind(said)))
        if made_of_it:
            cited = tuple(note.id for note in given.recalled if note.happening.quote == line.text)
            return DuetReflection(text=f"{begun} {made_of_it}", because=cited)
    return DuetReflection()


def _worth_a_thought(given: DuetReflectInput) -> Iterator[tuple[Spoken, Heard]]:
    """Yields the other's lines except questions: the latest that tell something, then the latest of some words."""
    lines = [line for line in reversed(given.lines) if line.speaker == given.other.id]
    said = [(line, of) for line in lines if not asks((of := heard(line, given.who.language)).act)]
    yield from (pair for pair in said if _kind(pair[1]) != PLAIN)
    yield from (pair for pair in said if _kind(pair[1]) == PLAIN and len(_point(pair[0].text).split()) >= FEW)


def _point(text: str) -> str:
    """Returns the sentence after the first, which may only lead up to it."""
    first = first_sentences(text, 1)
    return first_sentences(text[len(first) :].strip(), 1) or first


def _kind(said: Heard) -> str:
    if said.act in {"complain", "intend"}:
        return said.act
    return "tell" if said.topic and tells(said.act) else PLAIN


def _worded(given: DuetReflectInput, kind: str, slots: Mapping[str, str], known: str, dice: Dice) -> str:
    """Returns a wording that was not used lately, if its slots can be filled."""
    templates = phrases(given.who.language, "duet")[f"thought_{kind}"].splitlines()
    usable = [one for one in dice.shuffled(templates, "thought", kind) if "{topic}" not in one or slots["topic"]]
    texts = [resolved(one.format(**slots)) for one in usable]
    return next((text for text in texts if text not in known), texts[0])
