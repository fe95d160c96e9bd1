"""What one session of a run may spend: calls, tokens, money. A budget decides when a run stops, never what happens."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from commonplace.errors import Paused, UsageError
from commonplace.minds.mind import Reply


class Price(Protocol):
    """What tokens cost."""

    def cost(self, prompt: int, cached: int, answer: int) -> float:
        """Returns the money for these numbers of tokens; `cached` is the part of `prompt` that had been read before."""
        ...


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits for one `play`; 0 means none. Raises UsageError for a negative limit, and for `cost` without a `price`."""

    calls: int = 0
    """Requests to a server. Each question is counted before it is asked, so only what a mind repeats by itself while it
    answers one question can exceed this."""
    tokens: int = 0
    """Of prompts and answers. What is in flight when it is reached comes on top."""
    cost: float = 0.0
    """In US dollars, as prices are; as for tokens."""
    price: Price | None = None
    """Of the common mind."""
    prices: Mapping[str, Price] = field(default_factory=dict[str, Price])
    """Of minds by name, where some questions go to others."""

    def __post_init__(self) -> None:
        if min(self.calls, self.tokens, self.cost) < 0:
            raise UsageError("a budget cannot be negative", hint="0 means no limit")
        if self.cost and self.price is None:
            raise UsageError("a budget of money needs the price of tokens", hint="limit calls or tokens instead")


class BudgetReached(Paused):
    """The budget is used up. `option` is the command-line option that raises the limit."""

    def __init__(self, what: str, option: str) -> None:
        super().__init__(f"the budget of {what} is reached")
        self.option = option


class Spending:
    """What has been spent of a budget. A call counts from the moment it is made, whether its answer comes or not."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.calls = 0
        self._tokens: dict[str, tuple[int, int, int]] = {}
        """Mind → tokens of prompts, those of them that had been read before, and of answers."""

    @property
    def tokens(self) -> int:
        """Tokens of prompts and answers."""
        return sum(prompt + answer for prompt, _, answer in self._tokens.values())

    @property
    def cost(self) -> float:
        """US dollars; 0 without a price."""
        prices = {mind: self.budget.prices.get(mind, self.budget.price) for mind in self._tokens}
        return math.fsum(price.cost(*self._tokens[mind]) for mind, price in prices.items() if price is not None)

    def reserve(self) -> None:
        """Counts a call that is about to be made. Raises BudgetReached when nothing is left for it."""
        budget = self.budget
        if budget.calls and self.calls >= budget.calls:
            raise BudgetReached(f"{budget.calls} calls", "--max-calls")
        if budget.tokens and self.tokens >= budget.tokens:
            raise BudgetReached(f"{budget.tokens} tokens", "--max-tokens")
        if budget.cost and self.cost >= budget.cost:
            raise BudgetReached(f"${budget.cost:g}", "--max-cost")
        self.calls += 1

    def spent(self, reply: Reply) -> None:
        """Counts what an answer took beyond the call reserved for it."""
        self.calls += max(0, reply.calls - 1)
        prompt, cached, answer = self._tokens.get(reply.mind, (0, 0, 0))
        spent = (prompt + reply.prompt_tokens, cached + reply.cached_tokens, answer + reply.answer_tokens)
        self._tokens[reply.mind] = spent
