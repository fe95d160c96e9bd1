"""An exchange: one question asked until the server gives a page with an answer, or there is nothing left to try."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from commonplace.minds.asking import Ask
from commonplace.minds.chat.book import Book
from commonplace.minds.chat.capabilities import STRUCTURES, Capabilities, Structure
from commonplace.minds.chat.outage import Outage
from commonplace.minds.chat.page import Page
from commonplace.minds.chat.reading import PAGE_KINDS
from commonplace.minds.chat.refusal import blames_form, is_overflow, refuse
from commonplace.minds.chat.request import chat_body, seed_of, typed_field
from commonplace.minds.chat.session import Session
from commonplace.minds.chat.transport import Errand
from commonplace.minds.mind import Asker
from commonplace.minds.prompts.prompt import Prompt, Unusable


@dataclass(slots=True)
class Exchange:
    """One question on its way."""

    session: Session
    book: Book
    ask: Ask[Any, Any]
    asker: Asker
    errand: Errand
    prompt: Prompt
    """As last sent."""
    drop: int = 0
    """Memories left out so far."""

    async def page(self) -> Page:
        """A page of status 200. Raises Unusable when the server refuses the question, Late, Outage, WrongUse."""
        can = await self.session.capabilities(self.errand)
        structure = self._structure(can)
        while True:
            page = await self.session.transport.post("/chat/completions", self._body(can, structure), self.errand)
            if page.status == 200:
                self._remember(can, structure)
                return page
            await refuse(page, self.session.server, self.session.transport, self.errand)
            if is_overflow(page):
                self._shorten(page)
            elif (less := can.less(page)) is not None and page.status in (400, 422):
                can = self.session.knowledge.can = less
            elif blames_form(page) and structure != STRUCTURES[-1]:
                structure = STRUCTURES[STRUCTURES.index(structure) + 1]
            elif page.status >= 500:
                self.session.knowledge.health.away = True
                raise Outage(self.session.transport.pool.name, f"{page.status} {page.said()}".strip())
            else:
                raise Unusable(f"the server refused the request: {page.status} {page.said()}", "refused_request")

    def _body(self, can: Capabilities, structure: Structure) -> dict[str, Any]:
        body = chat_body(self.prompt, can, structure, seed_of(self.ask, self.asker))
        return body | typed_field(self.ask, self.asker) if can.typed else body

    def _structure(self, can: Capabilities) -> Structure:
        return self.session.knowledge.fallen.get(self.ask.task.name, can.structured)

    def _remember(self, can: Capabilities, structure: Structure) -> None:
        if structure != self._structure(can):
            self.session.knowledge.fallen[self.ask.task.name] = structure

    def _shorten(self, page: Page) -> None:
        """Leave out half of the memories that are left. Raises Unusable when there are none."""
        if not self.prompt.memories:
            raise Unusable(f"the prompt is too long for the model: {page.said()}", "overflow")
        self.drop += (self.prompt.memories + 1) // 2
        self.prompt = worded(self.book, self.ask, self.asker, self.drop)


def worded(book: Book, ask: Ask[Any, Any], asker: Asker, drop: int = 0) -> Prompt:
    """The question in words, quoting what was wrong with the answer before it, if that was the model's doing."""
    before = asker.before
    if before is None or before.outcome != "malformed" or not before.raw or before.kind in PAGE_KINDS:
        return book.prompt(ask, drop=drop)
    return book.prompt(ask, drop=drop, complaint=before.error, last=before.raw)
