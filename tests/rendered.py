"""What sessions and comparisons look like in each renderer, kept next to the tests.

Each session has something of its own: several passes, a search, faulty servers, several load tools,
and so on. What its renderers write is in `tests/cases/rendered`, a file for each, and changes only
together with them: read the difference before it is committed.

    python tests/rendered.py      # writes them again
"""

from __future__ import annotations

import asyncio
import json
import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from io import StringIO
from pathlib import Path

import msgspec

from tests.comparisons import changed, faster, side
from tests.fakes.load import ALL, Script, fake_tool
from tests.fakes.run import a_plan, a_session
from tests.repeats import with_repeats
from tests.synthetic import CONTESTANTS, contestants, searches, session
from tests.tasks import with_tasks
from tests.turned_bad import turned_bad
from workbench import metrics
from workbench.analysis.summary import summarise
from workbench.documents import (
    AnyDocument,
    ClientPart,
    Percentiles,
    PointStart,
    PointStop,
    RunStart,
)
from workbench.load import registry
from workbench.messages import notes
from workbench.messages.outcomes import Profile
from workbench.messages.reasons import reason
from workbench.plan import library
from workbench.plan.model import Plan
from workbench.plan.reading import to_data
from workbench.results.comparison import compare
from workbench.results.conditions import conditions
from workbench.results.render import csv, data, html, terminal
from workbench.sessions import completed, read_session
from workbench.terminal import Terminal
from workbench.workloads.registry import workload

HERE = Path(__file__).parent / "cases" / "rendered"
SESSIONS_OF_BEFORE = HERE.parent / "sessions"

Documents = Sequence[AnyDocument]


def each(documents: Documents, change: Callable[[AnyDocument], AnyDocument]) -> Documents:
    return [change(document) for document in documents]


def with_requests(*, known: bool = True) -> Documents:
    """Two named requests, each with a metric of its own, whose values may be unknown."""

    def change(document: AnyDocument) -> AnyDocument:
        if isinstance(document, RunStart):
            return msgspec.structs.replace(
                document, metrics=metrics.records(["GET /", "POST /pay"])
            )
        if isinstance(document, PointStop) and known:
            values = {"request_1_replies_per_s": document.x, "request_2_p99_ms": 12.5}
            return msgspec.structs.replace(document, values=values)
        return document

    return each(session(2, 4), change)


def with_clients() -> Documents:
    """Two clients, of which the second is late from some rate on."""

    def change(document: AnyDocument) -> AnyDocument:
        if not isinstance(document, PointStop):
            return document
        sent = document.counts.scheduled // 2
        late = sent // 2 if document.offered_per_s >= 6_000 else 0
        first = ClientPart(
            machine="c1",
            scheduled=sent,
            sent=sent,
            latency_us=Percentiles(count=5_000, p50=90, p90=200, p99=2_000, p999=2_000, max=2_000),
            latency_mean_us=250.0,
        )
        second = ClientPart(
            machine="c2",
            scheduled=sent,
            sent=sent,
            late=late,
            clock_uncertainty_us=80,
            # Too few for a p99, and recorded before the mean was.
            latency_us=Percentiles(count=50, p50=90, p90=200, p99=9_000, p999=9_000, max=9_000),
        )
        return msgspec.structs.replace(document, clients=[first, second], start_skew_us=400)

    return each(session(1, 4), change)


def on_axis(plan: Plan, documents: Documents) -> Documents:
    def change(document: AnyDocument) -> AnyDocument:
        if isinstance(document, RunStart):
            return msgspec.structs.replace(document, axis=plan.axis)
        if isinstance(document, PointStart | PointStop):
            return msgspec.structs.replace(document, concurrency=1)
        return document

    return each(documents, change)


def messages() -> Documents:
    """A closed loop that varies the size of messages: no limit, and no replies."""
    plan = Plan(
        servers=["zeromq-queue"],
        workload=workload(protocol="zeromq", mode="closed"),
        concurrency=[1],
        vary={"message_size": [64, 1024]},
        seconds=2,
    )
    return on_axis(plan, session(2, rates=[64.0, 1024.0], ceiling=False))


def users() -> Documents:
    """Users of 13 calls each."""
    plan = Plan(
        servers=["one"],
        workload=workload(calls_per_connection=13),
        rate_of="users",
        rates=[1000],
        seconds=5,
    )
    return on_axis(plan, session(2, rates=[1000.0], ceiling=False))


def from_the_send() -> Documents:
    """A load tool without a schedule."""

    def change(document: AnyDocument) -> AnyDocument:
        if not isinstance(document, PointStop):
            return document
        times = msgspec.structs.replace(document.histograms, latency="")
        return msgspec.structs.replace(document, latency_us=None, histograms=times)

    return each(session(2, 4), change)


