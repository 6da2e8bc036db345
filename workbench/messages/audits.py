"""What audits of a session found, in sentences, and what they say of load tools; see
`analysis.audits` and `results.cross_check`."""

from __future__ import annotations

from typing import Literal, TypeAlias

from workbench import formatting
from workbench.messages.base import FORMATS, Templates, places

_BEFORE = {
    "pending": "calls in flight were counted",
    "codes": "reasons of verdicts had codes",
    "resources": "processes, cores and limits were read back",
    "backlog": "the backlog was read back",
    "background": "background load was measured",
    "link": "links were checked",
    "clients": "clients were recorded one by one",
    "client times": "each client reported its own response times",
}
"""What a session lacks, by what later versions recorded."""

Unchecked: TypeAlias = Literal[
    "schedule", "queue", "client-cpu", "background-load", "conservation", "replies"
]
"""What a verdict could not check."""

_UNCHECKED: dict[Unchecked, str] = {
    "schedule": "the schedule (calls started late)",
    "queue": "a growing queue",
    "client-cpu": "how busy the clients were",
    "background-load": "background load",
    "conservation": "that every call is accounted for",
    "replies": "replies against the expected one",
}

ENDED = {
    "interrupted": "The recording was cut off before the run ended",
    "stopped": "The run was stopped early",
    "aborted": "The run was aborted",
    "failed": "The run failed",
}


def _numbers(several: dict[str, int], servers: int) -> str:
    others = "; the others one" * (len(several) < servers)
    return f"{', '.join(f'{name} {n:,}' for name, n in several.items())}{others}"


def _unsteady(found: dict[str, tuple[str, float]]) -> str:
    """By name: kind and change in percent (see `analysis.steadiness`)."""
    said = []
    for name, (kind, change_pct) in found.items():
        pct = f"{formatting.span(abs(change_pct), abs(change_pct))} %"
        word = "slower" if change_pct > 0 else "faster"
        if kind == "warm-up":
            said.append(f"{name} warms up, {pct} {word} in its first windows than in the rest")
        elif kind == "drift":
            said.append(f"{name} drifts, {pct} {word} at the end of a point than at its beginning")
        else:
            said.append(f"{name} has no steady state")
    return "; ".join(said)


Growth = tuple[float, float, float, bool]
"""Bytes per hour, the ends of their 95 % interval, and whether it is a leak."""


def _memory(growth: dict[str, Growth], seconds: float) -> str:
    """`growth`: by name; `seconds`: for which the longest point was watched."""
    watched = formatting.time_span((seconds, seconds))
    leaks = [f"{name} by {_grown(each)}" for name, each in growth.items() if each[3]]
    if leaks:
        return (
            f"Memory grows under constant load, within {watched}: {'; '.join(leaks)}. It leaks, or"
            " fills a cache; a longer point shows which."
        )
    most, each = max(growth.items(), key=lambda item: item[1][0])
    return f"Memory does not grow within {watched}; most by {_grown(each)} ({most})."


def _grown(each: Growth) -> str:
    """ "120 MB per hour (110 to 130)"."""
    figures = [f"{float(f'{bytes_ / 1e6:.3g}'):,.10g}" for bytes_ in each[:3]]
    return f"{figures[0]} MB per hour ({figures[1]} to {figures[2]})"


def _not_checked(by_tool: dict[str, list[Unchecked]]) -> str:
    found = (finding("not-checked", tool=tool, what=what) for tool, what in by_tool.items())
    return " ".join(each.text() for each in found)


