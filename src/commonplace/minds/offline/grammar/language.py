"""What differs between the languages of the offline mind: one value per language holds it, and `language()` finds it.

The rules of talk and the grammar engine are shared. A language names things and places, tells the time, turns words
from one mouth to another, and gives the slots that its templates have for a doing, a state or a report.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Protocol

from commonplace.minds.notes import Person, Who
from commonplace.minds.offline.grammar import english, reporting, speech
from commonplace.minds.offline.grammar.korean import Korean
from commonplace.text import words

Slots = Mapping[str, str]


class Language(Protocol):
    """How one language says what the rules have decided."""

    # ── text ──

    def levelled(self, template: str, level: str) -> str:
        """A template at a speech level; where the language has no levels, as it is."""
        ...

    def said(self, text: str, level: str) -> str:
        """An author's sentence at a speech level."""
        ...

    def leads_in(self, text: str) -> bool:
        """Whether an author's sentences ask for attention themselves, so that nothing need be put before them."""
        ...

    def spelt_out(self, template: str) -> str:
        """A template as a formal speaker would say it."""
        ...

    def joined(self, text: str) -> str:
        """A filled template with its particles decided."""
        ...

    def finished(self, text: str) -> str:
        """A whole line: blanks, capitals, articles, particles."""
        ...

    def lowered(self, text: str) -> str:
        """A sentence as the end of another one."""
        ...

    def length(self, text: str) -> int:
        """How long a line is, in letters of English."""
        ...

    def occurs(self, phrases: Iterable[str], text: str) -> bool:
        """Whether one of the phrases is said in the text."""
        ...

    def in_order(self, text: str) -> tuple[str, ...]:
        """The words of a text as word lists have them, in order."""
        ...

    # ── time and place ──

    def when(self, moment: str, minutes_ago: int) -> str:
        """`this morning`, by an ISO moment and minutes."""
        ...

    def clock(self, time: str) -> str:
        """`HH:MM` as it is said."""
        ...

    def named(self, name: str) -> str:
        """A thing or a place inside a sentence."""
        ...

    def at(self, name: str) -> str:
        """`at the workshop`."""
        ...

    def owned(self, text: str, me: Who, you: Person) -> str:
        """A text as these two say it of what belongs to one of them: `Ines's father` → `your father`."""
        ...

    def place(self, name: str, me: Who, you: Person) -> str:
        """A place as these two call it: `my flat`."""
        ...

    def at_place(self, name: str, me: Who, you: Person) -> str:
        """`in my flat`; empty for no place."""
        ...

    # ── people ──

    def level(self, you: Person) -> str:
        """The speech level to this hearer; empty where the language has one only."""
        ...

    def vocative(self, you: Person) -> str:
        """What one calls the hearer."""
        ...

    def third(self, called: str, level: str) -> str:
        """Somebody spoken of, to a hearer of this level."""
        ...

    def pronouns(self, pronoun: str) -> Slots:
        """Slots `he`, `him` and `his`, where a pronoun says something."""
        ...

    def him(self, pronoun: str) -> str:
        """Somebody as the object of a sentence, by a pronoun."""
        ...

    def theirs(self, topics: str, pronoun: str) -> str:
        """What is the hearer's in a talk, in a summary of it: `your roof` → `his roof`."""
        ...

    def mentions(self, text: str, name: str, called: str) -> bool:
        """Whether somebody's name occurs."""
        ...

    def names(self, text: str, name: str, called: str) -> bool:
        """Whether a thought names somebody, in any case of letters."""
        ...

    def addressed(self, text: str, name: str, called: str) -> str:
        """A text with somebody's name turned to `you`; empty where that is not possible."""
        ...

    def addresses(self, text: str) -> bool:
        """Whether a text says `you`."""
        ...

    def taken(self, doing: str, pronoun: str, person: str) -> str:
        """What somebody does in their own words (`my`) or to them (`your`)."""
        ...

    def is_own(self, line: str) -> bool:
        """Whether a line speaks of its speaker."""
        ...

    # ── topics ──

    def noun_phrase(self, text: str, subject: str = "") -> str:
        """What a text is about; empty when nothing in it can be named."""
        ...

    def with_article(self, subject: str) -> str:
        """A subject as it is named in a sentence."""
        ...

    def bare(self, topic: str) -> str:
        """A topic without article."""
        ...

    def turned(self, topic: str, my: str = "your", your: str = "my") -> str:
        """A topic in another's words: `my roof` → `your roof`."""
        ...

    def may_be_yours(self, topic: str) -> bool:
        """Whether a topic may belong to the hearer."""
        ...

    def is_common(self, topic: str) -> bool:
        """Whether a topic belongs to nobody in particular."""
        ...

    def is_news(self, topic: str) -> bool:
        """Whether a topic is specific enough for something that everybody speaks of."""
        ...

    def both(self, topics: list[str]) -> str:
        """Topics in a row."""
        ...

    # ── doings, states, reports ──

    def is_doing(self, text: str) -> bool:
        """Whether a text has the form of a doing that the templates take."""
        ...

    def head(self, doing: str) -> str:
        """The word of a doing that says what is done."""
        ...

    def doing(self, doing: str, key: str = "doing") -> Slots:
        """The slots of a doing, the doing itself under `key`."""
        ...

    def gerund(self, phrase: str) -> str:
        """A command or a wish as a doing."""
        ...

    def intended(self, text: str, name: str) -> str:
        """The doing that somebody intends, by a sentence about them; empty for none."""
        ...

    def commanded(self, text: str) -> str:
        """The doing that a thought commands: `Go to the canal.` → `going to the canal`; empty for none."""
        ...

    def sky(self, sky: str) -> str:
        """The weather in a sentence, by its id."""
        ...

    def going(self, do: str) -> str:
        """The last word of the event that a doing leads to; empty for any other."""
        ...

    def state(self, words: str, minutes_ago: int) -> Slots:
        """Slots `words` and `still` for what a thing is like."""
        ...

    def why(self, sentence: str) -> str:
        """A refusal inside a sentence."""
        ...

    def told(self, sentence: str) -> str:
        """A report in the present, told afterwards; empty where that is not possible."""
        ...

    def reported(self, quote: str, pronoun: str, topic: str) -> str:
        """What somebody said of themselves on a topic, passed on; empty when it would not read well."""
        ...

    def quotable(self, quote: str, topic: str) -> str:
        """A sentence on a topic that may be repeated word for word; empty when none can stand alone."""
        ...

    def meeting(self, event: str) -> tuple[str, ...]:
        """Words of a farewell until an event."""
        ...

    def possessed(self, called: str) -> str:
        """`Jun's`."""
        ...


