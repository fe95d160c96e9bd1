"""What `doctor` finds out about a mind: its server and what that can do, one small answer, its price."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from commonplace.api import JOURNAL, book, mind_named
from commonplace.cli.finding import BROKEN, FINE, NOTE, Finding, broken_by
from commonplace.cognition.situation import who
from commonplace.errors import CommonplaceError
from commonplace.minds.asking import Ask
from commonplace.minds.chat.outage import Outage
from commonplace.minds.chat.servers import Server, is_server, server_named
from commonplace.minds.mind import Asker, Mind, Reply
from commonplace.minds.prices import price_of
from commonplace.minds.tasks import RATE, RateInput
from commonplace.scenario.compiling import load
from commonplace.scenario.scenario import Scenario

if TYPE_CHECKING:
    from commonplace.minds.chat.capabilities import Capabilities
    from commonplace.minds.chat.chat_mind import ChatMind

WORLD = "plaza"
"""Whose first character asks."""
TEXT = "The old clock on the square strikes for the first time in eleven years."
STRUCTURES = {
    "json_schema": "takes a JSON Schema",
    "json_object": "takes a JSON Schema as `json_object`",
    "tool": "answers in a forced tool call",
    "text": "answers in text only: expect more answers that cannot be used",
}


async def examined(name: str, timeout: float) -> list[Finding]:
    """Everything about a mind; the first thing that fails ends it."""
    found: list[Finding] = []
    try:
        await _examine(name, timeout, found)
    except Outage as error:
        todo = "start the server there, or name where it is: SERVER:MODEL@URL; --timeout gives it longer"
        found.append(Finding(BROKEN, error.what, todo))
    except CommonplaceError as error:
        found.append(broken_by(error))
    return found


async def _examine(name: str, timeout: float, found: list[Finding]) -> None:
    scenario = load(WORLD)
    if is_server(name):
        server = server_named(name)
        mind = _impatient(name, scenario, timeout)
        found.append(_key(server))
        try:
            found += _able(await mind.capabilities())
            found.append(await _asked(mind, scenario))
        finally:
            await mind.rest()
    elif name.startswith(JOURNAL):
        found.append(Finding(FINE, f"{mind_named(name, scenario).name}: its answers can be read"))
    else:
        found.append(await _asked(mind_named(name, scenario), scenario))
    found.append(_price(name))


def _impatient(name: str, scenario: Scenario, timeout: float) -> ChatMind:
    """A mind that does not wait between tries."""
    from commonplace.minds.chat.chat_mind import ChatMind  # noqa: PLC0415 – a client nobody else needs to wait for

    return ChatMind(name, book(scenario), timeout=timeout, sleep=_at_once)


async def _at_once(_: float) -> None:
    pass


def _key(server: Server) -> Finding:
    """Whether there is a key; never the key."""
    if os.environ.get(server.variable):
        return Finding(FINE, f"a key is set in {server.variable}")
    return Finding(FINE, f"no key is set in {server.variable}; most servers of one's own want none")


def _able(can: Capabilities) -> Iterator[Finding]:
    listed = f"; it lists {', '.join(can.models[:10])}{' …' if len(can.models) > 10 else ''}" if can.models else ""
    yield Finding(FINE, f"{can.server} answers, model {can.model}{listed}")
    state = NOTE if can.structured == "text" else FINE
    yield Finding(state, f"{STRUCTURES[can.structured]}; seed {_yes(can.seed)}, temperature {_yes(can.temperature)}")
    if can.thinks:
        todo = "answers take longer and cost more; choose a model, or a setting of the server, without"
        yield Finding(NOTE, "the model thinks before it answers, and cannot be kept from it", todo)
    else:
        yield Finding(FINE, f"thinking: {'none' if can.switch == 'none' else f'switched off ({can.switch})'}")
    context = f"{can.context:,} tokens" if can.context else "not told"
    vectors = f"{can.embeddings} dimensions" if can.embeddings else "none"
    yield Finding(FINE, f"context {context}; embeddings: {vectors}")


def _yes(does: bool) -> str:
    return "yes" if does else "no"


async def _asked(mind: Mind, scenario: Scenario) -> Finding:
    """One small question: how long it took, and whether the answer can be used."""
    persona = next(iter(scenario.personas.values()))
    began = time.monotonic()
    reply = mind.answer(Ask(RATE, RateInput(who=who(persona), texts=(TEXT,))), Asker(0, persona.id, 0, 0))
    reply = reply if isinstance(reply, Reply) else await reply
    took = f"{time.monotonic() - began:.1f} s, {reply.prompt_tokens} + {reply.answer_tokens} tokens"
    if reply.outcome == "value":
        return Finding(FINE, f"a small question was answered in {took}")
    todo = "such answers lead to fallbacks: try a larger model, or another server"
    return Finding(BROKEN, f"a small question had no usable answer ({reply.kind}: {reply.error}) in {took}", todo)


def _price(name: str) -> Finding:
    price = price_of(name)
    if price is None:
        return Finding(NOTE, "its price is not known", "--max-calls and --max-tokens work; docs/command-line.md, usage")
    if not (price.prompt or price.answer):
        return Finding(FINE, "costs nothing")
    return Finding(
        FINE, f"${price.prompt:g} a million tokens of prompt (${price.cached:g} cached), ${price.answer:g} of answer"
    )
