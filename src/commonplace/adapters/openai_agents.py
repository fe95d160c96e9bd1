"""A stream as a session of the OpenAI Agents SDK. Needs the extra `openai-agents`."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from commonplace.adapters.parts import Clock, StoredConversation, wall_clock
from commonplace.errors import UsageError, install
from commonplace.memory import MemoryStream

try:
    from agents.memory.session_settings import SessionSettings, resolve_session_limit
except ImportError as error:
    raise UsageError("the session needs the package openai-agents", hint=install("openai-agents")) from error

if TYPE_CHECKING:
    from agents import TResponseInputItem

__all__ = ["StreamSession"]


class StreamSession:
    """The items of one conversation, kept in a stream, where `recall` finds what was said in later sessions, too.

    It follows the SDK's `Session` protocol: pass it to `Runner.run(…, session=…)`. Items come back exactly. Before them
    comes a system message with the core blocks of the stream, if it has any and `blocks` is not False.
    """

    def __init__(
        self,
        stream: MemoryStream,
        session_id: str,
        *,
        session_settings: SessionSettings | None = None,
        blocks: bool = True,
        clock: Clock = wall_clock,
    ) -> None:
        """Makes a session. `session_settings.limit` is how many items `get_items` returns at most if its call gives no
        limit."""
        self.session_id = session_id
        self.session_settings = session_settings
        self._blocks = stream.blocks if blocks else None
        self._conversation = StoredConversation(stream, session_id, "openai", clock)

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Returns the items in order; the latest `limit` of them, and before them the core blocks."""
        most = resolve_session_limit(limit, self.session_settings)
        items = await asyncio.to_thread(self._conversation.messages, most)
        shown = self._blocks.shown() if self._blocks else ""
        return [{"role": "system", "content": shown}, *items] if shown else items

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Remembers items."""
        told = [(_words(item), _source(item), item) for item in cast("list[Mapping[str, Any]]", items)]
        await asyncio.to_thread(self._conversation.add, told)

    async def pop_item(self) -> TResponseInputItem | None:
        """Forgets the latest item and returns it; None if there is none."""
        return await asyncio.to_thread(self._conversation.pop)

    async def clear_session(self) -> None:
        """Forgets the items of this session."""
        await asyncio.to_thread(self._conversation.clear)


def _source(item: Mapping[str, Any]) -> str:
    return str(item.get("role") or item.get("type") or "")


def _words(item: Mapping[str, Any]) -> str:
    """Returns the words of an item: its text, the call of a tool, or what a tool has returned."""
    if "name" in item and "arguments" in item:
        return f"{item['name']}({item['arguments']})"
    content = item.get("content") or item.get("output") or item.get("summary") or ""
    if isinstance(content, str):
        return content
    parts = cast("list[Any]", content if isinstance(content, list) else [])
    texts = [cast("Mapping[str, Any]", part).get("text") if isinstance(part, Mapping) else part for part in parts]
    return "\n".join(str(text) for text in texts if text)
