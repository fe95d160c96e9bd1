"""Memories that last: a stream over a file, opened again, searched by coordinates, and forgotten.

The stream works in RAM; the store keeps what it is told before it is shown. `docs/stores.md` names the others.
"""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from commonplace.memory import MemoryStream

MONDAY = datetime(2031, 10, 6, 9, tzinfo=UTC)
SEEN = (
    ("Klaus is reading about gentrification in the library", ("Town", "Library"), 6),
    ("Ana is baking rye bread", ("Town", "Bakery"), 2),
    ("Klaus asks Ana what the bakery's rent was ten years ago", ("Town", "Bakery"), 7),
)

with TemporaryDirectory() as folder:
    file = Path(folder) / "maria.db"

    with MemoryStream.open(file, agent="maria") as stream:
        for hour, (text, place, importance) in enumerate(SEEN):
            stream.remember(text, at=MONDAY + timedelta(hours=hour), place=place, importance=importance)
        stream.remember(
            "Klaus wants to know who can still afford to live here",
            at=MONDAY + timedelta(hours=4), kind="reflection", importance=8, citations=[1, 3],
        )  # fmt: skip

    with MemoryStream.open(file, agent="maria") as stream:
        print(f"{len(stream)} memories after opening the file again")
        best = stream.recall("what is Klaus interested in?", at=MONDAY + timedelta(days=2), k=2)
        print("recalled:", *(f"\n  {hit.score:.2f} {hit.memory.text}" for hit in best))
        print("in the bakery:", *(f"\n  {memory.text}" for memory in stream.search(place=("Town", "Bakery"))))
        stream.forget(ids=[2])

    with MemoryStream.open(file, agent="maria") as stream:
        print("left:", [memory.id for memory in stream])
