"""What happened, as one character knows it: a type for each kind of happening, from the percept to what a mind is told.

A memory keeps its happening in `details["frame"]`, as flat words and ids; `as_frame` and `happening_of` are the two
ways between that JSON and these types. A mind gets the same value with the names of its ids.

What a line does is a speech act, by verb and kind, as in `ask.well`, `tell.loss`, `keep.lend`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeVar, dataclass_transform, get_args

import msgspec
from msgspec import Struct, field

FAVOURS = frozenset({"lend", "help", "visit", "give", "return"})
"""What people promise each other: to lend or give something, to help, to come by, to bring back what was lent. It is
asked for with `ask.KIND`, offered with `promise.KIND`, and done with `keep.KIND`."""
ASKS_HELP = "ask.favour"
"""Asks for help; `ask.help` offers it in general."""
QUESTIONS = (
    "ask.event", "ask.going", "ask.seen", "ask.well", "ask.doing", "ask.help", "ask.who", "ask.else", "ask.then",
    "ask.think", "ask.why", "ask.feel", "ask.since", "ask.more", "ask.topic", "ask.what",
)  # fmt: skip
"""Questions by what they ask, in the order in which their phrases are searched for; a plain `ask` is any other."""
SORTS = frozenset(
    {
        "loss", "concern", "wish", "secret", "long_ago", "feeling", "fond", "tease", "joke", "puzzle", "view",
        "toast", "heard", "saw", "did", "here", "present", "missed", "noticed",
    }
)  # fmt: skip
"""Sorts of what is told. The last seven are those of what the speaker witnessed: `here` is a remark on an occasion
both are at, `present` one on somebody there, `missed` one on somebody who is not, `noticed` one on what has just
happened to both."""
ACTS = frozenset(
    {
        "greet", "farewell", "thank", "apologise", "praise", "comfort", "invite", "accept", "decline", "hesitate",
        "ask.lend", "ask.visit", ASKS_HELP, "promise.give", "make_up", "forgive", "defy",
        *(f"keep.{kind}" for kind in FAVOURS),
        "tell", "report", "reproach", "complain", "rejoice", "intend", "weather", "acknowledge", "answer", "snub",
        "ask", *QUESTIONS,
        *(f"tell.{sort}" for sort in SORTS),
    }
)  # fmt: skip
"""What a line may do. `hesitate` is a maybe to an invitation, `weather` a remark on it, `snub` a refusal to talk; a
`tell` may name its sort after a dot."""
TELLING = frozenset({"", "tell", "report", "complain", "rejoice", "intend", "praise", "invite", "answer"})
"""Acts that tell something; so do those that begin with `tell.`."""
SETTLING = frozenset({"reproach", "apologise"})
"""Acts about what stands between two."""
_ACTS_OF_SORTS = {"worry": "complain", "joy": "rejoice", "plan": "intend"}
"""Sorts of what is told that are acts of their own."""

TALKS = "💬"
_EMOJI = {
    "ask": "🤔", "invite": "🤔", "complain": "😟", "reproach": "😠", "rejoice": "😄", "praise": "😊", "thank": "🙏",
    "apologise": "🙇", "comfort": "🤗", "intend": "🤝", "accept": "🤝", "greet": "👋", "farewell": "👋",
    "promise": "🤝", "keep": "🤝", "make_up": "🤝", "forgive": "🤗", "decline": "🙅", "hesitate": "🤷", "snub": "😒",
    "defy": "😤", "report": "📣", "weather": "⛅", "tell.loss": "😢", "tell.concern": "😟", "tell.secret": "🤫",
    "tell.joke": "😂", "tell.tease": "😜", "tell.fond": "🥰", "tell.feeling": "💗", "tell.wish": "🌠",
    "tell.long_ago": "📜", "tell.puzzle": "🧩", "tell.view": "🧐", "tell.heard": "👂", "tell.saw": "👀",
    "tell.here": "👀", "tell.present": "👀", "tell.missed": "🪑", "tell.toast": "🥂", "tell.noticed": "👀",
}  # fmt: skip
"""What a line does, by verb and kind or by verb → what is shown over its speaker's head; `TALKS` for all else."""


