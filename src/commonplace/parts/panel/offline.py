"""The panel of the offline mind: a claim, an objection that takes it up, and an answer made of the words of both.

What can be said for and against a subject is in `minds/panel_phrases/themes_*.txt`: noun phrases by theme. The words of
the question lead to a theme; who claims speaks of a gain, who opposes of a cost, and who joins them quotes both and
makes a condition of them. Gains and costs are found again in the answers by their words, so a later answer takes up,
and does not repeat, what was said. Answers of a model, in which none of them occurs, are quoted by the clause that says
most.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from commonplace import languages
from commonplace.languages import known, phrases
from commonplace.languages.ko import morphology as korean
from commonplace.languages.ko.josa import resolved
from commonplace.languages.language import language as spoken_language
from commonplace.memory.analyser import content_words
from commonplace.minds.notes import Recalled, changed
from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.template_grammar import Template, parsed_rules
from commonplace.parts.duet.tasks import LOST_THREAD
from commonplace.parts.panel.task import PanelInput, PanelOutput, asked_of
from commonplace.text import clean, shortened, words

LONGEST_QUESTION = 120
"""Characters of the question that are repeated."""
LONGEST_POINT = 90
"""Characters of somebody's words that are quoted."""
GENERAL = "general"
YES_NO, CHOICE, OPEN = "yesno", "choice", "open"


def panel_turn(given: PanelInput, dice: Dice) -> PanelOutput:
    """Returns a persona's answer: a few sentences, and the numbers of the past answers it mentions."""
    lost = phrases(given.who.language, "lines")[
        LOST_THREAD
    ]  # a mind that failed has said nothing that could be taken up
    speaker = _Speaker(changed(given, lines=tuple(line for line in given.lines if line.text != lost)), dice)
    main = {"claim": speaker.claim, "oppose": speaker.oppose, "join": speaker.join}[given.stance]()
    example, cited = speaker.example()
    sentences = [
        speaker.say("calm") if given.injection == "calm" else "",
        *(speaker.say("remark", remark=shortened(remark, LONGEST_QUESTION)) for remark in given.remarks[-1:]),
        main[0],
        example,
        *main[1:],
        speaker.say(f"liven.{given.stance}") if given.injection == "liven" else "",
    ]
    return PanelOutput(answer=resolved(" ".join(filter(None, sentences))), because=cited)


