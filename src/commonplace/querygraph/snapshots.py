"""Snapshots: a graph as JSON, and as a file of JSON lines that appears whole or not at all.

A file is a header, a line for every node, lines of a thousand edges each, and the digest of all lines before.
What is read may come from anywhere: everything is checked before a graph is made of it.
"""

from __future__ import annotations

import math
import os
import shutil
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonplace.canon import canonical, parsed
from commonplace.errors import CommonplaceError, UsageError, refuse_newer
from commonplace.log import sealed, unsealed
from commonplace.paths import bytes_of
from commonplace.querygraph.config import GraphConfig
from commonplace.querygraph.embedding import Embedder, HashedNgrams, Vector, vector_of
from commonplace.querygraph.keys import CANONICAL, canonical_key
from commonplace.querygraph.tables import (
    EDGE_TYPES,
    ENDS,
    ENTITY,
    NODE_TYPES,
    QUERY,
    EdgeTable,
    EdgeType,
    NodeTable,
    Tables,
    incident_lists,
)
from commonplace.sqlite import beside
from commonplace.whole_file import written_whole

VERSION = 1
"""The newest layout that can be read."""
PREVIOUS = ".previous"
_KIND = "commonplace query graph"
_EDGES_A_LINE = 1000
_PAIRS = b',"embedding":[['
_LATEST = 1 << 60
"""Microseconds; no time in a snapshot is later or, negative, earlier."""

_CODES: dict[EdgeType, int] = {name: code for code, name in enumerate(EDGE_TYPES)}

Row = tuple[int, EdgeType, int, float, int, int]
"""An edge: place of its source among the nodes, type, place of its target, weight, created, last access."""


@dataclass(frozen=True, slots=True)
class Parts:
    """A snapshot that was read; its nodes and edges are checked by `restored`."""

    config: GraphConfig
    state: dict[str, Any]
    canonical: dict[str, Any]
    decayed: int
    nodes: Iterable[dict[str, Any]]
    """To be gone through once, and then the edges: a file is read as it is used."""
    edges: Iterable[list[Row]]

    def embedder(self) -> HashedNgrams:
        """Returns the embedder whose vectors these are. Raises UsageError unless it is the built-in one."""
        return HashedNgrams.from_state(self.state)


# ── writing ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def taken(tables: Tables, config: GraphConfig, embedder: Embedder, rows: Sequence[int] | None = None) -> dict[str, Any]:
    """Returns all of a graph, or the nodes in these rows with the edges among them, as one value."""
    rows = list(tables.nodes.rows.values()) if rows is None else rows
    nodes = [record(tables, row) for row in rows]
    edges = [edge for some in _edge_rows(tables, rows) for edge in some]
    return {**_header(tables, config, embedder), "nodes": nodes, "edges": edges}


def lines(tables: Tables, config: GraphConfig, embedder: Embedder) -> Iterator[bytes]:
    """Yields the lines of a file, without the digest."""
    counts = {"kind": _KIND, "node_count": len(tables.nodes.rows), "edge_count": tables.edges.count}
    yield canonical({**_header(tables, config, embedder), **counts}) + b"\n"
    rows = list(tables.nodes.rows.values())
    ones = [f"[{dim},1]" for dim in range(tables.vectors.dimensions)] if len(rows) > 1000 else []
    for row in rows:
        yield _line(tables, row, ones) + b"\n"
    for some in _edge_rows(tables, rows):
        yield canonical(some) + b"\n"


def record(tables: Tables, row: int, *, vector: bool = True) -> dict[str, Any]:
    """Returns a node as JSON, with or without its vector."""
    nodes = tables.nodes
    kind = int(nodes.type[row])
    found: dict[str, Any] = {
        "id": nodes.ids[row],
        "type": NODE_TYPES[kind],
        "text": nodes.texts[row],
        "canonical_key": nodes.keys[row],
        "created_at": int(nodes.created[row]),
        "last_access": int(nodes.accessed[row]),
        "weights": {"repeat": _short(nodes.repeat[row]), "feedback": _short(nodes.feedback[row])},
        "degree": int(nodes.degree[row]),
        "carried_degree": int(nodes.carried[row]),
        "pinned": bool(nodes.pinned[row]),
    }
    if nodes.extras[row]:
        found["aliases" if kind == ENTITY else "label"] = list(nodes.extras[row])
    if kind == QUERY and vector:
        found["embedding"] = tables.vectors.vector(int(nodes.slot[row])).pairs()
    return found


