"""Everything a stream holds, as plain values two streams can be compared by."""

from __future__ import annotations

import numpy as np

from commonplace.memory import MemoryStream
from commonplace.memory.columns import RecencyColumn
from commonplace.memory.table import COLUMNS, View


def fingerprint(stream: MemoryStream) -> dict:
    table, length = stream.table, stream.last_id
    table.sayings.make()
    index = View(table, table.length).lexical()
    return {
        "records": list(stream),
        "rows": (table.length, index.size),
        "columns": {name: getattr(table, name)[:length].tolist() for name in COLUMNS if name != "saying"},
        "vectors": said(table, table.sayings.vectors),
        "norms": said(table, table.sayings.norms),
        "vector_state": said(table, table.sayings.state),
        "texts": [table.sayings.texts[number] for number in table.saying[:length]],
        "postings": {
            term: (postings.documents[: postings.size].tolist(), shapes(index, postings))
            for term, postings in index._postings.items()
        },
        "lengths": index._totals[: index.size + 1].tolist(),
        "recency": proportions(table.recency.get(0.995, RecencyColumn(0.995)).values(table.accessed[:length])),
        "since": stream.importance_since_reflection(),
    }


def said(table, column) -> list:
    """By memory what is kept by text."""
    return column[table.saying[: table.length]].tolist()


def proportions(values) -> list[float]:
    """Recencies mean something only beside one another; the reference they are kept at may differ by 2ⁿ, exactly."""
    return (values / 2.0 ** np.floor(np.log2(values.max()))).tolist() if len(values) else []


def shapes(index, postings):
    return [index._shape_table[code].tolist() for code in postings.codes[: postings.size]]
