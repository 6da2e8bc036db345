"""The first and the last document of a session: the conditions of the run, and how it ended."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Meta
from msgspec.structs import force_setattr

from workbench import axis as axes
from workbench.axis import Axis
from workbench.documents.base import OUR_AGENT, Document
from workbench.shapes import Rate, Signed, Whole, check_plan

VERSION = 8
"""The version of the document format, which every run records. A reader opens all versions up to
its own.

2: figures that a load tool cannot measure are null, the axis is a field of the workload, or points
are faulty. 3: a search. 4: profiles. 5: rates that end at the client limit, or error classes that
are not httperf's. 6: several load tools run every point. 7: histograms are packed.
8: windows and samples are in columns.
"""

Status: TypeAlias = Literal["done", "stopped", "aborted", "failed"]


class MachineRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A machine as it was during the run; never contains a secret."""

    name: str
    roles: list[str]
    """"target", "client" or both."""
    facts: dict[str, Any] = {}
    """Kernel, CPU model and count, memory, limits, sysctls; see `machines.facts`."""
    clock_offset_us: Signed = 0
    """Add this to the machine's monotonic clock to get this workstation's."""
    clock_uncertainty_us: Whole = 0


class ServerRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A server as it was deployed."""

    id: str
    name: str
    family: str
    version: str = ""
    """The framework's version, for example "tornado 6.6.1"."""
    runtime: str = ""
    """For example "CPython 3.11.7"."""
    files: dict[str, str] = {}
    """Relative path to SHA-256 of every file deployed."""
    gate: dict[str, Any] = {}
    """Its behaviour before the run; see `workloads.gating.GateResult`."""
    confinement: dict[str, Any] = {}
    """The privileges it ran with; see `rights.Confinement`."""
    running: dict[str, Any] = {}
    """Of a server that ran already: its address, where connections went, its processes, or that it
    ran elsewhere than on the target, and whether its certificate was not checked. Empty: it was
    deployed."""

    @property
    def elsewhere(self) -> bool:
        """Whether it ran on none of the session's machines."""
        return bool(self.running.get("elsewhere"))

    @property
    def tls(self) -> str:
        """ "TLSv1.3, TLS_AES_256_GCM_SHA384"; empty: without TLS, or not recorded."""
        agreed = self.gate.get("tls")
        return agreed if isinstance(agreed, str) else ""


class SeriesRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of the charts: measured at every value of the axis and judged as one."""

    key: str
    server: str
    """Its id; several series may be of one server."""
    label: str
    params: dict[str, str] = {}
    """How it differs from others of its server, for display."""


class Metric(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A figure of points beyond the built-in ones, as charts, tables and reports show it."""

    key: str
    """Its key in `PointStop.values`."""
    label: str
    unit: str = ""
    better: Literal["more", "less", ""] = ""
    of: str = ""
    """Which of several requests it describes; empty: the whole point."""


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """A part of the order of the run: one server's sweep in one pass."""

    server: str
    pass_number: Whole
    rates_per_s: list[Rate]


class RunStart(Document, frozen=True, kw_only=True, tag="run_start"):
    """The conditions of the run: everything a reader needs to judge or repeat it."""

    v: int = 1
    recorded_v: int = 0
    """The version in which it was recorded, where `compact` has written it again; 0: `v`."""
    session: str
    """A random identifier."""
    started_utc: str
    """ISO 8601 with a trailing Z."""
    pongbench: str
    """Version of the program."""
    plan: dict[str, Any]
    """The plan as plain data, complete with defaults (`plan.reading.to_data`)."""
    machines: list[MachineRecord]
    servers: list[ServerRecord]
    order: list[Block]
    seed: Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
    axis: Axis | None = None
    """What the plan varies; derived from the plan in sessions that do not record it."""
    series: list[SeriesRecord] = []
    """In the plan's order; one per server in sessions that do not record them."""
    metrics: list[Metric] = []
    """The metrics that points carry in `values`."""
    load_versions: dict[str, dict[str, str]] = {}
    """Of load tools that are programs: the version on each client, "wrk 4.1.0"."""

    def __post_init__(self) -> None:
        check_plan(self.plan)
        if self.axis is None:
            force_setattr(self, "axis", axes.of_plan(self.plan))
        else:
            force_setattr(self, "axis", axes.completed(self.axis, self.plan))
        if not self.series:
            each = [SeriesRecord(key=s.id, server=s.id, label=s.name) for s in self.servers]
            force_setattr(self, "series", each)

    def series_of(self, server: str) -> list[str]:
        """Keys of a server's series; of an unknown one its id."""
        return [each.key for each in self.series if each.server == server] or [server]

    @property
    def load_tools(self) -> list[str]:
        """The plan's load tools, which run every point in turns; see `load.registry`."""
        further = self.plan.get("with")
        named = further if isinstance(further, list) else []
        first = str(self.plan.get("load_tool") or OUR_AGENT)
        return list(dict.fromkeys([first, *map(str, named)]))

    @property
    def load_tool(self) -> str:
        """Their names: "wrk", "wrk and agent"."""
        return " and ".join(self.load_tools)


class RunStop(Document, frozen=True, kw_only=True, tag="run_stop"):
    """The last document of a session that was closed properly, however the run ended."""

    t_us: Signed
    status: Status
    reason: str = ""
    """A sentence."""
    code: str = ""
    """Of the reason: "lease-expired" (the program was suspended, or cut off from a machine),
    "time-limit", "machine-gone", "servers-left-out", "no-result" (of a server or load tool at any
    point); empty: another one, or none."""
