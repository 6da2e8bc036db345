"""Published figures on charts: their labels and what is shown of them on hover."""

from __future__ import annotations

import dataclasses
from itertools import combinations

import pytest
import yaml
from msgspec.structs import replace
from pytestqt.qtbot import QtBot

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
def test_labels_avoid_each_other_and_every_cross_says_whose_it_is(
    qtbot: QtBot, preset: str, servers: tuple[str, ...], size: tuple[int, int]
) -> None:
    trio = shown(qtbot, of_preset(preset, servers))
    trio.resize(*size)
    trio.grab()
    chart = trio.charts[Quantity.REPLIES]
    found = chart.marks.published()
    labels = [box for *_, text, box in found if text]
    assert labels
    for box in labels:
        assert chart.plot_rect().contains(box)
        assert not any(box.contains(at) for _, at, _, _ in found)
    assert not any(a.intersects(b) for a, b in combinations([*chart.words(), *labels], 2))
    for figure, at, _, _ in found:
        assert figure.name in chart.marks.at(at)
