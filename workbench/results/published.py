"""Then and now: the figures that a source states, beside those of a run that asks its question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from workbench import formatting
from workbench.analysis.published import Published, Question, question_of
from workbench.analysis.series import PointResult, SeriesResult
from workbench.plan import library
from workbench.plan.reading import to_data
from workbench.results.setup import differences


@dataclass(frozen=True)
class Row:
    name: str
    """As the source calls it."""
    then: str
    cited: str
    id: str
    """Of the server measured now; empty: none that may be compared with it."""
    server: str
    tasks: str
    """Its processes and threads."""
    now: str
    """Empty: not measured."""


@dataclass(frozen=True)
class ThenAndNow:
    citation: str
    shows: str
    found: str
    differs: str
    rows: tuple[Row, ...]

    @property
    def measured(self) -> list[Row]:
        """The figures that this run has one of its own for."""
        return [row for row in self.rows if row.now]


def then_and_now(plan: Mapping[str, Any], servers: Mapping[str, SeriesResult]) -> ThenAndNow | None:
    """Compare a run of a plan (as data) with the source whose question it asks. `servers`: its
    results, by id. None: it asks none, or has no server with a published figure."""
    asked = question_of(plan)
    if asked is None:
        return None
    source, question = asked
    rows = [row for figure in question.figures for row in _rows(figure, servers)]
    rows.sort(key=lambda row: not row.now)
    found = ThenAndNow(
        source.citation, question.shows, question.found, differs(plan, question), tuple(rows)
    )
    return found if found.measured else None


def differs(plan: Mapping[str, Any], question: Question) -> str:
    """Return what is not as it was then, and what a plan (as data) changes of the full preset."""
    full = library.shipped(question.id).plan
    changed = differences(plan, to_data(full)) if full else []
    return question.differs + (f" This run: {'; '.join(changed)}." if changed else "")


def _rows(figure: Published, servers: Mapping[str, SeriesResult]) -> Iterator[Row]:
    then = ", ".join(figure.figures.values())
    measured = [servers[id_] for id_ in figure.servers if id_ in servers]
    for series in measured:
        found, tasks = now(figure, series), series.tasks.text
        yield Row(figure.name, then, figure.cited, series.key, series.name, tasks, found)
    if not measured:
        yield Row(figure.name, then, figure.cited, "", "", "", "")


def now(figure: Published, series: SeriesResult) -> str:
    """Return what was measured now, with the verdict: at the same value where there is one,
    otherwise where the server answers most, of points that are trusted. Of one that is not, only
    the verdict. Empty: nothing was measured."""
    there = series.at(figure.at) if figure.at is not None else None
    trusted = [each for each in series.points if each.trusted]
    answered = trusted or series.points
    point = there or max(answered, key=lambda each: each.replies_per_s, default=None)
    if point is None:
        return ""
    at = series.axis.at(point.x)
    if there is None and len(series.points) > 1 and point in trusted[-1:]:
        # It may answer more.
        at += ", the highest tested" if point is series.points[-1] else ", the highest trusted"
    figures = _figures(figure, point) if point.trusted else ()
    stopped = [series.disqualified] if series.disqualified else []
    return ", ".join([*figures, f"{point.verdict} at {at}", *stopped])


def _figures(figure: Published, point: PointResult) -> Iterator[str]:
    """What was measured, in the kinds that the source states; counts are those of one pass."""
    counts, passes = [stop.counts for stop in point.stops], len(point.stops)
    succeeded = sum(each.succeeded for each in counts)
    errors = sum(each.scheduled for each in counts) - succeeded
    if figure.replies_per_s is not None:
        yield point.axis.answered(point.replies_per_s)
    if figure.requests is not None:
        yield f"{round(succeeded / passes):,} in the run"
    if figure.mean_ms is not None and (mean_us := point.mean_us("latency")) is not None:
        yield f"mean {formatting.duration(mean_us)}"
    if figure.errors is not None:
        yield formatting.number_of(round(errors / passes), "errors")
    if figure.memory_mb is not None and point.rss_bytes:
        yield formatting.megabytes(point.rss_bytes)
