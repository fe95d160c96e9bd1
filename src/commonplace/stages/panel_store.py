"""What a panel keeps beside its run: each answer as a coordinate, and everything in the Resonance Ledger.

The run is the truth, and this is made of it, after each commit. What has been kept is known from the ledger, which is
never forgotten: so an answer is kept once, however often a run is killed and resumed, and one that a person has deleted
does not come back. `begin` reads the same folder when a run is made.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from commonplace import rng
from commonplace.canon import canonical, parsed
from commonplace.clock import iso
from commonplace.errors import UsageError
from commonplace.ledger import Ledger, show
from commonplace.memory import MemoryStore, estimate_tokens
from commonplace.memory.coordinates import MemoryCoordinate, new_memory_id
from commonplace.memory.emotion import feeler
from commonplace.memory.record import Emotion
from commonplace.run.manifest import own_minds
from commonplace.run.reading import Reading
from commonplace.run.why import event_named
from commonplace.scenario.scenario import Scenario
from commonplace.scenario.session import PastAnswer, Session
from commonplace.stages import evaluation
from commonplace.stages.rhythm import EXPLORATION, NEUTRAL, Rhythm, Said, cycle_of, last_tick, rhythm
from commonplace.text import clean, shortened
from commonplace.world.events import Event
from commonplace.world.state import Line

USER = "user"
"""Who asks, as a persona of the store."""
MOST_PAST = 50
"""Past answers that a persona brings into a run: those closest to the question, then the latest."""
LONGEST_DIGEST = 500
"""Characters of `content.prompt_digest`."""
LONGEST_PROMPT = 2000
SLOW = 0.3
"""Seconds of opening the folder from which it stays open."""
PATIENCE = 10.0
"""Seconds to wait for another process that writes to the folder."""
RESPONSE, ASKED, EVALUATION, REPORT = "persona_response", "user_input", "evaluation", "synthesis_report"
RATING = "user_rating"


# ── the beginning of a run ───────────────────────────────────────────────────────────────────────────────────────────


def begin(scenario: Scenario, prompt: str, folder: Path, named: str) -> dict[str, Any]:
    """The session of a new run: its question, its opening time, and what each persona remembers of earlier runs.

    The retention policy of the store is applied first. If the folder holds something from the scenario's opening or
    later, the run opens at the same time of the day after it. Raises UsageError without a question.
    """
    question = clean(prompt) or scenario.part.panel.prompt
    if not question:
        raise UsageError("the panel has nothing to think over", hint='add the question: --prompt "…"')
    if len(question) > LONGEST_PROMPT:
        raise UsageError(f"the prompt has {len(question):,} characters", hint=f"the most are {LONGEST_PROMPT:,}")
    with opened(folder) as store:  # made if missing: what cannot be written to is told before there is a run
        store.apply_retention_policy()
        past = {persona: _past(store, persona, question) for persona in cycle_of(scenario)}
        start = _after(scenario.clock.start, store)
    session = Session(
        prompt=question, start=iso(start), folder=named, past={me: own for me, own in past.items() if own}
    )
    return session.model_dump(mode="json")


def _past(store: MemoryStore, persona: str, question: str) -> tuple[PastAnswer, ...]:
    close = store.search(query=question, persona_id=persona, limit=MOST_PAST)
    latest = store.search(persona_id=persona, limit=MOST_PAST)
    found = {one.memory_id: one for one in (*close, *latest) if one.content.type == RESPONSE}
    chosen = list(found.values())[:MOST_PAST]
    return tuple(_past_answer(one) for one in sorted(chosen, key=lambda one: (one.at, one.memory_id)))


def _past_answer(document: MemoryCoordinate) -> PastAnswer:
    snapshot, felt = document.metadata.bqi_snapshot or {}, document.emotion
    return PastAnswer(
        memory_id=document.memory_id,
        session_id=document.time.session_id,
        text=shortened(clean(document.content.response_full), LONGEST_PROMPT),
        prompt=clean(document.content.prompt_digest),
        at=iso(document.at),
        importance=document.metadata.importance or 0.0,
        user_rating=document.metadata.user_rating,
        rhythm_phase=str(snapshot.get("rhythm_phase") or ""),
        valence=felt.sentiment_score,
        arousal=felt.affect_amplitude,
        confidence=felt.confidence,
        keywords=tuple(felt.keywords),
    )


def _after(start: datetime, store: MemoryStore) -> datetime:
    """The opening time of a run that begins after everything in the folder."""
    newest = store.get_recent(1)
    times = [one.at for one in newest] + ([store.ledger.latest] if store.ledger and store.ledger.latest else [])
    latest = max(times, default=None)
    return (
        start if latest is None or latest < start else start + timedelta(days=(latest.date() - start.date()).days + 1)
    )


# ── the folder ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _memories(folder: Path) -> Path:
    return folder / "memory"


def ledger_of(folder: Path) -> Path:
    """The folder of the Resonance Ledger."""
    return folder / "resonance_ledger"


@contextmanager
def opened(folder: Path) -> Generator[MemoryStore]:
    """The store with its ledger, for a moment: other processes may write to it as well."""
    ledger, last = Ledger(ledger_of(folder)), time.monotonic() + PATIENCE
    while True:
        try:
            store = MemoryStore(_memories(folder), ledger=ledger)
            break
        except UsageError as error:
            if not error.what.startswith("in use by process") or time.monotonic() > last:
                raise
            time.sleep(0.05)
    with store:
        yield store


# ── what a run has to keep ───────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Row:
    """An entry of the ledger, and the memory that goes with it."""

    session: str
    type: str
    persona: str
    memory_id: str
    """Empty for an entry about the whole session."""
    at: datetime
    bqi: dict[str, Any]
    document: MemoryCoordinate | None = None
    figures: dict[str, float | None] | None = None
    adjustment: dict[str, Any] | None = None
    refs: tuple[str, ...] = ()


class Panel:
    """The panel of a run up to its last tick, as coordinates and entries. A function of the run's file."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._scenario = reading.scenario
        self._panel = self._scenario.part.panel
        self._last = reading.last_tick
        self._events = {
            event.tick: event
            for event in reading.events(1, self._last)
            if event.type == "SAY" and event.agent_id in cycle_of(self._scenario)
        }
        lines = [
            Line(tick, event.agent_id, str(event.body["to_agent_id"]), str(event.body["utterance"]))
            for tick, event in self._events.items()
        ]
        self.rhythm: Rhythm = rhythm(self._scenario, lines, self._last + 1)
        self._levels = _levels(reading, self._scenario)

    @property
    def session(self) -> str:
        """Its own session; a fork leaves its parent's answers to the parent. Empty for one that has not gone on yet."""
        return self._levels[-1][1]

    @property
    def has_ended(self) -> bool:
        """Whether the last answer has been heard."""
        return self._last >= last_tick(self._scenario)

    def memory_id(self, tick: int) -> str:
        """The id of what was said at a tick; the question's for tick 0."""
        return new_memory_id(self._reading.time(tick), self._session(tick), tick, digits=8)

    def rows(self, after: int) -> Generator[Row]:
        """What the ticks after one have to keep, in the order of the ledger."""
        own = max(after, self._levels[-1][0])
        if own < 0:
            yield self._question()
        answers = [said for said in self.rhythm.said if said.tick > self._levels[-1][0]]
        for said in answers:
            if said.tick > own:
                yield self._answer(said)
        if self.has_ended and self.rhythm.said:
            yield from self._final(answers)

    def _session(self, tick: int) -> str:
        return next(session for first, session in reversed(self._levels) if tick > first)

    def _question(self) -> Row:
        at, text = self._reading.time(0), self._panel.prompt
        felt = feeler(self._scenario.language)(text)
        keywords = felt.keywords if felt else ()
        bqi = self._bqi(at, USER, NEUTRAL, keywords, EXPLORATION)
        document = self._document(0, USER, ASKED, text, bqi, affect=NEUTRAL, felt=felt, tags=[USER])
        name = document.memory_id
        return Row(self._session(0), ASKED, USER, name, at, bqi, document, refs=(name,))

    def _answer(self, said: Said) -> Row:
        at, event = self._reading.time(said.tick), self._events[said.tick]
        cited = self._cited(event)
        bqi = self._bqi(at, said.persona, said.affect, said.emotion.keywords, said.phase)
        persona = self._scenario.personas[said.persona]
        parent = self.memory_id(self._before(said.tick))
        document = self._document(
            said.tick, said.persona, RESPONSE, said.text, bqi, affect=said.affect, felt=said.emotion,
            tags=[said.persona, "panel", self._scenario.part.name], depth=said.depth, injected=bool(said.injection),
            failed="value" not in self._outcomes(said), persona_name=persona.name, role=persona.work,
            backend=self._backend(said.persona), parent=parent, related=[name for name in cited if name],
        )  # fmt: skip
        name = document.memory_id
        refs = tuple(dict.fromkeys((name, parent, *filter(None, cited))))
        figures = self._figures(said)
        adjustment = next((one for one in self.rhythm.adjustments if self._ends_cycle(said, one.depth)), None)
        row = Row(self._session(said.tick), RESPONSE, said.persona, name, at, bqi, document, figures, refs=refs)
        return replace(row, adjustment=adjustment.as_json()) if adjustment else row

    def _final(self, answers: Sequence[Said]) -> Generator[Row]:
        """Once the panel has ended: the figures of each answer with its impact, and a report with their means."""
        at, session = self._reading.time(self._last), self._session(self._last)
        everything: list[dict[str, float | None]] = []
        for said in answers:
            figures = {**self._figures(said), "impact": evaluation.impact(said, self.rhythm.said)}
            everything.append(figures)
            name = self.memory_id(said.tick)
            bqi = self._bqi(at, said.persona, said.affect, said.emotion.keywords, said.phase)
            yield Row(session, EVALUATION, said.persona, name, at, bqi, figures=figures, refs=(name,))
        if answers:
            last = answers[-1]
            means = {name: evaluation.mean([one[name] or 0.0 for one in everything]) for name in everything[0]}
            felt = dict.fromkeys(word for said in answers for word in said.emotion.keywords)
            bqi = self._bqi(at, last.persona, last.affect, tuple(felt), last.phase)
            refs = tuple(self.memory_id(said.tick) for said in answers)
            yield Row(session, REPORT, last.persona, "", at, bqi, figures=dict(means), refs=refs)

    # ── parts ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def _bqi(self, at: datetime, agent: str, affect: float, keywords: Sequence[str], phase: str) -> dict[str, Any]:
        emotion = {"affect": affect, "keywords": list(keywords)}
        return {
            "time": iso(at), "space": self._panel.domain, "agent": agent, "emotion": emotion, "rhythm_phase": phase,
        }  # fmt: skip

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
                    "prompt_digest": shortened(self._panel.prompt, LONGEST_DIGEST),
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

    def _before(self, tick: int) -> int:
        """The tick of the answer before; 0, the question, for the first."""
        return max((said.tick for said in self.rhythm.said if said.tick < tick), default=0)

    def _ends_cycle(self, said: Said, depth: int) -> bool:
        """Whether it is the last answer before the cycle `depth`."""
        return said.depth == depth - 1 and said.tick == max(
            one.tick for one in self.rhythm.said if one.depth == said.depth
        )

    def _cited(self, event: Event) -> list[str]:
        """The ids in the store of the past answers that an answer names; empty for one that the run does not have."""
        found = [self._reading.memory(event.agent_id, id) for id in event.body.get("because", ())]
        return [str(one.details.get("memory_id") or "") if one is not None else "" for one in found]

    def _figures(self, said: Said) -> dict[str, float | None]:
        event = self._events[said.tick]
        cited = [self._reading.memory(event.agent_id, id) for id in event.body.get("because", ())]
        past = [one for one in cited if one is not None]
        asked = [str(one.details.get("frame", {}).get("asked", "")) for one in past]
        earlier = [one.text for one in self.rhythm.said if one.tick < said.tick]
        sources = [self._panel.prompt, *earlier, *(one.full_text for one in past), *asked]
        return {
            "transparency": evaluation.transparency(said.text, sources),
            "reproducibility": evaluation.reproducibility(self._outcomes(said)),
            "verifiability": evaluation.verifiability(said.text, sources, len(cited), len(past)),
            "impact": None,
        }

    def _outcomes(self, said: Said) -> list[str]:
        rows = self._reading.answers(said.tick, said.tick, agent=said.persona)
        return list({row.ordinal: row.outcome for row in rows if row.task == "panel_turn"}.values())

    def _backend(self, persona: str) -> str:
        manifest = self._reading.manifest
        return own_minds(manifest).get(persona, manifest.mind)