FORMATS |= {
    "before": _BEFORE.__getitem__,
    "each": lambda of: ", ".join(f"{name} {has}" for name, has in of.items()),
    "each_on": lambda of: ", ".join(f"{name} on {has}" for name, has in of.items()),
    "ended": ENDED.__getitem__,
    "longer": lambda slow: formatting.listed(
        [f"{name} {formatting.span(*by)} % longer" for name, by in slow.items()]
    ),
    "losses": lambda lossy: ", ".join(f"{name} {100 * n:.1f} %" for name, n in lossy.items()),
    "memory": _memory,
    "not_checked": _not_checked,
    "numbers": _numbers,
    "places": places,
    "unchecked": lambda what: formatting.listed([_UNCHECKED[each] for each in what]),
    "unequal": lambda said: " ".join(f"{formatting.listed(of)}: {s}" for s, of in said.items()),
    "unsteady": _unsteady,
    "worth": lambda dependent: formatting.listed(
        [f"one of {name} is worth {n:.2g} independent ones" for name, n in dependent.items()]
    ),
}

FINDINGS = Templates("""
nothing-yet:
    No point is complete.
not-recorded:
    Recorded before {what:before}.
not-told-by-tool:
    The load tool '{tool}' does not report it.
# The load. Of audits that check single points, `points` is how many, `left_out` how many could not
# be, and `at` where they failed.
conservation:
    {at:?Calls are missing or counted twice: {at:places $suffix}. These points are excluded; please
    report this|{calls:,} calls at {points:every point}: each is counted once, as answered, failed,
    unsent or open at the end{left_out:?; {left_out:,} more cannot be checked}}.
littles-law:
    {at:?Calls in flight contradict rate × service time: {at:places $suffix} (at worst
    {in_flight:,.1f} calls were in flight, not {expected:,.1f}). Do not trust response times there
    |Calls in flight equal rate × service time at {points:every point}, within {tolerance_pct:g} %,
    50 µs per call and the clients' own lateness{left_out:?; {left_out:,} more cannot be checked}}.
no-littles-law:
    Too many connections failed, so it is unknown how long they were open.
schedule:
    {at:?The clients did not keep their schedule: {at:places $suffix}. They started late, left calls
    out, or offered another load than was planned|The clients kept their schedule at {points:every
    point}: on time, and within {planned_pct:g} % of the planned load{left_out:?; {left_out:,} more
    cannot be checked}}.
no-schedule:
    Closed loop: the servers set the pace, so there is no schedule to keep.
all-checked:
    The load tool reported all that verdicts rest on, at {points:every point}.
not-all-checked:
    {by_tool:not_checked}
not-checked:
    Could not be checked with {tool}: {what:unchecked}.
overlap:
    {missing:?{missing:listed} took no part in some points: {at:places $suffix}. The others offered
    its share, so these points are not comparable with the rest|{at:?The clients did not offer load
    at the same time: {at:places $suffix} (all of them in only {least_pct:.1f} % of the point).
    Check their clocks and links|{clients:Every client} offered load together for at least
    {least_pct:.1f} % of every point}}.{points:?}{left_out:?}
one-client:
    One client offered the whole load.
clients-alike:
    {slow:?A client sees longer service times than the others: {slow:longer} (p50). It is slow or
    farther away; high percentiles are mostly its own|None of {clients} clients sees service times
    10 % longer than the others}.
client-limit: limit_per_s
    {limit_per_s:?{others_cpu_pct:?The client limit, {limit_per_s:rate}/s, was measured while
    background load took {others_cpu_pct:.0f} % of a core; it may be higher. Repeat on a quiet
    machine|The clients reach {limit_per_s:rate}/s by themselves; failures beyond that are not
    counted against a server}|The clients sustained no rate against the null server: no point can be
    trusted}.
no-calibration:
    The clients were not calibrated, so a limit may be theirs. Use calibrate: true.
not-calibrated:
    The plan does not vary a rate, so the clients were not calibrated.
# Fairness: what must be the same for all servers. `differing`: by name of a server, its value.
same-backlog:
    {differing:?Servers listened with backlogs other than {asked:?the {asked:,} asked for|one
    another's}: {differing:each}. The smaller one alone can cause resets and refusals|A backlog of
    {backlog:,} was in force for {servers:every server}{asked:?{backlog:other_asked $asked}}}.
same-processes:
    {differing:?The number of processes differed between passes: {differing:each}
    |{several:?Processes, the same in every pass: {several:numbers $servers}|One process for
    {servers:every server}}}.
same-cores:
    {differing:?Servers ran on different cores: {differing:each_on}, the others on
    {cores:?{cores:cores}|cores that were not read back}. Their figures cannot be
    compared|{shared:?Servers and clients shared {shared:cores}: the load takes CPU time from the
    server, so measured rates are too low|{servers:Every server} ran on
    {cores:?{cores:cores}|cores that were not read back}{own:?, and the clients on others}}}.
same-descriptors:
    {differing:?Servers had descriptor limits other than {asked:?the {asked:,} asked for|one
    another's}: {differing:each}|A limit of {limit:,} descriptors was in force for {servers:every
    server}}.
same-versions:
    {differing:?Not recorded for {differing:listed}: version or files|Versions and checksums of
    {servers:every server} are recorded{runtimes:? ({runtimes:joined})}}.
same-set-up:
    {said:?{said:unequal}|No differences are known in the set-up of {servers:every server}.}
# The surroundings.
quiet-host:
    {others:?Another run was on {others:listed}: each disturbs the other. Agree on who measures when
    |{at:?Background load took up to {most_pct:.0f} % of a core{stolen_pct:?{stolen_pct:by_host}}:
    {at:places $suffix}. Repeat on a quiet machine|Background load took less than {limit_pct:.0f} %
    of a core at {points:every point} (at most {most_pct:?{most_pct:.0f}|0} %)}}.{left_out:?}
link-audit:
    {lossy:?Links lost packets before the run: {lossy:losses}. Check the network|{slow:?The link to
    {slow:listed} carries less than the plan needs at its highest values: there the link may be the
    limit, not a server|Packet loss and capacity of {links:every link} were measured{both_ways:? in
    both directions} before the run, and suffice}}.
no-link:
    Servers and clients share a machine: no network lies between them.
link-not-checked:
    The link of {clients:listed} could not be measured.
recording:
    {at:?{unwatched:?CPU, memory and counters|Some windows} are missing: {at:places $suffix}
    |{end:?{end:ended}: not all planned points were measured|The run completed, and no window or
    sample is missing}}.{points:?}{left_out:?}
under-way:
    The run has not ended.
# Within points.
too-few-windows:
    A server needs {needed} windows of 200 ms at points it sustains, with 20 answered calls each;
    lengthen the points or add passes.
of-network:
    Response times depended on the network or on one client at the points that could be checked; see
    these points.
steady-state:
    {unsteady:?Not steady within points: {unsteady:unsteady}. Lengthen the warm-up or the points
    |Response times of {servers:number_of servers} that could be checked are steady within points}.
too-short-for-growth:
    Points are too short to tell whether memory grows; it takes 10 s at one rate.
memory-growth: servers
    {growth:memory $seconds}{servers:?}
independent-windows:
    {dependent:?Windows depend on one another: {dependent:worth}. Intervals from a single pass are
    too narrow; compare passes|Windows of a point are independent enough for intervals from a single
    pass}.{servers:?}
""")
"""Parameters after a code are kept even if they are empty."""

finding = FINDINGS.stated


DIFFERENCES = Templates("""
offers-other-load:
    schedule: {tool} offered {offered_per_s:rate}/s, {other} {other_per_s:rate}/s
counts-to-the-end:
    schedule: {tool} counts until its last timeout
leaves-connect-out:
    connect: times of {tool} begin with the request
keeps-connections:
    keep-alive: {tool} does not replace connections
speaks-http1:
    protocol: {tool} speaks HTTP/1.1
resolves:
    resolution of {tool}: {resolution_us:duration}
delays-itself:
    delays within {tool}, which are in its times
omits-stalls:
    coordinated omission: from the scheduled time p99 is {latency_p99_us:duration} ({timed_by}),
    which {tool} does not measure{service_p99_us:?}
""")
"""Why two load tools report different figures of the same point."""

differs = DIFFERENCES.stated
