"""An HTTP request as sent over the wire."""

from __future__ import annotations

from .protocol import Load


def http_request(load: Load) -> bytes:
    """Return the request. Options: `protocol` ("http/1.1", or any other for HTTP/1.0) and
    `path`."""
    protocol, path = load.options.get("protocol", ""), load.options.get("path", "/")
    version = "HTTP/1.1" if protocol == "http/1.1" else "HTTP/1.0"
    keep = protocol == "http/1.0" and load.calls_per_connection > 1
    host = f"[{load.host}]" if ":" in load.host else load.host
    lines = [
        f"GET {path} {version}",
        f"Host: {host}:{load.port}",
        "User-Agent: pongbench",
        *(["Connection: keep-alive"] if keep else []),
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("ascii")
