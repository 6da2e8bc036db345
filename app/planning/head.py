"""The bar above the Plan page: the plan's name, and whether it can run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.plain import tip
from app.widgets import TopBar, button

if TYPE_CHECKING:
    from workbench.plan.editing import Draft

BUSY = "A run is in progress. This plan can start when it is over."


class Head(TopBar):
    """The page connects its buttons."""

    def __init__(self) -> None:
        super().__init__("Plan")
        self.drawer = button("Presets", "list-checks")
        self.drawer.setCheckable(True)
        self.save = button("Save", "save")
        self.save_as = button("Save as…", "save")
        self.save_as.setEnabled(False)  # no draft yet
        self.run = button("Run", "play", kind="primary")
        self.run.setMinimumWidth(96)
        for each in (self.drawer, self.save, self.save_as, self.run):
            self.actions.addWidget(each)

    def name(self, title: str, *, changed: bool, own: bool) -> None:
        """`changed`: differs from its preset; `own`: can be saved over it."""
        odd = " (changed)" if changed else ""
        self.show_text("Plan", f"{title or 'Untitled plan'}{odd} · saved automatically")
        self.save.setVisible(changed and own)

    def judge(self, draft: Draft | None, *, busy: bool, fault: str = "") -> None:
        """`fault`: a problem outside the plan."""
        sound = draft is not None and draft.sound and not fault
        whole = draft is not None and draft.plan is not None
        self.run.setEnabled(sound and not busy)
        self.save.setEnabled(whole)
        self.save_as.setEnabled(whole)
        faults = [*(draft.faults.values() if draft else ()), *([fault] if fault else [])]
        why = BUSY if busy else " ".join(faults)
        self.run.setToolTip(tip(why or "Ctrl+R"))
        self.run.setAccessibleDescription(why)
        warnings = len(draft.warnings) if draft else 0
        if busy:
            self.chip.show_text("Run in progress", "soft")
        elif faults:
            self.chip.show_text(f"{_counted(len(faults), 'problem')}", "bad")
        elif warnings:
            self.chip.show_text(_counted(warnings, "warning"), "warn")
        else:
            self.chip.show_text("Ready to run" if draft else "", "ok")


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'s' if number != 1 else ''}"
