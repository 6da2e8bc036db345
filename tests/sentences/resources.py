"""Sentences of problems of a plan: the length of its points, and resources."""

# ruff: noqa: E501 - a sentence stands on one line

from __future__ import annotations

from workbench.messages import plans
from workbench.messages.base import Message

SENTENCES: list[tuple[Message, str]] = [
    (
        plans.TooManyOpen(
            keys=("vary",),
            x=100_000.0,
            suffix=" connections",
            connections=100_000,
            why="held",
            where="clients",
            resource="ports",
            available=28_232,
            per_client=28_232,
            addresses=4,
        ),
        "100,000 connections held open need as many local ports; the clients have 28,232. Use 4 clients, 4 local addresses in all, or a wider net.ipv4.ip_local_port_range.",
    ),
    (
        plans.TooManyOpen(
            keys=("rates",),
            x=500.0,
            connections=27_500,
            why="think-time",
            where="target",
            resource="descriptors",
            available=19_936,
        ),
        "The 27,500 connections that think time keeps open at 500/s need as many file descriptors; the target has 19,936. Raise nofile and the machine's hard limit, or lower the rate.",
    ),
    (
        plans.TooManyOpen(
            keys=("concurrency",),
            x=30_000.0,
            suffix=" connections",
            connections=30_000,
            why="concurrency",
            where="clients",
            resource="descriptors",
            available=19_936,
        ),
        "30,000 concurrent connections need as many file descriptors; the clients have 19,936. Raise nofile and the machine's hard limit, use more workers or clients, or lower concurrency.",
    ),
    (
        plans.NoSteadyPart(keys=("seconds",), x=500.0, needed_s=56.0, seconds=30.0, think_s=55.0),
        "At 500/s a point lasts 30 s and think time alone keeps each connection open for 55 s, so nothing is measured at a steady load. Set seconds to 56 or more.",
    ),
    (
        plans.PointTooShort(
            keys=("connections",),
            x=9000.0,
            suffix="/s",
            connections=9000,
            may_lengthen=True,
            needed_s=0.0,
            seconds=0.0444,
            shortest_s=1.0,
        ),
        "At 9,000/s a point lasts 0.044 s: too short for a verdict, which takes 1 s. Set connections to 9,000 or more, or allow that by `lengthen: true`.",
    ),
    (
        plans.PointTooShort(
            keys=("seconds",),
            x=9000.0,
            suffix="/s",
            connections=0,
            may_lengthen=False,
            needed_s=1.0,
            seconds=0.5,
            shortest_s=1.0,
        ),
        "At 9,000/s a point lasts 0.5 s: too short for a verdict, which takes 1 s. Set seconds to 1 or more.",
    ),
    (
        plans.PointTooSmall(
            keys=("connections",),
            x=50.0,
            suffix=" concurrent",
            connections=100,
            may_lengthen=False,
            needed_s=0.0,
            calls=1,
            fewest=100,
        ),
        "At 50 concurrent a point has 1 call: too few for a verdict, which takes 100. Set connections to 100 or more.",
    ),
    (
        plans.NotEnoughPorts(
            keys=("connections",), x=9000.0, suffix="/s", ports=28232, needed=40000
        ),
        "The client has 28,232 free ports and needs 40,000 at 9,000/s, because it closes first. Widen its range (net.ipv4.ip_local_port_range), or use fewer connections per point.",
    ),
    (
        plans.NotEnoughPorts(
            keys=("seconds",), x=500.0, ports=28232, needed=57500, addresses=3, have=1
        ),
        "The client has 28,232 free ports and needs 57,500 at 500/s, because it closes first. Widen its range (net.ipv4.ip_local_port_range), give it 2 more local addresses, or use fewer connections per point.",
    ),
    (
        plans.SeveralAddresses(addresses=2, ports=28232),
        "Each client connects from 2 local addresses in turn, because connecting gets slow where more than half of the 28,232 ports of one are used.",
    ),
    (
        plans.WarmUpAboveRates(warm_up="500/s", highest="100/s"),
        "The warm-up at 500/s loads servers more than the plan's highest rate, 100/s.",
    ),
    (
        plans.PointsLengthened(
            keys=("connections",), lengthened=1, points=2, connections=400, most=9000
        ),
        "400 connections are too few at 1 of 2 points; these get up to 9,000.",
    ),
    (
        plans.FewSamples(keys=("seconds",), x=400.0, suffix="/s", needed=1000),
        "Up to 400/s a point has fewer than 1,000 calls: too few for a steady p99.",
    ),
    (
        plans.FewDescriptors(keys=("nofile",), allowed=4096, wanted=20000),
        "The client allows 4,096 file descriptors per process, not the 20,000 of the plan. Raise its hard limit, or lower nofile.",
    ),
    (
        plans.FewDescriptors(
            keys=("nofile",), where=("client", "target"), allowed=4096, wanted=20000
        ),
        "The client and the target allow 4,096 file descriptors per process, not the 20,000 of the plan. Raise their hard limit, or lower nofile.",
    ),
    (
        plans.FewAddresses(
            keys=("seconds",),
            x=500.0,
            suffix="/s",
            addresses=3,
            wanted=5,
            needed=57_500,
            ports=28_232,
        ),
        "At 500/s each client needs 5 local addresses, and has 3: 57,500 of its ports are open or in TIME_WAIT at once, and connecting gets slow where more than half of the 28,232 ports of one address are used. Add addresses or clients.",
    ),
    (
        plans.TimeoutsFill(
            keys=("nofile",),
            x=500.0,
            suffix="/s",
            connections=28500,
            resource="ports",
            available=28232,
        ),
        "From 500/s on a server that stops answering leaves up to 28,500 connections open until the timeout; the client has 28,232 local ports. Such points count as the client's limit, not the server's.",
    ),
    (
        plans.Sensitivity(
            passes=1,
            shows={},
            figure="CPU per call",
            wanted_pct=10.0,
            proposed=5,
            session="",
        ),
        "One pass cannot show significance; 5 passes resolve 10 % in CPU per call (typical spread).",
    ),
    (
        plans.Sensitivity(
            passes=3,
            shows={"CPU per call": 18.7, "p50": 32.6},
            figure="CPU per call",
            wanted_pct=10.0,
            proposed=5,
            session="Twins, 2026-11-22",
        ),
        "3 passes show differences from 19 % in CPU per call and 33 % in p50 (spread of passes as in Twins, 2026-11-22); 10 % in CPU per call takes 5.",
    ),
    (
        plans.RestsForPorts(keys=("cool_down_s",), longest_s=60.0),
        "Rests of up to 60 s between points, until enough local ports are free again.",
    ),
    (
        plans.RatesEstimated(ceiling="20,000/s"),
        "The rates end at the client limit, which is measured first: duration, calls and ports are estimates for 20,000/s.",
    ),
    (
        plans.HeldToCeiling(
            connections=19_900, where="target", resource="descriptors", available=19_936
        ),
        "The connections end at 19,900: the target has 19,936 file descriptors (nofile).",
    ),
    (
        plans.HeldToCeiling(
            connections=12_700, where="clients", resource="ports", available=12_704
        ),
        "The connections end at 12,700: the clients have 12,704 local ports before connecting gets slow.",
    ),
    (
        plans.TooFewForLimit(keys=("seconds",), x=500.0, calls=500, needed=1000, needed_s=2.0),
        "At 500/s a point has 500 calls: too few for a p99, which takes 1,000. Set seconds to 2 or more.",
    ),
]
