"""The wire gate: what a deployed server really answers, before anything is measured.

A handful of connections. The gate judges by behaviour, never by documentation.
"""

from __future__ import annotations

import asyncio
import contextlib
import statistics
from typing import Literal

import msgspec

from workbench.servers.deploy import Deployment
from workbench.servers.entry import Protocol, ServerEntry
from workbench.servers.footprint import settled_footprint
from workbench.servers.wire import End, Fault, Reply, Wire

CALLS = 5
"""Made in turn, and at once."""
CALLS_LEFT = 3
"""By clients that are gone before the answer; few, for the shortest accept queue holds six."""
CALLS_KEPT = 10
"""Made in turn on one connection."""
PIPELINED = 3
CHECKED_WITHIN_S = 30.0
"""By a server's own program, for messages."""

STALL_S = (0.035, 0.060)
"""A call that takes so long has waited for an acknowledgement, which Linux delays by 40 ms."""
STALLS = (
    "A call on a connection it keeps takes {:.0f} ms: it sends a reply in pieces, and waits with"
    " the last for the client to acknowledge the first (Nagle's algorithm)."
)
TUNNELLED = "It was reached through SSH, so it was not tried with clients that reset connections."
DEAF = "It does not close a connection of HTTP/1.1 when it is asked to."


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

    @property
    def workloads(self) -> list[str]:
        """What it can be measured with, in words."""
        kept = "several calls on a connection"
        found = {
            "pong": "pong" in self.protocols,
            "HTTP/1.0": "http/1.0" in self.protocols,
            f"HTTP/1.0, {kept}": self.keep_alive_1_0,
            f"HTTP/1.1, {kept}": self.keep_alive,
            "messages": "messages" in self.protocols,
            f"HTTP/1.1, {PIPELINED} calls at once": self.pipelining == PIPELINED,
        }
        return [words for words, able in found.items() if able]


async def gate(
    deployment: Deployment, *, patience_s: float = 5.0, impatience_s: float = 1.0
) -> GateResult:
    """Try a server in the protocols it declares. A failure is a result, never raised.

    It has `patience_s` for each reply; `impatience_s` for what may never come.
    """
    result = await _gate(deployment, patience_s, impatience_s)
    if result.passed:
        # Workers may have listened anew, each with a backlog of its own.
        listening = await deployment.machine.listening(deployment.port)
        deployment.backlog = listening[1] if listening else deployment.backlog
        used = await settled_footprint(deployment.machine, deployment.pid)
        result = msgspec.structs.replace(
            result, processes=used.processes, threads=used.threads, rss_bytes=used.rss_bytes
        )
    deployment.gated = msgspec.to_builtins(result)
    return result


async def _gate(deployment: Deployment, patience_s: float, impatience_s: float) -> GateResult:
    entry = deployment.entry
    # SSH forwarding that meets an early reset loses it, and keeps the connection at the other end.
    wire = Wire(*deployment.near, patience_s, impatience_s, resets=deployment.direct)
    if "messages" in entry.protocols:
        return await _messages(deployment)
    try:
        result = await (_pong if "pong" in entry.protocols else _http)(wire, entry)
    except Fault as fault:
        # A server that is dying answers oddly first: the reason is worth a moment.
        ended = await deployment.ended_within(impatience_s / 2)
        return _failed(entry, str(fault), *([_last_words(deployment)] if ended else []))
    if not deployment.alive():
        return _failed(entry, "It answered as it should.", _last_words(deployment))
    if result.passed and not deployment.direct:
        return msgspec.structs.replace(result, sentences=[*result.sentences, TUNNELLED])
    return result


