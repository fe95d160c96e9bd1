"""What a mind's answers cost: prices are data, and a user's own take precedence over those that ship."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files
from pathlib import Path
from urllib.parse import urlsplit

from commonplace.errors import CommonplaceError, UsageError
from commonplace.paths import text_of
from commonplace.scenario.loading import Source, is_mapping, read
from commonplace.servers import is_server, server_named

VARIABLE = "COMMONPLACE_PRICES"
"""Environment variable that names a file of the user's own prices."""
EXAMPLE = "SERVER:MODEL: {prompt: 0.25, cached: 0.025, answer: 2.00}"
DATED = re.compile(r"-(\d{4}-\d{2}-\d{2}|20\d{6})$")
"""The suffix that a provider adds to a model's name for a dated build."""


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens."""

    prompt: float
    cached: float
    """Of the prompt's tokens that the server had read before."""
    answer: float

    def cost(self, prompt: int, cached: int, answer: int) -> float:
        """Returns US dollars for these numbers of tokens. `cached` is the part of `prompt` that was read before."""
        fresh = max(0, prompt - cached)
        return (fresh * self.prompt + min(cached, prompt) * self.cached + answer * self.answer) / 1_000_000


def price_of(mind: str) -> Price | None:
    """Returns the price of a mind by its name; None if unknown. Raises UsageError for a wrong price file."""
    prices = {**_shipped(), **_own(os.environ.get(VARIABLE, ""))}
    server, model = _parts(mind)
    keys = (f"{server}:{model}", f"{server}:{DATED.sub('', model)}", server)
    return next((prices[key] for key in keys if key in prices), None)


def known_price(mind: str) -> Price:
    """Returns the same, but raises UsageError for an unknown price, with how to give one."""
    price = price_of(mind)
    if price is None:
        key = ":".join(filter(None, _parts(mind)))
        raise UsageError(
            f"the price of {mind} is not known",
            hint=f'write it into a file, as "{key}: {{prompt: 0.25, cached: 0.025, answer: 2.00}}" in dollars per '
            f"million tokens, and set {VARIABLE}=FILE; or limit --max-tokens or --max-calls instead",
        )
    return price


def _parts(mind: str) -> tuple[str, str]:
    """Returns (server, model) as keys of prices have them: the name of a server, or the host of a URL."""
    if not is_server(mind):
        return mind.partition(":")[0], ""
    server = server_named(mind)
    return server.kind or urlsplit(server.urls[0]).hostname or "", server.model


@cache
def _shipped() -> Mapping[str, Price]:
    text = (files("commonplace.parts.model_servers") / "prices.yaml").read_text(encoding="utf-8")
    return _prices(read(text, "prices.yaml"))


def _own(path: str) -> Mapping[str, Price]:
    if not path:
        return {}
    try:
        text = text_of(Path(path).expanduser(), "a list of prices")
    except CommonplaceError as error:
        error.hint = f"{VARIABLE} names a file of prices, or is not set"
        raise
    return _prices(read(text, path))


def _prices(source: Source) -> Mapping[str, Price]:
    if source.faults:
        fault = source.faults[0]
        raise UsageError(fault.what, where=f"{source.origin}:{fault.line}", hint=f"a price is written {EXAMPLE}")
    if not is_mapping(source.data):
        raise UsageError("the file is not a list of prices", where=source.origin, hint=f"a price is written {EXAMPLE}")
    return {key: _price(source, key) for key in source.data}


def _price(source: Source, key: str) -> Price:
    given = source.data[key]
    names = [field.name for field in fields(Price)]
    if not is_mapping(given) or sorted(given) != sorted(names) or not all(map(_is_amount, given.values())):
        raise UsageError(
            f"{given!r} is not a price of {key}",
            where=f"{source.origin}:{source.line((key,))}",
            hint=f"a price is written {EXAMPLE}, in dollars per million tokens",
        )
    return Price(**{name: float(given[name]) for name in names})


def _is_amount(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0
