"""Profiles a server on its machine."""

from __future__ import annotations

import asyncio
import base64
import binascii
import zlib
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import msgspec
from msgspec.structs import replace

from workbench import paths
from workbench.errors import PongbenchError
from workbench.machines.base import Machine
from workbench.machines.bundle import Bundle, bring, own_platform
from workbench.machines.wire import Text, quoted
from workbench.servers import folded
from workbench.servers.deployment import Deployment
from workbench.servers.entry import ServerEntry
from workbench.servers.folded import Stacks
from workbench.servers.runtimes.builders import run_builder

Method = Literal["py-spy", "perf", "signal", "clock"]
"""How it is sampled under load; see `remote.builders.profiling`."""
Format = Literal["py-spy", "perf", "cpuprofile", "pprof", "flight-recording"]


RECORDING = "profile.jfr"
"""The recording of a JVM, in its working directory."""


@dataclass(frozen=True)
class Profiler:
    """A profiler, and how a server is started for it."""

    title: str
    method: Method
    format: Format
    rate: int
    """Samples a second."""
    env: dict[str, str] = field(default_factory=dict)
    """Added to the server's environment."""
    shared: tuple[str, ...] = ()
    """Files of `resources/apps` that are deployed with it, and compiled into it."""

    def prepared(self, entry: ServerEntry) -> ServerEntry:
        """The same server, ready to be profiled."""
        env = {**entry.env}
        for name, value in self.env.items():
            env[name] = f"{env[name]} {value}" if name in env else value
        return replace(entry, env=env, shared=[*entry.shared, *self.shared])


PY_SPY = Profiler("py-spy", "py-spy", "py-spy", 200)
PERF = Profiler("perf", "perf", "perf", 199)
NODE = Profiler(
    "V8's profiler",
    "signal",
    "cpuprofile",
    200,
    {"NODE_OPTIONS": "--require=./pongbench_profile.js"},
    ("pongbench_profile.js",),
)
GO = Profiler("Go's profiler", "signal", "pprof", 100, shared=("pongbench_profile.go",))
JAVA = Profiler(
    "Java Flight Recorder",
    "clock",
    "flight-recording",
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
    of_programs = {"node": NODE, "go": GO, "java": JAVA}
    return next((of_programs[name] for name in entry.programs if name in of_programs), PERF)


class Failed(PongbenchError):
    """There is no profile; `why` and `detail` as in `messages.outcomes.NotProfiled`."""

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


class _Failure(msgspec.Struct):
    why: Annotated[str, msgspec.Meta(max_length=40)] = "failed"
    detail: Text = ""


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


class Profiling:
    """The profile of one server that runs: `sample` while it has load, `finish` when that is
    over."""

    def __init__(self, profiler: Profiler, deployment: Deployment, program: str = "") -> None:
        """`program`: see `bring_profiler`."""
        self._profiler = profiler
        self._deployment = deployment
        self._machine = deployment.machine
        self._program = program
        self._times = _Ready()
        self._files: list[bytes] = []

    async def sample(self, seconds: float, delay_s: float) -> None:
        """Sample the server for so long, after a delay. Raises Failed."""
        self._times, self._files = await self._run(
            self._profiler.method, seconds=seconds, delay_s=delay_s
        )

    async def finish(self) -> Profiled:
        """Return what was seen; some servers are ended for it. Raises Failed."""
        version = self._times.version
        if self._profiler.method == "clock":
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
        return Profiled(stacks, f"{self._profiler.title} {version}".strip())

    def _parsed(self, content: bytes) -> Stacks:
        text = content.decode("utf-8", "replace")
        match self._profiler.format:
            case "py-spy":
                return folded.py_spy(text)
            case "perf":
                return folded.perf(text)
            case "cpuprofile":
                return folded.cpuprofile(content)
            case "pprof":
                return folded.pprof(content)
            case "flight-recording":
                return folded.flight_recording(text, self._times.from_s, self._times.to_s)

    async def _run(
        self, method: str, seconds: float = 0.0, delay_s: float = 0.0
    ) -> tuple[_Ready, list[bytes]]:
        """Run the helper there. Returns its last event and the files it gave."""
        task = {
            "method": method,
            "pid": self._deployment.pid,
            "delay_s": delay_s,
            "seconds": seconds,
            "rate": self._profiler.rate,
            "program": self._program,
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

        event = await run_builder(self._machine, "profiling", task, on_event)
        try:
            if event["event"] == "ready":
                unpacked = [await asyncio.to_thread(_unpacked, each) for each in files]
                return msgspec.convert(event, _Ready), unpacked
            failed = msgspec.convert(event, _Failure)
        except msgspec.ValidationError as error:
            failed = _Failure(detail=str(error))
        raise Failed(failed.why, quoted(failed.detail).rstrip("."))


def _unpacked(text: str) -> bytes:
    """Raises Failed."""
    try:
        packed = base64.b64decode(text, validate=True)
        return zlib.decompressobj().decompress(packed, folded.MOST_BYTES)
    except (binascii.Error, zlib.error, ValueError):
        raise Failed("failed", "what the machine sent is damaged") from None
