"""The differences of any two servers of a comparison, in sentences."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QVBoxLayout, QWidget

from app.choices import Choice
from app.theme import Theme, Weight, icon
from app.widgets import button, column, empty, label, row
from workbench.results.comparison import Comparison, Contender
from workbench.results.differences import ONE_PASS, alike_in, by_one_pass, difference_in, pairs

_FEW, _SOME, _MANY = 2, 3, 8
"""Pairs beside the chosen one: where this is narrow and each takes two lines, elsewhere, and in a
high window."""
_WIDE, _LOW, _HIGH = 1000, 560, 900
"""Of the page: from which width on it is not narrow, below which height it has no room for details,
and from which height on it has much."""


class Differences(QFrame):
    """The difference of two chosen servers, and of the pairs of most interest."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("card")
        self._theme = theme
        self._most, self._all = _SOME, False
        self._comparison: Comparison | None = None
        self._pairs: Sequence[tuple[Contender, Contender]] = ()
        inside = column(self, margin=12, gap=8)
        head = row()
        head.addWidget(label("Side by side", 14, Weight.DemiBold))
        head.addStretch()
        self._first, self._second = Choice("First server"), Choice("Second server")
        for box in (self._first, self._second):
            box.activated.connect(lambda _: self._refresh())
        head.addWidget(self._first)
        head.addWidget(label("and", 12, tone="soft"))
        head.addWidget(self._second)
        self._details = button("Details", kind="ghost")
        self._details.setAccessibleName("Show figures and other pairs")
        self._details.setCheckable(True)
        self._details.setChecked(True)
        self._details.toggled.connect(lambda _: self._show_details())
        self._details.clicked.connect(self._on_details)
        head.addWidget(self._details)
        inside.addLayout(head)
        self._chosen = label("", 13, Weight.Medium, wrap=True)
        inside.addWidget(self._chosen)
        below = row(part := QWidget(), gap=32)
        self._below = part
        self._figures = QGridLayout()
        self._figures.setHorizontalSpacing(20)
        self._figures.setVerticalSpacing(3)
        below.addLayout(self._figures)
        self._others = QVBoxLayout()
        self._others.setSpacing(6)
        below.addLayout(self._others, 1)
        inside.addWidget(part)
        self._is_asked = False
        """Whether the user folded or unfolded the details."""
        self._show_details()

    def fit(self, width: int, height: int) -> None:
        """Show as much as suits a page of this size; the user may unfold the details."""
        if not self._is_asked:
            self._details.setChecked(height >= _LOW)
        most = _FEW if width < _WIDE else _SOME if height < _HIGH else _MANY
        if most != self._most:
            self._most = most
            self._refresh()

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self._show_details()

    def _on_details(self) -> None:
        self._is_asked = True

    def _show_details(self) -> None:
        shown = self._details.isChecked()
        sign = "chevron-down" if shown else "chevron-right"
        self._details.setIcon(icon(sign, self._theme.soft, 16))
        self._below.setVisible(shown)

    def display(self, comparison: Comparison) -> None:
        self._comparison, self._all = comparison, False
        ranked = [c for c in comparison.ranked() if c.measured]
        boxes = (self._first, self._second)
        keys = [contender.key for contender in ranked]
        known = [key if (key := box.currentData()) in keys else "" for box in boxes]
        if known[0] == known[1]:
            known[1] = ""
        suggested = list(pairs(comparison))
        wanted = [c.key for c in (suggested[0] if suggested else ranked[:2])]
        others = iter([key for key in dict.fromkeys((*wanted, *keys)) if key not in known])
        for kept, box in zip(known, boxes, strict=True):
            box.clear()
            for contender in ranked:
                box.addItem(_name(comparison, contender), contender.key)
            box.setCurrentIndex(max(0, box.findData(kept or next(others, ""))))
        self.setVisible(len(ranked) > 1)
        self._pairs = suggested
        self._refresh()

    def _refresh(self) -> None:
        found = self._comparison
        if found is None:
            return
        by_key = {contender.key: contender for contender in found.contenders}
        a, b = by_key.get(self._first.currentData()), by_key.get(self._second.currentData())
        if a is None or b is None:
            return
        same = "Select two different servers."
        sentence = same if a is b else difference_in(found, a, b)
        self._chosen.setText(sentence)
        self._compare(found, a, b)
        others = [pair for pair in self._pairs if {c.key for c in pair} != {a.key, b.key}]
        alike = [pair for pair in others if by_one_pass(found, *pair)]
        apart = [pair for pair in others if not by_one_pass(found, *pair)]
        shown = apart if self._all else apart[: self._most]
        # What holds for several is said once.
        lines = [difference_in(found, x, y, caveat=False) for x, y in shown]
        lines += filter(None, [alike_in(found, alike)])
        if not _unsure(found, a, b) and any(_unsure(found, x, y) for x, y in others):
            lines.append(ONE_PASS)
        empty(self._others)
        for line in lines:
            self._others.addWidget(label(line, 12, tone="soft", wrap=True))
        if more := len(apart) - len(shown):
            text = f"Show {more} more pair{'s' if more > 1 else ''}"
            show = button(text, kind="ghost", on_click=self._show_all)
            self._others.addWidget(show, 0, Qt.AlignmentFlag.AlignLeft)
        self._others.addStretch(1)

    def _show_all(self) -> None:
        self._all = True
        self._refresh()

    def _compare(self, found: Comparison, a: Contender, b: Contender) -> None:
        """Show each figure at the common rate."""
        empty(self._figures)
        known = [] if a is b else found.figures(a, b)
        figures = [figure for figure in known if figure.first or figure.second]
        if not figures or found.rate is None:
            return
        names = _name(found, a), _name(found, b)
        heads = (f"At {found.axis.at(found.rate)}", *names, " against ".join(names))
        for place, text in enumerate(heads):
            _at(self._figures, 0, place, text, "muted")
        for line, figure in enumerate(figures, start=1):
            _at(self._figures, line, 0, figure.name, "soft")
            _at(self._figures, line, 1, figure.first)
            _at(self._figures, line, 2, figure.second)
            _at(self._figures, line, 3, figure.text)


def _unsure(found: Comparison, a: Contender, b: Contender) -> bool:
    """Whether two servers differ by a single pass of one of them."""
    difference = found.difference(a, b)
    outcomes = ("more", "less")
    return bool(difference and difference.passes == 1 and difference.outcome in outcomes)


def _at(grid: QGridLayout, line: int, place: int, text: str, tone: str = "") -> None:
    figure = place in (1, 2) and line > 0
    cell = label(
        text, 12, Weight.Medium if place == 3 else Weight.Normal, tone=tone, figures=figure
    )
    side = Qt.AlignmentFlag.AlignRight if place in (1, 2) else Qt.AlignmentFlag.AlignLeft
    grid.addWidget(cell, line, place, side)


def _name(comparison: Comparison, contender: Contender) -> str:
    return contender.label if len(comparison.sides) > 1 else contender.name
