"""Windows of points whose response times are made up: they scatter, rise, or wait in a queue."""

import random
from collections import Counter
from collections.abc import Callable, Sequence
from heapq import heapreplace

from workbench.analysis.histogram import bucket_of, coarse
from workbench.documents import WINDOW_US, Window

WINDOW_S = WINDOW_US / 1e6
TIMEOUT_S = 20.0

Server = Callable[[Sequence[float], random.Random], list[float]]
"""How long calls take that begin at these seconds."""


def scattered(longest_s: float) -> Server:
    return lambda starts, chance: [chance.uniform(0, longest_s) for _ in starts]


def few_slow(starts: Sequence[float], chance: random.Random) -> list[float]:
    """Nine of ten come from a cache."""
    return [4.0 if chance.random() < 0.1 else 0.002 for _ in starts]


def warmed_up(starts: Sequence[float], chance: random.Random) -> list[float]:
    return [0.001 if n < 60 else chance.uniform(0, 4) for n, _ in enumerate(starts)]


def rising(per_s: float) -> Server:
    """Each takes longer, by so many seconds in a second."""
    return lambda starts, chance: [
        0.005 + per_s * start * chance.uniform(0.9, 1.1) for start in starts
    ]


def one_at_a_time(per_s: float, spread: float = 0.0) -> Server:
    def server(starts: Sequence[float], chance: random.Random) -> list[float]:
        free, took = 0.0, []
        for start in starts:
            free = max(free, start) + chance.uniform(1 - spread, 1 + spread) / per_s
            took.append(free - start)
        return took

    return server


def in_batches(per_s: float) -> Server:
    """All that wait at a time, and all replies of a batch at its end."""

    def server(starts: Sequence[float], chance: random.Random) -> list[float]:
        now = 0.0
        took: list[float] = []
        while len(took) < len(starts):
            now = max(now, starts[len(took)])
            batch = [start for start in starts[len(took) :] if start <= now]
            now += len(batch) / per_s
            took += [now - start for start in batch]
        return took

    return server


def last_first(per_s: float) -> Server:
    """One at a time, of those that wait the latest."""

    def server(starts: Sequence[float], chance: random.Random) -> list[float]:
        now, coming = 0.0, list(enumerate(starts))
        waiting: list[tuple[int, float]] = []
        took = [0.0] * len(starts)
        while coming or waiting:
            if not waiting:
                now = max(now, coming[0][1])
            while coming and coming[0][1] <= now:
                waiting.append(coming.pop(0))
            number, start = waiting.pop()
            now += 1 / per_s
            took[number] = now - start
        return took

    return server


def pool(size: int, seconds: float) -> Server:
    """As many at a time, each for so long on average."""

    def server(starts: Sequence[float], chance: random.Random) -> list[float]:
        free, took = [0.0] * size, []
        for start in starts:
            end = max(start, free[0]) + chance.uniform(0.5, 1.5) * seconds
            heapreplace(free, end)
            took.append(end - start)
        return took

    return server


def windows(rate: float, seconds: float, server: Server, seed: int) -> list[Window]:
    chance = random.Random(seed)
    starts = [n / rate for n in range(round(rate * seconds))]
    calls = list(zip(starts, server(starts, chance), strict=True))
    ends = [min(start + took, start + TIMEOUT_S) for start, took in calls]
    return [
        window(index, calls, [n for n, end in enumerate(ends) if end // WINDOW_S == index], ends)
        for index in range(int(max(ends) // WINDOW_S) + 1)
    ]


def window(
    index: int, calls: Sequence[tuple[float, float]], ended: Sequence[int], ends: Sequence[float]
) -> Window:
    end_s = (index + 1) * WINDOW_S
    took = Counter(bucket_of(round(calls[n][1] * 1e6)) for n in ended if calls[n][1] < TIMEOUT_S)
    times = coarse([each for item in sorted(took.items()) for each in item])
    begun = [n for n, (start, _) in enumerate(calls) if start < end_s]
    due = sum(calls[n][0] >= end_s - WINDOW_S for n in begun)
    return Window(
        t_us=index * WINDOW_US, point=1, index=index, due=due, sent=due, late=0, established=due,
        replies=took.total(), errors={"client-timo": len(ended) - took.total()},
        in_flight=sum(ends[n] >= end_s for n in begun), latency=times, service=times,
    )  # fmt: skip
