"""A test client over plain sockets: reads replies and records how connections end.

Sockets rather than streams, because a stream discards its buffer when the peer resets, as servers
do that close with the request unread.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import ssl
import struct
import sys
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from workbench.remote.agent.addresses import destination
from workbench.remote.agent.parser import LONGEST_HEAD, ProtocolError, ReplyParser
from workbench.remote.agent.tls import NAME

KEPT_BODY = 1 << 20
"""Bytes of a body that are compared and kept."""
KEPT_RAW = LONGEST_HEAD + 4_096
"""Bytes of a reply, from its beginning, that can be shown."""


class Fault(Exception):
    """An error of the server; `str()` is a sentence that begins with "It". `silent`: it closed
    without a byte of an answer."""

    def __init__(self, sentence: str, *, silent: bool = False) -> None:
        super().__init__(sentence)
        self.silent = silent


@dataclass(frozen=True)
class Reply:
    """One parsed reply."""

    raw: bytes
    """As much of it as can be shown."""
    size: int
    status: int
    header_bytes: int
    """Status line and headers, including the empty line."""
    body: bytes
    """As much of it as can be compared."""
    body_bytes: int
    keep_alive: bool = True
    """Whether another call may follow on the connection."""
    took_s: float = 0.0
    """Time since the request; on connections with several calls only."""
    content_type: str = ""
    """In lower case, without parameters."""


GREETS_WITHIN_S = 0.2


@dataclass(frozen=True)
class End:
    """The end of a connection with one call."""

    reply: Reply
    surplus: int
    how: Literal["closed", "reset", "open"]


@dataclass(frozen=True)
class Wire:
    """Connections to a server. All methods raise `Fault`."""

    host: str
    port: int
    patience_s: float = 5.0
    """Time limit for what must come: a reply, or the close that ends it."""
    impatience_s: float = 1.0
    """Time limit for what may never come: any other close, or a reply to a pipelined call."""
    resets: bool = True
    """Whether a reset reaches the server."""
    tls: ssl.SSLContext | None = None
    tls_name: str = NAME
    """That its certificate must have."""
    alpn: tuple[str, ...] = ()
    """What its connections offer over TLS; empty: nothing."""
    agreed: list[str] = field(default_factory=list)
    """Version and cipher of each connection over TLS."""

    async def connect(self) -> None:
        """Connect, and close."""
        async with self.connection():
            pass

    async def whole(self, request: bytes, *, must_close: bool = True) -> End:
        """Make one call, and read until the server closes."""
        async with self.connection() as caller:
            await caller.send(request)
            reply = await caller.reply(self.patience_s)
            how = await caller.rest(self.patience_s if must_close else self.impatience_s)
            if how == "open" and must_close:
                raise Fault("It did not close the connection after its reply.")
            return End(reply, len(caller.unread), how)

    async def one_by_one(self, request: bytes, calls: int) -> list[Reply]:
        """Return replies on one connection; fewer when the server closes it."""
        replies: list[Reply] = []
        async with self.connection() as caller:
            for _ in range(calls):
                sent = time.monotonic()
                await caller.send(request)
                try:
                    reply = await caller.reply(self.patience_s)
                    replies.append(replace(reply, took_s=time.monotonic() - sent))
                    caller.none_left()
                    if not reply.keep_alive:
                        break
                except Fault:
                    if replies and caller.ended and not caller.begun:
                        break  # It may close between two calls.
                    raise
        return replies

    async def at_once(self, request: bytes, calls: int) -> list[Reply]:
        """Return replies to pipelined calls; fewer when the rest does not come."""
        replies: list[Reply] = []
        async with self.connection() as caller:
            await caller.send(request * calls)
            with contextlib.suppress(Fault):
                for _ in range(calls):
                    replies.append(await caller.reply(self.impatience_s))
                    if not replies[-1].keep_alive:
                        break
            if len(replies) == calls:
                caller.none_left()
        return replies

    async def leave(self, request: bytes = b"") -> None:
        """Connect, perhaps send a request, and leave, with a reset if possible."""
        async with self.connection() as caller:
            if request:
                await caller.send(request)
            if self.resets:
                caller.leave()

    @contextlib.asynccontextmanager
    async def connection(self) -> AsyncIterator[Caller]:
        family, place = destination(self.host, self.port)
        with socket.socket(family, socket.SOCK_STREAM) as sock:
            sock.setblocking(False)
            try:
                async with asyncio.timeout(self.patience_s):
                    loop = asyncio.get_running_loop()
                    await loop.sock_connect(sock, place)
            except TimeoutError:
                raise Fault(f"It accepted no connection within {self.patience_s:g} s.") from None
            except OSError as error:
                raise refused(error) from None
            caller = Caller(sock)
            if self.tls:
                caller = _TlsCaller(sock, self.tls, self.tls_name, self.alpn)
            try:
                if isinstance(caller, _TlsCaller):
                    self.agreed.append(await self._shaken(caller))
                yield caller
            finally:
                if caller.reading is not None:
                    caller.reading.cancel()
                    await asyncio.gather(caller.reading, return_exceptions=True)

    async def _shaken(self, caller: _TlsCaller) -> str:
        try:
            async with asyncio.timeout(self.patience_s):
                return await caller.shake()
        except TimeoutError:
            raise Fault(f"It completed no TLS handshake within {self.patience_s:g} s.") from None
        except (ssl.SSLError, ConnectionError) as error:
            raise Fault(f"Its TLS handshake failed ({_reason(error)}).") from None


class Caller:
    """One connection."""

    tls = False

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self.reading: asyncio.Task[bytes] | None = None
        self.unread = b""
        self.ended: Literal["", "closed", "reset"] = ""
        self.begun = False
        """Whether anything of the last reply came."""
        self.spoken = ""

    async def send(self, request: bytes) -> None:
        # Windows discards what nobody is reading when a server resets that leaves this unread.
        self.reading = self.reading or asyncio.create_task(self._next())
        # A server that greets does so at once; the gate measures no time.
        await asyncio.wait([self.reading], timeout=GREETS_WITHIN_S * (sys.platform == "win32"))
        # It may have answered and closed already; its data can still be read.
        with contextlib.suppress(ConnectionError):
            await asyncio.get_running_loop().sock_sendall(self._sock, request)

    def leave(self) -> None:
        self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    async def reply(self, within_s: float) -> Reply:
        """Read the next reply."""
        parser, raw, end = ReplyParser(KEPT_BODY), b"", 0
        data, self.unread = self.unread, b""
        try:
            async with asyncio.timeout(within_s):
                while True:
                    end = parser.feed(data)
                    raw += data[: min(end, KEPT_RAW - len(raw))]
                    if parser.complete:
                        break
                    data = await self.receive()
                    if not data:
                        end = self._ended(parser)
                        break
        except TimeoutError:
            said = f"did not answer within {within_s:g} s"
            if got := parser.received:
                said = f"fell silent for {within_s:g} s after {got} bytes of its reply"
            raise Fault(f"It {said}.") from None
        except ProtocolError as error:
            begun = (raw or data)[:20]
            said = f" ({error})"
            if not begun.startswith(b"HTTP/"):
                said = f", it begins with {begun.decode('latin-1')!r}"
            raise Fault(f"Its reply is no HTTP{said}.") from None
        finally:
            self.begun = bool(parser.received)
        self.unread = data[end:]
        found = parser.response()
        return Reply(
            raw,
            parser.received,
            found.status,
            parser.head_bytes,
            found.body,
            found.length,
            found.keep_alive,
            content_type=found.content_type.decode("latin-1"),
        )

    def _ended(self, parser: ReplyParser) -> int:
        """Handle the end of the connection, which completes some replies; what came before a reset
        is not whole, even if its length is not known."""
        if not parser.received:
            ended = "reset" if self.ended == "reset" else "closed"
            raise Fault(f"It {ended} the connection without an answer.", silent=True)
        if self.ended == "reset":
            raise Fault(f"It reset the connection after {parser.received} bytes of its reply.")
        try:
            parser.end()
        except ProtocolError as error:
            raise Fault(f"It {error}.") from None
        return 0

    def none_left(self) -> None:
        """Raise Fault if more has come than replies."""
        if self.unread:
            raise Fault(f"It sends {len(self.unread)} bytes after the end of its reply.")

    async def rest(self, within_s: float) -> Literal["closed", "reset", "open"]:
        """Read on until it closes; data are added to `unread`."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                while not self.ended and len(self.unread) < KEPT_BODY:
                    self.unread += await self.receive()
        return self.ended or "open"

    async def receive(self) -> bytes:
        """Read data; empty: it has closed."""
        reading, self.reading = self.reading or asyncio.create_task(self._next()), None
        try:
            data = await reading
        except ConnectionError:
            self.ended = "reset"
            return b""
        if not data:
            self.ended = self.ended or "closed"
        return data

    async def _next(self) -> bytes:
        return await asyncio.get_running_loop().sock_recv(self._sock, 65_536)


