"""Notes on the machines of a run: cores, links, who reaches what, samplers."""

from __future__ import annotations

from workbench import formatting
from workbench.messages.notes.notice import Notice, Severity


class SharedCores(Notice, frozen=True, kw_only=True):
    """Server and load agents run on the same cores."""

    level = Severity.WARNING

    machine: str
    cores: list[int]

    def text(self) -> str:
        return (
            f"Server and agents share {formatting.cores(self.cores)} of '{self.machine}': the load"
            " generator takes time from the server, and rates come out lower than they are. Give"
            " them cores of their own."
        )


class SharedMachine(Notice, frozen=True, kw_only=True):
    """Another user's run is on a machine of this one."""

    level = Severity.WARNING

    machine: str
    there: list[str]
    """The processes that hold them, by the machine's kernel."""

    def text(self) -> str:
        return (
            f"Another user's run is on '{self.machine}' ({'; '.join(self.there)}): each disturbs "
            "the other. Agree on who measures when."
        )


class Exposed(Notice, frozen=True, kw_only=True):
    """Servers without security fixes listen where other machines reach them."""

    servers: list[str]
    """By name."""
    address: str
    said: str
    """Who would listen where."""

    def text(self) -> str:
        return f"{self.said}; whoever began the run agreed to that."


class Confinement(Notice, frozen=True, kw_only=True):
    """The kernel cannot keep servers from the files of their user."""

    machine: str

    def text(self) -> str:
        return (
            f"The kernel of {self.machine} offers no Landlock (Linux 5.13), so the servers may "
            "read and write what their user may."
        )


SOUND = 0.01
"""Share of segments; a sound network loses far less."""


class Link(Notice, frozen=True, kw_only=True):
    """What was measured between a client and the target."""

    client: str
    target: str
    min_us: int
    p50_us: int
    p99_us: int
    bits_per_s: float
    """From the target to the client, as replies go, in one TCP stream."""
    by: str = ""
    """What measured that: "iperf3", or our own probe."""
    needed_bits_per_s: float = 0.0
    """By the plan, at most; 0: not known."""
    segments: int = 0
    """That were sent to and fro to tell how long that takes."""
    resent: int = 0
    """Of those, lost on the way: they were sent again."""

    def severity(self) -> Severity:
        return Severity.WARNING if self.is_lossy else Severity.INFO

    @property
    def is_lossy(self) -> bool:
        return self.lost_share > SOUND

    @property
    def lost_share(self) -> float:
        """Of the segments."""
        return self.resent / self.segments if self.segments else 0.0

    def text(self) -> str:
        lost = f" {self.resent:,} of {self.segments:,} segments were lost on the way."
        by = f" ({self.by})" if self.by else ""
        needed = f"; the plan needs about {formatting.bits(self.needed_bits_per_s)} at most"
        return (
            f"{self.client} reaches {self.target} in {formatting.duration(self.p50_us)} (p99 "
            f"{formatting.duration(self.p99_us)}) and at {formatting.bits(self.bits_per_s)}{by}"
            f"{needed * bool(self.needed_bits_per_s)}.{lost * bool(self.resent)}"
        )


class LinkUnchecked(Notice, frozen=True, kw_only=True):
    """It was not measured."""

    client: str
    said: str
    """Why, as a sentence of its own."""

    def text(self) -> str:
        return self.said


class SlowLink(Notice, frozen=True, kw_only=True):
    """It may be the limit at the highest rates."""

    level = Severity.WARNING

    client: str
    target: str
    bits_per_s: float
    needed_bits_per_s: float

    def text(self) -> str:
        return (
            f"The link from {self.target} to {self.client} carries"
            f" {formatting.bits(self.bits_per_s)} and the plan needs about"
            f" {formatting.bits(self.needed_bits_per_s)}: at its highest rates the link"
            " may be the limit, not a server. Lower them, or use a faster link."
        )


class SamplerLost(Notice, frozen=True, kw_only=True):
    """The target goes on without being watched."""

    level = Severity.WARNING

    said: str
    """Why, as a sentence of its own."""

    def text(self) -> str:
        return f"{self.said} From here on CPU, memory and counters are missing."


class SamplerRestarted(Notice, frozen=True, kw_only=True):
    """It was lost in the last point."""

    level = Severity.WARNING

    said: str
    """Why, as a sentence of its own."""

    def text(self) -> str:
        return f"{self.said} It was started again."


class TargetGone(Notice, frozen=True, kw_only=True, tag="target-lost"):
    """The run ends."""

    level = Severity.ALERT

    said: str
    """Why, as a sentence of its own."""

    def text(self) -> str:
        return f"{self.said} No more load is offered to it."
