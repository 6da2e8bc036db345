"""Reports open in other programs and match the session."""

from __future__ import annotations

import re
import subprocess
import sys
import zlib
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from msgspec.structs import replace
from pypdf import PdfReader
from PySide6.QtCore import QSize
from PySide6.QtGui import QColor, QImage
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QApplication

from app import theme
from app.__main__ import main
from app.charts.trio import Trio
from app.export.options import ReportOptions
from tests.markup import Markup
from tests.outcomes import Contestant
from tests.recording import record_session
from tests.reports import write_report
from tests.synthetic import contestants, session
from workbench.documents import AnyDocument, Note, PointStop, RunStart
from workbench.errors import BadInput
from workbench.sessions.labels import Label, Titles

SVG = "{http://www.w3.org/2000/svg}"


def recorded(tmp_path: Path, documents: list[AnyDocument]) -> Path:
    path = tmp_path / "a.pong.yaml"
    return record_session(path, documents)


def has_colour(image: QImage, colour: str) -> bool:
    pixels = np.frombuffer(image.convertToFormat(QImage.Format.Format_RGB32).constBits(), "<u4")
    return bool((pixels == QColor(colour).rgb()).any())


@pytest.mark.parametrize("name", ["light", "dark"])
def test_a_png_is_twice_the_page_and_shows_every_server(tmp_path: Path, name: str) -> None:
    write_report(recorded(tmp_path, session(3, 8)), tmp_path / "a.png", ReportOptions(theme=name))
    image = QImage(str(tmp_path / "a.png"))
    assert image.size() == QSize(3200, 2400)
    chosen = theme.THEMES[name]
    assert image.pixelColor(0, 0) == QColor(chosen.card)
    for index in range(3):
        assert has_colour(image, chosen.series(index).colour)


def test_an_svg_is_valid_drawn_alike_and_has_a_text_alternative(tmp_path: Path) -> None:
    write_report(recorded(tmp_path, session(3, 8)), tmp_path / "a.svg")
    root = ElementTree.parse(tmp_path / "a.svg").getroot()
    assert root.tag == f"{SVG}svg"
    assert (root.get("width"), root.get("height")) == ("1600", "1200")
    assert root.findtext(f"{SVG}title") == "Socket ping-pong"
    assert "gevent sustains 7,875/s" in (root.findtext(f"{SVG}desc") or "")
    assert not list(root.iter(f"{SVG}text")), "text would need our fonts"
    renderer = QSvgRenderer(str(tmp_path / "a.svg"))
    assert renderer.isValid()


@pytest.mark.parametrize("ending", ["svg", "html"])
def test_the_charts_of_a_report_do_not_stay(tmp_path: Path, ending: str) -> None:
    """Not even where no event loop runs, in which Qt deletes what is to be deleted later."""
    write_report(recorded(tmp_path, session(2, 4)), tmp_path / f"a.{ending}")
    assert not [each for each in QApplication.allWidgets() if isinstance(each, Trio)]


def test_a_pdf_has_one_page_without_pictures_whose_words_can_be_searched(tmp_path: Path) -> None:
    write_report(recorded(tmp_path, session(2, 4)), tmp_path / "a.pdf")
    (page,) = PdfReader(tmp_path / "a.pdf").pages
    assert not page.images
    words = " ".join(page.extract_text().split())
    for each in ("Socket ping-pong", "asyncio streams", "Response time", "6,750/s", "9,000"):
        assert each in words


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
    write_report(recorded(tmp_path, documents), tmp_path / "a.png", ReportOptions(size=(1000, 800)))
    assert QImage(str(tmp_path / "a.png")).size() == QSize(2000, 1600)


def test_an_unknown_file_extension_is_refused_with_a_message(tmp_path: Path) -> None:
    path = recorded(tmp_path, session(1, 1))
    with pytest.raises(BadInput, match=r"a\.gif.*\.csv, \.hgrm, \.html, \.pdf, \.png, \.svg"):
        write_report(path, tmp_path / "a.gif")


def test_a_path_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    path = recorded(tmp_path, session(1, 1))
    (tmp_path / "a.csv").mkdir()
    with pytest.raises(BadInput, match=r"a\.csv is a directory; give the name of a file for the"):
        write_report(path, tmp_path / "a.csv")


