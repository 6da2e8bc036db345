"""What this computer uploads to machines without pip, venv and network."""

from __future__ import annotations

import pytest

from lab.hosts import Host
from workbench.errors import PongbenchError
from workbench.load.base import Client
from workbench.load.fleet import AgentFleet
from workbench.machines.base import Platform
from workbench.machines.bundle import Bundle, agent_command, archived, target_of
from workbench.machines.ssh import SshMachine


@pytest.mark.parametrize(
    ("platform", "target"),
    [
        (Platform("3.11.2", "x86_64", "glibc", "2.36"), "x86_64-manylinux_2_36"),
        (Platform("3.10.1", "aarch64", "glibc", "2.30"), "aarch64-manylinux_2_28"),
        (Platform("3.13.0", "x86_64", "glibc", "2.99"), "x86_64-manylinux_2_40"),
        (Platform("3.12.0", "x86_64", "musl"), "x86_64-unknown-linux-musl"),
    ],
)
def test_packages_fit_the_machine_not_this_computer(platform: Platform, target: str) -> None:
    assert target_of(platform) == target


@pytest.mark.anywhere
async def test_an_agent_starts_where_there_is_no_gevent(machine: SshMachine, host: Host) -> None:
    fleet = await AgentFleet.start([Client(machine, workers=2)])
    await fleet.close()
    host.run("rm", "-rf", f"{host.work_dir}/bundles")


@pytest.mark.anywhere
async def test_the_second_deployment_uploads_nothing(machine: SshMachine, host: Host) -> None:
    def there() -> str:
        return host.run("stat", "-c", "%i %z", f"{host.work_dir}/bundles")

    first, _ = await agent_command(machine)
    brought = there()
    again, _ = await agent_command(machine)
    assert again == first
    assert there() == brought
    host.run("rm", "-rf", f"{host.work_dir}/bundles")


async def test_what_a_machine_does_not_have_is_stated_in_one_sentence() -> None:
    platform = Platform("3.12.1", "x86_64", "musl")
    sentence = r"^There is no ready-made package of \S+ for Python 3\.12 on x86_64 with musl\.$"
    with pytest.raises(PongbenchError, match=sentence):
        await archived(Bundle("thing", platform, "meinheld==1.0.2"))


async def test_the_same_content_has_the_same_name() -> None:
    platform = Platform("3.11.2", "x86_64", "glibc", "2.36")
    one = Bundle("thing", platform, "", texts={"a": "1"})
    assert await archived(one) == await archived(Bundle("thing", platform, "", texts={"a": "1"}))
    assert one.key() != Bundle("thing", platform, "", texts={"a": "2"}).key()
