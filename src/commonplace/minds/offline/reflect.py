"""Reflect: questions worth asking, conclusions over what was recalled, and the view of an acquaintance.

A conclusion words a pattern that holds over two memories or more and restates none of them. A lesson is a conclusion
from one's own past of today. It names what happened and with whom, so it is true of this day and not of every day.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import UnionType

from commonplace.languages.language import Language
from commonplace.languages.language import language as spoken_language
from commonplace.minds.notes import NO_PAST, Past, PastNote, Person, Recalled, Who
from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.hear import Heard, content, heard, remembered
from commonplace.minds.offline.template_grammar import Grammar, grammar
from commonplace.minds.tasks import (
    Insight,
    InsightsInput,
    InsightsOutput,
    QuestionsInput,
    QuestionsOutput,
    RelateInput,
    RelateOutput,
)
from commonplace.minds.tasks.reflect import INSIGHTS_ASKED, QUESTIONS_ASKED
from commonplace.world.happenings import (
    Absent,
    Came,
    Changed,
    Concluded,
    Did,
    Failed,
    Happening,
    Planned,
    Said,
    Seed,
    Seen,
    Sky,
    Talked,
    Tried,
)

TODAY = 20 * 60
"""Minutes ago up to which something belongs to the day one thinks about."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """Something that holds over several memories."""

    kind: str
    """The rule `insight.…` that words it."""
    ids: tuple[int, ...]
    slots: Mapping[str, str]
    about: str
    strength: int
    place: str = ""
    """Id of the area where acting on it leads."""
    extra: Mapping[str, str] = field(default_factory=dict[str, str])


def lessons(past: Past, people: Mapping[str, Person], spoken: Language) -> Iterator[Pattern]:
    """Yields lessons from the account of the day."""
    today = [note for note in past.notes if note.minutes_ago <= TODAY]
    yield from _promises(today, people, spoken)
    yield from _exchanges(today, people, spoken)
    yield from _going_round(past.notes, today, spoken)
    yield from _mine(today, spoken)
    yield from _for_once(today, spoken)


def _promises(today: Sequence[PastNote], people: Mapping[str, Person], spoken: Language) -> Iterator[Pattern]:
    """Yields a promise kept or broken."""
    for note in today:
        event = _named(note, spoken)
        if note.kind in {"kept", "broke"} and event and len(note.because) >= 1:
            ids = _rests_on([note, *(one for one in today if one.other == note.other)])
            yield Pattern(note.kind, ids, {**_of(note, people, spoken), "event": event}, note.other, 10)


def _exchanges(today: Sequence[PastNote], people: Mapping[str, Person], spoken: Language) -> Iterator[Pattern]:
    """Yields exchanges: somebody told me of one thing, and I told them of another."""
    told = {note.other: note for note in reversed(today) if note.kind == "told" and _named(note, spoken)}
    heard = {note.other: note for note in reversed(today) if note.kind == "heard" and _named(note, spoken)}
    for other, theirs in sorted(heard.items()):
        mine = told.get(other)
        slots = {**_of(theirs, people, spoken), "topic": _named(theirs, spoken)}
        if mine is not None and spoken.bare(_named(mine, spoken)) != spoken.bare(slots["topic"]):
            ids, topics = _rests_on([theirs, mine]), {"other": _named(mine, spoken)}
            yield Pattern("exchange", ids, {**slots, **topics}, other, 8 - min(4, theirs.minutes_ago // 240))
        elif theirs.times == 1 and theirs.minutes_ago < TODAY // 2:
            ids = _rests_on([note for note in today if note.other == other])
            yield Pattern("new_subject", ids, slots, other, 5)


def _going_round(notes: Sequence[PastNote], today: Sequence[PastNote], spoken: Language) -> Iterator[Pattern]:
    """Yields a subject of which two or more have spoken to me, one of them today."""
    heard: dict[str, dict[str, PastNote]] = defaultdict(dict)
    for note in notes:
        if note.kind == "heard" and spoken.is_common(_named(note, spoken)):
            heard[note.topic].setdefault(note.called, note)
    fresh = {note.topic for note in today if note.kind == "heard"}
    for topic, tellers in sorted(heard.items()):
        if len(tellers) >= 2 and topic in fresh:
            (first, one), (second, other) = sorted(tellers.items(), key=lambda pair: -pair[1].minutes_ago)[-2:]
            slots = {"x": first, "y": second, "topic": _named(other, spoken)}
            yield Pattern("round", _rests_on([one, other]), slots, topic, 5 + min(3, len(tellers)))


def _mine(today: Sequence[PastNote], spoken: Language) -> Iterator[Pattern]:
    """Yields a subject I have brought up with several people today."""
    told: dict[str, list[PastNote]] = defaultdict(list)
    for note in today:
        if note.kind == "told" and _named(note, spoken):
            told[note.topic].append(note)
    for topic, notes in sorted(told.items()):
        if len(notes) >= 2:
            names = spoken.both([note.called for note in notes[:2]])
            slots = {"xs": names, "topic": _named(notes[0], spoken)}
            yield Pattern("mine", _rests_on(notes), slots, topic, 5 + len(notes))


def _for_once(today: Sequence[PastNote], spoken: Language) -> Iterator[Pattern]:
    """Yields something I did that is not routine."""
    for note in today:
        if note.kind == "did" and spoken.is_doing(note.named) and len(note.because) >= 2:
            yield Pattern("once", note.because, spoken.doing(note.named), note.topic, 6)


def _named(note: PastNote, spoken: Language) -> str:
    """Returns the subject of a row in my words; empty if it cannot be named well."""
    if note.text:
        return spoken.noun_phrase(note.text)
    if note.kind == "heard":
        return spoken.turned(note.named, spoken.possessed(note.called), "my")
    return note.named


def _of(note: PastNote, people: Mapping[str, Person], spoken: Language) -> dict[str, str]:
    person = people.get(note.other)
    return {"x": note.called, **spoken.pronouns(person.pronoun if person else "")}


def _rests_on(notes: Sequence[PastNote]) -> tuple[int, ...]:
    return tuple(sorted({memory for note in notes for memory in note.because}))[:MOST_CITED]


def questions(given: QuestionsInput, dice: Dice) -> QuestionsOutput:
    """Returns three questions: about the two subjects that weigh most, and about the character itself."""
    rules = grammar(given.who.language)
    weights = _subjects(given)
    asked: list[str] = []
    for (kind, subject), _ in weights.most_common(QUESTIONS_ASKED - 1):
        text = rules.say(f"question.{kind}", {"x": subject, "thing": subject, "topic": subject, "place": subject}, dice)
        asked.append(rules.language.finished(text))
    own = dice.shuffled(rules.every("question.own"), "own")
    asked.extend(own[: QUESTIONS_ASKED - len(asked)])
    return QuestionsOutput(questions=tuple(asked))


def _subjects(given: QuestionsInput) -> Counter[tuple[str, str]]:
    """Returns importance added up by subject; insertion order, oldest first, breaks ties."""
    weights: Counter[tuple[str, str]] = Counter()
    for memory in given.recent:
        for subject in subjects(memory, given.who.id, given.who.language):
            weights[subject] += memory.importance
    return weights


def subjects(memory: Recalled, me: str, language: str) -> Iterable[tuple[str, str]]:
    """Yields the subjects of a memory, as (`person`, `thing`, `topic` or `place`, its name in a sentence), without
    `me`."""
    happening, spoken = memory.happening, spoken_language(language)
    if happening.who not in {"", me} and happening.called:
        yield "person", happening.called
    if isinstance(happening, Changed | Failed | Absent) and happening.object_name:
        yield "thing", spoken.named(happening.object_name)
    if isinstance(happening, Said):
        topic = remembered(memory.happening, language).topic
        if spoken.is_common(topic):
            yield "topic", topic
    if isinstance(happening, Seen | Came) and happening.place_name:
        yield "place", spoken.named(happening.place_name)


# ── insights ─────────────────────────────────────────────────────────────────────────────────────────────────────────


MOST_ABOUT_ONE = 2
ENOUGH = 3
"""Insights into what has happened after which nothing general is added."""
GENERAL = frozenset({"cross", "cross_cold", "busy", "past", "mind", "friend", "haunt", "craft", "place", "habit"})
"""Kinds of insight that hold on most days: one of them at most."""
OVERLAP = 0.5
"""Share of an insight's telling words that one cited memory may hold."""
SAME = 0.7
"""Share of its telling words that makes it a repetition of an earlier one."""


