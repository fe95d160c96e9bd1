"""Which earlier memories a new one restates, by rules over the words of English and Korean.

Each sentence is read as claims: about whom or what, on which topics, with what kinds of values, and whether it says
that something changed, ended or is so besides. Of two claims about the same that cannot both be true, the later one
supersedes the earlier one. What is less sure is not linked: `said_later` finds it for one question. The words and
patterns are in `restatements.toml` of a language.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from typing import Any, NamedTuple

from commonplace.languages import file_text, word_list
from commonplace.languages.ko import morphology as korean
from commonplace.memory.analyser import content_words, grammar_words, pairs
from commonplace.memory.emotion import language_of
from commonplace.memory.facts import is_said_before
from commonplace.memory.preparing import Prepared, failure, flagged
from commonplace.memory.record import SUPERSEDES, Memory, checked_ids

Restatements = Callable[[Memory, Sequence[Memory]], Iterable[int]]
"""A new memory and earlier ones that are still true and may be about the same → ids of those it supersedes."""
_SPEAKERS = ("", "user", "human")
"""Sources that mean the one whose memory it is."""
_SOMEBODY = "?"
"""The owner of a claim about *he*, *she* or *they*."""
_BESIDE = 200
"""How many memories that are added with it may be superseded by one: the latest."""
_NONE: frozenset[str] = frozenset()
_SENTENCES, _WORDS = 2, 10
"""How many sentences and content words a memory may have that one other sentence can make untrue."""
_WORDS_OF_LATER = 16
"""How many content words a memory may have that takes the place of an earlier one."""
_WORDS_OF_CLAIM = 6
"""How many words a claim may have that one shared word can relate to another."""
_RARE = 3
"""A word in more of the memories tells none of them apart."""


def linked(
    made: Sequence[Prepared], first: int, restatements: Restatements, akin: Callable[[Memory], Sequence[Memory]]
) -> list[Prepared]:
    """Returns memories that are to be added with the ids from `first` on, with what they restate, where they do not say
    it themselves. What fails is logged, and supersedes nothing.

    `akin`: returns memories of the stream that may be about the same as a new one.
    """
    known, found = list[Memory](), list[Prepared]()
    for place, one in enumerate(made):
        memory, gone = replace(one.memory, id=first + place), {*one.memory.supersedes}
        if gone:
            found.append(one)
        else:
            beside = [old for old in known[-_BESIDE:] if old.created_at <= memory.created_at]
            try:
                candidates = {old.id: old for old in [*akin(memory), *beside] if is_said_before(old, memory)}
                ids = restatements(memory, list(candidates.values())) if candidates else ()
                gone = candidates.keys() & checked_ids(ids)
            except Exception as error:
                failure(memory.agent, "restatements", error)
            earlier = sorted(id for id in gone if id < first)
            flags = flagged(one.memory, {SUPERSEDES: earlier}) if earlier else one.memory
            inside = tuple(sorted(id - first for id in gone if id >= first))
            found.append(one._replace(memory=flags, supersedes=inside))
        known = [old for old in known if old.id not in gone] + [memory]
    return found


class Claim(NamedTuple):
    """What a sentence says of somebody, or of something of theirs."""

    owner: str
    """Empty for whoever says it, else a name; `/sister` is a relative of whoever says it."""
    who: frozenset[str]
    """Content words of the thing; empty where it is about the owner."""
    topics: frozenset[str]
    values: frozenset[str]
    """Of time, place, state and number the first there is; `one` if the thing is of a sort of which there is one."""
    words: frozenset[str]
    """Other content words."""
    rest: frozenset[str]
    """Those that are neither common verbs nor words of the topics."""
    changed: bool
    """It says that something is so now."""
    turned: bool
    """It says that something has become different."""
    ended: bool
    """It says that something is no longer so."""
    gone: bool
    """It says that somebody or something is not there any more."""
    added: bool
    """It says that something is so besides, was so or may be so."""
    speaker: str = ""


class RestatementRules:
    """Finds what a new memory supersedes by rules, in English and Korean; each text is read in its own language.

    They look for one subject and one topic: where somebody lives, works or studies, a number or an address, what a
    thing costs, where it is, when it happens, how far it has come, what somebody likes best; and for words such as *no
    longer*, *quit*, *moved to*, 더 이상, 끊었어, 바꿨어. What is said of others, or is so besides, supersedes nothing.
    """

    def __call__(self, memory: Memory, candidates: Sequence[Memory]) -> list[int]:
        """Returns the ids of the candidates that the memory supersedes, ascending."""
        told = {old.id: _claims(old) for old in candidates if _says_one_thing(old.text)}
        before = max(told, default=0)
        often = _often(frozenset[str]().union(*(one.words for one in each)) for each in told.values())
        found: set[int] = set()
        for claim in _claims(memory):
            matches = [(id, one) for id, each in told.items() for one in each if _restates(claim, one, often)]
            if claim.owner == _SOMEBODY:
                named = {one.owner for one in told[before] if one.owner != one.speaker} if told else set[str]()
                if len(named.union(one.owner for _, one in matches)) > 1:
                    continue  # nobody knows who `she` is
            exact = [(id, one) for id, one in matches if one.who == claim.who]
            if exact or len({one.who for _, one in matches}) == 1:  # not one of several meetings
                found.update(id for id, _ in exact or matches)
        return sorted(found)


def said_later(question: str, found: Sequence[Memory]) -> Memory | None:
    """Returns the one that says more recently what the first of the memories found says of the question, if any.

    It has the names, the subject and half of what the first one has of the question, or says that something in the
    first one has changed or ended. A question about the past has none, nor has a first memory of several sentences.
    """
    first = found[0]
    asked = _reading(language_of(question)).asked(question) if _says_one_thing(first.text) else None
    if asked is None:
        return None
    covered = {one.id: asked.covered_by(one) for one in found}
    told, common = covered[first.id], _often(covered.values())
    if not told:
        return None
    named = asked.whom & told
    wanted = told - named - common
    if not wanted and told >= asked.words:  # `my weight is 80`, time and again
        wanted = told - named
    subject = told & next((claim.who for claim in _read(first.text)), _NONE)
    quiet = asked.words | asked.reading.asking | _often(_content(one.text) for one in found)
    best, most = None, (-1, first.created_at, 0)
    for one in found[1:]:
        if one.created_at <= first.created_at or not named <= covered[one.id] or not asked.stated(one, first):
            continue
        both = told & covered[one.id]
        same = 2 * len(wanted & both) >= len(wanted) if wanted else bool(asked.topics & covered[one.id])
        same = same and (not subject or bool(subject & both))
        rank = (len(both), one.created_at, one.id)
        if rank > most and (same or _changes(one, first, quiet)):
            best, most = one, rank
    return best


def _often(each: Iterable[frozenset[str]]) -> frozenset[str]:
    """Returns the words that are in too many of the sets to tell them apart."""
    counts = Counter(word for words in each for word in words)
    return frozenset(word for word, count in counts.items() if count > _RARE)


def _changes(memory: Memory, first: Memory, quiet: frozenset[str]) -> bool:
    """Returns whether a memory says that something in the first one has changed or ended."""
    before = frozenset[str]().union(*(one.who | one.rest | _content(one.owner) for one in _read(first.text))) - quiet
    return any(
        len(word) > 1
        for claim in _read(memory.text)
        if (claim.turned or claim.ended) and not claim.added
        for word in before & (claim.who | claim.words | _content(claim.owner))
    )


def topic_words(text: str) -> str:
    """Returns words by which memories on the topics of a text are found, whatever words they use themselves."""
    topics = {topic for claim in _read(text) for topic in claim.topics}
    return " ".join(_reading(language_of(text)).found_by[topic] for topic in sorted(topics))


@lru_cache(maxsize=16_384)
def _says_one_thing(text: str) -> bool:
    """Returns whether a text says so little that none of it is true any more once one thing in it is not."""
    return "?" not in text and len(_SENTENCE.split(text.strip())) <= _SENTENCES and len(_content(text)) <= _WORDS


def _claims(memory: Memory) -> list[Claim]:
    """Returns the claims of a memory, with their speaker by name."""
    source = memory.source.casefold()
    speaker = memory.agent.casefold() if source in _SPEAKERS else source
    return [
        claim._replace(owner=speaker + claim.owner if claim.owner[:1] in ("", "/") else claim.owner, speaker=speaker)
        for claim in _read(memory.text)
    ]


def _restates(new: Claim, old: Claim, often: frozenset[str]) -> bool:
    """Returns whether the new claim says that the old one is no longer true."""
    if new.added:
        return False
    marked = new.changed or new.turned or new.ended
    if new.owner == _SOMEBODY:
        about = old.owner != old.speaker and new.who == old.who
    else:
        same = new.who == old.who or _NONE < old.who < new.who <= old.who | old.rest
        same = same or (marked and _NONE < new.who < old.who)
        about = (same and new.owner == old.owner) or _named(new) == _named(old) != _NONE
    if not about:
        return _mentions(new, old)
    if shared := new.topics & old.topics:
        if "state" in new.values - old.values and not marked:  # `my car is broken`
            return False
        besides = new.turned or (new.changed and len(new.rest) > 1)  # `I left the mill and work at the docks now`
        return not new.ended or besides or not new.rest or "love" in shared or bool(new.rest & old.rest)
    return _of_thing(new, old) if new.who else _of_owner(new, old, often)


def _named(claim: Claim) -> frozenset[str]:
    """Returns the subject of a claim about somebody else, or about a thing of the speaker's; a name may be either."""
    if claim.owner == claim.speaker:
        return claim.who
    return _NONE if claim.who else _content(claim.owner)


