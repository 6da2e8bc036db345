"""A read-only page of a session, live while it is recorded: `pongbench share` in a process of its
own, which follows the session's file and has no part in the run.

Whoever has the link sees charts, ranking and answer; nothing else is served. The secret part of the
link is the only key, and the link is not encrypted: an audience in one room, not the internet.
"""

from __future__ import annotations

import asyncio
import gzip
import ipaddress
import json
import logging
import secrets
import socket
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from app.charts.model import ChartModel
from app.export import live_charts
from workbench.analysis.series import View
from workbench.documents import PointStop, RunStop
from workbench.errors import BadInput
from workbench.results import sustained
from workbench.results.render.html import Drawing, render_shared
from workbench.sessions.reading import Follower
from workbench.untrusted import safe

MOST_SPECTATORS = 200
LOOKED_S = 0.5
"""Between two looks at the file."""
AWAKE_S = 15.0
"""Between two signs of life to a spectator."""
_PRIVATE = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_FULL = "Too many people are watching; try again later."


class Stage:
    """What the audience sees of one session, as far as it is recorded."""

    def __init__(self, path: Path) -> None:
        self._follower = Follower(path)
        self._model = ChartModel()
        self.version = 0
        """Grows with every result."""
        self.state = ""
        """What is going on."""
        self.data: dict[str, Any] = self._shown()

    def renew(self) -> bool:
        """Take what was recorded since; returns whether anything changed. Raises BadInput."""
        documents = self._follower.read()
        for document in documents:
            self._model(document)
        state, before = self._now(), self.state
        self.state = state
        if not self.version or any(isinstance(d, PointStop | RunStop) for d in documents):
            self.version += 1
            self._model.audit()
            self.data = self._shown()
        return bool(documents) or state != before

    def _now(self) -> str:
        model = self._model
        if model.over:
            return ""
        if (point := model.sweeping) and (series := model.series.get(point.series)):
            return safe(f"Now: {series.name} at {model.axis.at(point.x)}")
        if any(series.stops for series in model.series.values()):
            return "Preparing the next server"
        return "Preparing" if model.start else "Waiting for the run"

    def _shown(self) -> dict[str, Any]:
        model = self._model
        plan = model.start.plan if model.start else {}
        styles = live_charts.styles_of(model)
        ranked = [series for series in model.ranked() if series.complete]
        answer = sustained.answer(ranked).sentences if ranked else ""
        so_far = "" if model.over or not answer else "So far: "
        return live_charts.of(model, View(clock=model.clock), styles) | {
            "version": self.version,
            "title": safe(str(plan.get("name") or "Comparison")),
            "headline": safe(so_far + answer),
            "ranking": [
                {"key": s.id, "name": safe(s.name), "figure": safe(sustained.column(s, where=True))}
                for s in ranked
            ],
        }


