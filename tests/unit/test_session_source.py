"""Films: each document at its time, at any speed, from anywhere."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from tests import synthetic
from workbench.documents import AnyDocument, Note, RunStart, Window
from workbench.sessions import SessionSource
from workbench.sessions.source import AS_FAST_AS_POSSIBLE, times_us


def test_a_window_is_emitted_when_it_is_over_and_documents_keep_their_order() -> None:
    documents = synthetic.session(2, 3)
    times = times_us(documents)
    assert times == sorted(times)
    assert times[0] == 0
    shown = {id(d): t for d, t in zip(documents, times, strict=True) if isinstance(d, Window)}
    assert all(shown[id(d)] >= d.t_us + 200_000 for d in documents if isinstance(d, Window))


class Film:
    """A source being watched, with a clock that only moves by hand."""

    def __init__(self, documents: list[AnyDocument], **options: float) -> None:
        self.now_s = 0.0
        self.seen: list[AnyDocument] = []
        self.source = SessionSource(documents, clock=lambda: self.now_s, **options)
        self.watching = asyncio.create_task(self._watch())

    async def _watch(self) -> None:
        async for document in self.source:
            self.seen.append(document)

    async def after(self, change: Callable[[], object]) -> list[AnyDocument]:
        """The new documents once everything due after `change` has arrived."""
        self.seen.clear()
        change()
        # Half the timers would outlast the test: make the source read the clock now.
        self.source.speed = self.source.speed
        for _ in range(20):
            await asyncio.sleep(0)
        return list(self.seen)

    async def at(self, now_s: float) -> list[AnyDocument]:
        return await self.after(lambda: setattr(self, "now_s", now_s))


START = synthetic.session(1, 1)[0]
SCENES: list[AnyDocument] = [
    START,
    *(Note(t_us=second * 1_000_000, topic="scene", text=str(second)) for second in range(1, 6)),
]


def told(documents: list[AnyDocument]) -> str:
    """ "S123": the start, then scenes one to three."""
    return "".join(d.text if isinstance(d, Note) else "S" for d in documents)


async def test_documents_come_at_their_time() -> None:
    film = Film(SCENES)
    assert told(await film.at(0.5)) == "S"
    assert told(await film.at(2.5)) == "12"
    assert film.source.position_us == pytest.approx(2.5e6)
    assert told(await film.at(60)) == "345"
    await film.watching
    assert film.source.position_us == film.source.duration_us == 5_000_000


async def test_at_twice_the_speed_they_come_in_half_the_time() -> None:
    film = Film(SCENES, speed=2)
    assert told(await film.at(1.1)) == "S12"
    assert told(await film.after(lambda: setattr(film.source, "speed", 1000))) == ""
    assert told(await film.at(1.2)) == "345"
    await film.watching


async def test_nothing_arrives_while_paused() -> None:
    film = Film(SCENES)
    assert told(await film.at(1.5)) == "S1"
    assert told(await film.after(film.source.pause)) == ""
    assert told(await film.at(50)) == ""
    assert film.source.position_us == pytest.approx(1.5e6)
    assert told(await film.after(film.source.play)) == ""
    assert told(await film.at(50.6)) == "2"
    film.watching.cancel()


async def test_a_jump_forward_shows_at_once_what_lies_between() -> None:
    film = Film(SCENES)
    assert told(await film.at(0)) == "S"
    assert told(await film.after(lambda: film.source.seek(3.2e6))) == "123"
    assert told(await film.at(1.0)) == "4"
    film.watching.cancel()


async def test_a_jump_back_starts_over_and_shows_everything_up_to_there() -> None:
    film = Film(SCENES)
    assert told(await film.at(4.5)) == "S1234"
    film.source.pause()
    assert told(await film.after(lambda: film.source.seek(2e6))) == "S12"
    assert film.source.paused
    film.watching.cancel()


async def test_as_fast_as_possible_shows_everything_and_leaves_the_loop_alive() -> None:
    documents = synthetic.session(3, 8)
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    other = asyncio.create_task(others())
    source = SessionSource(documents * 3, speed=AS_FAST_AS_POSSIBLE)
    assert [document async for document in source] == documents * 3
    assert turns > 1
    other.cancel()


async def test_a_paused_film_shows_nothing_further_at_any_speed() -> None:
    film = Film(SCENES, speed=AS_FAST_AS_POSSIBLE, paused=True)
    assert told(await film.at(1.0)) == "S"
    assert told(await film.after(film.source.play)) == "12345"
    film.watching.cancel()


async def test_a_film_in_real_time_ends_by_itself() -> None:
    source = SessionSource(SCENES, speed=1000)
    assert [document async for document in source] == SCENES


def test_a_session_begins_with_its_start() -> None:
    assert isinstance(START, RunStart)
