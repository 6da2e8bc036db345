"""Histograms as text: HdrHistogram's own V2 encoding, compressed, in base64, which its tools read.

The buckets of `analysis.histogram` are HdrHistogram's with three significant digits, from 1 to
`LARGEST_US`, and those of coarse histograms its with one, so every bucket is restored exactly.
See `encodeIntoCompressedByteBuffer` in HdrHistogram's `AbstractHistogram`.

A coarse one is `MARK` and that encoding's counts alone, neither compressed nor with its headers:
those of several windows are compressed together (`sessions.columns`).
"""

from __future__ import annotations

import binascii
import struct
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.documents import PackedHistogram

LARGEST_US = 600_000_000
FINE, COARSE = 3, 1
"""Significant digits."""
MARK = "."

_BITS = {FINE: 11, COARSE: 5}
"""Times of so many bits have a bucket of their own."""
_BUCKETS = {
    digits: ((octaves := LARGEST_US.bit_length() - bits) << (bits - 1))
    + (LARGEST_US >> octaves)
    + 1
    for digits, bits in _BITS.items()
}
_HEADER, _ENVELOPE = struct.Struct(">iiiiqqd"), struct.Struct(">ii")
_COOKIE, _COMPRESSED_COOKIE = 0x1C849313, 0x1C849314
_NUMBER_BYTES = 5
"""Of the largest count of a document."""
_MOST_BYTES = _HEADER.size + 2 * _NUMBER_BYTES * _BUCKETS[FINE]
_TOO_MANY = "has too many buckets"


def pack(buckets: NDArray[np.int64], counts: NDArray[np.int64], digits: int) -> PackedHistogram:
    """Return the counts of ascending buckets, each at least 1, as text; empty: there are none."""
    if not len(buckets):
        return ""
    empty = np.diff(buckets, prepend=-1) - 1
    # A run of empty buckets is a negative number; of each number the sign comes last.
    numbers = np.column_stack((2 * empty - 1, 2 * counts)).ravel()
    numbers = np.delete(numbers, 2 * np.flatnonzero(empty == 0))
    places = 7 * np.arange(_NUMBER_BYTES)
    left = numbers[:, None] >> places
    octets = (left & 127) | np.where(left > 127, 128, 0)
    payload = octets[(left > 0) | (places == 0)].astype(np.uint8).tobytes()
    if digits == COARSE:
        return marked(payload)
    header = _HEADER.pack(_COOKIE, len(payload), 0, digits, 1, LARGEST_US, 1.0)
    compressed = deflated(header + payload)
    whole = _ENVELOPE.pack(_COMPRESSED_COOKIE, len(compressed)) + compressed
    return binascii.b2a_base64(whole, newline=False).decode()


def deflated(data: bytes) -> bytes:
    """Compress counts: as they hardly repeat, in 5 % less than with zlib's usual strategy."""
    by = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS, 9, zlib.Z_FILTERED)
    return by.compress(data) + by.flush()


def marked(payload: bytes) -> PackedHistogram:
    return MARK + binascii.b2a_base64(payload, newline=False).decode() if payload else ""


def unmarked(text: PackedHistogram) -> bytes:
    """Return what `marked` was given. Raises ValueError for any other text."""
    if text and not text.startswith(MARK):
        raise ValueError("is not coarse")
    return binascii.a2b_base64(text[len(MARK) :], strict_mode=True)


def unpack(text: PackedHistogram) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Return the buckets, ascending, their counts, and the significant digits. Raises ValueError,
    with the rest of a sentence about the histogram."""
    digits, payload = _payload(text)
    counts, covered, _ = _numbers([payload])
    after = np.cumsum(covered, dtype=np.int64)
    if after[-1] > _BUCKETS[digits]:
        raise ValueError(_TOO_MANY)
    filled = counts > 0
    return after[filled] - 1, counts[filled].astype(np.int64), digits


def totals(texts: Sequence[PackedHistogram]) -> list[int]:
    """Check texts, and return the sums of their counts. Raises ValueError as `unpack` does.

    The histograms of a window are a few dozen bytes each, which takes many at once a tenth of the
    time.
    """
    digits, payloads = zip(*map(_payload, texts), strict=True)
    counts, covered, first = _numbers(payloads)
    ends = np.add.reduceat(covered, first, dtype=np.int64)
    if (ends > [_BUCKETS[each] for each in digits]).any():
        raise ValueError(_TOO_MANY)
    found: list[int] = np.add.reduceat(counts, first, dtype=np.int64).tolist()
    return found


def _numbers(
    payloads: Sequence[bytes],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return of every number its count, 0 for empty buckets, and how many buckets it is about; and
    where the numbers of each payload begin. Raises ValueError."""
    octets = np.frombuffer(b"".join(payloads), np.uint8)
    ends = np.flatnonzero(octets < 128)
    upto = np.cumsum([len(payload) for payload in payloads])
    first = np.searchsorted(ends, np.concatenate(([0], upto[:-1])))
    sizes = np.diff(ends, prepend=-1)
    longest = int(sizes.max(initial=1))
    if not all(payloads) or (octets[upto - 1] > 127).any() or longest > _NUMBER_BYTES:
        raise ValueError("has counts that cannot be read")
    wide = np.int32 if longest < _NUMBER_BYTES else np.int64
    numbers: NDArray[Any] = octets[ends].astype(wide)
    for back in range(1, longest):
        more = np.flatnonzero(sizes > back)
        numbers[more] = (numbers[more] << 7) | (octets[ends[more] - back] & 127)
    half, empty = numbers >> 1, numbers & 1
    return half * (1 - empty), half * empty + 1, first


def _payload(text: PackedHistogram) -> tuple[int, bytes]:
    """Return the significant digits and the numbers. Raises ValueError."""
    if text.startswith(MARK):
        try:
            return COARSE, unmarked(text)
        except ValueError:
            raise ValueError("is not in base64") from None
    inflate = zlib.decompressobj()
    try:
        whole = binascii.a2b_base64(text, strict_mode=True)
        envelope = _ENVELOPE.unpack_from(whole)
        content = inflate.decompress(whole[_ENVELOPE.size :], _MOST_BYTES)
        header = _HEADER.unpack_from(content)
    except zlib.error:
        raise ValueError("is damaged: its checksum does not fit") from None
    except (ValueError, struct.error):
        raise ValueError("is no HdrHistogram in base64") from None
    if not inflate.eof:
        raise ValueError("is cut off or too large")
    size = len(content) - _HEADER.size
    known = header[3] in _BITS and header == (_COOKIE, size, 0, header[3], 1, LARGEST_US, 1.0)
    if envelope != (_COMPRESSED_COOKIE, len(whole) - _ENVELOPE.size) or not known:
        raise ValueError("is no HdrHistogram of this range")
    return header[3], content[_HEADER.size :]
