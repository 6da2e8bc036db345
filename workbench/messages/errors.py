"""Labels of failed calls, the same in sentences, charts and tables."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.documents import error_class

ERROR_LABELS = {
    "client-timo": "timeout",
    "socket-timo": "connect timeout",
    "connrefused": "connection refused",
    "connreset": "connection reset",
    "protocol": "unexpected response",
    "check": "failed check",
    "tls": "TLS failure",
    "other": "other error",
    "fd-unavail": "out of file descriptors",
    "addrunavail": "out of local ports",
    "ftab-full": "system file table full",
    "unsent": "never sent",
    "in flight": "no reply",
    "open": "open at the end",
}
"""By error class (`documents.ERROR_CLASSES`), with the other counts of lost calls."""


_HANDSHAKE = "wrong handshake", "sends an invalid WebSocket handshake"

_UNEXPECTED = {
    "body": ("wrong body", "answers with a wrong body"),
    "closed": ("closed early", "closes connections without a reply"),
    "cut": ("cut short", "cuts replies short"),
    "idle": ("closed while idle", ""),
    "lost": ("message lost", ""),
    "malformed": ("malformed response", "gives malformed responses"),
    "accept": _HANDSHAKE,
    "upgrade": _HANDSHAKE,
    "extension": _HANDSHAKE,
    "surplus": ("unexpected message", "sends unsolicited messages"),
}
"""The label of an unexpected response by its detail, and what a faulty server does; any other
detail of `protocol` is a status."""

_CLOSED = "protocol-close-"
"""Followed by the code of WebSocket with which a server closed; 1006: without a word."""

SHORT_LABELS = {
    "connrefused": "refused",
    "connreset": "reset",
    "fd-unavail": "no descriptor",
    "addrunavail": "no port",
    "ftab-full": "file table full",
}
"""Used where space is short."""


def error_label(name: str, *, short: bool = False) -> str:
    """ "connection reset", "unexpected response: 503"; unknown classes are returned as they are."""
    if name.startswith("protocol-") and name[9:] in _UNEXPECTED:
        return _UNEXPECTED[name[9:]][0]
    if name.startswith(_CLOSED):
        return f"closed: {name.removeprefix(_CLOSED)}"
    labels = ERROR_LABELS | SHORT_LABELS if short else ERROR_LABELS
    label = labels.get(error_class(name), name)
    detail = name.removeprefix(error_class(name)).removeprefix("-")
    return f"{label}: {detail}" if detail else label


def unexpected(
    error: str, received: int | None = 0, answered: int | None = 0, agreed: int | None = 1
) -> str:
    """What a faulty server does, to follow its name: "answers 500", "ends connections after 3 of 10
    calls". `received`: bytes of that reply; `answered`: calls before it, of those `agreed`."""
    if error == "connreset" and received:
        error = "protocol-cut"
    if error.startswith("check"):
        return f"fails {_checked(error)}"
    if error.startswith("tls"):
        return _fails_tls(error)
    if error.startswith(_CLOSED):
        return f"closes connections (code {error.removeprefix(_CLOSED)})"
    detail = error.removeprefix("protocol").removeprefix("-")
    if detail in ("closed", "connreset") and answered:
        return f"ends connections after {answered:,} of {agreed or 1:,} calls"
    if detail == "connreset":
        return "resets connections"
    _, does = _UNEXPECTED.get(detail, ("", ""))
    return does or (f"answers {detail}" if detail else "gives unexpected responses")


def _checked(error: str) -> str:
    """What a check is about: "status", "text"; it carries a status itself."""
    detail = error.removeprefix("check").removeprefix("-")
    if detail == "locustfile":
        return "the locustfile's own checks"
    status = f"status with {detail}" if detail.isdigit() else ""
    return f"the plan's check of the {status or detail or 'reply'}"


def _fails_tls(error: str) -> str:
    """What a server does whose TLS fails; the detail is OpenSSL's reason."""
    detail = error.removeprefix("tls").removeprefix("-").replace("-", " ")
    if detail == "closed":
        return "closes connections during the TLS handshake"
    return f"fails TLS ({detail})" if detail else "fails TLS"


def listed_errors(errors: Mapping[str, float]) -> str:
    """Most frequent first: "timeout (447), connection reset (151)"; one without its count."""
    ranked = sorted(errors.items(), key=lambda item: -item[1])
    labels = [(error_label(name), count) for name, count in ranked if count]
    if len(labels) == 1:
        return labels[0][0]
    return ", ".join(f"{label} ({count:,})" for label, count in labels)
