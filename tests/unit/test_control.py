"""The user's commands reach the run at the right moment."""

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


async def test_a_wait_between_points_is_cut_short_by_stop() -> None:
    control = Control()
    resting = asyncio.create_task(control.rest(LONG_S))
    await begun(resting)
    control.stop()
    with pytest.raises(Stopped):
        await resting


async def test_a_wait_between_points_is_cut_short_by_skipping_the_server() -> None:
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


async def test_pausing_does_not_interrupt_the_running_point() -> None:
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


async def test_a_slow_step_is_cancelled_when_interrupted() -> None:
    control = Control()
    ended: list[str] = []

    async def work() -> str:
        try:
            await asyncio.sleep(LONG_S)
        finally:
            ended.append("cleaned up")
        return "done"

    waiting = asyncio.create_task(control.unless_interrupted(work()))
    for _ in range(3):
        await asyncio.sleep(0)
    control.stop()
    assert await waiting is None
    assert ended == ["cleaned up"]


async def test_without_an_interruption_the_result_or_error_is_passed_on() -> None:
    control = Control()

    async def fail() -> str:
        raise ValueError("as it is")

    assert await control.unless_interrupted(asyncio.sleep(0, "answer")) == "answer"
    with pytest.raises(ValueError, match="as it is"):
        await control.unless_interrupted(fail())
