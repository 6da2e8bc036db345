"""A metric that only the session describes is drawn, summarised and reported."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from msgspec.structs import replace
from pypdf import PdfReader
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot
from synthetic import session
from trios import shown

from app.__main__ import main
from app.charts import axes
from app.charts.series import Quantity
from app.context import Desk
from app.export.dialog import shown_session
from app.export.options import ReportOptions
from tests.recording import record_session
from tests.reports import write_report
from workbench.analysis.series import View
from workbench.analysis.summary import summarise
from workbench.documents import AnyDocument, Metric, PointStop, RunStart
from workbench.metrics import THROUGHPUT
from workbench.results.render.csv import points
from workbench.results.setup import method

# The offscreen platform says so of every window that has a least size.
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")

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
    assert lowest.title_text() == ("Errors", "% of attempts")
    qtbot.keyClick(trio, Qt.Key.Key_M)
    assert lowest.title_text() == ("Switches per call", "switches")
    drawn = next(iter(lowest.curves.values())).values
    assert list(drawn.y) == pytest.approx([x / 1000 for x in drawn.x])
    assert lowest.limits[3] >= max(drawn.y)
    qtbot.keyClick(trio, Qt.Key.Key_M)
    assert lowest.title_text() == ("Errors", "% of attempts")


@pytest.mark.parametrize(("mb_per_s", "cell"), [(0.0307, "30.7 kB/s"), (30.7, "30.7 MB/s")])
def test_throughput_is_in_the_unit_that_suits_it_and_says_what_it_counts(
    mb_per_s: float, cell: str, qtbot: QtBot, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    documents: list[AnyDocument] = []
    for document in session(2, 4):
        if isinstance(document, RunStart):
            documents.append(replace(document, metrics=[THROUGHPUT.record]))
        elif isinstance(document, PointStop) and document.purpose == "sweep":
            documents.append(replace(document, values={"throughput_mb_per_s": mb_per_s}))
        else:
            documents.append(document)
    trio = shown(qtbot, documents)
    lowest = trio.charts[Quantity.ERRORS]
    qtbot.keyClick(trio, Qt.Key.Key_M)
    assert lowest.title_text() == ("Payload throughput", cell.split()[1])
    assert [text for _, text in axes.up(lowest)] == ["0", "20", "40"]
    path = record_session(tmp_path / "a.pong.yaml", documents)
    assert main(["summary", str(path)]) == 0
    assert cell in capsys.readouterr().out
    assert main(["summary", str(path), "--json"]) == 0
    assert f'"throughput_mb_per_s":{mb_per_s}' in capsys.readouterr().out
    start = documents[0]
    assert isinstance(start, RunStart)
    said = "Payload throughput counts the bodies of replies, without their headers."
    assert said in method(start, summarise(documents))


def test_it_is_summarised(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["summary", str(path)]) == 0
    message = capsys.readouterr().out
    assert "Switches per call" in message
    assert "2.25 switches" in message
    assert main(["summary", str(path), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["metrics"][0]["label"] == COST.label
    points = data["servers"]["asyncio-streams"]["points"]
    assert [point["values"]["cost"] for point in points] == [
        x / 1000 for x in (2250, 4500, 6750, 9000)
    ]


def test_it_is_reported(path: Path, documents: list[AnyDocument]) -> None:
    rows = list(csv.DictReader(io.StringIO(points(documents))))
    assert [row["metric_cost"] for row in rows[:2]] == ["2.25", "4.5"]
    write_report(path, path.with_suffix(".html"))
    page = path.with_suffix(".html").read_text()
    assert "Switches per call" in page
    assert "2.25 switches" in page


def words(path: Path) -> str:
    (page,) = PdfReader(path).pages
    return " ".join(page.extract_text().split())


def test_it_is_drawn_in_a_report_that_asks_for_it(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pdf = path.with_suffix(".pdf")
    assert main(["report", str(path), "-o", str(pdf)]) == 0
    assert COST.label not in words(pdf)
    assert main(["report", str(path), "-o", str(pdf), "--metric", "cost"]) == 0
    assert COST.label in words(pdf)
    assert "% of attempts" not in words(pdf)
    assert main(["report", str(path), "-o", str(pdf), "--metric", "price"]) == 2
    assert "has no metric 'price'; available: cost." in capsys.readouterr().err


def test_a_report_shows_the_figure_under_the_pointer(path: Path) -> None:
    page = path.with_suffix(".html")
    write_report(path, page, ReportOptions(view=View(metric="cost"), plain=True))
    assert "Switches per call 2.25 switches." in page.read_text()
    write_report(path, page, ReportOptions(view=View(metric="cost")))
    assert '"title":"Switches per call","unit":"switches"' in page.read_text()


async def test_a_session_is_exported_with_the_metric_that_its_charts_show(
    path: Path, documents: list[AnyDocument], qtbot: QtBot, desk: Desk
) -> None:
    trio = shown(qtbot, documents)
    qtbot.keyClick(trio, Qt.Key.Key_M)
    source = shown_session(desk, path, trio)
    await source.write(path.with_suffix(".pdf"), "light")
    assert COST.label in words(path.with_suffix(".pdf"))
