"""The machine of planted points: who gets CPU time, and what takes it away."""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import resource
import struct
import subprocess
import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from workbench.analysis.usage import Usage
from workbench.machines.sampler_client import Sampling

TICK_S = 1 / os.sysconf("SC_CLK_TCK")
CGROUPS = Path("/sys/fs/cgroup")
PERIOD_US = 50_000
SLICE_NS = 100_000
NEIGHBOURS = 2
"""On a core."""
SPINNER = """
import os, sys
os.sched_setaffinity(0, {int(sys.argv[1])})
os.nice(-10)
while True:
    pass
"""


class NoGround(Exception):
    """Why points cannot be planted here, one sentence."""


class Ground:
    """This process and all that it starts, in control groups of their own.

    They come before all other programs, 256 to one, and the kernel counts what they use: so points
    are measured as on a machine at rest, and what other programs took of the rest can be told.
    """

    def __init__(self) -> None:
        if os.geteuid() != 0:
            raise NoGround("Control groups need root.")
        if len(os.sched_getaffinity(0)) < 2:
            raise NoGround("Server and clients need a core each.")
        name = f"pongbench-planted-{os.getpid()}"
        one, two = CGROUPS / "cpu", CGROUPS
        if (one / "cpu.shares").exists() and (CGROUPS / "cpuacct/cpuacct.usage_percpu").exists():
            self.version, self.group, self._counts = 1, one / name, CGROUPS / "cpuacct" / name
        elif "cpu" in _text(two / "cgroup.subtree_control").split():
            self.version, self.group, self._counts = 2, two / name, two / name
        else:
            raise NoGround("There are no control groups here that tell and limit processor time.")
        for folder in {self.group, self._counts}:
            try:
                folder.mkdir()
            except OSError as error:
                raise NoGround(f"Control groups cannot be made here: {error.strerror}.") from None
        if self.version == 1:
            (self.group / "cpu.shares").write_text("262144")
            (self._counts / "cgroup.procs").write_text(str(os.getpid()))
        else:
            (self.group / "cgroup.subtree_control").write_text("+cpu")
            (self.group / "cpu.weight").write_text("10000")
        self._throttled = 0
        self._part([os.getpid()], "main")
        _slices(SLICE_NS)

    def close(self) -> None:
        """All that is still in the groups leaves them."""
        tops = [CGROUPS / "cpu", CGROUPS / "cpuacct"] if self.version == 1 else [CGROUPS]
        folders = dict.fromkeys([*self.group.glob("*/"), self.group, self._counts])
        for folder in folders:
            while pids := _processes(folder):
                for top in tops:
                    _put(pids, top)
            folder.rmdir()
        _slices(0)

    def take_in(self, pids: Sequence[int]) -> None:
        """Those that were started before."""
        _put(pids, self.group / "main")
        if self.version == 1:
            _put(pids, self._counts)

    def strangers_s(self, cores: Collection[int] = ()) -> float:
        """CPU seconds that all others, the kernel apart, have used on these cores; empty: on all.
        Version 2 of control groups does not report cores."""
        lines = Path("/proc/stat").read_text().splitlines()
        times = [line.split() for line in lines if re.match(r"cpu\d", line)]
        busy = [sum(map(int, (time[1], time[2], time[3]))) * TICK_S for time in times]
        if self.version == 1:
            used = [int(n) / 1e9 for n in _text(self._counts / "cpuacct.usage_percpu").split()]
            return sum(busy[n] - used[n] for n in cores or range(len(busy)))
        return sum(busy) - int(_text(self._counts / "cpu.stat").split()[1]) / 1e6

    @contextlib.contextmanager
    def undisturbed(self) -> Iterator[None]:
        """What programs took that are no part of the trial is no load beside it: they got what was
        left over. On a machine at rest this takes off nothing."""
        mark, since_mark = Sampling.mark, Sampling.since_mark
        marked: dict[Sampling, float] = {}

        async def marking(sampling: Sampling) -> None:
            await mark(sampling)
            marked[sampling] = self.strangers_s(sampling._cores)

        async def since(sampling: Sampling, *, now: bool = True) -> Usage:
            usage = await since_mark(sampling, now=now)
            strangers_s = self.strangers_s(sampling._cores) - marked[sampling]
            return replace(usage, elsewhere_s=max(0.0, (usage.elsewhere_s or 0.0) - strangers_s))

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Sampling, "mark", marking)
            patch.setattr(Sampling, "since_mark", since)
            yield

    def found(self, word: str) -> list[int]:
        """Our processes with that in an argument."""
        pids = []
        for pid in {pid for folder in self.group.glob("*/") for pid in _processes(folder)}:
            with contextlib.suppress(OSError):
                words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
                if any(word.encode() in each for each in words[1:]):
                    pids.append(pid)
        return pids

    def throttle(self, pids: Sequence[int], share: float) -> None:
        """For the rest of their lives: so much of one core."""
        self._throttled += 1
        folder = self._part(pids, f"throttled-{self._throttled}")
        quota_us = max(1000, round(share * PERIOD_US))
        if self.version == 1:
            (folder / "cpu.cfs_period_us").write_text(str(PERIOD_US))
            (folder / "cpu.cfs_quota_us").write_text(str(quota_us))
        else:
            (folder / "cpu.max").write_text(f"{quota_us} {PERIOD_US}")

    def _part(self, pids: Sequence[int], name: str) -> Path:
        folder = self.group / name
        folder.mkdir()
        _put(pids, folder)
        return folder


@contextlib.contextmanager
def neighbours(cores: tuple[int, ...]) -> Iterator[None]:
    """Programs on each of these cores that take most of it."""
    each = NEIGHBOURS * cores
    found = [subprocess.Popen([sys.executable, "-c", SPINNER, str(core)]) for core in each]
    try:
        yield
    finally:
        for program in found:
            program.kill()
            program.wait()


def few_descriptors(pids: list[int], left: int) -> None:
    """They may open only `left` more descriptors."""
    for pid in pids:
        used = len(list(Path(f"/proc/{pid}/fd").iterdir()))
        hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)[1]
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (used + left, hard))


def _slices(length_ns: int) -> None:
    """Who asks for short turns (Linux 6.12 and later) gets them at once; children inherit it. 0: as
    usual."""
    number = {"x86_64": 314, "aarch64": 274}.get(os.uname().machine)
    if number:
        # struct sched_attr: size, policy, flags, nice, priority, runtime, deadline, period.
        attributes = struct.pack("=IIQiIQQQ", 48, 0, 0, 0, 0, length_ns, 0, 0)
        ctypes.CDLL(None).syscall(number, 0, attributes, 0)


def _text(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def _put(pids: Sequence[int], folder: Path) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            (folder / "cgroup.procs").write_text(str(pid))


def _processes(folder: Path) -> list[int]:
    return [int(pid) for pid in _text(folder / "cgroup.procs").split()]


@pytest.fixture(scope="module")
def ground() -> Iterator[Ground]:
    """Skips the test where points cannot be planted."""
    try:
        found = Ground()
    except NoGround as reason:
        pytest.skip(str(reason))
    yield found
    found.close()
