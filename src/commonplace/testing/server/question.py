"""Requests as they come over the wire, and what is asked in them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, Field

from commonplace.minds.asking import Ask
from commonplace.minds.mind import Asker
from commonplace.minds.tasks import TASKS
from commonplace.rng import Key


class Wanted(BaseModel):
    """Whose question it is."""

    seed: int
    agent: str
    tick: int
    number: int
    attempt: int = 0


class Typed(BaseModel):
    """The question before it was put into words: what the offline mind answers from."""

    task: str
    input: dict[str, Any]
    asker: Wanted

    @property
    def key(self) -> tuple[Key, ...]:
        """(seed, agent, tick, task, number, attempt)."""
        by = self.asker
        return (by.seed, by.agent, by.tick, self.task, by.number, by.attempt)

    def asked(self) -> tuple[Ask[Any, Any], Asker]:
        """The ask and its asker. Raises KeyError for an unknown task, ValidationError for another input."""
        task, by = TASKS[self.task], self.asker
        return Ask(task, task.input.model_validate(self.input)), Asker(
            by.seed, by.agent, by.tick, by.number, by.attempt
        )


class Message(BaseModel):
    """One message; content is text, parts of which the texts count, or nothing."""

    role: str
    content: str | list[dict[str, Any]] | None = None

    @property
    def text(self) -> str:
        """Its text."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(str(part.get("text", "")) for part in self.content or ())


class Function(BaseModel):
    """A function a tool call may name."""

    name: str
    parameters: dict[str, Any] = Field(default_factory=dict)


class Tool(BaseModel):
    function: Function


class Chat(BaseModel):
    """The body of a chat completion; what is not named here is not looked at."""

    model: str = ""
    messages: list[Message] = Field(min_length=1)
    response_format: dict[str, Any] | None = None
    tools: list[Tool] = Field(default_factory=list[Tool])
    tool_choice: Literal["none", "auto", "required"] | Tool | None = None
    stream: Literal[False] | None = None
    commonplace: Typed | None = None

    @property
    def prompt(self) -> str:
        """The messages' text, joined."""
        return "\n".join(message.text for message in self.messages)

    @property
    def tool(self) -> Function | None:
        """The function whose call is forced."""
        if not self.tools or self.tool_choice in (None, "none", "auto"):
            return None
        if isinstance(self.tool_choice, Tool):
            named = self.tool_choice.function.name
            return next((tool.function for tool in self.tools if tool.function.name == named), None)
        return self.tools[0].function

    @property
    def schema_(self) -> Mapping[str, Any] | None:
        """The JSON Schema the answer must have; None when any text will do."""
        if self.tool is not None:
            return self.tool.parameters
        wanted = self.response_format or {}
        if wanted.get("type") == "json_schema":
            return wanted.get("json_schema", {}).get("schema", {})
        if wanted.get("type") == "json_object":
            return wanted.get("schema", {"type": "object"})
        return None


class Embedding(BaseModel):
    """The body of a request for vectors."""

    model: str = ""
    input: str | list[str]
    encoding_format: Literal["float", "base64"] = "float"
    commonplace: Typed | None = None

    @property
    def texts(self) -> list[str]:
        """What is to be embedded."""
        return [self.input] if isinstance(self.input, str) else self.input
