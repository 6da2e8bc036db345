"""The pass in which servers are profiled: when, at which rate, and what becomes of it."""

from __future__ import annotations

import base64
import json
import zlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from fakes.load import Script
from fakes.run import Run, a_plan, a_run

from workbench.analysis.summary import summarise
from workbench.documents import Note, PointStop, RunStart
from workbench.errors import BadInput
from workbench.messages import outcomes
from workbench.messages.topics import read_note
from workbench.plan.checks import check
from workbench.plan.model import Plan, Profile, Search
from workbench.plan.reading import plan_from_data, to_data
from workbench.results.render.data import of_session
from workbench.run.scheduler import bounded
from workbench.sessions.format import decode, encode
from workbench.workloads.registry import workload as a_workload

PLAN = a_plan(rates=[1_000.0, 2_000.0, 3_000.0], profile=True)

PERF = "one \n\t 1 burn (one)\n\t 2 main (one)\n\n" * 3 + "one \n\t 2 main (one)\n\n"


pytestmark = pytest.mark.usefixtures("home")


def changed(**fields: object) -> Plan:
    return msgspec.structs.replace(PLAN, **fields)


def said(text: str) -> list[str]:
    """By the program on the machine that profiles."""
    data = base64.b64encode(zlib.compress(text.encode())).decode()
    events: list[dict[str, Any]] = [
        {"event": "part", "data": data[:9]},
        {"event": "part", "data": data[9:]},
        {"event": "file"},
        {"event": "ready", "version": "6.1"},
    ]
    return [json.dumps(event) for event in events]


async def profiled(
    folder: Path, plan: Plan = PLAN, script: Script | None = None, says: Sequence[str] = ()
) -> Run:
    async with a_run(plan, folder, script) as run:
        run.here.profiler_says = list(says or said(PERF))
        await run.scheduler.run()
        run.assert_whole()
    return run


def profiles(run: Run) -> list[outcomes.Profile]:
    found = [read_note(note) for note in run.notes("profile")]
    return [note for note in found if isinstance(note, outcomes.Profile)]


def points(run: Run) -> list[tuple[str, float]]:
    """Of the profiles, in the order of the run."""
    stops = [d for d in run.documents if isinstance(d, PointStop)]
    measured = [stop.purpose for stop in stops]
    assert "sweep" not in measured[measured.index("profile") :]
    return [(stop.server, stop.x) for stop in stops if stop.purpose == "profile"]


async def test_every_server_is_profiled_after_all_results_at_the_rate_it_sustains(
    tmp_path: Path,
) -> None:
    run = await profiled(tmp_path, script=Script(capacity=lambda x: min(x, 2_000)))
    assert points(run) == [("one", 2_000.0), ("two", 2_000.0)]
    one = profiles(run)[0]
    assert (one.x, one.samples, one.tool) == (2_000.0, 4, "perf 6.1")
    assert one.hottest() == [("burn (one)", 3, 3), ("main (one)", 1, 4)]
    shares = "75 % in burn (one), 25 % in main (one)"
    assert (
        one.text()
        == f"CPU time of One at 2,000/s: {shares} (4 samples are too few to rely on, perf 6.1)."
    )


async def test_a_server_that_sustains_nothing_is_profiled_at_its_highest_rate(
    tmp_path: Path,
) -> None:
    run = await profiled(tmp_path, changed(servers=["one"]), Script(capacity=lambda x: x / 2))
    assert points(run) == [("one", 3_000.0)]


async def test_a_plan_may_say_where(tmp_path: Path) -> None:
    run = await profiled(tmp_path, changed(servers=["one"], profile=Profile(at=1_500, seconds=1)))
    assert points(run) == [("one", 1_500.0)]


async def test_a_search_is_profiled_at_its_peak(tmp_path: Path) -> None:
    search = Search(from_=1_000, to=5_000, step=500, points=10)
    plan = changed(servers=["one"], rates=[], search=search)
    run = await profiled(tmp_path, plan, Script(capacity=lambda x: min(x, 3_000)))
    assert points(run) == [("one", 3_000.0)]


async def test_a_closed_loop_is_profiled_with_the_most_connections(tmp_path: Path) -> None:
    closed = a_workload(mode="closed", timeout_s=1.0)
    plan = changed(servers=["one"], rates=[], concurrency=[1, 4], workload=closed)
    assert points(await profiled(tmp_path, plan)) == [("one", 4.0)]


