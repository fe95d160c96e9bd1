"""The routes: what a page can ask of a run, and do to it.

`GET` reads committed ticks in threads. Every error is a `Problem`, with what is wrong and what to do. The live feed is
`WS /api/runs/{run}/live?after=SEQ`: a status, then a snapshot if `SEQ` is far behind or left out, then a delta a tick.
"""

# ruff: noqa: B008 – FastAPI declares parameters as defaults

from __future__ import annotations

import asyncio
import logging
import secrets
import tempfile
import threading
from collections.abc import AsyncGenerator, Generator
from contextlib import aclosing, asynccontextmanager, contextmanager, suppress
from http import HTTPStatus
from pathlib import Path
from typing import Any

import anyio
from fastapi import FastAPI, Query, Request, Response, WebSocket, WebSocketDisconnect
from fastapi.exceptions import RequestValidationError
from pydantic.json_schema import models_json_schema
from pydantic_core import to_json
from starlette.background import BackgroundTask
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse
from starlette.staticfiles import StaticFiles
from starlette.types import Message

from commonplace.api import ratings_of
from commonplace.errors import CommonplaceError, Paused, RunDamaged, UsageError
from commonplace.parts.metrics.exposition import Exposition
from commonplace.parts.web import model as m
from commonplace.parts.web.guard import HEALTH, Gate, Guard
from commonplace.parts.web.library import NAMES, Conflict, Library, NotFound, checked
from commonplace.parts.web.one_file import GET_PAGE, NO_PAGE, STATIC, export
from commonplace.parts.web.sessions import RunSession, Sessions
from commonplace.run.explained import EventRow, Reasons
from commonplace.run.manifest import package_version
from commonplace.run.reading import Reading
from commonplace.run.rows import event_json
from commonplace.run.why import reasons
from commonplace.text import clean, shortened
from commonplace.views.inspection import AgentDetail

MOST_EVENT_TICKS = 2016
"""Ticks whose events are given at a time: a week of five-minute ticks."""
TIDY_EVERY = 30.0
ONLY_API = f"{NO_PAGE}: {GET_PAGE}\nThe API is at /api (its description: /api/openapi.json).\n"
THREADS = 4
"""Requests that are answered at a time. More would only wait for each other, because one thread of Python computes at a
time, and each costs about 2 MB that do not come back."""
VISITOR = "commonplace_visitor"
log = logging.getLogger("commonplace.parts.web")


def make_app(library: Library, gate: Gate | None = None, *, go_on: str = "") -> FastAPI:
    """Makes the server of a library. `gate`: who may come in; loopback if None.

    `go_on`: a run that is continued at once.
    """
    sessions = Sessions(library, go_on)
    watching = list[str]()

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncGenerator[None]:
        anyio.to_thread.current_default_thread_limiter().total_tokens = THREADS
        tidying = asyncio.create_task(_tidy(sessions))
        going_on = asyncio.create_task(_go_on(sessions, go_on)) if go_on else None
        try:
            yield
        finally:
            tidying.cancel()
            if going_on is not None:
                going_on.cancel()
            await sessions.close()

    app = FastAPI(
        title="Commonplace",
        version="1",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
        responses={"4XX": {"model": m.Problem, "content": {PROBLEM: {}}, "description": "What is wrong."}},
    )
    app.add_middleware(GZipMiddleware, minimum_size=1000, compresslevel=5)
    app.add_middleware(Guard, gate=gate or Gate.loopback(), watching=watching)
    app.state.sessions = sessions
    _add_errors(app)
    _add_library(app, sessions)
    _add_reading(app, sessions)
    _add_replay(app, sessions)
    _add_doing(app, sessions)
    _add_live(app, sessions)
    _add_operating(app, sessions, watching)
    _add_page(app)
    plain = app.openapi
    app.openapi = lambda: _with_messages(plain())
    return app


async def _tidy(sessions: Sessions) -> None:
    while True:
        await asyncio.sleep(TIDY_EVERY)
        with suppress(CommonplaceError):
            await sessions.tidy()


async def _go_on(sessions: Sessions, run: str) -> None:
    try:
        await sessions.go_on(run)
    except CommonplaceError as error:
        log.warning("%s is shown as it is: %s", run, error)


