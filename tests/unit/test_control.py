"""What the person at the keyboard asks for reaches the run at the right moment."""

import asyncio

import pytest

from workbench.control import Control, Stopped

LONG_S = 60.0
"""No test waits that long."""


async def begun(waiting: "asyncio.Task[None]") -> None:
    """Let it run until it waits."""
    for _ in range(3):
        await asyncio.sleep(0)
    assert not waiting.done()


async def test_a_rest_is_cut_short_by_stop() -> None:
    control = Control()
    resting = asyncio.create_task(control.rest(LONG_S))
    await begun(resting)
    control.stop()
    with pytest.raises(Stopped):
        await resting


async def test_a_rest_is_cut_short_by_skipping_the_server() -> None:
    control = Control()
    resting = asyncio.create_task(control.rest(LONG_S))
    await begun(resting)
    control.skip_server()
    await resting
    assert control.skipping


async def test_a_pause_lasts_until_it_is_resumed() -> None:
    control = Control()
    control.pause()
    waiting = asyncio.create_task(control.until_resumed())
    await begun(waiting)
    assert control.paused
    control.resume()
    await waiting
    assert not control.paused


@pytest.mark.parametrize("paused", [True, False])
async def test_stop_ends_a_pause_and_the_run(paused: bool) -> None:
    control = Control()
    if paused:
        control.pause()
    control.stop()
    with pytest.raises(Stopped):
        await control.until_resumed()


async def test_pausing_does_not_interrupt_the_point_that_runs() -> None:
    control = Control()
    interrupted = asyncio.create_task(control.interrupted())
    control.pause()
    await begun(interrupted)
    control.skip_server()
    await interrupted


async def test_the_next_server_is_not_skipped_as_well() -> None:
    control = Control()
    control.skip_server()
    control.next_server()
    assert not control.skipping
    interrupted = asyncio.create_task(control.interrupted())
    await begun(interrupted)
    interrupted.cancel()


async def test_the_next_server_does_not_undo_a_stop() -> None:
    control = Control()
    control.stop()
    control.next_server()
    with pytest.raises(Stopped):
        control.check()
    await control.interrupted()
