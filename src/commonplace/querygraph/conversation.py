"""What is asked in conversations with one agent: a graph for each session, and one of the agent for what proved useful.

All is written to the session. Both are searched. At the end of a session its best questions become the agent's.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from pathlib import Path
from threading import RLock
from typing import Any, Literal
from urllib.parse import quote

from commonplace.canon import DIGEST_SIZE, canonical, parsed
from commonplace.errors import CommonplaceError, UsageError
from commonplace.paths import bytes_of
from commonplace.querygraph.arguments import count, string
from commonplace.querygraph.config import ConversationConfig
from commonplace.querygraph.embedding import Embedder, HashedNgrams
from commonplace.querygraph.graph import Answer, Clock, Hit, Label, QueryGraph, Removed, micros, wall_clock
from commonplace.whole_file import written_whole

Source = Literal["session", "agent"]


@dataclass(frozen=True, slots=True)
class Found(Hit):
    """A question that was found, and in which graph."""

    source: Source


@dataclass(frozen=True, slots=True)
class FoundAnswer(Answer):
    """An answer that was found, and in which graph."""

    source: Source


@dataclass(frozen=True, slots=True)
class Finalized:
    """A summary of a session that ended."""

    promoted: tuple[str, ...]
    """The agent's ids of the questions that were promoted, the best first."""
    checkpoint: Path | None


