"""Audits of a session: a checklist of what must be true for its figures to mean what they seem to.

An audit is a function from the documents of a session (`base.SessionData`) to an `Audit`, so a
running and a finished session are audited alike. Nothing is judged twice: what verdicts,
notes or the kernel have established is taken from there. To add an audit, write the function, its
sentence in `messages.audits`, and a line in `CHECKS`.

Modelled on the rules of T. Hoefler and R. Belli, "Scientific Benchmarking of Parallel Computing
Systems", SC15, doi:10.1145/2807591.2807644; docs/measuring.md goes through all twelve.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from workbench.analysis.audits import conditions, load, within
from workbench.analysis.audits.base import Audit, SessionData, State
from workbench.documents import AnyDocument, RunStart
from workbench.messages.audits import finding

__all__ = ["CHECKS", "Audit", "Auditor", "State", "audits_of", "in_short", "tainted"]

CHECKS: dict[str, tuple[str, Callable[[SessionData], Audit]]] = {
    "conservation": ("Conservation", load.conservation),
    "littles-law": ("Little's law", load.littles_law),
    "schedule": ("Schedule", load.schedule),
    "evidence": ("Evidence", load.evidence_of_tools),
    "overlap": ("Overlap of clients", load.overlap),
    "clients-alike": ("Clients alike", load.clients_alike),
    "client-limit": ("Client limit", load.client_limit),
    "backlog": ("Backlog", conditions.backlog),
    "processes": ("Processes", conditions.processes),
    "cores": ("Cores", conditions.cores),
    "descriptors": ("Descriptor limit", conditions.descriptors),
    "versions": ("Versions", conditions.versions),
    "set-up": ("Set-up", conditions.set_up),
    "quiet-host": ("Quiet host", conditions.quiet_host),
    "link": ("Link", conditions.link),
    "steady-state": ("Steady state", within.steady_state),
    "independence": ("Independent windows", within.independence),
    "memory-growth": ("Memory growth", within.memory_growth),
    "recording": ("Recording", conditions.recording),
}
"""By code, which is not recorded but read by scripts, so it never changes: label and check, in
display order."""


class Auditor:
    """A consumer of documents; a `RunStart` begins another session."""

    def __init__(self) -> None:
        self._data: SessionData | None = None

    def __call__(self, document: AnyDocument) -> None:
        if isinstance(document, RunStart):
            self._data = SessionData(document)
        elif self._data:
            self._data(document)

    def audits(self, *, over: bool = True) -> list[Audit]:
        """The audits so far. `over`: no more documents will come."""
        data = self._data
        if data is None:
            return []
        data.over = over
        nothing = Audit("not-known", finding("nothing-yet"))
        return [
            replace(find(data) if data.points else nothing, code=code, label=label)
            for code, (label, find) in CHECKS.items()
        ]


def audits_of(documents: Iterable[AnyDocument]) -> list[Audit]:
    auditor = Auditor()
    for document in documents:
        auditor(document)
    return auditor.audits()


def tainted(audits: Iterable[Audit]) -> dict[int, list[Audit]]:
    found: dict[int, list[Audit]] = {}
    for audit in audits:
        for point in audit.points if audit.state == "failed" else ():
            found.setdefault(point, []).append(audit)
    return found


def in_short(audits: Sequence[Audit]) -> str:
    """ "12 passed, 1 failed (quiet host), 1 not known"."""
    number = Counter(audit.state for audit in audits)
    failed = [audit.label for audit in audits if audit.failed]
    said = [f"{number['passed']} passed"]
    if failed:
        said.append(f"{len(failed)} failed ({', '.join(failed)})")
    if unknown := number["not-known"]:
        said.append(f"{unknown} not known")
    return ", ".join(said)
