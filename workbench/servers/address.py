"""Addresses of servers that are running already, as plans name them beside ids of the catalogue."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta

from workbench.errors import BadInput
from workbench.untrusted import one_line

PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443, "tcp": 0}
PROTOCOLS = {"ws": ("websocket",), "wss": ("websocket",), "tcp": ("pong",)}
"""By scheme, what is asked of it; others: HTTP, or a ping-pong."""
_UNIX = "unix:"
_EXAMPLE = "write it as http://127.0.0.1:8000/items?page=2"


class Running(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """What a plan says of a running server beside its address."""

    name: Annotated[str, Meta(max_length=80)] = ""
    """Empty: its address."""
    process: Annotated[
        str,
        Meta(
            pattern=r"^(pid:[1-9][0-9]{0,8}|port:[1-9][0-9]{0,4}"
            r"|(unit|container):[A-Za-z0-9][A-Za-z0-9@._\\-]{0,199})?$"
        ),
    ] = ""
    """Whose CPU time and memory are measured: "pid:1234", "port:5432" (its owner),
    "unit:shop.service", "container:shop". Empty: the owner of its port, if it is on the target."""
    insecure: bool = False
    """Whether its certificate is not checked."""


@dataclass(frozen=True)
class Address:
    """A parsed address."""

    text: str
    """As it was given; the server's id."""
    scheme: str
    """ "http", "https", "ws", "wss", "tcp" or "unix"."""
    host: str
    """A name or an IP address; of a Unix socket its path."""
    port: int
    """0: a Unix socket."""
    path: str = "/"
    """With its query."""

    @property
    def tls(self) -> bool:
        return self.scheme in ("https", "wss")

    @property
    def protocols(self) -> list[str]:
        """Those that it may be asked in; that it speaks them shows when it is."""
        http = ("http/1.0", "http/1.1", "http/2" if self.tls else "h2c", "pong")
        return list(PROTOCOLS.get(self.scheme, http))

    @property
    def label(self) -> str:
        """Its name for display, where the plan gives none."""
        return self.text.removeprefix(f"{self.scheme}://").removesuffix("/")

    @property
    def authority(self) -> str:
        """What its requests name as Host."""
        if not self.port:
            return "localhost"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS.get(self.scheme) else f"{host}:{self.port}"


@dataclass(frozen=True)
class Contact:
    """How a running server is reached, and what was learnt of it before the run."""

    address: Address
    process: str = ""
    """As in `Running`."""
    insecure: bool = False
    addresses: tuple[str, ...] = ()
    """The IP addresses of its name, as it resolved."""
    used: str = ""
    """The one that connections go to; of a Unix socket "unix:" and its path."""
    certificate: str = ""
    """What it presented, as PEM; empty: without TLS, or not checked."""
    expected: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """By label of the plan's requests: what it answered before the run, as a plan's checks."""


def is_address(text: str) -> bool:
    return "://" in text or text.startswith(_UNIX)


def parse(text: str) -> Address:
    """Raises BadInput."""
    if not re.fullmatch(r"[\x21-\x7e]{1,2000}", text):
        raise _invalid(text, "it must be at most 2,000 printable characters without spaces")
    if text.startswith(_UNIX):
        socket, _, rest = text.removeprefix(_UNIX).partition(":")
        if not socket.startswith("/") or len(socket) > 107 or (rest and not rest.startswith("/")):
            raise _invalid(text, "write unix:/run/app.sock, or unix:/run/app.sock:/path")
        return Address(text, "unix", socket, 0, rest or "/")
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise _invalid(text, f"{one_line(str(error))}; {_EXAMPLE}") from None
    if parts.scheme not in PORTS:
        known = ", ".join(PORTS)
        raise _invalid(text, f"it begins with none of {known} and unix")
    if parts.username is not None:
        raise _invalid(
            text, "it contains a login, which would be recorded; give a header as {secret: NAME}"
        )
    if not host or parts.fragment:
        raise _invalid(text, _EXAMPLE)
    port = PORTS[parts.scheme] if port is None else port
    if not port:
        raise _invalid(text, "give a port from 1 to 65535")
    if parts.scheme == "tcp" and (parts.path.strip("/") or parts.query):
        raise _invalid(text, "a ping-pong has no path")
    path = parts.path or "/"
    return Address(text, parts.scheme, host, port, f"{path}?{parts.query}" if parts.query else path)


def _invalid(text: str, why: str) -> BadInput:
    return BadInput(f"{one_line(text)[:200]} is no address of a server: {why}.")
