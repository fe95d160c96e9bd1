"""React: keep the plan, or not. Without news the reaction is `keep`, and no question is asked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from commonplace.character.plan import PlanItem
from commonplace.cognition import plan as planning
from commonplace.cognition.act import plan_step, targets
from commonplace.cognition.authors_lines import unconditional
from commonplace.cognition.converse import gathering, has_floor, lull, news_ahead, said_to, spoken
from commonplace.cognition.goals import goals_spoken_of
from commonplace.cognition.known_circumstances import absent, aware, in_own_words, known, off, shown_the_way, speakable
from commonplace.cognition.past import own_past, past_with
from commonplace.cognition.plan import MOST_HEEDED, agreed, heeded, rests_on_talk
from commonplace.cognition.remember import rated, unrated
from commonplace.cognition.retrieve import retrieve
from commonplace.cognition.sentences import doing
from commonplace.cognition.situation import fact_notes, item_note, later_strokes, places, recalled, situation, who
from commonplace.cognition.turn import Notebook, TurnView
from commonplace.minds.mind import Unless
from commonplace.minds.notes import Agreed, News, Recalled
from commonplace.minds.tasks import REACT, ReactInput, ReactOutput
from commonplace.world.events import VoiceAnswered
from commonplace.world.happenings import Said

MOST_NOTICED = 3
"""The most news that the retrieval's query names; the mind is still told all of it."""
SMALL = 3
"""Importance up to which news may be too small to ask about. It is a memory then, and nothing else."""
JUST_TALKED = 90
"""Minutes after a talk with somebody in which what they do, and say to others, is no news to ask about."""
FAILURES = frozenset({"outcome", "absent"})
"""Kinds of news about what the character itself has tried in vain."""
KEEP = ReactOutput(decision="keep", reason="nothing new")


async def react(view: TurnView, notebook: Notebook, news: Sequence[News], item: PlanItem | None) -> ReactOutput:
    """Returns the reaction to what is new; a new stroke changes the plan at once.

    If requests are merged, the answer holds ratings, words and the action, too.
    """
    if _is_small(view, notebook, news, item):
        for entry in news:  # as important as the rules say: a rating would be a question of its own
            notebook.unrated.pop(entry.text, None)
        news = ()
    news = (*news, *lull(view))
    if not news and not _calls_for_thought(view, item):
        notebook.trace["reaction"] = reaction_entry(KEEP, None)
        return KEEP
    found = await retrieve(view, notebook, "react", _query(view, news, item))
    if not view.world.talk:
        found = (*found, *news_ahead(view, notebook, found, view.world.targets.agents))
    settled = agreed(view, notebook)
    inputs = _input(view, notebook, news, item, (*found, *_behind(view, notebook, settled, found)), settled)
    answer = await notebook.ask(REACT, inputs, _gate(view, inputs))
    reaction = answer.value
    if inputs.unrated:
        rated(view, notebook, reaction.ratings)
    notebook.trace["reaction"] = reaction_entry(reaction, answer.number)
    if any(entry.kind == "voice" for entry in news):
        follows = reaction.decision != "keep" or reaction.stroke is not None
        notebook.notes.append(VoiceAnswered(follows=follows, reason=reaction.reason))
    if reaction.stroke is not None and view.scenario.cognition.plan and not _is_enough(view, notebook, reaction):
        await planning.add_stroke(view, notebook, reaction.stroke, reaction.reason)
    elif reaction.decision == "keep" and any(entry.kind in FAILURES for entry in news):
        planning.reopen(view, notebook, news[0].text)
    return reaction


def _gate(view: TurnView, inputs: ReactInput) -> Unless[ReactInput] | None:
    """Returns the rows that may answer in place of the mind; None if the news is said to the character, weighs more
    than a little or is its own failure, or if the answer has to hold something that only the mind decides."""
    if not view.scenario.cognition.has_gate:
        return None
    if inputs.targets is not None or any(
        entry.to_me or entry.importance > SMALL or entry.kind in FAILURES for entry in inputs.news
    ):
        return None
    from commonplace.minds.offline.gate import nothing_for_me  # noqa: PLC0415 – start-up speed

    return nothing_for_me


def _calls_for_thought(view: TurnView, item: PlanItem | None) -> bool:
    """Tells whether the plan now leads where the character knows that it cannot go, or to something that does not take
    place; on the hour, also whether somebody is missed."""
    if item is None or not view.scenario.circumstances:
        return False
    if view.now.minute < view.scenario.clock.tick_minutes and absent(view, item):
        return True
    if item.start_time != view.now:
        return False
    return any(
        note.memory not in item.because
        and (item.location in note.barred or (item.location == note.place and note.subject == "fact" and note.holds))
        for note in known(view)
    )


def _behind(
    view: TurnView, notebook: Notebook, settled: Iterable[Agreed], found: Iterable[Recalled]
) -> tuple[Recalled, ...]:
    """Returns the memories of what has been agreed for today, without those found already."""
    known = {note.id for note in found}
    ids = dict.fromkeys(memory for one in settled for memory in one.because if memory not in known)
    if ids:
        notebook.chosen("agreed", list(ids), len(ids))
    return recalled(view.scenario, map(view.draft.get, ids), view.now)


