"""Events of a runner, as `runner.py` defines them: JSON, distinguished by "ev"."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import msgspec

from workbench.machines.wire import Count, Folder, Text, Version

Key: TypeAlias = Annotated[str, msgspec.Meta(max_length=32)]
Status: TypeAlias = Annotated[int, msgspec.Meta(ge=-255, le=255)]
Core: TypeAlias = Annotated[int, msgspec.Meta(ge=0, lt=1 << 16)]


class Event(msgspec.Struct, frozen=True, tag_field="ev", tag=str.lower):
    """Base of all events."""


class Ready(Event, frozen=True):
    """It runs; what it says about itself."""

    run: Folder
    """The run's directory."""
    python: Folder
    version: Version
    """Of that Python."""
    cpus: Annotated[list[Core], msgspec.Meta(min_length=1, max_length=1 << 16)]
    """That it may use, ascending."""
    pid: Count = 0
    boot: Text = ""
    beside: Annotated[list[Text], msgspec.Meta(max_length=10)] = []
    """Processes that hold runs of other users, by its kernel's word."""


class Busy(Event, frozen=True):
    """A run of its user's or root's is on the machine."""

    holder: str
    """What it says of itself."""
    there: str = ""
    """The process that holds the machine, by its kernel's word."""


class Fatal(Event, frozen=True):
    error: str


class Started(Event, frozen=True):
    id: Key
    pid: Count


class Failed(Event, frozen=True):
    id: Key
    error: str


class Exit(Event, frozen=True):
    id: Key
    status: Status
    """Negative: the signal."""


class Eof(Event, frozen=True):
    """Its output is closed."""

    id: Key


class Stopped(Event, frozen=True):
    id: Key
    left: Count
    """Processes that resisted."""


class Dropped(Event, frozen=True):
    id: Key
    lines: Count


class Read(Event, frozen=True):
    n: Key
    texts: list[str | None]


class Pong(Event, frozen=True):
    n: Key
    monotonic_us: Count


class End(Event, frozen=True):
    why: str
    left: Count
    code: Literal["", "lease-expired", "time-limit"] = ""


OfProcess: TypeAlias = Exit | Eof | Stopped | Dropped

DECODER: msgspec.json.Decoder[
    Ready | Busy | Fatal | Started | Failed | OfProcess | Read | Pong | End
] = msgspec.json.Decoder(Ready | Busy | Fatal | Started | Failed | OfProcess | Read | Pong | End)
