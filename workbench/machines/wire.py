"""Input from a machine: lines of bounded length, messages of a known schema. None of it is trusted:
whatever our programs do not send raises `InvalidMessage`."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias, TypeVar

import msgspec

T = TypeVar("T")

LONGEST_LINE = 4 << 20
"""Longest line of a runner: its own events, and program output, which it cuts at 1 MiB."""
LONGEST_MESSAGE = 5 << 18
"""Longest line of one of our programs under a runner."""
MOST_NOISE = 1000
"""The most lines that may be no messages, such as a traceback or the lecture of sudo."""
LONGEST_QUOTE = 300
"""The most characters of a machine's output that a sentence quotes."""

Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=1 << 53)]
Text: TypeAlias = Annotated[str, msgspec.Meta(max_length=4096)]
Word: TypeAlias = Annotated[str, msgspec.Meta(pattern=r"^[^\s\x00-\x1f]{0,255}$")]
Version: TypeAlias = Annotated[str, msgspec.Meta(pattern=r"^[0-9]{1,4}(\.[0-9]{1,4}){1,3}$")]
Folder: TypeAlias = Annotated[str, msgspec.Meta(pattern=r"^/[^\x00-\x1f]*$", max_length=4096)]
"""An absolute path there."""


class InvalidMessage(Exception):
    """A message that none of our programs sends; the text says what is wrong with it."""


def decode(decoder: msgspec.json.Decoder[T], line: bytes, longest: int = LONGEST_MESSAGE) -> T:
    if len(line) > longest:
        raise InvalidMessage(f"a message of {len(line):,} bytes")
    try:
        return decoder.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidMessage(quoted(str(error))) from None


def quoted(text: str) -> str:
    """Return output of a machine on one line, shortened, to be quoted in a sentence."""
    line = " ".join(text[: 4 * LONGEST_QUOTE].split())
    return line if len(line) <= LONGEST_QUOTE else f"{line[:LONGEST_QUOTE]}…"


Key: TypeAlias = Annotated[str, msgspec.Meta(max_length=32)]
Status: TypeAlias = Annotated[int, msgspec.Meta(ge=-255, le=255)]
Core: TypeAlias = Annotated[int, msgspec.Meta(ge=0, lt=1 << 16)]


class Event(msgspec.Struct, frozen=True, tag_field="ev", tag=str.lower):
    """Base of all events: JSON, distinguished by "ev"."""


class Ready(Event, frozen=True):
    """The runner is ready; what it reports about itself."""

    run: Folder
    python: Folder
    version: Version
    cpus: Annotated[list[Core], msgspec.Meta(min_length=1, max_length=1 << 16)]
    """The cores it may use, ascending."""
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
