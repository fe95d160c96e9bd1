"""Interview: a person asks a character something, and it answers from what it remembers. Nothing is changed by it.

Evidence is looked for in this order: the character's own state (card, plan, relations), memories by what the simulator
knows of their making, and memories retrieved by the words of the question.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import islice

from commonplace.character.account import as_topic
from commonplace.clock import midnight
from commonplace.cognition.authors_lines import unconditional
from commonplace.cognition.goals import goal_notes
from commonplace.cognition.past import whole_past
from commonplace.cognition.retrieve import embedded
from commonplace.cognition.situation import (
    acquaintances,
    fact_notes,
    item_note,
    later_strokes,
    person,
    places,
    recalled,
    situation,
    who,
)
from commonplace.cognition.turn import TalkView, Tracer
from commonplace.languages import weekdays
from commonplace.languages.language import language
from commonplace.memory import Memory, Retrieval, policies
from commonplace.minds.notes import ItemNote, Spoken, fields_of
from commonplace.minds.question import ParsedQuestion, understood
from commonplace.minds.question_names import QuestionNames
from commonplace.minds.question_rules import has
from commonplace.minds.question_rules import spoken_in as language_of
from commonplace.minds.tasks import ANSWER, Acquaintance, AnswerInput, Earlier, ThingKnown
from commonplace.world.happenings import (
    Absent,
    Befell,
    Came,
    Changed,
    Concluded,
    Did,
    Failed,
    Happening,
    ISaid,
    Planned,
    Read,
    Said,
    Seed,
    Seen,
    Sky,
    Voiced,
    Walked,
    happening_of,
)

K = 10
"""Memories retrieved for the question itself."""
MOST_ROWS = 16
"""Rows of the account whose memories are told."""
PROMISES = ("promis", "word", "약속")
"""Beginnings of words that ask for what became of promises."""
SETTLED = frozenset({"promised", "kept", "broke"})
K_NAMED = 5
"""Memories retrieved for each person, place and fact it names."""
MOST_NAMED = 3
"""People, places and facts looked up for one question."""
FELT = 10
"""Latest felt memories that make the mood."""
FELT_AMONG = 200
LATEST_THOUGHTS = 8
OF_A_PERSON = {"talk": 12, "seen": 6, "told": 4, "about": 10, "thought": 4}
"""Memories of each sort that are gathered for a person, the latest."""
OF_A_PLACE = 12
OF_A_FACT = 16
SEEDS = 40
LATEST_SAID = 24
OF_THE_PAST = Did | Walked | ISaid | Said | Failed | Absent | Befell | Read | Voiced | Sky | Planned
"""Happenings that make up a day, and those besides that tell whom one met."""
OF_A_DAY = OF_THE_PAST | Seen | Came | Changed
MOST_OF_A_DAY = 500
SMALL_HOURS = 4
"""Before this hour `today` is the day before."""


@dataclass(frozen=True, slots=True)
class InterviewAnswer:
    """An answer, and everything it rests on."""

    answer: str
    because: tuple[int, ...]
    """Ids of the memories it cites; all of them are the character's, made at the tick or before."""
    asked: ParsedQuestion
    """The question as it was understood."""
    retrievals: tuple[Retrieval, ...] = field(repr=False)
    """What was searched for, best first: the question, then what it names. Their hits have every part of the score."""
    inputs: AnswerInput = field(repr=False)
    """What the mind was given."""
    outcome: str
    """`value`, or `malformed` or `fault` for the fallback."""


async def interview(
    view: TalkView, question: str, *, lines: Sequence[Spoken] = (), before: Earlier | None = None
) -> InterviewAnswer:
    """Returns the answer to a question after the lines of a talk; `before` is an earlier answer to it, if there is one.

    Deterministic for a deterministic mind. Touches no memory.
    """
    notebook = Tracer()
    lines = tuple(lines)
    asked = understood(question, lines, names(view, question), told_in(view, lines))
    retrievals = await _retrieved(view, notebook, question, asked.whole)
    inputs = _inputs(view, question, asked, lines, retrievals, before)
    answer = await notebook.ask(ANSWER, inputs)
    known = tuple(memory for memory in dict.fromkeys(answer.value.because) if memory in view.memories)
    return InterviewAnswer(answer.value.answer, known, asked, retrievals, inputs, answer.outcome)


