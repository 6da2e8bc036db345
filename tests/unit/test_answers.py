"""What answered calls are named, wherever they are counted."""

from __future__ import annotations

import io
from collections.abc import Callable

import msgspec
import pytest
from synthetic import session

from app.charts.distribution import DistributionModel
from app.charts.model import ChartModel
from app.charts.over_time import TimeModel
from workbench import axis as axes
from workbench.analysis.results import View
from workbench.analysis.summary import summarise
from workbench.commands.console import ConsoleView
from workbench.commands.summary import print_ranking, print_summary
from workbench.comparison import table as compare_table
from workbench.comparison.sides import Comparison, Side
from workbench.documents import AnyDocument, PointStart, PointStop, RunStart
from workbench.plan.model import Plan
from workbench.report import sustained
from workbench.report.facts import facts
from workbench.report.page import Drawing, render
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


def test_messages_are_no_replies_in_tables_and_reports() -> None:
    summary = summarise(DOCUMENTS)
    server = summary.ranked()[0]
    assert sustained.column(server).endswith(" messages/s")
    shown = [
        printed(lambda console: print_ranking(summary, console)),
        printed(lambda console: print_summary(summary, console)),
        render(facts(DOCUMENTS), Drawing()),
    ]
    for text in shown:
        assert "Most messages" in text and "replies" not in text.lower()
    side = Side("A", None, DOCUMENTS[0], summary, [])  # type: ignore[arg-type]
    titles = [column.title for column in compare_table.columns(Comparison([side]))]
    assert "Messages/s" in titles and "Replies/s" not in titles


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
    assert drawn.replies == "messages"