def _short(value: np.float64) -> float:
    """As an integer where it is whole: that is read much faster."""
    return int(value) if value.is_integer() else float(value)


def _line(tables: Tables, row: int, ones: list[str]) -> bytes:
    """Returns the record as JSON.

    `ones`: dimension → its pair with a value of 1, which most have; it saves most of the time.
    """
    if tables.nodes.type[row] != QUERY:
        return canonical(record(tables, row))
    vector = tables.vectors.vector(int(tables.nodes.slot[row]))
    if ones and (vector.values == 1).all():
        pairs = ("[" + ",".join(map(ones.__getitem__, vector.dims.tolist())) + "]").encode()
    else:
        pairs = canonical(vector.pairs())
    return canonical(record(tables, row, vector=False))[:-1] + b',"embedding":' + pairs + b"}"


def write(content: Iterable[bytes], target: Path) -> None:
    """Write a file with its digest; the sound one that was there becomes `NAME.previous`."""
    with written_whole(target, force=True) as part:
        with part.open("wb") as file:
            file.writelines(sealed(content))
        if _is_sound(target):
            _keep(target)


def _header(tables: Tables, config: GraphConfig, embedder: Embedder) -> dict[str, Any]:
    return {
        "version": VERSION,
        "config": config.as_dict(),
        "embedder_state": embedder.export_state(),
        "canonical_meta": CANONICAL,
        "decayed_at": tables.decayed,
    }


def _edge_rows(tables: Tables, rows: Sequence[int]) -> Iterator[list[Row]]:
    """Yields the edges among these nodes, the oldest first."""
    edges = tables.edges
    places = np.full(len(tables.nodes.alive), -1, dtype=np.int64)
    places[list(rows)] = np.arange(len(rows))
    slots = edges.slots()
    inside = (places[edges.source[slots]] >= 0) & (places[edges.target[slots]] >= 0)
    slots = slots[inside]
    for first in range(0, len(slots), _EDGES_A_LINE):
        some = slots[first : first + _EDGES_A_LINE]
        yield list(
            zip(
                places[edges.source[some]].tolist(),
                [EDGE_TYPES[kind] for kind in edges.type[some].tolist()],
                places[edges.target[some]].tolist(),
                edges.weight[some].tolist(),
                edges.created[some].tolist(),
                edges.accessed[some].tolist(),
                strict=True,
            )
        )


def _keep(target: Path) -> None:
    """Give the file a second name, under which it stays when another takes its place."""
    place = Path(os.path.realpath(target))
    aside, previous = beside(place, PREVIOUS + ".unfinished"), beside(place, PREVIOUS)
    aside.unlink(missing_ok=True)
    try:
        os.link(place, aside)
    except OSError:  # a file system without hard links
        shutil.copy2(place, aside)
    aside.replace(previous)


def _is_sound(path: Path) -> bool:
    """Tells whether a file ends with the digest of what comes before."""
    try:
        data = bytes_of(path, "a snapshot")
    except CommonplaceError:
        return False
    return unsealed(data) is not None


# ── reading ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@contextmanager
def explained(path: Path | None = None) -> Generator[None]:
    """Raises a CommonplaceError for what `read` and `restored` refuse.

    For a file, the error names it and the good one before it.
    """
    try:
        yield
    except CommonplaceError as error:
        error.where = error.where or str(path or "")
        raise
    except (KeyError, ValueError, TypeError, OverflowError, AttributeError) as error:
        why = f"{error.args[0]} is missing" if isinstance(error, KeyError) else str(error)
        hint = "use a copy"
        if path is not None and _is_sound(previous := beside(path, PREVIOUS)):
            hint = f"the good one before it is {previous}: QueryGraph.load({str(previous)!r})"
        raise CommonplaceError(f"the snapshot is damaged ({why})", where=str(path or ""), hint=hint) from error


def loaded(path: Path) -> Parts:
    """Reads what a file holds. Raises UsageError for another kind of file, ValueError for a damaged one."""
    data = bytes_of(path, "a snapshot")
    content = unsealed(data)
    if content is None:
        raise ValueError("its digest is not that of its content")
    del data
    some = iter(content.splitlines())
    header = _dict(parsed(next(some, b"")), "the header")
    if header.get("kind") != _KIND:
        raise UsageError("not a snapshot of a query graph")
    count = _whole(header.get("node_count"), "node_count")
    nodes = (_node(line) for line in islice(some, count))
    return replace(read({**header, "nodes": [], "edges": []}), nodes=nodes, edges=(parsed(line) for line in some))


