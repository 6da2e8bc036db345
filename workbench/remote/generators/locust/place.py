"""Where a request of a locustfile goes."""

from __future__ import annotations

from functools import lru_cache
from urllib.parse import urlsplit

_PORTS = {"http": 80, "https": 443}


def place_of(url: str, host: str, port: int) -> str:
    """Return host and port of a URL; empty: they are those of the load."""
    scheme, found, rest = url.partition("://")
    return _place(f"{scheme}://{rest.partition('/')[0]}", host, port) if found else ""


@lru_cache(maxsize=1_000)
def _place(origin: str, host: str, port: int) -> str:
    try:
        parts = urlsplit(origin.partition("?")[0].partition("#")[0])
        name, found = parts.hostname or "", parts.port or _PORTS.get(parts.scheme.lower(), 0)
    except ValueError:
        return "an invalid URL"
    same = name == host or (name == "localhost" and host in ("127.0.0.1", "::1"))
    return "" if same and found == port else f"{name}:{found}"[:80]