def names(view: TalkView, question: str) -> QuestionNames:
    """Returns the names that a question may use: everybody and every place of the scenario, whether or not the
    character knows them. Of those who share a short name, the ones it does not know go by their full names."""
    scenario, known = view.scenario, view.state.belief.nodes
    bearers = Counter(one.called for one in scenario.personas.values())
    return QuestionNames(
        people=[
            (one.id, one.name, one.called if bearers[one.called] == 1 or one.id in known else one.name, one.pronoun)
            for one in scenario.personas.values()
            if one.id != view.persona.id
        ],
        places=[(node.id, node.name) for node in scenario.geography.nodes.values() if node.type == "area"],
        facts={fact.id: _groups(fact.groups) for fact in scenario.facts},
        late=view.now.hour < SMALL_HOURS,
        minute=view.now.hour * 60 + view.now.minute,
        weekday=view.now.weekday(),
        weekdays=weekdays(language_of(question)),
        me=tuple(dict.fromkeys((view.persona.name, view.persona.called))),
        roles=_roles(view),
        events={fact.id: fact.place for fact in scenario.facts if fact.starts and fact.place},
    )


def told_in(view: TalkView, lines: Sequence[Spoken]) -> ParsedQuestion:
    """Returns the subject of the last answer, as a question would name it: the meaning of `that` in the next one."""
    memories = [view.memories.get(id_) for id_ in (lines[-1].because if lines else ()) if id_ in view.memories]
    known = [happening_of(memory.details) for memory in memories]
    facts = [fact.id for fact in view.scenario.facts if any(fact.carried_by(memory.text) for memory in memories)]
    topic = next((one.topic for one in known if one.topic and one.topic not in facts), "")
    words = tuple(word for word in as_topic(topic or next((one.doing for one in known), "")).split() if len(word) > 1)
    return ParsedQuestion(facts=tuple(facts), topic=topic, words=words, heads=words, subject=topic)


def _roles(view: TalkView) -> dict[str, str]:
    """Returns role → who, for roles that only one of the character's acquaintances has, by their relation to it or by
    trade."""
    found: dict[str, list[str]] = {}
    for other, relation in view.state.relations.items():
        persona = view.scenario.personas.get(other)
        if persona is not None:
            for role in {relation.label.lower(), persona.work.lower()} - {""}:
                found.setdefault(role, []).append(other)
    return {role: ids[0] for role, ids in sorted(found.items()) if len(ids) == 1 and role != view.persona.work.lower()}


def _groups(groups: Mapping[str, Sequence[Sequence[str]]]) -> list[list[str]]:
    """Returns the groups of all languages, merged one by one."""
    longest = max((len(one) for one in groups.values()), default=0)
    return [[word for one in groups.values() if at < len(one) for word in one[at]] for at in range(longest)]


# ── retrieval ────────────────────────────────────────────────────────────────────────────────────────────────────────


async def _retrieved(view: TalkView, notebook: Tracer, question: str, asked: ParsedQuestion) -> tuple[Retrieval, ...]:
    """Retrieves memories for the question, and for each person, place and fact it names."""
    scenario = view.scenario
    called = [scenario.personas[other].called for other in asked.people[:MOST_NAMED]]
    spots = [scenario.geography.nodes[place].name for place in asked.places[:MOST_NAMED]]
    told = [fact.said_in(scenario.language) for fact in scenario.facts if fact.id in asked.facts[:MOST_NAMED]]
    about = " ".join(asked.words)
    # A follow-up such as `why?` is searched for by what it is about.
    first = " ".join(dict.fromkeys([question, *(called if asked.then or asked.people else ()), about]))
    queries = {"question": first} | {f"about {name}": f"{name} {about}".strip() for name in (*called, *spots, *told)}
    vectors = await embedded(scenario, notebook, list(queries.values()))
    return tuple(
        view.memories.retrieve(
            query,
            at=view.now,
            k=K if purpose == "question" else K_NAMED,
            policy=policies.IN_RUNS["recall"],
            purpose=purpose,
            touch=False,
            embedding=vectors.get(query),
        )
        for purpose, query in queries.items()
    )


