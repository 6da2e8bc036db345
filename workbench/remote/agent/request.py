"""HTTP requests as sent over the wire: one, or several with weights, in an order that is random and
reproducible; and the reply that each is to get."""

from __future__ import annotations

import json
import math
import random
from dataclasses import dataclass, field
from typing import Any

from .parser import ProtocolError, ReplyParser, Response
from .protocol import EXAMPLE, Load
from .tally import RequestTally, Tally

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


_REMEMBERED = 64
"""Distinct replies whose parsing is cached; a Date header makes a new one each second."""
_LONGEST = 16_384
"""Bytes of a reply that is remembered."""
_LONGEST_JSON = 64 << 20
"""Bytes of a body that is compared by value."""


class Wanted:
    """The expected response (see `Load.reply`), and replies that were, because servers repeat
    them."""

    def __init__(self, reply: dict[str, Any], method: str = "GET") -> None:
        self.replies: set[bytes] = set()
        """Replies that a driver may take without understanding them."""
        self.last_replies: dict[bytes, Response] = {}
        """The same of closed connections, whose end may be that of a reply."""
        self.usual: tuple[bytes, Response] | None = None
        """The last reply that left its connection open: the next may begin with the same bytes."""
        self._known: dict[bytes, Response] = {}
        self._bodiless = method == "HEAD"
        self._checks: dict[str, Any] = reply.get("checks", {})
        self._status: int | None = reply.get("status")
        self._body: bytes | None = None
        self._json: Any = None
        """Where the body is wanted in any spelling."""
        if "body" in reply and not self._bodiless:
            self._body = reply["body"].encode()
            self._json = json.loads(self._body) if reply.get("json") else None
        self._text: bytes = b"" if self._bodiless else self._checks.get("text", "").encode()
        self._type: bytes = self._checks.get("type", "").encode().lower()
        self._keep = 0
        if self._json is not None:
            self._keep = _LONGEST_JSON
        elif self._body is not None:
            self._keep = max(EXAMPLE, len(self._body) + 1)
        elif self._checks:
            self._keep = EXAMPLE

    def parser(self) -> ReplyParser:
        """Return a parser of one reply that keeps of the body what is checked or shown."""
        return ReplyParser(self._keep, self._text, bodiless=self._bodiless)

    def known(self, data: bytes, *, closed: bool) -> Response | None:
        """Return the response if exactly these bytes were one before, and as expected."""
        return (self.last_replies if closed else self._known).get(data)

    def judge(self, parser: ReplyParser, whole: bytes = b"", *, closed: bool = False) -> Response:
        """Return the complete response of a parser. `whole`: all its bytes, if they came at once,
        to be remembered; `closed`: the connection's end came with them.

        Raises ProtocolError for an unexpected response; one that only fails a check of the plan is
        marked.
        """
        response = parser.response()
        failed = self._check(response)
        if failed:
            return response._replace(failed=failed)
        if whole and len(whole) <= _LONGEST:
            known = self.last_replies if closed else self._known
            if len(known) >= _REMEMBERED:
                known.clear()
            known[whole] = response
            if response.keep_alive:
                self.usual = whole, response
                self.remember(whole)
        return response

    def remember(self, reply: bytes) -> None:
        if len(self.replies) >= _REMEMBERED:
            self.replies.clear()
        self.replies.add(reply)

    def _check(self, response: Response) -> str:
        """Return the check of the plan that a response fails. Raises ProtocolError for a response
        that is unexpected otherwise."""
        status, body, checks = response.status, response.body, self._checks
        wanted = checks.get("status") if checks else self._status
        if not (status == wanted if wanted else 200 <= status < 300):
            if checks and wanted:
                return str(status)
            raise ProtocolError(f"status {status}", str(status))
        if not checks:
            if self._body not in (None, body) and not self._alike(body):
                raise ProtocolError("another body than was wanted", "body", body)
            return ""
        if self._type and response.content_type != self._type:
            return "type"
        if not self._bodiless and checks.get("bytes", response.length) != response.length:
            return "length"
        return "" if response.found else "text"

    def _alike(self, body: bytes) -> bool:
        if self._json is None:
            return False
        try:
            return bool(json.loads(body) == self._json)
        except ValueError:
            return False


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
