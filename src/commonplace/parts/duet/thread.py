"""How a talk of two develops: a subject is told bit by bit, asked about, answered, closed, and come back to.

A line is chosen by what the last one did. What the author gave to tell is told in the author's order. Banter is a
rule of the grammar whose lines follow each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache

from commonplace.minds.notes import COLD, Recalled
from commonplace.minds.offline.hear import remembered, understood
from commonplace.minds.offline.sayings import PASSED_ON
from commonplace.minds.offline.scene import CLOSE, DraftLine, TalkScene
from commonplace.minds.offline.template_grammar import Grammar, grammar
from commonplace.world.happenings import ISaid, Said, Speech

BANTER = "stage.banter."
LEVELS = ("", "polite", "plain")
"""Speech levels in which the other may have said a line of banter."""
OFTEN = 5
"""Lines with a subject in them that make a running gag of it."""
TELLING = 6
"""Letters by which the words around a subject are recognised."""
TOLD = PASSED_ON | {"weather", "praise"}
"""What a line does that tells something."""
WEIGHTY = 7
"""Importance from which a subject of mine is worth a promise."""
WINDOW = 6
"""Latest lines that are one subject's."""


@dataclass(frozen=True, slots=True)
class Untold:
    """Something an author gave to tell that has not been told."""

    memory: Recalled
    text: str
    topic: str
    after: str
    """What the author has after it; empty for nothing."""
    is_first: bool
    """Whether nothing of its memory has been told."""


def developed(scene: TalkScene, beside: tuple[Recalled, ...]) -> DraftLine | None:
    """Returns the line that continues the talk; None when every line left would repeat something.

    `beside` are memories to tell from that were not recalled.
    """
    if scene.you.warmth < COLD or scene.heard.act in {"greet", "farewell", "comfort", "invite", "snub"}:
        return None
    tells = list(_untold(scene, (*scene.talk.recalled, *beside)))
    lines = (line for line in _choices(scene, tells) if line is not None)
    finished = (replace(line, text=scene.language.finished(line.text)) for line in lines)
    return next((line for line in finished if line.text.lower() not in scene.past), None)


def _choices(scene: TalkScene, tells: list[Untold]) -> Iterator[DraftLine | None]:
    """Lines to say, the most fitting first."""
    if not scene.talk.lines:
        yield _tell(scene, tells, "stage.begin", 100)
        return
    yield _banter(scene)
    act, topic = scene.heard.act, scene.heard.topic
    on_topic = [one for one in tells if topic and _same(scene, one.topic, topic)]
    if act == "ask.what" and topic:
        yield _about(scene, "stage.keep", topic)
    elif scene.heard.asks and on_topic:
        yield _tell(scene, on_topic, "stage.reveal", 30)
    elif scene.heard.asks and topic:
        yield _about(scene, "stage.answer", topic)
    elif scene.heard.asks:
        yield _new(scene, tells, "stage.yield", 50)
        yield _plain(scene, "stage.told_all")
    elif act in TOLD and topic:
        yield from _taken_up(scene, on_topic, topic)
    elif on_topic and act == "acknowledge" and scene.dice.chance(65, "also"):
        yield _tell(scene, on_topic, "stage.also", 40)
    yield from _opened(scene, tells)


def _taken_up(scene: TalkScene, on_topic: list[Untold], topic: str) -> Iterator[DraftLine | None]:
    """Yields what follows a told memory: what I know of it, a question, a closing word, or a promise."""
    act, named = scene.heard.act, _times_named(scene, topic)
    special = {"report": "stage.agree", "praise": "stage.touched"}.get(act)
    if special:
        yield _about(scene, special, topic)
    if on_topic:
        yield _tell(scene, on_topic, "stage.mine", 60 if on_topic[0].is_first else 0)
    if act == "intend":
        yield _about(scene, "stage.noted", topic)
    if named == 1 and act != "intend" and scene.last.count(".") < 2:
        yield _about(scene, "stage.more" if scene.dice.chance(60, "more") else "stage.first", topic)
    if named >= OFTEN and scene.dice.chance(60, "gag"):
        yield _about(scene, "stage.gag", topic)
    if act == "complain" and scene.you.warmth >= CLOSE and scene.dice.chance(50, "offer"):
        yield _about(scene, "stage.offer", topic)
    rule = {"complain": "stage.pity", "rejoice": "stage.glad"}.get(act, "")
    if rule:
        yield _about(scene, rule, topic)
    yield _about(scene, "stage.close", topic)


