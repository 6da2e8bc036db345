"""Consent at the terminal, or by an option, to what a run does only if the user agrees."""

from __future__ import annotations

import argparse
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Protocol

from workbench.commands.asking import confirm_at_terminal, is_interactive
from workbench.errors import BadInput


class Asked(Protocol):
    """What needs consent."""

    @property
    def text(self) -> str:
        """A sentence without its full stop."""
        ...


@dataclass(frozen=True)
class Consent:
    """A consent that can be given in advance."""

    option: str
    help: str
    question: str
    otherwise: str
    """What to do where there is no terminal."""

    def add_option(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(self.option, action="store_true", help=self.help)

    def at_terminal(
        self, *, yes: bool, alone: Callable[[], AbstractContextManager[object]] = nullcontext
    ) -> Callable[[Asked], Awaitable[bool]]:
        """`yes`: agreed to already. The consent raises BadInput if there is no terminal to ask
        at."""

        async def consent(asked: Asked) -> bool:
            if yes:
                return True
            if not is_interactive():
                raise BadInput(
                    f"{asked.text}, and there is no terminal to ask at; {self.otherwise}."
                )
            return await confirm_at_terminal(f"{asked.text}. {self.question}", alone)

        return consent


EXPOSE = Consent(
    option="--expose",
    help="allow servers without security fixes to listen on the network",
    question="Let them listen there?",
    otherwise="say --expose, or leave out such servers",
)
FOREIGN_CODE = Consent(
    option="--foreign-code",
    help="allow the plan's locustfile to run on the clients",
    question="Run it?",
    otherwise="if you trust it, use --foreign-code",
)
