"""Qt objects are collected in the thread that created them, whichever thread leaves garbage."""

from __future__ import annotations

import asyncio
import threading
import weakref

from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from app.bridge import Bridge


def test_garbage_of_the_window_is_collected_in_its_thread_while_another_allocates(
    qtbot: QtBot, bridge: Bridge
) -> None:
    ended: list[threading.Thread] = []

    async def allocates() -> None:
        while not ended:
            for _ in range(1000):
                ring: list[object] = []
                ring.append(ring)
            await asyncio.sleep(0)

    part = QObject()
    part.itself = part  # type: ignore[attr-defined]
    weakref.finalize(part, lambda: ended.append(threading.current_thread()))
    del part
    bridge.submit(allocates())
    qtbot.waitUntil(lambda: bool(ended))
    assert ended == [threading.main_thread()]
