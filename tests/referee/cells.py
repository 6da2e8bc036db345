"""The axes of the matrix, and its cells."""

from __future__ import annotations

from dataclasses import dataclass, fields

from .covering import Never, covering

AXES = {
    "framing": (
        "length", "chunks-1", "chunks-30", "chunks-100", "chunks-16384", "chunks-65536",
        "chunks-mixed", "trailers", "close", "lf", "both", "folded", "interim", "204", "304",
        "header-20000", "header-64000",
    ),
    "size": ("0", "5", "1000", "16384", "100000", "1000000", "10000000", "50000000"),
    "end": ("keep", "fin", "rst", "half-close", "fin-within", "rst-within", "surplus", "twice"),
    "ends": ("at-once", "late"),
    "announced": ("unannounced", "announced"),
    "pace": ("one-piece", "bytes", "pieces", "stall"),
    "request": ("get", "post-1000", "post-60000", "post-1000000"),
    "answered": ("read", "unread"),
    "protocol": ("http/1.1", "http/1.0", "pong"),
    "load": ("open", "closed", "kept", "kept-closed", "pipelined"),
    "at": ("last", "first"),
    "tls": ("plain", "tls"),
    "worker": ("idle", "busy"),
    "wanted": ("any", "body", "checks", "each"),
    "rest": ("fails", "reconnect"),
}  # fmt: skip
"""
framing    of the reply. `both`: a Content-Length beside chunks; `trailers`: and chunk extensions;
           `interim`: 100 and 103 before the reply; `header-N`: a head of N bytes; 304 has the
           length of what it does not send
size       bytes of its body
end        of the connection. `half-close`: a FIN, then the server reads on until the client
           closes; `-within`: after half of the reply; `surplus`: bytes behind it, then a FIN;
           `twice`: the reply once more, then a FIN
ends       with the last byte, or 40 ms later
announced  by `Connection: close`, in HTTP/1.0 by no `keep-alive`
pace       at which a reply is sent. `bytes`: its first and last ones singly; `pieces`: 30 or fewer,
           of any length; `stall`: 50 ms after its half
answered   before the body of the request is read; what never reads it ends with a reset
load       calls: one per connection in an open and a closed loop, several one after the other in
           both, and several at once
at         which call of its connection the end is
worker     stopped half of the time, so that what happens one after the other comes together
wanted     by the plan, of a reply: any 2xx, one body, status, length and text, or of each of
           several requests another of these
rest       of the calls of a connection that has ended: they fail, or are made on another one
"""

MANY = ("kept", "kept-closed", "pipelined")
CHUNKED = tuple(framing for framing in AXES["framing"] if framing.startswith("chunks"))
NOT_IN_1_0 = (*CHUNKED, "trailers", "both", "interim")
HEADERS = ("header-20000", "header-64000")
SURPLUS = ("surplus", "twice")


def over(size: int) -> list[str]:
    return [it for it in AXES["size"] if int(it) > size]


def but(axis: str, *values: str) -> list[str]:
    return [it for it in AXES[axis] if it not in values]


RULES = (
    # What HTTP, or the client, does not have.
    Never(framing=("204", "304"), size=over(0)),
    Never(framing=("close",), end=("keep", "fin-within", *SURPLUS)),
    Never(framing=("close", "both"), load=MANY, at=("last",)),
    Never(framing=NOT_IN_1_0, protocol=("http/1.0", "pong")),
    Never(framing=("304",), wanted=("any",)),
    Never(request=("get",), answered=("unread",)),
    Never(protocol=("http/1.0",), load=("pipelined",)),
    Never(protocol=("http/1.0",), load=("open", "closed"), end=("keep",)),
    # Ping-pong ends every connection, and is not offered with any of these.
    Never(protocol=("pong",), load=MANY),
    Never(protocol=("pong",), end=("keep",)),
    Never(protocol=("pong",), request=but("request", "get")),
    Never(protocol=("pong",), tls=("tls",)),
    Never(protocol=("pong",), wanted=("checks", "each")),
    # What a plan does not offer together.
    Never(rest=("reconnect",), load=but("load", "kept", "kept-closed")),
    Never(rest=("reconnect",), wanted=("each",)),
    # What would be the same as another cell.
    Never(load=("open", "closed"), at=("first",)),
    Never(end=("keep",), at=("first",), framing=but("framing", "both")),
    Never(end=("keep", "twice"), ends=("late",)),
    Never(end=("keep",), announced=("announced",)),
    # What does not come in one piece with the reply, or answers the next request.
    Never(end=SURPLUS, size=over(1_000)),
    Never(end=SURPLUS, framing=HEADERS),
    Never(end=("twice",), pace=("pieces", "stall")),
    Never(end=("twice",), load=("pipelined",), at=("first",)),
    # A client that sends learns of the reset there, and then reads a good end.
    Never(framing=("close",), end=("rst",), answered=("unread",)),
    # What takes long, or more than a server reads at once.
    Never(framing=("chunks-1",), size=over(16_384)),
    Never(framing=("chunks-30", "chunks-100", "chunks-mixed"), size=over(1_000_000)),
    Never(wanted=("body", "each"), size=over(1_000_000)),
    Never(load=("pipelined",), request=("post-60000", "post-1000000")),
)


