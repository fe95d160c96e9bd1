"""Indirect speech in English: a sentence of a line as somebody else passes it on."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

from commonplace.languages.en.speech import DETERMINERS, OBJECT, POSSESSIVE, SUBJECT
from commonplace.languages.en.wording import gerund
from commonplace.languages.word_lists import listed

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
