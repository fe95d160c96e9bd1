"""English words taken up by somebody else: pronouns turned round, speech reported, the thing a line is about."""

from __future__ import annotations

import re
from functools import lru_cache

SUBJECT = {"she": "she", "he": "he", "they": "they"}
OBJECT = {"she": "her", "he": "him", "they": "them"}
POSSESSIVE = {"she": "her", "he": "his", "they": "their"}

_THEIRS = re.compile(r"\b(her|his|their|herself|himself|themselves|themself|him|them)\b(?=( [a-z])?)")


@lru_cache(maxsize=4096)
def taken(doing: str, pronoun: str, person: str) -> str:
    """What somebody does in the words of the doer (`person` "my") or of who speaks to the doer ("your").

    `looking for his keys` → `looking for my keys`. Only the doer's own pronoun is turned; `her` before a word is a
    possessive.
    """
    own, self_form, plain = ("my", "myself", "me") if person == "my" else ("your", "yourself", "you")
    forms = {POSSESSIVE[pronoun], OBJECT[pronoun]}

    def turned(found: re.Match[str]) -> str:
        word, follows = found.group(1), bool(found.group(2))
        if word.endswith(("self", "selves")):
            return self_form if word[:3] == OBJECT[pronoun][:3] else word
        if word not in forms:
            return word
        return own if word == POSSESSIVE[pronoun] and (follows or word == "his") else plain

    return _THEIRS.sub(turned, doing)


_NOUN_PHRASE = re.compile(
    r"\b(?P<det>[Tt]he|[Mm]y|[Yy]our|[Oo]ur|[Hh]is|[Hh]er|[Tt]heir|[Tt]hat|[Tt]hose|[Ss]ome|[Aa]n?) "
    r"(?P<noun>[a-z][a-z'-]*(?: [a-z][a-z'-]*){0,2}?)"
    r"(?=[,.;:!?]|$| (?:is|are|was|were|has|had|have|at|in|on|to|for|of|with|and|but|or|by|from|again|needs?|keeps?|"
    r"still|today|tonight|tomorrow|yesterday|this|that|before|after|will|won't|can|can't|could|would|who|which|when|"
    r"while|so|if|up|out|off|down|under|over|near|about|like|than|as|because|until|all|smells?|sounds?|looks?|goes|"
    r"comes?|took|broke|made|makes|gets?|got|every|last|next|again|here|there|then|now|since|he|she|they|I|you|we)\b)"
)
_EMPTY = frozenset(
    "way time thing things day night morning evening afternoon moment bit lot while kind sort rest one same other little"
    " truth idea point matter case minute hour week year people person man woman place few first last end best worst"
    " next right wrong most only company hang start look sense shame pity middle door talk word words".split()
)
_TURN = {"my": "your", "our": "your", "your": "my", "a": "the", "an": "the", "those": "those", "some": "the"}


@lru_cache(maxsize=4096)
def topic(text: str, pronoun: str = "", called: str = "") -> str:
    """What a line is about, as the hearer would name it: `I still owe Kit for the battery` → `the battery`.

    `my roof` becomes `your roof`; with the speaker's `called` it becomes `Jun's roof`, as said to a third person.
    Empty when nothing in it can be named.
    """
    for found in _NOUN_PHRASE.finditer(text):
        noun = found["noun"]
        words = noun.split()
        if words[-1] in _EMPTY or words[0] in _EMPTY or len(words[-1]) < 3 or words[-1].endswith(("ing", "ly", "ed")):
            continue
        if any(word in _VERBS for word in words):
            continue
        return f"{_determiner(found['det'].lower(), called)} {noun}"
    return ""


_VERBS = frozenset("was is are were had have never always just really not only go goes went do does did be been".split())


def _determiner(word: str, called: str) -> str:
    if called:
        return f"{called}'s" if word in {"my", "our"} else {"a": "the", "an": "the", "some": "the"}.get(word, word)
    return _TURN.get(word, word)


_THIRD = {
    "I'm": ("{s}'s", "they're"), "I've": ("{s}'s", "they've"), "I'll": ("{s}'ll", "they'll"),
    "I'd": ("{s}'d", "they'd"),
}  # fmt: skip
_SAME = frozenset(
    "was had could can can't couldn't would wouldn't will won't saw heard found made took left lost forgot met spent"
    " went came dreamt used got broke fixed finished never should must might did didn't wanted thought told".split()
)
_INFLECT = frozenset("need want think hope like love keep know miss owe feel worry dream wonder believe remember mean".split())
_OBJECTS = {"me": OBJECT, "my": POSSESSIVE, "mine": {"she": "hers", "he": "his", "they": "theirs"},
            "myself": {"she": "herself", "he": "himself", "they": "themselves"}}  # fmt: skip
_BARRED = frozenset("you your yours you're we our us we're let's shall please here this".split())


@lru_cache(maxsize=4096)
def reported(quote: str, pronoun: str) -> str:
    """A short statement about oneself as somebody else passes it on; empty when it would not read well.

    `I need a battery.` → `he needs a battery`, said of a he.
    """
    sentence = quote.strip().rstrip(".!")
    words = sentence.split(" ")
    if not 3 <= len(words) <= 16 or re.search(r"[.?!…:;–—\"“]", sentence) or pronoun not in SUBJECT:
        return ""
    if any(word.lower().strip(",") in _BARRED for word in words):
        return ""
    start = _subject(words, pronoun)
    if not start:
        return ""
    rest = [_objects(word, pronoun) for word in words[start[1] :]]
    if any(word in {"I", "I'm", "I've", "I'd", "I'll"} for word in rest):
        return ""
    return " ".join([start[0], *rest])


def _subject(words: list[str], pronoun: str) -> tuple[str, int] | None:
    """The beginning of the reported clause, and how many words it replaces."""
    subject = SUBJECT[pronoun]
    first, second = words[0], words[1]
    if first in _THIRD:
        return _THIRD[first][1 if pronoun == "they" else 0].format(s=subject), 1
    if first == "My":
        return POSSESSIVE[pronoun], 1
    if first != "I":
        return None
    if second in _SAME:
        return f"{subject} {second}", 2
    if second in {"am", "have"}:
        forms = {"am": ("is", "are"), "have": ("has", "have")}[second]
        return f"{subject} {forms[pronoun == 'they']}", 2
    if second in _INFLECT:
        return f"{subject} {second if pronoun == 'they' else _third_form(second)}", 2
    return None


def _third_form(verb: str) -> str:
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb[:-1] + "ies"
    return verb + ("es" if verb.endswith(("s", "sh", "ch")) else "s")


def _objects(word: str, pronoun: str) -> str:
    bare = word.strip(",")
    return word.replace(bare, _OBJECTS[bare][pronoun]) if bare in _OBJECTS else word


def addressed(text: str, name: str, called: str) -> str:
    """The text with its mentions of somebody turned to `you`, as it is said to that person."""
    for mention in (name, called):
        if mention and mention in text:
            text = re.sub(rf"\b{re.escape(mention)}'s\b", "your", text)
            text = re.sub(rf"\b{re.escape(mention)}\b", "you", text)
    return text


def mentions(text: str, name: str, called: str) -> bool:
    """Whether somebody's name occurs in the text."""
    return (called in text and bool(re.search(rf"\b{re.escape(called)}\b", text))) or (bool(name) and name in text)
