"""Windows and samples on disk: those of some seconds in one record, each field with a list of its
values, with the one value that all have, or with the name of the field with the same values.

    --- {"kind":"windows","t_us":312100,"point":1,"index":[0,1],"due":[80,81],"sent":"due",
         "latency_us":{"count":"due"},...,"times":"eNp..."}

Named values, such as errors, have a list each, with null where a name is missing. `t_us` of
windows is when the one with index 0 began, from which their times follow (`_since_us`). Their
response times are in `times`, compressed together, but for the counts (`_times`).
"""

from __future__ import annotations

import binascii
import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import prod
from typing import Any, TypeAlias

import msgspec
import numpy as np
from msgspec import ValidationError
from msgspec.structs import force_setattr

from workbench.analysis import packing
from workbench.converting import convert
from workbench.documents import (
    WINDOW_US,
    AnyDocument,
    HostSample,
    Note,
    Percentiles,
    RunStart,
    Window,
)
from workbench.sessions.format import (
    Packed,
    checked,
    decode,
    encode,
    encode_data,
    encode_line,
    encode_start,
)

MOST = 100
"""Documents in a record."""
LONGEST_US = 10_000_000
"""Time in a record. A program that is killed loses no more of the point that was running."""

_KINDS: dict[str, type[Window] | type[HostSample]] = {"windows": Window, "host_samples": HostSample}
KINDS = frozenset(_KINDS)
_OPENINGS = tuple(f'{{"kind":"{kind}"'.encode() for kind in _KINDS)
_FIRST: dict[type, str] = {Window: "index", HostSample: "t_us"}
"""The field that always has a list."""
_TIMES = ("latency", "service")
_LARGEST_US = 10**15
_PERCENTILES = tuple(name for name in Percentiles.__struct_fields__ if name != "count")
_MOST_BYTES = MOST * len(_TIMES) * (2 + 4 * len(_PERCENTILES) + (1 << 12))

Record: TypeAlias = AnyDocument | list[AnyDocument]
"""What a line of a session says."""


class Lines:
    """Encodes documents for a file, in their order; windows and samples a little later."""

    def __init__(self) -> None:
        self._waiting: dict[type[AnyDocument], list[Any]] = {Window: [], HostSample: []}
        self._since_us: int | None = None

    def take(self, document: AnyDocument) -> bytes:
        """Return what is to be written now. Raises PongbenchError as `encode` does."""
        if isinstance(document, RunStart):
            return encode_start(document)
        if isinstance(document, Note):
            return encode_line(document)
        if not isinstance(document, Window | HostSample):
            return self.rest() + encode_line(document)
        encode(document)
        waiting = self._waiting[type(document)]
        waiting.append(document)
        if self._since_us is None:
            self._since_us = document.t_us
        whole = len(waiting) == MOST or document.t_us - self._since_us >= LONGEST_US
        return self.rest() if whole else b""

    def rest(self) -> bytes:
        """Return what was not written yet."""
        written = b"".join(_encoded(each) for each in self._waiting.values() if each)
        self._waiting = {kind: [] for kind in self._waiting}
        self._since_us = None
        return written


def encode_all(documents: Iterable[AnyDocument]) -> Iterator[bytes]:
    """Yield a session's file in parts."""
    lines = Lines()
    for document in documents:
        yield lines.take(document)
    yield lines.rest()


def decode_line(text: bytes | memoryview, packed: Packed | None = None) -> Record:
    """Return what a line says, without its `---`. Raises `UNREADABLE`."""
    if not bytes(text[:24]).startswith(_OPENINGS):
        return decode(text, packed)
    return from_columns(msgspec.json.decode(text), packed)


def from_columns(data: dict[str, Any], packed: Packed | None = None) -> list[AnyDocument]:
    """Return the documents of a record. Raises msgspec.ValidationError."""
    kind = _KINDS[data["kind"]]
    first = _FIRST[kind]
    if not isinstance(data.get(first), list) or not 0 < len(data[first]) <= MOST:
        raise ValidationError(f"This is no list of up to {MOST} values - at `$.{first}`")
    values: dict[str, list[Any]] = {first: data[first]}
    for name in kind.__struct_fields__:
        if name in data:
            values[name] = _values(data[name], values, name)
    if kind is Window and "times" in data:
        values |= _split(data["times"], values)
    rows = (zip(values, row, strict=True) for row in zip(*values.values(), strict=True))
    plain = [{name: value for name, value in row if value is not None} for row in rows]
    documents: list[AnyDocument] = convert(plain, list[kind])  # type: ignore[valid-type]
    for each in documents:
        if isinstance(each, Window):
            t_us = each.t_us + _since_us(each)
            if abs(t_us) > _LARGEST_US:
                raise ValidationError("These times are too large - at `$.t_us`")
            force_setattr(each, "t_us", t_us)
    return [checked(document, packed) for document in documents]


def _since_us(window: Window) -> int:
    """Return when it began, after the one with index 0."""
    return (window.index + 1) * WINDOW_US - window.length_us


