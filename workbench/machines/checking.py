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
from workbench.messages.notes import notice

LITTLE_SPACE = 500 << 20


@dataclass(frozen=True)
class Step:
    name: str
    state: Literal["passed", "warning", "failed"]
    text: str
    error: PongbenchError | None = None
    """The cause of a failure; may be a `hostkeys.HostKeyProblem` for the user to decide on."""
    found: Mapping[str, Any] = field(default_factory=dict)
    """Data behind the sentence: python, alive, cache_bytes, facts, cpus, changes (by set: key, now,
    wanted)."""


def step(name: str, text: str, *, warns: bool = False, **found: Any) -> Step:
    """Return one that did not fail."""
    return Step(name, "warning" if warns else "passed", text, found=found)


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
                yield _logged_in(what, shell, time.monotonic() - began)
                what = "Python"
                survey = await survey_machine(shell, profile)
                yield _python(what, survey)
                what = "Limits"
                fit(profile.name, survey)
                yield _limits(what, survey)
                yield _space(survey)
                what = "Leftover runs"
                yield leftover_runs(await clean(shell, survey), profile.name, survey.left_tuned)
                what = "Cache"
                yield cached(await cache_size(shell, survey), survey.work_dir)
                what = "Start the runner"
                machine = await start(profile, shell, survey)
            except BaseException:
                await to_the_end(shell.close())
                raise
        yield _runner(what, machine)
        if isinstance(machine, SshMachine):
            what = "Sessions"
            await machine.shell.test_sessions()
            yield step(what, "Enough concurrent SSH sessions are allowed.")
        what = "Cores"
        yield _cores(what, profile, machine)
        what = "Clock"
        yield _clock(what, (await machine.clock())[1])
        what = "System facts"
        yield _facts(what, await machine.facts(), machine.cpus)
        what = "Kernel settings"
        yield await _settings(what, machine)
        if isinstance(machine, SshMachine):
            text = f"Servers listen on {machine.bind}; the others reach them at {machine.reach}."
            yield step("Addresses", text)
    except PongbenchError as error:
        yield Step(what, "failed", str(error), error)
    finally:
        if machine:
            await machine.close()


def _logged_in(what: str, shell: Shell, seconds: float) -> Step:
    connection = shell.connection
    user, jumps = connection.ssh.get_extra_info("username"), len(connection.chain) - 1
    where = f"{connection.host} port {connection.port}"
    through = f" through {jumps} jump hosts" if jumps else ""
    return step(what, f"{user} logged in at {where}{through} in {seconds:.1f} s.")


def _python(what: str, survey: Survey) -> Step:
    text = f"Python {survey.version} on {survey.machine} with {' '.join(survey.libc)}."
    return step(what, text, python=survey.version)


def _space(survey: Survey) -> Step:
    little = survey.free_bytes < LITTLE_SPACE
    more = " Runtimes may need more; free some space." * little
    text = f"{formatting.size(survey.free_bytes)} free in {survey.work_dir}.{more}"
    return step("Space", text, warns=little)


def _clock(what: str, uncertainty_us: int) -> Step:
    text = f"Clock offset known to ± {uncertainty_us:,} µs."
    return step(what, text, warns=uncertainty_us >= 1000)


def _limits(what: str, survey: Survey) -> Step:
    left = survey.processes_left
    if left is None:
        return step(what, "Programs can be executed; the number of processes is not limited.")
    text = f"Programs can be executed, at most {left:,} more processes."
    few = left < FEW_PROCESSES
    more = " Servers with many threads or processes may need more (ulimit -u)." * few
    return step(what, text + more, warns=few)


def _runner(what: str, machine: Machine) -> Step:
    beside = notice("shared-machine", machine=machine.name, there=list(machine.beside))
    also = f" {beside.text()}" if machine.beside else ""
    return step(what, f"Run directory: {machine.run_dir}.{also}", warns=bool(also))


def _cores(what: str, profile: Profile, machine: Machine) -> Step:
    """Raises BadInput for a core that the machine does not have."""
    placed = place(profile.cpus, machine.cpus, machine=profile.name)
    server, agents = (", ".join(map(str, cores)) for cores in (placed.server, placed.agents))
    return step(what, f"As target and client: core {server} for servers, {agents} for agents.")


def leftover_runs(found: Cleaned, machine: str, tuned: LeftTuning | None) -> Step:
    removed, killed = found.removed, found.killed
    texts = []
    if removed:
        runs = "1 leftover run" if removed == 1 else f"{removed} leftover runs"
        number = {0: "no process", 1: "1 process"}.get(killed, f"{killed} processes")
        texts.append(f"Removed {runs} with {number}.")
    if tuned:
        texts += [tuned.sentence(machine), *([] if tuned.alive else [HOW_TO_RESTORE])]
    nothing = "No leftovers of crashed runs."
    alive = msgspec.to_builtins(found.alive)
    return step("Leftover runs", " ".join(texts) or nothing, warns=bool(texts), alive=alive)


def cached(size: int, folder: str, freed: int = 0) -> Step:
    """Describe the work directory: its size, and what was just removed of it, in bytes."""
    text = f"{folder} has {formatting.size(size)} of runtimes and agents, cached for later runs."
    if not size:
        text = f"{folder} is empty; the first run copies what it needs."
    if freed:
        text = f"{formatting.size(freed)} removed. {text}"
    return step("Cache", text, cache_bytes=size)


async def _settings(what: str, machine: Machine) -> Step:
    """Preview what the sets of kernel settings would change; nothing is changed."""
    sets = {name: await preview(machine, load_set(name)) for name in set_names()}
    changes = {
        name: [[change.key, change.now, change.wanted] for change in found]
        for name, found in sets.items()
    }
    needed = {name: sum(change.needed for change in found) for name, found in sets.items()}
    texts = [f"set '{name}' would change {number}" for name, number in needed.items()]
    text = formatting.capital(f"{', '.join(texts) or 'no sets'}.")
    return step(what, text, changes=changes)


def _facts(what: str, facts: dict[str, Any], cpus: Sequence[int]) -> Step:
    known = [str(facts[name]) for name in ("distribution", "kernel", "cpu_model") if name in facts]
    cores = len(facts.get("cpus_allowed", []))
    text = f"{', '.join([*known, formatting.number_of(cores, 'cores')])}."
    load = facts.get("load_average")
    busy = load is not None and cores > 0 and load[0] > cores / 4
    if load and busy:
        text += f" Its load average is already {load[0]}; stop other programs there."
    return step(what, text, warns=busy, facts=facts, cpus=list(cpus))
