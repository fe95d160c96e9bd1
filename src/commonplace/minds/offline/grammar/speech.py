"""English words taken up by somebody else: pronouns turned round, speech reported, the thing a line is about."""

from __future__ import annotations

import re
from functools import lru_cache

from commonplace.minds.offline.grammar.english import listed

SUBJECT = {"she": "she", "he": "he", "they": "they"}
OBJECT = {"she": "her", "he": "him", "they": "them"}
POSSESSIVE = {"she": "her", "he": "his", "they": "their"}

_THEIRS = re.compile(r"\b(her|his|their|herself|himself|themselves|themself|him|them)\b(?=(?: ([a-z]+))?)")
_NOT_OWNED = listed(
    "the a an this that these those his their my your its what how who whom whose where when why whether while to of "
    "in on at by for from with into onto over under about after before until and or but nor if as than so because "
    "something anything nothing everything somebody again away up down"
)
_CLAUSE = re.compile(
    r"\b(she|he|they)(?:'(s|d|ll|ve|re))?\b((?: (?:always|never|still|only|just|once|also|really))*)(?: ([a-z']+))?"
)
_SHORT = {"d": "'d", "ll": "'ll", "ve": "'ve"}
_AGREES = {
    "is": ("am", "are"), "are": ("am", "are"), "was": ("was", "were"), "were": ("was", "were"), "has": ("have",) * 2,
    "does": ("do",) * 2, "isn't": ("am not", "aren't"), "aren't": ("am not", "aren't"), "doesn't": ("don't",) * 2,
    "hasn't": ("haven't",) * 2, "wasn't": ("wasn't", "weren't"), "weren't": ("wasn't", "weren't"), "goes": ("go",) * 2,
}  # fmt: skip


@lru_cache(maxsize=4096)
def taken(doing: str, pronoun: str, person: str) -> str:
    """What somebody does in the words of the doer (`person` "my") or of who speaks to the doer ("your").

    `looking for his keys` → `looking for my keys`; `counting drips he will stop one day` → `… I will stop one day`.
    Only the doer's own pronoun is turned; `her` before a noun is a possessive.
    """
    own, self_form, plain = ("my", "myself", "me") if person == "my" else ("your", "yourself", "you")
    forms = {POSSESSIVE[pronoun], OBJECT[pronoun]}

    def turned(found: re.Match[str]) -> str:
        word, follows = found.group(1), (found.group(2) or "the") not in _NOT_OWNED
        if word.endswith(("self", "selves")):
            return self_form if word[:3] == OBJECT[pronoun][:3] else word
        if word not in forms:
            return word
        return own if word == POSSESSIVE[pronoun] and (follows or word == "his") else plain

    return _THEIRS.sub(turned, _CLAUSE.sub(lambda found: _clause(found, pronoun, person), doing))


def _clause(found: re.Match[str], pronoun: str, person: str) -> str:
    """`he always orders` → `I always order`: a clause about the doer, as the doer or the one addressed has it."""
    subject, short, adverbs, verb = found.groups()
    if subject != SUBJECT[pronoun]:
        return found.group()
    turned = 0 if person == "my" else 1
    start = ("I", "you")[turned]
    if short in {"s", "re"}:
        short = "'ve" if verb in {"been", "got", "had"} else ("'m", "'re")[turned]
        return f"{start}{short}{adverbs}{f' {verb}' if verb else ''}"
    if short or not verb:
        return f"{start}{_SHORT.get(short or '', '')}{adverbs}{f' {verb}' if verb else ''}"
    return f"{start}{adverbs} {_agreeing(verb, turned, many=subject == 'they')}"


def _agreeing(verb: str, turned: int, *, many: bool) -> str:
    """The verb as it goes with I (0) or you (1): `orders` → `order`."""
    if verb in _AGREES:
        return _AGREES[verb][turned]
    if many or not verb.endswith("s") or verb.endswith("ss") or len(verb) < 4:
        return verb
    if verb.endswith("ies"):
        return verb[:-3] + "y"
    return verb[:-2] if verb.endswith(("shes", "ches", "sses", "xes", "zzes")) else verb[:-1]


