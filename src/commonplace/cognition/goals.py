"""What a character means to do: goals opened, advanced and closed from what it perceives and from its account.

The rules are the same for every mind. A mind decides what it plans, does and says; whether a goal is reached follows
from what happened. Each change cites the memory that caused it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cache, lru_cache

from commonplace.character.account import AccountRow, as_topic, cited
from commonplace.character.fact import carried
from commonplace.character.goal import DONE, GIVEN_UP, OVERTAKEN, Goal, about
from commonplace.character.persona import Persona
from commonplace.character.plan import without_stroke
from commonplace.character.state import AREA, KnownNode
from commonplace.clock import hhmm, iso, midnight
from commonplace.cognition.known_circumstances import known
from commonplace.cognition.past import EVENING, Remembered, topics_of
from commonplace.cognition.remember import OBSERVATION
from commonplace.cognition.sentences import wished
from commonplace.cognition.turn import Notebook, TurnView, View
from commonplace.languages import rows, weekdays
from commonplace.languages.language import language
from commonplace.memory.record import Memory
from commonplace.minds.notes import GoalNote, changed
from commonplace.scenario.scenario import Scenario, derived
from commonplace.text import is_named, words
from commonplace.world.circumstances import subject_of
from commonplace.world.events import RelationChanged
from commonplace.world.geography import Geography
from commonplace.world.happenings import Changed, Concluded, Did, Happening, ISaid, Said, Tried, favour_in, happening_of
from commonplace.world.tree import Transition

MOST_TRIES = 4
"""Days on which a goal was planned for in vain, after which it is given up."""
MATTER_DAYS, VISIT_DAYS = 4, 3
"""Days within which something is to be said to somebody, and within which somebody missed is to be seen."""
MISSED, FOND = 30 * 60, 35
"""Minutes without a talk after which somebody of this warmth or more is missed."""
MOST_WISHES = 2
"""Wishes to see or ask somebody that are had at a time."""
BETWEEN_TWO = frozenset({"reproach", "apologise", "make_up"})
"""Speech acts that settle a matter in whatever words."""
REST_DAYS = 5
"""Days before a goal about the same as one that has ended is had again."""
WELL_TOLD = 4
"""Times that somebody has told one of a subject after which one does not ask for more."""
SULKS = 18 * 60
"""Minutes after which one who was hurt wants to make up."""
SIGHTINGS = timedelta(days=3)
"""How far back one remembers where somebody is at which hour."""
WAKING = (7, 22)
"""Hours at which one looks for people."""


def pursue(view: TurnView, notebook: Notebook, remembered: Iterable[Remembered]) -> None:
    """Opens, advances and closes the character's goals by what this tick brought."""
    for percept, memory in sorted(remembered, key=lambda pair: pair[1].id):
        match percept.happening:
            case ISaid() as said:
                _i_said(view, notebook, said, memory)
            case Said() as said:
                _said(view, notebook, said, memory)
            case Did() | Changed() | Tried() as handled:
                _handled(view, notebook, handled, memory)
            case _:
                pass
    for note in notebook.notes:
        if isinstance(note, RelationChanged):
            _felt(view, notebook, note.other, note.why)
    if view.scenario.circumstances:
        _give_up(view, notebook)
    if 0 <= notebook.goals.next_due <= view.tick:
        _overdue(view, notebook)
    if view.tick == 1 or (view.now.hour == 4 and view.now.minute < view.scenario.clock.tick_minutes):
        _look_around(view, notebook)


def _give_up(view: TurnView, notebook: Notebook) -> None:
    """Gives up the goals that are vain as far as the character knows: somebody is gone, a thing is lost or broken, an
    event does not take place."""
    vain = {
        note.of: note.memory for note in known(view) if note.holds and (note.gone or note.subject in {"thing", "fact"})
    }
    for goal in notebook.goals.open():
        memory = next((vain[one] for one in (goal.person, goal.object, goal.topic) if one in vain), 0)
        if memory:
            _close(view, notebook, goal, GIVEN_UP, memory)


