"""A metric that only the session describes is drawn, summarised and reported."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot
from synthetic import session
from trios import shown

from app.charts.series import Quantity
from app.export.report import write_report
from tests.recording import record_session
from workbench.cli import main
from workbench.documents import AnyDocument, Metric, PointStop, RunStart
from workbench.report.points import points_as_csv

COST = Metric(key="cost", label="Switches per call", unit="switches")


@pytest.fixture
def documents() -> list[AnyDocument]:
    made: list[AnyDocument] = []
    for document in session(2, 4):
        if isinstance(document, RunStart):
            made.append(replace(document, metrics=[COST]))
        elif isinstance(document, PointStop) and document.purpose == "sweep":
            made.append(replace(document, values={"cost": document.x / 1000}))
        else:
            made.append(document)
    return made


@pytest.fixture
def path(documents: list[AnyDocument], tmp_path: Path) -> Path:
    return record_session(tmp_path / "a.pong.yaml", documents)


def test_it_is_drawn_in_place_of_the_errors(documents: list[AnyDocument], qtbot: QtBot) -> None:
    trio = shown(qtbot, documents)
    lowest = trio.charts[Quantity.ERRORS]
    assert lowest.title_words() == ("Errors", "% of attempts")
    qtbot.keyClick(trio, Qt.Key.Key_M)
    assert lowest.title_words() == ("Switches per call", "switches")
    drawn = next(iter(lowest.curves.values())).values
    assert list(drawn.y) == pytest.approx([x / 1000 for x in drawn.x])
    assert lowest.limits[3] >= max(drawn.y)
    qtbot.keyClick(trio, Qt.Key.Key_M)
    assert lowest.title_words() == ("Errors", "% of attempts")


def test_it_is_summarised(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["summary", str(path)]) == 0
    told = capsys.readouterr().out
    assert "Switches per call" in told
    assert "2.25 switches" in told
    assert main(["summary", str(path), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["metrics"][0]["label"] == COST.label
    points = data["servers"]["asyncio-streams"]["points"]
    assert [point["values"]["cost"] for point in points] == [
        x / 1000 for x in (2250, 4500, 6750, 9000)
    ]


def test_it_is_reported(path: Path, documents: list[AnyDocument]) -> None:
    rows = list(csv.DictReader(io.StringIO(points_as_csv(documents))))
    assert [row["metric_cost"] for row in rows[:2]] == ["2.25", "4.5"]
    write_report(path, path.with_suffix(".html"))
    page = path.with_suffix(".html").read_text()
    assert "Switches per call" in page
    assert "2.25 switches" in page
