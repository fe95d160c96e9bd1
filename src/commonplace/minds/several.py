"""Several minds in one run: some characters have one of their own."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from typing import Any

from commonplace.minds.mind import Ask, Mind, Reply, RequestKey


class SeveralMinds:
    """Asks the mind of the character that a question comes from, and the common one for all others."""

    def __init__(self, common: Mind, own: Mapping[str, Mind]) -> None:
        """`own`: character → its mind."""
        self.name = common.name
        self._common = common
        self._own = own
        self._all = list({id(mind): mind for mind in (common, *own.values())}.values())
        self.paid = any(mind.paid for mind in self._all)
        self.max_attempts = max(mind.max_attempts for mind in self._all)

    def answer(self, ask: Ask[Any, Any], request_key: RequestKey) -> Reply | Awaitable[Reply]:
        """The reply of the character's mind."""
        return self._own.get(request_key.agent, self._common).answer(ask, request_key)

    async def close(self) -> None:
        """Close each of them."""
        for mind in self._all:
            await mind.close()
