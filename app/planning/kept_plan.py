"""What the plan in the form was made from; the form's content is kept between starts."""

from __future__ import annotations

from typing import Any

from app.context import Desk
from app.planning.form import PlanForm


class KeptPlan:
    """Compares the form with the preset that it was made from, and keeps it with the settings."""

    def __init__(self, desk: Desk, form: PlanForm) -> None:
        self._desk, self._form = desk, form
        self.preset = ""
        """The preset it was made from, by id; empty: none."""
        self.origin: dict[str, Any] = {}
        """The form's data as first shown; empty: unknown since the last start."""
        self._changed_before = False

    @property
    def changed(self) -> bool:
        """Whether the plan differs from its preset, or from what was shown first."""
        return self._form.data() != self.origin if self.origin else self._changed_before

    def begin(self, preset: str) -> None:
        """Take what the form shows now as its origin."""
        self.preset, self.origin = preset, self._form.data()

    def restore(self) -> None:
        """Show what was in the form at the last start."""
        kept = self._desk.settings.more.get("plan")
        kept = kept if isinstance(kept, dict) else {}
        self._form.machines.set_value(kept.get("machines"))
        if isinstance(data := kept.get("data"), dict):
            self.preset, self.origin = str(kept.get("base") or ""), {}
            self._changed_before = bool(kept.get("changed", True))
            self._form.fill(data)

    def keep(self) -> None:
        """Save the form for the next start."""
        self._desk.settings.more["plan"] = {
            "base": self.preset,
            "changed": self.changed,
            "data": self._form.data(),
            "machines": self._form.machines.value(),
        }
