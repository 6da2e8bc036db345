"""Events of a runner, as `runner` defines them: JSON, distinguished by "ev"."""

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
    """The runner is ready; what it reports about itself."""

    run: Folder
    """The run's directory."""
    python: Folder
    version: Version
    """The version of that Python."""
    cpus: Annotated[list[Core], msgspec.Meta(min_length=1, max_length=1 << 16)]
    """The cores it may use, ascending."""
    pid: Count = 0
    boot: Text = ""
    beside: Annotated[list[Text], msgspec.Meta(max_length=10)] = []
    """Processes that hold runs of other users, according to the kernel."""


class Busy(Event, frozen=True):
    """A run of the same user or of root is on the machine."""

    holder: str
    """What that run reports about itself."""
    there: str = ""
    """The process that holds the machine, according to the kernel."""


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
    """Negative: the signal that ended it."""


class Eof(Event, frozen=True):
    """A program closed its output."""

    id: Key


class Stopped(Event, frozen=True):
    id: Key
    left: Count
    """Processes that survived SIGKILL."""


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
