"""Servers and sessions in words, the same on every page. No Qt."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.documents import MachineRecord, RunStart
    from workbench.shelf import Shelved

FAMILIES = {
    "socket": "Raw sockets",
    "wsgi": "WSGI and ASGI",
    "macro": "Database apps",
    "hello": "Hello World",
    "message": "Messages",
}
"""Of servers, by the catalogue's word."""

_STATUS = {"done": "complete", "stopped": "stopped early", "aborted": "aborted", "failed": "failed"}


def when(start: RunStart | None) -> str:
    """ "21 November, 09:02", in local time; with the year where it is not this one."""
    if start is None:
        return ""
    try:
        began = datetime.fromisoformat(start.started_utc)
    except ValueError:
        return start.started_utc
    began = began.replace(tzinfo=began.tzinfo or UTC).astimezone()
    year = "" if began.year == datetime.now().astimezone().year else f" {began.year}"
    return f"{began.day} {began:%B}{year}, {began:%H:%M}"


def ended(session: Shelved) -> str:
    if session.start is None:
        return "not readable"
    if session.stop is not None:
        return _STATUS[session.stop.status]
    return "being recorded" if session.growing else "cut off"


def conditions(start: RunStart) -> str:
    """Where and how, in one line."""
    targets = ", ".join(machine.name for machine in start.machines if "target" in machine.roles)
    clients = ", ".join(machine.name for machine in start.machines if "client" in machine.roles)
    where = f"servers and clients share {targets}"
    if clients != targets:
        where = f"target {targets} · clients {clients}"
    calls = (start.plan.get("workload") or {}).get("calls_per_connection", 1)
    each = "one call per connection" if calls == 1 else f"{calls:,} calls per connection"
    backlog = start.plan.get("backlog")
    asked = f" · asks for a backlog of {backlog:,}" if isinstance(backlog, int) else ""
    return f"{where}{_cores(start.machines)} · {each}{asked}"


def _cores(machines: list[MachineRecord]) -> str:
    for machine in machines:
        if "target" in machine.roles and (cores := machine.facts.get("cpu_count")):
            return f" ({cores} core{'s' if cores != 1 else ''})"
    return ""
