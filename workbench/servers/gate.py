"""The wire gate: what a deployed server really answers, before anything is measured.

A handful of connections. The gate judges by behaviour, never by documentation.
"""

from __future__ import annotations

import asyncio
from typing import Literal

import msgspec

from workbench.servers.deploy import Deployment
from workbench.servers.entry import Protocol, ServerEntry
from workbench.servers.wire import End, Fault, Reply, Wire

CALLS = 5
"""Made in turn, at once, and on one connection."""
PIPELINED = 3


class GateResult(msgspec.Struct, frozen=True, kw_only=True):
    """What the gate found; goes into the session as it is."""

    server: str
    passed: bool
    sentences: list[str]
    """What is wrong; when it passed, what was found."""
    protocols: list[Protocol] = []
    """Those it proved to speak."""
    reply: str = ""
    """The first reply as it was on the wire, without surplus."""
    bytes_on_wire: int = 0
    """Of one reply, surplus included."""
    header_bytes: int = 0
    """Status line and headers, with the empty line."""
    surplus_bytes: int = 0
    """After the declared end of the body."""
    closes_first: Literal["server", "client"] = "server"
    """After the last call of a connection."""
    resets: bool = False
    """Connections ended with a reset after the complete reply."""
    keep_alive: bool = False
    """It answered several calls on one connection."""
    pipelining: int = 0
    """Calls answered of three sent at once."""


async def gate(
    deployment: Deployment, *, patience_s: float = 5.0, impatience_s: float = 1.0
) -> GateResult:
    """Try a server in the protocols it declares. A failure is a result, never raised.

    It has `patience_s` for each reply; `impatience_s` for what may never come.
    """
    entry = deployment.entry
    wire = Wire(deployment.host, deployment.port, patience_s, impatience_s)
    try:
        result = await (_pong if "pong" in entry.protocols else _http)(wire, entry)
    except Fault as fault:
        # A server that is dying answers oddly first: the reason is worth a moment.
        ended = await deployment.ended_within(impatience_s / 2)
        return _failed(entry, str(fault), *([_last_words(deployment)] if ended else []))
    if not deployment.alive():
        return _failed(entry, "It answered as it should.", _last_words(deployment))
    return result


async def _pong(wire: Wire, entry: ServerEntry) -> GateResult:
    """Each connection gets one reply and is closed by the server."""
    request = _request(entry, "HTTP/1.0")
    ends = [await wire.whole(request) for _ in range(CALLS)]
    ends += await asyncio.gather(*(wire.whole(request) for _ in range(CALLS)))
    _check([end.reply for end in ends], entry)
    ends.append(await _after_a_client_left(wire, request))
    _check([ends[-1].reply], entry)
    result = _found(entry, ends[0], protocols=["pong"])
    if any(end.how == "reset" for end in ends):
        reset = "It ends connections with a reset, the request unread; the reply is complete."
        result = msgspec.structs.replace(result, resets=True, sentences=[*result.sentences, reset])
    return _agreed(result, entry)


async def _http(wire: Wire, entry: ServerEntry) -> GateResult:
    """A call that ends with a close, several in turn on one connection, three at once."""
    first = await wire.whole(_request(entry, "HTTP/1.0"), must_close="http/1.0" in entry.protocols)
    _check([first.reply], entry)
    await _after_a_client_left(wire, _request(entry, "HTTP/1.0"))
    in_turn, closed = await wire.in_turn(_request(entry, "HTTP/1.1"), CALLS)
    _check(in_turn, entry)
    if len(in_turn) < CALLS:
        if "http/1.1" in entry.protocols:
            raise Fault(
                f"It closed the connection after {len(in_turn)} of {CALLS} calls, so it does not"
                " keep connections alive; http/1.1 is not for it."
            )
        return _agreed(_found(entry, first, protocols=["http/1.0"]), entry)
    at_once = await wire.at_once(_request(entry, "HTTP/1.1"), PIPELINED)
    _check(at_once, entry)
    found = _found(entry, first, protocols=["http/1.0", "http/1.1"])
    kept = f"It keeps connections alive; of {PIPELINED} calls sent at once it answered"
    result = msgspec.structs.replace(
        found,
        closes_first="server" if closed else "client",
        keep_alive=True,
        pipelining=len(at_once),
        sentences=[*found.sentences, f"{kept} {len(at_once)}."],
    )
    return _agreed(result, entry)


async def _after_a_client_left(wire: Wire, request: bytes) -> End:
    """A client that is gone at once must not take the server with it."""
    await wire.leave()
    try:
        return await wire.whole(request, must_close=False)
    except Fault as fault:
        raise Fault(f"It did not survive a client that reset its connection: {fault}") from None


def _check(replies: list[Reply], entry: ServerEntry) -> None:
    """Raises Fault when one is not exactly what is wanted."""
    wanted = entry.reply
    for reply in replies:
        if reply.status != wanted.status:
            raise Fault(f"It answered with {reply.status} instead of {wanted.status}.")
        if reply.body != wanted.body.encode():
            body = wanted.body.encode()
            raise Fault(f"It answered {_shown(reply.body)} instead of {_shown(body)}.")


def _found(entry: ServerEntry, end: End, *, protocols: list[Protocol]) -> GateResult:
    whole = len(end.reply.raw) + end.surplus
    sentences = [f"It answers {_shown(end.reply.body)} with {whole} bytes on the wire."]
    if end.surplus:
        sentences.append(f"{end.surplus} of them come after the body it declares.")
    return GateResult(
        server=entry.id,
        passed=True,
        sentences=sentences,
        protocols=protocols,
        reply=end.reply.raw.decode("latin-1"),
        bytes_on_wire=whole,
        header_bytes=end.reply.header_bytes,
        surplus_bytes=end.surplus,
    )


def _agreed(result: GateResult, entry: ServerEntry) -> GateResult:
    """The result, unless its entry says otherwise about what ports are counted by."""
    if result.closes_first == entry.closes_first:
        return result
    return _failed(
        entry,
        f"The {result.closes_first} closes connections first, but its server.yaml says"
        f" closes_first: {entry.closes_first}; correct it, for ports are counted by it.",
    )


def _failed(entry: ServerEntry, *sentences: str) -> GateResult:
    return GateResult(server=entry.id, passed=False, sentences=list(sentences))


def _last_words(deployment: Deployment) -> str:
    last = deployment.process.tail()[-1:]
    said = f"; the last it said was {last[0]!r}" if last else ""
    return f"It {deployment.end()} meanwhile{said}."


def _request(entry: ServerEntry, version: str) -> bytes:
    return f"GET {entry.path} {version}\r\nHost: pongbench\r\n\r\n".encode()


def _shown(body: bytes) -> str:
    text = repr(body[:40].decode("utf-8", "replace"))
    return text if len(body) <= 40 else f"{text}... ({len(body)} bytes)"
