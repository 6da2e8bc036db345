"""Packed histograms: every bucket is restored, as by HdrHistogram itself, and damage is named."""

from __future__ import annotations

import base64
import json
import struct
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.histograms import histogram_of
from workbench.analysis import histogram as h
from workbench.analysis import packing

RECORDED = Path(__file__).parent.parent / "cases" / "histograms"
COUNTS = st.one_of(st.integers(1, 70), st.integers(1, 10**10))
SPARSE = st.dictionaries(st.integers(0, h.BUCKETS - 1), COUNTS, max_size=80).map(
    lambda counts: [part for pair in sorted(counts.items()) for part in pair]
)


def restored(text: str) -> list[int]:
    return h.merge([text])


@given(SPARSE)
def test_every_bucket_is_restored(sparse: list[int]) -> None:
    text = h.packed(sparse)
    assert restored(text) == sparse
    assert (text == "") == (sparse == [])
    assert not text or packing.totals([text]) == [sum(sparse[1::2])]


@given(SPARSE)
def test_every_bucket_of_a_coarse_histogram_is_restored_from_fewer_bytes(sparse: list[int]) -> None:
    coarse = h.coarse(sparse)
    text = h.packed(coarse, coarse=True)
    assert restored(text) == coarse
    assert len(text) <= len(h.packed(coarse))


def test_a_bucket_named_twice_or_without_a_count_is_written_as_what_it_says() -> None:
    assert restored(h.packed([5, 1, 5, 2, 6, 0, 7, 4])) == [5, 3, 7, 4]
    assert h.packed([6, 0]) == ""


def test_what_is_not_coarse_is_not_rounded() -> None:
    assert restored(h.packed([1_000, 3], coarse=True)) == [1_000, 3]


@given(st.lists(SPARSE.filter(bool), min_size=1, max_size=9))
def test_many_are_added_up_at_once(several: list[list[int]]) -> None:
    assert packing.totals([h.packed(each) for each in several]) == [
        sum(each[1::2]) for each in several
    ]


@pytest.mark.parametrize("case", sorted(RECORDED.iterdir()), ids=lambda case: case.stem)
def test_buckets_are_those_of_hdrhistogram(case: Path) -> None:
    """Texts written by the PyPI package `hdrhistogram`, whose index scheme and encoding ours are.
    Compressed data may differ by the version of zlib, what they contain may not."""
    recorded = json.loads(case.read_text())
    times = {int(us): count for us, count in recorded["times_us"].items()}
    sparse = h.merge([[h.bucket_of(us), count] for us, count in times.items()])
    if recorded["digits"] == packing.COARSE:
        sparse = h.coarse(sparse)
    assert restored(recorded["text"]) == sparse
    ours = h.packed(sparse, coarse=recorded["digits"] == packing.COARSE)
    content = _inflated(recorded["text"])
    if recorded["digits"] == packing.COARSE:
        assert packing.unmarked(ours) == content[40:]
    else:
        assert _inflated(ours) == content


def test_figures_of_a_packed_histogram_are_those_of_a_sparse_one() -> None:
    sparse = histogram_of([3, 3, 90, 2_500, 70_000])
    text = h.packed(sparse)
    assert h.percentiles(text) == h.percentiles(sparse)
    assert h.mean(text) == h.mean(sparse)
    assert h.merge([text, sparse]) == h.merge([sparse, sparse])
    assert h.percentiles("") is None and h.mean("") is None and h.merge(["", ""]) == []


GOOD = h.packed(histogram_of([3, 3, 90, 2_500, 70_000]))


def _inflated(text: str) -> bytes:
    return zlib.decompress(base64.b64decode(text)[8:])


def _enveloped(content: bytes) -> str:
    compressed = zlib.compress(content)
    head = struct.pack(">ii", 0x1C849314, len(compressed))
    return base64.b64encode(head + compressed).decode()


def _with(payload: bytes, digits: int = 3) -> str:
    header = struct.pack(">iiiiqqd", 0x1C849313, len(payload), 0, digits, 1, 600_000_000, 1.0)
    return _enveloped(header + payload)


def _bent(text: str) -> str:
    """With a wrong checksum."""
    whole = base64.b64decode(text)
    return base64.b64encode(whole[:-1] + bytes([whole[-1] ^ 1])).decode()


@pytest.mark.parametrize(
    "text",
    [
        "no base64",
        "é",
        "HIST",
        GOOD[:-4],
        GOOD[:-1],
        GOOD + "AAAA",
        _bent(GOOD),
        base64.b64encode(b"x" * 60).decode(),
        _enveloped(b""),
        _enveloped(bytes(40)),
        _enveloped(_inflated(GOOD)[:-1]),
        _enveloped(bytes(100 << 20)),
        _with(b""),
        _with(b"\x02\x80"),
        _with(b"\xff\xff\xff\xff\xff\xff\x01"),
        _with(b"\x02" * (h.BUCKETS + 1)),
        _with(b"\x01" * (h.BUCKETS + 1)),
        _with(b"\xff\xff\x7f\x02"),
        _with(b"\x02", digits=2),
    ],
)
def test_damage_is_named_and_takes_no_memory(text: str) -> None:
    """The largest of them is 100 MB of zeros in 100 kB."""
    for read in (lambda: packing.totals([GOOD, text, GOOD]), lambda: packing.unpack(text)):
        with pytest.raises(ValueError, match=r"^(is|has) "):
            read()
