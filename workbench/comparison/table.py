"""A comparison as a table: the same cells in the window, the terminal and CSV."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite

from workbench import spreadsheet
from workbench.analysis.intervals import Interval
from workbench.analysis.results import Clock, Percentile, PointResult, known_us, mean_us
from workbench.axis import Axis
from workbench.comparison.contenders import Contender
from workbench.comparison.sides import Comparison
from workbench.comparison.words import interval_text, sustained_in
from workbench.documents import Percentiles
from workbench.formatting import capital, duration, megabytes, percent
from workbench.report import cost
from workbench.report.setup import FROM_THE_SEND
from workbench.report.sustained import most

UNTRUSTED = ("client-limited", "ports-limited", "network-limited", "inconclusive")


@dataclass(frozen=True)
class Column:
    key: str
    """Column title in CSV, with its unit."""
    group: str
    """Title above several columns; empty: independent of the rate."""
    title: str
    about: str = ""
    """One sentence."""


@dataclass(frozen=True)
class Cell:
    text: str
    """For people; empty: unknown."""
    value: float | str | None
    """In the unit of the column's key, for sorting and for programs."""


def columns(comparison: Comparison) -> list[Column]:
    """Fewer if there is no common rate."""
    axis = comparison.axis
    found = [
        Column("server", "", "Server"),
        Column("session", "", "Session"),
        _result(axis),
        Column("interval", "", "Limit", _INTERVAL),
    ]
    there = "sustained rate" if axis.has_limit else most(axis)
    found += _at_rate(comparison, _there(axis), f"At the {there}")
    if comparison.rate is not None:
        found += _at_rate(comparison, "at_common", f"At {axis.at(comparison.rate)}")
    found += [
        Column("rss_bytes", "", "Peak RSS", _RSS),
        Column("processes", "", "Processes", "At rest, with those that supervise others."),
        Column("verdicts_ok", "Points", "ok"),
        Column("verdicts_server_limited", "Points", "server-limited", "The server was the limit."),
        Column("verdicts_faulty", "Points", "faulty", "The server gave unexpected responses."),
        Column("verdicts_untrusted", "Points", "unreliable", _UNTRUSTED),
        Column("disqualified", "", "Disqualified", "It stopped replying, and not for the clients."),
    ]
    return found


_INTERVAL = (
    "From the highest rate sustained to the lowest that was not: with six or more passes a 95 %"
    " interval of the median, with fewer their range, with one the step between its rates."
)
_RSS = "Memory of all processes, which counts in each of those that share it."
_UNTRUSTED = "Limited by the clients, their ports or the network, or inconclusive."


def _result(axis: Axis) -> Column:
    if axis.has_limit:
        about = "The highest rate with 99 % answered, as at every lower one."
        return Column("knee_per_s", "", "Sustained rate", about)
    return Column("knee_per_s", "", capital(most(axis)), "No limit was sought.")


def _there(axis: Axis) -> str:
    """Key of the figures beside what a server sustains or, if no limit is sought, its most
    replies."""
    return "at_knee" if axis.has_limit else "at_most"


def _at_rate(comparison: Comparison, key: str, group: str) -> list[Column]:
    latency = comparison.clock == "latency"
    about = "From the scheduled time of a call." if latency else FROM_THE_SEND
    return [
        Column(f"{key}_replies_per_s", group, f"{comparison.axis.served_title}/s"),
        Column(f"{key}_mean_ms", group, "Mean", about),
        Column(f"{key}_p50_ms", group, "p50", about),
        Column(f"{key}_p99_ms", group, "p99", about),
        Column(f"{key}_errors_pct", group, "Errors", "Of attempts."),
        Column(f"{key}_cpu_pct", group, "CPU", "Of one core, the server's process tree."),
    ]


def row(comparison: Comparison, contender: Contender) -> dict[str, Cell]:
    """Cells by the key of their column."""
    same = not comparison.why_not_comparable(contender)
    knee, tasks = contender.result.knee if same else None, contender.result.tasks
    cells = {
        "server": Cell(contender.name, contender.name),
        "session": Cell(contender.tag, contender.tag),
        "knee_per_s": Cell(sustained_in(comparison, contender, where=True), knee),
        "interval": Cell(interval_text(contender), _low(contender.result.interval)),
        "rss_bytes": _memory(contender.result.rss_bytes),
        "processes": Cell(tasks.cell, tasks.processes or None),
        "verdicts_ok": _count(contender, "ok"),
        "verdicts_server_limited": _count(contender, "server-limited"),
        "verdicts_faulty": _count(contender, "faulty"),
        "verdicts_untrusted": _count(contender, *UNTRUSTED),
        "disqualified": Cell(contender.result.disqualified, contender.result.stopped_past),
    }
    axis, clock, result = comparison.axis, comparison.clock, contender.result
    there = result.at_knee if axis.has_limit else result.most if same else None
    cells |= _figures(_there(axis), there, clock)
    if comparison.rate is not None:
        at_common = result.at(comparison.rate) if same else None
        cells |= _figures("at_common", at_common, clock)
    return cells


