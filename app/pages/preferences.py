"""The Settings page: colours, sizes, folders."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QButtonGroup,
    QGridLayout,
    QHBoxLayout,
    QWidget,
)

from app import folders, scale
from app.about.box import AboutBox
from app.context import Desk
from app.dialogs import ask
from app.fields import Pick
from app.folders import Folder
from app.scrolling import Scrolled
from app.theme import Weight
from app.widgets import GAP, PAGE_MARGIN, Elided, Inline, TopBar, button, column, frame, label, row
from workbench import formatting, trash

_COLOURS = (
    ("system", "System"),
    ("dark", "Dark"),
    ("light", "Light"),
)
_WIDEST = 900
T = TypeVar("T")


class PreferencesPage(QWidget):
    """Every change applies at once, but for the size, which Qt reads at its start."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        outer = column(self)
        top = TopBar("Settings")
        top.show_text("Settings")
        keys = button(
            "Shortcuts and glossary", "info", on_click=lambda: desk.page_requested.emit("Help")
        )
        top.actions.addWidget(keys)
        top.actions.addWidget(button("About Pongbench", on_click=self.show_about))
        outer.addWidget(top)
        body = QWidget()
        body.setMaximumWidth(_WIDEST + 2 * PAGE_MARGIN)
        cards = column(body, margin=PAGE_MARGIN, gap=GAP)
        for card in (self._make_appearance(), self._make_folders()):
            cards.addWidget(card)
        cards.addStretch(1)
        outer.addWidget(Scrolled(body), 1)
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
        self._show_colours()
        self._measure()

    # Widgets

    def _make_appearance(self) -> QWidget:
        card, settings = frame(), self._desk.settings
        inside = column(card, margin=20, gap=8)
        inside.addWidget(label("Colours", 14, Weight.DemiBold))
        self._colours = {name: Pick(text, f"Colours: {text.lower()}") for name, text in _COLOURS}
        inside.addLayout(self._make_choice(self._colours, settings.colours, self._choose))
        inside.addSpacing(8)
        inside.addWidget(label("Size of text and controls", 14, Weight.DemiBold))
        sizes = {size: Pick(f"{size} %", f"Text size: {size} %") for size in scale.SIZES}
        inside.addLayout(self._make_choice(sizes, settings.size, self._choose_size))
        self._restart = label("Applies at the next start of Pongbench.", 12, tone="muted")
        inside.addWidget(self._restart)
        self._restart.hide()
        self._desk.theme_changed.connect(self._show_colours)
        return card

    def _make_choice(
        self, picks: Mapping[T, Pick], chosen: T, choose: Callable[[T], None]
    ) -> QHBoxLayout:
        """Lay out picks in a row; exactly one of them is checked."""
        across, group = row(gap=16), QButtonGroup(self)
        for value, pick in picks.items():
            pick.setChecked(value == chosen)
            pick.clicked.connect(lambda _=False, value=value: choose(value))
            group.addButton(pick)
            across.addWidget(pick)
        across.addStretch(1)
        return across

    def _choose_size(self, percent: int) -> None:
        self._desk.settings.size = percent
        self._restart.show()

    def _make_folders(self) -> QWidget:
        card = frame()
        inside = column(card, margin=20, gap=10)
        inside.addWidget(label("Folders", 14, Weight.DemiBold))
        grid = QGridLayout()
        grid.setHorizontalSpacing(16)
        grid.setVerticalSpacing(10)
        grid.setColumnStretch(1, 1)
        self._sizes, self._opens = [], []
        for line, folder in enumerate(folders.folders()):
            path_label, texts = Elided(12, tone="soft"), QWidget()
            path_label.show_text(str(folder.path))
            lines = column(texts, gap=1)
            lines.addWidget(label(formatting.capital(folder.contents), wrap=True))
            lines.addWidget(path_label)
            size = label("counting…", figures=True)
            size.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            opens = button("Open", "folder-open", on_click=partial(self._open, folder.path))
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
        inside.addLayout(grid)
        self._message = Inline()
        inside.addWidget(self._message)
        return card

    def _show_colours(self) -> None:
        for name, radio in self._colours.items():
            radio.setChecked(name == self._desk.settings.colours)

    def _choose(self, colours: str) -> None:
        self._desk.settings.colours = colours
        self._desk.theme_changed.emit()

    def _open(self, path: Path) -> None:
        folders.reveal(path, self._message.show_text)

    def _allow_clearing(self) -> None:
        busy = self._desk.busy
        self._clear.setEnabled(bool(self._cached) and not busy)
        self._show_why("In use by the current run. Clear it afterwards." if busy else "")

    def _show_why(self, text: str) -> None:
        """Show why the cache cannot be cleared, beside it."""
        self._why.setText(text)
        self._why.setVisible(bool(text))

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
        self._show_why("Clearing…")

        def done(result: T) -> None:
            self._message.show_text(f"{_size(freed(result))} freed.", "ok")
            self._measure()

        def failed(sentence: str) -> None:
            self._message.show_text(sentence)
            self._measure()

        self._desk.bridge.do(work, done, failed)

    def _measure(self) -> None:
        self._desk.bridge.do(folders.measured, self.show_folders, self._message.show_text)

    _cached = _trashed = 0


def _size(size_bytes: int | None) -> str:
    return formatting.size(size_bytes) if size_bytes else "empty"