def _open(view: TurnView, notebook: Notebook, goal: Goal, memories: Sequence[int], *, again: bool = False) -> None:
    """Opens a goal that rests on these memories, unless one about the same is open or has just ended.

    The goal has no id yet. `again`: it does not matter when the last one ended.
    """
    memories = [memory for memory in memories if memory in view.draft]
    since = view.tick if again else view.tick - view.scenario.clock.ticks(REST_DAYS * 24 * 60)
    if not memories or notebook.goals.lately(goal.about, since):
        return
    goal = replace(
        goal, id=f"{goal.about}/{view.tick}", opened=view.tick, changed=view.tick,
        because=cited((), tuple(memories)), moved_by=memories[-1],
    )  # fmt: skip
    notebook.goals = notebook.goals.with_opened(goal)


def _close(view: TurnView, notebook: Notebook, goal: Goal, status: str, memory: int) -> None:
    """Ends a goal. The rest of the plan for it makes room for what comes before."""
    done = goal.steps if status == DONE else goal.done_steps
    notebook.goals = notebook.goals.with_changed(goal.moved(view.tick, memory, status=status, done_steps=done))
    for stroke in notebook.plan.level("day"):
        if stroke.start_time > view.now and stroke.routine < 0 and not set(goal.because).isdisjoint(stroke.because):
            notebook.plan = without_stroke(notebook.plan, stroke)


def _last(view: TurnView, goal: Goal) -> int:
    """Returns the latest memory that a goal rests on, for a change that only time causes."""
    return next((memory for memory in reversed(goal.because) if memory in view.draft), goal.moved_by)


def _in_days(view: TurnView, days: int) -> int:
    return view.scenario.clock.tick(midnight(view.now) + timedelta(days=days, minutes=EVENING))


def _called(view: View, other: str) -> str:
    return view.scenario.personas[other].called


# ── talk ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _i_said(view: TurnView, notebook: Notebook, said: ISaid, memory: Memory) -> None:
    """Updates goals after a line of mine: a promise made or kept, a matter spoken, a talk with somebody missed."""
    hearer, act = said.to, said.act
    if act == "accept" or favour_in(said.act, "promise"):
        _promised(view, notebook, hearer, memory)
    topics = set(map(_head, topics_of(view.scenario.facts, said)))  # `Jun's letter` is said to Jun as `your letter`
    for goal in notebook.goals.open():
        if goal.person != hearer:
            continue
        is_said = goal.act == act and (act in BETWEEN_TWO or _head(goal.topic) in topics)
        if is_said or (not goal.act and goal.kind == "visit"):
            _close(view, notebook, goal, DONE, memory.id)


def _said(view: TurnView, notebook: Notebook, said: Said, memory: Memory) -> None:
    """Updates goals after a line to me: something lent has to be given back, or the other has settled a question of
    mine."""
    if not said.to_me:
        return
    other, act = said.who, said.act
    if favour_in(said.act, "keep") == "lend":
        _promised(view, notebook, other, memory)
    settled = {"apologise": ("reproach", "make_up"), "make_up": ("make_up", "reproach")}.get(act, ())
    for goal in notebook.goals.open() if settled else ():
        if goal.person == other and goal.act in settled:
            _close(view, notebook, goal, OVERTAKEN, memory.id)


