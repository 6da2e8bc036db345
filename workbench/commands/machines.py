"""`pongbench machines`: profiles, trust, check, clean."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from rich import box
from rich.table import Table
from rich.text import Text

from workbench import formatting
from workbench.commands.asking import add_remember, ask_at_terminal
from workbench.commands.profile_options import add_fields, given_in
from workbench.errors import BadInput, ExitCode
from workbench.machines import profiles
from workbench.machines.hostkeys import ChangedHostKey, HostKeyProblem, trust
from workbench.machines.profiles import Profile
from workbench.terminal import Terminal, say, to_stderr
from workbench.untrusted import indented

if TYPE_CHECKING:
    from workbench.machines.checking import Step
    from workbench.machines.tuning import LeftTuning

    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

SIGNS = {"passed": ("ok", "green"), "warning": ("!!", "yellow"), "failed": ("no", "red")}


def add_parser(subparsers: Subparsers) -> None:
    """Add `machines` to the commands."""
    parser = subparsers.add_parser("machines", help="the machines that offer load and run servers")
    parser.set_defaults(handler=run_list)
    actions = parser.add_subparsers(metavar="ACTION")

    def action(name: str, handler: Any, help: str) -> argparse.ArgumentParser:
        added: argparse.ArgumentParser = actions.add_parser(name, help=help)
        added.set_defaults(handler=handler)
        if name != "list":
            added.add_argument("name", metavar="NAME", help="a machine's name")
        return added

    action("list", run_list, "all machines (default)")
    action("show", run_show, "print a profile")
    add_fields(action("add", run_add, "add a profile of a machine reached over SSH"))
    add_fields(action("edit", run_edit, "change a profile"))
    copy = action("duplicate", run_duplicate, "copy a profile under another name")
    copy.add_argument("new", metavar="NEW", help="name of the copy")
    action("remove", run_remove, "remove a profile; nothing is changed on the machine")
    trusting = action("trust", run_trust, "show a machine's host key, or trust it")
    trusting.add_argument(
        "--fingerprint", metavar="SHA256:...", help="fingerprint of the key to trust"
    )
    add_remember(action("check", run_check, "log in, check the system, start and end a run"))
    tuning = action("tune", run_tune, "show what a set of kernel settings would change")
    tuning.add_argument("--preview", metavar="SET", required=True, help="nothing is changed")
    cleaning = action("clean", run_clean, "remove leftovers of crashed runs")
    cleaning.add_argument(
        "--cache", action="store_true", help="also remove the work directory with all runtimes"
    )


def run_list(args: argparse.Namespace) -> int:
    """Print all profiles; report invalid ones."""
    table = Table("Name", "Reached", "Roles", "Description", box=box.SIMPLE_HEAD)
    for name in profiles.profile_names():
        try:
            profile = profiles.load_profile(name)
        except BadInput as problem:
            to_stderr(str(problem))
            continue
        whose = "" if profiles.is_own(name) else " (shipped)"
        row = (name + whose, profile.reached, ", ".join(profile.roles), profile.description)
        table.add_row(*row)
    Terminal().print(table)
    return ExitCode.DONE


def run_show(args: argparse.Namespace) -> int:
    """Print one profile without unset keys."""
    profile = profiles.load_profile(args.name)
    grid = Table.grid(padding=(0, 2))
    for key, value in msgspec.to_builtins(profile).items():
        text = ", ".join(value) if isinstance(value, list) else str(value)
        grid.add_row(key, text)
    Terminal().print(grid)
    return ExitCode.DONE


def run_add(args: argparse.Namespace) -> int:
    """Save a new profile."""
    profile = profiles.make_profile({"name": args.name, "connector": "ssh", **given_in(args)})
    _saved(profile, profiles.save_profile(profile, replace=False))
    return ExitCode.DONE


def _saved(profile: Profile, path: Path) -> None:
    to_stderr(f"Saved as {path}: {profile.reached}.")


def run_edit(args: argparse.Namespace) -> int:
    """Save a profile with changed values."""
    profiles.load_profile(args.name)
    given = given_in(args)
    if not given:
        raise BadInput(f"Say what to change: `pongbench machines edit {args.name} --help`.")
    path = profiles.change_profile(args.name, given)
    _saved(profiles.load_profile(args.name), path)
    return ExitCode.DONE


def run_duplicate(args: argparse.Namespace) -> int:
    """Save a copy."""
    to_stderr(f"Saved as {profiles.duplicate_profile(args.name, args.new)}.")
    return ExitCode.DONE


def run_remove(args: argparse.Namespace) -> int:
    """Move one of the user's profiles to the trash."""
    ((_, kept),) = profiles.remove_profile(args.name)
    to_stderr(f"Moved to {kept}.")
    return ExitCode.DONE


def run_trust(args: argparse.Namespace) -> int:
    """Show the key that is not trusted yet; trust it if its fingerprint was given."""
    profile = _remote(args.name)
    try:
        _run(_log_in(profile))
    except HostKeyProblem as problem:
        return trust_or_show(problem, args)
    to_stderr(f"The host key of '{profile.name}' is already trusted.")
    return ExitCode.DONE


