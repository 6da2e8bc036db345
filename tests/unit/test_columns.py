"""Windows and samples in columns: restored exactly, cut anywhere, and refused where wrong."""

from __future__ import annotations

import base64
import zlib
from itertools import pairwise
from typing import Any

import msgspec
import pytest

from tests import synthetic
from workbench.documents import AnyDocument, PointStart, PointStop, Window
from workbench.sessions.columns import MOST, encode_all, from_columns
from workbench.sessions.format import encode_line, encode_start
from workbench.sessions.reading import parse_session


@pytest.fixture(scope="module")
def documents() -> list[AnyDocument]:
    """A point of half a minute and one under overload."""
    return synthetic.session(1, rates=[400.0, 9_000.0], seconds=30.0, ceiling=False)


def test_a_session_cut_anywhere_opens_up_to_its_last_whole_line(
    documents: list[AnyDocument],
) -> None:
    whole = b"".join(encode_all(documents))
    assert parse_session(whole, name="a").documents == documents
    lines = [n + 1 for n, byte in enumerate(whole) if byte == ord("\n")]
    begin = whole.index(b"\n--- {") + 1
    windows: list[int] = []
    for end in (end for end in lines if end > begin):
        for cut in (end - 1, end):
            session = parse_session(whole[:cut], name="a")
            assert not session.damage
            assert [d for d in documents if d in session.documents] == session.documents
        windows.append(sum(isinstance(d, Window) for d in session.documents))
    # Of the point that was running, all but the last ten seconds is there.
    assert max(b - a for a, b in pairwise(windows)) <= 51
    assert windows[-1] == sum(isinstance(d, Window) for d in documents)


def test_a_session_with_a_record_for_each_document_says_the_same(
    documents: list[AnyDocument],
) -> None:
    start, *others = documents
    plain = encode_start(start) + b"".join(map(encode_line, others))  # type: ignore[arg-type]
    assert parse_session(plain, name="a").documents == documents
    assert len(b"".join(encode_all(documents))) < len(plain) / 2


def record(documents: list[AnyDocument]) -> dict[str, Any]:
    text = b"".join(encode_all(documents))
    line = next(each for each in text.splitlines() if b'"windows"' in each)
    found: dict[str, Any] = msgspec.json.decode(line[4:])
    return found


BOMB = base64.b64encode(zlib.compress(bytes(50_000_000))).decode()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("index", 3),
        ("index", []),
        ("index", [0, 1, 2]),
        ("index", list(range(MOST + 1))),
        ("index", [10**15] * 5),
        ("due", [1, 2]),
        ("due", "many"),
        ("due", [None] * 5),
        ("errors", {"connreset": 3}),
        ("latency_us", {"count": "none"}),
        ("latency_us", {"count": [1] * 5}),
        ("times", ""),
        ("times", 7),
        ("times", "eNp!"),
        ("times", BOMB),
    ],
)
def test_a_record_no_run_writes_is_refused(
    documents: list[AnyDocument], field: str, value: object
) -> None:
    right = record(documents)
    assert len(from_columns(dict(right))) == 5
    with pytest.raises(msgspec.ValidationError):
        from_columns({**right, field: value})


def test_windows_that_were_left_out_and_that_are_longer_are_restored() -> None:
    documents = synthetic.session(1, rates=[400.0], seconds=2.0, ceiling=False)
    windows = [n for n, d in enumerate(documents) if isinstance(d, Window)]
    longer = msgspec.structs.replace(documents[windows[-1]], length_us=400_000)
    odd = msgspec.structs.replace(documents[windows[-3]], t_us=documents[windows[-3]].t_us + 1)
    documents[windows[-1]], documents[windows[-3]] = longer, odd
    del documents[windows[-2]]
    whole = b"".join(encode_all(documents))
    assert b'"kind":"window"' not in whole
    assert parse_session(whole, name="a").documents == documents
    assert sum(isinstance(d, PointStart | PointStop) for d in documents) == 4
