"""Servers of the catalogue that speak HTTP, one for each way of making and starting them."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from gate_checks import patient, patient_gate
from oracle import processes_with

from workbench.machines.local import LocalMachine, open_local
from workbench.servers.catalogue import Catalogue
from workbench.servers.deploy import deploy
from workbench.servers.gate import GateResult
from workbench.workloads.registry import able

SHIPPED = Catalogue.load(extra_dirs=[])


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
async def machine(cache: Path) -> AsyncIterator[LocalMachine]:
    machine = await open_local(cache_dir=cache)
    yield machine
    await machine.close()


async def tried(machine: LocalMachine, id: str, *, install: bool = False) -> GateResult:
    """What the gate finds; that nothing of the server is left running."""
    deployment = await deploy(machine, patient(SHIPPED[id]), backlog=333, install=install)
    try:
        assert deployment.backlog == 333
        result = await patient_gate(deployment)
    finally:
        await deployment.stop()
    assert not processes_with(f"{machine.run_dir}/servers/")
    assert result.passed, result.sentences
    return result


@pytest.mark.parametrize("id", ["null-http", "gevent-pywsgi", "cheroot", "uvicorn"])
async def test_a_server_that_keeps_connections_alive_is_recognised(
    machine: LocalMachine, id: str
) -> None:
    result = await tried(machine, id)
    assert result.protocols == ["http/1.0", "http/1.1"]
    assert (result.keep_alive, result.pipelining) == (True, 3)
    assert len(able(result)) > 2
    assert result.processes == 1
    assert result.kept_bytes > len("Pong!") < result.header_bytes


async def test_a_server_that_closes_after_each_call_does_not_support_http_1_1(
    machine: LocalMachine,
) -> None:
    result = await tried(machine, "gunicorn-3w")
    assert able(result) == ["HTTP/1.0"]
    assert "1 of 10 calls" in result.sentences[-1]
    assert result.processes == 4  # three workers and their supervisor
