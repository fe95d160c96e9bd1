"""Which entities a question names: an alias begins where a word begins, and ends with it or before a particle."""

from __future__ import annotations

import re
import unicodedata

from commonplace.text import HANGUL, clean, words

_PARTICLE = re.compile(
    "(?:이랑|이나|이란|이라는|이라고|에게서|한테서|에서|에게|한테|께서|으로|부터|까지|처럼|보다|마다|조차|밖에|라는|라고|이야|이에요|예요"
    "|은|는|이|가|을|를|의|에|도|만|와|과|랑|로|께|야|아|나|요)(?:은|는|도|만|의|서|요)?"
)
_HANGUL_END = re.compile(f"[{HANGUL}]$")


class AliasIndex:
    """An index of the aliases of entities, which finds them in texts by rule."""

    def __init__(self) -> None:
        self._aliases: dict[str, dict[str, set[str]]] = {}  # first letter → alias without spaces → entities

    def add(self, entity: str, aliases: tuple[str, ...]) -> None:
        """Adds names that mean the entity."""
        for alias in aliases:
            run = "".join(_tokens(alias))
            if run:
                self._aliases.setdefault(run[0], {}).setdefault(run, set()).add(entity)

    def remove(self, entity: str, aliases: tuple[str, ...]) -> None:
        """Removes names that mean the entity."""
        for alias in aliases:
            run = "".join(_tokens(alias))
            meant = self._aliases.get(run[:1], {}).get(run, set())
            meant.discard(entity)
            if run and not meant:
                self._aliases.get(run[0], {}).pop(run, None)

    def named_in(self, text: str) -> tuple[str, ...]:
        """Returns the entities a text names, sorted."""
        if self._aliases.keys().isdisjoint(_folded(text)):
            return ()  # quickly, because a new name is looked for in every question there is
        tokens = _tokens(text)
        run = "".join(tokens)
        starts = [0]
        for token in tokens:
            starts.append(starts[-1] + len(token))
        found: set[str] = set()
        for start in starts[:-1]:
            for alias, entities in self._aliases.get(run[start], {}).items():
                if run.startswith(alias, start) and _ends(run, start + len(alias), starts):
                    found |= entities
        return tuple(sorted(found))


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", clean(text)).casefold().lower()


def _tokens(text: str) -> tuple[str, ...]:
    """Words in lower case and runs of digits."""
    parts = re.split(r"(\d+)", _folded(text))
    return tuple(piece for part in parts for piece in ((part,) if part.isdigit() else words(part)))


def _ends(run: str, end: int, starts: list[int]) -> bool:
    """Tells whether a name may end there: at the end of a word, or before a Korean particle that ends it."""
    if end in starts:
        return True
    rest = run[end : next(start for start in starts if start > end)]
    return bool(_HANGUL_END.search(run[:end]) and _PARTICLE.fullmatch(rest))
