"""Servers of the catalogue, tested with the patience that a busy machine needs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from workbench.documents import ServerRecord
from workbench.errors import PongbenchError
from workbench.machines.base import Machine
from workbench.servers.deploy import deploy
from workbench.servers.deployment import Deployment
from workbench.servers.entry import ServerEntry
from workbench.servers.gate import GateResult, gate

KEPT = Path(__file__).parents[1] / ".tools" / "catalogue"
"""What they are made of: fetched and built once."""
LONGEST_BUILD = "workbench.servers.runtimes.builders.LONGEST_BUILD_S"


def patient(entry: ServerEntry) -> ServerEntry:
    return msgspec.structs.replace(entry, ready_within_s=120.0)


async def patient_gate(deployment: Deployment) -> GateResult:
    return await gate(deployment, patience_s=60.0, impatience_s=10.0)


@contextmanager
def skipped_out_of_reach() -> Iterator[None]:
    """Skip the test where what it needs cannot be fetched."""
    try:
        yield
    except PongbenchError as error:
        if "apt" not in str(error) and "cannot be fetched" not in str(error):
            raise
        pytest.skip(str(error))


async def passed(
    machine: Machine, entry: ServerEntry, **options: Any
) -> tuple[ServerRecord, GateResult]:
    """Deployed with whatever it needs, through the gate, and stopped. Skips the test where what it
    needs cannot be fetched. `options`: of `deploy`."""
    with skipped_out_of_reach():
        deployment = await deploy(machine, patient(entry), install=True, **options)
    try:
        result = await patient_gate(deployment)
        record = deployment.record()
    finally:
        await deployment.stop()
    assert result.passed, result.sentences
    return record, result
