"""What stands between and beside the points: samples of machines, and notes."""

from __future__ import annotations

from typing import Any

from workbench.documents.base import Document
from workbench.shapes import Number, Signed, Whole


class HostSample(Document, frozen=True, kw_only=True, tag="host_sample"):
    """One machine, once a second or more often."""

    t_us: Signed
    machine: str
    server: str = ""
    """The server whose process tree the figures below describe; empty: none runs here."""
    cpu_pct: Number = 0.0
    """Percent of one core, of the server's whole process tree since the last sample."""
    rss_bytes: Whole = 0
    pss_bytes: Whole = 0
    """0: not available."""
    processes: Whole = 0
    threads: Whole = 0
    descriptors: Whole = 0
    accept_queue: Whole = 0
    """Connections waiting to be accepted."""
    backlog: Whole = 0
    """The limit in force in the kernel; 0: not listening."""
    host_cpu_pct: Number = 0.0
    """Percent of all cores together: 100 is fully busy."""
    memory_available_bytes: Whole = 0
    counters: dict[str, Signed] = {}
    """Kernel counters that grew since the last sample, by how much (ListenOverflows, ...). Drops of
    accept queues are the server's own, where the kernel tells them apart."""
    gauges: dict[str, Signed] = {}
    """Kernel values as they are (TIME_WAIT, ...)."""
    values: dict[str, Number | None] = {}
    """As in `Window`."""


class Note(Document, frozen=True, kw_only=True, tag="note"):
    """Information a reader needs: tuning, trust, gates, give-ups, warnings."""

    t_us: Signed
    topic: str
    """"ceiling", "gate", "backlog", "deploy", "cool-down", "gave-up", "audit", "warning", ..."""
    text: str
    """One sentence."""
    server: str = ""
    machine: str = ""
    data: dict[str, Any] = {}
