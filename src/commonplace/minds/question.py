"""What a person asks a character: the kind of a question, whom, where and when it is about, told by rules.

The rules are data, `questions.txt` of a language. A question becomes one or two sentences in the form the rules know. A
question in the talk so far is understood first: `and yesterday?` is the question before with another day, `her` the
woman spoken of last.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache

from commonplace.languages import DEFAULT
from commonplace.languages.ko import morphology as korean
from commonplace.languages.language import language as spoken
from commonplace.minds.notes import Given, Spoken, changed
from commonplace.minds.question_names import (
    EARLIER,
    LONGEST,
    PARTICLES,
    QuestionNames,
    event_in,
    facts_in,
    mentioned_in,
    placed,
)
from commonplace.minds.question_rules import QuestionRules, Wanted, alike, has, literal, misspelt, rules_of, spoken_in
from commonplace.text import clean

ASKER = "-"
"""The speaker of a person's lines."""


class DaySpan(Given):
    """A stretch of a day."""

    days: int
    """Days before today: 0 today, 1 yesterday, −1 tomorrow."""
    start: int = 0
    """Minutes after midnight."""
    end: int = 24 * 60
    """Minutes after midnight; above 1440 for the small hours of the next day."""


class ParsedQuestion(Given):
    """A question as it is understood, in the context of its talk."""

    kind: str = ""
    """A row of `question_kinds.txt`; empty for words that no rule knows."""
    then: str = ""
    """`more`, `sure` or `whyso` where it asks on about the question before, whose kind it has."""
    people: tuple[str, ...] = ()
    """Ids of the characters it is about."""
    places: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    """Ids of seed facts it names, whether or not they are known to the character."""
    when: DaySpan | None = None
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
    own: bool = False
    """Whether it speaks of the one who is asked."""
    now: bool = False
    """Whether it asks about what always is, and not about what was."""
    past: bool = False
    """Whether it takes for granted, or asks, that the one who is asked did something."""
    language: str = DEFAULT
    """The language of the question."""
    back: bool = False
    """Whether it asks about what the last answer said: `who told you that?`."""
    also: ParsedQuestion | None = None
    """A second question in the same breath."""

    @property
    def open(self) -> bool:
        """Tells whether it asks what, which or how, and not whether."""
        return self.wants not in {"", "whether"}

    @property
    def whole(self) -> ParsedQuestion:
        """Returns both questions as one, with the subjects of both."""
        if self.also is None:
            return self
        about = ("people", "places", "facts", "words")
        both = {name: tuple(dict.fromkeys((*getattr(self, name), *getattr(self.also, name)))) for name in about}
        return changed(self, **both, when=self.when or self.also.when)

    def same(self, other: ParsedQuestion) -> bool:
        """Tells whether both ask the same about the same people, places, facts and time, in any words."""
        about = ("kind", "people", "places", "facts", "when", "topic", "also", *(() if self.kind else ("words",)))
        return all(getattr(self, name) == getattr(other, name) for name in about)


def understood(
    question: str, lines: Sequence[Spoken], names: QuestionNames, told: ParsedQuestion | None = None
) -> ParsedQuestion:
    """Returns the question after these lines of the talk; `told` is the subject of the last answer."""
    before = ParsedQuestion()
    mine = [index for index, line in enumerate(lines) if line.speaker == ASKER][-EARLIER:]
    for index in mine:
        before = _understood(lines[index].text, lines[:index], names, before, None)
    return _understood(question, lines, names, before, told)


def _understood(
    question: str, lines: Sequence[Spoken], names: QuestionNames, before: ParsedQuestion, told: ParsedQuestion | None
) -> ParsedQuestion:
    """Returns the first of one or two questions, with the second one in it."""
    language = spoken_in(question)
    parts = sentences(question, rules_of(language), names, language)
    first = _read(parts[0], lines, names, before, language, told)
    if len(parts) == 1:
        return first
    second = _read(parts[1], lines, names, first, language, None)
    if not second.kind and not second.words and second.wants:
        second = changed(first, wants=second.wants)  # `…, and when?`
    if (
        (not second.kind and not second.words)
        or has(second.kind, "small")
        or second.kind == "whom"
        or has(second.kind, "follows")
    ):
        return first
    return changed(first, also=second)