def _with_messages(schema: dict[str, Any]) -> dict[str, Any]:
    """Adds the messages of the live feed to the description: OpenAPI has no place for them."""
    messages = [(one, "serialization") for one in (m.Snapshot, m.Delta, m.Status, m.Speaking, m.Problem)]
    _, more = models_json_schema(messages, ref_template="#/components/schemas/{model}")  # pyright: ignore[reportArgumentType]
    schema["components"]["schemas"] = {**more["$defs"], **schema["components"]["schemas"]}
    schema["info"]["description"] = __doc__
    return schema


# ── errors ───────────────────────────────────────────────────────────────────────────────────────────────────────────

PROBLEM = "application/problem+json"


def problem(status: int, detail: str = "", hint: str = "", **headers: str) -> Response:
    """Returns an error as RFC 9457 words it. Texts are cleaned: they may quote what somebody sent."""
    title = HTTPStatus(status).phrase
    body = m.Problem(title=title, status=status, detail=clean(detail), hint=clean(hint))
    return Response(body.model_dump_json(), status, headers, media_type=PROBLEM)


def status_of(error: CommonplaceError) -> int:
    """Returns the HTTP status of a person's mistake or a failure. None of them is a mistake of the server."""
    match error:
        case NotFound():
            return 404
        case Conflict():
            return 409
        case UsageError():
            return 400
        case RunDamaged():
            return 422
        case Paused():
            return 503
        case _:
            return 409


def _add_errors(app: FastAPI) -> None:
    @app.exception_handler(CommonplaceError)
    async def wrong(_: Request, error: CommonplaceError) -> Response:  # pyright: ignore[reportUnusedFunction]
        return problem(status_of(error), error.what, error.hint)

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> Response:  # pyright: ignore[reportUnusedFunction]
        first = error.errors()[0]
        if first["loc"][-1] == "run" and first["type"] == "string_pattern_mismatch":
            return problem(422, f"{first['input']!r} cannot be the name of a run", NAMES)
        place = ".".join(str(part) for part in first["loc"])
        return problem(422, f"{place}: {first['msg']}", "`GET /api/openapi.json` describes what is expected")

    @app.exception_handler(HTTPException)
    async def refused(request: Request, error: HTTPException) -> Response:  # pyright: ignore[reportUnusedFunction]
        if error.status_code not in (404, 405):
            return problem(error.status_code, str(error.detail), **(error.headers or {}))
        what = f"there is no {request.method} {shortened(request.url.path, 200)}"
        hint = "`GET /api/runs` lists the runs, `GET /api/openapi.json` what can be asked of them"
        return problem(error.status_code, what, hint, **(error.headers or {}))

    @app.exception_handler(Exception)
    async def bug(_: Request, error: Exception) -> Response:  # pyright: ignore[reportUnusedFunction]
        del error  # the traceback goes to standard error, not to the page
        return problem(500, "a bug in Commonplace", "the terminal in which the server runs shows the traceback")


@contextmanager
def found() -> Generator[None]:
    """Reports a name that is not there as missing."""
    try:
        yield
    except (NotFound, Conflict):
        raise
    except UsageError as error:
        raise NotFound(error.what, hint=error.hint) from error


# ── the library ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _add_library(app: FastAPI, sessions: Sessions) -> None:
    @app.get("/api/scenarios", operation_id="scenarios")
    def scenarios() -> list[m.ScenarioCard]:
        """List the scenarios a page may start."""
        return sessions.library.scenarios()

    @app.get("/api/scenarios/{scenario}", operation_id="scenario")
    def scenario(scenario: str) -> m.ScenarioText:
        """Return a scenario as it is written, to begin another one from."""
        return m.ScenarioText(text=sessions.library.text(scenario))

    @app.post("/api/scenarios/check", operation_id="check")
    def check(body: m.ScenarioText) -> m.Checked:
        """Report everything that keeps a page from starting this scenario; if nothing does, what it is."""
        return checked(body.text)

    @app.get("/api/runs", operation_id="runs")
    def runs() -> list[m.RunCard]:
        """List the runs in the runs folder, the latest first."""
        return sessions.cards()

    @app.post("/api/runs", operation_id="startRun", status_code=201)
    async def start(body: m.NewRun) -> m.RunCard:
        """Start a run; its ticks are made until it ends or is paused."""
        return await sessions.create(body)


# ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _add_reading(app: FastAPI, sessions: Sessions) -> None:
    @app.get("/api/runs/{run}", operation_id="town")
    def town(run: m.RunName) -> m.Town:
        """Return everything before the first tick."""
        return sessions.get(run).town()

    @app.get("/api/runs/{run}/timeline", operation_id="timeline")
    def timeline(run: m.RunName) -> m.Timeline:
        """Return the whole run at a glance."""
        return sessions.get(run).picture.timeline()

    @app.get("/api/runs/{run}/frames", operation_id="frames")
    def frames(
        run: m.RunName,
        request: Request,
        first: m.Tick = Query(alias="from"),
        last: m.Tick = Query(alias="to"),
    ) -> m.Frames:
        """Return the ticks from … to, at most 288 of them; those not made yet are left out."""
        session = sessions.get(run)
        with found():
            tick = session.reading.tick(first)
        whole = min(last, session.reading.last_tick)
        return kept(request, session, max(tick, whole), lambda: session.picture.frames(first, last))

    @app.get("/api/runs/{run}/events", operation_id="events")
    def events(
        run: m.RunName, first: m.Tick = Query(0, alias="from"), last: m.Tick | None = Query(None, alias="to")
    ) -> list[EventRow]:
        """Return everything that happened in the ticks from … to, as `commonplace events --json` prints it."""
        reading = sessions.get(run).reading
        upto = reading.last_tick if last is None else min(last, reading.last_tick)
        if upto - first >= MOST_EVENT_TICKS:
            raise UsageError(f"more than {MOST_EVENT_TICKS} ticks", hint="ask for fewer at a time, with from and to")
        return [event_json(event, reading.time(event.tick)) for event in reading.events(first, upto)]

    @app.get("/api/runs/{run}/lines", operation_id="lines")
    def lines(
        run: m.RunName,
        to: m.Tick | None = None,
        text: str = Query("", max_length=500),
        agent: str = Query("", max_length=100),
        category: str = Query("", max_length=20),
        place: str = Query("", max_length=100),
        limit: int = Query(200, ge=1, le=1000),
    ) -> list[m.EventLine]:
        """List the latest lines up to a tick that fit all filters, oldest first."""
        session = sessions.get(run)
        with found():
            session.reading.tick(to)
        return session.picture.lines(to, text=text, agent=agent, category=category, place=place, limit=limit)

    @app.get("/api/runs/{run}/events/{event_id}/why", operation_id="why")
    def why(run: m.RunName, event_id: str) -> Reasons:
        """Return the reasons of an event, as `commonplace why --json` prints them."""
        session = sessions.get(run)
        with found():
            return reasons(session.reading, event_id)

    @app.get("/api/runs/{run}/agents/{agent_id}", operation_id="agent")
    def agent(run: m.RunName, agent_id: str, request: Request, at: m.Tick | None = None) -> AgentDetail:
        """Return a character as of a tick."""
        session = sessions.get(run)
        with found():
            tick = session.reading.tick(at)
            return kept(request, session, tick, lambda: session.inspector.agent(agent_id, tick))

    @app.get("/api/runs/{run}/agents/{agent_id}/memories", operation_id="memories")
    def memories(
        run: m.RunName,
        agent_id: str,
        at: m.Tick | None = None,
        query: str = Query("", max_length=2000),
        policy: str = Query("", max_length=100),
        k: int = Query(10, ge=1, le=100),
        kind: str = Query("", max_length=100),
        place: str = Query("", max_length=500),
        emotion: str = Query("", max_length=100),
        min_importance: int = Query(0, ge=0, le=10),
        since: str = Query("", max_length=40),
        until: str = Query("", max_length=40),
        ids: list[int] = Query([], max_length=200),
        offset: int = Query(0, ge=0, le=10**9),
        limit: int = Query(50, ge=1, le=200),
    ) -> m.Memories:
        """List a character's memories: the latest first, or ranked for a question."""
        session = sessions.get(run)
        with found():
            tick = session.reading.tick(at)
            session.reading.state_at(agent_id, tick)
        return session.inspector.memories(
            agent_id,
            tick,
            query=query,
            policy=policy,
            k=k,
            kind=kind,
            place=place,
            emotion=emotion,
            min_importance=min_importance,
            since=since,
            until=until,
            ids=ids,
            offset=offset,
            limit=limit,
        )

    @app.get("/api/runs/{run}/metrics", operation_id="metrics")
    def metrics(run: m.RunName, at: m.Tick | None = None) -> m.Metrics:
        """Return what emerged up to a tick."""
        session = sessions.get(run)
        with found():
            tick = session.reading.tick(at)
        return session.inspector.metrics(tick)

    @app.get("/api/runs/{run}/hours", operation_id="hours")
    def hours(run: m.RunName, at: m.Tick | None = None) -> list[m.Hour]:
        """Return what emerged hour by hour up to a tick, which is the last row."""
        session = sessions.get(run)
        with found():
            tick = session.reading.tick(at)
        return session.inspector.hours(tick)

    @app.get("/api/runs/{run}/ratings", operation_id="ratings")
    def ratings(run: m.RunName) -> dict[str, float]:
        """Return stars by event or memory id, 0 for none, of everything that can be rated now."""
        return dict(ratings_of(sessions.get(run).reading).all())