def insights(given: InsightsInput, dice: Dice) -> InsightsOutput:
    """Returns at most five conclusions, each of another kind or about somebody else: from what answers the questions,
    then from all that the questions were asked about."""
    rules = grammar(given.who.language)
    answers = tuple(memory for evidence in given.evidence for memory in evidence.recalled)
    known = {memory.id: memory for memory in (*given.recent, *answers)}
    people: tuple[Person, ...] = (*given.known, *given.situation.people)
    found: list[Insight] = []
    tried: set[tuple[str, str]] = set()
    for memories in (_evidence(answers), _evidence(known.values())):
        for pattern in patterns(given.who, memories, people, rules, given.past):
            if len(found) == INSIGHTS_ASKED:
                return InsightsOutput(insights=tuple(found))
            if (pattern.kind, pattern.about) in tried or not _has_room(pattern, found):
                continue
            insight = _worded(pattern, rules, dice)
            if insight is not None and _is_new(insight, known, [*given.earlier, *(one.text for one in found)]):
                tried.add((pattern.kind, pattern.about))
                found.append(insight)
    return InsightsOutput(insights=tuple(found))


def _has_room(pattern: Pattern, found: Sequence[Insight]) -> bool:
    """Tells whether a conclusion of this kind and about this subject may stand beside those found."""
    if pattern.kind in GENERAL and (len(found) >= ENOUGH or any(one.frame["kind"] in GENERAL for one in found)):
        return False
    return sum(1 for one in found if one.about == pattern.about) < MOST_ABOUT_ONE