def _opened(scene: TalkScene, tells: list[Untold]) -> Iterator[DraftLine | None]:
    """Begins something new: a turn for the other, something of mine, banter, or an earlier subject."""
    dice = scene.dice
    telling = [line.speaker for line in scene.talk.lines[-WINDOW:] if line.speech_act in TOLD]
    mine = sum(1 for speaker in telling if speaker == scene.me.id)
    has_more = not any(line.lower() in scene.past for line in scene.rules.every("stage.told_all"))
    ways = [("ask", 40 if 2 * mine > len(telling) else 8), ("tell", 45), ("banter", 38), ("back", 25)]
    pulls = [(weight + dice.below(60, "way", name), name) for name, weight in ways]
    for _, way in sorted(pulls, reverse=True):
        if way == "ask" and has_more and not scene.heard.asks:
            yield _plain(scene, "stage.ask")
        elif way == "tell":
            yield _new(scene, tells, "stage.turn", 55)
        elif way == "banter":
            yield _new_banter(scene)
        elif way == "back":
            yield from _back(scene, tells)


# ── what there is to tell ────────────────────────────────────────────────────────────────────────────────────────────


def _untold(scene: TalkScene, memories: tuple[Recalled, ...]) -> Iterator[Untold]:
    """Yields what is left to tell, the most important memory first; of each memory only what comes next."""
    unique = {one.id: one for one in memories if one.tell and one.happening.topic}
    for memory in sorted(unique.values(), key=lambda one: (-one.importance, one.id)):
        lines = [scene.voiced(text) for text in memory.tell]
        left = [text for text in lines if not scene.known(text)]
        left = [text for text in left if not scene.language.mentions(text, scene.you.name, scene.you.called)]
        if left:
            yield Untold(memory, left[0], memory.happening.topic, "".join(left[1:2]), left[0] == lines[0])


def _new(scene: TalkScene, tells: list[Untold], lead: str, percent: int) -> DraftLine | None:
    """Returns a subject not told of yet, or else the rest of one that was."""
    new = [one for one in tells if one.is_first]
    return _tell(scene, new, lead, percent) if new else _tell(scene, tells, "stage.return", 100)


def _tell(scene: TalkScene, tells: list[Untold], lead: str, percent: int) -> DraftLine | None:
    """Tells the first of them, sometimes after words that lead up to it."""
    if not tells:
        return None
    told = tells[0]
    act = understood(told.text, scene.me.language).act
    act = "intend" if act == "accept" else act
    line = DraftLine(told.text, (told.memory.id,), act if act in PASSED_ON else "tell", told.topic)
    opens = scene.dice.chance(percent, "lead", told.memory.id) and not scene.language.leads_in(told.text)
    words = _fresh(scene, lead, told.topic) if opens else None
    if words is not None:
        return line.led_by(words.text)
    goes_on = told.after and lead in {"stage.turn", "stage.yield"} and scene.dice.chance(35, "goes on")
    return replace(line, text=f"{line.text} {told.after}") if goes_on else line


def _times_named(scene: TalkScene, topic: str) -> int:
    """Counts the lines that name it or, of the latest, are about it."""
    name = scene.language.bare(topic).lower()
    about = {line.text for line in scene.talk.lines if line.topic and _same(scene, line.topic, topic)}
    return len({line for line in (*scene.talk.said, scene.last) if name in line.lower()} | about | {scene.last})


def _same(scene: TalkScene, one: str, other: str) -> bool:
    return scene.language.bare(one).lower() == scene.language.bare(other).lower()


# ── words ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _fresh(scene: TalkScene, rule: str, topic: str, **slots: str) -> DraftLine | None:
    """Returns a wording that neither speaker has used, for this subject or for another."""
    subjects = [name.lower() for name in (topic, slots.get("other", "")) if name]
    named = [form for name in subjects for form in (name, scene.language.bare(name))]

    def is_fresh(text: str) -> bool:
        around = text.lower()
        for name in named:
            around = around.replace(name, "\n")
        core = max(around.split("\n"), key=len).strip()
        return core not in scene.past if len(core) >= TELLING else text.lower() not in scene.past

    filled = {"topic": topic, "you": scene.language.vocative(scene.you), **slots}
    text, act = scene.rules.word(rule, "", filled, scene.dice, is_fresh)
    return DraftLine(text, (), act, topic) if text else None


