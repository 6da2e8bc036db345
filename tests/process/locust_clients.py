"""A client with Locust, and a server for its users."""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from workbench.errors import PongbenchError
from workbench.load.base import Client
from workbench.machines.bundle import Brought, agent_place
from workbench.machines.local import open_local

FILES = Path(__file__).parents[1] / "cases" / "locustfiles"


@contextlib.asynccontextmanager
async def answering(arrived: list[float]) -> AsyncIterator[int]:
    """A server with a log-in. `arrived`: gets the times of its requests, in seconds."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := (await reader.readuntil(b"\r\n\r\n")).decode("latin-1"):
                arrived.append(time.monotonic())
                if length := re.search(r"content-length: (\d+)", head, re.IGNORECASE):
                    await reader.readexactly(int(length[1]))
                path = head.split()[1].partition("?")[0]
                status, body = 200, b'{"status": "ok", "token": "t"}'
                if path == "/missing":
                    status = 404
                elif path == "/account" and "authorization: t" not in head.lower():
                    status = 401
                size = len(body)
                writer.write(b"HTTP/1.1 %d X\r\nContent-Length: %d\r\n\r\n" % (status, size) + body)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    yield server.sockets[0].getsockname()[1]
    server.close()


@contextlib.asynccontextmanager
async def with_locust(cache: Path) -> AsyncIterator[Client]:
    """This computer with Locust."""
    machine = await open_local(cache_dir=cache)
    try:
        await agent_place(machine, "locust", Brought())
        yield Client(machine)
    except PongbenchError as error:
        if "cannot be fetched" not in str(error):
            raise
        pytest.skip(f"Locust comes from the package index: {error}")
    finally:
        await machine.close()
