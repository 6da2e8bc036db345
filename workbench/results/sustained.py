"""What servers sustain, at which cost, why no more, and what of it is in doubt: worded the same in
tables, pages, cards and charts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import isinf

from workbench.analysis.causes import why_it_stops
from workbench.analysis.cost import ONE_PASS, Cost, cheapest
from workbench.analysis.series import TRUSTED, SeriesResult
from workbench.analysis.significance import MARGIN
from workbench.analysis.summary import ServerSummary, Summary
from workbench.axis import Axis
from workbench.documents import AnyDocument, Note, PointStop
from workbench.formatting import capital, figure, listed, rate
from workbench.messages.audits import ENDED
from workbench.messages.causes import brief
from workbench.messages.notes import Severity
from workbench.messages.reasons import reasons_of
from workbench.messages.topics import severity

SUSTAINS, PEAKS = "sustains", "peaks at"
_OF_SEVERAL = {SUSTAINS: "sustain", PEAKS: "peak at"}

_FEW = 3
"""As many servers, and rates after the best, are named."""


@dataclass(frozen=True)
class Sustained:
    """What one server sustains; an unused part is empty."""

    verb: str = ""
    """ "sustains", "peaks at" (a search), `most`."""
    words: str = ""
    """ "so far", "no tested rate", "unknown"."""
    figure: str = ""
    """ "≥ 6,200/s"."""

    @property
    def caption(self) -> str:
        """All but the figure: "sustains so far"."""
        return f"{self.verb} {self.words}".strip()

    @property
    def text(self) -> str:
        """ "sustains so far 6,200/s"."""
        return f"{self.caption} {self.figure}".strip()

    def of_several(self) -> Sustained:
        """Return the same in the plural."""
        return replace(self, verb=_OF_SEVERAL.get(self.verb, self.verb))


def most(axis: Axis) -> str:
    """ "most replies": what is shown where no limit is sought."""
    return f"most {axis.replies}"


def column(series: SeriesResult, *, where: bool = False) -> str:
    """Return what a server sustains, for a column with that title: "6,200/s"; "≥ 9,000/s" if its
    limit was not reached; "no tested rate", "faulty", "unknown", "not found" (a search that has not
    ended), "incomplete at 500/s", "not measured". If the axis has no limit, its most replies:
    "12,300 replies/s"; with `where`: "12,300 replies/s at 50 concurrent"."""
    if not series.complete:
        last = series.shown[-1:]
        return f"incomplete at {series.axis.at(last[0].x)}" if last else "not measured"
    if not series.axis.has_limit:
        at = f" at {series.axis.at(series.most.x)}" if where and series.most else ""
        return f"{series.figure:,.0f} {series.axis.replies}/s{at}"
    found = parts(series)
    return found.words.removesuffix(" from") or found.figure


def parts(series: SeriesResult, *, over: bool = True) -> Sustained:
    """Return what it sustains, as parts of a sentence. `over`: it will not be measured any more."""
    if not series.complete:
        return Sustained(words="interrupted" if series.shown else "not run" + " yet" * (not over))
    if not series.axis.has_limit:
        return Sustained(most(series.axis), figure=f"{rate(series.figure)}/s")
    if state := _open(series, over):
        return Sustained(words=state)
    if series.knee is None and series.faulty:
        return Sustained(words="faulty from", figure=series.axis.of(series.faulty))
    verb = PEAKS if series.axis.bounds else SUSTAINS
    if series.knee is None:
        return Sustained(verb, _none(series) if over else "none so far")
    least = "≥ " * series.knee_is_floor
    words = "" if over or least else "so far"
    return Sustained(verb, words, least + series.axis.at(series.knee))


def interval(series: SeriesResult) -> str:
    """Return that of the limit: "14,250 to 14,500/s", "above 14,250/s"; empty: unknown, faulty."""
    found, axis = series.interval, series.axis
    if found is None or (series.faulty and not found.low):
        return ""
    if isinf(found.high):
        return f"above {axis.at(found.low)}"
    return f"{axis.figure(found.low)} to {axis.at(found.high)}"


def sentence(series: SeriesResult) -> str:
    """Return a sentence without its full stop: "gevent sustains 6,200/s"."""
    if series.most and not series.axis.has_limit:
        return f"{series.name}: {column(series, where=True)}"
    if series.unknown is not None:
        return f"{series.name}: {'peak' if series.axis.bounds else 'sustained rate'} unknown"
    said = f"{series.name} {parts(series).text}"
    if not series.faulty:
        return said
    if series.knee is None:
        return f"{series.name} is {series.what_is_faulty}"
    return f"{said}, {series.what_is_faulty}"


def why_unknown(series: SeriesResult) -> str:
    """Return why it is unknown what it sustains; empty: it is known, or there is no limit."""
    if series.faulty:
        return f"{capital(series.what_is_faulty)}."
    if series.unknown is None:
        return ""
    return f"At {series.axis.of(series.unknown)}: {series.why_unknown}"


@dataclass(frozen=True)
class Answer:
    text: str
    """Without its full stop: "gevent sustains 7,875/s; asyncio streams 5,250/s, its core was
    full"."""
    why: str = ""
    """Why it is unknown, or which of several equals has the lowest cost; empty: neither."""
    doubts: Sequence[str] = ()
    """Sentences about servers whose result is unknown, and about faulty ones."""

    @property
    def sentences(self) -> str:
        return " ".join(filter(None, (f"{self.text}.", self.why, *self.doubts)))


