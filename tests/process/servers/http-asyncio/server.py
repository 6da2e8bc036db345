import asyncio
import contextlib
import sys


async def serve(reader, writer):
    with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
        while True:
            request = await reader.readuntil(b"\r\n\r\n")
            version = b"HTTP/1.1" if b" HTTP/1.1\r\n" in request else b"HTTP/1.0"
            status = b" 404 Not Found" if b" /gone " in request else b" 200 OK"
            body = b"Pong!" * (200 if b" /long " in request else 1)
            head = version + status + b"\r\nContent-Length: %d\r\n\r\n" % len(body)
            writer.write(head + body)
            await writer.drain()
            if version == b"HTTP/1.0":
                break
    writer.close()


async def main(port, backlog):
    server = await asyncio.start_server(serve, "127.0.0.1", port, backlog=backlog)
    await server.serve_forever()


asyncio.run(main(*map(int, sys.argv[1:])))