def _evidence(memories: Iterable[Recalled]) -> list[Recalled]:
    """Returns each memory once, in order, without reflections and plans."""
    seen = {
        memory.id: memory
        for memory in memories
        if not isinstance(memory.happening, Concluded | Planned) and memory.kind != "reflection"
    }
    return [seen[name] for name in sorted(seen)]


def _worded(pattern: Pattern, rules: Grammar, dice: Dice) -> Insight | None:
    slots = _named_once(pattern.slots, rules)
    text = rules.say(f"insight.{pattern.kind}", slots, dice.with_(*pattern.ids))
    if not text:
        return None
    frame = {"kind": pattern.kind, **({"topic": topic} if (topic := pattern.slots.get("topic", "")) else {})}
    addressed = rules.say(f"insight.{pattern.kind}.you", pattern.slots, dice.with_(*pattern.ids))
    wish = rules.say(f"wish.{pattern.kind}", pattern.slots, dice)
    told = rules.say(f"insight.{pattern.kind}.say", slots, dice.with_(*pattern.ids))
    finished = rules.language.finished
    parts = (("you", finished(addressed)), ("say", finished(told)), ("wish", wish), ("place", pattern.place))
    for key, value in (*parts, *_asked_about(rules, pattern)):
        if value:
            frame[key] = value
    return Insight(text=finished(text), because=pattern.ids, about=pattern.about, frame=frame)


def _named_once(slots: Mapping[str, str], rules: Grammar) -> Mapping[str, str]:
    """Returns the slots of a sentence that names somebody; what belongs to them is named by a pronoun, `Jun's roof` →
    `his roof`."""
    owned = f"{rules.language.possessed(slots.get('x', ''))} "
    if "his" not in slots or not slots.get("topic", "").startswith(owned):
        return slots
    return {**slots, "topic": f"{slots['his']} {slots['topic'].removeprefix(owned)}"}


def _asked_about(rules: Grammar, pattern: Pattern) -> list[tuple[str, str]]:
    """Returns the subject that a wish asks about, if it asks."""
    asks = any("{topic}" in one and "{x}" in one for one in rules.every(f"wish.{pattern.kind}"))
    return [("topic", pattern.slots.get("topic", ""))] if asks else []


def _is_new(insight: Insight, known: Mapping[int, Recalled], earlier: Sequence[str]) -> bool:
    own = content(insight.text)
    if not own or len(insight.because) < 2:
        return False
    cited = [known[memory].text for memory in insight.because if memory in known]
    if any(len(own & content(text)) > OVERLAP * len(own) for text in cited):
        return False
    return not any(len(own & content(text)) >= SAME * len(own) for text in earlier)


# ── patterns ─────────────────────────────────────────────────────────────────────────────────────────────────────────


MOST_CITED = 6