class _TlsCaller(Caller):
    """The same over TLS, through memory: asyncio has no TLS on plain sockets."""

    tls = True

    def __init__(
        self, sock: socket.socket, context: ssl.SSLContext, name: str, alpn: Sequence[str]
    ) -> None:
        super().__init__(sock)
        self._in, self._out = ssl.MemoryBIO(), ssl.MemoryBIO()
        # A connection takes from the context what it offers as it is made.
        context.set_alpn_protocols(list(alpn))
        self._tls = context.wrap_bio(self._in, self._out, server_hostname=name)
        context.set_alpn_protocols([])

    async def shake(self) -> str:
        """Complete the handshake. Returns version and cipher."""
        loop = asyncio.get_running_loop()
        while True:
            try:
                self._tls.do_handshake()
            except ssl.SSLWantReadError:
                await loop.sock_sendall(self._sock, self._out.read())
                raw = await loop.sock_recv(self._sock, 65_536)
                if not raw:
                    raise ConnectionError(0, "closed") from None
                self._in.write(raw)
                continue
            await loop.sock_sendall(self._sock, self._out.read())
            self.spoken = self._tls.selected_alpn_protocol() or ""
            cipher = self._tls.cipher()
            return ", ".join(filter(None, (self._tls.version(), cipher[0] if cipher else "")))

    async def send(self, request: bytes) -> None:
        with contextlib.suppress(ssl.SSLError):  # It may have said that it closes.
            self._tls.write(request)
        await super().send(self._out.read())

    async def receive(self) -> bytes:
        while True:
            raw = await super().receive()
            if not raw:
                return b""
            self._in.write(raw)
            pieces = []
            try:
                while piece := self._tls.read(65_536):
                    pieces.append(piece)
            except (ssl.SSLWantReadError, ssl.SSLZeroReturnError):
                pass
            except ssl.SSLError as error:
                raise Fault(f"Its TLS failed after the handshake ({_reason(error)}).") from None
            else:
                # It says that it closes, and may wait for the same before it does.
                with contextlib.suppress(ssl.SSLError):
                    self._tls.unwrap()
                await super().send(self._out.read())
            if pieces:
                return b"".join(pieces)


def refused(error: OSError) -> Fault:
    """Return why no connection was made."""
    reason, number = error.strerror or str(error), error.errno or 0
    if number > 0 and sys.platform != "win32":  # asyncio's own text has a tuple in it.
        reason = os.strerror(number)
    return Fault(f"It accepted no connection ({reason.lower()}).")


def _reason(error: OSError) -> str:
    """Return why TLS failed, as OpenSSL or the kernel has it: "wrong version number"."""
    reason: str = getattr(error, "reason", None) or error.strerror or "closed"
    return reason.lower().replace("_", " ")