def _add_replay(app: FastAPI, sessions: Sessions) -> None:
    making = threading.Lock()

    @app.get("/api/runs/{run}/replay.html", operation_id="replay", response_class=FileResponse)
    def replay(  # pyright: ignore[reportUnusedFunction]
        run: m.RunName,
        first: m.Tick | None = Query(None, alias="from"),
        last: m.Tick | None = Query(None, alias="to"),
    ) -> Response:
        """Return the run as one HTML file to send to somebody, as `commonplace export RUN html` writes it.

        Takes seconds.
        """
        path = sessions.library.path(run)
        if not making.acquire(blocking=False):
            raise Conflict("another file is being made", hint="try again in a moment")
        folder = tempfile.TemporaryDirectory(prefix="commonplace-")
        try:
            with Reading.open(path) as reading:
                done = export(reading, Path(folder.name) / f"{run}.html", first=first, last=last)
        except BaseException:
            folder.cleanup()
            raise
        finally:
            making.release()
        cleanup = BackgroundTask(folder.cleanup)
        return FileResponse(done.path, filename=done.path.name, media_type="text/html", background=cleanup)


def kept(request: Request, session: RunSession, tick: int, make: Any) -> Any:
    """Answers about committed ticks so that a page may keep the answer: an unchanged one is not made or sent again.

    It is asked for again all the same, because another run may take the name of this one.
    """
    tag = f'W/"{session.reading.digest(tick)[:16]}-{package_version()}"' if tick >= 0 else ""
    headers = {"Cache-Control": "private, no-cache", **({"ETag": tag} if tag else {})}
    if tag and tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(to_json(make()), headers=headers, media_type="application/json")


# ── doing ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _add_doing(app: FastAPI, sessions: Sessions) -> None:
    async def session_of(run: str) -> RunSession:
        return await asyncio.to_thread(sessions.get, run)

    @app.post("/api/runs/{run}/inputs", operation_id="submit")
    async def inputs(run: m.RunName, body: m.Input) -> m.Accepted:
        """Queue or preview an input: god mode or an inner voice."""
        return await (await session_of(run)).put_in(body)

    @app.post("/api/runs/{run}/control", operation_id="control")
    async def control(run: m.RunName, body: m.Control) -> m.Status:
        """Play, pause, step or set the speed."""
        return await (await session_of(run)).control(body)

    @app.post("/api/runs/{run}/talk", operation_id="talk")
    async def talk(run: m.RunName, body: m.Ask, request: Request, response: Response) -> m.Answer:
        """Talk with a character as it was at a tick; history does not change."""
        visitor = request.cookies.get(VISITOR, "")
        if len(visitor) != 22:
            visitor = secrets.token_urlsafe(16)
            response.set_cookie(VISITOR, visitor, httponly=True, samesite="strict", path="/api")
        return await (await session_of(run)).talk(visitor, body)

    @app.post("/api/runs/{run}/ratings", operation_id="rate")
    def rate(run: m.RunName, body: m.Rate) -> m.Rated:
        """Rate an answer of a panel, as `commonplace rate` does; history does not change."""
        rated = ratings_of(sessions.get(run).reading).rate(body.id, body.stars)
        return m.Rated(memory_id=rated.memory_id, stars=rated.stars, importance=rated.importance)

    @app.post("/api/runs/{run}/fork", operation_id="fork", status_code=201)
    def fork(run: m.RunName, body: m.Fork) -> m.RunCard:
        """Copy a run up to a tick, to go on differently."""
        session = sessions.get(run)
        with found():
            session.reading.tick(body.at)
        return sessions.get(sessions.library.fork(run, body)).card()


