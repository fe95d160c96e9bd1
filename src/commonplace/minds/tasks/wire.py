"""Answers on the wire: the JSON a model server writes, under the names a prompt uses.

What a model writes for a task is one Pydantic model: the task's output itself where it is a `WireValue`, else an
`AnswerModel`. Three things follow from it: the JSON Schema (`schema`), reading (`read`) and writing (`written`).

- **One schema per task**, the same text for every input, so that a server compiles it once. It names no ids and no
  lengths: what an answer may choose from is checked after reading, against what the input offers (`Offers`).
- **Reading is lenient**: what is nearly right is taken (`"7"` for 7, other letter case, quotation marks around words,
  texts that are too long). What is wrong raises `Unusable`, whose message is quoted when the question is asked again.
- **Fields are annotated with rules**: `words`, `spoken`, `whole`, `choice`, `Cited` … A rule changes a value only while
  an answer is read or written, which it knows from the validation context. Code that makes an answer or an output
  itself gets plain Pydantic validation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Annotated, Any, Literal, Self, cast

from pydantic import (
    BaseModel,
    ConfigDict,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    SerializationInfo,
    SerializerFunctionWrapHandler,
    ValidationError,
    ValidationInfo,
    model_serializer,
)
from pydantic_core import CoreSchema, ErrorDetails, PydanticOmit, core_schema

from commonplace.errors import UsageError
from commonplace.languages.ko.josa import planned
from commonplace.minds.mind import Ask, Flaw, Task
from commonplace.minds.notes import Value
from commonplace.minds.prompts.prompt import Unusable, in_language
from commonplace.minds.prompts.speech_guard import LONGEST_LINE, SpeechGuard, first_sentences
from commonplace.minds.tasks.offers import Choices, Offers
from commonplace.text import HANGUL, LATIN, OTHER_LETTERS, clean, shortened

Schema = dict[str, Any]

LONGEST_RAW = 8000
"""Characters of a text that are read before it is cut to its length."""
LONGEST_DOING, LONGEST_CHOICE, LONGEST_SUBJECT = 120, 200, 60
"""Characters of what somebody is doing, of a label as it came, and of a subject in free words."""
MOST_CITED = 8
"""Memories or choices a schema lets a list hold, so that no model lists forever; a longer list is still read."""
MOST_COMPLAINTS = 3
"""Errors of one answer that are quoted; fixing these mostly fixes the rest."""


# ── a task's answer as JSON ──────────────────────────────────────────────────────────────────────────────────────────


class WireValue(Value):
    """An output that a model writes as it is, with its fields in the order in which a model is to write them.

    A field may have another name on the wire: `Field(validation_alias="say", serialization_alias="say")`.
    """

    model_config = ConfigDict(defer_build=True, extra="ignore", populate_by_name=True)

    @model_serializer(mode="wrap")
    def _without_empty_notes(self, handler: SerializerFunctionWrapHandler, info: SerializationInfo) -> dict[str, Any]:
        """Leaves out the empty fields that are marked `Unasked`."""
        data: dict[str, Any] = handler(self)
        if info.context is not None:
            for name, field_info in type(self).model_fields.items():
                empty = field_info.get_default(call_default_factory=True)
                if any(isinstance(mark, UnaskedField) for mark in field_info.metadata) and getattr(self, name) == empty:
                    del data[name]
        return data


class AnswerModel(WireValue):
    """What a model writes for a task whose output has another shape."""

    def output(self, inputs: Any) -> Value:
        """Returns the task's output. Raises Unusable."""
        raise NotImplementedError

    @classmethod
    def of(cls, inputs: Any, value: Any) -> Self:
        """Returns the answer from which `output` makes this value."""
        raise NotImplementedError


class UnaskedField:
    """In `Annotated`: a field that rules note for themselves. No model is asked for it, so it is in no schema."""

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> Schema:
        raise PydanticOmit


Unasked = UnaskedField()


