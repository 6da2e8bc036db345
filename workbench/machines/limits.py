"""The limits of the kernels of clients and target: local ports and descriptors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from workbench.remote.agent.addresses import LOOPBACK

TIME_WAIT_S = 60.0
"""A constant of the Linux kernel, in seconds."""

REUSE_S = 1.0
"""Seconds after which net.ipv4.tcp_tw_reuse allows a port in TIME_WAIT to be reused."""


@dataclass(frozen=True)
class Limits:
    """The limits of a client's kernel, and what the target can hold."""

    ports: int = 28_232
    """Local ports of one address that are free to use; the default is that of Linux."""
    addresses: int = 1
    """Local addresses that reach the target."""
    descriptors: int = 1_048_576
    """Hard descriptor limit of one process."""
    port_reuse_s: float = TIME_WAIT_S
    """Seconds for which a connection closed by this side occupies its port."""
    target_descriptors: int = 1_048_576
    """Hard descriptor limit of one process of a server."""
    target_processes: int = 1
    """Worker processes of the server that has the fewest, each with descriptors of its own."""


def limits_of(facts: Mapping[str, Any], *, loopback: bool = False) -> Limits:
    """Return the limits from a client's facts (`machines.facts`); missing ones get the defaults of
    Linux."""
    defaults, sysctls = Limits(), facts.get("sysctls", {})
    ports = defaults.ports
    if port_range := sysctls.get("net.ipv4.ip_local_port_range"):
        low, high = map(int, port_range.split())
        ports = high - low + 1
    # 1: for all connections, 2 (the kernel's default): for loopback only.
    reuse = sysctls.get("net.ipv4.tcp_tw_reuse")
    reused = reuse == 1 or (reuse == 2 and loopback)
    return Limits(
        ports=ports,
        descriptors=facts.get("descriptor_limits", {}).get("hard", defaults.descriptors),
        addresses=LOOPBACK if loopback else facts.get("addresses", 1),
        port_reuse_s=REUSE_S if reused else TIME_WAIT_S,
    )


def raised(facts: Mapping[str, Any], descriptors: int) -> dict[str, Any]:
    """Return the facts of a machine whose hard descriptor limit is raised to `descriptors`; a
    higher one stays."""
    hard = max(limits_of(facts).descriptors, descriptors)
    return {**facts, "descriptor_limits": {**facts.get("descriptor_limits", {}), "hard": hard}}
