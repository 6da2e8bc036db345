"""The processes, threads and memory of a running server, counted on request."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass

from workbench.machines.base import Machine

BUSY_TICKS = 2
"""Hundredths of a second of CPU time in `BETWEEN_S`: a tenth of a core."""
QUIET_SAMPLES = 60

MOST_PROCESSES = 10_000
_IS_CORE = re.compile(r"[0-9]{1,4}").fullmatch
_IS_NUMBER = re.compile(r"[0-9]{1,15}").fullmatch

SAMPLES = 10
BETWEEN_S = 0.2


@dataclass(frozen=True)
class Footprint:
    """The footprint of a process and all its descendants; zeros where it cannot be read."""

    processes: int = 0
    threads: int = 0
    rss_bytes: int = 0
    """Sum over the processes; shared pages count in each."""
    cores: tuple[int, ...] = ()
    """On which any of them may run."""


async def footprint(machine: Machine, roots: Sequence[int]) -> Footprint:
    statuses = await _of_each(machine, roots, "status")
    return Footprint(
        processes=len(statuses),
        threads=_total(statuses, "Threads"),
        rss_bytes=_total(statuses, "VmRSS") * 1024,
        cores=tuple(sorted(set[int]().union(*map(_cores, statuses)))),
    )


async def memory_shared_once(machine: Machine, roots: Sequence[int]) -> int:
    """Return the PSS of its processes in bytes: what they share counts once. 0: unknown."""
    return _total(await _of_each(machine, roots, "smaps_rollup"), "Pss") * 1024


async def descriptor_limit(machine: Machine, roots: Sequence[int]) -> int:
    """Return the limit in force, the lowest of its processes; 0: unknown, or none."""
    limits = "\n".join(await _of_each(machine, roots, "limits"))
    soft = re.findall(r"^Max open files\s+([0-9]{1,15})\s", limits, re.MULTILINE)
    return min(filter(None, map(int, soft)), default=0)


async def quiet(machine: Machine, roots: Sequence[int]) -> None:
    """Return once its processes are nearly idle, as all workers have started, or after 12 s."""
    before, _ = await _work(machine, roots)
    for _ in range(QUIET_SAMPLES):
        await asyncio.sleep(BETWEEN_S)
        now, wanting = await _work(machine, roots)
        if now - before <= BUSY_TICKS and not wanting:
            return
        before = now


async def _work(machine: Machine, roots: Sequence[int]) -> tuple[int, bool]:
    """Return the CPU time of all its processes, in hundredths of a second, and whether one is ready
    to run: on a busy machine it may have to wait."""
    stats = [text.rpartition(")")[2].split() for text in await _of_each(machine, roots, "stat")]
    times = [time for stat in stats for time in stat[11:13] if _IS_NUMBER(time)]
    return sum(map(int, times)), any(stat[:1] == ["R"] for stat in stats)


async def _of_each(machine: Machine, roots: Sequence[int], name: str) -> list[str]:
    """Read a file of /proc for processes and all their descendants."""
    found: list[str] = []
    level = [str(pid) for pid in roots]
    known = set(level)
    while level and len(known) < MOST_PROCESSES:
        paths = [f"/proc/{p}/{name}" for p in level]
        paths += [f"/proc/{p}/task/{p}/children" for p in level]
        texts = await machine.read(paths)
        found += filter(None, texts[: len(level)])
        below = " ".join(filter(None, texts[len(level) :])).split()
        level = [
            child for child in dict.fromkeys(below) if _IS_NUMBER(child) and child not in known
        ]
        known.update(level)
    return found


async def settled_footprint(machine: Machine, roots: Sequence[int]) -> Footprint:
    """Return the footprint once it has started all its processes, or the time limit is over."""
    found = await footprint(machine, roots)
    for _ in range(SAMPLES):
        await asyncio.sleep(BETWEEN_S)
        before, found = found, await footprint(machine, roots)
        if found.processes == before.processes:
            break
    return found


def _cores(status: str) -> set[int]:
    """Of "Cpus_allowed_list: 0-3,8"."""
    found = re.search(r"^Cpus_allowed_list:\s*([0-9,-]+)$", status, re.MULTILINE)
    cores: set[int] = set()
    for part in found[1].split(",") if found else ():
        first, _, last = part.partition("-")
        if _IS_CORE(first) and _IS_CORE(last or first):
            cores.update(range(int(first), int(last or first) + 1))
    return cores


def _total(texts: Sequence[str], name: str) -> int:
    found = re.findall(rf"^{name}:\s*([0-9]{{1,15}})", "\n".join(texts), re.MULTILINE)
    return sum(map(int, found))
