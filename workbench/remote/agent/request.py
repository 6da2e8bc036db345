"""An HTTP request as sent over the wire."""

from __future__ import annotations

from typing import Any

from .protocol import Load

_WITH_BODY = ("POST", "PUT", "PATCH")
"""Methods whose requests have a length even without a body (RFC 9110, 8.6)."""


def http_request(load: Load, request: dict[str, Any] | None = None) -> bytes:
    """Return a request of the load, or the one that its options describe.

    `method`, `path`, `headers` (pairs, in place of the standard ones of that name) and `body`; of
    the options `protocol`: "http/1.1", or any other for HTTP/1.0.
    """
    request = load.options if request is None else request
    protocol = load.options.get("protocol", "")
    body: bytes = request.get("body", "").encode()
    method, path = request.get("method", "GET"), request.get("path", "/")
    version = "HTTP/1.1" if protocol == "http/1.1" else "HTTP/1.0"
    host = f"[{load.host}]" if ":" in load.host else load.host
    headers = [("Host", f"{host}:{load.port}"), ("User-Agent", "pongbench")]
    if protocol == "http/1.0" and load.calls_per_connection > 1:
        headers.append(("Connection", "keep-alive"))
    own = [(name, value) for name, value in request.get("headers", [])]
    named = {name.lower() for name, _ in own}
    headers = [(name, value) for name, value in headers if name.lower() not in named] + own
    if body or method in _WITH_BODY:
        headers.append(("Content-Length", str(len(body))))
    lines = [f"{method} {path} {version}", *(f"{name}: {value}" for name, value in headers)]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("ascii") + body
