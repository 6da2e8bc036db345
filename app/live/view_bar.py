"""Which look at a session the charts show: over its axis, over time, or distributions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from math import isnan, nan
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QButtonGroup, QPushButton, QWidget

from app.charts.chart_menu import Corner
from app.charts.projection import Chosen, Projection
from app.charts.series import Quantity
from app.charts.trio import Trio
from app.charts.view_state import BARS, DISTRIBUTION, SWEEP, TIME, Look, first_view
from app.fields import Choice
from app.plain import tip
from app.settings import Settings
from app.widgets import beside, column, label, row
from workbench.formatting import capital

_LOOKS: dict[str, tuple[str, str, Qt.Key | None]] = {
    SWEEP: ("Sweep", "Every point over what the plan varies", None),
    BARS: ("Servers", "Every server side by side, at its best or at one value (G)", Qt.Key.Key_G),
    TIME: ("Over time", "Second by second, each server from its own start (T)", Qt.Key.Key_T),
    DISTRIBUTION: ("Distribution", "Response times by percentile (D)", Qt.Key.Key_D),
}
"""Title, tool tip and key of each view."""
_TIME = Quantity.TIME.value
_BOX = "QComboBox { min-height: 20px; padding: 0 22px 0 8px; font-size: 12px; }"


class ViewBar(QWidget):
    """Above the charts. A selected point leads to its own time and distribution."""

    changed = Signal(str)
    """The view that is shown."""

    def __init__(self, trio: Trio, settings: Settings | None = None) -> None:
        super().__init__()
        self._trio, self._settings = trio, settings
        self.view = SWEEP
        self._chosen: dict[str, Chosen] = {}
        self._pass_number = 0
        self._back: tuple[str, float] = ("", nan)
        """The point that was selected in the sweep."""
        self._start: object = None
        """Of the session whose view was chosen."""
        self._group = QButtonGroup(self)
        self._tabs: dict[str, QPushButton] = {}
        for view, (title, about, _) in _LOOKS.items():
            tab = self._tabs[view] = QPushButton(title, checkable=True)
            tab.setProperty("kind", "tab")
            tab.setToolTip(tip(about))
            tab.clicked.connect(partial(self.choose, view))
            self._group.addButton(tab)
        self._points = self._box("Points", self._on_points)
        self._passes = self._box("Pass", self._on_pass)
        self._bottom = self._box("Bottom chart", self._on_bottom)
        self._bottom_title = label("Bottom chart", 12, tone="muted")
        boxes = self._points, self._passes, self._bottom_title, self._bottom
        row(made := QWidget(), None, *boxes, gap=4)
        self._boxes, self._corner = made, Corner(trio)
        self._upper = beside(*self._tabs.values(), None, self._boxes, self._corner, gap=4)
        self._rows = column(self, self._upper, gap=4)
        trio.view_changed.connect(self._show_bottom)
        self._tabs[SWEEP].setChecked(True)
        self.refresh()

    def choose(self, view: str, _checked: bool = False) -> None:
        """Show a view because the user wants it; the selected point of the sweep leads to its own
        time and distribution.
        """
        if self._settings is not None:
            self._settings.view = view
        pointing = self._trio.pointing
        if self.view == SWEEP:
            self._back = pointing.server, pointing.rate
            if pointing.server and not isnan(pointing.rate):
                self._chosen = dict.fromkeys((BARS, TIME, DISTRIBUTION), pointing.rate)
        self.show_view(view)
        if view == SWEEP and self._back[0] in self._trio.model.series:
            self._trio.highlight(*self._back)

    def show_view(self, view: str) -> None:
        """Show a view, at the points chosen for it."""
        self.view = view if view in _LOOKS else SWEEP
        self._tabs[self.view].setChecked(True)
        self._trio.project(Look(self.view, self._chosen.get(self.view), self._pass_number))
        self.refresh()
        self.changed.emit(self.view)

    def refresh(self) -> None:
        """Follow the model: a session with one value of its axis opens with bars."""
        model = self._trio.model
        if model.start is not None and model.start is not self._start:
            self._start = model.start
            self._chosen, self._pass_number = {}, 0
            kept = self._settings.view if self._settings is not None else self.view
            first = first_view(model.axis)
            self._tabs[SWEEP].setHidden(first == BARS)
            self.show_view(kept if first == SWEEP else first)
        _fill(self._points, self._choices(), self._trio.look.points)
        numbers = model.over_time.passes if self.view == TIME else []
        passes = [("Latest pass", 0), *((f"Pass {number}", number) for number in numbers)]
        _fill(self._passes, passes if len(numbers) > 1 else [], self._pass_number)
        self._show_bottom()

    def key(self, event: QKeyEvent) -> bool:
        """Handle a key; False: it has no meaning here. Again, it leads back to the sweep."""
        view = next((v for v, (*_, key) in _LOOKS.items() if key == event.key()), "")
        if not view or event.modifiers():
            return False
        first = BARS if self._tabs[SWEEP].isHidden() else SWEEP
        self.choose(first if view == self.view else view)
        return True

    # Implementation

    def _box(self, name: str, choose: Callable[[Any], object]) -> Choice:
        box = Choice(name)
        box.setStyleSheet(_BOX)
        box.activated.connect(lambda _: choose(box.currentData()))
        return box

    def _choices(self) -> list[tuple[str, Chosen]]:
        model = self._trio.model
        if self.view == SWEEP:
            return []
        named: list[Chosen] = ["whole", "best"] if self.view == TIME else ["best"]
        points = (point.x for series in model.series.values() for point in series.points)
        values = model.over_time.values if self.view == TIME else sorted(set(points))
        each = [*named, *reversed(values)] if len(values) > 1 else named[:1]
        return [(capital(Projection(model, chosen).chosen_text), chosen) for chosen in each]

    def _on_points(self, chosen: Chosen) -> None:
        self._chosen[self.view] = chosen
        self.show_view(self.view)

    def _on_pass(self, number: int) -> None:
        self._pass_number = number
        self.show_view(self.view)

    def _show_bottom(self) -> None:
        """Offer what the bottom chart can show; where there is height for two charts only, also the
        response time.
        """
        trio = self._trio
        shown, crowded = Quantity.ERRORS in trio.shown_charts, trio.crowded
        items = [("Errors", ""), *((metric.label, metric.key) for metric in trio.drawn.metrics)]
        if crowded:
            items.insert(0, ("Response time", _TIME))
        offered = items if shown or crowded else []
        _fill(self._bottom, offered, trio.view.metric if shown else _TIME)
        self._arrange()

    def _on_bottom(self, chosen: str) -> None:
        if chosen == _TIME:
            self._trio.choose_second(Quantity.TIME)
        else:
            self._trio.choose_second(Quantity.ERRORS)
            self._trio.set_view(metric=chosen)

    def _arrange(self) -> None:
        """Give the choices a row of their own where there is no room for them beside the tabs, and
        a title to the last one only where no choice is cut for it.
        """
        boxes = [each for each in (self._points, self._passes, self._bottom) if not each.isHidden()]
        tabs, choices, title = (
            sum(each.sizeHint().width() + self._upper.spacing() for each in parts)
            for parts in ((*self._tabs.values(), self._corner), boxes, [self._bottom_title])
        )
        below = bool(boxes) and tabs + choices > self.width()
        titled = title + choices + (0 if below else tabs) <= self.width()
        self._bottom_title.setVisible(titled and not self._bottom.isHidden())
        if below == (self._upper.indexOf(self._boxes) < 0):
            return
        if below:
            self._rows.addWidget(self._boxes)
        else:
            self._upper.insertWidget(self._upper.count() - 1, self._boxes)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()


def _fill(box: Choice, items: Iterable[tuple[str, Any]], chosen: Any) -> None:
    """Show choices; none: hide the box. An open list does not change under the pointer."""
    wanted = list(items)
    box.setVisible(len(wanted) > 1)
    if wanted != [(box.itemText(n), box.itemData(n)) for n in range(box.count())]:
        box.clear()
        for text, data in wanted:
            box.addItem(text, data)
    place = next((n for n, (_, data) in enumerate(wanted) if data == chosen), 0)
    if wanted and box.currentIndex() != place:
        box.setCurrentIndex(place)
