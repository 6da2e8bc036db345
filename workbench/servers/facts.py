"""What is known of a server's framework: as published in 2009 and 2010, and today."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

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
    """The address of the source; in a file of `resources/projects` its name there."""
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


IN_2009 = (
    *("licence", "documentation", "examples", "production", "community", "activity", "blog"),
    *("twitter", "repository", "thread_pool", "wsgi", "socket", "comet", "epoll", "tests", "style"),
)
"""Columns of the feature table of 2009."""
IN_2010 = ("version", "http11", "flavour", "repository", "blog", "community")
"""Columns of the table of contestants of 2010."""
TODAY = (
    "released",
    *IN_2009,
    *("portability", "tls", "peer_certificates", "coverage", "documentation_parts"),
)
"""What is said of a framework now: the columns of 2009, then what readers asked for. released: the
ISO date of the version in use; comet: Comet or WebSocket; coverage: of its code by its tests;
documentation_parts: what there is of tutorial, guide and reference."""

if TYPE_CHECKING:
    In2009: TypeAlias = Any
    In2010: TypeAlias = Any
    Today: TypeAlias = Any
else:

    def _row(name: str, columns: Sequence[str], kind: Any, default: Any) -> type[msgspec.Struct]:
        fields = [(column, kind, default) for column in columns]
        return msgspec.defstruct(
            name, fields, frozen=True, kw_only=True, forbid_unknown_fields=True
        )

    # As printed; empty: not stated.
    In2009 = _row("In2009", IN_2009, str, "")
    In2010 = _row("In2010", IN_2010, str, "")
    # None: unknown.
    Today = _row("Today", TODAY, Fact | None, None)
