"""What answered calls are named, wherever they are counted."""

from __future__ import annotations

import io
from collections.abc import Callable

import msgspec
import pytest
from synthetic import session

from app.charts.model import ChartModel
from app.charts.projection import DistributionModel, TimeModel
from workbench import axis as axes
from workbench.analysis.series import View
from workbench.analysis.summary import summarise
from workbench.commands.console import ConsoleView
from workbench.documents import AnyDocument, PointStart, PointStop, RunStart
from workbench.plan.model import Plan
from workbench.results.render.data import of_session
from workbench.results.render.html import Drawing, render
from workbench.results.render.terminal import print_summary
from workbench.terminal import Terminal
from workbench.workloads.registry import workload

MESSAGES = Plan(
    servers=["zeromq-queue"],
    workload=workload(protocol="zeromq", mode="closed"),
    concurrency=[1],
    vary={"message_size": [64, 1024]},
    seconds=2,
).axis


def of_messages(document: AnyDocument, axis: axes.Axis = MESSAGES) -> AnyDocument:
    if isinstance(document, RunStart):
        return msgspec.structs.replace(document, axis=axis)
    if isinstance(document, PointStart | PointStop):
        return msgspec.structs.replace(document, concurrency=1)
    return document


DOCUMENTS = [of_messages(document) for document in session(2, rates=[64.0, 1024.0], ceiling=False)]


def printed(show: Callable[[Terminal], object]) -> str:
    file = io.StringIO()
    show(Terminal(file=file, width=160))
    return file.getvalue()


def test_a_workload_names_its_calls() -> None:
    assert MESSAGES.replies == "messages"
    held = Plan(servers=["x"], workload=workload(protocol="websocket"), rates=[100], seconds=5)
    assert (held.axis.replies, held.axis.unit) == ("messages", "messages/s")
    assert Plan(servers=["x"], rates=[100], seconds=5).axis.replies == "replies"


def test_sessions_that_do_not_record_the_name_have_it_from_their_plan() -> None:
    start = session(1, 2)[0]
    assert isinstance(start, RunStart) and start.axis
    old = {"workload": {"protocol": "zeromq", "message_size": 64}}
    known = msgspec.structs.replace(start, plan=old).axis
    assert known and known.replies == "messages"
    assert start.axis.replies == "replies"


def test_a_brief_view_states_the_most_messages_where_no_limit_is_sought() -> None:
    file = io.StringIO()
    with ConsoleView(Terminal(file=file, width=160), brief=True) as view:
        for document in DOCUMENTS:
            view(document)
    stops = [d for d in DOCUMENTS if isinstance(d, PointStop) and d.judged]
    most = max(stops, key=lambda stop: stop.replies_per_s)
    said = file.getvalue()
    assert f": {MESSAGES.answered(most.replies_per_s)} at {MESSAGES.of(most)}; " in said
    assert "sustains" not in said


def test_messages_are_no_replies_in_the_terminal_of_a_run() -> None:
    file = io.StringIO()
    view = ConsoleView(Terminal(file=file, width=160))
    for document in DOCUMENTS:
        view(document)
    view.console.print(view.render())
    assert "Messages/s" in file.getvalue() and " messages/s" in file.getvalue()
    assert "replies" not in file.getvalue().lower()


@pytest.mark.parametrize("view", [ChartModel, TimeModel, DistributionModel])
def test_messages_are_no_replies_in_charts(view: type) -> None:
    model = ChartModel()
    for document in DOCUMENTS:
        model(document)
    model.end()
    drawn = model if view is ChartModel else view(model, 1024.0)
    series = drawn.ranked()[0]
    card = drawn.card(series, series.shown[-1], View())
    assert "Messages" in {caption for caption, _, _ in card.figures}
    assert (
        "repl" not in f"{card.text}{card.sentence}{drawn.chosen_text if drawn is not model else ''}"
    )
    assert model.axis.replies == "messages"


USERS = Plan(
    servers=["one"],
    rates=[1000],
    rate_of="users",
    seconds=5,
    workload=workload(protocol="http/1.1", calls_per_connection=13),
)
SERVED = [of_messages(each, USERS.axis) for each in session(2, rates=[1000.0], ceiling=False)]
"""Each user has 13 calls; `of_messages` changes no more than the axis of these."""


def test_users_are_not_calls_in_what_a_plan_says_of_its_axis() -> None:
    axis = USERS.axis
    assert (axis.served, axis.replies, axis.calls_each) == ("users served", "replies", 13)
    assert axis.answered(97.0) == "97 users served/s (1,261 calls/s)"
    whole = msgspec.structs.replace(USERS, rate_of="connections").axis
    assert whole.served_axis == ("Connections served", "per second, 13 calls each")
    one = Plan(servers=["one"], rates=[1000], seconds=5).axis
    assert (one.served, one.answered(97.0)) == ("replies", "97 replies/s")


def test_sessions_that_do_not_record_the_calls_of_a_user_have_them_from_their_plan() -> None:
    start = session(1, 2)[0]
    assert isinstance(start, RunStart)
    old = {"workload": {"calls_per_connection": 13}, "rate_of": "users"}
    axis = msgspec.structs.replace(USERS.axis, calls_each=1)
    known = msgspec.structs.replace(start, plan=old, axis=axis).axis
    assert known == USERS.axis


def test_users_served_stand_beside_their_calls_wherever_they_are_stated() -> None:
    summary = summarise(SERVED)
    (point, *_) = of_session(summary)["servers"]["asyncio-streams"]["points"]
    assert point["calls_per_s"] == pytest.approx(13 * point["replies_per_s"])
    figures = f"{point['replies_per_s']:,.0f}", f"{point['calls_per_s']:,.0f}"
    run = io.StringIO()
    view = ConsoleView(Terminal(file=run, width=200))
    for document in SERVED:
        view(document)
    table = printed(lambda console: print_summary(summary, console))
    assert "Users served/s" in table and "Calls/s" in table
    assert f"{figures[0]} users served/s ({figures[1]} calls/s)" in run.getvalue()
    report = render(SERVED, Drawing())
    assert "Users served/s" in report and all(f">{each}<" in report for each in figures)
    for text in (table, run.getvalue(), report):
        assert "replies/s" not in text.lower()


def test_users_served_are_drawn_as_such() -> None:
    model = ChartModel()
    for document in SERVED:
        model(document)
    model.end()
    series = model.ranked()[0]
    card = model.card(series, series.shown[-1], View())
    assert card.figures[0][0] == "Users served" and "users served" in card.text
