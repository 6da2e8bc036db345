"""Package downloads: uv's certificates, and why the package index is unreachable.

Standard library only, because `packaging/bootstrap.py` starts without anything else.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

CERTIFICATES = (
    "/etc/ssl/certs/ca-certificates.crt",  # Debian, Arch, Alpine
    "/etc/pki/tls/certs/ca-bundle.crt",  # Fedora
    "/etc/ssl/ca-bundle.pem",  # openSUSE
    "/etc/ssl/cert.pem",
)
"""Where Linux distributions keep their certificates."""

_CAUSES = (
    (
        r"No CA certificates",
        "this computer has no certificates to know it by",
        "install them (Debian: apt-get install ca-certificates)",
    ),
    (
        r"certificate (expired|not valid yet)|certificate has expired|certificate is not yet valid",
        "its certificate is not valid on this computer's date",
        "set the clock of this computer",
    ),
    (
        r"invalid peer certificate|CERTIFICATE_VERIFY_FAILED|SSLError",
        "its certificate is not trusted (TLS)",
        "add the authority of your network to the certificates of this computer, or name its file"
        " in SSL_CERT_FILE",
    ),
    (
        r"tunnel error|CONNECT tunnel|ProxyError",
        "the proxy did not connect to it",
        "see HTTPS_PROXY",
    ),
    (
        r"dns error|Could not resolve host|unable to look up|[Nn]ame or service not known"
        r"|name resolution|failure resolving|nodename nor servname",
        "its name cannot be resolved (DNS)",
        "",
    ),
    (r"[Cc]onnection refused", "it refused the connection", ""),
    (r"[Tt]imed? ?out|Timeout", "it did not answer in time", ""),
    (r"[Uu]nreachable|No route to host", "no network leads to it", ""),
    (r"network was disabled|UV_OFFLINE", "UV_OFFLINE forbids to ask it", "unset that"),
)
"""Patterns of a tool's output, their meaning, and the fix if it is not to connect."""


UNREACHED = (
    r"(?s)\A(?!.*HTTP status)"
    r".*(Failed to fetch|Network connectivity|No CA certificates|network was disabled)"
)
"""uv's output when it cannot reach the index, for `re.search`."""


_NO_ARCHIVE = r"resolving|[Cc]ould not connect|nable to connect|[Cc]onnection|imed out|nreachable"
"""apt's output when it cannot reach its archive."""


def trust() -> dict[str, str]:
    """Return settings by which uv trusts this computer's certificates, unless the user set others;
    uv's own list lacks company authorities. Without system certificates, that list is used."""
    given = any(map(os.environ.get, ("UV_SYSTEM_CERTS", "UV_NATIVE_TLS")))
    if given or (sys.platform == "linux" and not certificates()):
        return {}
    return {"UV_SYSTEM_CERTS": "1"}


def certificates() -> str:
    """Return the file with all certificates; empty: no known one exists."""
    files = (os.environ.get("SSL_CERT_FILE", ""), *CERTIFICATES)
    return next((file for file in files if file and Path(file).is_file()), "")


def unreached(output: str) -> bool:
    """Return whether a tool could not reach the index; an unwanted answer does not count."""
    return bool(re.search(UNREACHED, output))


def why_unreached(output: str, connect: str, what: str = "the package index") -> str:
    """ "the package index is out of reach, for its name cannot be resolved (DNS); CONNECT", to
    stand in a sentence. `connect`: what to do where only a network is missing."""
    lines = re.findall(r"^ *cause: (.*)|^ *╰─▶ (.*)", output, re.MULTILINE)
    cause = "".join(lines[-1]) if lines else (output.strip().splitlines() or ["no output"])[-1]
    for sign, meaning, cure in _CAUSES:
        if re.search(sign, output):
            detail = "" if cure == "" else f" ({cause.strip().rstrip('.')[:200]})"
            return f"{what} is out of reach, for {meaning}{detail}; {cure or connect}"
    return f"{what} is out of reach ({cause.strip().rstrip('.')[:200]}); {connect}"


def apt_failed(detail: str, whose: str, connect: str, otherwise: str) -> str:
    """Return why apt did not fetch a package, to stand in a sentence: "its apt cannot fetch it:
    ...". `connect`, `otherwise`: what to do if its archive is out of reach, and if not."""
    if re.search(_NO_ARCHIVE, detail):
        why = why_unreached(detail, connect, what="the archive of the distribution")
        return f"{whose} apt cannot fetch it: {why}"
    return f"{whose} apt cannot fetch it ({detail}); {otherwise}"
