"""The list of events of a session."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QEvent, QPoint
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel
from pytestqt.qtbot import QtBot

from app.charts.model import ChartModel
from app.live.events import Event, EventLog
from app.live.first_untrusted import doubts
from tests.gui.trios import live_board
from tests.gui.windows import name_of
from tests.synthetic import session
from workbench.documents import Note, PointStop, Verdict
from workbench.messages import notes
from workbench.messages.base import Said
from workbench.messages.reasons import reason


def test_a_shared_backlog_is_stated_once_and_a_different_one_with_its_server(qtbot: QtBot) -> None:
    listed = EventLog()
    qtbot.addWidget(listed)
    for t_us, (name, backlog) in enumerate((("gevent", 512), ("Trio", 512), ("Tornado", 128)) * 2):
        in_force = notes.notice("backlog", name=name, backlog=backlog, asked=512)
        listed.add(Event(in_force.note(t_us), name))
    listed.refresh()
    texts = [each.text() for each in listed.findChildren(QLabel) if "backlog" in each.text()]
    assert sorted(texts) == [
        notes.of_all(notes.notice("backlog", backlog=512, asked=512)),
        notes.notice("backlog", name="Tornado", backlog=128, asked=512).text(),
    ]


def lines(listed: EventLog) -> list[str]:
    listed.refresh()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    return [each.text() for each in listed.findChildren(QLabel) if len(each.text()) > 20]


@pytest.mark.qt_log_ignore("propagateSizeHints")
def test_the_latest_event_stands_first(qtbot: QtBot) -> None:
    listed = EventLog()
    qtbot.addWidget(listed)
    listed.resize(330, 400)
    texts = ["Good to know, the first", "A warning for readers", "Good to know, the second"]
    for t_us, (topic, text) in enumerate(zip(("gate", "warning", "gate"), texts, strict=True)):
        listed.add(Event(Note(t_us=t_us, topic=topic, text=text), ""))
        listed.refresh()
    with qtbot.waitExposed(listed):
        listed.show()

    def seen() -> list[str]:
        labels = [each for each in listed.findChildren(QLabel) if each.text() in texts]
        labels.sort(key=lambda each: each.mapTo(listed, QPoint()).y())
        return [each.text() for each in labels]

    qtbot.waitUntil(lambda: seen() == texts[::-1])


def test_points_inconclusive_for_one_cause_are_reported_in_one_sentence(qtbot: QtBot) -> None:
    listed, model = EventLog(), ChartModel()
    qtbot.addWidget(listed)
    measured = next(d for d in session(1, 2) if isinstance(d, PointStop) and d.complete)
    measured = replace(measured, purpose="sweep")
    disturbed = [
        ("gevent", 18_000, 36),
        ("gevent", 16_000, 0),
        ("gevent", 20_000, 61),
        ("Twisted", 4_000, 26),
    ]
    for t_us, (server, rate, taken) in enumerate(disturbed):
        cause = reason("background-load", cpu_pct=taken)
        verdict: Verdict = "inconclusive" if taken else "ok"
        judged = {"verdict": verdict, "t_us": t_us} | recorded(cause)
        model(replace(measured, series=server, x=float(rate), rate_per_s=float(rate), **judged))
    listed.show_doubts([Event(note, str(note.data["name"])) for note in doubts(model)])
    (message,) = lines(listed)
    assert message == (
        "Background load took 26 % of a core from server and clients. Repeat on a quiet"
        " machine. Not judged: gevent at 18,000 and 20,000/s and Twisted at 4,000/s."
    )
    assert listed.warnings == 1


def recorded(*reasons: Said) -> dict[str, Any]:
    return {"reasons": [r.text() for r in reasons], "findings": [r.record() for r in reasons]}


def doubt(name: str, x: float, cause: Said, t_us: int = 1) -> Note:
    return notes.notice("not-judged", name=name, x=x, cause=cause.text()).note(t_us)


def test_repeated_points_are_reported_in_one_sentence(qtbot: QtBot) -> None:
    listed = EventLog()
    qtbot.addWidget(listed)
    for attempt in (1, 2):
        for name, rate in (("gevent", 15_500.0), ("Twisted", 9_000.0 * attempt)):
            again = notes.notice(
                "again", name=name, look=attempt, pass_number=1, rates_per_s=[rate]
            )
            listed.add(Event(again.note(attempt), name))
    reported = "Repeating, because a limit is decided there: gevent at 15,500/s and Twisted at"
    assert sorted(lines(listed)) == [f"{reported} 18,000/s.", f"{reported} 9,000/s."]


def test_servers_inconclusive_at_the_same_rate_share_a_sentence(qtbot: QtBot) -> None:
    listed = EventLog()
    qtbot.addWidget(listed)
    late = reason("clients-late", late_share=0.25, p99_us=9_000)
    for name, x in (("gevent", 8_400.0), ("Trio", 8_400.0), ("Twisted", 4_000.0)):
        listed.add(Event(doubt(name, x, late), name))
    assert lines(listed) == [
        f"{late.text()} Not judged: gevent and Trio at 8,400/s and Twisted at 4,000/s."
    ]


@pytest.mark.qt_log_ignore("propagateSizeHints")
def test_a_repeated_point_replaces_the_event_of_its_earlier_attempt(qtbot: QtBot) -> None:
    """As in the ranking, where the last attempt counts. What it hid is said then."""
    board = live_board(qtbot)
    start, *rest = session(1, 4)
    measured = next(d for d in rest if isinstance(d, PointStop) and d.judged)
    late, busy = (
        reason("clients-late", late_share=0.4, p99_us=31_000),
        reason("background-load", cpu_pct=99.0),
    )

    def at(x: float, t_us: int, *reasons: Said, look: int = 1) -> PointStop:
        verdict: Verdict = "inconclusive" if reasons else "ok"
        judged = {"verdict": verdict, "x": x, "rate_per_s": x, "look": look, "t_us": t_us}
        return replace(measured, purpose="sweep", **judged, **recorded(*reasons))

    def said() -> list[str]:
        events = board.side.events
        board.refresh()
        # Audits are found as well; those of a session cut like this are none of the matter.
        texts = [text for text in lines(events) if "be judged" in text or text == between.text]
        QApplication.processEvents()
        found = [each for each in events.findChildren(QLabel) if each.text() in texts]
        found.sort(key=lambda each: each.mapTo(events, QPoint()).y())
        return [each.text() for each in found]

    between = Note(t_us=15_000_000, topic="warning", text="A warning in between, of all.")
    for document in (start, at(100.0, 10_000_000, late), between, at(200.0, 20_000_000, busy)):
        board.consume(document)
    assert said() == [between.text, f"asyncio streams at 100/s cannot be judged. {late.text()}"]
    board.consume(at(100.0, 30_000_000, look=2))
    assert said() == [f"asyncio streams at 200/s cannot be judged. {busy.text()}", between.text]
    board.consume(at(200.0, 40_000_000, look=2))
    assert said() == [between.text]


def test_a_different_cause_gets_a_line_of_its_own(qtbot: QtBot) -> None:
    listed = EventLog()
    qtbot.addWidget(listed)
    for cause in (reason("background-load", cpu_pct=36.0), reason("clients-late", late_share=0.05)):
        listed.add(Event(doubt("gevent", 4_000.0, cause), "gevent"))
    assert len(lines(listed)) == listed.warnings == 2


def test_points_recorded_before_causes_had_codes_are_described_by_their_sentences(
    qtbot: QtBot,
) -> None:
    listed, model = EventLog(), ChartModel()
    qtbot.addWidget(listed)
    measured = next(d for d in session(1, 2) if isinstance(d, PointStop) and d.complete)
    fields = {"verdict": "inconclusive", "reasons": ["Other programs took 36 % of a core."]}
    for server in ("gevent", "Trio"):
        model(replace(measured, purpose="sweep", series=server, x=4000.0, findings=[], **fields))
    listed.show_doubts([Event(note, str(note.data["name"])) for note in doubts(model)])
    assert lines(listed) == [
        "Other programs took 36 % of a core. Not judged: gevent and Trio at 4,000/s."
    ]


def test_a_server_skipped_by_the_user_is_no_warning(qtbot: QtBot) -> None:
    listed = EventLog()
    qtbot.addWidget(listed)
    listed.add(Event(notes.notice("skipped", name="Tornado on PyPy").note(1), "Tornado on PyPy"))
    assert lines(listed) == ["Tornado on PyPy was skipped."]
    assert listed.warnings == 0


def test_a_warning_of_an_older_session_is_still_a_warning(qtbot: QtBot) -> None:
    listed = EventLog()
    qtbot.addWidget(listed)
    for topic, text in (("warning", "The client's own ceiling is unknown."), ("later", "New.")):
        listed.add(Event(Note(t_us=1, topic=topic, text=text), ""))
    assert listed.warnings == 1


@pytest.mark.qt_log_ignore("propagateSizeHints")
def test_an_event_leads_to_its_point_in_the_charts(qtbot: QtBot) -> None:
    board = live_board(qtbot)
    for document in session(1, 8, untrusted_from=6000):
        board.consume(document)
    board.refresh()
    board.trio.set_shown("asyncio-streams", False)
    board.trio.show_part(board.trio.showing.zoomed({"x": (1000.0, 2000.0)}))
    links = [each for each in board.findChildren(QAbstractButton) if "late" in name_of(each)]
    links[0].click()
    trio = board.trio
    assert trio.is_shown("asyncio-streams")
    assert not trio.showing.zoom
    assert trio.pointing.card.isVisible()
    assert trio.pointing.rate >= 6000


@pytest.mark.qt_log_ignore("propagateSizeHints")
def test_an_event_without_a_server_has_no_link(qtbot: QtBot) -> None:
    board = live_board(qtbot)
    start, *_ = session(2, 8)
    board.consume(start)
    board.consume(Note(t_us=0, topic="warning", text="Something about all of it."))
    board.refresh()
    assert not [b for b in board.findChildren(QAbstractButton) if "all of it" in name_of(b)]
