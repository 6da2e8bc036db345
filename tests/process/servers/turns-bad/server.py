"""`server.py MODE PORT BACKLOG`: forty good calls, then whatever MODE says."""

import asyncio
import contextlib
import itertools
import socket
import sys

GOOD_CALLS = 40
CALLS_KEPT = 3
MODE, PORT, BACKLOG = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])

GOOD = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nPong!"
BAD = {
    "body": b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nPing?",
    "500": b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 5\r\n\r\nOops!",
    "503": b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n",
    "404": b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
    "cut": GOOD[:-3],
    "silent": b"",
    "garbage": b"\x1b[2J\x00 no HTTP \xff\r\n",
    "closes": GOOD,
    "reset": b"",
}
calls = itertools.count(1)


async def serve(reader, writer):
    on_this = 0
    with contextlib.suppress(OSError, asyncio.IncompleteReadError):
        while True:
            request = await reader.readuntil(b"\r\n\r\n")
            on_this += 1
            bad = next(calls) > GOOD_CALLS
            if bad and MODE == "reset":
                linger = b"\1\0\0\0\0\0\0\0"
                writer.get_extra_info("socket").setsockopt(
                    socket.SOL_SOCKET, socket.SO_LINGER, linger
                )
                writer.transport.abort()
                return
            writer.write(BAD[MODE] if bad else GOOD)
            kept = b"keep-alive" in request if b"HTTP/1.0" in request else b"close" not in request
            if not kept or (bad and MODE in ("cut", "silent")):
                break
            if bad and MODE == "closes" and on_this >= CALLS_KEPT:
                break
    writer.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", PORT, backlog=BACKLOG)
    await server.serve_forever()


asyncio.run(main())