class ConversationMemory:
    """The sessions and the agent graph of one agent, which all share one embedder. Safe to use from several threads.

    A session begins when something is asked in it, and ends with `finalize_session` or `gc_sessions`.
    """

    def __init__(
        self,
        agent_id: str,
        config: ConversationConfig | None = None,
        *,
        agent_graph: QueryGraph | None = None,
        embedder: Embedder | None = None,
        clock: Clock = wall_clock,
    ) -> None:
        """`agent_graph`: one that was loaded or is stored; by default a new one."""
        if not string(agent_id, "the id of the agent"):
            raise UsageError("the id of the agent is empty", hint='ConversationMemory("maria")')
        self.agent_id = agent_id
        self.config = config or ConversationConfig()
        self.embedder: Embedder = embedder or (agent_graph.embedder if agent_graph is not None else HashedNgrams())
        if agent_graph is not None and agent_graph.embedder.export_state() != self.embedder.export_state():
            raise UsageError(
                "the agent's graph has another embedder", hint="leave embedder out, or load it with this one"
            )
        self._clock = clock
        self.agent = agent_graph or QueryGraph(self.config.agent, embedder=self.embedder, clock=clock)
        self._sessions: dict[str, QueryGraph] = {}
        self._used: dict[str, datetime] = {}
        self._lock = RLock()

    def session(self, session: str) -> QueryGraph:
        """Returns the graph of a session, and begins the session if necessary."""
        if not string(session, "the id of the session"):
            raise UsageError("the id of the session is empty")
        with self._lock:
            if session not in self._sessions:
                self._sessions[session] = QueryGraph(self.config.session, embedder=self.embedder, clock=self._clock)
            self._used[session] = self._clock()
            return self._sessions[session]

    # ── asking, answering, finding ───────────────────────────────────────────────────────────────────────────────

    def upsert_query(self, session: str, text: str) -> str:
        """See `QueryGraph.upsert_query`. What the agent knows of the entities that it names, the session knows, too."""
        with self._lock:
            graph = self.session(session)
            graph.know(self.agent.entities_in(text))
            return graph.upsert_query(text)

    def record_answer(self, session: str, query: str, text: str) -> str:
        """See `QueryGraph.record_answer`. A question that only the agent's graph has is asked in the session first."""
        with self._lock:
            return self._with_query(session, query).record_answer(query, text)

    def record_feedback(
        self, session: str, query: str, label: Label, *, answer: str | None = None, note: str | None = None
    ) -> str:
        """See `QueryGraph.record_feedback`. What only the agent's graph has is brought into the session first."""
        with self._lock:
            graph = self._with_query(session, query)
            if answer is not None and string(answer, "the id") not in graph and answer in self.agent:
                graph.record_answer(query, self.agent.node(answer).text)
            return graph.record_feedback(query, label, answer=answer, note=note)

    def search(self, session: str, text: str, k: int = 5) -> list[Found]:
        """Returns the `k` best results of the session and the agent, each canonical key once.

        `session_first_bias` is added to the scores of the session's questions. Changes nothing.
        """
        k = count(k, "k")
        with self._lock:
            bias = {"session": self.config.session_first_bias, "agent": 0.0}
            found = [
                Found(hit.id, hit.score + bias[source], hit.similarity, hit.rank, hit.text, hit.canonical_key, source)
                for source, graph in self._graphs(session)
                for hit in graph.search(text, 2 * k)
            ]
        best: dict[str, Found] = {}
        for hit in sorted(found, key=lambda hit: (-hit.score, hit.source != "session")):
            best.setdefault(hit.canonical_key, hit)
        return list(best.values())[:k]

    def best_answers(self, session: str, text: str, k: int = 5, *, min_similarity: float = 0.0) -> list[FoundAnswer]:
        """Searches the answers of both graphs as `QueryGraph.best_answers` does.

        The session's come first at equal scores.
        """
        k = count(k, "k")
        with self._lock:
            found = [
                FoundAnswer(one.id, one.query, one.text, one.score, one.similarity, one.feedback, source)
                for source, graph in self._graphs(session)
                for one in graph.best_answers(text, k, min_similarity=min_similarity)
            ]
        best: dict[str, FoundAnswer] = {}
        for one in sorted(found, key=lambda one: (-one.score, one.source != "session")):
            best.setdefault(one.id, one)
        return list(best.values())[:k]

    def delete_query(self, query: str) -> dict[str, Removed]:
        """Deletes a question, as `QueryGraph.delete_query` does, from all active sessions and from the agent's graph.

        Returns what went, by the id of the session; what the agent's graph had is under "". A checkpoint that was
        written still has the question. Raises UsageError if no graph has it.
        """
        with self._lock:
            graphs = {"": self.agent, **self._sessions}
            held = {id: graph for id, graph in graphs.items() if string(query, "the id") in graph}
            if not held:
                raise UsageError(f"neither the agent nor an active session has {query!r}")
            return {id: graph.delete_query(query) for id, graph in held.items()}

    # ── the ends of sessions ─────────────────────────────────────────────────────────────────────────────────────

    def finalize_session(
        self, session: str, *, promote: bool = True, checkpoint: bool = True, checkpoint_name: str | None = None
    ) -> Finalized:
        """Writes the checkpoint, promotes what proved useful, and ends the session.

        Promoted are the questions of at least `promote_min_rank` and `promote_min_degree`, the `max_promotions` best.
        If the checkpoint cannot be written, nothing is promoted and the session goes on.
        """
        with self._lock:
            graph = self._sessions.get(string(session, "the id of the session"))
            if graph is None:
                hint = "ask something in it first, or load its checkpoint"
                raise UsageError(f"no active session {session!r}", hint=hint)
            ranked = sorted(graph.nodes("query"), key=lambda node: -node.rank)
            path = self._write_checkpoint(session, graph, checkpoint_name) if checkpoint else None
            promoted: list[str] = []
            if promote:
                least, degree = self.config.promote_min_rank, self.config.promote_min_degree
                hot = [node.id for node in ranked if node.rank >= least and node.degree >= degree]
                hot = hot[: self.config.max_promotions]
                if hot:
                    promoted = self.agent.absorb(graph.to_snapshot(hot), carry_weights=self.config.carry_weights)
            self._end(session)
            return Finalized(tuple(dict.fromkeys(promoted)), path)

    def load_checkpoint(self, path: str | Path, session: str | None = None) -> str:
        """Begins a session with the content of a checkpoint. Returns its id, by default the former one.

        Raises CommonplaceError for a damaged file, UsageError for a session that is active or another agent's.
        """
        where = str(path)
        try:
            given = parsed(bytes_of(Path(path), "a checkpoint"))
        except ValueError as error:
            raise _damaged(where, str(error)) from error
        if not isinstance(given, dict) or "digest" not in given:
            raise _damaged(where, "it is not a checkpoint")
        held: dict[str, Any] = given  # pyright: ignore[reportUnknownVariableType]
        if _digest(held) != held["digest"]:
            raise _damaged(where, "its digest is not that of its content")
        if held.get("agent_id") != self.agent_id:
            raise UsageError(f"a checkpoint of the agent {held.get('agent_id')!r}", where=where)
        id = session or str(held.get("session_id"))
        try:
            graph = QueryGraph.from_snapshot(_snapshot_of(held), embedder=self.embedder, clock=self._clock)
        except (KeyError, TypeError, ValueError) as error:
            raise _damaged(where, f"{type(error).__name__}: {error}") from error
        with self._lock:
            if id in self._sessions:
                raise UsageError(
                    f"the session {id!r} is active", hint="give another one: load_checkpoint(path, session)"
                )
            self._sessions[id] = graph
            self._used[id] = self._clock()
        return id

    def gc_sessions(self, *, older_than: timedelta) -> list[str]:
        """Ends the sessions that nobody has used for longer, without promoting anything. Returns their ids.

        What is asked of the graph of a session itself is use as well.
        """
        if not isinstance(older_than, timedelta):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise UsageError(f"older_than is {older_than!r}; expected a timedelta", hint="timedelta(hours=4)")
        with self._lock:
            now = micros(self._clock())
            used = {id: max(micros(at), self._sessions[id].last_access) for id, at in self._used.items()}
            old = sorted(id for id, at in used.items() if timedelta(microseconds=now - at) > older_than)
            for id in old:
                self._end(id)
            return old

    def active_sessions(self) -> list[str]:
        """Returns the ids of the sessions that have begun and not ended, sorted."""
        with self._lock:
            return sorted(self._sessions)

    # ── inside ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _graphs(self, session: str) -> list[tuple[Source, QueryGraph]]:
        """Returns the graphs to search for a question in the session; a session that has not begun has none."""
        both: list[tuple[Source, QueryGraph]] = [("agent", self.agent)]
        if string(session, "the id of the session") in self._sessions:
            both.insert(0, ("session", self.session(session)))
        return both

    def _with_query(self, session: str, query: str) -> QueryGraph:
        """Returns the session's graph, with the question of the agent's graph if only that has it."""
        graph = self.session(session)
        if string(query, "the id") not in graph and query in self.agent:
            text = self.agent.node(query).text
            if graph.upsert_query(text) != query:
                raise UsageError(f"{query!r} is known to the session by another id", hint="ask again: upsert_query")
        return graph

    def _end(self, session: str) -> None:
        del self._sessions[session]
        self._used.pop(session, None)

    def _write_checkpoint(self, session: str, graph: QueryGraph, name: str | None) -> Path:
        """Writes the questions of highest rank and what belongs to them, readable by people."""
        now = self._clock()
        stamp = now.astimezone(UTC).strftime("%Y%m%dT%H%M%S")
        name = name or f"{quote(self.agent_id, safe='')}-{quote(session, safe='')}-{stamp}.json"
        if Path(name).name != name or name in (".", ".."):
            raise UsageError(f"the name of the checkpoint is {name!r}; expected a file name without folders")
        target = Path(self.config.checkpoint_folder) / (name if name.endswith(".json") else f"{name}.json")
        content = self._checkpoint(session, graph, now)
        content = {**content, "digest": _digest(content)}
        text = _printed(content) if self.config.checkpoint_pretty else canonical(content).decode() + "\n"
        with written_whole(target, force=True) as part:
            part.write_text(text, encoding="utf-8")
        return target

    def _checkpoint(self, session: str, graph: QueryGraph, now: datetime) -> dict[str, Any]:
        ranked = sorted(graph.nodes("query"), key=lambda node: -node.rank)[: self.config.checkpoint_top]
        held = graph.to_snapshot([node.id for node in ranked])
        order = {node.id: place for place, node in enumerate(ranked)}
        top: list[dict[str, Any]] = [
            {**node, "rank": ranked[order[node["id"]]].rank} for node in held["nodes"] if node["id"] in order
        ]
        ids: list[str] = [node["id"] for node in held["nodes"]]
        return {
            "version": held["version"],
            "agent_id": self.agent_id,
            "session_id": session,
            "created_at": micros(now),
            "top_queries": sorted(top, key=lambda node: order[str(node["id"])]),
            "other_nodes": [node for node in held["nodes"] if node["id"] not in order],
            "order": ids,
            "edges": [
                {"from": ids[edge[0]], "type": edge[1], "to": ids[edge[2]], "weight": edge[3], "times": list(edge[4:])}
                for edge in held["edges"]
            ],
            "config": held["config"],
            "embedder_state": held["embedder_state"],
            "canonical_meta": held["canonical_meta"],
            "decayed_at": held["decayed_at"],
        }


