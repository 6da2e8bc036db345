"""Audits of a session: a checklist of what must be true for its figures to mean what they seem to.

An audit is a function from the documents of a session (`base.SessionData`) to an `Outcome`, so a
running and a finished session are audited alike. Nothing is judged twice: what verdicts,
notes or the kernel have established is taken from there. To add an audit, write the function, its
sentence in `messages.audits`, and a line in `CHECKS`.

Modelled on the rules of T. Hoefler and R. Belli, "Scientific Benchmarking of Parallel Computing
Systems", SC15, doi:10.1145/2807591.2807644; docs/measuring.md goes through all twelve.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from workbench.analysis.audits import conditions, load, within
from workbench.analysis.audits.base import Audit, Check, Outcome, SessionData, State
from workbench.documents import AnyDocument, RunStart
from workbench.messages.audits import finding

__all__ = ["CHECKS", "Audit", "Auditor", "State", "audits_of", "in_short", "tainted"]

CHECKS = (
    Check("conservation", "Conservation", load.conservation),
    Check("littles-law", "Little's law", load.littles_law),
    Check("schedule", "Schedule", load.schedule),
    Check("evidence", "Evidence", load.evidence_of_tools),
    Check("overlap", "Overlap of clients", load.overlap),
    Check("clients-alike", "Clients alike", load.clients_alike),
    Check("client-limit", "Client limit", load.client_limit),
    Check("backlog", "Backlog", conditions.backlog),
    Check("processes", "Processes", conditions.processes),
    Check("cores", "Cores", conditions.cores),
    Check("descriptors", "Descriptor limit", conditions.descriptors),
    Check("versions", "Versions", conditions.versions),
    Check("set-up", "Set-up", conditions.set_up),
    Check("quiet-host", "Quiet host", conditions.quiet_host),
    Check("link", "Link", conditions.link),
    Check("steady-state", "Steady state", within.steady_state),
    Check("independence", "Independent windows", within.independence),
    Check("memory-growth", "Memory growth", within.memory_growth),
    Check("recording", "Recording", conditions.recording),
)
"""In display order."""


class Auditor:
    """A consumer of documents; a `RunStart` begins another session."""

    def __init__(self) -> None:
        self._data = SessionData()

    def __call__(self, document: AnyDocument) -> None:
        if isinstance(document, RunStart):
            self._data = SessionData(document)
        self._data(document)

    def audits(self, *, over: bool = True) -> list[Audit]:
        """The audits so far. `over`: no more documents will come."""
        data = self._data
        data.over = over
        return [_audit(check, data) for check in CHECKS] if data.start else []


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


def _audit(check: Check, data: SessionData) -> Audit:
    outcome = check.of(data) if data.points else Outcome("not-known", finding("nothing-yet"))
    return Audit(check.code, check.label, *outcome)
