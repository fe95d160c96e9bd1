"""The ledger: what was done and why, for audits. Entries are only ever added, each sealed with the one before it.

A file of JSON lines per UTC day, `ledger-20251012.jsonl`; of an older year compressed, `.jsonl.gz`. Every entry holds
the hash of its predecessor (`prev`) and its own (`hash`): SHA-256 of the canonical bytes of everything else in it. The
chain crosses days. `head.json` holds the last hash, so that entries missing at the end are noticed, too.
"""

from commonplace.ledger.book import ARCHIVE_AFTER_DAYS, Ledger
from commonplace.ledger.days import GENESIS, Entry
from commonplace.ledger.reading import Finding, Verification, read, show, verify

__all__ = [
    "ARCHIVE_AFTER_DAYS",
    "GENESIS",
    "Entry",
    "Finding",
    "Ledger",
    "Verification",
    "read",
    "show",
    "verify",
]
