"""`config.json` of the JSONL store: how long memories are kept, and how they are written."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from commonplace.errors import CommonplaceError, WrongUse
from commonplace.memory.coordinates.document import is_mapping
from commonplace.memory.retention import RetentionPolicy
from commonplace.memory.stores.jsonl_files import replace

LAYOUT = 1
"""Number of the folder's layout. A newer one is refused; a folder without a number is of the first."""


@dataclass(frozen=True, slots=True)
class Storage:
    """How memories are written. Raises WrongUse for a value there is none of."""

    format: str = "jsonl"
    compression: str = "none"
    """`none`, or `gzip`: session files end in `.jsonl.gz`, and `zcat` reads them."""
    backup_enabled: bool = True
    """With a path, closing the store copies it there. Without one there is no backup."""
    backup_path: str = ""
    layout: int = LAYOUT

    @property
    def backup_target(self) -> Path | None:
        """Where the backup goes; None for none. A path with a drive letter means nothing but on Windows."""
        if not (self.backup_enabled and self.backup_path) or self.backup_is_foreign:
            return None
        return Path(self.backup_path)

    @property
    def backup_is_foreign(self) -> bool:
        """Whether the path is one of another system."""
        return os.name != "nt" and bool(re.match(r"[A-Za-z]:[\\/]", self.backup_path))

    def __post_init__(self) -> None:
        accepted: dict[str, tuple[Any, ...]] = {"format": ("jsonl",), "compression": ("none", "gzip")}
        accepted["backup_enabled"] = (True, False)
        for name, values in accepted.items():
            if getattr(self, name) not in values:
                shown = ", ".join(json.dumps(value) for value in values)
                raise WrongUse(f"storage.{name} is {getattr(self, name)!r}", todo=f"give one of {shown}")


@dataclass(frozen=True, slots=True)
class StoreConfig:
    """Everything of `config.json`."""

    retention_policy: RetentionPolicy = field(default_factory=RetentionPolicy)
    storage: Storage = field(default_factory=Storage)

    @classmethod
    def from_mapping(cls, given: Mapping[str, Any]) -> StoreConfig:
        """Raises WrongUse for unknown keys and values."""
        unknown = sorted(set(given) - {one.name for one in fields(cls)})
        if unknown:
            raise WrongUse(f"a configuration with {', '.join(unknown)}", todo="the keys are retention_policy, storage")
        storage = given.get("storage", {})
        strange = sorted(set(storage) - {one.name for one in fields(Storage)})
        if strange:
            known = ", ".join(one.name for one in fields(Storage))
            raise WrongUse(f"a storage with {', '.join(strange)}", todo=f"the keys are {known}")
        return cls(RetentionPolicy.from_mapping(given.get("retention_policy", {})), Storage(**storage))

    @classmethod
    def read(cls, path: Path) -> StoreConfig:
        """The configuration in a file. Raises WrongUse for one that cannot be used, naming it."""
        try:
            given: Any = json.loads(path.read_text(encoding="utf-8"))
            if not is_mapping(given):
                raise WrongUse(f"it holds {given!r:.60}", todo="give a mapping with retention_policy and storage")
            found = cls.from_mapping(given)
        except (ValueError, TypeError, AttributeError) as error:
            raise WrongUse(f"it cannot be read ({error})", where=str(path), todo="mend it, or delete it") from error
        except WrongUse as error:
            raise WrongUse(error.what, where=str(path), todo=error.todo) from error
        except OSError as error:
            raise CommonplaceError(
                f"it cannot be read ({error.strerror})", where=str(path), todo="look at it"
            ) from error
        if found.storage.layout > LAYOUT:
            raise WrongUse(
                f"a store of layout {found.storage.layout}, made by a newer Commonplace; this one reads up to {LAYOUT}",
                where=str(path),
                todo="upgrade: pip install --upgrade commonplace",
            )
        return found

    def write(self, path: Path) -> None:
        """Puts it in the file's place."""
        replace(path, (json.dumps(asdict(self), ensure_ascii=False, indent=2) + "\n").encode())
