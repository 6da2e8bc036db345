"""The answer at the end of a run: the sentence of the reports, over a bar for each server."""

from __future__ import annotations

from functools import partial
from math import inf

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame

from app.charts.model import ChartModel
from app.charts.ranked_bars import Ranked, RankedBars
from app.theme import Theme, Weight
from app.widgets import column, label
from workbench.formatting import listed
from workbench.results import sustained

_MOST_ROWS = 6


class Verdict(QFrame):
    """Hidden until a run is over."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("card")
        inside = column(self, margin=14, gap=8)
        self._sentence = label("", 20, Weight.DemiBold, wrap=True, selectable=True)
        self._sentence.setAccessibleName("Result")
        self._more = label("", 13, tone="soft", wrap=True, selectable=True)
        self._bars = RankedBars(filled=True, most_rows=_MOST_ROWS)
        self._bars.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # there is nothing to pick
        for part in (self._sentence, self._more, self._bars):
            inside.addWidget(part)
        self.hide()

    def display(self, model: ChartModel) -> None:
        """Show what a run found, once it is over."""
        ranked = [series for series in model.ranked() if series.complete]
        whole = model.stop is not None and model.stop.status == "done"
        found = sustained.answer(ranked, whole=whole)
        self._sentence.setText(f"{found.text}.")
        failed = [audit.label for audit in model.audits if audit.failed]
        audits = f"In doubt, see Events: {listed(failed)}." if failed else ""
        more = " ".join(filter(None, (found.why, *found.doubts, audits)))
        self._more.setText(more)
        self._more.setVisible(bool(more))
        rows = [
            Ranked(
                each.id,
                each,
                partial(Theme.series, index=each.index),
                each.name,
                sustained.parts(each).figure or sustained.column(each),
                f"{each.name} {sustained.parts(each).text}",
            )
            for each in ranked
        ]
        known = [each.interval for each in ranked if each.interval is not None]
        ends = [end for i in known for end in (i.low, i.high) if end != inf]
        most = max([*ends, *(each.figure for each in ranked)], default=0.0) * 1.04 or 1.0
        self._bars.display(rows, 0.0, most)
        self.show()

    def set_compact(self, compact: bool) -> None:
        """Leave the bars out, for windows without much height."""
        self._bars.setVisible(not compact)
