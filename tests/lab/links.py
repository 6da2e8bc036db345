"""What a host's network may be like: slow, lossy, late, short of ports."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from lab.base import nft
from lab.hosts import Host

RELAY = Path(__file__).with_name("relay.py")
PORTS = "/proc/sys/net/ipv4/ip_local_port_range"
LOSS = """\
table netdev pongbench {{
  chain loss {{
    type filter hook ingress device "eth0" priority 0
    numgen random mod 1000 < {permille} drop
  }}
}}
"""


@contextlib.contextmanager
def slow(host: Host, rate: str) -> Iterator[None]:
    """The bandwidth towards it, such as "512kbit"."""
    host.slow(rate)
    try:
        yield
    finally:
        host.end_slow()


@contextlib.contextmanager
def lossy(host: Host, percent: float) -> Iterator[None]:
    """This share of the packets that go to it is lost, at random, those of SSH among them."""
    _nft(host, LOSS.format(permille=round(10 * percent)))
    try:
        yield
    finally:
        _nft(host, "delete table netdev pongbench")


@contextlib.contextmanager
def late(host: Host, delay_ms: float) -> Iterator[None]:
    """Every frame to it and from it takes so much longer."""
    _inside(host, sys.executable, str(RELAY), "eth0")
    host.black_hole()
    words = [host.cable, f"{host.cable}t", host.lab.bridge, str(delay_ms)]
    with subprocess.Popen(
        [sys.executable, RELAY, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as relay:
        assert relay.stdin and relay.stdout
        assert relay.stdout.readline() == b"ready\n"
        try:
            yield
        finally:
            relay.stdin.close()
            relay.wait()
            host.end_black_hole()


@contextlib.contextmanager
def few_ports(host: Host, count: int) -> Iterator[None]:
    before = host.run("cat", PORTS).split()
    host.run("sh", "-c", f"echo 40000 {40000 + count - 1} > {PORTS}")
    try:
        yield
    finally:
        host.run("sh", "-c", f"echo {' '.join(before)} > {PORTS}")


def _nft(host: Host, rules: str) -> None:
    folder = nft()
    (loader,) = folder.glob("ld-linux*")
    program = [str(loader), "--library-path", str(folder), str(folder / "nft")]
    _inside(host, *program, "-f", "-", text=rules)


def _inside(host: Host, *command: str, text: str = "") -> None:
    """In its network, with the files of this machine."""
    subprocess.run(
        ["nsenter", "-t", str(host.pid), "-n", *command],
        input=text,
        text=True,
        check=True,
        capture_output=True,
    )
