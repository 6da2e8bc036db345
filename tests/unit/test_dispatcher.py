"""Handing documents to consumers."""

from __future__ import annotations

import pytest

from workbench.dispatcher import Dispatcher
from workbench.documents import AnyDocument, Note


def note(text: str) -> Note:
    return Note(t_us=0, topic="test", text=text)


def failing(document: AnyDocument) -> None:
    raise RuntimeError("cannot draw")


def test_every_consumer_gets_every_document_in_the_same_order() -> None:
    dispatcher = Dispatcher()
    first: list[AnyDocument] = []
    second: list[AnyDocument] = []
    dispatcher.subscribe(first.append)
    dispatcher.subscribe(second.append)
    for text in "abc":
        dispatcher.emit(note(text))
    assert first == second == [note("a"), note("b"), note("c")]


def test_a_failing_consumer_is_logged_and_dropped_without_affecting_others(
    caplog: pytest.LogCaptureFixture,
) -> None:
    dispatcher = Dispatcher()
    seen: list[AnyDocument] = []
    dispatcher.subscribe(failing)
    dispatcher.subscribe(seen.append)
    dispatcher.emit(note("a"))
    dispatcher.emit(note("b"))
    assert seen == [note("a"), note("b")]
    assert [record.message.count("dropped") for record in caplog.records] == [1]
    assert "cannot draw" in caplog.text


def test_a_failing_recorder_reaches_the_engine_before_anyone_saw_the_document() -> None:
    dispatcher = Dispatcher()
    seen: list[AnyDocument] = []
    dispatcher.subscribe(seen.append)
    dispatcher.subscribe(failing, essential=True)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="cannot draw"):
            dispatcher.emit(note("a"))
    assert seen == []


def test_a_document_emitted_by_a_consumer_follows_the_current_one_for_all() -> None:
    dispatcher = Dispatcher()
    seen: list[AnyDocument] = []

    def commenting(document: AnyDocument) -> None:
        if document == note("a"):
            dispatcher.emit(note("about a"))

    dispatcher.subscribe(commenting, essential=True)
    dispatcher.subscribe(seen.append)
    dispatcher.emit(note("a"))
    assert seen == [note("a"), note("about a")]
