"""Where a server's CPU time goes, as a profiler saw it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from workbench.messages.notes.notice import Notice, Point, Severity
from workbench.untrusted import one_line

MOST_NAMED = 3
"""Functions that the sentence names."""


FEWEST = 100
"""Samples with which a share of a half is known to 10 points (95 %)."""


class Profile(Point, frozen=True, kw_only=True):
    """Of one server, in a pass that is left out of the results."""

    same = ("frames", "stacks")

    name: str
    tool: str
    """With its version: "py-spy 0.4.3"."""
    seconds: float
    """For which it was sampled."""
    samples: int
    """How often it was seen running; see `docs/profiling.md`."""
    frames: list[str]
    """The names of functions; to show them use `names`."""
    stacks: list[int]
    """One after another: how often it was seen, how many calls it has, and as many places in
    `frames`, from the outermost call to the innermost."""
    other: int = 0
    """Samples of stacks that are left out, the rarest of them."""

    def severity(self) -> Severity:
        return Severity.INFO if self.samples >= FEWEST else Severity.WARNING

    @property
    def names(self) -> list[str]:
        """`frames` on one line each: they come from a server, or from anybody's file."""
        return [one_line(name) for name in self.frames]

    def each(self) -> Iterator[tuple[int, list[int]]]:
        """Every stack: how often it was seen, its calls as places in `frames`."""
        at = 0
        while at < len(self.stacks):
            count, depth = self.stacks[at : at + 2]
            yield count, self.stacks[at + 2 : at + 2 + depth]
            at += 2 + depth

    def folded(self) -> Iterator[str]:
        """Every stack as "main;send 12"."""
        names = [name.replace(";", ",") for name in self.names]
        for count, calls in self.each():
            yield f"{';'.join(names[at] for at in calls)} {count}"
        if self.other:
            yield f"(other) {self.other}"

    def hottest(self) -> list[tuple[str, int]]:
        """The functions by the samples that saw them work themselves, the most first."""
        own: Counter[str] = Counter()
        names = self.names
        for count, calls in self.each():
            own[names[calls[-1]]] += count
        return own.most_common()

    def shares(self) -> str:
        """ "41 % in send (socket.py), 12 % in recv (socket.py)"."""
        named = self.hottest()[:MOST_NAMED]
        return ", ".join(f"{100 * n / self.samples:.0f} % in {name}" for name, n in named)

    def text(self) -> str:
        few = " are too few to rely on" if self.samples < FEWEST else ""
        seen = f"{self.samples:,} samples{few}, {self.tool}"
        return f"CPU time of {self.name} at {self.at()}: {self.shares()} ({seen})."


class NotProfiled(Notice, frozen=True, kw_only=True):
    """A server that could not be profiled; the run went on."""

    name: str
    tool: str
    """The profiler."""
    machine: str = ""
    why: str
    """ "denied", "denied-to-root", "absent", "missing", "empty", "start", "failed", "slow" or
    "lost"."""
    detail: str = ""
    """What the profiler printed, the program that is absent, or a sentence."""

    def text(self) -> str:
        return f"{self.name} was not profiled: {self._why()}"

    def _why(self) -> str:
        if self.why in ("missing", "start"):
            return self.detail
        if self.why == "empty":
            return f"{self.tool} saw it do nothing."
        if self.why == "absent" and self.detail == "jfr":
            return f"jfr, a part of the JDK, is not on {self.machine}; install a JDK there."
        if self.why == "absent":
            return (
                f"its runtime has no profiler that is known here, and {self.detail} is not on"
                f" {self.machine}; install it there (Debian: linux-perf)."
            )
        if self.why in ("denied", "denied-to-root"):
            return f"{self.tool} is not permitted on {self.machine}{self._remedy()}"
        detail = f" ({self.detail})" if self.detail else ""
        return f"{self.tool} failed{detail}."

    def _remedy(self) -> str:
        perf = self.tool == "perf"
        if self.why == "denied-to-root":
            capability = "PERFMON" if perf else "SYS_PTRACE"
            return f", not even to root, as in a container; give it the capability {capability}."
        setting = "perf_event_paranoid to 2 or less" if perf else "yama.ptrace_scope to 0"
        return f"; run as root there, or set kernel.{setting}."