def answer(
    ranked: Sequence[SeriesResult], *, at: Callable[[float], str] | None = None, whole: bool = True
) -> Answer:
    """Return the answer to what was asked; `ranked`: in descending order. `at`: how the first value
    is written, by default as the axis does; `whole`: the run measured all that was planned."""
    measured = [each for each in ranked if each.complete]
    if not measured:
        return Answer("Nothing was measured")
    found = _answer(measured, at or measured[0].axis.at)
    return found if whole else replace(found, text=f"Incomplete: {found.text}")


def _answer(measured: Sequence[SeriesResult], at: Callable[[float], str]) -> Answer:
    axis = measured[0].axis
    if axis.of_workload and not axis.has_limit:
        return Answer(f"{axis.label} was varied at one load, so no highest rate was sought")
    if not axis.has_limit:
        first, best_of = measured[0], "Best: " * (len(measured) > 1)
        return Answer(f"{best_of}{first.name} with {column(first, where=True)}")
    doubts = [f"{each.name} is {each.what_is_faulty}." for each in measured if each.faulty]
    known = [each for each in measured if each.knee is not None]
    if not known:
        return replace(_none_sustained(measured), doubts=doubts)
    if none := [s for s in measured if s.knee is None and not s.unknown and not s.faulty]:
        doubts = [f"{_some(none)}: {_none(none[0])} sustained.", *doubts]
    if unknown := [each for each in measured if each.unknown]:
        verb = "sustains" if len(unknown) == 1 else "sustain"
        doubts = [f"What {_some(unknown)} {verb} is unknown.", *doubts]
    known.sort(key=lambda each: (-each.figure, not each.knee_is_floor))
    alike = groupby(known, key=lambda each: (each.figure, each.knee_is_floor))
    best, *others = [list(group) for _, group in alike]
    said = parts(best[0])
    verb = (said if len(best) == 1 else said.of_several()).verb
    text = f"{_some(best)} {verb} {_least(best[0])}{at(best[0].figure)}"
    return Answer(text + "".join(_clauses(best, others)), tie(measured), doubts)