def _promised(view: TurnView, notebook: Notebook, other: str, memory: Memory) -> None:
    """Opens goals for the promises to somebody that this line made."""
    for row in notebook.account.rows("promised", other):
        if row.tick != view.tick or memory.id not in row.because:
            continue
        fact = view.scenario.fact(row.topic)
        if not row.act:
            is_meant = any(goal.topic == row.topic for goal in notebook.goals.open())
            if fact is not None and fact.starts is not None and fact.place and not is_meant:
                minute = fact.starts.hour * 60 + fact.starts.minute
                place = view.scenario.geography.nodes[fact.place].name
                text = wished(view.scenario.language, "event", x=_called(view, other), place=place)
                goal = Goal(
                    "", "promise", text, topic=row.topic, person=other, place=fact.place, hour=minute, due=row.due
                )
                _open(view, notebook, goal, [memory.id], again=True)
            continue
        kind = "call" if row.act == "visit" else row.act
        text = wished(view.scenario.language, kind, x=_called(view, other), topic=row.named or row.topic)
        place = place_of_thing(view, row.topic) if row.act == "help" else ""
        if row.act in ("help", "visit"):
            _shown_the_way(view, notebook, other)
        goal = Goal(
            "", "promise", text, f"keep.{row.act}", row.topic, row.named, person=other, place=place, due=row.due
        )
        _open(view, notebook, goal, [memory.id], again=True)


def _shown_the_way(view: TurnView, notebook: Notebook, other: str) -> None:
    """Lets the character know where somebody lives to whom it says that it will come."""
    home = view.scenario.geography.nodes.get(view.scenario.personas[other].home)
    if home is not None and home.parent_id and not notebook.belief.knows(home.id):
        notebook.belief = notebook.belief.updated({home.id: KnownNode(home.parent_id, AREA, view.tick)})


def place_of_thing(view: TurnView, topic: str) -> str:
    """Returns where the thing of this name is believed to be; empty if the character knows no such object."""
    geography, nodes = view.scenario.geography, view.state.belief.nodes
    objects = (node for node in nodes if node in geography.nodes and geography.nodes[node].type == "object")
    return next((nodes[node].parent for node in objects if as_topic(geography.nodes[node].name) == topic), "")


def _felt(view: TurnView, notebook: Notebook, other: str, why: str) -> None:
    """Opens a goal to have a word with somebody who did something that hurt. If it has been put right, there is no need
    of a word any more."""
    rows = (*notebook.account.rows("hurt", other), *notebook.account.rows("pleased", other))
    row = next((row for row in rows if row.act == why and row.tick == view.tick), None)
    if row is None:
        return
    if why in {"broke_word", "spoke_ill", "told_secret"}:
        _matter(view, notebook, "reproach", row)
    elif why in {"apologised", "made_up", "forgave"}:
        for goal in notebook.goals.open():
            if goal.person == other and goal.act in {"reproach", "make_up"}:
                _close(view, notebook, goal, OVERTAKEN, row.because[-1])


def _matter(view: TurnView, notebook: Notebook, act: str, row: AccountRow) -> None:
    """Opens a goal to say something to the other of a row."""
    named = "" if view.scenario.fact(row.topic) else row.named or row.topic  # not the id of an event
    text = wished(view.scenario.language, act, x=_called(view, row.other), topic=named)
    due = _in_days(view, MATTER_DAYS)
    goal = Goal("", "matter", text, act, _topic_of(row), named, person=row.other, due=due)
    _open(view, notebook, goal, row.because, again=act == "apologise")


def _topic_of(row: AccountRow) -> str:
    """Returns the topic of a row; empty for a circumstance, which is not called by its key."""
    return "" if subject_of(row.topic)[0] else row.topic


# ── things ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _handled(view: TurnView, notebook: Notebook, handled: Did | Changed | Tried, memory: Memory) -> None:
    """Updates goals after I did something to a thing, or saw its state: a repair gets on, ends, or is needed."""
    thing = handled.object
    goal = next((goal for goal in notebook.goals.open() if goal.object == thing and goal.kind == "repair"), None)
    if goal is not None:
        _advance(view, notebook, goal, handled, memory.id)
    elif thing and isinstance(handled, Changed):
        _see_to(view, notebook, thing, memory.id)


