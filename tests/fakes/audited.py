"""Sessions in which nothing is wrong but what a test plants, and what audits say of them.
Runs are the engine's own, with a scripted load tool on fake machines."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from fakes.load import Script
from fakes.machine import FakeMachine
from fakes.run import a_plan, a_session
from workbench.analysis.audits import Audit, audits_of
from workbench.documents import AnyDocument, PointStop
from workbench.messages.base import Said
from workbench.plan.model import Plan

PLAN = a_plan()
PROC = {
    "status": "Threads:\t1\nVmRSS:\t  8000 kB\nCpus_allowed_list:\t0\n",
    "limits": "Max open files            20000                524288               files     \n",
}
Sound = list[AnyDocument]


def run(
    folder: Path, script: Script | None = None, plan: Plan = PLAN, **more: Any
) -> list[AnyDocument]:
    """A session in which nothing is wrong but what is planted. Other programs of this machine are
    left out of it."""

    def opened(machine: FakeMachine) -> None:
        machine.proc |= PROC
        more.get("on_machine", lambda machine: None)(machine)

    documents = asyncio.run(a_session(plan, folder, script, **{**more, "on_machine": opened}))
    return [quiet(document) for document in documents]


def quiet(document: AnyDocument, others_pct: float = 3.0) -> AnyDocument:
    if not isinstance(document, PointStop):
        return document
    evidence = document.evidence | {"others_cpu_pct": others_pct}
    return msgspec.structs.replace(document, evidence=evidence)


def plus(documents: Iterable[AnyDocument], *notices: Said, server: str = "") -> list[AnyDocument]:
    """With notes after the `RunStart`."""
    start, *rest = documents
    return [start, *(notice.note(0, server=server) for notice in notices), *rest]


def by_code(documents: Iterable[AnyDocument]) -> dict[str, Audit]:
    return {audit.code: audit for audit in audits_of(documents)}


def failed(documents: Iterable[AnyDocument]) -> list[str]:
    return [audit.code for audit in audits_of(documents) if audit.failed]


def places(documents: Iterable[AnyDocument], audit: Audit) -> list[tuple[str, float]]:
    """The points that an audit marks."""
    stops = [d for d in documents if isinstance(d, PointStop)]
    return [(stop.server, stop.x) for stop in stops if stop.point in audit.points]