_NOUN_PHRASE = re.compile(
    r"\b(?P<det>[Tt]he|[Mm]y|[Yy]our|[Oo]ur|[Aa]n?) "
    r"(?P<noun>[a-z][a-z'-]*(?: [a-z][a-z'-]*){0,2}?)"
    r"(?=[,.;:!?]|$| (?:is|are|was|were|has|had|have|at|in|on|to|for|of|with|and|but|or|by|from|again|needs?|keeps?|"
    r"still|today|tonight|tomorrow|yesterday|this|that|before|after|will|won't|can|can't|could|would|who|which|when|"
    r"while|so|if|up|out|off|down|under|over|near|about|like|than|as|because|until|all|smells?|sounds?|looks?|goes|"
    r"comes?|done|open|shut|full|being|does|did|says?|said|knows?|knew|thinks?|means?|meant|ran|runs?|sat|sits?|told|"
    r"tells?|takes?|after|went|into|onto|through|across|behind|along|around|without|against|between|where|what|how|"
    r"whenever|wound|kept|left|brought|built|wrote|bought|sold|gave|held|fell|died|lived|worked|played|used|loved|liked|"
    r"wanted|called|asked|turned|stopped|drowned|burned|froze|sailed|taught|showed|sang|wherever|came|comes|matters?|would|stood|never|always|only|just|alone|together|himself|herself|myself|too|either|well|back|away|home|once|twice|took|starts?|begins?|opens?|closes?|higher|lower|better|worse|"
    r"my|your|his|her|their|our|the|an?|it|that's|it's|isn't|wasn't|broke|made|makes|gets?|got|every|last|next|again|here|there|then|now|since|he|she|they|I|you|we)\b)"
)
_EMPTY = listed(
    "way time thing things day night morning evening afternoon moment bit lot while kind sort rest one same other "
    "little truth idea point matter case minute hour week year people person man woman place few first last end "
    "best worst next right wrong most only company hang start look sense shame pity middle door talk word words "
    "air mind bell joke fact days month months knees favour reason chance world everything nothing anybody guy "
    "hand hands head heart eye eyes back side part number floor edge front top bottom one two three four five ten "
    "hundred dozen half pair couple kid same sort piece nerves philosophy reason feeling hurry chance times"
)
_TURN = {"my": "your", "our": "your", "your": "my", "a": "the", "an": "the"}


@lru_cache(maxsize=4096)
def topic(text: str, called: str = "") -> str:
    """What a line is about, as the hearer would name it: `I still owe Kit for the battery` → `the battery`.

    `my roof` becomes `your roof`; with the speaker's `called` it becomes `Jun's roof`, as said to a third person.
    Empty when nothing in it can be named.
    """
    for found in _NOUN_PHRASE.finditer(text):
        words = _without_verb(found["noun"].split())
        noun = " ".join(words)
        if words[-1] in _EMPTY or words[0] in _EMPTY or len(words[-1]) < 3 or words[-1].endswith(("ing", "ly", "ed")):
            continue
        if any(word in _VERBS for word in words):
            continue
        return f"{_determiner(found['det'].lower(), called)} {noun}"
    return ""


_PLURALS = listed(
    "tokens lanterns lamps eggs noodles persimmons tomatoes bowls stories letters songs machines scallions "
    "nettles gates streets notes ducks thumbs scores pots dumplings customers dreams lights wires plans stairs "
    "baths papers tools flowers kites boats ships games screens windows stools takings scales books pages seeds "
    "beans herons gulls"
)


def _without_verb(words: list[str]) -> list[str]:
    """`mum cooks` → `mum`: a last word in -s after a noun is rather its verb, unless it is a well-known plural."""
    last = words[-1]
    if len(words) > 1 and last.endswith("s") and not last.endswith(("ss", "'s")) and last not in _PLURALS:
        return words[:-1]
    return words


_VERBS = listed("was is are were had have never always just really not only go goes went do does did be been")


def _determiner(word: str, called: str) -> str:
    if called:
        return f"{called}'s" if word in {"my", "our"} else {"a": "the", "an": "the"}.get(word, word)
    return _TURN.get(word, word)


_THIRD = {
    "I'm": ("{s}'s", "they're"), "I've": ("{s}'s", "they've"), "I'll": ("{s}'ll", "they'll"),
    "I'd": ("{s}'d", "they'd"),
}  # fmt: skip
_SAME = listed(
    "was had could can can't couldn't would wouldn't will won't saw heard found made took left lost forgot met "
    "spent went came dreamt used got broke fixed finished never should must might did didn't wanted thought told"
)
_INFLECT = listed("need want think hope like love keep know miss owe feel worry dream wonder believe remember mean")
_OBJECTS = {"me": OBJECT, "my": POSSESSIVE, "mine": {"she": "hers", "he": "his", "they": "theirs"},
            "myself": {"she": "herself", "he": "himself", "they": "themselves"}}  # fmt: skip
_BARRED = listed("you your yours you're we our us we're let's shall please here this")


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
    subject, many = SUBJECT[pronoun], pronoun == "they"
    first, second = words[0], words[1]
    if first in _THIRD:
        return _THIRD[first][1 if many else 0].format(s=subject), 1
    if first == "My":
        return POSSESSIVE[pronoun], 1
    if first != "I":
        return None
    verb = _other_verb(second, many)
    return (f"{subject} {verb}", 2) if verb else None


def _other_verb(verb: str, many: bool) -> str:
    """The verb of `I …` as it goes with he, she or they; empty for one that is not known."""
    if verb in _SAME:
        return verb
    if verb in _INFLECT:
        return verb if many else _third_form(verb)
    return {"am": "are" if many else "is", "have": "have" if many else "has"}.get(verb, "")


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
