"""How far the load tools of a session agree at each point, and why they differ where it is known.

The tools ran each point in turn against the same running server, so their passes are compared
pairwise (`analysis.significance`). One pass has no interval: programs report once for each point,
so there are no windows to take one from.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from operator import attrgetter
from typing import Any, Literal, get_args

from workbench import formatting
from workbench.analysis.series import Clock, PointResult, SeriesResult, View
from workbench.analysis.significance import Change, ratio
from workbench.documents import OUR_AGENT, PointStop
from workbench.load.base import Capabilities
from workbench.load.registry import TOOLS
from workbench.messages.audits import differs
from workbench.messages.base import Stated

HEADING = "Load tools compared"
TITLES = ("Load tools", "At", "Replies/s", "Mean", "p50", "p99", "Known causes")

NOTABLE = 0.02
"""Differences from which causes are named."""

STALLS = 1.1
"""How much longer p99 must be from the scheduled time than from the send to show stalls."""

ONE_PASS = "One pass: these differences have no interval."

Figure = Literal["replies_per_s", "mean_us", "p50_us", "p99_us"]
_REPLIES: Callable[[PointStop], float] = attrgetter("replies_per_s")


@dataclass(frozen=True)
class Difference:
    figure: Figure
    value: float
    other: float
    change: Change | None
    """None: one pass."""
    resolved: bool = True
    """Whether the difference is larger than what the tools resolve."""

    @property
    def share(self) -> float:
        """By how much the first is higher, as a share."""
        return self.change.figure if self.change else self.value / self.other - 1

    @property
    def notable(self) -> bool:
        """Whether it needs a cause. One whose interval includes zero may be chance."""
        chance = self.change is not None and self.change.low <= 0 <= self.change.high
        return self.resolved and abs(self.share) >= NOTABLE and not chance

    @property
    def text(self) -> str:
        """ "+3.1 % (+1.2 to +5.0)"."""
        if not self.resolved:
            return "within resolution"
        said = f"{100 * self.share:+,.1f} %"
        if self.change is None:
            return said
        return f"{said} ({100 * self.change.low:+,.1f} to {100 * self.change.high:+,.1f})"


@dataclass(frozen=True)
class CrossCheck:
    server: str
    name: str
    """ "wrk / agent", with the server's name if there are several."""
    tool: str
    reference: str
    x: float
    at: str
    passes: int
    clock: Clock
    """Of its times: from the send where both tools report that."""
    differences: Sequence[Difference]
    """Those whose figures both tools report."""
    causes: Sequence[Stated]

    @property
    def cells(self) -> list[str]:
        """As `TITLES`; empty: one of the tools does not report it."""
        texts = {each.figure: each.text for each in self.differences}
        why = "; ".join(each.text() for each in self.causes)
        if not why and any(each.notable for each in self.differences):
            why = "not known"
        return [self.name, self.at, *(texts.get(each, "") for each in get_args(Figure)), why]

    def to_data(self) -> dict[str, Any]:
        """Plain data; intervals are null where there is one pass."""
        keys = ("server", "tool", "reference", "x", "passes", "clock")
        return {
            **{key: getattr(self, key) for key in keys},
            "differences": {
                each.figure: {
                    "tool": each.value,
                    "reference": each.other,
                    "pct": round(100 * each.share, 2),
                    "interval_pct": each.change
                    and [round(100 * each.change.low, 2), round(100 * each.change.high, 2)],
                    "resolved": each.resolved,
                }
                for each in self.differences
            },
            "causes": [{**each.record(), "text": each.text()} for each in self.causes],
        }


def cross_checks(plan: Mapping[str, Any], results: Iterable[SeriesResult]) -> list[CrossCheck]:
    """Compare each load tool with the agent, or with the first one, at each point of each server.
    `plan`: as data. Empty: a single tool."""
    servers: defaultdict[str, dict[str, SeriesResult]] = defaultdict(dict)
    for each in results:
        if each.stops:
            servers[each.stops[0].server][each.stops[0].load_tool] = each
    return [
        check
        for server, tools in servers.items()
        for tool in tools
        for check in _compared(plan, server, tools, tool, named=len(servers) > 1)
    ]


def _compared(
    plan: Mapping[str, Any],
    server: str,
    by_tool: Mapping[str, SeriesResult],
    tool: str,
    *,
    named: bool,
) -> Iterator[CrossCheck]:
    reference = OUR_AGENT if OUR_AGENT in by_tool else next(iter(by_tool))
    series, name = by_tool[tool], f"{tool} / {reference}"
    for point in series.points if tool != reference else ():
        other = by_tool[reference].at(point.x)
        if other is None:
            continue
        tools = {tool: point, reference: other}
        clock: Clock = "service" if point.service_us and other.service_us else "latency"
        differences = list(_differences(tools, clock))
        passes = {stop.pass_number for stop in point.stops}
        yield CrossCheck(
            server=server,
            name=f"{series.name.removesuffix(f', {tool}')}, {name}" if named else name,
            tool=tool,
            reference=reference,
            x=point.x,
            at=series.axis.at(point.x),
            passes=len(passes & {stop.pass_number for stop in other.stops}),
            clock=clock,
            differences=differences,
            causes=list(_causes(plan, tools, differences)),
        )


