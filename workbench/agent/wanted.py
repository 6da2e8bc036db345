"""The reply that a request is to get, and whether a reply is that one."""

from __future__ import annotations

import json
from typing import Any

from .parser import ProtocolError, Response, parse

_REMEMBERED = 64
"""Distinct replies whose parsing is cached; a Date header makes a new one each second."""


class Wanted:
    """The expected response, and complete replies that were as expected, because servers repeat
    them.

    `reply`: see `Load.reply`.
    """

    def __init__(self, reply: dict[str, Any], method: str = "GET") -> None:
        self.replies: set[bytes] = set()
        """Replies that a driver may take without understanding them."""
        self.last_replies: dict[bytes, Response] = {}
        """The same of closed connections, whose end may be that of a reply."""
        self._known: tuple[dict[bytes, Response], ...] = ({}, self.last_replies)
        self._bodiless = method == "HEAD"
        self._checks: dict[str, Any] = reply.get("checks", {})
        self._status: int | None = reply.get("status")
        self._body: bytes | None = None
        self._json: Any = None
        """Where the body is wanted in any spelling."""
        if "body" in reply and not self._bodiless:
            self._body = reply["body"].encode()
            self._json = json.loads(self._body) if reply.get("json") else None
        self._text: bytes = self._checks.get("text", "").encode()
        self._type: bytes = self._checks.get("type", "").encode().lower()

    def understand(self, data: bytes, closed: bool) -> Response | None:
        """Return the response at the start of `data`; None: more bytes are needed. Raises
        ProtocolError also for an unexpected response; one that only fails a check of the plan is
        marked."""
        known = self._known[closed]
        if found := known.get(data):
            return found
        response = parse(data, closed, bodiless=self._bodiless)
        if response is None:
            return None
        failed = self._check(response)
        if failed:
            return response._replace(failed=failed)
        if response.end == len(data):
            if len(known) >= _REMEMBERED:
                known.clear()
            known[data] = response
            if response.keep_alive:
                self.remember(data)
        return response

    def remember(self, reply: bytes) -> None:
        """Add one to `replies`."""
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
        if not self._bodiless and checks.get("bytes", len(body)) != len(body):
            return "length"
        return "" if self._text in body or self._bodiless else "text"

    def _alike(self, body: bytes) -> bool:
        """Return whether two bodies are equal as JSON."""
        if self._json is None:
            return False
        try:
            return bool(json.loads(body) == self._json)
        except ValueError:
            return False
