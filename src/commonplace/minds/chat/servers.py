"""Names of model servers: `SERVER:MODEL`, `SERVER:MODEL@URL[,URL…]`, `URL[,URL…]` and `URL[,URL…]#MODEL`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from commonplace.errors import UsageError

COMMON_VARIABLE = "COMMONPLACE_API_KEY"
"""Holds the key of any server but OpenAI's own, if it wants one."""

_EXAMPLES = "ollama:qwen3:8b, vllm:Qwen/Qwen3-8B@http://10.0.0.5:8000/v1, http://127.0.0.1:8080/v1#MODEL"


@dataclass(frozen=True, slots=True)
class Known:
    """A server that has a name of its own."""

    url: str
    """Base URL where it listens unless another is named."""
    variable: str = COMMON_VARIABLE
    """Environment variable of its key."""
    wants: bool = False
    """Whether it answers nobody without a key or a model's name."""


SERVERS: Mapping[str, Known] = {
    "ollama": Known("http://127.0.0.1:11434/v1"),
    "lmstudio": Known("http://127.0.0.1:1234/v1"),
    "llamacpp": Known("http://127.0.0.1:8080/v1"),
    "vllm": Known("http://127.0.0.1:8000/v1"),
    "openai": Known("https://api.openai.com/v1", variable="OPENAI_API_KEY", wants=True),
}


@dataclass(frozen=True, slots=True)
class Server:
    """What a name comes to."""

    kind: str
    """Its name in the table; empty for one known by its URL only."""
    urls: tuple[str, ...]
    """Base URLs without a slash at the end; requests are shared out among them."""
    model: str
    """Empty: the first one the server lists."""
    variable: str
    wants_key: bool


def is_server(name: str, servers: Mapping[str, Known] = SERVERS) -> bool:
    """Whether a mind's name is that of a model server, well formed or not."""
    kind, colon, _ = name.partition(":")
    return bool(colon) and (kind in servers or kind in ("http", "https"))


def server_named(name: str, servers: Mapping[str, Known] = SERVERS) -> Server:
    """What the name comes to. Raises UsageError for one that names no server, or holds a key."""
    kind, colon, rest = name.partition(":")
    if colon and kind in ("http", "https"):
        urls, _, model = name.partition("#")
        return Server("", _urls(urls, name), model.strip(), COMMON_VARIABLE, wants_key=False)
    known = servers.get(kind) if colon else None
    if known is None:
        raise UsageError(f"`{name}` names no model server", hint=f"accepted are, for example, {_EXAMPLES}")
    model, urls = _parted(rest)
    if not model.strip() and known.wants:
        raise UsageError(f"`{name}` names no model", hint=f"write `{kind}:MODEL`")
    if urls:  # the key of the server's owner goes to nobody else
        return Server(kind, _urls(urls, name), model.strip(), COMMON_VARIABLE, wants_key=False)
    return Server(kind, (known.url,), model.strip(), known.variable, wants_key=known.wants)


def is_loopback(url: str) -> bool:
    """Whether a URL leads to this machine itself, so that no proxy belongs in between."""
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _parted(rest: str) -> tuple[str, str]:
    """Model and URLs of `MODEL@URL,URL`; a model's name may hold `@` as well."""
    for scheme in ("@http://", "@https://"):
        at = rest.find(scheme)
        if at >= 0:
            return rest[:at], rest[at + 1 :]
    return rest, ""


def _urls(text: str, name: str) -> tuple[str, ...]:
    urls = tuple(_url(part.strip(), name) for part in text.split(","))
    if len(set(urls)) < len(urls):
        raise UsageError(f"`{name}` names a base URL twice", hint="name each once")
    return urls


def _url(url: str, name: str) -> str:
    """A base URL in its one spelling. The URL is not quoted where it might hold a key."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise UsageError("a base URL that cannot be read", where="--mind", hint=f"accepted are {_EXAMPLES}") from None
    if parts.username is not None or parts.password is not None or parts.query:
        raise UsageError(
            "a base URL with a user, a password or a question mark in it",
            where="--mind",
            hint=f"keys come from the environment only: export {COMMON_VARIABLE}=KEY",
        )
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0 or parts.fragment:
        raise UsageError(f"`{url}` in `{name}` is no base URL", hint=f"accepted are {_EXAMPLES}")
    if not parts.path:
        raise UsageError(f"`{url}` has no path", hint=f"most servers answer under /v1: write {url}/v1")
    return url.rstrip("/")
