"""What the facts of a machine mean for a run on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from workbench.errors import BadInput
from workbench.machines.limits import limits_of
from workbench.machines.placement import place
from workbench.machines.profiles import Profile

FEW_DESCRIPTORS = 20_000
"""The number that the plans of 2010 use."""
LOW_RATE_PER_S = 2000
"""New connections per second; many servers reach more."""
_STEADY = {"performance"}


@dataclass(frozen=True)
class Meaning:
    """One thing to know before a run."""

    tone: Literal["ok", "warn"]
    text: str
    """A sentence."""


def meanings(
    profile: Profile, facts: Mapping[str, Any], cpus: Sequence[int], python: str = ""
) -> list[Meaning]:
    """Return the most important first. `python`: its version there; empty: the same as here."""
    found = [_cores(profile, cpus)]
    if "client" in profile.roles:
        found.append(_ports(facts, loopback=profile.connector == "local"))
    found.append(_descriptors(facts))
    if "target" in profile.roles:
        found += [*_queue(facts), *_python(python)]
    found += [*_governor(facts), *_load(facts, cpus), *_virtual(facts)]
    return sorted((each for each in found if each), key=lambda each: each.tone != "warn")


def _cores(profile: Profile, cpus: Sequence[int]) -> Meaning:
    try:
        placed = place(profile.cpus, cpus, machine=profile.name)
    except BadInput as error:
        return Meaning("warn", str(error))
    server, agents = _span(placed.server), _span(placed.agents)
    if profile.roles == ["client"]:
        return Meaning("ok", f"The clients get {_span(cpus)}.")
    if profile.roles == ["target"]:
        return Meaning("ok", f"Servers get {server}.")
    if placed.shared:
        return Meaning("warn", placed.shared.text())
    return Meaning("ok", f"Servers get {server}; clients on the same machine get {agents}.")


def _ports(facts: Mapping[str, Any], *, loopback: bool) -> Meaning:
    limits = limits_of(facts, loopback=loopback)
    rate = limits.ports / limits.port_reuse_s
    text = (
        f"{limits.ports:,} local ports sustain {rate:,.0f} new connections/s"
        f" (reuse after {limits.port_reuse_s:g} s)."
    )
    return Meaning("warn" if rate < LOW_RATE_PER_S else "ok", text)


def _descriptors(facts: Mapping[str, Any]) -> Meaning:
    hard = limits_of(facts).descriptors
    text = f"{hard:,} file descriptors per process"
    if hard < FEW_DESCRIPTORS:
        return Meaning("warn", f"{text}; raise the hard limit of open files (ulimit -Hn).")
    return Meaning("ok", f"{text}: enough for {FEW_DESCRIPTORS:,} connections.")


def _queue(facts: Mapping[str, Any]) -> list[Meaning]:
    most = facts.get("sysctls", {}).get("net.core.somaxconn")
    if not isinstance(most, int):
        return []
    text = f"Accept queue: max {most:,} connections"
    if most < 1024:
        return [Meaning("warn", f"{text}; larger backlogs are reduced to that (somaxconn).")]
    return [Meaning("ok", f"{text} (somaxconn).")]


def _python(version: str) -> list[Meaning]:
    minor = [int(part) for part in version.split(".")[:2] if part.isdigit()]
    if len(minor) == 2 and minor < [3, 11]:
        text = f"Python {version} suffices for clients; servers in Python need 3.11."
        return [Meaning("warn", text)]
    return []


def _governor(facts: Mapping[str, Any]) -> list[Meaning]:
    governor = facts.get("governor")
    if not governor or governor in _STEADY:
        return []
    text = (
        f"CPU frequency scaling is on ({governor}); set the governor to"
        " performance for more stable results."
    )
    return [Meaning("warn", text)]


def _load(facts: Mapping[str, Any], cpus: Sequence[int]) -> list[Meaning]:
    load = facts.get("load_average")
    if not load or not cpus:
        return []
    if load[0] > len(cpus) / 4:
        text = f"Load average {load[0]:.2f}: other programs use CPU."
        return [Meaning("warn", text)]
    return [Meaning("ok", f"Quiet: load average {load[0]:.2f} on {len(cpus)} cores.")]


def _virtual(facts: Mapping[str, Any]) -> list[Meaning]:
    if "virtualisation" not in facts:
        return []
    return [Meaning("warn", "Virtual machine: other VMs may take CPU time.")]


def _span(cores: Sequence[int]) -> str:
    """Return cores as text: "core 2", "cores 0–3" or "cores 0, 2"."""
    if len(cores) == 1:
        return f"core {cores[0]}"
    whole = list(cores) == list(range(cores[0], cores[-1] + 1)) if cores else False
    return f"cores {cores[0]}–{cores[-1]}" if whole else f"cores {', '.join(map(str, cores))}"
