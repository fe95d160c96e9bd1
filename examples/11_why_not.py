"""The first hour, 5 of 5: why a memory was recalled, and why another was not."""

from datetime import datetime

from commonplace.memory import MemoryStream

stream = MemoryStream("maria")
stream.add_many(["Klaus is allergic to nuts", "The stove is burning"], at=datetime(2031, 10, 4))
found = stream.retrieve("What is Klaus allergic to?", at=datetime(2031, 10, 9), k=1)
print(stream.explain(found))
print(stream.why_not(2, found))
