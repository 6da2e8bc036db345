"""The Settings page: colours, sizes, folders, and the About box."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeVar

from PySide6.QtCore import Qt, qVersion
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QButtonGroup,
    QGridLayout,
    QHBoxLayout,
    QListView,
    QListWidget,
    QListWidgetItem,
    QSizePolicy,
    QWidget,
)

from app import folders, licences
from app.context import Desk
from app.dialogs import Dialog, ask
from app.fields import Pick
from app.folders import Folder
from app.licences import Component
from app.scrolling import Scrolled
from app.settings import SIZES
from app.theme import Weight
from app.widgets import (
    GAP,
    PAGE_MARGIN,
    Elided,
    Inline,
    TopBar,
    beside,
    button,
    column,
    fill,
    frame,
    label,
    reading,
)
from workbench import __version__, formatting, trash

_COLOURS = ("system", "dark", "light")
_WIDEST = 900
T = TypeVar("T")


class PreferencesPage(QWidget):
    """Every change applies at once, but for the size, which Qt reads at its start."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        top = TopBar("Settings")
        keys = button(
            "Shortcuts and glossary", "info", on_click=lambda: desk.page_requested.emit("Help")
        )
        fill(top.actions, keys, button("About Pongbench", on_click=self.show_about))
        body = QWidget()
        body.setMaximumWidth(_WIDEST + 2 * PAGE_MARGIN)
        cards = self._make_appearance(), self._make_folders()
        column(body, *cards, None, margin=PAGE_MARGIN, gap=GAP)
        column(self, top, (Scrolled(body), 1))
        desk.busy_changed.connect(lambda _: self._allow_clearing())

    def show_about(self) -> None:
        box = AboutBox(self._desk, self)
        box.finished.connect(box.deleteLater)
        box.open()

    def show_folders(self, found: list[Folder]) -> None:
        for folder, size, opens in zip(found, self._sizes, self._opens, strict=True):
            size.setText(_size(folder.size_bytes))
            opens.setEnabled(folder.size_bytes is not None)
        self._trashed, self._cached = (each.size_bytes or 0 for each in found[-2:])
        self._empty.setEnabled(bool(self._trashed))
        self._allow_clearing()

    def showEvent(self, event: object) -> None:
        self._measure()

    # Widgets

    def _make_appearance(self) -> QWidget:
        card, settings = frame(), self._desk.settings
        colours = {name: Pick(name.capitalize(), f"Colours: {name}") for name in _COLOURS}
        sizes = {size: Pick(f"{size} %", f"Text size: {size} %") for size in SIZES}
        self._restart = label("Applies at the next start of Pongbench.", 12, tone="muted")
        self._restart.hide()
        parts = (
            label("Colours", 14, Weight.DemiBold),
            self._make_choice(colours, settings.colours, self._choose),
            8,
            label("Size of text and controls", 14, Weight.DemiBold),
            self._make_choice(sizes, settings.size, self._choose_size),
            self._restart,
        )
        column(card, *parts, margin=20, gap=8)
        return card

    def _make_choice(
        self, picks: Mapping[T, Pick], chosen: T, choose: Callable[[T], None]
    ) -> QHBoxLayout:
        """Lay out picks in a row; exactly one of them is checked."""
        group = QButtonGroup(self)
        for value, pick in picks.items():
            pick.setChecked(value == chosen)
            pick.clicked.connect(lambda _=False, value=value: choose(value))
            group.addButton(pick)
        return beside(*picks.values(), None, gap=16)

    def _choose_size(self, percent: int) -> None:
        self._desk.settings.size = percent
        self._restart.show()

    def _make_folders(self) -> QWidget:
        card = frame()
        self._message = Inline()
        grid = QGridLayout(horizontalSpacing=16, verticalSpacing=10)
        grid.setColumnStretch(1, 1)
        self._sizes, self._opens = [], []
        for line, folder in enumerate(folders.folders()):
            path_label, texts = Elided(12, tone="soft"), QWidget()
            path_label.show_text(str(folder.path))
            contents = label(formatting.capital(folder.contents), wrap=True)
            lines = column(texts, contents, path_label, gap=1)
            size = label("counting…", figures=True)
            size.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            tell = self._message.show_text
            opens = button(
                "Open", "folder-open", on_click=partial(folders.open_outside, folder.path, tell)
            )
            opens.setAccessibleName(f"Open the folder: {folder.contents}")
            for place, part in enumerate((label(folder.name), texts, size, opens)):
                grid.addWidget(part, line, place)
            self._sizes.append(size)
            self._opens.append(opens)
        self._clear = button("Clear cache…", "trash-2", kind="danger", on_click=self._ask)
        self._empty = button("Empty trash…", "trash-2", kind="danger", on_click=self._ask_to_empty)
        for line, clears in ((2, self._empty), (3, self._clear)):
            grid.addWidget(clears, line, 4)
        self._why = label("", 12, tone="muted", wrap=True)
        lines.addWidget(self._why)
        heading = label("Folders", 14, Weight.DemiBold)
        column(card, heading, grid, self._message, margin=20, gap=10)
        return card

    def _choose(self, colours: str) -> None:
        self._desk.settings.colours = colours
        self._desk.theme_changed.emit()

    def _allow_clearing(self) -> None:
        busy = self._desk.busy
        self._clear.setEnabled(bool(self._cached) and not busy)
        self._why.setText("In use by the current run. Clear it afterwards." if busy else "")
        self._why.setVisible(busy)

    def _ask(self) -> None:
        ask(
            self,
            f"Remove {_size(self._cached)} of runtimes?",
            "They are fetched again when a server needs them, which takes a network and some "
            "minutes. Sessions, plans and servers are kept.",
            go="Clear cache",
            do=lambda: self._clear_by(folders.clear_cache, lambda freed: freed),
        )

    def _ask_to_empty(self) -> None:
        ask(
            self,
            f"Delete {_size(self._trashed)} for good?",
            "Deleted sessions, plans, servers and machine profiles can then not be restored.",
            go="Empty trash",
            do=lambda: self._clear_by(trash.empty, lambda _: self._trashed),
        )

    def _clear_by(self, work: Callable[[], T], freed: Callable[[T], int]) -> None:
        self._clear.setEnabled(False)

        def done(text: str, tone: str = "bad") -> None:
            self._message.show_text(text, tone)
            self._measure()

        self._desk.bridge.do(
            work, lambda result: done(f"{_size(freed(result))} freed.", "ok"), done
        )

    def _measure(self) -> None:
        self._desk.bridge.do(folders.measured, self.show_folders, self._message.show_text)

    _cached = _trashed = 0


