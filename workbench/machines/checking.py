"""Checks a machine before a run needs it, step by step."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec

from workbench import formatting
from workbench.closing import to_the_end
from workbench.errors import PongbenchError
from workbench.machines.base import Machine
from workbench.machines.local import open_local
from workbench.machines.profiles import Profile, place
from workbench.machines.secrets import Ask, never_ask
from workbench.machines.shell import Shell
from workbench.machines.ssh import (
    FEW_PROCESSES,
    Cleaned,
    SshMachine,
    Survey,
    cache_size,
    clean,
    fit,
    open_shell,
    start,
    survey_machine,
)
from workbench.machines.tuning import HOW_TO_RESTORE, LeftTuning, load_set, preview, set_names
from workbench.messages.machines import SharedMachine

LITTLE_SPACE = 500 << 20


@dataclass(frozen=True)
class Step:
    """One step of a check, and its result."""

    name: str
    state: Literal["passed", "warning", "failed"]
    text: str
    """A sentence."""
    error: PongbenchError | None = None
    """The cause of a failure; may be a `hostkeys.HostKeyProblem` for the user to decide on."""
    found: Mapping[str, Any] = field(default_factory=dict)
    """The data behind the sentence: python, user, work_dir, found, alive, cache_bytes, clock_us,
    facts, cpus, bind, reach, changes (by set: key, now, wanted)."""


async def check_machine(profile: Profile, *, ask: Ask = never_ask) -> AsyncIterator[Step]:
    """Yield each step when it is done; only the last one can have failed. Leaves nothing behind."""
    what = "Log in"
    machine: Machine | None = None
    try:
        if profile.connector == "local":
            what = "Start the runner"
            machine = await open_local(name=profile.name)
        else:
            began = time.monotonic()
            shell = await open_shell(profile, ask)
            try:
                yield _logged_in(shell, time.monotonic() - began)
                what = "Python"
                survey = await survey_machine(shell, profile)
                yield Step(
                    what,
                    "passed",
                    f"Python {survey.version} on {survey.machine} with {' '.join(survey.libc)}.",
                    found={
                        "python": survey.version,
                        "user": survey.user,
                        "work_dir": survey.work_dir,
                    },
                )
                what = "Limits"
                fit(profile.name, survey)
                yield _limits(survey)
                yield _space(survey.free_bytes, survey.work_dir)
                what = "Leftover runs"
                yield leftover_runs(await clean(shell, survey), profile.name, survey.left_tuned)
                what = "Cache"
                yield cached(await cache_size(shell, survey), survey.work_dir)
                what = "Start the runner"
                machine = await start(profile, shell, survey)
            except BaseException:
                await to_the_end(shell.close())
                raise
        yield _runner(machine)
        if isinstance(machine, SshMachine):
            what = "Sessions"
            yield await _sessions(machine.shell)
        what = "Cores"
        yield _cores(profile, machine)
        what = "Clock"
        yield _clock(*await machine.clock())
        what = "System facts"
        yield _facts(await machine.facts(), machine.cpus)
        what = "Kernel settings"
        yield await _settings(machine)
        if isinstance(machine, SshMachine):
            what = "Addresses"
            text = f"Servers listen on {machine.bind}; the others reach them at {machine.reach}."
            yield Step(what, "passed", text, found={"bind": machine.bind, "reach": machine.reach})
    except PongbenchError as error:
        yield Step(what, "failed", str(error), error)
    finally:
        if machine:
            await machine.close()


def _logged_in(shell: Shell, seconds: float) -> Step:
    connection = shell.connection
    user = connection.ssh.get_extra_info("username")
    through = (
        f" through {len(connection.chain) - 1} jump hosts" if len(connection.chain) > 1 else ""
    )
    where = f"{connection.host} port {connection.port}"
    return Step("Log in", "passed", f"{user} logged in at {where}{through} in {seconds:.1f} s.")


def _runner(machine: Machine) -> Step:
    text = f"Run directory: {machine.run_dir}."
    if there := machine.beside:
        shared = SharedMachine(machine=machine.name, there=list(there))
        return Step("Start the runner", "warning", f"{text} {shared.text()}")
    return Step("Start the runner", "passed", text)


def _limits(survey: Survey) -> Step:
    left = survey.processes_left
    if left is None:
        return Step(
            "Limits", "passed", "Programs can be executed; the number of processes is not limited."
        )
    text = f"Programs can be executed, at most {left:,} more processes."
    if left < FEW_PROCESSES:
        text += " Servers with many threads or processes may need more (ulimit -u)."
        return Step("Limits", "warning", text)
    return Step("Limits", "passed", text)


async def _sessions(shell: Shell) -> Step:
    await shell.test_sessions()
    return Step("Sessions", "passed", "Enough concurrent SSH sessions are allowed.")


def _cores(profile: Profile, machine: Machine) -> Step:
    """Check the cores. Raises BadInput for a core that the machine does not have."""
    placed = place(profile.cpus, machine.cpus, machine=profile.name)
    server, agents = (", ".join(map(str, cores)) for cores in (placed.server, placed.agents))
    text = f"As target and client: core {server} for servers, {agents} for agents."
    return Step("Cores", "passed", text)


def _space(free_bytes: int, folder: str) -> Step:
    text = f"{formatting.size(free_bytes)} free in {folder}."
    if free_bytes < LITTLE_SPACE:
        return Step("Space", "warning", f"{text} Runtimes may need more; free some space.")
    return Step("Space", "passed", text)


def leftover_runs(found: Cleaned, machine: str, tuned: LeftTuning | None) -> Step:
    """Describe the leftovers of crashed runs that were removed."""
    removed, killed = found.removed, found.killed
    data = msgspec.to_builtins({"found": found.found, "alive": found.alive})
    texts = []
    if removed:
        runs = "1 leftover run" if removed == 1 else f"{removed} leftover runs"
        number = {0: "no process", 1: "1 process"}.get(killed, f"{killed} processes")
        texts.append(f"Removed {runs} with {number}.")
    if tuned:
        data["left_tuned"] = tuned.sentence(machine)
        texts += [data["left_tuned"], *([] if tuned.alive else [HOW_TO_RESTORE])]
    if not texts:
        return Step("Leftover runs", "passed", "No leftovers of crashed runs.", found=data)
    return Step("Leftover runs", "warning", " ".join(texts), found=data)


def cached(size: int, folder: str, freed: int = 0) -> Step:
    """Describe the work directory: its size, and what was just removed of it, in bytes."""
    text = f"{folder} has {formatting.size(size)} of runtimes and agents, cached for later runs."
    if not size:
        text = f"{folder} is empty; the first run copies what it needs."
    if freed:
        text = f"{formatting.size(freed)} removed. {text}"
    return Step("Cache", "passed", text, found={"cache_bytes": size})


def _clock(offset_us: int, uncertainty_us: int) -> Step:
    text = f"Clock offset known to ± {uncertainty_us:,} µs."
    found = {"clock_us": [offset_us, uncertainty_us]}
    return Step("Clock", "passed" if uncertainty_us < 1000 else "warning", text, found=found)


async def _settings(machine: Machine) -> Step:
    """Preview what the sets of kernel settings would change; nothing is changed."""
    sets = {name: await preview(machine, load_set(name)) for name in set_names()}
    changes = {
        name: [[change.key, change.now, change.wanted] for change in found]
        for name, found in sets.items()
    }
    needed = {name: sum(change.needed for change in found) for name, found in sets.items()}
    texts = [f"set '{name}' would change {number}" for name, number in needed.items()]
    text = formatting.capital(f"{', '.join(texts) or 'no sets'}.")
    return Step("Kernel settings", "passed", text, found={"changes": changes})


def _facts(facts: dict[str, Any], cpus: Sequence[int]) -> Step:
    known = [str(facts[name]) for name in ("distribution", "kernel", "cpu_model") if name in facts]
    cores = len(facts.get("cpus_allowed", []))
    known.append(formatting.number_of(cores, "cores"))
    load = facts.get("load_average")
    data = {"facts": facts, "cpus": list(cpus)}
    if load and cores and load[0] > cores / 4:
        text = (
            f"{', '.join(known)}. Its load average is already {load[0]}; stop other programs there."
        )
        return Step("System facts", "warning", text, found=data)
    return Step("System facts", "passed", f"{', '.join(known)}.", found=data)
