"""The first hour, 2 of 5: ask about the memories with a tag only, and as it was at an earlier time."""

from datetime import datetime

from commonplace.memory import MemoryStream

told = [("The rent is 900", 1, "home"), ("The rent is 2,000", 3, "shop"), ("The rent is 950", 7, "home")]
stream = MemoryStream("maria")
stream.add_many({"text": text, "at": datetime(2031, month, 1), "tags": [tag]} for text, month, tag in told)
for month in (4, 8):
    print(stream.recall("How much is the rent?", at=datetime(2031, month, 1), tags=["home"])[0].memory.text)