class _Speaker:
    """One turn: what was said, what the speaker can say, and the words for it."""

    def __init__(self, given: PanelInput, dice: Dice) -> None:
        self.given = given
        self.language = known(given.who.language)
        self.phrases = phrases_of(self.language)
        self._dice = dice
        self._rules = _rules(self.language)
        self.matter = matter(given.seed_prompt, self.language)
        self.mine = [line.text for line in given.lines if line.speaker == given.who.id]
        self.others = {line.speaker: line for line in given.lines if line.speaker != given.who.id}
        """The latest line of each other persona, in the order in which they first spoke."""
        self.is_last = given.depth >= given.depths > 1

    # ── the three stances ───────────────────────────────────────────────────────────────────────────────────────────

    def claim(self) -> list[str]:
        """Says what speaks for it, and why the speaker says so."""
        if not self.mine:
            return [self.say(f"claim.{self.matter.kind}", gain=self._fresh("+")), self._reason("claim")]
        clause, join = self._condition()
        kind = "final" if self.is_last and clause else "deeper" if clause else "again"
        return [self.say(f"claim.{kind}", gain=self._fresh("+"), mine=self._old_of_mine("+"), clause=clause, join=join)]

    def oppose(self) -> list[str]:
        """Says what speaks against the latest claim, in its own words."""
        line = next(iter(self.others.values()), None)
        theirs, them = (self._point(line.text, "+"), line.called) if line else (self.matter.shown, "")
        slots = {"theirs": theirs, "them": them, "cost": self._fresh("-")}
        if not self.mine:
            kind = self.matter.kind
            return [self.say(f"oppose.{kind}", **slots), self._reason("oppose"), self.say(f"oppose.verdict.{kind}")]
        clause, join = self._condition()
        kind = "final" if self.is_last and clause else "deeper" if clause else "again"
        return [self.say(f"oppose.{kind}", **slots, mine=self._old_of_mine("-"), clause=clause, join=join)]

    def join(self) -> list[str]:
        """Quotes both sides and says what follows from both."""
        lines = list(self.others.values())
        if len(lines) < 2:
            return self.claim()
        one, other = lines[0], lines[-1]
        gain, cost = self._point(one.text, "+"), self._point(other.text, "-")
        old_gain, old_cost = self._old_of(one.speaker, "+", gain), self._old_of(other.speaker, "-", cost)
        slots = {
            "one": one.called, "other": other.called, "gain": gain, "cost": cost,
            "oldgain": old_gain, "oldcost": old_cost, "way": self.say("way", gain=gain, cost=cost),
        }  # fmt: skip
        if self.is_last and old_gain and old_cost:
            return [self.say(f"join.final.{self.matter.kind}", **slots)]
        if self.mine and old_gain and old_cost:
            return [self.say("join.deeper", **slots)]
        return [self.say("join.first", **slots), self.say(f"join.condition.{self.matter.kind}", **slots)]

    def example(self) -> tuple[str, tuple[int, ...]]:
        """Returns a sentence on one of the past answers, another one in each cycle, and its number."""
        place = self.given.depth - 1
        if place >= len(self.given.recalled):
            return "", ()
        past = self.given.recalled[place]
        asked = shortened(asked_of(past.happening), LONGEST_QUESTION)
        rule = "example" if place == 0 or asked not in " ".join(self.mine) else "example.again"
        return self.say(rule, old=self._remembered(past), asked=asked), (past.id,)

    # ── words ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def say(self, rule: str, **slots: str) -> str:
        """Returns a wording of a rule; the next one in each cycle, from one that is the speaker's own."""
        say = phrases(self.language, "panel")
        yes, no = (say["no"], say["yes"]) if self.matter.is_reversed else (say["yes"], say["no"])
        given = {"prompt": self.matter.shown, "a": self.matter.a, "b": self.matter.b, "yes": yes, "no": no, **slots}
        have = {name for name, value in given.items() if value}
        usable = [template for template in self._rules.get(rule, ()) if template.needs <= have]
        if not usable:
            return ""
        first = self._dice.steady().below(len(usable), rule, self.given.seed_prompt)
        return _filled(usable[(first + self.given.depth - 1) % len(usable)], given)

    def _reason(self, stance: str) -> str:
        goals, traits = self.given.who.goals, self.given.who.traits
        return self.say(f"{stance}.reason", goal=goals[0] if goals else "", trait=traits[0] if traits else "")

    def _fresh(self, sign: str) -> str:
        """Returns a gain (+) or cost (-) of the question's themes that neither the panel nor past answers named."""
        named = " ".join((*(line.text for line in self.given.lines), *(past.text for past in self.given.recalled)))
        pools = [self.phrases.themes[theme][sign] for theme in self.matter.themes]
        shuffled = [one for pool in pools for one in self._dice.shuffled(pool, sign, self.given.seed_prompt)]
        unused = [one for one in shuffled if one not in named]
        return (unused or shuffled)[0]

    def _point(self, text: str, sign: str) -> str:
        """Shortens a line: to the last gain or cost it names that was not named before it, else to a clause."""
        place = next((at for at, line in enumerate(self.given.lines) if line.text == text), len(self.given.lines))
        before = " ".join(line.text for line in self.given.lines[:place])
        own, found = (self.phrases.in_text(part, sign) for part in (_QUOTED.sub(" ", text), text))
        fresh = [one for one in own if one not in before]
        return (fresh or own or found or [fullest_clause(text)])[-1]

    def _old_of_mine(self, sign: str) -> str:
        return self._old_of(self.given.who.id, sign, "") or fullest_clause(self.mine[-1])

    def _old_of(self, speaker: str, sign: str, but: str) -> str:
        """Returns what somebody brought up before, the latest first; empty if there is nothing but `but`."""
        brought: list[str] = []
        known: list[str] = []
        for line in self.given.lines:
            found = [one for one in self.phrases.in_text(line.text, sign) if one not in known]
            known += found
            brought += found if line.speaker == speaker else []
        return next((one for one in reversed(brought) if one != but), "")

    def _condition(self) -> tuple[str, str]:
        """Returns the latest condition that somebody else has set, and who; empty without one."""
        for line in reversed(self.given.lines):
            if line.speaker != self.given.who.id and (clause := condition_in(line.text)):
                return clause, line.called
        return "", ""

    def _remembered(self, past: Recalled) -> str:
        text = past.happening.quote or past.text
        found = condition_in(text) if self.given.stance == "join" else ""
        known = self.phrases.in_text(text, "-" if self.given.stance == "oppose" else "+")
        return found or (known[-1] if known else fullest_clause(text))


def _filled(template: Template, slots: Mapping[str, str]) -> str:
    return "".join(slots[piece] if index % 2 else piece for index, piece in enumerate(template.pieces))


# ── what others have said ────────────────────────────────────────────────────────────────────────────────────────────


