"""What of a session or a comparison is written, and how. No Qt."""

from __future__ import annotations

from dataclasses import dataclass, field

from app.charts.view_state import Look, Showing
from workbench.analysis.series import View

SIZE = (1600, 1200)


@dataclass(frozen=True)
class ReportOptions:
    """The appearance of a report; it does not apply to a table."""

    theme: str = "light"
    """The theme of pictures; an HTML page has both and follows its reader's."""
    size: tuple[int, int] = SIZE
    """The size of pictures in pixels; a PNG has twice as many."""
    view: View = field(default_factory=View)
    """The view of the charts."""
    notes: bool = False
    """Include the user's notes about the session; HTML only."""
    server: str = ""
    """The server of a distribution, by its id; empty: there is only one."""
    showing: Showing = field(default_factory=Showing)
    """The part of the charts, and their scales."""
    plain: bool = False
    """An HTML page without a script."""
    look: Look = field(default_factory=Look)
    """Over the axis, over time, or distributions; of pictures and tables. HTML has all."""
