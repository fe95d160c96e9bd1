"""A dialogue on the page: a run file that is played turn by turn, and everything about it that the page shows.

The run is open only while a turn is played. So every command reads it at any time, and a page that is
loaded again goes on with it, also after the process was killed.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from commonplace.api import OnOutage, create_run, open_run, resume_run
from commonplace.errors import CommonplaceError, UsageError
from commonplace.memory.embedding import embed_query
from commonplace.memory.stores.codec import memory_json
from commonplace.parts.duet.sitcom.casting import SHIPPED, Config, Profile, edited, settings_of
from commonplace.parts.duet.sitcom.mirror import Agreement, Mirror
from commonplace.run.reading import Reading
from commonplace.run.turn_records import TurnRecord, turn_records
from commonplace.whole_file import written_whole

log = logging.getLogger("commonplace.parts.duet.sitcom")
ON_OUTAGE: OnOutage = "fallback"
"""A server that does not answer costs a line, not the dialogue."""
TIMEOUT = 60.0
"""Seconds a model has for an answer."""


@dataclass(frozen=True, slots=True)
class Speaker:
    """One of the two characters, as the page's state has it."""

    profile: Profile
    turn_index: int = 0
    """Turns it has taken."""
    last_plan: str = ""
    last_utterance: str = ""
    mood_hint: str = ""


@dataclass(slots=True)
class Dialogue:
    """One dialogue."""

    path: Path
    """The run."""
    config: Config
    setting: str
    transcript: list[TurnRecord] = field(default_factory=list[TurnRecord])
    agreements: dict[int, Agreement] = field(default_factory=dict[int, Agreement])
    """Turn → how Chroma's search compares with the exact one."""
    notices: list[str] = field(default_factory=list[str])
    """What went wrong beside the dialogue."""
    mirror: Mirror | None = None

    @property
    def turn_idx(self) -> int:
        """Turns taken so far."""
        return self.transcript[-1].turn if self.transcript else 0

    @property
    def chroma(self) -> Path:
        """The folder of the mirror."""
        return self.path.with_suffix(".chroma")

    @property
    def agents(self) -> dict[str, Speaker]:
        """The two agents by name."""
        return {profile.name: self._agent(profile) for profile in self.config.profiles}

    def _agent(self, profile: Profile) -> Speaker:
        turns = [record for record in self.transcript if record.speaker == profile.id]
        last = turns[-1] if turns else None
        said = (last.plan, last.utterance, last.mood) if last else ("", "", "")
        return Speaker(profile, len(turns), *said)


LIVE: dict[Path, Dialogue] = {}
"""Dialogues of this process by their run: a page that is loaded again takes up its own, whose mirror is still open."""


def reopened(path: Path, own: str = "") -> Dialogue:
    """Returns the dialogue of a run that the page made, as far as it was committed; `own` is the page's scenario file.

    Raises CommonplaceError for a run that cannot be read, UsageError for one that is not a duet.
    """
    live = LIVE.get(path.resolve())
    if live is not None:
        return live
    with open_run(path) as reading:
        scenario, manifest = reading.scenario, reading.manifest
        if scenario.part.stage != "duet":
            raise UsageError("not a duet", where=str(path), hint="the page shows runs of the stage duet")
        config = settings_of(scenario, own or SHIPPED[scenario.language], manifest.seed, manifest.mind)
        session = Dialogue(path, config, scenario.part.duet.setting, turn_records(reading))
    _open_mirror(session)
    LIVE[path.resolve()] = session
    return session


def begin(config: Config, folder: Path) -> Dialogue:
    """Begins a dialogue with a new run and an empty mirror.

    Raises CommonplaceError for unusable settings or an unusable mind.
    """
    path = _free(folder)
    scenario, text = config.scenario, edited(config)
    if text is not None:
        scenario = str(path.with_suffix(".yaml"))
        with written_whole(scenario) as part:
            part.write_text(text, encoding="utf-8")
    try:
        with create_run(path, scenario, config.seed, config.mind, timeout=TIMEOUT, on_outage=ON_OUTAGE) as run:
            setting = run.scenario.part.duet.setting
    except CommonplaceError:
        if text is not None:
            Path(scenario).unlink(missing_ok=True)
        raise
    session = Dialogue(path, config, setting)
    _open_mirror(session)
    LIVE[path.resolve()] = session
    return session


def end(session: Dialogue) -> None:
    """Closes the dialogue and empties its collections. The run file stays unless it has no turn."""
    LIVE.pop(session.path.resolve(), None)
    if session.mirror is not None:
        try:
            session.mirror.empty()
        except Exception as error:
            log.error("emptying %s failed: %s", session.chroma, error)
        session.mirror.close()
        session.mirror = None
    if not session.transcript:
        for left in (session.path, session.path.with_suffix(".yaml")):
            left.unlink(missing_ok=True)


