"""`pongbench run`: a plan from beginning to end, in the terminal."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from workbench.analysis.summary import summarise
from workbench.budget import Budget
from workbench.commands.console import ConsoleView
from workbench.commands.opening import tell
from workbench.commands.summary import print_ranking
from workbench.dispatcher import Dispatcher
from workbench.documents import AnyDocument, RunStop
from workbench.engine import Engine
from workbench.errors import BadInput, ExitCode
from workbench.plans import Plan, check, load_plan
from workbench.runs import HERE, engine_for, session_path
from workbench.sessions import Recorder

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]


def add_parser(subparsers: Subparsers) -> None:
    """Add `run` to the commands."""
    parser = subparsers.add_parser(
        "run", help="run a plan, or a session's plan again; Ctrl-C stops, twice aborts"
    )
    parser.add_argument("plan", help="a plan's name or file, or a session file")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="the session to write")
    parser.add_argument(
        "--server",
        action="append",
        metavar="ID",
        help="only this server of the catalogue (may be given again)",
    )
    parser.add_argument("--target", default=HERE, metavar="NAME", help="machine of the servers")
    parser.add_argument(
        "--client", action="append", metavar="NAME", help="machine that offers load"
    )
    parser.add_argument(
        "--preview", action="store_true", help="say what the run costs, and do not begin it"
    )
    parser.add_argument("--json", action="store_true", help="print the summary as one JSON object")
    parser.set_defaults(handler=handle)


def handle(arguments: argparse.Namespace) -> int:
    """Run a plan; the session is written while it goes."""
    plan = load_plan(arguments.plan)
    if arguments.server:
        plan = msgspec.structs.replace(plan, servers=arguments.server)
        check(plan, name=arguments.plan)
    if {arguments.target, *(arguments.client or [])} != {HERE}:
        raise BadInput(
            f"Machines other than {HERE} cannot be used yet; leave out --target and --client."
        )
    return asyncio.run(_preview(plan) if arguments.preview else _run(plan, arguments))


async def _preview(plan: Plan) -> int:
    budget = await engine_for(plan, lambda document: None).assess()
    for sentence in (*budget.describe(), *budget.warnings):
        print(sentence)
    budget.check()
    return ExitCode.DONE


async def _run(plan: Plan, arguments: argparse.Namespace) -> int:
    dispatcher = Dispatcher()
    engine = engine_for(plan, dispatcher.emit)
    path = arguments.output or session_path(plan)
    recorder = Recorder(path)
    documents: list[AnyDocument] = []
    dispatcher.subscribe(recorder, essential=True)
    dispatcher.subscribe(documents.append)
    try:
        with ConsoleView() as view:
            dispatcher.subscribe(view)
            engine.tell = view.tell
            engine.on_budget = lambda budget: _say(view, budget)
            stop = await _interruptible(engine, documents, view)
    except asyncio.CancelledError:
        stop = None
    finally:
        recorder.close()
    if documents:
        tell(f"The session is {path}.")
        summary = summarise(documents)
        if arguments.json:
            sys.stdout.write(msgspec.json.encode(summary.to_data()).decode() + "\n")
        else:
            print_ranking(summary)
    if stop is None or stop.status in ("stopped", "aborted"):
        return ExitCode.INTERRUPTED
    return ExitCode.DONE if stop.status == "done" else ExitCode.FAILED


async def _interruptible(
    engine: Engine, documents: list[AnyDocument], view: ConsoleView
) -> RunStop | None:
    """Ctrl-C stops in good order, a second one aborts, and so does any other signal to end."""
    running = asyncio.ensure_future(engine.run())
    loop = asyncio.get_running_loop()

    def interrupt() -> None:
        if not documents or engine.control.stopping:
            running.cancel()
        else:
            view.tell("Stopping. Ctrl-C again aborts.")
            engine.control.stop()

    handlers: dict[int, Callable[[], object]] = {
        signal.SIGINT: interrupt,
        signal.SIGTERM: running.cancel,
    }
    if hasattr(signal, "SIGHUP"):
        handlers[signal.SIGHUP] = running.cancel
    for number, handler in handlers.items():
        loop.add_signal_handler(number, handler)
    try:
        return await running
    finally:
        for number in handlers:
            loop.remove_signal_handler(number)


def _say(view: ConsoleView, budget: Budget) -> None:
    for sentence in (*budget.describe(), *budget.warnings):
        view.console.print(sentence, style="dim", soft_wrap=True, highlight=False)