_QUOTED = re.compile(r"[“\"][^”\"]*[”\"]|‘[^’]*’")
_CLAUSES = re.compile(r"[,;:.!?…–—。]+\s*")
_CONDITION = re.compile(r": ([^:“”.]{8,200})(?:\.|$)")


def condition_in(text: str) -> str:
    """Returns the condition an answer makes: what stands after its last colon, to the end of the sentence."""
    found = _CONDITION.findall(text)
    return shortened(found[-1].strip(), LONGEST_POINT * 2) if found else ""


def fullest_clause(text: str) -> str:
    """Returns the clause of a text that says most, without what it quotes itself."""
    clauses = [clause.strip() for clause in _CLAUSES.split(_QUOTED.sub(" ", text)) if clause.strip()]
    best = max(clauses, key=lambda clause: min(len(content_words(clause)), 8), default=text)
    return shortened(clean(best), LONGEST_POINT)


# ── the question ─────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Matter:
    """A question as the panel takes it."""

    kind: str
    """`yesno`, `choice` or `open`."""
    shown: str
    """As it is repeated."""
    themes: tuple[str, ...]
    """The themes its words lead to, the closest first; `general` is the last."""
    a: str = ""
    b: str = ""
    """The two sides of a choice."""
    is_reversed: bool = False
    """Whether a yes would speak against the thing: `Is it wrong to …?`"""


def matter(prompt: str, language: str) -> Matter:
    """Finds the sort of a question by its words."""
    shown = shortened(clean(prompt).replace("“", "'").replace("”", "'").replace('"', "'"), LONGEST_QUESTION)
    spoken, say = spoken_language(language), phrases(language, "panel")
    if shown[-1:].isalnum() and not spoken.has_particles:
        shown += "."
    sides = spoken.sides(prompt)
    themes = phrases_of(language).themes_of(prompt, " ".join(sides or ()))
    if sides:
        return Matter(CHOICE, shown, themes, *sides)
    asks = spoken.asks_yes(prompt)
    is_wrong = spoken.occurs(say["wrong"].split(), prompt)
    return Matter(YES_NO if asks else OPEN, shown, themes, is_reversed=asks and is_wrong)


# ── the phrases ──────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Phrases:
    """Gains and costs by theme, and the words that lead to a theme."""

    language: str
    themes: Mapping[str, Mapping[str, tuple[str, ...]]]
    keys: Mapping[str, frozenset[str]] = field(repr=False)
    for_bans: frozenset[str] = frozenset()
    """Themes whose gains also speak for giving a thing up."""

    def themes_of(self, prompt: str, sides: str = "") -> tuple[str, ...]:
        """Returns the two themes most words of a question lead to, then the general one.

        Words of its `sides` count more.
        """
        about = content_words(prompt) | frozenset(words(prompt))
        bans = spoken_language(self.language).occurs(phrases(self.language, "panel")["bans"].split(), prompt)
        named = frozenset(words(sides))
        counts = {
            theme: sum((3 if _leads(word, named) else 1) * _leads(word, keys) for word in about)
            for theme, keys in self.keys.items()
            if theme in self.for_bans or not bans
        }
        best = sorted((theme for theme, count in counts.items() if count), key=lambda theme: -counts[theme])
        return (*best[:2], GENERAL)

    def in_text(self, text: str, sign: str) -> list[str]:
        """Returns the gains (+) or costs (-) that a text names, in the order they occur."""
        every = dict.fromkeys(one for theme in self.themes.values() for one in theme[sign])
        return sorted((one for one in every if one in text), key=text.index)


def _leads(word: str, keys: frozenset[str]) -> bool:
    if word in keys:
        return True
    is_korean = "가" <= word[0] <= "힣"
    return is_korean and (
        korean.without_particle(word) in keys or any(len(key) > 1 and word.startswith(key) for key in keys)
    )


@cache
def phrases_of(language: str) -> Phrases:
    """Returns what can be said for and against a subject."""
    text = languages.file_text(language, "themes.txt")
    themes: dict[str, dict[str, tuple[str, ...]]] = {}
    keys: dict[str, frozenset[str]] = {}
    for_bans: set[str] = set()
    for block in f"\n{text}".split("\n= ")[1:]:
        head, *rows = block.strip().split("\n")
        name, _, listed = head.partition(":")
        if name.endswith(" *"):
            name = name.removesuffix(" *")
            for_bans.add(name)
        themes[name] = {sign: tuple(row[2:] for row in rows if row.startswith(f"{sign} ")) for sign in "+-"}
        keys[name] = frozenset(listed.split()) | content_words(listed)
    return Phrases(language, themes, keys, frozenset(for_bans))


@cache
def _rules(language: str) -> Mapping[str, Sequence[Template]]:
    return parsed_rules(languages.file_text(language, "panel.txt"))
