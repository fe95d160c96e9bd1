"""Names of model servers: `SERVER:MODEL`, `SERVER:MODEL@URL[,URL…]`, `URL[,URL…]` and `URL[,URL…]#MODEL`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from commonplace.errors import UsageError
from commonplace.openai_http import KEY_VARIABLE, OPENAI_KEY_VARIABLE, base_url

_EXAMPLES = "ollama:qwen3:8b, vllm:Qwen/Qwen3-8B@http://10.0.0.5:8000/v1, http://127.0.0.1:8080/v1#MODEL"


@dataclass(frozen=True, slots=True)
class Known:
    """A server that has a name of its own."""

    url: str
    """Base URL where it listens unless another is named."""
    variable: str = KEY_VARIABLE
    """Environment variable of its key."""
    wants: bool = False
    """Whether it needs a key and the name of a model."""


SERVERS: Mapping[str, Known] = {
    "ollama": Known("http://127.0.0.1:11434/v1"),
    "lmstudio": Known("http://127.0.0.1:1234/v1"),
    "llamacpp": Known("http://127.0.0.1:8080/v1"),
    "vllm": Known("http://127.0.0.1:8000/v1"),
    "openai": Known("https://api.openai.com/v1", variable=OPENAI_KEY_VARIABLE, wants=True),
}


@dataclass(frozen=True, slots=True)
class Server:
    """A model server, parsed from its name."""

    kind: str
    """Its name in the table; empty for one known by its URL only."""
    urls: tuple[str, ...]
    """Base URLs without a slash at the end; requests are shared out among them."""
    model: str
    """Empty: the first one the server lists."""
    variable: str
    """Environment variable of its key; empty for a server that must not get one."""
    wants_key: bool


def is_server(name: str, servers: Mapping[str, Known] = SERVERS) -> bool:
    """Whether a mind's name is that of a model server, well formed or not."""
    kind, colon, _ = name.partition(":")
    return bool(colon) and (kind in servers or kind in ("http", "https"))


def server_named(name: str, servers: Mapping[str, Known] = SERVERS) -> Server:
    """The server of a name. Raises UsageError for a name that is not a server's, or that holds a key."""
    kind, colon, rest = name.partition(":")
    if colon and kind in ("http", "https"):
        urls, _, model = name.partition("#")
        return Server("", _urls(urls, name), model.strip(), KEY_VARIABLE, wants_key=False)
    known = servers.get(kind) if colon else None
    if known is None:
        raise UsageError(f"`{name}` is not the name of a model server", hint=f"expected a form such as {_EXAMPLES}")
    model, urls = _parted(rest)
    if not model.strip() and known.wants:
        raise UsageError(f"`{name}` does not name a model", hint=f"write `{kind}:MODEL`")
    if urls:  # the key of a known server must not be sent to another address
        return Server(kind, _urls(urls, name), model.strip(), KEY_VARIABLE, wants_key=False)
    return Server(kind, (known.url,), model.strip(), known.variable, wants_key=known.wants)


def _parted(rest: str) -> tuple[str, str]:
    """Model and URLs of `MODEL@URL,URL`; a model's name may hold `@` as well."""
    for scheme in ("@http://", "@https://"):
        at = rest.find(scheme)
        if at >= 0:
            return rest[:at], rest[at + 1 :]
    return rest, ""


def _urls(text: str, name: str) -> tuple[str, ...]:
    try:
        urls = tuple(base_url(part) for part in text.split(","))
    except UsageError as error:
        raise UsageError(error.what, where="--mind", hint=f"{error.hint}; examples: {_EXAMPLES}") from None
    if len(set(urls)) < len(urls):
        raise UsageError(f"`{name}` names a base URL twice", hint="name each once")
    return urls
