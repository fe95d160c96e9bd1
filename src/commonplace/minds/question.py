"""What a person asks a character: the kind of a question, whom, where and when it is about, told by rules.

The rules are data, a file per language in `question_words/`. A question in the talk so far is understood first: `and
yesterday?` is the question before with another day, `her` the woman spoken of last.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib.resources import files
from itertools import count
from typing import Literal

from commonplace.minds.notes import Spoken, Value
from commonplace.memory import korean
from commonplace.text import clean

ASKER = "-"
"""The speaker of a person's lines."""
LONGEST = 600
"""Characters of a question that are looked at; its end, where it is longer."""
EARLIER = 8
"""Questions of the talk that a follow-up may go back to."""
FOLLOWS = frozenset({"more", "sure", "whyso"})
"""Kinds that ask on about the question before."""
SMALL_TALK = frozenset({"request", "permit", "greet", "farewell", "thank", "praise", "insult", "sorry", "okay", "confide"})
"""Kinds that ask nothing."""
_OF_SOMETHING = frozenset(
    {"source", "told", "going", "heard", "when", "why", "think", "said", "seen", "whois", "know", "met"}
)
"""Kinds that ask about something, which the question before names where they do not."""
_ONESELF = frozenset(
    {"name", "age", "who", "work", "home", "want", "traits", "now", "where", "feel", "plan", "day", "fear"}
)
_NAMED_TOPICS = frozenset({"think", "heard", "going"})
"""Kinds whose topic is the thing itself in Korean as well, where a pattern often takes in more or less than that."""
_HANGUL = re.compile("[가-힣]")


Wanted = Literal["", "who", "what", "where", "when", "why", "how", "count", "whether"]


class When(Value):
    """A stretch of a day."""

    days: int
    """Days before today: 0 today, 1 yesterday, −1 tomorrow."""
    start: int = 0
    """Minutes after midnight."""
    end: int = 24 * 60
    """Minutes after midnight; above 1440 for the small hours of the next day."""


class Asked(Value):
    """A question as it is understood, in the context of its talk."""

    kind: str = ""
    """A name in `question_words/`; empty for words that no rule knows."""
    then: str = ""
    """`more`, `sure` or `whyso` where it asks on about the question before, whose kind it has."""
    people: tuple[str, ...] = ()
    """Ids of the characters it is about."""
    places: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    """Ids of seed facts it names, whether or not they are known to the character."""
    when: When | None = None
    topic: str = ""
    """What it is about in its own words; empty where it names nothing but people, places and days."""
    words: tuple[str, ...] = ()
    """The words that tell what it is about, lower case, in order."""
    subject: str = ""
    """The thing it is about as a phrase of its own: `your show`, `a bowl of noodles`; empty where none stands out."""
    heads: tuple[str, ...] = ()
    """Those of the words that name things; the others say something of them."""
    wants: Wanted = ""
    """What would answer it; empty for what is not put as a question."""
    now: bool = False
    """Whether it asks about what always is, and not about what was."""
    language: str = "en"
    """The language of the question."""
    also: Asked | None = None
    """A second question in the same breath."""

    @property
    def open(self) -> bool:
        """Whether it asks what, which or how, and not whether."""
        return self.wants not in {"", "whether"}

    @property
    def whole(self) -> Asked:
        """Both questions as one, by what they are about."""
        if self.also is None:
            return self
        about = ("people", "places", "facts", "words")
        both = {name: tuple(dict.fromkeys((*getattr(self, name), *getattr(self.also, name)))) for name in about}
        return self.model_copy(update={**both, "when": self.when or self.also.when})

    def same(self, other: Asked) -> bool:
        """Whether both ask the same about the same people, places, facts and time, in whatever words."""
        about = ("kind", "people", "places", "facts", "when", "topic", "also", *(() if self.kind else ("words",)))
        return all(getattr(self, name) == getattr(other, name) for name in about)


@dataclass(frozen=True, slots=True)
class Names:
    """What a question may name."""

    people: Sequence[tuple[str, str, str, str]]
    """(id, name, called, pronoun)."""
    places: Sequence[tuple[str, str]]
    """(id, name)."""
    facts: Mapping[str, Sequence[Sequence[str]]]
    """Fact → its groups of words, of all languages together."""
    late: bool = False
    """Whether it is after midnight, when `today` is still the day before."""
    weekday: int = 0
    """Of today, Monday 0."""
    weekdays: tuple[str, ...] = ()
    """In the question's language."""
    me: tuple[str, ...] = ()
    """What the one who is asked is called."""
    roles: Mapping[str, str] = field(default_factory=dict[str, str])
    """What only one person is, to the character or by trade → who: `grandfather`, `doctor`."""


