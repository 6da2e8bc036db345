"""The model of a session for the charts: documents in, series out. No Qt.

One `ChartModel` consumes a session's documents one by one, from a live run or a file alike. Charts
compare `version` and `Series.version` to find out what changed since they were last drawn.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf

import msgspec
import numpy as np

from app.charts import scales, words
from app.charts.series import Floats, Quantity, Series, Span, Values, within
from app.style_places import style_places
from workbench.analysis.audits import Audit, Auditor, tainted
from workbench.analysis.cost import rank
from workbench.analysis.over_time import OverTime, Running
from workbench.analysis.published import Published, figures_of
from workbench.analysis.series import Clock, PointResult, View, clock_of, window_ms
from workbench.analysis.tasks import Tasks
from workbench.axis import RATE, Axis
from workbench.documents import (
    AnyDocument,
    HostSample,
    Metric,
    Note,
    PointStart,
    PointStop,
    RunStart,
    RunStop,
    Window,
)
from workbench.messages.base import Said
from workbench.messages.topics import read_note
from workbench.results.setup import Setup
from workbench.sessions.chart_notes import ChartNote

Stated = tuple[Published, float, str, float | None]
"""A published figure, its x, which of its texts says it, and its value; None: it has no place."""
_MOST_FAULTY = 4
"""At most this many faulty servers are explained."""


class Whole:
    """All values that a film will show; axes fitted to them stay fixed."""

    def __init__(self, model: ChartModel, windows: Sequence[tuple[float, Window]]) -> None:
        """`windows`: of all points of the complete session, each after the x of its point."""
        self._series, self._windows = list(model.series.values()), windows
        self.last_x, self.over_time = model.last_x, model.over_time
        self._values: dict[tuple[Quantity, View], tuple[list[Values], Floats]] = {}

    def values(self, quantity: Quantity, view: View, span: Span | None = None) -> Floats:
        """Values of every point, and the response times during each, which the running point shows;
        `span`: only between two x. Without NaN, in no order.
        """
        key = quantity, view
        if key not in self._values:
            windows = self._windows if quantity is Quantity.TIME else []
            times = np.array([(x, window_ms(window, view)) for x, window in windows], dtype=float)
            lines = [series.values(quantity, view) for series in self._series]
            self._values[key] = lines, times.reshape(-1, 2)
        (lines, times), (low, high) = self._values[key], span or (-inf, inf)
        each = [within(line.x, line.y, span) if span else line.y for line in lines]
        inside = (times[:, 0] >= low) & (times[:, 0] <= high)
        found = np.concatenate([times[inside, 1], *each])
        return found[~np.isnan(found)]


class ChartModel:
    """The model of a session for the charts. Call it with every document."""

    charts = tuple(Quantity)
    """Those that show something of it."""
    bars = False
    """Whether every server is a bar."""
    passes = False
    """Whether single passes are drawn beneath the lines."""
    tags: tuple[str, ...] = ()
    """Letters of the sessions of a comparison."""
    round_values = staticmethod(scales.ticks)

    def __init__(self) -> None:
        self.start: RunStart | None = None
        self.stop: RunStop | None = None
        self.series: dict[str, Series] = {}
        """By id, in the plan's order."""
        self.running: Running | None = None
        """Includes points of the warm-up and the calibration; see `running.start.purpose`."""
        self.sweeping: PointStart | None = None
        """The latest point of the current sweep; it stays set between points, and while the server
        is warmed up again."""
        self.published: Sequence[Published] = ()
        """Figures of the source whose question the plan asks, with a place in the charts."""
        self.ceiling_per_s: float | None = None
        """The highest rate that the clients can offer."""
        self.calibrated: list[tuple[float, float]] = []
        """What was offered to the null server, and answered, by ascending rate."""
        self.axis = RATE
        """What the plan varies."""
        self.last_x = 1000.0
        """Where the x axis ends: the highest value of the plan."""
        self.loading = False
        """Its documents are read from a file, and there is none of them yet."""
        self.over = False
        """No more documents will come."""
        self.clock: Clock = "latency"
        """By which the times of all points are known."""
        self.whole: Whole | None = None
        """The complete session, if it is known: the axes are fitted to it."""
        self._timeout_s = 5.0
        self._announced = False
        """Known before the run starts."""
        self.version = 0
        """Grows with every document that changes what is drawn."""
        self.profiles: dict[str, Said] = {}
        """By server: where its CPU time goes, or why that is not known."""
        self.audits: Sequence[Audit] = ()
        """As `audit` found them."""
        self.over_time = OverTime()
        """The same documents, second by second."""
        self._ranked: tuple[object, list[Series]] = (None, [])
        self._auditor = Auditor()
        self.unaudited = False
        """Documents came since the last audit that it may be about."""

    def __call__(self, document: AnyDocument) -> None:
        self.version += 1
        self._auditor(document)
        self.over_time(document)
        self.unaudited |= not isinstance(document, Window | HostSample | PointStart)
        match document:
            case RunStart():
                self._begin(document)
            case PointStart():
                self._begin_point(document)
            case Window():
                if self.running is not None and self.running.start.point == document.point:
                    self.running.windows.append(document)
            case PointStop():
                self.running = None
                if document.judged:
                    if self.clock == "latency":
                        self.clock = clock_of([document])
                    self._series(document.series).add(document)
                elif document.purpose == "ceiling":
                    self.calibrated.append((document.x, document.replies_per_s))
                    self.calibrated.sort()
            case Note():
                self._note(document)
            case RunStop():
                self.stop = document
                self.end()
            case _:
                self.version -= 1

    def _begin(self, start: RunStart) -> None:
        self.start = start
        if not {record.key for record in start.series}.issuperset(self.series):
            self.series.clear()  # Servers were expected, and the run has several series of each.
        tasks = Tasks.of_all(start.servers)
        for record in start.series:
            series = self._series(record.key, record.label)
            series.tasks = tasks.get(record.server, Tasks())
        self._extend(start.axis or RATE)
        if start.plan.get("source"):
            stated = figures_of(start.plan, (s.id for s in start.servers))
            self.published = [each for each in stated if each.drawn]

    def published_of(self, keys: Iterable[str]) -> list[Published]:
        shown = set(keys)
        return [figure for figure in self.published if shown.intersection(figure.servers)]

    def published_at(self, keys: Iterable[str], key: str, view: View) -> list[Stated]:
        """Return the published figures of a metric of these series."""
        each = ((f, f.at, words.stated(f, key, view)) for f in self.published_of(keys))
        return [(f, at, *found) for f, at, found in each if at is not None and found]

    def _note(self, note: Note) -> None:
        match note.topic:
            case "rates":
                if (found := read_note(note)).code == note.topic:
                    values = found.data()["values"]
                    self._extend(msgspec.structs.replace(self.axis, values=values))
            case "ceiling":
                self.ceiling_per_s = note.data.get("ceiling_per_s")
            case "gave-up" | "peak" | "died" if of_server := self._series_of(note.server):
                for series in of_server:
                    series.take(note)
            case "profile" | "not-profiled":
                if (found := read_note(note)).code == note.topic:
                    self.profiles[note.server] = found
            case _:
                self.version -= 1

    def _extend(self, axis: Axis) -> None:
        """Take the axis, with the values that are known by now."""
        self.axis, self.last_x = axis, max(axis.ends, default=self.last_x)
        for series in self.series.values():
            series.axis = axis

    def leave_out(self, hidden: Iterable[str]) -> None:
        """Give hidden servers no place, where each has one."""

    def expect(
        self,
        axis: Axis | None = None,
        servers: Iterable[tuple[str, str]] = (),
        *,
        last_x: float = 1000.0,
        timeout_s: float | None = None,
    ) -> None:
        """Announce, before the run does: what the plan varies, (id, name) of the servers compared,
        where the axis may end, if the plan does not say it, and the timeout of a call.
        """
        if axis is not None:
            self.axis, self.last_x = axis, max(axis.ends, default=last_x)
            self._announced = True
        self._timeout_s = timeout_s or self._timeout_s
        for id_, name in servers:
            self._series(id_, name)
        self.version += 1

    def end(self) -> None:
        """Mark the end of the documents, even if the run was cut off before its `RunStop`."""
        self.over, self.running, self.sweeping = True, None, None
        self.version += 1
        self.unaudited = True
        self.audit()

    def audit(self) -> None:
        if not self.unaudited:
            return
        self.unaudited = False
        self.audits = self._auditor.audits(over=self.over)
        found = tainted(self.audits)
        for series in self.series.values():
            if series.taint(found):
                self.version += 1

    def _begin_point(self, start: PointStart) -> None:
        self.running = Running(start, self.axis)
        if start.judged:
            self.sweeping = start
            self.last_x = max(self.last_x, start.x)
        elif start.purpose == "ceiling" and not self.axis.values:
            self.last_x = max(self.last_x, start.x)
        elif self.sweeping is not None and self.sweeping.server != start.server:
            self.sweeping = None

    def _series_of(self, server: str) -> list[Series]:
        recorded = self.start.series if self.start else []
        keys = [each.key for each in recorded if each.server == server] or [server]
        return [self.series[key] for key in keys if key in self.series]

    def _series(self, id_: str, name: str = "") -> Series:
        if id_ not in self.series:
            place = style_places([*self.series, id_])[id_]
            self.series[id_] = Series(id_, name or id_, place, self.axis)
        return self.series[id_]

    @property
    def running_server(self) -> str:
        """Return the server whose sweep is in progress; empty: none."""
        return self.sweeping.series if self.sweeping else ""

    def metric(self, key: str) -> Metric | None:
        return next((metric for metric in self._metrics if metric.key == key), None)

    @property
    def metrics(self) -> list[Metric]:
        """Return the metrics other than the built-in ones that are known of any point."""
        known = {key for series in self.series.values() for key in series.metrics}
        return [metric for metric in self._metrics if metric.key in known]

    @property
    def _metrics(self) -> list[Metric]:
        return self.start.metrics if self.start else []

    @property
    def has_timeout(self) -> bool:
        """Whether the timeout is known, and the same for everything drawn."""
        return self.start is not None

    @property
    def timeout_ms(self) -> float:
        return 1000 * (Setup(self.start).timeout_s if self.start else self._timeout_s)

    # How charts put it into words; see also `Projection`

    def marks(self, values: Sequence[float]) -> list[str]:
        return words.counts(values)

    def place(self, x: float) -> str:
        """Format one value of the axis: "4,700/s offered"."""
        return self.axis.at(x) + (" offered" if self.axis.per_second else "")

    def subtitle(self, view: View) -> str:
        return f"{words.percentile(view.percentile)}, {words.CLOCKS[view.clock]}"

    @property
    def hint(self) -> str:
        """Return the text where there are no lines at all; of a run that was announced, its steps
        until then are shown in that place.
        """
        if self.loading:
            return "Reading…"
        when = "during the run" if self.whole is None else "as the film plays"
        coming = "" if self._announced else f"Points appear here {when}."
        return "No complete points." if self.over else coming

    def unknown(self, metric: str) -> str:
        if metric != Quantity.TIME.value:
            return "Not recorded in this session."
        if any(series.most and series.most.replies_per_s for series in self.series.values()):
            return "The load tool does not report response times."
        return f"No {self.axis.replies}, so no response times."

    def explains(self, quantity: Quantity, view: View) -> tuple[str, ...]:
        """Return explanations of large, hollow and crossed markers, if there are any."""
        if quantity is Quantity.ERRORS:
            return ()
        time, servers = quantity is Quantity.TIME, self.series.values()
        shown = [
            (series, r)
            for series in servers
            for r in series.shown
            if not time or r.times(view.clock)
        ]
        reasons = (
            ("unreliable", (not r.trusted for _, r in shown)),
            ("too few samples", (time and r.trusted and not r.supported(view) for _, r in shown)),
            ("an audit failed", (r.trusted and not series.trusts(r) for series, r in shown)),
        )
        hollow = words.hollow(text for text, any_ in reasons if any(any_))
        if time:
            return hollow
        large = "large: peak" if self.axis.bounds else "large: sustained rate"
        knees = any(series.knee is not None for series in servers)
        faulty = any(r.verdict == "faulty" for _, r in shown)
        return (*[large] * knees, *hollow, *["crossed: faulty"] * faulty)

    def legend(self, view: View) -> list[str]:
        lines = []
        if self.axis.calibrated:
            lines.append(
                "Sustained rate (large marker): the highest offered rate at which, as at every "
                "lower one, at least 99 % of the calls succeed. ≥: no server limit was reached."
            )
        due, open_loop = view.clock == "latency", self.axis.calibrated
        lines.append(
            f"Response time: {words.percentile(view.percentile)} of the answered calls, counted "
            f"from {'their scheduled times' if due else 'when they were sent'}"
            f"{', so that a server that stalls cannot hide it' * (due and open_loop)}."
        )
        marks = (*self.explains(Quantity.REPLIES, view), *self.explains(Quantity.TIME, view))
        if any(mark.startswith("hollow") for mark in marks):
            lines.append(
                "Hollow markers and thin lines: not to be trusted, because the clients were the "
                "limit, other programs took CPU, an audit failed, or there is too little evidence."
                f"{' Unreliable ones are excluded from sustained rates.' * self.axis.has_limit}"
            )
        faulty = [f"{s.name} is {s.what_is_faulty}." for s in self.ranked() if s.faulty]
        if faulty:
            more = f" {len(faulty) - _MOST_FAULTY} more servers are." * (len(faulty) > _MOST_FAULTY)
            lines.append(f"Crossed markers: {' '.join(faulty[:_MOST_FAULTY])}{more}")
        return lines

    def reading(self, server: str, x: float) -> PointResult | None:
        series = self.series.get(server)
        return next((r for r in series.shown if r.x == x), None) if series else None

    def place_of(self, server: str, x: float) -> str:
        """Return a place in the charts: "4,500/s, Tornado"; without a server, "4,500/s"."""
        series = self.series.get(server)
        return f"{self.axis.at(x)}, {series.name}" if series else self.axis.at(x)

    def numbered(self, notes: Sequence[ChartNote]) -> list[str]:
        """Return the user's notes: "1  4,500/s, Tornado: The log grew here."."""
        places = (self.place_of(note.server, note.x) for note in notes)
        return [
            f"{n}  {at}: {note.text}"
            for n, (at, note) in enumerate(zip(places, notes, strict=True), 1)
        ]

    def card(self, series: Series, reading: PointResult, view: View) -> words.Card:
        at = "at " * self.axis.per_second + self.place(reading.x)
        return words.card(series, reading, view, at, words.judged(series, reading, view))

    def ranked(self) -> list[Series]:
        """Return the servers by sustained rate, highest first; of equals the cheapest first."""
        known = self.version, [series.version for series in self.series.values()]
        if known != self._ranked[0]:
            self._ranked = known, sorted(self.series.values(), key=rank)
        return list(self._ranked[1])