@dataclass(frozen=True)
class Cell:
    """One way to behave; see `AXES`."""

    framing: str = "length"
    size: str = "5"
    end: str = "keep"
    ends: str = "at-once"
    announced: str = "unannounced"
    pace: str = "one-piece"
    request: str = "get"
    answered: str = "read"
    protocol: str = "http/1.1"
    load: str = "open"
    at: str = "last"
    tls: str = "plain"
    worker: str = "idle"
    wanted: str = "any"
    rest: str = "fails"

    def __str__(self) -> str:
        """The values other than the usual ones."""
        given = [(field, getattr(self, field.name)) for field in fields(self)]
        return " ".join(value for field, value in given if value != field.default) or "length"

    @classmethod
    def of(cls, values: list[str]) -> Cell:
        """Return the cell with these values. Raises ValueError for an unknown one."""
        axes = {value: axis for axis, values in AXES.items() for value in values}
        if unknown := [value for value in values if value not in axes]:
            raise ValueError(f"unknown: {', '.join(unknown)}")
        row = {axes[value]: value for value in values}
        return cls(**row)

    @property
    def calls(self) -> int:
        """Of a connection."""
        if self.load not in MANY:
            return 1
        return 2 if int(self.size) > 1_000_000 else 6 if self.load == "pipelined" else 4

    @property
    def pipeline(self) -> int:
        return self.calls // 2 if self.load == "pipelined" else 1

    @property
    def connections(self) -> int:
        size = int(self.size)
        return 1 if size > 10_000_000 else 2 if size > 1_000_000 else 4 if size > 100_000 else 8

    @property
    def rate_per_s(self) -> float:
        """Connections begun in an open loop; 0: a closed one."""
        if self.load in ("closed", "kept-closed"):
            return 0.0
        return 100.0 if int(self.size) <= 100_000 else 20.0

    @property
    def method(self) -> str:
        return "GET" if self.request == "get" else "POST"

    @property
    def sent(self) -> str:
        """Body of the request."""
        return "x" * int(self.request.partition("-")[2] or 0)

    @property
    def status(self) -> int:
        return int(self.framing) if self.framing in ("204", "304") else 200

    @property
    def path(self) -> str:
        """What a request asks of the server; see `server`."""
        at = self.calls if self.at == "last" else 1
        behaviour = (self.framing, self.size, self.end, self.ends, self.announced, self.pace)
        return "/" + "/".join((*behaviour, self.answered, str(at)))


FOOLED = (
    "rst announced closed",
    "rst announced unread post-60000 http/1.0 closed",
    "rst-within closed",
    "rst-within pong closed busy",
    "fin-within bytes pipelined first tls busy 100000",
    "fin late pipelined first",
    "surplus http/1.0",
    "twice announced pipelined",
    "both kept first",
    "both closed",
    "folded kept",
    "lf kept",
    "header-20000 bytes",
    "chunks-30 1000000",
    "10000000 tls",
)
"""What the load agent once took for something else."""


def cells(*, pairs: bool) -> list[Cell]:
    """Return few cells that have every pair of values that occur together, or every value, and
    those of `FOOLED`."""
    rows = covering(AXES, RULES, strength=2 if pairs else 1)
    found = [Cell(**row) for row in rows] + [Cell.of(values.split()) for values in FOOLED]
    return list(dict.fromkeys(found))
