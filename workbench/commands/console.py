"""A run or a film in the terminal: a live table, or plain lines where there is no terminal."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich import box
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from workbench.commands.progress import RunProgress, ServerProgress
from workbench.documents import AnyDocument, Note, PointStop, RunStart, RunStop
from workbench.wording import clock, duration, offered, percent

VERDICT_STYLES = {"ok": "green", "server-limited": "yellow"}
"""Every other verdict says that the point cannot be trusted."""

QUIET_TOPICS = {"backlog", "gate"}
"""Routine: in the session, not on the screen."""


class ConsoleView:
    """A consumer of documents that shows how the run goes, on stderr unless told otherwise.

    A context manager: inside it the table is kept up to date; it vanishes at the end.
    """

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or Console(stderr=True)
        self.progress = RunProgress()
        self._doing = ""
        self._live = (
            Live(console=self.console, get_renderable=self._render, transient=True)
            if self.console.is_terminal
            else None
        )

    def __enter__(self) -> Self:
        if self._live:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._live:
            self._live.stop()

    def __call__(self, document: AnyDocument) -> None:
        self.progress(document)
        self._doing = ""
        match document:
            case RunStart():
                self._say(self._title())
            case PointStop() if self._live is None or not document.complete:
                self._say(self._point_line(document))
            case Note() if document.topic not in QUIET_TOPICS:
                self._say(f"{self._time()}  {document.text}", "yellow")
            case RunStop():
                reason = f": {document.reason}" if document.reason else ""
                self._say(f"{self._time()}  {document.status.capitalize()}{reason}")
            case _:
                pass

    def tell(self, text: str) -> None:
        """What is being done where no document tells, for example while servers are built."""
        if self._live is None:
            self._say(text)
        self._doing = text

    def _say(self, line: str, style: str = "") -> None:
        # A style given to print() would colour the live table, too.
        self.console.print(Text(line, style=style), soft_wrap=True)

    def _title(self) -> str:
        servers, points = len(self.progress.servers), self.progress.total
        return (
            f"{self.progress.name or 'Run'}: {servers} server{'s' * (servers != 1)},"
            f" {points:,} point{'s' * (points != 1)}"
        )

    def _time(self) -> str:
        return clock(self.progress.t_us / 1e6)

    def _point_line(self, stop: PointStop) -> str:
        server = self.progress.servers.get(stop.server)
        name = server.name if server else stop.server
        times = stop.latency_us
        if not stop.complete:
            reasons = " ".join(stop.reasons)
            return f"{self._time()}  {name} {offered(stop)}  interrupted: {reasons}"
        purpose = "" if stop.purpose == "sweep" else f" ({stop.purpose.replace('_', '-')})"
        parts = [
            self._time(),
            f"{name} {offered(stop)}{purpose}",
            f"{stop.replies_per_s:,.0f} replies/s",
            f"p50 {duration(times.p50)}, p99 {duration(times.p99)}" if times else "no reply",
            f"errors {percent(stop.errors_pct)}",
        ]
        if stop.purpose == "sweep":
            parts.append(f"{stop.verdict}{': ' if stop.reasons else ''}{' '.join(stop.reasons)}")
        return "  ".join(parts)

    def _render(self) -> RenderableType:
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        table.add_column("Server", no_wrap=True)
        for title in ("Points", "Offered", "Replies/s", "p50", "p99", "Errors", "Holds"):
            table.add_column(title, justify="right", no_wrap=True)
        table.add_column("Verdict", no_wrap=True)
        for server in self.progress.servers.values():
            table.add_row(*_cells(server), style=_row_style(server))
        return Group(table, self._footer()) if self.progress.servers else self._footer()

    def _footer(self) -> RenderableType:
        progress = self.progress
        left = f"about {clock(progress.left_s)} left" if progress.left_s is not None else ""
        done = f"point {min(progress.done + 1, progress.total):,} of {progress.total:,}"
        line = Table.grid(padding=(0, 2))
        line.add_row(
            ProgressBar(total=max(1, progress.total), completed=progress.done, width=30),
            Text(self._time()),
            Text(done if progress.total else ""),
            Text(left),
            Text(self._doing or _now(progress.now), style="dim", overflow="ellipsis"),
        )
        return line


def _now(server: ServerProgress | None) -> str:
    if server is None or server.point is None:
        return ""
    purpose = {"warm_up": "warming up", "ceiling": "finding the clients' ceiling"}
    doing = purpose.get(server.point.purpose, "")
    return f"{server.name}, {offered(server.point)}{', ' * bool(doing)}{doing}"


def _cells(server: ServerProgress) -> list[str | Text]:
    shown = server.point or (server.stops[-1] if server.stops else None)
    verdict = server.stops[-1].verdict if server.stops else ""
    times, replies, errors = server.latency_us, server.replies_per_s, server.errors_pct
    held = server.held_per_s
    return [
        Text(server.name),
        f"{len(server.stops)}/{server.total}",
        offered(shown) if shown else "",
        f"{replies:,.0f}" if replies is not None else "",
        duration(times.p50) if times else "",
        duration(times.p99) if times else "",
        percent(errors) if errors is not None else "",
        f"{held:,.10g}/s" if held is not None else "",
        Text(verdict, style=VERDICT_STYLES.get(verdict, "magenta")),
    ]


def _row_style(server: ServerProgress) -> str:
    if server.point is not None:
        return "bold"
    return "" if server.stops else "dim"