def _mentions(new: Claim, old: Claim) -> bool:
    """Returns whether one claim is about what the other only mentions: `Biscuit died`, `I have a dog called Biscuit`;
    `the key is in the shed`, `I moved the key`."""
    values = new.values & old.values
    if new.gone and _named(new) & old.rest:
        return True
    if new.changed and "one" in old.values and _NONE < old.who == new.rest:  # `Quinn is the landlord now`
        return True
    if old.owner == old.speaker == new.speaker and not old.who:
        subject = new.who | (_NONE if new.owner == new.speaker else _content(new.owner))
        return (new.ended or (not old.topics and "number" in values)) and bool(subject & old.rest)
    fits = bool(values) or not old.values - {"one"} or (not new.values and "time" in old.values)
    fits = new.ended or (new.turned and fits)
    return fits and new.owner == old.owner and not new.who and _NONE < old.who <= new.words


def _of_thing(new: Claim, old: Claim) -> bool:
    """Returns whether a claim about a thing contradicts another about it: both say when, where, how much or how far."""
    over, values = new.ended or new.turned, new.values & old.values
    if not (over or new.changed) and (new.values ^ old.values) - {"state"}:
        values -= {"one"}
    sure = bool(values & {"place", "state", "one"})
    near = sure or bool(new.rest & (old.rest | old.who)) or not (new.rest and (old.rest or old.topics))
    alike = sure or over or bool(new.words & old.words) or not (new.words and old.words)
    became = (
        new.turned and not (old.values or old.topics) and len(old.words) <= 1
    )  # `현수는 목수야`, `현수는 화가가 됐어`
    return became or (near and alike and (bool(values) or over or (new.changed and not (new.values or old.values))))


