"""What HTTP makes of a cell, whoever the client is."""

from __future__ import annotations

from dataclasses import dataclass, replace

from .cells import SURPLUS, Cell

CLOSED, RESET = frozenset({"closed"}), frozenset({"reset"})
ENDED = CLOSED | RESET


@dataclass(frozen=True)
class Expected:
    """Of each connection."""

    least: int
    """Whole replies."""
    most: int
    lost: frozenset[str] = frozenset()
    """What any of the other calls may be lost to; see `client.LOST`."""


def expected(cell: Cell) -> Expected:
    """Return what any client is to see that reads what there is, and sends no call again.

    RFC 9112: a reply is whole at its length or its last chunk, whatever comes then (6.3, 8); one
    that the end of the connection delimits only if that is a good one. Bytes after the last reply
    that was asked for belong to none (9.3). Where a call follows and the connection ends at the
    same time, a client may see the FIN, or the reset that answers its request.
    """
    calls, at = cell.calls, cell.calls if cell.at == "last" else 1
    if cell.rest == "reconnect" and at < calls:
        return _made_again(cell, calls)
    if cell.end == "keep":
        # The connection is not used again after a length beside chunks (6.3).
        whole = 1 if cell.framing == "both" else calls
        return Expected(whole, whole, CLOSED)
    if cell.end == "fin-within":
        return Expected(at - 1, at - 1, frozenset({"cut"}))
    if cell.end == "rst-within" or (cell.framing, cell.end) == ("close", "rst"):
        return Expected(at - 1, at - 1, RESET)
    if cell.end in SURPLUS:
        return _surplus(cell, calls, at)
    return Expected(at, at, CLOSED if cell.load == "pipelined" and cell.end != "rst" else ENDED)


def _surplus(cell: Cell, calls: int, at: int) -> Expected:
    lost = frozenset({"malformed"})
    if at < calls and (cell.announced == "announced" or cell.framing == "both"):
        lost |= CLOSED
    if cell.ends == "late":
        # It answers the next call, or comes too late for most to see.
        return Expected(at - 1, at, lost)
    if at < calls:
        # A client may have taken the reply before it looks at what follows.
        return Expected(at if cell.load == "pipelined" else at - 1, at, lost)
    return Expected(at - 1, at - 1, lost)


def _made_again(cell: Cell, calls: int) -> Expected:
    """Each connection ends with its first call."""
    once = expected(replace(cell, rest="fails"))
    if cell.end in SURPLUS:
        return Expected(0, calls, once.lost | ENDED)
    if not once.most:
        return Expected(0, 0, once.lost)
    if cell.announced == "announced" or cell.framing in ("both", "close"):
        return Expected(calls, calls)
    # The next call may be on its way already.
    return Expected(calls // 2, calls, once.lost)