def _add_live(app: FastAPI, sessions: Sessions) -> None:
    @app.websocket("/api/runs/{run}/live")
    async def live(  # pyright: ignore[reportUnusedFunction]
        socket: WebSocket, run: m.RunName, after: m.Tick | None = None
    ) -> None:
        try:
            session = await asyncio.to_thread(sessions.get, run)
        except CommonplaceError as error:
            await socket.send_denial_response(problem(status_of(error), error.what, error.hint))
            return
        await socket.accept()
        said: Message = {"type": ""}
        async with anyio.create_task_group() as group:
            group.start_soon(_send, socket, session, after)
            said = await socket.receive()
            group.cancel_scope.cancel()
        if said["type"] != "websocket.disconnect":  # orders are POSTs
            await socket.close(1008, "nothing is expected here")


async def _send(socket: WebSocket, session: RunSession, after: int | None) -> None:
    """Sends the messages as fast as the connection takes them."""
    with suppress(WebSocketDisconnect):
        try:
            async with aclosing(session.feed.follow(after)) as messages:
                async for text in messages:
                    await socket.send_text(text)
        except CommonplaceError as error:
            await socket.close(1011, clean(error.what)[:100])


# ── for whoever operates it: no part of the API, which is for pages ──────────────────────────────────────────────────


def _add_operating(app: FastAPI, sessions: Sessions, watching: list[str]) -> None:
    @app.api_route(HEALTH, methods=["GET", "HEAD"], include_in_schema=False)
    async def health() -> Response:  # pyright: ignore[reportUnusedFunction]
        return PlainTextResponse("ok\n")

    @app.api_route("/readyz", methods=["GET", "HEAD"], include_in_schema=False)
    async def ready() -> Response:  # pyright: ignore[reportUnusedFunction]
        reasons = [clean(reason) for reason in await asyncio.to_thread(sessions.unready)]
        return JSONResponse({"ready": not reasons, "reasons": reasons}, 503 if reasons else 200)

    @app.get("/metrics", include_in_schema=False)
    async def metrics(request: Request) -> Response:  # pyright: ignore[reportUnusedFunction]
        runs, own = await sessions.figures()
        own = {**own, "commonplace_sockets": [((), len(watching))]}
        text, kind = Exposition(runs, own).text(request.headers.get("accept", ""))
        return Response(text, media_type=kind)


# ── the page ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _add_page(app: FastAPI) -> None:
    if not (STATIC / "index.html").is_file():

        @app.get("/", include_in_schema=False)
        def missing() -> Response:  # pyright: ignore[reportUnusedFunction]
            return PlainTextResponse(ONLY_API, 503)

        return

    @app.api_route("/", methods=["GET", "HEAD"], include_in_schema=False)
    def index() -> Response:  # pyright: ignore[reportUnusedFunction]
        return FileResponse(STATIC / "index.html", headers={"Cache-Control": "no-cache"})

    app.mount("/", Hashed(directory=STATIC))


class Hashed(StaticFiles):
    """The files of the page. A file in `assets` has its digest in its name and never changes."""

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        """Returns the file with the time for which it may be kept."""
        response = super().file_response(*args, **kwargs)
        hashed = "assets" in Path(args[0]).parts
        response.headers["Cache-Control"] = "public, max-age=31536000, immutable" if hashed else "no-cache"
        return response
