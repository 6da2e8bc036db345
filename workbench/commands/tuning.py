"""Kernel settings at the terminal: what would be changed, and the consent to it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TextIO

from workbench.commands.asking import ask_at_terminal, confirm_at_terminal, is_interactive
from workbench.errors import BadInput
from workbench.machines.opening import open_machine
from workbench.machines.profiles import Profile
from workbench.machines.tuning import Rights, left_tuned, load_set, restore
from workbench.run.tuning import Tuning, TuningPlan, plan_tuning
from workbench.terminal import say


def tuning_at_terminal(
    name: str, *, yes: bool, alone: Callable[[], AbstractContextManager[object]] = nullcontext
) -> Tuning:
    """`yes`: consented to already. Raises BadInput without such a set, or a terminal to ask at."""
    load_set(name)
    if not yes and not is_interactive():
        raise BadInput(
            "Changing kernel settings needs consent, and there is no terminal to ask at; use"
            " --yes, or leave out --tune."
        )

    async def consent(plans: Sequence[TuningPlan]) -> bool:
        with alone():
            for plan in plans:
                show(plan)
        return yes or await confirm_at_terminal("Change these for the length of the run?", alone)

    return Tuning(name, consent)


def show(plan: TuningPlan, to: TextIO | None = None) -> None:
    """Print one line per setting to stderr, because a run's stdout may be read by a program."""
    to = to or sys.stderr
    if not plan.why_not:
        say(f"{plan.machine}, for the length of the run:", to=to)
    for sentence in plan.sentences():
        say(sentence if plan.why_not else f"    {sentence}", to=to)


async def preview_on(profile: Profile, name: str) -> None:
    """Print what a set would change on a machine, allowed or not; nothing is changed."""
    wanted = load_set(name)
    async with await open_machine(profile, ask=ask_at_terminal()) as machine:
        plan = await plan_tuning(machine, profile, wanted)
    for change in plan.changes:
        say(str(change))
    if plan.why_not:
        say(plan.why_not.text())


async def restore_on(profile: Profile) -> None:
    ask = ask_at_terminal()
    async with await open_machine(profile, ask=ask) as machine:
        if await left_tuned(machine):
            for sentence in await restore(machine, Rights.on(machine, profile, ask)):
                say(sentence)