def _printed(content: dict[str, Any]) -> str:
    """Returns JSON with one line for each node and edge, which a person can read and compare."""
    rows: list[str] = []
    for name, value in content.items():
        head = canonical(name).decode()
        if isinstance(value, list) and value:
            lines: Iterable[str] = (f"    {canonical(one).decode()}" for one in value)  # pyright: ignore[reportUnknownVariableType]
            rows.append(f"  {head}: [\n" + ",\n".join(lines) + "\n  ]")
        else:
            rows.append(f"  {head}: {canonical(value).decode()}")
    return "{\n" + ",\n".join(rows) + "\n}\n"


def _snapshot_of(held: dict[str, Any]) -> dict[str, Any]:
    """Returns the snapshot that a checkpoint was made from."""
    nodes = {node["id"]: node for node in (*held["top_queries"], *held["other_nodes"])}
    places = {id: place for place, id in enumerate(held["order"])}
    names = ("version", "config", "embedder_state", "canonical_meta", "decayed_at")
    return {
        **{name: held[name] for name in names},
        "nodes": [nodes[id] for id in held["order"]],
        "edges": [
            [places[edge["from"]], edge["type"], places[edge["to"]], edge["weight"], *edge["times"]]
            for edge in held["edges"]
        ],
    }


def _digest(content: dict[str, Any]) -> str:
    held = {name: value for name, value in content.items() if name != "digest"}
    return blake2b(canonical(held), digest_size=DIGEST_SIZE).hexdigest()


def _damaged(where: str, why: str) -> CommonplaceError:
    return CommonplaceError(f"the checkpoint is damaged ({why})", where=where, hint="use a copy")
