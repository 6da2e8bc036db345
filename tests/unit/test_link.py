"""Messages from the other end of a link, and what waiters get."""

from __future__ import annotations

import asyncio
import json
import os

import pytest

from workbench.errors import PongbenchError
from workbench.machines.runner_client import Link, whoami

READY = b'- {"ev": "ready", "run": "/r", "python": "/p", "version": "3.11.2", "cpus": [0]}'


class Said:
    """Answers the configuration with its nonce and the lines given, then keeps silent."""

    def __init__(self, *lines: bytes) -> None:
        self.lines = lines
        self.waiting: asyncio.Queue[bytes] = asyncio.Queue()

    def write(self, data: bytes, /) -> None:
        first = json.loads(data.splitlines()[0])
        if "nonce" in first:
            nonce = str(first["nonce"]).encode()
            self.waiting.put_nowait(b"\n".join([b"", nonce, *self.lines, b""]))

    async def read(self, size: int, /) -> bytes:
        return await self.waiting.get()

    async def drain(self) -> None: ...

    def close(self) -> None:
        self.waiting.put_nowait(b"")

    async def wait_closed(self) -> None: ...


@pytest.mark.parametrize("nonsense", [b"- {]", b'- {"no": "event"}', b"- 7"])
async def test_waiters_get_an_error_when_a_runner_sends_garbage(nonsense: bytes) -> None:
    message = Said(READY, nonsense)
    link = Link("bolt", message, message)
    try:
        await link.open("/nowhere")
        with pytest.raises(PongbenchError, match="'bolt' is gone: its runner sent an invalid"):
            await link.ping()
    finally:
        message.close()
        await link.close()


def test_an_account_without_a_name_is_an_unknown_user(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os, "getuid", lambda: 4_000_000)
    assert whoami() == "somebody"