def _of_owner(new: Claim, old: Claim, often: frozenset[str]) -> bool:
    """Returns whether a claim about somebody contradicts another, on no topic of both: by most of its words."""
    over, common, values = new.ended or new.turned, (new.rest & old.rest) - often, new.values & old.values
    if new.topics and old.topics and not new.ended:
        return False
    verbs, before = new.words - new.rest, old.words - old.rest
    if verbs and before and not (verbs & before or over):
        return False
    if not new.rest:
        found = (over or (new.changed and old.ended)) and _NONE < new.words <= old.words and not new.words <= often
    elif new.changed and len(new.rest) == 1 and values & {"place", "number"}:
        found = bool(new.words & old.words)
    else:
        most = len(new.rest) <= _WORDS_OF_CLAIM and 2 * len(common) >= min(len(new.rest), len(old.rest))
        found = (over or new.changed) and bool(common) and most
    return found or (new.words == old.words and "number" in values)


class _Asked(NamedTuple):
    """What a question is about."""

    words: frozenset[str]
    topics: frozenset[str]
    whom: frozenset[str]
    """Those of the words that are names or relatives."""
    mine: bool
    """It is about whoever asks."""
    reading: _Reading

    def covered_by(self, memory: Memory) -> frozenset[str]:
        """Returns which words and topics of the question a memory has."""
        text, claims = memory.text, _read(memory.text)
        words = _content(text).union(*(claim.who | claim.words for claim in claims))
        topics = {topic for claim in claims for topic in claim.topics & self.topics}
        if not self.reading.korean:  # `우리 집 비번`
            topics.update(topic for topic in self.topics if words & self.reading.nouns[topic])
        found = {word for word in self.words if word in words or (self.reading.korean and _occurs(word, text))}
        return frozenset(topics | found)

    def stated(self, memory: Memory, first: Memory) -> bool:
        """Returns whether a memory states something of the one whom the first one is about."""
        claims = [claim for claim in _claims(memory) if not claim.added]
        long = "?" in memory.text or len(_content(memory.text)) > _WORDS_OF_LATER
        if not claims or long or memory.source != first.source:
            return False
        own = (_SOMEBODY, claims[0].speaker)
        return not self.mine or any(one.owner in own or _content(one.owner) <= _content(first.text) for one in claims)


