"""What servers may do that others may not."""

from __future__ import annotations

from workbench.exposure import Exposure
from workbench.messages.plans.problem import Warned
from workbench.rights import RIGHTS, Right, Stating


class MoreRights(Warned, frozen=True, kw_only=True):
    """A server cannot do without a right that others do not have."""

    keys: tuple[str, ...] = ("servers",)
    server: str
    right: Right
    why: str
    """As its entry says."""

    def text(self) -> str:
        return f"{self.server} {RIGHTS[self.right]}: {self.why}"


def more_rights(entry: Stating) -> list[Warned]:
    """What a server may that others may not, and why."""
    return [
        MoreRights(server=entry.name, right=right, why=why)
        for right, why in sorted(entry.rights.items())
    ]


class OldServersExposed(Warned, frozen=True, kw_only=True):
    """Servers without security fixes would listen where other machines reach them."""

    keys: tuple[str, ...] = ("servers",)
    servers: tuple[str, ...]
    machine: str
    address: str = ""

    def text(self) -> str:
        found = Exposure(self.servers, self.machine, self.address)
        return f"{found.text}. The run asks before it begins."
