"""The gate of WebSocket: handshake, echoes, a pong and the close, as RFC 6455 has them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

from workbench.remote.agent import websocket as ws
from workbench.remote.agent.parser import ProtocolError
from workbench.workloads.gating import GateResult, Server, agreed
from workbench.workloads.wire import Caller, Fault, Wire

SIZES = (5, 126, 65_536, ws.LONGEST_MESSAGE)
"""Bytes of a message, one for each form of its length, and the largest of a plan."""
CONNECTIONS = 20
"""Concurrent connections, each with an echo."""


async def gate(wire: Wire, entry: Server) -> GateResult:
    """Test echoes of several sizes, a ping, many connections, clients that leave, the close."""
    async with _connection(wire) as first:
        handshake_bytes = await first.shake()
        for size in SIZES:
            await first.echo(ws.TEXT, _text(size))
        await first.echo(ws.BINARY, bytes(range(256)))
        await first.ping(b"are you there")
        closes = await first.close(wire.impatience_s)
    async with contextlib.AsyncExitStack() as stack:
        many = [await stack.enter_async_context(_connection(wire)) for _ in range(CONNECTIONS)]
        await asyncio.gather(*(each.shake() for each in many))
        await asyncio.gather(*(each.echo(ws.TEXT, b"%02d" % n) for n, each in enumerate(many)))
    # They left without a word.
    async with _connection(wire) as last:
        try:
            await last.shake()
            await last.echo(ws.TEXT, b"still there")
        except Fault as fault:
            raise Fault(f"It did not survive clients that left without a close: {fault}") from None
    return agreed(
        GateResult(
            server=entry.id,
            passed=True,
            sentences=[
                f"It accepts the handshake with {handshake_bytes} bytes, echoes messages of up to"
                f" {ws.LONGEST_MESSAGE >> 20} MiB and answers a ping.",
                "It answers a close with its own"
                + (", and closes the connection." if closes == "server" else "."),
            ],
            protocols=["websocket"],
            bytes_on_wire=handshake_bytes,
            closes_first="server" if closes == "server" else "client",
        ),
        entry,
    )


async def one_echo(wire: Wire) -> None:
    """Make a handshake and one echo. Raises Fault."""
    async with _connection(wire) as client:
        await client.shake()
        await client.echo(ws.TEXT, b"hello")


async def probe(wire: Wire, workload: Any) -> str:
    """Ask a server that is running already for what a plan asks: an echo and a pong. Returns a
    sentence. Raises Fault. `workload`: as it is asked, from `Declaration.at`."""
    path, size = workload.path, workload.message_size
    async with _connection(wire, path, workload.authority) as client:
        await client.shake()
        await client.echo(ws.TEXT, _text(size))
        await client.ping(b"are you there")
    return f"It accepts the handshake at {path}, echoes {size:,} bytes and answers a ping."


@contextlib.asynccontextmanager
async def _connection(wire: Wire, path: str = "/", authority: str = "") -> AsyncIterator[_Client]:
    async with wire.connection() as caller:
        begin = ws.handshake(wire.host, wire.port, path, authority)
        yield _Client(caller, wire.patience_s, begin, path)


class _Client:
    """One connection. All methods raise `Fault`."""

    def __init__(
        self, caller: Caller, patience_s: float, begin: tuple[bytes, bytes], path: str
    ) -> None:
        """`begin`: its handshake, before and after the key."""
        self._caller = caller
        self._patience_s = patience_s
        self._begin, self._path = begin, path
        self._data = b""

    async def _send(self, data: bytes, what: str) -> None:
        try:
            async with asyncio.timeout(self._patience_s):
                await self._caller.send(data)
        except TimeoutError:
            raise Fault(f"It did not read {what} within {self._patience_s:g} s.") from None

    async def shake(self) -> int:
        """Make the handshake; return the bytes of the server's."""
        key = ws.new_key()
        before, after = self._begin
        await self._send(before + key + after, "the handshake")
        try:
            while (end := ws.accepted(self._data, ws.accept_of(key))) is None:
                await self._more("the handshake")
        except ProtocolError as error:
            if error.kind.isdigit():
                raise Fault(
                    f"It answered the handshake with {error.kind} instead of 101, so it does not"
                    f" speak WebSocket at {self._path}."
                ) from None
            raise Fault(f"Its handshake is wrong: {error}.") from None
        self._data = self._data[end:]
        return end

    async def echo(self, opcode: int, payload: bytes) -> None:
        what = f"a {'text' if opcode == ws.TEXT else 'binary'} message of {len(payload):,} bytes"
        await self._send(ws.client_frame(opcode, payload), what)
        found, echoed = await self._message(what)
        if (found, echoed) != (opcode, payload):
            kind = "" if found == opcode else "of another kind "
            raise Fault(f"It answered {what} with {len(echoed):,} bytes {kind}that are no echo.")

    async def ping(self, payload: bytes) -> None:
        await self._send(ws.client_frame(ws.PING, payload), "a ping")
        while True:
            opcode, answer, _ = await self._part("a ping")
            if opcode == ws.PONG and answer == payload:
                return
            if opcode == ws.PONG:
                raise Fault("Its pong does not have the payload of the ping.")

    async def close(self, impatience_s: float) -> str:
        """Say goodbye; return who closes the connection: "server" or "client"."""
        await self._send(ws.client_frame(ws.CLOSE, (1000).to_bytes(2, "big")), "a close")
        opcode, payload, _ = await self._part("a close")
        if opcode != ws.CLOSE:
            raise Fault("It answered a close with another frame.")
        try:
            code = ws.close_code(payload)
        except ProtocolError as error:
            raise Fault(f"It answered a close wrongly: {error}.") from None
        if code not in (1000, 1005):
            raise Fault(f"It answered a close of 1000 with {code}.")
        how = await self._caller.rest(impatience_s)
        if self._caller.unread:
            raise Fault("It sent something after its close.")
        return "client" if how == "open" else "server"

    async def _message(self, what: str) -> tuple[int, bytes]:
        begun, payload = -1, b""
        while True:
            opcode, part, final = await self._part(what)
            if opcode == ws.CLOSE:
                raise Fault(f"It closed with {_code(part)} instead of answering {what}.")
            if opcode in (ws.PING, ws.PONG):
                continue
            if (opcode == ws.CONTINUATION) != (begun >= 0):
                raise Fault(f"It answered {what} with parts of messages in each other.")
            begun = begun if opcode == ws.CONTINUATION else opcode
            payload += part
            if final:
                return begun, payload

    async def _part(self, what: str) -> tuple[int, bytes, bool]:
        try:
            while (frame := ws.parse_frame(self._data, 2 * ws.LONGEST_MESSAGE)) is None:
                await self._more(what)
        except ProtocolError as error:
            raise Fault(f"Its answer to {what} is no frame of WebSocket: {error}.") from None
        self._data = self._data[frame.end :]
        if frame.opcode == ws.PING:
            await self._send(ws.client_frame(ws.PONG, frame.payload), "a pong")
        return frame.opcode, frame.payload, frame.final

    async def _more(self, what: str) -> None:
        try:
            async with asyncio.timeout(self._patience_s):
                data = await self._caller.receive()
        except TimeoutError:
            raise Fault(f"It did not answer {what} within {self._patience_s:g} s.") from None
        if not data:
            said = f"It closed the connection instead of answering {what}."
            raise Fault(said, silent=not self._data)
        self._data += data


def _text(size: int) -> bytes:
    return (b"pong" * (size // 4 + 1))[:size]


def _code(payload: bytes) -> str:
    try:
        return str(ws.close_code(payload))
    except ProtocolError:
        return "an invalid code"