def _read(
    text: str,
    lines: Sequence[Spoken],
    names: QuestionNames,
    before: ParsedQuestion,
    language: str,
    told: ParsedQuestion | None,
) -> ParsedQuestion:
    rules = rules_of(language)
    text, people, places, parts = placed(text, names, language)
    named = tuple(mentioned_in((Spoken(speaker=ASKER, called="", text=text),), names))
    text, others, unclear = _pronouns(text, rules, lines, names, before, people, named)
    text, paired = rules.patterns["pair"].subn("" if spoken(language).has_particles else "you", text)
    people = (*people, *others) or (before.people[:1] if paired else ())
    facts = facts_in(text, names) or event_in(text, names, places, language)
    when, text = _when(text, rules, names, before)
    wants = _wanted(text, rules)
    factual = {word.lower() for fact in facts for group in names.facts[fact] for word in group}
    factual |= alike("festival", language) if facts else frozenset()
    kind, topic = _kind(rules, text, language, known=factual, timed=when is not None)
    if kind == "more" and (people or places or facts or when):
        kind = ""
    is_past = bool(rules.patterns["past"].search(text))
    will = bool(rules.patterns["future"].search(text)) or (
        when is not None and not is_past and when.end > names.minute > 0 < when.start
    )
    subject, heads = subject_of(text, rules, language)
    subject = "" if rules.patterns["nothing"].fullmatch(subject) else subject
    telling = heads if spoken(language).has_particles else content_words(text, rules, language)
    bare = not (people or places or facts or telling)
    if kind == "withwhom" and before.kind == "home":
        kind = "household"
    if kind == "did" and places and rules.patterns["future"].search(text):
        kind = "plan"
    kind = _of_its_day(kind, when, will=will, bare=bare and _wanted(text, rules) in {"what", "how", ""})
    # A Korean pattern often takes more or less than the thing into its topic.
    is_topic = bool(topic) and (
        not spoken(language).has_particles or (has(kind, "named") and bool(content_words(topic, rules, language)))
    )
    about = topic if is_topic else text
    words = tuple(dict.fromkeys((*content_words(about, rules, language), *parts)))
    if spoken(language).has_particles and kind and not heads:
        words = ()  # what is left of a Korean question whose kind is known is its verb
    asked = ParsedQuestion(
        kind=kind, people=people, places=places, facts=facts, when=when, topic=_topic(topic, names, people, places),
        words=words, subject=_topic(subject, names, people, places),
        heads=tuple(one for one in dict.fromkeys((*heads, *parts)) if one in words),
        wants=wants, own=bool(rules.patterns["own"].search(text)),
        now=bool(rules.patterns["now_is"].search(text)) and not is_past, past=is_past, language=language,
    )  # fmt: skip
    if unclear and not (words or places or facts):
        if not before.words:
            return changed(asked, kind="whom")
        asked = changed(asked, words=before.words, heads=before.heads, subject=before.subject)
    return _in_context(asked, before, rules, text, told)


def _wanted(text: str, rules: QuestionRules) -> Wanted:
    for name, pattern in rules.wants:
        if pattern.search(text):
            return name
    return ""


def _of_its_day(kind: str, when: DaySpan | None, *, will: bool, bare: bool) -> str:
    """Returns the kind that fits the time: `what are you doing tomorrow` asks for a plan, `what were you doing at ten`
    and `how was yesterday` for a day."""
    if when is None:
        return kind
    to_come = when.days < 0 or (will and not when.days)
    if kind == "now":
        return "plan" if to_come else "day"
    if kind == "work":
        return "plan" if to_come else "usual"
    if kind == "where":
        return "plan" if when.days < 0 else "whereabouts"
    if kind in {"", "about", "think"} and bare:
        kind = "day"
    if kind == "usual":
        to_come = when.days < 0
    return "plan" if kind in {"", "about", "did", "day", "usual", "news"} and to_come else kind


# ── in the context of the talk ───────────────────────────────────────────────────────────────────────────────────────


