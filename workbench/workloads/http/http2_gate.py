"""The wire gate of HTTP/2."""

from __future__ import annotations

import asyncio
import contextlib
import statistics
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
from h2 import events
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.exceptions import ProtocolError
from h2.settings import SettingCodes, Settings

from workbench.untrusted import one_line
from workbench.workloads.gating import GateResult, Server, after_reset, check, found, request
from workbench.workloads.wire import KEPT_BODY, Caller, End, Fault, Reply, Wire

OVER_TLS, CLEARTEXT = "http/2", "h2c"
"""Protocols of servers and plans."""
ALPN = "h2"


@dataclass
class _Coming:
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: bytearray = field(default_factory=bytearray)
    body_bytes: int = 0
    whole: bool = False

    def reply(self, size: int, took_s: float, *, kept: bool) -> Reply:
        given = dict(self.headers)
        lines = [f"{name}: {value}" for name, value in self.headers if name != ":status"]
        head = "\r\n".join([f"HTTP/2 {given[':status']}", *lines, "", ""]).encode()
        return Reply(
            raw=head + self.body[:4_096],
            size=size,
            status=int(given[":status"]),
            header_bytes=max(0, size - self.body_bytes),
            body=bytes(self.body),
            body_bytes=self.body_bytes,
            keep_alive=kept,
            took_s=took_s,
            content_type=given.get("content-type", "").partition(";")[0].strip().lower(),
        )


@dataclass(frozen=True)
class Http2Wire(Wire):
    """Connections to a server in HTTP/2. A request is given as HTTP/1.1 has it."""

    @classmethod
    def like(cls, wire: Wire) -> Http2Wire:
        """Return one to the same server."""
        return cls(**vars(wire) | {"alpn": (ALPN,)})

    @contextlib.asynccontextmanager
    async def _begun(self) -> AsyncIterator[_Connection]:
        async with self.connection() as caller:
            connection = _Connection(caller, self.patience_s)
            await connection.begin()
            yield connection

    async def one_by_one(self, request: bytes, calls: int) -> list[Reply]:
        replies: list[Reply] = []
        async with self._begun() as connection:
            while len(replies) < calls and connection.kept:
                replies += await connection.calls(request, 1)
        return replies

    async def at_once(self, request: bytes, calls: int) -> list[Reply]:
        async with self._begun() as connection:
            return await connection.calls(request, calls)

    async def most_streams(self) -> int:
        """Return how many streams the server takes on a connection; 0: it names no limit."""
        async with self._begun() as connection:
            return connection.most_streams

    async def leave(self, request: bytes = b"") -> None:
        if request:
            h2 = H2Connection(H2Configuration(client_side=True))
            h2.initiate_connection()
            headers, _ = translated(request, self.tls is not None)
            h2.send_headers(h2.get_next_available_stream_id(), headers, end_stream=True)
            request = bytes(h2.data_to_send())
        await super().leave(request)


def translated(request: bytes, tls: bool) -> tuple[list[tuple[str, str]], bytes]:
    """Return the headers of HTTP/2 for a request of HTTP/1.1, and its body."""
    head, _, body = request.partition(b"\r\n\r\n")
    first, *lines = head.decode("ascii").split("\r\n")
    method, path, _ = first.split(" ")
    given = [(name.lower(), value) for name, _, value in (line.partition(": ") for line in lines)]
    pseudo = [
        (":method", method),
        (":scheme", "https" if tls else "http"),
        (":authority", dict(given)["host"]),
        (":path", path),
    ]
    return [*pseudo, *(each for each in given if each[0] not in ("host", "connection"))], body


