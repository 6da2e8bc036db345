"""Foreign text never becomes a formula in a spreadsheet."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from canary import STEERING, canary

from tests.recording import record_session
from workbench.results.comparison import compare, side_of
from workbench.results.render.csv import points, servers
from workbench.sessions import Session, read_session
from workbench.spreadsheet import cell

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def song(tmp_path: Path) -> Session:
    path = tmp_path / "song.pong.yaml"
    return read_session(record_session(path, canary()))


def no_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return True
    return False


def assert_harmless(table: str) -> None:
    texts = [text for line in csv.reader(io.StringIO(table)) for text in line if no_number(text)]
    assert any(text.startswith("'=1+1") for text in texts)
    assert not [text for text in texts if text.startswith(FORMULA)]
    assert not STEERING.search(table)


def test_the_points_of_a_session_contain_no_formula(song: Session) -> None:
    assert_harmless(points(song.completed()))


def test_a_comparison_contains_no_formula(song: Session, tmp_path: Path) -> None:
    found = compare([side_of(song, tmp_path / "=1+1.yaml", "A")])
    assert_harmless(servers(found))


@pytest.mark.parametrize("first", FORMULA)
def test_no_text_becomes_a_formula(first: str) -> None:
    assert str(cell(f"{first}1+1")).startswith("'")
    assert cell(-1.5) == -1.5
    assert cell("a=1") == "a=1"
