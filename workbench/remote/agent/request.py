"""HTTP requests as sent over the wire: one, or several with weights, in an order that is random and
reproducible."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field
from typing import Any

from .protocol import Load
from .tally import RequestTally, Tally
from .wanted import Wanted

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


_LEAST = 100
"""Calls in which the shares of the requests are exact, at least."""


@dataclass(slots=True, eq=False)
class Call:
    """One of several requests, the reply that it is to get, and its results."""

    request: bytes
    wanted: Wanted
    tally: RequestTally = field(default_factory=RequestTally)


class Mix:
    """Draws requests from a shuffled deck, in which each occurs by its weight.

    So the shares are exact over every deck, and a worker's n-th call is the same request in every
    run with the same seed, for every server.
    """

    def __init__(self, calls: list[Call], weights: list[int], seed: str) -> None:
        common = math.gcd(*weights)
        deck: list[Call] = []
        for call, weight in zip(calls, weights, strict=True):
            deck += [call] * (weight // common)
        self._deck = deck * -(-_LEAST // len(deck))
        self._left: list[Call] = []
        self._random = random.Random(seed).random

    @classmethod
    def of(cls, load: Load, tally: Tally) -> Mix | None:
        """Return the mix of a load; None: it has one request. Registers the requests' results."""
        requests: list[dict[str, Any]] = load.options.get("requests", [])
        if not requests:
            return None
        replies = load.reply.get("each") or [{}] * len(requests)
        calls = [
            Call(http_request(load, each), Wanted(reply, each.get("method", "GET")))
            for each, reply in zip(requests, replies, strict=True)
        ]
        tally.requests = [call.tally for call in calls]
        weights = [each.get("weight", 1) for each in requests]
        return cls(calls, weights, f"{load.seed}/{load.share}/{load.shares}/requests")

    def draw(self, count: int) -> list[Call]:
        drawn, left = [], self._left
        for _ in range(count):
            if not left:
                left.extend(self._deck)
            place = int(self._random() * len(left))
            left[place], left[-1] = left[-1], left[place]
            drawn.append(left.pop())
        return drawn
