"""Names of what happens to requests of a locustfile. Locust's own workers get its text, too, so it
imports nothing of Locust, and of this program one line; see `master.plugin`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from urllib.parse import urlsplit

from workbench.remote.agent.driver import error_name

_CLOSED = ("RemoteDisconnected", "HTTPConnectionClosed", "IncompleteRead", "ChunkedEncodingError")


def name_of(error: BaseException) -> str:
    """Return a name as the agent's own, such as `connrefused` or `protocol-404`; those of a
    locustfile's own checks are `check-locustfile`, of its exceptions `other-` and the class."""
    for each in _chain(error):
        kind = type(each).__name__
        status = getattr(getattr(each, "response", None), "status_code", 0)
        if (status and "HTTP" in kind) or kind.endswith("BadStatusCode"):
            return f"protocol-{status or getattr(each, 'code', 0)}"
        if kind == "CatchResponseError":
            return "check-locustfile"
        if isinstance(each, TimeoutError) or "timeout" in kind.lower():
            return "client-timo"
        if isinstance(each, OSError) and each.errno and each.errno > 0:
            return error_name(each)
        if kind in _CLOSED:
            return "protocol-closed"
    return f"other-{re.sub('[^A-Za-z0-9]', '', type(error).__name__)}"[:40]


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield what an exception was made of, the innermost first."""
    found: list[BaseException] = []
    waiting = [error]
    while waiting and len(found) < 20:
        each = waiting.pop()
        if each in found:
            continue
        found.append(each)
        parts = (*each.args, getattr(each, "reason", None), each.__cause__, each.__context__)
        waiting += [part for part in parts if isinstance(part, BaseException)]
    yield from reversed(found)


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
