"""The menu of the charts, and the corner above them that opens it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from PySide6.QtCore import QPoint
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from app.charts import words
from app.charts.plot import second_percentile
from app.charts.pointing import LOG_KEYS
from app.charts.trio import Trio
from app.charts.view_state import ACROSS
from app.widgets import button, row, tool
from workbench.analysis.series import PERCENTILES, Clock
from workbench.formatting import continued

CLOCKS: dict[Clock, str] = {
    "latency": "Latency (from scheduled time)",
    "service": "Service time (from send)",
}


def open_menu(trio: Trio, at: QPoint, page: Any = None) -> QMenu:
    """Open the menu at a place on the screen. `page`: copies and exports the charts."""
    menu = QMenu(trio, accessibleName="Charts")
    view, showing, zooming = trio.view, trio.showing, trio.zooming

    def add(text: str, do: Callable[[], object], inside: QMenu = menu, on: Any = None) -> QAction:
        """`on`: whether it is checked; None: it has no check box."""
        action = inside.addAction(text)
        action.setCheckable(on is not None)
        action.setChecked(bool(on))
        action.triggered.connect(lambda _checked=False: do())
        return action

    add("Zoom in\tCtrl++", zooming.closer)
    add("Zoom out\tCtrl+−", zooming.farther).setEnabled(bool(showing.zoom))
    add("Show everything\tCtrl+0", zooming.reset).setEnabled(bool(showing.zoom))
    menu.addSeparator()
    titles = {ACROSS: trio.drawn.axis.label}
    titles |= {chart.metric: chart.title_text()[0] for chart in trio.charts.values()}
    for key, title in titles.items():
        text = f"Logarithmic {continued(title)}\t{LOG_KEYS.get(key, 'E')}"
        add(text, partial(trio.toggle_log, key), on=trio.is_log(key))
    menu.addSeparator()
    inside = menu.addMenu("Percentile")
    for each in PERCENTILES:
        choose = partial(trio.set_view, percentile=each)
        add(words.percentile(each), choose, inside, each == view.percentile)
    inside = menu.addMenu("Response time")
    for clock, text in CLOCKS.items():
        add(text, partial(trio.set_view, clock=clock), inside, clock == view.clock)
    second = words.percentile(second_percentile(view).percentile)
    add(f"Band from {second}\tB", partial(trio.toggle_part, "band"), on=showing.band)
    if trio.drawn is trio.model and trio.model.axis.calibrated:
        add("Offset equal lines\tO", partial(trio.toggle_part, "offset"), on=showing.offset)
    if trio.model.published:
        add("Published figures", partial(trio.toggle_part, "published"), on=showing.published)
    if trio.notable:
        menu.addSeparator()
        target = trio.target()
        where = f" at {trio.model.place_of(*target)}" if target else ""
        do = partial(trio.note_wanted.emit, *target) if target else trio.setFocus
        add(f"Note{where}…\tN", do).setEnabled(target is not None)
    if (only := trio.model.series.get(trio.pointing.server)) is not None:
        add(f"Only {only.name}", partial(trio.show_alone, only.id))
        add("All servers\t0", trio.show_all)
    if page is not None:
        menu.addSeparator()
        add("Copy\tCtrl+Shift+C", page.copy_chart)
        add("Save image…\tCtrl+E", page.export)
    menu.aboutToHide.connect(menu.deleteLater)
    menu.popup(at)
    return menu


class Corner(QWidget):
    """Above the charts: what ends a zoom, and the menu."""

    def __init__(self, trio: Trio) -> None:
        super().__init__()
        self._trio = trio
        self._reset = button("Reset zoom", on_click=trio.zooming.reset)
        self._menu = tool(
            "Charts: zoom, scales and response time", "sliders-horizontal", self._open
        )
        for each, padding in ((self._reset, "0 8px"), (self._menu, "0")):
            each.setStyleSheet(f"padding: {padding}; font-size: 12px; min-height: 22px;")
        row(self, self._reset, self._menu, gap=6)
        self._menu.setFixedWidth(30)
        trio.view_changed.connect(self._refresh)
        self._refresh()

    def _refresh(self) -> None:
        self._reset.setVisible(bool(self._trio.showing.zoom))

    def _open(self) -> None:
        open_menu(self._trio, self._menu.mapToGlobal(QPoint(0, self._menu.height())))