def _advance(view: TurnView, notebook: Notebook, goal: Goal, handled: Happening, memory: int) -> None:
    left, steps = _left(view, notebook, goal.object), goal.steps
    if left <= 0:
        _close(view, notebook, goal, DONE if isinstance(handled, Did) else OVERTAKEN, memory)
    elif steps - left != goal.done_steps:
        changed = goal.moved(view.tick, memory, steps=max(steps, left), done_steps=max(0, steps - left))
        notebook.goals = notebook.goals.with_changed(changed)


def _left(view: TurnView, notebook: Notebook, thing: str) -> int:
    """Returns how many attempts a repair still takes from the state in which the thing is seen or believed to be."""
    seen, known = view.world.things.get(thing), notebook.belief.nodes.get(thing)
    state = seen.state if seen else known.state if known else ""
    made = seen.progress if seen else 0
    return sum(one.times for one in mending(view.scenario.geography, thing, state)) - made


def _see_to(view: TurnView, notebook: Notebook, thing: str, memory: int) -> None:
    """Opens a goal to repair a thing that the character is responsible for."""
    if thing not in charges(view):
        return
    left = _left(view, notebook, thing)
    if not left:
        return
    name, spoken = view.scenario.geography.nodes[thing].name, view.scenario.language
    own = next((goal for goal in view.persona.goals if name in goal), "")
    due = _deadline(view, own)
    if due <= view.tick or notebook.goals.lately(about("repair", "", "", thing), 0):  # or it names no day
        own, due = wished(spoken, "repair", thing=language(spoken).the_thing(name)), -1
    _open(view, notebook, Goal("", "repair", own, topic=thing, object=thing, steps=left, due=due), [memory])


def _deadline(view: View, goal: str) -> int:
    """Returns the day that a goal of the scenario names: `… before Sunday`; −1 if it names none."""
    names = [name.lower() for name in weekdays(view.scenario.language)]
    number = next((number for number, name in enumerate(names) if name in goal.lower()), None)
    if number is None:
        return -1
    days = (number - view.scenario.clock.time(0).weekday()) % 7 or 7
    return view.scenario.clock.tick(midnight(view.scenario.clock.time(0)) + timedelta(days=days, minutes=EVENING))


def charges(view: View) -> Iterator[str]:
    """Yields the objects that a character is responsible for: their repair is part of its routine."""
    geography = view.scenario.geography
    for thing, verb in _uses(view.persona):
        node = geography.nodes.get(thing)
        if node is not None and node.kind and any(one.verb == verb for one in geography.kinds[node.kind].repairs):
            yield thing


@lru_cache(maxsize=1 << 14)  # one for each character of a city, as they take turns
def _uses(persona: Persona) -> tuple[tuple[str, str], ...]:
    """Returns (object, verb) of every step of a routine that uses something."""
    steps = (step for item in persona.routine for phase in item.phases for step in phase.steps)
    return tuple(sorted({(step.object_id, step.verb) for step in steps if step.object_id}))


def mending(geography: Geography, thing: str, state: str) -> tuple[Transition, ...]:
    """Returns the transitions that repair a thing in this state, in order; none if there is nothing to repair."""
    node = geography.nodes.get(thing)
    return _mending(geography.kinds[node.kind].repairs, state) if node is not None and node.kind else ()


@cache
def _mending(repairs: tuple[Transition, ...], state: str) -> tuple[Transition, ...]:
    path: list[Transition] = []
    while (one := next((one for one in repairs if one.source == state), None)) is not None and one not in path:
        path.append(one)
        state = one.target
    return tuple(path)


# ── what time brings ─────────────────────────────────────────────────────────────────────────────────────────────────


def _overdue(view: TurnView, notebook: Notebook) -> None:
    """Closes the goals whose time is over. The account tells whether a promise was kept."""
    for goal in notebook.goals.open():
        if not 0 <= goal.due <= view.tick:
            continue
        account, status, memory = notebook.account, GIVEN_UP, _last(view, goal)
        if goal.kind == "promise":
            act = goal.act.partition(".")[2]
            kept = account.find("kept", goal.person, act, goal.topic)
            broke = account.find("broke", goal.person, act, goal.topic)
            if kept is not None and kept.tick > goal.opened:
                status, memory = DONE, kept.because[-1]
            _close(view, notebook, goal, status, memory)
            if broke is not None and broke.tick == view.tick and status == GIVEN_UP:
                _matter(view, notebook, "apologise", broke)
        else:
            _close(view, notebook, goal, status, memory)


