"""CPU profiles: in which functions servers spend their time, as a flame graph and a table."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPen,
    QResizeEvent,
    QShortcut,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QSizePolicy,
    QStackedWidget,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from app.charts.drawing import draw_text, elided
from app.charts.model import ChartModel
from app.choices import Choice
from app.colour import mix
from app.dialogs import Dialog
from app.painted import Painted
from app.plain import tip
from app.scrolling import Scrolled
from app.theme import Theme, Weight, font
from app.widgets import GAP, Elided, button, column, frame, label, row, search_field
from workbench.analysis.flame import OTHER, Box, flame, functions, hue, matching
from workbench.formatting import percent
from workbench.messages.outcomes import NotProfiled, Profile

ROW_PX = 22
_GAP_PX = 1.0
_NARROWEST_PX = 0.6
"""Narrower boxes are not drawn."""
_TEXT_PX = 26
"""The narrowest box with a name."""


def box_colour(theme: Theme, hue: int, strength: float = 1.0) -> str:
    """Return the colour of boxes; names on them stay legible."""
    share = 0.42 if theme.dark else 0.34
    return mix(theme.card, theme.hues[hue % len(theme.hues)], strength * share)


class FlameGraph(Painted):
    """Shows the callees of one box over the whole width, below its callers."""

    pointed = Signal(object)
    """The box under the pointer or chosen by the keys; None: none is."""
    zoomed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.root: Box | None = None
        self._top: Box | None = None
        self.current: Box | None = None
        self._matches: set[Box] = set()
        self.matched = 0.0
        """The share of samples in which the search finds something."""
        self._search = ""
        self._places: dict[Box, QRectF] = {}
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        self.setAccessibleName("Flame graph")

    def show_profile(self, root: Box | None) -> None:
        """Show a profile; None: nothing."""
        self.root = self._top = root
        self._point(None)
        self.search(self._search)
        self._arrange()

    @property
    def is_zoomed(self) -> bool:
        return self._top is not self.root

    def zoom(self, box: Box | None) -> None:
        """Show a box over the whole width; None: all of them."""
        self._top = box or self.root
        self._arrange()
        self.zoomed.emit()

    def search(self, text: str) -> None:
        """Highlight the boxes whose names contain it."""
        self._search = text
        self._matches, self.matched = matching(self.root, text) if self.root else (set(), 0.0)
        self.update()

    def place(self, box: Box) -> QRectF:
        """Return where a box is drawn; empty: it is not."""
        return self._places.get(box, QRectF())

    def describe(self, box: Box) -> str:
        """ "send (socket.py): 31 % of the samples (316), itself 12 % (121)"."""
        assert self.root is not None
        own = percent(100 * box.own / self.root.samples)
        return (
            f"{box.name}: {percent(100 * box.share)} of the samples ({box.samples:,}),"
            f" itself {own} ({box.own:,})"
        )

    # Geometry

    def _arrange(self) -> None:
        """Place the boxes: the callers of the topmost one at full width, its callees in theirs."""
        self._places.clear()
        top = self._top
        if top is not None and top.share:
            for caller in top.callers():
                self._places[caller] = self._rect(caller, 0.0, 1.0)
            for box in top.all():
                rect = self._rect(box, (box.start - top.start) / top.share, box.share / top.share)
                if rect.width() >= _NARROWEST_PX:
                    self._places[box] = rect
        deepest = max((box.depth for box in self._places), default=0)
        self.setMinimumHeight((deepest + 1) * ROW_PX)
        self.update()

    def _rect(self, box: Box, start: float, share: float) -> QRectF:
        width = self.width()
        return QRectF(start * width, box.depth * ROW_PX, share * width, ROW_PX)

    def _at(self, at: QPointF) -> Box | None:
        return next((box for box, rect in self._places.items() if rect.contains(at)), None)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._arrange()

    # Drawing

    def paint(self, painter: QPainter) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        text_font = font(12)
        for box, rect in self._places.items():
            inner = rect.adjusted(0, 0, -_GAP_PX if rect.width() > 3 else 0, -_GAP_PX)
            faint = bool(self._search.strip()) and box not in self._matches
            painter.fillRect(inner, QColor(self._fill(box, faint=faint)))
            if inner.width() >= _TEXT_PX:
                name = elided(box.name, text_font, inner.width() - 10)
                at = QPointF(inner.left() + 5, inner.center().y() + 0.5)
                draw_text(painter, at, name, text_font, self._ink(faint=faint))
        if self.current in self._places:
            rect = self._places[self.current].adjusted(1, 1, -2, -2)
            colour = self.theme.focus if self.hasFocus() else self.theme.soft
            painter.setPen(QPen(QColor(colour), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(rect)

    def _fill(self, box: Box, *, faint: bool) -> str:
        theme = self.theme
        if box.parent is None or box.name == OTHER:
            return theme.sunken if faint else theme.line2
        above = self._top is not None and box.depth < self._top.depth
        return box_colour(theme, hue(box), 0.25 if faint else 0.5 if above else 1.0)

    def _ink(self, *, faint: bool) -> str:
        return self.theme.muted if faint else self.theme.text

    # Mouse and keys

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._point(self._at(event.position()))

    def leaveEvent(self, event: QEvent) -> None:
        if not self.hasFocus():
            self._point(None)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            box = self._at(event.position())
            self._point(box)
            self.zoom(box)  # beside all boxes: none

    def focusInEvent(self, event: QFocusEvent) -> None:
        if self.current is None and event.reason() != Qt.FocusReason.MouseFocusReason:
            self._point(self._top)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, box = event.key(), self.current or self._top
        if box is None:
            event.ignore()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.zoom(box)
        elif key == Qt.Key.Key_Escape and self.is_zoomed:
            self.zoom(None)
        elif key == Qt.Key.Key_Home:
            self._point(self.root)
        elif key == Qt.Key.Key_Up:
            self._point(box.parent or box)
        elif key == Qt.Key.Key_Down:
            self._point(next((each for each in box.callees if each in self._places), box))
        elif key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            self._point(self._beside(box, 1 if key == Qt.Key.Key_Right else -1))
        else:
            event.ignore()

    def _beside(self, box: Box, step: int) -> Box:
        """Return the next box of the same row."""
        of_row = [each for each in self._places if each.depth == box.depth]
        of_row.sort(key=lambda each: each.start)
        at = of_row.index(box) + step if box in of_row else 0
        return of_row[min(max(at, 0), len(of_row) - 1)] if of_row else box

    def _point(self, box: Box | None) -> None:
        if box is self.current:
            return
        self.current = box
        self.setAccessibleDescription(self.describe(box) if box else "")
        self.pointed.emit(box)
        self.update()


_MOST_FUNCTIONS = 200
_TABLE_PX = 380
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class ProfileViewer(Dialog):
    """The profile of one server; those that could not be profiled say why."""

    def __init__(self, parent: QWidget, profiles: Mapping[str, Profile | NotProfiled]) -> None:
        super().__init__(parent)
        self._profiles = profiles
        self.setWindowTitle("CPU profiles")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(1180, 720)
        inside = column(self, margin=16, gap=GAP)
        head = row()
        self.server = Choice("Server")
        for id_, found in profiles.items():
            self.server.addItem(found.name, id_)
        self.server.activated.connect(lambda _: self._show())
        head.addWidget(self.server)
        self._about = Elided(12, tone="muted")
        head.addWidget(self._about, 1)
        self.search = search_field("Search functions", "Search functions", self._on_search)
        self.search.setFixedWidth(240)
        self._matched = label("", 12, tone="soft", figures=True)
        self._reset = button("Reset zoom", "maximize", on_click=lambda: self.graph.zoom(None))
        for each in (self._matched, self.search, self._reset):
            head.addWidget(each)
        inside.addLayout(head)
        self.graph = FlameGraph()
        self.graph.pointed.connect(self._on_pointed)
        self.graph.zoomed.connect(self._on_zoomed)
        self._area = Scrolled(self.graph)
        self.reason = label("", 14, tone="soft", wrap=True)
        self.reason.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.functions = self._make_table()
        card = frame()
        self._stack = QStackedWidget()
        body = row(shown := QWidget(), gap=GAP)
        body.addWidget(self._area, 1)
        body.addWidget(self.functions)
        self._stack.addWidget(shown)
        self._stack.addWidget(self.reason)
        column(card, margin=10).addWidget(self._stack)
        inside.addWidget(card, 1)
        self.detail = Elided(13, Weight.Medium)
        inside.addWidget(self.detail)
        QShortcut(QKeySequence.StandardKey.Find, self, self.search.setFocus)
        first = next((n for n, f in enumerate(profiles.values()) if isinstance(f, Profile)), 0)
        self.server.setCurrentIndex(first)
        self._show()
        self.graph.setFocus()

    def show_server(self, id_: str) -> None:
        """Show the profile of a server, if it has one."""
        if (at := self.server.findData(id_)) >= 0:
            self.server.setCurrentIndex(at)
            self._show()

    def _make_table(self) -> QTreeWidget:
        made = QTreeWidget()
        made.setAccessibleName("Functions by the time spent in themselves")
        made.setHeaderLabels(("Function", "Itself", "In all"))
        made.setRootIsDecorated(False)
        made.setUniformRowHeights(True)
        made.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        made.setFixedWidth(_TABLE_PX)
        made.setStyleSheet(
            "QTreeView::item { min-height: 26px; } QHeaderView::section { padding: 4px 8px; }"
        )
        header = made.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        for place in (1, 2):
            header.setSectionResizeMode(place, QHeaderView.ResizeMode.Fixed)
            made.setColumnWidth(place, 78)
            made.headerItem().setTextAlignment(place, _RIGHT)
        made.itemClicked.connect(lambda item: self.search.setText(item.text(0)))
        made.itemActivated.connect(lambda item: self.search.setText(item.text(0)))
        return made

    def _show(self) -> None:
        found = self._profiles.get(self.server.currentData())
        self.functions.clear()
        profiled = isinstance(found, Profile)
        self._stack.setCurrentIndex(0 if profiled else 1)
        for each in (self.search, self._reset, self.detail, self._matched):
            each.setVisible(profiled)
        if not isinstance(found, Profile):
            self.graph.show_profile(None)
            self._about.show_text("")
            self.reason.setText(found.text() if found else "")
            return
        few = " (too few to rely on)" * found.few
        self._about.show_text(
            f"{found.samples:,} samples{few} in {found.seconds:g} s at {found.at()}, {found.tool}"
        )
        self.graph.show_profile(flame(found))
        for each in functions(found)[:_MOST_FUNCTIONS]:
            shares = [percent(100 * n / found.samples) for n in (each.own, each.total)]
            item = QTreeWidgetItem([each.name, *shares])
            item.setToolTip(0, tip(each.name))
            for place in (1, 2):
                item.setTextAlignment(place, _RIGHT)
            self.functions.addTopLevelItem(item)
        self._on_search(self.search.text())
        self._on_zoomed()
        self._on_pointed(None)

    def _on_search(self, text: str) -> None:
        self.graph.search(text)
        found = f"{percent(100 * self.graph.matched)} of the samples" if text.strip() else ""
        self._matched.setText(found)

    def _on_zoomed(self) -> None:
        self._reset.setEnabled(self.graph.is_zoomed)

    def _on_pointed(self, box: Box | None) -> None:
        hint = "Click or Enter zooms, Esc zooms out; arrow keys move; Ctrl+F searches."
        self.detail.show_text(self.graph.describe(box) if box else hint)
        if box is not None and self.graph.hasFocus():
            middle = self.graph.place(box).center()
            self._area.ensureVisible(round(middle.x()), round(middle.y()), 0, ROW_PX)


def show_profiles(page: QWidget, model: ChartModel, server: str = "") -> None:
    """Open the window of profiles, if the session has any; with that `server`, if it has one."""
    if not model.profiles:
        return
    viewer = ProfileViewer(page, model.profiles)
    viewer.show_server(server)
    viewer.open()