def _levels(reading: Reading, scenario: Scenario) -> list[tuple[int, str]]:
    """(last tick that is not its own, session) of the run's first ancestor, …, and of the run itself.

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


# ── after each commit ────────────────────────────────────────────────────────────────────────────────────────────────


class PanelKeeper:
    """Keeps what a run has committed. Called again with the same, it does nothing.

    The folder is opened for each tick, so that others can use it meanwhile. A large one, which takes longer than SLOW
    to read, stays open until the panel has ended.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._upto = -1
        """The last tick that is known to be kept."""
        self._kept: set[tuple[str, str, str]] | None = None
        """(session, type, memory) of the ledger's entries on this run, once they have been read."""
        self._open = ExitStack()
        self._store: MemoryStore | None = None
        """While it stays open."""

    def __call__(self, reading: Reading) -> None:
        """Keep what is not kept yet. Raises CommonplaceError if the folder cannot be written to; the run is intact."""
        last = reading.last_tick
        if last <= self._upto:
            return
        panel = Panel(reading)
        if not panel.session:  # a fork that has not gone on yet
            return
        began = time.monotonic()
        store = self._store or self._open.enter_context(opened(self._folder))
        self._store = store if time.monotonic() - began > SLOW or self._store else None
        try:
            self._keep(store, panel)
        except BaseException:
            self.close()
            raise
        self._upto = last
        if self._store is None or panel.has_ended:
            self.close()

    def close(self) -> None:
        """Close the folder. May be called twice."""
        self._store = None
        self._open.close()

    def _keep(self, store: MemoryStore, panel: Panel) -> None:
        assert store.ledger is not None
        if self._kept is None:
            self._kept = _kept(self._folder, panel.session)
        for row in panel.rows(self._upto):
            key = row.session, row.type, row.memory_id
            if key not in self._kept:
                _keep(store, store.ledger, row)
                self._kept.add(key)
        if panel.has_ended:
            store.recompute()


