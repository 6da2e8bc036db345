"""WebSocket with faults: the n-th connection decides, after those of the gate."""

import asyncio
import base64
import hashlib
import itertools
import sys

GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
GATE = 40
count = itertools.count()


async def frame(reader):
    first, second = await reader.readexactly(2)
    size = second & 0x7F
    if size >= 126:
        size = int.from_bytes(await reader.readexactly(2 if size == 126 else 8), "big")
    mask = await reader.readexactly(4)
    payload = await reader.readexactly(size)
    pattern = int.from_bytes((mask * (size // 4 + 1))[:size], "big")
    return first & 0x0F, (int.from_bytes(payload, "big") ^ pattern).to_bytes(size, "big")


def framed(opcode, payload):
    size = len(payload)
    if size < 126:
        return bytes((0x80 | opcode, size)) + payload
    if size < 65_536:
        return bytes((0x80 | opcode, 126)) + size.to_bytes(2, "big") + payload
    return bytes((0x80 | opcode, 127)) + size.to_bytes(8, "big") + payload


async def serve(reader, writer):
    number = next(count)
    mood = number % 10 if number >= GATE else 9
    try:
        head = await reader.readuntil(b"\r\n\r\n")
        key = head.lower().partition(b"sec-websocket-key: ")[2]
        at = head.lower().index(key) if key else 0
        key = head[at:].partition(b"\r\n")[0]
        accept = base64.b64encode(hashlib.sha1(key + GUID).digest())
        writer.write(
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Accept: " + accept + b"\r\n\r\n"
        )
        if mood == 0:
            await asyncio.sleep(1.0)
            writer.write(framed(8, (1011).to_bytes(2, "big")))
        if mood == 1:
            await asyncio.sleep(1.0)
        while mood > 1:
            opcode, payload = await frame(reader)
            if mood == 2:
                continue
            writer.write(framed(10 if opcode == 9 else opcode, b"?" if mood == 3 else payload))
            await writer.drain()
            if opcode == 8:
                writer.write_eof()  # Like Node: it closes one way, and waits for the client's end.
                await reader.read()
                break
    except (OSError, asyncio.IncompleteReadError):
        pass
    writer.close()


async def main(host, port, backlog):
    server = await asyncio.start_server(serve, host, int(port), backlog=int(backlog))
    await server.serve_forever()


asyncio.run(main(*sys.argv[1:]))