def _clauses(best: Sequence[SeriesResult], others: Sequence[list[SeriesResult]]) -> Iterator[str]:
    """Yield what follows the best servers' rate: why it is no more, and the rates of others."""
    causes = [_brief_cause(group) for group in (best, *others)]
    each = causes[0] if len(others) and len(set(causes)) == 1 else ""
    why = [f", {cause}" if cause and not each else "" for cause in causes]
    yield why[0]
    told = len(others) if len(others) <= _FEW else _FEW - 1
    for group, cause in zip(others[:told], why[1:], strict=False):
        yield f"; {_some(group)} {_least(group[0])}{group[0].axis.at(group[0].figure)}{cause}"
    if rest := [series for group in others[told:] for series in group]:
        axis, low, high = rest[0].axis, rest[-1].figure, rest[0].figure
        yield f"; {len(rest)} others {axis.figure(low)} to {axis.at(high)}"
    if each:
        yield f" (each: {each})"


def _brief_cause(group: Sequence[SeriesResult]) -> str:
    """Return why one server sustains no more, in a few words; empty: unknown, or it is not one."""
    found = why_it_stops(group[0]) if len(group) == 1 else None
    return brief(found[1]) if found else ""


def _least(series: SeriesResult) -> str:
    return "at least " * series.knee_is_floor


def _none_sustained(measured: Sequence[SeriesResult]) -> Answer:
    unknown = [each for each in measured if each.unknown]
    if not unknown:
        return Answer("No server sustained any tested rate")
    causes = once(each.why_unknown for each in unknown)
    why = causes[0] if len(causes) == 1 else ""
    who = "they sustain" if len(measured) > 1 else f"{measured[0].name} sustains"
    if len(unknown) == len(measured):
        return Answer(f"What {who} is unknown", why)
    what = f"{_names(unknown)} {'sustains' if len(unknown) == 1 else 'sustain'}"
    sentence = f"What {what} is unknown{f': {why}' if why else '.'}"
    return Answer("No server is known to sustain any tested rate", sentence)


def _names(servers: Sequence[SeriesResult]) -> str:
    return listed([each.name for each in servers])


def _some(servers: Sequence[SeriesResult]) -> str:
    """Name few servers; of more, the first."""
    names = [each.name for each in servers]
    return listed(
        names if len(names) <= _FEW + 1 else [*names[:_FEW], f"{len(names) - _FEW} others"]
    )


def _open(series: SeriesResult, over: bool) -> str:
    """Return why there is no result yet, "searching"; empty: there is one."""
    if series.axis.bounds and not series.peaks:
        return "not found" if over else "searching"
    return f"unknown{' so far' * (not over)}" if series.unknown is not None else ""


def _none(series: SeriesResult) -> str:
    return "no tested rate" if series.axis.per_second else "no tested value"


def unknown(servers: Iterable[SeriesResult], background_load: str) -> list[str]:
    """Return which servers' sustained rate is unknown, and why; what `background_load`, a sentence
    on the run, hides is one sentence, however many servers it is of."""
    lost = [server for server in servers if server.unknown]
    hidden = [server for server in lost if _is_hidden(server)]
    if len(hidden) < 2:
        return [f"What {each.name} sustains is unknown: {each.why_unknown}" for each in lost]
    together = f"What {_names(hidden)} sustain is unknown. {background_load}"
    return [together, *unknown([each for each in lost if each not in hidden], background_load)]


def _is_hidden(series: SeriesResult) -> bool:
    reasons = reasons_of(series.unknown) if series.unknown else []
    return any(each.code == "background-load" for each in reasons)


def tie(ranked: Sequence[SeriesResult]) -> str:
    """The cheapest of the servers that sustain the most; empty: no tie, or no cost is known."""
    best = [each for each in ranked if each.knee is not None and each.knee == ranked[0].knee]
    found = cheapest(best)
    if found is None:
        return ""
    names, at = _names(found.series), best[0].axis.at(best[0].figure)
    least = within(found.cost)
    if not found.others and found.equal:
        share = f"{100 * MARGIN:.0f} %"
        return f"At {at} {names} cost the same CPU time per call within {share}, {least}."
    if not found.others:
        return (
            f"At {at} {names} cannot be distinguished by their CPU time per call,"
            f" {least}{_of_passes(found.passes)}."
        )
    verb = "costs" if len(found.series) == 1 else "cost"
    alike = "" if len(found.series) == 1 or found.equal else " and cannot be distinguished"
    return (
        f"At {at} {names} {verb} the least CPU time, {least} per call{alike};"
        f" others up to {within(found.most)}{_of_passes(found.passes)}."
    )