def _node(line: bytes) -> dict[str, Any]:
    """Reads the node of a line. Pairs of whole numbers, which `_line` writes last, are read faster than as JSON."""
    start = line.find(_PAIRS)
    pairs = line[start + len(_PAIRS) : -3]
    if start < 0 or not line.endswith(b"]]}") or pairs.translate(None, b"0123456789,[]"):
        return parsed(line)
    numbers = pairs.replace(b"],[", b",").split(b",")
    if len(numbers) != 2 * (pairs.count(b"],[") + 1):
        return parsed(line)
    node = parsed(line[:start] + b"}")
    node["embedding"] = np.array(list(map(int, numbers))).reshape(-1, 2)
    return node


def read(snapshot: Any) -> Parts:
    """Reads the parts of a snapshot.

    Raises KeyError or ValueError for what is not one, UsageError for a newer version.
    """
    given = _dict(snapshot, "it")
    refuse_newer("a snapshot", _whole(given["version"], "version"), VERSION, "")
    return Parts(
        config=GraphConfig.from_dict(given["config"]),
        state=_dict(given["embedder_state"], "embedder_state"),
        canonical=_dict(given["canonical_meta"], "canonical_meta"),
        decayed=_time(given["decayed_at"], "decayed_at"),
        nodes=_list(given["nodes"], "nodes"),
        edges=[_list(given["edges"], "edges")],
    )


def restored(parts: Parts, embedder: Embedder) -> Tables:
    """Makes the tables of a snapshot, with vectors and keys of this embedder and this version of the keys.

    Raises ValueError and the like for nodes and edges that cannot be.
    """
    tables = Tables(embedder.dimensions)
    tables.decayed = parts.decayed
    same_keys = parts.canonical == CANONICAL
    same_vectors = same_keys and parts.state == embedder.export_state()
    for place, node in enumerate(parts.nodes):
        try:
            known = node if same_keys or node["type"] != "query" else _with_new_key(tables, node)
            add_record(tables, known, embedder, same_vectors=same_vectors)
        except KeyError as error:
            raise ValueError(f"node {place}: {error.args[0]} is missing") from error
        except (ValueError, TypeError, OverflowError, AttributeError) as error:
            raise ValueError(f"node {place}: {error}") from error
    _add_edges(tables, parts.edges)
    return tables


def _with_new_key(tables: Tables, node: dict[str, Any]) -> dict[str, Any]:
    """Returns a question with the key of this version. Of two that have become the same, the later keeps its id."""
    key = canonical_key(node["text"])
    return {**node, "canonical_key": key, "id": node["id"] if "q-" + key in tables.nodes.rows else "q-" + key}


def add_record(tables: Tables, node: dict[str, Any], embedder: Embedder, *, same_vectors: bool) -> int:
    """Add a node; returns its row. Raises KeyError, TypeError or ValueError for what is not one."""
    nodes: NodeTable = tables.nodes
    id, kind, text = _text(node["id"], "id"), NODE_TYPES.index(node["type"]), _text(node["text"], "text")
    if id in nodes.rows:
        raise ValueError(f"a second node {id!r}")
    weights = node["weights"]
    repeat, feedback = _number(weights["repeat"], "repeat"), _number(weights["feedback"], "feedback")
    created, accessed = _time(node["created_at"], "created_at"), _time(node["last_access"], "last_access")
    carried = _whole(node["carried_degree"], "carried_degree")
    vector = None
    if kind == QUERY:
        vector = (
            _vector(node["embedding"], embedder)
            if same_vectors
            else vector_of(embedder.embed(text), embedder.dimensions)
        )
    row = nodes.add(id, kind, text, _text(node["canonical_key"], "canonical_key"), created, tables.next_serial())
    nodes.accessed[row] = accessed
    nodes.weigh(row, repeat, feedback)
    nodes.carried[row] = nodes.degree[row] = carried
    nodes.pinned[row] = node["pinned"] is True
    nodes.extras[row] = tuple(_text(one, "extras") for one in node.get("aliases" if kind == ENTITY else "label", ()))
    if kind == ENTITY:
        tables.entities.add(id, nodes.extras[row])
    if vector is not None:
        nodes.slot[row] = tables.vectors.add(row, vector)
    return row


