"""The attributes of a server of the catalogue that a workload uses; see `servers.entry`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Protocol


class Server(Protocol):
    """An entry of the catalogue."""

    @property
    def id(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def protocols(self) -> Sequence[str]: ...
    @property
    def tls(self) -> Sequence[str] | None:
        """None: it does not terminate TLS."""
        ...

    @property
    def running(self) -> object | None:
        """How it is reached where it is running already; None: it is deployed."""
        ...

    @property
    def authority(self) -> str:
        """What requests name as Host; empty: the address that they go to."""
        ...

    @property
    def path(self) -> str: ...
    @property
    def also(self) -> Collection[str]:
        """Further paths that it must answer."""
        ...

    @property
    def replies(self) -> Mapping[str, Any]:
        """The expected responses (`servers.entry.Reply`) by path; the first is the measured one."""
        ...

    @property
    def expected(self) -> Mapping[str, Mapping[str, Any]]:
        """What a running server answered before the run, by label of a plan's request."""
        ...

    @property
    def closes_first(self) -> str:
        """Who closes after the only call of a connection."""
        ...
