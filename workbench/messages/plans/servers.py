"""Servers with more rights than others."""

from __future__ import annotations

from workbench import formatting
from workbench.exposure import Exposure
from workbench.messages.plans.problem import Warned
from workbench.rights import RIGHTS, Right, Stating


class MoreRights(Warned, frozen=True, kw_only=True):
    """A server needs a right that others do not have."""

    keys: tuple[str, ...] = ("servers",)
    server: str
    right: Right
    why: str
    """From its catalogue entry."""

    def text(self) -> str:
        return f"{self.server} {RIGHTS[self.right]}: {self.why}"


def more_rights(entry: Stating) -> list[Warned]:
    """The rights that only this server has, each with its reason."""
    return [
        MoreRights(server=entry.name, right=right, why=why)
        for right, why in sorted(entry.rights.items())
    ]


class MustBeFetched(Warned, frozen=True, kw_only=True):
    """Servers lack something on the target that is fetched with consent only."""

    keys: tuple[str, ...] = ("servers",)
    servers: tuple[str, ...]

    def text(self) -> str:
        need, them = ("need", "them") if len(self.servers) > 1 else ("needs", "it")
        return (
            f"{formatting.listed(self.servers)} {need} programs or source code that the target"
            " lacks; the run stops before it begins unless these are fetched: test"
            f" {them} on the Servers page, or use --install."
        )


class OldServersExposed(Warned, frozen=True, kw_only=True):
    """Servers without security fixes would listen where other machines can reach them."""

    keys: tuple[str, ...] = ("servers",)
    servers: tuple[str, ...]
    machine: str
    address: str = ""

    def text(self) -> str:
        found = Exposure(self.servers, self.machine, self.address)
        return f"{found.text}. The run asks before it begins."
