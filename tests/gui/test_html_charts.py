"""The charts of an HTML page: data for one script, which draws them in a real browser."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from app.charts.view_state import Showing
from app.export.options import ReportOptions
from tests.gui.test_published_marks import of_preset
from tests.gui.test_report import hostile
from tests.markup import Markup
from tests.recording import record_session
from tests.reports import write_report
from tests.synthetic import session
from workbench.documents import AnyDocument, PointStop
from workbench.sessions.chart_notes import ChartNote, ChartNotes

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
STEPS = (Path(__file__).parent / "html_charts_steps.js").read_text("utf-8")


def page(tmp_path: Path, documents: list[AnyDocument], **options: Any) -> str:
    path = record_session(tmp_path / "a.pong.yaml", documents)
    write_report(path, tmp_path / "a.html", ReportOptions(**options))
    return (tmp_path / "a.html").read_text("utf-8")


def data(html: str) -> Any:
    (found,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', html, re.S)
    return json.loads(found)


def test_a_page_has_the_figures_of_every_point(tmp_path: Path) -> None:
    documents = session(3, 8, untrusted_from=8500.0)
    ChartNotes(tmp_path / "a.pong.yaml").put("", ChartNote(4500.0, "Here."))
    found = data(page(tmp_path, documents, showing=Showing({"x": (3000.0, 5000.0)})))
    views = [sheet["key"] for sheet in found["sheets"]]
    assert views == ["sweep", "servers", "time", "distribution"]
    assert (found["zoom"], found["notes"]) == ([3000.0, 5000.0], [4500.0])
    says = found["sheets"][1]["says"]
    assert all(len(sentences) == 1 for sentences in says.values()) and len(says) == 3
    replies, times, errors = found["sheets"][0]["charts"]
    for stop in documents:
        if isinstance(stop, PointStop) and stop.judged:
            line = replies["lines"][stop.server]["p99"]
            at = line["x"].index(stop.x)
            assert line["y"][at] == pytest.approx(stop.replies_per_s, rel=1e-3)
            assert (line["marks"][at] == "o") == (stop.x > 8500)
            assert stop.latency_us
            p50 = times["lines"][stop.server]["p50"]["y"][at]
            assert p50 == pytest.approx(stop.latency_us.p50 / 1000, rel=1e-3)
            errors_pct = errors["lines"][stop.server]["p99"]["y"][at]
            assert errors_pct == pytest.approx(stop.errors_pct, rel=1e-2)


def test_a_session_of_one_value_begins_with_bars_and_published_figures(tmp_path: Path) -> None:
    servers = ("django", "flask", "aiohttp")
    found = data(page(tmp_path, of_preset("gasc-2015-constant-json", servers, [4000.0])))
    assert [sheet["key"] for sheet in found["sheets"]] == ["servers", "time", "distribution"]
    first = found["sheets"][0]
    replies, times, _ = first["charts"]
    places = {key: line["p99"]["x"][0] for key, line in replies["lines"].items()}
    assert sorted(places.values()) == [0.5, 1.5, 2.5]
    assert {key: x for x, _, key in first["across"]["marks"]} == places
    stated = {at: texts for at, _, texts in replies["published"]}
    assert stated[places["flask"]] == ["2015: 2,714/s", "2,714/s"]
    assert list(times["lines"]["flask"]) == ["mean"], "as the published figure"
    assert not times["log"], "a bar is as long as its value"


@pytest.mark.parametrize("documents", [session(2, 4), hostile()], ids=["plain", "hostile"])
def test_only_the_script_of_the_page_may_run(tmp_path: Path, documents: list[AnyDocument]) -> None:
    html = page(tmp_path, documents)
    ours, *others = re.findall(r"<script>(.*?)</script>", html, re.S)
    assert not others
    digest = base64.b64encode(hashlib.sha256(ours.encode()).digest()).decode()
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', html)
    assert policy.split("; ") == [
        *("default-src 'none'", "style-src 'unsafe-inline'"),
        *(f"script-src 'sha256-{digest}'", "img-src data:"),
    ]
    assert not Markup(html).tags & {"link", "iframe", "object", "a"}
    tables = sum(map(len, re.findall(r"<table.*?</table>", html, re.S)))
    assert len(html) - len(json.dumps(data(html))) - tables < 300_000


def test_every_colour_of_a_plain_page_has_one_for_the_dark(tmp_path: Path) -> None:
    html = page(tmp_path, session(3, 8, repeats=2, untrusted_from=6000.0), plain=True)
    drawn = set(re.findall(r'(?:fill|stroke)="(#[0-9a-f]{6})"', html)) - {"#000000"}  # unused
    assert drawn and drawn <= set(re.findall(r'svg \[fill="(#[0-9a-f]{6})"\]', html))


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
@pytest.mark.parametrize("width", [390, 1280])
def test_a_browser_draws_zooms_and_toggles(tmp_path: Path, width: int) -> None:
    html = page(tmp_path, hostile())
    # The steps below are a second script, which the page forbids.
    html = re.sub(r"<meta http-equiv[^>]*>", "", html)
    html = html.replace("</body>", f"<script>setTimeout(() => {{ {STEPS} }}, 200)</script></body>")
    (tmp_path / "b.html").write_text(html, "utf-8")
    assert CHROMIUM
    done = subprocess.run(
        [
            *(CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"),
            *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
            *(f"--user-data-dir={tmp_path / 'profile'}", f"--window-size={width},900"),
            *("--virtual-time-budget=5000", "--dump-dom", (tmp_path / "b.html").as_uri()),
        ],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    (found,) = re.findall(r'data-found="(.*?)"', done.stdout)
    assert json.loads(found.replace("&quot;", '"')) == [3, True, 1, "p50", 1, True, True]
    assert "alert(1)" in done.stdout, "it is told, as text"
