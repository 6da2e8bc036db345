"""Kernel settings for the duration of a run: previewed, applied with consent, read back, restored.

`tuner.py` does it on the machine, as root, and puts everything back however the run ends. Here are
the rights to do so, the conversation with it, which begins with sudo, and the sets of settings.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import socket
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from secrets import token_hex
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

import msgspec

from workbench import formatting, paths
from workbench.closing import ended, to_the_end
from workbench.config.yaml import convert, load_yaml
from workbench.errors import BadInput, PongbenchError
from workbench.machines import secrets
from workbench.machines.base import Machine
from workbench.machines.facts import raised
from workbench.machines.profiles import Profile
from workbench.machines.runner_client import Command, Process, whoami
from workbench.machines.secrets import Ask, Question, never_ask
from workbench.machines.wire import MOST_NOISE, Event, InvalidMessage, Text, decode, quoted
from workbench.messages.base import Stated
from workbench.messages.notes import notice
from workbench.remote import REMOTE

Sudo: TypeAlias = Literal["none", "root", "nopasswd", "password"]
"""How root privileges are obtained: not at all, as root, by sudo without or with a password."""


@dataclass(frozen=True)
class Rights:
    sudo: Sudo
    question: Question | None = None
    """For sudo's password; see `machines.secrets`."""
    ask: Ask = never_ask
    options: Sequence[str] = ()
    """The tuner's state directory; see its docstring."""

    @classmethod
    def on(cls, machine: Machine, profile: Profile, ask: Ask = never_ask) -> Rights:
        user = getattr(getattr(machine, "survey", None), "user", "")
        if user == "root" or (machine.is_local and os.geteuid() == 0):
            return cls("root")
        if profile.sudo == "passwordless":
            return cls("nopasswd")
        if profile.sudo == "no":
            return cls("none")
        account = f"{user or whoami()}@{profile.address or profile.name}"
        text = f"Password for sudo on {profile.name} ({account})"
        return cls("password", Question(profile.name, "sudo", account, text), ask)


TUNER = REMOTE / "tuner.py"
LEASE_S = 4.0
HEARTBEAT_S = 1.0
ANSWER_WITHIN_S = 9.0
"""Seconds; sudo alone may take several while it resolves its host's name."""
ENDS_WITHIN_S = 5.0
PASSWORDS = 2
MOST_SETTINGS = 200


# Events of a tuner, as `tuner.py` defines them.


class Ready(Event, frozen=True):
    """The tuner is running as root."""


class Busy(Event, frozen=True):
    holder: str


class Fatal(Event, frozen=True):
    text: str


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """As a machine tells it, which may tell anything."""

    key: Text
    old: Text | int | None = None
    wanted: Text | int | None = None
    got: Text | int | None = None
    problem: Text = ""
    """Why it was not set; empty: it was."""


class AllApplied(Event, frozen=True, tag="applied"):
    settings: Annotated[list[Setting], msgspec.Meta(max_length=MOST_SETTINGS)]
    nofile: Text = ""
    """Why the descriptor limit could not be raised; empty: it was."""


class Restored(msgspec.Struct, frozen=True):
    key: Text
    value: Text
    problem: Text


class AllRestored(Event, frozen=True, tag="restored"):
    settings: Annotated[list[Restored], msgspec.Meta(max_length=MOST_SETTINGS)]


_DECODER: msgspec.json.Decoder[Ready | Busy | Fatal | AllApplied | AllRestored] = (
    msgspec.json.Decoder(Ready | Busy | Fatal | AllApplied | AllRestored)
)
T = TypeVar("T", bound=Event)


