"""Consent at the terminal to a user's program that a plan runs on the clients."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from workbench.commands.asking import confirm_at_terminal, is_interactive
from workbench.errors import BadInput
from workbench.foreign import Consent, ForeignCode


def add_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--foreign-code",
        action="store_true",
        help="allow the plan's locustfile to run on the clients",
    )


def foreign_at_terminal(
    *, yes: bool, alone: Callable[[], AbstractContextManager[object]] = nullcontext
) -> Consent:
    """`yes`: agreed to already. The consent raises BadInput if there is no terminal to ask at."""

    async def consent(code: ForeignCode) -> bool:
        if yes:
            return True
        if not is_interactive():
            raise BadInput(
                f"{code.text}, and there is no terminal to ask at; if you trust it, use"
                " --foreign-code."
            )
        return await confirm_at_terminal(f"{code.text}. Run it?", alone)

    return consent
