"""The bar above the Machines page: how many machines there are, and whether they are ready."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtGui import QResizeEvent

from app.machines.records import HERE, State
from app.plain import tip
from app.widgets import TopBar, button

_MOST_NAMES = 3
_NARROW = 1_080
_ALONE = "only this computer"


class Head(TopBar):
    """The page connects its buttons."""

    def __init__(self) -> None:
        super().__init__("Machines")
        self._states: Mapping[str, State] = {}
        self.all = button("Check all", "activity")
        self.hosts = button("Import from ~/.ssh/config…", "download")
        self.add = button("Add machine", "plus")
        for each in (self.all, self.hosts, self.add):
            self.actions.addWidget(each)

    def display(self, states: Mapping[str, State], *, possible: bool) -> None:
        """Show the states of all machines by name, including this computer; `possible`: a check can
        be started.
        """
        self._states = states
        others = len(states) - 1
        self.show_text("Machines", f"{len(states)} machines" if others > 0 else _ALONE)
        self.add.setVisible(others > 0)
        self.all.setVisible(others > 0)
        self.all.setEnabled(possible)
        self._show_chip()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._show_chip()

    def _show_chip(self) -> None:
        """Show which machines cannot be used; the reasons are in the list and the tool tip."""
        states = self._states
        unusable = {
            "This computer" if name == HERE else name: state
            for name, state in states.items()
            if state.tone in ("bad", "warn")
        }
        ready = sum(state.tone == "ok" for state in states.values())
        if unusable:
            bad = any(state.tone == "bad" for state in unusable.values())
            named = f"{len(unusable)}" if self.width() < _NARROW else _named(list(unusable))
            self.chip.show_text(f"{named} not usable", "bad" if bad else "warn")
        elif ready and len(states) > 1:
            self.chip.show_text(f"{ready} of {len(states)} ready", "ok")
        else:
            self.chip.show_text("")
        why = "\n".join(f"{name}: {state.word}" for name, state in unusable.items())
        self.chip.setToolTip(tip(why))
        self.chip.setAccessibleDescription(why)


def _named(names: list[str]) -> str:
    """Return "cedar and dune", or "cedar, dune and 3 more"."""
    if len(names) > _MOST_NAMES:
        return f"{', '.join(names[:2])} and {len(names) - 2} more"
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