def read(ask: Ask[Any, Any], data: object, guard: SpeechGuard, citable: Collection[int] = ()) -> Value:
    """Returns parsed JSON as the task's output. Raises Unusable, which says what is wrong with it.

    `citable`: the memories that it may cite, those of the prompt; others are removed. Mistakes in an answer that is
    used all the same are added to `guard.flaws`.
    """
    model = _model(ask.task)
    if ask.task.tool is not None and isinstance(data, dict) and _is_call(cast(dict[str, object], data), ask.task.tool):
        model = ask.task.tool
    if not isinstance(data, dict):
        raise Unusable(in_language("the answer must be a JSON object", guard.language), "schema")
    data = cast(dict[str, object], data)
    names: Iterable[str] = _schema(model)["properties"]
    if not any(name in data for name in names):
        none = Unusable("the answer has none of the fields {names}", "schema", names=", ".join(names))
        raise Unusable(none.told(guard.language), none.kind)
    try:
        knowing = replace(guard, names=_schema_words(model))
        answer = model.model_validate(data, context=Context(ask.input, offers_of(ask), knowing, citable))
        value = answer.output(ask.input) if isinstance(answer, AnswerModel) else cast(Value, answer)
        if ask.task.possible is not None:
            guard.flaws["impossible"] += not ask.task.possible(ask.input, value)
        return value
    except ValidationError as error:
        raise _unusable(error, guard.language) from error


def _is_call(data: Mapping[str, object], call: type[AnswerModel]) -> bool:
    """Tells whether an answer has the arguments of a tool: only these contain objects, or null for one left out."""
    parts = [name for name, field_info in call.model_fields.items() if not field_info.is_required()]
    return any(isinstance(data.get(name), dict) for name in parts) or any(data.get(name, "") is None for name in parts)


def written(ask: Ask[Any, Any], value: Value, *, tool: bool = False) -> dict[str, Any]:
    """Returns a task's output as the JSON a model would have written, with `tool` as the arguments of its tool; `read`
    reverses it."""
    model = _model(ask.task, tool=tool)
    answer = model.of(ask.input, value) if issubclass(model, AnswerModel) else value
    return answer.model_dump(mode="json", by_alias=True, context=offers_of(ask))


def schema(task: Task[Any, Any], *, tool: bool = False) -> Schema:
    """Returns the JSON Schema of a task's answers: closed objects with all properties required, without `$ref` and
    lengths.

    `tool`: the schema of the arguments of its tool.
    """
    return _schema(_model(task, tool=tool))


def offers_of(ask: Ask[Any, Any]) -> Offers:
    """Returns the choices that the answer to a question may use."""
    return ask.task.offers(ask.input) if ask.task.offers else Offers()


def _model(task: Task[Any, Any], *, tool: bool = False) -> type[BaseModel]:
    if task.scene is None:
        raise UsageError(f"the task {task.name!r} is not put into words", hint="give its Task a scene")
    return (task.tool if tool else None) or task.answer or task.output


@cache
def _schema(model: type[BaseModel]) -> Schema:
    whole = model.model_json_schema()
    return _closed(whole, whole.get("$defs", {}))


_KEPT = ("type", "enum", "const", "minimum", "maximum", "pattern", "minItems", "maxItems")
"""Keywords that llama.cpp, vLLM and OpenAI's strict mode all take.

Lengths of texts are not among them: as a grammar they take seconds to compile, and texts are cut when they are read.
"""


@cache
def _schema_words(model: type[BaseModel]) -> frozenset[str]:
    """Returns the names of all properties and types of an answer."""

    def each(node: Schema) -> Iterator[str]:
        yield from (word for word in (node.get("type"), *node.get("properties", ())) if word)
        for inner in (*node.get("properties", {}).values(), *node.get("anyOf", ())):
            yield from each(inner)
        if "items" in node:
            yield from each(node["items"])

    return frozenset(each(_schema(model)))


def _closed(node: Schema, definitions: Mapping[str, Schema]) -> Schema:
    if "$ref" in node:
        node = definitions[node["$ref"].rpartition("/")[2]]
    closed: Schema = {name: node[name] for name in _KEPT if name in node}
    if "properties" in node:
        closed["properties"] = {name: _closed(part, definitions) for name, part in node["properties"].items()}
        closed |= {"required": list(node["properties"]), "additionalProperties": False}
    if "items" in node:
        closed["items"] = _closed(node["items"], definitions)
    if "anyOf" in node:
        closed["anyOf"] = [_closed(part, definitions) for part in node["anyOf"]]
    return closed


