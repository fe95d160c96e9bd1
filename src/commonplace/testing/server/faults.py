"""All faults, and how often which of them is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from commonplace import rng
from commonplace.errors import WrongUse
from commonplace.rng import Key
from commonplace.testing.server.answering import Sound
from commonplace.testing.server.fault import Fault
from commonplace.testing.server.fault_message import MESSAGE
from commonplace.testing.server.fault_transport import TRANSPORT
from commonplace.testing.server.fault_value import VALUE
from commonplace.testing.server.http import Response

FAULTS: Mapping[str, Fault] = {**TRANSPORT, **MESSAGE, **VALUE}


@dataclass(frozen=True, slots=True)
class Faults:
    """A share of the questions is met with a fault, drawn from what is asked and how often it was asked before."""

    rate: float
    """0 … 1, of each request."""
    kinds: tuple[str, ...] = tuple(FAULTS)
    seed: int = 0

    def __post_init__(self) -> None:
        """Raises WrongUse for a rate or a kind there is not."""
        if not 0 <= self.rate <= 1:
            raise WrongUse(f"a rate of faults is a number from 0 to 1, not {self.rate}")
        unknown = sorted(set(self.kinds) - set(FAULTS))
        if unknown:
            raise WrongUse(f"there is no fault {unknown[0]!r}", todo=f"there are: {', '.join(FAULTS)}")

    def met(self, sound: Sound, *key: Key) -> tuple[str, Response]:
        """(name of the fault, response); an empty name with the sound answer.

        A fault that finds nothing to spoil leaves it to the next kind.
        """
        if self.kinds and rng.unit(self.seed, "fault", *key) < self.rate:
            first = rng.below(len(self.kinds), self.seed, "kind", *key)
            for name in (*self.kinds[first:], *self.kinds[:first]):
                response = FAULTS[name].spoil(sound)
                if response is not None:
                    return name, response
        return "", sound.sound()
