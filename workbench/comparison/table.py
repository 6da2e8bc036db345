"""A comparison as a table: the same cells in the window, the terminal, CSV and JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from typing import Any

from workbench import spreadsheet
from workbench.analysis.intervals import Interval
from workbench.analysis.results import Percentile, PointResult, known_us
from workbench.comparison.contenders import Contender
from workbench.comparison.pairwise import to_data as figures_data
from workbench.comparison.sides import Comparison
from workbench.comparison.words import difference_in, interval_text, sustained_in
from workbench.documents import Percentiles
from workbench.formatting import duration, megabytes, percent
from workbench.report import cost

SHOWN: tuple[Percentile, ...] = ("p50", "p90", "p99", "p999")
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
    found = [
        Column("server", "", "Server"),
        Column("session", "", "Session"),
        Column(
            "knee_per_s",
            "",
            "Sustained rate",
            "The highest rate with 99 % answered, as at every lower one.",
        ),
        Column("interval", "", "Limit", _INTERVAL),
    ]
    replies = f"{comparison.axis.replies_title}/s"
    found += _at_rate("at_knee", "At the sustained rate", replies)
    if comparison.rate is not None:
        found += _at_rate("at_common", f"At {comparison.axis.at(comparison.rate)}", replies)
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


def _at_rate(key: str, group: str, replies: str) -> list[Column]:
    return [
        Column(f"{key}_replies_per_s", group, replies),
        Column(f"{key}_mean_ms", group, "Mean", "From the scheduled time of a call."),
        Column(f"{key}_p50_ms", group, "p50", "From the scheduled time of a call."),
        Column(f"{key}_p99_ms", group, "p99", "From the scheduled time of a call."),
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
        "knee_per_s": Cell(sustained_in(comparison, contender), knee),
        "interval": Cell(interval_text(contender), _low(contender.result.interval)),
        "rss_bytes": _memory(contender.result.rss_bytes),
        "processes": Cell(tasks.cell, tasks.processes or None),
        "verdicts_ok": _count(contender, "ok"),
        "verdicts_server_limited": _count(contender, "server-limited"),
        "verdicts_faulty": _count(contender, "faulty"),
        "verdicts_untrusted": _count(contender, *UNTRUSTED),
        "disqualified": Cell(contender.result.disqualified, contender.result.stopped_past),
    }
    cells |= _figures("at_knee", contender.result.at_knee)
    if comparison.rate is not None:
        cells |= _figures("at_common", contender.result.at(comparison.rate) if same else None)
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
        f"{column.title} there" if column.key.startswith("at_knee") else column.title
        for column in shown
    ]
    rows = ((each, row(comparison, each)) for each in comparison.ranked())
    return titles, [(each, [cells[column.key] for column in shown]) for each, cells in rows]


def _is_shown(key: str, common: bool) -> bool:
    if key in ("server", "session"):
        return True
    if common or key.startswith("at_common"):
        return common and key.startswith("at_common")
    return key in _FIRST or not key.startswith("at_knee")


_THERE = ("mean_ms", "p50_ms", "p99_ms", "cpu_pct")
_FIRST = ("knee_per_s", "interval", *(f"at_knee_{each}" for each in _THERE))


def as_csv(comparison: Comparison) -> str:
    """One row per server, RFC 4180, units in the header; empty cells: unknown."""
    keys = [column.key for column in columns(comparison) if column.key != "interval"]
    lines = []
    for contender in comparison.ranked():
        cells = row(comparison, contender)
        limit = contender.result.interval
        line: dict[str, object] = {key: cells[key].value for key in keys[:3]}
        line["limit_low_per_s"] = _low(limit)
        line["limit_high_per_s"] = _finite(limit.high) if limit else None
        line["passes"] = limit.passes if limit else None
        line["common_rate"] = comparison.rate
        line |= {key: cells[key].value for key in keys[3:]}
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


def to_data(comparison: Comparison, contender: Contender) -> dict[str, Any]:
    """One server's data for `--json`; None: unknown."""
    result = contender.result
    interval = result.interval
    at_common = result.at(comparison.rate) if comparison.rate is not None else None
    return {
        "session": contender.tag,
        "server": contender.id,
        "name": contender.name,
        "version": contender.record.version,
        "knee_per_s": result.knee,
        "limit": None
        if interval is None
        else {
            "low_per_s": interval.low,
            "high_per_s": _finite(interval.high),
            "passes": interval.passes,
            "coverage": interval.coverage,
        },
        "at_knee": _figures_data(result.at_knee),
        "at_common": _figures_data(at_common),
        "rss_bytes": result.rss_bytes or None,
        "processes": result.tasks.processes or None,
        "threads": result.tasks.threads or None,
        "verdicts": dict(result.verdicts),
        "backlog": contender.backlog or None,
        "incomplete_at": result.cut.x if result.cut else None,
        "faulty": result.what_is_faulty or None,
        "disqualified": result.disqualified or None,
        "died": result.died or None,
        "gave_up": result.gave_up or None,
    }


