"""What a workload looks at in a server of the catalogue; see `servers.entry`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol


class Wanted(Protocol):
    """What a server has to answer, exactly."""

    @property
    def status(self) -> int: ...
    @property
    def body(self) -> str: ...
    @property
    def json(self) -> bool: ...


class Server(Protocol):
    """An entry of the catalogue."""

    @property
    def id(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def protocols(self) -> Sequence[str]: ...
    @property
    def path(self) -> str: ...
    @property
    def also(self) -> Mapping[str, Wanted]: ...
    @property
    def replies(self) -> Mapping[str, Wanted]:
        """By path; the first is what it is measured with."""
        ...

    @property
    def closes_first(self) -> str:
        """Who does, after the only call of a connection."""
        ...
