"""What a panel keeps beside its run: each answer as a coordinate, and everything in the Resonance Ledger.

The run is the truth, and this is made of it, after each commit. What has been kept is known from the ledger, which is
never forgotten: so an answer is kept once, however often a run is killed and resumed, and one that a person has deleted
does not come back. `begin` reads the same folder when a run is made.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from commonplace.clock import iso
from commonplace.engine.stage import Rated
from commonplace.errors import UsageError
from commonplace.ledger import Ledger, show
from commonplace.memory import MemoryStore
from commonplace.parts.coordinates.document import MemoryCoordinate
from commonplace.parts.panel.ledger_rows import LEARNED, RESPONSE, LedgerRow, Panel
from commonplace.parts.panel.ratings import changes, rated
from commonplace.parts.panel.rhythm import cycle_of
from commonplace.paths import checked_folder
from commonplace.run.reading import Reading
from commonplace.run.why import event_named
from commonplace.scenario.scenario import PastAnswer, Scenario, Session
from commonplace.text import clean, shortened

MOST_PAST = 50
"""Past answers that a persona brings into a run: those closest to the question, then the latest."""
LONGEST_PROMPT = 2000
SLOW = 0.3
"""Seconds of opening the folder from which it stays open."""
PATIENCE = 10.0
"""Seconds to wait for another process that writes to the folder."""
RATING_PATIENCE = 2.0
"""The same where a person waits for it."""
RATING = "user_rating"
Key = tuple[str, str, str, str]
"""Session, type and memory of an entry, and what it says has changed."""


# ── the beginning of a run ───────────────────────────────────────────────────────────────────────────────────────────


def begin(scenario: Scenario, prompt: str, folder: Path, named: str) -> dict[str, Any]:
    """Begins the session of a new run: its question, its opening time, and each persona's memories of earlier runs.

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
        cycle = cycle_of(scenario)
        learned = changes(cycle, rated(store, cycle)) if scenario.part.panel.plan_adjustment else ()
        poor = frozenset(name for change in learned for name in change.memories)
        past = {persona: _past(store, persona, question, poor) for persona in cycle}
        start = _after(scenario.clock.start, store)
    session = Session(
        prompt=question,
        start=iso(start),
        folder=named,
        past={me: own for me, own in past.items() if own},
        changes=learned,
    )
    return session.model_dump(mode="json")


def _past(store: MemoryStore, persona: str, question: str, poor: frozenset[str]) -> tuple[PastAnswer, ...]:
    close = store.search(query=question, persona_id=persona, limit=MOST_PAST, rank="relevance")
    latest = store.search(persona_id=persona, limit=MOST_PAST)
    found = {
        one.memory_id: one for one in (*close, *latest) if one.content.type == RESPONSE and one.memory_id not in poor
    }
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
    """Returns the opening time of a run that begins after everything in the folder."""
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
    """Returns the folder of the Resonance Ledger."""
    return folder / "resonance_ledger"


@contextmanager
def opened(folder: Path, patience: float = PATIENCE) -> Generator[MemoryStore]:
    """Opens the store with its ledger for a moment: other processes may write to it as well."""
    ledger, last = Ledger(ledger_of(checked_folder(folder))), time.monotonic() + patience
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


# ── after each commit ────────────────────────────────────────────────────────────────────────────────────────────────


class PanelKeeper:
    """A keeper of what a run has committed. Calling it again with the same run does nothing.

    The folder is opened for each tick, so that others can use it meanwhile. A large one, which takes longer than SLOW
    to read, stays open until the panel has ended.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._upto = -1
        """The last tick that is known to be kept."""
        self._kept: set[Key] | None = None
        """Those of the ledger's entries on this run, once they have been read."""
        self._open = ExitStack()
        self._store: MemoryStore | None = None
        """While it stays open."""

    def __call__(self, reading: Reading) -> None:
        """Keeps what is not kept yet. Raises CommonplaceError if the folder cannot be written to; the run is intact."""
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
        """Closes the folder. May be called twice."""
        self._store = None
        self._open.close()

    def _keep(self, store: MemoryStore, panel: Panel) -> None:
        assert store.ledger is not None
        if self._kept is None:
            self._kept = _kept(self._folder, panel.session)
        for row in panel.rows(self._upto):
            key = _key(row.session, row.type, row.memory_id, row.adjustment)
            if key not in self._kept:
                _keep(store, store.ledger, row)
                self._kept.add(key)
        if panel.has_ended:
            store.recompute()


