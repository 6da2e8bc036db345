"""Sentences of what a server lacked at its limit."""

# ruff: noqa: E501 - a sentence stands on one line

from __future__ import annotations

from workbench.messages import causes
from workbench.messages.base import Message

SENTENCES: list[tuple[Message, str]] = [
    (
        causes.CoresFull(cores=1, busy_pct=98.4, kernel_pct=12.0),
        "Its core was full (98 % of a core).",
    ),
    (
        causes.CoresFull(cores=2, busy_pct=197.0, kernel_pct=71.0),
        "All its 2 cores were full (197 % of a core, 71 % of that in system calls).",
    ),
    (
        causes.ThreadFull(busy_pct=99.0, cores=4),
        "One of its threads filled a core (99 % of a core); it may use 4.",
    ),
    (
        causes.TurnsTaken(threads=8, busy_pct=104.0, cores=4),
        "8 threads together used one core of 4 (104 %): they take turns, as with an interpreter lock.",
    ),
    (
        causes.CpuContended(waited_pct=42.0, busy_pct=55.0),
        "Its busiest thread waited for a CPU 42 % of the time: other programs ran there (it used 55 % of a core).",
    ),
    (
        causes.CpuContended(waited_pct=42.0, busy_pct=85.0, threads=16, cores=1),
        "Its busiest thread waited for a CPU 42 % of the time: its 16 threads shared one core and used 85 % of it.",
    ),
    (
        causes.DescriptorsUsedUp(opened=1000, limit=1000),
        "It had 1,000 descriptors open, of at most 1,000 (nofile).",
    ),
    (
        causes.CpuQuota(throttled_pct=81.0, busy_pct=10.0),
        "Its CPU quota (cgroup) kept it from running 81 % of the time (it used 10 % of a core).",
    ),
    (
        causes.GarbageCollected(collecting_pct=44.0, busy_pct=99.0),
        "Garbage collection took 44 % of its CPU time (99 % of a core).",
    ),
    (
        causes.DatabaseBusy(service="PostgreSQL", share_pct=71.0, busy_pct=98.0, cores=1),
        "Its database (PostgreSQL) took 71 % of the CPU time of both (98 % of a core, of 1).",
    ),
    (
        causes.WaitedForAnswer(
            address="10.0.0.9:5432", service="PostgreSQL", connections=4, busy_pct=8.0
        ),
        "It waited for answers of PostgreSQL (10.0.0.9:5432), over 4 connections, and used only"
        " 8 % of a core.",
    ),
    (
        causes.WaitedForLock(threads=6.6, busy_pct=4.0),
        "7 of its threads waited for a lock, on average (4 % of a core used).",
    ),
    (
        causes.WaitedForDisk(share_pct=67.0, busy_pct=22.0),
        "67 % of its working threads waited for a disk (22 % of a core used).",
    ),
    (
        causes.Slept(share_pct=92.0, busy_pct=3.0),
        "92 % of its working threads slept (a timer, such as sleep()) and it used only 3 % of a"
        " core.",
    ),
    (
        causes.MachineWaited(resource="io", pct=31.0),
        "Programs on its machine waited for its disk 31 % of the time.",
    ),
    (
        causes.NotAccepted(busy_pct=4.0, backlog=1024, waiting=567),
        "Its accept queue (backlog 1,024) held 567 connections while it used only 4 % of a core: it waited, and accepted connections too slowly.",
    ),
    (
        causes.NotAccepted(busy_pct=12.0, backlog=512),
        "Its accept queue (backlog 512) was full while it used only 12 % of a core: it waited, and accepted connections too slowly.",
    ),
    (
        causes.Waited(busy_pct=7.0),
        "It used only 7 % of a core: it waited for something else, such as a timer, a lock, a database or another service.",
    ),
]
