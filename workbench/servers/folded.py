"""What profilers write, as folded stacks: how often each stack of calls was seen.

A stack is the names of its functions from the outermost call to the innermost. All functions are
pure and skip what they do not understand: what they read comes from another machine.
"""

from __future__ import annotations

import gzip
import io
import re
import zlib
from collections import Counter
from collections.abc import Iterator
from typing import Annotated, TypeAlias

import msgspec

Stacks: TypeAlias = Counter[tuple[str, ...]]

DEEPEST = 128
"""Calls of a stack; of deeper ones the innermost are left out."""

MOST_BYTES = 64 << 20
"""Of a compressed profile, unpacked."""

NATIVE = "(native code)"
"""Of a process of Python that runs no function of Python, such as an event loop in C."""

_PROCESS = re.compile(r'process \d+:".*')


def py_spy(text: str) -> Stacks:
    """`py-spy record --format raw --nolineno`: "main (a.py);work (b.py) 12". Processes are added
    up."""
    found: Stacks = Counter()
    for line in text.splitlines():
        stack, _, count = line.rpartition(" ")
        if not (count.isascii() and count.isdigit()):
            continue
        # A command may hold a semicolon, so it ends with its quote.
        if _PROCESS.match(stack):
            _, quote, stack = stack.rpartition('";')
            stack = stack if quote else NATIVE
        _add(found, stack.split(";"), int(count))
    return found


def perf(text: str) -> Stacks:
    """`perf script -F comm,ip,sym,dso`: a command, then a line a call, the innermost first."""
    found: Stacks = Counter()
    frames: list[str] = []
    for line in [*text.splitlines(), ""]:
        if line.startswith(("\t", " ")):
            frames.append(_called(line))
        elif not line.strip():
            _add(found, frames[::-1], 1)
            frames = []
        else:
            frames = []
    return found


def _called(line: str) -> str:
    """ "burn (burn)" of "  116e burn+0x1e (/tmp/burn)"; of no known function its library alone."""
    _, _, rest = line.strip().partition(" ")
    name, _, library = rest.rpartition(" (")
    library = library.removesuffix(")").rpartition("/")[2]
    if library.startswith("[kernel"):
        library = "kernel"
    return f"[{library.strip('[]')}]" if name == "[unknown]" else f"{name} ({library})"


class _Frame(msgspec.Struct):
    functionName: str = ""
    url: str = ""
    lineNumber: int = -1


class _Node(msgspec.Struct):
    id: int
    callFrame: _Frame
    hitCount: Annotated[int, msgspec.Meta(ge=0)] = 0
    children: list[int] = []


class _CpuProfile(msgspec.Struct):
    nodes: list[_Node]


_NOT_BUSY = ("(root)", "(idle)")


def cpuprofile(data: bytes) -> Stacks:
    """V8's `.cpuprofile`. Raises msgspec.MsgspecError for anything else."""
    profile = msgspec.json.decode(data, type=_CpuProfile)
    by_id = {node.id: node for node in profile.nodes}
    parents = {child: node.id for node in profile.nodes for child in node.children}
    found: Stacks = Counter()
    for node in profile.nodes:
        if not node.hitCount or node.callFrame.functionName in _NOT_BUSY:
            continue
        frames: list[str] = []
        at: int | None = node.id
        # A file that is not V8's may go round in a circle.
        while at in by_id and len(frames) < 10_000:
            frames.append(_in_file(by_id[at].callFrame))
            at = parents.get(at)
        _add(found, [name for name in frames[::-1] if name != "(root)"], node.hitCount)
    return found


def _in_file(frame: _Frame) -> str:
    name = frame.functionName or "(anonymous)"
    file = frame.url.rpartition("/")[2]
    # Functions without a name are told apart by their line.
    line = f":{frame.lineNumber + 1}" if file and not frame.functionName else ""
    return f"{name} ({file}{line})" if file else name


_SAMPLED = re.compile(r"startTime = (\d\d):(\d\d):(\d\d)[.,](\d{3})")
_METHOD = re.compile(r"([^\s(]+)\(.*\)\s+line: ")
_DAY_S = 86_400.0