class _Connection:
    """One connection. All methods raise `Fault`."""

    def __init__(self, caller: Caller, patience_s: float) -> None:
        self._caller = caller
        self._patience_s = patience_s
        self._h2 = H2Connection(H2Configuration(client_side=True, header_encoding="utf-8"))
        self._coming: dict[int, _Coming] = {}
        self._received = 0
        self._first = b""
        self._settled = False
        self.kept = True

    @property
    def most_streams(self) -> int:
        # Without a limit of the server `h2` has one of 2^32 + 1.
        most = int(self._h2.remote_settings.get(SettingCodes.MAX_CONCURRENT_STREAMS, 0))
        return most if most < (1 << 31) - 1 else 0

    async def begin(self) -> None:
        """Exchange the settings."""
        caller = self._caller
        if caller.tls and caller.spoken != ALPN:
            raise Fault("It does not offer HTTP/2 over TLS (ALPN).")
        self._h2.local_settings = Settings(initial_values={SettingCodes.ENABLE_PUSH: 0})
        self._h2.initiate_connection()
        await caller.send(self._h2.data_to_send())
        await self._until(lambda: self._settled)

    async def calls(self, request: bytes, number: int) -> list[Reply]:
        """Make calls at once, each on a stream of its own."""
        headers, body = translated(request, self._caller.tls)
        began, before = time.monotonic(), self._received
        streams = []
        for _ in range(number):
            stream = self._h2.get_next_available_stream_id()
            self._coming[stream] = _Coming()
            self._h2.send_headers(stream, headers, end_stream=not body)
            await self._send_body(stream, body)
            streams.append(stream)
        await self._caller.send(self._h2.data_to_send())
        await self._until(lambda: all(self._coming[stream].whole for stream in streams))
        took_s, size = time.monotonic() - began, (self._received - before) // number
        found = [self._coming.pop(stream) for stream in streams]
        return [each.reply(size, took_s, kept=self.kept) for each in found]

    async def _send_body(self, stream: int, body: bytes) -> None:
        while body:
            room = min(self._h2.local_flow_control_window(stream), self._h2.max_outbound_frame_size)
            self._h2.send_data(stream, body[:room], end_stream=len(body) <= room)
            body = body[room:]
            await self._caller.send(self._h2.data_to_send())
            if body:
                await self._until(lambda: self._h2.local_flow_control_window(stream) > 0)

    async def _until(self, done: Any) -> None:
        try:
            async with asyncio.timeout(self._patience_s):
                while not done():
                    data = await self._caller.receive()
                    self._first = self._first or data[:20]
                    self._received += len(data)
                    if not data:
                        raise Fault(
                            f"It {self._caller.ended or 'closed'} the connection{self._at()}."
                        )
                    if self._first.startswith(b"HTTP/"):
                        begins = repr(self._first.decode("latin-1"))
                        raise Fault(f"It speaks no HTTP/2: its reply begins with {begins}.")
                    self._take(self._h2.receive_data(data))
                    await self._caller.send(self._h2.data_to_send())
        except TimeoutError:
            raise Fault(f"It did not answer within {self._patience_s:g} s{self._at()}.") from None
        except ProtocolError as error:
            why = one_line(str(error)).rstrip(".")
            raise Fault(f"Its HTTP/2 is invalid{self._at()} ({why}).") from None

    def _take(self, happened: Sequence[events.Event]) -> None:
        for event in happened:
            match event:
                case events.SettingsAcknowledged():
                    self._settled = True
                case events.ResponseReceived(stream_id=int(stream), headers=headers):
                    self._coming[stream].headers = [(str(n), str(v)) for n, v in headers or ()]
                case events.DataReceived(stream_id=int(stream), data=bytes(data)):
                    coming = self._coming[stream]
                    coming.body_bytes += len(data)
                    coming.body += data[: max(0, KEPT_BODY - len(coming.body))]
                    self._h2.acknowledge_received_data(event.flow_controlled_length or 0, stream)
                case events.StreamEnded(stream_id=int(stream)):
                    self._coming[stream].whole = True
                case events.StreamReset(stream_id=int(stream), error_code=code):
                    if self._coming[stream].whole:  # Of a body that it did not read.
                        continue
                    raise Fault(f"It reset the stream of a call (error {code}).")
                case events.ConnectionTerminated(error_code=code):
                    self.kept = False
                    if code:
                        raise Fault(f"It ended the connection (GOAWAY, error {code}).")

    def _at(self) -> str:
        return "" if self._settled else " when HTTP/2 began on it"


CALLS = 10
"""One after another on a connection, and at once as streams of another."""


async def gate(wire: Wire, entry: Server) -> GateResult:
    """Test calls one after another and at once, and clients that leave. A server that speaks it
    over TLS only is tested there; otherwise that it accepts connections."""
    key = OVER_TLS if wire.tls else CLEARTEXT
    if key not in entry.protocols:
        await wire.connect()
        said = ["It accepts connections; its HTTP/2 is tested over TLS only."]
        return GateResult(server=entry.id, passed=True, sentences=said, closes_first="client")
    wire = Http2Wire.like(wire)
    call = request(entry, "HTTP/2")
    one_by_one = await wire.one_by_one(call, CALLS)
    check(one_by_one, entry)
    if len(one_by_one) < CALLS:
        raise Fault(f"It ended the connection after {len(one_by_one)} of {CALLS} calls.")
    check(await wire.at_once(call, CALLS), entry)
    for path in entry.also:
        check(await wire.at_once(request(entry, "HTTP/2", path=path), 1), entry, path)
    await after_reset(wire, call, lambda: wire.at_once(call, 1))
    most = await wire.most_streams()
    limit = f"; it takes {most:,} at once" if most else ""
    reply = one_by_one[-1]
    result = found(entry, End(reply, 0, "open"), protocols=[key], at=entry.path)
    over = "over TLS" if wire.tls else "without TLS (h2c)"
    speaks = f"It speaks HTTP/2 {over}, and answered {CALLS} streams at once{limit}."
    return msgspec.structs.replace(
        result,
        sentences=[*result.sentences, speaks],
        kept_bytes=reply.size,
        kept_call_us=round(1e6 * statistics.median(each.took_s for each in one_by_one)),
    )


async def beside(wire: Wire, entry: Server, result: GateResult) -> GateResult:
    """Return the result with that of HTTP/2, where the server declares it here."""
    if (OVER_TLS if wire.tls else CLEARTEXT) not in entry.protocols:
        return result
    other = await gate(wire, entry)
    return msgspec.structs.replace(
        result,
        protocols=[*result.protocols, *other.protocols],
        sentences=[*result.sentences, *other.sentences[1:]],
    )
