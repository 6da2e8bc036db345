"""Notes on clients: their limit, and clients that are lost and recovered."""

from __future__ import annotations

import msgspec

from workbench import formatting
from workbench.messages.notes.notice import Notice, Severity


class Ceiling(Notice, frozen=True, kw_only=True):
    """The rate that the clients themselves reach, against the null server or any other."""

    ceiling_per_s: float
    """0: the clients reached no rate."""
    reached_all: bool = False
    """They reached the highest rate of the plan."""
    others_cpu_pct: float = 0.0
    """Background load during calibration, in percent of one core."""
    disturbed: bool = False
    """The background load is high enough that the clients may reach more."""
    name: str = ""
    """The server that sustained a higher rate than the null server; empty: calibration."""
    before_per_s: float = 0.0
    """With `name`: the limit known before; 0: no rate."""
    load_tool: str = ""
    """Where the run has several: with which; empty: it has one."""

    def severity(self) -> Severity:
        # All charts are hatched in that case.
        return Severity.INFO if self.ceiling_per_s else Severity.ALERT

    def text(self) -> str:
        if self.name:
            before = f"{formatting.rate(self.before_per_s)}/s" if self.before_per_s else "none"
            return (
                f"{self.name} sustained {formatting.rate(self.ceiling_per_s)}/s, so the client "
                f"limit is at least that (before: {before})."
            )
        return f"{self._found()}{self._disturbed()}"

    def _found(self) -> str:
        if not self.ceiling_per_s:
            return "The clients sustained no rate against the null server: no point can be trusted."
        tool = f" with {self.load_tool}" * bool(self.load_tool)
        reached = f"The clients reach {self.ceiling_per_s:,.0f}/s against the null server{tool}"
        if self.reached_all:
            return f"{reached}: all that the plan asks for."
        return f"{reached}. Above this rate the clients are the limit."

    def _disturbed(self) -> str:
        if not self.disturbed:
            return ""
        return (
            f" Background load took {self.others_cpu_pct:.0f} % of a core meanwhile, so they may "
            "reach more. Repeat on a quiet machine."
        )


class ClientLimitUnknown(Notice, frozen=True, kw_only=True):
    """The client limit was not measured."""

    level = Severity.WARNING

    protocol: str = ""
    """A protocol that the null server does not support; empty: calibration was interrupted or
    failed."""

    def text(self) -> str:
        if self.protocol:
            return (
                f"The null server does not support {self.protocol}, so the client limit was not "
                "measured."
            )
        return "The client limit was not measured."


class ClientLost(Notice, frozen=True, kw_only=True):
    """Clients were lost; the others offer their share from here on."""

    level = Severity.ALERT

    clients: list[str]
    left: int
    """Number of clients left."""
    limit_void: bool = False
    """A known client limit no longer applies."""

    def text(self) -> str:
        void = ", and the client limit found before no longer applies" * self.limit_void
        return f"{', '.join(self.clients)} was lost; from here on {_offering(self.left)}{void}."


class ClientNotBack(Notice, frozen=True, kw_only=True):
    """A lost client could not be recovered."""

    level = Severity.WARNING

    clients: list[str]
    said: str
    """The reason, as a complete sentence."""

    def text(self) -> str:
        return f"{', '.join(self.clients)} did not come back: {self.said}"


class ClientBack(Notice, frozen=True, kw_only=True):
    """Clients are back and offer their share again."""

    level = Severity.WARNING

    clients: list[str]
    left: int
    """Number of clients now."""
    limit_valid: bool = False
    """The client limit measured with all of them applies again."""
    changed: list[str] = msgspec.field(default_factory=list)
    """Facts of its machine."""
    said: list[str] = msgspec.field(default_factory=list)
    """The state of its tuning, as complete sentences."""

    def text(self) -> str:
        valid = ", and the client limit found with all of them applies again" * self.limit_valid
        back = f"{', '.join(self.clients)} is back; from here on {_offering(self.left)}{valid}."
        changed = [f"Its facts changed meanwhile: {', '.join(self.changed)}."]
        return " ".join([back, *(changed * bool(self.changed)), *self.said])


def _offering(clients: int) -> str:
    return "1 client offers the whole rate" if clients == 1 else f"{clients} clients offer the rate"