def difference_data(comparison: Comparison, a: Contender, b: Contender) -> dict[str, Any]:
    """Differences of two knees, and of the figures at the common rate, for `--json`."""
    found = comparison.difference(a, b)
    data: dict[str, Any] = {"first": a.key, "second": b.key}
    if found is not None:
        data |= {
            "figure_per_s": found.figure,
            "low_per_s": _finite(found.low),
            "high_per_s": _finite(found.high),
            "outcome": found.outcome,
            "most_pct": None if found.most == inf else 100 * found.most,
            "paired": found.paired,
            "passes": found.passes,
        }
    data["text"] = difference_in(comparison, a, b)
    data["at_common"] = figures_data(comparison.figures(a, b))
    return data


def _figures(key: str, at: PointResult | None) -> dict[str, Cell]:
    names = ("replies_per_s", "mean_ms", "p50_ms", "p99_ms", "errors_pct", "cpu_pct")
    if at is None:
        return {f"{key}_{name}": Cell("", None) for name in names}
    cells = (
        Cell(f"{at.replies_per_s:,.0f}", at.replies_per_s),
        _mean(at),
        _time(at.latency_us, "p50"),
        _time(at.latency_us, "p99"),
        Cell(percent(at.errors_pct), at.errors_pct),
        Cell(cost.cpu(at.cpu_pct), at.cpu_pct or None),
    )
    return {f"{key}_{name}": cell for name, cell in zip(names, cells, strict=True)}


def _time(times: Percentiles | None, name: Percentile) -> Cell:
    us = known_us(times, name)
    return Cell(duration(us), None if us is None else us / 1000)


def _mean(at: PointResult) -> Cell:
    us = at.latency_mean_us
    return Cell(duration(us), None if us is None else round(us / 1000, 4))


def _memory(count: int) -> Cell:
    return Cell(megabytes(count), count) if count else Cell("", None)


def _count(contender: Contender, *verdicts: str) -> Cell:
    count = sum(contender.result.verdicts[verdict] for verdict in verdicts)
    return Cell(str(count), count)


def _low(interval: Interval | None) -> float | None:
    return None if interval is None else interval.low


def _finite(value: float) -> float | None:
    return None if value in (inf, -inf) else value


def _figures_data(at: PointResult | None) -> dict[str, Any] | None:
    if at is None:
        return None
    times = at.latency_us
    return {
        "rate_per_s": at.x,
        "replies_per_s": at.replies_per_s,
        "errors_pct": at.errors_pct,
        "latency_ms": {name: _time(times, name).value for name in SHOWN}
        | {"mean": _mean(at).value},
        "cpu_pct": at.cpu_pct or None,
        "rss_bytes": at.rss_bytes or None,
        "passes": len(at.stops),
    }
