"""The grammar of English: places, times, articles, pronouns, doings, and sentences turned to another mouth."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from functools import lru_cache

from commonplace.languages import listed, weekdays, word_list
from commonplace.languages.en import wording
from commonplace.languages.language import Hearer, Language, Slots, Speaker, part_at
from commonplace.text import words

NO_VERBS = listed(
    "a an the my your his her its our their we he she they it there this that who what why when where how if did is "
    "are was were somebody someone everybody everyone nobody anybody people not never don't"
)
"""Words that begin a thought that is not a command: `Somebody should oil the door`."""
LEADS_IN = listed(
    "you should must please now just maybe perhaps i i'll i'd you'd need want have ought had better to could would "
    "can might will shall really let's let me"
)
"""Words before the verb of a command: `You should go to the canal`."""
_OWN = re.compile(r"\b(I|I've|I'm|I'd|my|me)\b")
_LONG = frozenset({"which", "that", "who", "until", "as", "while", "when", "before", "after", "he", "she", "they", "I"})
_INTENDS = re.compile(
    r"\b(?:means|wants|plans|hopes|needs|has|intends|promised|still has|still needs) to ([a-z]+ [^.,;]{3,70})"
)
_OF_OTHERS = re.compile(r"\b(he|she|they|his|her|their|him|them|him|somebody|one day)\b")
_THIRD_PERSON = listed(
    "is has does was goes keeps runs sells gives accepts lives knows sleeps speaks means grows sweeps owns believes "
    "records walks complains listens sends makes takes comes says tells thinks works plays writes reads teaches fixes "
    "mends builds paints draws sings dances cooks bakes brews serves cleans carries brings delivers drives "
    "rides sails fishes hunts hates loves likes wants needs hopes dreams fears worries wonders remembers forgets "
    "collects counts studies learns helps cares looks watches hears sees feels finds loses wins spends saves buys "
    "pays lends borrows owes starts stops opens closes leaves stays returns visits calls meets talks signs wears "
    "drinks eats smokes gets tries seems enjoys prefers refuses treats trains trades waits turns holds leads lets"
)
_SENTENCES = re.compile(r"(?<=[.!?])\s+")

_ASKS_YES = listed(
    "should shall can could will would is are am was were do does did must may might has have had ought isn't "
    "aren't shouldn't don't doesn't can't won't"
)
_ASKS_WHAT = listed("what how why who whom whose when where which")
_TRAILING = listed("first instead better more then now most best")
"""Words after the second of two things: `tea or coffee first`."""

_AS_ONESELF = (
    (re.compile(r"\byou are\b|\byou're\b", re.IGNORECASE), "I am"),
    (re.compile(r"\byou were\b", re.IGNORECASE), "I was"),
    (re.compile(r"\byour\b", re.IGNORECASE), "my"),
    (re.compile(r"\b(to|with|for|about|at|by|from|on) you\b", re.IGNORECASE), r"\1 me"),
    (re.compile(r"\byou\b", re.IGNORECASE), "I"),
)
"""The voice says `you` to the character, which says `I`."""


class English(Language):
    """English."""

    def spelt_out(self, template: str) -> str:
        return wording.spelt_out(template)

    def finished(self, text: str) -> str:
        return wording.polished(text)

    def lowered(self, text: str) -> str:
        return wording.lowered(text)

    def occurs(self, phrases: Iterable[str], text: str) -> bool:
        one_of = frozenset(phrases)
        return bool(one_of) and _one_of(one_of).search(f" {' '.join(words(text))} ") is not None

    def counts(self, text: str) -> bool:
        return bool(_COUNTS.search(text))

    def when(self, moment: str, minutes_ago: int) -> str:
        return wording.when(moment, minutes_ago)

    def dated(self, moment: str, minutes_ago: int) -> str:
        now = datetime.fromisoformat(moment)
        then = now - timedelta(minutes=max(0, minutes_ago))
        days = (now.date() - then.date()).days
        if 2 <= days < 7:
            return f"on {_DAYS[then.weekday()]} {_part(then.hour)}"
        if days >= 7:
            return "last week" if days < 14 else f"{_NUMBERS.get(days // 7, 'some')} weeks ago"
        return wording.when(moment, minutes_ago)

    def clock(self, time: str) -> str:
        return wording.clock(time)

    def at_time(self, time: str) -> str:
        said = wording.clock(time)
        return said if said.startswith("just") else f"at {said}"

    def part(self, days: int, start: int, moment: str) -> str:
        days, hour = _days_said(days, moment), start // 60 % 24
        part = _part(hour)
        if days == 0 and hour >= 21 and datetime.fromisoformat(moment).hour >= 21:
            return "tonight"
        if days == 0:
            return f"this {part}" if part != "night" else "in the night"
        if days == 1:
            return f"yesterday {part}" if part != "night" else "last night"
        if days == -1:
            return f"tomorrow {part}"
        day = datetime.fromisoformat(moment) - timedelta(days=days)
        return f"on {_DAYS[day.weekday()]} {part}"

    def span(self, days: int, start: int, end: int, moment: str) -> str:
        if end - start >= 24 * 60:
            if _days_said(days, moment) in _SPANS:
                return _SPANS[_days_said(days, moment)]
            return f"on {_DAYS[(datetime.fromisoformat(moment) - timedelta(days=days)).weekday()]}"
        if end - start <= 60:
            return f"around {wording.clock(f'{(start + 30) // 60 % 24:02d}:{(start + 30) % 60:02d}')}"
        if _days_said(days, moment) == 0 and start >= 17 * 60:
            return "tonight"
        return self.part(days, start, moment)

    def times(self, count: int) -> str:
        return {1: "once", 2: "twice"}.get(count, f"{_NUMBERS.get(count, 'many')} times")

    def named(self, name: str) -> str:
        return wording.named(name)

    def the(self, name: str) -> str:
        """Returns a name with `the`, unless it begins with a capital or an article."""
        first = name[:1]
        proper = first.isupper() or not first.isascii() or name.startswith(("the ", "a ", "an "))
        return name if proper else f"the {name}"

    def the_thing(self, name: str) -> str:
        has_owner = name.partition(" ")[0].endswith("'s")
        return f"the {name}" if name[:1].isupper() and not has_owner else self.the(name)

    def at(self, name: str) -> str:
        return wording.at(name)

    def owned(self, text: str, me: Speaker, you: Hearer | None = None) -> str:
        for called, own in ((me.called, "my"), (you.called if you else "", "your")):
            text = re.sub(rf"\b{re.escape(called)}'s (?=\w)", f"{own} ", text) if called else text
        return text

    def place(self, name: str, me: Speaker, you: Hearer | None = None) -> str:
        return self.owned(wording.named(name), me, you)

    def at_place(self, name: str, me: Speaker, you: Hearer | None = None) -> str:
        place = self.place(name, me, you)
        return f"{wording.at(name).split(' ', 1)[0]} {place}" if place else ""

    def possessed(self, called: str) -> str:
        return f"{called}'s"

    def pronouns(self, pronoun: str) -> Slots:
        if pronoun not in {"she", "he"}:
            return {}
        return {"he": pronoun, "him": wording.OBJECT[pronoun], "his": wording.POSSESSIVE[pronoun]}

    def mentions(self, text: str, name: str, called: str) -> bool:
        return wording.mentions(text, name, called)

    def names(self, text: str, name: str, called: str) -> bool:
        return called.lower() in words(text) or name.lower() in text.lower()

    def addressed(self, text: str, name: str, called: str) -> str:
        return wording.addressed(text, name, called)

    def addresses(self, text: str) -> bool:
        return " you" in f" {text}"

    def taken(self, doing: str, pronoun: str, person: str) -> str:
        return wording.taken(doing, pronoun, person)

    def as_oneself(self, message: str) -> str:
        for pattern, mine in _AS_ONESELF:
            message = pattern.sub(mine, message)
        return message

    def is_own(self, line: str) -> bool:
        return bool(_OWN.search(line))

    def first_person(self, me: Speaker, text: str) -> list[str]:
        return [
            made
            for sentence in _SENTENCES.split(text.strip())
            if sentence
            for made in [_first_person(me, sentence)]
            if made
        ]

    def label(self, me: Speaker, label: str) -> str:
        return wording.taken(label, me.pronoun, "my")

    def is_mine(self, label: str) -> bool:
        if _ANOTHERS.search(label):
            return False
        first, head = label.split(" ", 1)[0], re.split(r" (?:who|of|with|on|in|from|to|by|and|at|that)\b", label)[0]
        return head.split()[-1].lower() in word_list("en").relation | _MINE or first.endswith("est")

    def many(self, names: Sequence[str]) -> str:
        return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)

    def noun_phrase(self, text: str, subject: str = "") -> str:
        return wording.noun_phrase(text, subject)

    def with_article(self, subject: str) -> str:
        return wording.with_article(subject)

    def a(self, phrase: str) -> str:
        first = phrase.split(" ", 1)[0].lower()
        return phrase if first in _DETERMINED or not phrase else f"a {phrase}"

    def bare(self, topic: str) -> str:
        return wording.bare(topic)

    def turned(self, topic: str, my: str = "your", your: str = "my") -> str:
        return wording.turned(topic, my, your)

    def may_be_yours(self, topic: str) -> bool:
        return topic.startswith("your ")

    def is_common(self, topic: str) -> bool:
        return topic.startswith("the ")

    def is_news(self, topic: str) -> bool:
        return topic.startswith("the ") and " " in topic[4:]

    def both(self, topics: list[str]) -> str:
        return " and ".join(topics)

    def topic(self, text: str) -> str:
        words = re.sub(r"^(?:about|of|that|any) ", "", wording.lowered(text.strip()))
        return re.sub(r"\b(you|yourself|your|my)\b", lambda found: _MINE_AND_YOURS[found[0]], words)

    def is_doing(self, text: str) -> bool:
        return text.split(" ", 1)[0].endswith("ing")

    def asks_yes(self, prompt: str) -> bool:
        if "?" not in prompt:
            return False
        clauses = [words(clause) for clause in re.split(r"[,:;]", prompt)]
        starts = [clause[0] for clause in clauses if clause]
        return any(start in _ASKS_YES for start in starts) and _ASKS_WHAT.isdisjoint(starts)

    def sides(self, prompt: str) -> tuple[str, str] | None:
        if "?" not in prompt or re.search(r"\bor not\b", prompt):
            return None
        left, joined, right = prompt.rstrip(" ?.!").rpartition(" or ")
        right_words = right.split()
        while len(right_words) > 1 and right_words[-1].lower() in _TRAILING:
            right_words.pop()
        left_words = re.split(r"[,:;]", left)[-1].split()
        count = len(right_words)
        if not joined or count > 4 or len(left_words) < count:
            return None
        a, b = " ".join(left_words[-count:]), " ".join(right_words)
        return (a if a.isupper() else a[:1].lower() + a[1:], b) if count < len(left_words) else (a.lower(), b)

    def doing(self, doing: str) -> Slots:
        parts = doing.split(" ")
        return {"doing": doing, "short": doing if len(parts) <= 5 and not _LONG & set(parts) else ""}

    def busy(self, me: Speaker, doing: str, *, own: bool = True) -> str:
        doing = wording.lowered(doing.strip().rstrip("."))
        if own:
            # Nobody is doing anything to `me`: such a pronoun is somebody else's.
            doing = re.sub(r"\bme\b", _OBJECTS.get(me.pronoun, "them"), wording.taken(doing, me.pronoun, "my"))
        doing = speech_of_me(doing, me)
        first = doing.split(" ", 1)[0]
        return (
            doing if first.endswith("ing") or first in {"asleep", "awake", "at", "in", "on"} else f"busy with {doing}"
        )

    def gerund(self, phrase: str) -> str:
        return wording.gerund(phrase)

    def goal(self, me: Speaker, goal: str) -> str:
        goal = goal.strip().rstrip(".")
        goal = goal[3:] if goal.lower().startswith("to ") else goal
        return speech_of_me(wording.taken(wording.lowered(goal), me.pronoun, "my"), me)

    def intended(self, text: str, name: str) -> str:
        found = _INTENDS.search(text) if text.startswith(name) else None
        if found is None or _OF_OTHERS.search(found.group(1)):
            return ""
        return "" if found.group(1).startswith(("be ", "have ", "know ")) else wording.gerund(found.group(1))

    def commanded(self, text: str) -> str:
        from_words = text.strip().rstrip(".!?").split(" ")
        while from_words and from_words[0].lower().strip(",") in LEADS_IN:
            from_words = from_words[1:]
        if not from_words or not from_words[0].isalpha() or from_words[0].lower() in NO_VERBS:
            return ""
        phrase = " ".join([from_words[0].lower(), *from_words[1:]])
        return (phrase if phrase.split(" ")[0].endswith("ing") else wording.gerund(phrase))[:110]

    def state(self, words: str, minutes_ago: int) -> Slots:
        first, _, rest = words.partition(" ")
        return {
            "words": words,
            "still": f"{first} still {rest}" if first in {"is", "are"} and minutes_ago >= 30 else words,
        }

    def why(self, sentence: str) -> str:
        return wording.lowered(sentence.strip().rstrip("."))

    def told(self, sentence: str) -> str:
        return wording.lowered(wording.past(sentence))

    def reported(self, quote: str, pronoun: str, topic: str) -> str:
        return wording.reported(quote, pronoun, topic)

    def deed(self, text: str, me: Speaker) -> str:
        return wording.deed(text, me.called, me.pronoun)

    def sentences(self, doing: str, called: str) -> tuple[str, ...]:
        return wording.sentences(doing, called)

    def quotable(self, quote: str, topic: str) -> str:
        return wording.quotable(quote, topic)


@lru_cache(maxsize=1024)
def _one_of(phrases: frozenset[str]) -> re.Pattern[str]:
    """Tells whether a text between spaces has one of the phrases."""
    return re.compile(f" (?:{'|'.join(sorted(map(re.escape, phrases)))}) ")


_MINE_AND_YOURS = {"you": "me", "yourself": "myself", "your": "my", "my": "your"}
_COUNTS = re.compile(
    r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|twenty|thirty|forty|fifty|hundred|"
    r"thousand|million|once|twice|every)\b",
    re.IGNORECASE,
)


def _part(hour: int) -> str:
    return part_at(hour, _PARTS) if hour >= 5 else "night"


def _days_said(days: int, moment: str) -> int:
    """Returns the days ago as one says them: after midnight the day before is still today."""
    return days - 1 if days == 1 and datetime.fromisoformat(moment).hour < 4 else days


_DAYS = weekdays("en")
_NUMBERS = {1: "one", 2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight", 9: "nine"}
_PARTS = {"morning": 12, "afternoon": 18, "evening": 22, "night": 24}
_SPANS = {0: "today", 1: "yesterday", -1: "tomorrow"}
_ANOTHERS = re.compile(r" of (?:an?|the|his|her|my|their)\b")
"""In a label that says to whom somebody belongs: `granddaughter of a customer`."""
_MINE = listed("neighbour regular customer patient opponent housemate")
_DETERMINED = listed("a an the my your his her their our") | {"best"}


def speech_of_me(text: str, me: Speaker) -> str:
    """Returns a text in which the character's own name is turned to `me` and `my`."""
    for name in (me.name, me.called):
        if name and name in text:
            text = re.sub(rf"\b{re.escape(name)}'s\b", "my", text)
            text = re.sub(rf"\b{re.escape(name)}\b", "me", text)
    return text


