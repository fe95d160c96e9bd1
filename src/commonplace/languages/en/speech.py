"""English words repeated by somebody else: pronouns swapped, and the thing a line is about."""

from __future__ import annotations

import re
from functools import lru_cache

from commonplace.languages.word_lists import listed

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
    """Returns what somebody does in the words of the doer (`person` "my") or of somebody who speaks to the doer
    ("your").

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
    """Returns a clause about the doer as the doer or the one addressed says it: `he always orders` → `I always
    order`."""
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
    """Returns the verb in the form for I (0) or you (1): `orders` → `order`."""
    if verb in _AGREES:
        return _AGREES[verb][turned]
    if many or not verb.endswith("s") or verb.endswith("ss") or len(verb) < 4:
        return verb
    if verb.endswith("ies"):
        return verb[:-3] + "y"
    return verb[:-2] if verb.endswith(("shes", "ches", "sses", "xes", "zzes")) else verb[:-1]


_AFTER_A_NOUN = listed(
    "is are was were has had have needs need keeps keep goes comes come done does did says said knows knew thinks "
    "means meant ran runs sat sits told tells takes took went wound kept left brought built wrote bought sold gave "
    "held fell froze taught showed sang came matters would will won't can can't could stood isn't wasn't broke "
    "breaks made makes gets got starts begins opens closes smells sounds looks loses wins finds gives rings flies "
    "crashes cooks bearing carrying wearing holding leading standing lying sitting hanging running at in on to for "
    "of with and but or by from off down under over near about like than as because until while so if up out after "
    "before into onto through across behind along around without against between who which when where what that how "
    "whenever wherever again still today tonight tomorrow yesterday this always never only just alone together "
    "himself herself myself too either well back away home once twice all open shut full being higher lower better "
    "worse every last next here there then now since my your his her their our the a an it that's it's he she they "
    "I you we leaks works hurts smokes sings cries rattles drips burns falls must may might shall should needn't "
    "shouldn't mustn't mean matter tears hums sleeps waits wants likes tilts sells buys eats drinks laughs "
    "walks talks plays swims snores sneezes knocks whistles remembers forgets hides hates loves feels sees hears asks "
    "answers lives dies grows shines shakes turns leads lies hangs swings wobbles creaks blinks beats fits tastes"
)
"""Words at which a noun phrase ends; so it does before a past tense in -ed."""
_NOUN_PHRASE = re.compile(
    r"\b(?P<det>[Tt]he|[Mm]y|[Yy]our|[Oo]ur|[Aa]n?) "
    r"(?P<noun>[a-z][a-z'-]*(?: [a-z][a-z'-]*){0,2}?)"
    rf"(?=[,.;:!?]|$| (?:[a-z]{{3,}}ed|{'|'.join(sorted(_AFTER_A_NOUN))})\b)"
)
_EMPTY = listed(
    "way time thing things day night morning evening afternoon moment bit lot while kind sort rest one same other "
    "little truth idea point matter case minute hour week year people person man woman place few first last end "
    "best worst next right wrong most only company hang start look sense shame pity middle door talk word words "
    "air mind bell joke fact days month months knees favour reason chance world everything nothing anybody guy "
    "hand hands head heart eye eyes back side part number floor edge front top bottom one two three four five ten "
    "hundred dozen half pair couple kid same sort piece nerves philosophy reason feeling hurry chance times"
)
_VERBS = listed("was is are were had have never always just really not only go goes went do does did be been")
_ARTICLES = {"a": "the", "an": "the"}
DETERMINERS = listed("the a an my your our his her their")
_POINTING = DETERMINERS | listed(
    "that this those these every some any no one another each both two three four five six many few several"
)


@lru_cache(maxsize=4096)
def noun_phrase(text: str, subject: str = "") -> str:
    """Returns what a text is about, in its own words: `I still owe Kit for my battery` → `my battery`; empty if nothing
    in it can be named.

    With a `subject` it is the phrase in which the subject occurs, else the subject itself: unchanged if the text has it
    without an article (`I prescribe sleep`), otherwise with one (`flood` → `the flood`).
    """
    for found in _NOUN_PHRASE.finditer(text):
        noun = found["noun"]
        if subject:
            if subject not in noun:
                continue
            # What follows the subject may be a verb that is not known: `the old radio hums`.
            before, _, after = noun.partition(subject)
            if before and after.partition(" ")[0] == "s":  # a verb: `my grandad coughs`
                continue
            noun = f"{before}{subject}{after.partition(' ')[0]}"
        words = noun.split()
        if words[-1] in _EMPTY or words[0] in _EMPTY or len(words[-1]) < 3:
            continue
        if words[-1].endswith(("ing", "ly", "ed", "'s")):
            continue
        if any(word in _VERBS for word in words):
            continue
        determiner = found["det"].lower()
        return f"{_ARTICLES.get(determiner, determiner)} {noun}"
    occurs = re.search(rf" {re.escape(subject)}(?![\w'])", text)
    before, after = (text[: occurs.start()], text[occurs.end() :]) if occurs else ("", "")
    is_bare = occurs and not any(word in _POINTING or word.endswith("'s") for word in before.lower().split()[-3:])
    # `arcade machines` are not the arcade.
    follows = re.match(r" ([a-z'-]+)", after)
    is_whole = follows is None or follows[1] in _AFTER_A_NOUN or follows[1].endswith("ed")
    return subject if subject and is_bare and is_whole else with_article(subject)


def with_article(subject: str) -> str:
    """Returns a subject with an article: `flood` → `the flood`; a name, or a subject with a determiner, does not
    change."""
    is_whole = not subject or subject[0].isupper() or subject.split(" ", 1)[0] in DETERMINERS
    return subject if is_whole else f"the {subject}"


def turned(topic: str, my: str = "your", your: str = "my") -> str:
    """Returns a topic as the one addressed names it: `my roof` → `your roof`, `your roof` → `my roof`.

    A third person names it with other possessives: `my roof` → `Jun's roof`.
    """
    determiner, _, noun = topic.partition(" ")
    if determiner in {"my", "our"}:
        return f"{my} {noun}"
    return f"{your} {noun}" if determiner == "your" else topic


def bare(topic: str) -> str:
    """Returns a topic without its determiner: `the lantern festival` → `lantern festival`."""
    determiner, _, noun = topic.partition(" ")
    return noun if determiner in DETERMINERS or determiner.endswith("'s") else topic


def addressed(text: str, name: str, called: str) -> str:
    """Returns the text as it is said to somebody: mentions of that person are turned to `you`."""
    for mention in (name, called):
        if mention and mention in text:
            text = re.sub(rf"\b{re.escape(mention)}'s\b", "your", text)
            text = re.sub(rf"\b{re.escape(mention)}\b", "you", text)
    return text


def mentions(text: str, name: str, called: str) -> bool:
    """Tells whether somebody's name occurs in the text."""
    return (called in text and bool(re.search(rf"\b{re.escape(called)}\b", text))) or (bool(name) and name in text)
