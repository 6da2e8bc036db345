"""The agent's response parser, against a table and against h11."""

from __future__ import annotations

import random
import re

import h11
import pytest

from workbench.remote.agent.parser import ProtocolError, ReplyParser

CASES = 30_000

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nPong!"


Parsed = tuple[int, int, int, bool]
"""Status, bytes of the body, end of the response, and whether the connection is kept."""


def parse(data: bytes, closed: bool, *, pieces: int = 0, keep: int = 0) -> Parsed | None:
    """Parse `data`, in pieces of this size; 0: in one. None: more bytes are needed."""
    parser, end = ReplyParser(keep), 0
    for at in range(0, len(data), pieces or len(data) or 1):
        if parser.complete:
            break
        end = at + parser.feed(data[at : at + (pieces or len(data))])
    if closed:
        parser.end()
    if not parser.complete:
        return None
    response = parser.response()
    assert len(response.body) == min(keep, response.length)
    return response.status, response.length, end, response.keep_alive


@pytest.mark.parametrize("pieces", [0, 1, 2, 7, 1_000])
@pytest.mark.parametrize(
    ("data", "closed", "expected"),
    [
        (OK, False, (200, 5, len(OK), True)),
        (OK + OK, False, (200, 5, len(OK), True)),
        (OK[:-1], False, None),
        (OK[:10], False, None),
        (b"", False, None),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nPong!\r\n", True, (200, 5, 43, False)),
        (
            b"HTTP/1.0 200\r\nConnection: Keep-Alive\r\nContent-Length: 0\r\n\r\n",
            False,
            (200, 0, 59, True),
        ),
        (b"HTTP/1.1 200 OK\r\n\r\nall the rest", False, None),
        (b"HTTP/1.1 200 OK\r\n\r\nall the rest", True, (200, 12, 31, False)),
        (b"HTTP/1.1 100 Continue\r\n\r\n" + OK, False, (200, 5, 25 + len(OK), True)),
        (b"HTTP/1.1 200 OK\nContent-Length: 5\n\nPong!", False, (200, 5, 40, True)),
        (
            b"HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 5\r\n\r\nPong!",
            False,
            (200, 5, 53, True),
        ),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 9\r\n\r\n"
            b"5\r\nPong!\r\n0\r\n\r\n",
            False,
            (200, 5, 81, False),
        ),
        (
            b"HTTP/1.1 200 OK\r\nX: " + b"h" * 60_000 + b"\r\nContent-Length: 5\r\n\r\nPong!",
            False,
            (200, 5, 60_048, True),
        ),
        (b"HTTP/1.1 204 None\r\nContent-Length: 7\r\n\r\n", False, (204, 0, 40, True)),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
            b"5;x=y\r\nPong!\r\n0\r\nA: b\r\n\r\n",
            False,
            (200, 5, 72, True),
        ),
    ],
)
def test_reads_what_servers_send_in_pieces_of_any_size(
    data: bytes, closed: bool, expected: Parsed | None, pieces: int
) -> None:
    assert parse(data, closed, pieces=pieces, keep=3) == expected


@pytest.mark.parametrize(
    "data",
    [
        OK,
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nPo\r\n3\r\nng!\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n\r\nPong!",
    ],
    ids=["length", "chunked", "until-closed"],
)
def test_a_body_is_read_in_any_framing(data: bytes) -> None:
    parser = ReplyParser(keep=9)
    parser.feed(data)
    parser.end()
    assert parser.response().body == b"Pong!"


