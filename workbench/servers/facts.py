"""What is known of a server's framework: as published in 2009 and 2010, and today."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import msgspec
from msgspec import Meta

Text: TypeAlias = Annotated[str, Meta(min_length=1, max_length=2_000)]

NOT_FOUND = "Not found"
"""The value of a fact that is not to be had; its source says where it was looked for."""


class Fact(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A fact about a server, and its source."""

    value: Text
    source: Text
    inferred: bool = False
    """Whether the source does not say so itself."""
    at: Annotated[str, Meta(max_length=300)] = ""
    """The address of the source; in a file of `resources/projects` the name of one of its
    addresses."""
    seen: Annotated[str, Meta(pattern=r"^(\d{4}-\d\d-\d\d)?$")] = ""
    """ISO date when the source was read."""

    @property
    def reason(self) -> str:
        """The source, and whether the value is only inferred from it."""
        return f"inferred: {self.source}" if self.inferred else self.source

    @property
    def read(self) -> str:
        """The source and the date."""
        return f"{self.reason} (seen {self.seen})" if self.seen else self.reason

    @property
    def cited(self) -> str:
        """The source, its address and the date."""
        where = ", ".join(filter(None, (self.reason, self.at)))
        return f"{where} (seen {self.seen})" if self.seen else where


class In2009(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A row of the feature table of 2009, as printed; empty: not stated."""

    licence: str = ""
    documentation: str = ""
    examples: str = ""
    production: str = ""
    community: str = ""
    activity: str = ""
    blog: str = ""
    twitter: str = ""
    repository: str = ""
    thread_pool: str = ""
    wsgi: str = ""
    socket: str = ""
    comet: str = ""
    epoll: str = ""
    tests: str = ""
    style: str = ""


class In2010(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A row of the table of contestants of 2010, as printed; empty: not stated."""

    version: str = ""
    http11: str = ""
    flavour: str = ""
    repository: str = ""
    blog: str = ""
    community: str = ""


class Today(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is known about the framework now: the columns of 2009, then what readers asked for;
    None: unknown."""

    released: Fact | None = None
    """ISO date of the version in use; its source says which."""
    licence: Fact | None = None
    documentation: Fact | None = None
    examples: Fact | None = None
    production: Fact | None = None
    community: Fact | None = None
    activity: Fact | None = None
    blog: Fact | None = None
    twitter: Fact | None = None
    repository: Fact | None = None
    thread_pool: Fact | None = None
    wsgi: Fact | None = None
    socket: Fact | None = None
    comet: Fact | None = None
    """Comet or WebSocket."""
    epoll: Fact | None = None
    tests: Fact | None = None
    style: Fact | None = None
    portability: Fact | None = None
    tls: Fact | None = None
    peer_certificates: Fact | None = None
    coverage: Fact | None = None
    """Of its code by its tests."""
    documentation_parts: Fact | None = None
    """What there is of tutorial, guide and reference: of its quality what can be counted."""
