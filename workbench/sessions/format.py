"""The format of documents on disk: JSON that PyYAML reads in the same way, and the checks that
types cannot express, made once, when a document is read.

Drawing, counting and judging rely on these checks and do not repeat them. Keys not named here may
hold anything: a later version may know them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Annotated, Any, TypeAlias

import msgspec
import yaml
from msgspec import ValidationError, structs

from workbench.analysis import packing
from workbench.analysis.histogram import BUCKETS, all_packed, packed
from workbench.documents import (
    VERSION,
    AnyDocument,
    Histogram,
    Histograms,
    Note,
    PackedHistogram,
    PointStop,
    RunStart,
    Window,
)
from workbench.errors import PongbenchError
from workbench.presentable import presentable
from workbench.shapes import Rate, Whole, check_free, check_shape

HEADER = "# pongbench session"

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(AnyDocument)

# YAML 1.1 takes these for line breaks, byte order marks or invalid characters.
_AWKWARD = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_STRING_OR_EXPONENT = re.compile(rb'"(?:[^"\\]|\\.)*+"|-?[0-9]+(?:\.[0-9]+)?[eE][-+]?[0-9]+')
_EXPONENT = re.compile(rb"[0-9][eE][-+]?[0-9]")


UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""The errors raised by decoding."""


def decode(text: bytes | memoryview, packed: Packed | None = None) -> AnyDocument:
    """Return a checked and presentable document. `packed`: see `checked`. Raises `UNREADABLE`."""
    return checked(_decoder.decode(text), packed)


def checked(document: AnyDocument, packed: Packed | None = None) -> AnyDocument:
    """Return a document, checked and presentable; add its histograms to `packed`, for `are_sound`.
    None: check them, too. Raises msgspec.ValidationError, which names the place."""
    if type(document) is Window or type(document) is PointStop:
        for place, histogram, plain in _histograms(document):
            if packed is None or isinstance(histogram, list):
                _check_histogram(histogram, plain, place)
            else:
                packed.append((histogram, plain))
    # For most documents the types are sufficient.
    if check := _CHECKS.get(type(document)):
        check(document)
    # Most documents are windows without any text.
    if type(document) is Window and not (document.errors or document.values):
        return document
    return presentable(document)


def encode(document: AnyDocument) -> bytes:
    """Return one JSON object without a newline, safe to print and to put into a session.

    Raises PongbenchError for a document that would not be read back unchanged (with NaN, for
    example), which is a bug in this program.
    """
    back: AnyDocument | None
    try:
        # A round trip: integers where the document has floats get their decimal point.
        back = _decoder.decode(_encoder.encode(document))
    except UnicodeEncodeError:
        # Half a surrogate pair, for example from a file name, is not valid text.
        text = json.dumps(_plain(document), ensure_ascii=False)
        return encode(_decoder.decode(text.encode("utf-8", "replace")))
    except UNREADABLE:
        back = None
    if back is None or (back != document and _plain(back) != _plain(document)):
        raise PongbenchError(
            f"A {type(document).__name__} document holds a value that cannot be written,"
            " such as NaN; please report this as a bug in Pongbench."
        )
    if not isinstance(back, RunStart):
        return encode_data(back)
    # Defaults are omitted, but those of a later version will differ.
    data = _plain(back)
    return encode_data({"kind": data.pop("kind"), "v": back.v} | data)


def encode_data(data: object) -> bytes:
    """Return JSON that YAML readers read in the same way."""
    line = _encoder.encode(data)
    if not line.isascii() or b"\x7f" in line:
        line = _AWKWARD.sub(lambda m: f"\\u{ord(m[0]):04x}", line.decode()).encode()
    if _EXPONENT.search(line):
        line = _STRING_OR_EXPONENT.sub(lambda m: _with_dot(m[0]), line)
    return line


def compact(document: AnyDocument) -> AnyDocument:
    """Return a document of any earlier version as it is recorded today."""
    match document:
        case RunStart(v=version) if version < VERSION:
            recorded = document.recorded_v or version
            return structs.replace(document, v=VERSION, recorded_v=recorded)
        case Window():
            latency, service = document.latency, document.service
            return structs.replace(
                document, latency=packed(latency, coarse=True), service=packed(service, coarse=True)
            )
        case PointStop():
            return structs.replace(document, histograms=all_packed(document.histograms))
        case _:
            return document


