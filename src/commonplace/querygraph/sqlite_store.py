"""A graph in a SQLite file that several processes may use at once.

The graph works in RAM. Each change is one transaction: what others committed meanwhile is read, the change is made,
and the nodes and edges it touched are written with a number of its own, by which the others find them. A process that
is killed loses the change it was making and nothing else.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from commonplace.canon import canonical, parsed
from commonplace.errors import CommonplaceError, UsageError
from commonplace.paths import kind_of
from commonplace.querygraph.config import GraphConfig
from commonplace.querygraph.embedding import Embedder, HashedNgrams
from commonplace.querygraph.graph import Clock, QueryGraph, wall_clock
from commonplace.querygraph.keys import CANONICAL
from commonplace.querygraph.search import Index, Vectors
from commonplace.querygraph.snapshots import Parts, add_record, read, record, restored
from commonplace.querygraph.tables import EDGE_TYPES, ENTITY
from commonplace.sqlite import FileKind, Identity, application_id, close, connect, transaction, write_ahead

GRAPH = FileKind(
    name="a stored query graph",
    application_id=0x436F6D51,  # `ComQ`
    format=1,
    expected="give a file made by StoredGraph, or a new name; a snapshot is read by QueryGraph.load",
    again="open it again",
    inspect="`sqlite3 {where} .recover`",
)

# change: the number of the change that a row was last written by; serial: as in the columns in RAM
_TABLES = (
    "CREATE TABLE meta(name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE node(id TEXT PRIMARY KEY, change INTEGER NOT NULL, serial INTEGER NOT NULL, record TEXT NOT NULL)",
    "CREATE TABLE edge(source TEXT NOT NULL, type TEXT NOT NULL, target TEXT NOT NULL, change INTEGER NOT NULL,"
    " serial INTEGER NOT NULL, weight REAL NOT NULL, created INTEGER NOT NULL, accessed INTEGER NOT NULL,"
    " PRIMARY KEY(source, type, target)) WITHOUT ROWID",
    "CREATE TABLE gone(change INTEGER NOT NULL, source TEXT NOT NULL, type TEXT NOT NULL, target TEXT NOT NULL)",
    "CREATE INDEX node_change ON node(change)",
    "CREATE INDEX edge_change ON edge(change)",
    "CREATE INDEX gone_change ON gone(change)",
)

_REMEMBERED = 10_000
"""Changes for which it is kept what they removed; who missed more reads the whole file again."""

Key = tuple[str, str, str]
"""(source, type, target) of an edge; (id, "", "") for a node."""


@dataclass(slots=True)
class _Touched:
    """The nodes and edges that a change has touched so far."""

    rows: set[int] = field(default_factory=set[int])
    slots: set[int] = field(default_factory=set[int])
    gone: set[Key] = field(default_factory=set[Key])

    def __bool__(self) -> bool:
        return bool(self.rows or self.slots or self.gone)


class StoredGraph(QueryGraph):
    """A query graph in a SQLite file (WAL); everything that a call has changed is committed when it returns.

    Several threads and processes may use one file, each through a `StoredGraph` of its own or, in one process, a
    shared one. Close it, or use it in a `with` block.
    """

    def __init__(
        self,
        path: str | Path,
        config: GraphConfig | None = None,
        *,
        embedder: Embedder | None = None,
        clock: Clock = wall_clock,
        index: Callable[[Vectors], Index] | None = None,
    ) -> None:
        """Opens or makes the file. Settings that are given replace those of the file.

        Raises UsageError for a file of another kind, a newer format, or another embedder.
        """
        self.where = str(path)
        self._touched = _Touched()
        self._pulling = True
        self._seen = -1
        """The number of the last change that is in RAM; −1: nothing is."""
        self._outside = -1
        self._connection = _opened(Path(path))
        self._file = Identity(Path(path))
        try:
            with GRAPH.errors(self.where), transaction(self._connection):
                config, embedder = self._settled(config, embedder)
            super().__init__(config, embedder=embedder, clock=clock, index=index)
            with self._writing():
                pass
        except BaseException:
            self._connection.close()
            raise

    def close(self) -> None:
        """Closes the file. May be called twice."""
        with self._lock:
            close(self._connection)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # ── every call of the graph goes through one of these ────────────────────────────────────────────────────────

    @contextmanager
    def _reading(self) -> Generator[None]:
        with self._lock:
            with GRAPH.errors(self.where):
                (outside,) = self._connection.execute("PRAGMA data_version").fetchone()
                if outside != self._outside or self._seen < 0:
                    self._connection.execute("BEGIN")
                    try:
                        self._pull()
                    finally:
                        self._connection.execute("ROLLBACK")
                    self._outside = outside
            yield

    @contextmanager
    def _writing(self) -> Generator[None]:
        with self._lock:
            if not self._file.is_unchanged():
                what = "the file was deleted, moved or replaced"
                raise CommonplaceError(what, where=self.where, hint="put it back, or open another one")
            try:
                with GRAPH.errors(self.where), transaction(self._connection):
                    self._pull()
                    yield
                    change = self._push()
                self._seen = change
            except BaseException:
                if self._touched:  # RAM is ahead of the file
                    self._seen = -1
                raise
            finally:
                self._touched = _Touched()

    def _changed(self, row: int) -> None:
        super()._changed(row)
        if not self._pulling:
            self._touched.rows.add(row)

    def _linked(self, slot: int) -> None:
        super()._linked(slot)
        if not self._pulling:
            self._touched.slots.add(slot)

    def _dropped(self, id: str) -> None:
        super()._dropped(id)
        if not self._pulling:
            self._touched.gone.add((id, "", ""))

    def _unlinked(self, slot: int) -> None:
        super()._unlinked(slot)
        if not self._pulling:
            edge = self._edge(slot)
            self._touched.gone.add((edge.source, edge.type, edge.target))

    # ── what others have done ────────────────────────────────────────────────────────────────────────────────────

    def _pull(self) -> None:
        """Reads into RAM what was committed since."""
        self._pulling = True
        try:
            change = int(self._meta("change"))
            if change == self._seen:
                return
            if self._seen < 0 or change - self._seen > _REMEMBERED:
                self._pull_all()
            else:
                self._pull_gone()
                self._pull_nodes()
                self._pull_edges()
            self._tables.decayed = int(self._meta("decayed"))
            self._tables.serial = int(self._meta("serial"))
            self._seen = change
        except BaseException as error:
            self._seen = -1
            if isinstance(error, (KeyError, ValueError, TypeError, OverflowError, AttributeError)):
                raise GRAPH.damaged(self.where, f"{type(error).__name__}: {error}") from error
            raise
        finally:
            self._pulling = False

    def _pull_all(self) -> None:
        run = self._connection.execute
        nodes = run("SELECT id, serial, record FROM node ORDER BY serial").fetchall()
        places = {id: place for place, (id, _, _) in enumerate(nodes)}
        edges = run(
            "SELECT source, type, target, weight, created, accessed, serial FROM edge ORDER BY serial"
        ).fetchall()
        parts = Parts(
            config=self.config,
            state=self.embedder.export_state(),
            canonical=CANONICAL,
            decayed=int(self._meta("decayed")),
            nodes=(parsed(text) for _, _, text in nodes),
            edges=[[(places[one], kind, places[to], *rest) for one, kind, to, *rest, _ in edges]],
        )
        tables = restored(parts, self.embedder)
        tables.nodes.serial[: len(nodes)] = [serial for _, serial, _ in nodes]
        tables.edges.serial[: len(edges)] = [serial for *_, serial in edges]
        tables.serial = int(self._meta("serial"))
        self._pulling = False  # what the budgets of other settings evict is gone from the file, too
        self._hold(tables, self._now())

    def _pull_gone(self) -> None:
        found = self._connection.execute(
            "SELECT source, type, target FROM gone WHERE change > ? ORDER BY type = ''", (self._seen,)
        )
        for source, kind, target in found.fetchall():
            one, other = self._nodes.rows.get(source), self._nodes.rows.get(target)
            if not kind and one is not None:
                self._remove(one)
            elif one is not None and other is not None:
                slot = self._edge_slot(one, EDGE_TYPES.index(kind), other)
                if slot is not None:
                    self._unlink(slot)

    def _pull_nodes(self) -> None:
        nodes = self._nodes
        found = self._connection.execute(
            "SELECT id, serial, record FROM node WHERE change > ? ORDER BY serial", (self._seen,)
        )
        for id, serial, text in found.fetchall():
            node: dict[str, Any] = parsed(text)
            row = nodes.rows.get(id)
            if row is None:
                row = add_record(self._tables, node, self.embedder, same_vectors=True)
                nodes.serial[row] = serial
                slot = int(nodes.slot[row])
                if slot >= 0:
                    self._index.add(slot, self._tables.vectors.vector(slot))
                continue
            nodes.weigh(row, float(node["weights"]["repeat"]), float(node["weights"]["feedback"]))
            nodes.accessed[row], nodes.created[row] = int(node["last_access"]), int(node["created_at"])
            nodes.degree[row] += int(node["carried_degree"]) - int(nodes.carried[row])
            nodes.carried[row] = int(node["carried_degree"])
            nodes.pinned[row] = node["pinned"] is True
            if nodes.type[row] == ENTITY:
                nodes.extras[row] = tuple(map(str, node["aliases"]))
                self._entities.add(id, nodes.extras[row])

    def _pull_edges(self) -> None:
        found = self._connection.execute(
            "SELECT source, type, target, serial, weight, created, accessed FROM edge WHERE change > ? ORDER BY serial",
            (self._seen,),
        )
        edges = self._edges
        for source, kind, target, serial, weight, created, accessed in found.fetchall():
            one, code, other = self._nodes.rows[source], EDGE_TYPES.index(kind), self._nodes.rows[target]
            slot = self._edge_slot(one, code, other)
            if slot is None:
                slot = edges.add(one, code, other, weight, created, serial)
                for row in (one, other):
                    self._nodes.incident[row].append(slot)
                    self._nodes.degree[row] += 1
            edges.weight[slot], edges.accessed[slot] = weight, accessed

    # ── what this call has done ──────────────────────────────────────────────────────────────────────────────────

    def _push(self) -> int:
        """Writes what was touched, as one change. Returns the number of the last change."""
        if not self._touched and self._tables.decayed == int(self._meta("decayed")):
            return self._seen
        change = self._seen + 1
        many = self._connection.executemany
        gone = sorted(self._touched.gone)
        many("DELETE FROM node WHERE id = ?", [(id,) for id, kind, _ in gone if not kind])
        many("DELETE FROM edge WHERE source = ? AND type = ? AND target = ?", [key for key in gone if key[1]])
        many("INSERT INTO gone VALUES (?, ?, ?, ?)", [(change, *key) for key in gone])
        nodes, edges = self._nodes, self._edges
        rows = [row for row in sorted(self._touched.rows) if nodes.alive[row]]
        many(
            "INSERT INTO node VALUES (?, ?, ?, ?)"
            " ON CONFLICT(id) DO UPDATE SET change = excluded.change, record = excluded.record",
            [
                (nodes.ids[row], change, int(nodes.serial[row]), canonical(record(self._tables, row)).decode())
                for row in rows
            ],
        )
        slots = [slot for slot in sorted(self._touched.slots) if edges.weight[slot] < float("inf")]
        many(
            "INSERT INTO edge VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT(source, type, target) DO UPDATE SET"
            " change = excluded.change, weight = excluded.weight, accessed = excluded.accessed",
            [
                (
                    one.source,
                    one.type,
                    one.target,
                    change,
                    int(edges.serial[slot]),
                    one.weight,
                    one.created_at,
                    one.last_access,
                )
                for slot, one in ((slot, self._edge(slot)) for slot in slots)
            ],
        )
        many("DELETE FROM gone WHERE change < ?", [(change - _REMEMBERED,)])
        many(
            "UPDATE meta SET value = ? WHERE name = ?",
            [(change, "change"), (self._tables.decayed, "decayed"), (self._tables.serial, "serial")],
        )
        return change

    def _settled(self, config: GraphConfig | None, embedder: Embedder | None) -> tuple[GraphConfig, Embedder]:
        """Returns the settings and the embedder to work with; a new file gets them."""
        known = self._connection.execute("SELECT value FROM meta WHERE name = 'settings'").fetchone()
        if known is None:
            config, embedder = config or GraphConfig(), embedder or HashedNgrams()
            self._connection.executemany(
                "INSERT INTO meta VALUES (?, ?)", [("change", "0"), ("decayed", "0"), ("serial", "0"), ("settings", "")]
            )
        else:
            try:
                held = read({**parsed(known[0]), "nodes": [], "edges": []})
            except (KeyError, ValueError, TypeError) as error:
                raise GRAPH.damaged(self.where, str(error)) from error
            embedder = embedder or held.embedder()
            if embedder.export_state() != held.state or held.canonical != CANONICAL:
                raise UsageError(
                    "its vectors or keys are of another embedder or version",
                    where=self.where,
                    hint="take a snapshot with that one, and QueryGraph.from_snapshot(snapshot, embedder=…) with this",
                )
            config = config or held.config
        settings = {
            "version": 1,
            "config": config.as_dict(),
            "embedder_state": embedder.export_state(),
            "canonical_meta": CANONICAL,
            "decayed_at": 0,
        }
        self._connection.execute("UPDATE meta SET value = ? WHERE name = 'settings'", (canonical(settings).decode(),))
        return config, embedder

    def _meta(self, name: str) -> str:
        found = self._connection.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        if found is None:
            raise GRAPH.damaged(self.where, f"{name} is missing")
        return found[0]


def _opened(path: Path) -> sqlite3.Connection:
    """Opens a connection to a file of this kind, and makes the file if it is missing."""
    where = str(path)
    if kind_of(path) == "folder":
        raise UsageError("a folder, not a file", where=where, hint="give the name of a file")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CommonplaceError(f"its folder cannot be made ({error.strerror})", where=where) from error
    with GRAPH.errors(where):
        connection = connect(path)
        try:
            if _is_empty(connection):
                with transaction(connection):
                    if _is_empty(connection):  # another process may do so at the same time
                        for statement in _TABLES:
                            connection.execute(statement)
                        GRAPH.mark(connection)
            GRAPH.format_of(connection, where)
            with suppress(sqlite3.OperationalError):  # in use by another process, which has done it
                write_ahead(connection, "NORMAL")
        except BaseException:
            connection.close()
            raise
    return connection


def _is_empty(connection: sqlite3.Connection) -> bool:
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    return not tables and not application_id(connection)
