"""Kernel settings as a table."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from app.machines.tuning import ChangesTable

# The offscreen platform says so of every window that has a least size.
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


def test_a_range_of_ports_and_large_numbers_are_written_for_people(qtbot: QtBot) -> None:
    table = ChangesTable()
    qtbot.addWidget(table)
    table.display(
        [
            ("net.ipv4.ip_local_port_range", "32768\t60999", "10152 65535"),
            ("net.core.somaxconn", "4096", "250000"),
            ("fs.file-max", str(2**63 - 1), str(2**63 - 1)),
            ("net.ipv4.tcp_rmem", "4096 131072 6291456", "4096 131072 6291456"),
        ]
    )
    table.resize(900, 300)
    table.show()
    texts = [label.text() for label in table.findChildren(QLabel)]
    assert {"32768–60999", "10152–65535", "4,096", "250,000", "no limit"} <= set(texts)
    assert "4096 131072 6291456" in texts
    now, wanted = (
        next(label for label in table.findChildren(QLabel) if label.text() == text)
        for text in ("32768–60999", "10152–65535")
    )
    assert wanted.geometry().left() - now.geometry().right() >= 24
