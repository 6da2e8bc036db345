"""Where the question of a plan comes from: what the source measured, how, and what it found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtWidgets import QFrame

from app.theme import Weight
from app.widgets import button, column, label, row
from workbench.plan.model import Plan
from workbench.plan.reading import to_data


class Origin(QFrame):
    """Hidden where a plan asks no question of a source."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("card")
        self._plan: Mapping[str, Any] = {}
        inside = column(self, margin=12, gap=6)
        top = row()
        self._shows = label("", 14, Weight.DemiBold, wrap=True)
        self._more = button("Published", "history", on_click=self._fit)
        self._more.setAccessibleName("Show what the source measured and found")
        self._more.setCheckable(True)
        top.addWidget(self._shows, 1)
        top.addWidget(self._more)
        inside.addLayout(top)
        self._citation = label("", 12, tone="muted", wrap=True)
        inside.addWidget(self._citation)
        self._about = label("", 12, tone="soft", wrap=True)
        inside.addWidget(self._about)
        self.set_value("")

    def value(self) -> str:
        """Return the `source` of a plan."""
        return self._question

    def set_value(self, question: Any) -> None:
        """Show a question by its id; the details stay folded or unfolded."""
        self._question, self._plan = str(question or ""), {}
        self._show()

    def show_plan(self, plan: Plan) -> None:
        """Name what a plan changes against the full preset of its question."""
        if self._question:
            self._plan = to_data(plan)
            self._show()

    def _show(self) -> None:
        from workbench.analysis.published import source_of  # noqa: PLC0415 - reads a file
        from workbench.results.published import differs  # noqa: PLC0415

        question = self._question
        found = source_of(question) if question else None
        self.setVisible(found is not None)
        if found is None:
            return
        source, asked = found
        different = differs(self._plan, asked) if self._plan else asked.differs
        self._shows.setText(asked.shows)
        self._citation.setText(source.citation)
        figures = [
            f"· {e.name}: {', '.join(e.figures.values())} ({e.cited})" for e in asked.figures
        ]
        stated = "\n".join(
            ["Figures of the text:", *figures] if figures else ["It states no figures."]
        )
        self._about.setText(
            f"How: {asked.method}\n\nFound: {asked.found}\n\nDifferent here: {different}"
            f"\n\n{stated}"
        )
        self._fit()

    def _fit(self) -> None:
        self._about.setVisible(self._more.isChecked())
