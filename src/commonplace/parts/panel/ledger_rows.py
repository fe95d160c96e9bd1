"""What a panel's run has to keep: its answers as coordinates of memory, and the entries of the Resonance Ledger.

All of it is a function of the run's file; `store` writes it to a folder.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from commonplace import rng
from commonplace.canon import canonical, parsed
from commonplace.clock import iso
from commonplace.memory import estimate_tokens
from commonplace.memory.emotion import feeler
from commonplace.memory.record import Emotion
from commonplace.parts.coordinates.document import MemoryCoordinate, new_memory_id
from commonplace.parts.panel import evaluation
from commonplace.parts.panel.rhythm import EXPLORATION, NEUTRAL, PanelAnswer, Rhythm, cycle_of, last_tick, rhythm
from commonplace.parts.panel.task import asked_of
from commonplace.run.manifest import own_minds
from commonplace.run.reading import Reading
from commonplace.scenario.scenario import RatingChange, Scenario
from commonplace.world.events import Event, GodSpoke, Spoke, of_kind
from commonplace.world.happenings import happening_of
from commonplace.world.state import Line

USER, SYSTEM = "user", "system"
"""Who asks, and whose is what came from outside, as personas of the store."""
RESPONSE, ASKED, EVALUATION, REPORT = "persona_response", "user_input", "evaluation", "synthesis_report"
HAPPENED = "system_event"
"""What was said to a panel from outside."""
LEARNED = "rune_report"
"""What the ratings of earlier answers change in this session."""
Figures = dict[str, float | None]


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """An entry of the ledger, and the memory that goes with it."""

    session: str
    type: str
    persona: str
    memory_id: str
    """Empty for an entry about the whole session."""
    at: datetime
    bqi: dict[str, Any]
    document: MemoryCoordinate | None = None
    figures: Figures | None = None
    adjustment: dict[str, Any] | None = None
    refs: tuple[str, ...] = ()


def coordinate(
    at: datetime, space: str, agent: str, affect: float, keywords: Sequence[str], phase: str
) -> dict[str, Any]:
    """Returns a BQI coordinate, as the ledger and a memory have it."""
    emotion = {"affect": affect, "keywords": list(keywords)}
    return {"time": iso(at), "space": space, "agent": agent, "emotion": emotion, "rhythm_phase": phase}


def figures(
    said: PanelAnswer, sources: Sequence[str], outcomes: Sequence[str], *, cited: int = 0, resolved: int = 0
) -> Figures:
    """Returns the figures of an answer without its impact, which is known when the panel has ended."""
    return {
        "transparency": evaluation.transparency(said.text, sources),
        "reproducibility": evaluation.reproducibility(outcomes),
        "verifiability": evaluation.verifiability(said.text, sources, cited, resolved),
        "impact": None,
    }


def closing(
    session: str,
    at: datetime,
    space: str,
    answers: Sequence[tuple[PanelAnswer, str, Figures]],
    everything: Sequence[PanelAnswer],
) -> Generator[LedgerRow]:
    """Yields what is kept when a panel ends: each answer's figures with its impact, and a report with their means.

    `answers`: each with its memory and its figures. `everything`: all answers, also those of a run it was forked from.
    """
    whole: list[Figures] = []
    for said, name, counted in answers:
        whole.append({**counted, "impact": evaluation.impact(said, everything)})
        bqi = coordinate(at, space, said.persona, said.affect, said.emotion.keywords, said.phase)
        yield LedgerRow(
            session, EVALUATION, said.persona, name, at, bqi, figures=whole[-1], refs=(name,) if name else ()
        )
    if answers:
        last = answers[-1][0]
        means = {name: evaluation.mean([one[name] or 0.0 for one in whole]) for name in whole[0]}
        felt = dict.fromkeys(word for said, _, _ in answers for word in said.emotion.keywords)
        bqi = coordinate(at, space, last.persona, last.affect, tuple(felt), last.phase)
        refs = tuple(name for _, name, _ in answers if name)
        yield LedgerRow(session, REPORT, last.persona, "", at, bqi, figures=dict(means), refs=refs)


def learned(session: str, at: datetime, bqi: dict[str, Any], change: RatingChange) -> LedgerRow:
    """Returns the entry on what ratings change."""
    return LedgerRow(session, LEARNED, change.persona, "", at, bqi, adjustment=change.as_json(), refs=change.memories)


class Panel:
    """The panel of a run up to its last tick, as coordinates and entries. A function of the run's file."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._scenario = reading.scenario
        self._panel = self._scenario.part.panel
        self._last = reading.last_tick
        events = reading.events(1, self._last)
        self._outside = list(of_kind(events, GodSpoke))
        said = [(event, spoke) for event, spoke in of_kind(events, Spoke) if event.agent_id in cycle_of(self._scenario)]
        self._events = {event.tick: event for event, _ in said}
        lines = [Line(event.tick, event.agent_id, spoke.to_agent_id, spoke.utterance) for event, spoke in said]
        self.rhythm: Rhythm = rhythm(self._scenario, lines, self._last + 1)
        self._levels = _levels(reading, self._scenario)

    @property
    def session(self) -> str:
        """The id of the panel's own session, without the answers of a parent run.

        Empty for a fork that has not gone on yet.
        """
        return self._levels[-1][1]

    @property
    def has_ended(self) -> bool:
        """Tells whether the last answer has been heard."""
        return self._last >= last_tick(self._scenario)

    @property
    def answers(self) -> dict[str, str]:
        """The id of each answer's event → that of its memory."""
        return {self._events[said.tick].id: self.memory_id(said.tick) for said in self.rhythm.said}

    def memory_id(self, tick: int) -> str:
        """Returns the id of what was said at a tick; the question's for tick 0."""
        return new_memory_id(self._reading.time(tick), self._session(tick), tick, digits=8)

    def rows(self, after: int) -> Generator[LedgerRow]:
        """Yields what the ticks after one have to keep, in the order of the ledger."""
        own = max(after, self._levels[-1][0])
        if own < 0:
            yield self._question()
            yield from self._learned()
        answers = [said for said in self.rhythm.said if said.tick > self._levels[-1][0]]
        came = [(event.tick, self._event(event, spoke.text)) for event, spoke in self._outside if event.tick > own]
        given = [(said.tick, self._answer(said)) for said in answers if said.tick > own]
        yield from (row for _, row in sorted((*came, *given), key=lambda one: one[0]))
        if self.has_ended and self.rhythm.said:
            kept = [(said, self.memory_id(said.tick), self._figures(said)) for said in answers]
            at, session = self._reading.time(self._last), self._session(self._last)
            yield from closing(session, at, self._panel.domain, kept, self.rhythm.said)

    def _session(self, tick: int) -> str:
        return next(session for first, session in reversed(self._levels) if tick > first)

    def _question(self) -> LedgerRow:
        at, text = self._reading.time(0), self._panel.prompt
        felt = feeler(self._scenario.language)(text)
        keywords = felt.keywords if felt else ()
        bqi = self._bqi(at, USER, NEUTRAL, keywords, EXPLORATION)
        document = self._document(0, USER, ASKED, text, bqi, affect=NEUTRAL, felt=felt, tags=[USER])
        name = document.memory_id
        return LedgerRow(self._session(0), ASKED, USER, name, at, bqi, document, refs=(name,))

    def _event(self, event: Event, text: str) -> LedgerRow:
        """Returns what was said to the panel from outside."""
        at, session, tick = self._reading.time(event.tick), self._session(event.tick), event.tick
        felt = feeler(self._scenario.language)(text)
        bqi = self._bqi(at, SYSTEM, NEUTRAL, felt.keywords if felt else (), EXPLORATION)
        document = self._document(tick, SYSTEM, HAPPENED, text, bqi, affect=NEUTRAL, felt=felt, tags=[SYSTEM])
        name = document.memory_id = new_memory_id(at, session, event.id, digits=8)
        return LedgerRow(session, HAPPENED, SYSTEM, name, at, bqi, document, refs=(name,))

    def _learned(self) -> Generator[LedgerRow]:
        session, at = self._scenario.session, self._reading.time(0)
        for change in session.changes if session else ():
            bqi = self._bqi(at, change.persona, NEUTRAL, (), EXPLORATION)
            yield learned(self._session(0), at, bqi, change)

    def _answer(self, said: PanelAnswer) -> LedgerRow:
        at, event, manifest = self._reading.time(said.tick), self._events[said.tick], self._reading.manifest
        cited = self._cited(event)
        bqi = self._bqi(at, said.persona, said.affect, said.emotion.keywords, said.phase)
        persona = self._scenario.personas[said.persona]
        before = max((one.tick for one in self.rhythm.said if one.tick < said.tick), default=0)
        parent = self.memory_id(before)
        document = self._document(
            said.tick, said.persona, RESPONSE, said.text, bqi, affect=said.affect, felt=said.emotion,
            tags=[said.persona, "panel", self._scenario.part.name], depth=said.depth, injected=bool(said.injection),
            failed="value" not in self._outcomes(said), persona_name=persona.name, role=persona.work,
            backend=own_minds(manifest).get(said.persona, manifest.mind), parent=parent,
            related=[name for name in cited if name],
        )  # fmt: skip
        name = document.memory_id
        refs = tuple(dict.fromkeys((name, parent, *filter(None, cited))))
        figures = self._figures(said)
        adjustment = next((one for one in self.rhythm.adjustments if self._ends_cycle(said, one.depth)), None)
        row = LedgerRow(self._session(said.tick), RESPONSE, said.persona, name, at, bqi, document, figures, refs=refs)
        return replace(row, adjustment=adjustment.as_json()) if adjustment else row

    # ── parts ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def _bqi(self, at: datetime, agent: str, affect: float, keywords: Sequence[str], phase: str) -> dict[str, Any]:
        return coordinate(at, self._panel.domain, agent, affect, keywords, phase)

    def _document(
        self, tick: int, persona: str, kind: str, text: str, bqi: dict[str, Any], *, affect: float,
        felt: Emotion | None, tags: list[str], depth: int = 1, injected: bool = False, failed: bool = False,
        persona_name: str = "", role: str = "", backend: str = "", parent: str | None = None,
        related: Sequence[str] = (),
    ) -> MemoryCoordinate:  # fmt: skip
        minutes = float(self._scenario.clock.tick_minutes * tick)
        return MemoryCoordinate.from_dict(
            {
                "memory_id": self.memory_id(tick),
                "timestamp": iso(self._reading.time(tick)),
                "time": {"session_id": self._session(tick), "sequence": tick, "relative_time_minutes": minutes},
                "space": {
                    "project": self._panel.project or self._scenario.part.name,
                    "domain": self._panel.domain,
                    "file_context": [self._reading.path.name],
                    "depth_index": depth,
                },
                "agent": {"persona_id": persona, "persona_name": persona_name, "role": role, "backend": backend},
                "emotion": {
                    "affect_amplitude": affect,
                    "sentiment_score": felt.valence if felt else 0.0,
                    "confidence": felt.confidence if felt else 0.0,
                    "keywords": list(felt.keywords) if felt else [],
                },
                "content": {
                    "type": kind,
                    "prompt_digest": self._panel.prompt,
                    "response_full": text,
                    "response_summary": None,
                    "token_count": estimate_tokens(text),
                },
                "metadata": {
                    "importance": None,
                    "tags": tags,
                    "user_rating": None,
                    "phase_injection_applied": injected,
                    "error_occurred": failed,
                    "bqi_snapshot": bqi,
                },
                "relations": {"parent_memory_id": parent, "related_memory_ids": list(related)},
            }
        )

    def _ends_cycle(self, said: PanelAnswer, depth: int) -> bool:
        """Tells whether it is the last answer before the cycle `depth`."""
        return said.depth == depth - 1 and said.tick == max(
            one.tick for one in self.rhythm.said if one.depth == said.depth
        )

    def _cited(self, event: Event) -> list[str]:
        """Returns the store's ids of the past answers that an answer names; empty for one the run does not have."""
        found = [self._reading.memory(event.agent_id, id) for id in event.body.because]
        return [str(one.details.get("memory_id") or "") if one is not None else "" for one in found]

    def _figures(self, said: PanelAnswer) -> Figures:
        event = self._events[said.tick]
        cited = [self._reading.memory(event.agent_id, id) for id in event.body.because]
        past = [one for one in cited if one is not None]
        asked = [asked_of(happening_of(one.details)) for one in past]
        earlier = [one.text for one in self.rhythm.said if one.tick < said.tick]
        sources = [self._panel.prompt, *earlier, *(one.full_text for one in past), *asked]
        return figures(said, sources, self._outcomes(said), cited=len(cited), resolved=len(past))

    def _outcomes(self, said: PanelAnswer) -> list[str]:
        rows = self._reading.answers(said.tick, said.tick, agent=said.persona)
        return list({row.ordinal: row.outcome for row in rows if row.task == "panel_turn"}.values())


def _levels(reading: Reading, scenario: Scenario) -> list[tuple[int, str]]:
    """Returns (last tick that is not its own, session) of the run's first ancestor, …, and of the run itself.

    A session is named after the simulated time at which the run began and what it was made of; a fork's also after what
    happened at its first tick, which it does not have before that: then the name is empty.
    """
    manifest, session = reading.manifest, scenario.session
    made_of = canonical([manifest.scenario_digest, manifest.seed, session.model_dump(mode="json") if session else None])
    name = f"sess_{scenario.clock.start:%Y%m%d_%H%M%S}_{rng.draw(made_of.decode()) & 0xFFFF:04x}"
    levels = [(-1, name)]
    origins: list[int] = []
    parent: Any = parsed(reading.meta("parent") or "null")
    while parent:
        origins.append(int(parent["tick"]))
        parent = parent["parent"]
    for tick in reversed(origins):
        begun = reading.last_tick > tick
        levels.append((tick, f"{name}_{reading.digest(tick + 1)[:8]}" if begun else ""))
    return levels
