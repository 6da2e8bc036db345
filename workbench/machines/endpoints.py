"""A host as people write it: 10.0.0.1:2222, [fd00::1], bob@host, ssh://bob@host:2222."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass

_NAME = re.compile(r"[A-Za-z0-9_.][A-Za-z0-9_.-]{0,252}")


@dataclass(frozen=True)
class Endpoint:
    """A host with a user and a port, if they are given."""

    host: str
    """A name or an address, without brackets."""
    port: int = 0
    user: str = ""

    def __str__(self) -> str:
        user = f"{self.user}@" if self.user else ""
        if not self.port:
            return user + self.host
        return (
            f"{user}[{self.host}]:{self.port}"
            if ":" in self.host
            else (f"{user}{self.host}:{self.port}")
        )

    @classmethod
    def parse(cls, text: str) -> Endpoint:
        """Raises ValueError for what is none."""
        whole = re.sub(r"^ssh://(.*?)/?$", r"\1", text.strip(), flags=re.IGNORECASE)
        user, at, place = whole.rpartition("@")
        if at and not user:
            raise ValueError(text)
        if place.count(":") > 1 and not place.startswith("["):
            return cls(_ipv6(place), user=user)
        found = re.fullmatch(r"(?:\[([^\]]+)\]|([^:\[\]]+))(?::([0-9]{1,5}))?", place)
        if not found:
            raise ValueError(text)
        if found[2] and not _NAME.fullmatch(found[2]):
            raise ValueError(text)
        port = int(found[3] or 0)
        if found[3] and not 0 < port < 65536:
            raise ValueError(text)
        return cls(_ipv6(found[1]) if found[1] else found[2], port, user)


def is_link_local(host: str) -> bool:
    """Return whether it is an address that each machine knows by another interface's name."""
    try:
        return ipaddress.ip_address(host).is_link_local
    except ValueError:
        return False


def _ipv6(text: str) -> str:
    ipaddress.IPv6Address(text)
    return text
