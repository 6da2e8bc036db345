"""The documents of a session: emitted by the engine, recorded, replayed, drawn, judged.

Every time is in integer microseconds on the session's monotonic axis, which begins at 0 when
`RunStart` is emitted; the calendar appears once, in `RunStart.started_utc`. A session is exactly
one `RunStart`, then points (`PointStart`, `Window`..., `PointStop`) with `HostSample` and `Note`
in between, then one `RunStop`. Points never overlap.
"""

from typing import TypeAlias

from workbench.documents.base import (
    OUR_AGENT,
    WINDOW_US,
    Document,
    Errors,
    Histogram,
    PackedHistogram,
    Percentiles,
    SparseHistogram,
)
from workbench.documents.beside import HostSample, Note
from workbench.documents.errors import (
    ERROR_CLASSES,
    SERVER_ERRORS,
    client_errors,
    error_class,
    server_errors,
    timed_out,
)
from workbench.documents.point import (
    JUDGED,
    NOT_RECORDED,
    ClientPart,
    Counts,
    Histograms,
    Phase,
    PointStart,
    PointStop,
    Purpose,
    Verdict,
    Window,
)
from workbench.documents.run import (
    VERSION,
    Block,
    MachineRecord,
    Metric,
    RunStart,
    RunStop,
    SeriesRecord,
    ServerRecord,
    Status,
)

AnyDocument: TypeAlias = RunStart | PointStart | Window | HostSample | PointStop | Note | RunStop

__all__ = [
    "ERROR_CLASSES",
    "JUDGED",
    "NOT_RECORDED",
    "OUR_AGENT",
    "SERVER_ERRORS",
    "VERSION",
    "WINDOW_US",
    "AnyDocument",
    "Block",
    "ClientPart",
    "Counts",
    "Document",
    "Errors",
    "Histogram",
    "Histograms",
    "HostSample",
    "MachineRecord",
    "Metric",
    "Note",
    "PackedHistogram",
    "Percentiles",
    "Phase",
    "PointStart",
    "PointStop",
    "Purpose",
    "RunStart",
    "RunStop",
    "SeriesRecord",
    "ServerRecord",
    "SparseHistogram",
    "Status",
    "Verdict",
    "Window",
    "client_errors",
    "error_class",
    "server_errors",
    "timed_out",
]
