"""Shows a session to spectators: starts `pongbench share`, which serves it from another process."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from workbench import paths
from workbench.closing import to_the_end
from workbench.errors import BadInput, PongbenchError


@asynccontextmanager
async def shared(session: Path, where: str = "127.0.0.1") -> AsyncIterator[str]:
    """Share a session's file, which need not exist yet, at ADDRESS or ADDRESS:PORT; yields the
    link. The page ends with the context, or with this process. Raises PongbenchError."""
    address, port = split(where)
    process = await asyncio.create_subprocess_exec(
        *paths.program(),
        *("share", str(session), "--address", address, "--port", str(port)),
        *("--json", "--while-open"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        start_new_session=True,  # Ctrl-C is for the run.
    )
    assert process.stdin and process.stdout
    try:
        told = json.loads(await process.stdout.readline() or "{}")
        if "link" not in told:
            lost = f"The page for spectators ended with status {await process.wait()}."
            raise PongbenchError(told.get("problem", lost))
        yield told["link"]
    finally:
        process.stdin.close()
        await to_the_end(process.wait())


def split(where: str) -> tuple[str, int]:
    """Split "ADDRESS:PORT"; without a port it is 0, for a free one. Raises BadInput."""
    if where.startswith("["):
        address, _, port = where[1:].partition("]")
        port = port.removeprefix(":")
    elif where.count(":") == 1:
        address, _, port = where.partition(":")
    else:
        address, port = where, ""
    if not address or (port and not port.isdecimal()):
        raise BadInput(f"{where!r} is no address; write 192.0.2.7, 192.0.2.7:8080 or [::1]:8080.")
    return address, int(port or 0)
