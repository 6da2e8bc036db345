"""The privileges of servers: those required by their entries, and those in force."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

import msgspec

Right: TypeAlias = Literal["root", "files", "shared-memory"]

RIGHTS: Mapping[Right, str] = {
    "root": "runs as root where root runs it",
    "files": "may read and write what its user may",
    "shared-memory": "may read and write its user's shared memory",
}
"""The additional privileges of a server, as the rest of a sentence."""


class Confinement(msgspec.Struct, frozen=True, kw_only=True):
    """The confinement in force when a server ran. In any case it could not gain privileges, had no
    capabilities (except as root) and did not see its user's environment."""

    user: str = ""
    """The user it ran as; empty: not recorded."""
    landlock: int = 0
    """Version of the kernel's Landlock that restricted it to files of the system, its runtime and
    its own; 0: none."""
    rights: list[str] = []
    """The privileges that its entry requires."""

    @property
    def text(self) -> str:
        """ "nobody, Landlock, shared-memory"; empty: not recorded."""
        kept = "Landlock" if self.landlock else "no Landlock"
        return ", ".join([self.user, kept, *self.rights]) if self.user else ""


def recorded(data: Mapping[str, Any]) -> Confinement:
    """Read `ServerRecord.confinement`, whatever it holds."""
    try:
        return msgspec.convert(data, Confinement)
    except msgspec.ValidationError:
        return Confinement()