# ── the input ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _inputs(
    view: TalkView,
    question: str,
    asked: ParsedQuestion,
    lines: tuple[Spoken, ...],
    retrievals: Sequence[Retrieval],
    before: Earlier | None,
) -> AnswerInput:
    scenario, plan, now = view.scenario, view.state.plan, view.now
    latest = list(view.memories.backwards())
    found = (memory for retrieval in retrievals for memory in retrieval.found)
    told = (view.memories.get(id_) for id_ in (lines[-1].because if lines else ()) if id_ in view.memories)
    whole = asked.whole
    known_of = _of_account(view, whole)
    evidence = _unique(
        [
            *(told if asked.back else ()),
            *known_of,
            *_of_named(view, whole, latest),
            *found,
            *_of_kind(view, asked, latest),
        ]
    )
    notes = unconditional(scenario, recalled(scenario, evidence, now))
    current = plan.current(now)
    known = tuple(_acquaintance(view, one.id) for one in acquaintances(view))
    ids = {one.id for one in known}
    thoughts = (memory for memory in latest if memory.kind == "reflection")
    strokes = plan.level("day")
    return AnswerInput(
        who=who(view.persona),
        situation=situation(view),
        question=question,
        asked=asked,
        recalled=notes,
        lines=lines,
        doing=view.world.body.doing,
        known=known,
        others=tuple(person(view, other) for other in whole.people if other not in ids),
        facts=unconditional(scenario, fact_notes(scenario, notes)),
        now=item_note(scenario, current) if current else None,
        done=tuple(item_note(scenario, item) for item in strokes if item.start_time <= now),
        later=later_strokes(scenario, plan, now),
        usual=_usual(view),
        day=unconditional(scenario, recalled(scenario, _day(view, whole, latest), now)),
        thoughts=recalled(scenario, islice(thoughts, LATEST_THOUGHTS), now),
        places=places(scenario, view.state.belief),
        town=next((id_ for id_, node in scenario.geography.nodes.items() if not node.parent_id), ""),
        things=_things(view, whole),
        mood=_mood(latest),
        before=before,
        past=whole_past(view, view.state.account),
        goals=goal_notes(view, view.state.goals.open()),
    )


def _of_account(view: TalkView, asked: ParsedQuestion) -> list[Memory]:
    """Returns the memories that the account of the character's past cites about the question. Whether it was there,
    whom it told and who told it then does not depend on what a retrieval finds."""
    wanted = {*asked.facts, as_topic(asked.topic), as_topic(asked.subject)} - {""}
    about_promises = any(word.startswith(PROMISES) for word in asked.words)
    account = view.state.account.all()
    rows = [row for row in account if row.topic in wanted or (about_promises and row.kind in SETTLED)][:MOST_ROWS]
    ids = dict.fromkeys(memory for row in rows for memory in row.because)
    return [view.memories.get(memory) for memory in ids if memory in view.memories]


def _acquaintance(view: TalkView, other: str) -> Acquaintance:
    relation, minutes = view.state.relations[other], view.scenario.clock.tick_minutes
    known = (view.world.tick - relation.known_since) * minutes if relation.known_since > 0 else -1
    because = tuple(memory for memory in relation.because if memory in view.memories)
    housemate = view.scenario.personas[other].home == view.persona.home
    return Acquaintance(
        **dict(fields_of(person(view, other))), because=because, known_minutes=known, housemate=housemate
    )


def _things(view: TalkView, asked: ParsedQuestion) -> tuple[ThingKnown, ...]:
    """Returns the objects in the belief view that share a word with the question, those that share most words first."""
    geography, found, spoken = view.scenario.geography, dict[str, int](), language(view.scenario.language)
    words = set(asked.words)
    for id_, known in sorted(view.state.belief.nodes.items()):
        node = geography.nodes.get(id_)
        if node is not None and node.type == "object" and known.state:
            parts = node.name if spoken.has_particles else node.name.lower().split()
            found[id_] = sum(word in parts for word in words)
    best = max(found.values(), default=0)
    things = ((geography.nodes[id_], view.state.belief.nodes[id_]) for id_, count in found.items() if 0 < count == best)
    return tuple(
        ThingKnown(
            name=node.name,
            words=geography.kinds[node.kind].words.get(known.state, ""),
            place_name=geography.nodes[known.parent].name if known.parent in geography.nodes else "",
        )
        for node, known in things
    )


def _usual(view: TalkView) -> tuple[ItemNote, ...]:
    nodes = view.scenario.geography.nodes
    routine = view.persona.routine
    ends = (*(item.at for item in routine[1:]), *(item.at + 24 * 60 for item in routine[:1]))
    return tuple(
        ItemNote(
            start=f"{item.at // 60 % 24:02d}:{item.at % 60:02d}",
            minutes=max(0, end - item.at),
            location=item.place,
            location_name=nodes[item.place].name,
            do=item.do,
            outdoor=nodes[item.place].outdoor,
            asleep=item is routine[-1],
        )
        for item, end in zip(routine, ends, strict=True)
    )


def _mood(latest: Sequence[Memory]) -> int:
    felt = list(islice((memory.emotion.valence for memory in latest[:FELT_AMONG] if memory.emotion), FELT))
    return round(100 * sum(felt) / len(felt)) if felt else 0