async def _messages(deployment: Deployment) -> GateResult:
    """Its own program tries it, on its machine."""
    entry, check = deployment.entry, deployment.check
    if check is None:
        return _failed(entry, "It has no program that tries it.")
    process = await deployment.machine.start(check)
    status = None
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(CHECKED_WITHIN_S):
            status = await process.wait()
    await process.stop(grace_s=0)
    said = [*process.tail(), "nothing"][-2:][0].removeprefix("AssertionError: ")
    if status is None:
        return _failed(entry, f"Its check did not end within {CHECKED_WITHIN_S:.0f} s.")
    if status:
        return _failed(entry, said)
    return GateResult(server=entry.id, passed=True, sentences=[said], protocols=["messages"])


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
    must_close = "http/1.0" in entry.protocols
    first = await wire.whole(_request(entry, "HTTP/1.0"), must_close=must_close)
    _check([first.reply], entry)
    for path in entry.also:
        other = await wire.whole(_request(entry, "HTTP/1.0", path=path), must_close=False)
        _check([other.reply], entry, path)
    once = _request(entry, "HTTP/1.1", "close")
    calls = (wire.whole(once, must_close=False) for _ in range(CALLS))
    ends = await asyncio.gather(*calls)
    _check([end.reply for end in ends], entry)
    deaf = any(end.how == "open" for end in ends)
    await _after_a_client_left(wire, _request(entry, "HTTP/1.0"))
    asked = await wire.in_turn(_request(entry, "HTTP/1.0", "keep-alive"), CALLS_KEPT)
    _check(asked, entry)
    found = _found(entry, first, protocols=["http/1.0"])
    kept_1_0 = len(asked) == CALLS_KEPT
    in_turn = await wire.in_turn(_request(entry, "HTTP/1.1"), CALLS_KEPT)
    _check(in_turn, entry)
    if len(in_turn) < CALLS_KEPT:
        closes = f"It closed the connection after {len(in_turn)} of {CALLS_KEPT} calls"
        if "http/1.1" in entry.protocols:
            raise Fault(f"{closes}, so it does not keep connections alive; http/1.1 is not for it.")
        told = f"{closes} of HTTP/1.1, so it is no server for that."
        return _agreed(
            msgspec.structs.replace(
                found, keep_alive_1_0=kept_1_0, sentences=[*found.sentences, told]
            ),
            entry,
        )
    at_once = await wire.at_once(_request(entry, "HTTP/1.1"), PIPELINED)
    _check(at_once, entry)
    call_s = statistics.median(reply.took_s for reply in in_turn)
    stalls = [STALLS.format(call_s * 1000)] if STALL_S[0] <= call_s <= STALL_S[1] else []
    kept = f"It keeps connections alive; of {PIPELINED} calls sent at once it answered"
    result = msgspec.structs.replace(
        found,
        protocols=["http/1.0", "http/1.1"],
        keep_alive=True,
        keep_alive_1_0=kept_1_0,
        kept_bytes=len(in_turn[0].raw),
        kept_call_us=round(call_s * 1e6),
        pipelining=len(at_once),
        sentences=[*found.sentences, f"{kept} {len(at_once)}.", *([DEAF] if deaf else []), *stalls],
    )
    if "http/1.1" not in entry.protocols:
        return _failed(entry, *result.sentences, "List http/1.1 among its protocols.")
    return _agreed(result, entry)


async def _after_a_client_left(wire: Wire, request: bytes) -> End:
    """A client that is gone at once must not take the server with it."""
    await wire.leave()
    for _ in range(CALLS_LEFT):
        await wire.leave(request)
    try:
        return await wire.whole(request, must_close=False)
    except Fault as fault:
        raise Fault(f"It did not survive a client that reset its connection: {fault}") from None


def _check(replies: list[Reply], entry: ServerEntry, path: str = "") -> None:
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


def _found(entry: ServerEntry, end: End, *, protocols: list[Protocol]) -> GateResult:
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


def _request(entry: ServerEntry, version: str, connection: str = "", *, path: str = "") -> bytes:
    lines = [f"GET {path or entry.path} {version}", "Host: pongbench"]
    if connection:
        lines.append(f"Connection: {connection}")
    return "\r\n".join([*lines, "", ""]).encode()


def _shown(body: bytes) -> str:
    text = repr(body[:40].decode("utf-8", "replace"))
    return text if len(body) <= 40 else f"{text}... ({len(body)} bytes)"
