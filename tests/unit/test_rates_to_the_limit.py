"""What readers make of a session whose rates end at the client limit."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from app.charts.model import ChartModel
from tests.recording import record_session
from tests.synthetic import session
from workbench import axis as axes
from workbench.analysis.summary import summarise
from workbench.documents import AnyDocument, Block, Note, RunStart
from workbench.messages import notes
from workbench.run.progress import RunProgress
from workbench.sessions import read_session

RATES = [500.0, 3_000.0, 6_000.0, 9_000.0]


@pytest.fixture
def documents() -> list[AnyDocument]:
    """As the engine records them: the rates come after the calibration."""
    found = list(session(2, rates=RATES))
    start = found[0]
    assert isinstance(start, RunStart)
    axis = axes.rate("connections", [], points=len(RATES))
    order = [Block(server=b.server, pass_number=1, rates_per_s=[]) for b in start.order]
    plan = start.plan | {"rates": {"from": 500, "to": "ceiling", "points": 4}}
    found[0] = msgspec.structs.replace(start, axis=axis, order=order, plan=plan)
    at = next(n for n, d in enumerate(found) if isinstance(d, Note) and d.topic == "ceiling")
    note = found[at]
    assert isinstance(note, Note)
    found.insert(at + 1, notes.notice("rates", values=RATES).note(note.t_us))
    return found


def test_charts_get_their_axis_when_the_rates_are_known(documents: list[AnyDocument]) -> None:
    model = ChartModel()
    for document in documents:
        if isinstance(document, Note) and document.topic == "rates":
            assert model.axis.values == []
        model(document)
        if isinstance(document, Note) and document.topic == "rates":
            assert (model.axis.values, model.last_x) == (RATES, 9_000)
    assert all(series.axis.values == RATES for series in model.series.values())


def test_progress_counts_points_before_their_rates_are_known(documents: list[AnyDocument]) -> None:
    progress = RunProgress()
    progress(documents[0])
    assert progress.total == 8
    for document in documents[1:]:
        progress(document)
    assert (progress.done, progress.total) == (8, 8)


def test_the_file_is_read_and_summarised_like_one_with_fixed_rates(
    documents: list[AnyDocument], tmp_path: Path
) -> None:
    path = tmp_path / "session.pong.yaml"
    record_session(path, documents)
    read = read_session(path)
    summary = summarise(read.completed())
    fixed = summarise(list(session(2, rates=RATES)))
    assert summary.axis.values == fixed.axis.values
    assert [s.knee for s in summary.servers.values()] == [s.knee for s in fixed.servers.values()]
