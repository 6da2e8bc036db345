"""The client of ZeroMQ servers: an agent whose workers use pyzmq."""

from __future__ import annotations

from functools import partial

from workbench.load.base import Capabilities, LoadTool
from workbench.load.fleet import AgentFleet

TOOL = LoadTool(
    name="zeromq",
    label="Pongbench's ZeroMQ client",
    capabilities=Capabilities(
        windows=True,
        due_times=True,
        lateness=True,
        histograms=True,
        conservation=True,
        replies=True,
        axes=("rate", "concurrency"),
        workloads=("zeromq",),
        clients="many",
        connects=True,
        one_connection=True,
    ),
    start=partial(AgentFleet.start, worker="zeromq"),
)
