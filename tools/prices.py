"""Write the prices of model servers anew: src/commonplace/parts/model_servers/prices.yaml.

    python -m venv .cache/prices && .cache/prices/bin/pip install genai-prices
    .cache/prices/bin/python tools/prices.py

The figures are those of the package `genai-prices`, which follows the pages of the providers. Of prices that depend on
the time, today's at noon (UTC) counts; of those that depend on the length of the prompt, the first. Models that only
draw, listen or make vectors are left out, and so are those that the file has no server for. What the file says in
comments, and what costs nothing, is kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, time
from pathlib import Path
from typing import Any

from genai_prices.data import providers

FILE = Path(__file__).resolve().parent.parent / "src" / "commonplace" / "parts" / "model_servers" / "prices.yaml"
SERVERS = {
    "openai": "openai",
    "anthropic": "anthropic",
    "google": "gemini",
    "mistral": "mistral",
    "deepseek": "deepseek",
    "groq": "groq",
}
"""The package's name of a provider → the server's name here."""
NOON = datetime.combine(datetime.now(UTC).date(), time(12), UTC)
_NO_TALK = re.compile(
    r"embed|moderation|tts|audio|speech|whisper|transcri|realtime|live|image|vision|dall|sora|veo|ocr|search|guard"
    r"|robotics|nano-banana|computer-use|instruct$|^(ft:|ada|babbage|curie|davinci|text-)",
)
_FREE = "# what runs on a machine of your own"


def rows() -> Iterator[str]:
    """The lines of the file, by provider and name."""
    known = {provider.id: provider for provider in providers}
    for provider, server in SERVERS.items():
        found = [row for model in sorted(known[provider].models, key=lambda one: one.id) for row in _row(server, model)]
        yield from (*found, "")


def _row(server: str, model: Any) -> Iterator[str]:
    prices = model.get_prices(NOON) if model.prices else None
    prompt, cached, answer = (
        _base(getattr(prices, name, None)) for name in ("input_mtok", "cache_read_mtok", "output_mtok")
    )
    own = server != "gemini" or model.id.startswith(("gemini", "gemma"))
    if prompt is not None and answer is not None and own and not model.deprecated and not _NO_TALK.search(model.id):
        cached = prompt if cached is None else cached
        yield f"{server}:{model.id}: {{prompt: {prompt}, cached: {cached}, answer: {answer}}}"


def _base(price: Any) -> float | None:
    """Dollars per million tokens."""
    amount = getattr(price, "base", price)
    return None if amount is None else float(amount)


def main() -> None:
    """Write the file."""
    kept = FILE.read_text(encoding="utf-8")
    head, free = kept.partition("\n\n")[0], kept[kept.index(_FREE) :]
    FILE.write_text("\n".join((head, "", *rows(), free)), encoding="utf-8")


if __name__ == "__main__":
    main()