def patterns(
    who: Who, memories: Sequence[Recalled], known: Iterable[Person], rules: Grammar, past: Past = NO_PAST
) -> list[Pattern]:
    """Returns all patterns, strongest first."""
    people = {person.id: person for person in known}
    found = [
        *lessons(past, people, rules.language),
        *_haunts(who, memories, people),
        *_friends(who, memories, people),
        *_worries(who, memories, people),
        *_things(memories, rules),
        *_news(memories, rules.language),
        *_shared(who, memories),
        *_habits(who, memories, rules),
        *_pairs(who, memories),
        *_places(who, memories, rules.language),
        *_crossings(who, memories, people),
        *_minds(memories, rules.language),
        *_busy(memories),
    ]
    return sorted(found, key=lambda pattern: (-pattern.strength, pattern.kind, pattern.about, pattern.ids))


def _grouped(
    memories: Iterable[Recalled], kinds: type[Happening] | UnionType, of: Callable[[Happening], str]
) -> dict[str, list[Recalled]]:
    groups: dict[str, list[Recalled]] = defaultdict(list)
    for memory in memories:
        if isinstance(memory.happening, kinds) and (value := of(memory.happening)):
            groups[value].append(memory)
    return groups


def _ids(memories: Iterable[Recalled]) -> tuple[int, ...]:
    return tuple(sorted(dict.fromkeys(memory.id for memory in memories)))[:MOST_CITED]


def _person(who: Who, happening: Happening, people: Mapping[str, Person]) -> dict[str, str]:
    person = people.get(happening.who)
    pronoun = happening.pronoun or (person.pronoun if person else "")
    return {"x": happening.called, **spoken_language(who.language).pronouns(pronoun)}


def _haunts(who: Who, memories: Sequence[Recalled], people: Mapping[str, Person]) -> Iterator[Pattern]:
    """Yields people seen again and again in one place, or at one thing."""
    for other, seen in _grouped(memories, Seen, lambda one: one.who).items():
        if other == who.id:
            continue
        by_place: dict[str, list[Recalled]] = defaultdict(list)
        for memory in seen:
            by_place[memory.happening.place_name].append(memory)
        name, there = max(by_place.items(), key=lambda entry: (len(entry[1]), entry[0]))
        slots, spoken = _person(who, there[0].happening, people), spoken_language(who.language)
        place = there[-1].happening.place
        if len(there) >= 2 and name and other not in name.lower():
            yield Pattern("haunt", _ids(there), {**slots, "at": spoken.at(name)}, other, len(there) + 1, place)
        yield from _crafts(other, seen, slots, place, spoken)


def _crafts(
    other: str, seen: Sequence[Recalled], slots: Mapping[str, str], place: str, spoken: Language
) -> Iterator[Pattern]:
    by_topic: dict[str, list[Recalled]] = defaultdict(list)
    for memory in seen:
        topic = spoken.noun_phrase(memory.happening.doing)
        if topic and not topic.startswith(("your", "my", "his", "her", "their")):
            by_topic[topic].append(memory)
    for topic, about in sorted(by_topic.items()):
        if len(about) >= 2:
            yield Pattern("craft", _ids(about), {**slots, "topic": topic}, other, len(about) + 2, place)


def _friends(who: Who, memories: Sequence[Recalled], people: Mapping[str, Person]) -> Iterator[Pattern]:
    """Yields people the character talks with often."""
    mine = [one for one in memories if isinstance(one.happening, Said) and one.happening.to_me]
    for other, lines in _grouped(mine, Said, lambda one: one.who).items():
        person = people.get(other)
        if len(lines) >= 3 and other != who.id and (person is None or person.warmth >= 0):
            yield Pattern("friend", _ids(lines), _person(who, lines[0].happening, people), other, min(6, len(lines)))


def _worries(who: Who, memories: Sequence[Recalled], people: Mapping[str, Person]) -> Iterator[Pattern]:
    """Yields people who speak of troubles more than once."""
    for other, lines in _grouped(memories, Said, lambda one: one.who).items():
        sad = [one for one in lines if remembered(one.happening, who.language).act == "complain"]
        person = people.get(other)
        if len(sad) >= 2 and other != who.id and (person is None or person.warmth >= 0):
            yield Pattern("worry", _ids(sad), _person(who, sad[0].happening, people), other, len(sad) + 3)


