"""A question as plain words: one or two sentences in the form the rules know, their content words, their subject."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from commonplace.languages.ko import morphology as korean
from commonplace.languages.language import language as spoken
from commonplace.minds.question_names import LONGEST, QuestionNames
from commonplace.minds.question_rules import QuestionRules, misspelt
from commonplace.text import clean

_LEAD_IN = re.compile(
    r"^\W*(?:(?:hello|hi|hey|ok|okay|so|well|please|oh|excuse me|sorry|good \w+|but|there)\b,?\s+)+(?=\w+ \w+)",
    re.IGNORECASE,
)

_CONTRACTED = re.compile(r"\b(what|who|where|when|how|why|that|there|here|it|he|she|name)'s\b", re.IGNORECASE)

_SHORT = (("won't", "will not"), ("can't", "can not"), ("n't", " not"), ("'re", " are"), ("'ve", " have"),
          ("'ll", " will"), ("'m", " am"), ("'d", " would"))  # fmt: skip


def sentences(question: str, rules: QuestionRules, names: QuestionNames, language: str) -> list[str]:
    """Returns the one or two sentences that ask, as words alone; if none asks, the last sentence."""
    text = clean(question)[-LONGEST:].replace("’", "'").replace("@", " ")
    sentences = [part for part in re.split(r"(?<=[.!?。？！…])\s+", text) if part.strip()]
    asking = [part for part in sentences if part.rstrip("\"'”’) ").endswith(("?", "？"))]
    chosen = asking[-2:] or sentences[-1:] or [""]
    if (
        len(asking) == 1
        and sentences.index(asking[0]) > 0
        and rules.patterns["bare"].fullmatch(asking[0].strip(" .!?？"))
    ):
        # `I heard you keep bees. Is that true?`
        chosen = [sentences[sentences.index(asking[0]) - 1].rstrip(" .!") + "?"]
    whole = chosen[0].rstrip(" .!?？")
    if (
        len(chosen) == 1
        and (hit := rules.patterns["second"].search(whole))
        and len(whole[: hit.start("cut")].split()) >= 2
    ):
        chosen = [f"{whole[: hit.start('cut')]}?", f"{hit['rest']}?"]
    return [_normal(one, rules, names, language) for one in chosen]


def _normal(text: str, rules: QuestionRules, names: QuestionNames, language: str) -> str:
    """Returns a sentence as words alone, in the form that the rules know."""
    if spoken(language).has_particles:
        text = re.sub(r"^[가-힣]+[님씨아야]?,\s+(?=\S+ )", "", text)  # who is spoken to
        text = " ".join(re.sub(r"[^\w가-힣: -]+", " ", text).split())
        return _rewritten(text, rules)
    is_asked = text.rstrip("\"'”’) ").endswith("?")
    text = _CONTRACTED.sub(r"\1 is", text)
    for short, full in _SHORT:
        text = re.sub(rf"{short}\b", full, text, flags=re.IGNORECASE)
    text = text.rstrip(" .!?…")
    for name in names.me:
        text = re.sub(rf"(?:^|(?<=[ ,])){re.escape(name)}(?:,|(?= [A-Z])|$)", "", text, flags=re.IGNORECASE).strip(" ,")
    untagged = rules.patterns["tag"].sub("", text)
    text = _LEAD_IN.sub("", untagged) if len(untagged.split()) > 3 else untagged
    text = " ".join(re.sub(r"[^\w': -]+|:(?!\d)", " ", text).split())
    called = tuple(dict.fromkeys(word for one in names.people for word in f"{one[1]} {one[2]}".split()))
    named = frozenset(word.lower() for _, name in names.places for word in name.split())
    text = re.sub(
        r"[^\W\d_]+", lambda found: found[0] if found[0].lower() in named else _spelt(found[0], rules, called), text
    )
    if is_asked:
        text = _TOLD.sub(r"\1 you", _TOLD_DO.sub(r"do you \1", text))
    return _rewritten(text, rules)


def _rewritten(text: str, rules: QuestionRules) -> str:
    for pattern, replacement in rules.rewrite:
        text = pattern.sub(replacement, text)
    return text


_TOLD = re.compile(r"^(?:so )?you (are|were|have|had|can|could|will|would|should|did|do)\b", re.IGNORECASE)

_TOLD_DO = re.compile(
    r"^(?:so )?you (?!(?:are|were|have|had|can|could|will|would|should|did|do|ever|and|said|told|must|may)\b)"
    r"(\w+(?<!ed))\b(?= )",
    re.IGNORECASE,
)


def _spelt(word: str, rules: QuestionRules, called: tuple[str, ...]) -> str:
    """Returns a word as the rules or a name spell it."""
    lower = word.lower()
    if lower in rules.short:
        return rules.short[lower]
    if len(word) >= 5 and len(right := rules.spelt.get(lower, ())) == 1 and lower not in rules.known:
        return next(iter(right))
    right = _names_misspelt(called).get(lower, ()) if len(word) >= 4 else ()
    return next(iter(right)) if len(right) == 1 else word


@lru_cache(maxsize=16)
def _names_misspelt(called: tuple[str, ...]) -> Mapping[str, frozenset[str]]:
    return misspelt({word.lower() for word in called if len(word) > 4})


def subject_of(text: str, rules: QuestionRules, language: str) -> tuple[str, tuple[str, ...]]:
    """Returns the first phrase of a determiner or preposition and its nouns, and all words of such phrases.

    After `does`, `will` and the like, the word that follows the subject is a verb: `does a bowl of noodles cost`.
    """
    if spoken(language).has_particles:
        nouns = _nouns(re.findall(r"[^\W_]+", re.sub("@[pl][가-힣]*", " ", text.lower())), rules)
        nouns = tuple(word for word in nouns if word not in rules.words["light"])
        return (nouns[0] if nouns else ""), nouns
    tokens = re.findall(r"@[pl](?:'s)?|[\w'-]+", text.lower())
    phrases: list[tuple[int, list[str]]] = []
    at = 0
    while at < len(tokens):
        is_infinitive = tokens[at] == "to" and at > 0 and tokens[at - 1] in _TO_DO
        if (tokens[at] in rules.words["det"] or tokens[at] in rules.words["prep"]) and not is_infinitive:
            start, end = at, at + 1
            while end < len(tokens) and (
                tokens[end] not in rules.words["stop"]
                or tokens[end] in rules.words["det"]
                or tokens[end] in {"last", "next", "other"}
                or (tokens[end] == "of" and end > start + 1)
            ):
                end += 1
            phrase = tokens[start:end]
            is_subject = start > 0 and tokens[start - 1] in rules.words["asks"]
            content = [word for word in phrase if word not in rules.words["stop"] and not word.startswith("@")]
            if is_subject and len(content) > 1 and phrase[-1] == content[-1]:
                phrase, content = phrase[:-1], content[:-1]
            while phrase and phrase[0] in {*rules.words["prep"], "what", "which", "whose", "how", "many", "much"}:
                phrase = phrase[1:]
            while (
                len(content) > 1 and phrase[-1] == content[-1] and any(phrase[-1] in doings for doings, _ in rules.ends)
            ):
                phrase, content = phrase[:-1], content[:-1]  # `is the drone fixed`
            if any(word not in rules.words["light"] for word in content):
                phrases.append((start, phrase))
            at = end
        else:
            at += 1
    if phrases:
        heads = tuple(word for _, phrase in phrases for word in phrase if word not in rules.words["stop"])
        return " ".join(phrases[0][1]), tuple(
            word.removesuffix("'s") for word in heads if word not in rules.words["light"]
        )
    last = next((at for at in range(len(tokens) - 1, -1, -1) if content_words(tokens[at], rules, language)), -1)
    is_verb = (
        last > 0 and tokens[last - 1] in rules.words["verbs"] and not (last > 1 and tokens[last - 2] in {"are", "were"})
    )
    is_doing = last > 0 and tokens[last].endswith("ing") and tokens[last - 1] in {"is", "are", "was", "were", "you"}
    if last < 0 or tokens[last] in rules.words["light"] or is_verb or is_doing:
        return "", ()
    # Of `are people healthy` the last word is no thing's name.
    return ("" if tokens[0] in rules.words["asks"] | _BE else tokens[last]), (tokens[last],)


_BE = frozenset({"is", "are", "was", "were", "am"})
_TO_DO = frozenset({"want", "like", "love", "hope", "need", "plan", "wish", "try", "going", "able", "mean", "decide"})
"""What a verb follows after `to`."""


def content_words(text: str, rules: QuestionRules, language: str) -> tuple[str, ...]:
    found = re.findall(r"[^\W_]+(?:'[^\W_]+)?", re.sub("@[pl][가-힣]*", " ", text.lower()))
    if spoken(language).has_particles:
        telling = [word for word in found if word not in rules.words["stop"] and not korean.is_grammar(word)]
        stems = (stem for word in telling if len(stem := korean.stem(word)) > 1)
        return _nouns(found, rules) or tuple(dict.fromkeys(stems))
    kept = [word.removesuffix("'s") for word in found if word not in rules.words["stop"]]
    return tuple(dict.fromkeys(word for word in kept if len(word) > 1))


def _nouns(words: Sequence[str], rules: QuestionRules) -> tuple[str, ...]:
    """Returns the words of a Korean sentence that name things, without their particles."""
    found: list[str] = []
    for word, after in zip(words, [*words[1:], ""], strict=False):
        whole = _WHOLE.match(word)
        bare = whole.group() if whole else korean.without_particle(word)
        if not _is_verb(word, after) and not {word, bare} & rules.words["stop"] and not korean.is_grammar(word):
            found.append(bare)
    return tuple(dict.fromkeys(found))


def _is_verb(word: str, after: str) -> bool:
    """Tells whether a Korean word is a verb or adjective, by its ending and the word that follows it."""
    if not after:
        return bool(_VERB.search(word) or _LAST_VERB.search(word))
    pair = f"{word} {after[0]}"
    will = after[0] in _DEPENDENT and korean.final(word[-1]) == korean.RIEUL
    return will or bool(_VERB.search(word) or _SERIAL.fullmatch(pair) or _PARTICIPLE.fullmatch(word))


_VERB = re.compile(
    r".(요|까|습니다|읍니다|니다|네|죠|면|는데|은데|픈데|쁜데|던데|려고|해서|와서|쳐|줘|해|하는|하고|인)$"
)

_SERIAL = re.compile(".*[어아여해] [봤보본줬주줘줄있계]|.+ 계|.*지 [않못말마]|.*[는은] [게것거데생때수길]")
"""Two verbs in a row, by the first syllable of the second: `먹어 봤`, `먹지 않`."""

_DEPENDENT = "게것거데생때수"
"""First syllables of what follows a verb that is to come: `그리울 때`."""

_PARTICIPLE = re.compile(
    "[쓴한본간온산판한준된낸할볼갈올살팔줄될쓸큰긴]|.*(시는|하게|스럽게|롭게|던|다친|아픈|좋은|나쁜)"
)

_LAST_VERB = re.compile(r".(니|냐|나|다|지|어|아|자|게|래|데|군|구나)$|[써줘져쳐켜커떠꺼워둬춰봐와돼]$")

_WHOLE = re.compile(".?아들|딸들|노래자랑|고양이|아이|어린이|종이|놀이|나이|파도|지도|정도|회의|바다|나라|도로|피로")
"""Nouns that end like a particle."""
