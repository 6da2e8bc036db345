"""The list of what happened in a session."""

from __future__ import annotations

from msgspec.structs import replace
from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from app import theme
from app.live.doubts import Doubts
from app.live.happened import Happened
from tests.synthetic import session
from workbench.documents import Note, PointStop, Verdict


def test_a_backlog_that_servers_share_is_told_once_and_another_of_its_server(qtbot: QtBot) -> None:
    listed = Happened(theme.LIGHT)
    qtbot.addWidget(listed)
    for t_us, (name, backlog) in enumerate((("gevent", 512), ("Trio", 512), ("Tornado", 128)) * 2):
        text = f"{name} listens with a backlog of {backlog}; 512 was asked for."
        data = {"backlog": backlog, "asked": 512}
        listed.add(Note(t_us=t_us, topic="backlog", text=text, data=data), name)
    listed.refresh()
    said = [each.text() for each in listed.findChildren(QLabel) if "backlog" in each.text()]
    assert sorted(said) == [
        "A backlog of 512 is in force, as asked.",
        "Tornado listens with a backlog of 128; 512 was asked for.",
    ]


def lines(listed: Happened) -> list[str]:
    listed.refresh()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    return [each.text() for each in listed.findChildren(QLabel) if len(each.text()) > 20]


def test_points_that_cannot_be_judged_for_one_cause_are_told_in_one_sentence(
    qtbot: QtBot,
) -> None:
    listed, doubts = Happened(theme.LIGHT), Doubts()
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
        cause = f"Other programs took {taken} % of a core from server and clients."
        verdict: Verdict = "inconclusive" if taken else "ok"
        judged = {"verdict": verdict, "reasons": [cause], "t_us": t_us}
        point = replace(measured, server=server, rate_per_s=float(rate), **judged)
        if (note := doubts(point)) is not None:
            listed.add(note, server)
    (said,) = lines(listed)
    assert said == (
        "Other programs took 26 to 61 % of a core from server and clients."
        " Not judged: gevent at 18,000 and 20,000/s and Twisted at 4,000/s."
    )
    assert listed.grave == 1


def test_points_that_are_measured_again_are_told_in_one_sentence(qtbot: QtBot) -> None:
    listed = Happened(theme.LIGHT)
    qtbot.addWidget(listed)
    for look in (1, 2):
        for name, rate in (("gevent", 15_500.0), ("Twisted", 9_000.0 * look)):
            text = f"{name} held {rate:,.0f}/s in look {look}; so that is measured again."
            data = {"look": look, "pass_number": 1, "rates_per_s": [rate]}
            listed.add(Note(t_us=look, topic="again", text=text, data=data), name)
    told = "Measured again, for what each holds is decided there: gevent at 15,500/s and Twisted at"
    assert sorted(lines(listed)) == [f"{told} 18,000/s.", f"{told} 9,000/s."]


def test_servers_that_cannot_be_judged_at_the_same_rate_share_it(qtbot: QtBot) -> None:
    listed = Happened(theme.LIGHT)
    qtbot.addWidget(listed)
    cause = "The clients were late."
    for name, rate in (("gevent", "8,400/s"), ("Trio", "8,400/s"), ("Twisted", "4,000/s")):
        text = f"{name} at {rate} cannot be judged. {cause}"
        data = {"cause": cause, "offered": rate}
        listed.add(Note(t_us=1, topic="warning", text=text, data=data), name)
    assert lines(listed) == [
        f"{cause} Not judged: gevent and Trio at 8,400/s and Twisted at 4,000/s."
    ]


def test_another_cause_is_another_line(qtbot: QtBot) -> None:
    listed = Happened(theme.LIGHT)
    qtbot.addWidget(listed)
    for cause in ("Other programs took 36 % of a core.", "The clients were 5 % late."):
        text = f"gevent at 4,000/s cannot be judged. {cause}"
        listed.add(Note(t_us=1, topic="warning", text=text, data={"cause": cause}), "gevent")
    assert len(lines(listed)) == listed.grave == 2


def test_a_server_its_user_skipped_is_no_warning(qtbot: QtBot) -> None:
    listed = Happened(theme.LIGHT)
    qtbot.addWidget(listed)
    listed.add(Note(t_us=1, topic="skipped", text="Tornado was skipped just so."), "Tornado")
    assert lines(listed) == ["Tornado was skipped just so."]
    assert listed.grave == 0
