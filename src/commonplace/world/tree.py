"""What a static world is made of: nodes of a tree, ways between areas, and kinds of objects."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from string import Formatter
from typing import Literal, NamedTuple, get_args

from commonplace.errors import CommonplaceError
from commonplace.languages import LANGUAGES, own_phrases, phrases
from commonplace.languages.language import language as spoken
from commonplace.languages.language import said

Verb = Literal[
    "USE", "OPEN", "CLOSE", "TAKE", "DROP",
]  # fmt: skip
VERBS: tuple[Verb, ...] = get_args(Verb)
CARRYING: tuple[Verb, ...] = ("TAKE", "DROP")
"""Verbs that every portable object answers to, without a transition of its kind."""
ANY = "*"
"""In a transition or a refusal: any state."""


@dataclass(frozen=True, slots=True)
class Node:
    """One node of the tree. `type` is `area`, `object` or `agent`; objects are leaves, agents hold objects only."""

    id: str
    name: str
    type: str
    parent_id: str
    """Empty for the root."""
    children: tuple[str, ...] = ()
    outdoor: bool = False
    passage: bool = False
    """An area one only passes through: part of an edge that costs more than one tick."""
    kind: str = ""
    """Of an object: its kind's id."""
    state: str = ""
    """Of an object: its opening state; empty for its kind's initial one."""
    public: bool = True
    """Of an area: whether everybody knows of it from the start."""


@dataclass(frozen=True, slots=True)
class Transition:
    """From a state by a verb to a state.

    `also` sets other objects of the same area, as (object, state); `seen` is what the room notices. With `times` above
    1 it takes that many attempts, and each but the last only gets on with it.
    """

    verb: str
    source: str
    """The state it starts from; `*` for any."""
    target: str
    seen: str = ""
    also: tuple[tuple[str, str], ...] = ()
    times: int = 1
    steps: tuple[str, ...] = ()
    """What the room notices of the attempts before the last, in order; the last of these also of those beyond."""
    needs: tuple[tuple[str, str], ...] = ()
    """(object, state) that must be at hand: here or carried by who tries, in that state; `*` for any state."""
    people: int = 1
    """How many awake people must be here."""


