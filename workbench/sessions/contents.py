"""Checks of documents that their types cannot express, made once, when a document is read.

Drawing, counting and judging rely on these checks and do not repeat them. Keys not named here may
hold anything: a later version may know them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Annotated, Any, TypeAlias

import msgspec
from msgspec import ValidationError

from workbench.analysis import packing
from workbench.analysis.histogram import BUCKETS
from workbench.documents import (
    AnyDocument,
    Histogram,
    Histograms,
    Note,
    PackedHistogram,
    PointStop,
    RunStart,
    Window,
)
from workbench.shapes import Rate, Whole, check_free, check_shape


class _Facts(msgspec.Struct):
    memory_bytes: Whole = 0
    sysctls: dict[str, str | int | float] = {}


class _Ceiling(msgspec.Struct):
    ceiling_per_s: Rate | None = None


class _Backlog(msgspec.Struct):
    backlog: Whole
    asked: Whole = 0


class _Again(msgspec.Struct):
    pass_number: Whole = 1
    rates_per_s: list[Rate] = []
    check: Whole = 1


class _Peak(msgspec.Struct):
    peak_per_s: Rate | None = None
    low_per_s: Rate = 0.0
    high_per_s: Rate | None = None
    pass_number: Whole = 1


class _Profile(msgspec.Struct):
    samples: Annotated[int, msgspec.Meta(ge=1, le=10**12)]
    seconds: Rate
    frames: Annotated[list[str], msgspec.Meta(max_length=200_000)]
    stacks: Annotated[list[Whole], msgspec.Meta(min_length=1, max_length=200_000)]
    x: Rate | None = None
    other: Whole = 0


class _Clients(msgspec.Struct):
    clients: list[str] = []


_DEEPEST = 1_000
"""Calls of a stack, several times what is recorded."""

_NOTES: dict[str, type[msgspec.Struct]] = {
    "ceiling": _Ceiling,
    "backlog": _Backlog,
    "again": _Again,
    "peak": _Peak,
    "profile": _Profile,
    "client-lost": _Clients,
    "client-back": _Clients,
}
"""The schema of notes, by topic."""


Packed: TypeAlias = list[tuple[PackedHistogram, int]]
"""Histograms that are still to be checked, each with the count of the percentiles beside it."""
AT_ONCE = 200
"""Many more at once no longer fit a processor's cache."""


def check(document: AnyDocument, packed: Packed | None = None) -> None:
    """Check a document; add its histograms to `packed`, for `are_sound`. None: check them, too.
    Raises msgspec.ValidationError, which names the place."""
    if type(document) is Window or type(document) is PointStop:
        for place, histogram, plain in _histograms(document):
            if packed is None or isinstance(histogram, list):
                _check_histogram(histogram, plain, place)
            else:
                packed.append((histogram, plain))
    # For most documents the types are sufficient.
    if check := _CHECKS.get(type(document)):
        check(document)


def are_sound(packed: Packed) -> bool:
    """Check many histograms at once, which is far faster; `check` says what is wrong with one."""
    try:
        return all(
            packing.totals([text for text, _ in few]) == [count for _, count in few]
            for few in (packed[n : n + AT_ONCE] for n in range(0, len(packed), AT_ONCE))
        )
    except ValueError:
        return False


def _check_note(note: Note) -> None:
    if note.data:
        check_free(note.data, "data")
        if shape := _NOTES.get(note.topic):
            check_shape(note.data, shape, "data")
        if note.topic == "profile":
            _check_stacks(note.data["stacks"], len(note.data["frames"]))


def _check_stacks(stacks: list[int], frames: int) -> None:
    """Of a profile; see `messages.notes.Profile`."""
    at = 0
    while at < len(stacks):
        count, depth = stacks[at : at + 2] if at + 1 < len(stacks) else (0, 0)
        calls = stacks[at + 2 : at + 2 + depth]
        whole = 0 < depth == len(calls) and depth <= _DEEPEST
        if not count or not whole or max(calls) >= frames:
            raise ValidationError("These are no stacks of those frames - at `$.data.stacks`")
        at += 2 + depth


def _check_start(start: RunStart) -> None:
    _check_time(start.started_utc)
    for n, machine in enumerate(start.machines):
        place = f"machines[{n}].facts"
        check_free(machine.facts, place)
        check_shape(machine.facts, _Facts, place)
    for n, server in enumerate(start.servers):
        check_free(server.gate, f"servers[{n}].gate")


def _check_time(utc: str) -> None:
    try:
        # In the first and the last year, some times cannot be expressed in other time zones.
        if not 1 < datetime.fromisoformat(utc).year < 9_999:
            raise ValueError
    except ValueError:
        raise ValidationError(
            "This is no date and time, such as 2026-11-09T14:12:03Z - at `$.started_utc`"
        ) from None


def _check_stop(stop: PointStop) -> None:
    check_free(stop.findings, "findings")


def _histograms(document: Window | PointStop) -> Iterator[tuple[str, Histogram, int]]:
    """Yield the place of each, and the count of the percentiles beside it."""
    inside: Window | PointStop | Histograms = document
    place = ""
    if isinstance(document, PointStop):
        inside, place = document.histograms, "histograms."
    for name in _TIMES[type(inside)]:
        if histogram := getattr(inside, name):
            plain = getattr(document, f"{name}_us")
            yield place + name, histogram, plain.count if plain else 0


def _check_histogram(histogram: Histogram, plain: int, place: str) -> None:
    if isinstance(histogram, str):
        try:
            [total] = packing.totals([histogram])
        except ValueError as error:
            raise ValidationError(f"This histogram {error} - at `$.{place}`") from None
        if total != plain:
            raise ValidationError(
                f"This histogram has {total:,} times, but the percentiles beside it {plain:,}"
                f" - at `$.{place}`"
            )
        return
    buckets = histogram[::2]
    if len(histogram) % 2 or buckets[-1] >= BUCKETS or buckets != sorted(buckets):
        raise ValidationError(
            f"This is no histogram of {BUCKETS:,} buckets, each with its count - at `$.{place}`"
        )


_TIMES = {Window: ("latency", "service"), Histograms: Histograms.__struct_fields__}

_CHECKS: dict[type, Callable[[Any], None]] = {
    PointStop: _check_stop,
    Note: _check_note,
    RunStart: _check_start,
}