def _things(memories: Sequence[Recalled], rules: Grammar) -> Iterator[Pattern]:
    """Yields a thing that fails again and again, in wet weather above all."""
    wet = [one for one in memories if isinstance(one.happening, Sky) and one.happening.sky in {"rain", "storm"}]
    for thing, seen in _grouped(memories, Changed | Failed | Tried, lambda one: one.object).items():
        bad = [
            one for one in seen
            if rules.has("faulty", _what_is_wrong(one.happening))
        ]  # fmt: skip
        if len(bad) < 2:
            continue
        slots = {"thing": rules.language.named(bad[0].happening.object_name or thing)}
        yield Pattern("thing", _ids(bad), slots, thing, len(bad) + 2, bad[-1].happening.place)
        if wet:
            yield Pattern("thing_rain", _ids([*bad[:4], *wet[:2]]), slots, thing, len(bad) + 3)


def _what_is_wrong(happening: Happening) -> str:
    """Returns what is wrong, in words; empty if nothing may be wrong."""
    if isinstance(happening, Changed):
        return happening.words
    return happening.why if isinstance(happening, Failed | Tried) else ""


def _news(memories: Sequence[Recalled], spoken: Language) -> Iterator[Pattern]:
    """Yields a seed fact that has come up more than once."""
    carried: dict[str, list[Recalled]] = defaultdict(list)
    for memory in memories:
        for fact in memory.facts:
            carried[fact].append(memory)
    for fact, about in sorted(carried.items()):
        told = [one.happening.quote or one.text for one in about]
        names = [one.happening.topic or spoken.noun_phrase(text) for one, text in zip(about, told, strict=True)]
        topic = next((name for name in names if " " in name[4:]), "")
        topic = topic or next((name for name in names if spoken.is_news(name)), "")
        if len(about) >= 2 and spoken.is_news(topic):
            yield Pattern("news", _ids(about), {"topic": topic}, fact, len(about) + 3)


def _shared(who: Who, memories: Sequence[Recalled]) -> Iterator[Pattern]:
    """Yields a subject on which two people or more have spoken."""
    said, spoken = defaultdict[str, dict[str, Recalled]](dict), spoken_language(who.language)
    for memory in memories:
        line = memory.happening
        if isinstance(line, Said) and line.who != who.id and not memory.facts:
            topic = remembered(memory.happening, who.language).topic
            if spoken.is_common(topic):
                said[topic].setdefault(line.who, memory)
    for topic, speakers in sorted(said.items()):
        if len(speakers) >= 2:
            yield Pattern("shared", _ids(speakers.values()), {"topic": topic}, spoken.bare(topic), len(speakers) + 3)


def _habits(who: Who, memories: Sequence[Recalled], rules: Grammar) -> Iterator[Pattern]:
    """Yields what the character spends its days with."""
    groups, spoken = _grouped(memories, Did, lambda one: one.doing), rules.language
    nothing = rules.words("faint") | rules.words("talk")
    worth = {
        doing: seen for doing, seen in groups.items() if spoken.is_doing(doing) and spoken.head(doing) not in nothing
    }
    if worth:
        doing, seen = max(worth.items(), key=lambda entry: (len(entry[1]), entry[0]))
        if len(seen) >= 2:
            slots = spoken.doing(spoken.taken(doing, who.pronoun, "my"))
            yield Pattern("habit", _ids(seen), slots, who.id, len(seen), extra={"doing": doing})


def _pairs(who: Who, memories: Sequence[Recalled]) -> Iterator[Pattern]:
    """Yields two others who are often heard talking."""
    pairs: dict[tuple[str, str], list[Recalled]] = defaultdict(list)
    for memory in memories:
        line = memory.happening
        if (
            isinstance(line, Said | Talked)
            and not (isinstance(line, Said) and line.to_me)
            and who.id not in (line.to, line.who)
        ):
            ends = sorted((line.called, line.to_called))
            if all(ends):
                pairs[ends[0], ends[1]].append(memory)
    for (first, second), lines in sorted(pairs.items()):
        if len(lines) >= 2:
            yield Pattern("pair", _ids(lines), {"x": first, "y": second}, lines[0].happening.who, min(5, len(lines)))


def _places(who: Who, memories: Sequence[Recalled], spoken: Language) -> Iterator[Pattern]:
    """Yields a place where several different people were seen."""
    seen: dict[str, dict[str, Recalled]] = defaultdict(dict)
    for memory in memories:
        sight = memory.happening
        if isinstance(sight, Seen | Came) and sight.who != who.id and sight.place_name:
            seen[sight.place_name].setdefault(sight.who, memory)
    for name, people in sorted(seen.items()):
        if len(people) >= 3:
            place = next((one.happening.place for one in people.values() if one.happening.place), "")
            yield Pattern("place", _ids(people.values()), {"at": spoken.at(name)}, name.lower(), len(people), place)