def _in_context(
    asked: ParsedQuestion, before: ParsedQuestion, rules: QuestionRules, text: str, told: ParsedQuestion | None
) -> ParsedQuestion:
    """Returns a follow-up with the kind of the question before, and with what it does not name itself.

    The talk goes on about what a question named; if it only asked for whatever there is to tell, about what was told.
    """
    if asked.kind == "more" and not has(before.kind, "spans") and rules.patterns["future"].search(text):
        # `what will you do after that` of what was no plan
        asked, before = changed(asked, kind="plan"), ParsedQuestion()
    if has(asked.kind, "follows"):
        is_after_talk = bool(before.kind) and not has(before.kind, "small")
        return changed(before, then=asked.kind, language=asked.language) if is_after_talk else asked
    if asked.kind == "seen" and not (asked.places or asked.facts or asked.when) and _refers(text, rules):
        return changed(asked, places=before.places, facts=before.facts, when=before.when)
    named = asked.people or asked.places or asked.facts or asked.when
    bare = _bare(text, rules)
    if (
        before.kind
        and not has(before.kind, "small")
        and _is_ellipsis(asked, bare, is_led=bare != text.strip())
        and (named or asked.words)
    ):
        return _continued(asked, before)
    named_before = before.people or before.places or before.facts or before.words
    if told is not None and _refers(text, rules) and not named and not set(asked.words) - rules.words["light"]:
        asked = changed(asked, back=True)
        is_open = has(before.kind, "tells") and not (before.people or before.places or before.facts)
        if is_open or not named_before:
            before = changed(told, kind=before.kind or "about")
    is_general = not asked.kind or has(asked.kind, "general")
    is_short = is_general and asked.wants not in {"", "whether"} and len(text.split()) <= 3  # `how many?`
    is_of_something = has(asked.kind, "of") and not set(asked.words) - rules.words["light"]
    if (
        not named
        and (before.kind or named_before)
        and (is_of_something or (not asked.words and (_refers(text, rules) or is_short)))
    ):
        when = asked.when or (before.when if asked.kind in {before.kind, "met", "withwhom", "seen"} else None)
        return changed(
            asked,
            people=before.people,
            places=before.places,
            facts=before.facts,
            words=before.words,
            topic=before.topic,
            when=when,
        )
    is_loose = not asked.subject or " " not in asked.subject
    if not named and is_loose and before.words and before.kind and _refers(text, rules):
        return changed(
            asked,
            words=(*before.words, *asked.words),
            heads=before.heads,
            subject=before.subject,
            places=before.places,
            facts=before.facts,
        )
    return asked


def _is_ellipsis(asked: ParsedQuestion, bare: str, *, is_led: bool) -> bool:
    """Tells whether the question consists only of a name or a time: `and Jun?`, `what about yesterday?`."""
    is_open = not asked.kind and (not asked.wants or (is_led and asked.wants != "whether"))
    return (is_open or (asked.kind in {"about", "remark"} and "@" in bare)) and len(bare.split()) <= 3


def _continued(asked: ParsedQuestion, before: ParsedQuestion) -> ParsedQuestion:
    update: dict[str, object] = {"kind": before.kind, "then": ""}
    if not (asked.people or asked.places or asked.facts or asked.words):
        update |= {"people": before.people, "places": before.places, "facts": before.facts, "words": before.words,
                   "topic": before.topic}  # fmt: skip
    elif before.kind in {"day", "plan", "met", "going"} and asked.people:
        update |= {"kind": "seen", "facts": before.facts}
    update |= {"when": asked.when or before.when}
    if asked.when is not None and asked.when.days < 0 and before.kind in {"day", "met", "whereabouts"}:
        update["kind"] = "plan"
    if asked.when is not None and asked.when.days > 0 and before.kind == "plan":
        update["kind"] = "day"
    return changed(asked, **update)


def _bare(text: str, rules: QuestionRules) -> str:
    """Returns the words without those that only lead in: `and what about @p` → `@p`."""
    for lead in sorted(rules.lists["and"].split(", "), key=len, reverse=True):
        if text.lower().startswith(lead):
            text = text[len(lead) :]
            break
    return text.strip()


