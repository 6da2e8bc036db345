"""The dialog of an export: what to write, its appearance, and where."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from math import isnan
from pathlib import Path

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import (
    QButtonGroup,
    QFileDialog,
    QLayout,
    QLineEdit,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app import folders
from app.charts.trio import Trio
from app.charts.view_state import SWEEP
from app.choices import Choice, Pick, Tick
from app.context import Desk
from app.dialogs import Dialog, ask_file
from app.export.report import SIZE, ReportOptions
from app.export.sources import KINDS, Charts, Recorded
from app.theme import Weight
from app.widgets import Inline, button, column, label, row

_PICTURES = {
    "1600 × 1200": SIZE,
    "1920 × 1080, a slide": (1920, 1080),
    "1280 × 960": (1280, 960),
    "2400 × 1800, a poster": (2400, 1800),
}
"""In pixels."""
_PAGES = {
    "A4 landscape": (1123, 794),
    "A3 landscape": (1587, 1123),
    "A slide, 16 : 9": (1920, 1080),
}
"""In pixels of 1/96 inch."""


class AppearanceFields(QWidget):
    """Colours and size; the sizes are of paper for PDF."""

    def __init__(self, theme: str) -> None:
        super().__init__()
        line = row(self, gap=8)
        self._theme, self._size = Choice("Colours"), Choice("Size")
        self._size.setSizeAdjustPolicy(Choice.SizeAdjustPolicy.AdjustToContents)
        for each in ("light", "dark"):
            self._theme.addItem(f"{each.capitalize()} colours", each)
        self._theme.setCurrentIndex(self._theme.findData(theme))
        for choice in (self._theme, self._size):
            line.addWidget(choice)
        line.addStretch(1)

    @property
    def theme(self) -> str:
        chosen: str = self._theme.currentData()
        return chosen

    @property
    def size_px(self) -> tuple[int, int]:
        chosen: tuple[int, int] = self._size.currentData()
        return chosen

    def offer(self, kind: str) -> None:
        """Offer the sizes of a kind of file; the choice is kept if the sizes are the same."""
        sizes = _PAGES if kind == ".pdf" else _PICTURES
        if self._size.itemText(0) != next(iter(sizes)):
            self._size.clear()
            for text, size in sizes.items():
                self._size.addItem(text, size)


_CHECK_AFTER_MS = 200
_WIDTH = 560


@dataclass
class _Kept:
    """The choices of the last export, for the next one."""

    folder: str
    kind: str = ".html"
    theme: str = "light"


class ExportDialog(Dialog):
    """One page: file, kind, appearance."""

    def __init__(self, parent: QWidget, desk: Desk, source: Recorded | Charts) -> None:
        super().__init__(parent)
        self._desk, self.source = desk, source
        self._kept = _remembered(desk)
        self._written: Path | None = None
        self._request = 0
        self.setWindowTitle("Export")
        self.setModal(True)
        inside = column(self, margin=20, gap=12)
        inside.setSizeConstraint(QLayout.SizeConstraint.SetFixedSize)
        inside.addWidget(label(f"Export “{source.title}”", 16, Weight.DemiBold, wrap=True))
        self._kinds = QButtonGroup(self)
        self._options = QWidget()
        choices = column(self._options, gap=12)
        where = QWidget()
        where.setFixedWidth(_WIDTH)
        where.setLayout(self._make_where())
        choices.addWidget(where)
        choices.addLayout(self._make_kinds())
        self._appearance = AppearanceFields(self._kept.theme)
        self._notes = Tick("Include my notes")
        # The options of every kind share one place, so that the buttons below do not move.
        self._more = QStackedWidget()
        for each in (self._appearance, self._notes):
            self._more.addWidget(each)
        self._more.setVisible(isinstance(source, Recorded))
        choices.addWidget(self._more)
        self._zoomed = Tick("Keep the zoom of the charts")
        self._zoomed.setChecked(True)
        choices.addWidget(self._zoomed)
        inside.addWidget(self._options)
        inside.addLayout(self._make_foot())
        self._timer = QTimer(self, singleShot=True, interval=_CHECK_AFTER_MS)
        self._timer.timeout.connect(self._check_file)
        self._where.textChanged.connect(self._on_named)
        self._kinds.buttonClicked.connect(lambda _: self._on_kind())
        self._where.setText(str(Path(self._kept.folder) / _file_name(source.title)))
        self._on_kind()
        self._where.setFocus()

    def _make_kinds(self) -> QVBoxLayout:
        made = QVBoxLayout()
        made.setSpacing(0)
        made.setContentsMargins(0, 2, 0, 4)
        wanted = self._kept.kind if self._kept.kind in self.source.kinds else self.source.kinds[0]
        for place, kind in enumerate(self.source.kinds):
            each = Pick(KINDS[kind].name, about=KINDS[kind].about)
            each.setChecked(kind == wanted)
            self._kinds.addButton(each, place)
            made.addWidget(each)
        return made

    def _make_foot(self) -> QVBoxLayout:
        """The message and the buttons, which stay in view."""
        made = QVBoxLayout()
        made.setSpacing(12)
        self.message = Inline()
        made.addWidget(self.message)
        last = row()
        self._show = button("Show in folder", "folder-open", on_click=self._reveal)
        self._show.hide()
        self._close = button("Cancel", on_click=self.reject)
        self._go = button("Export", "download", kind="primary", on_click=self._export)
        self._go.setDefault(True)
        self._exists = label("", 12, tone="warn", wrap=True)
        last.addWidget(self._show)
        last.addWidget(self._exists, 1)
        last.addWidget(self._close)
        last.addWidget(self._go)
        made.addLayout(last)
        return made

    def _make_where(self) -> QVBoxLayout:
        made = QVBoxLayout()
        made.setContentsMargins(0, 0, 0, 0)
        made.setSpacing(4)
        made.addWidget(label("Save as", 12, tone="muted"))
        line = row(gap=8)
        self._where = QLineEdit()
        self._where.setAccessibleName("File")
        line.addWidget(self._where, 1)
        line.addWidget(button("Choose…", "folder-open", on_click=self._choose))
        made.addLayout(line)
        return made

    @property
    def kind(self) -> str:
        """The file's ending."""
        return self.source.kinds[self._kinds.checkedId()]

    def output(self) -> Path:
        return Path(self._where.text().strip()).expanduser()

    def _on_kind(self) -> None:
        kind = self.kind
        self._appearance.offer(kind)
        noted = kind == ".html" and bool(self.source.notes)
        drawn = KINDS[kind].is_picture or kind == ".html"
        can_choose = drawn and isinstance(self.source, Recorded)
        self._zoomed.setVisible(can_choose and bool(self.source.showing.zoom))
        self._more.setCurrentIndex(1 if noted else 0)
        self._appearance.setEnabled(KINDS[kind].is_picture)
        name = self._where.text()
        stem = re.sub(rf"({'|'.join(map(re.escape, KINDS))})$", "", name.strip())
        self._where.setText(stem + kind)
        self._on_changed()

    def _on_named(self, name: str) -> None:
        """An ending that was typed chooses the format."""
        kinds = list(self.source.kinds)
        if (kind := Path(name.strip()).suffix.lower()) in kinds and kind != self.kind:
            self._kinds.button(kinds.index(kind)).click()
        self._on_changed()

    def _on_changed(self) -> None:
        if self._written is not None:
            self._written = None
            self._show.hide()
            self._close.setText("Cancel")
        self.message.show_text("")
        self._go.setEnabled(bool(self._where.text().strip()))
        self._timer.start()

    def _check_file(self) -> None:
        """Check in the engine's thread whether the file and its folder exist."""
        self._request += 1
        request, output = self._request, self.output()

        def show(sentence: str) -> None:
            if request == self._request:
                self._show_exists(sentence if self._written is None else "")

        self._desk.bridge.submit(asyncio.to_thread(_found, output), show)

    def _show_exists(self, sentence: str) -> None:
        self._exists.setText(sentence)

    def _choose(self) -> None:
        dialog = ask_file(
            self,
            "Export to",
            lambda chosen: self._where.setText(str(chosen)),
            start=self.output(),
            kind=f"{KINDS[self.kind].name} (*{self.kind})",
            save=True,
        )
        dialog.setOption(QFileDialog.Option.DontConfirmOverwrite)
        dialog.setDefaultSuffix(self.kind[1:])

    def _export(self) -> None:
        output = self.output()
        if not output.is_absolute():
            output = Path(self._kept.folder) / output
        if output.suffix.lower() != self.kind:
            output = output.with_name(output.name + self.kind)
        showing = self.source.showing
        options = ReportOptions(
            self._appearance.theme,
            self._appearance.size_px,
            self.source.view,
            self._notes.isVisible() and self._notes.isChecked(),
            showing=showing if self._zoomed.isChecked() else showing.zoomed({}),
        )
        self._desk.settings.more["Export"] = {
            "folder": str(output.parent),
            "kind": self.kind,
            "theme": options.theme,
        }
        if self._desk.busy and (isinstance(self.source, Recorded) or self.kind == ".html"):
            self.message.show_text(
                "A run is in progress. Export when it is over, as drawing takes CPU.",
                "warn",
            )
            return
        self._enable(on=False)
        self.message.show_text("Writing…", "soft")
        self._show_exists("")
        self._desk.bridge.submit(
            self.source.write(output, options),
            lambda remark: self._on_written(output, remark),
            self._on_failed,
        )

    def _enable(self, *, on: bool) -> None:
        """Enable or disable the choices: one export after another."""
        self._options.setEnabled(on)
        self._go.setEnabled(on)

    def _on_written(self, output: Path, remark: str) -> None:
        self._written = output
        self.message.show_text(f"Saved: {output}\n{remark}".strip(), "warn" if remark else "ok")
        self._enable(on=True)
        self._show.show()
        self._close.setText("Close")
        self._close.setFocus()

    def _on_failed(self, sentence: str) -> None:
        self.message.show_text(sentence)
        self._enable(on=True)
        self._where.setFocus()

    def _reveal(self) -> None:
        if self._written is not None:
            self._desk.bridge.submit(folders.reveal(self._written), fail=self.message.show_text)


