"""What a recorded session says, as plain data: the figures of its summary, documents and charts.

The recorded files (`tests/cases/sessions`, and the shipped session) were written by version 1
of the documents. What they say is kept next to them and must not change with the code.

    python tests/golden.py      # only to add a session: it writes what is missing
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import msgspec

from app.charts.model import ChartModel
from app.charts.series import Quantity
from workbench.analysis.series import View
from workbench.analysis.summary import summarise
from workbench.results.render.data import of_session
from workbench.sessions import read_session

ROOT = Path(__file__).parent.parent
HERE = ROOT / "tests" / "cases" / "sessions"
SESSIONS = [ROOT / "resources" / "sessions" / "demo.pong.yaml", *sorted(HERE.glob("*.pong.yaml"))]

SENTENCES = {"reasons", "text", "knee_unknown", "gave_up", "died", "reason"}
"""Keys whose values are sentences: they may be reworded."""

PERCENTILES = ("p50", "p99", "max")


def results(path: Path) -> dict[str, Any]:
    """Return a session's summary, its comparison with itself, and its charts."""
    session = read_session(path)
    return {
        "summary": msgspec.to_builtins(of_session(summarise(session.completed()))),
        "charts": charts(session.completed()),
        "documents": _shape(session.documents),
    }


def charts(documents: Any) -> dict[str, Any]:
    """Return every value that is drawn, NaN as None."""
    model = ChartModel()
    for document in documents:
        model(document)
    model.end()
    views = [
        View(percentile, clock) for percentile in PERCENTILES for clock in ("latency", "service")
    ]
    drawn: dict[str, Any] = {}
    for id_, series in model.series.items():
        drawn[id_] = {"trusted": [], "x": []}
        for quantity in Quantity:
            for view in views if quantity is Quantity.TIME else views[:1]:
                values = series.values(quantity, view)
                key = f"{quantity.value} {view.percentile} {view.clock}"
                drawn[id_][key] = [None if math.isnan(y) else float(y) for y in values.y]
                drawn[id_]["x"] = [float(x) for x in values.x]
        values = series.values(Quantity.REPLIES, View())
        drawn[id_]["trusted"] = [bool(each) for each in values.trusted]
    return {
        "series": drawn,
        "ranked": [series.id for series in model.ranked()],
        "ceiling_per_s": model.ceiling_per_s,
        "last_offered": model.last_x,
        "timeout_ms": model.timeout_ms,
    }


def _shape(documents: Any) -> list[Any]:
    """The documents without their windows, samples and histograms, which are many."""
    kept = [json.loads(msgspec.json.encode(d)) for d in documents]
    few = [d for d in kept if d["kind"] not in ("window", "host_sample")]
    for document in few:
        document.pop("histograms", None)
    return few


def lost(before: Any, after: Any, at: str = "") -> list[str]:
    """Return what is missing or different in `after`; added keys do not count."""
    if isinstance(before, dict) and isinstance(after, dict):
        found = [f"{at}.{key} is missing" for key in before.keys() - after.keys()]
        shared = before.keys() & after.keys() - SENTENCES
        return found + [each for k in shared for each in lost(before[k], after[k], f"{at}.{k}")]
    if isinstance(before, list) and isinstance(after, list):
        if len(before) != len(after):
            return [f"{at} has {len(after)} entries, not {len(before)}"]
        pairs = enumerate(zip(before, after, strict=True))
        return [each for n, (b, a) in pairs for each in lost(b, a, f"{at}[{n}]")]
    if isinstance(before, float) and isinstance(after, int | float):
        return [] if math.isclose(before, after, rel_tol=1e-9) else [f"{at}: {before} -> {after}"]
    return [] if before == after else [f"{at}: {before!r} -> {after!r}"]


def kept(path: Path) -> Path:
    """Return the path of the recorded output of a session."""
    return HERE / f"{path.name.removesuffix('.pong.yaml')}.expected.json"


if __name__ == "__main__":
    for session in SESSIONS:
        if not kept(session).exists():
            kept(session).write_text(json.dumps(results(session), indent=1, sort_keys=True) + "\n")
