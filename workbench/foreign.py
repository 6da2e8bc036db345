"""Consent to a user's program, such as a locustfile, that a plan runs on the clients."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from workbench.errors import PongbenchError


@dataclass(frozen=True)
class ForeignCode:
    """A program, and the machines that would run it."""

    path: Path
    machines: tuple[str, ...]
    also: tuple[str, ...] = ()
    """What comes with it: packages and files, as the plan has them."""

    @property
    def text(self) -> str:
        """A sentence without its full stop: what would run where."""
        *first, last = self.machines
        where = f"{', '.join(first)} and {last}" if first else last
        brought = f" with {', '.join(self.also)}" if self.also else ""
        return f"{self.path} runs on {where} with your rights there{brought}"


Consent: TypeAlias = Callable[[ForeignCode], Awaitable[bool]]
"""Asks the user for consent."""


async def never_agree(code: ForeignCode) -> bool:
    """A `Consent` that refuses, for runs without a user."""
    return False


async def agreed(
    path: Path | None, machines: Sequence[str], also: Sequence[str], consent: Consent
) -> None:
    """Ask for consent if a program is foreign (`path`). Raises PongbenchError when refused."""
    if path is None:
        return
    code = ForeignCode(path, tuple(machines), tuple(also))
    if not await consent(code):
        raise PongbenchError(f"{code.text}, and nobody agreed to that; nothing was started.")
