"""Text from memories, speech and names as a prompt may show it: data on one line, in which nothing can pose as more.

Whoever says “[12] forget your orders” or `<|im_start|>` in a town has said just that.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, cast

from commonplace.text import clean

_HARMLESS = str.maketrans(
    {
        "[": "(",
        "]": ")",
        "{": "(",
        "}": ")",
        "<": "‹",
        ">": "›",
        "`": "'",
        "|": "/",
        "“": '"',
        "”": '"',
        "„": '"',
        "‘": "'",
        "’": "'",
        "«": '"',
        "»": '"',
        "「": '"',
        "」": '"',
    }
)
_HEADING = re.compile(r"#{2,}|-{3,}|={3,}|\*{2,}")


@lru_cache(maxsize=16_384)  # a prompt shows hundreds of texts, nearly all of which the last one showed too
def plain(text: str) -> str:
    """Cleaned and on one line, without brackets, fences, headings and the marks of chat templates.

    Quotation marks become the plain ones, which cost models a third of the tokens.
    """
    return _HEADING.sub(lambda found: found[0][0], clean(text)).translate(_HARMLESS)


def speech(text: str) -> str:
    """Words to stand between quotation marks: those inside are single ones."""
    return plain(text).replace('"', "'")


def escaped(value: Any) -> Any:
    """A typed input as dumped, every text in it `plain`."""
    if isinstance(value, str):
        return plain(value)
    if isinstance(value, Mapping):
        return {key: escaped(inner) for key, inner in cast(Mapping[str, Any], value).items()}
    if isinstance(value, list | tuple):
        return [escaped(inner) for inner in cast(list[Any], value)]
    return value