class Tuner:
    """The conversation with a tuner on a machine. It runs as root, so we cannot kill it: it ends
    when its stdin does, or when told to restore."""

    def __init__(self, machine: Machine, process: Process) -> None:
        self.machine = machine
        self.process = process
        self.lines = process.lines()
        self.beating: asyncio.Task[None] | None = None
        self._noise = 0
        self._until = 0.0
        """When it must have answered."""

    @classmethod
    async def start(cls, machine: Machine, rights: Rights, *options: str) -> Tuner:
        if rights.sudo == "none":
            raise PongbenchError(
                f"Root privileges are not available on {machine.name}; it is not tuned."
            )
        tuner_there = await machine.tool(TUNER)
        program = [*machine.python, tuner_there, *rights.options, *options]
        prompt = f"WB-{token_hex(8)}:"
        if rights.sudo != "root":
            ask = ["-n"] if rights.sudo == "nopasswd" else ["-S", "-k", "-p", f"{prompt}\n"]
            program = ["sudo", *ask, "--", *program]
        tuner = cls(machine, await machine.start(Command(program, cwd="/")))
        await tuner._begin(prompt, rights)
        return tuner

    async def apply(
        self, settings: dict[str, str], nofile: tuple[int, int] | None
    ) -> list[Setting]:
        """Apply settings. Returns an answer for each, and one for a refused descriptor limit."""
        holder = f"{whoami()}@{socket.gethostname()}"
        await self._send("apply", settings=settings, holder=holder, lease_s=LEASE_S, nofile=nofile)
        event = await self.answer(AllApplied)
        self.beating = asyncio.create_task(self._beat())
        answers = list(event.settings)
        if event.nofile:
            answers.append(Setting(key="nofile", problem=event.nofile))
        return answers

    async def restore(self) -> list[str]:
        """Restore the settings. Returns sentences about those that could not be restored."""
        if self.beating is not None:
            await ended(self.beating)
        try:
            await self._send("restore")
            event = await self.answer(AllRestored)
        except PongbenchError:
            return [
                f"The link to {self.machine.name} is lost: it restores its settings by itself"
                f" within {LEASE_S:g} s, and the next connection checks them."
            ]
        await self.ended()
        return [self.sentence(setting) for setting in event.settings if setting.problem]

    async def ended(self) -> None:
        """Wait for the tuner to end, at most `ENDS_WITHIN_S`."""
        with contextlib.suppress(PongbenchError, TimeoutError):
            async with asyncio.timeout(ENDS_WITHIN_S):
                await self.process.wait()

    def sentence(self, setting: Restored) -> str:
        key, value, problem = quoted(setting.key), quoted(setting.value), quoted(setting.problem)
        name = self.machine.name
        if problem.startswith("changed"):
            return f"{key} was {problem} on {name} during the run; {value} stays."
        if problem:
            return f"{key} could not be restored on {name}: {problem}."
        return f"{key} is {value} again on {name}."

    async def answer(self, wanted: type[T]) -> T:
        output = ""
        self._expect()
        while (line := await self._line()) is not None:
            match event := self._event(line):
                case Busy():
                    raise PongbenchError(
                        f"{self.machine.name} is currently tuned for another run"
                        f" ({quoted(event.holder)}); wait for its end, or run without tuning."
                    )
                case Fatal():
                    output = quoted(event.text)
                case None:
                    output = quoted(line) or output
                case _ if isinstance(event, wanted):
                    return event
        raise PongbenchError(self._refused(output))

    def _event(self, line: str) -> Event | None:
        try:
            if line.startswith("{"):
                return decode(_DECODER, line.encode("utf-8", "replace"))
            self._noise += 1
            if self._noise > MOST_NOISE:
                raise InvalidMessage(f"{quoted(line)}, and so on")
            return None
        except InvalidMessage as error:
            raise PongbenchError(
                f"The tuner on {self.machine.name} sent an invalid message ({error})."
            ) from None

    async def _send(self, op: str, **order: Any) -> None:
        await self.process.send(json.dumps({"op": op, **order}).encode())

    async def _beat(self) -> None:
        with contextlib.suppress(PongbenchError):
            while True:
                await asyncio.sleep(HEARTBEAT_S)
                await self._send("hb")

    async def _begin(self, prompt: str, rights: Rights) -> None:
        """Wait until the tuner is ready. A password is sent only after the prompt, which is random,
        and asked for again when it was rejected."""
        question, asked, output = rights.question, 0, ""
        password: str | None = ""
        self._expect()
        while (line := await self._line()) is not None:
            if prompt in line and question:
                asked += 1
                if asked > PASSWORDS:
                    break
                password = await secrets.SECRETS.get(replace(question, again=asked > 1), rights.ask)
                self._expect()
                if password is None:
                    break
                await self.process.send(password.encode())
            elif isinstance(self._event(line), Ready):
                if question and asked:
                    await secrets.SECRETS.right(question)
                return
            else:
                output = quoted(line) or output
        name = self.machine.name
        if question and asked:
            await self._give_up(prompt)
            if asked == 1 and password is None:
                raise PongbenchError(f"No sudo password was given for {name}; it is not tuned.")
            if "try again" in output or "incorrect password" in output:
                await secrets.SECRETS.reject(question)
                raise PongbenchError(f"sudo on {name} rejected the password; it is not tuned.")
        raise PongbenchError(self._refused(output))

    async def _give_up(self, prompt: str) -> None:
        self._expect()
        with contextlib.suppress(PongbenchError):
            await self.process.send(b"")
            while (line := await self._line()) is not None:
                if prompt in line:
                    await self.process.send(b"")

    def _expect(self) -> None:
        """Allow `ANSWER_WITHIN_S` for the answer from now on, however much output precedes it."""
        self._until = asyncio.get_running_loop().time() + ANSWER_WITHIN_S

    async def _line(self) -> str | None:
        try:
            if asyncio.get_running_loop().time() > self._until:
                raise TimeoutError  # Lines already received take no time.
            async with asyncio.timeout_at(self._until):
                line = await anext(self.lines, None)
        except TimeoutError:
            raise PongbenchError(
                f"The tuner on {self.machine.name} did not answer within {ANSWER_WITHIN_S:.0f} s."
            ) from None
        return None if line is None else line.decode("utf-8", "replace")

    def _refused(self, output: str) -> str:
        name = self.machine.name
        if "tty" in output or ("terminal" in output and "password" not in output):
            return f"sudo on {name} requires a terminal (requiretty); it is not tuned."
        if "password is required" in output:
            return f"sudo on {name} requires a password; change its profile. It is not tuned."
        if "not in the sudoers file" in output or "may not run sudo" in output:
            return f"The user on {name} is not in sudoers; it is not tuned."
        detail = f": {output.removeprefix('sudo: ').rstrip('.')}" if output else ""
        return f"The settings of {name} cannot be changed{detail}."


