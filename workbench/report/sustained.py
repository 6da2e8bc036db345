"""What servers sustain, worded the same in tables, pages, cards and charts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import isinf
from typing import Generic, TypeVar

from workbench import formatting
from workbench.analysis.results import SeriesResult
from workbench.axis import Axis
from workbench.messages.reasons import BackgroundLoad, reasons_of

SUSTAINS, PEAKS = "sustains", "peaks at"
_OF_SEVERAL = {SUSTAINS: "sustain", PEAKS: "peak at"}

S = TypeVar("S", bound=SeriesResult)


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


@dataclass(frozen=True)
class Leaders(Generic[S]):
    """The best of several servers, and those that may be better."""

    best: list[S]
    """Servers with the highest sustained value; empty: none is known to sustain any."""
    at_least: str
    """ "≥ " if none of them reached its limit, otherwise empty."""
    open: list[S]
    """Others that did not reach their limit."""


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
    if _searching(series):
        return "not found"
    if series.knee is not None:
        return _at_least(series) + series.axis.at(series.knee)
    if series.unknown:
        return "unknown"
    return "faulty" if series.faulty else _none(series)


def parts(series: SeriesResult, *, over: bool = True) -> Sustained:
    """Return what it sustains, as parts of a sentence. `over`: it will not be measured any more."""
    if not series.complete:
        return Sustained(words="interrupted" if series.shown else "not run" + " yet" * (not over))
    if not series.axis.has_limit:
        return Sustained(most(series.axis), figure=f"{formatting.rate(series.figure)}/s")
    if state := _open(series, over):
        return Sustained(words=state)
    if series.knee is None and series.faulty:
        return Sustained(words="faulty from", figure=series.axis.of(series.faulty))
    verb = PEAKS if series.axis.bounds else SUSTAINS
    if series.knee is None:
        return Sustained(verb, _none(series) if over else "none so far")
    least = _at_least(series)
    words = "" if over or least else "so far"
    return Sustained(verb, words, least + series.axis.at(series.knee))


def interval(series: SeriesResult) -> str:
    """Return the interval of the limit: "14,250 to 14,500/s", "above 14,250/s"; empty: unknown."""
    found, axis = series.interval, series.axis
    if found is None:
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
    """Return why it is unknown what it sustains; empty: it is known, or there is no limit to
    know."""
    if series.faulty:
        return f"{formatting.capital(series.what_is_faulty)}."
    if series.unknown is None:
        return ""
    return f"At {series.axis.of(series.unknown)}: {series.why_unknown}"


def leaders(ranked: Sequence[S]) -> Leaders[S]:
    """Return the best servers on an axis with a limit. `ranked`: in descending order."""
    best = [each for each in ranked if each.knee is not None and each.knee == ranked[0].knee]
    others = [each for each in ranked if each not in best]
    return Leaders(
        best,
        "≥ " if best and all(each.knee_is_floor for each in best) else "",
        [each for each in others if each.unknown or (each.knee_is_floor and not each.faulty)],
    )


def _at_least(series: SeriesResult) -> str:
    return "≥ " if series.knee_is_floor else ""


def _open(series: SeriesResult, over: bool) -> str:
    """Return why there is no result yet, "searching"; empty: there is one."""
    if _searching(series):
        return "not found" if over else "searching"
    return f"unknown{' so far' * (not over)}" if series.unknown is not None else ""


def _searching(series: SeriesResult) -> bool:
    return bool(series.axis.bounds) and not series.peaks


def _none(series: SeriesResult) -> str:
    return "no tested rate" if series.axis.per_second else "no tested value"


def unknown(servers: Iterable[SeriesResult], background_load: str) -> list[str]:
    """Return which servers' sustained rate is unknown, and why; what `background_load`, a sentence
    on the run, hides is one sentence, however many servers it is of."""
    lost = [server for server in servers if server.unknown]
    hidden = [server for server in lost if _is_hidden(server)]
    if len(hidden) < 2:
        return [f"What {each.name} sustains is unknown: {each.why_unknown}" for each in lost]
    names = formatting.listed([server.name for server in hidden])
    together = f"What {names} sustain is unknown. {background_load}"
    return [together, *unknown([each for each in lost if each not in hidden], background_load)]


def _is_hidden(series: SeriesResult) -> bool:
    reasons = reasons_of(series.unknown) if series.unknown else []
    return any(isinstance(reason, BackgroundLoad) for reason in reasons)