def ask(parent: QWidget, desk: Desk, source: Recorded | Charts) -> ExportDialog:
    """Open the dialog over a page."""
    dialog = ExportDialog(parent, desk, source)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.open()
    return dialog


def ask_for_session(parent: QWidget, desk: Desk, path: Path, trio: Trio) -> ExportDialog:
    """Like `ask`, for a session whose charts are on the screen, with the same view."""
    known = next((session for session in desk.shelf if session.path == path), None)
    start = trio.model.start
    planned = start.plan.get("name", "") if start else ""
    title = known.title if known else planned or path.name
    notes = known.label.notes if known else ""
    server, at = _selected(trio)
    showing, look = trio.own_showing, trio.look
    source = Recorded(path, title, notes, trio.view, showing, look, server=server, at=at)
    return ask(parent, desk, source)


def _selected(trio: Trio) -> tuple[str, float | None]:
    """Return the server and the value whose distribution is exported: the selected point; else of
    the selected or the best server, at the value that the view shows.
    """
    measured = [series for series in trio.model.ranked() if series.points]
    chosen = trio.look.chosen
    at = None if chosen is None or isinstance(chosen, str) else chosen
    server = trio.pointing.server or next((series.id for series in measured), "")
    if trio.look.view == SWEEP and trio.pointing.server and not isnan(trio.pointing.rate):
        at = trio.pointing.rate
    series = trio.model.series.get(server)
    known = series is not None and (at is None or series.at(at) is not None)
    return (server if series and series.points else ""), at if known else None


def _found(output: Path) -> str:
    """Return in a sentence what writing the file will change; empty: nothing else."""
    if output.is_file():
        return "A file with this name exists and will be replaced."
    missing = output.is_absolute() and not output.parent.exists()
    return f"The folder {output.parent} does not exist; it will be created." if missing else ""


def _file_name(title: str) -> str:
    """Return a file name for a title: "ping-pong-2009" for "Ping-pong, 2009"."""
    return re.sub(r"[^\w.-]+", "-", title.casefold()).strip("-.")[:80] or "session"


def _remembered(desk: Desk) -> _Kept:
    kept = desk.settings.more.get("Export")
    default = _Kept(str(Path.home()))  # always exists
    if not isinstance(kept, dict):
        return default
    folder, kind, theme = kept.get("folder"), kept.get("kind"), kept.get("theme")
    return _Kept(
        folder if isinstance(folder, str) and folder else default.folder,
        kind if kind in KINDS else default.kind,
        theme if theme in ("light", "dark") else default.theme,
    )
