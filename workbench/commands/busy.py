"""At the terminal, or by an option: what to do where another run is on the same machines."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from workbench.commands.asking import answer_at_terminal, is_interactive
from workbench.errors import PongbenchError
from workbench.run.claims import Answer, Claim, OnBusy

_ANSWERS: dict[str, Answer] = {"w": "wait", "a": "anyway"}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add --wait and --anyway."""
    busy = parser.add_mutually_exclusive_group()
    busy.add_argument(
        "--wait",
        dest="busy",
        action="store_const",
        const="wait",
        help="if another run is on these machines, wait until it has ended",
    )
    busy.add_argument(
        "--anyway",
        dest="busy",
        action="store_const",
        const="anyway",
        help="if another run is on these machines, run beside it; both sessions note it",
    )


def at_terminal(
    answer: Answer | None, alone: Callable[[], AbstractContextManager[object]] = nullcontext
) -> OnBusy:
    """`answer`: given in advance. Raises PongbenchError where there is no terminal to ask at."""

    async def on_busy(other: Claim) -> Answer:
        if answer:
            return answer
        if not is_interactive():
            raise PongbenchError(
                f"{other.text}, and there is no terminal to ask at; use --wait or --anyway.",
                code="busy",
            )
        text = f"{other.text}. Wait, run anyway, or cancel? [w/a/C]"
        given = await answer_at_terminal(text, alone)
        return _ANSWERS.get(given[:1].lower(), "cancel")

    return on_busy
