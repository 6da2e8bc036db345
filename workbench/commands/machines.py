"""`pongbench machines`: the profiles there are, trust, check, clean."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

import msgspec
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from workbench import wording
from workbench.commands.asking import ask_at_terminal
from workbench.commands.opening import tell
from workbench.commands.profile_options import add_fields, given_in
from workbench.errors import BadInput, ExitCode, PongbenchError
from workbench.machines import profiles
from workbench.machines.hostkeys import ChangedHostKey, HostKeyProblem, trust
from workbench.machines.profiles import Profile

if TYPE_CHECKING:
    from workbench.machines.checking import Step

    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

SIGNS = {"passed": "[green]ok[/green]", "warning": "[yellow]!![/yellow]", "failed": "[red]no[/red]"}


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
    action("show", run_show, "what a profile says")
    add_fields(action("add", run_add, "describe a machine that is reached over SSH"))
    add_fields(action("edit", run_edit, "change what a profile says"))
    copy = action("duplicate", run_duplicate, "a profile like another one")
    copy.add_argument("new", metavar="NEW", help="its name")
    action("remove", run_remove, "forget a machine; nothing happens on it")
    trusting = action("trust", run_trust, "show a machine's host key, or trust it")
    trusting.add_argument(
        "--fingerprint", metavar="SHA256:...", help="of the key that is to be trusted"
    )
    action("check", run_check, "log in, look around, start and end a run")
    tuning = action("tune", run_tune, "what a set of kernel settings would change there")
    tuning.add_argument("--preview", metavar="SET", required=True, help="nothing is changed")
    cleaning = action("clean", run_clean, "remove what a crash left there")
    cleaning.add_argument(
        "--cache", action="store_true", help="remove the work directory with all runtimes, too"
    )


def run_list(args: argparse.Namespace) -> int:
    """Print all profiles, broken ones with what is wrong."""
    table = Table("Name", "Reached", "Roles", "Description", box=box.SIMPLE_HEAD)
    for name in profiles.profile_names():
        try:
            profile = profiles.load_profile(name)
        except BadInput as problem:
            tell(str(problem))
            continue
        whose = "" if profiles.is_own(name) else " (shipped)"
        row = (name + whose, _reached(profile), ", ".join(profile.roles), profile.description)
        table.add_row(*map(escape, row))
    Console().print(table)
    return ExitCode.DONE


def run_show(args: argparse.Namespace) -> int:
    """Print one profile, with what it does not say left out."""
    profile = profiles.load_profile(args.name)
    grid = Table.grid(padding=(0, 2))
    for key, value in msgspec.to_builtins(profile).items():
        text = ", ".join(value) if isinstance(value, list) else str(value)
        grid.add_row(key, escape(text))
    Console().print(grid)
    return ExitCode.DONE


def run_add(args: argparse.Namespace) -> int:
    """Save a new profile."""
    profile = profiles.make_profile({"name": args.name, "connector": "ssh", **given_in(args)})
    tell(f"Saved as {profiles.save_profile(profile, replace=False)}.")
    return ExitCode.DONE


def run_edit(args: argparse.Namespace) -> int:
    """Save a profile with other values."""
    profile, given = profiles.load_profile(args.name), given_in(args)
    if not given:
        raise BadInput(f"Say what to change: `pongbench machines edit {args.name} --help`.")
    before = msgspec.to_builtins(profile)
    if "cpus" in given:
        given["cpus"] = {**before.get("cpus", {}), **given["cpus"]}
    values = {**before, **given}
    tell(f"Saved as {profiles.save_profile(profiles.make_profile(values))}.")
    return ExitCode.DONE


def run_duplicate(args: argparse.Namespace) -> int:
    """Save a copy."""
    tell(f"Saved as {profiles.duplicate_profile(args.name, args.new)}.")
    return ExitCode.DONE


def run_remove(args: argparse.Namespace) -> int:
    """Remove a profile of the user's."""
    profiles.remove_profile(args.name)
    return ExitCode.DONE


def run_trust(args: argparse.Namespace) -> int:
    """Show the key that is not trusted yet; trust it when its fingerprint was given."""
    profile = _remote(args.name)
    try:
        _run(_log_in(profile))
    except HostKeyProblem as problem:
        return _trust(problem, args)
    tell(f"The host key of '{profile.name}' is trusted already.")
    return ExitCode.DONE


