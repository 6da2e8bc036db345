"""The user's notes on charts in words. No Qt."""

from __future__ import annotations

from collections.abc import Sequence

from app.charts.model import ChartModel
from workbench.sessions.chart_notes import ChartNote


def place_of(model: ChartModel, server: str, x: float) -> str:
    """Return a place in the charts: "4,500/s, Tornado"; without a server, "4,500/s"."""
    series = model.series.get(server)
    return f"{model.axis.at(x)}, {series.name}" if series else model.axis.at(x)


def numbered(model: ChartModel, notes: Sequence[ChartNote]) -> list[str]:
    """Return the notes on the charts: "1  4,500/s, Tornado: The log grew here."."""
    places = (place_of(model, note.server, note.x) for note in notes)
    return [
        f"{n}  {at}: {note.text}" for n, (at, note) in enumerate(zip(places, notes, strict=True), 1)
    ]
