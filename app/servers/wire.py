"""A server's reply as sent, its output, and the commands that it needs."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget

from app.servers.tryout import TrialResult
from app.theme import Weight, font
from app.widgets import button, column, frame, label


class Wire(QWidget):
    """Opened by its button; commands that wait for consent, and the output of what failed before
    there was a reply, are always visible."""

    def __init__(self) -> None:
        super().__init__()
        self._result: TrialResult | None = None
        outer = column(self, gap=12)
        self._open = button("Show request and response", "terminal", kind="ghost")
        self._open.setCheckable(True)
        self._open.toggled.connect(lambda _: self._show())
        outer.addWidget(self._open, 0, Qt.AlignmentFlag.AlignLeft)
        self._card = frame("sunken")
        inside = column(self._card, gap=3)
        inside.setContentsMargins(12, 8, 12, 10)
        self._parts: dict[str, tuple[QLabel, QLabel]] = {}
        for part in ("asked", "answered", "output", "commands"):
            head, text = label("", 11, Weight.Medium, tone="muted"), label("", 12, tone="soft")
            text.setFont(font(12, mono=True))
            text.setWordWrap(True)
            text.setMinimumWidth(1)  # a long word does not widen what is above
            flags = Qt.TextInteractionFlag
            text.setTextInteractionFlags(
                flags.TextSelectableByMouse | flags.TextSelectableByKeyboard
            )
            inside.addWidget(head)
            inside.addWidget(text)
            self._parts[part] = (head, text)
        outer.addWidget(self._card)

    def display(self, result: TrialResult | None) -> None:
        self._result = result
        self._show()

    def _show(self) -> None:
        parts = _parts(self._result)
        always = "answered" not in parts
        self._open.setVisible(not always)
        opened = bool(parts) and (self._open.isChecked() or always)
        self._card.setVisible(opened)
        name = "Hide request and response" if opened else "Show request and response"
        self._open.setText(f" {name}")
        self._open.setAccessibleName(name)
        for part, (head, text) in self._parts.items():
            title, body = parts.get(part, ("", ""))
            head.setText(title)
            text.setText(body)
            head.setVisible(bool(body))
            text.setVisible(bool(body))


def _parts(result: TrialResult | None) -> dict[str, tuple[str, str]]:
    if result is None:
        return {}
    found = {
        "asked": ("First request", result.request.rstrip("\n")),
        "answered": (f"Response, {result.bytes_on_wire:,} bytes", result.answered.rstrip("\n")),
        "output": ("Last output", "\n".join(result.output[-12:])),
        "commands": ("Commands to run", "\n".join(result.commands)),
    }
    if not result.answered:
        found.pop("asked")
        found.pop("answered")
    return {part: (title, text) for part, (title, text) in found.items() if text}