def test_a_missing_folder_is_created(tmp_path: Path) -> None:
    path = recorded(tmp_path, session(1, 1))
    write_report(path, tmp_path / "new" / "er" / "a.csv")
    assert (tmp_path / "new" / "er" / "a.csv").is_file()


def test_the_command_names_the_file_it_wrote(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = recorded(tmp_path, session(1, 1))
    assert main(["report", str(path), "-o", str(tmp_path / "a.csv")]) == 0
    assert capsys.readouterr() == (f"The report is {tmp_path / 'a.csv'}.\n", "")


def test_a_folder_that_cannot_be_created_is_reported(tmp_path: Path) -> None:
    path = recorded(tmp_path, session(1, 1))
    (tmp_path / "file").touch()
    with pytest.raises(BadInput, match=r"cannot be written to .*: .*Choose another place"):
        write_report(path, tmp_path / "file" / "a.csv")


def test_no_folder_is_made_for_a_report_of_nothing(tmp_path: Path) -> None:
    with pytest.raises(BadInput):
        write_report(tmp_path / "nothing.pong.yaml", tmp_path / "new" / "a.csv")
    assert not (tmp_path / "new").exists()


def test_a_failed_report_leaves_nothing_behind(tmp_path: Path) -> None:
    path = recorded(tmp_path, session(1, 1))
    (tmp_path / "a.csv").mkdir()
    with pytest.raises(BadInput):
        write_report(path, tmp_path / "a.csv")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.csv", "a.pong.yaml"]


def test_a_picture_needs_no_display_and_warns_of_nothing(tmp_path: Path) -> None:
    path = recorded(tmp_path, session(2, 4))
    code = (
        "import sys; from pathlib import Path; from tests.reports import write_report;"
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


HOSTILE = "</title></svg></style><script>alert(1)</script><img src=x onerror=alert(2)>\"'&"


def hostile() -> list[AnyDocument]:
    """A session with markup in every text."""
    who = [Contestant(c.id, c.name + HOSTILE, HOSTILE, 3000, 200, 1) for c in contestants(2)]
    start, *rest = session(who, 3, give_up=True, end="interrupted")
    assert isinstance(start, RunStart)
    machine = replace(start.machines[0], name=HOSTILE, facts={HOSTILE: HOSTILE})
    plan = start.plan | {"name": HOSTILE, "description": HOSTILE}
    found = [
        replace(d, reasons=[HOSTILE])
        if isinstance(d, PointStop)
        else replace(d, text=HOSTILE)
        if isinstance(d, Note)
        else d
        for d in rest
    ]
    return [replace(start, machines=[machine], plan=plan, pongbench=HOSTILE), *found]


def html(tmp_path: Path, documents: list[AnyDocument], **options: object) -> str:
    write_report(recorded(tmp_path, documents), tmp_path / "a.html", ReportOptions(**options))  # type: ignore[arg-type]
    return (tmp_path / "a.html").read_text(encoding="utf-8")


def test_the_pointer_tells_a_points_figures_in_an_html_report(tmp_path: Path) -> None:
    page = html(tmp_path, session(3, 8, untrusted_from=8500.0), plain=True)
    assert "7,875/s offered: 7," in page


def test_a_plain_html_report_needs_nothing_but_itself(tmp_path: Path) -> None:
    page = html(tmp_path, session(2, 4), plain=True)
    markup = Markup(page)
    assert not markup.open, "every tag is closed"
    assert not markup.tags & {"script", "img", "link", "iframe", "object", "foreignobject", "a"}
    assert not [name for name, _ in markup.attributes if name in ("src", "href", "xlink:href")]
    assert not [name for name, _ in markup.attributes if name.startswith("on")]
    assert "url(" not in page
    assert "@import" not in page
    assert ("content", "default-src 'none'; style-src 'unsafe-inline'") in markup.attributes


def test_a_hostile_session_brings_no_markup_of_its_own(tmp_path: Path) -> None:
    page = html(tmp_path, hostile(), plain=True)
    markup = Markup(page)
    assert not markup.open
    assert not markup.tags & {"script", "img"}
    assert "alert(1)" in page, "it is told, as text"
    write_report(tmp_path / "a.pong.yaml", tmp_path / "a.svg")
    tags = {element.tag for element in ElementTree.parse(tmp_path / "a.svg").iter()}
    assert not tags & {f"{SVG}script", f"{SVG}img"}


def test_an_html_report_is_the_same_every_time(tmp_path: Path) -> None:
    # Qt's outlines of letters differ by 0.02 px the first time that a process draws them.
    html(tmp_path, session(2, 4))
    first, second = tmp_path / "first.html", tmp_path / "second.html"
    for path in (first, second):
        write_report(tmp_path / "a.pong.yaml", path)
    assert first.read_text(encoding="utf-8") == second.read_text(encoding="utf-8")


def test_every_colour_of_a_report_has_its_place_in_the_dark(tmp_path: Path) -> None:
    page = html(tmp_path, session(12, 4, untrusted_from=6000.0), plain=True)
    drawn = set(re.findall(r'(?:fill|stroke)="(#[0-9a-f]{6})"', page))
    replaced = set(re.findall(r'\[(?:fill|stroke)="(#[0-9a-f]{6})"\]', page))
    assert drawn - replaced <= {"#000000"}, "Qt says black where nothing is drawn"
    assert {colour.lower() for colour in theme.LIGHT.hues} <= replaced
    for light, dark in zip(theme.LIGHT.hues, theme.DARK.hues, strict=True):
        assert f'svg [stroke="{light.lower()}"] {{ stroke: {dark.lower()}; }}' in page


def test_the_users_title_is_in_every_report_and_the_notes_on_request(tmp_path: Path) -> None:
    documents = session(1, 2)
    assert isinstance(documents[0], RunStart)
    Titles().write(documents[0].session, Label("On battery", "Ask <Lena>."))
    page = html(tmp_path, documents)
    assert "<h1>On battery</h1>" in page
    assert "Lena" not in page
    assert "Ask &lt;Lena&gt;." in (
        write_report(tmp_path / "a.pong.yaml", tmp_path / "n.html", ReportOptions(notes=True))
        or (tmp_path / "n.html").read_text(encoding="utf-8")
    )
    write_report(tmp_path / "a.pong.yaml", tmp_path / "a.svg")
    assert ElementTree.parse(tmp_path / "a.svg").getroot().findtext(f"{SVG}title") == "On battery"


def test_an_empty_plan_is_drawn(tmp_path: Path) -> None:
    start, *rest = session(1, 2)
    assert isinstance(start, RunStart)
    path = recorded(tmp_path, [replace(start, plan={}), *rest])
    for ending in ("html", "svg"):
        write_report(path, tmp_path / f"a.{ending}")


def test_a_line_in_a_pdf_is_as_wide_as_in_a_drawing(tmp_path: Path) -> None:
    write_report(recorded(tmp_path, session(1, 4)), tmp_path / "a.pdf")
    data = (tmp_path / "a.pdf").read_bytes()
    streams = re.findall(rb"stream\r?\n(.*?)\r?\nendstream", data, re.DOTALL)
    drawn = b"".join(zlib.decompress(s) for s in streams if s[:1] == b"x")
    # Units of three quarters of a point, the pixel of CSS; a series' line is two of them.
    assert re.search(rb"^0?\.750* 0 0 -0?\.750* 0 \S+ cm", drawn, re.MULTILINE)
    widths = {float(width) for width in re.findall(rb"([\d.]+) w\b", drawn)}
    assert any(1.9 < width < 3.5 for width in widths), widths


def test_damage_is_listed_first_among_a_sessions_doubts(tmp_path: Path) -> None:
    path = recorded(tmp_path, session(1, 3))
    lines = path.read_text().splitlines(keepends=True)
    lines[-4] = "--- {not this\n"
    path.write_text("".join(lines))
    write_report(path, tmp_path / "a.html")
    page = (tmp_path / "a.html").read_text()
    doubts = page.partition("What must not be trusted")[2]
    assert re.search(r"<li>Session a\.pong\.yaml, line \d+", doubts)
    assert str(tmp_path) not in page, "where the file lies is nobody's business"