@pytest.mark.parametrize("size", [1, 30, 100, 16_384])
@pytest.mark.parametrize("pieces", [1_000, 16_384, 65_536])
def test_a_long_run_of_chunks_is_read_as_one_by_one(size: int, pieces: int) -> None:
    chunk = b"%x\r\n" % size + b"y" * size + b"\r\n"
    other = b"7;a=b\r\n1\r\n\r\nyy\r\n"
    chunks = chunk * (200_000 // len(chunk)) + other + chunk * 3 + b"0\r\n\r\n"
    data = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks
    length = (200_000 // len(chunk) + 3) * size + 7
    assert parse(data, closed=False, pieces=pieces) == (200, length, len(data), True)
    assert parse(data, closed=False, pieces=pieces, keep=1 << 20) == (200, length, len(data), True)


@pytest.mark.parametrize("at", [0, 5, 5_000, 9_999])
def test_a_run_of_chunks_ends_where_one_is_damaged(at: int) -> None:
    chunks = bytearray(b"1e\r\n" + b"y" * 30 + b"\r\n") * 10_000
    chunks[at * 36 + 34] = ord("y")
    with pytest.raises(ProtocolError):
        parse(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks, closed=False)


@pytest.mark.parametrize("pieces", [1, 3, 1_000])
def test_a_text_is_found_across_pieces(pieces: int) -> None:
    data = (
        b"HTTP/1.1 200 OK\r\nContent-Length: 2006\r\n\r\n" + b"x" * 1_000 + b"needle" + b"x" * 1_000
    )
    for text, found in ((b"needle", True), (b"needles", False)):
        parser = ReplyParser(0, text)
        for at in range(0, len(data), pieces):
            parser.feed(data[at : at + pieces])
        assert parser.complete and parser.response().found is found


@pytest.mark.parametrize(
    ("data", "closed"),
    [
        (b"SSH-2.0-OpenSSH\r\n", False),
        (b"HTTP/2 200\r\n\r\n", False),
        (b"HTTP/1.1 2000 OK\r\n\r\n", False),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n folded\r\n\r\n", False),
        (b"HTTP/1.1 200 OK\r\n folded: 5\r\n\r\n", False),
        (b"HTTP/1.1 200 OK\r\nContent-Length : 5\r\n\r\n", False),
        (b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n", False),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", False),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", False),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nPong!!!", False),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", False),
        (OK[:-1], True),
        (b"", True),
        (b"HTTP/1.1 200 OK\r\nX: " + b"a" * 70_000, False),
    ],
)
@pytest.mark.parametrize("pieces", [0, 1, 1_000])
def test_refuses_what_is_not_a_response(data: bytes, closed: bool, pieces: int) -> None:
    with pytest.raises(ProtocolError):
        parse(data, closed, pieces=pieces)


def test_agrees_with_h11_on_many_mutated_responses() -> None:
    """Where both read a response they read the same; where h11 refuses, so do we."""
    rng = random.Random(20091222)
    outcomes = {"same": 0, "stricter": 0}
    for case in range(CASES):
        data, closed = make(rng), rng.random() < 0.5
        ours, theirs = read_ours(data, closed), read_h11(data, closed)
        assert ours == read_ours(data, closed, rng.randint(1, 40)), (data, closed)
        if ours == theirs:
            outcomes["same"] += 1
            continue
        why = known_difference(data, ours, theirs)
        assert why, f"case {case}: {data!r}, closed={closed}: ours {ours}, h11 {theirs}"
        outcomes["stricter"] += 1
    assert outcomes["same"] > 0.6 * CASES, outcomes


Outcome = tuple[int, int, int, bool] | str


def read_ours(data: bytes, closed: bool, pieces: int = 0) -> Outcome:
    try:
        return parse(data, closed, pieces=pieces) or "incomplete"
    except ProtocolError:
        return "refused"


def read_h11(data: bytes, closed: bool) -> Outcome:
    outcome = feed_h11(data)
    if outcome == "incomplete" and closed:
        outcome = feed_h11(data, b"")
        if isinstance(outcome, tuple):
            return *outcome[:3], False  # it took the close to end the body
    return outcome


def feed_h11(*pieces: bytes) -> Outcome:
    connection = h11.Connection(h11.CLIENT, max_incomplete_event_size=65_536)
    connection.send(h11.Request(method="GET", target="/", headers=[("Host", "x")]))
    connection.send(h11.EndOfMessage())
    body = status = 0
    try:
        for piece in pieces:
            connection.receive_data(piece)
        while True:
            event = connection.next_event()
            if event is h11.NEED_DATA or event is h11.PAUSED:
                return "incomplete"
            if isinstance(event, h11.Response):
                status = event.status_code
            elif isinstance(event, h11.Data):
                body += len(event.data)
            elif isinstance(event, h11.ConnectionClosed):
                return "refused"
            elif isinstance(event, h11.EndOfMessage):
                left, _ = connection.trailing_data
                keep_alive = connection.their_state is h11.DONE
                return status, body, len(pieces[0]) - len(left), keep_alive
    except h11.RemoteProtocolError:
        return "refused"


def known_difference(data: bytes, ours: Outcome, theirs: Outcome) -> str:
    """Why we may differ from h11; empty: we may not."""
    lower = data.lower()
    if isinstance(ours, tuple) and isinstance(theirs, tuple):
        only_keep_alive = ours[:3] == theirs[:3]
        if only_keep_alive and b"HTTP/1.0" in data and b"keep-alive" in lower:
            return "h11 never keeps an HTTP/1.0 connection alive"
        if only_keep_alive and b"transfer-encoding" in lower and b"content-length" in lower:
            return "not used again after a length beside chunks"
        return ""
    if ours == "refused":
        if not re.match(rb"HTTP/1[.][01] ", data):
            return "a version other than 1.0 and 1.1"
        if re.search(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", data):
            return "control characters"
        if b"transfer-encoding" in lower:
            return "chunked in HTTP/1.0, or with bytes h11 skips"
        if theirs == "incomplete" and re.match(rb"HTTP/1[.][01] 1", data):
            return "what follows an interim response, or a switch of protocols"
        if b"content-length" in lower:
            return "a Content-Length that h11 ignores or reads more freely"
    if theirs == "refused" and ours == "incomplete":
        return "h11 sees inside the headers before they have ended"
    return ""


VERSIONS = [b"HTTP/1.1"] * 30 + [b"HTTP/1.0"] * 15 + [b"HTTP/1.2", b"http/1.1", b"HTTP/11"]
STATUSES = [b"200"] * 20 + [b"204", b"304", b"100", b"404", b"500", b"101", b"99", b"2000"]
HEADERS = [
    b"Server: pong",
    b"Content-Type: text/plain",
    b"Connection: close",
    b"Connection: keep-alive",
    b"Connection: Close, x",
    b"Content-Length: 5",
    b"Content-Length: 5, 5",
    b"Content-Length: 6",
    b"content-length:5",
    b"Content-Length: 0",
    b"Transfer-Encoding: chunked",
    b"X: ",
    b"X:\t y z \t",
    b"Date: Tue, 22 Dec 2009 12:00:00 GMT",
]
BODIES = [
    b"Pong!",
    b"",
    b"Pong!\r\n",
    b"5\r\nPong!\r\n0\r\n\r\n",
    b"1\r\nP\r\n4;a=b\r\nong!\r\n0\r\nT: 1\r\n\r\n",
    b"0\r\n\r\n",
    b"Po",
]


def make(rng: random.Random) -> bytes:
    """A response, mostly right, with up to three bytes gone, added or changed."""
    data = response(rng)
    if rng.random() < 0.2:
        data += response(rng)
    if rng.random() < 0.3:
        data = data[: rng.randrange(len(data) + 1)]
    for _ in range(rng.choice([0, 0, 0, 0, 1, 1, 2, 3])):
        at = rng.randrange(len(data) + 1)
        byte = bytes(
            [
                rng.choice(b"\r\n :;,0159aA\x00\x7f\xff\t")
                if rng.random() < 0.8
                else rng.randrange(256)
            ]
        )
        kind = rng.randrange(3)
        data = data[:at] + (byte if kind else b"") + data[at + (kind != 1) :]
    return data


def response(rng: random.Random) -> bytes:
    reason = rng.choice([b" OK", b" OK", b"", b" ", b" Not Found"])
    lines = [rng.choice(VERSIONS) + b" " + rng.choice(STATUSES) + reason]
    lines += rng.sample(HEADERS, rng.choice([0, 1, 1, 2, 2, 3]))
    return b"\r\n".join(lines) + b"\r\n\r\n" + rng.choice(BODIES)
