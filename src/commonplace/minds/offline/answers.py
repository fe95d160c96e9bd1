"""Replies that need an answer: to questions, each kind of which looks for it among what is remembered, and to news."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from commonplace.character.account import as_topic
from commonplace.minds.notes import FactNote, Item, PastNote, Recalled
from commonplace.minds.offline.account import attended, heard_of, told_others
from commonplace.minds.offline.gatherings import event_name, goes_to
from commonplace.minds.offline.hear import content
from commonplace.minds.offline.sayings import (
    Saying,
    if_asked,
    is_worth_telling,
    occasion_word,
    worded,
)
from commonplace.minds.offline.scene import Line, Scene
from commonplace.minds.offline.told import Told, minutes_since
from commonplace.world.happenings import NOTHING_KNOWN, Concluded, Did, ISaid, Said, Seed

HEARD_OF = Said | Seed | Concluded
"""Kinds of memory that count as having heard the news."""
LATELY = 10
"""Minutes after which something heard is no longer news."""
HOW_ARE_YOU = frozenset({"ask.well", "ask.doing"})
SHARES = 2
"""Words that a memory must share with what was told to be more of it."""
A_WORD = 8
"""Weight of a word that two lines share."""
SAME_TOLD = 4
"""Words that two lines must share to count as telling the same."""


# ── news ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def news_reply(scene: Scene, memory: Recalled) -> Line | None:
    """A reaction to a seed fact just told, and to the invitation that comes with an event; None for one not noted."""
    note = next((scene.notes[name] for name in memory.facts if name in scene.notes), None)
    act = scene.heard.act
    if note is None or act in {"accept", "decline"}:
        return None
    if note.starts and note.starts <= scene.moment:
        is_over = minutes_since(scene.moment, note) > (note.minutes or 60)
        return None if is_over or scene.heard.asks or "?" in scene.last else scene.line("react.occasion", memory.id)
    if act == "ask.going":
        return Line("", (memory.id,)).then(going(scene, note, asked=True))
    before = _source(scene, memory, note)
    known = [one for one in heard_of(scene.talk.past, {note.id}) if one.times > 1 or one.minutes_ago > LATELY]
    first = _surprise(scene, memory, before, known)
    if note.starts > scene.moment and note.place:
        return first.then(going(scene, note, asked=act == "invite"))
    asks_back = before is None and not known and scene.dice.chance(60, "who")
    named = "sourced" if scene.rules.has("sourced", scene.last) else ""
    return first.then(scene.line(scene.suited("follow.news", named)) if asks_back else None)


def _surprise(scene: Scene, memory: Recalled, before: Recalled | None, known: list[PastNote]) -> Line:
    """What one says to news: that it is none where one remembers or knows that one heard it, and from whom."""
    if before is None and known:
        teller = next((one.called for one in known if one.other != scene.you.id), "")
        rule = "react.known" if teller else "react.known_plain"
        return scene.line(rule, memory.id, *known[0].because, x=teller)
    if before is None:
        return scene.line(scene.suited("react.news", scene.heard.kind), memory.id)
    teller = before.happening.called if isinstance(before.happening, Said) and before.happening.to_me else ""
    is_other = teller and teller != scene.you.called
    return scene.line("react.known" if is_other else "react.known_plain", memory.id, before.id, x=teller)


def _source(scene: Scene, memory: Recalled, note: FactNote) -> Recalled | None:
    """An earlier memory of the same fact. What I planned, or heard just now from this hearer, does not count."""
    return next(
        (
            one
            for one in scene.talk.recalled
            if one.id != memory.id and note.id in one.facts
            and (isinstance(one.happening, HEARD_OF) or one.happening == NOTHING_KNOWN)
            and (one.minutes_ago > memory.minutes_ago + LATELY or one.happening.who not in {"", scene.you.id})
        ),
        None,
    )  # fmt: skip


def going(scene: Scene, note: FactNote, *, asked: bool) -> Line:
    """Yes if the plan has it, no if the plan has something else, otherwise a maybe or the question back."""
    event, made_up = event_name(note, scene.language), scene.dice.steady()
    slots = {"event": event, "time": scene.language.clock(note.starts[11:16])}
    clash = _clash(scene, note)
    if goes_to(scene.talk, note):
        return scene.line("accept", about=event, **slots)
    if clash is not None and made_up.chance(60, "clash", note.id):
        return scene.line("decline", scene.as_told(Did(doing=clash.do)), about=event, **slots)
    rule = "maybe" if asked or made_up.chance(60, "maybe", note.id) else "follow.event"
    return scene.line(rule, about=event, **slots)


def _clash(scene: Scene, note: FactNote) -> Item | None:
    """What the plan holds for the time of the event."""
    if note.starts[:10] != scene.moment[:10]:
        return None
    items = [item for item in scene.talk.later if item.start <= note.starts[11:16] and not item.asleep]
    do = items[-1].do if items else ""
    return items[-1] if scene.language.is_doing(do) and not scene.language.addresses(do) else None


# ── questions ────────────────────────────────────────────────────────────────────────────────────────────────────────


def answer_question(scene: Scene, memory: Recalled, options: list[Saying]) -> Line:
    """The answer to a question, resting on the memory of hearing it and on those that answer it."""
    answerer = _ANSWERERS.get(scene.heard.act)
    if answerer is not None:
        return answerer(scene, memory, options)
    rule = _PLAIN.get(scene.heard.act, "")
    rule = scene.suited(rule, scene.my_kind) if rule else ""
    own = _rest(scene, options)
    if own is not None and scene.heard.act in FURTHER:
        return Line("", (memory.id,)).then(worded(scene, own))
    own = own or _matching(scene, options)
    if own is not None:
        return scene.line(rule or "answer.voiced", memory.id).then(_on(scene, own))
    return scene.line(rule or "answer.plain", memory.id).then(_more(scene, options))


def _matching(scene: Scene, options: list[Saying]) -> Saying | None:
    """The saying that shares most words with the question, or with what I said that it asks about."""
    mine = content(scene.mine[-1]) if scene.mine and not scene.heard.topic else frozenset[str]()
    asked = scene.heard.words | mine
    shared = [(len(asked & option.words), -index) for index, option in enumerate(options) if not option.asks]
    top = max(shared, default=(0, 0))
    return options[-top[1]] if top[0] else None


def _on(scene: Scene, own: Saying) -> Line | None:
    """The saying after an answer; where it has another topic than the question, after a few words."""
    line = worded(scene, own)
    return line if is_on_topic(scene, own) else scene.aside(line)


def is_on_topic(scene: Scene, own: Saying) -> bool:
    """Whether the saying is about what was just said, by either of us."""
    if own.subject and scene.language.occurs(own.names, f"{scene.last} {scene.heard.topic} {scene.my_topic}".lower()):
        return True
    bare, topics = scene.language.bare, (scene.heard.topic, scene.my_topic)
    return any(one and (bare(one) == bare(own.topic) or content(one) & content(own.topic)) for one in topics)


def _best(scene: Scene, options: list[Saying]) -> Saying | None:
    pulls = [
        (option.weight + scene.spread(40, option.ids[0]), -index)
        for index, option in enumerate(options)
        if not option.asks
    ]
    return options[-max(pulls)[1]] if pulls else None


def _more(scene: Scene, options: list[Saying]) -> Line | None:
    """Something of my own after the answer, half of the time."""
    own = _best(scene, options)
    return scene.aside(worded(scene, own)) if own is not None and scene.dice.chance(50, "more") else None


def _well(scene: Scene, memory: Recalled, options: list[Saying]) -> Line:
    trouble = next((one for one in options if one.rule in {"core.refused", "core.thing", "core.absent"}), None)
    if trouble is not None and scene.dice.chance(45, "moan"):
        return scene.line("answer.badly", memory.id).then(worded(scene, trouble))
    own = _best(scene, options)
    body = worded(scene, own) if own is not None else None
    if body is not None:
        return scene.line("answer.fine", memory.id).then(scene.aside(body))
    doing = _current(scene)
    return scene.line("answer.well", memory.id, *([doing] if doing else []))


def _doing(scene: Scene, memory: Recalled, options: list[Saying]) -> Line:
    doing = _current(scene)
    if not doing:
        own = _best(scene, options)
        return scene.line("answer.voiced" if own else "answer.plain", memory.id).then(
            worded(scene, own) if own else None
        )
    first = scene.line("answer.doing", memory.id, doing)
    asks_back = scene.my_kind not in HOW_ARE_YOU and scene.dice.chance(40, "back")
    return first.then(scene.line("back") if asks_back else _more(scene, options))


def _current(scene: Scene) -> Told | None:
    """What I am doing; None if it would not read well."""
    now = scene.talk.now
    if now is None or now.because or not is_worth_telling(scene, now.do):
        return None
    did = scene.as_told(Did(doing=now.do))
    return did if did.doing and scene.language.head(did.doing) not in scene.rules.words("talk") else None


def _going(scene: Scene, memory: Recalled, options: list[Saying]) -> Line:  # noqa: ARG001
    topic, notes = scene.heard.topic, [note for note in scene.talk.facts if note.starts > scene.moment]
    named = [note for note in notes if scene.language.bare(topic) in note.text.lower()]
    if not named:
        return scene.line("maybe", memory.id)
    return Line("", (memory.id,)).then(going(scene, named[0], asked=True))


def _seen(scene: Scene, memory: Recalled, options: list[Saying]) -> Line:
    for option in options:
        if option.rule == "core.saw" and any(one.it.called and one.it.called in scene.last for one in option.of):
            answer = scene.line("answer.seen", *option.ids, *option.of, about=option.topic)
            return Line("", (memory.id,)).then(answer)
    seen = next((note for note in scene.talk.past.notes if note.kind == "saw" and note.called in scene.last), None)
    if seen is not None:
        at = scene.language.at_place(seen.text, scene.me, scene.you)
        when = scene.language.when(scene.moment, seen.minutes_ago)
        return scene.line("answer.seen", memory.id, x=seen.called, at=at, when=when)
    lost = [one for one in options if one.rule in {"core.absent", "core.thing"} and scene.heard.words & one.words]
    if lost:
        return scene.line("answer.voiced", memory.id).then(worded(scene, lost[0]))
    return scene.line("answer.unseen", memory.id)


def _event(scene: Scene, memory: Recalled, options: list[Saying]) -> Line:
    """How an occasion was: what I remember of being there."""
    past, spoken, named = scene.talk.past, scene.language, occasion_word(scene.rules, scene.last)
    was_there = attended(past, scene.heard.topic, spoken) or attended(past, named, spoken)
    if was_there is None:
        return scene.line("answer.event" if scene.heard.topic else "answer.plain", memory.id)
    own = next((one for one in options if one.rule == "core.was"), None)
    body = worded(scene, own) if own is not None else None
    body = body or scene.line("answer.event_went", *was_there.because)
    return Line("", (memory.id,)).then(body)


def _topic(scene: Scene, memory: Recalled, options: list[Saying]) -> Line:
    """What I know of a subject, or how what I did went."""
    bare, begun = scene.language.bare, [one for one in scene.talk.facts if one.starts and one.starts <= scene.moment]
    if any(bare(event_name(one, scene.language)) == bare(scene.heard.topic) for one in begun) and (
        attended(scene.talk.past, scene.heard.topic, scene.language) is not None
    ):
        return _event(scene, memory, options)
    did = scene.talk.past.spoken_of
    if did is not None:
        answer = scene.line("answer.asked_doing", memory.id, *did.because, scene.as_told(Did(doing=did.named)))
        if answer.text:
            return answer
    doing = _current(scene)
    is_mine = doing is not None and not scene.mine and content(scene.heard.topic) & content(doing.doing)
    if doing is not None and is_mine and _rest(scene, options) is None:
        return scene.line("answer.asked_doing", memory.id, doing)
    return _more_of(scene, memory, options)


def _more_of(scene: Scene, memory: Recalled, options: list[Saying]) -> Line:
    """The rest of what I have told, what else I know or overheard of it; where there is nothing, something else."""
    left = (_rest(scene, options), *_if_asked(scene))
    body = next((line for one in left if one is not None and (line := worded(scene, one)) is not None), None)
    if body is not None:
        first = Line("", (memory.id,))
        if scene.heard.topic and not scene.mine:
            topic = scene.language.owned(scene.heard.topic, scene.me, scene.you)
            first = scene.line("answer.topic", memory.id, about=scene.heard.topic, topic=topic)
        elif scene.dice.chance(12, "more"):
            first = scene.line("answer.more", memory.id)
        return first.then(body)
    rule = "answer.more_none" if scene.heard.act == "ask.more" else "answer.topic_none"
    none = scene.line(scene.suited(rule, scene.my_kind), memory.id)
    own = _best(scene, options) if scene.is_young else None
    body = worded(scene, own) if own is not None else None
    return none.then(scene.led(body, "turn") if body else None)


def _rest(scene: Scene, options: list[Saying]) -> Saying | None:
    """What there is to tell on the subject that was asked about, or on what my last line was about."""
    if scene.heard.act == "ask.topic" and scene.heard.topic:
        pulls = [
            (option.weight, -index)
            for index, option in enumerate(options)
            if _is_about(scene, option, scene.heard.topic)
        ]
        return options[-max(pulls)[1]] if pulls else None
    asked = scene.heard.words | (content(scene.mine[-1]) if scene.mine else frozenset[str]())
    shared = [(len(asked & option.words), index) for index, option in enumerate(options) if _tells(option)]
    fitting = [
        (options[index].weight + A_WORD * words, -index)
        for words, index in shared
        if words >= SHARES or is_on_topic(scene, options[index])
    ]
    return options[-max(fitting)[1]] if fitting else None


def _tells(option: Saying) -> bool:
    """Whether a saying tells anything to one who asks: not what the other asks or said themselves."""
    return not option.asks and option.rule != "core.insight_you"


def _is_about(scene: Scene, option: Saying, topic: str) -> bool:
    """Whether a saying tells something of a subject."""
    if not _tells(option):
        return False
    named, bare = content(topic), scene.language.bare
    if (option.subject and scene.language.occurs(option.names, topic.lower())) or bare(topic) == bare(option.topic):
        return True
    return bool(named & content(option.topic)) or (bool(named) and named <= option.words)


def _if_asked(scene: Scene) -> Iterator[Saying]:
    """What others were heard to say on the subject that was asked about, then what one concluded, saw happen or did."""
    asked = content(scene.heard.topic)
    found = (if_asked(scene, one) for one in scene.talk.recalled) if asked else ()
    fitting = [
        one
        for one in found
        if one and _tells(one) and asked <= one.words and not scene.known(one.mark) and not scene.has_told(one.mark)
    ]
    yield from sorted(fitting, key=lambda one: one.rule != "core.heard")


def _who(scene: Scene, memory: Recalled, options: list[Saying]) -> Line:  # noqa: ARG001
    """Who told me: the speaker of the memory that carries the fact I have just passed on."""
    told = _spoken_of(scene)
    source = next((one for one in reversed(heard_of(scene.talk.past, told)) if one.other != scene.you.id), None)
    if source is not None:
        return scene.line("answer.who", memory.id, *source.because, x=source.called)
    for one in scene.talk.recalled:
        if told & {*one.facts} and isinstance(one.happening, Said) and one.happening.who != scene.you.id:
            return scene.line("answer.who", memory.id, one.id, x=one.happening.called)
    is_witness = any(told & {*one.facts} and isinstance(one.happening, Seed) for one in scene.talk.recalled)
    return scene.line(scene.suited("answer.who_self", "witness") if is_witness else "answer.who_self", memory.id)


def _else(scene: Scene, memory: Recalled, options: list[Saying]) -> Line:
    """Whether others know: by whether I remember telling anybody what I have just said."""
    others = told_others(scene.talk.past, scene.you.id, _spoken_of(scene))
    if not others and not scene.talk.past.notes and _remembers_telling(scene):
        first = scene.line("answer.else_told", memory.id)
    elif others:
        named = scene.language.both(list(dict.fromkeys(one.called for one in others))[:2])
        first = scene.line("answer.else_told", memory.id, *others[0].because, xs=named)
    else:
        first = scene.line("answer.else", memory.id)
    own = _matching(scene, options)
    return first.then(_on(scene, own)) if own is not None and scene.dice.chance(50, "more") else first


def _spoken_of(scene: Scene) -> frozenset[str]:
    """What I have just told, and what the question is about: facts by their ids, other subjects by their words."""
    facts = {note.id for note in scene.talk.facts if any(text in line for line in scene.mine for text in note.tell)}
    topics = {as_topic(topic) for topic in (scene.my_topic, scene.heard.topic) if topic}
    named = {note.topic for topic in topics for note in scene.talk.past.notes if topic and topic in note.text.lower()}
    return frozenset(facts | topics | named)


def _remembers_telling(scene: Scene) -> bool:
    """Whether I remember telling anybody else what I have just said."""
    mine = [one for one in scene.talk.recalled if isinstance(one.happening, ISaid)]
    before = [one for one in mine if one.happening.quote not in scene.mine]
    words = content(scene.mine[-1]) if scene.mine else frozenset[str]()
    facts = {fact for one in mine if one.happening.quote in scene.mine[-1:] for fact in one.facts}
    return any(len(words & content(one.happening.quote)) >= SAME_TOLD or facts & {*one.facts} for one in before)


_ANSWERERS: Mapping[str, Callable[[Scene, Recalled, list[Saying]], Line]] = {
    "comfort": _well,
    "invite": _going,
    "ask.well": _well,
    "ask.doing": _doing,
    "ask.going": _going,
    "ask.seen": _seen,
    "ask.event": _event,
    "ask.else": _else,
    "ask.more": _more_of,
    "ask.topic": _topic,
    "ask.who": _who,
}
FURTHER = frozenset({"ask.then", "ask.why", "ask.feel", "ask.since"})
"""Questions that what else one knows of the matter answers."""
_PLAIN = {f"ask.{kind}": f"answer.{kind}" for kind in ("help", "since", "what", "think", "then", "why", "feel")}
"""Questions answered in the words of a rule, and with a memory that shares words with them where there is one."""