@dataclass(frozen=True, slots=True)
class _Rules:
    """The rules of one language."""

    kinds: tuple[tuple[str, re.Pattern[str]], ...]
    days: tuple[tuple[int | None, int, int, re.Pattern[str]], ...]
    lists: Mapping[str, str]
    stop: frozenset[str]
    light: frozenset[str]
    """Words that say little of what a question is about, though they are no grammar."""
    determiners: frozenset[str]
    prepositions: frozenset[str]
    short: Mapping[str, str]
    same: tuple[frozenset[str], ...]
    """Words that mean nearly the same."""
    trades: tuple[tuple[frozenset[str], frozenset[str]], ...]
    """(names of a trade, what it is good for)."""
    known: frozenset[str]
    """All words of the rules."""
    spelt: Mapping[str, frozenset[str]]
    """How a word that the rules know is often misspelt → the words; see `_misspelt`."""
    wants: tuple[tuple[Wanted, re.Pattern[str]], ...]
    hour: re.Pattern[str]
    now: re.Pattern[str]
    tag: re.Pattern[str]
    second: re.Pattern[str]
    future: re.Pattern[str]
    bare: re.Pattern[str]
    """Whether the sentence before is so, and nothing else."""
    rewrite: tuple[tuple[re.Pattern[str], str], ...]
    numbers: Mapping[str, int]
    pronouns: tuple[tuple[str, re.Pattern[str]], ...]


_LISTS = frozenset({"stop", "light", "det", "prep", "short", "same", "trades", "pronouns", "numbers", "am", "pm", "it", "and"})
_PATTERNS = frozenset({"hour", "now_is", "bare", "future"})
_WANTED: tuple[Wanted, ...] = ("count", "who", "where", "when", "why", "how", "what", "whether")
_TOPICAL = frozenset({"about", "did", "seenthing", "when", "think", "heard", "why", "said", "source", "favourite", "whatif", "advice", "remark", "way", "superlative"})
"""Kinds that are answered by the words of the question, whatever they are."""


@cache
def _rules(language: str) -> _Rules:
    text = files("commonplace.minds").joinpath("question_words", f"{language}.txt").read_text("utf-8")
    rows = [row for row in text.splitlines() if row and not row.startswith("#")]
    heads = [(head.strip(), body.strip()) for head, _, body in (row.partition(": ") for row in rows)]
    lists = {head: body for head, body in heads if head in _LISTS}
    numbers = dict(pair.split("=") for pair in lists["numbers"].split(", "))
    number = "|".join(sorted((*numbers, r"\d{1,2}"), key=len, reverse=True))
    days: list[tuple[int | None, int, int, re.Pattern[str]]] = []
    kinds: list[tuple[str, re.Pattern[str]]] = []
    wants: dict[str, re.Pattern[str]] = {}
    ends: dict[str, re.Pattern[str]] = {}
    rewrite: list[tuple[re.Pattern[str], str]] = []
    for head, body in heads:
        if head.startswith("@"):
            _, ago, start, end = head.split()
            days.append((None if ago == "?" else int(ago), int(start) * 60, int(end) * 60, _pattern(body, language)))
        elif head.startswith("?"):
            wants[head[1:]] = _pattern(body, language)
        elif head == "rewrite":
            pattern, _, replacement = body.partition(" => ")
            rewrite.append((_pattern(pattern, language), replacement))
        elif head in {"tag", "second"}:  # they begin with a comma
            ends[head] = re.compile(f"(?:{body})", re.IGNORECASE)
        elif head not in _LISTS and head not in _PATTERNS:
            kinds.append((head, _pattern(_with_rest(body), language)))
    patterns = {head: _pattern(body.replace("@n", f"(?:{number})"), language) for head, body in heads if head in _PATTERNS}
    return _Rules(
        kinds=tuple(kinds),
        days=tuple(days),
        lists=lists,
        stop=frozenset(lists["stop"].split()),
        light=frozenset(lists["light"].split()),
        determiners=frozenset(lists["det"].split()),
        prepositions=frozenset(lists["prep"].split()),
        short=dict(pair.split("=") for pair in lists["short"].split(", ") if pair),
        same=tuple(frozenset(group.split()) for group in lists["same"].split("; ")),
        trades=tuple(
            (frozenset(names.split()), frozenset(uses.split()))
            for names, _, uses in (part.partition("=") for part in lists["trades"].split("; "))
        ),
        known=frozenset(re.findall("[a-z]+", text.lower())),
        spelt=_misspelt({word for _, body in heads for word in re.findall("[a-z]{6,}", body)}) if language == "en" else {},
        wants=tuple((name, wants[name]) for name in _WANTED if name in wants),
        hour=patterns["hour"],
        now=patterns["now_is"],
        tag=ends["tag"],
        second=ends["second"],
        future=patterns["future"],
        bare=patterns["bare"],
        rewrite=tuple(rewrite),
        numbers={name: int(value) for name, value in numbers.items()},
        pronouns=tuple(
            (name.strip(), _pattern("|".join(forms.split()), language))
            for name, _, forms in (part.partition("=") for part in lists["pronouns"].split("; "))
        ),
    )


