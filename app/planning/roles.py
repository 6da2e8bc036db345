"""Which machines can be a plan's target or clients, and why one that it names cannot. No Qt."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from workbench.formatting import listed

if TYPE_CHECKING:
    from workbench.machines.profiles import Profile

HERE = "localhost"
_WHY = {
    "removed": ("was removed", "were removed"),
    "unreadable": ("has a profile that cannot be read", "have profiles that cannot be read"),
    "not a {role}": ("is no longer a {role}", "are no longer {role}s"),
}
"""What stands behind the name of such a machine, and what is said of one and of several."""


class Roles:
    """The machines of all profiles, by their roles. Without profiles nothing is known, and every
    machine may have every role.
    """

    def __init__(self, profiles: Sequence[Profile] = (), damaged: Collection[str] = ()) -> None:
        """`damaged`: names of machines whose profile cannot be read."""
        self._all, self._damaged = {profile.name for profile in profiles}, damaged
        self._by_role = {
            role: [profile.name for profile in profiles if role in profile.roles] or [HERE]
            for role in ("target", "client")
        }

    def choices(self, role: str, chosen: Sequence[str]) -> list[str]:
        """Return the machines with a role, then those of `chosen` that do not have it (any more):
        what was chosen is never replaced silently.
        """
        fit = self._by_role[role]
        return [*fit, *(name for name in chosen if self._all and name not in fit)]

    def title(self, name: str, role: str) -> str:
        """Return its name for people: "This computer", "bolt (not a client)"."""
        why = self._why(name, role).format(role=role)
        return f"{display_name(name)} ({why})" if why else display_name(name)

    def fault(self, names: Sequence[str], role: str) -> str:
        """Return sentences about those of `names` that cannot have the role; empty: all can."""
        sentences = []
        for why, (one, several) in _WHY.items():
            named = [display_name(name) for name in names if self._why(name, role) == why]
            if named:
                verb, other = (one, "another") if len(named) == 1 else (several, "other")
                machines = "machine" if len(named) == 1 else "machines"
                said = f"{listed(named)} {verb.format(role=role)}"
                sentences.append(f"{said}; choose {other} {machines}.")
        return " ".join(sentences)

    def _why(self, name: str, role: str) -> str:
        """Return why it cannot have the role: a key of `_WHY`; empty: it can."""
        if not self._all or name in self._by_role[role]:
            return ""
        if name in self._all:
            return "not a {role}"
        return "unreadable" if name in self._damaged else "removed"


def display_name(name: str) -> str:
    """Return a machine's name for people."""
    return "This computer" if name == HERE else name