JOURNAL = "/run/pongbench/journal.json"
"""The tuner's state directory; it exists while a machine is tuned, and after a crash."""
_KEY = re.compile(r"[a-z0-9_]+(\.[A-Za-z0-9_-]+)+")
_VALUE = re.compile(r"[0-9]+( [0-9]+)*")


class TuningSet(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: str
    description: str = ""
    settings: Annotated[dict[str, int | str], msgspec.Meta(max_length=100)] = {}
    """Exact values by sysctl name, for example net.ipv4.tcp_keepalive_time."""
    at_least: Annotated[dict[str, int | str], msgspec.Meta(max_length=100)] = {}
    """Minimum values: a higher one is kept; the first of a range (two numbers) is its lower end."""
    nofile: Annotated[int, msgspec.Meta(ge=0, le=10_000_000)] = 0
    """Hard descriptor limit for the programs of a run; 0: unchanged."""

    def then(self, key: str, now: str) -> str:
        """Return the value of a setting for the run, from its present one."""
        wanted = " ".join(str((self.settings | self.at_least)[key]).split())
        return _at_least(now, wanted) if key in self.at_least else wanted

    def in_force(self, facts: Mapping[str, Any]) -> dict[str, Any]:
        """Return the facts of a machine (`machines.facts`) as they are with this set."""
        known = facts.get("sysctls", {})
        changed = {
            key: self.then(key, str(known[key]))
            for key in self.settings | self.at_least
            if key in known
        }
        sysctls = {key: int(text) if text.isdigit() else text for key, text in changed.items()}
        return raised({**facts, "sysctls": {**known, **sysctls}}, self.nofile)


class LeftTuning(msgspec.Struct, frozen=True):
    """Kernel settings that a run changed and has not restored yet."""

    alive: bool
    """Whether that run is still running."""
    settings: Annotated[dict[Text, tuple[Text, Text]], msgspec.Meta(max_length=200)]
    """By name: the value before and during the run. Empty: only root can read them."""

    def sentence(self, machine: str) -> str:
        changed = [f"{key} {now} (before: {old})" for key, (old, now) in self.settings.items()]
        which = f": {', '.join(changed)}" if changed else ""
        whose = "is still running" if self.alive else "did not restore them"
        return f"'{machine}' has the kernel settings of a run that {whose}{which}."


HOW_TO_RESTORE = (
    "A run, or `pongbench machines clean`, with a profile that allows tuning and sudo restores"
    " them; so does a restart of the machine."
)


class _Entry(msgspec.Struct, frozen=True):
    old: str
    ours: str | None


@dataclass(frozen=True)
class Change:
    """One setting of one machine, with its present and its planned value."""

    key: str
    now: str
    """Empty: this kernel has no such setting."""
    wanted: str

    @property
    def needed(self) -> bool:
        return bool(self.now) and self.now != self.wanted

    def __str__(self) -> str:
        if not self.now:
            return f"{self.key}: this kernel has no such setting"
        if not self.needed:
            return f"{self.key}: {self.now} already"
        return f"{self.key}: {self.now} -> {self.wanted}"


def set_names() -> list[str]:
    """Return the names that `load_set` knows, sorted."""
    return sorted(_files())


def load_set(name: str) -> TuningSet:
    """Load a set by its name; the user's own take precedence. Raises BadInput."""
    path = _files().get(name)
    if path is None:
        raise BadInput(
            f"There is no set of kernel settings '{name}'. {formatting.known(set_names(), 'set')}"
        )
    data = load_yaml(path, what="tuning")
    found: TuningSet = convert(data, TuningSet, name=str(path), what="tuning")
    for key, value in (found.settings | found.at_least).items():
        if not _KEY.fullmatch(key):
            raise BadInput(f"tuning {path}: {key!r} is no name of a kernel setting.")
        if not _VALUE.fullmatch(str(value)):
            raise BadInput(f"tuning {path}, {key}: expected numbers, got {value!r}.")
    return found


async def preview(machine: Machine, wanted: TuningSet) -> list[Change]:
    """Return what a set would change on a machine; nothing is changed."""
    keys = [*(wanted.settings | wanted.at_least)]
    texts = await machine.read([f"/proc/sys/{key.replace('.', '/')}" for key in keys])
    present = {key: " ".join((t or "").split()) for key, t in zip(keys, texts, strict=True)}
    return [Change(key, now, wanted.then(key, now)) for key, now in present.items()]


@asynccontextmanager
async def tuned(
    machine: Machine,
    changes: Sequence[Change],
    rights: Rights,
    *,
    nofile: tuple[int, int] | None = None,
    on_restored: Callable[[list[str]], None] = lambda sentences: None,
) -> AsyncIterator[Stated]:
    """Apply the previewed settings, keep them in force, restore them. `nofile`: a process there and
    its hard descriptor limit. `on_restored` gets a sentence for every setting that could not be
    restored. Raises PongbenchError without root privileges, or while another program tunes it."""
    tuner = await Tuner.start(machine, rights)
    try:
        wanted = {change.key: change.wanted for change in changes if change.needed}
        settings = msgspec.to_builtins(await tuner.apply(wanted, nofile))
        yield notice("tuned", machine=machine.name, settings=settings)
    finally:
        on_restored(await to_the_end(tuner.restore()))


async def left_tuned(machine: Machine) -> LeftTuning | None:
    """Return the settings of a run that are in force there. Any user may read them; runs of other
    users are kept out while ours holds the machine."""
    (text,) = await machine.read([JOURNAL])
    if text is None:
        return None
    try:
        entries = msgspec.json.decode(text, type=dict[str, _Entry])
    except msgspec.MsgspecError:
        return LeftTuning(alive=False, settings={})
    return LeftTuning(False, {key: (entry.old, entry.ours or "") for key, entry in entries.items()})


async def restore(machine: Machine, rights: Rights) -> list[str]:
    """Restore what a crash left. Returns a sentence for every setting; empty: nothing was left."""
    tuner = await Tuner.start(machine, rights, "--restore")
    event = await tuner.answer(AllRestored)
    await tuner.ended()
    return [tuner.sentence(setting) for setting in event.settings]


def _at_least(now: str, wanted: str) -> str:
    here, there = [*map(int, now.split())] if _VALUE.fullmatch(now) else [], wanted.split()
    if len(here) != len(there):
        return wanted
    wider = [max(a, int(b)) for a, b in zip(here, there, strict=True)]
    if len(wider) > 1:
        wider[0] = min(here[0], int(there[0]))
    return " ".join(map(str, wider))


def _files() -> dict[str, Path]:
    folders = (paths.RESOURCES / "tuning", paths.data_dir() / "tuning")
    return {path.stem: path for folder in folders for path in folder.glob("*.yaml")}
