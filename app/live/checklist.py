"""The audits of a session: what was checked, and how it came out."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QWidget

from app.plain import tip
from app.scrolling import Scrolled
from app.theme import Theme, Weight, icon_pixmap
from app.widgets import column, empty, label, row
from workbench.analysis.audits import Audit, State

_SIGNS: dict[State, tuple[str, str]] = {
    "passed": ("circle-check", "ok"),
    "failed": ("circle-x", "bad"),
    "not-known": ("circle-question-mark", "muted"),
    "does-not-apply": ("info", "muted"),
}
"""Icon and tone."""

_ORDER: tuple[State, ...] = ("failed", "passed", "not-known", "does-not-apply")


class Checklist(QFrame):
    """One line an audit, those that failed first."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("card")
        self._theme = theme
        self._audits: Sequence[Audit] = ()
        self._shown: Sequence[Audit] = ()
        inside = column(self, margin=12, gap=6)
        self._short = label("", 12, tone="muted")
        inside.addWidget(self._short)
        around = column(content := QWidget())
        self._list = column(entries := QWidget(), gap=8)
        around.addWidget(entries)
        around.addStretch(1)
        self._nothing = label("Audits appear here during the run.", 12, tone="muted", wrap=True)
        inside.addWidget(self._nothing)
        inside.addWidget(Scrolled(content, "Audits"))

    @property
    def failed(self) -> int:
        """Return how many failed."""
        return sum(audit.failed for audit in self._audits)

    def display(self, audits: Sequence[Audit]) -> None:
        """Take the audits of a session; before its first point there is nothing to tell."""
        self._audits = [] if all(each.state == "not-known" for each in audits) else audits

    def refresh(self) -> None:
        if self._shown is self._audits or list(self._shown) == list(self._audits):
            return
        self._shown = self._audits
        empty(self._list)
        ranked = sorted(self._audits, key=lambda audit: _ORDER.index(audit.state))
        for audit in ranked:
            self._list.addWidget(self._entry(audit))
        passed = sum(audit.state == "passed" for audit in self._audits)
        applying = sum(audit.state != "does-not-apply" for audit in self._audits)
        self._short.setText(f"{passed} of {applying} passed" if self._audits else "")
        self._short.setVisible(bool(self._audits))
        self._nothing.setVisible(not self._audits)

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self._shown = ()
        self.refresh()

    def _entry(self, audit: Audit) -> QWidget:
        entry = QWidget()
        line = row(entry)
        name, tone = _SIGNS[audit.state]
        sign = label()
        sign.setPixmap(icon_pixmap(name, getattr(self._theme, tone), 14))
        sign.setToolTip(tip(audit.state_label))
        line.addWidget(sign, 0, Qt.AlignmentFlag.AlignTop)
        texts = column(words := QWidget(), gap=1)
        texts.addWidget(label(audit.label, 12, Weight.Medium))
        what = label(audit.message.text(), 12, tone="soft" if audit.failed else "muted", wrap=True)
        texts.addWidget(what)
        line.addWidget(words, 1)
        entry.setAccessibleName(f"{audit.label} {audit.state_label}: {what.text()}")
        return entry
