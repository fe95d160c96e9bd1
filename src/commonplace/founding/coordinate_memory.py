"""The coordinate memory in the names of its document, over `commonplace.memory`, the panel and the ledger.

`PersonaOrchestrator` asks any callables in the rhythm of a panel (`commonplace.parts.panel.rhythm`) and keeps their
answers in the store and the ledger it is given. Times are real, in UTC, unless a `clock` is given.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, Protocol, cast

from commonplace.canon import parsed
from commonplace.clock import utc
from commonplace.errors import CommonplaceError, UsageError
from commonplace.ledger import Entry, Ledger
from commonplace.memory.emotion import estimate_sentiment, extract_emotion_keywords, language_of
from commonplace.parts.coordinates.document import MemoryCoordinate
from commonplace.parts.coordinates.jsonl_files import Storage, StoreConfig
from commonplace.parts.coordinates.memory_store import MemoryStore, importance_of
from commonplace.parts.coordinates.retention import ForgettingPlan, RetentionPolicy
from commonplace.parts.panel.ledger_rows import (
    ASKED,
    HAPPENED,
    RESPONSE,
    SYSTEM,
    USER,
    Figures,
    LedgerRow,
    closing,
    coordinate,
    figures,
)
from commonplace.parts.panel.ledger_rows import learned as learned_row
from commonplace.parts.panel.ratings import FAIR, MOST, POOR, changes, rated
from commonplace.parts.panel.rhythm import PanelAnswer, PanelPlan, answered, beginning, next_cycle
from commonplace.parts.panel.store import log
from commonplace.paths import text_of
from commonplace.scenario.model import PanelPart
from commonplace.scenario.scenario import RatingChange
from commonplace.text import clean
from commonplace.world.state import Line

__all__ = [
    "MemoryCoordinate",
    "MemoryIndex",
    "MemoryStore",
    "Persona",
    "PersonaOrchestrator",
    "PersonaRegistry",
    "PhaseController",
    "ResonanceLedger",
    "RetentionPolicy",
    "Storage",
    "StoreConfig",
    "auto_forget",
    "calculate_importance",
    "compose_prompt_with_memory",
    "estimate_sentiment",
    "extract_emotion_keywords",
]

PROJECT, DOMAIN = "persona_orchestration", "AGI_prototype"
EXAMPLES, WEIGHTY = 2, 0.6
"""Past answers shown at most, and the importance that they have at least, 0–1."""
ASKED_WITH, LONGEST_EXAMPLE = 100, 200
"""Characters of a prompt that look for past answers, and of an answer that are shown."""
FAILED = "[error:"
"""In an answer: what was asked could not answer."""
HEADING = "\nRelevant past examples:"
INJECTIONS = {
    "liven": "The talk has become flat: say what it means to you.",
    "calm": "The talk is heated: stay calm and exact.",
}
REVISED = "People gave your earlier answers {mean:g} of 5 stars on average: answer in another way."
_PANEL = PanelPart()
Clock = Callable[[], datetime]


class Backend(Protocol):
    """An object that answers for a persona; a callable from a prompt to a text works as well."""

    def generate(self, prompt: str) -> str: ...


BackendFactory = Callable[["Persona"], Backend | Callable[[str], str]]

# ── §3.2: the index ──────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class MemoryIndex:
    """The content of a store's `index.json`: its memories by keyword, day, persona and importance."""

    index_version: str
    last_updated: str | None
    """ISO time of the latest memory or access; None for an empty store."""
    total_memories: int
    keyword_index: dict[str, list[str]]
    time_index: dict[str, list[str]]
    """By day, `2025-10-12`."""
    persona_index: dict[str, list[str]]
    importance_index: list[dict[str, Any]]
    """The hundred most important: `memory_id` and `importance`, 0–1."""

    @classmethod
    def of(cls, store: MemoryStore) -> MemoryIndex:
        """Returns the index of a store in a folder, brought up to date. Raises UsageError for a store elsewhere."""
        if store.path is None:
            raise UsageError("only a folder has an index.json", hint="open the store with MemoryStore(base_path=…)")
        store.flush()
        return cls.read(store.path)

    @classmethod
    def read(cls, base_path: str | Path) -> MemoryIndex:
        """Reads the index in a folder. Raises CommonplaceError where there is none, or a damaged one."""
        path = Path(base_path) / "index.json"
        try:
            return cls(**parsed(text_of(path, "an index").encode()))
        except (OSError, ValueError, TypeError) as error:
            hint = "open the store once: MemoryStore(base_path=…) writes it again"
            raise CommonplaceError(f"the index cannot be read ({error})", where=str(path), hint=hint) from error


