"""English phrases the templates cannot hold: times in words, places, articles, verb forms, finishing touches; words
repeated by somebody else, with pronouns swapped; and a line as somebody else passes it on.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import pairwise

from commonplace.languages import listed

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
_CONTRACTED = {"d": "'d", "ll": "'ll", "ve": "'ve"}
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
        return f"{start}{_CONTRACTED.get(short or '', '')}{adverbs}{f' {verb}' if verb else ''}"
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
_DETERMINING = DETERMINERS | listed(
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
    is_bare = occurs and not any(word in _DETERMINING or word.endswith("'s") for word in before.lower().split()[-3:])
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


SHORTEST, LONGEST = 4, 22
"""Words of a sentence that is passed on."""
_SENTENCE = re.compile(r"[^.!?…]+[.!?…]*[\"”']?\s*")
_SELF = listed("i i'm i've i'd i'll me my mine myself")
_BARRED = listed("you your yours you're you've you'll you'd we our us we're we've shall please here this let's um mean")
"""Words that mean something else, or nothing, in another mouth."""
_POINTED = listed("you your yours you're you've you'll you'd here please let's")
"""Words that point at the one who was spoken to."""
_LEANING = listed(
    "it it's that that's this they they're there's he he's she she's his her their these those one no yes and but so "
    "or not then because of which who only nobody's oh ah well anyhow anyway still"
)
"""Words at the beginning of a sentence that lean on the one before it."""
_SHORT = {"I'm": ("{s}'s", "they're"), "I've": ("{s}'s", "they've"), "I'll": ("{s}'ll", "they'll"),
          "I'd": ("{s}'d", "they'd")}  # fmt: skip
_POINTING = listed("it its it's them they they're their him he his her she she's that those these one")
_ADVERBS = listed("still always never only just once also really nearly even hardly often sometimes usually")
_UNCHANGED = listed(
    "was had could can can't shan't couldn't would wouldn't will won't should must might did didn't hadn't wasn't "
    "cannot became began bit blew bought broke brought built burnt came caught chose cut did drank drew drove "
    "dreamt ate fed felt fell fought found flew forgot forgave froze gave got grew heard held hid hit hung kept "
    "knew laid learnt led left lent let lit lost made meant met paid put ran rang read rode rose said sang sank "
    "sat saw sent sewed shook shot showed shut slept smelt sold spent spoke stole stood stuck swam swept swore "
    "taught thought threw told took tore understood went woke won wore wrote"
)
"""Verbs that are the same with he and she: those in the past, and those that help another."""
_HELPING = listed("did had was can could will would should must might")
"""Those that another may come before: `so did I`."""
_IRREGULAR = {"am": ("is", "are"), "have": ("has", "have"), "do": ("does", "do"), "don't": ("doesn't", "don't"),
              "haven't": ("hasn't", "haven't"), "go": ("goes", "go"), "was": ("was", "were"),
              "wasn't": ("wasn't", "weren't")}  # fmt: skip
_NO_VERBS = listed(
    "and or but um er the a an my your his her their of in on at by for with from to as if than that who which not no "
    "alone myself too either"
)
_OBJECTS = {"me": OBJECT, "my": POSSESSIVE, "mine": {"she": "hers", "he": "his", "they": "theirs"},
            "myself": {"she": "herself", "he": "himself", "they": "themselves"}}  # fmt: skip
_OWNED = DETERMINERS | listed("no some more two three four five six eleven many")
"""Words after which `I've` means that one has something."""
_VERB = re.compile(r"is|are|was|were|has|have|can|will|would|does|[a-z]{2,}(?:s|ed)|[a-z]+n't")
_WORD = re.compile(r"(?P<word>[^\s,]+)(?P<after>,?)")


@lru_cache(maxsize=4096)
def reported(quote: str, pronoun: str, topic: str = "") -> str:
    """Returns the sentence on the topic as somebody else passes it on; empty if none would read well.

    `Listen to this. I need a battery.` → `he needs a battery`, for a man. Without a topic the quote is one sentence.
    """
    if pronoun not in SUBJECT:
        return ""
    sentences = [one.strip() for one in _SENTENCE.findall(quote)]
    key = topic.rsplit(" ", maxsplit=1)[-1].lower()
    about = [one for one in sentences if key in one.lower()] if topic else sentences[: len(sentences) < 2]
    return next((report for one in about if (report := _reported(one, pronoun))), "")


@lru_cache(maxsize=4096)
def quotable(quote: str, topic: str) -> str:
    """Returns a sentence on the topic that may be repeated word for word, with its mark; empty if none can stand
    alone."""
    key = topic.rsplit(" ", maxsplit=1)[-1].lower()
    for one in map(str.strip, _SENTENCE.findall(quote)):
        words = one.rstrip(".!").split(" ")
        bare = [word.lower().strip(",") for word in words]
        is_fit = SHORTEST <= len(words) <= LONGEST and one.endswith((".", "!")) and '"' not in one
        if key and key in one.lower() and is_fit and not _POINTED.intersection(bare) and not _leans(words, bare):
            return one
    return ""


def _reported(sentence: str, pronoun: str) -> str:
    words = sentence.rstrip(".!").split(" ")
    bare = [word.lower().strip(",") for word in words]
    if sentence.endswith(("?", "…")) or re.search(r"[:;–—\"“]", sentence) or not SHORTEST <= len(words) <= LONGEST:
        return ""
    if any(word in _BARRED for word in bare) or _leans(words, bare) or bare[:2] in (["i", "say"], ["i", "said"]):
        return ""
    if _SELF & {*bare}:
        return _turned(words, pronoun)
    is_statement = any(_is_verb(word) for word in bare[1:])
    return " ".join([_begun(words[0]), *words[1:]]) if is_statement else ""


def _leans(words: list[str], bare: list[str]) -> bool:
    """Tells whether the sentence needs the one before it, for its subject or for what `it` or `her` refers to."""
    if words[0].endswith(",") or bare[0] in _LEANING | _ADVERBS:
        return True
    if bare[0] not in DETERMINERS | _BEGINS | _SELF and not _is_verb(bare[1]) and bare[1] not in _ADVERBS:
        return True
    pointing = next((number for number, word in enumerate(bare) if word in _POINTING), 0)
    named = (number for number, word in enumerate(words) if word[0].isupper() and bare[number] not in _SELF)
    before = (*named, *(number for number, word in enumerate(bare) if word in DETERMINERS))
    return pointing > 0 and not any(number < pointing and (number or bare[0] not in _BEGINS) for number in before)


def _is_verb(word: str) -> bool:
    return word in _UNCHANGED or bool(_VERB.fullmatch(word))


def _begun(word: str) -> str:
    """Returns the first word as it stands inside a sentence: only a word that may be a name keeps its capital."""
    return word.lower() if word.lower() in DETERMINERS | _BEGINS else word


_BEGINS = listed(
    "some every each all most many half nobody everybody everyone somebody someone something nothing everything there "
    "when while if as in on at from by with after before during since until every two three four five six seven"
)


def _turned(words: list[str], pronoun: str) -> str:
    """Returns the words of somebody about themselves in the third person; empty if a verb is unknown."""
    subject, many = SUBJECT[pronoun], pronoun == "they"
    told, awaits_verb = list[str](), False
    for number, one in enumerate(words):
        found = _WORD.fullmatch(one)
        if found is None:
            return ""
        word, after = found["word"], found["after"]
        if awaits_verb and word not in _ADVERBS:
            verb = _with_third(word, many)
            if not verb or (verb != word and _goes_on(words[number + 1 :])):
                return ""
            told.append(verb + after)
            awaits_verb = False
        elif word == "I":
            if after:
                return ""
            before = words[number - 1] if number else ""
            if before in _IRREGULAR:  # `so do I` would be `so does she`
                return ""
            told.append(subject)
            awaits_verb = before not in _HELPING  # `so did I`
        elif word == "I've" and not after and words[number + 1 : number + 2] and words[number + 1] in _OWNED:
            told += [subject, "have" if many else "has"]
        elif word in _SHORT:
            told.append(_SHORT[word][many].format(s=subject) + after)
        elif word.lower() in _OBJECTS:
            told.append(_OBJECTS[word.lower()][pronoun] + after)
        else:
            told.append((word if number else _begun(word)) + after)
    return "" if awaits_verb else " ".join(told)


def _goes_on(words: list[str]) -> bool:
    """Tells whether a second verb may follow that would have to change, too: `I ring up and complain`."""
    after = (word for joint, word in pairwise(words) if joint in {"and", "or", "but"})
    return any(word.islower() and word not in DETERMINERS and not word.endswith("ed") for word in after)


def _with_third(verb: str, many: bool) -> str:
    """Returns the verb of `I …` in the form for he, she or they; empty if it is not a verb."""
    if verb in _IRREGULAR:
        return _IRREGULAR[verb][many]
    if verb in _NO_VERBS or not verb.isascii() or not verb.replace("'", "").isalpha() or verb[0].isupper():
        return ""
    if many or verb in _UNCHANGED or (verb.endswith("ed") and not verb.endswith("eed")):
        return verb
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb[:-1] + "ies"
    return verb + ("es" if verb.endswith(("s", "sh", "ch", "x", "z")) else "s")


_JOINTS = listed("and then but so")
_AFTER_A_VERB = (
    DETERMINERS
    | {*_OBJECTS}
    | listed(
        "it him them us you that this these those everybody everyone somebody everything all one two in on at to into "
        "onto over under out off up down away with for from by through across back open shut"
    )
)
"""Words that stand after a verb rather than after a noun."""
_PIECE = re.compile(r"(\"[^\"]*\"|“[^”]*”)")


def deed(text: str, name: str, pronoun: str) -> str:
    """Returns what somebody says they do, told of them: `I lock the shed and throw the key away` → `Ilse locks the shed
    and throws the key away`. Words in quotation marks do not change."""
    text = text.strip()
    subject = re.match(rf"(?:I|{SUBJECT.get(pronoun, 'they')}|{re.escape(name)})(?= )", text, re.IGNORECASE)
    if subject and subject[0] != "I":
        return name + text[subject.end() :]
    first, *rest = _PIECE.split(text if subject or text.startswith("I'") else f"I {text[:1].lower()}{text[1:]}")
    told, named = _deed(first, name, pronoun, named=False)
    for number, piece in enumerate(rest):
        turned, named = (piece, named) if number % 2 == 0 else _deed(piece, name, pronoun, named=named)
        told += turned
    return told


def _deed(text: str, name: str, pronoun: str, *, named: bool) -> tuple[str, bool]:
    """Returns a piece of a deed, and whether it names the doer already."""
    words, told, awaits_verb, many = text.split(" "), list[str](), False, False
    for number, one in enumerate(words):
        word = one.rstrip(",.;:!?")
        after, follows = one[len(word) :], words[number + 1] if number + 1 < len(words) else ""
        goes_on = number > 1 and (words[number - 1] in _JOINTS or words[number - 1].endswith(","))
        is_verb = goes_on and word.islower() and word not in _NO_VERBS | _JOINTS | _AFTER_A_VERB
        is_verb = is_verb and (follows.rstrip(",.;:!?").lower() in _AFTER_A_VERB or follows[:1].isupper())
        if (awaits_verb and word not in _ADVERBS) or (is_verb and named):
            word, awaits_verb = _with_third(word, many) or word, False
        elif word == "I" or word in _SHORT:
            many = named and pronoun == "they"
            they = SUBJECT.get(pronoun, "they") if named else name
            word, awaits_verb, named = _SHORT[word][many].format(s=they) if word in _SHORT else they, word == "I", True
        elif word.lower() in _OBJECTS and word.lower() != "mine":
            word = _OBJECTS[word.lower()].get(pronoun, word)
        told.append(word + after)
    return " ".join(told), named


def sentences(doing: str, called: str) -> tuple[str, ...]:
    """Returns `setting fire to it` → `Mira sets fire to it`, with a sentence for each possible spelling of the verb."""
    verb, _, rest = doing.partition(" ")
    stem = verb.removesuffix("ing")
    forms = (form for form in (stem, f"{stem}e", stem[:-1]) if form and gerund(form) == verb)
    return tuple(f"{called} {_with_third(form, many=False)} {rest}" for form in forms) or (f"{called} {doing}",)
