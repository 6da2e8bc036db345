"""The conversation with a tuner on a machine, beginning with sudo."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
from dataclasses import replace
from secrets import token_hex
from typing import Annotated, Any, TypeVar

import msgspec

from workbench.closing import ended
from workbench.errors import PongbenchError
from workbench.machines import secrets
from workbench.machines.base import Command, Machine, Process
from workbench.machines.rights import Rights
from workbench.machines.runner_client import whoami
from workbench.machines.wire import MOST_NOISE, InvalidMessage, Text, decode, quoted
from workbench.remote import REMOTE

TUNER = REMOTE / "tuner.py"
LEASE_S = 4.0
HEARTBEAT_S = 1.0
ANSWER_WITHIN_S = 9.0
"""Seconds; sudo alone may take several while it resolves its host's name."""
ENDS_WITHIN_S = 5.0
PASSWORDS = 2
"""How many times a password is asked for."""
MOST_SETTINGS = 200


class Event(msgspec.Struct, frozen=True, tag_field="ev", tag=str.lower):
    """An event of a tuner, as `tuner.py` defines them: JSON, distinguished by "ev"."""


class Ready(Event, frozen=True):
    """The tuner is running as root."""


class Busy(Event, frozen=True):
    holder: str


class Fatal(Event, frozen=True):
    text: str


class Applied(msgspec.Struct, frozen=True):
    """The result of applying one setting."""

    key: Text
    old: Text | None
    wanted: Text
    got: Text | None
    problem: Text


class AllApplied(Event, frozen=True, tag="applied"):
    settings: Annotated[list[Applied], msgspec.Meta(max_length=MOST_SETTINGS)]
    nofile: Text = ""
    """Why the descriptor limit could not be raised; empty: it was."""


class Restored(msgspec.Struct, frozen=True):
    """The result of restoring one setting."""

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
    """The conversation with a tuner on a machine.

    The tuner runs as root, so we cannot kill it: it ends when its stdin does, or when told to
    restore.
    """

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
    ) -> list[Applied]:
        """Apply settings. Returns one answer per setting, and one about the descriptor limit if
        asked for."""
        order: dict[str, Any] = {
            "op": "apply",
            "settings": settings,
            "holder": f"{whoami()}@{socket.gethostname()}",
            "lease_s": LEASE_S,
            "nofile": nofile,
        }
        await self._send(order)
        event = await self.answer(AllApplied)
        self.beating = asyncio.create_task(self._beat())
        answers = list(event.settings)
        if event.nofile:
            answers.append(Applied("nofile", "", "", "", event.nofile))
        return answers

    async def restore(self) -> list[str]:
        """Restore the settings. Returns sentences about those that could not be restored."""
        if self.beating is not None:
            await ended(self.beating)
        try:
            await self._send({"op": "restore"})
            event = await self.answer(AllRestored)
        except PongbenchError:
            return [
                f"The link to {self.machine.name} is lost: it restores its settings by"
                " itself within"
                f" {LEASE_S:g} s, and the next connection checks them."
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
        """Decode an event; None: the line is noise."""
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

    async def _send(self, order: dict[str, Any]) -> None:
        await self.process.send(json.dumps(order).encode())

    async def _beat(self) -> None:
        with contextlib.suppress(PongbenchError):
            while True:
                await asyncio.sleep(HEARTBEAT_S)
                await self._send({"op": "hb"})

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
        """Answer sudo with empty lines until it exits."""
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
        """Return the next line; None: it ended."""
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
