"""Tsung: users who arrive at random, as in the mayhem of 2010.

A user is a connection with its calls and think times. Why they come at another rate than asked, and
why Tsung gets more time than the plan has, and a number of users, is in docs/tools.md. Statistics
come once a second on its standard output, each call in a file of its own. Its Erlang node starts
without a port mapper and without listening.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from xml.etree import ElementTree as ET

from workbench.documents import SparseHistogram
from workbench.load import program
from workbench.load.base import Capabilities, LoadReport, PointSpec

SCENARIO = "point.xml"
CALLS = "log/*/tsung-*.dump"
CALLS_TABLE = program.Table(
    columns=["HTTP status", "duration"],
    heading="date;pid;id;http method;host;URL;HTTP status;size;duration;transaction;match;error",
    span=["id", "date", "duration"],
)
"""Of Tsung 1.7 and 1.8. The duration is in ms, with three decimals."""

WRITTEN_SHARE = 0.99
"""Of the calls: Tsung may end before it has written the last ones."""

LATER_SHARE, MOST_LATER_S = 0.5, 30.0
"""How much longer than planned it may start users: so long as a share of that, and at most."""

ERL_FLAGS = "-start_epmd false -erl_epmd_port 0 -dist_listen false"
STATISTICS = "-tsung_controller dumpstats_interval 1000"

_ERRORS = {
    "error_timeout": "client-timo",
    "error_connect_timeout": "socket-timo",
    "error_connect_etimedout": "socket-timo",
    "error_connect_econnrefused": "connrefused",
    "error_connect_econnreset": "connreset",
    "error_connect_emfile": "fd-unavail",
    "error_connect_enfile": "ftab-full",
    "error_connect_eaddrnotavail": "addrunavail",
    "error_connect_eaddrinuse": "addrunavail",
    "error_abort_max_send_retries": "connreset",
}
"""The last one alone says that the server had closed the connection before a call was sent
(`handle_next_action` of `ts_client.erl`, without retries)."""
_CONSEQUENCES = ("error_abort", "error_abort_max_conn_retries")
"""Counted beside the errors that caused them."""


def invocation(spec: PointSpec, threads: int) -> program.Invocation:
    return program.Invocation(
        argv=["tsung", "-n", "-w", "0", "-m", "-", "-f", SCENARIO, "-l", "log", "start"],
        env={"HOME": ".", "ERL_FLAGS": f"{ERL_FLAGS} {STATISTICS}"},
        files={SCENARIO: scenario(spec)},
        counted={CALLS: CALLS_TABLE},
    )


def scenario(spec: PointSpec) -> str:
    root = ET.Element("tsung", loglevel="notice", dumptraffic="protocol_local", version="1.0")
    clients = ET.SubElement(root, "clients")
    ET.SubElement(clients, "client", host="localhost", use_controller_vm="true", maxusers="1000000")
    servers = ET.SubElement(root, "servers")
    later_s = min(LATER_SHARE * spec.seconds + 1, MOST_LATER_S)
    family = "tcp6" if ":" in spec.host else "tcp"
    ET.SubElement(servers, "server", host=spec.host, port=str(spec.port), type=family)
    phase = ET.SubElement(
        ET.SubElement(root, "load"),
        "arrivalphase",
        phase="1",
        duration=str(round(1000 * (spec.seconds + later_s))),
        unit="millisecond",
    )
    of_phase = {"maxnumber": str(spec.connections), "arrivalrate": f"{spec.rate_per_s:.6f}"}
    ET.SubElement(phase, "users", of_phase, unit="second")
    timeout_ms = str(round(spec.timeout_s * 1000))
    given = {"connect_timeout": timeout_ms, "idle_timeout": timeout_ms, "max_retries": "0"}
    options = ET.SubElement(root, "options")
    for name, value in given.items():
        ET.SubElement(options, "option", name=name, value=value)
    agent = ET.SubElement(options, "option", type="ts_http", name="user_agent")
    ET.SubElement(agent, "user_agent", probability="100").text = "pongbench"
    session = ET.SubElement(
        ET.SubElement(root, "sessions"), "session", name="user", probability="100", type="ts_http"
    )
    calls = spec.calls_per_connection
    if calls > 1:
        loop = {"from": "1", "to": str(calls - 1), "var": "call"}
        _call(ET.SubElement(session, "for", loop), spec, spec.think_time_s)
    _call(session, spec, 0.0)
    # Tsung checks these, and its own file of declarations is not at the same place everywhere.
    used: defaultdict[str, set[str]] = defaultdict(set)
    for element in root.iter():
        used[element.tag] |= element.attrib.keys()
    declarations = "".join(
        f"<!ELEMENT {name} ANY>\n"
        + "".join(f"<!ATTLIST {name} {each} CDATA #IMPLIED>\n" for each in sorted(attributes))
        for name, attributes in sorted(used.items())
    )
    xml = ET.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE tsung [\n{declarations}]>\n{xml}\n'


def _call(parent: ET.Element, spec: PointSpec, think_s: float) -> None:
    options = spec.options
    http = ET.SubElement(
        ET.SubElement(parent, "request"),
        "http",
        url=options.get("path", "/"),
        method=options.get("method", "GET"),
        version="1.1" if options.get("protocol") == "http/1.1" else "1.0",
    )
    if options.get("body"):
        http.set("contents", options["body"])
    for name, value in options.get("headers", []):
        ET.SubElement(http, "http_header", name=name, value=value)
    if think_s:
        random = "true" if spec.think_times == "exponential" else "false"
        ET.SubElement(parent, "thinktime", value=f"{think_s:.6f}", random=random)


@dataclass(frozen=True)
class Statistics:
    """Tsung's statistics at one instant, counted from the beginning."""

    at_s: float
    """Unix time, in whole seconds."""
    totals: dict[str, int] = field(default_factory=dict)
    """By name: "users_count", "request", "200", "error_timeout"."""

    @property
    def succeeded(self) -> int:
        return sum(count for name, count in self.totals.items() if re.fullmatch(r"2\d\d", name))