async def test_no_result_contains_profiled_points(tmp_path: Path) -> None:
    run = await profiled(tmp_path)
    start = RunStart(
        session="s", started_utc="2026-11-22T10:00:00Z", pongbench="1", plan=to_data(PLAN),
        machines=[], servers=[], order=[], seed=1,
    )  # fmt: skip
    with_it = of_session(summarise([start, *run.documents]))
    after = [d for d in run.documents if not (isinstance(d, PointStop) and d.purpose == "profile")]
    without = of_session(summarise([start, *after]))
    assert with_it == without
    assert {p["x"] for p in with_it["servers"]["one"]["points"]} == {1_000.0, 2_000.0, 3_000.0}


@pytest.mark.parametrize(
    ("event", "why", "text"),
    [
        (
            {"event": "failed", "why": "absent", "detail": "perf"},
            "absent",
            "One was not profiled: its runtime has no profiler that is known here, and perf is not"
            " on localhost; install it there (Debian: linux-perf).",
        ),
        (
            {"event": "failed", "why": "denied", "detail": "No permission"},
            "denied",
            "One was not profiled: perf is not permitted on localhost; run as root there, or set"
            " kernel.perf_event_paranoid to 2 or less.",
        ),
        ({"event": "ready"}, "empty", "One was not profiled: perf saw it do nothing."),
        ({"event": "ready", "version": 7}, "failed", None),
        ({"event": "file"}, "lost", None),
    ],
)
async def test_a_server_that_cannot_be_profiled_is_noted_and_the_run_continues(
    tmp_path: Path, event: dict[str, Any], why: str, text: str | None
) -> None:
    run = await profiled(tmp_path, says=[json.dumps(event)])
    assert [stop.server for stop in run.stops] == ["one"] * 3 + ["two"] * 3
    assert [note.data["why"] for note in run.notes("not-profiled")] == [why] * 2
    assert text is None or run.notes("not-profiled")[0].text == text


def test_a_plan_asks_for_profiles_with_one_key_or_several() -> None:
    data = {**to_data(PLAN), "profile": True}
    assert plan_from_data(data, name="p").profiled == Profile()
    data["profile"] = {"at": 1_500, "seconds": 2}
    assert plan_from_data(data, name="p").profiled == Profile(at=1_500.0, seconds=2.0)
    assert plan_from_data({**data, "profile": False}, name="p").profiled is None


def test_nothing_is_profiled_beyond_the_measured_rates() -> None:
    with pytest.raises(BadInput, match=r"profile\.at: 9,000 is outside what the plan measures"):
        check(changed(profile=Profile(at=9_000)))


def test_a_session_keeps_the_commonest_stacks_and_says_how_many_it_lost() -> None:
    stacks = Counter({("main", f"f{n}"): n + 1 for n in range(100)})
    frames, flat, other = bounded(stacks, most=10)
    profile = outcomes.Profile(
        name="One", x=1.0, tool="perf", seconds=1.0, samples=stacks.total(),
        frames=frames, stacks=flat, other=other,
    )  # fmt: skip
    assert [count for count, _ in profile.each()] == list(range(100, 90, -1))
    assert profile.other == sum(range(1, 91))
    assert profile.hottest()[0] == ("f99", 100, 100)


def test_names_are_foreign_text() -> None:
    hostile = "\x1b[2J<script>\u202egnp.exe\n" + "a" * 5_000
    (name,), _, _ = bounded(Counter({(hostile,): 1}))
    assert name.isprintable() and len(name) == 200 and name.startswith("\\u001b[2J<script>\\u202e")


def note(**data: Any) -> bytes:
    whole = {"name": "a", "tool": "b", "seconds": 1, "samples": 3, "x": 1, "frames": ["f"]}
    document = Note(t_us=1, topic="profile", text="t", data={**whole, **data})
    return encode(document).removeprefix(b"--- ")


def test_stacks_of_a_session_lead_to_frames_that_it_has() -> None:
    assert isinstance(decode(note(stacks=[3, 2, 0, 0])), Note)
    wrong = ([], [3], [3, 0], [0, 1, 0], [3, 1], [3, 2, 0], [3, 1, 1], [3, -1], [3, 1, 0, 2], ["a"])
    for stacks in (*wrong, [1, 1_001, *[0] * 1_001]):
        with pytest.raises(msgspec.ValidationError):
            decode(note(stacks=stacks))
