"""Which profiler fits a server, and what it needs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from msgspec.structs import replace

from workbench.servers.entry import ServerEntry

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