def _first_person(me: Speaker, sentence: str) -> str:
    """Returns a sentence about the character in the first person; empty if it would not read well."""
    subject = wording.SUBJECT.get(me.pronoun, "they")
    names = "|".join(re.escape(one) for one in sorted({me.name, me.called}, key=len, reverse=True))
    text = re.sub(rf"^(?:(?:Dr|Mr|Mrs|Ms) )?(?:{names})'s\b", wording.POSSESSIVE.get(me.pronoun, "their"), sentence)
    text = re.sub(rf"^(?:(?:Dr|Mr|Mrs|Ms) )?(?:{names})\b", subject, text)
    if subject == "they":  # `Wren runs` is `they run`
        text = re.sub(rf"^they ({'|'.join(sorted(_THIRD_PERSON))})\b", lambda hit: f"they {_first_form(hit[1])}", text)
    text = re.sub(rf"\b(?:{names})\b(?='s)", "", text).replace(" 's ", " my ")
    text = re.sub(rf"(?<=[a-z,;] )(?:{names})(?= (?:{'|'.join(sorted(_THIRD_PERSON))}|\w+ed)\b)", subject, text)
    text = re.sub(rf"\b(?:{names})\b", "me", text)
    text = re.sub(r"^(She|He|They|Her|His|Their)\b", lambda found: found[0].lower(), text)
    turned = wording.taken(text, me.pronoun, "my")
    turned = _OWN_OBJECT.sub(lambda found: f"{found[1]}{_OBJECTS.get(me.pronoun, 'them')}", turned)
    if turned != text:
        turned = _COORDINATE.sub(lambda found: f"{found[1]}{found[2] or ''}{_first_form(found[3])}", turned)
    # `they mend … and sweep` needs nothing.
    return turned[:1].upper() + turned[1:]


_OBJECTS = {"she": "her", "he": "him"}
_OWN_OBJECT = re.compile(r"(\bI (?:[a-z]+ ){0,8}?(?:with|for|into|about|to|of) )me\b")
"""`I ought to talk with me`: one who speaks of oneself says `myself`, so this is somebody else."""
_COORDINATE = re.compile(
    rf"((?:,|\band|\bbut|\bor|\bthen) )((?:now|then|also|never|always|still) )?({'|'.join(sorted(_THIRD_PERSON))})\b"
)


def _first_form(verb: str) -> str:
    return wording._agreeing(verb, 0, many=False)  # pyright: ignore[reportPrivateUsage]


GRAMMAR = English()
