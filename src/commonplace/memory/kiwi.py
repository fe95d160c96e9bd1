"""Korean words by a morphological analyser, kiwipiepy (extra `[korean]`), instead of by rules."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from threading import Lock
from typing import Any

from commonplace.errors import UsageError, install
from commonplace.languages import AUTO
from commonplace.memory.analyser import EVERY_SCRIPT, ROOT, Analyser, pairs

PAIR = 0.5
"""How much a pair of syllables counts in a question, besides the morphemes."""
_GRAMMAR = ("J", "E", "XS", "XP", "VC", "S")
"""How the tags of particles, endings, affixes, copulas and signs begin."""


def versions() -> str:
    """Returns the versions of kiwipiepy and its model, which the words depend on. Raises UsageError without the
    extra."""
    try:
        return f"{version('kiwipiepy')}-{version('kiwipiepy-model')}"
    except PackageNotFoundError as missing:
        raise _missing() from missing


def refuse_other_versions(made_with: str, where: str) -> None:
    """Raises UsageError unless these versions are installed."""
    if made_with != versions():
        kiwi, _, model = made_with.partition("-")
        raise UsageError(
            f"its words were found by kiwipiepy {made_with}; {versions()} is installed and may find others",
            where=where,
            hint=f"pip install kiwipiepy=={kiwi} kiwipiepy_model=={model}",
        )


def _missing() -> UsageError:
    what = "the analyser kiwi needs kiwipiepy"
    return UsageError(what, hint=f"{install('korean')}, or have the words found by rules, with `plain`")


class KiwiAnalyser(Analyser):
    """As `Analyser`, but a Hangul word becomes its pairs of syllables and the morphemes of content that Kiwi finds.

    Loading takes 2–3 seconds and 550 MB. `name` has the versions of kiwipiepy and its model, since words depend on
    them. Raises UsageError without the extra.
    """

    kind = "kiwi"

    def __init__(self, language: str = AUTO, version: int = EVERY_SCRIPT) -> None:
        super().__init__(language, version)
        try:
            library: Any = import_module("kiwipiepy")
        except ImportError as missing:
            raise _missing() from missing
        self._kiwi: Any = library.Kiwi(num_workers=1)
        self._lock = Lock()
        self.name = f"kiwi-{versions()}-{self.name}"

    def hangul(self, word: str) -> Sequence[tuple[str, float]]:
        """Returns the pairs of syllables and the morphemes of a word, each with how much it counts in a question."""
        with self._lock:
            morphemes = self._kiwi.tokenize(word)
        found = [(ROOT + one.form, 1.0) for one in morphemes if not one.tag.startswith(_GRAMMAR)]
        found += [(pair, PAIR) for pair in pairs(word)]
        return found or [(word, 1.0)]
