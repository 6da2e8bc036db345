"""Published figures on charts: their labels, the text of the ideal line, and each other."""

from __future__ import annotations

import dataclasses
from itertools import combinations

import pytest
import yaml
from msgspec.structs import replace
from pytestqt.qtbot import QtBot

from app.charts.clipping import joined
from app.charts.labels import crossings, touch
from app.charts.published import PublishedMarks, crosses
from app.charts.series import Quantity
from tests.gui.trios import shown
from tests.synthetic import CONTESTANTS, session
from workbench.documents import AnyDocument, RunStart
from workbench.paths import RESOURCES

WSGI = ("aspen", "cherrypy", "cogen-wsgi", "gevent-pywsgi", "mod-wsgi-embedded", "twisted-web")


def of_preset(name: str, servers: tuple[str, ...]) -> list[AnyDocument]:
    """A run of a preset's question, by servers whose figures were published."""
    who = [
        dataclasses.replace(each, id=id_, name=id_)
        for each, id_ in zip(CONTESTANTS, servers, strict=False)
    ]
    start, *rest = session(who, 10, rates=[1000.0 * n for n in range(1, 11)])
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
def test_labels_the_text_of_the_ideal_line_and_names_avoid_each_other(
    qtbot: QtBot, preset: str, servers: tuple[str, ...], size: tuple[int, int]
) -> None:
    trio = shown(qtbot, of_preset(preset, servers))
    trio.resize(*size)
    trio.grab()
    chart = trio.charts[Quantity.REPLIES]
    texts = [*chart.words(), *chart.names.boxes()]
    marks = crosses(chart)
    labels = PublishedMarks(chart).boxes()
    assert len(labels) == len(marks) > 0
    assert not any(touch(a, b) for a, b in combinations(labels, 2))
    assert not any(touch(label, other) for label in labels for other in (*texts, *marks))
    assert not any(touch(text, mark) for text in chart.words() for mark in marks)


@pytest.mark.parametrize("size", [(800, 540), (720, 420), (1200, 760)])
def test_a_label_covers_no_line_where_there_is_a_place_without(
    qtbot: QtBot, size: tuple[int, int]
) -> None:
    trio = shown(qtbot, of_preset("piel-2009-sockets", ("tornado", "twisted", "eventlet")))
    trio.resize(*size)
    trio.grab()
    chart = trio.charts[Quantity.REPLIES]
    labels = PublishedMarks(chart).boxes()
    lines = joined([chart.ideal(), *(curve.seen() for curve in chart.still())])
    assert labels
    assert not crossings(labels, lines).any()