def _kept(folder: Path, session: str) -> set[tuple[str, str, str]]:
    if not any(ledger_of(folder).glob("ledger-*")):
        return set()
    entries = show(ledger_of(folder), session_id=session)
    return {(entry["session_id"], entry["event_type"], entry.get("memory_id") or "") for entry in entries}


def _keep(store: MemoryStore, ledger: Ledger, row: Row) -> None:
    if row.document is not None and store.get_by_id(row.memory_id) is None:
        store.add(row.document)
    # The ledger's time does not go back, even where two panels write to it at once; the coordinate has the exact one.
    at = max(row.at, ledger.latest or row.at)
    figures = {name: value for name, value in (row.figures or {}).items() if name != "impact"}
    impact = (row.figures or {}).get("impact")
    ledger.log_event(
        row.session, row.type, row.persona, row.memory_id or None, row.bqi, row.figures, row.adjustment, at=at,
        memory_refs=row.refs, impact_score=impact, **figures,
    )  # fmt: skip


def rate(reading: Reading, event_id: str, stars: float, folder: Path) -> MemoryCoordinate:
    """Store a person's rating of an answer, 1 to 5 stars, and note it in the ledger; the memory as it is then.

    Raises UsageError for an event that is not an answer of a panel, and for an answer that is not in the folder.
    """
    event = event_named(reading, event_id)
    if reading.scenario.session is None:
        raise UsageError("not a panel", where=str(reading.path), hint="only the answers of a panel can be rated")
    panel = Panel(reading)
    if event.tick not in {said.tick for said in panel.rhythm.said} or event.type != "SAY":
        hint = "`commonplace events` lists what was said, with its id"
        raise UsageError(f"{event_id} is not an answer of the panel", where=str(reading.path), hint=hint)
    name = panel.memory_id(event.tick)
    if not _memories(folder).is_dir():
        raise UsageError("there are no memories of a panel", where=str(folder), hint="name their folder: --memory DIR")
    with opened(folder) as store:
        if store.get_by_id(name) is None:
            what = f"{name}, which holds {event_id}, is not there: it was forgotten, or kept somewhere else"
            raise UsageError(what, where=str(folder), hint="name the folder: --memory DIR")
        rated = store.rate(name, stars)
        ledger, importance = store.ledger, rated.metadata.importance
        assert ledger is not None
        ledger.log_event(
            rated.time.session_id, RATING, event.agent_id, name, rated.metadata.bqi_snapshot,
            {"user_rating": stars, "importance": importance}, at=max(rated.at, ledger.latest or rated.at),
            memory_refs=[name],
        )  # fmt: skip
    return rated
