"""The ask panel: a talk with a character at the tick on the screen, with the memories that each answer rests on."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, ClassVar, Literal, cast

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical, VerticalScroll
from textual.content import Content
from textual.events import Key
from textual.screen import ModalScreen
from textual.widgets import Input, Static
from textual.worker import Worker

from commonplace.clock import hhmm
from commonplace.errors import CommonplaceError
from commonplace.languages import phrases, rows
from commonplace.memory.scoring import parts_json
from commonplace.memory.stores.codec import memory_json
from commonplace.minds.mind import listening
from commonplace.parts.live.source import Conversation, Source, Thumb
from commonplace.parts.terminal.canvas import stacked
from commonplace.parts.terminal.header import day_name, mind_name
from commonplace.parts.terminal.player import Scene
from commonplace.parts.terminal.why import WhyScreen, retrievals_text
from commonplace.run.explained import Retrieved
from commonplace.talk import Reply
from commonplace.text import clean, shortened
from commonplace.views.words import word

MOST = 5
"""Memories shown below an answer; why shows all."""
SHOWN = 110
"""Characters shown of a memory."""
BAR = 8
"""Cells of a bar."""
SECOND = 1.0

Phrase = Literal[
    "placeholder", "you", "thinking", "waiting", "cancelled", "nothing", "unusable", "before", "well", "badly",
    "unrated", "more", "up", "down", "busy", "nobody", "commands", "around", "whispered",
    "unasked",
]  # fmt: skip


class AskScreen(ModalScreen[str]):
    """A talk over the town, which goes on. Its result is the character talked with last.

    Every character has a page of its own, to which one can come back; all talks are closed with the panel. What takes
    time is awaited in a worker, one thing at a time.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "cancel or close"),
        Binding("up", "earlier(-1)", "earlier question"),
        Binding("down", "earlier(1)", "later question"),
        Binding("pageup", "scroll(-1)", "scroll up"),
        Binding("pagedown", "scroll(1)", "scroll down"),
        Binding("tab", "next(1)", "next character"),
        Binding("shift+tab", "next(-1)", "previous character"),
        Binding("ctrl+y", "rate('up')", "good"),
        Binding("ctrl+n", "rate('down')", "bad"),
        Binding("ctrl+r", "retry", "retry"),
        Binding("ctrl+o", "why", "why"),
    ]

    def __init__(self, source: Source, scene: Scene, history: list[str]) -> None:
        """`scene`: the moment, and whom to begin with. `history`: what was asked so far; it grows.

        Raises UsageError where nobody answers.
        """
        super().__init__()
        self.source = source
        self.scene = scene
        self.agent = scene.selected
        self._history = history
        self._place = len(history)
        """In the history; its length for the line that is being typed."""
        self._draft = ""
        self._pages = {self.agent: self._new_page()}
        self._work: Worker[None] | None = None

    def compose(self) -> ComposeResult:
        """Builds the pages, the line to type in, and the keys."""
        with Vertical(id="ask"):
            yield Container(self.page, id="pages")
            yield Line(self._submitted, placeholder=self.phrase("placeholder"), id="question", select_on_focus=False)
        yield Static(id="ask-keys", markup=False)

    def on_mount(self) -> None:
        """Puts the cursor into the line."""
        line = self.query_one(Line)
        line.cursor_blink = False  # twice a second it would paint a view in which nothing changes
        line.focus()
        self.set_interval(SECOND, self._count)
        self._turn_to(self.agent)

    def on_resize(self) -> None:
        """Shows the keys that fit."""
        palette = self.scene.palette
        line = Text(" ")
        for key, name in rows(self.scene.language, "ask", "keys"):
            piece = Text.assemble((key, f"bold {palette.accent}"), (f" {name}  ", palette.muted))
            if line.cell_len + piece.cell_len - 2 <= self.size.width:
                line.append_text(piece)
        self.query_one("#ask-keys", Static).update(line)

    def phrase(self, key: Phrase, *values: object) -> str:
        """Returns a phrase in the scenario's language."""
        text = phrases(self.scene.language, "ask")[key]
        return text.format(*values) if values else text

    @property
    def page(self) -> Page:
        """The page of the character in front."""
        return self._pages[self.agent]

    # ── what is typed ───────────────────────────────────────────────────────────────────────────────────────────────

    def _submitted(self, text: str) -> bool:
        """Asks, or carries out a command. Returns False if the line has to wait."""
        text = clean(text)
        if self._refused():
            return False
        if text:
            if text in self._history:
                self._history.remove(text)
            self._history.append(text)
            self._place, self._draft = len(self._history), ""
            self._carry_out(text)
        return True

    def _carry_out(self, text: str) -> None:
        command, _, rest = text.partition(" ")
        match command:
            case "/up" | "/down":
                self.action_rate("up" if command == "/up" else "down", rest)
            case "/retry":
                self.action_retry()
            case "/why":
                self.action_why()
            case "/with":
                self._turn_to_named(rest)
            case "/voice" if rest:
                self._work = self.run_worker(self._whispered(self.page, rest))
            case _ if command.startswith("/"):
                self.page.say(Text(self.phrase("commands"), self.scene.palette.muted))
            case _:
                self._answer(text, lambda talk: talk.ask(text))

    def action_earlier(self, step: int) -> None:
        """Puts an earlier line into the input, or, after the last one, what was being typed."""
        line = self.query_one(Line)
        if self._place == len(self._history):
            self._draft = line.value
        self._place = min(max(self._place + step, 0), len(self._history))
        line.value = [*self._history, self._draft][self._place]
        line.cursor_position = len(line.value)

    def action_scroll(self, pages: int) -> None:
        """Scrolls back or forth in the talk."""
        self.page.scroll_relative(y=pages * max(1, self.page.size.height - 1), animate=False)

    # ── with whom ───────────────────────────────────────────────────────────────────────────────────────────────────

    def action_next(self, step: int) -> None:
        """Turns to another character of those who are there at the tick."""
        agents = [one.agent_id for one in self.scene.agents()]
        if agents and not self._refused():
            place = agents.index(self.agent) if self.agent in agents else -1
            self._turn_to(agents[(place + step) % len(agents)])

    def _turn_to_named(self, name: str) -> None:
        town, folded = self.scene.town, name.casefold()
        for one in self.scene.agents():
            names = (one.agent_id, town.who(one.agent_id), town.short(one.agent_id))
            if folded in [known.casefold() for known in names]:
                self._turn_to(one.agent_id)
                return
        self.page.say(Text(self.phrase("nobody", clean(name)), self.scene.palette.alert))

    def _turn_to(self, agent: str) -> None:
        self.agent = agent
        if agent not in self._pages:
            self._pages[agent] = self._new_page()
            self.query_one("#pages").mount(self._pages[agent])
        for one, page in self._pages.items():
            page.display = one == agent
        scene = self.scene
        moment = f"{word(scene.language, 'tick')} {scene.frame.tick}, {day_name(scene)}, {hhmm(scene.frame.time)}"
        title = Content.assemble((scene.town.who(agent), f"bold {scene.colour(agent)}"), f" · {moment}")
        panel = self.query_one("#ask")
        panel.border_title = title
        panel.border_subtitle = Content(mind_name(self.page.talk.mind, scene.language))

    def _new_page(self) -> Page:
        return Page(self.agent, self.source.converse(self.agent, self.scene.frame.tick))

    # ── what takes time ─────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def busy(self) -> bool:
        """Tells whether something is awaited."""
        return self._work is not None and not self._work.is_finished

    def _refused(self) -> bool:
        if self.busy:
            self.notify(self.phrase("busy"), markup=False)
        return self.busy

    def _answer(self, question: str, ask: Callable[[Conversation], Awaitable[Reply]]) -> None:
        if not self._refused():
            self._work = self.run_worker(self._answered(self.page, question, ask))

    async def _answered(self, page: Page, question: str, ask: Callable[[Conversation], Awaitable[Reply]]) -> None:
        palette = self.scene.palette
        asked = Text.assemble((f"{self.phrase('you')} → ", palette.muted), (clean(question), f"bold {palette.text}"))
        exchange = page.say(asked)
        exchange.show(Text(self.phrase("thinking"), palette.muted))
        page.thinking, page.seconds, page.words = exchange, 0, ""
        try:
            with listening(lambda _, words: self.app.call_later(page.hear, words)):
                page.last = await ask(page.talk)
        except CommonplaceError as error:
            exchange.show(self._mistake(error))
        except asyncio.CancelledError:
            exchange.show(Text(self.phrase("cancelled"), palette.muted))
            raise
        else:
            page.rated = exchange
            exchange.show(self._drawn(page.last))
        finally:
            page.thinking = None
            page.reveal(exchange)

    def action_retry(self) -> None:
        """Asks for another answer to the last question."""
        reply = self._last()
        if reply is not None:
            self._answer(reply.question, lambda talk: talk.retry())

    def _last(self) -> Reply | None:
        """Returns the last answer. Before the first one, says so and returns None."""
        if self.page.last is None:
            self.notify(self.phrase("unasked"), markup=False)
        return self.page.last

    def action_rate(self, label: Thumb, note: str = "") -> None:
        """Notes how the last answer was received."""
        if not self._refused() and self._last() is not None:
            self._work = self.run_worker(self._rate(self.page, label, note))

    async def _rate(self, page: Page, label: Thumb, note: str) -> None:
        palette = self.scene.palette
        try:
            await page.talk.rate(label, note)
        except CommonplaceError as error:
            page.say(self._mistake(error))
            return
        colour = palette.bar("relevance") if label == "up" else palette.alert
        if page.rated is not None:
            page.rated.mark(Text(self.phrase(label), colour))

    async def _whispered(self, page: Page, text: str) -> None:
        palette = self.scene.palette
        said = page.say(Text(self.phrase("whispered", text), f"italic {palette.text}"))
        try:
            body = {"kind": "voice", "agent_id": page.agent, "text": text}
            confirmation = await asyncio.to_thread(self.source.submit, body)
        except CommonplaceError as error:
            said.show(self._mistake(error))
        else:
            said.show(Text(clean(confirmation), palette.muted))
        page.reveal(said)

    def _count(self) -> None:
        """Shows for how long the character has been thinking."""
        page = self.page
        if page.thinking is not None and not page.words:
            page.seconds += 1
            page.thinking.show(Text(self.phrase("waiting", page.seconds), self.scene.palette.muted))

    def _mistake(self, error: CommonplaceError) -> Text:
        return Text("\n").join(Text(clean(line), self.scene.palette.alert) for line in str(error).splitlines())

    def action_leave(self) -> None:
        """Cancels the awaited answer; otherwise closes the panel. The talks are closed while the view goes on."""
        if self._work is not None and self.page.thinking is not None:
            self._work.cancel()
            return
        self.app.run_worker(self._close_talks([page.talk for page in self._pages.values()]))
        self.dismiss(self.agent)

    async def _close_talks(self, talks: Sequence[Conversation]) -> None:
        app = cast("App[None]", self.app)
        for talk in talks:
            try:
                await talk.close()
            except CommonplaceError as error:
                app.notify(clean(str(error)), markup=False, severity="warning")

    # ── how an answer is drawn ──────────────────────────────────────────────────────────────────────────────────────

    def _drawn(self, reply: Reply) -> RenderableType:
        palette, town = self.scene.palette, self.scene.town
        name = Text(f"{town.short(reply.agent)}: ", f"bold {self.scene.colour(reply.agent)}")
        usable = reply.outcome == "value"
        words = (clean(reply.answer), palette.text) if usable else (self.phrase("unusable"), palette.alert)
        parts: list[RenderableType] = [Text.assemble(name, words)]
        if reply.asked_before is not None:
            before = reply.asked_before
            received = "well" if before.received > 0 else "badly" if before.received < 0 else "unrated"
            line = self.phrase("before", clean(before.question), before.similarity, self.phrase(received))
            parts.append(_below(Text(f"↺ {line}", palette.accent)))
            if clean(before.answer) != clean(reply.answer):
                parts.append(_below(Text(f"  “{clean(before.answer)}”", palette.muted)))
        if reply.rests:
            parts.append(_below(self._memories(reply)))
        if len(reply.rests) > MOST:
            parts.append(_below(Text(self.phrase("more", len(reply.rests) - MOST), palette.faint)))
        if not reply.rests:
            parts.append(_below(Text(self.phrase("nothing"), palette.faint)))
        return Group(*parts)

    def _memories(self, reply: Reply) -> Table:
        """Draws a row for each memory: a bar of its weighted parts, the score, the id, the text."""
        palette = self.scene.palette
        table = Table.grid(padding=(0, 1))
        scored = any(rest.hit for rest in reply.rests[:MOST])
        for _ in range(3 if scored else 1):
            table.add_column(no_wrap=True, justify="right")
        table.add_column(ratio=1, overflow="fold")
        most = max((rest.hit.score for rest in reply.rests if rest.hit), default=0.0)
        for rest in reply.rests[:MOST]:
            figures = [Text(), Text("–", palette.faint)] if scored else []
            if rest.hit is not None:
                amounts = [(part.normalised * part.weight, palette.bar(name)) for name, part in rest.hit.parts.items()]
                figures = [stacked(amounts, BAR, most, palette.wall), Text(f"{rest.hit.score:.2f}", palette.muted)]
            text = Text(shortened(clean(rest.memory.text), SHOWN), palette.muted)
            table.add_row(*figures, Text(f"#{rest.memory.id}", palette.faint), text)
        return table

    def action_why(self) -> None:
        """Shows all searches for the last answer, with every part of every score."""
        reply = self._last()
        if reply is None:
            return
        palette, language = self.scene.palette, self.scene.language
        heading = Text.assemble((f"{clean(reply.question)}\n", palette.muted), (clean(reply.answer), palette.text))
        cited = ", ".join(f"#{rest.memory.id}" for rest in reply.rests) or "–"
        heading.append(f"\n{word(language, 'evidence')} {cited}", palette.muted)
        for rest in reply.rests:
            if rest.hit is None:
                heading.append(f"\n#{rest.memory.id} {clean(rest.memory.text)}", palette.text)
                heading.append(f"  {self.phrase('around')}", palette.faint)
        self.app.push_screen(WhyScreen(heading, retrievals_text(_searched(reply), palette, language), language))


