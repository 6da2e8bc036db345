"""Our own programs that find or build something on a machine and report it in JSON lines."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from workbench import fetching
from workbench.errors import ProgramFailed
from workbench.machines.base import Machine
from workbench.machines.runner_client import Command
from workbench.machines.wire import LONGEST_QUOTE, MOST_NOISE, InvalidMessage, decode, quoted
from workbench.remote import REMOTE

BUILDERS = REMOTE / "builders"
LAUNCHER = REMOTE / "confine.py"
LONGEST_BUILD_S = 3600.0
"""For what never ends: axum, the longest, takes more than 15 minutes on two cores that others use,
too. Progress is shown meanwhile, and whoever waits can cancel."""
LAST_LINES = 12

PASSED_ON = (
    *("UV_DEFAULT_INDEX", "UV_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_NO_INDEX"),
    *("UV_FIND_LINKS", "UV_OFFLINE", "UV_INSECURE_HOST", "UV_SYSTEM_CERTS", "UV_NATIVE_TLS"),
    *("UV_HTTP_TIMEOUT", "UV_HTTP_RETRIES"),
    *("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "PIP_NO_INDEX", "PIP_CERT"),
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"),
    *("MAVEN_ARGS", "MAVEN_OPTS", "GOFLAGS", "GOPROXY"),
)
"""The user's settings for package sources; all other settings of these tools are ours."""
TRUSTED = ("SSL_CERT_FILE", "SSL_CERT_DIR")
"""Those for the certificates of this computer."""


def on(kind: str, do: Callable[[dict[str, Any]], None]) -> Callable[[dict[str, Any]], None]:
    """Return an `on_event` of `run_builder` for events of one kind."""
    return lambda event: do(event) if event["event"] == kind else None


_EVENT: msgspec.json.Decoder[dict[str, Any]] = msgspec.json.Decoder(dict[str, Any])


async def run_builder(
    machine: Machine,
    name: str,
    task: Mapping[str, Any],
    on_event: Callable[[dict[str, Any]], None] = lambda event: None,
    *,
    env: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Run a module of `remote.builders` in the run directory and return its last event: {"event":
    "failed", "why": "slow" or "lost"} when it did not complete."""
    work = f"{machine.run_dir}/tools"
    whole = {"cache": machine.cache_dir, "work": work, **task}
    builders = await machine.tool(BUILDERS)
    trusted = fetching.trust() if machine.is_local else {}
    passed = (*PASSED_ON, *(TRUSTED if machine.is_local else ()))
    process = await machine.start(
        Command(
            [*machine.python, builders, name, msgspec.json.encode(whole).decode()],
            env={
                **trusted,
                **{name: os.environ[name] for name in passed if name in os.environ},
                **(env or {}),
            },
            cwd=work,
        )
    )
    event: dict[str, Any] = {"event": "failed", "why": "lost", "detail": ""}
    noise = 0
    try:
        async with asyncio.timeout(LONGEST_BUILD_S):
            async for line in process.lines():
                found: dict[str, Any] = {}
                with contextlib.suppress(InvalidMessage):
                    found = decode(_EVENT, line)
                if isinstance(found.get("event"), str):
                    event = found
                    on_event(event)
                elif (noise := noise + 1) > MOST_NOISE:
                    break
    except TimeoutError:
        return {"event": "failed", "why": "slow", "detail": ""}
    finally:
        await process.stop(grace_s=0)
    if event["event"] not in ("ready", "failed") or event.get("why") == "lost":
        return {"event": "failed", "why": "lost", "detail": " / ".join(process.tail()[-3:])}
    return event


async def confinement(
    machine: Machine, used: Iterable[str], env: Mapping[str, str]
) -> dict[str, Any]:
    """Return how a server or a command on a foreign source is run, see `remote/confine.py`. `used`:
    paths that it needs, beside the system's."""
    return {
        "launcher": [*machine.python, await machine.tool(LAUNCHER)],
        "cache": machine.cache_dir,
        "uses": sorted({path for path in used if path.startswith("/")}),
        "env": dict(env),
        "rights": [],
    }


def detail_of(event: Mapping[str, Any]) -> str:
    """Return what a builder said of its end, for use in a sentence."""
    return quoted(str(event.get("detail", ""))).rstrip(".")


def failure(event: Mapping[str, Any], sentences: Mapping[str, str], lost: str) -> ProgramFailed:
    """Return the error for a builder's last event. `sentences`: by its `why`; `lost`: otherwise."""
    return ProgramFailed(sentences.get(str(event.get("why")), lost), last_lines(event))


def last_lines(event: Mapping[str, Any]) -> list[str]:
    """Return the last lines that a failed tool printed, as its builder reports them."""
    lines = event.get("lines")
    found = [str(line)[:LONGEST_QUOTE] for line in lines] if isinstance(lines, list) else []
    return found[-LAST_LINES:]
