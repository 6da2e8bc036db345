"""What the gates of all workloads share: their result, and how a reply is compared."""

from __future__ import annotations

from typing import Literal

import msgspec

from workbench.workloads.server import Server
from workbench.workloads.wire import End, Fault, Reply, Wire

CALLS = 5
"""Made in turn, and at once."""
PIPELINED = 3
"""Sent at once on one connection."""
CALLS_LEFT = 3
"""By clients that are gone before the answer; few, for the shortest accept queue holds six."""


class GateResult(msgspec.Struct, frozen=True, kw_only=True):
    """What the gate found; goes into the session as it is."""

    server: str
    passed: bool
    sentences: list[str]
    """What is wrong; when it passed, what was found."""
    protocols: list[str] = []
    """Those it proved to speak."""
    reply: str = ""
    """The first reply as it was on the wire, without surplus."""
    bytes_on_wire: int = 0
    """Of one reply, surplus included."""
    header_bytes: int = 0
    """Status line and headers, with the empty line."""
    kept_bytes: int = 0
    """Of one reply on a connection that is kept."""
    kept_call_us: int = 0
    """From request to reply on a connection that is kept, the median."""
    surplus_bytes: int = 0
    """After the declared end of the body."""
    closes_first: Literal["server", "client"] = "server"
    """After the only call of a connection; several are always ended by the client."""
    resets: bool = False
    """Connections ended with a reset after the complete reply."""
    keep_alive: bool = False
    """It answered `CALLS_KEPT` calls on one connection of HTTP/1.1."""
    keep_alive_1_0: bool = False
    """And of HTTP/1.0, when asked to."""
    pipelining: int = 0
    """Calls answered of three sent at once."""
    processes: int = 0
    threads: int = 0
    """That it consisted of when it had answered; 0: unknown."""
    rss_bytes: int = 0
    """Resident memory of all its processes then; pages they share count in each."""


async def after_a_client_left(wire: Wire, request: bytes) -> End:
    """A client that is gone at once must not take the server with it."""
    await wire.leave()
    for _ in range(CALLS_LEFT):
        await wire.leave(request)
    try:
        return await wire.whole(request, must_close=False)
    except Fault as fault:
        raise Fault(f"It did not survive a client that reset its connection: {fault}") from None


def check(replies: list[Reply], entry: Server, path: str = "") -> None:
    """Raises Fault when one is not exactly what is wanted."""
    wanted = entry.replies[path or entry.path]
    at = f" at {path}" if path else ""
    for reply in replies:
        if reply.status != wanted.status:
            raise Fault(f"It answered with {reply.status} instead of {wanted.status}{at}.")
        body = wanted.body.encode()
        if reply.body != body and not (wanted.json and _same_json(reply.body, body)):
            raise Fault(f"It answered {_shown(reply.body)} instead of {_shown(body)}{at}.")


def _same_json(one: bytes, other: bytes) -> bool:
    try:
        return bool(msgspec.json.decode(one) == msgspec.json.decode(other))
    except msgspec.DecodeError:
        return False


def found(entry: Server, end: End, *, protocols: list[str]) -> GateResult:
    whole = len(end.reply.raw) + end.surplus
    sentences = [f"It answers {_shown(end.reply.body)} with {whole} bytes on the wire."]
    if end.surplus:
        sentences.append(
            f"{end.surplus} of them come after the end of the body that was announced, as they did"
            " from the servers of 2009; in this family that is accepted."
        )
    return GateResult(
        server=entry.id,
        passed=True,
        sentences=sentences,
        protocols=protocols,
        reply=end.reply.raw.decode("latin-1"),
        bytes_on_wire=whole,
        header_bytes=end.reply.header_bytes,
        surplus_bytes=end.surplus,
        closes_first="client" if end.how == "open" else "server",
    )


def agreed(result: GateResult, entry: Server) -> GateResult:
    """The result, unless its entry says otherwise about what ports are counted by."""
    if result.closes_first == entry.closes_first:
        return result
    return failed(
        entry,
        f"The {result.closes_first} closes connections first, but its server.yaml says"
        f" closes_first: {entry.closes_first}; correct it, for ports are counted by it.",
    )


def failed(entry: Server, *sentences: str) -> GateResult:
    return GateResult(server=entry.id, passed=False, sentences=list(sentences))


def request(entry: Server, version: str, connection: str = "", *, path: str = "") -> bytes:
    lines = [f"GET {path or entry.path} {version}", "Host: pongbench"]
    if connection:
        lines.append(f"Connection: {connection}")
    return "\r\n".join([*lines, "", ""]).encode()


def _shown(body: bytes) -> str:
    text = repr(body[:40].decode("utf-8", "replace"))
    return text if len(body) <= 40 else f"{text}... ({len(body)} bytes)"