def run_check(args: argparse.Namespace) -> int:
    """Print every step; 1 if one failed."""
    return _run(_check(profiles.load_profile(args.name), remember=args.remember))


def run_tune(args: argparse.Namespace) -> int:
    """Print what a set would change; only runs change it (`pongbench run --tune`)."""
    from workbench.commands.tuning import preview_on  # noqa: PLC0415  slow to import

    return _run(preview_on(profiles.load_profile(args.name), args.preview))


def run_clean(args: argparse.Namespace) -> int:
    """Print and remove leftovers of crashed runs."""
    profile = _remote(args.name)
    return _run(clean_up(profile, cache=args.cache))


def how_to_trust(problem: HostKeyProblem) -> str:
    """How to trust the key, as a sentence. Only for a new key does it contain a command to paste.
    For a changed key, the user must get the fingerprint from the machine itself, or the check would
    be meaningless."""
    command = f"pongbench machines trust {problem.machine} --fingerprint"
    if isinstance(problem, ChangedHostKey):
        return (
            "To trust the new key, read its fingerprint on the machine itself (ssh-keygen -lf"
            f" /etc/ssh/ssh_host_*_key.pub) and give that to `{command}`."
        )
    return f"To trust it: {command} {problem.fingerprint}"


def trust_or_show(problem: HostKeyProblem, args: argparse.Namespace) -> int:
    """Trust the key whose fingerprint was given; without a fingerprint, show the key."""
    if args.fingerprint == problem.fingerprint:
        trust(problem.host, problem.port, problem.key)
        to_stderr(f"The host key of {problem.host} is now trusted: {problem.fingerprint}.")
        return ExitCode.DONE
    if args.fingerprint:
        raise BadInput(
            f"{problem.host} shows {problem.fingerprint}, not {args.fingerprint}; nothing was"
            " trusted. Is this the right machine?"
        )
    to_stderr(str(problem))
    if isinstance(problem, ChangedHostKey):
        to_stderr(f"The known key is in {problem.file}.")
        to_stderr(how_to_trust(problem))
    else:
        say(f"pongbench machines trust {args.name} --fingerprint {problem.fingerprint}")
    return ExitCode.FAILED


async def _log_in(profile: Profile) -> None:
    from workbench.machines.sshconnect import connect  # noqa: PLC0415  slow to import

    await (await connect(profile, ask_at_terminal())).close()


async def _check(profile: Profile, *, remember: bool) -> int:
    from workbench.machines.checking import check_machine  # noqa: PLC0415  slow to import

    console = Terminal()
    steps: list[Step] = []
    async for step in check_machine(profile, ask=ask_at_terminal(remember=remember)):
        steps.append(step)
        text = indented(f"  {step.name}: {step.text}")
        console.print(Text.assemble(SIGNS[step.state], text), soft_wrap=True)
    problem = steps[-1].error
    if isinstance(problem, HostKeyProblem):
        to_stderr(how_to_trust(problem))
    return ExitCode.FAILED if problem else ExitCode.DONE


async def clean_up(profile: Profile, *, cache: bool) -> int:
    """Remove the leftovers of crashed runs from a machine, and with `cache` the runtimes kept
    there."""
    from workbench.machines.ssh import clean_machine  # noqa: PLC0415  slow to import

    async with clean_machine(profile, ask_at_terminal()) as machine:
        found, left_tuned = machine.cleaned, machine.survey.left_tuned
        for crashed in found.found:
            say(f"removed leftover run {crashed.run} with {len(crashed.processes)} processes")
            for command in crashed.processes:
                say(f"    {command}")
        for alive in found.alive:
            say(f"still running: run {alive.run} of {alive.holder or 'an unknown user'}")
        if not found.found and not left_tuned:
            say("No leftovers of crashed runs.")
        if left_tuned:
            await _clean_tuning(profile, left_tuned)
        if cache:
            freed = await machine.remove_cache()
            say(f"removed {machine.survey.work_dir}: {formatting.size(freed)}")
    return ExitCode.DONE


async def _clean_tuning(profile: Profile, left: LeftTuning) -> None:
    """Called before the work directory is removed, because restoring takes a run there."""
    from workbench.commands.tuning import restore_on  # noqa: PLC0415  slow to import
    from workbench.machines.tuning import HOW_TO_RESTORE  # noqa: PLC0415

    say(left.sentence(profile.name))
    if profile.tuning and not left.alive:
        await restore_on(profile)
    elif not left.alive:
        say(f"They were not restored: this profile does not allow tuning. {HOW_TO_RESTORE}")


def _run(work: Coroutine[Any, Any, Any]) -> int:
    return asyncio.run(work) or ExitCode.DONE


def _remote(name: str) -> Profile:
    profile = profiles.load_profile(name)
    if profile.connector == "local":
        raise BadInput(f"'{name}' is this computer; this command is for machines over SSH.")
    return profile
