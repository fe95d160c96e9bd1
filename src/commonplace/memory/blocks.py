"""Core blocks: small texts of a stream that an assistant is always shown, such as who its user is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

from commonplace.clock import iso
from commonplace.errors import UsageError
from commonplace.memory.record import checked_count, checked_mapping, checked_string, checked_time
from commonplace.text import clean

if TYPE_CHECKING:
    from commonplace.memory.stream import MemoryStream

LIMIT = 2000
"""Characters a block may have, unless it is given a limit of its own."""
LATEST = 20
"""Earlier texts that are kept of each block."""
BLOCKS = "blocks"
"""The setting of a character that has them."""


def checked_blocks(given: Any) -> dict[str, Any]:
    """Returns blocks of an export: name → text, limit, history. Raises UsageError for anything else."""
    found = dict[str, Any]()
    for name, block in checked_mapping("blocks", given).items():
        parts = checked_mapping(f"block {name!r}", block)
        text = checked_string(f"block {name!r}", parts.get("text"))
        limit = max(len(text), checked_count("limit", parts.get("limit", LIMIT), 1))
        history: list[dict[str, str]] = []
        texts = parts.get("history", [])
        if not isinstance(texts, list):
            raise UsageError(f"history {texts!r:.60} is not a list", hint="")
        for one in cast("list[Any]", texts):
            earlier = checked_mapping("history", one)
            history.append({key: checked_string(key, earlier.get(key)) for key in ("text", "until")})
        found[name] = {"text": text, "limit": limit, "history": history[-LATEST:]}
    return found


class Blocks(Mapping[str, str]):
    """The blocks of a stream: name → text, in the order in which they were first set. Kept in every store."""

    def __init__(self, stream: MemoryStream) -> None:
        self._stream = stream

    def set(self, name: str, text: str, *, limit: int | None = None, at: datetime | None = None) -> None:
        """Sets a block, which is stored when this returns; an empty text is kept, too.

        `limit`: characters it may have from now on; None for what it had, 2,000 at first. `at`: when it changes; now,
        by the clock of this machine, if None. Raises UsageError for an empty name, and for a text that is too long:
        nothing is cut.
        """
        name = self._checked(name)
        shown = "\n".join(map(clean, checked_string("text", text).split("\n"))).strip()
        most = None if limit is None else checked_count("limit", limit, 1)
        until = iso(datetime.now(UTC) if at is None else checked_time(at))

        def change(blocks: dict[str, Any]) -> None:
            before = blocks.get(name)
            allowed = most or (before["limit"] if before else LIMIT)
            if len(shown) > allowed:
                hint = "shorten it, or set a higher limit"
                raise UsageError(f"block {name!r} would have {len(shown)} of {allowed} characters", hint=hint)
            history: list[dict[str, str]] = before["history"] if before else []
            if before and before["text"] != shown:
                history = [*history, {"text": before["text"], "until": until}][-LATEST:]
            blocks[name] = {"text": shown, "limit": allowed, "history": history}

        self._change(change)

    def remove(self, name: str) -> None:
        """Removes a block and its history. Raises UsageError for one that there is not."""
        self._kept(name)
        self._change(lambda blocks: blocks.pop(name, None))

    def limit(self, name: str) -> int:
        """Returns how many characters a block may have. Raises UsageError for one that there is not."""
        return self._kept(name)["limit"]

    def history(self, name: str) -> list[dict[str, str]]:
        """Returns the latest 20 earlier texts of a block, oldest first: `text`, and `until` when (ISO). Raises
        UsageError for one that there is not."""
        return [dict(one) for one in self._kept(name)["history"]]

    def shown(self) -> str:
        """Returns the blocks that are not empty as a prompt shows them: a heading with the name, and the text."""
        return "\n\n".join(f"# {name}\n{text}" for name, text in self.items() if text)

    def take(self, given: Mapping[str, Any]) -> None:
        """For this package: adds blocks that `checked_blocks` has returned. One that is there already stays."""
        if given.keys() - self.keys():
            self._change(lambda blocks: blocks.update({**given, **blocks}))

    def kept(self) -> Mapping[str, Any]:
        """For this package: returns the blocks with their limits and histories."""
        return self._all()

    def __getitem__(self, name: str) -> str:
        return self._all()[name]["text"]

    def __iter__(self) -> Iterator[str]:
        return iter([*self._all()])

    def __len__(self) -> int:
        return len(self._all())

    def _all(self) -> Mapping[str, Any]:
        return self._stream.settings.get(BLOCKS, {})

    def _kept(self, name: str) -> Mapping[str, Any]:
        found = self._all().get(name)
        if found is None:
            raise UsageError(f"there is no block {name!r}", hint=f"the blocks are {', '.join(self) or 'none yet'}")
        return found

    def _checked(self, name: str) -> str:
        shown = clean(checked_string("name", name))
        if not shown:
            raise UsageError("a block has no name", hint='give a name such as "user"')
        return shown

    def _change(self, change: Callable[[dict[str, Any]], object]) -> None:
        def changed(settings: Mapping[str, Any]) -> Mapping[str, Any]:
            blocks = dict(settings.get(BLOCKS, {}))
            change(blocks)
            return {**settings, BLOCKS: blocks}

        self._stream.configure(changed)
