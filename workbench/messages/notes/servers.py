"""Notes on servers: how they were deployed, and how they ended."""

from __future__ import annotations

from typing import Any

from workbench import formatting
from workbench.messages.notes.notice import Notice, Point, Severity


class Gate(Notice, frozen=True, kw_only=True):
    """What a server sends on the wire."""

    level = Severity.QUIET
    names_server = False

    gate: dict[str, Any]
    """A `servers.gate.GateResult`."""

    def findings(self) -> tuple[str, ...]:
        """The sentences of the gate; equal for servers that behave alike."""
        found = self.gate.get("sentences")
        return tuple(map(str, found)) if isinstance(found, list) else ()

    def text(self) -> str:
        return " ".join(self.findings())


class Database(Notice, frozen=True, kw_only=True):
    """The settings of the PostgreSQL beneath a server."""

    level = Severity.QUIET
    names_server = False

    settings: dict[str, str]
    """By name, as PostgreSQL reads them."""

    def text(self) -> str:
        stated = ", ".join(f"{name} = {value}" for name, value in self.settings.items())
        return f"It has a PostgreSQL of its own, set as for production, the same for all: {stated}."


class Unequal(Notice, frozen=True, kw_only=True):
    """Something about a server could not be made equal to the others."""

    name: str = ""
    said: str

    def text(self) -> str:
        return f"{self.name}: {self.said}"


class Backlog(Notice, frozen=True, kw_only=True):
    """The backlog in force in the kernel."""

    level = Severity.QUIET

    name: str = ""
    backlog: int
    asked: int

    def text(self) -> str:
        other = "" if self.backlog == self.asked else f", not the {self.asked:,} asked for"
        return f"{self.name} listens with a backlog of {self.backlog:,}{other}."

    def of_all(self) -> str:
        """Without a name."""
        if self.backlog == self.asked:
            return f"A backlog of {self.backlog:,} is in force, as requested."
        return f"A backlog of {self.backlog:,} is in force, not the {self.asked:,} asked for."


class Resources(Notice, frozen=True, kw_only=True):
    """What a server runs on, according to the kernel, before its first point."""

    level = Severity.QUIET

    name: str = ""
    processes: int
    threads: int
    cores: list[int]
    """Empty: unknown."""
    nofile: int
    """Descriptor limit of each of its processes; 0: unknown."""
    asked_nofile: int = 0

    def text(self) -> str:
        return f"{self.name} runs in {self._where()}."

    def of_all(self) -> str:
        """Without a name."""
        return f"{formatting.capital(self._where())}."

    def _where(self) -> str:
        processes = f"{self.processes:,} process{'es' * (self.processes != 1)}"
        each = " each" * (self.processes > 1)
        limit = f", with at most {self.nofile:,} descriptors{each}" * bool(self.nofile)
        return f"{processes} on {formatting.cores(self.cores) or 'unknown cores'}{limit}"


class WarmUp(Notice, frozen=True, kw_only=True):
    """An extra warm-up for a server that gets faster while it runs."""

    name: str = ""
    seconds: float = 0.0
    calls: int

    def text(self) -> str:
        return f"{self.name} gets faster while it runs, so it was warmed up for {self.seconds:g} s."


class Deploy(Notice, frozen=True, kw_only=True):
    """A server could not be started."""

    level = Severity.ALERT

    said: str
    """The reason, as a complete sentence."""

    def text(self) -> str:
        return self.said


class Died(Point, frozen=True, kw_only=True):
    """A server ended by itself."""

    level = Severity.ALERT

    name: str
    status: int
    """Exit status; negative: the signal."""
    warming_up: bool = False
    said: str = ""
    """Its last line of output."""

    def text(self) -> str:
        how = f"by signal {-self.status}" if self.status < 0 else f"with status {self.status}"
        when = f"during its warm-up at {self.at()}" if self.warming_up else f"at {self.at()}"
        ended = f"{self.name} ended {how} {when}; its sweep ends here."
        return f"{ended} Last output: {self.said}" if self.said else ended


class CpuTimeLost(Notice, frozen=True, kw_only=True):
    """A server does not wait for the processes that it starts, so their CPU time is unknown."""

    name: str

    def text(self) -> str:
        return (
            f"{self.name} ignores SIGCHLD, so the kernel drops the CPU time of the processes it "
            "starts: its CPU time is unknown, and so is background load on its cores. Let it wait "
            "for them (waitpid)."
        )


class Memory(Notice, frozen=True, kw_only=True):
    """Memory that a server took under load and did not give back."""

    name: str = ""
    before_bytes: int
    after_bytes: int
    processes: int = 1
    """Of its tree, whose memory is added up."""
    shared_once: bool = False
    """Whether it is their PSS, in which shared memory counts once; otherwise their RSS."""
    held: int = 0
    """The most connections that the plan kept open at once; 0: each ended as soon as it could."""

    def text(self) -> str:
        before, after = map(formatting.megabytes, (self.before_bytes, self.after_bytes))
        grew = f"{self.name} grew from {before} to {after} and did not shrink after its last point"
        if self.processes > 1 and self.shared_once:
            grew += f" (PSS of {self.processes:,} processes)"
        elif self.processes > 1:
            grew += f" (RSS of {self.processes:,} processes; memory they share counts in each)"
        if self.held:
            held = formatting.number_of(self.held, "connections")
            return f"{grew}: it had up to {held} open at once."
        return f"{grew}: it keeps the memory for later, or leaks it."
