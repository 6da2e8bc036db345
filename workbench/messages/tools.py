"""What verdicts could not check with a load tool, and why two of them differ."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, TypeAlias

from workbench.messages.base import Message, Stated, Templates

Unchecked: TypeAlias = Literal[
    "schedule", "queue", "client-cpu", "background-load", "conservation", "replies"
]


class NotChecked(Message):
    tool: str
    what: list[Unchecked]
    checks: ClassVar[dict[Unchecked, str]] = {
        "schedule": "the schedule (calls started late)",
        "queue": "a growing queue",
        "client-cpu": "how busy the clients were",
        "background-load": "background load",
        "conservation": "that every call is accounted for",
        "replies": "replies against the expected one",
    }
    template = "Could not be checked with {tool}: {what:checks}."


DIFFERENCES = Templates("""
offers-other-load:
    schedule: {tool} offered {offered_per_s:rate}/s, {other} {other_per_s:rate}/s
counts-to-the-end:
    schedule: {tool} counts until its last timeout
leaves-connect-out:
    connect: times of {tool} begin with the request
keeps-connections:
    keep-alive: {tool} does not replace connections
speaks-http1:
    protocol: {tool} speaks HTTP/1.1
resolves:
    resolution of {tool}: {resolution_us:duration}
delays-itself:
    delays within {tool}, which are in its times
omits-stalls:
    coordinated omission: from the scheduled time p99 is {latency_p99_us:duration} ({timed_by}),
    which {tool} does not measure{service_p99_us:?}
""")
"""Why two load tools report different figures of the same point."""


def differs(code: str, **parameters: Any) -> Stated:
    return DIFFERENCES.stated(code, parameters)
