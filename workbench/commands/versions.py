"""`pongbench versions`: versions of one's own service against each other, from its repository."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence
from pathlib import Path

from workbench.analysis.summary import summarise
from workbench.commands.asking import add_busy, busy_at_terminal
from workbench.commands.bisecting import bisect
from workbench.commands.ci import conclude
from workbench.commands.run import ended, recorded
from workbench.commands.service import Bench
from workbench.commands.shared import add, add_output
from workbench.errors import BadInput, ExitCode, PongbenchError
from workbench.formatting import number_of
from workbench.results.criteria import share, slower
from workbench.results.render import ci
from workbench.results.render.terminal import print_ranking
from workbench.results.versus import answer, contender, left_out, of_versions
from workbench.run.engine import Consents
from workbench.run.factory import Fleet
from workbench.servers import services
from workbench.servers.services import Version
from workbench.servers.sources import Repository
from workbench.terminal import say, write


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="your project, in git")
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument(
        "--of",
        action="append",
        metavar="REF",
        help="a branch, a tag or a commit; `.` is the working tree; the others are compared with"
        " the first (repeat it)",
    )
    which.add_argument(
        "--bisect",
        nargs=2,
        metavar=("GOOD", "BAD"),
        help="find the commit after GOOD that made BAD slower",
    )
    parser.add_argument(
        "--difference",
        default="5%",
        metavar="PERCENT",
        help="plan as many passes as can show this difference (default: 5%%)",
    )
    parser.add_argument("--passes", type=int, metavar="N", help="as many passes, in place of that")
    add_output(parser, "session file to write")
    add(parser, "--install", "--junit", "--markdown", "--brief")
    add_busy(parser)
    parser.add_argument(
        "--fail-if-slower",
        metavar="PERCENT",
        help="exit with 3 if a version is shown to be slower than the first by more than this"
        " (5%%), with 4 if that cannot be told",
    )
    parser.set_defaults(
        tune=None,
        serve=None,
        metrics=None,
        **dict.fromkeys(("yes", "remember", "expose", "foreign_code", "allow_changes"), False),
        allow_target=[],
        handler=handle,
    )


def handle(arguments: argparse.Namespace) -> int:
    if arguments.passes is not None and not 2 <= arguments.passes <= 1000:
        raise BadInput("--passes: give 2 to 1000; a single pass cannot show a difference.")
    repository = Repository(arguments.folder)
    bench = Bench(
        repository,
        services.told(arguments.folder),
        Consents(install=arguments.install, on_busy=busy_at_terminal(arguments.busy)),
        arguments.passes,
        share(arguments.difference, "--difference"),
    )
    if arguments.bisect:
        return asyncio.run(bisect(bench, *arguments.bisect))
    refs = list(dict.fromkeys(arguments.of))
    if len(refs) < 2:
        raise BadInput("One version has nothing to be compared with; repeat --of.")
    return asyncio.run(_compare(bench, refs, arguments))


async def _compare(bench: Bench, refs: Sequence[str], arguments: argparse.Namespace) -> int:
    most = share(arguments.fail_if_slower) if arguments.fail_if_slower else None
    wanted = [services.version(bench.repository, ref) for ref in refs]
    _see_different(wanted)
    entries = await bench.entries(wanted)
    if len(entries) < 2:
        raise PongbenchError("Fewer than two versions can be measured.")
    plan = await bench.plan(entries)
    stop, documents = await recorded(plan, Fleet(), arguments)
    if not documents or stop is None:
        return ExitCode.INTERRUPTED
    found = of_versions(documents)
    old, *others = [contender(found, each.id) for each in entries]
    outcomes = [] if most is None else slower(found, most, [(new, old) for new in others])
    sentences = [answer(found, new, old) for new in others]
    if arguments.markdown:
        write(ci.of_versions(found, sentences, outcomes))
    else:
        print_ranking(summarise(documents))
        for sentence in sentences:
            say(sentence)
        if out := len(left_out(documents)):
            say(f"Left out as unreliable: {out} of {number_of(plan.repeats, 'passes')}.")
    code = ended(stop, conclude(plan.name, outcomes, arguments.junit))
    return code or (ExitCode.FAILED if len(entries) < len(wanted) else code)


def _see_different(wanted: Sequence[Version]) -> None:
    """Raises BadInput if two are one commit."""
    commits: dict[str, str] = {}
    for each in wanted:
        if other := commits.get(each.commit):
            raise BadInput(f"{other} and {each.name} are the same commit, {each.commit[:10]}.")
        commits[each.commit] = each.name
