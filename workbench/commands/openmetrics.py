"""What a run shows while it runs, as OpenMetrics for other people's dashboards."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeAlias

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
from workbench.run.progress import RunProgress, ServerProgress
from workbench.sharing import split

_SERIES = ("server", "load_tool")
_CLOCKS = {
    "latency": "Latency from the scheduled time in the running point so far, else in the last one",
    "service_time": "As pongbench_latency_seconds, from the send",
}
_QUANTILES = {"0.5": "p50", "0.9": "p90", "0.99": "p99", "0.999": "p999", "1": "max"}
_COUNTED = (
    ("calls", "Calls of all points, by how far they came", "is"),
    ("errors", "Calls that failed", "error"),
    ("verdicts", "Points, by verdict", "verdict"),
)
"""Fields of `_Series`, each with its label."""
_CALLS = (
    ("scheduled", "due", "scheduled"),
    ("sent", "sent", "sent"),
    ("succeeded", "replies", "succeeded"),
)
"""How far they came, as fields of a window and of the counts of a point."""
_OF_PROGRESS: dict[str, tuple[str, Callable[[ServerProgress], float | None]]] = {
    "replies_per_second": (
        "In the last 200 ms of the running point, else in the last point, in the plan's unit",
        lambda server: server.replies_per_s,
    ),
    "sustained": ("The highest sustained value so far", lambda server: server.knee),
}
_Of: TypeAlias = dict[str, tuple[str, Callable[[HostSample], float]]]
_SERVER: _Of = {
    "server_cpu_cores": ("CPU time of its process tree, in cores", lambda s: s.cpu_pct / 100),
    "server_memory_bytes": ("Resident memory of its process tree", lambda s: s.rss_bytes),
    "server_accept_queue": ("Connections waiting to be accepted", lambda s: s.accept_queue),
}
_HOST: _Of = {
    "host_cpu_ratio": ("Share of all cores that are busy", lambda s: s.host_cpu_pct / 100),
    "host_memory_available_bytes": ("Memory that is available", lambda s: s.memory_available_bytes),
}


@dataclass
class _Series:
    """What one load tool measured of one server so far."""

    calls: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    verdicts: Counter[str] = field(default_factory=Counter)
    point: PointStart | PointStop | None = None
    """The running one, else the last."""
    windows: list[Window] = field(default_factory=list)


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
                    for name, of_window, _ in _CALLS:
                        self._now.calls[name] += getattr(document, of_window)
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
        windows, counts = series.windows, stop.counts
        for name, of_windows, of_counts in _CALLS:
            known = sum(getattr(window, of_windows) for window in windows)
            series.calls[name] += max(0, getattr(counts, of_counts) - known)
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
        progress, by_series = self._progress, self._series.items()
        about = {"session": start.session, "plan": progress.name, "version": start.pongbench}
        yield InfoMetricFamily("pongbench_run", "The run", value=about)
        yield _gauge("points_done", "Points that are judged", [((), progress.done)])
        yield _gauge("points_planned", "Points of the plan", [((), progress.total)])
        for name, text, label in _COUNTED:
            counted = CounterMetricFamily(f"pongbench_{name}", text, labels=(*_SERIES, label))
            for key, series in by_series:
                for word, count in getattr(series, name).items():
                    counted.add_metric([*key, word], count)
            yield counted
        yield _gauge(
            "offered",
            f"What the running point offers, else the last: {progress.axis.label}",
            [((*key, each.point.purpose), each.point.x) for key, each in by_series if each.point],
            (*_SERIES, "purpose"),
        )
        times = [(key, _times(series)) for key, series in by_series]
        for place, (name, text) in enumerate(_CLOCKS.items()):
            values = [
                ((*key, quantile), getattr(clocks[place], percentile) / 1e6)
                for key, clocks in times
                for quantile, percentile in (_QUANTILES.items() if clocks[place] else ())
            ]
            yield _gauge(f"{name}_seconds", text, values, (*_SERIES, "quantile"))
        for name, (text, of_server) in _OF_PROGRESS.items():
            found = [((id,), of_server(server)) for id, server in progress.servers.items()]
            known = [(key, value) for key, value in found if value is not None]
            yield _gauge(name, text, known, ("server",))
        for label, samples, figures in (
            ("server", self._servers, _SERVER),
            ("machine", self._hosts, _HOST),
        ):
            for name, (text, figure) in figures.items():
                of = [((key,), figure(sample)) for key, sample in samples.items()]
                yield _gauge(name, text, of, (label,))


def _gauge(
    name: str, about: str, values: Iterable[tuple[Sequence[str], float]], labels: Sequence[str] = ()
) -> GaugeMetricFamily:
    """`values`: each with those of the labels."""
    made = GaugeMetricFamily(f"pongbench_{name}", about, labels=labels)
    for key, value in values:
        made.add_metric(key, value)
    return made


def _times(series: _Series) -> tuple[Percentiles | None, Percentiles | None]:
    if isinstance(series.point, PointStop):
        return series.point.latency_us, series.point.service_us
    return (
        histogram.percentiles(histogram.merge(w.latency for w in series.windows)),
        histogram.percentiles(histogram.merge(w.service for w in series.windows)),
    )


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