NO_VERBS = english.listed(
    "a an the my your his her its our their we he she they it there this that who what why when where how if did is "
    "are was were somebody someone everybody everyone nobody anybody people not never don't"
)
"""Words that begin a thought that is not a command: `Somebody should oil the door`."""
LEADS_IN = english.listed(
    "you should must please now just maybe perhaps i i'll i'd you'd need want have ought had better to could would "
    "can might will shall really let's let me"
)
"""Words before the verb of a command: `You should go to the canal`."""
_OWN = re.compile(r"\b(I|I've|I'm|I'd|my|me)\b")
_LONG = frozenset({"which", "that", "who", "until", "as", "while", "when", "before", "after", "he", "she", "they", "I"})
_INTENDS = re.compile(
    r"\b(?:means|wants|plans|hopes|needs|has|intends|promised|still has|still needs) to ([a-z]+ [^.,;]{3,70})"
)
_THIRD_PERSON = re.compile(r"\b(he|she|they|his|her|their|him|them|him|somebody|one day)\b")


class English:
    """English."""

    def levelled(self, template: str, level: str) -> str:
        del level
        return template

    def said(self, text: str, level: str) -> str:
        del level
        return text

    def leads_in(self, text: str) -> bool:
        del text
        return False

    def spelt_out(self, template: str) -> str:
        return english.spelt_out(template)

    def joined(self, text: str) -> str:
        return text

    def finished(self, text: str) -> str:
        return english.polished(text)

    def lowered(self, text: str) -> str:
        return english.lowered(text)

    def length(self, text: str) -> int:
        return len(text)

    def occurs(self, phrases: Iterable[str], text: str) -> bool:
        one_of = frozenset(phrases)
        return bool(one_of) and _one_of(one_of).search(f" {' '.join(words(text))} ") is not None

    def in_order(self, text: str) -> tuple[str, ...]:
        return words(text)

    def when(self, moment: str, minutes_ago: int) -> str:
        return english.when(moment, minutes_ago)

    def clock(self, time: str) -> str:
        return english.clock(time)

    def named(self, name: str) -> str:
        return english.named(name)

    def at(self, name: str) -> str:
        return english.at(name)

    def owned(self, text: str, me: Who, you: Person) -> str:
        for called, own in ((me.called, "my"), (you.called, "your")):
            text = re.sub(rf"\b{re.escape(called)}'s (?=\w)", f"{own} ", text)
        return text

    def place(self, name: str, me: Who, you: Person) -> str:
        return self.owned(english.named(name), me, you)

    def at_place(self, name: str, me: Who, you: Person) -> str:
        place = self.place(name, me, you)
        return f"{english.at(name).split(' ', 1)[0]} {place}" if place else ""

    def level(self, you: Person) -> str:
        del you
        return ""

    def vocative(self, you: Person) -> str:
        return you.called

    def third(self, called: str, level: str) -> str:
        del level
        return called

    def pronouns(self, pronoun: str) -> Slots:
        if pronoun not in {"she", "he"}:
            return {}
        return {"he": pronoun, "him": speech.OBJECT[pronoun], "his": speech.POSSESSIVE[pronoun]}

    def him(self, pronoun: str) -> str:
        return speech.OBJECT.get(pronoun, "them")

    def theirs(self, topics: str, pronoun: str) -> str:
        return topics.replace("your ", f"{speech.POSSESSIVE.get(pronoun, 'their')} ")

    def mentions(self, text: str, name: str, called: str) -> bool:
        return speech.mentions(text, name, called)

    def names(self, text: str, name: str, called: str) -> bool:
        return called.lower() in words(text) or name.lower() in text.lower()

    def addressed(self, text: str, name: str, called: str) -> str:
        return speech.addressed(text, name, called)

    def addresses(self, text: str) -> bool:
        return " you" in f" {text}"

    def taken(self, doing: str, pronoun: str, person: str) -> str:
        return speech.taken(doing, pronoun, person)

    def is_own(self, line: str) -> bool:
        return bool(_OWN.search(line))

    def noun_phrase(self, text: str, subject: str = "") -> str:
        return speech.noun_phrase(text, subject)

    def with_article(self, subject: str) -> str:
        return speech.with_article(subject)

    def bare(self, topic: str) -> str:
        return speech.bare(topic)

    def turned(self, topic: str, my: str = "your", your: str = "my") -> str:
        return speech.turned(topic, my, your)

    def may_be_yours(self, topic: str) -> bool:
        return topic.startswith("your ")

    def is_common(self, topic: str) -> bool:
        return topic.startswith("the ")

    def is_news(self, topic: str) -> bool:
        return topic.startswith("the ") and " " in topic[4:]

    def both(self, topics: list[str]) -> str:
        return " and ".join(topics)

    def is_doing(self, text: str) -> bool:
        return text.split(" ", 1)[0].endswith("ing")

    def head(self, doing: str) -> str:
        return doing.split(" ", 1)[0]

    def doing(self, doing: str, key: str = "doing") -> Slots:
        parts = doing.split(" ")
        return {key: doing, "short": doing if len(parts) <= 5 and not _LONG & set(parts) else ""}

    def gerund(self, phrase: str) -> str:
        return english.gerund(phrase)

    def intended(self, text: str, name: str) -> str:
        found = _INTENDS.search(text) if text.startswith(name) else None
        if found is None or _THIRD_PERSON.search(found.group(1)):
            return ""
        return "" if found.group(1).startswith(("be ", "have ", "know ")) else english.gerund(found.group(1))

    def commanded(self, text: str) -> str:
        from_words = text.strip().rstrip(".!?").split(" ")
        while from_words and from_words[0].lower().strip(",") in LEADS_IN:
            from_words = from_words[1:]
        if not from_words or not from_words[0].isalpha() or from_words[0].lower() in NO_VERBS:
            return ""
        phrase = " ".join([from_words[0].lower(), *from_words[1:]])
        return (phrase if phrase.split(" ")[0].endswith("ing") else english.gerund(phrase))[:110]

    def sky(self, sky: str) -> str:
        return sky

    def going(self, do: str) -> str:
        return f"the {do.rpartition(' ')[2]}" if do.startswith("going to the ") else ""

    def state(self, words: str, minutes_ago: int) -> Slots:
        first, _, rest = words.partition(" ")
        return {
            "words": words,
            "still": f"{first} still {rest}" if first in {"is", "are"} and minutes_ago >= 30 else words,
        }

    def why(self, sentence: str) -> str:
        return english.lowered(sentence.strip().rstrip("."))

    def told(self, sentence: str) -> str:
        return english.lowered(english.past(sentence))

    def reported(self, quote: str, pronoun: str, topic: str) -> str:
        return reporting.reported(quote, pronoun, topic)

    def quotable(self, quote: str, topic: str) -> str:
        return reporting.quotable(quote, topic)

    def meeting(self, event: str) -> tuple[str, ...]:
        return f"at {event}", f"until {event}"

    def possessed(self, called: str) -> str:
        return f"{called}'s"


_LANGUAGES: Mapping[str, Language] = {"en": English(), "ko": Korean()}


@lru_cache(maxsize=1024)
def _one_of(phrases: frozenset[str]) -> re.Pattern[str]:
    """Finds whether a text between spaces has one of the phrases."""
    return re.compile(f" (?:{'|'.join(sorted(map(re.escape, phrases)))}) ")


def language(name: str) -> Language:
    """A language by its code; English for one that is not spoken."""
    return _LANGUAGES.get(name, _LANGUAGES["en"])