def run_check(args: argparse.Namespace) -> int:
    """Print every step; 1 when one failed."""
    return _run(_check(profiles.load_profile(args.name)))


def run_tune(args: argparse.Namespace) -> int:
    """Print what a set would change; only runs do (`pongbench run --tune`)."""
    from workbench.commands.tuning import preview_on  # noqa: PLC0415  slow to import

    return _run(preview_on(profiles.load_profile(args.name), args.preview))


def run_clean(args: argparse.Namespace) -> int:
    """Say what dead runs left, and remove it."""
    profile = _remote(args.name)
    status = _run(_clean(profile, cache=args.cache))
    if profile.tuning:
        from workbench.commands.tuning import put_back_on  # noqa: PLC0415  slow to import

        _run(put_back_on(profile))
    return status


def how_to_trust(problem: HostKeyProblem) -> str:
    """The command that trusts this key."""
    name = problem.machine
    return f"pongbench machines trust {name} --fingerprint {problem.fingerprint}"


def _trust(problem: HostKeyProblem, args: argparse.Namespace) -> int:
    if args.fingerprint == problem.fingerprint:
        trust(problem.host, problem.port, problem.key)
        tell(f"The host key of {problem.host} is trusted from now on: {problem.fingerprint}.")
        return ExitCode.DONE
    if args.fingerprint:
        raise BadInput(
            f"{problem.host} shows {problem.fingerprint}, not {args.fingerprint}; nothing was"
            " trusted. Is it the right machine?"
        )
    tell(str(problem))
    if isinstance(problem, ChangedHostKey) and problem.file:
        tell(f"The known key stands in {problem.file}.")
    command = f"pongbench machines trust {args.name} --fingerprint {problem.fingerprint}"
    print(command)
    return ExitCode.FAILED


async def _log_in(profile: Profile) -> None:
    from workbench.machines.sshconnect import connect  # noqa: PLC0415  slow to import

    await (await connect(profile, ask_at_terminal())).close()


async def _check(profile: Profile) -> int:
    from workbench.machines.checking import check_machine  # noqa: PLC0415  slow to import

    console = Console()
    steps: list[Step] = []
    async for step in check_machine(profile, ask=ask_at_terminal()):
        steps.append(step)
        console.print(f"{SIGNS[step.state]}  {step.name}: {escape(step.text)}", soft_wrap=True)
    problem = steps[-1].error
    if isinstance(problem, HostKeyProblem):
        tell(f"To trust it: {how_to_trust(problem)}")
    return ExitCode.FAILED if problem else ExitCode.DONE


async def _clean(profile: Profile, *, cache: bool) -> int:
    from workbench.machines.ssh import (  # noqa: PLC0415  slow to import
        clean,
        look_around,
        open_shell,
        remove_cache,
    )

    shell = await open_shell(profile, ask_at_terminal())
    try:
        survey = await look_around(shell, profile)
        found = await clean(shell, survey)
        for run in found["found"]:
            print(f"removed run {run['run']} with {len(run['processes'])} processes")
            for command in run["processes"]:
                print(f"    {command}")
        for run in found["alive"]:
            print(f"left alone: run {run['run']} of {run['holder'] or 'somebody'}")
        if not found["found"]:
            print("No dead run left anything.")
        if cache and found["alive"]:
            raise PongbenchError(
                f"'{profile.name}' is in use, so {survey.work_dir} stays; try again later."
            )
        if cache:
            freed = await remove_cache(shell, survey)
            print(f"removed {survey.work_dir}: {wording.size(freed)}")
    finally:
        await shell.close()
    return ExitCode.DONE


def _run(work: Coroutine[Any, Any, Any]) -> int:
    return asyncio.run(work) or ExitCode.DONE


def _remote(name: str) -> Profile:
    profile = profiles.load_profile(name)
    if profile.connector == "local":
        raise BadInput(f"'{name}' is this computer; there is nothing to do over SSH.")
    return profile


def _reached(profile: Profile) -> str:
    if profile.connector == "local":
        return "this computer"
    user = f"{profile.user}@" if profile.user else ""
    port = f":{profile.port}" if profile.port else ""
    via = f" via {profile.jump}" if profile.jump else ""
    return f"{user}{profile.address}{port}{via}"
