"""English phrases the templates cannot hold: times in words, places, articles, verb forms, finishing touches."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from functools import lru_cache

from commonplace.languages.word_lists import listed

HOURS = (
    "midnight", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "noon",
)  # fmt: skip
_IN = listed(
    "bar kitchen shop workshop garden flat room house home apartment library clinic hall studio office cafe "
    "café attic cellar basement shed greenhouse bedroom bathroom alley store parlour "
    "parlor nook"
)
_ON = listed("roof rooftop street walk bridge path stairs steps landing pier dock deck terrace balcony lane quay")
_OWN_NAMES = listed("house home cottage")
"""What is mostly called after somebody or something: `the Sato House`."""
_PROPER = re.compile(r"\b(?!The\b|A\b)[A-Z]")
_UNARTICLED = listed("row street lane square avenue plaza park hall station")
_NO_ARTICLE = frozenset({"home", "town"})


def clock(moment: str) -> str:
    """Returns a time as a person says it, to the nearest five minutes: `19:30` → `half past seven`."""
    hour, minute = int(moment[:2]), int(moment[3:5])
    this, following = _hour(hour), _hour(hour + 1)
    words = next(words for limit, words in _MINUTES if minute < limit)
    return words.format(this=this, next=following)


_MINUTES = (
    (3, "{this}"), (8, "just after {this}"), (13, "ten past {this}"), (18, "a quarter past {this}"),
    (25, "twenty past {this}"), (38, "half past {this}"), (43, "twenty to {next}"), (48, "a quarter to {next}"),
    (53, "ten to {next}"), (60, "just before {next}"),
)  # fmt: skip


def _hour(hour: int) -> str:
    hour %= 24
    return HOURS[hour] if hour <= 12 else HOURS[hour - 12]


@lru_cache(maxsize=2048)
def when(moment: str, minutes_ago: int) -> str:
    """Returns when something was, in words: `just now`, `this morning`, `last night`, `the other day`."""
    now = datetime.fromisoformat(moment)
    then = now - timedelta(minutes=max(0, minutes_ago))
    if minutes_ago <= 15:
        return "just now"
    days = (now.date() - then.date()).days
    if days == 0 or (days == 1 and now.hour < 4):
        return _today(then.hour, minutes_ago)
    if days == 1:
        yesterday = f"yesterday {_part(then.hour)}" if then.hour >= 5 else "the night before"
        return "last night" if then.hour >= 20 else yesterday
    if days < 7:
        return "the other day"
    return "last week" if days < 14 else "a while ago"


def _today(hour: int, minutes_ago: int) -> str:
    if minutes_ago <= 75:
        return "a little while ago"
    if hour < 5:
        return "in the small hours"
    return f"this {_part(hour)}" if hour < 21 else "earlier tonight"


def _part(hour: int) -> str:
    return "morning" if hour < 12 else "afternoon" if hour < 17 else "evening"


@lru_cache(maxsize=2048)
def named(name: str) -> str:
    """Returns the name of a thing or a place inside a sentence: `Workshop` → `the workshop`, `Mira's Flat` → `Mira's
    flat`."""
    name = name.strip()
    if not name:
        return ""
    if name.lower().startswith("the "):
        return "the " + _soft(name[4:])
    if name.lower().startswith(("my ", "your ", "our ")):
        return name[0].lower() + name[1:]
    owner, apostrophe, rest = name.partition("'s ")
    if apostrophe and _PROPER.match(owner):
        return f"{owner}'s {_soft(rest)}"
    soft = _soft(name)
    if soft == name and name.split()[-1].lower() in _UNARTICLED and " " in name:
        return name
    return soft if soft.lower() in _NO_ARTICLE else f"the {soft}"


def _soft(name: str) -> str:
    """Returns a name of common words in lower case; a name that reads as a proper one keeps its capitals."""
    words = name.split()
    last = words[-1].lower()
    if len(words) == 1 or (last in _IN and last not in _OWN_NAMES) or last in _COMMON:
        return " ".join(word if word.isupper() or word.endswith("'s") else word.lower() for word in words)
    return name


_COMMON = listed(
    "roof rooftop stairs steps bench counter lamp sign lights machine kettle stove oven fridge door window table "
    "desk tree pot radio speaker board well pump box bed piano shelf sofa"
)


@lru_cache(maxsize=2048)
def at(name: str) -> str:
    """Returns `at the workshop`, `on the roof`, `in the garden`; `at home`."""
    phrase = named(name)
    if not phrase:
        return ""
    last = phrase.split()[-1].lower()
    return f"{'in' if last in _IN and last != 'workshop' else 'on' if last in _ON else 'at'} {phrase}"


def lowered(text: str) -> str:
    """Returns the text without a capital at its beginning, unless it begins with `I` or a name other than an
    article."""
    first = text.split(" ", 1)[0].rstrip(",.;:!?")
    if first in _SENTENCE_STARTS:
        return text[0].lower() + text[1:]
    return text


_SENTENCE_STARTS = listed(
    "The A An My Your His Her Their Our This That These Those There It She He They We You Nobody Everybody Everyone "
    "Somebody Someone Something Nothing Everything Some Any No Not In On At From By With Every Each All Most Many "
    "Half Talking People More Less Wet Whatever Wherever One Two When While If As To It's There's That's She's He's "
    "They're We're You're What How Whenever Have Has Do Does Did Is Are Was Were Can Could Will Would Shall May Might "
    "Three Four Five Six Seven Eight Nine Ten Eleven Twelve Thirteen Forty First Last Next Late Once Never Always "
    "Before After Since Until Somewhere Nobody's Who Why Which Perhaps Maybe Even Still Just Only Then Now Today "
    "Tonight Tomorrow Yesterday Got Told Somebody's Everyone's Second Whoever"
)


def gerund(phrase: str) -> str:
    """Returns a phrase as a gerund: `fix the roof` → `fixing the roof`."""
    verb, _, rest = phrase.partition(" ")
    return f"{_ing(verb)} {rest}".strip()


def _ing(verb: str) -> str:
    simple = verb.lower().rpartition("-")[2]
    if simple not in _WHOLE:
        if simple.endswith("ie"):
            return verb[:-2] + "ying"
        if simple.endswith("e") and not simple.endswith(("ee", "ye", "oe")):
            return verb[:-1] + "ing"
    if simple in _STRESSED or (simple not in _UNSTRESSED and _DOUBLING.fullmatch(simple)):
        return verb + verb[-1] + "ing"
    return verb + ("king" if _HARD_C.search(simple) else "ing")


_WHOLE = listed("be binge singe stymie swinge tinge whinge")
"""Verbs that keep their last letters: `singeing`."""
_HARD_C = re.compile(r"[aeiou]c$")
_PREFIX = (
    "a|ab|ac|ad|al|ap|as|at|be|com|con|de|dis|em|en|ex|for|im|in|inter|mis|ob|oc|off|out|over|per|pre|pro|re|sub|"
    "trans|un|under|up"
)
_SYLLABLE = r"(?:[^aeiouy]*qu|[^aeiouy]+|y)[aeiouy][bdfgkmnprstvz]"
_DOUBLING = re.compile(
    rf"[aeiouy]?[bdfgkmnprstvz]|{_SYLLABLE}"
    rf"|(?!.*(?<!f)[eo][nr]$)(?:re)?(?:{_PREFIX})(?!(.)\1){_SYLLABLE}"
    r"|.*[^aeiou](?:[aeiou][bg]|ap)|.+(?:[cd]rop|gram|step|stop)"
    r"|(?:.*[^aeiou]|.*qu|.*[iu])?[aeiou]l"
)
"""Verbs that end in one vowel and one consonant and double it, because their last syllable is stressed: it is the only
one (`chat`, `quit`) or follows a prefix (`admit`, `transfer`) and is none of -en, -er, -on, -or (`open`, `enter`).
Those in -b, -g and -ap (`zigzag`, `kidnap`) and compounds of some words double it, too; in British spelling also those
in -l, stressed or not (`travel`)."""
_STRESSED = listed(
    "abhor aver babysit bobsled caravan costar deter disinter emit equip inter omit retrofit typeset worship"
)
"""Stressed in other ways, or spelt as if they were."""
_UNSTRESSED = listed("catalog debit debut dialog interpret parallel profit")


_PAST = {
    "is": "was", "are": "were", "has": "had", "goes": "went", "go": "went", "comes": "came", "come": "came",
    "falls": "fell", "breaks": "broke", "begins": "began", "rings": "rang", "catches": "caught", "flies": "flew",
    "runs": "ran", "hears": "heard", "cries": "cried", "shuts": "shut", "bursts": "burst", "stops": "stopped",
    "blows": "blew", "wins": "won", "loses": "lost", "finds": "found", "sinks": "sank", "gets": "got",
    "clears": "cleared", "cover": "covered", "covers": "covered",
    "slips": "slipped", "drops": "dropped", "shakes": "shook", "rises": "rose", "gives": "gave", "takes": "took",
}  # fmt: skip
_REGULAR = re.compile(
    r"^(arriv|explod|flicker|start|open|clos|appear|land|leak|flood|call|collaps|crash|"
    r"shout|scream|ask|roll|pass|"
    r"drift)(e?s)$"
)


def past(sentence: str) -> str:
    """Returns a report in the present told afterwards, with its first verb in the past; empty if no verb is
    recognised."""
    words = sentence.split(" ")
    for index, word in enumerate(words):
        if index == 0:
            continue
        if word in _PAST:
            return " ".join([*words[:index], _PAST[word], *words[index + 1 :]])
        regular = _REGULAR.match(word)
        if regular:
            stem = regular.group(1)
            return " ".join([*words[:index], stem + "ed", *words[index + 1 :]])
    return ""


_START = re.compile(r"(?:^|(?<=[.!?]\s)|(?<=[.!?][”\"]\s))[a-z]")
_ARTICLE = re.compile(r"\b([Aa]) (?=(?!(?:and|or|in|is|at|on|as|of)\b|I(?![\w-]))([\w-]+))")
_YOU_OR_W = (
    r"eu|ew|once\b|one(?:s|self|ness)?\b|"
    r"u(?:bi|efa|fo|gan|k|nanim|nesco|ni(?!n|m(?!o)|de|ro|ss)|r[aeiou]|s[aeiu]|t[aeio])"
)
"""Words that begin with a vowel on paper only: `use`, `European`, `once`."""
_VOWEL = re.compile(rf"(?!{_YOU_OR_W})[aeioué]|heir|hones|honou?r|hour|8|1[18](?:[0-9]{{2}})?(?![0-9])")
_INITIALS = re.compile(r"[A-Z](?![A-Za-z])|[A-Z]{2,}(?=s?(?![A-Za-z]))|[a-z](?=-)")
_SAID = re.compile(r"(?=.*[AEIOUY])(?:.{4,}|[^AEIOUY][AEIOUY][^AEIOUY]?)")
"""Capitals that are read as a word: `NASA`, `NEW`; others are spelt: `MRI`, `UFO`."""
_SPELT = listed("HIV LA LED MA MEP MIT MOT RAF SAS SOS SUV")
"""Those that only look like words."""
_NAMED_WITH_A_VOWEL = "AEFHILMNORSX"
"""Letters such as F, which is read `eff`."""
_CONTRACTIONS = (
    ("n't", None), ("I'm", "I am"), ("I've", "I have"), ("I'll", "I will"), ("I'd better", "I had better"),
    ("I'd", "I would"), ("you're", "you are"),
    ("You're", "You are"), ("it's", "it is"), ("It's", "It is"), ("that's", "that is"), ("That's", "That is"),
    ("there's", "there is"), ("There's", "There is"), ("you've", "you have"), ("You've", "You have"),
    ("What's", "What is"), ("How's", "How is"), ("what's", "what is"), ("we're", "we are"), ("Let's", "Let us"),
)  # fmt: skip
_NOT = {
    "don't": "do not", "doesn't": "does not", "didn't": "did not", "can't": "cannot", "won't": "will not",
    "isn't": "is not", "wasn't": "was not", "hadn't": "had not", "haven't": "have not", "wouldn't": "would not",
    "couldn't": "could not", "shouldn't": "should not", "aren't": "are not", "weren't": "were not",
}  # fmt: skip
_PARTICIPLES = "been begun caught dreamt forgotten got heard made paid seen spilt thought told".replace(" ", "|")
_HAD = re.compile(rf"\bI'd(?= (?:already |just |only )?(?:(?!need\b|feed\b)[a-z]+ed|{_PARTICIPLES})\b)")
"""Before a participle `I'd` is `I had`, else `I would`."""
_NT = re.compile(r"\b([A-Za-z]+n't)\b(?! (?:we|you|I|it|they|he|she|that|there)\b)")


def spelt_out(text: str) -> str:
    """Returns the text without contractions, as a formal speaker would say it."""
    if "'" not in text:
        return text
    text = _HAD.sub("I had", _NT.sub(lambda found: _like(found.group(1)), text))
    for short, full in _CONTRACTIONS[1:]:
        if short in text and full:
            text = re.sub(rf"\b{short}\b", full, text)
    return text


def _like(word: str) -> str:
    full = _NOT.get(word.lower(), word)
    return full[0].upper() + full[1:] if word[0].isupper() else full


def polished(text: str) -> str:
    """Returns the text with single blanks, capitals at the beginning of sentences, and `an` before a vowel sound."""
    text = " ".join(text.split())
    text = _ARTICLE.sub(lambda found: f"{found[1]}n " if _begins_with_vowel(found[2]) else found[0], text)
    return _START.sub(lambda found: found.group().upper(), text)


def _begins_with_vowel(word: str) -> bool:
    """Tells whether a word, as it is said, begins with a vowel."""
    initials = _INITIALS.match(word)
    if initials and (initials[0] in _SPELT or not _SAID.fullmatch(initials[0])):
        return initials[0][0].upper() in _NAMED_WITH_A_VOWEL
    return _VOWEL.match(word.lower()) is not None
