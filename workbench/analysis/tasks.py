"""How many processes and threads a server has."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.documents import ServerRecord
from workbench.formatting import counted


@dataclass(frozen=True)
class Tasks:
    """Counted at rest, when the server was tested before the run; those that only start and
    supervise others are included. 0: not known."""

    processes: int = 0
    threads: int = 0
    """In all of its processes, each of which has at least one."""

    @classmethod
    def of(cls, record: ServerRecord | None) -> Tasks:
        """Return what a session has recorded of a server."""
        gate = record.gate if record else {}
        found = [gate.get(what) for what in ("processes", "threads")]
        return cls(*(each if type(each) is int and each > 0 else 0 for each in found))

    @property
    def text(self) -> str:
        """ "1 process, 8 threads", "4 processes" if none of them has a second thread; empty: not
        known."""
        if not self.processes:
            return ""
        texts = [counted(f"{self.processes:,}", " processes")]
        if self.threads > self.processes:
            texts.append(f"{self.threads:,} threads")
        return ", ".join(texts)

    @property
    def cell(self) -> str:
        """The same for a column "Processes": "1 (8 threads)", "4"."""
        if not self.processes:
            return ""
        more = f" ({self.threads:,} threads)" if self.threads > self.processes else ""
        return f"{self.processes:,}{more}"

    @property
    def in_legend(self) -> tuple[str, ...]:
        """What a legend shows beside the name, the longest form first; empty: nothing, because it
        is one process of one thread or not known."""
        if self.processes < 2 and self.threads < 2:
            return ()
        threads = f"{self.threads:,}" if self.threads > self.processes else ""
        if self.processes < 2:
            return (f"{threads} threads", f"{threads} thr.")
        short = f"{self.processes:,} proc."
        both = [f"{short}, {threads} thr."] * bool(threads)
        return (self.text, *both, short, f"×{self.processes:,}")