def profiled() -> Documents:
    *documents, stop = session(3, 4)
    profile = Profile(
        name="asyncio streams",
        tool="py-spy 0.4.3",
        x=4_000.0,
        seconds=5.0,
        samples=1_000,
        frames=["main (server.py)", "send (socket.py)", "recv (socket.py)", "rare"],
        stacks=[700, 2, 0, 1, 299, 2, 0, 2, 1, 2, 0, 3],
    )
    denied = notes.notice("not-profiled", name="gevent", tool="py-spy", machine="h1", why="denied")
    found = {"asyncio-streams": profile, "gevent": denied}
    return [*documents, *(note.note(10**9, server=id_) for id_, note in found.items()), stop]


def of_a_source() -> Documents:
    """A run of a preset whose source states figures."""
    plan = library.shipped("gasc-2015-slow-db").plan
    assert plan is not None
    flask = replace(CONTESTANTS[0], id="flask", name="Flask")
    aiohttp = replace(CONTESTANTS[1], id="aiohttp", name="aiohttp")
    found = with_tasks(session([flask, aiohttp], rates=[1000.0, 4000.0]), (4, 4))
    start, *documents = found
    return [msgspec.structs.replace(start, plan=to_data(plan)), *documents]


def noted() -> Documents:
    """Much to note: of servers, clients, machines, and of calls that are missing from the count."""
    start, *documents = session(3, 4)
    facts = start.machines[0].facts | {"sysctls": {"net.core.somaxconn": 4096}}
    machine = msgspec.structs.replace(start.machines[0], facts=facts)
    load = reason("sustained-under-background-load", cpu_pct=161.0)
    found: list[AnyDocument] = []
    for document in documents:
        change: dict[str, object] = {}
        if isinstance(document, PointStop) and document.x == 4500.0:
            change = {"conserved": False}
        elif isinstance(document, PointStop) and document.x == 2250.0:
            change = {"reasons": [load.text()], "findings": [load.record()], "server_cpu_pct": 0.0}
        if getattr(document, "server", "") != "asyncio-protocol":
            found.append(msgspec.structs.replace(document, **change))
    answers = notes.notice("gate", gate={"sentences": ["It answers 'Pong!'."], "rss_bytes": 4})
    died = notes.notice("died", name="asyncio streams", x=9000.0, status=-9)
    gave_up = notes.notice("gave-up", x=9000.0, success_below_pct=50.0, points=3, left_out=2)
    more = [
        notes.notice("client-limit-unknown").note(5),
        notes.notice("deploy", said="Its port was taken by another.").note(
            6, server="asyncio-protocol"
        ),
        answers.note(7, server="null"),
        answers.note(7, server="asyncio-streams"),
        notes.notice("backlog", backlog=128, asked=512).note(8, server="asyncio-streams"),
        *[died.note(10**7, server="asyncio-streams")] * 2,
        gave_up.note(10**7, server="gevent"),
    ]
    return [msgspec.structs.replace(start, machines=[machine]), *more, *found]


def hidden() -> Documents:
    """Background load hides what the servers sustain."""
    load = reason("background-load", cpu_pct=180.0, stolen_pct=0.0)

    def change(document: AnyDocument) -> AnyDocument:
        if not isinstance(document, PointStop):
            return document
        return msgspec.structs.replace(
            document,
            findings=[load.record()],
            reasons=[load.text()],
            evidence={**document.evidence, "others_cpu_pct": load.data()["cpu_pct"]},
        )

    return each(session(3, 2, untrusted_from=1), change)


def open_ended() -> Documents:
    """A server that may sustain more than the best."""

    def change(document: AnyDocument) -> AnyDocument:
        late = isinstance(document, PointStop) and document.x > 3000
        if late and document.server == "asyncio-streams":
            return msgspec.structs.replace(document, verdict="inconclusive")
        return document

    return each(session(2, rates=[1000.0, 3000.0, 6000.0, 9000.0]), change)


def by_wrk() -> Documents:
    start, *documents = session(2, 3)
    return [msgspec.structs.replace(start, plan={**start.plan, "load_tool": "wrk"}), *documents]


def of_tools() -> Documents:
    """Every point by two load tools, of which one reports less and sees longer times."""
    program = msgspec.structs.replace(ALL, reports=ALL.reports - {"conservation", "lateness"})
    registry.TOOLS["other"], _ = fake_tool(Script(service_us=400), program, name="other")
    try:
        plan = a_plan(with_=["other"], servers=["one"], repeats=2)
        with tempfile.TemporaryDirectory() as folder:
            start, *found = asyncio.run(a_session(plan, Path(folder)))
        began = msgspec.structs.replace(
            start, started_utc="2026-11-09T14:12:03Z", session="of-tools", pongbench="0.1.0"
        )
        return [began, *found]
    finally:
        del registry.TOOLS["other"]


def faulty() -> Documents:
    closed = turned_bad(
        session(3, 8), "asyncio-streams", 0.0, "protocol-closed", answered=3, agreed=10
    )
    return turned_bad(closed, "asyncio-protocol", 4000.0)


