"""The edits of the plan in the form, as steps that can be undone."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

from PySide6.QtWidgets import QLineEdit, QPlainTextEdit, QWidget

from app.history import History, Step

State: TypeAlias = tuple[str, dict[str, Any], dict[str, Any], dict[str, Any]]
"""Of the form: the preset it was made from and that one's data, its own data, the machines."""


class DraftHistory:
    """Compares states of the form. What is typed into one field is one step."""

    def __init__(
        self,
        history: History,
        form: QWidget,
        state: Callable[[], State],
        show: Callable[[State], object],
    ) -> None:
        """`state` returns the present state, `show` shows an earlier or later one."""
        self._history, self._form = history, form
        self._state, self._show = state, show
        self._at = state()
        self.following = False
        """A consequence of the last step changes the form."""

    def settle(self) -> None:
        """Begin anew at the present state, which is nobody's edit."""
        self._at = self._state()

    def remember(self, said: str = "") -> None:
        """Make what has changed since the last time a step. `said`: see `Step`."""
        before, now = self._at, self._state()
        if now == before:
            return
        self._at = now
        undo, redo = partial(self._go_to, before), partial(self._go_to, now)
        if self.following:
            self._history.extend(redo)
            return
        at = self._form.focusWidget()
        typed = isinstance(at, QLineEdit | QPlainTextEdit) and not said
        key = (at, *_changed(before, now)) if typed else None
        self._history.add(Step("Edit of the plan", undo, redo, said, files=False, key=key))

    def follow(self, change: Callable[[], object]) -> None:
        """Count what `change` does to the form as part of the last step."""
        self.following = True
        change()
        self.following = False

    def _go_to(self, state: State) -> None:
        self._show(state)
        self.settle()


def _changed(before: State, now: State) -> list[str]:
    """Return the keys of what differs between two states."""
    flat = [{**data, "machines": machines} for _, _, data, machines in (before, now)]
    return [key for key in flat[1] if flat[0].get(key) != flat[1][key]]