@dataclass(frozen=True, slots=True)
class ObjectKind:
    """A state machine. A (verb, state) without a transition is refused with `refusals[verb, state]` or a plain text.

    A refusal's state may be `*` too; what names the state exactly comes before what names any.
    """

    id: str
    states: tuple[str, ...]
    initial: str
    transitions: tuple[Transition, ...] = ()
    refusals: Mapping[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    portable: bool = False
    """Whether TAKE carries it away and DROP puts it down; both work unless a refusal says otherwise."""
    words: Mapping[str, str] = field(default_factory=dict[str, str])
    """How a state reads in a sentence (`broken` → `is broken`), by state."""
    verbs: tuple[Verb, ...] = field(init=False, compare=False, repr=False)
    """Derived: the verbs it knows, refused ones included, in the order of `VERBS`; not TAKE and DROP of portables."""

    @property
    def repairs(self) -> tuple[Transition, ...]:
        """Returns the transitions that take several attempts, other things or more people."""
        return tuple(
            one
            for one in self.transitions
            if one.target != one.source and (one.times > 1 or one.needs or one.people > 1)
        )

    def __post_init__(self) -> None:
        known = {transition.verb for transition in self.transitions} | {verb for verb, _ in self.refusals}
        object.__setattr__(self, "verbs", tuple(verb for verb in VERBS if verb in known))


@dataclass(frozen=True, slots=True)
class Way:
    """An edge between two areas; between a parent and its child it replaces the edge they have anyway."""

    id: str
    a: str
    b: str
    open_hours: tuple[int, int] | None = None
    """Minutes of the day [from, to), 0 … 1440; from after to runs over midnight. None: open all day."""
    closed: bool = False
    """Closed from the start until a scripted event or an input opens it."""


# ── objects as state machines ────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class AttemptResult:
    """The result of trying a verb on an object."""

    done: bool
    target: str = ""
    """The state it writes; empty when it leaves the state alone (a refusal, or taking a portable object)."""
    seen: str = ""
    """What the room notices; may be empty."""
    why: str = ""
    """Of a refusal: the kind's own text, empty when it has none."""
    also: tuple[tuple[str, str], ...] = ()
    """(object, state) it writes in addition."""
    progress: int = 0
    """Attempts made so far of a transition that takes several, this one included; 0 when it leads on, or takes one."""
    times: int = 1
    """How many it takes."""
    lacks: str = ""
    """Of a refusal: the object it would need; `PEOPLE` for more hands."""


PEOPLE = "*"
"""What a transition lacks that needs more people."""


def attempt(
    kind: ObjectKind,
    state: str,
    verb: str,
    *,
    progress: int = 0,
    at_hand: Mapping[str, str] | None = None,
    people: int = 1,
) -> AttemptResult:
    """Returns the result of trying the verb. An exact rule comes before one for any state, a transition before a
    refusal of the same rank.

    `progress`: attempts made in this state before; `at_hand`: states of the objects at hand; `people`: how many awake
    people are here. A transition whose needs are not met is refused, with the kind's refusal if there is one.
    """
    for source in (state, ANY):
        for transition in kind.transitions:
            if transition.verb == verb and transition.source == source:
                lacks = _lacks(transition, at_hand or {}, people)
                return _refused(kind, verb, state, lacks) if lacks else _led(transition, progress)
        if (verb, source) in kind.refusals:
            return AttemptResult(False, why=kind.refusals[verb, source])
    return AttemptResult(kind.portable and verb in CARRYING)


def _lacks(transition: Transition, at_hand: Mapping[str, str], people: int) -> str:
    """Returns the first need of a transition that is not met."""
    for thing, state in transition.needs:
        if thing not in at_hand or state not in (ANY, at_hand[thing]):
            return thing
    return PEOPLE if people < transition.people else ""


def _refused(kind: ObjectKind, verb: str, state: str, lacks: str) -> AttemptResult:
    why = kind.refusals.get((verb, state)) or kind.refusals.get((verb, ANY), "")
    return AttemptResult(False, why=why, lacks=lacks)


def _led(transition: Transition, progress: int) -> AttemptResult:
    """Returns the end of a transition, or the next step on the way to it."""
    number = progress + 1
    if number < transition.times:
        step = transition.steps[min(number, len(transition.steps)) - 1] if transition.steps else ""
        return AttemptResult(True, seen=step, progress=number, times=transition.times)
    return AttemptResult(True, transition.target, transition.seen, "", transition.also, times=transition.times)


def leads_on(kind: ObjectKind, state: str) -> tuple[str, ...]:
    """Returns the verbs that change something in this state to another one, in the order of `VERBS`."""
    led = {one.verb for one in kind.transitions if one.source in (state, ANY) and one.target != state}
    return tuple(verb for verb in kind.verbs if verb in led)


def words(kind: ObjectKind, state: str) -> str:
    """Returns how the state reads after the object's name: `is broken`. A state without words of its own reads `is
    <state>`."""
    return kind.words.get(state, f"is {state.replace('_', ' ')}")


# ── the few words the simulator itself says ──────────────────────────────────────────────────────────────────────────
#
# They are history (a body's `doing` is stored), so they come from this table and never from a locale. The Korean
# phrases are made so that no particle depends on the last sound of a name.


Phrase = Literal["arriving", "leaving", "waiting", "closed", "refused", "lacks", "hands", "passage", "power"]


def say(language: str, phrase: Phrase, **names: str) -> str:
    """Returns the phrase in a language, with the names filled in."""
    return said(language, "world", phrase, **names)


_BETWEEN = " | "


class VerbWords(NamedTuple):
    """How a verb for objects reads."""

    doing: str
    """While somebody does it."""
    attempt: str
    """In a sentence that says who tries it and on what."""
    event: str
    """After the name of who has done it."""


class ActionWords(NamedTuple):
    """How a kind of action reads; `{to}` is the person or place it is for, `{object}` the thing."""

    doing: str
    """While somebody does it."""
    event: str
    """After the name of who has done it."""
    hint: str = ""
    """What a model is told it is; empty where its name says that."""


def verb_words(language: str, verb: str, name: str) -> VerbWords:
    """Returns the words for a verb, with the object's name filled in. Raises KeyError if there is no such verb."""
    joined = spoken(language).joined
    columns = phrases(language, "verbs")[verb].split(_BETWEEN)
    return VerbWords(*(joined(words.format(name=name)) for words in columns))


def action_words(language: str, kind: str, column: Literal["doing", "event", "hint"], **names: str) -> str:
    """Returns words for a kind of action, with names filled in. Raises KeyError for an unknown kind or name."""
    row = ActionWords(*phrases(language, "actions")[kind].split(_BETWEEN))
    return spoken(language).joined(getattr(row, column).format_map(names))


def refuse_mistakes(
    table: str, what: str, slots: Mapping[str, Collection[str]], columns: type[VerbWords | ActionWords]
) -> None:
    """Raises CommonplaceError unless each language with this table of phrases has a row for each name, and no other.

    A language without the table says it in English. `what`: `verb`, and where it is named; `slots`: name → what its
    words may have in braces.
    """
    noun, _, where = what.partition(", ")
    shape, most = _BETWEEN.join(columns._fields), len(columns._fields)
    for language in LANGUAGES:
        file, rows = f"languages/{language}/phrases.toml", own_phrases(language, table)
        for name in sorted({*rows} ^ {*slots} if rows else ()):
            if name in rows:
                raise CommonplaceError(f"{file} has words for {name!r}, which is no {noun}", hint=f"name it in {where}")
            raise CommonplaceError(
                f"the {noun} {name!r} has no words in {file}", hint=f"give it a line in [{table}]: {shape}"
            )
        for name, row in rows.items():
            known = {slot for _, slot, _, _ in Formatter().parse(row)} <= {None, *slots[name]}
            if not known or not most - len(columns._field_defaults) <= len(row.split(_BETWEEN)) <= most:
                named = ", ".join(f"{{{slot}}}" for slot in sorted(slots[name]) if slot)
                raise CommonplaceError(
                    f"{file}: the words for {name!r} are {row!r}", hint=f"expected {shape}, with {named}"
                )


refuse_mistakes("verbs", "verb, Verb, world/tree.py", dict.fromkeys(VERBS, ("name",)), VerbWords)
