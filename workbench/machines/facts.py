"""Facts about a machine that a reader needs to judge a measurement made on it: each is the file it
is read from and a pure function of its text. Ask for `PATHS`, and pass the texts to `process`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from workbench import formatting
from workbench.errors import BadInput
from workbench.machines.profiles import Profile, place
from workbench.remote.agent.addresses import LOOPBACK, ROUTES, networks

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


_PROCESSOR = re.compile(r"^processor\s*:", re.MULTILINE)
_VIRTUAL = re.compile(r"^flags.*\bhypervisor\b", re.MULTILINE)
FACTS = (
    Fact("kernel", "/proc/version", kernel),
    Fact("distribution", "/etc/os-release", distribution),
    Fact("cpu_model", "/proc/cpuinfo", cpu_model),
    Fact("cpu_count", "/proc/cpuinfo", lambda text: len(_PROCESSOR.findall(text)) or None),
    Fact("governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", line),
    Fact("clock_source", "/sys/devices/system/clocksource/clocksource0/current_clocksource", line),
    Fact("memory_bytes", "/proc/meminfo", memory_bytes),
    Fact("load_average", "/proc/loadavg", load_average),
    Fact("descriptor_limits", "/proc/self/limits", descriptor_limits),
    # Of the network with the most, without loopback.
    Fact("addresses", ROUTES, lambda text: max(map(len, networks(text)), default=None)),
    # A flag that every x86 hypervisor sets.
    Fact("virtualisation", "/proc/cpuinfo", lambda t: _VIRTUAL.search(t) and "virtual machine"),
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
    """Return the facts by name, sysctls under "sysctls"; unavailable ones are absent."""
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
    """Return what changed, but the load: "kernel Linux 6.1.0 -> Linux 6.1.2"."""
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
    """Return the limits from a client's facts; missing ones get the defaults of Linux."""
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
    """Return a machine's facts with its hard descriptor limit raised to at least `descriptors`."""
    hard = max(limits_of(facts).descriptors, descriptors)
    return {**facts, "descriptor_limits": {**facts.get("descriptor_limits", {}), "hard": hard}}


FEW_DESCRIPTORS = 20_000
"""The number that the plans of 2010 use."""
LOW_RATE_PER_S = 2000
"""New connections per second; many servers reach more."""


@dataclass(frozen=True)
class Meaning:
    tone: Literal["ok", "warn"]
    text: str


def meanings(
    profile: Profile, facts: Mapping[str, Any], cpus: Sequence[int], python: str = ""
) -> list[Meaning]:
    """Return the most important first. `python`: its version there; empty: the same as here."""
    found = [_cores(profile, cpus)]

    def say(warns: bool, text: str, remedy: str = "") -> None:
        found.append(Meaning("warn" if warns else "ok", f"{text}{remedy * warns}."))

    limits = limits_of(facts, loopback=profile.connector == "local")
    if "client" in profile.roles:
        rate = limits.ports / limits.port_reuse_s
        text = f"{limits.ports:,} local ports sustain {rate:,.0f} new connections/s"
        say(rate < LOW_RATE_PER_S, f"{text} (reuse after {limits.port_reuse_s:g} s)")
    if limits.descriptors < FEW_DESCRIPTORS:
        remedy = "; raise the hard limit of open files (ulimit -Hn)"
        say(True, f"{limits.descriptors:,} file descriptors per process", remedy)
    if "target" in profile.roles:
        most = facts.get("sysctls", {}).get("net.core.somaxconn")
        if isinstance(most, int):
            remedy = "; larger backlogs are reduced to that (somaxconn)"
            say(most < 1024, f"Accept queue: max {most:,} connections", remedy)
        minor = [int(part) for part in python.split(".")[:2] if part.isdigit()]
        if len(minor) == 2 and minor < [3, 11]:
            say(True, f"Python {python} suffices for clients; servers in Python need 3.11")
    if facts.get("governor", "performance") != "performance":
        which = f"CPU frequency scaling is on ({facts['governor']})"
        say(True, which, "; set the governor to performance for more stable results")
    load = facts.get("load_average")
    if load and cpus:
        text = f"Load average {load[0]:.2f} on {len(cpus)} cores"
        say(load[0] > len(cpus) / 4, text, ": other programs use CPU")
    if "virtualisation" in facts:
        say(True, "Virtual machine: other VMs may take CPU time")
    return sorted(found, key=lambda each: each.tone != "warn")


def _cores(profile: Profile, cpus: Sequence[int]) -> Meaning:
    try:
        placed = place(profile.cpus, cpus, machine=profile.name)
    except BadInput as error:
        return Meaning("warn", str(error))
    server, agents = formatting.cores(placed.server), formatting.cores(placed.agents)
    if profile.roles == ["client"]:
        return Meaning("ok", f"The clients get {formatting.cores(cpus)}.")
    if profile.roles == ["target"]:
        return Meaning("ok", f"Servers get {server}.")
    if placed.shared:
        return Meaning("warn", placed.shared.text())
    return Meaning("ok", f"Servers get {server}; clients on the same machine get {agents}.")
