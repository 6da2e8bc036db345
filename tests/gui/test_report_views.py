"""Reports over time and of distributions."""

from __future__ import annotations

from pathlib import Path

import pytest
from pypdf import PdfReader

from app.__main__ import main
from app.charts.view_state import Look
from app.export.options import ReportOptions
from tests.recording import record_session
from tests.reports import write_report
from tests.synthetic import session
from workbench.analysis.series import View
from workbench.errors import BadInput

TIME, DISTRIBUTION = Look("time"), Look("distribution")


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    return record_session(tmp_path / "a.pong.yaml", session(2, 4))


def written(recorded: Path, name: str, options: ReportOptions) -> str:
    write_report(recorded, recorded.with_name(name), options)
    return recorded.with_name(name).read_text(encoding="utf-8")


def words_of(recorded: Path, options: ReportOptions) -> str:
    """The words of a picture, as a reader's search finds them."""
    write_report(recorded, recorded.with_name("a.pdf"), options)
    return words_in(recorded.with_name("a.pdf"))


def words_in(drawn: Path) -> str:
    (page,) = PdfReader(drawn).pages
    return " ".join(page.extract_text().split())


@pytest.mark.parametrize(
    ("look", "words"),
    [
        (TIME, ["Over time: the whole sweep", "% of completed calls"]),
        (Look("time", 9000.0), ["Over time: the points at 9,000/s", "each point"]),
        (DISTRIBUTION, ["Response times at each sustained rate by percentile", "p99.9"]),
        (Look("distribution", 9000.0), ["Response times at 9,000/s by percentile"]),
    ],
    ids=["time", "time-at", "distribution", "distribution-at"],
)
def test_a_picture_shows_the_chosen_view(recorded: Path, look: Look, words: list[str]) -> None:
    drawn = words_of(recorded, ReportOptions(look=look))
    for each in words:
        assert each in drawn


def test_a_session_with_a_single_value_is_drawn_as_bars(tmp_path: Path) -> None:
    file = record_session(tmp_path / "one.pong.yaml", session(2, rates=[2000.0]))
    drawn, table = tmp_path / "one.pdf", tmp_path / "one.csv"
    assert main(["report", str(file), "-o", str(drawn)]) == 0
    assert "A bar for each server" in words_in(drawn)
    assert main(["report", str(file), "-o", str(drawn), "--view", "sweep"]) == 0
    assert "A bar for each server" not in words_in(drawn)
    assert main(["report", str(file), "-o", str(table)]) == 0
    assert len(table.read_text().splitlines()) == 3  # titles, and a point of each server


def test_the_lowest_chart_over_time_can_show_another_metric(recorded: Path) -> None:
    drawn = words_of(recorded, ReportOptions(view=View(metric="cpu"), look=TIME))
    assert "Server CPU" in drawn
    assert "% of completed calls" not in drawn


def test_an_html_page_has_every_view(recorded: Path) -> None:
    page = written(recorded, "a.html", ReportOptions(plain=True))
    assert page.count('role="img"') == 3
    assert "<h2>Over time</h2>" in page
    assert "<h2>Distribution of response times</h2>" in page


def test_a_table_has_the_chosen_view(recorded: Path) -> None:
    over_time = written(recorded, "t.csv", ReportOptions(look=TIME))
    distributions = written(recorded, "d.csv", ReportOptions(look=DISTRIBUTION))
    assert ",phase," in over_time.splitlines()[0]
    assert ",percentile," in distributions.splitlines()[0]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (ReportOptions(look=Look("time", 7.0)), "no point at 7; its points are at 2250, 4500"),
        (ReportOptions(view=View(metric="nope"), look=TIME), "no metric 'nope'; available: offer"),
        (ReportOptions(view=View(metric="cpu")), "no metric 'cpu'"),
    ],
)
def test_what_a_view_does_not_have_is_named(
    recorded: Path, options: ReportOptions, sentence: str
) -> None:
    with pytest.raises(BadInput, match=sentence):
        written(recorded, "a.svg", options)
