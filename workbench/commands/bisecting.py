"""`pongbench versions --bisect`: the commit that made a service slower.

A commit is measured beside the good one, in interleaved passes. It counts as slow if its whole
interval lies above the middle between the good and the bad one, as fast if it lies below. This is
looked at after a few passes, and again after twice as many; all looks at a commit together have the
confidence of one. If all passes do not decide it, the search ends and says so.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal

from workbench.analysis.significance import Change, at_each_look
from workbench.commands.service import BRIEF_S, MOST_PASSES, Bench
from workbench.documents import AnyDocument, PointStop
from workbench.errors import BadInput, ExitCode, PongbenchError
from workbench.formatting import number_of, span
from workbench.results.comparison import Comparison
from workbench.results.versus import COST, P50, answer, clearest, contender, of_versions, unreliable
from workbench.servers.entry import ServerEntry
from workbench.servers.services import Version
from workbench.terminal import say, to_stderr

Judged = Literal["fast", "slow", "undecided"]

KNOWN = 2 / 3
"""Share of the estimated step that it has for certain, before its middle judges commits."""
FEWEST = 4
"""Passes before the first look; the intervals of fewer decide next to nothing."""


def looks(most: int) -> list[int]:
    """Return after how many passes a comparison of at most `most` is judged: 5, 10, 20, 40."""
    found = [most]
    while found[0] >= 2 * FEWEST:
        found.insert(0, math.ceil(found[0] / 2))
    return found


async def bisect(bench: Bench, good: str, bad: str) -> ExitCode:
    """Find the first slow commit and print it. Raises PongbenchError."""
    repository = bench.repository
    fast, slow = [repository.commit(good)], repository.commit(bad)
    if not repository.between(fast, slow):
        raise BadInput(f"{bad} has no commit that {good} lacks; give the good one first.")
    entries = await bench.entries([Version(good, fast[0]), Version(bad, slow)])
    if len(entries) < 2:
        raise PongbenchError("Both ends have to be measured; nothing was looked for.")
    await bench.find_rate(entries)
    bench.announce(looks(bench.passes or MOST_PASSES), len(entries), BRIEF_S)
    found = await _compared(bench, entries, partial(_is_clear, entries, bench.difference))
    base, last = (contender(found, each.id) for each in entries)
    say(answer(found, last, base))
    if (step := _step(found, entries)) is None:
        say(f"So there is nothing to look for: {bad} is not shown to be slower than {good}.")
        return ExitCode.UNDECIDED
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
        judged, said = await _judge(bench, [entries[0], *entry], step[0], divide(step[1]))
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


async def _compared(
    bench: Bench, pair: Sequence[ServerEntry], enough: Callable[[Comparison], bool]
) -> Comparison:
    """Measure both until a look says that it is `enough`, or to the last pass."""
    at = looks(bench.passes or MOST_PASSES)
    confidence = at_each_look(len(at))

    def is_enough(documents: Sequence[AnyDocument]) -> bool:
        done = Counter(d.server for d in documents if isinstance(d, PointStop) and d.judged)
        passes = {done[each.id] for each in pair}
        whole = len(passes) == 1 and passes <= set(at)
        return whole and enough(of_versions(documents, confidence))

    return of_versions(await bench.measured(bench.again(pair, at[-1]), is_enough), confidence)


def _step(found: Comparison, pair: Sequence[ServerEntry]) -> tuple[str, Change] | None:
    """Return what shows best that the second is slower, and by how much; None: nothing does."""
    base, last = (contender(found, each.id) for each in pair)
    return None if unreliable(found, (last, base)) else clearest(found, last, base)


def _is_clear(pair: Sequence[ServerEntry], difference: float, found: Comparison) -> bool:
    """Return whether the second is slower by so much that the middle is known, or by less than a
    difference that matters."""
    if step := _step(found, pair):
        return math.log1p(step[1].low) > KNOWN * math.log1p(step[1].figure)
    base, last = (contender(found, each.id) for each in pair)
    figures = [each for each in found.figures(last, base) if each.what in (P50, COST)]
    known = figures and not unreliable(found, (last, base))
    return bool(known) and all(each.change and each.change.high < difference for each in figures)


def divide(change: Change) -> float:
    """Return what divides fast from slow between two versions of this change, its logarithm: their
    middle, or the least by which they differ, so that no slow one lies below it."""
    return min(math.log1p(change.figure) / 2, math.log1p(change.low))


async def _judge(
    bench: Bench, pair: Sequence[ServerEntry], what: str, middle: float
) -> tuple[Judged, str]:
    """Return whether the second is slow, beside the first; as the end of a sentence, too."""

    def change_in(found: Comparison) -> Change | None:
        old, new = (contender(found, each.id) for each in pair)
        if unreliable(found, (old, new)):
            return None
        return next((each.change for each in found.figures(new, old) if each.what == what), None)

    found = await _compared(
        bench, pair, lambda found: judged_by(change_in(found), middle) != "undecided"
    )
    change = change_in(found)
    judged = judged_by(change, middle)
    if change is None:
        return judged, "cannot be compared: its point was not reliable."
    low, high = 100 * change.low, 100 * change.high
    apart = f"{low:+.1f} to {high:+.1f} % in {what} from {pair[0].name}"
    if judged != "undecided":
        return judged, f"is {judged}: {apart}."
    wide = math.log1p(change.high) - math.log1p(change.low)
    passes = bench.passes or MOST_PASSES
    needed = math.ceil(passes * max(2.0, (1.5 * wide / (2 * middle)) ** 2))
    divides = f"{span(100 * math.expm1(middle), 100 * math.expm1(middle))} %"
    return judged, (
        f"cannot be told from both: {apart}, and {divides} divides fast from slow. About"
        f" {needed:,} passes would tell: --passes {needed}."
    )


def judged_by(change: Change | None, middle: float) -> Judged:
    """Return what an interval of a change says. `middle`: between fast and slow, its logarithm."""
    if change and math.log1p(change.low) > middle:
        return "slow"
    return "fast" if change and math.log1p(change.high) < middle else "undecided"
