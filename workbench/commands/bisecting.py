"""`pongbench versions --bisect`: the commit that made a service slower.

A commit is measured beside the good one, in interleaved passes. It counts as slow if its whole
interval lies above the middle between the good and the bad one, as fast if it lies below; otherwise
more passes are measured, and if these do not decide it either, the search ends and says so.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from workbench.analysis.significance import Change
from workbench.commands.service import BRIEF_S, MOST_PASSES, Bench
from workbench.documents import AnyDocument
from workbench.errors import BadInput, ExitCode, PongbenchError
from workbench.formatting import number_of, span
from workbench.results.versus import answer, clearest, contender, of_versions, unreliable
from workbench.servers.entry import ServerEntry
from workbench.servers.services import Version
from workbench.terminal import say, to_stderr

Judged = Literal["fast", "slow", "undecided"]


async def bisect(bench: Bench, good: str, bad: str) -> ExitCode:
    """Find the first slow commit and print it. Raises PongbenchError."""
    repository = bench.repository
    fast, slow = [repository.commit(good)], repository.commit(bad)
    if not repository.between(fast, slow):
        raise BadInput(f"{bad} has no commit that {good} lacks; give the good one first.")
    entries = await bench.entries([Version(good, fast[0]), Version(bad, slow)])
    if len(entries) < 2:
        raise PongbenchError("Both ends have to be measured; nothing was looked for.")
    base = entries[0]
    await bench.learn(entries)
    passes = bench.passes_for(bench.difference)
    bench.announce(passes, len(entries), BRIEF_S)
    found = of_versions(await bench.measured(bench.again(entries, passes)))
    ends = contender(found, entries[1].id), contender(found, base.id)
    say(answer(found, *ends))
    shown = None if unreliable(found, ends) else clearest(found, *ends)
    if shown is None:
        say(f"So there is nothing to look for: {bad} is not shown to be slower than {good}.")
        return ExitCode.UNDECIDED
    what, change = shown
    middle = math.log1p(change.figure) / 2
    passes = bench.passes_for(math.expm1(middle))
    skipped: set[str] = set()
    while len(left := repository.between(fast, slow)) > 1:
        tried = [each for each in left if each not in skipped and each != slow]
        if not tried:
            say(f"It is one of {number_of(len(left), 'commits')}, of which the others cannot be")
            say(f"measured: {', '.join(each[:10] for each in left)}.")
            return ExitCode.UNDECIDED
        commit = tried[0]
        to_stderr(f"{number_of(len(left), 'commits')} left; measuring {commit[:10]}")
        entry = await bench.entries([Version(commit[:10], commit)])
        if not entry:
            skipped.add(commit)
            continue
        judged, said = await _judge(bench, [base, *entry], what, middle, passes)
        say(f"{commit[:10]} {said}")
        if judged == "undecided":
            say(f"The search ends here with {number_of(len(left), 'commits')} left.")
            return ExitCode.UNDECIDED
        if judged == "fast":
            fast.append(commit)
        else:
            slow = commit
    say(f"{slow[:10]} is the first slow commit: {repository.subject(slow)}")
    return ExitCode.DONE


async def _judge(
    bench: Bench, pair: Sequence[ServerEntry], what: str, middle: float, passes: int
) -> tuple[Judged, str]:
    """Return whether the second is slow, beside the first; as the end of a sentence, too."""
    divides = f"{span(100 * math.expm1(middle), 100 * math.expm1(middle))} %"
    most = bench.passes or MOST_PASSES
    while True:
        change = _change(await bench.measured(bench.again(pair, passes)), pair, what)
        judged = "undecided" if change is None else judged_by(change, middle)
        if change and judged != "undecided":
            return judged, f"is {judged}: {_ends(change)} in {what} from {pair[0].name}."
        if passes >= most:
            break
        passes = min(most, 2 * passes)
    if change is None:
        return "undecided", "cannot be compared: its point was not reliable."
    wide = math.log1p(change.high) - math.log1p(change.low)
    needed = math.ceil(passes * max(2.0, (1.5 * wide / (2 * middle)) ** 2))
    return "undecided", (
        f"cannot be told from both: {_ends(change)} in {what} from {pair[0].name}, and {divides}"
        f" divides fast from slow. About {needed:,} passes would tell: --passes {needed}."
    )


def _change(
    documents: Sequence[AnyDocument], pair: Sequence[ServerEntry], what: str
) -> Change | None:
    found = of_versions(documents)
    old, new = (contender(found, each.id) for each in pair)
    if unreliable(found, (old, new)):
        return None
    return next((each.change for each in found.figures(new, old) if each.what == what), None)


def judged_by(change: Change, middle: float) -> Judged:
    """Return what an interval of a change says. `middle`: between fast and slow, its logarithm."""
    if math.log1p(change.low) > middle:
        return "slow"
    return "fast" if math.log1p(change.high) < middle else "undecided"


def _ends(change: Change) -> str:
    return f"{100 * change.low:+.1f} to {100 * change.high:+.1f} %"
