"""Facts about a machine that a reader needs to judge a measurement made on it.

A fact is the file it is read from and a pure function of that file's text. All files are read in
one request: ask a machine for `PATHS` and pass the texts to `process`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.remote.agent.addresses import ROUTES, networks

PORT_RANGE = "net.ipv4.ip_local_port_range"
LONGEST = 400
"""The longest text of a fact, in characters."""

SYSCTLS = (
    "fs.file-max",
    "fs.nr_open",
    "net.core.netdev_max_backlog",
    "net.core.somaxconn",
    PORT_RANGE,
    "net.ipv4.tcp_abort_on_overflow",
    "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_keepalive_time",
    "net.ipv4.tcp_max_syn_backlog",
    "net.ipv4.tcp_max_tw_buckets",
    "net.ipv4.tcp_syncookies",
    "net.ipv4.tcp_tw_reuse",
)


@dataclass(frozen=True)
class Fact:
    """`process` gets the file's text; it returns None when the text has no answer."""

    name: str
    path: str
    process: Callable[[str], object]


def line(text: str) -> object:
    """Return the text with whitespace collapsed."""
    return " ".join(text.split()) or None


def integer_or_line(text: str) -> object:
    value = " ".join(text.split())
    return int(value) if re.fullmatch(r"-?[0-9]{1,18}", value) else value or None


def port_range(text: str) -> object:
    found = re.fullmatch(r"\s*([0-9]{1,5})\s+([0-9]{1,5})\s*", text)
    return f"{found[1]} {found[2]}" if found and int(found[1]) <= int(found[2]) else None


def kernel(proc_version: str) -> object:
    found = re.match(r"(\S+) version (\S+)", proc_version)
    return f"{found[1]} {found[2]}" if found else None


def distribution(os_release: str) -> object:
    found = re.search(r'^PRETTY_NAME=(["\']?)(.*)\1$', os_release, re.MULTILINE)
    return found[2] if found else None


def cpu_model(cpuinfo: str) -> object:
    """Return the CPU model. x86 has "model name"; ARM has only numbers, returned as they are."""
    pairs = (line.partition(":") for line in cpuinfo.splitlines())
    values = {name.strip(): value.strip() for name, _, value in pairs if value.strip()}
    for name in ("model name", "cpu model", "cpu", "Model", "Hardware"):
        if name in values:
            return " ".join(values[name].split())
    if "CPU part" in values:
        return f"ARM implementer {values.get('CPU implementer', '?')} part {values['CPU part']}"
    return None


def cpu_count(cpuinfo: str) -> object:
    return len(re.findall(r"^processor\s*:", cpuinfo, re.MULTILINE)) or None


def memory_bytes(meminfo: str) -> object:
    found = re.search(r"^MemTotal: +([0-9]{1,15}) kB", meminfo, re.MULTILINE)
    return int(found[1]) * 1024 if found else None


def load_average(loadavg: str) -> object:
    """Return the load averages over 1, 5 and 15 minutes."""
    found = re.match(3 * r"([0-9]{1,6}\.[0-9]{1,4}) ", loadavg)
    return [float(value) for value in found.groups()] if found else None


def descriptor_limits(limits: str) -> object:
    found = re.search(r"^Max open files +([0-9]{1,15}) +([0-9]{1,15}) ", limits, re.MULTILINE)
    return {"soft": int(found[1]), "hard": int(found[2])} if found else None


def hypervisor(cpuinfo: str) -> object:
    """Detect a virtual machine by the flag that every x86 hypervisor sets."""
    return "virtual machine" if re.search(r"^flags.*\bhypervisor\b", cpuinfo, re.M) else None


def addresses(fib_trie: str) -> object:
    """Return the number of local addresses of the network with the most, without loopback."""
    return max((len(each) for each in networks(fib_trie)), default=None)


FACTS = (
    Fact("kernel", "/proc/version", kernel),
    Fact("distribution", "/etc/os-release", distribution),
    Fact("cpu_model", "/proc/cpuinfo", cpu_model),
    Fact("cpu_count", "/proc/cpuinfo", cpu_count),
    Fact("governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", line),
    Fact("clock_source", "/sys/devices/system/clocksource/clocksource0/current_clocksource", line),
    Fact("memory_bytes", "/proc/meminfo", memory_bytes),
    Fact("load_average", "/proc/loadavg", load_average),
    Fact("descriptor_limits", "/proc/self/limits", descriptor_limits),
    Fact("addresses", ROUTES, addresses),
    Fact("virtualisation", "/proc/cpuinfo", hypervisor),
    Fact("vendor", "/sys/class/dmi/id/sys_vendor", line),
    Fact("product", "/sys/class/dmi/id/product_name", line),
    Fact("container", "/run/systemd/container", line),
    Fact("container", "/.dockerenv", lambda _: "docker"),
    *(
        Fact(
            name,
            "/proc/sys/" + name.replace(".", "/"),
            port_range if name == PORT_RANGE else integer_or_line,
        )
        for name in SYSCTLS
    ),
)
PATHS = tuple(dict.fromkeys(fact.path for fact in FACTS))


def process(texts: Sequence[str | None]) -> dict[str, object]:
    """Return the facts by name from the texts of `PATHS`; unavailable ones are absent.

    Kernel settings are grouped under "sysctls".
    """
    by_path = dict(zip(PATHS, texts, strict=True))
    found: dict[str, object] = {}
    sysctls: dict[str, object] = {}
    for fact in FACTS:
        text = by_path[fact.path]
        value = None if text is None else fact.process(text)
        if isinstance(value, str):
            value = value[:LONGEST]
        if value is not None:
            (sysctls if fact.name in SYSCTLS else found)[fact.name] = value
    return {**found, "sysctls": sysctls}


def changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Return which facts changed: "kernel Linux 6.1.0 -> Linux 6.1.2". The load, which always
    changes, is left out."""
    old, new = ({**facts, **facts.get("sysctls", {})} for facts in (before, now))
    return [
        f"{name} {old.get(name, 'unknown')} -> {new.get(name, 'unknown')}"
        for name in dict.fromkeys((*old, *new))
        if name not in ("load_average", "sysctls") and old.get(name) != new.get(name)
    ]


def here() -> dict[str, object]:
    """Return the facts of this computer, read directly without starting a program."""
    return process([_text(path) for path in PATHS])


def _text(path: str) -> str | None:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
