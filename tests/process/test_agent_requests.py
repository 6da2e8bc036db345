"""Several requests in one plan, and calls over TLS, by the load agent."""

from __future__ import annotations

import http.server
import socketserver
import ssl
import threading
from pathlib import Path
from typing import Any

import pytest
from agents import agent
from oracle import PATIENCE_S

from workbench.servers.certificate import issue


class Shop(http.server.BaseHTTPRequestHandler):
    """Repeats the length of a body, and the credential."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.reply(404 if self.path == "/gone" else 200, "Pong!")

    def do_POST(self) -> None:
        length = len(self.rfile.read(int(self.headers["Content-Length"])))
        self.reply(201, f"{length} {self.headers['Authorization']}")

    def reply(self, status: int, body: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.mark.parametrize("pipeline", [1, 5])
def test_several_requests_are_mixed_checked_and_counted_apart(pipeline: int) -> None:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Shop)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    order = {"path": "/o", "method": "POST", "headers": [["Authorization", "s3cret"]]}
    requests = [{"path": "/", "weight": 3}, {**order, "body": "x" * 65_000}, {"path": "/gone"}]
    wanted = [{"status": 200, "body": "Pong!"}, {"checks": {"status": 201, "text": "65000 s3c"}}]
    with server, agent() as load:
        outcome = load.run(
            server.server_port,
            protocol="http/1.1",
            pipeline=pipeline,
            requests=requests,
            private=True,
            reply={"each": [*wanted, {"checks": {"status": 200}}]},
            rate_per_s=20,
            connections=10,
            calls_per_connection=50,
            timeout_s=PATIENCE_S,
        )
        server.shutdown()
    assert outcome.errors == {"check-404": 100}
    counted = [(r["replies"], r["failed"]) for r in outcome.reports[0]["requests"]]
    assert counted == [(300, 0), (100, 0), (0, 100)]
    assert outcome.reports[0]["faults"]["check-404"]["example"] == ""


class OverTls(http.server.ThreadingHTTPServer):
    """Every connection is a handshake."""

    tls: ssl.SSLContext

    def finish_request(self, request: Any, client_address: Any) -> None:
        with self.tls.wrap_socket(request, server_side=True) as sealed:
            super().finish_request(sealed, client_address)

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass


class NoTls(socketserver.ThreadingTCPServer):
    """Reads `read` bytes of a handshake, answers with `answer` and closes."""

    read, answer = 65_536, b""

    def finish_request(self, request: Any, client_address: Any) -> None:
        request.recv(self.read)
        request.sendall(self.answer)


@pytest.mark.parametrize(
    ("read", "answer", "errors"),
    [
        (65_536, b"", {"tls-closed"}),
        (1, b"", {"tls-closed"}),  # The rest is unread, so closing resets.
        # By the version of OpenSSL.
        (
            65_536,
            b"HTTP/1.0 400 Bad\r\n\r\n",
            {"tls-wrong-version-number", "tls-record-layer-failure"},
        ),
    ],
    ids=["cut", "reset", "plain"],
)
def test_a_handshake_that_fails_is_an_error_with_its_reason(
    read: int, answer: bytes, errors: set[str]
) -> None:
    server = NoTls(("127.0.0.1", 0), socketserver.BaseRequestHandler)
    server.daemon_threads, server.read, server.answer = True, read, answer
    threading.Thread(target=server.serve_forever, daemon=True).start()
    load = {"protocol": "http/1.1", "rate_per_s": 40, "timeout_s": PATIENCE_S}
    tls = {"certificate": issue().certificate}
    with server, agent() as one:
        outcome = one.run(server.server_address[1], tls=tls, connections=20, **load)
        server.shutdown()
    ((error, failed),) = outcome.errors.items()
    assert error in errors and failed == 20


def test_calls_over_tls_are_verified_and_resumed(tmp_path: Path) -> None:
    made, other = issue(), issue()
    for name, text in (("certificate", made.certificate), ("key", made.key)):
        (tmp_path / name).write_text(text)
    server = OverTls(("127.0.0.1", 0), Shop)
    server.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.tls.load_cert_chain(tmp_path / "certificate", tmp_path / "key")
    threading.Thread(target=server.serve_forever, daemon=True).start()
    some = {"protocol": "http/1.1", "rate_per_s": 20, "connections": 20, "timeout_s": PATIENCE_S}
    with server, agent() as load:
        outcomes = [
            load.run(server.server_port, tls=tls, calls_per_connection=3, **some)
            for tls in (
                {"certificate": made.certificate},
                {"certificate": made.certificate, "resume": True},
                {"certificate": other.certificate},
            )
        ]
        server.shutdown()
    full, resumed, distrusted = outcomes
    assert (full.total("replies"), full.total("established"), full.errors) == (60, 20, {})
    agreed = full.reports[0]["tls"]
    assert agreed["version"] == "TLSv1.3" and agreed["cipher"].startswith("TLS_")
    assert (agreed["handshakes"], agreed["resumed"]) == (20, 0)
    assert resumed.reports[0]["tls"]["resumed"] > 0
    assert distrusted.errors == {"tls-certificate-verify-failed": 60}
