"""Classes of failed calls: whose fault each is."""

from __future__ import annotations

from workbench.documents.base import Errors

SERVER_ERRORS = (
    "client-timo",
    "socket-timo",
    "connrefused",
    "connreset",
    "protocol",
    "check",
    "tls",
    "other",
)
"""Error classes counted against the server (names and meanings are httperf's, but for `check`, a
reply that fails a check of the plan, and `tls`, a failed handshake or failure of TLS after it)."""

CLIENT_ERRORS = ("fd-unavail", "addrunavail", "ftab-full")
"""Error classes caused by the client itself; they never count against a server."""

ERROR_CLASSES = SERVER_ERRORS + CLIENT_ERRORS
"""`other` may carry its errno (`other-ENETUNREACH`), `protocol` the status (`protocol-503`) or what
else came in place of the reply (`messages.errors`), `check` the status or what the check is about,
`tls` OpenSSL's reason; see `error_class`."""


def error_class(name: str) -> str:
    """Return the class of an error's name: `other-ENETUNREACH` is `other`, `protocol-503`
    `protocol`."""
    head, _, _ = name.partition("-")
    return head if head in ("other", "protocol", "check", "tls") else name


def timed_out(errors: Errors) -> int:
    """Return the calls without an answer in time."""
    return errors.get("client-timo", 0) + errors.get("socket-timo", 0)


def server_errors(errors: Errors) -> int:
    """Return the calls lost that count against the server."""
    return sum(n for name, n in errors.items() if error_class(name) in SERVER_ERRORS)


def client_errors(errors: Errors) -> int:
    """Return the calls lost through the client's own fault."""
    return sum(n for name, n in errors.items() if name in CLIENT_ERRORS)