def emoji_of(act: str) -> str:
    """Returns the emoji shown over the head of somebody whose line does this act."""
    return _EMOJI.get(act) or _EMOJI.get(act.partition(".")[0], TALKS)


def telling(sort: str) -> str:
    """Returns the act of telling something of a sort that a scenario names."""
    return _ACTS_OF_SORTS.get(sort, f"tell.{sort}" if sort else "tell")


def act_in(text: str, said: str) -> str:
    """Returns the act of a line: `said` by its speaker's mind, else `ask` for a question; empty for any other line."""
    return said or ("ask" if text.rstrip().endswith("?") else "")


def asks(act: str) -> bool:
    """Tells whether an act waits for an answer."""
    return act.startswith("ask") or act == "invite"


def tells(act: str) -> bool:
    """Tells whether an act tells something."""
    return act in TELLING or act.startswith("tell.")


def favour_in(act: str, does: str) -> str:
    """Returns the favour that an act asks for (`ask`), offers (`promise`) or does (`keep`); empty for none."""
    if act == ASKS_HELP:
        act = "ask.help" if does == "ask" else ""
    elif act == "ask.help":
        return ""
    verb, _, kind = act.partition(".")
    return kind if verb == does and kind in FAVOURS else ""


T = TypeVar("T")


def always(default: T) -> T:
    """Returns a field that JSON has even at its default, in a class that leaves other defaults out."""
    return field(default_factory=lambda: default)


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
class Happened(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="what", tag="unknown"):
    """What may be asked of any happening. A field is empty where it does not apply."""

    who: str = ""
    """Id of the character who did it; empty where it was oneself or nobody."""
    to: str = ""
    """Id of whom it was said to."""
    place: str = ""
    """Id of the area where it was."""
    object: str = ""
    """Id of the object it was done to, or that it is about."""
    topic: str = ""
    """What it is about, in words."""
    about: str = ""
    """Id of the character it is about."""
    doing: str = ""
    """What was done, as it is said: `repairing a drone`."""
    quote: str = ""
    """What was said, word for word."""

    # The names of the ids, for minds: a memory is kept without them.
    called: str = ""
    """Short name of `who`."""
    pronoun: str = ""
    """Of `who`."""
    refer: str = ""
    """What the one who remembers calls `who`, in languages that ask for more than a name."""
    to_called: str = ""
    """Short name of `to`."""
    to_refer: str = ""
    object_name: str = ""
    place_name: str = ""
    other_name: str = ""


class Speech(Happened):
    """A line, heard or said."""

    to: str = always("")
    quote: str = always("")
    speech_act: str = ""
    """What it does, where its speaker's mind said so: one of `ACTS`; `topic` says what it is about."""

    @property
    def act(self) -> str:
        """Returns the act of the line; if its speaker named none, `ask` for a question and empty for any other."""
        return act_in(self.quote, self.speech_act)


class Said(Speech, tag="said"):
    """Somebody said something."""

    to_me: Literal["", "1"] = always("")


class ISaid(Speech, tag="i_said"):
    """Something one said oneself."""


class Talked(Happened, tag="talk"):
    """`who` began to talk with `to`."""


class Seen(Happened, tag="doing"):
    """Somebody was seen at something."""

    doing: str = always("")


class Came(Happened, tag="arrived"):
    """Somebody came in."""

    other: str = ""
    """Id of the area they came from; empty for somebody who joined the world."""


class Left(Happened, tag="left"):
    """Somebody went out."""

    other: str = ""
    """Id of the area they went to; empty for somebody who left the world."""


class Tried(Happened, tag="acted"):
    """Somebody tried in vain to do something to an object."""

    verb: str = ""
    outcome: str = ""
    why: str = always("")


class Changed(Happened, tag="thing"):
    """An object is in a state in which it was not when last seen."""

    state: str = always("")
    words: str = always("")
    """The state as it is said."""
    seen: str = ""
    """What there was to see as somebody brought it into that state; empty where only the state was noticed."""
    progress: str = ""
    """Of a longer piece of work, how much of it was done then, `2/5`."""


