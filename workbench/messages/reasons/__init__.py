"""Reasons for a point's verdict, and remarks on it.

What a client reports (`ClientGone`, `AgentProblem`) is quoted; everything else is a figure.
"""

from __future__ import annotations

from collections.abc import Sequence

from workbench.documents import PointStop
from workbench.messages.base import Message, Record, kinds, read
from workbench.messages.causes import Cause
from workbench.messages.limits import Limit
from workbench.messages.reasons.clients import (
    BackgroundLoad,
    BackgroundLoadAtCalibration,
    BeyondClientLimit,
    CallsUnsent,
    ClientBusy,
    ClientsLate,
    NoClientLimit,
    OfferedLess,
    OutOfDescriptors,
    OutOfPorts,
    Relief,
)
from workbench.messages.reasons.network import (
    ClientSlower,
    LossyLink,
    NotEstablished,
    ResetsFromElsewhere,
    SlowConnections,
    SustainedOverLossyLink,
    Unreachable,
)
from workbench.messages.reasons.points import (
    AgentProblem,
    AuditFailed,
    ClientAuditFailed,
    ClientGone,
    ComputerSlept,
    Interrupted,
    LoadWentElsewhere,
    NoSingleCause,
    PointOverdue,
    RecordingCut,
    TargetLost,
    TargetSilent,
    TooFewCalls,
    ToolFailed,
    ToolInterrupted,
    TooLittleWork,
    TooShort,
    WindowsLost,
)
from workbench.messages.reasons.reason import Reason
from workbench.messages.reasons.remarks import (
    ClientLimitedTimes,
    LatencyIncludesLateness,
    ResponseTimesRose,
    SustainedUnderBackgroundLoad,
    SustainedWithOverflows,
    TooShortForQueue,
)
from workbench.messages.reasons.servers import (
    LONGEST_EXAMPLE,
    AcceptQueueOverflowed,
    CallsFailed,
    FellBehind,
    ServerEnded,
    UnexpectedReplies,
)

REASONS: dict[str, type[Message]] = {**kinds(Reason), **kinds(Cause), **kinds(Limit)}
"""By code."""


def reasons_of(stop: PointStop) -> list[Message]:
    """The reasons of a recorded point; `Recorded` where the code is missing or of a later
    version."""
    findings: Sequence[Record] = stop.findings
    if len(findings) != len(stop.reasons):
        findings = [{}] * len(stop.reasons)
    return [
        read(REASONS, finding.get("code"), finding, sentence)
        for finding, sentence in zip(findings, stop.reasons, strict=True)
    ]


__all__ = [
    "LONGEST_EXAMPLE",
    "REASONS",
    "AcceptQueueOverflowed",
    "AgentProblem",
    "AuditFailed",
    "BackgroundLoad",
    "BackgroundLoadAtCalibration",
    "BeyondClientLimit",
    "CallsFailed",
    "CallsUnsent",
    "ClientAuditFailed",
    "ClientBusy",
    "ClientGone",
    "ClientLimitedTimes",
    "ClientSlower",
    "ClientsLate",
    "ComputerSlept",
    "FellBehind",
    "Interrupted",
    "LatencyIncludesLateness",
    "LoadWentElsewhere",
    "LossyLink",
    "NoClientLimit",
    "NoSingleCause",
    "NotEstablished",
    "OfferedLess",
    "OutOfDescriptors",
    "OutOfPorts",
    "PointOverdue",
    "Reason",
    "RecordingCut",
    "Relief",
    "ResetsFromElsewhere",
    "ResponseTimesRose",
    "ServerEnded",
    "SlowConnections",
    "SustainedOverLossyLink",
    "SustainedUnderBackgroundLoad",
    "SustainedWithOverflows",
    "TargetLost",
    "TargetSilent",
    "TooFewCalls",
    "TooLittleWork",
    "TooShort",
    "TooShortForQueue",
    "ToolFailed",
    "ToolInterrupted",
    "UnexpectedReplies",
    "Unreachable",
    "WindowsLost",
    "reasons_of",
]
