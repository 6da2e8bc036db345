"""What a run shows while it runs, as OpenMetrics for other people's dashboards."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.registry import Collector

from workbench.analysis import histogram
from workbench.documents import (
    AnyDocument,
    HostSample,
    Percentiles,
    PointStart,
    PointStop,
    RunStart,
    Window,
)
from workbench.errors import BadInput, why
from workbench.run.progress import RunProgress
from workbench.sharing import split

_SERIES = ("server", "load_tool")
_CLOCKS = {
    "latency": "Latency from the scheduled time in the running point so far, else in the last one",
    "service_time": "As pongbench_latency_seconds, from the send",
}
_QUANTILES = {"0.5": "p50", "0.9": "p90", "0.99": "p99", "0.999": "p999", "1": "max"}
_SERVER = {
    "cpu_cores": "CPU time of its process tree, in cores",
    "memory_bytes": "Resident memory of its process tree",
    "accept_queue": "Connections waiting to be accepted",
}
_HOST = {
    "host_cpu_ratio": "Share of all cores that are busy",
    "host_memory_available_bytes": "Memory that is available",
}
_CALLS = ("scheduled", "sent", "succeeded")


@dataclass
class _Series:
    """What one load tool measured of one server so far."""

    calls: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    verdicts: Counter[str] = field(default_factory=Counter)
    point: PointStart | PointStop | None = None
    """The running one, else the last."""
    windows: list[Window] = field(default_factory=list)
    """Of the running point."""


class Exporter(Collector):
    """A consumer of documents. Scrapes are answered by threads of their own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._begin(None)

    def _begin(self, start: RunStart | None) -> None:
        self._start = start
        self._progress = RunProgress()
        self._series: dict[tuple[str, str], _Series] = {}
        self._now: _Series | None = None
        self._hosts: dict[str, HostSample] = {}
        self._servers: dict[str, HostSample] = {}

    def __call__(self, document: AnyDocument) -> None:
        with self._lock:
            if isinstance(document, RunStart):
                self._begin(document)
            self._progress(document)
            match document:
                case PointStart():
                    key = (document.server, document.load_tool)
                    self._now = self._series.setdefault(key, _Series())
                    self._now.point, self._now.windows = document, []
                case Window() if self._now:
                    self._now.windows.append(document)
                    figures = (document.due, document.sent, document.replies)
                    self._now.calls.update(dict(zip(_CALLS, figures, strict=True)))
                    self._now.errors.update(document.errors)
                case PointStop() if self._now:
                    self._stop(document, self._now)
                case HostSample():
                    self._hosts[document.machine] = document
                    if document.server:
                        self._servers[document.server] = document
                case _:
                    pass

    def _stop(self, stop: PointStop, series: _Series) -> None:
        """Count what the windows did not have: some load tools report at the end only."""
        counts, windows = stop.counts, series.windows
        seen = (
            sum(w.due for w in windows),
            sum(w.sent for w in windows),
            sum(w.replies for w in windows),
        )
        whole = (counts.scheduled, counts.sent, counts.succeeded)
        for name, total, known in zip(_CALLS, whole, seen, strict=True):
            series.calls[name] += max(0, total - known)
        for error, total in counts.errors.items():
            series.errors[error] += max(0, total - sum(w.errors.get(error, 0) for w in windows))
        if stop.judged:
            series.verdicts[stop.verdict] += 1
        series.point, series.windows, self._now = stop, [], None

    def collect(self) -> Iterator[Metric]:
        with self._lock:
            yield from list(self._families())

    def _families(self) -> Iterator[Metric]:
        if (start := self._start) is None:
            return
        about = {"session": start.session, "plan": self._progress.name, "version": start.pongbench}
        yield InfoMetricFamily("pongbench_run", "The run", value=about)
        done, total = self._progress.done, self._progress.total
        yield GaugeMetricFamily("pongbench_points_done", "Points that are judged", value=done)
        yield GaugeMetricFamily("pongbench_points_planned", "Points of the plan", value=total)
        calls = CounterMetricFamily(
            "pongbench_calls", "Calls of all points, by how far they came", labels=(*_SERIES, "is")
        )
        errors = CounterMetricFamily(
            "pongbench_errors", "Calls that failed", labels=(*_SERIES, "error")
        )
        verdicts = CounterMetricFamily(
            "pongbench_verdicts", "Points, by verdict", labels=(*_SERIES, "verdict")
        )
        unit = f"What the running point offers, else the last: {self._progress.axis.label}"
        offered = GaugeMetricFamily("pongbench_offered", unit, labels=(*_SERIES, "purpose"))
        times = {
            name: GaugeMetricFamily(
                f"pongbench_{name}_seconds", about, labels=(*_SERIES, "quantile")
            )
            for name, about in _CLOCKS.items()
        }
        for key, series in self._series.items():
            for family, counter in (
                (calls, series.calls),
                (errors, series.errors),
                (verdicts, series.verdicts),
            ):
                for name, count in counter.items():
                    family.add_metric([*key, name], count)
            if series.point is not None:
                offered.add_metric([*key, series.point.purpose], series.point.x)
            for gauge, percentiles in zip(times.values(), _times(series), strict=True):
                for quantile, name in _QUANTILES.items() if percentiles else ():
                    gauge.add_metric([*key, quantile], getattr(percentiles, name) / 1e6)
        yield from (calls, errors, verdicts, offered, *times.values())
        yield from self._of_progress()
        yield from _gauges(
            _SERVER,
            "server",
            {id: (s.cpu_pct / 100, s.rss_bytes, s.accept_queue) for id, s in self._servers.items()},
        )
        yield from _gauges(
            _HOST,
            "machine",
            {
                name: (s.host_cpu_pct / 100, s.memory_available_bytes)
                for name, s in self._hosts.items()
            },
        )

    def _of_progress(self) -> Iterator[Metric]:
        replies = GaugeMetricFamily(
            "pongbench_replies_per_second",
            "In the last 200 ms of the running point, else in the last point, in the plan's unit",
            labels=["server"],
        )
        sustained = GaugeMetricFamily(
            "pongbench_sustained", "The highest sustained value so far", labels=["server"]
        )
        for id, server in self._progress.servers.items():
            if server.replies_per_s is not None:
                replies.add_metric([id], server.replies_per_s)
            if server.knee is not None:
                sustained.add_metric([id], server.knee)
        yield from (replies, sustained)


