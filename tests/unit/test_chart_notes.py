"""Notes on charts, kept beside the session."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.recording import record_session
from tests.synthetic import session
from workbench.errors import BadInput
from workbench.sessions.chart_notes import ChartNote, ChartNotes
from workbench.sessions.library import shelf


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return record_session(tmp_path / "my.pong.yaml", session(2, 4, seconds=1.0))


def test_they_are_stored_next_to_the_unchanged_session(path: Path) -> None:
    before = path.read_bytes()
    notes = ChartNotes(path)
    assert notes.read() == []
    later = ChartNote(4500.0, "The log grew here.", "tornado")
    notes.put("abc", later)
    first = ChartNote(2000.0, "Quiet\nuntil here: “ok”")
    kept = notes.put("abc", first)
    assert kept == [ChartNote(2000.0, "Quiet until here: “ok”"), later]
    assert ChartNotes(path).read() == kept
    assert notes.path == path.with_name("my.notes.yaml")
    assert path.read_bytes() == before
    assert [each.path for each in shelf(path.parent)] == [path]


def test_a_note_is_replaced_at_its_place_and_removed_by_an_empty_text(path: Path) -> None:
    notes = ChartNotes(path)
    notes.put("abc", ChartNote(2000.0, "one"))
    notes.put("abc", ChartNote(2000.0, "one of a server", "gevent"))
    assert notes.put("abc", ChartNote(2000.0, "two")) == [
        ChartNote(2000.0, "two"),
        ChartNote(2000.0, "one of a server", "gevent"),
    ]
    assert notes.put("abc", ChartNote(2000.0, " ")) == [
        ChartNote(2000.0, "one of a server", "gevent")
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("hello", "my.notes.yaml: expected keys"),
        ("notes:\n- 3\n", r"notes\[1\]: expected keys"),
        ("notes:\n- {x: .nan, text: a}\n", r"notes\[1\]\.x: expected a number"),
        ("notes:\n- {x: 1, text: [a]}\n", r"notes\[1\]\.text: expected text"),
        ("notes: [\n", "my.notes.yaml"),
    ],
)
def test_an_invalid_file_is_refused_and_never_overwritten(path: Path, text: str, said: str) -> None:
    notes = ChartNotes(path)
    notes.path.write_text(text)
    for act in (notes.read, lambda: notes.put("abc", ChartNote(1.0, "new"))):
        with pytest.raises(BadInput, match=said):
            act()
    assert notes.path.read_text() == text
