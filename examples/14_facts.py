"""Facts in what is said, found by a mind, each with the words it was made of.

The model server is the one for tests, which takes each sentence for a fact. With `FactsByMind("ollama:qwen3:4b")` the
same program asks that model.
"""

from datetime import datetime, timedelta

from commonplace.memory import FactsByMind, MemoryStream, RestatementRules
from commonplace.testing.server import ModelServer

when = datetime(2031, 10, 4, 9)
chat = [
    {"role": "user", "name": "Anna", "content": "Good morning! I live in Seoul. I am allergic to nuts."},
    {"role": "assistant", "content": "What can I do for you?"},
]
with ModelServer() as server:
    stream = MemoryStream("assistant", facts=FactsByMind(server.url), restatements=RestatementRules())
    stream.add_many(chat, at=when)
    stream.remember("Guess what. We moved to Busan!", source="Anna", at=when + timedelta(days=30))

for memory in stream:
    quote = memory.quotes
    print(f"{memory.id} {memory.text}" + (f" (from #{quote.id}: “{quote.words}”)" if quote else ""))

later = when + timedelta(days=60)
for hit in stream.recall("Where does Anna live?", at=later, tags=["fact"], current=True, k=2):
    print(hit.rank, hit.memory.text)

# what was said before facts were asked for
stream.facts = None
kept = stream.remember("My sister is called Ida", source="Anna", at=later)
with ModelServer() as server:
    stream.facts = FactsByMind(server.url)
    print([fact.text for fact in stream.extract([kept.id]).facts])
