"""Servers to test the load agent with: `python targets.py MODE [ARG]` prints its port and serves.

Good and faulty ones, each a few lines, one process, standard library only.
"""

from __future__ import annotations

import asyncio
import contextlib
import runpy
import socket
import sys
import threading
import time
from pathlib import Path

PONG = b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nPong!\r\n"
KEEP = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nPong!"
LAST = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nPong!"


def spin(seconds: float) -> None:
    """Wait without the timer's own error."""
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        pass


def serial(
    listener: socket.socket, answer: bytes, busy_s: float, stall: tuple[float, float]
) -> None:
    """One connection after the other; `stall` = (seconds stalled, out of how many)."""
    born = time.monotonic()
    while True:
        client, _ = listener.accept()
        still_s, every_s = stall
        phase = (time.monotonic() - born) % every_s
        if phase < still_s:
            time.sleep(still_s - phase)
        spin(busy_s)
        with contextlib.suppress(OSError):
            client.sendall(answer)
        client.close()


def hold(listener: socket.socket) -> None:
    """Accepts and never answers."""
    clients = []
    while True:
        clients.append(listener.accept())


def null(listener: socket.socket) -> None:
    """The catalogue's own null server, with as long a queue as the kernel allows."""
    folder = Path(__file__).parents[2] / "resources/servers/null"
    runpy.run_path(str(folder / "server.py"))["serve"](listener)


def reset(listener: socket.socket) -> None:
    """Ends every connection with a reset before it has answered."""
    while True:
        client, _ = listener.accept()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        client.close()


def http(listener: socket.socket, calls: int) -> None:
    """Keeps connections alive for `calls` calls, pipelining included."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            for call in range(1, calls + 1):
                await reader.readuntil(b"\r\n\r\n")
                writer.write(LAST if call == calls else KEEP)
        writer.close()

    async def main() -> None:
        async with await asyncio.start_server(serve, sock=listener, backlog=4096) as server:
            await server.serve_forever()

    asyncio.run(main())


def idle(listener: socket.socket, patience_s: float) -> None:
    """Keeps connections alive, and closes those on which nothing is asked for so long."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, TimeoutError):
            while True:
                async with asyncio.timeout(patience_s):
                    await reader.readuntil(b"\r\n\r\n")
                writer.write(KEEP)
        writer.close()

    async def main() -> None:
        async with await asyncio.start_server(serve, sock=listener, backlog=4096) as server:
            await server.serve_forever()

    asyncio.run(main())


def resets(listener: socket.socket, answer: bytes) -> None:
    """Reads the head of a request alone, answers, and resets."""
    while True:
        client, _ = listener.accept()
        with contextlib.suppress(OSError):
            client.recv(100)
            client.sendall(answer)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        client.close()


def long(listener: socket.socket, size: int, chunk: int) -> None:
    """Answers with a body of this size, in chunks of that; 0: plain."""
    head = b"HTTP/1.1 200 OK\r\n"
    if chunk:
        whole = (b"%x\r\n" % chunk + b"y" * chunk + b"\r\n") * (size // chunk)
        answer = head + b"Transfer-Encoding: chunked\r\n\r\n" + whole + b"0\r\n\r\n"
    else:
        answer = head + b"Content-Length: %d\r\n\r\n" % size + b"y" * size

    def serve(client: socket.socket) -> None:
        with contextlib.suppress(OSError), client:
            while client.recv(4096):
                client.sendall(answer)

    while True:
        client, _ = listener.accept()
        threading.Thread(target=serve, args=(client,), daemon=True).start()


def main(mode: str, argument: str = "0") -> None:
    listener = socket.create_server(("127.0.0.1", 0), backlog=4096)
    print(listener.getsockname()[1], flush=True)
    answers = {
        "pong": PONG,
        "half": PONG[:41],
        "silent": b"",
        "garbage": b"220 mail.example ESMTP\r\n",
        "odd header": b"HTTP/1.1 200 OK\r\nno header\r\nContent-Length: 5\r\n\r\nPong!",
        "error": b"HTTP/1.0 503 Busy\r\nContent-Length: 0\r\n\r\n",
    }
    if mode == "stall":
        still, every = argument.split("/")
        serial(listener, PONG, 0.0, (float(still), float(every)))
    elif mode == "null":
        null(listener)
    elif mode == "hold":
        hold(listener)
    elif mode == "reset":
        reset(listener)
    elif mode == "resets":
        resets(listener, LAST[: int(argument) or len(LAST)])
    elif mode == "long":
        size, chunk = argument.split("/")
        long(listener, int(size), int(chunk))
    elif mode == "idle":
        idle(listener, float(argument))
    elif mode == "http":
        http(listener, int(argument))
    else:
        serial(listener, answers[mode], float(argument), (0.0, 1.0))


if __name__ == "__main__":
    main(*sys.argv[1:])
