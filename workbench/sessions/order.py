"""The order of a session's documents, on which drawing, counting and replaying rely."""

from __future__ import annotations

from workbench.documents import AnyDocument, PointStart, PointStop, RunStop, Window


class Order:
    """Checks documents in the order of their file."""

    def __init__(self) -> None:
        self._open: PointStart | None = None
        self._points: set[int] = set()
        self._begun_us: int | None = None
        """When the last point began; the next cannot before."""
        self._window_us = 0
        """The same of windows within a point. They are planned times, of which those of a point
        that ended early may lie behind the next one's beginning."""
        self._over = False

    def problem(self, document: AnyDocument) -> str:
        """Return what is out of order, as the rest of a sentence; empty: nothing."""
        match document:
            case PointStart() | Window() | PointStop() if self._over:
                return "the run has already ended"
            case RunStop():  # Again where the recorder failed at the first.
                self._over = True
            case PointStart() if document.point in self._points:
                return f"point {document.point} begins a second time"
            case PointStart():
                self._points.add(document.point)
                self._open = document
                before_us, self._begun_us = self._begun_us, document.t_us
                self._window_us = document.t_us
                return _backwards(before_us, document.t_us)
            case Window() | PointStop() if not self._is_under_way(document.point):
                return f"point {document.point} is not under way"
            case Window():
                before_us, self._window_us = self._window_us, document.t_us
                return _backwards(before_us, document.t_us)
            case PointStop():
                self._open = None
            case _:
                pass
        return ""

    def _is_under_way(self, point: int) -> bool:
        return self._open is not None and self._open.point == point


def _backwards(before_us: int | None, t_us: int) -> str:
    if before_us is None or t_us >= before_us:
        return ""
    return f"time runs backwards by {(before_us - t_us) / 1e6:.3f} s"
