"""The certificates uv gets, and how its errors are interpreted."""

from __future__ import annotations

import http.server
import os
import ssl
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from workbench import fetching
from workbench.errors import PongbenchError
from workbench.machines.base import Platform
from workbench.machines.bundle import Bundle, archived

SETTINGS = ("UV_SYSTEM_CERTS", "UV_NATIVE_TLS", "SSL_CERT_FILE", "SSL_CERT_DIR")
SETTINGS += ("UV_FIND_LINKS", "UV_NO_INDEX", "UV_INDEX_URL", "UV_OFFLINE")


@pytest.fixture(autouse=True)
def clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in SETTINGS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PONGBENCH_HOME", str(tmp_path))
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")


def openssl(folder: Path, *words: str) -> None:
    subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def company(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A package index whose certificate a company's own authority has signed: (url, authority)."""
    folder = tmp_path / "company"
    folder.mkdir()
    key = ("-newkey", "rsa:2048", "-nodes", "-days", "2")
    openssl(
        folder, "req", "-x509", *key, *("-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=C")
    )
    openssl(folder, "req", *key[:3], *("-keyout", "key", "-out", "csr", "-subj", "/CN=localhost"))
    (folder / "names").write_text("subjectAltName=IP:127.0.0.1")
    signed = ("-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-extfile", "names")
    openssl(folder, "x509", "-req", "-in", "csr", "-out", "cert", "-days", "2", *signed)
    (folder / "simple/nothing").mkdir(parents=True)
    (folder / "simple/nothing/index.html").write_text("<html></html>")

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments: object) -> None:
            super().__init__(*arguments, directory=str(folder))  # type: ignore[arg-type]

        def log_message(self, *arguments: object) -> None: ...

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert", folder / "key")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    server.handle_error = lambda *_: None  # type: ignore[method-assign]  # of who hung up
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"https://127.0.0.1:{server.server_port}/simple", folder / "ca.pem"
    server.shutdown()
    thread.join()
    server.server_close()


async def fetched() -> str:
    """The message when a package is fetched that no index has."""
    platform = Platform("3.12.1", "x86_64", "glibc", "2.36")
    with pytest.raises(PongbenchError) as caught:
        await archived(Bundle("mine", platform, "nothing==1.0"))
    return str(caught.value)


async def test_an_untrusted_certificate_is_reported_with_what_to_do(
    company: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UV_INDEX_URL", company[0])
    assert await fetched() == (
        "Packages for Python 3.12 on x86_64 with glibc 2.36 cannot be fetched: the package index is"
        " out of reach, for its certificate is not trusted (TLS) (invalid peer certificate:"
        " UnknownIssuer); add the authority of your network to the certificates of this computer,"
        " or name its file in SSL_CERT_FILE."
    )


async def test_certificates_the_system_trusts_are_trusted(
    company: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UV_INDEX_URL", company[0])
    monkeypatch.setenv("SSL_CERT_FILE", str(company[1]))
    assert "no version of nothing" in await fetched()


@pytest.mark.parametrize(
    ("url", "cause"),
    [
        ("https://index.invalid/simple", "its name cannot be resolved (DNS);"),
        ("https://127.0.0.1:9/simple", "it refused the connection;"),
    ],
)
async def test_the_reason_for_an_unreachable_index_is_reported(
    url: str, cause: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UV_INDEX_URL", url)
    message = await fetched()
    assert f"the package index is out of reach, for {cause} connect this computer" in message


@pytest.mark.parametrize(("name", "value"), [("UV_SYSTEM_CERTS", "0"), ("UV_NATIVE_TLS", "1")])
def test_the_users_certificate_settings_are_used(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    assert fetching.trust() == {}


def test_without_system_certificates_uv_uses_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    assert fetching.trust() == {"UV_SYSTEM_CERTS": "1"}
    monkeypatch.setattr(fetching, "CERTIFICATES", ("/nonexistent",))
    assert fetching.trust() == ({} if os.name == "posix" else {"UV_SYSTEM_CERTS": "1"})


def test_an_http_error_of_the_index_is_not_taken_for_no_network() -> None:
    refused = (
        "error: Failed to fetch: `https://x/simple/a`\n  cause: HTTP status client error (403)"
    )
    assert not fetching.unreached(refused)
    assert fetching.unreached("error: Failed to fetch: `https://x/simple/a`\n  cause: dns error")


@pytest.mark.parametrize(
    ("detail", "sentence"),
    [
        (
            "nginx-light: Temporary failure resolving 'deb.debian.org'",
            "its apt cannot fetch it: the archive of the distribution is out of reach, for its name"
            " cannot be resolved (DNS); connect it",
        ),
        (
            "Unable to locate package nginx-light",
            "its apt cannot fetch it (Unable to locate package nginx-light); update it",
        ),
    ],
)
def test_apt_without_a_network_gets_other_advice_than_to_update(detail: str, sentence: str) -> None:
    assert fetching.apt_failed(detail, "its", "connect it", "update it") == sentence


@pytest.mark.parametrize("fault", ["certificate expired", "certificate not valid yet"])
def test_a_wrong_clock_is_named_and_no_authority_is_asked_for(fault: str) -> None:
    said = f"error: Failed to fetch: `x`\n  cause: invalid peer certificate: {fault}: verification"
    told = fetching.why_unreached(said, "connect this computer")
    assert "set the clock of this computer" in told and "SSL_CERT_FILE" not in told