def _with_rest(body: str) -> str:
    """Every `.*` named, so that one can tell what a pattern only lets pass."""
    numbers = count()
    return re.sub(r"\.\*", lambda _: f"(?P<rest{next(numbers)}>.*)", body)


def _misspelt(words: Iterable[str]) -> Mapping[str, frozenset[str]]:
    """Each word with two letters exchanged, one left out or one doubled → the words it may have been.

    The first and the last letter are mostly right, and a missing last one is often another form of the word.
    """
    found: dict[str, set[str]] = {}
    for word in words:
        for at in range(1, len(word) - 1):
            swapped = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
            for wrong in (swapped, word[:at] + word[at + 1 :], word[:at] + word[at - 1] + word[at:]):
                found.setdefault(wrong, set()).add(word)
    return {wrong: frozenset(right) for wrong, right in found.items() if wrong not in words}


def _pattern(body: str, language: str) -> re.Pattern[str]:
    """English matches whole words; Korean, where particles follow, anywhere."""
    return re.compile(rf"(?<![\w@'])(?:{body})(?![\w'])" if language == "en" else rf"(?:{body})", re.IGNORECASE)


def spoken_in(text: str) -> str:
    """`ko` for a text with Hangul, else `en`."""
    return "ko" if _HANGUL.search(text) else "en"


def understood(question: str, lines: Sequence[Spoken], names: Names) -> Asked:
    """The question after these lines of the talk."""
    before = Asked()
    mine = [index for index, line in enumerate(lines) if line.speaker == ASKER][-EARLIER:]
    for index in mine:
        before = _understood(lines[index].text, lines[:index], names, before)
    return _understood(question, lines, names, before)


def alike(word: str, language: str) -> frozenset[str]:
    """The words that mean nearly the same, the word itself among them."""
    return frozenset({word}).union(*(group for group in _rules(language).same if word in group))


def light_words(language: str) -> frozenset[str]:
    """Words that say little of what a question is about, though they are no grammar."""
    return _rules(language).light


def trades_for(words: Iterable[str], language: str) -> frozenset[str]:
    """The names of trades that are good for what the words say: `doctor` for `hurts`."""
    sought = frozenset(words)
    return frozenset().union(*(trade for trade, uses in _rules(language).trades if uses & sought))


def _understood(question: str, lines: Sequence[Spoken], names: Names, before: Asked) -> Asked:
    """The first of one or two questions, the second one with it."""
    language = spoken_in(question)
    parts = _sentences(question, _rules(language), names, language)
    first = _read(parts[0], lines, names, before, language)
    if len(parts) == 1:
        return first
    second = _read(parts[1], lines, names, first, language)
    if not second.kind and not second.words or second.kind in SMALL_TALK or second.kind in {*FOLLOWS, "whom"}:
        return first
    return first.model_copy(update={"also": second})


def _read(text: str, lines: Sequence[Spoken], names: Names, before: Asked, language: str) -> Asked:
    rules = _rules(language)
    text, people, places, parts = _placed(text, names, language)
    named = tuple(_mentioned((Spoken(speaker=ASKER, called="", text=text),), names))
    text, others, unclear = _pronouns(text, rules, lines, names, before, people, named)
    people = (*people, *others)
    facts = _facts(text, names)
    when, text = _when(text, rules, names, before)
    wants = next((name for name, pattern in rules.wants if pattern.search(text)), "")
    factual = {word.lower() for fact in facts for group in names.facts[fact] for word in group}
    kind, topic = _kind(rules, text, language, known=factual, timed=when is not None)
    if kind == "more" and (people or places or facts or when):
        kind = ""
    kind = _of_its_day(kind, when)
    about = topic if topic and (language == "en" or _words(topic, rules, language) and kind in _NAMED_TOPICS) else text
    words = tuple(dict.fromkeys((*_words(about, rules, language), *parts)))
    subject, heads = _subject(text, rules, language)
    if language == "ko" and kind and not heads:
        words = ()  # what is left of a Korean question whose kind is known is its verb
    asked = Asked(
        kind=kind, people=people, places=places, facts=facts, when=when, topic=_topic(topic, names, people, places),
        words=words, subject=_topic(subject, names, people, places), heads=tuple(one for one in dict.fromkeys((*heads, *parts)) if one in words),
        wants=wants, now=bool(rules.now.search(text)), language=language,
    )  # fmt: skip
    if unclear and not (words or places or facts):
        if not before.words:
            return asked.model_copy(update={"kind": "whom"})
        asked = asked.model_copy(update={"words": before.words, "heads": before.heads, "subject": before.subject})
    return _in_context(asked, before, rules, text)


def _of_its_day(kind: str, when: When | None) -> str:
    """`what are you doing tomorrow` asks for a plan, `what were you doing at ten` for what was done."""
    if kind == "now" and when is not None:
        return "plan" if when.days < 0 else "day"
    if kind == "where" and when is not None:
        return "plan" if when.days < 0 else "whereabouts"
    return "plan" if kind in {"", "about", "did", "day", "usual"} and when is not None and when.days < 0 else kind