def from_elsewhere() -> Documents:
    found = session(faster(4, 1.12), 4, repeats=3, seed=5)
    return changed(found, facts={"kernel": "Linux 5.10"}, backlog=128, version="9.9")


SESSIONS: dict[str, Callable[[], Documents]] = {
    "passes": lambda: with_tasks(session(4, 4, repeats=3), (5, 21), (1, 1), (1, 8)),
    "elsewhere": from_elsewhere,
    "search": lambda: searches(3),
    "faulty": faulty,
    "requests": with_requests,
    "clients": with_clients,
    "messages": messages,
    "users": users,
    "crashed": lambda: session(2, 5, end="crashed"),
    "aborted": lambda: session(2, 5, end="interrupted"),
    "from-the-send": from_the_send,
    "unknown": lambda: session(2, rates=[2000.0, 4000.0], untrusted_from=1),
    "gave-up": lambda: session(3, 8, seed=2, untrusted_from=5000, give_up=True),
    "equal": lambda: session(3, rates=[1000.0, 2000.0]),
    "repeated": lambda: with_repeats(session(3, 6), 3000.0, "gevent", "asyncio-protocol"),
    "none": lambda: session([replace(contestants(1)[0], capacity_per_s=0)], 3),
    "all-faulty": lambda: turned_bad(session(1, 8), "asyncio-streams", 0.0),
    "unknown-requests": lambda: with_requests(known=False),
    "noted": noted,
    "hidden": hidden,
    "open": open_ended,
    "beyond-the-clients": lambda: session(1, rates=[1000.0, 15000.0]),
    "cut": lambda: list(completed(session(1, 1, end="crashed"))),
    "nothing": lambda: session(2, 3)[:3],
    "closed-loop": lambda: read_session(SESSIONS_OF_BEFORE / "closed-loop.pong.yaml").documents,
    "by-wrk": by_wrk,
    "profiled": profiled,
    "of-a-source": of_a_source,
    "of-tools": of_tools,
}
COMPARISONS = (
    ("passes", "elsewhere"),
    ("faulty",),
    ("faulty", "repeated", "gave-up"),
    ("search", "passes"),
    ("messages", "users"),
    ("messages",),
    ("from-the-send", "from-the-send"),
    ("crashed", "aborted"),
    ("passes", "passes"),
    ("closed-loop",),
    ("cut", "equal"),
)


@cache
def documents(name: str) -> Documents:
    return SESSIONS[name]()


def of_session(name: str) -> dict[str, str]:
    """Return what each renderer writes, by its ending."""
    found = documents(name)
    summary = summarise(found)
    screen = Terminal(file=(out := StringIO()), width=140)
    terminal.print_summary(summary, screen)
    terminal.print_percentiles(summary, screen)
    terminal.print_audits(summary.audits, screen)
    own = ("A title", "Some notes", ["a remark."]) if name == "passes" else ()
    views = ("sweep", "time", "distribution") if name == "users" else ("sweep",)
    return {
        "txt": _text(out),
        "json": _json(data.of_session(summary)),
        "html": _plain(html.render(found, html.Drawing(), *own)),
        **{f"{view}.csv": csv.of_session(found, view, "latency") for view in views},
    }


def of_comparison(names: Sequence[str]) -> dict[str, str]:
    sides = [side(tag, list(documents(name))) for tag, name in zip("ABC", names, strict=False)]
    found, differing = compare(sides), conditions(sides)
    screen = Terminal(file=(out := StringIO()), width=180)
    terminal.print_comparison(found, differing, screen)
    return {
        "txt": _text(out),
        "json": _json(data.of_comparison(found, differing)),
        "html": _plain(html.render_comparison(found, differing, html.Drawing())),
        "csv": csv.of_comparison(found, "sweep", "latency"),
    }


def _text(out: StringIO) -> str:
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


def _json(found: object) -> str:
    return json.dumps(msgspec.to_builtins(found), indent=1, allow_nan=False) + "\n"


def _plain(page: str) -> str:
    """Without style sheet, drawings, version and empty lines."""
    page = re.sub(r"Pongbench \d+(\.\d+)+", "Pongbench", page)
    page = re.sub(r"<style>.*?</style>|<svg.*?</svg>", "", page, flags=re.S)
    return "\n".join(filter(None, map(str.strip, page.splitlines()))) + "\n"


def written() -> dict[str, Callable[[], dict[str, str]]]:
    """Return everything that is rendered, by the name of its files."""
    alone = {name: lambda name=name: of_session(name) for name in SESSIONS if name != "elsewhere"}
    compared = {f"{' + '.join(c)}": lambda c=c: of_comparison(c) for c in COMPARISONS}
    return alone | {f"compared {name}": make for name, make in compared.items()}


if __name__ == "__main__":
    HERE.mkdir(parents=True, exist_ok=True)
    for name, make in written().items():
        for ending, text in make().items():
            (HERE / f"{name}.{ending}").write_text(text, newline="")