def _look_around(view: TurnView, notebook: Notebook) -> None:
    """Looks once a day, before it begins, for things to see to, goals that failed too often, somebody missed, and a
    quarrel."""
    for goal in notebook.goals.open():
        if any(not set(goal.because).isdisjoint(stroke.because) for stroke in notebook.plan.level("day")):
            tried = goal.moved(goal.changed, _last(view, goal), tries=goal.tries + (goal.kind != "repair"))
            notebook.goals = notebook.goals.with_changed(tried)
            if tried.tries >= MOST_TRIES and goal.kind != "promise":
                _close(view, notebook, tried, GIVEN_UP, tried.moved_by)
    for thing in charges(view):
        if _left(view, notebook, thing) and notebook.goals.find("repair", topic=thing) is None:
            memory = view.draft.earliest(_names(view.scenario.geography.nodes[thing].name)) or 0
            if memory:
                _see_to(view, notebook, thing, memory)
    if not any(goal.kind == "visit" for goal in notebook.goals.open()):
        _miss_somebody(view, notebook)
    _sulk(view, notebook)


@cache  # a stream tests a text once for one and the same function
def _names(name: str) -> Callable[[str], bool]:
    return lambda text: name in text


def _miss_somebody(view: TurnView, notebook: Notebook) -> None:
    """Opens a goal to visit the most liked of those with whom the character has not talked for long."""
    clock = view.scenario.clock
    gone = {note.of for note in known(view) if note.gone and note.holds}
    missed = [
        (-relation.warmth, relation.last_talk, other)
        for other, relation in notebook.relations.items()
        if relation.warmth >= FOND and other in view.scenario.personas and other not in gone
        and view.tick - max(0, relation.last_talk) > clock.ticks(MISSED)
    ]  # fmt: skip
    for _, _, other in sorted(missed):
        told = next(iter((*notebook.account.rows("heard", other), *notebook.account.rows("told", other))), None)
        memory = told.because[-1] if told else view.draft.earliest(_names(_called(view, other)))
        if memory and not notebook.goals.lately(about("visit", "", other, ""), view.tick - clock.ticks(48 * 60)):
            text = wished(view.scenario.language, "visit", x=_called(view, other))
            named = told.named if told and told.kind == "heard" else ""
            goal = Goal("", "visit", text, named=named, person=other, due=_in_days(view, VISIT_DAYS))
            _open(view, notebook, goal, [memory], again=True)
            return


def _sulk(view: TurnView, notebook: Notebook) -> None:
    """Opens a goal to end a quarrel that has lasted: the one who was hurt ends it, if nothing has come of it since."""
    clock = view.scenario.clock
    for other in sorted(notebook.relations):
        hurt = next((row for row in notebook.account.rows("hurt", other) if row.act != "stayed_away"), None)
        if hurt is None or not clock.ticks(SULKS) <= view.tick - hurt.tick <= clock.ticks(REST_DAYS * 24 * 60):
            continue
        is_settled = any(row.tick > hurt.tick for row in notebook.account.rows("pleased", other))
        if not is_settled and not any(
            goal.person == other and goal.act == "reproach" for goal in notebook.goals.open()
        ):
            _matter(view, notebook, "make_up", replace(hurt, named=""))


