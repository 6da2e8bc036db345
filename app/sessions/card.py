"""The card of the sessions chosen in the list: what is known of them, and their actions."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QTimer, Signal
from PySide6.QtWidgets import QFormLayout, QFrame, QLabel, QWidget

from app import words
from app.context import Desk
from app.fields import TextArea, TextField
from app.sessions.thumbnail import Outlines
from app.theme import Weight
from app.widgets import Elided, beside, button, column, label
from workbench.documents import RunStart
from workbench.formatting import capital, number_of, size
from workbench.sessions.labels import LONGEST_NOTES, LONGEST_TITLE, Label
from workbench.sessions.library import Shelved

_WRITE_AFTER_MS = 700


class SessionCard(QFrame):
    """One session with its title and note, which are saved while they are written; or several."""

    labelled = Signal(object, object)
    """A `Shelved` and its new `Label`."""

    def __init__(self, desk: Desk, actions: dict[str, tuple[str, object]]) -> None:
        """`actions`: the function of each button, by its name, with its icon."""
        super().__init__(objectName="card")
        self._desk = desk
        self._sessions: Sequence[Shelved] = ()
        self._head = label("", 14, Weight.DemiBold, wrap=True)
        self._facts_grid = _Facts()
        self.title = TextField("Title of the session")
        self.title.setMaxLength(LONGEST_TITLE)
        self.notes = TextArea(minimumHeight=56, maximumHeight=220, tabChangesFocus=True)
        self.notes.setAccessibleName("Notes about the session")
        self.notes.setPlaceholderText("Notes: what was special about this run?")
        self.buttons = {
            name: button(
                name,
                icon,
                kind="primary" if name == "Replay" else "",
                on_click=do,  # type: ignore[arg-type]
            )
            for name, (icon, do) in actions.items()
        }
        names = iter(self.buttons.values())
        first = (self._head, self.title, self._facts_grid, (self.notes, 4), next(names))
        inside = column(self, *first, margin=16, gap=10)
        for pair in zip(names, names, strict=True):
            for each in pair:
                each.setStyleSheet("QPushButton { padding: 0 4px; }")
            inside.addLayout(beside(*((each, 1) for each in pair)))
        inside.addStretch(1)
        self._writing = QTimer(self, singleShot=True, interval=_WRITE_AFTER_MS)
        self._writing.timeout.connect(self.write)
        for field in (self.title, self.notes):
            field.installEventFilter(self)
            field.textChanged.connect(lambda *_: self._writing.start())  # type: ignore[attr-defined]
        Outlines.of(desk).changed.connect(self._show_result)

    def display(self, sessions: Sequence[Shelved]) -> None:
        """Show the chosen sessions. What was written about the same session stays."""
        both = sessions, self._sessions
        now, before = ([(s.path, s.start is None) for s in each] for each in both)
        if now != before:
            self.write()
        kept = self._sessions[0].label if len(self._sessions) == 1 else None
        self._sessions = sessions
        one = sessions[0] if len(sessions) == 1 else None
        readable = one is not None and one.start is not None
        for each in (self.title, self.notes):
            each.setVisible(readable)
        self._head.setVisible(not readable or bool(one and one.problem))
        self._facts_grid.setVisible(one is not None)
        if one is None:
            some = f"{len(sessions)} sessions selected." if sessions else "No session selected."
            self._head.setText(some)
            return
        self._head.setText(capital(one.problem))
        self._facts_grid.display(_facts(one))
        self._show_result()
        # Text that nobody wrote in follows the file.
        if now != before or (one.label != kept and self._written(one) == kept):
            self.title.setPlaceholderText(_plan_name(one))
            self.title.setText(one.label.title or _plan_name(one))
            self.title.setCursorPosition(0)
            self.notes.setPlainText(one.label.notes)

    def write(self) -> None:
        """Save the title and the note, if they changed."""
        self._writing.stop()
        if len(self._sessions) == 1 and self._sessions[0].start is not None:
            session = self._sessions[0]
            if (written := self._written(session)) != session.label:
                self.labelled.emit(session, written)

    def _written(self, session: Shelved) -> Label:
        title = " ".join(self.title.text().split())
        notes = self.notes.toPlainText()[:LONGEST_NOTES].strip()
        return Label("" if title == _plan_name(session) else title, notes)

    def rename(self) -> None:
        if self.title.isVisible():
            self.title.setFocus()
            self.title.selectAll()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.FocusOut:
            self.write()
        return False

    def _show_result(self) -> None:
        if len(self._sessions) == 1:
            known = Outlines.of(self._desk).get(self._sessions[0])
            self._facts_grid.display({"Result": known.summary if known else ""})


class _Facts(QWidget):
    """A few lines, each with a label; those without a value are left out."""

    def __init__(self) -> None:
        super().__init__()
        self._form = QFormLayout(self, verticalSpacing=4)
        self._form.setContentsMargins(0, 0, 0, 0)
        self._values: dict[str, QLabel] = {}
        for name in ("Result", "Ended", "Machine", "File"):
            self._values[name] = label("", 12, wrap=True) if name == "Result" else Elided(12)
            self._form.addRow(label(name, 12, tone="muted"), self._values[name])

    def display(self, facts: dict[str, str]) -> None:
        for name, value in facts.items():
            line = self._values[name]
            line.show_text(value) if isinstance(line, Elided) else line.setText(value)
            self._form.setRowVisible(line, bool(value))


def _plan_name(session: Shelved) -> str:
    return (session.start.plan.get("name") if session.start else "") or session.path.name


def _facts(session: Shelved) -> dict[str, str]:
    """Return what the list does not show."""
    reason = session.stop.reason if session.stop else ""
    return {
        "Ended": f"{words.ended(session)}: {reason}" if reason else "",
        "Machine": _where(session.start) if session.start else "",
        "File": f"{session.path.name}, {size(session.size_bytes)}",
    }


def _where(start: RunStart) -> str:
    """Return a machine as "atlas, 8 cores"."""
    names: dict[str, str] = {}
    for machine in start.machines:
        cores = machine.facts.get("cpu_count")
        cores_text = f", {number_of(cores, 'cores')}" if cores else ""
        names[machine.name] = f"{machine.name}{cores_text}"
    return " · ".join(names.values())
