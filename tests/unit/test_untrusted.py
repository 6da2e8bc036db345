"""Foreign texts are shown but never interpreted, wherever they are in a session."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from canary import SONG, STEERING, canary
from hypothesis import given
from hypothesis import strategies as st

from tests.recording import record_session
from workbench.documents import AnyDocument, Note
from workbench.presentable import presentable
from workbench.sessions import read_session
from workbench.sessions.skim import skim
from workbench.untrusted import LONGEST, LONGEST_NAME, indented, one_line, safe, visible


@pytest.fixture
def song(tmp_path: Path) -> Path:
    path = tmp_path / "song.pong.yaml"
    return record_session(path, canary())


def texts(value: Any) -> Iterator[str]:
    """All there are, keys as well."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from texts(key)
            yield from texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts(inner)


def plain(documents: list[AnyDocument]) -> list[Any]:
    return [msgspec.to_builtins(document) for document in documents]


def test_every_text_of_every_document_can_carry_hostile_text() -> None:
    for document in canary():
        for field in msgspec.structs.fields(type(document)):
            value = getattr(document, field.name)
            if field.type is str and field.name != "started_utc":
                assert SONG in value, f"{type(document).__name__}.{field.name}"


def test_a_session_that_was_read_is_escaped_everywhere(song: Path) -> None:
    for documents in (read_session(song).documents, read_session(song).completed(), skim(song)):
        found = list(texts(plain(documents)))
        assert any("\\u001b[31m" in text for text in found)
        assert not [text for text in found if STEERING.search(text.replace("\n", ""))]


def test_no_name_spans_lines_and_every_text_is_bounded(tmp_path: Path) -> None:
    path = tmp_path / "long.pong.yaml"
    record_session(path, canary(song=SONG + "x" * 12_000))
    documents = read_session(path).documents
    for document in documents:
        for field in msgspec.structs.fields(type(document)):
            value = getattr(document, field.name)
            if field.type is str and field.name not in ("text", "reason", "started_utc"):
                assert len(value) == LONGEST_NAME, field.name
                assert value.endswith("…")
                assert "\n" not in value
    assert max(map(len, texts(plain(documents)))) == LONGEST


def test_references_between_documents_survive(song: Path) -> None:
    start, *others = plain(read_session(song).documents)
    ids = {server["id"] for server in start["servers"]}
    assert len(ids) == 2
    assert ids == {block["server"] for block in start["order"]}
    assert ids <= {document.get("server") for document in others}


def test_harmless_text_is_unchanged() -> None:
    note = Note(
        t_us=0, topic="died", text="Es ging zu Ende:\n    µ ≥ 3 “…” 服务器 👩‍💻", data={"a": [1]}
    )
    assert presentable(note) is note


@given(st.text())
def test_a_shown_server_stays_shown_whoever_shows_it_again(text: str) -> None:
    for show in (visible, safe, one_line, indented):
        assert show(show(text)) == show(text)
        assert not STEERING.search(show(text))
    assert "\n" not in one_line(text)


@given(st.text(st.characters(codec="utf-8")))
def test_written_out_in_json_is_the_same_text(text: str) -> None:
    assert json.loads(visible(json.dumps(text, ensure_ascii=False))) == text


def test_a_name_of_a_megabyte_ends_in_an_ellipsis() -> None:
    assert one_line("n" * 1_000_000) == "n" * (LONGEST_NAME - 1) + "…"
    assert len(safe("\x1b" * 1_000_000)) == LONGEST


def test_a_foreign_line_is_never_mistaken_for_one_of_ours() -> None:
    assert indented("gone\npongbench: All is well.") == "gone\n    pongbench: All is well."
    assert indented("gone\n    as it was") == "gone\n    as it was"
