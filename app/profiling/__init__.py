"""CPU profiles: in which functions servers spend their time."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from app.charts.model import ChartModel
from app.context import Desk


def show_profiles(page: QWidget, desk: Desk, model: ChartModel, server: str = "") -> None:
    """Open the window of profiles, if the session has any; with that `server`, if it has one."""
    if not model.profiles:
        return
    from app.profiling.viewer import ProfileViewer  # noqa: PLC0415 - rarely

    viewer = ProfileViewer(page, model.profiles, desk.theme)
    viewer.show_server(server)
    viewer.open()