class Missing(Happened, tag="missing"):
    """An object is not where it was believed to be."""


class Sky(Happened, tag="weather"):
    """The weather changed."""

    sky: str = always("")
    old: str = always("")


class Hour(Happened, tag="time"):
    """Another part of the day began."""

    part: str = always("")


class Befell(Happened, tag="event"):
    """A scripted event or one from outside."""

    text: str = always("")
    event: str = ""
    """Id of the scripted event or occasion, or the key of the circumstance it is about: `burning.noodle-bar`."""
    areas: str = ""
    """Ids of the areas it was confined to."""
    far: str = ""
    """Ids of the areas where it was, for one who noticed it from the next one only."""
    there: str = field(default="", name="with")
    """Ids of those who were there awake."""
    sort: str = ""
    """What its author says it is: `loss`, `joy` …; `topic` what it is about. For minds only."""


class Read(Happened, tag="read"):
    """Something read, or heard on the radio; `who` is who wrote it, if that is a character."""

    quote: str = always("")
    form: str = always("")
    """`letter`, `notice` or `broadcast`."""


class Voiced(Happened, tag="voice"):
    """A thought that will not go away."""

    text: str = always("")


class Did(Happened, tag="did"):
    """Something one did oneself."""

    doing: str = always("")
    verb: str = ""
    step: str = ""
    """What has been got done of a longer piece of work, and how much of it, `2/5`."""
    progress: str = ""


class Walked(Happened, tag="walked"):
    """One went somewhere oneself."""


class Failed(Happened, tag="refused"):
    """Something one tried in vain. Without an `object` it was not possible at all; `place` is where a closed way was to
    lead."""

    verb: str = ""
    why: str = always("")


class Absent(Happened, tag="absent"):
    """An object one looked for in vain."""


class Planned(Happened, tag="plan"):
    """A stretch of plan."""

    start: str = ""
    """`HH:MM`."""
    do: str = always("")
    level: str = ""
    decided: Literal["", "1"] = ""
    """Whether it took the place of what was planned."""


class Meant(Happened, tag="intent"):
    """What one meant to do with the next line, on a stage for two."""


class Concluded(Happened, tag="insight"):
    """A conclusion, with what the mind that drew it needs to speak of it."""

    about: str = always("")
    kind: str = ""
    say: str = ""
    """How it is said to others, and to the one it is about."""
    you: str = ""
    wish: str = ""
    """What one wants to do about it."""


class Seed(Happened, tag="seed"):
    """Something known from the start."""

    about: str = always("")
    topic: str = always("")
    sort: str = ""


class Answered(Happened, tag="answered"):
    """What one answered in an earlier panel."""

    asked: str = always("")
    quote: str = always("")


Happening = (
    Happened | Said | ISaid | Talked | Seen | Came | Left | Tried | Changed | Missing | Sky | Hour | Befell | Read
    | Voiced | Did | Walked | Failed | Absent | Planned | Meant | Concluded | Seed | Answered
)  # fmt: skip
"""Any of them. A bare `Happened` is a memory of which nothing else is known."""
NOTHING_KNOWN = Happened()
_KINDS: Mapping[object, type[Happening]] = {kind.__struct_config__.tag: kind for kind in get_args(Happening)}


def happening_of(details: Mapping[str, Any]) -> Happening:
    """Returns the happening of a memory, from its details; `NOTHING_KNOWN` if they have none, as in memories that a
    program keeps without a town."""
    try:
        frame = details["frame"]
        return msgspec.convert(frame, _KINDS[frame["what"]])
    except (KeyError, TypeError, msgspec.ValidationError):
        return NOTHING_KNOWN


def is_finished(progress: str) -> bool:
    """Tells whether a longer piece of work is finished: `5/5`."""
    made, _, wanted = progress.partition("/")
    return bool(progress) and made == wanted


def as_frame(happening: Happening) -> dict[str, str]:
    """Returns a happening as a memory stores it, in canonical order."""
    return dict(sorted(msgspec.to_builtins(happening).items()))