# ── in the context of the talk ───────────────────────────────────────────────────────────────────────────────────────


def _in_context(asked: Asked, before: Asked, rules: _Rules, text: str) -> Asked:
    """A follow-up has the kind of the question before, and what it does not name itself."""
    if asked.kind in FOLLOWS:
        if not before.kind or before.kind in SMALL_TALK:
            return asked
        return before.model_copy(update={"then": asked.kind, "language": asked.language})
    named = asked.people or asked.places or asked.facts or asked.when
    bare = _bare(text, rules)
    if before.kind and before.kind not in SMALL_TALK and _is_ellipsis(asked, bare, is_led=bare != text.strip()) and (named or asked.words):
        return _continued(asked, before)
    if not named and not asked.words and before.kind and (_refers(text, rules) or asked.kind in _OF_SOMETHING):
        return asked.model_copy(
            update={"people": before.people, "places": before.places, "facts": before.facts, "words": before.words,
                    "topic": before.topic, "when": asked.when or (before.when if asked.kind == before.kind else None)}
        )  # fmt: skip
    return asked


def _is_ellipsis(asked: Asked, bare: str, *, is_led: bool) -> bool:
    """Whether nothing is left of it but what it names: `and Jun?`, `what about yesterday?`."""
    is_open = not asked.kind and (not asked.wants or (is_led and asked.wants != "whether"))
    return (is_open or (asked.kind in {"about", "remark"} and "@" in bare)) and len(bare.split()) <= 3


def _continued(asked: Asked, before: Asked) -> Asked:
    update: dict[str, object] = {"kind": before.kind, "then": ""}
    if not (asked.people or asked.places or asked.facts or asked.words):
        update |= {"people": before.people, "places": before.places, "facts": before.facts, "words": before.words,
                   "topic": before.topic}  # fmt: skip
    elif before.kind in {"day", "plan", "met"} and asked.people:
        update |= {"kind": "seen"}
    update |= {"when": asked.when or before.when}
    if asked.when is not None and asked.when.days < 0 and before.kind in {"day", "met", "whereabouts"}:
        update["kind"] = "plan"
    if asked.when is not None and asked.when.days > 0 and before.kind == "plan":
        update["kind"] = "day"
    return asked.model_copy(update=update)


def _bare(text: str, rules: _Rules) -> str:
    """The words without those that only lead in: `and what about @p` → `@p`."""
    for lead in sorted(rules.lists["and"].split(", "), key=len, reverse=True):
        if text.lower().startswith(lead):
            text = text[len(lead) :]
            break
    return text.strip()


def _refers(text: str, rules: _Rules) -> bool:
    """Whether it says `it` or `that` for what was spoken of."""
    return any(word in rules.lists["it"].split() for word in text.lower().split())


# ── people and places ────────────────────────────────────────────────────────────────────────────────────────────────

_PARTICLES = (
    "(?:이라는|라는|이는|이가|이를|이와|이랑|이한테|이의|이도|이|가|은|는|을|를|과|와|의|에게|한테|께|께서|랑|도|만|야|아|씨|님|네|"
    "에서|에|로|으로|부터|까지|하고|에는|에선)*"
)
_LEAD_IN = re.compile(
    r"^\W*(?:(?:hello|hi|hey|ok|okay|so|well|please|oh|excuse me|sorry|good \w+|but|there)\b,?\s+)+(?=\w+ \w+)",
    re.IGNORECASE,
)
_CONTRACTED = re.compile(r"\b(what|who|where|when|how|why|that|there|here|it|he|she|name)'s\b", re.IGNORECASE)
_SHORT = (("won't", "will not"), ("can't", "can not"), ("n't", " not"), ("'re", " are"), ("'ve", " have"),
          ("'ll", " will"), ("'m", " am"), ("'d", " would"))  # fmt: skip


def _sentences(question: str, rules: _Rules, names: Names, language: str) -> list[str]:
    """The one or two sentences that ask, as words alone; without one that asks, the last."""
    text = clean(question)[-LONGEST:].replace("’", "'").replace("@", " ")
    sentences = [part for part in re.split(r"(?<=[.!?。？！…])\s+", text) if part.strip()]
    asking = [part for part in sentences if part.rstrip("\"'”’) ").endswith(("?", "？"))]
    chosen = asking[-2:] or sentences[-1:] or [""]
    if len(asking) == 1 and sentences.index(asking[0]) > 0 and rules.bare.fullmatch(asking[0].strip(" .!?？")):
        # `I heard you keep bees. Is that true?`
        chosen = [sentences[sentences.index(asking[0]) - 1].rstrip(" .!") + "?"]
    whole = chosen[0].rstrip(" .!?？")
    if len(chosen) == 1 and (hit := rules.second.search(whole)) and len(whole[: hit.start()].split()) >= 2:
        chosen = [f"{whole[: hit.start()]}?", f"{hit['rest']}?"]
    return [_normal(one, rules, names, language) for one in chosen]


