"""Reports open elsewhere and say what the session says."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from PySide6.QtCore import QSize
from PySide6.QtGui import QColor, QImage
from PySide6.QtSvg import QSvgRenderer

from app import theme
from app.report import write_report
from tests.synthetic import Contestant, contestants, session
from workbench.documents import AnyDocument, PointStop
from workbench.errors import BadInput
from workbench.sessions import Recorder

SVG = "{http://www.w3.org/2000/svg}"


def recorded(tmp_path: Path, documents: list[AnyDocument]) -> Path:
    path = tmp_path / "a.pong.yaml"
    recorder = Recorder(path)
    for document in documents:
        recorder(document)
    recorder.close()
    return path


def has_colour(image: QImage, colour: str) -> bool:
    pixels = np.frombuffer(image.convertToFormat(QImage.Format.Format_RGB32).constBits(), "<u4")
    return bool((pixels == QColor(colour).rgb()).any())


@pytest.mark.parametrize("name", ["light", "dark"])
def test_a_png_is_twice_the_page_and_shows_every_server(tmp_path: Path, name: str) -> None:
    write_report(recorded(tmp_path, session(3, 8)), tmp_path / "a.png", theme=name)
    image = QImage(str(tmp_path / "a.png"))
    assert image.size() == QSize(3200, 2400)
    chosen = theme.THEMES[name]
    assert image.pixelColor(0, 0) == QColor(chosen.card)
    for index in range(3):
        assert has_colour(image, chosen.series(index).colour)


def test_an_svg_is_valid_drawn_alike_and_told_in_words(tmp_path: Path) -> None:
    write_report(recorded(tmp_path, session(3, 8)), tmp_path / "a.svg")
    root = ElementTree.parse(tmp_path / "a.svg").getroot()
    assert root.tag == f"{SVG}svg"
    assert (root.get("width"), root.get("height")) == ("1600", "1200")
    assert root.findtext(f"{SVG}title") == "Socket ping-pong"
    assert "gevent holds 7,875/s" in (root.findtext(f"{SVG}desc") or "")
    assert not list(root.iter(f"{SVG}text")), "text would need our fonts"
    renderer = QSvgRenderer(str(tmp_path / "a.svg"))
    assert renderer.isValid()


def test_a_pdf_has_one_page_of_outlines(tmp_path: Path) -> None:
    write_report(recorded(tmp_path, session(2, 4)), tmp_path / "a.pdf")
    data = (tmp_path / "a.pdf").read_bytes()
    assert data.startswith(b"%PDF-")
    assert data.count(b"/Type /Page\n") == 1
    assert b"/Subtype /Image" not in data


def test_a_csv_read_again_holds_what_was_recorded(tmp_path: Path) -> None:
    documents = session(3, 8, repeats=2, untrusted_from=8000)
    write_report(recorded(tmp_path, documents), tmp_path / "a.csv")
    data = (tmp_path / "a.csv").read_bytes()
    assert data.count(b"\r\n") == data.count(b"\n"), "RFC 4180 ends lines with CR LF"
    with (tmp_path / "a.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    stops = [d for d in documents if isinstance(d, PointStop) and d.purpose == "sweep"]
    assert len(rows) == len(stops)
    for row, stop in zip(rows, stops, strict=True):
        assert row["server"] == stop.server
        assert int(row["point"]) == stop.point
        assert float(row["rate_per_s"]) == stop.rate_per_s
        assert float(row["replies_per_s"]) == stop.replies_per_s
        assert float(row["errors_pct"]) == stop.errors_pct
        assert int(row["succeeded_calls"]) == stop.counts.succeeded
        assert int(row["error_client_timo_calls"]) == stop.counts.errors.get("client-timo", 0)
        assert stop.latency_us
        assert float(row["latency_p99_ms"]) == stop.latency_us.p99 / 1000
        assert row["verdict"] == stop.verdict
        assert row["reasons"] == " ".join(stop.reasons)


def test_no_reply_leaves_the_times_of_a_csv_empty(tmp_path: Path) -> None:
    dead = Contestant("dead", "Dead, quite", "", 0, 100, 1 << 20)
    write_report(recorded(tmp_path, session([dead], 2)), tmp_path / "a.csv")
    with (tmp_path / "a.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["latency_p50_ms"] for row in rows] == ["", ""]
    assert rows[0]["server_name"] == "Dead, quite"


LONG = [
    Contestant(c.id, f"{c.name} with a remarkably long name", c.version, c.capacity_per_s, 200, 1)
    for c in contestants(12)
]


@pytest.mark.parametrize(
    "documents",
    [
        session(3, 8)[:3],
        session(1, 1),
        session([Contestant("dead", "Dead", "", 0, 100, 1 << 20)], 4),
        session(2, 6, end="crashed"),
        session(2, 6, end="interrupted"),
        session(LONG, 4, give_up=True),
        session(4, rates=[2000.0, 8000.0, 16000.0], repeats=2),
    ],
    ids=["nothing", "one point", "all failed", "cut", "aborted", "long names", "ceiling"],
)
def test_every_session_makes_a_page(tmp_path: Path, documents: list[AnyDocument]) -> None:
    write_report(recorded(tmp_path, documents), tmp_path / "a.png", size=(1000, 800))
    assert QImage(str(tmp_path / "a.png")).size() == QSize(2000, 1600)


def test_an_unknown_ending_is_refused_in_words(tmp_path: Path) -> None:
    path = recorded(tmp_path, session(1, 1))
    with pytest.raises(BadInput, match=r"a\.gif.*\.csv, \.pdf, \.png, \.svg"):
        write_report(path, tmp_path / "a.gif")


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    path = recorded(tmp_path, session(1, 1))
    (tmp_path / "taken").write_text("")
    with pytest.raises(BadInput, match="cannot be written to"):
        write_report(path, tmp_path / "taken" / "a.csv")


def test_nothing_is_left_of_a_report_that_failed(tmp_path: Path) -> None:
    path = recorded(tmp_path, session(1, 1))
    (tmp_path / "a.csv").mkdir()
    with pytest.raises(BadInput):
        write_report(path, tmp_path / "a.csv")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.csv", "a.pong.yaml"]


def test_a_picture_needs_no_display_and_warns_of_nothing(tmp_path: Path) -> None:
    path = recorded(tmp_path, session(2, 4))
    code = (
        "import sys; from pathlib import Path; from app.report import write_report;"
        "write_report(Path(sys.argv[1]), Path(sys.argv[2]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path), str(tmp_path / "b.png")],
        cwd=Path(__file__).parents[2],
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "LANG": "C.UTF-8"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "b.png").stat().st_size > 50_000