def _size(size_bytes: int | None) -> str:
    return formatting.size(size_bytes) if size_bytes else "empty"


class AboutBox(Dialog):
    """A dialog whose text can be selected and copied."""

    def __init__(self, desk: Desk, parent: QWidget | None = None) -> None:
        super().__init__(parent, accessibleName="About Pongbench")
        self.setWindowTitle("About Pongbench")
        self.resize(940, 640)
        self._components: list[Component] = []
        where = f"Qt {qVersion()} ({QGuiApplication.platformName()}) on {platform.platform()}"
        self._where = label(where, 12, tone="muted", wrap=True, selectable=True)
        self.message = Inline()
        self.parts = QListWidget(accessibleName="Components", maximumWidth=270, wordWrap=True)
        self.parts.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.parts.setResizeMode(QListView.ResizeMode.Adjust)
        self.parts.setProperty("kind", "framed")
        self.parts.currentRowChanged.connect(self._show)
        self.text = reading("Licence")
        for each in (self.parts, self.text):
            # On a small screen both give up room, so that the whole box does not scroll.
            each.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
            each.setMinimumSize(140, 90)
        self._copy = button("Copy versions", "copy", on_click=self.copy)
        self._copy.setEnabled(False)
        close = button("Close", kind="primary", on_click=self.accept)
        close.setDefault(True)
        parts = (
            label(f"Pongbench {__version__}", 20, Weight.DemiBold),
            label("Which server sustains which rate?", tone="soft"),
            self._where,
            self.message,
            (beside((self.parts, 3), (self.text, 5), gap=12), 1),
            beside(self._copy, None, close),
        )
        column(self, *parts, margin=20, gap=10)
        close.setFocus()
        work = desk.bridge.do(licences.components, self._on_read, self.message.show_text)
        self.finished.connect(lambda _: work.cancel())

    def copy(self) -> None:
        lines = [f"{part.name} {part.version}  {part.licence}" for part in self._components]
        QGuiApplication.clipboard().setText("\n".join([self._where.text(), *lines]))
        self.message.show_text("Versions copied.", "ok")

    def _on_read(self, components: list[Component]) -> None:
        self._components = components
        for part in components:
            item = QListWidgetItem(f"{part.name} {part.version}\n{part.licence}")
            item.setData(Qt.ItemDataRole.AccessibleDescriptionRole, part.licence)
            self.parts.addItem(item)
        self.parts.setCurrentRow(0)
        self._copy.setEnabled(True)

    def _show(self, row: int) -> None:
        if 0 <= row < len(self._components):
            self.text.setPlainText(self._components[row].text)