def _values(column: object, before: Mapping[str, list[Any]], name: str) -> list[Any]:
    """Return the values of a field. `before`: those of fields before it."""
    if not isinstance(column, dict):
        if isinstance(column, list) or (isinstance(column, str) and column in before):
            return _listed(column, before, name)
        return [column] * _count(before)
    columns = [_listed(each, before, f"{name}.{key}") for key, each in column.items()]
    rows = (zip(column, row, strict=True) for row in zip(*columns, strict=True))
    found = [{key: value for key, value in row if value is not None} or None for row in rows]
    return found or [None] * _count(before)


def _listed(column: object, before: Mapping[str, list[Any]], place: str) -> list[Any]:
    if isinstance(column, str):
        column = before.get(column)
    if not isinstance(column, list) or len(column) != _count(before):
        raise ValidationError(f"This is no list of {_count(before)} values - at `$.{place}`")
    return column


def _count(values: Mapping[str, list[Any]]) -> int:
    return len(next(iter(values.values())))


def _times(rows: Sequence[dict[str, Any]]) -> str:
    """Take response times out of windows, all but their counts, and return them as text.

    It is base64 of what zlib makes of little-endian numbers without sign: the sizes of the encoded
    histograms, latencies before service times, in 16 bits; in 32 bits the percentiles in the same
    order, p50 of all windows, then what p90 is more, and so on to the largest time, but the lowest
    bytes of all before the next ones; and then the histograms. Raises ValueError.
    """
    packed = [packing.unmarked(row.pop(name, "")) for name in _TIMES for row in rows]
    known = [[row.get(f"{name}_us") or {} for row in rows] for name in _TIMES]
    largest = np.array(
        [[[each.pop(p, 0) for each in of] for p in _PERCENTILES] for of in known], np.int64
    )
    more = np.diff(largest, axis=1, prepend=0)
    if more.min() < 0 or more.max() >= 1 << 32:
        raise ValueError("percentiles that do not ascend")
    octets = more.astype("<u4").reshape(-1, 1).view(np.uint8).T.tobytes()
    sizes = struct.pack(f"<{len(packed)}H", *map(len, packed))
    whole = packing.deflated(sizes + octets + b"".join(packed))
    return binascii.b2a_base64(whole, newline=False).decode()


def _split(text: object, values: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
    """Return the fields that `_times` took out."""
    count, inflate = _count(values), zlib.decompressobj()
    try:
        content = inflate.decompress(binascii.a2b_base64(str(text), strict_mode=True), _MOST_BYTES)
        sizes = struct.unpack_from(f"<{len(_TIMES) * count}H", content)
    except (ValueError, zlib.error, struct.error):
        raise ValidationError("These response times are damaged - at `$.times`") from None
    shape = len(_TIMES), len(_PERCENTILES), count
    begin = 2 * len(sizes)
    at = begin + 4 * prod(shape)
    if not inflate.eof or at + sum(sizes) != len(content):
        raise ValidationError("These response times are cut off - at `$.times`")
    octets = np.frombuffer(content[begin:at], np.uint8).reshape(4, -1)
    more = np.ascontiguousarray(octets.T).view("<u4").reshape(shape)
    found: dict[str, list[Any]] = {}
    for name, ascending in zip(_TIMES, np.cumsum(more, axis=1, dtype=np.int64), strict=True):
        for part, times in zip(values.get(f"{name}_us", []), ascending.T.tolist(), strict=False):
            if isinstance(part, dict):
                part.update(zip(_PERCENTILES, times, strict=True))
        found[name] = []
        for size in sizes[:count] if name == _TIMES[0] else sizes[count:]:
            found[name].append(packing.marked(content[at : at + size]))
            at += size
    return found


def _encoded(documents: Sequence[AnyDocument]) -> bytes:
    """Return them in one record; where that would not say the same, in one each."""
    try:
        data = _columns(documents)
        if from_columns(data) == documents:
            return b"--- " + encode_data(data) + b"\n"
    except (ValueError, TypeError):
        pass
    return b"".join(map(encode_line, documents))


def _columns(documents: Sequence[AnyDocument]) -> dict[str, Any]:
    """Raises ValueError or TypeError for histograms in another form."""
    kind = next(name for name, each in _KINDS.items() if isinstance(documents[0], each))
    rows = [msgspec.to_builtins(document) for document in documents]
    times = {"times": _times(rows)} if kind == "windows" else {}
    for document, row in zip(documents, rows, strict=True):
        if isinstance(document, Window):
            row["t_us"] -= _since_us(document)
    first = _FIRST[_KINDS[kind]]
    known = {first: [row[first] for row in rows]}
    data: dict[str, Any] = {"kind": kind, **known}
    for name in _KINDS[kind].__struct_fields__:
        values = [row.get(name) for row in rows]
        if name == first or all(value is None for value in values):
            continue
        keys = dict.fromkeys(key for each in values if isinstance(each, dict) for key in each)
        if keys:
            data[name] = {
                key: _named([each.get(key) if each else None for each in values], known)
                for key in keys
            }
        elif all(value == values[0] for value in values):
            data[name], known[name] = values[0], values
        else:
            data[name] = _named(values, known)
            known.setdefault(name, values)
    return data | times


def _named(values: list[Any], before: Mapping[str, list[Any]]) -> list[Any] | str:
    return next((name for name, each in before.items() if each == values), values)
