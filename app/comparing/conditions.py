"""The differences between the sessions of a comparison, the most serious first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QVBoxLayout, QWidget

from app.comparing.sessions import Tags
from app.plain import Label
from app.theme import Theme, icon_pixmap
from app.theme import Weight as FontWeight
from app.widgets import button, column, empty, label, retone, row
from workbench.results.conditions import Condition, Conditions, Weight

_FIRST = 4
"""Differences shown before the user asks for all."""


class ConditionsCard(QFrame):
    """Has the tone of a warning where a difference may be caused by the set-ups."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("inline")
        self._theme = theme
        self._found = Conditions((), (), ())
        self._several = False
        self._all = False
        inside = column(self, margin=12, gap=6)
        head = row(gap=8)
        self._sign = Label()
        self._sign.setFixedSize(QSize(18, 18))
        self._title = label("", 13, FontWeight.DemiBold, wrap=True)
        head.addWidget(self._sign, 0, Qt.AlignmentFlag.AlignTop)
        head.addWidget(self._title, 1)
        inside.addLayout(head)
        self._warnings = label("", 12, tone="soft", wrap=True)
        inside.addWidget(self._warnings)
        self._rows = QVBoxLayout()
        self._rows.setSpacing(5)
        inside.addLayout(self._rows)
        self._more = button("", kind="ghost", on_click=self._show_all)
        inside.addWidget(self._more, 0, Qt.AlignmentFlag.AlignLeft)
        self._same = label("", 12, tone="muted", wrap=True)
        inside.addWidget(self._same)

    def display(self, found: Conditions, sessions: int) -> None:
        self._found, self._several, self._all = found, sessions > 1, False
        self._draw()

    def text(self) -> str:
        """Return the whole card as text, for screen readers and the clipboard."""
        lines = [self._title.text(), *self._found.warnings]
        lines += [each.text for each in (*self._found.differing, *self._found.audits)]
        return "\n".join(filter(None, [*lines, self._found.same_text()]))

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self._draw()

    def _draw(self) -> None:
        found, serious = self._found, self._is_serious()
        self.setVisible(self._several)
        retone(self, "warn" if serious else "muted")
        name, tone = ("scale", "warn") if serious else ("circle-check", "ok")
        self._sign.setPixmap(icon_pixmap(name, getattr(self._theme, tone), 18))
        self._title.setText(self._headline())
        self._warnings.setText(" ".join(found.warnings))
        self._warnings.setVisible(bool(found.warnings))
        empty(self._rows)
        shown = found.differing if self._all else found.differing[:_FIRST]
        if shown or found.audits:
            self._rows.addWidget(_table([*shown, *found.audits], self._theme))
        more = len(found.differing) - len(shown)
        self._more.setText(f"Show {more} more")
        self._more.setAccessibleName(f"Show {more} more differences")
        self._more.setVisible(more > 0)
        self._same.setText(found.same_text())
        self._same.setVisible(bool(found.same))
        self.setAccessibleName(self.text())

    def _is_serious(self) -> bool:
        return bool(self._found.audits) or self._differ(Weight.SETUP)

    def _differ(self, weight: Weight) -> bool:
        """Whether the sessions differ in a condition at least this serious."""
        return any(condition.weight <= weight for condition in self._found.differing)

    def _headline(self) -> str:
        if self._differ(Weight.QUESTION):
            return "Different workloads"
        if self._differ(Weight.SETUP):
            return "Different conditions"
        if self._found.differing:
            return "Differences"
        return "Same recorded conditions"

    def _show_all(self) -> None:
        self._all = True
        self._draw()


def _table(conditions: Sequence[Condition], theme: Theme) -> QWidget:
    table = QWidget()
    grid = QGridLayout(table)
    grid.setContentsMargins(0, 2, 0, 2)
    grid.setHorizontalSpacing(8)
    grid.setVerticalSpacing(3)
    grid.setColumnStretch(2, 1)
    at = 0
    for condition in conditions:
        what = label(condition.what, 12, tone="soft", wrap=True)
        what.setFixedWidth(122)
        lines = list(_by_value(condition))
        grid.addWidget(what, at, 0, len(lines), 1, Qt.AlignmentFlag.AlignTop)
        for value, tags in lines:
            grid.addWidget(Tags(tags, theme, 15), at, 1, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(label(value, 12, FontWeight.Medium, wrap=True), at, 2)
            at += 1
    return table


def _by_value(condition: Condition) -> Iterator[tuple[str, list[str]]]:
    """Yield each value with the tags of its sessions."""
    for value in dict.fromkeys(condition.values.values()):
        yield value, [tag for tag, each in condition.values.items() if each == value]
