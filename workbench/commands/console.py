"""A run or a replay in the terminal: a live table, or plain lines if there is no terminal."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Self

from rich.console import Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from workbench.analysis.series import clock_of, mean_us
from workbench.documents import AnyDocument, Note, PointStart, PointStop, RunStart, RunStop
from workbench.formatting import clock, duration, number_of, ordinal, percent
from workbench.messages.notes import Severity
from workbench.messages.topics import severity
from workbench.presentable import presentable
from workbench.results.render.terminal import VERDICT_STYLES
from workbench.run.progress import RunProgress, ServerProgress
from workbench.terminal import Terminal, fitting

_LEAST = {"Points": 5, "Offered": 8, "Mean": 7, "p50": 7, "p99": 7, "Sustained": 9, "Verdict": 14}

_PURPOSES = {"warm_up": "warm-up", "ceiling": "calibration", "profile": "profile"}

_LINES_BESIDE = 6
"""Lines of the live table other than its servers."""

_WIDE = 100


class ConsoleView:
    """A consumer of documents that shows the progress of a run, by default on stderr; as a context
    manager it keeps a table up to date, which disappears at the end."""

    def __init__(self, console: Terminal | None = None, *, brief: bool = False) -> None:
        """`brief`: a line for each server in place of one for each point."""
        self.brief = brief
        self.console = console or Terminal(stderr=True)
        self._say = self.console.say
        self.progress = RunProgress()
        self._doing = ""
        self._server = ""
        """Whose points are judged now."""
        self._live = (
            Live(console=self.console, get_renderable=self.render, transient=True)
            if self.console.is_terminal
            else None
        )

    def __enter__(self) -> Self:
        if self._live:
            self._live.start()
        return self

    def __exit__(self, *problem: object) -> None:
        if self._live:
            self._live.stop()

    def __call__(self, document: AnyDocument) -> None:
        document = presentable(document)
        before = self._server
        self.progress(document)
        self._doing = ""
        if isinstance(document, PointStart) and document.judged:
            self._server = document.server
        if self.brief and before and (before != self._server or isinstance(document, RunStop)):
            self._say(self._server_line(before))
        match document:
            case RunStart():
                self._say(self._title())
            case PointStop() if not document.complete or not (self._live or self.brief):
                self._say(self._point_line(document))
            case Note() if severity(document) > Severity.QUIET:
                self._say(f"{self._time()}  {document.text}", "yellow")
            case RunStop():
                reason = f": {document.reason}" if document.reason else ""
                self._say(f"{self._time()}  {document.status.capitalize()}{reason}")
            case _:
                pass

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Draw nothing while the user types."""
        self.__exit__()
        try:
            yield
        finally:
            self.__enter__()

    def notify(self, text: str) -> None:
        """Show what happens between documents, for example that servers are built."""
        if self._live is None and not self.brief:
            self._say(text)
        self._doing = text

    def _title(self) -> str:
        servers = number_of(len(self.progress.servers), "servers")
        points = number_of(self.progress.total, "points")
        return f"{self.progress.name or 'Run'}: {servers}, {points}"

    def _time(self) -> str:
        return clock(self.progress.t_us / 1e6)

    def _server_line(self, id: str) -> str:
        server = self.progress.servers[id]
        axis, stops = server.axis, server.stops
        if not stops:
            found = "interrupted"
        elif axis.has_limit:
            limit = "no tested value" if server.knee is None else axis.at(server.knee)
            found = f"sustains {limit}; last point {stops[-1].verdict}"
        else:
            most = max(stops, key=lambda stop: stop.replies_per_s)
            answered = axis.answered(most.replies_per_s)
            found = f"{answered} at {axis.of(most)}; last point {stops[-1].verdict}"
        return f"{self._time()}  {server.name}: {found}"

    def _point_line(self, stop: PointStop) -> str:
        name = self.progress.name_of(stop.server)
        if not stop.complete:
            reasons = " ".join(stop.reasons)
            return f"{self._time()}  {name} {self.progress.axis.of(stop)}  interrupted: {reasons}"
        several = stop.judged and self.progress.passes > 1
        within = f"pass {stop.pass_number}" if several else ""
        what = ", ".join(filter(None, (within, _kind(stop))))
        purpose = f" ({what})" if what else ""
        parts = [
            self._time(),
            f"{name} {self.progress.axis.of(stop)}{purpose}",
            self.progress.axis.answered(stop.replies_per_s),
            _times(stop),
            f"errors {percent(stop.errors_pct)}",
        ]
        if stop.judged:
            parts.append(f"{stop.verdict}{': ' if stop.reasons else ''}{' '.join(stop.reasons)}")
        return "  ".join(parts)

    def render(self) -> RenderableType:
        """The table of all servers, and the current activity."""
        servers = list(self.progress.servers.values())
        if not servers:
            return self._footer()
        shown = self._in_sight(servers)
        replies = f"{self.progress.axis.served.capitalize()}/s"
        times = ["Mean", "p50", "p99", "Errors"]
        table = fitting(
            ["Server", "Processes", "Points", "Offered", replies, *times, "Sustained", "Verdict"],
            [_cells(server) for server in shown],
            self.console.width,
            spare=("Points", "Processes", "Mean", "p50", replies, "p99", "Errors"),
            folds="Verdict",
            styles=["bold" if each.point else "" if each.stops else "dim" for each in shown],
            least=_LEAST,
        )
        others = len(servers) - len(shown)
        more = [Text(f" and {others:,} more servers", style="dim")] if others else []
        return Group(table, *more, self._footer())

    def _in_sight(self, servers: list[ServerProgress]) -> list[ServerProgress]:
        """As many servers as fit in the terminal, including the one under load."""
        room = max(1, self.console.height - _LINES_BESIDE)
        if len(servers) <= room:
            return servers
        now = next((n for n, server in enumerate(servers) if server is self.progress.now), 0)
        first = min(max(0, now - room // 2), len(servers) - room)
        return servers[first : first + room]

    def _footer(self) -> RenderableType:
        progress = self.progress
        left = f"about {clock(progress.left_s)} left" if progress.left_s is not None else ""
        done = f"point {min(progress.done + 1, progress.total):,} of {progress.total:,}"
        width = 30 if self.console.width >= _WIDE else 10
        bar = ProgressBar(total=max(1, progress.total), completed=progress.done, width=width)
        figures = [self._time(), done if progress.total else "", left]
        line = Table.grid(padding=(0, 2))
        line.add_column(min_width=width)
        for figure in figures:
            line.add_column(no_wrap=True, min_width=len(figure))
        line.add_column(no_wrap=True)
        now, doing = progress.now, self._doing
        if not doing and now is not None and now.point is not None:
            doing = ", ".join(filter(None, (now.name, now.axis.of(now.point), _kind(now.point))))
        line.add_row(bar, *figures, Text(doing, style="dim", overflow="ellipsis"))
        return line


def _times(stop: PointStop) -> str:
    by = clock_of([stop])
    times = stop.service_us if by == "service" else stop.latency_us
    if times is None:
        return "unknown response times" if stop.counts.succeeded else "no reply"
    mean = mean_us([stop], by)
    known = "" if mean is None else f"mean {duration(mean)}, "
    send = " from the send" * (by == "service")
    return f"{known}p50 {duration(times.p50)}, p99 {duration(times.p99)}{send}"


def _kind(point: PointStart | PointStop) -> str:
    """Return how it differs from the first point at a value: "warm-up", "second try"."""
    if not point.judged:
        return _PURPOSES[point.purpose]
    return f"{ordinal(point.look)} try" if point.look > 1 and point.purpose == "sweep" else ""


def _cells(server: ServerProgress) -> list[str | Text]:
    shown = server.point or (server.stops[-1] if server.stops else None)
    verdict = server.stops[-1].verdict if server.stops else ""
    times, replies, errors = server.latency_us, server.replies_per_s, server.errors_pct
    mean = server.mean_us
    return [
        Text(server.name),
        server.tasks.cell,
        f"{len(server.stops)}/{server.total}",
        server.axis.of(shown) if shown else "",
        f"{replies:,.0f}" if replies is not None else "",
        duration(mean),
        duration(times.p50) if times else "",
        duration(times.p99) if times else "",
        percent(errors) if errors is not None else "",
        server.axis.at(server.knee) if server.knee is not None else "",
        Text(verdict, style=VERDICT_STYLES.get(verdict, "magenta")),
    ]
