"""The reply that a request is to get, and whether a reply is that one."""

from __future__ import annotations

import json
from typing import Any

from .parser import ProtocolError, ReplyParser, Response
from .protocol import EXAMPLE

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