def _about(scene: TalkScene, rule: str, topic: str, *ids: int) -> DraftLine | None:
    line = _fresh(scene, rule, topic)
    return replace(line, ids=ids or _heard_ids(scene)) if line else None


def _plain(scene: TalkScene, rule: str) -> DraftLine | None:
    line = _fresh(scene, rule, "")
    return replace(line, ids=_heard_ids(scene)) if line else None


def _heard_ids(scene: TalkScene) -> tuple[int, ...]:
    """Returns the id of the memory of the answered line."""
    said = (one.id for one in scene.talk.recalled if scene.last and one.happening.quote == scene.last)
    return tuple(said)[:1]


# ── coming back ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _back(scene: TalkScene, tells: list[Untold]) -> Iterator[DraftLine | None]:
    """Comes back to a promise, to the rest of something told in part, or to an earlier subject."""
    latest = [line.topic for line in scene.talk.lines[-WINDOW:] if line.topic]
    for one in scene.talk.recalled:
        known = one.happening
        topic = known.topic
        if not topic or any(_same(scene, topic, other) for other in latest):
            continue
        if remembered(known, scene.me.language).act == "intend" and known.quote:
            if isinstance(known, Said) and known.to_me:
                yield _once(scene, "stage.hold", scene.language.turned(topic), one.id)
            elif isinstance(known, ISaid) and scene.dice.chance(40, "kept", one.id):
                yield _once(scene, "stage.kept", topic, one.id)
    if scene.dice.chance(60, "rest"):
        yield _tell(scene, [one for one in tells if not one.is_first], "stage.return", 100)
    begun = [one.memory.id for one in tells if one.is_first]
    own = [one for one in scene.talk.recalled if one.tell and one.importance >= WEIGHTY and one.id not in begun]
    if own and scene.dice.chance(35, "promise"):
        one = scene.dice.choice(own, "promised")
        yield _once(scene, "stage.promise", one.happening.topic, one.id)
    seen = [one for one in scene.talk.recalled if isinstance(one.happening, Speech)]
    topics = {one.happening.topic: one.id for one in seen if scene.language.is_common(one.happening.topic)}
    names = [name for name in topics if name and not any(_same(scene, name, one) for one in latest)]
    for name in scene.dice.shuffled(names, "back")[:2]:
        other = next((one for one in names if one != name), "")
        rules = ["stage.muse", *(["stage.fond"] if scene.you.warmth >= CLOSE else [])]
        rules += ["stage.link"] if other else []
        rule = rules[scene.dice.below(len(rules), "thought", name)]
        yield _once(scene, rule, name, topics[name], other=other)


def _once(scene: TalkScene, rule: str, topic: str, memory: int, other: str = "") -> DraftLine | None:
    """Returns a line of a rule that is said only once about a subject."""
    for text in scene.rules.every(rule):
        said = scene.language.finished(text.replace("{topic}", topic).replace("{other}", other))
        if said.lower() in scene.past:
            return None
    line = _fresh(scene, rule, topic, other=other)
    return replace(line, ids=(memory,)) if line else None


# ── banter ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _banters(rules: Grammar) -> list[str]:
    return sorted((name for name in rules.rules if name.startswith(BANTER)), key=lambda name: int(name[len(BANTER) :]))


def _banter(scene: TalkScene) -> DraftLine | None:
    """Returns what follows the other's line of banter; None when it was none, or the last."""
    following = _following(scene.me.language).get(scene.last)
    return _banter_line(scene, *following) if following else None


@cache
def _following(language: str) -> Mapping[str, tuple[str, int]]:
    """Maps each line of banter, at any level of speech, to its rule and the place of the next line in it."""
    found: dict[str, tuple[str, int]] = {}
    for level in LEVELS:
        rules = grammar(language, level)
        for name in _banters(rules):
            for place, text in enumerate(rules.every(name)[:-1], 1):
                found.setdefault(rules.language.finished(text), (name, place))
    return found


def _new_banter(scene: TalkScene) -> DraftLine | None:
    for name in scene.dice.shuffled(_banters(scene.rules), "banter"):
        lines = [scene.language.finished(text).lower() for text in scene.rules.every(name)]
        if not any(line in scene.past for line in lines):
            return _banter_line(scene, name, 0)
    return None


def _banter_line(scene: TalkScene, name: str, index: int) -> DraftLine:
    template = scene.rules.rules[name][index]
    return DraftLine(template.pieces[0], _heard_ids(scene), template.act)