def _unique(memories: Iterable[Memory]) -> list[Memory]:
    return list({memory.id: memory for memory in memories}.values())


# ── evidence by happenings ───────────────────────────────────────────────────────────────────────────────────────────


def _of_named(view: TalkView, asked: ParsedQuestion, latest: Sequence[Memory]) -> list[Memory]:
    """Returns the memories that the simulator knows to be about the names in the question, the most telling first."""
    found: list[Memory] = []
    for fact in asked.facts[:MOST_NAMED]:
        found += _of_fact(view, fact, latest)
    for other in asked.people[:MOST_NAMED]:
        found += _of_person(view, other, latest)
        found += (view.memories.get(id_) for id_ in _view_of(view, other) if id_ in view.memories)
    for place in asked.places[:MOST_NAMED]:
        here = list(_those(latest, lambda known, place=place: known.place == place))
        mine = (memory for memory in here if isinstance(happening_of(memory.details), Did | Walked))
        found += [*islice(mine, OF_A_PLACE), *here[:OF_A_PLACE]]
    return found


def _of_kind(view: TalkView, asked: ParsedQuestion, latest: Sequence[Memory]) -> list[Memory]:
    """Returns the memories that today's plan rests on, what was said lately if that is asked, and what was known from
    the start."""
    reasons = dict.fromkeys(id_ for item in view.state.plan.level("day") for id_ in item.because)
    found = [view.memories.get(id_) for id_ in reasons if id_ in view.memories]
    if any(has(one.kind, "heard") for one in (asked, asked.also) if one):
        found += islice(_those(latest, lambda known: isinstance(known, Said | Befell | Read)), LATEST_SAID)
    if asked.kind == "news":
        found += [memory for fact in view.scenario.facts for memory in _of_fact(view, fact.id, latest)]
    return [*found, *islice(_those(latest, lambda known: isinstance(known, Seed)), SEEDS)]


def _view_of(view: TalkView, other: str) -> tuple[int, ...]:
    relation = view.state.relations.get(other)
    return relation.because if relation else ()


def _of_fact(view: TalkView, fact_id: str, latest: Sequence[Memory]) -> list[Memory]:
    """Returns the memories that carry a fact: the earliest, then the latest."""
    fact = view.scenario.fact(fact_id)
    carriers = [memory for memory in latest if fact is not None and fact.carried_by(memory.text)]
    return [*carriers[: -OF_A_FACT // 2 - 1 : -1], *carriers[: OF_A_FACT // 2]]


def _of_person(view: TalkView, other: str, latest: Sequence[Memory]) -> list[Memory]:
    """Returns memories of somebody: talk with them, what they were seen doing, what others said of them, what is
    remembered and thought of them."""
    called = view.scenario.personas[other].called
    sorts: Mapping[str, Callable[[Happening], bool]] = {
        "about": lambda known: isinstance(known, Seed) and known.about == other,
        "thought": lambda known: isinstance(known, Concluded) and known.about == other,
        "talk": lambda known: _is_between(known, other),
        "seen": lambda known: known.who == other and bool(known.place),
        "told": lambda known: isinstance(known, Said) and known.who != other and called in known.quote,
    }
    return [memory for sort, test in sorts.items() for memory in islice(_those(latest, test), OF_A_PERSON[sort])]


def _is_between(known: Happening, other: str) -> bool:
    if isinstance(known, ISaid):
        return known.to == other
    return isinstance(known, Said) and known.who == other and bool(known.to_me)


def _those(latest: Sequence[Memory], test: Callable[[Happening], bool]) -> Iterable[Memory]:
    """Returns the memories whose happening passes, latest first."""
    return (memory for memory in latest if test(happening_of(memory.details)))


# ── the day ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _day(view: TalkView, asked: ParsedQuestion, latest: Sequence[Memory]) -> list[Memory]:
    """Returns the memories of the day that the question is about, else of today and yesterday; oldest first."""
    first = midnight(view.now) - timedelta(days=max(0, asked.when.days) if asked.when else 1)
    # `last night` goes on in the morning.
    days = 1 if asked.when is not None and asked.when.days > 0 and asked.when.end <= 24 * 60 else 2
    # The small hours belong to the evening before.
    last = first + timedelta(days=days, hours=5)
    wanted = OF_A_DAY if has(asked.kind, "lived") else OF_THE_PAST
    found: list[Memory] = []
    for memory in latest:
        if memory.created_at < first:
            break
        if memory.created_at < last and isinstance(happening_of(memory.details), wanted):
            found.append(memory)
            if len(found) == MOST_OF_A_DAY:
                break
    return found[::-1]
