"""Notes on machines: their links, and kernel settings changed for a run."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import msgspec

from workbench import formatting
from workbench.messages.notes import Notice, Severity

SOUND = 0.01
"""Share of segments; a healthy network loses far less."""


class Link(Notice):
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
    """Of older sessions: "iperf3", where that measured the throughput in place of our own probe."""
    needed_bits_per_s: float = 0.0
    """The most that the plan needs; 0: unknown."""
    segments: int = 0
    """Segments sent in both directions to measure round-trip times."""
    resent: int = 0
    """Segments of these that were lost and retransmitted."""
    template = """{client} reaches {target} in {p50_us:duration} (p99
        {p99_us:duration}){throughput}{by:? ({by})}{needed_bits_per_s:?; the plan needs about
        {needed_bits_per_s:bits} at most}.{resent:? It lost {resent:,} of {segments:,} segments.}"""

    def severity(self) -> Severity:
        return Severity.WARNING if self.is_lossy else Severity.INFO

    @property
    def is_lossy(self) -> bool:
        return self.lost_share > SOUND

    @property
    def lost_share(self) -> float:
        return self.resent / self.segments if self.segments else 0.0

    def throughput(self) -> str:
        rate = formatting.bits(self.bits_per_s)
        if not self.to_target_bits_per_s:
            return f" and at {rate}"
        to_target = formatting.bits(self.to_target_bits_per_s)
        return f", at {rate} from {self.target} and {to_target} to it"


_Text: TypeAlias = Annotated[str, msgspec.Meta(max_length=4096)]


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """As a machine tells it, which may tell anything."""

    key: _Text
    old: _Text | int | None = None
    wanted: _Text | int | None = None
    got: _Text | int | None = None
    problem: _Text = ""
    """Why it was not set; empty: it was."""

    @property
    def changed(self) -> bool:
        return not self.problem and self.old != self.got


class Tuned(Notice):
    machine: str = ""
    set: str = ""
    settings: list[Setting]

    def before(self) -> list[str]:
        """The changed settings with their previous values: "net.core.somaxconn 4096"."""
        return [f"{s.key} {s.old}" for s in self.settings if s.changed]

    def text(self) -> str:
        return " ".join(self.sentences()) or f"{self.machine} needed no tuning for this run."

    def sentences(self) -> list[str]:
        """What was changed, and what could not be."""
        changed = [f"{s.key} {s.old} -> {s.got}" for s in self.settings if s.changed]
        tuned = f"{self.machine} is tuned for this run: {', '.join(changed)}."
        kept = [
            f"{s.key} is unchanged on {self.machine}: {s.problem}."
            for s in self.settings
            if s.problem
        ]
        clamped = [
            f"The kernel of {self.machine} set {s.key} to {s.got}, not {s.wanted} as asked."
            for s in self.settings
            if not s.problem and s.got != s.wanted
        ]
        return [*([tuned] if changed else []), *kept, *clamped]
