"""A faulty server in the window: a cross and text, never colour alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QFrame, QLabel
from pytestqt.qtbot import QtBot

from app import theme
from app.charts.model import ChartModel
from app.charts.series import Quantity
from app.charts.trio import Trio
from app.comparing.ranking import RankingCard
from app.live.first_untrusted import doubts
from app.live.headline import lead
from app.live.legend import Legend
from tests.gui.trios import shown
from tests.synthetic import session
from tests.turned_bad import turned_bad
from workbench.messages.topics import read_note
from workbench.results import sustained
from workbench.results.comparison import compare, side_of
from workbench.sessions import Session

BAD, NEVER_GOOD, GOOD = "asyncio-protocol", "asyncio-streams", "gevent"


@pytest.fixture
def trio(qtbot: QtBot) -> Trio:
    documents = turned_bad(turned_bad(session(3, 8), BAD, 4000.0), NEVER_GOOD, 0.0)
    return shown(qtbot, documents)


def test_faulty_points_are_crossed_and_the_head_says_what_that_means(trio: Trio) -> None:
    chart = trio.charts[Quantity.ERRORS]
    picture = chart.grab().toImage()
    crossed = {}
    for server in (BAD, GOOD):
        curve = chart.curves[server]
        points = dict(zip(curve.values.x, curve.pixels(), strict=True))
        for x in (3375.0, 5625.0):
            at = points[x]
            found = {picture.pixelColor(round(at[0]), round(at[1]) - i).name() for i in (4,)}
            crossed[server, x] = QColor(theme.LIGHT.bad).name() in found
    assert crossed == {(BAD, 3375.0): False, (BAD, 5625.0): True, (GOOD, 3375.0): False} | {
        (GOOD, 5625.0): False
    }
    assert "crossed: faulty" in str(trio.charts[Quantity.REPLIES].head.texts())


def test_the_card_says_what_the_server_answered(trio: Trio) -> None:
    trio.highlight(BAD, 5625.0)
    assert "The server answers 500:" in trio.pointing.card.accessibleName()
    assert "Internal Server Error" in trio.pointing.card.accessibleName()


def test_the_list_of_servers_marks_it_and_says_why(qtbot: QtBot, trio: Trio) -> None:
    legend = Legend(trio)
    qtbot.addWidget(legend)
    legend.resize(330, 300)
    legend.refresh()
    rows = {
        series.id: next(
            row
            for row in legend.findChildren(QFrame)
            if row.accessibleName().startswith(series.name)
        )
        for series in trio.model.series.values()
    }
    assert "≥ 3,375/s" in rows[BAD].accessibleName()
    assert "faulty from 1,125/s" in rows[NEVER_GOOD].accessibleName()
    assert "faulty from 4,500/s: answers 500" in rows[BAD].toolTip().lower()
    signs = {
        server
        for server, row in rows.items()
        for sign in row.findChildren(QLabel)
        if sign.accessibleName() == "faulty" and not sign.isHidden()
    }
    assert signs == {BAD, NEVER_GOOD}


def test_summary_text_and_headline_name_it(trio: Trio) -> None:
    series = trio.model.series
    message = "asyncio streams is faulty from 1,125/s: answers 500"
    assert sustained.sentence(series[NEVER_GOOD]) == message
    assert sustained.sentence(series[BAD]).endswith("3,375/s, faulty from 4,500/s: answers 500")
    reported = lead(trio.model, NEVER_GOOD, 0.0)
    assert [(f.caption, f.value, f.tone) for f in reported.figures] == [
        ("faulty from", "1,125", "bad")
    ]
    reported = lead(trio.model, BAD, 5625.0)
    assert [(f.caption, f.tone) for f in reported.figures][-1] == ("answered, faulty", "bad")


@pytest.mark.qt_log_ignore("propagateSizeHints")
def test_a_comparison_marks_a_faulty_point_and_says_why(qtbot: QtBot) -> None:
    documents = turned_bad(turned_bad(session(3, 8), BAD, 4000.0), NEVER_GOOD, 0.0)
    found = compare([side_of(Session("A", documents), Path("A.yaml"), "A")])
    card = RankingCard()
    qtbot.addWidget(card)
    card.resize(330, 300)
    card.display(found)
    picture, signs = card.bars.grab().toImage(), {}
    high = picture.height() // len(card.bars.rows)
    for line, row in enumerate(card.bars.rows):
        y = line * high + high // 2
        seen = {picture.pixelColor(x, y).name() for x in range(picture.width())}
        signs[row.result.key] = QColor(theme.LIGHT.bad).name() in seen
        assert ("faulty from" in row.spoken) == signs[row.result.key]
    assert signs == {BAD: True, NEVER_GOOD: True, GOOD: False}


def test_the_event_log_names_each_faulty_server_once() -> None:
    model = ChartModel()
    documents = turned_bad(turned_bad(session(3, 8), BAD, 4000.0), NEVER_GOOD, 0.0)
    for document in documents:
        model(document)
    found = [read_note(note) for note in doubts(model)]
    faulty = [note for note in found if note.code == "faulty"]
    assert [(note.data()["name"], note.data()["x"]) for note in faulty] == [
        ("asyncio streams", 1125.0),
        ("asyncio Protocol", 4500.0),
    ]
