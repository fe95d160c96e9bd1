"""The first hour, 1 of 5: remember a conversation and ask about it."""

from datetime import datetime

from commonplace.memory import MemoryStream

chat = [{"role": "user", "content": "I moved to Lyon in May."}, {"role": "assistant", "content": "How do you like it?"}]
stream = MemoryStream("assistant")
stream.add_many(chat, at=datetime(2031, 6, 1, 9))
for hit in stream.recall("Where did I move?", at=datetime(2031, 6, 2), k=1):
    print(f"{hit.memory.source}: {hit.memory.text} ({hit.memory.created_at:%d %B})")