_Subject = tuple[list[tuple[str, str]], str]
"""(owner and thing, for each that the clause is about; what it says)."""


class _Reading:
    """The words and patterns of one language, and the claims of texts in it."""

    def __init__(self, language: str) -> None:
        told: Mapping[str, Any] = tomllib.loads(file_text(language, "restatements.toml"))
        self.korean = language == "ko"
        whole = "(?:{})" if self.korean else r"(?<!\w)(?:{})(?!\w)"

        def pattern(text: str) -> re.Pattern[str]:
            return re.compile(whole.format(text.replace("\n", "")))

        self._topics = {name: pattern(text) for name, text in told["topics"].items()}
        self._values = {name: pattern(text) for name, text in told["values"].items()}
        self._marks = {name: pattern(told[name]) for name in _MARKS}
        self._opening, self._adnominal = pattern(told["opening"]), re.compile(told["adnominal"])
        self._clause = re.compile(told["clause"], re.IGNORECASE)
        listed = ("self", "mine", "theirs", "pronouns", "determiners", "kin", "verbs", "yours", "me", "dummies")
        self._lists = {name: frozenset(told[name].split()) for name in listed}
        self.nouns = {name: _each(told["nouns"].get(name, "")) for name in self._topics}
        self._plain = _each(told["nouns"]["plain"])
        self.asking, self._past = frozenset(told["asking"].split()), pattern(told["past"])
        self._relatives = _each(told["kin"])
        self._light = _each(told["verbs"])
        self._quiet = _each(" ".join(_letters(told[name]) for name in (*_SAID, "gone", "also")))
        self.found_by = {
            name: _letters(f"{text} {told['nouns'].get(name, '')}") for name, text in told["topics"].items()
        }
        self._of_topic = {name: _each(text) for name, text in self.found_by.items()}

    def asked(self, question: str) -> _Asked | None:
        """Returns what a question is about; None for one about the past."""
        lower = question.lower()
        if self._past.search(lower):
            return None
        words = _content(question) - self.asking
        topics = {name for name, said in self._topics.items() if words & self.nouns[name] or said.search(lower)}
        named = " ".join(_NAME.findall(question))
        whom = words & (_content(named) | self._relatives)
        mine = not self._lists["me"].isdisjoint(_WORD.findall(lower))
        return _Asked(words, frozenset(topics), whom, mine, self)

    def claims(self, text: str) -> Iterator[Claim]:
        """Yields what each sentence says. A clause without a subject is about whom the one before it is about."""
        said_by = _SPEAKER.match(text)
        if said_by and self._opening.fullmatch(said_by[1].lower()):  # `Update: …`
            said_by = None
        speaker: str = said_by[1].casefold() if said_by else ""
        named: str = ""
        for sentence in _SENTENCE.split(text[said_by.end() :] if said_by else text):
            if sentence.endswith("?") or self._addressed(sentence):
                continue
            about: list[tuple[str, str]] = [("", "")]
            for clause in filter(None, (one.strip(" .,!") for one in self._clause.split(sentence) if one)):
                subject = self._korean_subject(clause) if self.korean else self._english_subject(clause)
                about, said = subject or (about, clause)
                about = [(named if owner == _SOMEBODY and named else owner, thing) for owner, thing in about]
                named = next((owner for owner, thing in about if owner and not thing), named)
                for owner, thing in about:
                    claim = self._claim(owner, thing, said, clause.lower())
                    yield claim._replace(owner=speaker + claim.owner) if claim.owner[:1] in ("", "/") else claim

    def _addressed(self, sentence: str) -> bool:
        """Returns whether a sentence is about whoever it is said to, or only says thanks."""
        words = _WORD.findall(sentence.lower())
        return not self._lists["yours"].isdisjoint(words) and self._lists["me"].isdisjoint(words)

    def _claim(self, owner: str, thing: str, said: str, clause: str) -> Claim:
        """Returns what a clause says of a thing of the owner or, without a thing, of the owner."""
        said, who = said.lower(), _content(thing, nouns=True)
        who = who - self._plain or who
        topics = {next((name for name, nouns in self.nouns.items() if who and who <= nouns), "")} - {""}
        if topics:
            who = _NONE
        elif self.korean or not who:
            topics = {name for name, words in self._topics.items() if words.search(clause)}
            if topics and who:  # a person who does something, or has a thing of the topic: 민지 전화번호
                who = who.difference(*(self.nouns.get(name, _NONE) for name in topics))
                owner, who = self._person(" ".join(sorted(who))) or owner, _NONE
        values, bare, left = set[str](), said, said
        for name in _KINDS:  # 9 in `at 9` is no number
            left, count = self._values[name].subn(" ", left)
            if count:
                values.add(name)
            if name in ("time", "number"):
                bare = self._values[name].sub(" ", bare)
        if self._values["one"].search(thing.lower()):
            values.add("one")
        told = bare.split()
        if self.korean:  # a mark is a part of a verb
            told = [word for word in told if not any(self._marks[name].search(word) for name in _SAID)]
        words = _content(" ".join(told), nouns=told[-1:] != bare.split()[-1:]) - self._quiet
        rest = words.difference(self._light, *(self._of_topic[name] for name in topics))
        changed, turned, ended, gone, also, unsure = (bool(mark.search(clause)) for mark in self._marks.values())
        return Claim(
            owner,
            who,
            frozenset(topics),
            frozenset(values),
            words,
            rest,
            changed,
            turned,
            ended or gone,
            gone,
            also or unsure,
        )

    def _person(self, name: str) -> str:
        """Returns a person as the owner of a claim."""
        if name in self._lists["self"]:
            return ""
        return "/" + name if name in self._lists["kin"] else name

    def _english_subject(self, clause: str) -> _Subject | None:
        """Returns the subject of a clause; None for one that begins with its verb."""
        while (opening := self._opening.match(clause.lower())) and opening.end() < len(clause):
            clause = clause[opening.end() :].lstrip(" ,")
        lists, words = self._lists, clause.replace("’", "'").split()
        first = words[0].lower().strip(",")
        if first in lists["verbs"] or first in lists["dummies"] or not first[:1].isalpha():
            return None
        if first == "they" and not lists["mine"].isdisjoint(words):  # `they moved my appointment`
            return [("", "")], " ".join(words[1:])
        if first in lists["self"] or first == "there" or first in lists["pronouns"]:
            return [(_SOMEBODY if first in lists["pronouns"] else "", "")], " ".join(words[1:])
        begins = first in lists["mine"] or first in lists["theirs"] or first in lists["determiners"]
        phrase = words[begins:]
        end = next((at for at, word in enumerate(phrase[:8]) if at and word.lower() in lists["verbs"]), 0)
        if not (end or begins or " ".join(phrase[1:2]).endswith(("s", "ed"))):
            return None  # it begins with its verb
        end = end or 1
        phrase, said = phrase[:end], " ".join(phrase[end:])
        whose = next((at for at, word in enumerate(phrase) if word.lower().endswith(("'s", "s'"))), -1) + 1
        owner, thing = " ".join(phrase[:whose]).lower().removesuffix("'s").removesuffix("'"), " ".join(phrase[whose:])
        if owner:
            found = [(self._person(owner), thing)]
        elif first in lists["theirs"]:
            found = [(_SOMEBODY, thing)]
        elif phrase and phrase[-1].lower() in lists["kin"]:
            found = [("/" + phrase[-1].lower(), "")]
        elif begins or not all(word[0].isupper() or word == "and" for word in phrase):
            found = [("", "" if thing.lower() in lists["self"] else thing)]
        else:
            found = [(self._person(one), "") for one in thing.lower().split(" and ")]
        return found, said

    def _korean_subject(self, clause: str) -> _Subject | None:
        """Returns the subject of a clause: the first noun with 은, 는, 이 or 가; None for one without."""
        owner, mine, phrase, others = "", False, list[str](), list[tuple[str, str]]()
        words = [word.strip(",.!") for word in clause.split()]
        for at, word in enumerate(words[:8]):
            before = bool(self._adnominal.search(word))
            aside = word in self._lists["determiners"] or bool(self._opening.fullmatch(word))
            if word in self._lists["self"] | self._lists["mine"]:
                mine, phrase = True, []
            elif word in self._lists["pronouns"]:
                return [(_SOMEBODY, "")], " ".join(words[at + 1 :])
            elif len(word) > 1 and word[-1] in "은는이가" and not (before or aside):
                after = [*words[at + 1 : at + 3], "", ""]
                if word[-1] in "이가" and self._adnominal.search(after[0]) and after[1][-1:] in "은는":
                    owner, phrase = self._person(_korean_stem(word)), []  # 민수가 좋아하는 색은
                elif word[-1] == "이" and after[0][-1:] in tuple("은는"):
                    phrase.append(word)  # 동현이 꿈은
                else:
                    return [(owner, " ".join([*phrase, word])), *others], " ".join(words[at + 1 :])
            elif phrase == words[:at] and phrase and not mine and any(self._marks[one].search(word) for one in _SAID):
                return [("", " ".join(phrase))], " ".join(words[at:])  # 번호 바꿨어
            elif not mine and _WITH.fullmatch(word):
                others, phrase = [("", word)], []
            elif aside or ((_NOUN.fullmatch(word) or (len(word) > 2 and word[-1] in "고서며면")) and not before):
                phrase = []
            else:
                phrase.append(word)
        return ([("", "")], clause) if mine else None