def _differences(tools: dict[str, PointResult], clock: Clock) -> Iterator[Difference]:
    point, other = tools.values()
    if point.replies_per_s and other.replies_per_s:
        change = ratio(point.by_pass(_REPLIES), other.by_pass(_REPLIES), paired=True)
        yield Difference("replies_per_s", point.replies_per_s, other.replies_per_s, change)
    finest_us = max(_can(tool).resolution_us for tool in tools)
    shown: dict[Figure, View] = {
        "mean_us": View("mean", clock),
        "p50_us": View("p50", clock),
        "p99_us": View("p99", clock),
    }
    for figure, view in shown.items():
        a, b = _times(point, view), _times(other, view)
        if not a or not b:
            continue
        mean_a, mean_b = (sum(each.values()) / len(each) for each in (a, b))
        resolved = abs(mean_a - mean_b) > finest_us or not finest_us
        yield Difference(figure, mean_a, mean_b, ratio(a, b, paired=True), resolved)


def _times(point: PointResult, view: View) -> dict[int, float]:
    """In us, by pass; empty: unknown in one of them, or of too few replies."""
    known = {
        each.stops[0].pass_number: 1000 * ms
        for each in point.passes
        if each.supported(view) and not isnan(ms := each.time_ms(view))
    }
    return known if len(known) == len(point.stops) else {}


def _causes(
    plan: Mapping[str, Any], tools: dict[str, PointResult], differences: Sequence[Difference]
) -> Iterator[Stated]:
    workload = plan.get("workload", {})
    closed, calls = workload.get("mode") == "closed", workload.get("calls_per_connection", 1)
    (tool, point), (other, beside) = tools.items()
    a, b = (sum(s.offered_per_s for s in p.stops) / len(p.stops) for p in (point, beside))
    if not closed and b and abs(a / b - 1) > NOTABLE / 2:
        yield differs("offers-other-load", tool=tool, offered_per_s=a, other=other, other_per_s=b)
    notable = [each for each in differences if each.notable]
    unresolved = any(not each.resolved and abs(each.share) >= NOTABLE for each in differences)
    timed = any(each.figure != "replies_per_s" for each in notable)
    p99_agrees = any(each.figure == "p99_us" and not each.notable for each in differences)
    for name, alike in ((tool, other), (other, tool)):
        can, cannot = _can(name), _can(alike)
        rates = any(each.figure == "replies_per_s" for each in notable)
        if rates and "to-the-end" in can.traits - cannot.traits and tools[name].errors:
            yield differs("counts-to-the-end", tool=name)
        if timed and calls == 1 and "from-send" in can.traits - cannot.traits:
            yield differs("leaves-connect-out", tool=name)
        if notable and calls > 1 and "keeps" in can.traits - cannot.traits:
            yield differs("keeps-connections", tool=name)
        if notable and "http/1.1" in can.traits - cannot.traits:
            yield differs("speaks-http1", tool=name)
        if can.resolution_us and unresolved:
            yield differs("resolves", tool=name, resolution_us=can.resolution_us)
        if timed and "own-delays" in can.traits:
            yield differs("delays-itself", tool=name)
        if closed or p99_agrees or "latency" not in cannot.reports - can.reports:
            continue
        latency, service = tools[alike].latency_us, tools[alike].service_us
        if latency and service and latency.p99 > STALLS * service.p99:
            yield differs(
                "omits-stalls",
                tool=name,
                timed_by=alike,
                latency_p99_us=latency.p99,
                service_p99_us=service.p99,
            )


def _can(tool: str) -> Capabilities:
    """Of a tool that is not known here: nothing in particular."""
    return TOOLS[tool].capabilities if tool in TOOLS else Capabilities()


def remark(checks: Sequence[CrossCheck]) -> str:
    """What a reader of the table should know; empty: nothing."""
    tool = formatting.listed(list(dict.fromkeys(each.reference for each in checks)))
    if not checks:
        return ""
    clock = {"service": "send", "latency": "scheduled time"}
    times = formatting.listed(list(dict.fromkeys(clock[each.clock] for each in checks)))
    one = all(each.passes < 2 for each in checks)
    interval = ONE_PASS if one else "In brackets: the 95 % interval over the passes."
    return f"Each compared with {tool}; times from the {times}. {interval}"
