"""The command that compares sessions: text, JSON, CSV and refusals."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from app.__main__ import main
from tests.comparisons import RATES, changed, side
from tests.recording import record_session
from tests.synthetic import session
from workbench.documents import NOT_RECORDED, AnyDocument, PointStop
from workbench.results.comparison import compare
from workbench.results.differences import sustained_in


@pytest.fixture
def files(tmp_path: Path) -> Callable[..., list[str]]:
    def make(*sessions: list[AnyDocument]) -> list[str]:
        return [
            str(record_session(tmp_path / f"{tag}.pong.yaml", documents))
            for tag, documents in zip("abcdefg", sessions, strict=False)
        ]

    return make


def test_as_json_it_is_one_object_with_the_same_figures(
    files: Callable[..., list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        main(["compare", *files(session(2, rates=RATES), session(1, rates=RATES)), "--json"]) == 0
    )
    out, err = capsys.readouterr()
    assert err == ""
    data = json.loads(out)
    assert list(data["sessions"]) == ["A", "B"]
    first = data["servers"][0]
    assert (first["session"], first["server"], first["knee_per_s"]) == (
        "A",
        "asyncio-protocol",
        7000,
    )
    assert first["limit"] == {"low_per_s": 7000, "high_per_s": 8000, "passes": 1, "coverage": None}
    assert data["common_rate_per_s"] == 5000
    (pair,) = data["differences"]
    assert pair["outcome"] == "indistinguishable"


def test_as_csv_it_has_a_line_for_every_server_of_every_session(
    files: Callable[..., list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", *files(session(2, rates=RATES), session(1, rates=RATES)), "--csv"]) == 0
    lines = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [(line["session"], line["knee_per_s"]) for line in lines] == [
        ("A", "7000.0"),
        ("A", "5000.0"),
        ("B", "5000.0"),
    ]


def test_a_file_that_cannot_be_read_is_refused_and_the_others_are_compared(
    files: Callable[..., list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    foreign = tmp_path / "foreign.yaml"
    foreign.write_text("just: yaml\n")
    newer = tmp_path / "newer.yaml"
    newer.write_text("# pongbench session\n---\nkind: run_start\nv: 99\n---\n")
    paths = files(session(1, rates=RATES))
    assert main(["compare", str(foreign), str(newer), *paths]) == 2
    out, err = capsys.readouterr()
    assert str(foreign) in err
    assert str(newer) in err
    assert "asyncio streams" in out
    assert main(["compare", str(foreign)]) == 2
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--server", "gevnt"], "No session has a server 'gevnt'; known: asyncio-streams."),
        (
            ["--rate", "77"],
            "--rate: 77 was not offered to all servers; common rates: 1,000, 2,000, ",
        ),
    ],
    ids=["server", "rate"],
)
def test_a_missing_name_is_reported_with_the_available_ones(
    files: Callable[..., list[str]],
    capsys: pytest.CaptureFixture[str],
    more: list[str],
    message: str,
) -> None:
    assert main(["compare", *files(session(1, rates=RATES)), *more]) == 2
    assert message in capsys.readouterr().err


def test_more_than_six_sessions_are_too_many(
    files: Callable[..., list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    paths = files(session(1, rates=RATES[:2]))
    assert main(["compare", *paths * 7]) == 2
    assert "7 sessions cannot be compared at once; the most is 6." in capsys.readouterr().err


def test_sessions_of_different_axes_are_not_ranked_together(
    files: Callable[..., list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    closed = [
        msgspec.structs.replace(d, concurrency=int(d.x / 20), rate_per_s=0.0, x=NOT_RECORDED)
        if isinstance(d, PointStop) and d.purpose == "sweep"
        else d
        for d in changed(session(2, rates=RATES[:3]), workload={"mode": "closed"})
    ]
    found = compare([side("A", session(2, rates=RATES[:3])), side("B", closed)])
    assert [c.tag for c in found.ranked()] == ["A", "A", "B", "B"]
    assert [sustained_in(found, c) for c in found.ranked()[2:]] == ["not comparable"] * 2
    assert main(["compare", *files(session(2, rates=RATES[:3]), closed)]) == 0
    output = capsys.readouterr().out
    assert "A varied the offered rate, B the concurrent connections" in output
    assert "from 0/s" not in output