def encode_line(document: AnyDocument) -> bytes:
    """Return a document as a line of a session, with its newline."""
    return b"--- " + encode(document) + b"\n"


def encode_start(start: RunStart) -> bytes:
    """Return the beginning of a session, including the `---` that completes it."""
    data = msgspec.json.decode(encode(start))
    block = yaml.dump(
        data,
        Dumper=_Dumper,
        allow_unicode=True,
        sort_keys=False,
        default_flow_style=None,
        width=100,
    )
    return f"{HEADER}\n---\n{block}".encode()


def _plain(document: AnyDocument) -> dict[str, Any]:
    data: dict[str, Any] = msgspec.to_builtins(document, str_keys=True)
    return data


def _with_dot(token: bytes) -> bytes:
    """Return 1e16 as 1.0e+16, because YAML 1.1 takes the first for text."""
    if token.startswith(b'"'):
        return token
    mantissa, exponent = re.split(rb"[eE]", token)
    dot = b"" if b"." in mantissa else b".0"
    sign = b"" if exponent[:1] in b"+-" else b"+"
    return mantissa + dot + b"e" + sign + exponent


class _Dumper(yaml.SafeDumper):
    """Quotes all but simple words, so that every reader takes them for text."""


def _text(dumper: _Dumper, text: str) -> yaml.Node:
    bare = re.fullmatch(r"[A-Za-z][\w./+-]*(?: [\w./+()-]+)*", text, re.ASCII)
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=None if bare else '"')


_Dumper.add_representer(str, _text)
# The same list twice is written twice: readers of small files refuse aliases.
_Dumper.ignore_aliases = lambda self, data: True  # type: ignore[method-assign]


class _Facts(msgspec.Struct):
    memory_bytes: Whole = 0
    sysctls: dict[str, str | int | float] = {}


_DEEPEST = 1_000
"""Calls of a stack, several times what is recorded."""

_FIELDS: dict[str, list[Any]] = {
    "ceiling": [("ceiling_per_s", Rate | None, None)],
    "backlog": [("backlog", Whole), ("asked", Whole, 0)],
    "resources": [
        ("processes", Whole, 1),
        ("cores", list[Whole], []),
        ("nofile", Whole, 0),
        ("asked_nofile", Whole, 0),
    ],
    "link": [("client", str, ""), ("segments", Whole, 0), ("resent", Whole, 0)],
    "again": [("pass_number", Whole, 1), ("rates_per_s", list[Rate], [])],
    "rates": [("values", list[Rate], [])],
    "peak": [
        ("peak_per_s", Rate | None, None),
        ("low_per_s", Rate, 0.0),
        ("high_per_s", Rate | None, None),
        ("pass_number", Whole, 1),
    ],
    "profile": [
        ("samples", Annotated[int, msgspec.Meta(ge=1, le=10**12)]),
        ("seconds", Rate),
        ("frames", Annotated[list[str], msgspec.Meta(max_length=200_000)]),
        ("stacks", Annotated[list[Whole], msgspec.Meta(min_length=1, max_length=200_000)]),
        ("x", Rate | None, None),
        ("other", Whole, 0),
    ],
    "client-lost": [("clients", list[str], [])],
    "client-back": [("clients", list[str], [])],
}
_NOTES = {topic: msgspec.defstruct(topic, fields) for topic, fields in _FIELDS.items()}
"""The schema of notes, by topic."""


Packed: TypeAlias = list[tuple[PackedHistogram, int]]
"""Histograms that are still to be checked, each with the count of the percentiles beside it."""
AT_ONCE = 200
"""Many more at once no longer fit a processor's cache."""


def are_sound(packed: Packed) -> bool:
    """Check many histograms at once, which is far faster; `checked` says what is wrong with one."""
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
    """Of a profile; see `messages.outcomes.Profile`."""
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
    PointStop: lambda stop: check_free(stop.findings, "findings"),
    Note: _check_note,
    RunStart: _check_start,
}
