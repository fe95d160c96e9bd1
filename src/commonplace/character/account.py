"""What a character knows of its own past: what it attended and did, promised, told, heard, asked and was answered.

An account is a value, replaced at each commit. It is kept by the simulator from what the character perceived, never
from what a mind claims, and every row cites memories.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import lru_cache
from hashlib import blake2b

from commonplace.text import sentences, words

OWN = ("attended", "did", "promised", "kept", "broke")
"""Kinds of rows about the character alone; a promise names whom it was made to."""
BETWEEN = ("told", "heard", "asked", "was_asked", "answered", "agreed", "refused", "declined", "hurt", "pleased")
"""Kinds of rows about another one. `answered`: the other answered what I asked. `agreed`, `refused`: the other, to what
I proposed. `declined`: I, to what the other proposed; `promised` is my yes. `hurt`, `pleased`: the other did what the
row's act says."""
MARKED = "marked"
"""Kind of rows about a mark that a line of the scenario's author has set. They stay for good, and no mind is told."""
KINDS = (*OWN, *BETWEEN, MARKED)
DUE = ("promised/", "agreed/")
"""What the groups begin with whose rows may be due."""
MOST_OWN, MOST_BETWEEN = 40, 12
"""Rows of a kind; rows of a kind with one other character."""
MOST_CITED = 3
"""Memories a row cites: the first and the latest."""
LONGEST_TOPIC = 60
ARTICLES = frozenset({"the", "a", "an"})
KEPT_DAYS = 30
"""Days for which rows and lines are kept."""
MOST_LINES, MOST_LATELY = 300, 240
"""Sentences kept that were said to one hearer; latest sentences kept, whoever heard them."""
WORN = 12
"""Ticks by which every repetition lets a row be kept longer where there is no room."""
_DIGEST = 5
"""Bytes of the digest that stands for a sentence."""


@dataclass(frozen=True, slots=True)
class AccountRow:
    """A row: something that happened between the character and `other`, or to the character alone."""

    kind: str
    """One of `KINDS`."""
    other: str = ""
    """Character id; empty where nobody else is concerned."""
    act: str = ""
    """The speech act of a question, a reproach or an apology; what hurt or pleased: `broke_word`; what was promised:
    `lend`, `help`, `visit`, `give`, `return`. Else empty."""
    topic: str = ""
    """Id of the seed fact or scripted event, else the words of the topic as `as_topic` gives them."""
    tick: int = 0
    """When it happened last."""
    since: int = 0
    """When it happened first."""
    times: int = 1
    because: tuple[int, ...] = ()
    """Ids of memories it rests on, ascending."""
    named: str = ""
    """A topic as its speaker named it last; empty for an id."""
    due: int = -1
    """Of a promise, mine (`promised`) or the other's (`agreed`): the tick by which it is to be kept; −1 for no time."""

    @property
    def group(self) -> str:
        """Returns its kind and the other character: rows are counted by group."""
        return f"{self.kind}/{self.other}"

    @property
    def name(self) -> str:
        """Returns its act and topic, which identify it within its group."""
        return f"{self.act}/{self.topic}"

    @property
    def key(self) -> str:
        """Returns group and name; no two rows have the same key."""
        return f"{self.kind}/{self.other}/{self.act}/{self.topic}"

    @property
    def worth(self) -> int:
        """Returns how much a row is worth keeping. The row with the least goes first from a full group: an old one, and
        one that happened once."""
        return self.tick + WORN * min(self.times, 10)


Rows = Mapping[str, AccountRow]
Heard = Mapping[str, int]
"""Digest of a sentence → tick at which it was said last."""


