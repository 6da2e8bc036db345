"""The facts about a server, with their sources, and the addresses that a click opens."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from PySide6.QtCore import Qt, QUrl
from PySide6.QtWidgets import QGridLayout, QWidget

from app.folders import open_outside
from app.plain import tip
from app.scrolling import Scrolled
from app.servers.known import Known
from app.theme import Weight, font
from app.widgets import TOP, Inline, button, column, empty, fill, label, stack
from workbench.servers.about import facts, measured, remarks
from workbench.servers.features import FEATURES, NOW, THEN_2009, THEN_2010, now, then, title
from workbench.untrusted import one_line

_LONGEST = 40
Row: TypeAlias = tuple[str, str, str, str]
"""Name, value, source, address."""


class About(Scrolled):
    """From top to bottom: purpose, remarks, facts, history."""

    def __init__(self) -> None:
        super().__init__(QWidget(), "About the server")
        self.problem, self._body = Inline(), stack(gap=8)
        column(self.widget(), self.problem, self._body, None, margin=(0, 0, 8, 0), gap=8)

    def show_server(self, known: Known | None) -> None:
        empty(self._body)
        # Without the folder, which is shown below.
        problem, folder = (known.problem, f"{known.folder}/") if known else ("", "")
        self.problem.show_text(problem.replace(f"server {folder}", "").replace(folder, ""))
        self.verticalScrollBar().setValue(0)
        if known is None:
            return
        fill(self._body, *(_line(text, tone) for text, tone in _sentences(known)))
        for heading, rows in _tables(known):
            if rows:
                title = label(heading, 12, Weight.DemiBold, tone="muted")
                fill(self._body, 6, title, self._table(rows))

    def _table(self, rows: list[Row]) -> QWidget:
        made = QWidget()
        grid = QGridLayout(made, horizontalSpacing=10, verticalSpacing=5)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setColumnMinimumWidth(0, 84)
        grid.setColumnStretch(1, 1)
        for what, value, source, address in rows:
            place = grid.rowCount()
            grid.addWidget(label(what, 12, tone="muted", wrap=True), place, 0, TOP)
            grid.addWidget(_line(value, "soft"), place, 1)
            if source:
                shown = label(source, 11, tone="muted", wrap=True)
                grid.addWidget(shown, grid.rowCount(), 1)
            if address:
                link = _link(address, what, self.problem.show_text)
                grid.addWidget(link, grid.rowCount(), 1, Qt.AlignmentFlag.AlignLeft)
        return made


def _line(text: str, tone: str) -> QWidget:
    made = label(text, 12, tone=tone, wrap=True, selectable=True)
    made.setMinimumWidth(1)
    return made


def _link(address: str, about: str, fail: Callable[[str], object]) -> QWidget:
    """Return an address, of which the host is shown. `about`: what it is the source of. `fail`: as
    of `open_outside`."""
    shown = one_line(QUrl(address).host() or address, _LONGEST).replace("&", "&&")
    made = button(shown, kind="link", on_click=lambda: open_outside(address, fail))
    made.setFont(font(11))
    made.setAccessibleName(f"Source of {about}")
    made.setAccessibleDescription(one_line(address))
    made.setToolTip(tip(one_line(address)))
    made.setCursor(Qt.CursorShape.PointingHandCursor)
    # An entry of one's own may name anything.
    made.setEnabled(address.startswith(("https://", "http://")))
    return made


def _sentences(known: Known) -> Iterator[tuple[str, str]]:
    if known.entry is None:
        yield f"Folder: {known.folder}", "muted"
        return
    for what, sentence, tone in remarks(known.entry):
        if sentence:
            yield f"{what}: {sentence}" if what else sentence, tone
    if known.ready:
        yield known.ready.sentence, "soft"


def _tables(known: Known) -> Iterator[tuple[str, list[Row]]]:
    entry, found = known.entry, known.measured
    if entry is None:
        return
    yield "How it runs" if known.runs else "History", _filled(*facts(entry, found))
    heading = f"Measured on {known.machine}" if known.machine else "Measured here"
    yield heading, _filled(*measured(found)) if found else []
    today = [(name, fact) for name in FEATURES if (fact := now(entry, name))]
    yield NOW, [(title(name), fact.value, fact.read, fact.at) for name, fact in today]
    for heading, table in ((THEN_2009, entry.in_2009), (THEN_2010, entry.in_2010)):
        yield heading, _filled(*((title(name), then(table, name)) for name in FEATURES))


def _filled(*facts: tuple[str, str]) -> list[Row]:
    return [(what, value, "", "") for what, value in facts if value]
