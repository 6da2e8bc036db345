"""`pongbench machines`: profiles, trust, check, clean."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path
from typing import Any, get_args

import msgspec
from rich import box
from rich.table import Table
from rich.text import Text

from workbench import formatting
from workbench.commands.asking import ask_at_terminal
from workbench.commands.shared import add, add_action, add_flag, add_many
from workbench.commands.tuning import preview_on, restore_on
from workbench.config.yaml import dumped
from workbench.errors import BadInput, ExitCode
from workbench.machines import profiles
from workbench.machines.checking import Step, check_machine
from workbench.machines.hostkeys import ChangedHostKey, HostKeyProblem, trust
from workbench.machines.profiles import Auth, Profile, Role, Sudo
from workbench.machines.ssh import clean_machine
from workbench.machines.sshconnect import connect
from workbench.machines.tuning import HOW_TO_RESTORE, LeftTuning
from workbench.terminal import Terminal, say, to_stderr, write
from workbench.untrusted import indented

SIGNS = {"passed": ("ok", "green"), "warning": ("!!", "yellow"), "failed": ("no", "red")}
_TEXTS = {
    "description": "free text",
    "address": "a name, an IP address or a Host of ~/.ssh/config",
    "user": "user name to log in with",
    "key": "file of the private key",
    "jump": "jump host: a profile, or [user@]host[:port]",
    "work_dir": "the directory kept on the machine",
    "python": "Python command on the machine",
    "reach": "address at which other machines reach its servers",
    "bind": "address its servers listen on",
}
"""Keys of a profile that are options of the same names."""


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(handler=run_list)
    actions = parser.add_subparsers(metavar="ACTION")

    def action(name: str, handler: Any, help: str) -> argparse.ArgumentParser:
        added = add_action(actions, name, handler, help)
        if name != "list":
            added.add_argument("name", metavar="NAME", help="a machine's name")
        return added

    action("list", run_list, "all machines (default)")
    action("show", run_show, "print a profile")
    _add_fields(action("add", run_add, "add a profile of a machine reached over SSH"))
    _add_fields(action("edit", run_edit, "change a profile"))
    copy = action("duplicate", run_duplicate, "copy a profile under another name")
    copy.add_argument("new", metavar="NEW", help="name of the copy")
    action("remove", run_remove, "remove a profile; nothing is changed on the machine")
    trusting = action("trust", run_trust, "show a machine's host key, or trust it")
    trusting.add_argument(
        "--fingerprint", metavar="SHA256:...", help="fingerprint of the key to trust"
    )
    add(action("check", run_check, "log in, check the system, start and end a run"), "--remember")
    tuning = action("tune", run_tune, "show what a set of kernel settings would change")
    tuning.add_argument("--preview", metavar="SET", required=True, help="nothing is changed")
    cleaning = action("clean", run_clean, "remove leftovers of crashed runs")
    add_flag(cleaning, "--cache", "also remove the work directory with all runtimes")


def _add_fields(parser: argparse.ArgumentParser) -> None:
    for name, help in _TEXTS.items():
        parser.add_argument(f"--{name.replace('_', '-')}", metavar="TEXT", help=help)
    parser.add_argument("--port", type=int, help="port of sshd")
    parser.add_argument("--auth", choices=get_args(Auth), help="authentication method")
    parser.add_argument("--sudo", choices=get_args(Sudo), help="how root privileges are obtained")
    add_many(parser, "--role", None, "target or client", choices=get_args(Role))
    for who in ("server", "agent"):
        help = f"cores for the {who}: auto, or numbers such as 2,4-7"
        parser.add_argument(f"--{who}-cpus", metavar="CORES", help=help)
    for name, help in (
        ("tuning", "allow kernel settings to be changed"),
        ("ssh-config", "use ~/.ssh/config"),
    ):
        parser.add_argument(f"--{name}", action=argparse.BooleanOptionalAction, help=help)


def _given_in(args: argparse.Namespace) -> dict[str, Any]:
    """Return the given options, as keys of a profile. Raises BadInput."""
    names = (*_TEXTS, "port", "auth", "sudo", "tuning", "ssh_config")
    given = {name: value for name in names if (value := getattr(args, name)) is not None}
    if args.role:
        given["roles"] = args.role
    cpus: dict[str, Any] = {}
    for who, text in (("server", args.server_cpus), ("agent", args.agent_cpus)):
        if text is None:
            continue
        cpus[who] = profiles.cores_in(text)
        if cpus[who] == text != "auto":
            raise BadInput(
                f"--{who}-cpus: {text!r} names no cores; write auto, or numbers such as 2,4-7."
            )
    return {**given, **({"cpus": cpus} if cpus else {})}


def run_list(args: argparse.Namespace) -> None:
    table = Table("Name", "Reached", "Roles", "Description", box=box.SIMPLE_HEAD)
    for name in profiles.profile_names():
        try:
            profile = profiles.load_profile(name)
        except BadInput as problem:
            to_stderr(str(problem))
            continue
        whose = "" if profiles.is_own(name) else " (shipped)"
        roles = ", ".join(profile.roles)
        table.add_row(name + whose, profile.reached, roles, profile.description)
    Terminal().print(table)


def run_show(args: argparse.Namespace) -> None:
    profile = profiles.load_profile(args.name)
    write(dumped(msgspec.to_builtins(profile), default_flow_style=None))


def run_add(args: argparse.Namespace) -> None:
    profile = profiles.make_profile({"name": args.name, "connector": "ssh", **_given_in(args)})
    _saved(profile, profiles.save_profile(profile, replace=False))


def _saved(profile: Profile, path: Path) -> None:
    to_stderr(f"Saved as {path}: {profile.reached}.")


def run_edit(args: argparse.Namespace) -> None:
    profiles.load_profile(args.name)
    given = _given_in(args)
    if not given:
        raise BadInput(f"Say what to change: `pongbench machines edit {args.name} --help`.")
    path = profiles.change_profile(args.name, given)
    _saved(profiles.load_profile(args.name), path)


def run_duplicate(args: argparse.Namespace) -> None:
    to_stderr(f"Saved as {profiles.duplicate_profile(args.name, args.new)}.")


def run_remove(args: argparse.Namespace) -> None:
    ((_, kept),) = profiles.remove_profile(args.name)
    to_stderr(f"Moved to {kept}.")


def run_trust(args: argparse.Namespace) -> int:
    """Show the key that is not trusted yet; trust it if its fingerprint was given."""
    profile = _remote(args.name)
    try:
        asyncio.run(_log_in(profile))
    except HostKeyProblem as problem:
        return trust_or_show(problem, args)
    to_stderr(f"The host key of '{profile.name}' is already trusted.")
    return ExitCode.DONE


def run_check(args: argparse.Namespace) -> int:
    """Print every step; 1 if one failed."""
    return asyncio.run(_check(profiles.load_profile(args.name), remember=args.remember))


def run_tune(args: argparse.Namespace) -> None:
    """Print what a set would change; only runs change it (`pongbench run --tune`)."""
    asyncio.run(preview_on(profiles.load_profile(args.name), args.preview))


def run_clean(args: argparse.Namespace) -> None:
    asyncio.run(clean_up(_remote(args.name), cache=args.cache))


def how_to_trust(problem: HostKeyProblem) -> str:
    """How to trust the key, as a sentence; a command to paste is only in that for a new key. The
    fingerprint of a changed one must come from the machine itself, or it would prove nothing."""
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
    await (await connect(profile, ask_at_terminal())).close()


async def _check(profile: Profile, *, remember: bool) -> int:
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


async def clean_up(profile: Profile, *, cache: bool) -> None:
    """Remove leftovers of crashed runs from a machine; `cache`: the runtimes kept there, too."""
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


async def _clean_tuning(profile: Profile, left: LeftTuning) -> None:
    """Called before the work directory is removed, because restoring takes a run there."""
    say(left.sentence(profile.name))
    if profile.tuning and not left.alive:
        await restore_on(profile)
    elif not left.alive:
        say(f"They were not restored: this profile does not allow tuning. {HOW_TO_RESTORE}")


def _remote(name: str) -> Profile:
    profile = profiles.load_profile(name)
    if profile.connector == "local":
        raise BadInput(f"'{name}' is this computer; this command is for machines over SSH.")
    return profile
