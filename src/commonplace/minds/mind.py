"""What it means to ask a mind: `Task`, `Ask` and `Answer` on the asking side, `Mind`, `RequestKey` and `Reply` on the
answering side.

Also here: how many tokens a text has, estimated without a tokenizer, and what is being said while a model still writes
it. The last is for whoever watches: it is never stored and decides nothing.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, Protocol, TypeAlias, TypeVar

from commonplace.minds.notes import Given, Value
from commonplace.text import clean

if TYPE_CHECKING:  # tasks are made of these; they import this module
    from commonplace.minds.tasks.offers import Offers
    from commonplace.minds.tasks.scenes import PromptView
    from commonplace.minds.tasks.wire import AnswerModel

I = TypeVar("I", bound=Given)  # noqa: E741 – the input's type
O = TypeVar("O", bound=Value)  # noqa: E741 – the output's type


@dataclass(frozen=True, slots=True)
class Task(Generic[I, O]):
    """One kind of question: everything that is known about it, apart from its templates and its offline function.

    Only a task with a `scene` can be put into words for a model; the fields after `temperature` concern no other.
    """

    name: str
    """Also the name of its templates, `prompts/en/NAME.txt` and `prompts/ko/NAME.txt`."""
    input: type[I]
    output: type[O]
    fallback: Callable[[I], O]
    """Makes the answer that is used without a usable one. It must not fail."""
    max_tokens: int = 400
    """Length limit of an answer."""
    temperature: float = 0.5
    """0 where the same input should get the same judgement; higher where variety is wanted."""
    scene: Callable[[I, PromptView], Mapping[str, Any]] | None = None
    """The values its template gets in addition to those every template gets."""
    offers: Callable[[I], Offers] | None = None
    """What an answer may choose from; None for nothing."""
    answer: type[AnswerModel] | None = None
    """What a model writes. None: the output itself."""
    tool: type[AnswerModel] | None = None
    """What it writes where its settings force a call of the tool of the task's name; None: the same."""
    possible: Callable[[I, O], bool] | None = None
    """Whether the action of an answer can be tried where the input is; None for a task without actions."""
    free_text: str = ""
    """The field that plain words are taken for when a model does not answer in JSON; empty: they are unusable."""
    aloud: Callable[[I, str], str] | None = None
    """The words said aloud in an answer that is still being written, to be shown meanwhile; None: nothing is said."""
    extra_tokens: Callable[[I], int] | None = None
    """Tokens on top of `max_tokens` for what only some inputs ask for."""

    def tokens(self, inputs: I) -> int:
        """Returns the length limit of the answer to one question."""
        return self.max_tokens + (self.extra_tokens(inputs) if self.extra_tokens else 0)


@dataclass(frozen=True, slots=True)
class Answer(Generic[O]):
    """What came back: always a usable value, and how it came about."""

    value: O
    outcome: str
    """`value`, `malformed` or `fault`; the last two mean that `value` is the fallback."""
    number: int
    """The question's ordinal in its tick."""


@dataclass(frozen=True, slots=True)
class Ask(Generic[I, O]):
    """A question on its way to whoever drives the turn."""

    task: Task[I, O]
    input: I
    unless: Unless[I] | None = None
    """Answers in place of a mind that costs something where there is nothing to decide; None if the mind has to."""

    def __await__(self) -> Generator[Ask[I, O], Answer[O], Answer[O]]:
        return (yield self)


def ask(task: Task[I, O], value: I, unless: Unless[I] | None = None) -> Ask[I, O]:
    """Returns what `await ask(TASK, input)` awaits, which is all that a turn may await."""
    return Ask(task, value, unless)


@dataclass(frozen=True, slots=True)
class RequestKey:
    """Who asks and when: the key of an answer in the journal and of every keyed draw a mind makes."""

    seed: int
    agent: str
    tick: int
    number: int
    """The question's ordinal in the character's tick."""
    attempt: int = 0
    """0 at first; one more each time an unusable answer is asked for again."""
    before: Reply | None = None
    """The unusable reply of the attempt before, of which the next attempt says what was wrong."""