def statistics(text: str) -> list[Statistics]:
    """Read all statistics that Tsung printed, each once a second. Raises Unreadable."""
    found: list[Statistics] = []
    for line in text.splitlines():
        if match := re.fullmatch(r"# stats: dump at (\d+)", line):
            totals = dict(found[-1].totals) if found else {}
            found.append(Statistics(float(match[1]), totals))
        # A counter: this second's, and the total. Times also have a mean, the highest, ...
        elif (match := re.fullmatch(r"stats: ([\w-]+) (\d+) (\d+)", line)) and found:
            found[-1].totals[match[1]] = int(match[3])
        elif (match := re.fullmatch(r"stats: (request) (\d+) .* (\d+)", line)) and found:
            found[-1].totals[match[1]] = int(match[2]) + int(match[3])
    if not found or "users_count" not in found[-1].totals:
        refused = re.search(r"^Config Error, aborting ! *(.*)", text, re.M)
        raise program.Unreadable(
            f"it refused its scenario: {refused[1]}" if refused else program.last_line(text)
        )
    return found


def parse(output: program.Output, spec: PointSpec) -> LoadReport:
    each = statistics(output.output)
    last = each[-1]
    if "EndMonitor" not in output.output and "BREAK:" not in output.output:
        raise program.Unreadable("its statistics are cut")
    calls = spec.calls_per_connection
    scheduled = last.totals["users_count"] * calls
    statuses = {n: count for n, count in last.totals.items() if re.fullmatch(r"\d{3}", n)}
    answered = last.totals.get("request", 0)
    bad = {f"protocol-{n}": c for n, c in statuses.items() if not n.startswith("2")}
    bad["protocol"] = max(0, answered - sum(statuses.values()))
    events: Counter[str] = Counter()
    for name, count in last.totals.items():
        if name.startswith("error_") and name not in _CONSEQUENCES:
            events[_ERRORS.get(name, f"other-{name.removeprefix('error_')}")] += count
    errors, _ = program.lost_calls(
        events,
        scheduled - last.succeeded - sum(bad.values()),
        calls,
        interrupted="EndMonitor" not in output.output,
    )
    offered_in_s = _offered_in_s(output, last)
    replies, seconds = _steady(each, spec, offered_in_s or spec.seconds)
    return program.result(
        last.succeeded,
        errors | bad,
        seconds,
        due=scheduled,
        sent=min(scheduled, answered + sum(events.values())),
        replies=replies,
        offered_in_s=offered_in_s,
        service=_times(output, last.succeeded),
    )


def _steady(each: list[Statistics], spec: PointSpec, seconds: float) -> tuple[int, float]:
    """Replies, and the seconds in which they came: those of the schedule (`seconds`), or, where
    think times make users stay, from their first departures to its end."""
    stay_s = (spec.calls_per_connection - 1) * spec.think_time_s
    began_s = each[0].at_s - 1
    inside = [one for one in each if stay_s <= one.at_s - began_s <= seconds]
    if stay_s < seconds / 20 or len(inside) < 2:
        return each[-1].succeeded, seconds
    return inside[-1].succeeded - inside[0].succeeded, inside[-1].at_s - inside[0].at_s


def _offered_in_s(output: program.Output, last: Statistics) -> float | None:
    """The time in which it started its users. None: it has not written the calls of nearly all, as
    where some failed, so it is not known, and the plan's time stands for it."""
    span = output.spans.get(CALLS)
    if span is None or span.begun < max(2, WRITTEN_SHARE * last.totals["users_count"]):
        return None
    return span.seconds * span.begun / (span.begun - 1)


def _times(output: program.Output, succeeded: int) -> SparseHistogram:
    """The service times; empty: unknown, because it did not write those of nearly all calls."""
    times: Counter[int] = Counter()
    for row, count in output.counted.get(CALLS, {}).items():
        status, _, ms = row.partition("\t")
        if status.startswith("2") and re.fullmatch(r"\d+(\.\d+)?", ms):
            times[round(float(ms) * 1000)] += count
    whole = WRITTEN_SHARE * succeeded <= times.total() <= succeeded
    return program.sparse(times) if whole else []


TOOL = program.Program(
    name="tsung",
    capabilities=Capabilities(
        reports=frozenset(["percentiles"]),
        traits=frozenset(["threads", "own-pace", "own-delays"]),
        axes=("rate",),
        workloads=("pong", "http"),
        lacks=("requests", "expect_status", "pipeline", "tls"),
        only={"arrivals": "poisson"},
    ),
    invocation=invocation,
    grace_s=program.GRACE_S + MOST_LATER_S,
    parse=parse,
).tool()
