"""A server that does what the path of each request asks for, in a process of its own.

    python server.py CERTIFICATE KEY    prints a port, and one where it speaks TLS

A path is `/framing/size/end/ends/announced/pace/answered/at`, values of `cells.AXES`; `at` is the
number of the call on its connection at which the end is. Standard library only; a thread for each
connection, because every piece that is sent, and the way a connection ends, is to be as asked for.
"""

from __future__ import annotations

import contextlib
import fcntl
import random
import socket
import ssl
import struct
import sys
import threading
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

UNSENT = 0x894B
"""SIOCOUTQNSD of ioctl."""
LATE_S = 0.04
STALL_S = 0.05
PATIENCE_S = 60.0
GAP_S = 0.0003
"""Between single bytes."""
PIECES = 30
FIRST, LAST = 60, 20
"""Bytes of a reply that are sent one by one, at its two ends."""
SURPLUS = b"surplus\r\n\r\n"
MARK = b"The end."
"""The last bytes of a body."""


@lru_cache(maxsize=16)
def body(size: int) -> bytes:
    """Distinct within a megabyte, so that nothing is missing or twice unnoticed."""
    numbered = b"".join(b"%07x|" % number for number in range(min(size // 8 + 1, 1 << 17)))
    numbered *= size // len(numbered) + 1
    return (numbered[: max(0, size - len(MARK))] + MARK)[-size:] if size else b""


@lru_cache(maxsize=16)
def crc(content: bytes) -> int:
    return zlib.crc32(content)


@dataclass(frozen=True)
class Script:
    framing: str
    size: int
    end: str
    ends: str
    announced: str
    pace: str
    answered: str
    at: int


def script_of(path: str) -> Script:
    framing, size, end, ends, announced, pace, answered, at = path.strip("/").split("/")
    return Script(framing, int(size), end, ends, announced, pace, answered, int(at))


@lru_cache(maxsize=16)
def reply(framing: str, size: int, version: str, connection: str) -> bytes:
    content = body(size)
    kind, _, number = framing.partition("-")
    status = {"204": "204 No Content", "304": "304 Not Modified"}.get(framing, "200 OK")
    lines = [f"{version} {status}", "Content-Type: text/plain"]
    if connection:
        lines.append(f"Connection: {connection}")
    if kind in ("length", "lf", "folded", "interim", "header"):
        lines.append(f"Content-Length: {size}")
    elif framing == "304":
        lines += ["Content-Length: 1234", 'ETag: "a"']
    elif kind in ("chunks", "both", "trailers"):
        lines.append("Transfer-Encoding: chunked")
        if kind == "both":
            lines.append(f"Content-Length: {max(0, size - 2)}")
        each = {"both": "4096", "trailers": "16384"}.get(kind, number)
        extension = b";a=b" if kind == "trailers" else b""
        last = b"0\r\nX-Sum: 1\r\nX-Other: 2\r\n\r\n" if kind == "trailers" else b"0\r\n\r\n"
        content = b"".join(chunks(content, each, extension)) + last
    if kind == "folded":
        lines += ["X-Long: a,", "  b,", "\tc"]
    if kind == "header":
        filler = "X-Filler: " + "h" * 88
        lines += [filler] * ((int(number) - 200) // 100)
    text = "\r\n".join([*lines, "", ""])
    head = (text.replace("\r\n", "\n") if kind == "lf" else text).encode()
    if kind == "interim":
        hints = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nContent-Length: 99\r\n\r\n"
        head = ("HTTP/1.1 100 Continue\r\n\r\n" + hints).encode() + head
    return head + content


def chunks(content: bytes, each: str, extension: bytes) -> Iterator[bytes]:
    """`each`: bytes of a chunk, or "mixed": runs of equal ones, and others."""
    draw = random.Random(len(content))
    length, run, at = 1, 0, 0
    while at < len(content):
        if each != "mixed":
            length = int(each)
        elif not run:
            length, run = draw.choice((1, 7, 16, 255, 256, 3_000)), draw.choice((1, 2, 40))
        run -= 1
        piece = content[at : at + length]
        yield b"%x%b\r\n%b\r\n" % (len(piece), extension, piece)
        at += length


class Requests:
    """What a client asks for on a connection."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._data = b""

    def head(self) -> bytes | None:
        while b"\r\n\r\n" not in self._data:
            if not self._more():
                return None
        head, _, self._data = self._data.partition(b"\r\n\r\n")
        return head

    def body(self, length: int) -> None:
        while len(self._data) < length and self._more():
            pass
        self._data = self._data[length:]

    def _more(self) -> bytes:
        data = self._sock.recv(1 << 18)
        self._data += data
        return data


def converse(sock: socket.socket) -> None:
    requests = Requests(sock)
    calls = 0
    while head := requests.head():
        calls += 1
        path, version = head.split(b"\r\n")[0].decode().split(" ")[1:]
        headers = head.lower().split(b"\r\n")[1:]
        lengths = [int(it.split(b":")[1]) for it in headers if it.startswith(b"content-length:")]
        length = lengths[0] if lengths else 0
        script = script_of(path)
        ending = calls == script.at and script.end != "keep"
        closes = ending and script.announced == "announced"
        keeps = "" if version == "HTTP/1.1" else "keep-alive"
        whole = reply(script.framing, script.size, version, "close" if closes else keeps)
        if script.answered == "read":
            requests.body(length)
        send(sock, at_once(script, whole) if ending else whole, script.pace)
        if ending:
            end(sock, script)
            return
        if script.answered == "unread":
            requests.body(length)


def at_once(script: Script, whole: bytes) -> bytes:
    """What is sent before the end, in one go."""
    if script.end.endswith("within"):
        return whole[: len(whole) // 2]
    if script.end == "twice":
        return whole + whole
    return whole + SURPLUS if (script.end, script.ends) == ("surplus", "at-once") else whole


def send(sock: socket.socket, data: bytes, pace: str) -> None:
    middle = len(data) // 2
    if pace == "stall":
        sock.sendall(data[:middle])
        time.sleep(STALL_S)
        data = data[middle:]
    if pace == "pieces":
        lengths = random.Random(len(data)).choices(
            range(1, max(3, len(data) // PIECES * 2)), k=PIECES
        )
        for length in lengths:
            # Not less than what belongs together at the end is left.
            if len(data) > 2 * length + len(SURPLUS):
                sock.sendall(data[:length])
                time.sleep(GAP_S)
                data = data[length:]
    if pace == "bytes":
        # The end of a reply and what should not follow it come together.
        together = len(SURPLUS) + 1
        first = min(FIRST, max(0, middle - 1))
        last = max(first, len(data) - LAST)
        single(sock, data[:first])
        sock.sendall(data[first:last])
        single(sock, data[last:-together])
        data = data[max(last, len(data) - together) :]
    sock.sendall(data)


def single(sock: socket.socket, data: bytes) -> None:
    for at in range(len(data)):
        sock.sendall(data[at : at + 1])
        time.sleep(GAP_S)


def end(sock: socket.socket, script: Script) -> None:
    sent(sock)
    if script.ends == "late":
        time.sleep(LATE_S)
    if script.end.startswith("rst"):
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        return
    if (script.end, script.ends) == ("surplus", "late"):
        sock.sendall(SURPLUS)
    if isinstance(sock, ssl.SSLSocket):
        # Says that it closes, and does not wait for the answer.
        sock.settimeout(0)
        with contextlib.suppress(ssl.SSLError, OSError):
            sock.unwrap()
        sock.settimeout(PATIENCE_S)
    lingers = script.end not in ("fin", "fin-within") or script.answered == "unread"
    if lingers:
        socket.socket.shutdown(sock, socket.SHUT_WR)
        linger(sock)


def linger(sock: socket.socket) -> None:
    """Read past TLS, which is over, until the client closes."""
    while socket.socket.recv(sock, 1 << 18):
        pass


def sent(sock: socket.socket) -> None:
    """Wait until the kernel has sent everything: a reset discards what it has not."""
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        (left,) = struct.unpack("i", fcntl.ioctl(sock.fileno(), UNSENT, b"\0" * 4))
        if not left:
            return
        time.sleep(0.0002)


def serve(sock: socket.socket, tls: ssl.SSLContext | None) -> None:
    with contextlib.suppress(OSError):
        sock.settimeout(PATIENCE_S)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if tls:
            sock = tls.wrap_socket(sock, server_side=True)
        with sock:
            converse(sock)


def listen(listener: socket.socket, tls: ssl.SSLContext | None) -> None:
    while True:
        sock, _ = listener.accept()
        threading.Thread(target=serve, args=(sock, tls), daemon=True).start()


def main(certificate: str, key: str) -> None:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate, key)
    plain, sealed = (socket.create_server(("127.0.0.1", 0), backlog=512) for _ in range(2))
    print(plain.getsockname()[1], sealed.getsockname()[1], flush=True)
    threading.Thread(target=listen, args=(sealed, tls), daemon=True).start()
    listen(plain, None)


if __name__ == "__main__":
    main(*sys.argv[1:])