_NAME = re.compile(r"(?<=\s)[A-Z]\w+")
_WORD = re.compile(r"[^\W\d_]+")
_KINDS = ("time", "state", "place", "number")
_HANGUL = re.compile("[가-힣]+")
_NOUN = re.compile(
    "([가-힣]{2,}?)(?:에서는|에서|에게|에는|에|으로는|으로|로는|로|은|는|이|가|을|를|과|와|이랑|랑|의|만|까지|부터|한테|께서)|([가-힣])[은는이가을를]"
)
_WITH = re.compile("[가-힣]{2,}(?:이?랑|하고|와|과)")
_MARKS = ("changed", "turned", "ended", "gone", "also", "unsure")
_SAID = ("changed", "turned", "ended")
_SPEAKER = re.compile(r"\s*([^\W\d_][\w-]*(?: [A-Z][\w-]*)?): (?=\S)")
_SENTENCE = re.compile(r"(?<=[.!?…])(?<!\b(?:Dr|Mr|Ms|St)\.)(?<!\bMrs\.)\s+|\n+|;\s")


def _occurs(word: str, text: str) -> bool:
    """Returns whether a Korean text has a word, or two syllables of it side by side, in another form or compound."""
    return any(pair in text for pair in pairs(word))


def _letters(pattern: str) -> str:
    """Returns the words in a pattern."""
    return " ".join(re.findall(r"[^\W\d_]+", re.sub(r"\\\w", " ", pattern)))


