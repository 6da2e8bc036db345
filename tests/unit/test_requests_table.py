"""Several requests by their names, in a table of their own."""

from __future__ import annotations

import io

from msgspec.structs import replace
from synthetic import knees, session

from workbench import metrics
from workbench.analysis.summary import summarise
from workbench.commands.summary import print_summary
from workbench.documents import AnyDocument, PointStop, RunStart
from workbench.report import requests
from workbench.report.facts import facts
from workbench.terminal import Terminal

NAMES = ["GET /", "POST /pay"]


def documents(known: bool = True) -> list[AnyDocument]:
    """A session in which each request has replies at the offered rate."""

    def with_requests(document: AnyDocument) -> AnyDocument:
        if isinstance(document, RunStart):
            return replace(document, metrics=metrics.records(NAMES))
        if isinstance(document, PointStop) and known:
            values = {"request_1_replies_per_s": document.x, "request_2_p99_ms": 12.5}
            return replace(document, values=values)
        return document

    return [with_requests(document) for document in session(2, 4)]


def test_each_request_has_a_row_where_its_server_sustains_the_rate() -> None:
    (table,) = requests.tables(summarise(documents()))
    assert table.columns == (
        *("Server", "Offered rate", "Request"),
        *("Replies/s", "p50", "p99", "Mean", "Errors"),
    )
    best, *_ = sorted(knees(2, 4).values(), reverse=True)
    first, second, *_ = table.rows
    assert first[1:] == (f"{best:,.0f}/s", "GET /", f"{best:,.0f}", "", "", "", "")
    assert second[2:] == ("POST /pay", "", "", "12.5 ms", "", "")
    assert len(table.rows) == 4


def test_tables_of_points_have_no_column_for_each_request() -> None:
    assert facts(documents()).metrics == ()
    assert [table.title for table in facts(documents()).requests] == ["Requests"]
    printed = io.StringIO()
    print_summary(summarise(documents()), Terminal(file=printed, width=120))
    assert "POST /pay" in printed.getvalue()
    assert "p99 of" not in printed.getvalue()


def test_a_session_without_several_requests_has_no_such_table() -> None:
    assert requests.tables(summarise(session(2, 4))) == []
    assert requests.tables(summarise(documents(known=False))) == []
