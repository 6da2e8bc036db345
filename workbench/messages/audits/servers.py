"""Findings of audits of fairness; see `analysis.audits.servers`."""

from __future__ import annotations

import msgspec

from workbench import formatting
from workbench.messages.audits.base import Finding, every


class Alike(Finding, frozen=True, kw_only=True):
    """Something that must be the same for all servers."""

    servers: int
    differing: dict[str, str] = msgspec.field(default_factory=dict)
    """By name of a server: its value as text. Empty: all servers have the same."""

    def whose(self) -> str:
        return every(self.servers, "server")

    def each(self) -> str:
        """ "gevent 128, Tornado 512"."""
        return ", ".join(f"{name} {has}" for name, has in self.differing.items())


class SameBacklog(Alike, frozen=True, kw_only=True):
    """The backlog in force in the kernel."""

    backlog: int = 0
    asked: int = 0

    def text(self) -> str:
        if self.differing:
            return (
                f"Servers listened with backlogs other than the {self.asked:,} asked for:"
                f" {self.each()}. The smaller one alone can cause resets and refusals."
            )
        other = "" if self.backlog == self.asked else f", not the {self.asked:,} asked for"
        return f"A backlog of {self.backlog:,} was in force for {self.whose()}{other}."


class SameProcesses(Alike, frozen=True, kw_only=True):
    """The number of processes in every pass; how many is a server's own choice."""

    several: dict[str, int] = msgspec.field(default_factory=dict)
    """Servers with more than one."""

    def text(self) -> str:
        if self.differing:
            return f"The number of processes differed between passes: {self.each()}."
        if not self.several:
            return f"One process for {self.whose()}."
        each = ", ".join(f"{name} {n:,}" for name, n in self.several.items())
        others = "; the others one" * (len(self.several) < self.servers)
        return f"Processes, the same in every pass: {each}{others}."


class SameCores(Alike, frozen=True, kw_only=True):
    """The cores that servers may use, and clients do not."""

    cores: list[int] = msgspec.field(default_factory=list)
    shared: list[int] = msgspec.field(default_factory=list)
    """Cores shared with the clients."""
    own: bool = False
    """The clients are on the same machine, on other cores."""

    def text(self) -> str:
        if self.differing:
            each = ", ".join(f"{name} on {has}" for name, has in self.differing.items())
            return (
                f"Servers ran on different cores: {each}, the others on"
                f" {formatting.cores(self.cores)}. Their figures cannot be compared."
            )
        if self.shared:
            return (
                f"Servers and clients shared {formatting.cores(self.shared)}: the load takes CPU"
                " time from the server, so measured rates are too low."
            )
        apart = ", and the clients on others" * self.own
        where = formatting.cores(self.cores) or "cores that were not read back"
        return f"{formatting.capital(self.whose())} ran on {where}{apart}."


class SameDescriptors(Alike, frozen=True, kw_only=True):
    """The descriptor limit in force."""

    limit: int = 0
    asked: int = 0

    def text(self) -> str:
        if self.differing:
            return (
                f"Servers had descriptor limits other than the {self.asked:,} asked for:"
                f" {self.each()}."
            )
        return f"A limit of {self.limit:,} descriptors was in force for {self.whose()}."


class SameVersions(Alike, frozen=True, kw_only=True):
    """Versions and checksums identify what was measured."""

    runtimes: list[str] = msgspec.field(default_factory=list)

    def text(self) -> str:
        if self.differing:
            return f"Not recorded for {formatting.listed([*self.differing])}: version or files."
        runtimes = f" ({', '.join(self.runtimes)})" if self.runtimes else ""
        return f"Versions and checksums of {self.whose()} are recorded{runtimes}."


class SameSetUp(Alike, frozen=True, kw_only=True):
    """What could not be made equal between servers."""

    said: dict[str, list[str]] = msgspec.field(default_factory=dict)
    """Sentences of the catalogue, each with the servers it applies to."""

    def text(self) -> str:
        if self.said:
            return " ".join(f"{formatting.listed(of)}: {said}" for said, of in self.said.items())
        return f"No differences are known in the set-up of {self.whose()}."
