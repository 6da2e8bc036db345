"""The limits of a search, which a point meets or exceeds."""

from __future__ import annotations

from workbench.messages.base import Figure, Message, each


class Limit(Message, frozen=True, kw_only=True):
    """A point exceeded a limit."""


class TooManyErrors(Limit, frozen=True, kw_only=True):
    errors_pct: float
    limit_pct: float

    def text(self) -> str:
        return f"{_pct(self.errors_pct)} errors, more than the {_pct(self.limit_pct)} allowed."


class TooSlow(Limit, frozen=True, kw_only=True):
    p99_ms: float
    limit_ms: float

    def text(self) -> str:
        return f"p99 {_ms(self.p99_ms)}, above the limit of {_ms(self.limit_ms)}."


def phrase(errors_pct: float, p99_ms: float | None) -> str:
    """Return the limits as part of a sentence: "at most 1 % errors and a p99 of at most 50 ms"."""
    slow = "" if p99_ms is None else f" and a p99 of at most {_ms(p99_ms)}"
    return f"at most {_pct(errors_pct)} errors{slow}" if errors_pct else f"no errors{slow}"


def brief(errors_pct: float, p99_ms: float | None) -> str:
    """Return the limits as terms: "errors ≤ 1 %, p99 ≤ 50 ms"."""
    slow = "" if p99_ms is None else f", p99 ≤ {_ms(p99_ms)}"
    return f"errors ≤ {_pct(errors_pct)}{slow}" if errors_pct else f"no errors{slow}"


def _pct(value: Figure) -> str:
    return f"{each(value, lambda pct: f'{pct:.3g}')} %"


def _ms(value: Figure) -> str:
    return f"{each(value, lambda ms: f'{ms:,.0f}' if ms >= 100 else f'{ms:.3g}')} ms"
