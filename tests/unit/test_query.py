"""`pongbench query`: what is wrong with a query is one sentence."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from app.__main__ import main
from tests import synthetic
from tests.recording import record_session


@pytest.fixture
def file(tmp_path: Path) -> str:
    return str(record_session(tmp_path / "a.pong.yaml", synthetic.session(2, 2)))


def test_tables_are_joined_by_the_session(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    sql = "select count(*) as n, min(cores) as c from points join sessions using (session, started)"
    assert main(["query", "--json", sql, file]) == 0
    assert json.loads(capsys.readouterr().out) == [{"n": 4, "c": 4}]


@pytest.mark.parametrize("sql", ["select nothing from points", "selec", "select * from nothing"])
def test_a_wrong_query_is_one_sentence(
    sql: str, file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["query", sql, file]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_without_duckdb_it_says_how_to_get_it(
    file: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    assert main(["query", "select 1", file]) == 2
    assert "pongbench[query]" in capsys.readouterr().err