def _times(series: _Series) -> tuple[Percentiles | None, Percentiles | None]:
    if isinstance(series.point, PointStop):
        return series.point.latency_us, series.point.service_us
    return (
        histogram.percentiles(histogram.merge(w.latency for w in series.windows)),
        histogram.percentiles(histogram.merge(w.service for w in series.windows)),
    )


def _gauges(
    about: dict[str, str], label: str, values: dict[str, tuple[float, ...]]
) -> Iterator[Metric]:
    for n, (name, text) in enumerate(about.items()):
        prefix = "pongbench_server_" if label == "server" else "pongbench_"
        gauge = GaugeMetricFamily(prefix + name, text, labels=[label])
        for key, figures in values.items():
            gauge.add_metric([key], figures[n])
        yield gauge


@contextmanager
def exported(exporter: Exporter, where: str) -> Iterator[str]:
    """Answer scrapes at ADDRESS or ADDRESS:PORT; yields the link. Raises BadInput."""
    address, port = split(where)
    registry = CollectorRegistry(auto_describe=False)
    registry.register(exporter)
    try:
        server, thread = start_http_server(port, address, registry)
    except (OSError, OverflowError) as error:
        reason = why(error) if isinstance(error, OSError) else "ports end at 65,535"
        raise BadInput(
            f"Metrics cannot be served at {where}: {reason}. Give an address of this computer and"
            " a free port."
        ) from None
    try:
        host = f"[{address}]" if ":" in address else address
        yield f"http://{host}:{server.server_port}/metrics"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