def _add_edges(tables: Tables, given: Iterable[list[Row]]) -> None:
    """Adds all edges, checked in columns. Places among the nodes are rows: the tables were empty."""
    edges: EdgeTable = tables.edges
    last = len(tables.nodes.ids)
    for rows in given:
        if rows:
            edges.reserve(edges.used + len(rows))
            inside = slice(edges.used, edges.used + len(rows))
            _fill(edges, inside, rows, last)
            edges.used = inside.stop
    edges.count = edges.used
    if not edges.count:
        return
    _refuse_impossible(tables)
    edges.serial[: edges.count] = np.arange(edges.count) + tables.serial + 1
    tables.serial += edges.count
    for row, slots in incident_lists(edges, last):
        tables.nodes.incident[row] = slots
        tables.nodes.degree[row] += len(slots)


def _fill(edges: EdgeTable, inside: slice, rows: list[Row], last: int) -> None:
    """Write some edges into columns. Raises ValueError for what cannot be one."""
    if any(len(edge) != 6 for edge in rows):
        raise ValueError("an edge is not [from, type, to, weight, created, last access]")
    sources, kinds, targets, weights, created, accessed = zip(*rows, strict=True)
    if not set(kinds) <= _CODES.keys():
        raise ValueError(f"an edge of none of the types {', '.join(_CODES)}")
    edges.type[inside] = list(map(_CODES.__getitem__, kinds))
    for column, values, least, most in (
        (edges.source, sources, 0, last),
        (edges.target, targets, 0, last),
        (edges.created, created, -_LATEST, _LATEST),
        (edges.accessed, accessed, -_LATEST, _LATEST),
    ):
        found = np.array(values)
        if found.dtype.kind != "i" or int(found.min()) < least or int(found.max()) >= most:
            raise ValueError("an edge whose ends or times are not whole numbers in their range")
        column[inside] = found
    found = np.array(weights, dtype=np.float64)
    if not (np.isfinite(found).all() and (found > 0).all()):
        raise ValueError("an edge whose weight is not a number above 0")
    edges.weight[inside] = found


def _refuse_impossible(tables: Tables) -> None:
    """Raises ValueError for an edge between nodes of the wrong types, to itself, or given twice."""
    edges, nodes, count = tables.edges, tables.nodes, tables.edges.used
    source, target, kind = edges.source[:count].astype(np.int64), edges.target[:count], edges.type[:count]
    allowed = np.zeros((len(EDGE_TYPES), len(NODE_TYPES), len(NODE_TYPES)), dtype=np.bool_)
    for code, name in enumerate(EDGE_TYPES):
        froms, to = ENDS[name]
        for one in froms:
            allowed[code, NODE_TYPES.index(one), NODE_TYPES.index(to)] = True
    if not (allowed[kind, nodes.type[source], nodes.type[target]] & (source != target)).all():
        raise ValueError("an edge between nodes that cannot have it")
    keys = np.sort((source * len(EDGE_TYPES) + kind) << 32 | target)  # np.unique takes ten times as long
    if (keys[1:] == keys[:-1]).any():
        raise ValueError("an edge that is given twice")


def _vector(pairs: Any, embedder: Embedder) -> Vector:
    count, ready = len(pairs), isinstance(pairs, np.ndarray)  # by `_node`
    flat: NDArray[Any]
    flat = pairs.ravel() if ready else np.fromiter(chain.from_iterable(pairs), dtype=np.float64)
    given, values = flat[::2], flat[1::2].astype(np.float32)
    dims = given.astype(np.int32)
    if len(flat) != 2 * count or not ((dims == given).all() and (dims[1:] > dims[:-1]).all()):
        raise ValueError("its embedding is not [[dimension, value], …] in ascending order")
    if len(dims) and not (dims[0] >= 0 and dims[-1] < embedder.dimensions):
        raise ValueError("its embedding has dimensions that the embedder has not")
    if not math.isfinite(float(values.sum())):
        raise ValueError("its embedding has values that are not finite, or too large")
    return Vector(dims, values)


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{name} is not a text")
    return value


def _dict(value: Any, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{name} is not an object")
    return value  # pyright: ignore[reportUnknownVariableType]


def _list(value: Any, name: str) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError(f"{name} is not a list")
    return value  # pyright: ignore[reportUnknownVariableType]


def _whole(value: Any, name: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 1 << 31:
        raise ValueError(f"{name} is not a whole number")
    return value


def _time(value: Any, name: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or abs(value) >= _LATEST:
        raise ValueError(f"{name} is not a time in microseconds")
    return value


def _number(value: Any, name: str) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not math.isfinite(value):
        raise ValueError(f"{name} is not a finite number")
    return float(value)
