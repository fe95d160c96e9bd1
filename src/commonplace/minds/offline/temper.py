"""What a character is like, read from its traits and its work: the numbers that tilt every decision."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from commonplace import rng
from commonplace.minds.notes import Who
from commonplace.minds.offline.template_grammar import Grammar, grammar

VOICES = ("warm", "dry", "brisk", "shy", "dreamy", "formal")


@dataclass(frozen=True, slots=True)
class Temper:
    """Counts of trait words; 0 means that nothing in the traits speaks of it."""

    voice: str
    """One of `VOICES`: how the character words things."""
    sociable: int
    """−2 … 2."""
    brave: int
    """−2 … 2; negative is cautious."""
    helpful: int
    curious: int
    handy: int
    early: int
    """1 an early person, −1 a late one."""
    busy: int
    cook: int


def temper(who: Who) -> Temper:
    """Returns the temper of a character. It depends only on traits, work and language."""
    return _temper(who.id, who.traits, who.work, who.language)


@lru_cache(maxsize=1024)
def _temper(name: str, traits: tuple[str, ...], work: str, language: str) -> Temper:
    rules = grammar(language)
    said = [trait.lower() for trait in traits]
    full = [*said, work.lower()]
    return Temper(
        voice=_voice(rules, name, said),
        sociable=_within(_count(rules, "sociable", said) - 2 * _count(rules, "reserved", said)),
        brave=_within(_count(rules, "brave", said) - _count(rules, "cautious", said)),
        helpful=_count(rules, "helpful", said),
        curious=_count(rules, "curious", full),
        handy=_count(rules, "handy", full),
        early=_sign(_count(rules, "early", full) - _count(rules, "late", full)),
        busy=_count(rules, "busy", said),
        cook=_count(rules, "cook", full),
    )


def _voice(rules: Grammar, name: str, traits: list[str]) -> str:
    """Returns the voice that most of the traits suggest; the earlier trait decides a tie, and a draw decides if none
    suggests one."""
    best, score = "", 0
    for voice in VOICES:
        words = rules.words(f"voice.{voice}")
        found = sum(10 - min(5, index) for index, trait in enumerate(traits) if _matches(trait, words))
        if found > score:
            best, score = voice, found
    return best or rng.choice(VOICES, "voice", name)


def _count(rules: Grammar, name: str, traits: list[str]) -> int:
    words = rules.words(name)
    return sum(1 for trait in traits if _matches(trait, words))


def _matches(trait: str, beginnings: frozenset[str]) -> bool:
    """Tells whether a word of the trait begins with one of these; `not shy` and `unkind` do not count."""
    return any(f" {beginning}" in f" {trait}" for beginning in beginnings) and not trait.startswith(("not ", "un"))


def _within(value: int) -> int:
    return max(-2, min(2, value))


def _sign(value: int) -> int:
    return (value > 0) - (value < 0)
