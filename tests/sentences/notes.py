"""Sentences of notes about servers, progress, searches and profiles."""

# ruff: noqa: E501 - a sentence stands on one line

from __future__ import annotations

from typing import Any

from workbench.messages import notes
from workbench.messages.base import Message

PROFILE = {"name": "gevent", "tool": "py-spy 0.4.3", "seconds": 5.0, "x": 4000.0}
NOT_PROFILED = {"name": "gevent", "machine": "h1"}


def _peak(**changes: Any) -> notes.Peak:
    figures: dict[str, Any] = {
        "name": "gevent",
        "errors_pct": 1.0,
        "p99_ms": 50.0,
        "peak_per_s": 14250.0,
        "low_per_s": 14250.0,
        "high_per_s": 14500.0,
        "confidence": 0.96,
        "sure": True,
        "met": [3, 4],
        "missed": [5],
    }
    return notes.Peak(**(figures | changes))


SENTENCES: list[tuple[Message, str]] = [
    (
        notes.Profile(
            **PROFILE, samples=400, frames=["main", "send"], stacks=[300, 2, 0, 1, 100, 1, 0]
        ),
        "CPU time of gevent at 4,000/s: 75 % in send, 25 % in main (400 samples, py-spy 0.4.3).",
    ),
    (
        notes.Profile(**PROFILE, samples=2, frames=["main"], stacks=[2, 1, 0]),
        "CPU time of gevent at 4,000/s: 100 % in main (2 samples are too few to rely on, py-spy 0.4.3).",
    ),
    (
        notes.NotProfiled(**NOT_PROFILED, tool="py-spy", why="denied"),
        "gevent was not profiled: py-spy is not permitted on h1; run as root there, or set kernel.yama.ptrace_scope to 0.",
    ),
    (
        notes.NotProfiled(**NOT_PROFILED, tool="py-spy", why="denied-to-root"),
        "gevent was not profiled: py-spy is not permitted on h1, not even to root, as in a container; give it the capability SYS_PTRACE.",
    ),
    (
        notes.NotProfiled(**NOT_PROFILED, tool="Java Flight Recorder", why="absent", detail="jfr"),
        "gevent was not profiled: jfr, a part of the JDK, is not on h1; install a JDK there.",
    ),
    (
        notes.NotProfiled(**NOT_PROFILED, tool="py-spy", why="failed", detail="no Python"),
        "gevent was not profiled: py-spy failed (no Python).",
    ),
    (
        notes.Resources(name="nginx", processes=3, threads=3, cores=[0, 1], nofile=20_000),
        "nginx runs in 3 processes on cores 0, 1, with at most 20,000 descriptors each.",
    ),
    (
        notes.Resources(name="gevent", processes=1, threads=1, cores=[0], nofile=20_000),
        "gevent runs in 1 process on core 0, with at most 20,000 descriptors.",
    ),
    (
        notes.Gate(gate={"sentences": ["It answers 'Pong!' with 45 bytes on the wire."]}),
        "It answers 'Pong!' with 45 bytes on the wire.",
    ),
    (
        notes.Database(settings={"max_connections": "300", "jit": "off"}),
        "It has a PostgreSQL of its own, set as for production, the same for all: max_connections"
        " = 300, jit = off.",
    ),
    (
        notes.Unequal(name="gunicorn", said="It has three workers."),
        "gunicorn: It has three workers.",
    ),
    (notes.Backlog(name="gevent", backlog=512, asked=512), "gevent listens with a backlog of 512."),
    (
        notes.Backlog(name="gevent", backlog=128, asked=512),
        "gevent listens with a backlog of 128, not the 512 asked for.",
    ),
    (
        notes.WarmUp(name="PyPy", seconds=10.0, calls=9000),
        "PyPy gets faster while it runs, so it was warmed up for 10 s.",
    ),
    (
        notes.Deploy(said="gevent did not start: its port is taken."),
        "gevent did not start: its port is taken.",
    ),
    (
        notes.Rates(values=[500.0, 2_500.0, 12_300.0], suffix="/s"),
        "3 rates up to the client limit: 500 to 12,300/s.",
    ),
    (
        notes.Died(
            x=4000.0,
            suffix="/s",
            name="gevent",
            status=-11,
            warming_up=False,
            said="Segmentation fault",
        ),
        "gevent ended by signal 11 at 4,000/s; its sweep ends here. Last output: Segmentation fault",
    ),
    (
        notes.Died(x=500.0, suffix="/s", name="gevent", status=3, warming_up=True, said=""),
        "gevent ended with status 3 during its warm-up at 500/s; its sweep ends here.",
    ),
    (
        notes.GaveUp(x=9000.0, suffix="/s", success_below_pct=50.0, points=3, left_out=4),
        "The sweep ended early at 9,000/s: fewer than 50 % of the calls succeeded at 3 points in a row; 4 higher ones were left out.",
    ),
    (
        notes.GaveUp(x=9000.0, suffix="/s", success_below_pct=50.0, points=1, left_out=1),
        "The sweep ended early at 9,000/s: fewer than 50 % of the calls succeeded at this point; 1 higher one was left out.",
    ),
    (notes.Skipped(name="gevent"), "gevent was skipped."),
    (
        notes.WrittenAgain(lost="/tmp/a.pong.yaml", path="/tmp/a.pong.yaml"),
        "The session file /tmp/a.pong.yaml was deleted or moved; the session was written again.",
    ),
    (
        notes.WrittenAgain(lost="/mnt/a.pong.yaml", path="/home/a.pong.yaml"),
        "The session file /mnt/a.pong.yaml was deleted or moved; the session is now in /home/a.pong.yaml.",
    ),
    (notes.CoolDown(seconds=58.2), "Waiting 58 s until the client's local ports are free again."),
    (
        notes.Settle(name="gevent", seconds=5.0),
        "gevent still had connections waiting 5 s after the last point; they carry over into the next one.",
    ),
    (
        notes.CpuTimeLost(name="Forking"),
        "Forking ignores SIGCHLD, so the kernel drops the CPU time of the processes it starts: its CPU time is unknown, and so is background load on its cores. Let it wait for them (waitpid).",
    ),
    (
        notes.Memory(name="gevent", before_bytes=21000000, after_bytes=180000000),
        "gevent grew from 21 MB to 180 MB and did not shrink after its last point: it keeps the memory for later, or leaks it.",
    ),
    (
        notes.Memory(name="aiohttp", before_bytes=948000000, after_bytes=3534000000, processes=201),
        "aiohttp grew from 948 MB to 3,534 MB and did not shrink after its last point (RSS of 201 processes; memory they share counts in each): it keeps the memory for later, or leaks it.",
    ),
    (
        notes.Memory(
            name="axum",
            before_bytes=61000000,
            after_bytes=480000000,
            processes=150,
            shared_once=True,
        ),
        "axum grew from 61 MB to 480 MB and did not shrink after its last point (PSS of 150 processes): it keeps the memory for later, or leaks it.",
    ),
    (
        notes.Memory(name="gevent", before_bytes=21000000, after_bytes=180000000, held=10000),
        "gevent grew from 21 MB to 180 MB and did not shrink after its last point: it had up to 10,000 connections open at once.",
    ),
    (
        notes.Again(
            name="gevent",
            look=1,
            pass_number=2,
            rates_per_s=[9000.0],
            suffix="/s",
            verdict="server-limited",
            held=False,
            passes=2,
        ),
        "gevent did not sustain 9,000/s (first try, pass 2): repeating, because its limit is decided there.",
    ),
    (
        notes.Again(
            name="gevent",
            look=2,
            pass_number=1,
            rates_per_s=[9000.0],
            suffix="/s",
            verdict="inconclusive",
            held=False,
            passes=1,
        ),
        "gevent could not be judged at 9,000/s (second try): repeating, because its limit is decided there.",
    ),
    (
        notes.Again(
            name="gevent",
            look=2,
            pass_number=1,
            rates_per_s=[9000.0],
            suffix="/s",
            verdict="ok",
            held=True,
            passes=1,
        ),
        "gevent sustained 9,000/s (second try): repeating, because its limit is decided there.",
    ),
    (notes.Paused(x=4500.0, suffix="/s"), "Paused after 4,500/s."),
    (notes.Paused(x=None, suffix="/s"), "Paused after the servers were tested."),
    (notes.Resumed(), "Resumed."),
    (
        notes.WindowsMissing(seconds=0.4),
        "0.4 s of samples from the clients are missing at this point. Its totals are complete; its time series has a gap.",
    ),
    (
        notes.NotJudged(
            x=4000.0,
            suffix="/s",
            name="gevent",
            first=False,
            cause="The clients never sent 500 of 9,000 calls.",
            finding={"code": "calls-unsent", "unsent": 500, "calls": 9000},
        ),
        "gevent at 4,000/s cannot be judged. The clients never sent 500 of 9,000 calls.",
    ),
    (
        notes.Faulty(x=200.0, name="gevent", cause="The server answers 500."),
        "gevent is faulty at 200/s. The server answers 500.",
    ),
    (
        _peak(),
        "gevent: peak 14,250/s with at most 1 % errors and a p99 of at most 50 ms (95 % interval 14,250 to 14,500/s; 3 points).",
    ),
    (
        _peak(high_per_s=None, sure=False, blocked_per_s=14500.0, blocked_by="client-limited"),
        "gevent: peak ≥ 14,250/s with at most 1 % errors and a p99 of at most 50 ms (95 % interval above 14,250/s; 3 points). From 14,500/s on the clients are the limit.",
    ),
    (
        _peak(peak_per_s=None, low_per_s=0.0, high_per_s=500.0, met=[], p99_ms=None),
        "gevent met the limits at no tested rate (at most 1 % errors; 1 point).",
    ),
    (
        _peak(low_per_s=13000.0, sure=False, pass_number=2, passes=3, p99_ms=None, errors_pct=0.0),
        "gevent: peak 14,250/s with no errors (95 % interval 13,000 to 14,500/s; 3 points, pass 2). The search ended before the peak was certain.",
    ),
]