def _normal(text: str, rules: _Rules, names: Names, language: str) -> str:
    """A sentence as words alone, in the form that the rules know."""
    if language != "en":
        text = " ".join(re.sub(r"[^\w가-힣: -]+", " ", text).split())
        return _rewritten(text, rules)
    is_asked = text.rstrip("\"'”’) ").endswith("?")
    text = _CONTRACTED.sub(r"\1 is", text)
    for short, full in _SHORT:
        text = re.sub(rf"{short}\b", full, text, flags=re.IGNORECASE)
    text = text.rstrip(" .!?…")
    for name in names.me:
        text = re.sub(rf"(?:^|(?<=[ ,])){re.escape(name)}(?:,|(?= [A-Z])|$)", "", text, flags=re.IGNORECASE).strip(" ,")
    untagged = rules.tag.sub("", text)
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


def _rewritten(text: str, rules: _Rules) -> str:
    for pattern, replacement in rules.rewrite:
        text = pattern.sub(replacement, text)
    return text


_TOLD = re.compile(r"^(?:so )?you (are|were|have|had|can|could|will|would|should|did|do)\b", re.IGNORECASE)
_TOLD_DO = re.compile(
    r"^(?:so )?you (?!(?:are|were|have|had|can|could|will|would|should|did|do|ever|and|said|told|must|may)\b)"
    r"(\w+(?<!ed))\b(?= )",
    re.IGNORECASE,
)


def _spelt(word: str, rules: _Rules, called: tuple[str, ...]) -> str:
    """A word as the rules or a name spell it."""
    lower = word.lower()
    if lower in rules.short:
        return rules.short[lower]
    if len(word) >= 5 and len(right := rules.spelt.get(lower, ())) == 1 and lower not in rules.known:
        return next(iter(right))
    right = _names_misspelt(called).get(lower, ()) if len(word) >= 4 else ()
    return next(iter(right)) if len(right) == 1 else word


@lru_cache(maxsize=16)
def _names_misspelt(called: tuple[str, ...]) -> Mapping[str, frozenset[str]]:
    return _misspelt({word.lower() for word in called if len(word) > 4})


