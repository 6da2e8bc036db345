"""Points that were started and never ended."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from workbench.analysis.over_time import merge_windows, seconds
from workbench.axis import RATE, Axis
from workbench.documents import (
    AnyDocument,
    Counts,
    Histograms,
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
    their histograms are. A point that the engine itself broke off has a `PointStop` of the same
    form, so they need not be distinguished.
    """
    start: PointStart | None = None
    windows: list[Window] = []
    axis = RATE
    for document in documents:
        if start and isinstance(document, PointStart | RunStop):
            yield _stop(start, windows, axis)
            start = None
        yield document
        match document:
            case RunStart():
                axis = document.axis or RATE
            case PointStart():
                start, windows = document, []
            case Window() if start:
                windows.append(document)
            case PointStop():
                start = None
            case _:
                pass
    if start:
        yield _stop(start, windows, axis)


def _stop(start: PointStart, windows: Sequence[Window], axis: Axis) -> PointStop:
    empty = Window(t_us=0, point=0, index=0, due=0, sent=0, late=0, established=0, replies=0)
    whole, cut = merge_windows(windows or [empty]), reason("recording-cut")
    lost = sum(whole.errors.values())
    ended = whole.replies + lost
    scheduled = [window for window in windows if window.phase != "drain"] or windows
    measured = [window for window in scheduled if window.phase == "measure"] or scheduled

    def per_s(windows: Sequence[Window], calls: int) -> float:
        """In the unit of the session's axis, where that is a rate."""
        each = start.calls_per_connection if axis.of_connections else 1
        return round(calls / each / seconds(windows), 3) if windows else 0.0

    return PointStop(
        t_us=windows[-1].t_us + windows[-1].length_us if windows else start.t_us,
        **start.identity,
        complete=False,
        seconds=seconds(windows),
        counts=Counts(
            scheduled=whole.due,
            unsent=0,
            sent=whole.sent,
            late=whole.late,
            established=whole.established,
            succeeded=whole.replies,
            errors=whole.errors,
            in_flight=whole.due - ended,
        ),
        offered_per_s=0.0 if start.concurrency else per_s(scheduled, whole.due),
        replies_per_s=per_s(measured, sum(window.replies for window in measured)),
        errors_pct=round(100 * lost / ended, 4) if ended else 0.0,
        latency_us=whole.latency_us,
        service_us=whole.service_us,
        histograms=Histograms(latency=whole.latency, service=whole.service),
        verdict="inconclusive",
        reasons=[cut.text()],
        findings=[cut.record()],
    )