# ── §3.3: the ledger ─────────────────────────────────────────────────────────────────────────────────────────────────


class ResonanceLedger(Ledger):
    """The audit log: one file of JSON lines a day, never forgotten. `log_event` without `at` is now."""

    def __init__(self, base_path: str | Path) -> None:
        """Opens the folder, made if missing. Raises CommonplaceError if that fails."""
        super().__init__(base_path)
        self.base_path = Path(base_path)

    @property
    def current_file(self) -> Path:
        """Today's file, which the first entry of the day makes."""
        return self.base_path / f"ledger-{datetime.now(UTC):%Y%m%d}.jsonl"


# ── §6: importance and forgetting ────────────────────────────────────────────────────────────────────────────────────


def calculate_importance(memory: MemoryCoordinate, references: MemoryStore | int = 0) -> float:
    """Returns 0.3 + rating / 5 × 0.3 + min(references × 0.05, 0.2) + |sentiment| × 0.2, clamped to 0–1.

    `references`: how many other memories refer to it, or the store that knows.
    """
    if isinstance(references, MemoryStore):
        return references.calculate_importance(memory)
    return importance_of(memory, references)


def auto_forget(store: MemoryStore, now: datetime | None = None) -> ForgettingPlan:
    """Forgets and archives as the policy of the store says.

    `now`: what ages are counted from, such as `datetime.now(UTC)`; None for the time of the newest memory, because
    the time of a store may be simulated.
    """
    return store.apply_retention_policy(now)


# ── §7: personas ─────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Persona:
    """One voice of an orchestration."""

    identifier: str
    name: str
    role: str = ""
    system_prompt: str = ""
    backend_id: str = ""


class PersonaRegistry:
    """The personas, in the order in which they answer. Raises UsageError for none, and for an identifier used twice."""

    def __init__(self, personas: Iterable[Persona]) -> None:
        given = tuple(personas)
        self._personas = {persona.identifier: persona for persona in given}
        if not given:
            raise UsageError("there are no personas", hint="give at least one Persona(identifier, name, …)")
        if len(self._personas) < len(given) or "" in self._personas:
            names = ", ".join(repr(persona.identifier) for persona in given)
            raise UsageError(f"the identifiers are {names}", hint="expected a different one for each persona")

    def get(self, identifier: str) -> Persona:
        """Returns the persona of an identifier. Raises UsageError for an unknown one."""
        if identifier not in self._personas:
            raise UsageError(f"no persona {identifier!r}", hint=f"expected one of {', '.join(self._personas)}")
        return self._personas[identifier]

    def personas_in_cycle(self) -> list[Persona]:
        """Returns all personas, in the order in which they begin."""
        return list(self._personas.values())

    def __iter__(self) -> Iterator[Persona]:
        return iter(self._personas.values())

    def __len__(self) -> int:
        return len(self._personas)


