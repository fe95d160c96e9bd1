"""Korean words by a morphological analyser, kiwipiepy (extra `[korean]`), instead of by rules."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import version
from threading import Lock
from typing import Any

from commonplace.errors import UsageError
from commonplace.memory.analyser import ROOT, Analyser, pairs
from commonplace.memory.words import AUTO

PAIR = 0.5
"""How much a pair of syllables counts in a question, besides the morphemes."""
_GRAMMAR = ("J", "E", "XS", "XP", "VC", "S")
"""How the tags of particles, endings, affixes, copulas and signs begin."""


class KiwiAnalyser(Analyser):
    """As `Analyser`, but a Hangul word becomes its pairs of syllables and the morphemes of content that Kiwi finds.

    Loading takes 2–3 seconds and 550 MB. `name` has the versions of kiwipiepy and its model, since words depend on
    them. Raises UsageError without the extra.
    """

    kind = "kiwi"

    def __init__(self, language: str = AUTO) -> None:
        super().__init__(language)
        try:
            library: Any = import_module("kiwipiepy")
        except ImportError as missing:
            raise UsageError(
                "the analyser kiwi needs kiwipiepy",
                hint='pip install "commonplace[korean]", or pass analyser=Analyser() to have words by rules',
            ) from missing
        self._kiwi: Any = library.Kiwi(num_workers=1)
        self._lock = Lock()
        versions = f"{version('kiwipiepy')}-{version('kiwipiepy-model')}"
        self.name = f"kiwi-{versions}-{self.name}"

    def hangul(self, word: str) -> Sequence[tuple[str, float]]:
        """The pairs of syllables and the morphemes of a word, each with how much it counts in a question."""
        with self._lock:
            morphemes = self._kiwi.tokenize(word)
        found = [(ROOT + one.form, 1.0) for one in morphemes if not one.tag.startswith(_GRAMMAR)]
        found += [(pair, PAIR) for pair in pairs(word)]
        return found or [(word, 1.0)]
