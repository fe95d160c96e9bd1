"""Settings of a graph and of a conversation memory, with the defaults of a session and of an agent."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from commonplace.errors import UsageError


@dataclass(frozen=True, slots=True)
class GraphConfig:
    """Settings of one graph. The defaults are those of a session; `GraphConfig.agent()` gives those of an agent."""

    max_nodes: int = 1_000
    """Nodes of all types; the node of lowest value goes to make room."""
    max_edges: int = 4_000
    half_life_min: float = 240.0
    """Minutes after which the recency of a node that nobody uses is halved."""
    tau_dup: float = 0.96
    """Cosine from which a new question is taken to be a known one."""
    tau_sim: float = 0.75
    """Cosine from which a new question is linked to a known one as similar."""
    protect_min_degree: int = 3
    """Nodes with so many edges are evicted only when no others are left."""
    enable_inverted_index: bool = False
    """Look candidates up by n-gram instead of comparing with every question; the results are the same."""
    max_links: int = 8
    """Similar questions that a new one is linked to, the nearest first."""
    rank_weight: float = 0.1
    """Share of the rank in a search score; the rest is the similarity."""
    spread_hops: int = 2
    """How far feedback spreads along `similar_to`; 0: not at all."""
    spread_damping: float = 0.5
    """What is left of feedback after each hop, before the similarity is multiplied in."""

    def __post_init__(self) -> None:
        for name in ("max_nodes", "max_edges", "protect_min_degree"):
            _whole(name, getattr(self, name), 1, 1 << 28)
        _whole("max_links", self.max_links, 0, 1 << 16)
        _whole("spread_hops", self.spread_hops, 0, 8)
        for name in ("tau_dup", "tau_sim", "rank_weight", "spread_damping"):
            _number(name, getattr(self, name), 0.0, 1.0)
        _number("half_life_min", self.half_life_min, 1e-6, 1e12)
        if self.tau_sim > self.tau_dup:
            raise UsageError(f"tau_sim is {self.tau_sim}; expected at most tau_dup ({self.tau_dup})")

    @classmethod
    def agent(cls) -> GraphConfig:
        """Returns the settings of an agent's graph."""
        return cls(
            max_edges=12_000, half_life_min=1440.0, tau_sim=0.78, protect_min_degree=4, enable_inverted_index=True
        )

    def as_dict(self) -> dict[str, Any]:
        """Returns the settings as JSON holds them."""
        return asdict(self)

    @classmethod
    def from_dict(cls, given: Any) -> GraphConfig:
        """Returns the inverse of `as_dict`. Raises UsageError for what is not one."""
        known = {one.name for one in fields(cls)}
        if not isinstance(given, dict) or not all(isinstance(key, str) and key in known for key in given):  # pyright: ignore[reportUnknownVariableType]
            raise UsageError("the settings of the graph cannot be read")
        return cls(**given)  # pyright: ignore[reportUnknownArgumentType]


@dataclass(frozen=True, slots=True)
class ConversationConfig:
    """Settings of a conversation memory."""

    session: GraphConfig = field(default_factory=GraphConfig)
    agent: GraphConfig = field(default_factory=GraphConfig.agent)
    session_first_bias: float = 0.05
    """Added to the score of what the session itself knows."""
    promote_min_rank: float = 0.55
    promote_min_degree: int = 2
    max_promotions: int = 20
    carry_weights: bool = True
    """Whether what is promoted keeps its askings and feedback; without, it is asked once more and nothing else."""
    checkpoint_folder: Path = Path(".agentos/checkpoints")
    checkpoint_top: int = 30
    """Questions in a checkpoint, the best-ranked first."""
    checkpoint_pretty: bool = True
    """A line for each node and edge; without, all in one line."""


def _whole(name: str, value: Any, low: int, high: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise UsageError(f"{name} is {value!r}; expected a whole number from {low} to {high}")


def _number(name: str, value: Any, low: float, high: float) -> None:
    if (
        not isinstance(value, (int, float))
        or isinstance(value, bool)
        or not (math.isfinite(value) and low <= value <= high)
    ):
        raise UsageError(f"{name} is {value!r}; expected a number from {low:g} to {high:g}")
