"""A prompt: a question put into words, with the shape its answer must have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from commonplace.scenario.scenario import Scenario
from commonplace.world.tree import Node


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a chat."""

    role: Literal["system", "user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is sent to a model. What changes least comes first, so that servers can reuse what they have read."""

    task: str
    messages: tuple[Message, ...]
    schema: Mapping[str, Any]
    """JSON Schema of the answer: closed objects without `$ref`, the same for every question of the task."""
    max_tokens: int
    temperature: float
    memories: int = 0
    """How many retrieved memories it shows: leaving them out shortens the prompt."""
    citable: frozenset[int] = frozenset()
    """Ids of the memories it shows, in whatever place: an answer may cite these."""

    @property
    def text(self) -> str:
        """The whole of it, for people."""
        return "\n\n".join(f"[{message.role}]\n{message.text}" for message in self.messages)


class Unusable(ValueError):
    """An answer that cannot be used. The message says what is wrong, to be quoted when it is asked for again."""

    def __init__(self, what: str, kind: str, **values: object) -> None:
        """`what`: in English; `values` go into its fields in braces. `kind`: one word to count it by: `json`, `schema`,
        `range`, `unknown_id`, `empty`, `language`, `leak` …"""
        super().__init__(what.format(**values) if values else what)
        self.what, self.values = what, values
        self.kind = kind

    def told(self, language: str) -> str:
        """What is wrong, in the language of the prompt."""
        words = in_language(self.what, language)
        return words.format(**self.values) if self.values else words


def in_language(what: str, language: str) -> str:
    """A complaint as a prompt quotes it; one without a translation stays as it is."""
    return KOREAN.get(what, what) if language == "ko" else what


KOREAN: Mapping[str, str] = {
    "is missing": "빠졌습니다",
    "must be one of {choices}; it was {value}": "{choices} 가운데 하나여야 합니다. 받은 값: {value}",
    "must be one of: {choices}; it was {value}": "다음 가운데 하나여야 합니다: {choices}. 받은 값: {value}",
    "must be a JSON object": "JSON 객체여야 합니다",
    "must be a list": "목록이어야 합니다",
    "must be a text": "글이어야 합니다",
    "must be a whole number": "정수여야 합니다",
    "must be words": "글자로 된 말이어야 합니다",
    "must not be empty": "비어 있으면 안 됩니다",
    "must be between {least} and {most}; it was {value}": "{least}에서 {most} 사이여야 합니다. 받은 값: {value}",
    "must have at least {least} entries; it has {count}": "적어도 {least}개여야 합니다. 받은 개수: {count}",
    "must have {wanted} entries, one for each text; it has {count}": (
        "글마다 하나씩 {wanted}개여야 합니다. 받은 개수: {count}"
    ),
    "must be a time such as 07:30; it was {value}": "07:30 같은 시각이어야 합니다. 받은 값: {value}",
    "must be in {wanted}": "한국어여야 합니다",
    "must be plain speech, without JSON or markup": "JSON이나 기호가 섞이지 않은 말이어야 합니다",
    "must be spoken as the character, never about models or assistants": (
        "모델이나 비서 이야기가 아니라 그 사람이 하는 말이어야 합니다"
    ),
    "must be your own words instead of repeating the instructions": "지시문을 되풀이하지 말고 자기 말로 해야 합니다",
    "must not be null: to {decision} takes a plan; keep is for none": (
        "null이면 안 됩니다. {decision}에는 plan이 있어야 합니다. plan이 없으면 keep입니다"
    ),
    "cannot be talk: nobody is here": "talk일 수 없습니다. 여기에 아무도 없습니다",
    "cannot be used: {why}": "쓸 수 없습니다: {why}",
    "each stroke of 'day' must start at least 5 minutes after the one before": (
        "'day'의 일은 저마다 앞의 일보다 적어도 5분 늦게 시작해야 합니다"
    ),
    "the answer must be a JSON object": "답은 JSON 객체여야 합니다",
    "the answer has none of the fields {names}": "답에 {names} 가운데 아무것도 없습니다",
    "the answer is empty": "답이 비어 있습니다",
    "the answer was cut off; be shorter": "답이 길어서 잘렸습니다. 더 짧게 쓰세요",
    "the answer is not a JSON object": "답이 JSON 객체가 아닙니다",
    "the answer is not a JSON object and could not be repaired": "답이 JSON 객체가 아니고 고칠 수도 없습니다",
}
"""Complaints that are quoted when an answer is asked for again."""


# The stable part of a world as every prompt tells it.
#
# A scenario's summary is left out: it tells readers what is to come, and a character knows only what it remembers.


Named = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Setting:
    """The names that prompts use."""

    title: str
    places: Named
    """(id, name) of the areas everybody knows."""
    private: Named = ()
    """(id, name) of all other areas."""
    people: Named = ()
    """(full name, short name) of the characters: memories are told with short names."""
    ages: tuple[tuple[str, int], ...] = ()
    """(id, age) of the characters."""

    @property
    def names(self) -> Mapping[str, str]:
        """Area id → name."""
        return dict((*self.places, *self.private))


def setting_of(scenario: Scenario) -> Setting:
    """The setting of a compiled scenario."""
    nodes = scenario.geography.nodes
    known = [nodes[area] for area in scenario.geography.destinations if nodes[area].parent_id or _is_place(nodes, area)]
    return Setting(
        title=nodes[scenario.geography.root].name,
        places=tuple((node.id, node.name) for node in known if node.public),
        private=tuple((node.id, node.name) for node in known if not node.public),
        people=tuple((persona.name, persona.called) for persona in scenario.personas.values()),
        ages=tuple((persona.id, persona.age) for persona in scenario.personas.values()),
    )


def _is_place(nodes: Mapping[str, Node], root: str) -> bool:
    """Whether the root is somewhere to be, such as a single room or a square with a fountain, and not only the name of
    a town."""
    children = [nodes[child].type for child in nodes[root].children]
    return "object" in children or "area" not in children
