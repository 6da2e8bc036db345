"""System programs, found on a machine or provided there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Any

import msgspec

from workbench.errors import PongbenchError
from workbench.fetching import apt_failed
from workbench.machines.base import Machine
from workbench.machines.wire import Count, Text, quoted
from workbench.remote import REMOTE
from workbench.servers.programs import PROGRAMS, MissingPrograms, Programs, of_packages
from workbench.servers.runtimes import Notify, brought_programs
from workbench.servers.runtimes.builders import run_builder

FINDER = REMOTE / "find_programs.py"


class _Missing(msgspec.Struct):
    """What would be fetched, and the commands for it."""

    commands: Annotated[list[Text], msgspec.Meta(max_length=20)]
    packages: list[Any]
    bytes: Count


async def provide(
    machine: Machine, wanted: Sequence[str], *, install: bool, notify: Notify
) -> Programs:
    """Return the programs on that machine. `install`: whether missing ones may be unpacked there.

    A machine over SSH gets them from this computer where possible, otherwise by its own package
    manager. Raises MissingPrograms without that consent, PongbenchError when they cannot be
    provided.
    """
    if not wanted:
        return Programs()
    task = {
        "cache": machine.cache_dir,
        "work": f"{machine.run_dir}/tools",
        "install": install,
        "bring": not machine.is_local,
        "programs": {name: asdict(PROGRAMS[name]) for name in wanted},
    }

    def on_event(event: dict[str, Any]) -> None:
        if event["event"] == "fetching":
            notify(f"Fetching {quoted(str(event.get('title')))} for {machine.name}")

    try:
        event = await run_builder(machine, FINDER, task, on_event)
        for _ in wanted:
            if event.get("why") != "absent":
                break
            if await brought_programs.bring(machine, event, install=install, notify=notify):
                event = await run_builder(machine, FINDER, task, on_event)
            else:
                event = await run_builder(machine, FINDER, {**task, "bring": False}, on_event)
        if event["event"] == "ready":
            found = msgspec.convert(event, Programs)
            if lacking := set(wanted) - (set(found.paths) & set(found.versions)):
                raise msgspec.ValidationError(f"nothing of {min(lacking)}")
            return found
        raise _error(machine, event)
    except msgspec.ValidationError as error:
        problem = quoted(str(error))
        sentence = f"What '{machine.name}' says of its programs makes no sense ({problem})."
        raise PongbenchError(sentence) from None


def _error(machine: Machine, event: dict[str, Any]) -> PongbenchError:
    title = quoted(str(event.get("title", "A program")))
    detail = quoted(str(event.get("detail", ""))).rstrip(".")
    install = next((each.install for each in PROGRAMS.values() if each.title == title), "")
    if event.get("why") == "missing":
        missing = msgspec.convert(event, _Missing)
        return MissingPrograms(
            f"{title} is not on {machine.name}.",
            f"its distribution ({of_packages(len(missing.packages), missing.bytes)})",
            missing.commands,
            install=install,
        )
    connect = f"connect {machine.name} to the network once, what was fetched is then kept"
    update = f"run apt-get update there, or {install or f'install {title}'}"
    apt = apt_failed(detail, "its", connect, update)
    sentences = {
        "no-apt": f"{title} is not on {machine.name}, and it has no apt to fetch it with; install"
        f" it there by other means{f' (Debian: {install})' if install else ''}.",
        "apt": f"{title} is not on {machine.name}, and {apt}.",
        "broken": f"{title} on {machine.name} does not run: {detail}.",
        "no-version": f"{title} on {machine.name} states no version and may be another program of"
        f" that name ({detail}); {install or f'install {title}'}, or remove it.",
        "by-hand": f"{title} is not on {machine.name}; install it there: {detail}.",
        "disk": f"There is no place for {title} on {machine.name}: {detail}.",
        "slow": f"Fetching what is missing on {machine.name} timed out.",
    }
    lost = f"Looking for {title} on {machine.name} ended without a result: {detail or 'silence'}."
    return PongbenchError(sentences.get(str(event.get("why")), lost))
