"""A zoom of the charts in what is exported."""

from __future__ import annotations

import argparse
import re
from io import BytesIO
from pathlib import Path

import pytest
from pypdf import PdfReader

from app.charts.view_state import Showing
from app.export.command import add_report, showing_arguments
from app.export.options import ReportOptions
from tests.recording import record_session
from tests.reports import write_report
from tests.synthetic import session
from workbench.errors import BadInput

PART = Showing({"x": (3000.0, 5000.0), "time": (1.0, 50.0)}, {"x": True, "time": False})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return record_session(tmp_path / "four.pong.yaml", session(4, 12))


def written(path: Path, output: Path, showing: Showing, *, plain: bool = False) -> bytes:
    write_report(path, output, ReportOptions(showing=showing, plain=plain))
    return output.read_bytes()


def test_a_page_shows_the_part_and_says_so(path: Path, tmp_path: Path) -> None:
    read = PdfReader(BytesIO(written(path, tmp_path / "part.pdf", PART)))
    message = " ".join(read.pages[0].extract_text().split())
    assert "log scale · zoomed to 3,000–5,000/s" in message
    assert "Response time p99, from scheduled time, zoomed" in message
    assert "Zoomed: the session has more points" in message


def test_a_web_page_has_the_figures_of_the_part_only(path: Path, tmp_path: Path) -> None:
    whole = written(path, tmp_path / "all.html", Showing(), plain=True).decode()
    part = written(
        path, tmp_path / "part.html", Showing({"x": (3000.0, 5000.0)}), plain=True
    ).decode()
    rates = {
        float(rate.replace(",", "")) for rate in re.findall(r"<title>[^<]*? at ([\d,]+)/s", part)
    }
    assert rates
    assert all(3000 <= rate <= 5000 for rate in rates)
    assert len(re.findall('class="spot"', whole)) > len(re.findall('class="spot"', part))


def test_the_window_passes_all_of_it_to_the_command() -> None:
    parser = argparse.ArgumentParser()
    add_report(parser)
    words = ["a.yaml", "-o", "a.pdf", *showing_arguments(PART)]
    read = parser.parse_args(words)
    assert dict(read.zoom) == PART.zoom
    assert (read.log, read.linear) == (["x"], ["time"])


@pytest.mark.parametrize(
    ("showing", "message"),
    [
        (Showing({"x": (90_000.0, 95_000.0)}), "no point from 90000 to 95000; its points are from"),
        (Showing({"y": (1.0, 2.0)}), "no axis 'y'; it has x, replies, time and errors"),
        (Showing({}, {"z": True}), "no axis 'z'"),
    ],
)
def test_a_part_with_nothing_in_it_is_refused(
    path: Path, tmp_path: Path, showing: Showing, message: str
) -> None:
    with pytest.raises(BadInput, match=re.escape(message)):
        written(path, tmp_path / "part.pdf", showing)
