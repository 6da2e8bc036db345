"""Local addresses that an agent connects from."""

import socket

import pytest

from workbench.remote.agent.addresses import local_addresses, networks, sockets

FIB_TRIE = """Main:
  +-- 0.0.0.0/0 3 0 5
     |-- 0.0.0.0
        /0 universe UNICAST
     +-- 127.0.0.0/8 2 0 2
        +-- 127.0.0.0/31 1 0 0
           |-- 127.0.0.0
              /8 host LOCAL
           |-- 127.0.0.1
              /32 host LOCAL
     +-- 192.0.2.0/24 2 0 2
        +-- 192.0.2.0/29 2 0 2
           |-- 192.0.2.0
              /24 link UNICAST
           |-- 192.0.2.2
              /32 host LOCAL
           |-- 192.0.2.7
              /32 host LOCAL
        |-- 192.0.2.255
           /32 link BROADCAST
     |-- 198.51.100.0
        /28 link UNICAST
     |-- 198.51.100.3
        /32 host LOCAL
Local:
  +-- 0.0.0.0/0 3 0 5
     |-- 192.0.2.2
        /32 host LOCAL
"""


def test_addresses_are_grouped_by_network_without_loopback() -> None:
    assert networks(FIB_TRIE) == [["192.0.2.2", "192.0.2.7"], ["198.51.100.3"]]
    assert networks("") == []


def test_loopback_has_addresses_without_configuration() -> None:
    assert local_addresses("127.0.0.1", 3) == ["127.0.0.1", "127.0.0.2", "127.0.0.3"]
    assert local_addresses("::1", 3) == []


def test_connections_come_from_all_addresses_in_turn() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        make = sockets("127.0.0.1", 3)
        made = [make(socket.AF_INET, socket.SOCK_STREAM) for _ in range(6)]
        for sock in made:
            sock.connect(server.getsockname())
        assert [sock.getsockname()[0] for sock in made] == [f"127.0.0.{n}" for n in (1, 2, 3)] * 2
        for sock in made:
            sock.close()


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_one_address_is_not_bound_to(host: str) -> None:
    assert sockets(host, 1) is sockets("::1", 9)
