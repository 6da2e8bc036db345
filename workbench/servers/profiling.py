"""Profiles a server on its machine, as folded stacks: how often each stack of calls was seen, from
the outermost function to the innermost. What is not understood is skipped: it comes from another
machine."""

from __future__ import annotations

import asyncio
import base64
import binascii
import re
import zlib
from collections import Counter
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from workbench import paths
from workbench.errors import PongbenchError
from workbench.machines.base import Machine
from workbench.machines.bundle import Bundle, bring, own_platform
from workbench.machines.wire import quoted
from workbench.servers.deployment import Deployment
from workbench.servers.entry import ServerEntry
from workbench.servers.runtimes.builders import run_builder

Stacks: TypeAlias = Counter[tuple[str, ...]]
MOST_BYTES = 64 << 20
"""Of a compressed file, unpacked."""

Method = Literal["py-spy", "perf", "signal", "clock"]
"""How it is sampled under load; see `remote.builders.profiling`."""

RECORDING = "profile.jfr"
"""The recording of a JVM, in its working directory."""


@dataclass(frozen=True)
class Profiler:
    """A profiler, and how a server is started for it."""

    title: str
    method: Method
    rate: int
    """Samples a second."""
    env: dict[str, str] = field(default_factory=dict)
    shared: tuple[str, ...] = ()
    """Files of `resources/apps` that are deployed with it."""

    def prepared(self, entry: ServerEntry) -> ServerEntry:
        """The same server, ready to be profiled."""
        env = {**entry.env}
        for name, value in self.env.items():
            env[name] = f"{env[name]} {value}" if name in env else value
        return replace(entry, env=env, shared=[*entry.shared, *self.shared])


PY_SPY = Profiler("py-spy", "py-spy", 200)
PERF = Profiler("perf", "perf", 199)
NODE = Profiler(
    "V8's profiler",
    "signal",
    200,
    {"NODE_OPTIONS": "--require=./pongbench_profile.js"},
    ("pongbench_profile.js",),
)
JAVA = Profiler(
    "Java Flight Recorder",
    "clock",
    100,
    {
        # Paths are relative to the server's directory, the only one it may write to.
        "JDK_JAVA_OPTIONS": f"-XX:StartFlightRecording=filename={RECORDING},settings=profile,"
        "dumponexit=true -XX:FlightRecorderOptions=repository=flight-recorder"
    },
)


def profiler_of(entry: ServerEntry) -> Profiler:
    """Return the profiler of its runtime, or else perf, which knows any program."""
    if entry.runtime.startswith("python"):
        return PY_SPY
    of_programs = {"node": NODE, "java": JAVA}
    return next((of_programs[name] for name in entry.programs if name in of_programs), PERF)


class Failed(PongbenchError):
    """There is no profile; `why` and `detail` as of "not-profiled" in `messages.notes`."""

    def __init__(self, why: str, detail: str = "") -> None:
        super().__init__(f"{why}: {detail}")
        self.why, self.detail = why, detail


@dataclass(frozen=True)
class Profiled:
    """What a profiler saw."""

    stacks: Stacks
    tool: str
    """With its version: "py-spy 0.4.3"."""


class _Ready(msgspec.Struct):
    version: Annotated[str, msgspec.Meta(max_length=40)] = ""
    from_s: float = 0.0
    to_s: float = 0.0


async def bring_profiler(machine: Machine, profiler: Profiler) -> str:
    """Bring a profiler to a machine, where it is kept. Returns its path; empty: it needs none, or
    has to be there. Raises Failed."""
    if profiler.method != "py-spy":
        return ""
    listed = (paths.RESOURCES / "profilers" / "requirements.txt").read_text("utf-8")
    try:
        place = await bring(machine, Bundle("py-spy", machine.platform or own_platform(), listed))
    except PongbenchError as error:
        raise Failed("missing", str(error)) from None
    return f"{place}/bin/py-spy"


@dataclass
class Profiling:
    """The profile of one server: `sample` while it has load, `finish` when that is over."""

    profiler: Profiler
    deployment: Deployment
    program: str
    """See `bring_profiler`."""
    _times: _Ready = field(init=False)
    _files: list[bytes] = field(init=False)

    async def sample(self, seconds: float, delay_s: float) -> None:
        """Sample the server for so long, after a delay. Raises Failed."""
        method = self.profiler.method
        self._times, self._files = await self._run(method, seconds=seconds, delay_s=delay_s)

    async def finish(self) -> Profiled:
        """Return what was seen; some servers are ended for it. Raises Failed."""
        version = self._times.version
        if self.profiler.method == "clock":
            ended, self._files = await self._run("flight-recorder")
            version = ended.version
        stacks: Stacks = Stacks()
        for content in self._files:
            try:
                stacks.update(await asyncio.to_thread(self._parsed, content))
            except (ValueError, msgspec.MsgspecError, RecursionError) as error:
                raise Failed("failed", quoted(f"its profile is damaged ({error})")) from None
        if not stacks:
            raise Failed("empty")
        return Profiled(stacks, f"{self.profiler.title} {version}".strip())

    def _parsed(self, content: bytes) -> Stacks:
        text = content.decode("utf-8", "replace")
        match self.profiler.method:
            case "py-spy":
                return py_spy(text)
            case "perf":
                return perf(text)
            case "signal":
                return cpuprofile(content)
            case "clock":
                return flight_recording(text, self._times.from_s, self._times.to_s)

    async def _run(
        self, method: str, seconds: float = 0.0, delay_s: float = 0.0
    ) -> tuple[_Ready, list[bytes]]:
        task = {
            "method": method,
            "pid": self.deployment.pid,
            "delay_s": delay_s,
            "seconds": seconds,
            "rate": self.profiler.rate,
            "program": self.program,
            "recording": RECORDING,
        }
        files: list[str] = []
        packed: list[str] = []

        def on_event(event: dict[str, Any]) -> None:
            if event["event"] == "part":
                packed.append(str(event.get("data", "")))
            elif event["event"] == "file":
                files.append("".join(packed))
                packed.clear()

        event = await run_builder(self.deployment.machine, "profiling", task, on_event)
        if event["event"] != "ready":
            why, detail = (quoted(str(event.get(key, ""))) for key in ("why", "detail"))
            raise Failed(why[:40] or "failed", detail.rstrip("."))
        unpacked = [await asyncio.to_thread(_unpacked, each) for each in files]
        try:
            return msgspec.convert(event, _Ready), unpacked
        except msgspec.ValidationError as error:
            raise Failed("failed", quoted(str(error))) from None


def _unpacked(text: str) -> bytes:
    """Raises Failed."""
    try:
        packed = base64.b64decode(text, validate=True)
        return zlib.decompressobj().decompress(packed, MOST_BYTES)
    except (binascii.Error, zlib.error, ValueError):
        raise Failed("failed", "what the machine sent is damaged") from None


DEEPEST = 128
"""Calls of a stack; of deeper ones the innermost are left out."""


NATIVE = "(native code)"
"""Of a process of Python that runs no function of Python, such as an event loop in C."""

_PROCESS = re.compile(r'process \d+:".*')


def py_spy(text: str) -> Stacks:
    """`py-spy record --format raw --nolineno`: "main (a.py);work (b.py) 12"."""
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
    """`jfr print --events jdk.ExecutionSample` in UTC, of samples between two times since 1970."""
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


def _add(found: Stacks, frames: list[str], count: int) -> None:
    """Names are cut and made safe by whoever shows them."""
    stack = tuple(name for name in frames[:DEEPEST] if name)
    if stack and count > 0:
        found[stack] += count
