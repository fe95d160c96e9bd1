"""Model servers: how they are named, their addresses, and what a person or a file adds to requests.

A name is `SERVER:MODEL`, `SERVER:MODEL@URL[,URL…]`, `URL[,URL…]`, `URL[,URL…]#MODEL`, or `local:FILE` for a model
that is served in this process.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

from commonplace.errors import UsageError
from commonplace.text import clean

LOCAL = "local"
"""The kind of server that runs in this process; its model is a file."""
KEY_VARIABLE = "COMMONPLACE_API_KEY"
"""Environment variable with the key of any server but OpenAI's own."""
_EXAMPLES = "ollama:qwen3:8b, vllm:Qwen/Qwen3-8B@http://10.0.0.5:8000/v1, http://127.0.0.1:8080/v1#MODEL"


@dataclass(frozen=True, slots=True)
class KnownServer:
    """A server that has a name of its own."""

    url: str
    """Base URL where it listens unless another is named."""
    variable: str = KEY_VARIABLE
    """Environment variable of its key."""
    wants: bool = False
    """Whether it needs a key and the name of a model."""


SERVERS: Mapping[str, KnownServer] = {
    "ollama": KnownServer("http://127.0.0.1:11434/v1"),
    "lmstudio": KnownServer("http://127.0.0.1:1234/v1"),
    "llamacpp": KnownServer("http://127.0.0.1:8080/v1"),
    "vllm": KnownServer("http://127.0.0.1:8000/v1"),
    "openai": KnownServer("https://api.openai.com/v1", variable="OPENAI_API_KEY", wants=True),
    "anthropic": KnownServer("https://api.anthropic.com/v1", variable="ANTHROPIC_API_KEY", wants=True),
    "openrouter": KnownServer("https://openrouter.ai/api/v1", variable="OPENROUTER_API_KEY", wants=True),
    "groq": KnownServer("https://api.groq.com/openai/v1", variable="GROQ_API_KEY", wants=True),
    "gemini": KnownServer("https://generativelanguage.googleapis.com/v1beta", variable="GEMINI_API_KEY", wants=True),
    "mistral": KnownServer("https://api.mistral.ai/v1", variable="MISTRAL_API_KEY", wants=True),
    "deepseek": KnownServer("https://api.deepseek.com/v1", variable="DEEPSEEK_API_KEY", wants=True),
}


@dataclass(frozen=True, slots=True)
class Server:
    """A model server, parsed from its name."""

    kind: str
    """Its name in the table; empty for one known by its URL only."""
    urls: tuple[str, ...]
    """Base URLs without a slash at the end; requests are shared out among them. None in this process."""
    model: str
    """Empty: the first one the server lists."""
    variable: str
    """Environment variable of its key; empty for a server that must not get one."""
    wants_key: bool


def is_server(name: str, servers: Mapping[str, KnownServer] = SERVERS) -> bool:
    """Tells whether a mind's name is that of a model server, well formed or not."""
    kind, colon, _ = name.partition(":")
    return bool(colon) and (kind in servers or kind in ("http", "https", LOCAL))


def server_named(name: str, servers: Mapping[str, KnownServer] = SERVERS) -> Server:
    """Returns the server of a name. Raises UsageError for a name that is not a server's, or that holds a key."""
    kind, colon, rest = name.partition(":")
    if colon and kind in ("http", "https"):
        urls, _, model = name.partition("#")
        return Server("", _urls(urls, name), model.strip(), KEY_VARIABLE, wants_key=False)
    if colon and kind == LOCAL:
        return Server(LOCAL, (), rest.strip(), "", wants_key=False)
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
    """Splits `MODEL@URL,URL` into model and URLs; a model's name may hold `@` as well."""
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


# ── addresses and headers ─────────────────────────────────────────────────────────────────────────────────────────────


