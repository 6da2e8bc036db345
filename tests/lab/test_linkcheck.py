"""The link between machines is measured by programs on both and described in one sentence."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator

import pytest

from lab.conftest import profile_of, ready
from lab.hosts import Host, Lab
from workbench.machines.ssh import SshMachine, open_ssh
from workbench.messages.base import Stated
from workbench.run.network_check import Unconnected, check_link, notes_of

pytestmark = pytest.mark.alone


@pytest.fixture
def hosts(lab: Lab) -> Iterator[list[Host]]:
    yield from ready(lab.hosts[:2])


@pytest.fixture
async def machines(hosts: list[Host]) -> AsyncIterator[list[SshMachine]]:
    opened = [await open_ssh(profile_of(host)) for host in hosts]
    yield opened
    for machine in opened:
        await machine.close()


async def check(machines: list[SshMachine]) -> Stated:
    target, client = machines
    return await check_link(client, target, bind=target.bind, reach=target.reach)


async def test_a_link_is_described_in_one_sentence(machines: list[SshMachine]) -> None:
    link = await check(machines)
    found = link.parameters
    assert 0 < found["min_us"] <= found["p50_us"] <= found["p99_us"]
    assert re.fullmatch(
        r"h2 reaches h1 in [\d.]+ [mµ]?s \(p99 [\d.]+ [mµ]?s\), at [\d.]+ [MG]bit/s from h1"
        r" and [\d.]+ [MG]bit/s to it;"
        r" the plan needs about 88 Mbit/s at most\.",
        notes_of(link, 88e6)[0].text(),
    )


async def test_a_slow_link_is_seen_and_warned_of(
    hosts: list[Host], machines: list[SshMachine]
) -> None:
    hosts[1].slow("20mbit")
    try:
        link = await check(machines)
    finally:
        hosts[1].end_slow()
    back, there = link.parameters["bits_per_s"], link.parameters["to_target_bits_per_s"]
    assert 0 < back < 88e6
    assert there > 2 * back  # Only the other direction is slow.
    assert [each.code for each in notes_of(link, back / 10)] == ["link"]
    assert [each.code for each in notes_of(link, 88e6)] == ["link", "slow-link"]


async def test_an_unreachable_target_is_reported(machines: list[SshMachine]) -> None:
    target, client = machines
    refused = (
        r"^'h2' cannot connect to 'h1' at 127\.0\.0\.1 \(connection refused\); check its address"
    )
    with pytest.raises(Unconnected, match=refused):
        await check_link(client, target, bind=target.bind, reach="127.0.0.1")
    assert await client.read(["/proc/uptime"]) != [None]
