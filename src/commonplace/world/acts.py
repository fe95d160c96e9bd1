"""What a line does: the speech acts there are, by verb and kind, as in `ask.well`, `tell.loss`, `keep.lend`."""

from __future__ import annotations

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
