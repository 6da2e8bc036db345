"""The tables of servers and of points: the same cells in the window, the terminal, HTML and CSV."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from workbench.analysis.cost import cost, full_core
from workbench.analysis.series import Clock, Percentile, PointResult, known_us, mean_us
from workbench.analysis.summary import ServerSummary, Summary
from workbench.axis import Axis
from workbench.documents import Metric, Percentiles, PointStop
from workbench.formatting import capital, duration, figure, megabytes, per_second, percent
from workbench.results.comparison import Comparison, Contender
from workbench.results.differences import sustained_in
from workbench.results.setup import FROM_THE_SEND
from workbench.results.sustained import column, cpu, interval, most, within
from workbench.results.tables import Cell, Column, Row, Table

_BESIDE = ("mean_ms", "p50_ms", "p99_ms", "cpu_pct")
"""Figures beside what a server sustains."""
_TIMES: dict[Percentile, str] = {
    "p50": "p50",
    "p90": "p90",
    "p99": "p99",
    "p999": "p99.9",
    "max": "Longest",
}
UNTRUSTED = ("client-limited", "ports-limited", "network-limited", "inconclusive")


def ranking(summary: Summary) -> Table[ServerSummary]:
    """The servers of a session by rank, with their figures where they sustain that."""
    axis, clock = summary.axis, summary.clock
    title = "Peak" if axis.bounds else "Sustained rate" if axis.has_limit else capital(most(axis))
    columns = [
        Column("server", "Server"),
        Column("version", "Version"),
        Column("sustained", title),
        *[Column("interval", "95 % interval")] * bool(axis.bounds),
        *(
            Column(f"there_{key}", f"{title} there")
            for key, title in zip(_BESIDE, ("Mean", "p50", "p99", "CPU"), strict=True)
        ),
        Column("cpu_per_call", "CPU per call"),
        Column("full_core", "Core full at"),
        Column("rss_bytes", "Peak RSS"),
        Column("processes", "Processes"),
    ]
    rows = [
        Row(
            server,
            _cells(server)
            | _figures("there", server.there, clock)
            | {
                "version": Cell(server.version),
                "sustained": Cell(column(server, where=True), server.figure),
                "interval": Cell(interval(server)),
                "cpu_per_call": Cell(within(cost(server.there))),
                "full_core": Cell(per_second(full_core(server)), full_core(server)),
            },
        )
        for server in summary.ranked()
    ]
    return Table(columns, rows)


def points(server: ServerSummary, metrics: Iterable[Metric], clock: Clock) -> Table[PointStop]:
    """The points of a server, with the metrics that any of them has; times by the `clock`."""
    axis = server.axis
    known = [each for each in metrics if each.key in server.metrics and not each.of]
    columns = [
        Column("x", axis.column),
        *[Column("pass", "Pass")] * (len(server.pass_numbers) > 1),
        Column("replies", f"{axis.served.capitalize()}/s"),
        *[Column("calls", "Calls/s")] * (axis.calls_each > 1),
        Column("errors", "Errors"),
        Column("mean", "Mean"),
        *(Column(key, title) for key, title in _TIMES.items()),
        Column("service", "Service p99"),
        Column("cpu", "CPU"),
        Column("memory", "RSS"),
        *(Column(f"metric_{metric.key}", metric.label) for metric in known),
        Column("verdict", "Verdict"),
    ]
    return Table(columns, [Row(p, _point(p, axis, known, clock)) for p in server.ordered()])


def _point(
    point: PointStop, axis: Axis, metrics: Iterable[Metric], clock: Clock
) -> dict[str, Cell]:
    text = point.verdict if point.complete else "interrupted"
    always = {
        "x": Cell(axis.of(point), point.x),
        "pass": Cell(str(point.pass_number), point.pass_number),
        "memory": _memory(point.server_rss_bytes),
        "verdict": Cell(text, text),
    }
    times = point.latency_us if clock == "latency" else point.service_us
    calls = axis.calls_per_s(point.replies_per_s)
    measured = {
        "replies": Cell(f"{point.replies_per_s:,.0f}", point.replies_per_s),
        "calls": Cell("" if calls is None else f"{calls:,.0f}", calls),
        "errors": Cell(percent(point.errors_pct), point.errors_pct),
        "mean": _mean([point], clock),
        **{key: _time(times, key) for key in _TIMES},
        "service": _time(point.service_us, "p99"),
        "cpu": Cell(cpu(point.server_cpu_pct), point.server_cpu_pct or None),
        **{
            f"metric_{each.key}": Cell(figure(point.values.get(each.key), each.unit))
            for each in metrics
        },
    }
    known = point.complete or point.replies_per_s
    return (measured if known else dict.fromkeys(measured, Cell())) | always


def compared(comparison: Comparison) -> Table[Contender]:
    """The servers of a comparison by rank; with fewer columns if there is no common rate."""
    axis = comparison.axis
    rate = comparison.rate
    sustained = Column("knee_per_s", capital(most(axis)), about="No limit was sought.")
    if axis.has_limit:
        about = "The highest rate with 99 % answered, as at every lower one."
        sustained = Column("knee_per_s", "Sustained rate", about=about)
    there = "sustained rate" if axis.has_limit else most(axis)
    columns = [
        Column("server", "Server"),
        Column("session", "Session"),
        sustained,
        Column("interval", "Limit", about=_INTERVAL),
        *_at_rate(comparison, _there(axis), f"At the {there}"),
        *([] if rate is None else _at_rate(comparison, "at_common", f"At {axis.at(rate)}")),
        Column("rss_bytes", "Peak RSS", about=_RSS),
        Column("processes", "Processes", about="At rest, with those that supervise others."),
        Column("verdicts_ok", "ok", "Points"),
        Column("verdicts_server_limited", "server-limited", "Points", "The server was the limit."),
        Column("verdicts_faulty", "faulty", "Points", "The server gave unexpected responses."),
        Column("verdicts_untrusted", "unreliable", "Points", _UNTRUSTED),
        Column(
            "disqualified", "Disqualified", about="It stopped replying, and not for the clients."
        ),
    ]
    return Table(columns, [Row(each, _compared(comparison, each)) for each in comparison.ranked()])


_INTERVAL = (
    "From the highest rate sustained to the lowest that was not: with six or more passes a 95 %"
    " interval of the median, with fewer their range, with one the step between its rates."
)
_RSS = "Memory of all processes, which counts in each of those that share it."
_UNTRUSTED = "Limited by the clients, their ports or the network, or inconclusive."


def in_parts(comparison: Comparison) -> list[Table[Contender]]:
    """The same as two tables: what each sustains and uses, and all at the common rate, if any."""
    whole, there = compared(comparison), _there(comparison.axis)
    who, common = ("server", "session"), "at_common_"
    beside = [f"{there}_{key}" for key in _BESIDE]
    alone = [
        Column(each.key, f"{each.title} there" if each.key in beside else each.title)
        for each in whole.columns
        if each.key in beside or not each.key.startswith((common, f"{there}_"))
    ]
    at_rate = [each for each in whole.columns if each.key in who or each.key.startswith(common)]
    parts = [Table(alone, whole.rows)]
    return parts if comparison.rate is None else [*parts, Table(at_rate, whole.rows)]


def _there(axis: Axis) -> str:
    """Key of the figures beside what a server sustains or, without a limit, its most replies."""
    return "at_knee" if axis.has_limit else "at_most"


def _at_rate(comparison: Comparison, key: str, group: str) -> list[Column]:
    latency = comparison.clock == "latency"
    about = "From the scheduled time of a call." if latency else FROM_THE_SEND
    return [
        Column(f"{key}_replies_per_s", f"{comparison.axis.served.capitalize()}/s", group),
        Column(f"{key}_mean_ms", "Mean", group, about),
        Column(f"{key}_p50_ms", "p50", group, about),
        Column(f"{key}_p99_ms", "p99", group, about),
        Column(f"{key}_errors_pct", "Errors", group, "Of attempts."),
        Column(f"{key}_cpu_pct", "CPU", group, "Of one core, the server's process tree."),
    ]


def _compared(comparison: Comparison, contender: Contender) -> dict[str, Cell]:
    axis, result = comparison.axis, contender.result
    same, limit = not comparison.why_not_comparable(contender), result.interval
    there = result.at_knee if axis.has_limit else result.most if same else None
    common = result.at(comparison.rate) if same and comparison.rate is not None else None
    knee = result.knee if same else None
    return {
        **_cells(result),
        "session": Cell(contender.tag, contender.tag),
        "knee_per_s": Cell(sustained_in(comparison, contender, where=True), knee),
        "interval": Cell(interval(result), None if limit is None else limit.low),
        "verdicts_ok": _count(result, "ok"),
        "verdicts_server_limited": _count(result, "server-limited"),
        "verdicts_faulty": _count(result, "faulty"),
        "verdicts_untrusted": _count(result, *UNTRUSTED),
        **_figures(_there(axis), there, comparison.clock),
        **_figures("at_common", common, comparison.clock),
    }


def _cells(server: ServerSummary) -> dict[str, Cell]:
    """Independent of the rate."""
    return {
        "server": Cell(server.name, server.name),
        "rss_bytes": _memory(server.rss_bytes),
        "processes": Cell(server.tasks.cell, server.tasks.processes or None),
        "disqualified": Cell(server.disqualified, server.stopped_past),
    }


FIGURES = {
    "replies_per_s": "/s",
    "mean_ms": " ms",
    "p50_ms": " ms",
    "p99_ms": " ms",
    "errors_pct": " %",
    "cpu_pct": " %",
}
"""Built-in figures of a point, and their units."""


def figures(at: PointResult, clock: Clock) -> dict[str, Cell]:
    """Return the figures of a point over its passes, by the keys of `FIGURES`."""
    cells = (
        Cell(f"{at.replies_per_s:,.0f}", at.replies_per_s),
        _mean(at.stops, clock),
        _time(at.times(clock), "p50"),
        _time(at.times(clock), "p99"),
        Cell(percent(at.errors_pct), at.errors_pct),
        Cell(cpu(at.cpu_pct), at.cpu_pct or None),
    )
    return dict(zip(FIGURES, cells, strict=True))


def _figures(key: str, at: PointResult | None, clock: Clock) -> dict[str, Cell]:
    cells = dict.fromkeys(FIGURES, Cell()) if at is None else figures(at, clock)
    return {f"{key}_{name}": cell for name, cell in cells.items()}


def _time(times: Percentiles | None, name: Percentile) -> Cell:
    us = known_us(times, name)
    return Cell(duration(us), None if us is None else us / 1000)


def _mean(stops: Sequence[PointStop], clock: Clock) -> Cell:
    us = mean_us(stops, clock)
    return Cell(duration(us), None if us is None else round(us / 1000, 4))


def _memory(count: int) -> Cell:
    return Cell(megabytes(count), count) if count else Cell()


def _count(server: ServerSummary, *verdicts: str) -> Cell:
    count = sum(server.verdicts[verdict] for verdict in verdicts)
    return Cell(str(count), count)
