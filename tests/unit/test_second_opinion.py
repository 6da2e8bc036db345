"""What a session with several load tools says of them: how far they agree, and what their verdicts
could not check."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import msgspec
import pytest
from fakes.load import ALL, Script, fake_tool
from fakes.run import a_plan, a_session

from workbench.analysis.significance import Change
from workbench.analysis.summary import Summary, summarise
from workbench.documents import AnyDocument, PointStop
from workbench.load import registry
from workbench.load.base import Capabilities
from workbench.messages.audits import differs
from workbench.results.cross_check import ONE_PASS, CrossCheck, Difference, cross_checks, remark
from workbench.results.render.data import of_session
from workbench.results.render.html import Drawing, render
from workbench.results.render.terminal import print_summary
from workbench.results.rows import ranking
from workbench.terminal import Terminal

PROGRAM = Capabilities(
    reports=frozenset(["percentiles"]), axes=("rate",), workloads=("pong",), resolution_us=1_000
)
"""Of a program like httperf."""


pytestmark = pytest.mark.usefixtures("home")


async def with_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, can: Capabilities, us: int, **plan: Any
) -> list[AnyDocument]:
    """A session of the fake agent (200 µs) and a tool that sees response times of `us`."""
    other, _ = fake_tool(Script(service_us=us), can, name="other")
    monkeypatch.setitem(registry.TOOLS, "other", other)
    return await a_session(a_plan(with_=["other"], servers=["one"], **plan), tmp_path)


def compared(summary: Summary) -> list[CrossCheck]:
    return cross_checks(summary.plan, summary.servers.values())


def printed(summary: Summary) -> str:
    out = io.StringIO()
    print_summary(summary, Terminal(file=out, piped=200))
    return " ".join(out.getvalue().split())


async def test_tools_are_compared_at_each_point_with_intervals_over_the_passes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = await with_both(tmp_path, monkeypatch, can=ALL, us=400, repeats=3)
    summary = summarise(documents)
    first, _ = compared(summary)
    assert (first.tool, first.reference, first.x, first.passes) == ("other", "fake", 1_000, 3)
    replies, *every_time = first.differences
    assert [each.figure for each in every_time] == ["mean_us", "p50_us", "p99_us"]
    assert replies.share == 0 and replies.change is not None and not replies.notable
    for times in every_time:
        assert times.share == pytest.approx(1, rel=0.03) and times.change is not None
        assert times.change.low > 0.9 and times.notable
    assert first.cells[-1] == "not known"
    data = of_session(summary)["cross_check"]
    assert [each["x"] for each in data] == [1_000, 2_000]
    low, high = data[0]["differences"]["p50_us"]["interval_pct"]
    assert low < 100 < high + 2 and data[0]["clock"] == "service"
    said = printed(summary)
    assert "other / fake" in said and "95 % interval over the passes" in said
    page = render(documents, Drawing())
    assert "Load tools compared" in page and "other / fake" in page
    assert "Could not be checked" not in said


@pytest.mark.parametrize(
    ("low", "high", "notable"), [(-0.2, 0.5, False), (0.05, 0.5, True), (-0.5, -0.1, True)]
)
def test_a_difference_that_may_be_chance_is_given_no_cause(
    low: float, high: float, notable: bool
) -> None:
    change = Change((low + high) / 2, low, high, passes=3, paired=True)
    assert Difference("p50_us", 110, 100, change).notable is notable


async def test_one_pass_has_no_interval_and_known_causes_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = await with_both(tmp_path, monkeypatch, can=PROGRAM, us=900)
    found = compared(summarise(documents))
    assert remark(found).endswith(ONE_PASS)
    replies, *every_time = found[0].differences
    assert replies.change is None and not any(each.resolved for each in every_time)
    assert list(found[0].causes) == [differs("resolves", tool="other", resolution_us=1_000)]
    assert (
        of_session(summarise(documents))["cross_check"][0]["differences"]["p50_us"]["interval_pct"]
        is None
    )
    assert "within resolution" in printed(summarise(documents))


@pytest.mark.parametrize(("us", "named"), [(5_000, ["omits-stalls"]), (200, [])])
async def test_stalls_that_a_tool_does_not_see_are_named_where_p99_differs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, us: int, named: list[str]
) -> None:
    documents = await with_both(tmp_path, monkeypatch, can=PROGRAM, us=us)
    slower = [
        msgspec.structs.replace(
            document, latency_us=msgspec.structs.replace(document.latency_us, p99=90_000)
        )
        if isinstance(document, PointStop) and document.latency_us
        else document
        for document in documents
    ]
    monkeypatch.setitem(registry.TOOLS, "fake", fake_tool(Script())[0])
    summary = summarise(slower)
    for each in compared(summary):
        assert [cause.code for cause in each.causes] == named
        assert all(cause.record()["latency_p99_us"] == 90_000 for cause in each.causes)


async def test_what_verdicts_could_not_check_is_said_of_points_series_and_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = await with_both(tmp_path, monkeypatch, can=PROGRAM, us=200)
    summary = summarise(documents)
    data = of_session(summary)
    agent, other = data["servers"]["one@fake"], data["servers"]["one@other"]
    assert agent["not_checked"] == [] and agent["points"][0]["not_checked"] == []
    codes = ["schedule", "queue", "client-cpu", "background-load", "conservation"]
    assert set(codes) <= set(other["not_checked"]) == set(other["points"][0]["not_checked"])
    (audit,) = (each for each in data["audits"] if each["code"] == "evidence")
    assert audit["state"] == "not-known"
    assert list(audit["finding"]["by_tool"]) == ["other"]
    said = "Could not be checked with other: the schedule"
    assert printed(summary).count(said) == 1
    assert said in render(documents, Drawing())


async def test_times_of_a_tool_without_a_schedule_are_in_the_ranking(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on the charts: from the send, where a load tool has no others."""
    other, _ = fake_tool(Script(service_us=400), PROGRAM, name="other")
    monkeypatch.setitem(registry.TOOLS, "other", other)
    documents = await a_session(a_plan(load_tool="other", servers=["one"]), tmp_path)
    summary = summarise(documents)
    assert summary.clock == "service"
    said = printed(summary)
    assert said.count("400 µs") >= 4 and "Response times count from the send" in said
    assert ranking(summary).rows[0].text("there_p50_ms") == "400 µs"
