"""Which rights a server runs with: those its entry states, and what was in force."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Protocol, TypeAlias

import msgspec

Right: TypeAlias = Literal["root", "files", "shared-memory"]

RIGHTS: Mapping[Right, str] = {
    "root": "runs as root where root runs it",
    "files": "may read and write what its user may",
    "shared-memory": "may read and write its user's shared memory",
}
"""What a server may have that others have not, as the rest of a sentence."""


class Stating(Protocol):
    """What is asked of a catalogue entry."""

    @property
    def name(self) -> str: ...
    @property
    def rights(self) -> Mapping[Any, str]: ...


def stated(entry: Stating) -> list[str]:
    """What a server may that others may not, and why: a sentence each."""
    return [f"{entry.name} {RIGHTS[right]}: {why}" for right, why in sorted(entry.rights.items())]


class Confinement(msgspec.Struct, frozen=True, kw_only=True):
    """What was in force when a server ran. Whatever this says, it could not gain privileges, had no
    capability (but as root) and learnt nothing of its user's environment."""

    user: str = ""
    """As whom it ran; empty: not recorded."""
    landlock: int = 0
    """Version of the kernel's Landlock that kept it from all files but the system's, its runtime's
    and its own; 0: nothing did."""
    rights: list[str] = []
    """Those its entry states."""

    @property
    def text(self) -> str:
        """ "nobody, Landlock, shared-memory"; empty: not recorded."""
        kept = "Landlock" if self.landlock else "no Landlock"
        return ", ".join([self.user, kept, *self.rights]) if self.user else ""


def recorded(data: Mapping[str, Any]) -> Confinement:
    """Of `ServerRecord.confinement`, whatever it holds."""
    try:
        return msgspec.convert(data, Confinement)
    except msgspec.ValidationError:
        return Confinement()
