"""Local addresses to connect from, where one has too few ports."""

from __future__ import annotations

import _socket
import ipaddress
import itertools
import re
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROUTES = "/proc/net/fib_trie"

LOOPBACK = 200
"""Addresses used of 127.0.0.0/8, which needs no configuration."""

UNIX = "unix:"

_NO_PORT = 24
"""IP_BIND_ADDRESS_NO_PORT: so that each address has all its ports for every destination."""


def networks(fib_trie: str) -> list[list[str]]:
    """Return the machine's IPv4 addresses from the kernel's table, by network: those of one network
    reach the same machines. Loopback is left out."""
    local: set[ipaddress.IPv4Address] = set()
    links: set[ipaddress.IPv4Network] = set()
    address = ""
    for line in fib_trie.splitlines():
        if found := re.match(r"\s*\|-- (\S+)", line):
            address = found[1]
        elif found := re.match(r"\s*/(\d+) (?:host LOCAL|link UNICAST)", line):
            network = ipaddress.ip_network(f"{address}/{found[1]}", strict=False)
            if not isinstance(network, ipaddress.IPv4Network) or network.is_loopback:
                continue
            if line.endswith("LOCAL"):
                local.add(network.network_address)
            else:
                links.add(network)
    return [
        [str(each) for each in sorted(local) if each in network]
        for network in sorted(links)
        if any(each in network for each in local)
    ]


def local_addresses(host: str, count: int) -> list[str]:
    """Return up to `count` addresses of this machine from which it reaches `host`, the usual one
    first; empty: only that is known."""
    if ":" in host:
        return []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect((host, 9))
        usual = probe.getsockname()[0]
    if usual.startswith("127."):
        return [f"127.0.0.{n + 1}" for n in range(min(count, LOOPBACK))]
    same = [each for each in networks(Path(ROUTES).read_text()) if usual in each]
    others = [address for address in (same[0] if same else []) if address != usual]
    return [usual, *others][:count]


def destination(host: str, port: int) -> tuple[int, Any]:
    """Return the family and place to connect to. `host`: an IP address, or "unix:" and a path."""
    if host.startswith(UNIX):
        return socket.AF_UNIX, host.removeprefix(UNIX)
    return socket.AF_INET6 if ":" in host else socket.AF_INET, (host, port)


def sockets(host: str, count: int) -> Callable[[int, int], Any]:
    """Return what makes a socket (family, type), bound to the next of `count` local addresses."""
    addresses = local_addresses(host, count) if count > 1 else []
    if len(addresses) < 2:
        return _socket.socket
    places = itertools.cycle([(address, 0) for address in addresses])

    def bound(family: int, kind: int) -> Any:
        made = _socket.socket(family, kind)
        made.setsockopt(_socket.IPPROTO_IP, _NO_PORT, 1)
        made.bind(next(places))
        return made

    return bound
