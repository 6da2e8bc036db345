"""CPU profiles: in which functions servers spend their time, by calls and by function."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QHeaderView,
    QSplitter,
    QStackedWidget,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from app.dialogs import Dialog
from app.fields import Options
from app.plain import tip
from app.widgets import GAP, Elided, beside, column, frame, label
from workbench.analysis.flame import Box, flame
from workbench.formatting import percent
from workbench.messages.base import Stated, place
from workbench.messages.outcomes import Profile

_MOST_FUNCTIONS = 200
_OPENED = 0.05
"""Calls that saw at least this share of the samples are open at first."""
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class ProfileViewer(Dialog):
    """The profile of one server; those that could not be profiled say why."""

    def __init__(self, parent: QWidget, profiles: Mapping[str, Profile | Stated]) -> None:
        super().__init__(parent)
        self._profiles = profiles
        self.setWindowTitle("CPU profiles")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(1180, 720)
        names = [
            (id_, found.name if isinstance(found, Profile) else str(found.parameters["name"]))
            for id_, found in profiles.items()
        ]
        self.server = Options("Server", names)
        self.server.edited.connect(self._show)
        self._about = Elided(12, tone="muted")
        self.calls = _table("Calls, each below its caller", "Called")
        self.functions = _table("Functions by the time spent in themselves", "Function")
        self.functions.setRootIsDecorated(False)
        self.reason = label("", 14, tone="soft", wrap=True)
        self.reason.setAlignment(Qt.AlignmentFlag.AlignCenter)
        body, self._stack, card = QSplitter(), QStackedWidget(), frame()
        for each in (self.calls, self.functions):
            body.addWidget(each)
        body.setSizes([640, 500])
        for each in (body, self.reason):
            self._stack.addWidget(each)
        column(card, self._stack, margin=10)
        column(self, beside(self.server, (self._about, 1)), (card, 1), margin=16, gap=GAP)
        first = next((n for n, f in enumerate(profiles.values()) if isinstance(f, Profile)), 0)
        self.server.setCurrentIndex(first)
        self._show()
        self.calls.setFocus()

    def _show(self) -> None:
        found = self._profiles.get(self.server.value())
        self.calls.clear()
        self.functions.clear()
        self._stack.setCurrentIndex(0 if isinstance(found, Profile) else 1)
        if not isinstance(found, Profile):
            self._about.show_text("")
            self.reason.setText(found.text() if found else "")
            return
        few = " (too few to rely on)" * found.few
        self._about.show_text(
            f"{found.samples:,} samples{few} in {found.seconds:g} s at"
            f" {place(found.x, found.suffix)}, {found.tool}"
        )
        self._show_calls(flame(found))
        self.functions.addTopLevelItems(
            [_item(*each, found.samples) for each in found.hottest()[:_MOST_FUNCTIONS]]
        )

    def _show_calls(self, root: Box) -> None:
        items: dict[Box, QTreeWidgetItem] = {}
        for box in root.all():
            items[box] = made = _item(box.name, box.own, box.samples, root.samples)
            if box.parent is None:
                self.calls.addTopLevelItem(made)
            else:
                items[box.parent].addChild(made)
                items[box.parent].setExpanded(box.parent.share >= _OPENED)
        self.calls.setCurrentItem(items[root])


def _table(name: str, title: str) -> QTreeWidget:
    made = QTreeWidget(accessibleName=name, uniformRowHeights=True)
    made.setHeaderLabels((title, "Itself", "In all"))
    made.setStyleSheet(
        "QTreeView::item { min-height: 26px; } QHeaderView::section { padding: 4px 8px; }"
    )
    header = made.header()
    header.setStretchLastSection(False)
    header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
    for n in (1, 2):
        header.setSectionResizeMode(n, QHeaderView.ResizeMode.Fixed)
        made.setColumnWidth(n, 78)
        made.headerItem().setTextAlignment(n, _RIGHT)
    return made


def _item(name: str, own: int, total: int, samples: int) -> QTreeWidgetItem:
    """Return a row with the shares of `samples`."""
    item = QTreeWidgetItem([name, *(percent(100 * n / samples) for n in (own, total))])
    item.setToolTip(0, tip(name))
    for n in (1, 2):
        item.setTextAlignment(n, _RIGHT)
    return item
