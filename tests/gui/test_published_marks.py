"""Published figures on charts: their labels and what is shown of them on hover."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from itertools import combinations

import pytest
import yaml
from msgspec.structs import replace
from pytestqt.qtbot import QtBot

from app.charts.series import Quantity
from app.charts.view_state import Look, first_view
from tests.gui.trios import shown, texts, written
from tests.synthetic import CONTESTANTS, session
from workbench.documents import AnyDocument, PointStart, RunStart
from workbench.paths import RESOURCES

WSGI = ("aspen", "cherrypy", "cogen-wsgi", "gevent-pywsgi", "mod-wsgi-embedded", "twisted-web")


RATES = [1000.0 * n for n in range(1, 11)]


def of_preset(
    name: str, servers: tuple[str, ...], rates: Sequence[float] = RATES
) -> list[AnyDocument]:
    """A run of a preset's question, by servers whose figures were published."""
    who = [
        dataclasses.replace(each, id=id_, name=id_)
        for each, id_ in zip(CONTESTANTS, servers, strict=False)
    ]
    start, *rest = session(who, 10, rates=rates)
    assert isinstance(start, RunStart)
    asked = yaml.safe_load((RESOURCES / "plans" / f"{name}.yaml").read_text(encoding="utf-8"))
    same = {key: value for key, value in asked.items() if key not in ("rates", "servers")}
    return [replace(start, plan={**start.plan, **same}), *rest]


@pytest.mark.parametrize("size", [(800, 540), (1200, 760)])
@pytest.mark.parametrize(
    ("preset", "servers"),
    [
        ("piel-2009-sockets", ("tornado", "twisted", "circuits", "eventlet")),
        ("piel-2010-wsgi-http11", WSGI),
    ],
)
def test_labels_avoid_each_other_and_every_cross_says_whose_it_is(
    qtbot: QtBot, preset: str, servers: tuple[str, ...], size: tuple[int, int]
) -> None:
    trio = shown(qtbot, of_preset(preset, servers))
    trio.resize(*size)
    trio.grab()
    chart = trio.charts[Quantity.REPLIES]
    found = chart.marks.published()
    labels = [mark.label for mark in found if mark.text]
    assert labels
    for box in labels:
        assert chart.plot_rect().contains(box)
        assert not any(box.contains(mark.at) for mark in found)
    assert not any(a.intersects(b) for a, b in combinations([*texts(chart), *labels], 2))
    for mark in found:
        assert mark.figure.name in chart.marks.at(mark.at)


def test_bars_of_a_single_value_have_what_was_published_beside_them(qtbot: QtBot) -> None:
    documents = of_preset("gasc-2015-constant-json", ("django", "flask", "aiohttp"), [4000.0])
    trio = shown(qtbot, documents)
    replies, time = trio.charts[Quantity.REPLIES], trio.charts[Quantity.TIME]
    assert not time.marks.published(), "a published mean does not belong on an axis of p99"
    trio.set_view(percentile="mean")
    assert {mark.sign for mark in time.marks.published()} == {"+", "^"}
    trio.set_view(percentile="p99")

    trio.project(Look(first_view(trio.model.axis)))
    trio.grab()
    signs = {(mark.figure.name, mark.kind): mark.sign for mark in replies.marks.published()}
    assert signs["Django", "replies"] == "-"
    beyond = {mark.figure.name for mark in time.marks.published() if mark.sign == "^"}
    assert beyond == {"Django", "Flask"}
    said = written(trio)
    assert "2015: 97 s" in said and "2015: 1,799/s" in said, "also what lies beyond the axis"
    assert time.title_text()[1].startswith("mean")
    x = float(replies.curves["flask"].values.x[0])
    assert replies.nearest(replies.at(x, 100.0)) == ("flask", x)
    trio.set_shown("flask", False)
    assert trio.drawn.last_x == 2, "a hidden server leaves no gap"
    assert {replies.curves[id_].values.x[0] for id_ in ("django", "aiohttp")} == {0.5, 1.5}


@pytest.mark.parametrize("rate", [1500.0, 1700.0, 1900.0])
def test_no_line_crosses_the_value_of_a_bar(qtbot: QtBot, rate: float) -> None:
    documents = of_preset("gasc-2015-constant-json", ("django", "flask", "aiohttp"), [rate])
    trio = shown(qtbot, documents)
    trio.project(Look(first_view(trio.model.axis)))
    trio.grab()
    chart = trio.charts[Quantity.REPLIES]
    lines = [mark.at for mark in chart.marks.published() if mark.sign == "-"]
    values = [curve.value_box() for curve in chart.shown.values()]
    assert lines and not any(value.contains(at) for value in values for at in lines)


def test_the_bar_of_a_running_point_grows(qtbot: QtBot) -> None:
    documents = session(2, rates=[2000.0])
    last = max(n for n, each in enumerate(documents) if isinstance(each, PointStart))
    trio = shown(qtbot, documents[: last + 1])
    trio.project(Look("servers"))
    running, heights = trio.model.running_server, []
    for document in documents[last + 1 : -1]:
        trio.model(document)
        trio.refresh()
        values = trio.charts[Quantity.REPLIES].curves[running].values
        heights += [(float(values.y[0]), bool(values.trusted[0]))] if len(values.y) else []
    known = [height for height in heights if height[0] > 0]
    assert not known[0][1] and known[-1][1], "it is trusted at its end only"
