"""Sentences of problems with load tools, and of what they leave unchecked."""

# ruff: noqa: E501 - a sentence stands on one line

from __future__ import annotations

from workbench.messages import tools
from workbench.messages.base import Message

SENTENCES: list[tuple[Message, str]] = [
    (
        tools.ToolCannotTell(tool="wrk", untold=["latency", "windows", "replies"]),
        "Unknown with wrk: latency from the scheduled time, anything while a point runs and whether replies are as expected. Verdicts do without.",
    ),
    (
        tools.ToolCannotTell(tool="Locust", untold=["connect", "first-byte", "client-limit"]),
        "Unknown with Locust: connect time, time to first byte and the client limit. Verdicts do without.",
    ),
    (
        tools.ToolOpensFew(tool="httperf", connections=2_000),
        "httperf has at most 2,000 connections open on a client, whatever nofile is; beyond that they"
        " fail. More workers allow more.",
    ),
    (
        tools.ToolHasOwnPace(tool="tsung"),
        "tsung keeps rates only roughly: when measured, 60 to 106 % of those asked for, beyond 500/s 16 to 117 %. The offered rate of a point is the one it reached.",
    ),
    (
        tools.ToolCommand(tool="wrk", command="wrk -t1 -c4 -d2s http://SERVER:80/"),
        "wrk runs as: wrk -t1 -c4 -d2s http://SERVER:80/",
    ),
    (
        tools.ToolCommand(tool="wrk", command="wrk -t1 -c4 -d2s http://SERVER:80/", processes=3),
        "wrk runs as 3 processes, the first as: wrk -t1 -c4 -d2s http://SERVER:80/",
    ),
    (
        tools.ToolOfAnotherWorkload(tool="Locust", workload="HTTP", runs=["locustfiles"]),
        "Locust runs locustfiles only, not HTTP; leave it out, or choose another load tool.",
    ),
    (
        tools.ToolCannotVary(tool="wrk", axis="rate"),
        "wrk cannot vary the rate; give concurrency (workload.mode: closed), or choose another load tool.",
    ),
    (
        tools.ToolOnOneClient(tool="Pongbench's ZeroMQ client", clients=2),
        "Pongbench's ZeroMQ client runs on one client, not on 2; leave the others out.",
    ),
    (
        tools.ToolWithOneConnection(tool="Pongbench's ZeroMQ client", connections=4),
        "Pongbench's ZeroMQ client has one connection per worker, here 4; lower the concurrency, or add workers or clients.",
    ),
    (
        tools.ToolCannotEnd(tool="wrk", end="connections", instead="seconds"),
        "wrk cannot end a point by connections; give seconds instead.",
    ),
    (
        tools.ToolWholeSeconds(tool="ab", key="workload.timeout_s"),
        "ab counts whole seconds; give a whole number as workload.timeout_s.",
    ),
    (
        tools.ToolHasNoLatency(tool="httperf"),
        "httperf does not measure from the scheduled time, as search.p99_ms needs; leave that out, or choose another load tool.",
    ),
    (
        tools.ToolShowsSecrets(tool="ab"),
        "ab shows its headers to every user of the client; leave the secrets out of workload.headers, or choose another load tool.",
    ),
    (
        tools.ToolProtocol(tool="ab", protocol="http/1.1", speaks=["pong", "http/1.0"]),
        "ab speaks pong and http/1.0 only, not http/1.1; set workload.protocol to http/1.0.",
    ),
    (
        tools.ToolLacks(tool="tsung", key="pipeline"),
        "tsung is used without pipelining here; leave workload.pipeline out, or choose another load tool.",
    ),
    (
        tools.ToolOnly(tool="tsung", key="arrivals", value="poisson"),
        "tsung starts users at random instants only; set workload.arrivals to poisson.",
    ),
    (
        tools.ToolThinksTooLong(tool="httperf", connections=2_300, most=1_000),
        "Think times keep 2,300 connections open, but httperf uses select(), which has no descriptors for more than 1,000 here; give more workers, or choose another load tool.",
    ),
    (
        tools.SearchWithOneTool(),
        "A search chooses its points by one load tool; name one.",
    ),
    (
        tools.NotChecked(tool="wrk", what=["client-cpu", "conservation", "replies"]),
        "Could not be checked with wrk: how busy the clients were, that every call is accounted for and replies against the expected one.",
    ),
    (
        tools.OffersOtherLoad(tool="tsung", offered_per_s=489.7, other="agent", other_per_s=500),
        "schedule: tsung offered 490/s, agent 500/s",
    ),
    (
        tools.CountsToTheEnd(tool="httperf"),
        "schedule: httperf counts until its last timeout",
    ),
    (
        tools.LeavesConnectOut(tool="wrk"),
        "connect: times of wrk begin with the request",
    ),
    (
        tools.KeepsConnections(tool="ab"),
        "keep-alive: ab does not replace connections",
    ),
    (
        tools.Resolves(tool="httperf", resolution_us=1_000),
        "resolution of httperf: 1.00 ms",
    ),
    (
        tools.DelaysItself(tool="tsung"),
        "delays within tsung, which are in its times",
    ),
    (
        tools.OmitsStalls(
            tool="httperf", timed_by="agent", latency_p99_us=612_000, service_p99_us=410_000
        ),
        "coordinated omission: from the scheduled time p99 is 612 ms (agent), which httperf does not measure",
    ),
]