def _unusable(error: ValidationError, language: str) -> Unusable:
    """Returns the first few errors in words; its kind is that of the first error."""
    found = error.errors(include_url=False)[:MOST_COMPLAINTS]
    return Unusable("; ".join(_complaint(one, language) for one in found), _problem(found[0]).kind)


def _complaint(error: ErrorDetails, language: str) -> str:
    path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error["loc"]).lstrip(".")
    what = _problem(error).told(language)
    return f"{path!r} {what}" if path else what


def _problem(error: ErrorDetails) -> Unusable:
    """Returns the mistake in one field."""
    context = error.get("ctx", {})
    cause = context.get("error")
    if isinstance(cause, Unusable):
        return cause
    match error["type"]:
        case "missing":
            return Unusable("is missing", "schema")
        case "literal_error":
            choices, value = context.get("expected", "").replace(" or ", ", "), _quoted(error["input"])
            return Unusable("must be one of {choices}; it was {value}", "schema", choices=choices, value=value)
        case "model_type" | "dict_type":
            return Unusable("must be a JSON object", "schema")
        case _:
            return Unusable("cannot be used: {why}", "schema", why=error["msg"])


def _quoted(value: object) -> str:
    return repr(shortened(str(value), 80))


# ── rules for fields ─────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Context:
    """What an answer is read with: Pydantic's validation context. An answer is written with its `Offers` alone."""

    inputs: Any
    offers: Offers
    guard: SpeechGuard
    citable: Collection[int] = ()
    fields: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The fields of the same object that have been read before this one."""

    def note(self, flaw: Flaw, count: int = 1) -> None:
        """Counts a mistake in an answer that is used all the same."""
        self.guard.flaws[flaw] += count


@dataclass(frozen=True, slots=True, eq=False)  # by identity: what is in `Annotated` must be hashable
class Rule:
    """How one field is read and written, and what its schema says in addition to its type. Goes into `Annotated`."""

    read: Callable[[Any, Context], Any]
    """From what came to the value. Raises Unusable with a message that goes on from the field's name: `must be …`."""
    schema: Mapping[str, Any] = field(default_factory=dict[str, Any])
    write: Callable[[Any, Offers], Any] | None = None
    """From the value to what is written; None: as it is."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        serialization = None
        if self.write is not None:
            serialization = core_schema.plain_serializer_function_ser_schema(self._written, info_arg=True)
        return core_schema.with_info_before_validator_function(self._read, handler(source), serialization=serialization)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> Schema:
        return handler(schema) | dict(self.schema)

    def _read(self, value: Any, info: ValidationInfo) -> Any:
        return value if info.context is None else self.read(value, replace(info.context, fields=info.data))

    def _written(self, value: Any, info: Any) -> Any:
        return value if info.context is None or self.write is None else self.write(value, info.context)


def _text(value: object, context: Context, longest: int = LONGEST_RAW) -> str:
    """Returns a text, cleaned and cut; empty for null."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise Unusable("must be a text", "schema")
    text = clean(value)
    context.note("cut", len(text) > longest)
    return shortened(text, longest)


def _not_empty(text: str) -> str:
    if not text:
        raise Unusable("must not be empty", "empty")
    return text


_NOTED = re.compile(r"(?:[^\W_]|[ .,'’&…-])*")


def words(longest: int, *, one_of: Sequence[str] = ()) -> Rule:
    """Returns the rule of words for the simulator. `one_of`: those a schema offers; others are read, too."""
    return Rule(lambda value, context: _text(value, context, longest), {"enum": list(one_of)} if one_of else {})


def noted(longest: int) -> Rule:
    """Returns the rule of a speech act or a subject that a mind notes with its line: letters, figures, blanks and a few
    signs, else empty.

    No model is asked for it. If one gives it all the same, it may be anything, so ids and markup are left out.
    """

    def read(value: object, context: Context) -> str:
        text = _text(value, context, longest)
        return text if _NOTED.fullmatch(text) else ""

    return Rule(read)


def seen(longest: int, *, needed: bool = False) -> Rule:
    """Returns the rule of words that others may come to read, such as somebody's doing: guarded, not changed."""

    def read(value: object, context: Context) -> str:
        text = context.guard.text(_text(value, context, longest))
        return _not_empty(text) if needed else text

    return Rule(read)