def _key(session: str, type: str, memory: str | None, adjustment: Mapping[str, Any] | None) -> Key:
    return session, type, memory or "", repr(adjustment) if type == LEARNED else ""


def _kept(folder: Path, session: str) -> set[Key]:
    if not any(ledger_of(folder).glob("ledger-*")):
        return set()
    entries = show(ledger_of(folder), session_id=session)
    return {
        _key(entry["session_id"], entry["event_type"], entry.get("memory_id"), entry.get("plan_adjustment"))
        for entry in entries
    }


def _keep(store: MemoryStore, ledger: Ledger, row: LedgerRow) -> None:
    if row.document is not None and store.get_by_id(row.memory_id) is None:
        store.add(row.document)
    log(ledger, row)


def log(ledger: Ledger, row: LedgerRow) -> None:
    """Appends the entry of a row."""
    # The ledger's time does not go back, even where two panels write to it at once; the coordinate has the exact one.
    at = max(row.at, ledger.latest or row.at)
    figures = {name: value for name, value in (row.figures or {}).items() if name != "impact"}
    impact = (row.figures or {}).get("impact")
    ledger.log_event(
        row.session, row.type, row.persona, row.memory_id or None, row.bqi, row.figures, row.adjustment, at=at,
        memory_refs=row.refs, impact_score=impact, **figures,
    )  # fmt: skip


class PanelRatings:
    """Stars for the answers of a run, and for the earlier ones it brought along, in the folder that keeps them."""

    def __init__(self, reading: Reading, folder: Path) -> None:
        self._reading = reading
        self._folder = folder

    def all(self) -> dict[str, float]:
        """Returns stars by event or memory id, 0 for none; nothing where the folder has no memories."""
        if not _memories(self._folder).is_dir():
            return {}
        names = self._names()
        with opened(self._folder, RATING_PATIENCE) as store:
            found = {id: store.get_by_id(name) for id, name in names.items()}
        return {id: one.metadata.user_rating or 0.0 for id, one in found.items() if one is not None}

    def rate(self, name: str, stars: float) -> Rated:
        """Stores the stars, computes the importance again, and notes both in the ledger.

        Raises UsageError for an id that is not that of an answer, and for an answer that is not in the folder.
        """
        where = str(self._folder)
        memory = self._names().get(name)
        if memory is None:
            event_named(self._reading, name)
            what, hint = (
                f"{name} is not an answer of the panel",
                "`commonplace events` lists what was said, with its id",
            )
            raise UsageError(what, where=str(self._reading.path), hint=hint)
        if not _memories(self._folder).is_dir():
            raise UsageError("there are no memories of a panel", where=where, hint="name their folder: --memory DIR")
        with opened(self._folder, RATING_PATIENCE) as store:
            if store.get_by_id(memory) is None:
                which = memory if memory == name else f"{memory}, which holds {name},"
                what = f"{which} is not there: it was forgotten, or kept somewhere else"
                raise UsageError(what, where=where, hint="name the folder: --memory DIR")
            rated = store.rate(memory, stars)
            assert store.ledger is not None
            note_rating(store.ledger, rated)
        return Rated(rated.memory_id, stars, rated.metadata.importance or 0.0)

    def _names(self) -> dict[str, str]:
        """Maps the id of each answer's event, and that of its memory, to the memory."""
        session = self._reading.scenario.session
        answers = Panel(self._reading).answers
        past = [one.memory_id for own in session.past.values() for one in own] if session else []
        return answers | {name: name for name in (*answers.values(), *past)}


def note_rating(ledger: Ledger, rated: MemoryCoordinate) -> None:
    """Notes in the ledger how a memory was rated."""
    about, name = rated.metadata, rated.memory_id
    figures = {"user_rating": about.user_rating, "importance": about.importance}
    ledger.log_event(
        rated.time.session_id, RATING, rated.agent.persona_id, name, about.bqi_snapshot, figures,
        at=max(rated.at, ledger.latest or rated.at), memory_refs=[name],
    )  # fmt: skip
