"""Base class and formats of reasons."""

from __future__ import annotations

import math

from workbench.messages.base import Figure, Message, each, most, share


class Reason(Message, frozen=True, kw_only=True):
    """A reason for a verdict."""


QUIET = "Repeat on a quiet machine."


def percent(share: Figure) -> str:
    # 98.96 % must not be rendered as 99 %, the very limit it missed.
    return f"{each(share, lambda part: f'{math.floor(part * 1000) / 10:.1f}')} %"


def ms(us: Figure) -> str:
    return f"{share(us, 1000):,.0f} ms"


def by_host(stolen_pct: Figure) -> str:
    """To follow the background load of which it is a part; empty: next to none."""
    if most(stolen_pct) < 1:
        return ""
    return f" (the host of the virtual machine took {stolen_pct:.0f} %)"


def how_often(count: Figure) -> str:
    return "once" if count == 1 else f"{count:,} times"
