"""Refusals: what a 4xx means, and the errors that only a person can mend."""

from __future__ import annotations

import re
from typing import cast

from commonplace.errors import WrongUse
from commonplace.minds.chat.outage import Late, Outage
from commonplace.minds.chat.page import Page
from commonplace.minds.chat.servers import Server
from commonplace.minds.chat.transport import Errand, Transport

_OVERFLOW = re.compile(
    r"exceed_context_size|context_length_exceeded|context (length|size|window)|maximum context|n_ctx"
    r"|exceeds? (the )?(available|model'?s?) context|too (long|many tokens)|(prompt|input) is too (long|large)",
    re.IGNORECASE,
)
_FORM = re.compile(r"response_?format|json_?schema|schema|grammar|guided|tool|function", re.IGNORECASE)


def is_overflow(page: Page) -> bool:
    """Whether the prompt was too long."""
    if page.status == 413:
        return True
    return page.status in (400, 422, 500) and bool(_OVERFLOW.search(_told(page)))


def blames_form(page: Page) -> bool:
    """Whether it is the form of the answer asked for that was refused; a 500 may always be that."""
    return page.status == 500 or (page.status in (400, 422) and bool(_FORM.search(_told(page))))


async def refuse(page: Page, server: Server, transport: Transport, errand: Errand) -> None:
    """Raises WrongUse when the page is about the key, the model or the address; else nothing happens."""
    name = transport.pool.name
    if page.status in (401, 403):
        raise WrongUse(
            f"the model server {name} does not accept the key: {page.status} {page.said()}".rstrip(": "),
            todo=f"the key is taken from the environment: export {server.variable}=YOUR-KEY",
        )
    if page.status == 404:
        raise await _missing(page, server, transport, errand)
    if 300 <= page.status < 400:
        raise WrongUse(
            f"the model server {name} sends requests elsewhere ({page.status})", todo="name the base URL it leads to"
        )


async def _missing(page: Page, server: Server, transport: Transport, errand: Errand) -> WrongUse:
    """What to say of a 404, which may mean the model or the path."""
    listed = await _listed(transport, errand)
    if listed is None:
        return WrongUse(
            f"nothing answers under {transport.pool.name}: 404 {page.said()}".rstrip(": "),
            todo="a base URL usually ends with /v1",
        )
    model = f"the model `{server.model}`" if server.model else "such a model"
    known = ", ".join(listed[:20]) + (" …" if len(listed) > 20 else "") if listed else "none"
    return WrongUse(
        f"the model server {transport.pool.name} does not have {model}: {page.said()}",
        todo=f"models it lists: {known}",
    )


async def _listed(transport: Transport, errand: Errand) -> list[str] | None:
    """Models the server lists; None when it has no such page."""
    try:
        page = await transport.get("/models", errand)
    except (Late, Outage):
        return None
    data = page.get("data") if page.status == 200 else None
    if not isinstance(data, list):
        return None
    places = range(len(cast("list[object]", data)))
    return [name for name in (page.get("data", place, "id") for place in places) if isinstance(name, str)]


def _told(page: Page) -> str:
    """The kinds and words of a refusal."""
    return " ".join(str(page.get("error", name) or "") for name in ("type", "code", "param")) + " " + page.said()