def wish_for(view: TurnView, notebook: Notebook, memories: Iterable[Memory]) -> None:
    """Opens goals for the wishes that a conclusion leads to: to be with somebody, or to hear more of what they have
    told."""
    for memory in memories:
        concluded = happening_of(memory.details)
        if not isinstance(concluded, Concluded):
            continue
        other, topic = concluded.about, concluded.topic
        wishes = sum(goal.kind == "visit" or goal.act == "ask.topic" for goal in notebook.goals.open())
        if topic and not _is_theirs(view, notebook, other, topic):
            continue
        relation = notebook.relations.get(other)
        is_known = relation is not None and bool(topic or relation.label or relation.last_talk >= 0)
        if concluded.wish and is_known and wishes < MOST_WISHES:
            kind, act = ("matter", "ask.topic") if topic else ("visit", "")
            due = _in_days(view, VISIT_DAYS)
            goal = Goal("", kind, concluded.wish, act, as_topic(topic), topic, person=other, due=due)
            _open(view, notebook, goal, [memory.id])


def _is_theirs(view: TurnView, notebook: Notebook, other: str, topic: str) -> bool:
    """Tells whether somebody has told of a subject and may have more to tell: it is neither news nor something
    everybody noticed, nor the character's own, nor without substance (`goodbye`, `rest`)."""
    if view.persona.called in topic:
        return False
    if " " not in topic.strip() and not language(view.scenario.language).has_particles:
        return False  # no article: no thing
    if carried(view.scenario.facts, topic):
        return False
    name = _head(topic)
    told = sum(row.times for row in notebook.account.rows("heard", other) if _head(row.topic) == name)
    return 0 < told < WELL_TOLD and name not in _noticed(view.scenario)


def _head(topic: str) -> str:
    """Returns the last word of a subject, which names it, whosever it is."""
    return next(reversed(words(as_topic(topic))), "")


@derived
def _noticed(scenario: Scenario) -> frozenset[str]:
    """Returns the subjects of the scenario's occasions, except those that somebody there has memories of."""
    own = {_head(one.topic) for memories in scenario.memories.values() for one in memories}
    return frozenset({_head(tell.topic) for tell in scenario.tells.values()} - own)


# ── as a mind is told ────────────────────────────────────────────────────────────────────────────────────────────────


def goal_notes(view: View, goals: Iterable[Goal], *, seek: bool = False) -> tuple[GoalNote, ...]:
    """Returns goals as a mind is told them; with `seek`, also where and when their people are mostly met."""
    goals = tuple(goals)
    wanted = {(goal.person, goal.place) for goal in goals if goal.person}
    met = _met(view, wanted) if seek and wanted else {}
    return tuple(_note(view, goal, *met.get((goal.person, goal.place), (goal.place, goal.hour))) for goal in goals)


SOON = timedelta(minutes=30)


def goals_spoken_of(view: View, goals: Iterable[Goal], lines: Sequence[str]) -> tuple[GoalNote, ...]:
    """Returns goals as they are told to a mind that has just heard these lines; if a line names a goal's person, also
    where and when that person is mostly met later today."""
    notes = goal_notes(view, goals)
    return tuple([_met_today(view, note) if _is_spoken_of(view, note, lines) else note for note in notes])


def _is_spoken_of(view: View, note: GoalNote, lines: Sequence[str]) -> bool:
    is_elsewhere = bool(note.called) and not note.place and note.person not in view.world.bodies
    return is_elsewhere and any(is_named(note.called, line) for line in lines)


def _met_today(view: View, note: GoalNote) -> GoalNote:
    place, minute = met_from(view, note.person, view.now + SOON)
    time = hhmm(midnight(view.now) + timedelta(minutes=minute)) if place else ""
    return changed(note, place=place, time=time) if time else note


