"""What a client's kernel allows: local ports and descriptors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

TIME_WAIT_S = 60.0
"""Fixed in the Linux kernel."""

REUSE_S = 1.0
"""After which net.ipv4.tcp_tw_reuse lets a port in TIME_WAIT be used again."""


@dataclass(frozen=True)
class ClientLimits:
    """What a client's kernel allows."""

    ports: int = 28_232
    """Local ports free to use; by default those of an untouched Linux."""
    descriptors: int = 1_048_576
    """Hard limit of one process."""
    port_held_s: float = TIME_WAIT_S
    """By a connection closed from this side."""


def limits_of(facts: Mapping[str, Any], *, loopback: bool = False) -> ClientLimits:
    """From a machine's facts (`machines.facts`); what they do not tell is taken as usual."""
    usual, sysctls = ClientLimits(), facts.get("sysctls", {})
    ports = usual.ports
    if port_range := sysctls.get("net.ipv4.ip_local_port_range"):
        low, high = map(int, port_range.split())
        ports = high - low + 1
    # 1: for all connections, 2 (the kernel's default): for those over loopback.
    reuse = sysctls.get("net.ipv4.tcp_tw_reuse")
    reused = reuse == 1 or (reuse == 2 and loopback)
    return ClientLimits(
        ports=ports,
        descriptors=facts.get("descriptor_limits", {}).get("hard", usual.descriptors),
        port_held_s=REUSE_S if reused else TIME_WAIT_S,
    )
