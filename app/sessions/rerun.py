"""Runs a session's plan again, on the machines it ran on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from app.context import Desk
from app.live.run import Where
from workbench.documents import Note, RunStart
from workbench.machines.profiles import profile_names
from workbench.plan.model import Plan
from workbench.plan.reading import plan_of_session
from workbench.sessions.skim import skim

HERE = "localhost"


@dataclass(frozen=True)
class Again:
    """The plan and the machines of a session, and which of them exist today."""

    plan: Plan
    where: Where
    missing: tuple[str, ...] = ()
    """Machines without a profile today."""

    @property
    def sentence(self) -> str:
        """Why it cannot run on the same machines."""
        if not self.missing:
            return ""
        names = " and ".join(filter(None, (", ".join(self.missing[:-1]), self.missing[-1])))
        have = "has no profile" if len(self.missing) == 1 else "have no profiles"
        return (
            f"This session ran {self.where}. {names} {have}: choose other machines, or add them "
            "on the Machines page."
        )


def run_again(desk: Desk, path: Path, fail: Callable[[str], object]) -> None:
    """Ask for the run; if machines are missing, for its plan, with a message. `fail` gets a
    sentence when the session cannot be read.
    """

    def on_read(found: Again) -> None:
        if found.missing:
            desk.plan_requested.emit(found.plan)
            desk.notice.emit(found.sentence, "warn")
        elif found.where == Where(HERE, (HERE,)):
            desk.run_requested.emit(found.plan)
        else:
            desk.run_on_requested.emit(found.plan, found.where)

    desk.bridge.do(lambda: read_again(path), on_read, fail)


def read_again(path: Path) -> Again:
    """Read the session and the profiles. Raises BadInput."""
    start, *others = skim(path)
    assert isinstance(start, RunStart)
    tuned = (note.data.get("set") for note in others if isinstance(note, Note))
    where = _where(start, next((name for name in tuned if isinstance(name, str)), ""))
    existing = set(profile_names())
    names = dict.fromkeys((where.target, *where.clients))
    missing = tuple(name for name in names if name not in existing)
    return Again(plan_of_session(start.plan, name=path.name), where, missing)


def _where(start: RunStart, tune: str) -> Where:
    targets = [machine.name for machine in start.machines if "target" in machine.roles]
    clients = [machine.name for machine in start.machines if "client" in machine.roles]
    return Where(targets[0] if targets else HERE, tuple(clients) or (HERE,), tune)
