"""The conversation with a tuner on a machine, sudo's part of it first."""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
import socket
from dataclasses import replace
from pathlib import Path
from typing import Any

from workbench.errors import PongbenchError
from workbench.machines.base import Command, Machine, Process
from workbench.machines.link import whoami
from workbench.machines.rights import Rights
from workbench.machines.secrets import SECRETS

TUNER = Path(__file__).with_name("tuner.py")
LEASE_S = 4.0
HEARTBEAT_S = 1.0
ANSWER_WITHIN_S = 20.0
ENDS_WITHIN_S = 5.0
PASSWORDS = 2
"""So often a person is asked."""
READY = '{"ev": "ready"}'


class Tuner:
    """The conversation with a tuner on a machine.

    It runs as root, so that nobody here could kill it: it ends because its stdin does, or because
    it was told to.
    """

    def __init__(self, machine: Machine, process: Process) -> None:
        self.machine = machine
        self.process = process
        self.lines = process.lines()
        self.beating: asyncio.Task[None] | None = None

    @classmethod
    async def start(cls, machine: Machine, rights: Rights, *options: str) -> Tuner:
        if rights.sudo == "none":
            raise PongbenchError(f"Nobody may become root on {machine.name}; it stays untuned.")
        tuner_there = await machine.put(TUNER, "tuner.py")
        program = [*machine.python, tuner_there, *rights.options, *options]
        prompt = f"WB-{secrets.token_hex(8)}:"
        if rights.sudo != "root":
            ask = ["-n"] if rights.sudo == "nopasswd" else ["-S", "-k", "-p", f"{prompt}\n"]
            program = ["sudo", *ask, "--", *program]
        tuner = cls(machine, await machine.start(Command(program, cwd="/")))
        await tuner._begin(prompt, rights)
        return tuner

    async def apply(
        self, settings: dict[str, str], nofile: tuple[int, int] | None
    ) -> list[dict[str, Any]]:
        """As the tuner answers, one a setting, perhaps one for the descriptor limit."""
        order: dict[str, Any] = {
            "op": "apply",
            "settings": settings,
            "holder": f"{whoami()}@{socket.gethostname()}",
            "lease_s": LEASE_S,
            "nofile": nofile,
        }
        await self._say(order)
        event = await self.answer("applied")
        self.beating = asyncio.create_task(self._beat())
        problem = event.get("nofile")
        answers = list(event["settings"])
        if problem:
            answers.append(
                {"key": "nofile", "old": "", "wanted": "", "got": "", "problem": problem}
            )
        return answers

    async def restore(self) -> list[str]:
        """Sentences about what could not be put back."""
        if self.beating is not None:
            self.beating.cancel()
            await asyncio.gather(self.beating, return_exceptions=True)
        try:
            await self._say({"op": "restore"})
            event = await self.answer("restored")
        except PongbenchError:
            return [
                f"{self.machine.name} puts its settings back by itself within {LEASE_S:g} s, for"
                " the link to it is gone; the next connection looks after it."
            ]
        await self.ended()
        return [self.told(setting) for setting in event["settings"] if setting["problem"]]

    async def ended(self) -> None:
        """Nothing of it is left, unless it takes too long."""
        with contextlib.suppress(PongbenchError, TimeoutError):
            async with asyncio.timeout(ENDS_WITHIN_S):
                await self.process.wait()

    def told(self, setting: dict[str, str]) -> str:
        key, value, problem = setting["key"], setting["value"], setting["problem"]
        name = self.machine.name
        if problem.startswith("changed"):
            return f"{key} was {problem} on {name} during the run; {value} stays."
        if problem:
            return f"{key} could not be put back on {name}: {problem}."
        return f"{key} is {value} again on {name}."

    async def answer(self, wanted: str) -> dict[str, Any]:
        said = ""
        while (line := await self._line()) is not None:
            try:
                event = json.loads(line)
                kind = event["ev"]
            except (ValueError, KeyError, TypeError):
                said = line.strip() or said
                continue
            if kind == wanted:
                return dict(event)
            if kind == "busy":
                raise PongbenchError(
                    f"{self.machine.name} is tuned for somebody else's run at the moment"
                    f" ({event['holder']}); wait for its end, or run untuned."
                )
            if kind == "fatal":
                said = str(event["text"])
        raise PongbenchError(self._refused(said))

    async def _say(self, order: dict[str, Any]) -> None:
        await self.process.send(json.dumps(order).encode())

    async def _beat(self) -> None:
        with contextlib.suppress(PongbenchError):
            while True:
                await asyncio.sleep(HEARTBEAT_S)
                await self._say({"op": "hb"})

    async def _begin(self, prompt: str, rights: Rights) -> None:
        """Until the tuner is there. A password goes only after the prompt, which nobody can guess,
        and is asked for once more when it was not accepted."""
        question, asked, said = rights.question, 0, ""
        password: str | None = ""
        while (line := await self._line()) is not None:
            if prompt in line and question:
                asked += 1
                if asked > PASSWORDS:
                    break
                password = await SECRETS.get(replace(question, again=asked > 1), rights.ask)
                if password is None:
                    break
                await self.process.send(password.encode())
            elif line.strip() == READY:
                if question and asked:
                    await SECRETS.right(question)
                return
            else:
                said = line.strip() or said
        name = self.machine.name
        if question and asked:
            await self._give_up(prompt)
            if asked == 1 and password is None:
                raise PongbenchError(
                    f"Nobody gave the password for sudo on {name}; it stays untuned."
                )
            if "try again" in said or "incorrect password" in said:
                await SECRETS.wrong(question)
                raise PongbenchError(
                    f"sudo on {name} did not accept the password; it stays untuned."
                )
        raise PongbenchError(self._refused(said))

    async def _give_up(self, prompt: str) -> None:
        """sudo is told nothing until it ends by itself."""
        with contextlib.suppress(PongbenchError):
            await self.process.send(b"")
            while (line := await self._line()) is not None:
                if prompt in line:
                    await self.process.send(b"")

    async def _line(self) -> str | None:
        """The next line; None: it ended."""
        try:
            async with asyncio.timeout(ANSWER_WITHIN_S):
                line = await anext(self.lines, None)
        except TimeoutError:
            raise PongbenchError(
                f"The tuner on {self.machine.name} did not answer within {ANSWER_WITHIN_S:.0f} s."
            ) from None
        return None if line is None else line.decode("utf-8", "replace")

    def _refused(self, said: str) -> str:
        name = self.machine.name
        if "tty" in said or ("terminal" in said and "password" not in said):
            return f"sudo on {name} wants a terminal (requiretty); it stays untuned."
        if "password is required" in said:
            return f"sudo on {name} wants a password; change its profile. It stays untuned."
        if "not in the sudoers file" in said or "may not run sudo" in said:
            return f"sudo on {name} does not know its user; it stays untuned."
        detail = f": {said.removeprefix('sudo: ').rstrip('.')}" if said else ""
        return f"The settings of {name} cannot be changed{detail}."