class PhaseController:
    """Affect, rhythm phase, injection and order of a series of answers, by the rules of the panel."""

    def __init__(
        self,
        personas: Iterable[str] = (),
        *,
        prompt: str = "",
        depth: int = 1,
        injection: bool = True,
        plan_adjustment: bool = True,
        calm: float = _PANEL.calm,
        tense: float = _PANEL.tense,
    ) -> None:
        """`personas`: their identifiers in order; whoever answers besides comes last. `depth`: how many cycles there
        are. `calm`, `tense`: the affect, 0–1, at or below and above which the next answer is asked to be different."""
        self._plan = PanelPlan(
            prompt, tuple(personas), depth, language_of(prompt), injection, plan_adjustment, calm, tense
        )
        self.rhythm = beginning(self._plan)

    @property
    def affect(self) -> float:
        """The affect amplitude after the last answer, 0–1."""
        return self.rhythm.affect

    @property
    def rhythm_phase(self) -> str:
        """`exploration`, `tension`, `integration` or `rest`."""
        return self.rhythm.phase

    @property
    def injection(self) -> str:
        """The wish for the next answer: `liven`, `calm`, or empty for none."""
        return self.rhythm.injection

    @property
    def order(self) -> list[str]:
        """The personas in the order of the cycle under way."""
        return list(self.rhythm.orders[-1])

    def integrate_response(self, persona_id: str, response: str) -> dict[str, Any]:
        """Takes an answer in, and says what it changes.

        Keys: `affect_before`, `affect_after` (0–1), `phase_before`, `rhythm_phase`, `injection_applied`, `injection`,
        `sentiment` (−1–1), `confidence` (0–1), `keywords`, and `plan_adjustment` after the last answer of a cycle.
        """
        if persona_id not in self._plan.order:
            self._plan = replace(self._plan, order=(*self._plan.order, persona_id))
            orders = (*self.rhythm.orders[:-1], (*self.rhythm.orders[-1], persona_id))
            self.rhythm = replace(self.rhythm, orders=orders)
        size, tick = len(self._plan.order), len(self.rhythm.said) + 1
        depth, step = (tick - 1) // size + 1, (tick - 1) % size + 1
        self.rhythm = answered(self._plan, self.rhythm, Line(tick, persona_id, "", response), (persona_id, depth, step))
        known = len(self.rhythm.adjustments)
        if step == size:
            self.rhythm = next_cycle(self._plan, self.rhythm, depth)
        said, changed = self.rhythm.said[-1], self.rhythm.adjustments[known:]
        return {
            "affect_before": said.affect_before,
            "affect_after": said.affect,
            "phase_before": said.phase_before,
            "rhythm_phase": said.phase,
            "injection_applied": bool(said.injection),
            "injection": said.injection,
            "sentiment": said.emotion.valence,
            "confidence": said.emotion.confidence,
            "keywords": list(said.emotion.keywords),
            "plan_adjustment": changed[0].as_json() if changed else None,
        }


def compose_prompt_with_memory(
    persona: Persona,
    seed_prompt: str,
    history: Sequence[Mapping[str, Any]],
    depth: int,
    step_index: int,
    memory_store: MemoryStore | None = None,
    bqi_snapshot: Mapping[str, Any] | None = None,
    *,
    min_importance: float = WEIGHTY,
    session_id: str | None = None,
) -> str:
    """Returns the prompt of one answer: instruction, past answers, what was said, and the seed prompt.

    Past answers are at most two of the persona's own, of at least `min_importance`, those first that have most to do
    with the first 100 characters of the seed prompt. Left out are those rated 2 stars or less, errors, and the
    answers of the session under way (`session_id`), which the history shows. With a snapshot, they are of its phase
    and have one of its emotions.
    """
    parts = [f"System instruction: {persona.system_prompt}"] if persona.system_prompt else []
    cases = _similar_cases(persona, seed_prompt, memory_store, bqi_snapshot or {}, min_importance)
    for place, case in enumerate([one for one in cases if one.time.session_id != session_id][:EXAMPLES]):
        parts += [] if place else [HEADING]
        shown = case.content.response_summary or case.content.response_full[:LONGEST_EXAMPLE]
        parts += [f"- Previous input: {case.content.prompt_digest}", f"  Your response: {shown}"]
    parts += [f"Current recursion depth: {depth}", "Conversation history:"]
    for entry in history:
        parts.append(f"- {entry.get('persona', entry.get('role', 'unknown'))}: {entry.get('content', '')}")
    parts += ["", f"Seed focus: {seed_prompt}"]
    parts.append(f"Respond as persona '{persona.name}' ({persona.role}). This is cycle step {step_index}.")
    return "\n".join(parts)