def phrase(longest: int, *, needed: bool = False) -> Rule:
    """Returns the rule of somebody's doing, a phrase without a subject: `mending a net`, `그물 손질하기`. It is guarded
    and tidied."""
    plain_words = seen(longest, needed=needed)

    def read(value: object, context: Context) -> str:
        who = getattr(context.inputs, "who", None)
        names = (who.called, who.name) if who else ()
        text = plain_words.read(value, context)
        if not _is_phrase(text):
            if needed:
                raise Unusable("must be words", "empty")
            context.note("dropped", bool(text))
            return ""
        return as_doing(text, names) or text

    return Rule(read)


_WORD = re.compile(f"[{LATIN}]{{3,}}|[{HANGUL}]", re.IGNORECASE)


def _is_phrase(text: str) -> bool:
    """Tells whether a text has a word in it, and more than figures: `10:00 to 12:40`, `C` and `INTERACT` are no
    doings."""
    letters = len(_LETTERS.findall(text))
    return bool(_WORD.search(text)) and letters * 2 > len(text.replace(" ", "")) and not re.fullmatch("[A-Z_]+", text)


_SUBJECT = re.compile(r"(?:I am|I'm|You are|You're|(?:He|She) is|They are) +(?=\w+ing\b)", re.IGNORECASE)


def as_doing(text: str, names: Iterable[str] = ()) -> str:
    """Returns a phrase without the name or pronoun of its doer, and without a full stop; in Korean it ends in 기."""
    text = text.rstrip(" .。")
    for name in names:
        text = re.sub(rf"^{re.escape(name)}(?: is |[은는이가] )", "", text)
    text = _SUBJECT.sub("", text)
    return planned(text)


def spoken(longest: int = LONGEST_LINE, *, needed: bool = False, sentences: int = 0) -> Rule:
    """Returns the rule of words that a character says: guarded, and without quotation marks, stage directions and the
    speaker's name.

    `sentences`: how many of them are kept; 0 for all.
    """

    def read(value: object, context: Context) -> str:
        who = getattr(context.inputs, "who", None)
        said = context.guard.line(_text(value, context), (who.called, who.name) if who else (), longest)
        first = first_sentences(said, sentences) if sentences else said
        context.note("cut", first != said)
        return _not_empty(first) if needed else first

    return Rule(read)


def whole(least: int, most: int, *, missing: int | None = None) -> Rule:
    """Returns the rule of a whole number in a range, both ends included. `missing` replaces null."""

    def read(value: object, context: Context) -> int:
        found = missing if value is None else number(value)
        if found is None:
            raise Unusable("must be a whole number", "schema")
        if not least <= found <= most:
            raise out_of_range(least, most, found)
        return found

    return Rule(read, {"minimum": least, "maximum": most})


def out_of_range(least: int, most: int, value: int) -> Unusable:
    """Returns the error for a number that is not between two others."""
    what = "must be between {least} and {most}; it was {value}"
    return Unusable(what, "range", least=least, most=most, value=value)


_NUMBER = re.compile(r"\[?\s*([+-]?[0-9]{1,12})(?:\.0+)?\s*\]?")