def ordered(comparison: Comparison) -> Iterator[dict[str, Cell]]:
    """Rows by rank."""
    for contender in comparison.ranked():
        yield row(comparison, contender)


def part(
    comparison: Comparison, *, common: bool
) -> tuple[list[str], list[tuple[Contender, list[Cell]]]]:
    """Return titles and lines, by rank, of one of two tables: what each server sustains and uses
    or, with `common`, all at one rate."""
    shown = [column for column in columns(comparison) if _is_shown(column.key, common)]
    titles = [
        f"{column.title} there" if column.key.startswith(_BESIDE) else column.title
        for column in shown
    ]
    rows = ((each, row(comparison, each)) for each in comparison.ranked())
    return titles, [(each, [cells[column.key] for column in shown]) for each, cells in rows]


def _is_shown(key: str, common: bool) -> bool:
    if key in ("server", "session"):
        return True
    if common or key.startswith("at_common"):
        return common and key.startswith("at_common")
    return not key.startswith(_BESIDE) or key.endswith(_SHOWN_THERE)


_BESIDE = ("at_knee", "at_most")
_SHOWN_THERE = ("mean_ms", "p50_ms", "p99_ms", "cpu_pct")


def as_csv(comparison: Comparison) -> str:
    """One row per server, RFC 4180, units in the header; empty cells: unknown."""
    keys = [column.key for column in columns(comparison) if column.key != "interval"]
    lines = []
    for contender in comparison.ranked():
        cells = row(comparison, contender)
        limit = contender.result.interval
        line: dict[str, object] = {key: cells[key].value for key in keys[:3]}
        line["limit_low_per_s"] = _low(limit)
        line["limit_high_per_s"] = limit.high if limit and isfinite(limit.high) else None
        line["passes"] = limit.passes if limit else None
        line["common_rate"] = comparison.rate
        line |= {key: cells[key].value for key in keys[3:]}
        line["clock"] = comparison.clock
        line["threads"] = contender.result.tasks.threads or None
        line["file"] = comparison.side(contender).path.name
        lines.append(line)
    return spreadsheet.as_csv(list(lines[0]), lines) if lines else ""


def as_text(comparison: Comparison) -> str:
    """Tab-separated, for spreadsheets and mail."""
    heads = columns(comparison)
    lines = [[f"{c.group}: {c.title}" if c.group else c.title for c in heads]]
    lines += [[cells[c.key].text for c in heads] for cells in ordered(comparison)]
    return spreadsheet.as_text(lines)


def _figures(key: str, at: PointResult | None, clock: Clock) -> dict[str, Cell]:
    names = ("replies_per_s", "mean_ms", "p50_ms", "p99_ms", "errors_pct", "cpu_pct")
    if at is None:
        return {f"{key}_{name}": Cell("", None) for name in names}
    cells = (
        Cell(f"{at.replies_per_s:,.0f}", at.replies_per_s),
        _mean(at, clock),
        _time(at.times(clock), "p50"),
        _time(at.times(clock), "p99"),
        Cell(percent(at.errors_pct), at.errors_pct),
        Cell(cost.cpu(at.cpu_pct), at.cpu_pct or None),
    )
    return {f"{key}_{name}": cell for name, cell in zip(names, cells, strict=True)}


def _time(times: Percentiles | None, name: Percentile) -> Cell:
    us = known_us(times, name)
    return Cell(duration(us), None if us is None else us / 1000)


def _mean(at: PointResult, clock: Clock) -> Cell:
    us = mean_us(at.stops, clock)
    return Cell(duration(us), None if us is None else round(us / 1000, 4))


def _memory(count: int) -> Cell:
    return Cell(megabytes(count), count) if count else Cell("", None)


def _count(contender: Contender, *verdicts: str) -> Cell:
    count = sum(contender.result.verdicts[verdict] for verdict in verdicts)
    return Cell(str(count), count)


def _low(interval: Interval | None) -> float | None:
    return None if interval is None else interval.low
