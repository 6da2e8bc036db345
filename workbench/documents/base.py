"""What all documents and their parts are made of."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import msgspec
from msgspec import Meta

from workbench.shapes import Whole

WINDOW_US = 200_000
"""Length of a window."""

OUR_AGENT = "agent"
"""Name of our own load tool in plans and points."""

Errors: TypeAlias = dict[str, Whole]
"""Calls lost, by error class; see `errors.ERROR_CLASSES`. Absent classes are zero."""

SparseHistogram: TypeAlias = list[Annotated[int, Meta(ge=0, le=10**10)]]
"""[bucket, count, bucket, count, ...], buckets ascending; see `analysis.histogram`."""

PackedHistogram: TypeAlias = Annotated[str, Meta(max_length=1 << 20)]
"""A histogram as text; empty: no times. See `analysis.packing`."""

Histogram: TypeAlias = PackedHistogram | SparseHistogram
"""As documents have it: packed, up to version 6 sparse. Functions of `analysis.histogram` take
both, so that a packed one is unpacked only when somebody looks."""


class Document(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", omit_defaults=True):
    """Base of all documents."""


class Percentiles(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """Percentiles of a time in microseconds, over `count` values."""

    count: Whole
    p50: Whole
    p90: Whole
    p99: Whole
    p999: Whole
    max: Whole