def _searched(reply: Reply) -> list[Retrieved]:
    """Returns the searches as `Source.why` shows them."""
    return [
        {
            "purpose": one.purpose,
            "query": one.query,
            "policy": one.policy.name,
            "k": one.k,
            "candidates": one.candidates,
            "hits": [
                {
                    "memory": memory_json(hit.memory),
                    "rank": hit.rank,
                    "score": hit.score,
                    "parts": parts_json(hit.parts),
                }
                for hit in one.hits
            ],
        }
        for one in reply.retrievals
    ]


class Line(Input):
    """The input line. It handles Enter itself: a binding would come after the keys typed next."""

    def __init__(self, take: Callable[[str], bool], **how: Any) -> None:
        super().__init__(**how)
        self._take = take

    def on_key(self, event: Key) -> None:
        """Offers the line on Enter, and clears it when it is taken."""
        if event.key == "enter":
            event.stop()
            event.prevent_default()
            if self._take(self.value):
                self.clear()


class Page(VerticalScroll):
    """The talk with one character, newest last."""

    can_focus = False  # the keys are those of the line below

    def __init__(self, agent: str, talk: Conversation) -> None:
        super().__init__()
        self.agent = agent
        self.talk = talk
        self.last: Reply | None = None
        self.rated: Exchange | None = None
        """Where `last` is drawn."""
        self.thinking: Exchange | None = None
        self.seconds = 0
        self.words = ""
        """Of the answer that is being written."""

    def hear(self, words: str) -> None:
        """Shows what is said so far."""
        self.words = words
        if self.thinking is not None:
            self.thinking.show(Text(words))
            self.reveal(self.thinking)

    def say(self, head: Text) -> Exchange:
        """Adds something at the end."""
        exchange = Exchange(head)
        self.mount(exchange)
        self.reveal(exchange)
        return exchange

    def reveal(self, exchange: Exchange) -> None:
        """Scrolls to show all of it, or its beginning where it is longer than the page."""
        self.call_after_refresh(self.scroll_to_widget, exchange, animate=False, top=True, immediate=True)


class Exchange(Static):
    """A person's words, their result, and how it was received."""

    def __init__(self, head: Text) -> None:
        super().__init__(head, markup=False)
        self._parts: tuple[RenderableType, ...] = (head,)

    def show(self, answer: RenderableType) -> None:
        """Replaces the result."""
        self._parts = (self._parts[0], answer)
        self.update(Group(*self._parts))

    def mark(self, received: Text) -> None:
        """Replaces an earlier mark."""
        self._parts = (*self._parts[:2], _below(received))
        self.update(Group(*self._parts))


def _below(part: RenderableType) -> Padding:
    """Indents a text under an answer."""
    return Padding(part, (0, 0, 0, 2))
