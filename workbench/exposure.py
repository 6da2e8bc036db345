"""Servers without security updates that other machines can reach: warning and consent."""

from __future__ import annotations

import ipaddress
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from workbench.errors import PongbenchError

NAMED = 3
"""At most this many are named; the rest are counted."""


class Listener(Protocol):
    """The attributes of a catalogue entry that are used here."""

    @property
    def name(self) -> str: ...
    @property
    def heritage(self) -> bool: ...


@dataclass(frozen=True)
class Exposure:
    """Servers on an unsupported Python that would listen on a non-loopback address."""

    names: tuple[str, ...]
    machine: str
    address: str
    """Empty: not known yet, but other machines must reach it."""

    @property
    def text(self) -> str:
        """The rest of a sentence: who would listen where."""
        more = len(self.names) - NAMED
        named = (*self.names[:NAMED], f"{more} more") if more > 1 else self.names
        *first, last = named
        who = f"{', '.join(first)} and {last}" if first else last
        gets, them = ("gets", "it") if len(self.names) == 1 else ("get", "them")
        where = f"{self.address} of {self.machine}" if self.address else f"{self.machine}"
        return (
            f"{who} no longer {gets} security fixes and would listen on {where}, where other"
            f" machines reach {them}"
        )


Consent: TypeAlias = Callable[[Exposure], Awaitable[bool]]
"""Asks the user for consent."""


async def never_agree(exposure: Exposure) -> bool:
    """A `Consent` that refuses, for runs without a user."""
    return False


def exposure(entries: Sequence[Listener], machine: str, address: str) -> Exposure | None:
    """Return the exposure. `address`: where they listen; empty: where other machines reach it.
    None: no consent is needed."""
    old = [entry.name for entry in entries if entry.heritage]
    if not old or (address and is_loopback(address)):
        return None
    return Exposure(tuple(old), machine, address)


async def agreed(
    entries: Sequence[Listener], machine: str, address: str, consent: Consent
) -> Exposure | None:
    """Ask for consent if it is needed and return it; None: not needed. Raises PongbenchError when
    it was refused."""
    found = exposure(entries, machine, address)
    if found and not await consent(found):
        raise PongbenchError(f"{found.text}, and this was not agreed to; leave out such servers.")
    return found


def is_loopback(address: str) -> bool:
    """Return whether only the machine itself reaches an address."""
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return address == "localhost"
