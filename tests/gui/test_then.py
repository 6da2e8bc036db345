"""Then and now, in the side column."""

from __future__ import annotations

import msgspec
import pytest
from pytestqt.qtbot import QtBot

from app.context import Desk
from app.pages.live import LivePage
from tests.gui.windows import press, says
from tests.synthetic import CONTESTANTS, session
from workbench.documents import RunStart
from workbench.plan.reading import plan_from_data

# The offscreen platform says so of every window that has a least size.
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


def test_what_is_not_as_it_was_then_stands_beside_the_figures(qtbot: QtBot, desk: Desk) -> None:
    page = LivePage(desk)
    qtbot.addWidget(page, before_close_func=lambda _: page)
    page.resize(1300, 820)
    with qtbot.waitExposed(page):
        page.show()
    start, *others = session([each for each in CONTESTANTS if each.id == "tornado"], 8)
    assert isinstance(start, RunStart)
    start = msgspec.structs.replace(start, plan=start.plan | {"source": "piel-2009-sockets"})
    page.begin(plan_from_data(start.plan, name="a test"))
    for document in [start, *others]:
        page.consume(document)
    page.refresh()
    press(page, "Published, and now")
    assert says(page, "Not the same now: Rates are offered by our agents")
    assert says(page, "point length 2 s, not 40,000 calls")