def _each(words: str) -> frozenset[str]:
    """Returns the content words of a list, each read by itself."""
    return frozenset[str]().union(*map(_content, words.split()))


@lru_cache(maxsize=16_384)
def _content(text: str, *, nouns: bool = False) -> frozenset[str]:
    """Returns the content words of a text by their stems; of Korean ones nouns keep what is not surely a particle."""
    if not _HANGUL.search(text):
        return content_words(text)
    quiet, words = grammar_words(text), _HANGUL.findall(text)
    stems = (
        _korean_stem(word, last=at == len(words) - 1 and not nouns)
        for at, word in enumerate(words)
        if word not in quiet or _NOUN.fullmatch(word)
    )
    return content_words(_HANGUL.sub(" ", text)) | (frozenset(stems) - word_list("ko").function)


def _korean_stem(word: str, *, last: bool = False) -> str:
    """Returns a noun without its particle, or the root of a verb: `지훈이가` → `지훈`, `수영할` → `수영`."""
    noun = _NOUN.fullmatch(word)
    if noun is None:
        stem = word[:-1] + "하" if len(word) > 2 and word[-1] == "해" else korean.stem(word)
        if stem == word or not (
            last or word[-1] in "고서며면게러데니할한"
        ):  # a noun, as most that is not the last word
            return word
        root = korean.root(stem)
        return root[:-1] if len(root) > 2 and root[-1] == "하" else root
    found = noun[1] or noun[2]
    return found[:-1] if len(found) > 2 and found[-1] == "이" else found


@cache
def _reading(language: str) -> _Reading:
    return _Reading(language)


@lru_cache(maxsize=16_384)
def _read(text: str) -> tuple[Claim, ...]:
    """Returns the claims of a text, in its own language."""
    return tuple(_reading(language_of(text)).claims(text))