def number(value: object) -> int | None:
    """Returns 7 for 7.0, "7" and "[7]", too; None if it is not a whole number."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    found = _NUMBER.fullmatch(value) if isinstance(value, str) else None
    return int(found[1]) if found else None


def several(least: int = 0, most: int | None = None) -> Rule:
    """Returns the rule of a list; items over the most are left out."""

    def read(value: object, context: Context) -> list[object]:
        if value is None:
            raise Unusable("must be a list", "schema")
        items = _items(value)
        if len(items) < least:
            raise Unusable("must have at least {least} entries; it has {count}", "range", least=least, count=len(items))
        found = items[:most]
        context.note("cut", len(found) < len(items))
        return found

    bounds = {"minItems": least or None, "maxItems": most}
    return Rule(read, {name: bound for name, bound in bounds.items() if bound is not None})


def texts(longest: int, most: int, *, needed: bool = False, guarded: bool = False) -> Rule:
    """Returns the rule of a list of a few words or sentences; an item that is empty, or not a text, is left out."""

    def read(value: object, context: Context) -> list[str]:
        given = [_text(item, context, longest) if isinstance(item, str) else "" for item in _items(value)]
        found = [text for text in given if text][:most]
        context.note("cut", len(found) == most < len(given))
        if needed and not found:
            raise Unusable("must not be empty", "empty")
        return [words for text in found if (words := context.guard.text(text))] if guarded else found

    return Rule(read, {"minItems": 1, "maxItems": most} if needed else {"maxItems": most})


def _items(value: object) -> list[object]:
    """Returns a list; empty for null."""
    if value is None:
        return []
    if not isinstance(value, list | tuple):
        raise Unusable("must be a list", "schema")
    return list(cast(Sequence[object], value))


Kind = Literal["people", "places", "things", "facts", "circumstances"]
"""The choices of an `Offers`."""


def choice(kind: Kind, *, needed: Callable[[Context], bool] = lambda _: False, free: bool = False) -> Rule:
    """Returns the rule of one of the choices: a label on the wire, its id in the value; empty for nothing.

    Another text is refused if a choice is `needed`, stays as it is if words are `free`, and is otherwise left out.
    """

    def read(value: object, context: Context) -> str:
        choices: Choices = getattr(context.offers, kind)
        text = _text(value, context, LONGEST_CHOICE)
        found = choices.id(text) if text else None
        if not found and needed(context):
            offered, given = ", ".join(choices.labels), _quoted(text)
            raise Unusable("must be one of: {choices}; it was {value}", "unknown_id", choices=offered, value=given)
        if text and not found and not free:
            context.note("unknown")
        return found or (shortened(context.guard.own_words(text), LONGEST_SUBJECT) if free else "")

    def write(value: str, offers: Offers) -> str:
        return getattr(offers, kind).label(value)

    return Rule(read, write=write)


def some(kind: Kind) -> Rule:
    """Returns the rule of several of the choices, each once; other items are left out."""

    def read(value: object, context: Context) -> list[str]:
        choices: Choices = getattr(context.offers, kind)
        found = [choices.id(item) if isinstance(item, str) else None for item in _items(value)]
        context.note("unknown", found.count(None))
        return list(dict.fromkeys(id for id in found if id))

    def write(value: Sequence[str], offers: Offers) -> list[str]:
        choices: Choices = getattr(offers, kind)
        return [choices.label(id) for id in value]

    return Rule(read, {"maxItems": MOST_CITED}, write)


def _cited(value: object, context: Context) -> list[int]:
    items = _items(value)
    shown = [found for found in map(number, items) if found is not None and found in context.citable]
    context.note("unknown", len(items) - len(shown))
    return list(dict.fromkeys(shown))


_TIME = re.compile(r"([0-9]{1,2}):([0-5][0-9])")


def _time(value: object, context: Context) -> str:
    text = _text(value, context, 20)
    found = _TIME.fullmatch(text)
    if found is None or int(found[1]) > 23:
        raise Unusable("must be a time such as 07:30; it was {value}", "range", value=repr(text))
    return f"{int(found[1]):02}:{found[2]}"


_LETTERS = re.compile(f"[{LATIN}{HANGUL}{OTHER_LETTERS}]", re.IGNORECASE)


def _emoji(value: object, context: Context) -> str:
    sign = _text(value, context, 16)
    words = bool(_LETTERS.search(sign))
    context.note("sign", words)
    return "" if words else sign


Cited = Annotated[tuple[int, ...], Rule(_cited, {"maxItems": MOST_CITED})]
"""The memory ids named that the prompt shows, each once, in the order named."""
Facts = Annotated[tuple[str, ...], some("facts")]
"""Ids of facts."""
Flag = Annotated[bool, Rule(lambda value, _: value in (True, "true", "True"))]
"""True or false; false for anything else."""
Time = Annotated[str, Rule(_time, {"pattern": "^([01][0-9]|2[0-3]):[0-5][0-9]$"})]
"""A time of day, `HH:MM`."""
Emoji = Annotated[str, Rule(_emoji)]
"""A sign or two; empty if words were given instead."""
UPPER = Rule(lambda value, context: _text(value, context, 40).upper())
LOWER = Rule(lambda value, context: _text(value, context, 40).lower())
"""For a `Literal` whose words may come in any letter case."""
