"""Common parts of all gates: what they test, their result, and the comparison of replies."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

import msgspec

from workbench.formatting import listed, number_of
from workbench.workloads.wire import End, Fault, Reply, Wire

T = TypeVar("T")

CALLS = 5
"""Calls made one after another, and concurrently."""
PIPELINED = 3
CALLS_LEFT = 3
"""Of clients that leave before the answer; the shortest accept queue holds six."""
EXCERPT = 40
"""Bytes of a body that a sentence shows."""
KEPT = 4_096
"""Bytes of the reply to a plan's request that are recorded."""


class Server(Protocol):
    """An entry of the catalogue: what is used here of `servers.entry.ServerEntry`."""

    @property
    def id(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def protocols(self) -> Sequence[str]: ...
    @property
    def tls(self) -> Sequence[str] | None: ...
    @property
    def running(self) -> object | None: ...
    @property
    def authority(self) -> str: ...
    @property
    def path(self) -> str: ...
    @property
    def also(self) -> Collection[str]: ...
    @property
    def replies(self) -> Mapping[str, Any]: ...
    @property
    def expected(self) -> Mapping[str, Mapping[str, Any]]: ...
    @property
    def closes_first(self) -> str: ...


class GateResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of the gate; recorded in the session unchanged."""

    server: str
    passed: bool
    sentences: list[str]
    """The error; after success, the findings."""
    answers: str = ""
    """The one of them that says what it answers, and to which request."""
    protocols: list[str] = []
    reply: str = ""
    """A reply without surplus: the first, or the longest to the plan; empty if private."""
    bytes_on_wire: int = 0
    """Bytes of one reply, surplus included."""
    header_bytes: int = 0
    """Status line and headers, including the empty line."""
    kept_bytes: int = 0
    """Bytes of one reply on a kept-alive connection."""
    kept_call_us: int = 0
    """Median time from request to reply on a kept-alive connection."""
    surplus_bytes: int = 0
    """Bytes after the declared end of the body."""
    closes_first: Literal["server", "client"] = "server"
    """Who closes after the only call of a connection; after several, always the client."""
    resets: bool = False
    """Connections ended with a reset after the complete reply."""
    keep_alive: bool = False
    """It answered `CALLS_KEPT` calls on one connection of HTTP/1.1."""
    keep_alive_1_0: bool = False
    """The same for HTTP/1.0, on request."""
    pipelining: int = 0
    """Calls answered of three pipelined ones."""
    tls: str = ""
    """Version and cipher: "TLSv1.3, TLS_AES_256_GCM_SHA384"; empty: without TLS."""
    processes: int = 0
    threads: int = 0
    """Processes after it had answered; 0: unknown."""
    rss_bytes: int = 0
    """Resident memory of all its processes then; shared pages count in each."""


Probed: TypeAlias = tuple[GateResult, Mapping[str, Mapping[str, Any]]]
"""What a running server answered, and checks of that by label of the requests."""


async def after_reset(wire: Wire, request: bytes, again: Callable[[], Awaitable[T]]) -> T:
    """Check that clients that leave at once do not crash the server: return what `again` does."""
    await wire.leave()
    for _ in range(CALLS_LEFT):
        await wire.leave(request)
    try:
        return await again()
    except Fault as fault:
        raise Fault(f"It did not survive a client that reset its connection: {fault}") from None


def check(replies: list[Reply], entry: Server, path: str = "") -> None:
    """Raise Fault for a reply that is not exactly as expected."""
    wanted = entry.replies[path or entry.path]
    at = f" at {path}" if path else ""
    for reply in replies:
        if reply.status != wanted.status:
            raise Fault(f"It answered with {reply.status} instead of {wanted.status}{at}.")
        if wanted.body is None:
            continue
        body = wanted.body.encode()
        if (reply.body, reply.body_bytes) != (body, len(body)) and not (
            wanted.json and _same_json(reply.body, body)
        ):
            raise Fault(f"It answered {_shown(reply.body)} instead of {_shown(body)}{at}.")


def _same_json(one: bytes, other: bytes) -> bool:
    try:
        return bool(msgspec.json.decode(one) == msgspec.json.decode(other))
    except msgspec.DecodeError:
        return False


def found(entry: Server, end: End, *, protocols: list[str], at: str = "") -> GateResult:
    """`at`: the path that was asked for, where it matters."""
    whole = end.reply.size + end.surplus
    sentences = [answers := answer(at, end.reply, whole)]
    if end.surplus:
        sentences.append(
            f"It sends {end.surplus} bytes beyond Content-Length, as in 2009; accepted."
        )
    return GateResult(
        server=entry.id,
        passed=True,
        sentences=sentences,
        answers=answers,
        protocols=protocols,
        reply=end.reply.raw.decode("latin-1"),
        bytes_on_wire=whole,
        header_bytes=end.reply.header_bytes,
        surplus_bytes=end.surplus,
        closes_first="client" if end.how == "open" else "server",
    )


def answering(
    result: GateResult, replies: Mapping[str, Reply], *, private: bool = False
) -> GateResult:
    """Return the result with these replies, by label; `private`: without their content."""
    sizes = {label: reply.size + result.surplus_bytes for label, reply in replies.items()}
    label = max(sizes, key=lambda each: sizes[each])
    longest = replies[label]
    if private or len(replies) > 1:
        each = listed([f"{number_of(size, 'bytes')} at {at}" for at, size in sizes.items()])
        answers = f"On the wire its replies are {each}."
    else:
        answers = answer(label, longest, sizes[label])
    others = (text for text in result.sentences if text != result.answers)
    return msgspec.structs.replace(
        result,
        sentences=[answers, *others],
        answers=answers,
        reply="" if private else longest.raw[:KEPT].decode("latin-1"),
        bytes_on_wire=sizes[label],
        header_bytes=longest.header_bytes,
        kept_bytes=longest.size if result.keep_alive or result.keep_alive_1_0 else 0,
    )


def answer(at: str, reply: Reply, whole: int) -> str:
    """Return what it answers at a path, with this many bytes on the wire."""
    status = "" if reply.status == 200 else f"{reply.status} "
    where = f" at {at}" if at else ""
    return f"It answers {status}{_shown(reply.body)}{where} with {whole:,} bytes on the wire."


def agreed(result: GateResult, entry: Server) -> GateResult:
    """Return the result, or an error if the entry contradicts what ports are counted by."""
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
    text = repr(body[:EXCERPT].decode("utf-8", "replace"))
    return text if len(body) <= EXCERPT else f"{text}... ({len(body):,} bytes)"