Flaw = Literal["dropped", "copied", "impossible", "unknown", "sign", "cut", "repaired"]
"""What was wrong with an answer that is used all the same.

- `dropped`: words that nobody says or does (`10:00 to 12:40`, a stage direction alone) were left out
- `copied`: words of the prompt or names of the schema were left out
- `impossible`: an action at what is not there, which the simulator rejects
- `unknown`: people, places, things or news that were not offered, memories that were not shown, were left out
- `sign`: words in place of an emoji were left out
- `cut`: a text or a list was shortened
- `repaired`: it was almost JSON, or plain words
"""
LOST: frozenset[Flaw] = frozenset({"dropped", "copied", "impossible"})
"""The flaws that cost an answer its words or its action."""
Flaws: TypeAlias = Counter[Flaw]
"""How often each was met in one answer; whoever reads the answer adds to it."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a mind returned: a validated value, or the reason why it has none."""

    value: Value | None
    outcome: str = "value"
    """`value`, `malformed` or `fault`."""
    error: str = ""
    """What was wrong, for people; never told to a character."""
    kind: str = ""
    """The kind of fault in one word, to be counted by: `timeout`, `empty`, `json`, `schema`, `range` …"""
    prompt: str = ""
    """What a model was asked, as text; empty without a prompt."""
    raw: str = ""
    """The raw answer of a model; may be empty."""
    prompt_tokens: int = 0
    cached_tokens: int = 0
    """Those of the prompt's tokens the server had read before."""
    answer_tokens: int = 0
    flaws: Mapping[Flaw, int] = field(default_factory=dict[Flaw, int])
    """What was wrong with a value that is used all the same; see `Flaw`."""
    calls: int = 0
    """Requests made to a server for it, retries included."""
    reused: int = 0
    """1 for an answer that an earlier run got to the very same request."""
    needless: int = 0
    """1 for an answer of the rules to a question that was not put to the mind: there was nothing to decide."""
    mind: str = ""
    """Who answered, where that is not the common mind of the run."""
    row: Mapping[str, Any] | None = None
    """The row of a table that decided: `row`, `when`, `nearly` (`minds.offline.rule_tables.ChosenRow.account`)."""


Unless = Callable[[I, RequestKey], Reply | None]
"""See `Ask.unless`."""


class Decided(NamedTuple):
    """An answer of the offline mind, and the row that it follows."""

    value: Value
    row: Mapping[str, Any]


class Mind(Protocol):
    """Answers at once with a `Reply`, or with something to await for one. An answer depends on its request alone."""

    name: str
    paid: bool
    """Whether an answer costs time or money to have again; then it is journaled before it is used."""
    max_attempts: int
    """How often a question is put before its fallback counts; 1 for a mind that would only repeat itself."""

    def answer(self, ask: Ask[Any, Any], request_key: RequestKey) -> Reply | Awaitable[Reply]:
        """Returns the reply to one question. It never raises for a bad answer: that is a `malformed` or `fault` reply.

        Raises Paused if no answer is available now and the run should wait, such as for a server that does not answer.
        """
        ...

    async def close(self) -> None:
        """Closes connections. It is called when no question is open; the mind may be asked again later."""
        ...


_PIECES = re.compile(r"([A-Za-z]+)|[0-9]|([\uac00-\ud7a3]+)|([^\sA-Za-z0-9\uac00-\ud7a3]+)")
LONG_WORD = 6
"""Letters of a word from which on each further one counts."""
WORD, LETTER, FIGURE, KOREAN_WORD, SYLLABLE, SIGNS, SIGN = 86, 67, 153, 49, 72, 106, 40
"""Hundredths of a token: fitted to Qwen's tokenizer on the prompts and answers of `latticeville` and `sijang`.

A figure is a token, and so is the blank before it. `SIGNS` is a run of ASCII signs, `SIGN` any other sign.
"""


def estimated_tokens(text: str) -> int:
    """Returns the tokens of a prompt or of JSON, in English or Korean: within a few per cent on average for Qwen, more
    than others need. Texts of a memory are counted by `commonplace.memory.estimate_tokens`, which is simpler."""
    hundredths = 0
    for found in _PIECES.finditer(text):
        match found.lastindex:
            case 1:
                hundredths += WORD + LETTER * max(0, found.end() - found.start() - LONG_WORD)
            case 2:
                hundredths += KOREAN_WORD + SYLLABLE * (found.end() - found.start())
            case 3:
                hundredths += SIGNS if found[0].isascii() else SIGN * (found.end() - found.start())
            case _:
                hundredths += FIGURE
    return -(-hundredths // 100)


Listener = Callable[[str, str], object]
"""Told who says something and the words so far; no words if it will not be said after all. It must not fail."""

_LISTENER: ContextVar[Listener | None] = ContextVar("listener", default=None)
_WORDS = (
    r'((?:[^"\\]|\\["\\/bfnrt]|\\u(?![dD][89abAB])[0-9a-fA-F]{4}'
    r"|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})*)"
)
"""The whole characters at the beginning of a JSON string: not half of an escape."""


@contextmanager
def listening(listener: Listener) -> Generator[None]:
    """Tells the listener what is said within the block, in this task and those that it starts."""
    before = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(before)


def listener() -> Listener | None:
    """Returns the listener; None if there is none."""
    return _LISTENER.get()


def words_in(written: str, field: str) -> str:
    """Returns the words of a field in JSON that is still being written; empty as long as it has none."""
    found = re.search(rf'(?<!\\)"{field}"\s*:\s*"{_WORDS}', written)
    return clean(json.loads(f'"{found[1]}"', strict=False)) if found else ""
