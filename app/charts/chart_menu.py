"""The menu of the charts, and the corner above them that opens it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from PySide6.QtCore import QPoint
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QHBoxLayout, QMenu, QWidget

from app.charts import words
from app.charts.plot import second_percentile
from app.charts.pointing import LOG_KEYS
from app.charts.trio import Trio
from app.charts.view_state import ACROSS
from app.theme import Theme, icon
from app.widgets import button, tool
from workbench.analysis.series import PERCENTILES, Clock

CLOCKS: dict[Clock, str] = {
    "latency": "Latency (from scheduled time)",
    "service": "Service time (from send)",
}


def open_menu(trio: Trio, at: QPoint, page: Any = None) -> QMenu:
    """Open the menu at a place on the screen. `page`: copies and exports the charts."""
    menu = QMenu(trio)
    menu.setAccessibleName("Charts")
    zooming = trio.zooming

    def add(text: str, keys: str, do: Callable[[], object], *, usable: bool = True) -> QAction:
        action = menu.addAction(f"{text}\t{keys}" if keys else text)
        action.setEnabled(usable)
        action.triggered.connect(lambda _checked=False: do())
        return action

    def check(inside: QMenu, text: str, on: bool, choose: Callable[[bool], object]) -> None:
        action = inside.addAction(text)
        action.setCheckable(True)
        action.setChecked(on)
        action.triggered.connect(choose)

    add("Zoom in", "Ctrl++", zooming.closer)
    add("Zoom out", "Ctrl+−", zooming.farther, usable=bool(trio.showing.zoom))
    add("Show everything", "Ctrl+0", zooming.reset, usable=bool(trio.showing.zoom))
    menu.addSeparator()
    titles = {ACROSS: trio.drawn.axis.label}
    titles |= {chart.metric: chart.title_text()[0] for chart in trio.charts.values()}
    for key, title in titles.items():
        text = f"Logarithmic {_within(title)}\t{LOG_KEYS.get(key, 'E')}"
        check(menu, text, trio.is_log(key), lambda _, k=key: trio.toggle_log(k))
    menu.addSeparator()
    inside = menu.addMenu("Percentile")
    for each in PERCENTILES:
        chosen = each == trio.view.percentile
        check(inside, words.percentile(each), chosen, lambda _, p=each: trio.set_percentile(p))
    inside = menu.addMenu("Response time")
    for clock, text in CLOCKS.items():
        chosen = clock == trio.view.clock
        check(inside, text, chosen, lambda _, c=clock: trio.set_clock(c))
    second = words.percentile(second_percentile(trio.view).percentile)
    check(menu, f"Band from {second}\tB", trio.showing.band, lambda _: trio.toggle_part("band"))
    if trio.drawn is trio.model and trio.model.axis.calibrated:
        offset = trio.showing.offset
        check(menu, "Offset equal lines\tO", offset, lambda _: trio.toggle_part("offset"))
    _check_published(menu, trio, check)
    if trio.notable:
        menu.addSeparator()
        target = trio.target()
        where = f" at {trio.model.place_of(*target)}" if target else ""
        do = partial(trio.note_wanted.emit, *target) if target else trio.setFocus
        add(f"Note{where}…", "N", do, usable=target is not None)
    if (only := trio.model.series.get(trio.pointing.server)) is not None:
        add(f"Only {only.name}", "", lambda: trio.show_alone(only.id))
        add("All servers", "0", trio.show_all)
    if page is not None:
        menu.addSeparator()
        add("Copy", "Ctrl+Shift+C", page.copy_chart)
        add("Save image…", "Ctrl+E", page.export)
    menu.aboutToHide.connect(menu.deleteLater)
    menu.popup(at)
    return menu


def _check_published(menu: QMenu, trio: Trio, check: Callable[..., None]) -> None:
    if trio.model.published:
        shown = trio.showing.published
        check(menu, "Published figures", shown, lambda _: trio.toggle_part("published"))


def _within(title: str) -> str:
    """Return a title as it is written within a sentence: "CPU per call", "response time"."""
    return title if title[:2].isupper() else f"{title[:1].lower()}{title[1:]}"


class Corner(QWidget):
    """Above the charts: what ends a zoom, and the menu."""

    def __init__(self, trio: Trio) -> None:
        super().__init__()
        self._trio = trio
        inside = QHBoxLayout(self)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.setSpacing(6)
        self._reset = button("Reset zoom", on_click=trio.zooming.reset)
        self._menu = tool(
            "Charts: zoom, scales and response time", "sliders-horizontal", self._open
        )
        for each, padding in ((self._reset, "0 8px"), (self._menu, "0")):
            each.setStyleSheet(f"padding: {padding}; font-size: 12px; min-height: 22px;")
            inside.addWidget(each)
        self._menu.setFixedWidth(30)
        self.set_theme(trio.theme)
        trio.view_changed.connect(self._refresh)
        self._refresh()

    def set_theme(self, theme: Theme) -> None:
        self._menu.setIcon(icon("sliders-horizontal", theme.soft, 14))

    def _refresh(self) -> None:
        self._reset.setVisible(bool(self._trio.showing.zoom))

    def _open(self) -> None:
        open_menu(self._trio, self._menu.mapToGlobal(QPoint(0, self._menu.height())))