def _refers(text: str, rules: QuestionRules) -> bool:
    """Tells whether it refers to the subject by `it` or `that`."""
    return any(word in rules.lists["it"].split() for word in text.lower().split())


def _pronouns(
    text: str,
    rules: QuestionRules,
    lines: Sequence[Spoken],
    names: QuestionNames,
    before: ParsedQuestion,
    people: tuple[str, ...],
    named: tuple[str, ...],
) -> tuple[str, tuple[str, ...], bool]:
    """Replaces pronouns: `her` → @p after a woman was mentioned. The person asked about last comes before those of the
    answer."""
    if people:
        return text, (), False
    unclear = False
    for pronoun, pattern in rules.pronouns:
        if not pattern.search(text):
            continue
        fitting = {one[0] for one in names.people if pronoun in {one[3], "any"}}
        mentioned = [*named, *before.people, *mentioned_in(lines, names)]
        unsure = {one[0] for one in names.people if one[3] not in {"he", "she"}} if pronoun != "they" else set[str]()
        last = dict.fromkeys(mentioned_in(lines[-1:], names))
        if len(last) == 1 and not before.people and not named:
            mentioned = [one for one in last if one in fitting | unsure] or mentioned
        other = next((one for one in mentioned if one in fitting), "")
        other = other or next((one for one in mentioned if one in unsure), "")
        if other:
            return pattern.sub("@p", text), (other,), False
        unclear = unclear or pronoun != "they"
    return text, (), unclear


# ── days and hours ───────────────────────────────────────────────────────────────────────────────────────────────────


def _when(text: str, rules: QuestionRules, names: QuestionNames, before: ParsedQuestion) -> tuple[DaySpan | None, str]:
    """Returns the span of time it names, and the text without those words."""
    day, span, rest = None, None, text
    for ago, start, end, pattern in rules.days:
        hit = pattern.search(rest)
        if hit and day is None:
            day, span, rest = ago, (start, end), rest[: hit.start()] + " " + rest[hit.end() :]
            if ago is None or span != (0, 24 * 60):
                continue
        elif hit and ago is None and span == (0, 24 * 60):  # `yesterday in the evening`
            span, rest = (start, end), rest[: hit.start()] + " " + rest[hit.end() :]
    if before.when and (hit := rules.patterns["daybefore"].search(rest)):
        day, rest = before.when.days + 1, rest[: hit.start()] + " " + rest[hit.end() :]
    if day is None:
        day, rest = _weekday(rest, rules, names)
    if day is None and span is not None:
        day = before.when.days if before.when else None
    hour, rest = _hour(rest, rules, span)
    if day is None and span is None and hour is None:
        return None, text
    span = hour or span
    low, high = span or (0, 24 * 60)
    if day is None and hour and high <= _DAWN and not names.late and rules.patterns["future"].search(text):
        low, high = low + 24 * 60, high + 24 * 60  # `will you be up at midnight` is this coming one
    day = 0 if day is None else day
    day += 1 if names.late and day == 0 and low < 22 * 60 else 0
    return DaySpan(days=day, start=low, end=high), " ".join(rest.split())


def _weekday(text: str, rules: QuestionRules, names: QuestionNames) -> tuple[int | None, str]:
    """Returns the last day of that name, or the next one if the question is about the future."""
    for number, name in enumerate(names.weekdays):
        hit = re.search(rf"(?:on |last |next |this )?{name}\w*", text, re.IGNORECASE)
        if hit:
            ago = (names.weekday - number) % 7
            return ago - 7 if rules.patterns["future"].search(text) else ago, text[: hit.start()] + " " + text[
                hit.end() :
            ]
    return None, text


def _hour(text: str, rules: QuestionRules, span: tuple[int, int] | None) -> tuple[tuple[int, int] | None, str]:
    """Returns half an hour around the hour it names, or the hours between two; within `span` if that tells which half
    of the day."""
    hit = rules.patterns["hour"].search(text)
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