def _crossings(who: Who, memories: Sequence[Recalled], people: Mapping[str, Person]) -> Iterator[Pattern]:
    """Yields people who turn up in several memories of any kind."""
    met: dict[str, list[Recalled]] = defaultdict(list)
    for memory in memories:
        other = memory.happening.who
        if other and other != who.id and memory.happening.called:
            met[other].append(memory)
    for other, seen in sorted(met.items()):
        person = people.get(other)
        if len(seen) >= 2:
            kind = "cross" if person is None or person.warmth >= 0 else "cross_cold"
            place = next((one.happening.place for one in reversed(seen) if one.happening.place), "")
            yield Pattern(kind, _ids(seen), _person(who, seen[0].happening, people), other, min(2, len(seen)), place)


def _minds(memories: Sequence[Recalled], spoken: Language) -> Iterator[Pattern]:
    """Yields a subject of several starting memories."""
    for subject, about in sorted(_grouped(memories, Seed, lambda one: one.topic).items()):
        if len(about) >= 2:
            yield Pattern("mind", _ids(about), {"topic": spoken.with_article(subject)}, subject, len(about))


def _busy(memories: Sequence[Recalled]) -> Iterator[Pattern]:
    """Yields a day full of small things, if there is nothing else to say about it."""
    mine = [memory for memory in memories if isinstance(memory.happening, Did)]
    if len({memory.happening.doing for memory in mine}) >= 3:
        yield Pattern("busy", _ids(mine), {"busy": "1"}, "busy", 1)
    seeds = [memory for memory in memories if isinstance(memory.happening, Seed)]
    if len(seeds) >= 2:
        yield Pattern("past", _ids(seeds), {"busy": "1"}, "past", 1)


# ── relate ───────────────────────────────────────────────────────────────────────────────────────────────────────────


_FEELING = {"thank": 3, "praise": 3, "comfort": 3, "rejoice": 2, "intend": 1, "complain": 1, "apologise": 1}


def relate(given: RelateInput, dice: Dice) -> RelateOutput:
    """Returns the change of warmth and a sentence or two about the other, resting on what they said."""
    rules = grammar(given.who.language)
    theirs = [heard(line, given.who.language) for line in given.lines if line.speaker == given.other.id]
    change = _change(given, theirs)
    quotes = {line.text for line in given.lines}
    because = tuple(one.id for one in given.recalled if one.happening.quote in quotes and one.happening.quote)
    summary = _summary(given, theirs, rules, dice, given.other.warmth + change)
    return RelateOutput(warmth_change=change, summary=summary[:300], because=because[:8])


def _change(given: RelateInput, theirs: list[Heard]) -> int:
    """Returns the change of warmth by tone, length and common ground; the nearer two are already, the less one talk
    adds."""
    snubs = sum(line.act == "snub" for line in theirs)
    tone = sum(_FEELING.get(line.act, 0) for line in theirs)
    asked = sum(1 for line in theirs if line.asks)
    gain = min(9, 1 + tone + asked // 2 + (len(given.lines) >= 4)) if theirs else 0
    warmth = given.other.warmth
    if snubs:
        return max(-20, -4 * snubs)
    room = max(0, 100 - max(0, warmth))
    return min(20, (gain * room + 50) // 100)


def _topics(theirs: list[Heard], spoken: Language) -> str:
    topics = [line.topic for line in theirs if spoken.is_common(line.topic) or spoken.may_be_yours(line.topic)]
    names = list(dict.fromkeys(name for name in topics if name))
    return spoken.both([name for name in names if spoken.is_common(name)][:2] or names[:1])


def _summary(given: RelateInput, theirs: list[Heard], rules: Grammar, dice: Dice, warmth: int) -> str:
    other, spoken = given.other, rules.language
    what = other.work or other.label
    first = f"{other.called}, {spoken.with_article(what)}." if what else f"{other.called}."
    pronouns = {"him": "them", "his": "their", **spoken.pronouns(other.pronoun)}
    topics = spoken.turned(_topics(theirs, spoken), "my", pronouns["his"])
    talked = rules.say("relate.topics", {"topics": topics}, dice)
    tone = "fond" if warmth >= 50 else "warm" if warmth >= 15 else "cool" if warmth > -20 else "cold"
    felt = rules.say(f"relate.{tone}", {"x": other.called, **pronouns}, dice)
    return spoken.finished(f"{first} {talked} {felt}")
