"""Runs a session's plan again, on the machines it ran on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from app.context import Desk
from app.live.run import Where
from app.machines.records import HERE
from workbench.documents import Note, RunStart
from workbench.formatting import listed
from workbench.machines.profiles import profile_names
from workbench.plan.model import Plan
from workbench.plan.reading import plan_of_session
from workbench.sessions.skim import skim


def run_again(desk: Desk, path: Path, fail: Callable[[str], object]) -> None:
    """Ask for the run; if machines are missing, for its plan, with a message. `fail` gets a
    sentence when the session cannot be read.
    """

    def on_read(found: tuple[Plan, Where, list[str]]) -> None:
        plan, where, missing = found
        if missing:
            desk.plan_requested.emit(plan)
            have = "has no profile" if len(missing) == 1 else "have no profiles"
            desk.notice.emit(
                f"This session ran {where}. {listed(missing)} {have}: choose other machines, or"
                " add them on the Machines page.",
                "warn",
            )
        else:
            desk.run_requested.emit(plan, None if where == Where(HERE, (HERE,)) else where)

    desk.bridge.do(lambda: read_again(path), on_read, fail)


def read_again(path: Path) -> tuple[Plan, Where, list[str]]:
    """Return the plan and the machines of a session, and which of them have no profile today.
    Raises BadInput.
    """
    start, *others = skim(path)
    assert isinstance(start, RunStart)
    tuned = (note.data.get("set") for note in others if isinstance(note, Note))
    where = _where(start, next((name for name in tuned if isinstance(name, str)), ""))
    existing = set(profile_names())
    names = dict.fromkeys((where.target, *where.clients))
    missing = [name for name in names if name not in existing]
    return plan_of_session(start.plan, name=path.name), where, missing


def _where(start: RunStart, tune: str) -> Where:
    targets = [machine.name for machine in start.machines if "target" in machine.roles]
    clients = [machine.name for machine in start.machines if "client" in machine.roles]
    return Where(targets[0] if targets else HERE, tuple(clients) or (HERE,), tune)