class Spectators:
    """The application that serves a stage below `/TOKEN/`."""

    def __init__(self, stage: Stage, token: str, names: frozenset[str]) -> None:
        """`names`: hosts by which it may be called, beside any address."""
        self._stage = stage
        self._token = token
        self._names = names
        self._changed = asyncio.Event()
        """Of the next change: each one has its own."""
        self._over = False
        self.count = 0
        """Of those who follow."""
        routes = [
            Route("/{token}/", self._page),
            Route("/{token}/data", self._data),
            Route("/{token}/events", self._events),
        ]
        self.app: ASGIApp = self._checked(Starlette(routes=routes))

    def _checked(self, app: ASGIApp) -> ASGIApp:
        async def checked(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] != "http":
                return
            request = Request(scope)
            refused = ""
            if not self._is_known(request.headers.get("host", "")):
                # A page of another site that reaches us by a name of its own.
                refused = "Call this page by the address in its link."
            token = request.url.path.strip("/").partition("/")[0]
            if not secrets.compare_digest(token.encode(), self._token.encode()):
                refused = refused or "There is nothing here; open the whole link."
            if refused:
                await PlainTextResponse(refused, 404, _PRIVATE)(scope, receive, send)
                return
            await app(scope, receive, send)

        return checked

    def _is_known(self, host: str) -> bool:
        name = host.rsplit(":", 1)[0] if not host.endswith("]") else host
        name = name.strip("[]").lower()
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return name in self._names
        return True

    async def _page(self, request: Request) -> Response:
        drawing = Drawing(tokens=live_charts.tokens(), live=self._stage.data)
        body = await asyncio.to_thread(render_shared, drawing)
        return Response(body, 200, _PRIVATE, "text/html; charset=utf-8")

    async def _data(self, request: Request) -> Response:
        data = self._stage.data
        text = await asyncio.to_thread(lambda: gzip.compress(json.dumps(data).encode(), 5))
        return Response(text, 200, {**_PRIVATE, "Content-Encoding": "gzip"}, "application/json")

    async def _events(self, request: Request) -> Response:
        if self.count >= MOST_SPECTATORS:
            return PlainTextResponse(_FULL, 503, _PRIVATE)
        return StreamingResponse(self._news(), 200, _PRIVATE, "text/event-stream")

    async def _news(self) -> AsyncIterator[str]:
        self.count += 1
        try:
            while not self._over:
                changed = self._changed  # Before what is told: nothing is missed meanwhile.
                news = {"version": self._stage.version, "state": self._stage.state}
                yield f"data: {json.dumps(news)}\n\n"
                try:
                    await asyncio.wait_for(changed.wait(), AWAKE_S)
                except TimeoutError:
                    yield ": awake\n\n"
        finally:
            self.count -= 1

    async def follow(self) -> None:
        """Tell everyone what is new, for ever."""
        while True:
            began = time.monotonic()
            if await asyncio.to_thread(self._stage.renew):
                self.tell()
            # Drawing a long session takes a while: never more than a tenth of the time.
            await asyncio.sleep(max(LOOKED_S, 9 * (time.monotonic() - began)))

    def tell(self, *, over: bool = False) -> None:
        """Wake all who follow. `over`: for the last time."""
        self._over |= over
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()


def listen(address: str, port: int) -> socket.socket:
    """Return a socket bound to where spectators connect. Raises BadInput."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    reason = "ports end at 65,535"
    if 0 <= port <= 65_535:
        try:
            return socket.create_server((address, port), family=family)
        except OSError as error:
            # Python adds the address once more.
            reason = (error.strerror or str(error)).partition(" (while")[0].lower()
    raise BadInput(
        f"Spectators cannot be served at {address}, port {port}: {reason}. Give an address of"
        " this computer (--address) and a free port (--port)."
    )


def link(sock: socket.socket, token: str) -> str:
    """Return the link for spectators: of all addresses the one that others use."""
    address, port = sock.getsockname()[:2]
    if address in ("0.0.0.0", "::"):
        address = _outward(sock.family)
    return f"http://{f'[{address}]' if ':' in address else address}:{port}/{token}/"


def _outward(family: int) -> str:
    """Return the address of this computer that its default route has; nothing is sent."""
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9) if family == socket.AF_INET else ("2001:db8::1", 9))
        except OSError:
            return socket.gethostname()
        return str(probe.getsockname()[0])


async def serve(stage: Stage, sock: socket.socket, token: str, ended: asyncio.Event) -> None:
    """Serve until `ended`. Raises PongbenchError for a session that cannot be read."""
    logging.getLogger("uvicorn").setLevel(logging.CRITICAL)  # It tells of each one cut off.
    names = frozenset({"localhost", socket.gethostname().lower()})
    spectators = Spectators(stage, token, names)
    config = uvicorn.Config(
        spectators.app,
        http=H11Protocol,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        limit_concurrency=MOST_SPECTATORS + 50,
        timeout_keep_alive=5,
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve([sock]))
    following = asyncio.create_task(spectators.follow())
    waiting = asyncio.create_task(ended.wait())
    try:
        await asyncio.wait({serving, following, waiting}, return_when=asyncio.FIRST_COMPLETED)
        if following.done():
            following.result()
    finally:
        server.should_exit = True
        spectators.tell(over=True)
        for task in (following, waiting):
            task.cancel()
        await asyncio.gather(serving, following, waiting, return_exceptions=True)
