"""Notes on clients: their limit, and those that are lost and come back."""

from __future__ import annotations

import msgspec

from workbench import formatting
from workbench.messages.notes.notice import Notice, Severity


class Ceiling(Notice, frozen=True, kw_only=True):
    """The rate that the clients themselves reach, against the null server or any other."""

    ceiling_per_s: float
    """0: none."""
    reached_all: bool = False
    """All the plan asks for."""
    others_cpu_pct: float = 0.0
    """Of a core: what other programs took during calibration."""
    disturbed: bool = False
    """Enough that the clients may reach more."""
    name: str = ""
    """Of the server that sustained a higher rate than the null server; empty: calibration."""
    before_per_s: float = 0.0
    """With `name`: what was known before; 0: no rate."""

    def severity(self) -> Severity:
        # Every chart is hatched then.
        return Severity.INFO if self.ceiling_per_s else Severity.ALERT

    def text(self) -> str:
        if self.name:
            before = f"{formatting.rate(self.before_per_s)}/s" if self.before_per_s else "none"
            return (
                f"{self.name} sustained {formatting.rate(self.ceiling_per_s)}/s, so the client "
                f"limit is at least that; before, {before} was known."
            )
        return f"{self._found()}{self._disturbed()}"

    def _found(self) -> str:
        if not self.ceiling_per_s:
            return "The clients sustained no rate against the null server: no point can be trusted."
        reached = f"The clients reach {self.ceiling_per_s:,.0f}/s against the null server"
        if self.reached_all:
            return f"{reached}: all that the plan asks for."
        return f"{reached}; beyond that a point says more about them than about a server."

    def _disturbed(self) -> str:
        if not self.disturbed:
            return ""
        return (
            f" Background load took {self.others_cpu_pct:.0f} % of a core meanwhile, so they may "
            "reach more. Repeat on a quiet machine."
        )


class ClientLimitUnknown(Notice, frozen=True, kw_only=True):
    """It was not measured."""

    level = Severity.WARNING

    protocol: str = ""
    """Which the null server does not support; empty: it was interrupted, or did not start."""

    def text(self) -> str:
        if self.protocol:
            return (
                f"The null server does not support {self.protocol}, so the client limit was not "
                "measured."
            )
        return "The client limit was not measured."


class ClientLost(Notice, frozen=True, kw_only=True):
    """The others offer its share from here on."""

    level = Severity.ALERT

    clients: list[str]
    left: int
    """Clients that are still there."""
    limit_void: bool = False
    """The client limit was known."""

    def text(self) -> str:
        void = ", and the client limit found before no longer applies" * self.limit_void
        return f"{', '.join(self.clients)} is gone; from here on {_offering(self.left)}{void}."


class ClientNotBack(Notice, frozen=True, kw_only=True):
    """It was tried."""

    level = Severity.WARNING

    clients: list[str]
    said: str
    """Why, as a sentence of its own."""

    def text(self) -> str:
        return f"{', '.join(self.clients)} did not come back: {self.said}"


class ClientBack(Notice, frozen=True, kw_only=True):
    """It offers its share again."""

    level = Severity.WARNING

    clients: list[str]
    left: int
    """Clients that are there."""
    limit_valid: bool = False
    """The client limit found with all of them applies again."""
    changed: list[str] = msgspec.field(default_factory=list)
    """Facts of its machine."""
    said: list[str] = msgspec.field(default_factory=list)
    """What became of its tuning, in sentences."""

    def text(self) -> str:
        valid = ", and the client limit found with all of them applies again" * self.limit_valid
        back = f"{', '.join(self.clients)} is back; from here on {_offering(self.left)}{valid}."
        changed = [f"Its facts changed meanwhile: {', '.join(self.changed)}."]
        return " ".join([back, *(changed * bool(self.changed)), *self.said])


def _offering(clients: int) -> str:
    return "1 client offers the whole rate" if clients == 1 else f"{clients} clients offer the rate"
