"""How long replies may have waited for the client: bounds with a clock and a run queue of ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest

from workbench.remote.agent import point
from workbench.remote.agent.point import Handling

US, MS = 1_000, 1_000_000


class Turn(NamedTuple):
    """What a worker does: it sleeps, waits for a core, and reads."""

    slept: int = 0
    queued: int = 0
    took: int = 0
    replies: int = 0
    more: bool = False


@pytest.fixture
def bounds(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[tuple[int, int]]]:
    def of(*turns: Turn) -> list[tuple[int, int]]:
        now, queued = 100 * MS, 0
        monkeypatch.setattr(point, "monotonic_ns", lambda: now)
        monkeypatch.setattr(point, "run_queue_ns", lambda: queued)
        times: list[int] = []
        it = Handling(lambda: 0, (times, []))
        it.begin(now)

        def read() -> bool:
            nonlocal now
            now += turn.took
            times.extend([0] * turn.replies)
            return turn.more

        handle = it.around(read)
        for turn in turns:
            now += turn.slept + turn.queued
            queued += turn.queued
            handle()
        return list(it.waits())

    return of


@pytest.mark.parametrize(
    ("turns", "expected"),
    [
        ([Turn(slept=5 * MS, took=20 * US, replies=1)], []),
        ([Turn(slept=5 * MS, took=MS, replies=1)], [(MS, 1)]),
        ([Turn(slept=5 * MS, took=4 * MS, replies=4)], [(n * MS, 1) for n in (1, 2, 3, 4)]),
        ([Turn(slept=5 * MS, took=4 * MS, replies=64)], [(n * MS, 16) for n in (1, 2, 3, 4)]),
        # It slept, and then had to wait for a core.
        ([Turn(slept=5 * MS, queued=3 * MS, took=20 * US, replies=1)], [(3 * MS + 20 * US, 1)]),
        # What came while it read the one before.
        (
            [Turn(slept=5 * MS, took=2 * MS, replies=1), Turn(took=10 * US, replies=1)],
            [(2 * MS, 1), (2 * MS + 10 * US, 1)],
        ),
        # What was left to be read had come before, too.
        (
            [
                Turn(slept=5 * MS, took=2 * MS, more=True),
                Turn(took=2 * MS, more=True),
                Turn(took=2 * MS, replies=1),
                Turn(slept=5 * MS, took=20 * US, replies=1),
            ],
            [(6 * MS, 1)],
        ),
    ],
)
def test_a_reply_waited_since_nothing_was_to_be_read(
    bounds: Callable[..., list[tuple[int, int]]], turns: list[Turn], expected: list[tuple[int, int]]
) -> None:
    assert bounds(*turns) == expected