def _similar_cases(
    persona: Persona, seed_prompt: str, store: MemoryStore | None, snapshot: Mapping[str, Any], min_importance: float
) -> list[MemoryCoordinate]:
    if store is None:
        return []
    emotion = cast("Mapping[str, Any]", snapshot.get("emotion") or {})
    found = store.search(
        query=seed_prompt[:ASKED_WITH],
        persona_id=persona.identifier,
        min_importance=min_importance,
        bqi_filters={"rhythm_phase": snapshot.get("rhythm_phase"), "emotion": emotion.get("keywords") or None},
        limit=MOST,
        rank="relevance",
    )
    return [one for one in found if (one.metadata.user_rating or FAIR) > POOR and not one.metadata.error_occurred]


# ── §7.1: the orchestrator ───────────────────────────────────────────────────────────────────────────────────────────


@dataclass(slots=True)
class _Run:
    """The results of one call of `run`."""

    seed_prompt: str
    below: Mapping[str, float]
    """Persona → its mean rating in stars, where it is to answer differently."""
    answers: list[tuple[PanelAnswer, str, Figures]] = field(default_factory=list[tuple[PanelAnswer, str, Figures]])


class PersonaOrchestrator:
    """An orchestrator that asks the personas in cycles, stores each answer, and logs everything in the ledger.

    `history`: the answers of the session, as the prompts show them. `log_entries`: the same with everything that is
    known of each; also appended to `log_path`, a line of JSON an answer.
    """

    def __init__(
        self,
        registry: PersonaRegistry,
        backend_factory: BackendFactory,
        log_path: str | Path | None = None,
        memory_store: MemoryStore | None = None,
        resonance_ledger: Ledger | None = None,
        *,
        user_id: str = "",
        clock: Clock | None = None,
    ) -> None:
        """`backend_factory(persona)`: a callable from a prompt to a text, or an object with `generate(prompt)`.
        `user_id`: whose session it is, as its memories say. `clock`: the time, by default the real one."""
        self.registry = registry
        self.backend_factory = backend_factory
        self.log_path = None if log_path is None else Path(log_path)
        self.phase = PhaseController(persona.identifier for persona in registry)
        self.history: list[dict[str, Any]] = []
        self.log_entries: list[dict[str, Any]] = []
        self.memory_store = memory_store
        self.resonance_ledger = resonance_ledger
        self.user_id = user_id
        given = clock or partial(datetime.now, UTC)
        self._clock: Clock = lambda: utc(given())
        self.session_start = self._clock()
        self.session_id = _unused(f"sess_{self.session_start:%Y%m%d_%H%M%S}", memory_store)
        self._last_memory_id: str | None = None

    def run(self, seed_prompt: str, depth: int = 1) -> str:
        """Asks each persona `depth` times, and returns the last answer.

        The retention policy of the store is applied first. Ratings of earlier answers change prompts and order, as
        `commonplace.parts.panel.ratings` says and the ledger notes (`rune_report`). Importances are computed again at
        the end. A backend that raises has answered `[error: …]`: its memory has `error_occurred`, and the others go on.
        Raises UsageError for an empty prompt and for a depth below 1.
        """
        if not clean(seed_prompt):
            raise UsageError("the prompt is empty", hint="give the question that the personas are to answer")
        if depth < 1:
            raise UsageError(f"depth is {depth!r}", hint="expected 1 or more: how often each persona answers")
        if self.memory_store is not None:
            self.memory_store.apply_retention_policy(self._clock())
        names = [persona.identifier for persona in self.registry]
        learned = () if self.memory_store is None else changes(names, rated(self.memory_store, names))
        order = next((change.order for change in learned if change.order), names)
        self.phase = PhaseController(order, prompt=seed_prompt, depth=depth)
        self._log(ASKED, USER, coordinate(self._clock(), DOMAIN, USER, self.phase.affect, (), self.phase.rhythm_phase))
        self._log_learned(learned)
        run = _Run(seed_prompt, {one.persona: one.mean for one in learned if one.action == "revise_prompt"})
        response = self._run_recursive(run, depth, 1)
        self._close(run)
        return response

    def tool_call(self, persona_id: str, tool: str, arguments: Mapping[str, Any], result: Any = None) -> Entry | None:
        """Notes in the ledger that a persona has used a tool; returns None without a ledger."""
        details = {"tool": tool, "arguments": dict(arguments), "result": result}
        return self._log("tool_call", persona_id, None, evaluation=details)

    def system_event(self, text: str) -> MemoryCoordinate | None:
        """Keeps an outside event of the session and shows it to the personas; returns None without a store."""
        memory = None
        if self.memory_store is not None:
            memory = self.memory_store.add(self._document(SYSTEM, text, HAPPENED))
        self.history.append({"role": "system", "content": text})
        self._log(HAPPENED, SYSTEM, None, memory_id=memory.memory_id if memory else None)
        return memory

    def _run_recursive(self, run: _Run, depth: int, depth_index: int) -> str:
        response = ""
        for step, identifier in enumerate(self.phase.order, start=1):
            response = self._answer(run, self.registry.get(identifier), depth_index, step)
        return self._run_recursive(run, depth, depth_index + 1) if depth_index < depth else response

    def _answer(self, run: _Run, persona: Persona, depth_index: int, step_index: int) -> str:
        prompt = self._prompt(run, persona, depth_index, step_index)
        response = _generated(self.backend_factory, persona, prompt)
        phase_meta = self.phase.integrate_response(persona.identifier, response)
        said, at = self.phase.rhythm.said[-1], self._clock()
        bqi = coordinate(at, DOMAIN, persona.identifier, said.affect, said.emotion.keywords, said.phase)
        parent, memory_id = self._last_memory_id, ""
        if self.memory_store is not None:
            memory = self.memory_store.add(
                self._create_memory_coordinate(persona, prompt, response, phase_meta, depth_index, bqi)
            )
            memory_id = self._last_memory_id = memory.memory_id
        earlier = [entry["content"] for entry in self.history]
        outcome = "fault" if FAILED in response else "value"
        counted = figures(said, [prompt, *earlier], [outcome])
        run.answers.append((said, memory_id, counted))
        adjustment, refs = phase_meta["plan_adjustment"], tuple(filter(None, (memory_id, parent)))
        if self.resonance_ledger is not None:
            row = LedgerRow(
                self.session_id, RESPONSE, persona.identifier, memory_id, at, bqi, None, counted, adjustment, refs
            )
            log(self.resonance_ledger, row)
        entry = {"persona": persona.identifier, "role": persona.role, "content": response}
        self.history.append(entry)
        self._write_log({**entry, "at": at.isoformat(), "depth": depth_index, "step": step_index, "prompt": prompt,
                         "memory_id": memory_id or None, "phase": phase_meta, "evaluation": counted})  # fmt: skip
        return response

    def _prompt(self, run: _Run, persona: Persona, depth_index: int, step_index: int) -> str:
        """Returns the prompt with past answers, chosen as in a panel.

        Those that are important and of the same phase and emotion come first; where there are none, any
        important ones, and then any others in the same way.
        """
        given = (persona, run.seed_prompt, self.history, depth_index, step_index, self.memory_store)
        said = self.phase.rhythm.said[-1:]
        alike = [{"rhythm_phase": one.phase, "emotion": {"keywords": one.emotion.keywords}} for one in said]
        prompt = ""
        for floor, snapshot in product((WEIGHTY, 0.0), (*alike, None)):
            prompt = compose_prompt_with_memory(*given, snapshot, min_importance=floor, session_id=self.session_id)
            if HEADING in prompt:
                break
        mean = run.below.get(persona.identifier)
        revised = None if mean is None else REVISED.format(mean=mean)
        return "\n".join(filter(None, (prompt, revised, INJECTIONS.get(self.phase.injection))))

    def _create_memory_coordinate(
        self,
        persona: Persona,
        prompt: str,
        response: str,
        phase_meta: Mapping[str, Any],
        depth_index: int,
        bqi_snapshot: Mapping[str, Any] | None = None,
    ) -> MemoryCoordinate:
        """Stores an answer as a memory; the store gives it its id and its importance."""
        document = self._document(persona.identifier, response, RESPONSE)
        return MemoryCoordinate.from_dict(
            {
                **document.to_dict(),
                "space": {**document.space.to_dict(), "depth_index": depth_index},
                "agent": {
                    **document.agent.to_dict(),
                    "persona_name": persona.name,
                    "role": persona.role,
                    "backend": persona.backend_id,
                },
                "emotion": {
                    "affect_amplitude": phase_meta["affect_after"],
                    "sentiment_score": phase_meta["sentiment"],
                    "confidence": phase_meta["confidence"],
                    "keywords": phase_meta["keywords"],
                },
                "content": {**document.content.to_dict(), "prompt_digest": " ".join(prompt.split())},
                "metadata": {
                    "tags": [persona.identifier, "orchestration"],
                    "phase_injection_applied": phase_meta["injection_applied"],
                    "error_occurred": FAILED in response,
                    "bqi_snapshot": None if bqi_snapshot is None else dict(bqi_snapshot),
                },
                "relations": {"parent_memory_id": self._last_memory_id},
            }
        )

    def _document(self, persona_id: str, text: str, kind: str) -> MemoryCoordinate:
        """Adds the next answer to the history."""
        at, sequence = self._clock(), len(self.history) + 1
        minutes = (at - self.session_start).total_seconds() / 60
        return MemoryCoordinate(
            timestamp=at.isoformat(),
            time={"session_id": self.session_id, "sequence": sequence, "relative_time_minutes": minutes},  # pyright: ignore[reportArgumentType]
            space={"project": PROJECT, "domain": DOMAIN},  # pyright: ignore[reportArgumentType]
            agent={"persona_id": persona_id, "user_id": self.user_id},  # pyright: ignore[reportArgumentType]
            content={"type": kind, "response_full": text, "token_count": len(text.split())},  # pyright: ignore[reportArgumentType]
            metadata={"tags": [persona_id, "orchestration"]},  # pyright: ignore[reportArgumentType]
        )

    def _close(self, run: _Run) -> None:
        """Keeps what a panel keeps when it has ended."""
        if self.memory_store is not None:
            self.memory_store.recompute()
            self.memory_store.flush()
        if self.resonance_ledger is not None:
            everything = [said for said, _, _ in run.answers]
            for row in closing(self.session_id, self._clock(), DOMAIN, run.answers, everything):
                log(self.resonance_ledger, row)

    def _log(self, event: str, persona_id: str, bqi: Mapping[str, Any] | None, **more: Any) -> Entry | None:
        ledger = self.resonance_ledger
        if ledger is None:
            return None
        at = max(self._clock(), ledger.latest or self.session_start)
        return ledger.log_event(self.session_id, event, persona_id, bqi_coordinate=bqi, at=at, **more)

    def _log_learned(self, learned: Sequence[RatingChange]) -> None:
        """Notes what the ratings of earlier answers change in this run."""
        if self.resonance_ledger is None:
            return
        for change in learned:
            at = self._clock()
            bqi = coordinate(at, DOMAIN, change.persona, self.phase.affect, (), self.phase.rhythm_phase)
            log(self.resonance_ledger, learned_row(self.session_id, at, bqi, change))

    def _write_log(self, entry: dict[str, Any]) -> None:
        self.log_entries.append(entry)
        if self.log_path is not None:
            self.log_path.parent.mkdir(parents=True, exist_ok=True)
            with self.log_path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(entry, ensure_ascii=False) + "\n")


def _unused(session: str, store: MemoryStore | None) -> str:
    """Returns the name of a session, with a number if another one began in the same second."""
    taken = () if store is None else frozenset(store.get_all_session_ids())
    return next(name for name in (session, *(f"{session}_{n}" for n in range(2, len(taken) + 3))) if name not in taken)


def _generated(factory: BackendFactory, persona: Persona, prompt: str) -> str:
    try:
        backend: Any = factory(persona)
        response = str(getattr(backend, "generate", backend)(prompt))
    except Exception as error:  # whatever a backend raises: the answers before it are kept
        return f"{FAILED} {type(error).__name__}: {error}]"
    return response if clean(response) else f"{FAILED} an empty answer]"
