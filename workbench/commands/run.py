"""`pongbench run`: run a plan in the terminal."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec

from workbench.analysis.summary import summarise
from workbench.commands.asking import (
    EXPOSE,
    FOREIGN_CODE,
    LOAD,
    REPEAT,
    add_busy,
    ask_at_terminal,
    busy_at_terminal,
)
from workbench.commands.ci import conclude
from workbench.commands.console import ConsoleView
from workbench.commands.machines import how_to_trust
from workbench.commands.openmetrics import Exporter, exported
from workbench.commands.shared import add, add_flag, add_many, add_output
from workbench.commands.tuning import show, tuning_at_terminal
from workbench.config.yaml import convert
from workbench.consent import Load, OfRunning
from workbench.dispatcher import Dispatcher
from workbench.documents import AnyDocument, RunStop
from workbench.errors import BadInput, ExitCode
from workbench.load.registry import TOOLS
from workbench.machines.hostkeys import HostKeyProblem
from workbench.machines.secrets import named
from workbench.plan.budget import Budget
from workbench.plan.checks import check
from workbench.plan.model import Plan
from workbench.plan.reading import read_plan
from workbench.presentable import presentable
from workbench.results.criteria import Condition, condition, measured
from workbench.results.render import ci, data
from workbench.results.render.terminal import print_cross_check, print_ranking
from workbench.run.engine import Consents, Engine, Observer
from workbench.run.environment import preview_tuning
from workbench.run.factory import (
    FAMILIES,
    HERE,
    Fleet,
    engine_for,
    left_out,
    of_families,
    session_path,
    unfit,
)
from workbench.servers.address import Running, is_address
from workbench.sessions import Recorder
from workbench.sharing import shared
from workbench.terminal import Unheard, mute, say, to_stderr, write, write_json


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "plan",
        help="a plan's name or file, a session file, or the address of a running server:"
        " http://127.0.0.1:8000/path, also https, ws, tcp, unix:/path",
    )
    add_output(parser, "session file to write (default: a new one in the data directory)")
    add(parser, "--install", "--junit", "--brief", "--remember")
    add_many(parser, "--server", "ID", "only this server")
    about = "all available servers of this family that support the plan's protocol"
    add_many(parser, "--family", None, about, choices=FAMILIES)
    add_many(parser, "--set", "KEY=VALUE", "override a key of the plan: seconds=10, path=/json")
    about = "load tool; of several, each runs every point in turn"
    add_many(parser, "--with", None, about, choices=sorted(TOOLS), dest="load_tools")
    parser.add_argument(
        "--target", default=HERE, metavar="NAME", help="machine that runs the servers"
    )
    add_many(parser, "--client", "NAME", "machine that generates load")
    for name, help in _FLAGS.items():
        add_flag(parser, name, help)
    add_busy(parser)
    for consent in (EXPOSE, FOREIGN_CODE, REPEAT):
        add_flag(parser, consent.option, consent.help)
    about = "allow load on a running server of this host, which is yours"
    add_many(parser, LOAD.option, "HOST", about)
    parser.add_argument(
        "--process",
        metavar="KIND:NAME",
        help="whose CPU time and memory are those of the running server: pid:N, port:N,"
        " unit:NAME, container:NAME (default: the owner of its port)",
    )
    parser.add_argument(
        "--tune", metavar="SET", help="change kernel settings for the run; asks first"
    )
    about = (
        "exit with 3 if it is true of a server: 'p99_ms > 50 at 4000/s', 'sustained < 3000/s'; with"
        " 4 if that cannot be told"
    )
    add_many(parser, "--fail-if", "CONDITION", about)
    shape = parser.add_mutually_exclusive_group()
    add_flag(shape, "--json", "print the summary as one JSON object")
    add_flag(shape, "--markdown", "print the summary as Markdown")
    parser.add_argument(
        "--serve",
        nargs="?",
        const="127.0.0.1",
        metavar="ADDRESS[:PORT]",
        help="show the run to spectators on a read-only page (default: on this computer only)",
    )
    parser.add_argument(
        "--metrics",
        metavar="ADDRESS[:PORT]",
        help="serve what the run shows as OpenMetrics, for Prometheus and others",
    )
    parser.set_defaults(handler=handle)


_FLAGS = {
    "--preview": "print duration and resources of the run, without starting it",
    "--profile": "profile every server once all results are measured",
    "--insecure": "do not check the certificates of running servers; the session says so",
    "--yes": "do not ask about --tune",
}


def handle(arguments: argparse.Namespace) -> int:
    plan = read_plan(arguments.plan, arguments.set)
    chosen = [*arguments.server, *of_families(plan, arguments.family)]
    if chosen and is_address(arguments.plan):
        chosen = [*plan.servers, *chosen]
    if chosen:
        plan = msgspec.structs.replace(plan, servers=list(dict.fromkeys(chosen)))
    if tools := list(dict.fromkeys(arguments.load_tools)):
        plan = msgspec.structs.replace(plan, load_tool=tools[0], with_=tools[1:])
    if arguments.profile and not plan.profile:
        plan = msgspec.structs.replace(plan, profile=True)
    plan = _with_running(plan, arguments)
    check(plan, name=arguments.plan, also=unfit(plan))
    conditions = [condition(text, plan) for text in arguments.fail_if]
    if absent := left_out(plan, arguments.family):
        to_stderr(absent)
    clients = dict.fromkeys(arguments.client or [HERE])
    fleet = Fleet(arguments.target, tuple(clients))
    if arguments.preview:
        work = _preview(plan, fleet, arguments)
    else:
        work = _run(plan, fleet, arguments, conditions)
    try:
        return asyncio.run(work)
    except HostKeyProblem as problem:
        to_stderr(str(problem))
        to_stderr(how_to_trust(problem))
        return ExitCode.FAILED


def _with_running(plan: Plan, arguments: argparse.Namespace) -> Plan:
    """Return the plan with --process and --insecure, and without what it says of servers that were
    left out by --server. Raises BadInput."""
    servers = [server for server in plan.servers if is_address(server)]
    given = {"process": arguments.process} if arguments.process else {}
    if given and len(servers) != 1:
        raise BadInput(
            f"--process is of one running server, and the plan has {len(servers)}; name them as"
            " process: in its servers."
        )
    given |= {"insecure": True} if arguments.insecure else {}
    running = {server: of for server, of in plan.running.items() if server in servers}
    for server in servers if given else ():
        about = msgspec.to_builtins(running.get(server, Running())) | given
        running[server] = convert(about, Running, name="--process", what="option")
    return msgspec.structs.replace(plan, running=running)


async def _preview(plan: Plan, fleet: Fleet, arguments: argparse.Namespace) -> int:
    ask, tune = ask_at_terminal(remember=arguments.remember), arguments.tune or ""
    consents = Consents(ask=ask, install=arguments.install)
    engine = engine_for(plan, lambda document: None, fleet=fleet, consents=consents)
    budget = await engine.assess(tune)
    for sentence in (*budget.describe(), *(warning.text() for warning in budget.warnings)):
        say(sentence)
    for tuning in await preview_tuning(fleet, tune, ask) if tune else ():
        show(tuning, sys.stdout)
    budget.check()
    await named(plan.declared.secrets(plan.workload))
    return ExitCode.DONE


async def _run(
    plan: Plan, fleet: Fleet, arguments: argparse.Namespace, conditions: Sequence[Condition]
) -> int:
    stop, documents = await recorded(plan, fleet, arguments)
    return ended(stop, _conclude(documents, arguments, conditions) if documents else ExitCode.DONE)


def ended(stop: RunStop | None, tested: ExitCode) -> ExitCode:
    """Return the exit code of a run. `tested`: that of a complete one."""
    if stop is None or stop.status in ("stopped", "aborted"):
        return ExitCode.INTERRUPTED
    return tested if stop.status == "done" else ExitCode.FAILED


async def recorded(
    plan: Plan, fleet: Fleet, arguments: argparse.Namespace
) -> tuple[RunStop | None, list[AnyDocument]]:
    """Run a plan, shown and recorded. Returns how it ended (None: aborted), and its documents."""
    dispatcher = Dispatcher()
    path = arguments.output
    recorder = Recorder(path or session_path(plan), or_beside=not path, emit=dispatcher.emit)
    documents: list[AnyDocument] = []
    at_the_end = contextlib.AsyncExitStack()
    dispatcher.subscribe(recorder, essential=True)
    dispatcher.subscribe(lambda document: documents.append(presentable(document)))
    try:
        with ConsoleView(Unheard(stderr=True), brief=arguments.brief) as view:
            dispatcher.subscribe(view)
            if arguments.serve:
                link = await at_the_end.enter_async_context(shared(recorder.path, arguments.serve))
                view.console.say(f"Spectators: {link} (read only, not encrypted)", "bold")
            if arguments.metrics:
                dispatcher.subscribe(exporter := Exporter())
                link = at_the_end.enter_context(exported(exporter, arguments.metrics))
                view.console.say(f"Metrics: {link} (not encrypted)", "bold")
            engine = engine_for(
                plan,
                dispatcher.emit,
                fleet=fleet,
                consents=_consents(arguments, view),
                observer=Observer(
                    notify=view.notify, on_budget=lambda budget: _print_budget(view, budget)
                ),
            )
            stop = await _interruptible(engine, documents, view)
    except asyncio.CancelledError:
        stop = None
    finally:
        recorder.close()
        await at_the_end.aclose()
    if stop is None or stop.status in ("stopped", "aborted"):
        # An extra Ctrl-C would cut off the output that follows.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    if not documents:
        to_stderr("Stopped before anything was measured; no session was written.")
    else:
        to_stderr(f"Session: {recorder.path}")
    return stop, documents


def _consents(arguments: argparse.Namespace, view: ConsoleView) -> Consents:
    alone, tuning = view.paused, None
    if arguments.tune:
        tuning = tuning_at_terminal(arguments.tune, yes=arguments.yes, alone=alone)

    async def load(asked: OfRunning) -> bool:
        if isinstance(asked, Load):
            yes = asked.host in arguments.allow_target
            return await LOAD.at_terminal(yes=yes, alone=alone)(asked)
        return await REPEAT.at_terminal(yes=arguments.allow_changes, alone=alone)(asked)

    return Consents(
        ask=ask_at_terminal(alone, remember=arguments.remember),
        install=arguments.install,
        tuning=tuning,
        expose=EXPOSE.at_terminal(yes=arguments.expose, alone=alone),
        run_foreign=FOREIGN_CODE.at_terminal(yes=arguments.foreign_code, alone=alone),
        load=load,
        on_busy=busy_at_terminal(arguments.busy, alone),
    )


def _conclude(
    documents: list[AnyDocument], arguments: argparse.Namespace, conditions: Sequence[Condition]
) -> ExitCode:
    """Print the result; a closed stdout does not change how the run ended."""
    summary = summarise(documents)
    outcomes = [outcome for each in conditions for outcome in each.outcomes(summary)]
    try:
        if arguments.json:
            write_json(data.of_session(summary))
        elif arguments.markdown:
            write(ci.of_session(summary, outcomes))
        else:
            print_ranking(summary)
            print_cross_check(summary)
        sys.stdout.flush()
    except BrokenPipeError:
        mute(sys.stdout)
    return conclude(summary.name, outcomes, arguments.junit, also=measured(summary))


async def _interruptible(
    engine: Engine, documents: list[AnyDocument], view: ConsoleView
) -> RunStop | None:
    """Run until it ends; Ctrl-C stops it, a second one or any other signal aborts it."""
    running = asyncio.ensure_future(engine.run())

    def interrupt() -> None:
        if not documents or engine.control.stopping:
            running.cancel()
        else:
            view.notify("Stopping. Ctrl-C again aborts.")
            engine.control.stop()

    cancel = running.cancel
    with handled({"SIGINT": interrupt, "SIGTERM": cancel, "SIGHUP": cancel}):
        return await running


@contextlib.contextmanager
def handled(handlers: Mapping[str, Callable[[], object]]) -> Iterator[None]:
    """In this context each signal of that name calls its handler in the running loop. Names unknown
    to this system are ignored. The loops of Windows have no handlers, so none of theirs is used."""
    loop = asyncio.get_running_loop()

    def soon(number: int, _frame: object) -> None:
        loop.call_soon_threadsafe(by_number[number])

    by_number = {getattr(signal, name, 0): handler for name, handler in handlers.items()}
    before = {number: signal.signal(number, soon) for number in by_number if number}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _print_budget(view: ConsoleView, budget: Budget) -> None:
    if view.brief:
        return
    for sentence in (*budget.describe(), *(warning.text() for warning in budget.warnings)):
        view.console.say(sentence, "dim")