def cpu(pct: float) -> str:
    """ "76 %", of one core; empty: not measured (0)."""
    return f"{pct:.0f} %" if pct else ""


def shared_memory(servers: Iterable[SeriesResult]) -> str:
    """What the RSS of several processes counts; empty: no server has several."""
    if any(each.rss_bytes and each.tasks.processes > 1 for each in servers):
        return "RSS counts memory that processes share once for each of them."
    return ""


def within(cost: Cost | None) -> str:
    """ "40.1 ± 0.8 µs"; without an interval if none is known; empty: the cost is unknown."""
    if cost is None:
        return ""
    if cost.half is None:
        return figure(cost.mean, "µs")
    digits = 0 if cost.mean >= 99.95 else 1 if cost.mean >= 9.995 else 2
    return f"{cost.mean:,.{digits}f} ± {cost.half:,.{digits}f} µs"


def _of_passes(passes: int) -> str:
    if passes > 1:
        return ""
    return f" (one pass: differences below {100 * ONE_PASS:.0f} % do not count)"


def stops(series: SeriesResult) -> str:
    """Why it reaches its limit; empty: unknown."""
    found = why_it_stops(series)
    if found is None:
        return ""
    point, named = found
    return f"{series.name} stops at {series.axis.of(point)}: {named.text()}"


def state(summary: Summary) -> str:
    """What a reader must know if the run did not complete; empty: it did."""
    ended = ENDED.get(summary.status)
    return f"{ended}. {summary.reason}".strip() if ended else ""


def doubts(summary: Summary, documents: Iterable[AnyDocument]) -> Iterator[str]:
    """Doubts about the whole session, then about each server and its points."""
    if ended := state(summary):
        yield ended
    yield from once(
        note.text
        for note in documents
        if isinstance(note, Note)
        and not summary.of_server(note.server)
        and severity(note) >= Severity.WARNING
    )
    for server in summary.servers.values():
        if not server.stops:
            yield " ".join([f"{server.name} was not measured.", *once(server.notes)])
    for server in summary.servers.values():
        yield from _untrusted(server)
    if remarked := _remarked(summary.servers.values()):
        yield remarked
    for server in summary.servers.values():
        cut = [point for point in server.stops if not point.complete]
        if cut:
            rates_cut = listed([server.axis.of(point) for point in cut])
            yield f"{server.name} at {rates_cut}: interrupted; excluded from results."


def _untrusted(server: ServerSummary) -> Iterator[str]:
    """One sentence per untrusted verdict, with its rates and the first reason."""
    grouped: defaultdict[str, list[PointStop]] = defaultdict(list)
    for point in sorted(server.stops, key=lambda p: p.x):
        doubtful = point.verdict not in TRUSTED or point.verdict == "faulty"
        if point.complete and server.counts(point) and doubtful:
            grouped[point.verdict].append(point)
    for verdict, points in grouped.items():
        rates = listed(once(map(server.axis.of, points)))
        why = next((" ".join(point.reasons) for point in points if point.reasons), "")
        yield f"{server.name} at {rates}: {verdict}. {why}".strip()


def _remarked(servers: Iterable[ServerSummary]) -> str:
    """One sentence on sustained points with remarks; empty: none."""
    kept = [p for s in servers for p in s.stops if s.counts(p) and p.verdict == "ok" and p.reasons]
    if not kept:
        return ""
    count = "1 point was" if len(kept) == 1 else f"{len(kept):,} points were"
    return (
        f"{count} sustained with a remark: the rate counts, but response times there may be longer"
        " than the server’s own."
    )


def once(texts: Iterable[str]) -> list[str]:
    """Each text once, in the order of first occurrence."""
    return list(dict.fromkeys(texts))
