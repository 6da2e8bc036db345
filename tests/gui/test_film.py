"""A film tells where it is, without a window."""

from __future__ import annotations

import asyncio
from pathlib import Path

from app.replay.film import Film, Position, load
from tests.synthetic import session
from workbench.documents import AnyDocument
from workbench.sessions import Recorder

PATIENCE_S = 120.0


async def test_a_film_tells_its_end_after_its_last_document(tmp_path: Path) -> None:
    path = tmp_path / "a.pong.yaml"
    recorder = Recorder(path)
    for document in session(6, 20):
        recorder(document)
    recorder.close()
    reel = await load(path)
    told: list[AnyDocument | Position] = []
    ended = asyncio.Event()

    def report(position: Position) -> None:
        told.append(position)
        if position.at_us >= reel.duration_us:
            ended.set()

    playing = asyncio.create_task(Film(reel, told.append, report).run())
    async with asyncio.timeout(PATIENCE_S):
        await ended.wait()
    playing.cancel()
    assert told[:-1] == list(reel.documents)
