"""The list of what happened in a session."""

from __future__ import annotations

from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from app import theme
from app.live.happened import Happened
from workbench.documents import Note


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