def _note(view: View, goal: Goal, place: str, hour: int) -> GoalNote:
    geography, belief = view.scenario.geography, view.state.belief
    state = known.state if goal.object and (known := belief.nodes.get(goal.object)) else ""
    path = mending(geography, goal.object, state) if goal.object else ()
    lacks = next((thing for one in path[:1] for thing, wanted in one.needs if not _is(view, thing, wanted)), "")
    if goal.object:
        place = belief.place_of(goal.object)
    place = goal.place or place
    if goal.hour >= 0:
        hour = goal.hour
    due = view.scenario.clock.time(goal.due) if goal.due >= 0 else None
    return GoalNote(
        id=goal.id,
        kind=goal.kind,
        text=goal.text,
        act=goal.act,
        topic=goal.named or goal.topic,
        person=goal.person,
        called=_called(view, goal.person) if goal.person in view.scenario.personas else "",
        object=goal.object,
        object_name=geography.nodes[goal.object].name if goal.object in geography.nodes else "",
        verb=path[0].verb if path else "",
        people=path[0].people if path else 1,
        lacks=geography.nodes[lacks].name if lacks in geography.nodes else "",
        place=place if place in geography.edges else "",
        time=hhmm(midnight(view.now) + timedelta(minutes=hour)) if hour >= 0 else "",
        due=iso(due) if due else "",
        day=_day(view, due) if due else "",
        minutes=(view.world.tick - goal.opened) * view.scenario.clock.tick_minutes,
        hours_left=max(0, (due - view.now) // timedelta(hours=1)) if due else 999,
        steps=goal.steps,
        done_steps=goal.done_steps,
        tries=goal.tries,
        because=tuple(memory for memory in goal.because if memory in view.memories),
    )


def _is(view: View, thing: str, state: str) -> bool:
    known = view.state.belief.nodes.get(thing)
    return known is not None and state in ("*", known.state)


def _day(view: View, due: datetime) -> str:
    """Returns the day of a deadline in a word: `tomorrow`, `Thursday`."""
    language = view.scenario.language
    days = (due.date() - view.now.date()).days
    named = {int(count): word for word, count in reversed(rows(language, "days", "ahead"))}
    return named[days] if days in (0, 1) else weekdays(language)[due.weekday()]


def _met(view: View, wanted: set[tuple[str, str]]) -> dict[tuple[str, str], tuple[str, int]]:
    """Returns (character, place) → the place and the minute of the day at which the two have met most often these days;
    an empty place in the key means any. If they have not met: where the other was seen last, or lives."""
    seen = _sightings(view, {other for other, _ in wanted})
    return {(other, place): _usual(view, other, place, seen[other]) for other, place in wanted}


def met_from(view: View, other: str, moment: datetime) -> tuple[str, int]:
    """Returns the place and the minute of the day at which somebody is mostly met later than that moment of a day; no
    place if they have not met."""
    counts = _sightings(view, {other})[other]
    later = {(hour, place): count for (hour, place), count in counts.items() if hour > moment.hour}
    _, hour, place = min(((-count, hour, place) for (hour, place), count in later.items()), default=(0, -1, ""))
    return place, hour * 60 + 10


def _sightings(view: View, people: Set[str]) -> dict[str, Counter[tuple[int, str]]]:
    """Returns for each of these people how often they were seen these days, by hour and place."""
    sightings: dict[str, Counter[tuple[int, str]]] = {other: Counter() for other in people}
    days = set[tuple[str, int, int, str]]()
    for memory in view.memories.since(view.now - SIGHTINGS, OBSERVATION):
        seen = happening_of(memory.details)
        other, place = seen.who, seen.place
        if other in people and place and WAKING[0] <= memory.created_at.hour < WAKING[1]:
            day = (other, memory.created_at.day, memory.created_at.hour, place)
            sightings[other][memory.created_at.hour, place] += day not in days
            days.add(day)
    return sightings


def _usual(view: View, other: str, at: str, counts: Counter[tuple[int, str]]) -> tuple[str, int]:
    there = [(-count, hour, place) for (hour, place), count in counts.items() if at in ("", place)]
    if there:
        _, hour, place = min(there)
        return place, hour * 60 + 10
    if at:
        return at, -1
    belief, edges = view.state.belief, view.scenario.geography.edges
    home = view.scenario.personas[other].home
    last = belief.place_of(other)
    return (last if last in edges else home if belief.knows(home) else ""), -1
