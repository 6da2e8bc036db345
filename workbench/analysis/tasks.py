"""How many processes and threads a server has."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from workbench.documents import ServerRecord
from workbench.formatting import counted


@dataclass(frozen=True)
class Tasks:
    """Counted at rest, when the server was tested before the run; those that only start and
    supervise others are included. 0: not known."""

    processes: int = 0
    threads: int = 0
    """In all of its processes, each of which has at least one."""
    beside_several: bool = False
    """Whether another server of the session has more than one of either."""

    @classmethod
    def of(cls, record: ServerRecord | None) -> Tasks:
        """Return what a session has recorded of a server."""
        gate = record.gate if record else {}
        processes, threads = (
            found if type(found := gate.get(what)) is int and found > 0 else 0
            for what in ("processes", "threads")
        )
        return cls(processes, threads)

    @classmethod
    def of_all(cls, records: Iterable[ServerRecord]) -> dict[str, Tasks]:
        """Return those of all servers of a session, by id."""
        found = {record.id: cls.of(record) for record in records}
        several = any(each.several for each in found.values())
        return {id_: replace(each, beside_several=several) for id_, each in found.items()}

    @property
    def several(self) -> bool:
        return self.processes > 1 or self.threads > 1

    @property
    def text(self) -> str:
        """ "1 process, 8 threads", "4 processes" of one thread each; empty: not known."""
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
        is not known, or all servers of the session are one process of one thread."""
        if not self.several:
            known = self.processes and self.beside_several
            return ("1 process", "1 proc.", "×1") if known else ()
        threads = f"{self.threads:,}" if self.threads > self.processes else ""
        if self.processes < 2:
            return (f"{threads} threads", f"{threads} thr.")
        short = f"{self.processes:,} proc."
        both = [f"{short}, {threads} thr."] * bool(threads)
        return (self.text, *both, short, f"×{self.processes:,}")
