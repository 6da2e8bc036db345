"""The note of a shipped plan: it describes that plan, not others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QPlainTextEdit

if TYPE_CHECKING:
    from workbench.plan.library import Preset
    from workbench.plan.model import Plan


class Note:
    """Removed from the field when another plan is in the form, and restored with its own."""

    def __init__(self) -> None:
        self._taken = ""

    def fit(self, field: QPlainTextEdit, plan: Plan, presets: Sequence[Preset]) -> None:
        """Adjust the note to what the form measures now."""
        shipped = [preset.plan for preset in presets if not preset.own and preset.plan]
        note = field.toPlainText()
        if note:
            self._taken = ""
            theirs = [each for each in shipped if each.description == note]
            if theirs and not any(_same(plan, each) for each in theirs):
                self._taken = note
                field.setPlainText("")
        elif any(_same(plan, each) and each.description == self._taken for each in shipped):
            field.setPlainText(self._taken)


def _same(plan: Plan, other: Plan) -> bool:
    return _measures(plan) == _measures(other)


def _measures(plan: Plan) -> tuple[object, ...]:
    loads = tuple(plan.rates_per_s), tuple(plan.concurrency), repr((plan.vary, plan.search))
    lengths = plan.seconds, plan.connections, plan.repeats
    return tuple(plan.servers), *loads, *lengths, plan.workload
