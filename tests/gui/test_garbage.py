"""Qt objects are collected in the thread that created them, whichever thread leaves garbage."""

from __future__ import annotations

import asyncio
import gc
import threading
import weakref

from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from app.bridge import Bridge
from workbench.sessions.reading import uncollected


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


def test_a_session_that_another_thread_has_read_leaves_collection_to_the_window() -> None:
    reads, read = threading.Event(), threading.Event()

    def reader() -> None:
        with uncollected():
            reads.set()
            read.wait()

    thread = threading.Thread(target=reader)
    thread.start()
    reads.wait()
    gc.disable()  # as a window does that opens meanwhile
    try:
        read.set()
        thread.join()
        assert not gc.isenabled()
    finally:
        gc.enable()
