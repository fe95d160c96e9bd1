"""Protocols of model servers, each as a translation to and from OpenAI's: requests as they leave, pages as they come.

Everything else (transport, probing, reading, counting) knows OpenAI's protocol only.
"""

from commonplace.parts.model_servers.dialects.anthropic import Anthropic
from commonplace.parts.model_servers.dialects.dialect import Dialect
from commonplace.parts.model_servers.dialects.gemini import Gemini
from commonplace.parts.model_servers.dialects.openrouter import OpenRouter

__all__ = ["Dialect", "dialect_of"]

_OPENAI = Dialect()
_OTHERS = {"anthropic": Anthropic(), "gemini": Gemini(), "openrouter": OpenRouter()}


def dialect_of(kind: str) -> Dialect:
    """Returns the protocol of a kind of server (`Server.kind`): OpenAI's unless it has one of its own."""
    return _OTHERS.get(kind, _OPENAI)
