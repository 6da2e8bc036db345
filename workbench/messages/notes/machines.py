"""Notes on the machines of a run: cores, other users, exposure, links, samplers."""

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
            " generator takes CPU time from the server, so measured rates are too low. Give"
            " them cores of their own."
        )


class SharedMachine(Notice, frozen=True, kw_only=True):
    """Another user's run is on a machine of this run."""

    level = Severity.WARNING

    machine: str
    there: list[str]
    """The processes that hold the machine, as its kernel names them."""

    def text(self) -> str:
        return (
            f"Another user's run is on '{self.machine}' ({'; '.join(self.there)}): each disturbs "
            "the other. Agree on who measures when."
        )


class AnotherRun(Notice, frozen=True, kw_only=True):
    """Another run of this user is on machines of this one."""

    level = Severity.WARNING

    title: str
    machines: list[str]

    def text(self) -> str:
        where = formatting.listed([f"'{name}'" for name in self.machines])
        return (
            f"Another run, '{self.title}', is on {where} at the same time: each disturbs the other."
            " Repeat one of them alone."
        )


class Exposed(Notice, frozen=True, kw_only=True):
    """Servers without security fixes listen where other machines can reach them."""

    servers: list[str]
    """Names."""
    address: str
    said: str
    """Which servers would listen where."""

    def text(self) -> str:
        return f"{self.said}; the user who started the run agreed."


class Confinement(Notice, frozen=True, kw_only=True):
    """The kernel cannot restrict the files that servers access."""

    machine: str

    def text(self) -> str:
        return (
            f"The kernel of {self.machine} offers no Landlock (Linux 5.13), so the servers may "
            "read and write what their user may."
        )


SOUND = 0.01
"""Share of segments; a healthy network loses far less."""


class Link(Notice, frozen=True, kw_only=True):
    """The measured properties of the link between a client and the target."""

    client: str
    target: str
    min_us: int
    p50_us: int
    p99_us: int
    bits_per_s: float
    """From the target to the client, the direction of replies, in one TCP stream."""
    to_target_bits_per_s: float = 0.0
    """From the client to the target, measured after the other direction; 0: not recorded."""
    by: str = ""
    """The tool that measured the throughput: "iperf3", or our own probe."""
    needed_bits_per_s: float = 0.0
    """The most that the plan needs; 0: unknown."""
    segments: int = 0
    """Segments sent in both directions to measure round-trip times."""
    resent: int = 0
    """Segments of these that were lost and retransmitted."""

    def severity(self) -> Severity:
        return Severity.WARNING if self.is_lossy else Severity.INFO

    @property
    def is_lossy(self) -> bool:
        return self.lost_share > SOUND

    @property
    def lost_share(self) -> float:
        """Share of the segments."""
        return self.resent / self.segments if self.segments else 0.0

    def text(self) -> str:
        lost = f" It lost {self.resent:,} of {self.segments:,} segments."
        by = f" ({self.by})" if self.by else ""
        needed = f"; the plan needs about {formatting.bits(self.needed_bits_per_s)} at most"
        return (
            f"{self.client} reaches {self.target} in {formatting.duration(self.p50_us)} (p99 "
            f"{formatting.duration(self.p99_us)}){self._rates()}{by}"
            f"{needed * bool(self.needed_bits_per_s)}.{lost * bool(self.resent)}"
        )

    def _rates(self) -> str:
        rate = formatting.bits(self.bits_per_s)
        if not self.to_target_bits_per_s:
            return f" and at {rate}"
        to_target = formatting.bits(self.to_target_bits_per_s)
        return f", at {rate} from {self.target} and {to_target} to it"


class LinkUnchecked(Notice, frozen=True, kw_only=True):
    """A link could not be measured."""

    client: str
    said: str
    """The reason, as a complete sentence."""

    def text(self) -> str:
        return self.said


class SlowLink(Notice, frozen=True, kw_only=True):
    """The link may be the limit at the highest rates."""

    level = Severity.WARNING

    client: str
    target: str
    bits_per_s: float
    needed_bits_per_s: float
    to_target: bool = False
    """The direction of requests."""

    def text(self) -> str:
        ends = self.target, self.client
        sender, receiver = reversed(ends) if self.to_target else ends
        return (
            f"The link from {sender} to {receiver} carries"
            f" {formatting.bits(self.bits_per_s)} and the plan needs about"
            f" {formatting.bits(self.needed_bits_per_s)}: at its highest rates the link"
            " may be the limit, not a server. Lower them, or use a faster link."
        )


class SamplerLost(Notice, frozen=True, kw_only=True):
    """The sampler was lost; the target is no longer observed."""

    level = Severity.WARNING

    said: str
    """The reason, as a complete sentence."""

    def text(self) -> str:
        return f"{self.said} From here on CPU, memory and counters are missing."


class SamplerRestarted(Notice, frozen=True, kw_only=True):
    """The sampler was restarted after it was lost during the last point."""

    level = Severity.WARNING

    said: str
    """The reason, as a complete sentence."""

    def text(self) -> str:
        return f"{self.said} It was started again."


class TargetGone(Notice, frozen=True, kw_only=True, tag="target-lost"):
    """The target was lost, so the run ends."""

    level = Severity.ALERT

    said: str
    """The reason, as a complete sentence."""

    def text(self) -> str:
        return f"{self.said} No more load is offered to it."
