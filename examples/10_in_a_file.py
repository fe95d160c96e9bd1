"""The first hour, 4 of 5: keep memories in a file, and open it again."""

from datetime import datetime
from tempfile import TemporaryDirectory

from commonplace.memory import MemoryStream

with TemporaryDirectory() as folder:
    with MemoryStream.open(f"{folder}/notes.db", agent="maria") as stream:
        stream.remember("Klaus is allergic to nuts", at=datetime(2031, 10, 4))
    with MemoryStream.open(f"{folder}/notes.db", agent="maria") as stream:
        print(stream.recall("What is Klaus allergic to?", at=datetime(2031, 10, 9))[0].memory.text)
