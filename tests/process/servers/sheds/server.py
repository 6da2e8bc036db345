"""`server.py MODE PORT BACKLOG`: up to 250 calls a second or so; beyond that it sheds load.

room: four calls at a time take 16 ms each without work, eight more wait, others get 503.
work: 4 ms of work a call, one after another; who finds 12 before it gets 503.
resets: as work, but who finds 12 before it is reset.
"""

import asyncio
import contextlib
import socket
import sys
import time

MODE, PORT, BACKLOG = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
GOOD = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nPong!"
BUSY = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"
AT_ONCE, WAITING, TAKES_S = 4, 8, 0.016
WORK_S, BEFORE_IT = 0.004, 12


class Room:
    def __init__(self):
        self.places = asyncio.Semaphore(AT_ONCE)
        self.inside = 0

    async def answers(self):
        if self.inside >= AT_ONCE + WAITING:
            return False
        self.inside += 1
        try:
            async with self.places:
                await asyncio.sleep(TAKES_S)
        finally:
            self.inside -= 1
        return True


class Work:
    def __init__(self):
        self.turn = asyncio.Lock()
        self.inside = 0

    async def answers(self):
        if self.inside >= BEFORE_IT:
            return False
        self.inside += 1
        async with self.turn:
            until = time.thread_time() + WORK_S
            while time.thread_time() < until:
                pass
            await asyncio.sleep(0)
        self.inside -= 1
        return True


async def main():
    place = Room() if MODE == "room" else Work()

    async def serve(reader, writer):
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            while True:
                request = await reader.readuntil(b"\r\n\r\n")
                good = await place.answers()
                if not good and MODE == "resets":
                    linger = b"\1\0\0\0\0\0\0\0"
                    writer.get_extra_info("socket").setsockopt(
                        socket.SOL_SOCKET, socket.SO_LINGER, linger
                    )
                    writer.transport.abort()
                    return
                writer.write(GOOD if good else BUSY)
                if b"HTTP/1.0" in request or b"close" in request:
                    break
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", PORT, backlog=BACKLOG)
    await server.serve_forever()


asyncio.run(main())