def play(session: Dialogue) -> TurnRecord:
    """Plays one more turn. Raises CommonplaceError when the run cannot continue; what was committed stays."""
    log.info("turn %d begins", session.turn_idx + 1)
    began = time.monotonic()
    try:
        asyncio.run(_played(session))
    except CommonplaceError as error:
        log.error("turn %d failed: %s", session.turn_idx + 1, error)
        raise
    seconds = time.monotonic() - began
    catch_up(session)
    record = session.transcript[-1]
    stored = sum(event.stored for event in record.store_events)
    log.info(
        "turn %d ends: %d of %d lines stored, %d tokens, %.2f s",
        record.turn, stored, len(record.store_events), sum(record.tokens.values()) - record.tokens["calls"], seconds,
    )  # fmt: skip
    for problem in record.problems:
        log.error("turn %d: %s: %s %s", record.turn, problem.task, problem.kind, problem.what)
    return record


async def _played(session: Dialogue) -> None:
    with resume_run(session.path, timeout=TIMEOUT, on_outage=ON_OUTAGE) as run:
        async for _ in run.play(1):
            pass


def catch_up(session: Dialogue) -> None:
    """Takes the turns that the run has and the session lacks, and brings the mirror up to date."""
    with open_run(session.path) as reading:
        fresh = turn_records(reading, session.turn_idx + 1)
        session.transcript += fresh
        for record in fresh:
            _compare(session, reading, record)
        if session.mirror is not None:
            with _Noticed(session):
                session.mirror.sync(reading)


def _compare(session: Dialogue, reading: Reading, record: TurnRecord) -> None:
    """Compares Chroma's first stage with the exact one, and logs both."""
    if session.mirror is None and not log.isEnabledFor(logging.DEBUG):
        return
    stream = reading.stream_at(record.speaker, record.turn - 1)
    policy = reading.scenario.policy
    if not record.query or policy.relevance != "cosine":
        return
    made = embed_query(reading.scenario.embedder, record.query) if reading.scenario.cognition.embedder is None else None
    found = stream.retrieve(
        record.query, at=reading.time(record.turn), k=policy.nearest or len(stream) or 1, policy=policy, embedding=made
    )
    raw = sorted(found.hits, key=lambda hit: (-hit.parts["relevance"].raw, -hit.memory.id))
    log.debug("turn %d top %d: %s", record.turn, len(raw), [(h.memory.id, h.parts["relevance"].raw) for h in raw])
    log.debug("turn %d re-ranked: %s", record.turn, [(hit.memory.id, hit.score) for hit in found.hits])
    if session.mirror is not None:
        with _Noticed(session):
            agreement = session.mirror.agreement(record.speaker, made, [hit.memory.id for hit in raw])
            if agreement:
                session.agreements[record.turn] = agreement


# ── the mirror ──────────────────────────────────────────────────────────────────────────────────────────────────────


class _Noticed:
    """A block that goes on without the mirror: the first error that Chroma raises becomes a notice."""

    def __init__(self, session: Dialogue) -> None:
        self._session = session

    def __enter__(self) -> None:
        """Prepares nothing."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> bool:
        if error is None or isinstance(error, KeyboardInterrupt | SystemExit | GeneratorExit):
            return False
        log.error("chroma: %s", error)
        self._session.notices.append(f"Chroma: {error}")
        if self._session.mirror is not None:
            self._session.mirror.close()
            self._session.mirror = None
        return True


def _open_mirror(session: Dialogue) -> None:
    names = {profile.id: name for profile, name in zip(session.config.profiles, _collections(session), strict=True)}
    with _Noticed(session):
        session.mirror = Mirror(session.chroma, names)
        session.mirror.empty()
        with open_run(session.path) as reading:
            session.mirror.sync(reading)


def _collections(session: Dialogue) -> list[str]:
    """Names each collection; two characters of the same name are told apart by their ids."""
    names = [profile.name for profile in session.config.profiles]
    return names if len(set(names)) == len(names) else [profile.id for profile in session.config.profiles]


# ── export ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def exported(session: Dialogue) -> dict[str, Any]:
    """Returns the transcript and a snapshot of the memories, as JSON."""
    with open_run(session.path) as reading:
        return {
            "run": session.path.name,
            "tick": reading.last_tick,
            "digest": reading.digest(),
            "config": session.config.as_dict(),
            "notices": session.notices,
            "transcript": [record.as_dict() for record in session.transcript],
            "memories": {agent: [memory_json(one) for one in reading.memories(agent)] for agent in reading.agent_ids},
        }


def export(session: Dialogue, folder: Path) -> tuple[Path, str]:
    """Writes the export into a folder, named after run and turn. Returns the path and the text."""
    text = json.dumps(exported(session), ensure_ascii=False, indent=2) + "\n"
    path = folder / f"{session.path.stem}-turn-{session.turn_idx}.json"
    with written_whole(path, force=True) as part:
        part.write_text(text, encoding="utf-8")
    return path, text


# ── files ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _free(folder: Path) -> Path:
    """Returns the first of `page-1.run`, `page-2.run` … that does not exist and has no leftover files beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    taken = {path.name.partition(".")[0] for path in folder.iterdir()}
    number = next(one for one in range(1, len(taken) + 2) if f"page-{one}" not in taken)
    return folder / f"page-{number}.run"
