"""Points that were started and never ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from workbench.analysis import histogram
from workbench.axis import RATE, Axis
from workbench.documents import (
    AnyDocument,
    Counts,
    Histogram,
    Histograms,
    PackedHistogram,
    PointStart,
    PointStop,
    RunStart,
    RunStop,
    Window,
)
from workbench.messages.reasons import reason


def completed(documents: Iterable[AnyDocument]) -> Iterator[AnyDocument]:
    """Return `documents`, with a `PointStop` for a point that was started and never ended.

    It is inserted where the point was left: at the end, or before the next `PointStart` or
    `RunStop`. It is incomplete and inconclusive, and sums up the point's windows: times to 7 %, as
    their histograms are. A point that the
    engine itself broke off has a `PointStop` of the same form, so they need not be distinguished.
    """
    open_point: _OpenPoint | None = None
    axis = RATE
    for document in documents:
        if open_point and isinstance(document, PointStart | RunStop):
            yield open_point.stop()
            open_point = None
        yield document
        match document:
            case RunStart():
                axis = document.axis or RATE
            case PointStart():
                open_point = _OpenPoint(document, axis)
            case Window() if open_point:
                open_point.windows.append(document)
            case PointStop():
                open_point = None
            case _:
                pass
    if open_point:
        yield open_point.stop()


@dataclass
class _OpenPoint:
    start: PointStart
    axis: Axis
    windows: list[Window] = field(default_factory=list)

    def stop(self) -> PointStop:
        start, windows, cut = self.start, self.windows, reason("recording-cut")
        errors: Counter[str] = Counter()
        for window in windows:
            errors.update(window.errors)
        due = sum(window.due for window in windows)
        replies = sum(window.replies for window in windows)
        scheduled = [window for window in windows if window.phase != "drain"] or windows
        measured = [window for window in scheduled if window.phase == "measure"] or scheduled
        ended = replies + errors.total()
        times = Histograms(
            latency=_merged(window.latency for window in windows),
            service=_merged(window.service for window in windows),
        )
        return PointStop(
            t_us=windows[-1].t_us + windows[-1].length_us if windows else start.t_us,
            **start.identity,
            complete=False,
            seconds=sum(window.length_us for window in windows) / 1e6,
            counts=Counts(
                scheduled=due,
                unsent=0,
                sent=sum(window.sent for window in windows),
                late=sum(window.late for window in windows),
                established=sum(window.established for window in windows),
                succeeded=replies,
                errors=dict(errors),
                in_flight=due - replies - errors.total(),
            ),
            offered_per_s=0.0 if start.concurrency else self._per_s(scheduled, due),
            replies_per_s=self._per_s(measured, sum(window.replies for window in measured)),
            errors_pct=round(100 * errors.total() / ended, 4) if ended else 0.0,
            latency_us=histogram.percentiles(times.latency),
            service_us=histogram.percentiles(times.service),
            histograms=times,
            verdict="inconclusive",
            reasons=[cut.text()],
            findings=[cut.record()],
        )

    def _per_s(self, windows: list[Window], calls: int) -> float:
        """In the unit of the session's axis, where that is a rate."""
        each = self.start.calls_per_connection if self.axis.of_connections else 1
        seconds = sum(window.length_us for window in windows) / 1e6
        return round(calls / each / seconds, 3) if seconds else 0.0


def _merged(windows: Iterable[Histogram]) -> PackedHistogram:
    return histogram.packed(histogram.merge(windows), coarse=True)
