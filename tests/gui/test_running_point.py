"""The running point is visible in all three charts, with its name next to it."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from pytestqt.qtbot import QtBot

from app import theme
from app.charts.model import ChartModel
from app.charts.series import Quantity
from app.charts.trio import Trio
from tests.synthetic import session
from workbench.documents import AnyDocument, PointStart, Window


def with_open_calls(documents: list[AnyDocument], number: int) -> list[AnyDocument]:
    """Cut within the sweep's point `number`, half of whose calls are still open."""
    starts = [d for d in documents if isinstance(d, PointStart) and d.purpose == "sweep"]
    first = documents.index(starts[number]) + 1
    windows = [d for d in documents[first:] if isinstance(d, Window)][:4]
    return documents[:first] + [replace(w, replies=w.due // 2, errors={}) for w in windows]


@pytest.mark.parametrize("number", [1, 4, 7])
def test_a_name_never_lies_on_the_point_that_runs(qtbot: QtBot, number: int) -> None:
    model = ChartModel()
    for document in with_open_calls(session(1, 8), number):
        model(document)
    trio = Trio(model, theme.LIGHT)
    qtbot.addWidget(trio, before_close_func=lambda _: trio)
    trio.resize(820, 540)
    trio.refresh()
    with qtbot.waitExposed(trio):
        trio.show()
    trio.grab()
    running = model.running
    assert running is not None
    assert running.errors_pct == pytest.approx((0, 50), abs=1)
    for quantity, chart in trio.charts.items():
        where = chart.running_at()
        places = [where] if where is not None else []
        if quantity is Quantity.ERRORS:
            places = [chart.at(running.x, pct) for pct in range(0, 51, 5)]
        name = chart.names.running
        assert name is not None
        assert places
        assert not any(name.contains(place) for place in places)
        near = min(abs(name.left() - places[0].x()), abs(name.right() - places[0].x()))
        assert near < 30