def _is_enough(view: TurnView, notebook: Notebook, reaction: ReactOutput) -> bool:
    """Tells whether the change would rest on talk alone although talk has changed the plan often enough today."""
    because = reaction.because
    others = [memory for memory in because if memory in view.draft and not rests_on_talk(view, (memory,))]
    return rests_on_talk(view, because) and not others and heeded(view, notebook) >= MOST_HEEDED


def sleeps_on(view: TurnView, notebook: Notebook, news: Iterable[News]) -> ReactOutput:
    """Returns the reaction of a sleeper, who keeps to its plan. An inner voice is remembered, and may be heeded after
    waking."""
    if any(entry.kind == "voice" for entry in news):
        notebook.notes.append(VoiceAnswered(follows=False, reason=doing(view.scenario.language, "asleep")))
    return KEEP


def _is_small(view: TurnView, notebook: Notebook, news: Sequence[News], item: PlanItem | None) -> bool:
    """Tells whether the news is not worth a question to a mind that is not asked for each action anyway."""
    cognition = view.scenario.cognition
    if has_floor(view) or (cognition.asks_each_tick and cognition.requests != "merged"):
        return False
    return not any(_may_move(view, notebook, entry, item) for entry in news)


def _may_move(view: TurnView, notebook: Notebook, entry: News, item: PlanItem | None) -> bool:
    """Tells whether a piece of news may change what the character does when it is not its turn to speak.

    These may not unless they are important, carry a fact or are said to it: things; what people do and say to each
    other, while the character is in a talk or within 90 minutes after one with them; weather, while it is indoors and
    stays there.
    """
    if entry.importance > SMALL or entry.facts or entry.to_me:
        return True
    if entry.kind == "thing":
        return False
    if entry.kind in {"doing", "did", "said"}:
        return view.world.talk is None and not _just_talked(view, notebook, entry.who)
    if entry.kind == "weather":
        return view.world.outdoor or (item is not None and item_note(view.scenario, item).outdoor)
    return True


def _just_talked(view: TurnView, notebook: Notebook, other: str) -> bool:
    last = notebook.relations[other].last_talk if other in notebook.relations else -1
    return last >= 0 and (view.tick - last) * view.scenario.clock.tick_minutes < JUST_TALKED


def reaction_entry(reaction: ReactOutput, ordinal: int | None) -> dict[str, Any]:
    """Returns a reaction as the trace stores it: one that was asked for is in the journal, under its ordinal."""
    return {"decision": reaction.decision, "reason": reaction.reason} if ordinal is None else {"asked": ordinal}


def _query(view: TurnView, news: Sequence[News], item: PlanItem | None) -> list[str]:
    """Returns the query: the situation, the people here, and what the character is doing."""
    called = [view.scenario.personas[other].called for other in sorted(view.world.bodies)]
    return [*(entry.text for entry in news[:MOST_NOTICED]), *called, item.action_description if item else ""]


def _input(
    view: TurnView, notebook: Notebook, news: Sequence[News], item: PlanItem | None, found: tuple[Recalled, ...],
    settled: tuple[Agreed, ...],
) -> ReactInput:  # fmt: skip
    so = known(view)
    so = (*so, *absent(view, item))
    shown_the_way(view, notebook, so)
    here = [other for other in sorted(view.world.bodies) if other in notebook.relations]
    cognition = view.scenario.cognition
    merged = {"rate", "converse", "act"}.difference(cognition.apart) if cognition.requests == "merged" else set[str]()
    acts = "act" in merged and cognition.asks_each_tick
    speaks, facts = "converse" in merged, fact_notes(view.scenario, found, off(so, view.persona.id))
    if speaks and view.scenario.circumstances:
        found, facts = speakable(view, found), in_own_words(view, facts)
    happenings, bearings = unrated(view, notebook) if "rate" in merged else ((), ())
    told_me = [said.quote for entry in news if isinstance(said := entry.happening, Said) and said.to_me]
    return ReactInput(
        who=who(view.persona),
        situation=situation(view),
        news=tuple(news),
        now=item_note(view.scenario, item) if item else None,
        later=later_strokes(view.scenario, notebook.plan, view.now),
        recalled=unconditional(view.scenario, found) if speaks else found,
        facts=unconditional(view.scenario, facts) if speaks else facts,
        lines=spoken(view),
        floor=has_floor(view),
        places=places(view.scenario, notebook.belief),
        told={other: facts for other in here if (facts := aware(view, other, notebook.relations[other].shared))},
        unrated=tuple(notebook.unrated) if "rate" in merged else (),
        unrated_happenings=happenings,
        unrated_bearings=bearings,
        speaks=speaks,
        said=said_to(view, view.world.targets.agents) if speaks else {},
        targets=targets(view, notebook, plan_step(view, notebook, item)) if acts else None,
        past=own_past(view, notebook.account),
        pasts={other: past_with(view, notebook.account, other) for other in view.world.targets.agents}
        if merged
        else {},
        goals=goals_spoken_of(view, notebook.goals.open(), told_me),
        agreed=settled,
        so=so,
        gathering=gathering(view, notebook, speaks=speaks),
    )
