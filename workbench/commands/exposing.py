"""Consent at the terminal to servers without security fixes that other machines can reach."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from workbench.commands.asking import confirm_at_terminal, is_interactive
from workbench.errors import BadInput
from workbench.exposure import Consent, Exposure


def add_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--expose",
        action="store_true",
        help="allow servers without security fixes to listen on the network",
    )


def exposing_at_terminal(
    *, yes: bool, alone: Callable[[], AbstractContextManager[object]] = nullcontext
) -> Consent:
    """`yes`: agreed to already. The consent raises BadInput if there is no terminal to ask at."""

    async def consent(exposure: Exposure) -> bool:
        if yes:
            return True
        if not is_interactive():
            raise BadInput(
                f"{exposure.text}, and there is no terminal to ask at; say --expose, or leave out"
                " such servers."
            )
        return await confirm_at_terminal(f"{exposure.text}. Let them listen there?", alone)

    return consent
