"""Where packages come from: whom uv trusts, and what kept it from the package index.

Standard library only, for `packaging/bootstrap.py` begins with nothing else.
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
"""Where Linux keeps what it trusts."""

_CAUSES = (
    (
        r"No CA certificates",
        "this computer has no certificates to know it by",
        "install them (Debian: apt-get install ca-certificates)",
    ),
    (
        r"invalid peer certificate|CERTIFICATE_VERIFY_FAILED|SSLError",
        "its certificate is not trusted (TLS)",
        "add the authority of your network to the certificates of this computer, or name its file"
        " in SSL_CERT_FILE",
    ),
    (r"tunnel error|ProxyError", "the proxy did not connect to it", "see HTTPS_PROXY"),
    (
        r"dns error|[Nn]ame or service not known|name resolution|nodename nor servname",
        "its name cannot be resolved (DNS)",
        "",
    ),
    (r"[Cc]onnection refused", "it refused the connection", ""),
    (r"[Tt]imed? ?out|Timeout", "it did not answer in time", ""),
    (r"[Uu]nreachable|No route to host", "no network leads to it", ""),
    (r"network was disabled|UV_OFFLINE", "UV_OFFLINE forbids to ask it", "unset that"),
)
"""What a tool says, what it means, and what to do where that is not to connect."""


UNREACHED = (
    r"(?s)\A(?!.*HTTP status)"
    r".*(Failed to fetch|Network connectivity|No CA certificates|network was disabled)"
)
"""What uv says where it could not ask the index, for `re.search`."""


def trust() -> dict[str, str]:
    """Settings by which uv trusts what this computer trusts, unless its user says otherwise; uv's
    own list knows no company's authority. Where Linux has no certificates, that list is all there
    is."""
    given = any(map(os.environ.get, ("UV_SYSTEM_CERTS", "UV_NATIVE_TLS")))
    if given or (sys.platform == "linux" and not certificates()):
        return {}
    return {"UV_SYSTEM_CERTS": "1"}


def certificates() -> str:
    """The file with all of them; empty: there is none that we know."""
    files = (os.environ.get("SSL_CERT_FILE", ""), *CERTIFICATES)
    return next((file for file in files if file and Path(file).is_file()), "")


def unreached(said: str) -> bool:
    """Whether a tool could not ask the package index; an answer that it does not like is another
    matter."""
    return bool(re.search(UNREACHED, said))


def why_unreached(said: str, connect: str) -> str:
    """ "the package index is out of reach, for its name cannot be resolved (DNS); CONNECT", to
    stand in a sentence. `connect`: what to do where only a network is missing."""
    lines = re.findall(r"^ *cause: (.*)|^ *╰─▶ (.*)", said, re.MULTILINE)
    told = "".join(lines[-1]) if lines else (said.strip().splitlines() or ["no output"])[-1]
    for sign, meaning, cure in _CAUSES:
        if re.search(sign, said):
            detail = "" if cure == "" else f" ({told.strip().rstrip('.')[:200]})"
            return f"the package index is out of reach, for {meaning}{detail}; {cure or connect}"
    return f"the package index is out of reach ({told.strip().rstrip('.')[:200]}); {connect}"