def _placed(text: str, names: Names, language: str) -> tuple[str, tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """The text with @p and @l, the people, the places, and words that name a place but may mean something else."""
    # A place may have its owner's name in it, so places come first.
    text, places, parts = _located(text, names, language)
    text, roles = _in_role(text, names, language)
    patterns = _people_patterns(tuple((one[0], one[1], one[2]) for one in names.people), language)
    people = sorted((hit.start(), person) for person, pattern in patterns if (hit := pattern.search(text)))
    for person, pattern in patterns:
        if any(one == person for _, one in people):
            text = pattern.sub("@p", text)
    people = tuple(dict.fromkeys((*(person for _, person in people), *roles)))
    return " ".join(text.split()), people, places, parts


def _in_role(text: str, names: Names, language: str) -> tuple[str, tuple[str, ...]]:
    """`your grandfather`, `the doctor` → @p where only one person can be meant."""
    if language != "en" or not names.roles:
        return text, ()
    found: list[str] = []
    for role, person in sorted(names.roles.items(), key=lambda pair: (-len(pair[0]), pair[0])):
        forms = "|".join(re.escape(word) for word in sorted(alike(role, language) & _KIN | {role}))
        pattern = re.compile(rf"\b(?:your|the) (?:{forms})(?:'s)?(?![\w'])", re.IGNORECASE)
        if pattern.search(text):
            text = pattern.sub("@p", text)
            found.append(person)
    return text, tuple(dict.fromkeys(found))


_KIN = frozenset(
    "mum mother mom mama mummy dad father daddy papa grandmother grandma granny gran nan grandfather grandad grandpa "
    "granddaughter grandson husband wife".split()
)
"""Kin by their several names; a grandchild may be either."""


@lru_cache(maxsize=64)
def _people_patterns(
    people: tuple[tuple[str, str, str], ...], language: str
) -> tuple[tuple[str, re.Pattern[str]], ...]:
    made: list[tuple[str, re.Pattern[str]]] = []
    for id_, name, called in people:
        forms = "|".join(re.escape(one) for one in sorted({name, called}, key=len, reverse=True) if one)
        if language == "en":
            form = rf"(?<![\w'])(?:(?:dr|mr|mrs|miss|ms) )?(?:{forms})(?:'s)?(?!\w)"
        else:
            form = rf"(?<![가-힣\w])(?:{forms})(?:이(?=[가는를와랑한의도네]))?(?:\s?[씨님])?(?={_PARTICLES}(?![가-힣]))"
        made.append((id_, re.compile(form, re.IGNORECASE)))
    return tuple(made)


def _located(text: str, names: Names, language: str) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    found: dict[int, str] = {}
    parts: list[str] = []
    whole = {name.lower() for _, name in names.places}
    for place, pattern in _place_patterns(tuple(names.places), language):
        hit = pattern.search(text)
        if hit and hit.start() not in found:
            found[hit.start()] = place
            word = re.sub(r"^(?:the|your|my|our) ", "", hit.group().lower())
            parts += [word] if " " not in word and word not in whole else []
            text = text[: hit.start()] + "@l" + " " * (len(hit.group()) - 2) + text[hit.end() :]
    return text, tuple(found[at] for at in sorted(found)), tuple(parts)


@lru_cache(maxsize=64)
def _place_patterns(places: tuple[tuple[str, str], ...], language: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """By full names first, then by the words that only one place has."""
    whole: list[tuple[str, re.Pattern[str]]] = []
    parts: dict[str, list[str]] = {}
    for id_, name in sorted(places, key=lambda place: (-len(place[1]), place[0])):
        bare = re.sub(r"^(?:the )?(?:\w+(?:'s|’s|의) )?", "", name.replace("’", "'"), flags=re.IGNORECASE) or name
        forms = "|".join(re.escape(one.replace("’", "'")) for one in dict.fromkeys((name, bare)))
        whole.append((id_, _name_pattern(forms, language)))
        for word in bare.split():
            if len(word) >= (4 if language == "en" else 2):
                parts.setdefault(word.lower(), []).append(id_)
    single = [
        (ids[0], _name_pattern(re.escape(word), language)) for word, ids in sorted(parts.items()) if len(set(ids)) == 1
    ]
    return (*whole, *single)


def _name_pattern(forms: str, language: str) -> re.Pattern[str]:
    if language == "en":
        return re.compile(rf"(?<![\w'])(?:(?:the|your|my|our) )?(?:{forms})(?!\w)", re.IGNORECASE)
    return re.compile(rf"(?<![가-힣\w])(?:{forms})(?={_PARTICLES}(?![가-힣]))")


def _pronouns(
    text: str,
    rules: _Rules,
    lines: Sequence[Spoken],
    names: Names,
    before: Asked,
    people: tuple[str, ...],
    named: tuple[str, ...],
) -> tuple[str, tuple[str, ...], bool]:
    """`her` → @p where a woman was spoken of; the person asked about last comes before those of the answer."""
    if people:
        return text, (), False
    unclear = False
    for pronoun, pattern in rules.pronouns:
        if not pattern.search(text):
            continue
        fitting = {one[0] for one in names.people if pronoun in {one[3], "any"}}
        mentioned = [*named, *before.people, *_mentioned(lines, names)]
        unsure = {one[0] for one in names.people if one[3] not in {"he", "she"}} if pronoun != "they" else set[str]()
        other = next((one for one in mentioned if one in fitting), "")
        other = other or next((one for one in mentioned if one in unsure), "")
        if other:
            return pattern.sub("@p", text), (other,), False
        unclear = unclear or pronoun != "they"
    return text, (), unclear


def _mentioned(lines: Sequence[Spoken], names: Names) -> Iterable[str]:
    """Who was named in the talk, the latest line first, within a line in order."""
    for line in reversed(lines[-2 * EARLIER :]):
        language = spoken_in(line.text)
        patterns = _people_patterns(tuple((one[0], one[1], one[2]) for one in names.people), language)
        hits = [(hit.start(), person) for person, pattern in patterns if (hit := pattern.search(line.text))]
        yield from (person for _, person in sorted(hits))


def _facts(question: str, names: Names) -> tuple[str, ...]:
    """Facts of which the question has words of at least half the groups."""
    text = f" {' '.join(re.findall(r'[a-z가-힣]+', question.lower()[-LONGEST:]))} "
    named: list[str] = []
    for fact, groups in names.facts.items():
        hits = sum(any(_has(text, word) for word in group) for group in groups)
        if hits and 2 * hits >= len(groups):
            named.append(fact)
    return tuple(named)


def _has(text: str, word: str) -> bool:
    korean = bool(_HANGUL.search(word))
    return f" {word.lower()}" in text if korean else f" {word.lower()} " in text or f" {word.lower()}s " in text


# ── days and hours ───────────────────────────────────────────────────────────────────────────────────────────────────


def _when(text: str, rules: _Rules, names: Names, before: Asked) -> tuple[When | None, str]:
    """The stretch of time it names, and the text without those words."""
    day, span, rest = None, None, text
    for ago, start, end, pattern in rules.days:
        hit = pattern.search(rest)
        if hit and day is None:
            day, span, rest = ago, (start, end), rest[: hit.start()] + " " + rest[hit.end() :]
            if ago is None:
                continue
            break
    if day is None:
        day, rest = _weekday(rest, rules, names)
    if day is None and span is not None:
        day = before.when.days if before.when else None
    hour, rest = _hour(rest, rules, span)
    if day is None and span is None and hour is None:
        return None, text
    span = hour or span
    low, high = span or (0, 24 * 60)
    day = 0 if day is None else day
    day += 1 if names.late and day == 0 and low < 22 * 60 else 0
    return When(days=day, start=low, end=high), " ".join(rest.split())


def _weekday(text: str, rules: _Rules, names: Names) -> tuple[int | None, str]:
    """The last day of that name, or the next one where the question is about what will be."""
    for number, name in enumerate(names.weekdays):
        hit = re.search(rf"(?:on |last |next |this )?{name}\w*", text, re.IGNORECASE)
        if hit:
            ago = (names.weekday - number) % 7
            return ago - 7 if rules.future.search(text) else ago, text[: hit.start()] + " " + text[hit.end() :]
    return None, text


def _hour(text: str, rules: _Rules, span: tuple[int, int] | None) -> tuple[tuple[int, int] | None, str]:
    """Half an hour around the hour it names, or the hours between two; within `span` where that says which half."""
    hit = rules.hour.search(text)
    if hit is None:
        return None, text
    parts = {name: value for name, value in hit.groupdict().items() if value}
    word = next((parts[name] for name in ("hour", "hour2", "hour3", "halfpast") if name in parts), "")
    half = parts.get("half", "").lower()
    late = half in rules.lists["pm"].split(", ") or (not half and span is not None and span[0] >= 12 * 60)
    begin = _hour_of(word, rules, late=late, told=bool(half or span))
    if begin is None:
        return None, text
    begin = begin * 60 + min(59, int(parts.get("minute") or parts.get("minute2") or (30 if "halfpast" in parts else 0)))
    rest = text[: hit.start()] + " " + text[hit.end() :]
    until = _hour_of(parts.get("until", ""), rules, late=late, told=bool(half or span))
    return ((begin, max(until * 60, begin + 60)) if until else (begin - 30, begin + 30)), rest


def _hour_of(word: str, rules: _Rules, *, late: bool, told: bool) -> int | None:
    """A bare `ten` is ten in the morning, `three` three in the afternoon."""
    hour = rules.numbers.get(word.lower(), int(word) if word.isdigit() else None)
    if hour is None or hour > 24:
        return None
    return hour + 12 if hour < 12 and (late or (not told and 1 <= hour <= 5)) else hour


# ── what it asks ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _kind(
    rules: _Rules, text: str, language: str, *, known: Collection[str], timed: bool
) -> tuple[str, str]:
    """The first rule that fits and accounts for the question, and the words it names as the topic."""
    sought = text if language == "en" else re.sub(r"\s+", "", text)
    for kind, pattern in rules.kinds:
        if kind in _ONESELF and language == "ko" and "@p" in sought:
            continue  # a Korean question names nobody where it means the one who is asked
        hit = pattern.search(sought)
        if hit and (language == "ko" or _accounts(kind, hit, rules, known, timed=timed)):
            topics = (value for name, value in sorted(hit.groupdict().items()) if value and name.startswith("topic"))
            topic = next(topics, "")
            return kind, topic if language == "en" else _spaced(topic, text)
    return "", ""


def _accounts(kind: str, hit: re.Match[str], rules: _Rules, known: Collection[str], *, timed: bool) -> bool:
    """Whether a rule knows what every word is for; beside a day or an hour it may let one pass.

    A rule with a topic answers by its words, whatever they are.
    """
    groups = hit.groupdict()
    topic = next((value for name, value in groups.items() if value and name.startswith("topic")), "")
    if "@" not in topic and (told := set(_words(topic, rules, "en"))) and not told - rules.light:
        return False
    if kind in _TOPICAL or kind in FOLLOWS or kind in SMALL_TALK or topic:
        return True
    passed = [hit.string[: hit.start()], hit.string[hit.end() :]]
    passed += [value for name, value in groups.items() if value and name.startswith("rest")]
    left = {word for word in _words(" ".join(passed), rules, "en") if word not in rules.light - _RANKING and word not in known}
    return len(left) + " ".join(passed).count("@p") <= timed


def _subject(text: str, rules: _Rules, language: str) -> tuple[str, tuple[str, ...]]:
    """The first phrase of a determiner or preposition and its nouns, and all words of such phrases.

    After `does`, `will` and the like, the word that follows the subject is a verb: `does a bowl of noodles cost`.
    """
    if language != "en":
        nouns = _nouns(re.findall(r"[^\W_]+", re.sub("@[pl][가-힣]*", " ", text.lower())), rules)
        nouns = tuple(word for word in nouns if word not in rules.light)
        return (nouns[0] if nouns else ""), nouns
    tokens = re.findall(r"@[pl](?:'s)?|[\w'-]+", text.lower())
    phrases: list[tuple[int, list[str]]] = []
    at = 0
    while at < len(tokens):
        if tokens[at] in rules.determiners or tokens[at] in rules.prepositions:
            start, end = at, at + 1
            while end < len(tokens) and (
                tokens[end] not in rules.stop
                or tokens[end] in rules.determiners
                or (tokens[end] == "of" and end > start + 1)
            ):
                end += 1
            phrase = tokens[start:end]
            is_subject = start > 0 and tokens[start - 1] in _AUXILIARIES
            content = [word for word in phrase if word not in rules.stop and not word.startswith("@")]
            if is_subject and len(content) > 1 and phrase[-1] == content[-1]:
                phrase, content = phrase[:-1], content[:-1]
            while phrase and phrase[0] in {*rules.prepositions, "what", "which", "whose", "how", "many", "much"}:
                phrase = phrase[1:]
            if any(word not in rules.light for word in content):
                phrases.append((start, phrase))
            at = end
        else:
            at += 1
    if phrases:
        heads = tuple(word for _, phrase in phrases for word in phrase if word not in rules.stop)
        return " ".join(phrases[0][1]), tuple(word.removesuffix("'s") for word in heads if word not in rules.light)
    last = next((at for at in range(len(tokens) - 1, -1, -1) if _words(tokens[at], rules, language)), -1)
    is_verb = last > 0 and tokens[last - 1] in _BEFORE_VERBS and not (last > 1 and tokens[last - 2] in {"are", "were"})
    if last < 0 or tokens[last] in rules.light or is_verb:
        return "", ()
    # Of `are people healthy` the last word is no thing's name.
    return ("" if tokens[0] in _YES_OR_NO else tokens[last]), (tokens[last],)


_AUXILIARIES = frozenset("do does did will would can could should may might shall has have had".split())
_YES_OR_NO = _AUXILIARIES | {"is", "are", "was", "were", "am"}
_RANKING = frozenset({"best", "worst", "favourite"})
_BEFORE_VERBS = frozenset(
    "i you he she we they to not do does did will would can could should may might shall somebody anybody".split()
)


def _spaced(topic: str, text: str) -> str:
    """A Korean topic with the blanks it has in the question, without the particles at its end."""
    found = re.search(r"\s*".join(map(re.escape, topic)), text) if topic else None
    return _TAIL.sub("", found.group()) if found else ""


def _topic(topic: str, names: Names, people: tuple[str, ...], places: tuple[str, ...]) -> str:
    """The topic as a person would repeat it: short, of plain words; empty otherwise."""
    called = {one[0]: one[2] for one in names.people}
    text = topic
    for person in people:
        text = text.replace("@p", called[person], 1)
    for place in places:
        text = text.replace("@l", dict(names.places)[place], 1)
    text = text.strip(" '-")
    plain = re.fullmatch(r"[^\W\d_]+(?:[ '-][^\W\d_]+){0,5}", text)
    return text if plain and len(text) <= 48 and "@" not in text else ""


def _words(text: str, rules: _Rules, language: str) -> tuple[str, ...]:
    found = re.findall(r"[^\W_]+(?:'[^\W_]+)?", re.sub("@[pl][가-힣]*", " ", text.lower()))
    if language == "ko":
        nouns = _nouns(found, rules)
        return nouns or tuple(dict.fromkeys(stem for word in found if len(stem := korean.stem(word)) > 1
                                            and word not in rules.stop and not korean.is_grammar(word)))  # fmt: skip
    kept = [word.removesuffix("'s") for word in found if word not in rules.stop]
    return tuple(dict.fromkeys(word for word in kept if len(word) > 1))


def _nouns(words: Sequence[str], rules: _Rules) -> tuple[str, ...]:
    """The words of a Korean sentence that name things, without their particles."""
    found: list[str] = []
    for at, word in enumerate(words):
        after = words[at + 1] if at + 1 < len(words) else ""
        is_verb = _VERB.search(word) or (not after and _LAST_VERB.search(word)) or (
            word.endswith("지") and after[:1] in {"않", "못", "말", "마"}
        ) or _SERIAL.fullmatch(f"{word} {after[:1]}") or (after and (_PARTICIPLE.fullmatch(word) or (word.endswith("는") and after[:1] in {"게", "것", "거", "데"})))  # fmt: skip
        bare = korean.without_particle(word)
        if not is_verb and not {word, bare} & rules.stop and not korean.is_grammar(word):
            found.append(bare)
    return tuple(dict.fromkeys(found))


_VERB = re.compile(r".(요|까|습니다|읍니다|니다|네|죠|면|는데|은데|픈데|쁜데|던데|려고|해서|와서|쳐|줘|해|하는|하고|인)$")
_SERIAL = re.compile(".*[어아여해] [봤보본줬주줘줄]|.+ 계")
_PARTICIPLE = re.compile("[쓴한본간온산판한준된낸할볼갈올살팔줄될쓸큰긴]")
_LAST_VERB = re.compile(r".(니|냐|나|다|지|어|아|자|게|래|데|군|구나)$")
_TAIL = re.compile(f"(?<=[가-힣]{{2}}){_PARTICLES}$")
