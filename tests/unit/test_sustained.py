"""Sustained rates read the same wherever they are shown."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.synthetic import contestants, session
from workbench import axis as axes
from workbench.analysis.results import SeriesResult
from workbench.analysis.summary import summarise
from workbench.axis import Axis
from workbench.documents import AnyDocument, PointStop
from workbench.results import sustained

SIZES = Axis(key="message_size", label="Message size", unit="bytes", limit="highest")


def results(documents: list[AnyDocument], axis: Axis = axes.RATE) -> list[SeriesResult]:
    """Highest first."""
    servers = summarise(documents).ranked()
    return [SeriesResult(s.id, s.name, axis=axis, stops=s.stops) for s in servers]


def behind_busy_clients(documents: list[AnyDocument], server: str) -> list[AnyDocument]:
    return [
        replace(d, verdict="client-limited", reasons=["The clients are busy."])
        if isinstance(d, PointStop) and d.server == server
        else d
        for d in documents
    ]


def test_a_column_and_a_sentence_say_the_same() -> None:
    (fast,) = results(session(contestants(3)[2:], rates=[1000.0, 2000.0]))
    assert sustained.column(fast) == "≥ 2,000/s"
    assert sustained.sentence(fast) == "gevent sustains ≥ 2,000/s"
    assert sustained.parts(fast, over=False).text == "sustains ≥ 2,000/s"
    assert sustained.parts(fast).of_several().text == "sustain ≥ 2,000/s"


def test_no_rate_is_named_where_none_is_varied() -> None:
    lost = [
        replace(d, verdict="server-limited") if isinstance(d, PointStop) else d
        for d in session(1, 3)
    ]
    (series,) = results(lost, SIZES)
    assert sustained.column(series) == "no tested value"
    assert sustained.sentence(series) == "asyncio streams sustains no tested value"


def test_without_a_limit_the_most_replies_are_shown_with_their_value() -> None:
    (series,) = results(session(1, 3), axes.concurrency([]))
    assert sustained.column(series).endswith(" replies/s")
    assert sustained.column(series, where=True) == "4,866 replies/s at 6,000 concurrent"
    assert sustained.sentence(series) == f"asyncio streams: {sustained.column(series, where=True)}"
    assert sustained.parts(series).caption == "most replies"


@pytest.mark.parametrize("server", ["asyncio-streams", "asyncio-protocol"])
def test_a_server_loaded_only_by_busy_clients_may_sustain_more(server: str) -> None:
    documents = behind_busy_clients(session(3, 8), server)
    found = sustained.leaders(results(documents))
    assert [each.key for each in found.best] == ["gevent"]
    assert [each.key for each in found.open] == [server]
    answer = sustained.answer(summarise(documents).ranked())
    assert answer.text.startswith("Highest measured: gevent at ") and answer.doubts


def test_no_server_leads_where_none_sustains_a_rate() -> None:
    documents = behind_busy_clients(session(1, 3), "asyncio-streams")
    found = sustained.leaders(results(documents))
    assert (found.best, found.at_least) == ([], "")
    assert [sustained.column(each) for each in found.open] == ["unknown"]
