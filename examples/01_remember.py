"""Memory alone: remember, retrieve, and see why. No town, no model, no file.

Every retrieval gives its reasons: recency, importance and relevance, each as it is, normalised over all memories, and
weighted. What is retrieved is thereby accessed, and is more recent the next time; `touch=False` only looks.
"""

from datetime import UTC, datetime, timedelta

from commonplace.memory import MemoryStream, policies

MONDAY = datetime(2031, 10, 6, 9, tzinfo=UTC)
WEEK = [
    ("Klaus Mueller is reading about gentrification in the library.", 4),
    ("Klaus Mueller is eating a cheese sandwich.", 1),
    ("Maria Lopez tells Klaus Mueller that her rent has doubled.", 8),
    ("Klaus Mueller is waiting for the bus.", 1),
    ("Klaus Mueller promised Maria Lopez to help her move on Friday.", 9),
    ("It is raining.", 2),
]

klaus = MemoryStream("klaus", policies.PARK)
for hours, (text, importance) in enumerate(WEEK):
    klaus.remember(text, at=MONDAY + timedelta(hours=8 * hours), importance=importance)

later = MONDAY + timedelta(days=3)
question = "What is Maria's rent like?"

print(f"{question} – recency, importance and relevance weigh the same:")
print(klaus.explain(klaus.recall(question, at=later, k=3, touch=False)))

print("\nThe same with BM25 instead of vectors:")
print(klaus.explain(klaus.recall(question, at=later, k=3, policy=policies.LEXICAL, touch=False)))

print("\nA conclusion rests on what it cites:")
thought = klaus.remember(
    "Klaus Mueller thinks that what he reads about is happening to his friends.",
    at=later,
    kind="reflection",
    importance=8,
    citations=(1, 3),
)
print(f"#{thought.id} {thought.text}")
for cited in thought.citations:
    print(f"    because #{cited} {klaus.get(cited).text}")
