"""The window of CPU profiles: a flame graph for each server, and its functions."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QLineEdit,
    QStackedWidget,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from app.choices import Choice
from app.dialogs import Dialog
from app.plain import tip
from app.profiling.flame_graph import ROW_PX, FlameGraph
from app.scrolling import Scrolled
from app.theme import Theme, Weight
from app.widgets import GAP, Elided, button, column, dress, frame, label, row
from workbench.analysis.flame import Box, flame, functions
from workbench.formatting import percent
from workbench.messages.notes import NotProfiled, Profile

_MOST_FUNCTIONS = 200
_TABLE_PX = 380
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class ProfileViewer(Dialog):
    """The profile of one server; those that could not be profiled say why."""

    def __init__(
        self, parent: QWidget, profiles: Mapping[str, Profile | NotProfiled], theme: Theme
    ) -> None:
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
        self.search = QLineEdit()
        self.search.setPlaceholderText("Search functions")
        self.search.setAccessibleName("Search functions")
        self.search.setClearButtonEnabled(True)
        self.search.setFixedWidth(240)
        self.search.textChanged.connect(self._on_search)
        self._matched = label("", 12, tone="soft", figures=True)
        self._reset = button("Reset zoom", "maximize", on_click=lambda: self.graph.zoom(None))
        for each in (self._matched, self.search, self._reset):
            head.addWidget(each)
        inside.addLayout(head)
        self.graph = FlameGraph(theme)
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
        dress(self, theme)
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
        few = " (too few to rely on)" * (found.few)
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
