"""TLS over a non-blocking socket, without a greenlet or a watcher for each connection.

OpenSSL works on memory (`ssl.MemoryBIO`), so that the drivers' epoll loop stays as it is: bytes
that came go in, bytes to be sent come out.
"""

from __future__ import annotations

import contextlib
import errno
import ssl
from typing import Any

NAME = "pongbench"
"""The name in the certificate of every run."""
_RECEIVE = 16_384


class TlsFailure(OSError):
    """TLS failed; `kind` says why: "closed" during the handshake, or OpenSSL's reason."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


class TlsClient:
    """What the connections of a point have in common.

    `tls`: `certificate`, the only one trusted, as PEM, or empty: none is checked; `name`: of the
    server, by default that of the certificate of every run; `resume`: whether sessions are resumed.
    """

    def __init__(self, tls: dict[str, Any]) -> None:
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self.context.minimum_version = ssl.TLSVersion.TLSv1_2
        self.name = tls.get("name", NAME)
        if certificate := tls["certificate"]:
            self.context.load_verify_locations(cadata=certificate)
            # That of a server that runs already is trusted by itself, whoever signed it.
            self.context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
        else:
            self.context.check_hostname, self.context.verify_mode = False, ssl.CERT_NONE
        self.resume = bool(tls.get("resume"))
        self.session: ssl.SSLSession | None = None
        """The last one that can be resumed."""
        self.report: dict[str, Any] = {"version": "", "cipher": "", "handshakes": 0, "resumed": 0}
        """What was agreed, by the first connection, and how often."""

    def established(self, made: ssl.SSLObject) -> None:
        self.report["handshakes"] += 1
        self.report["resumed"] += bool(made.session_reused)
        if not self.report["version"]:
            cipher = made.cipher()
            self.report.update(version=made.version() or "", cipher=cipher[0] if cipher else "")


class TlsStream:
    """A connection. All methods raise OSError."""

    def __init__(self, sock: Any, client: TlsClient) -> None:
        self._sock, self._client = sock, client
        self.connect_ex, self.fileno = sock.connect_ex, sock.fileno
        self._in, self._out = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = client.context.wrap_bio(
            self._in, self._out, server_hostname=client.name, session=client.session
        )
        self.established = False
        self.ended = False
        """The server has said that it closes, which ends what it sends, whatever TCP says later."""
        self.rest = b""
        """What the kernel has not taken yet."""
        self._shake()

    def send(self, data: bytes) -> int:
        """Encrypt and send; see `rest`."""
        try:
            self._tls.write(data)
        except ssl.SSLError:  # The server has said that it closes.
            raise ConnectionResetError(errno.ECONNRESET, "closed") from None
        self.flush()
        return len(data)

    def flush(self) -> bool:
        """Send what there is. Returns whether all was taken."""
        data = self.rest + self._out.read()
        if data:
            with contextlib.suppress(BlockingIOError):
                data = data[self._sock.send(data) :]
        self.rest = data
        return not data

    def receive(self) -> bytes | None:
        """Return the data that came; None: only those of TLS itself; empty: it has closed."""
        raw = self._sock.recv(_RECEIVE)
        if not raw:
            if not self.established:
                raise TlsFailure("closed")
            return b""
        self._in.write(raw)
        if not self.established and not self._shake():
            self.flush()
            return None
        return self._read()

    def _shake(self) -> bool:
        """Take the handshake as far as it goes. Returns whether it is complete."""
        try:
            self._tls.do_handshake()
        except ssl.SSLWantReadError:
            return False
        except ssl.SSLError as error:
            self.flush()  # The alert.
            raise TlsFailure(_kind(error)) from None
        self.established = True
        self._client.established(self._tls)
        return True

    def _read(self) -> bytes | None:
        pieces = []
        try:
            while self._in.pending or self._tls.pending():
                piece = self._tls.read(_RECEIVE)
                if not piece:
                    self.ended = True
                    # The server says that it closes, and may wait for the same before it does.
                    with contextlib.suppress(ssl.SSLError):
                        self._tls.unwrap()
                    break
                pieces.append(piece)
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLZeroReturnError:
            self.ended = True
        except ssl.SSLError as error:
            raise TlsFailure(_kind(error)) from None
        if self._out.pending:
            self.flush()
        return b"".join(pieces) or (b"" if self.ended else None)

    def close(self) -> None:
        """Say so to the other side, as clients should, and close."""
        if self.established:
            if self._client.resume:
                session = self._tls.session
                if session is not None and session.has_ticket:
                    self._client.session = session
            with contextlib.suppress(ssl.SSLError, ValueError):
                self._tls.unwrap()
            with contextlib.suppress(OSError):
                self.flush()
        self._sock.close()


def _kind(error: ssl.SSLError) -> str:
    return (error.reason or "failed").lower().replace("_", "-")[:40]