@dataclass(frozen=True, slots=True)
class Account:
    """The rows by group and name, and which sentences were said to whom. No order of either has a meaning."""

    groups: Mapping[str, Rows] = field(default_factory=dict[str, Rows])
    lines: Mapping[str, Heard] = field(default_factory=dict[str, Heard])
    """By hearer; under the empty name the latest sentences, whoever heard them."""
    next_due: int = -1
    """The earliest tick by which a promise, mine or another's, is to be kept; −1 for none. Follows from the rows."""

    def rows(self, kind: str, other: str = "") -> tuple[AccountRow, ...]:
        """Returns the rows of a kind with one other character, or with nobody, latest first."""
        rows = self.groups.get(f"{kind}/{other}")
        return _ordered(rows) if rows else ()

    def all(self) -> tuple[AccountRow, ...]:
        """Returns all rows, latest first."""
        return latest_first(entry for rows in self.groups.values() for entry in rows.values())

    def promises(self) -> tuple[AccountRow, ...]:
        """Returns the promises, mine and the others', latest first."""
        groups = (rows for group, rows in self.groups.items() if group.startswith(DUE))
        return latest_first(entry for rows in groups for entry in rows.values())

    def find(self, kind: str, other: str = "", act: str = "", topic: str = "") -> AccountRow | None:
        """Returns one row."""
        return self.groups.get(f"{kind}/{other}", {}).get(f"{act}/{topic}")

    def noted(self, entry: AccountRow, oldest: int) -> Account:
        """Returns the account with one more row, which replaces a row about the same. Rows before the tick `oldest` go,
        except marks."""
        rows = self.groups.get(entry.group, {})
        known = rows.get(entry.name)
        if known is not None:
            entry = replace(
                entry,
                since=known.since,
                times=known.times + 1,
                because=cited(known.because, entry.because),
                due=known.due if entry.due < 0 else entry.due,
            )
        if entry.kind == MARKED:
            return self._with_group(entry.group, {**rows, entry.name: entry})
        kept = {name: row for name, row in rows.items() if row.tick >= oldest and name != entry.name}
        most = MOST_BETWEEN if entry.kind in BETWEEN else MOST_OWN
        while len(kept) >= most:
            kept.pop(min((row.worth, name) for name, row in kept.items())[1])
        return self._with_group(entry.group, {**kept, entry.name: entry})

    def dropped(self, entry: AccountRow) -> Account:
        """Returns the account without a row."""
        rows = self.groups.get(entry.group, {})
        return self._with_group(entry.group, {name: row for name, row in rows.items() if name != entry.name})

    def said(self, hearer: str, line: str, tick: int, oldest: int) -> Account:
        """Returns the account after the sentences of a line were said to somebody."""
        found = dict.fromkeys((digest_of(sentence) for sentence in sentences(line)), tick)
        to_one = _latest({**self.lines.get(hearer, {}), **found}, MOST_LINES, oldest)
        to_all = _latest({**self.lines.get("", {}), **found}, MOST_LATELY, oldest)
        return replace(self, lines={**self.lines, hearer: to_one, "": to_all})

    def has_said(self, sentence: str) -> bool:
        """Tells whether anybody has been told a sentence, given as its digest, in the days for which lines are kept."""
        for heard in self.lines.values():  # noqa: SIM110 - `any` of a generator takes three times as long
            if sentence in heard:
                return True
        return False

    def without(self, memories: AbstractSet[int]) -> Account:
        """Returns the account without the rows that rest on these memories alone; itself if there are none."""
        account = self
        for entry in self.all():
            if not memories.isdisjoint(entry.because):
                left = tuple(memory for memory in entry.because if memory not in memories)
                rows = {**account.groups[entry.group], entry.name: replace(entry, because=left)}
                account = account._with_group(entry.group, rows) if left else account.dropped(entry)
        return account

    def _with_group(self, group: str, rows: Rows) -> Account:
        groups = (
            {**self.groups, group: rows} if rows else {key: one for key, one in self.groups.items() if key != group}
        )
        due = _next_due(groups) if group.startswith(DUE) else self.next_due
        return replace(self, groups=groups, next_due=due)


def restored(groups: Mapping[str, AccountRow], lines: Mapping[str, int]) -> Account:
    """Restores an account from its rows by key and its ticks by `HEARER/DIGEST`."""
    rows: dict[str, dict[str, AccountRow]] = {}
    for entry in groups.values():
        rows.setdefault(entry.group, {})[entry.name] = entry
    heard: dict[str, dict[str, int]] = {}
    for key, tick in lines.items():
        hearer, sentence = key.split("/")
        heard.setdefault(hearer, {})[sentence] = tick
    return Account(rows, heard, _next_due(rows))


@lru_cache(maxsize=4096)  # so are their topics
def as_topic(text: str) -> str:
    """Returns a topic as rows store it: its words in lower case, without an article."""
    found = words(text)
    return " ".join(found[1:] if found[:1] and found[0] in ARTICLES else found)[:LONGEST_TOPIC].strip()


@lru_cache(maxsize=16384)
def digest_of(sentence: str) -> str:
    """Returns the digest of a sentence, which does not depend on case and punctuation."""
    return blake2b(" ".join(words(sentence)).encode(), digest_size=_DIGEST).hexdigest()


@lru_cache(maxsize=8192)  # the same lines of a scenario are looked at for every talk
def digests_of(text: str) -> frozenset[str]:
    """Returns the digests of a text's sentences."""
    return frozenset(digest_of(sentence) for sentence in sentences(text))


@lru_cache(maxsize=4096)
def digests_of_all(texts: tuple[str, ...]) -> tuple[frozenset[str], ...]:
    """Returns the digests of the sentences of each text."""
    return tuple(map(digests_of, texts))


def _next_due(groups: Mapping[str, Rows]) -> int:
    dues = (row.due for group, rows in groups.items() if group.startswith(DUE) for row in rows.values())
    return min((due for due in dues if due >= 0), default=-1)


def cited(known: tuple[int, ...], new: tuple[int, ...]) -> tuple[int, ...]:
    """Returns the memories of both that a row keeps: the first and the latest ones."""
    found = sorted({*known, *new})
    return (*found[:1], *found[1:][-(MOST_CITED - 1) :])


def _latest(heard: Heard, most: int, oldest: int) -> Heard:
    kept = {sentence: tick for sentence, tick in heard.items() if tick >= oldest}
    if len(kept) <= most:
        return kept
    return dict(sorted(kept.items(), key=lambda pair: (pair[1], pair[0]))[-most:])


_ORDERED: dict[int, tuple[Rows, tuple[AccountRow, ...]]] = {}
"""By the address of a group's rows, which are kept with them: those put in order last."""
_MOST_ORDERED = 512


def _ordered(rows: Rows) -> tuple[AccountRow, ...]:
    """Returns the rows of a group, latest first."""
    known = _ORDERED.get(id(rows))
    if known is None:
        if len(_ORDERED) >= _MOST_ORDERED:
            _ORDERED.clear()
        known = _ORDERED[id(rows)] = rows, latest_first(rows.values())
    return known[1]


def latest_first(entries: Iterable[AccountRow]) -> tuple[AccountRow, ...]:
    """Returns the rows, latest first; rows of the same tick by key."""
    return tuple(sorted(entries, key=lambda entry: (-entry.tick, entry.key)))