def _hour_of(word: str, rules: QuestionRules, *, late: bool, told: bool) -> int | None:
    """Returns the hour of a word. A bare `ten` is ten in the morning, a bare `three` three in the afternoon."""
    hour = rules.numbers.get(word.lower(), int(word) if word.isdigit() else None)
    if hour is None or hour > 24:
        return None
    return hour + 12 if hour < 12 and (late or (not told and 1 <= hour <= 5)) else hour


# ── what it asks ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _kind(rules: QuestionRules, text: str, language: str, *, known: Collection[str], timed: bool) -> tuple[str, str]:
    """Returns the most specific rule that fits and accounts for the question, and the words it names as the topic.

    A rule is more specific if more of its own words are in the question; the earlier one of two equal ones counts.
    """
    particles = spoken(language).has_particles
    sought = re.sub(r"\s+", "", text) if particles else text
    hits = (hit for wanted, pattern in rules.wants if wanted != "whether" for hit in pattern.finditer(sought))
    asking = [set(range(hit.end() - len(hit.group().split()[-1]), hit.end())) for hit in hits]
    best = (_UNFIT, 0), "", ""
    for kind, pattern in rules.kinds:
        if particles and has(kind, "oneself") and "@p" in sought:
            continue  # a Korean question names nobody where it means the one who is asked
        hit = pattern.search(sought)
        if hit is None or not (particles or _accounts(kind, hit, rules, known, timed=timed)):
            continue
        is_narrow = (has(kind, "oneself") or kind == "best") and not (has(kind, "lived") and timed)
        nouns = content_words(text, rules, language) if particles and is_narrow else ()
        if any(noun not in hit.group() and noun not in known for noun in nouns):
            continue
        words = literal(hit)
        lost = [one for one in asking if not one <= words and (particles or min(one) < hit.start())]
        weight = -2 * has(kind, "general") - bool(lost), len(words)
        if weight > best[0]:
            topics = (value for name, value in sorted(hit.groupdict().items()) if value and name.startswith("topic"))
            best = weight, kind, next(topics, "")
    _, kind, topic = best
    return kind, _spaced(topic, text) if particles else topic


_UNFIT = -9


def _accounts(kind: str, hit: re.Match[str], rules: QuestionRules, known: Collection[str], *, timed: bool) -> bool:
    """Tells whether a rule knows the meaning of every word; beside a day or an hour it may let one pass.

    A rule with a topic answers by its words, whatever they are.
    """
    groups = hit.groupdict()
    topic = next((value for name, value in groups.items() if value and name.startswith("topic")), "")
    if "@" not in topic and (told := set(content_words(topic, rules, DEFAULT))) and not told - rules.words["light"]:
        return False
    if topic or any(has(kind, trait) for trait in ("topical", "follows", "small")):
        return True
    passed = [hit.string[: hit.start()], hit.string[hit.end() :]]
    passed += [value for name, value in groups.items() if value and name.startswith("rest")]
    left = {
        word
        for word in content_words(" ".join(passed), rules, DEFAULT)
        if word not in rules.words["light"] - _RANKING and word not in known
    }
    return len(left) + " ".join(passed).count("@p") <= timed


_DAWN = 5 * 60

_RANKING = frozenset({"best", "worst", "favourite"})


def _spaced(topic: str, text: str) -> str:
    """Returns a Korean topic with the blanks it has in the question, without the particles at its end."""
    found = re.search(r"\s*".join(map(re.escape, topic)), text) if topic else None
    return _TAIL.sub("", found.group()) if found else ""


def _topic(topic: str, names: QuestionNames, people: tuple[str, ...], places: tuple[str, ...]) -> str:
    """Returns the topic as a person would repeat it: short, of plain words; empty otherwise."""
    called = {one[0]: one[2] for one in names.people}
    text = topic
    for person in people:
        text = text.replace("@p", called[person], 1)
    for place in places:
        text = text.replace("@l", dict(names.places)[place], 1)
    text = text.strip(" '-")
    plain = re.fullmatch(r"[^\W\d_]+(?:[ '-][^\W\d_]+){0,5}", text)
    return text if plain and len(text) <= 48 and "@" not in text else ""


_TAIL = re.compile(f"(?<=[가-힣]{{2}}){PARTICLES}$")


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