def base_url(url: str) -> str:
    """Returns a base URL without a slash at the end. Raises UsageError, quoting nothing that may hold a key."""
    hint = "expected an address such as http://127.0.0.1:8080/v1; keys come from the environment"
    try:
        parts = urlsplit(url.strip())
        port = parts.port
    except ValueError:
        raise UsageError("the base URL cannot be parsed", hint=hint) from None
    if parts.username is not None or parts.password is not None:
        raise UsageError("the base URL holds a user name or a password", hint=hint)
    secret = next((name for name, _ in parse_qsl(parts.query, keep_blank_values=True) if is_secret(name)), "")
    if secret:
        raise UsageError(f"the base URL holds {clean(secret)!r}, which looks like a key", hint=hint)
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0 or parts.fragment:
        raise UsageError(f"{url!r} is not a base URL", hint=hint)
    if not parts.path:
        raise UsageError(f"{url!r} has no path", hint=f"most servers answer under /v1: write {url}/v1")
    return parts._replace(path=parts.path.rstrip("/")).geturl()


_SECRET = re.compile(r"(?:^|[-_.])(?:key|apikey|token|secret|password|passwd|sig|signature|auth|authorization|cookie)$")


def is_secret(name: str) -> bool:
    """Tells whether a header or a parameter of this name holds a key: `api-key`, `Authorization`, `access_token`."""
    return bool(_SECRET.search(name.lower()))


_HEADER = re.compile(r"[A-Za-z0-9-]+")
_OWN_HEADERS = frozenset(
    {"host", "content-length", "content-type", "transfer-encoding", "connection", "accept-encoding", "user-agent"}
)


_OWN_FIELDS = frozenset({"model", "messages", "stream", "n", "tools", "tool_choice", "response_format", "commonplace"})


class RequestFault(NamedTuple):
    """A mistake in a header or field that a person or a file adds to requests."""

    where: tuple[str, str]
    """`headers` or `body`, and the name in it."""
    what: str
    expected: str


def request_faults(headers: Mapping[str, str], body: Mapping[str, Any]) -> Iterator[RequestFault]:
    """Yields the mistakes in further headers and fields of requests. A key belongs in neither."""
    for name, value in headers.items():
        if fault := _header_fault(name, value):
            yield RequestFault(
                ("headers", name), fault, "an environment variable: `$NAME`" if is_secret(name) else "another header"
            )
    for name in body:
        if name in _OWN_FIELDS:
            yield RequestFault(("body", name), f"{name} is set by the program", "another field")
        elif is_secret(name):
            yield RequestFault(("body", name), f"{clean(name)[:80]!r} looks like a key", "keys in the environment")


def _header_fault(name: str, value: str) -> str:
    if not _HEADER.fullmatch(name) or name.lower() in _OWN_HEADERS:
        return f"{clean(name)[:80]!r} cannot be set as a header"
    if not (value.isascii() and value.isprintable()):
        return f"the value of the header {name} is not printable ASCII"
    if is_secret(name) and not variables([value]):
        return f"the header {name} holds a key, which belongs in the environment"
    return ""


VARIABLE = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*)|\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
"""What names an environment variable in the value of a header."""


def variables(texts: Iterable[str]) -> list[str]:
    """Returns the environment variables that values of headers name, `$NAME` or `${NAME}`, each once."""
    return list(dict.fromkeys(one or other for text in texts for one, other in VARIABLE.findall(text)))


def is_loopback(url: str) -> bool:
    """Tells whether a URL leads to this machine, so that no proxy belongs in between."""
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def key_variable(url: str) -> str:
    """Returns the environment variable with the key for a URL.

    A known server's key goes to its host alone, encrypted.
    """
    parts = urlsplit(url)
    hosts = {urlsplit(known.url).hostname: known.variable for known in SERVERS.values() if known.wants}
    own = parts.scheme == "https" and parts.port in (None, 443)
    return hosts.get(parts.hostname, KEY_VARIABLE) if own else KEY_VARIABLE
