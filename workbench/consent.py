"""What a user has to agree to before each run: servers without security updates in reach of other
machines, programs of the user on the clients, and load on servers that run already."""

from __future__ import annotations

import ipaddress
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Protocol, TypeAlias, TypeVar

from workbench.errors import PongbenchError
from workbench.formatting import capital, listed

NAMED = 3
"""At most this many are named; the rest are counted."""


class Asked(Protocol):
    refused: ClassVar[str]
    """The rest of a sentence: why nothing was started."""

    @property
    def text(self) -> str:
        """A sentence without its full stop."""


A = TypeVar("A", bound=Asked)

Consent: TypeAlias = Callable[[A], Awaitable[bool]]


async def never_agree(asked: object) -> bool:
    """A `Consent` that refuses, for runs without a user."""
    return False


async def agreed(asked: A | None, consent: Consent[A]) -> A | None:
    """Ask for consent if needed, and return what was asked. Raises PongbenchError if refused."""
    if asked and not await consent(asked):
        raise PongbenchError(f"{asked.text}, and {asked.refused}.")
    return asked


@dataclass(frozen=True)
class Exposure:
    """Servers on an unsupported Python that would listen on a non-loopback address."""

    names: tuple[str, ...]
    machine: str
    address: str
    """Empty: not known yet, but other machines must reach it."""

    refused: ClassVar[str] = "this was not agreed to; leave out such servers"

    @property
    def text(self) -> str:
        more = len(self.names) - NAMED
        named = [*self.names[:NAMED], f"{more} more"] if more > 1 else [*self.names]
        gets, them = ("gets", "it") if len(self.names) == 1 else ("get", "them")
        where = f"{self.address} of {self.machine}" if self.address else f"{self.machine}"
        return (
            f"{listed(named)} no longer {gets} security fixes and would listen on {where}, where"
            f" other machines reach {them}"
        )


class Listener(Protocol):
    """The attributes of a catalogue entry that are used here."""

    @property
    def name(self) -> str: ...
    @property
    def heritage(self) -> bool: ...


def exposure(entries: Sequence[Listener], machine: str, address: str) -> Exposure | None:
    """Return it; None: no consent is needed. `address` empty: where other machines reach them."""
    old = [entry.name for entry in entries if entry.heritage]
    if not old or (address and is_loopback(address)):
        return None
    return Exposure(tuple(old), machine, address)


def is_loopback(address: str) -> bool:
    """Return whether only the machine itself reaches an address."""
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return address == "localhost"


@dataclass(frozen=True)
class ForeignCode:
    """A program, and the machines that would run it."""

    path: Path
    machines: tuple[str, ...]
    also: tuple[str, ...] = ()
    """What comes with it: packages and files, as the plan has them."""

    refused: ClassVar[str] = "nobody agreed to that; nothing was started"

    @property
    def text(self) -> str:
        brought = f" with {', '.join(self.also)}" if self.also else ""
        return f"{self.path} runs on {listed(self.machines)} with your rights there{brought}"


@dataclass(frozen=True)
class OfRunning:
    """What a server that is running already would get."""

    refused: ClassVar[str] = "nobody agreed to that; nothing was sent"

    @property
    def text(self) -> str:
        raise NotImplementedError


@dataclass(frozen=True)
class Load(OfRunning):
    """A host that a run would load."""

    host: str
    """As the plan names it."""
    addresses: tuple[str, ...]
    what: str
    """ "up to 20,000 GET/s"."""

    @property
    def text(self) -> str:
        known = [] if self.addresses == (self.host,) else [f" ({listed(self.addresses)})"]
        where = "".join([self.host, *known])
        return capital(f"{self.what} go to {where}; load only what is yours")


@dataclass(frozen=True)
class Repeated(OfRunning):
    """Requests that may change something, and how often a run makes them."""

    server: str
    requests: tuple[str, ...]
    """ "POST /orders"."""
    often: str
    """ "24,000 times, up to 2,000/s"."""

    @property
    def text(self) -> str:
        what = listed(self.requests)
        return f"{what} at {self.server} is made {self.often}, and may change something each time"
