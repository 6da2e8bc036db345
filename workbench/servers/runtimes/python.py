"""Isolated Python runtimes, one for each set of pinned requirements, cached by content.

Built by uv on the machine, inside the run directory, and renamed into the cache when proven (see
`build_python`). A server without requirements gets an empty environment rather than the bare
interpreter: so no contestant sees packages of the host, and all start in the same way.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import msgspec

from workbench.errors import PongbenchError
from workbench.machines.base import Command, Machine
from workbench.servers.entry import ServerEntry
from workbench.servers.runtimes import Notify, Runtime

BUILDER = Path(__file__).with_name("build_python.py")
LONGEST_BUILD_S = 900.0

_PASSED_ON = (
    *("UV_DEFAULT_INDEX", "UV_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_NO_INDEX"),
    *("UV_FIND_LINKS", "UV_OFFLINE", "UV_INSECURE_HOST", "UV_SYSTEM_CERTS", "UV_NATIVE_TLS"),
    *("UV_HTTP_TIMEOUT", "UV_HTTP_RETRIES"),
)
"""The user's settings of where packages come from; all other settings of uv are ours."""


async def prepare(machine: Machine, entry: ServerEntry, folder: str, notify: Notify) -> Runtime:
    """The runtime of `entry`, whose files are in `folder` on the machine; built if need be.

    Raises PongbenchError when it cannot be built.
    """
    event = await _build(machine, entry, folder, uv_binary(), notify)
    if event.get("why") == "no-uv":
        notify(f"Copying uv to {machine.name}")
        uv = await machine.put(Path(uv_binary()), "tools/uv")
        event = await _build(machine, entry, folder, uv, notify)
    if event["event"] != "ready":
        raise PongbenchError(_sentence(machine, entry, event))
    return Runtime(
        placeholders={"python": event["python"]},
        name=event["name"],
        packages=event["packages"],
        built=event["built"],
    )


def uv_binary() -> str:
    """The uv that came with Pongbench."""
    import uv  # noqa: PLC0415  only a build needs it

    try:
        return str(uv.find_uv_bin())
    except FileNotFoundError:
        raise PongbenchError(
            "uv, which builds the runtimes, is missing; install Pongbench again."
        ) from None


async def _build(
    machine: Machine, entry: ServerEntry, folder: str, uv: str, notify: Notify
) -> dict[str, Any]:
    """The last event of the builder."""
    builder = await machine.put(BUILDER, "tools/build_python.py")
    task = {
        "cache": machine.cache_dir,
        "work": f"{machine.run_dir}/tools",
        "uv": uv,
        "requirements": f"{folder}/{entry.requirements}" if entry.requirements else "",
        "imports": entry.imports,
        "build": entry.build,
    }
    process = await machine.start(
        Command(
            [*machine.python, builder, msgspec.json.encode(task).decode()],
            env={name: os.environ[name] for name in _PASSED_ON if name in os.environ},
            cwd=f"{machine.run_dir}/tools",
        )
    )
    event: dict[str, Any] = {"event": "failed", "why": "lost", "detail": ""}
    try:
        async with asyncio.timeout(LONGEST_BUILD_S):
            async for line in process.lines():
                event = _event(line) or event
                if event["event"] == "building":
                    notify(f"Building the runtime of {entry.name}")
    except TimeoutError:
        return {"event": "failed", "why": "slow", "detail": ""}
    finally:
        await process.stop(grace_s=0)
    if event["event"] == "building" or event.get("why") == "lost":
        return {"event": "failed", "why": "lost", "detail": " / ".join(process.tail()[-3:])}
    return event


def _event(line: bytes) -> dict[str, Any] | None:
    try:
        event = msgspec.json.decode(line, type=dict[str, Any])
    except msgspec.DecodeError:
        return None
    return event if "event" in event else None


def _sentence(machine: Machine, entry: ServerEntry, event: dict[str, Any]) -> str:
    detail = str(event["detail"]).rstrip(".")
    package = event.get("package") or "What it requires"
    where = f"the runtime of {entry.name} on {machine.name}"
    listed = entry.requirements or "a requirements.txt"
    sentences = {
        "install": f"{package} cannot be installed for {where}: {detail}.",
        "offline": (
            f"{package} cannot be fetched for {where}, for the package index is out of reach"
            f" ({detail}); connect {machine.name} to the network once, the runtime is then kept,"
            " or set UV_FIND_LINKS to a folder of wheels and UV_NO_INDEX to 1."
        ),
        "import": (
            f"What is installed for {where} does not work: {detail}; every package it needs has"
            f" to stand in {listed}, as uv pip compile writes it."
        ),
        "python": f"There is no Python for {where}: {detail}; install Python 3.11 or later there.",
        "disk": f"There is no place for {where}: {detail}.",
        "slow": f"Building {where} took longer than {LONGEST_BUILD_S:.0f} s and was ended.",
    }
    lost = f"Building {where} ended without a result: {detail or 'it said nothing'}."
    return sentences.get(event["why"], lost)
