"""What a machine's facts mean for a run, and which hosts ~/.ssh/config names."""

from __future__ import annotations

from typing import Any

import pytest

from workbench.machines.facts import meanings
from workbench.machines.profiles import Cpus, Profile

PROFILE = Profile("box", connector="ssh", address="10.0.0.1")
FACTS: dict[str, Any] = {
    "load_average": [0.1, 0.1, 0.1],
    "descriptor_limits": {"soft": 1024, "hard": 1_048_576},
    "sysctls": {"net.ipv4.ip_local_port_range": "32768 60999", "net.core.somaxconn": 4096},
}


def said(profile: Profile = PROFILE, cpus: list[int] | None = None, **facts: Any) -> str:
    found = meanings(profile, FACTS | facts, cpus or [0, 1, 2, 3], "3.11.2")
    return "\n".join(f"{each.tone}: {each.text}" for each in found)


@pytest.mark.parametrize(
    ("facts", "sentence"),
    [
        ({}, "warn: 28,232 local ports sustain 471 new connections/s (reuse after 60 s)."),
        ({"sysctls": {"net.ipv4.tcp_tw_reuse": 1}}, "ok: 28,232 local ports sustain"),
        ({}, "ok: Servers get core 0; clients on the same machine get cores 1 to 3."),
        ({"descriptor_limits": {"soft": 1024, "hard": 4096}}, "warn: 4,096 file descriptors"),
        ({"sysctls": {"net.core.somaxconn": 128}}, "warn: Accept queue: max 128"),
        ({"governor": "powersave"}, "CPU frequency scaling is on (powersave)"),
        ({"load_average": [3.2, 1, 1]}, "warn: Load average 3.20 on 4 cores: other"),
        ({"virtualisation": "virtual machine"}, "warn: Virtual machine: other VMs"),
    ],
)
def test_facts_are_explained_by_what_they_mean(facts: dict[str, Any], sentence: str) -> None:
    assert sentence in said(**facts)


def test_warnings_come_first() -> None:
    assert said(governor="powersave").startswith("warn: ")


def test_a_machine_of_one_core_shares_it() -> None:
    assert "warn: Server and agents share core 0" in said(cpus=[0])


def test_a_core_that_is_not_there_is_named() -> None:
    profile = Profile("box", connector="ssh", address="a", cpus=Cpus(server=[9]))
    assert "core 9" in said(profile)


def test_the_description_of_a_client_omits_accept_queues() -> None:
    profile = Profile("box", connector="ssh", address="a", roles=["client"])
    assert "accept queue" not in said(profile)
    assert "The clients get cores 0 to 3." in said(profile)