def flight_recording(text: str, from_s: float, to_s: float) -> Stacks:
    """`jfr print --events jdk.ExecutionSample` in UTC, of samples taken between two times since
    1970."""
    found: Stacks = Counter()
    frames: list[str] | None = None
    begin = from_s % _DAY_S
    for line in text.splitlines():
        words = line.strip()
        if sampled := _SAMPLED.match(words):
            hours, minutes, seconds, ms = map(int, sampled.groups())
            at = hours * 3600 + minutes * 60 + seconds + ms / 1000
            # It may have become midnight since.
            frames = [] if (at - begin) % _DAY_S <= to_s - from_s else None
        elif words == "}" and frames is not None:
            _add(found, frames[::-1], 1)
            frames = None
        elif frames is not None and (method := _METHOD.match(words)):
            frames.append(_short(method[1]))
    return found


def _short(method: str) -> str:
    """ "Pong.handle (com.example)" of "com.example.Pong.handle"."""
    package, _, name = method.rpartition(".")
    package, _, owner = package.rpartition(".")
    called = f"{owner}.{name}" if owner else name
    return f"{called} ({package})" if package else called


def pprof(data: bytes) -> Stacks:
    """Go's CPU profile, a gzipped message of `profile.proto`
    (https://github.com/google/pprof/blob/main/proto/profile.proto). Raises ValueError for anything
    else."""
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            message = file.read(MOST_BYTES)
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(str(error)) from None
    strings: list[str] = []
    functions: dict[int, int] = {}
    locations: dict[int, list[int]] = {}
    samples: list[bytes] = []
    for number, value in _fields(message):
        if number == 2 and isinstance(value, bytes):
            samples.append(value)
        elif number == 4 and isinstance(value, bytes):
            key, lines = _location(value)
            locations[key] = lines
        elif number == 5 and isinstance(value, bytes):
            fields = dict(_fields(value))
            functions[_whole(fields.get(1))] = _whole(fields.get(2))
        elif number == 6 and isinstance(value, bytes):
            strings.append(value.decode("utf-8", "replace"))

    def name(function: int) -> str:
        at = functions.get(function, 0)
        return _of_go(strings[at]) if 0 < at < len(strings) else "?"

    found: Stacks = Counter()
    for sample in samples:
        places, values = _numbers(sample, 1), _numbers(sample, 2)
        called = [name(f) for place in places for f in locations.get(place, [])]
        _add(found, called[::-1], values[0] if values else 0)
    return found


def _of_go(function: str) -> str:
    """ "http.(*conn).serve (net)" of "net/http.(*conn).serve"."""
    package, _, name = function.rpartition("/")
    return f"{name} ({package})" if package else name


def _location(message: bytes) -> tuple[int, list[int]]:
    """Its id, and its functions: the innermost of inlined ones first."""
    key, lines = 0, []
    for number, value in _fields(message):
        if number == 1:
            key = _whole(value)
        elif number == 4 and isinstance(value, bytes):
            lines.append(_whole(dict(_fields(value)).get(1)))
    return key, lines


def _whole(value: int | bytes | None) -> int:
    return value if isinstance(value, int) else 0


def _numbers(message: bytes, wanted: int) -> list[int]:
    """A repeated number, packed or one by one."""
    found: list[int] = []
    for number, value in _fields(message):
        if number != wanted:
            continue
        if isinstance(value, int):
            found.append(value)
            continue
        at = 0
        while at < len(value):
            one, at = _varint(value, at)
            found.append(one)
    return found


def _fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The fields of a protobuf message: (number, value). Raises ValueError."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        kind = key & 7
        if kind == 0:
            value, at = _varint(message, at)
            yield key >> 3, value
            continue
        size = {1: 8, 5: 4}.get(kind)
        if kind == 2:
            size, at = _varint(message, at)
        if size is None or at + size > len(message):
            raise ValueError(f"no protobuf at byte {at}")
        yield key >> 3, message[at : at + size]
        at += size


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(message) and shift < 70:
        byte = message[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
    raise ValueError(f"no number at byte {at}")


def _add(found: Stacks, frames: list[str], count: int) -> None:
    """Names are cut and made safe by whoever shows them."""
    stack = tuple(name for name in frames[:DEEPEST] if name)
    if stack and count > 0:
        found[stack] += count
