"""Sentences of audits."""

# ruff: noqa: E501 - a sentence stands on one line

from __future__ import annotations

from workbench.messages import audits
from workbench.messages.base import Message

AT = [("gevent", 4000.0), ("Trio", 4000.0), ("Trio", 6000.0)]

SENTENCES: list[tuple[Message, str]] = [
    (
        audits.NothingYet(),
        "No point is complete.",
    ),
    (
        audits.NotRecorded(what="pending"),
        "Recorded before calls in flight were counted.",
    ),
    (
        audits.NotRecorded(what="resources"),
        "Recorded before processes, cores and limits were read back.",
    ),
    (
        audits.NotReportedByTool(tool="wrk"),
        "The load tool 'wrk' does not report it.",
    ),
    (
        audits.Conservation(points=87, calls=1_203_000),
        "1,203,000 calls at all 87 points: each is counted once, as answered, failed, unsent or open at the end.",
    ),
    (
        audits.Conservation(points=87, calls=1_203_000, at=AT),
        "Calls are missing or counted twice: gevent at 4,000/s and Trio at 4,000 and 6,000/s. These points are excluded; please report this.",
    ),
    (
        audits.LittlesLaw(points=66, tolerance_pct=5.0),
        "Calls in flight equal rate × service time at all 66 points, within 5 %, 50 µs per call and the clients' own lateness.",
    ),
    (
        audits.LittlesLaw(points=1, tolerance_pct=5.0, left_out=2),
        "Calls in flight equal rate × service time at the point, within 5 %, 50 µs per call and the clients' own lateness; 2 more cannot be checked.",
    ),
    (
        audits.LittlesLaw(points=66, at=AT, in_flight=41.2, expected=12.34, tolerance_pct=5.0),
        "Calls in flight contradict rate × service time: gevent at 4,000/s and Trio at 4,000 and 6,000/s (at worst 41.2 calls were in flight, not 12.3). Do not trust response times there.",
    ),
    (
        audits.OfNetwork(),
        "Response times depended on the network or on one client at the points that could be checked; see these points.",
    ),
    (
        audits.ClientsAlike(clients=3),
        "None of 3 clients sees service times 10 % longer than the others.",
    ),
    (
        audits.ClientsAlike(clients=3, slow={"c2": (41.3, 58.9)}),
        "A client sees longer service times than the others: c2 41 to 59 % longer (p50). It is slow or farther away; high percentiles are mostly its own.",
    ),
    (
        audits.NotRecorded(what="client times"),
        "Recorded before each client reported its own response times.",
    ),
    (
        audits.TooFewWindows(needed=20),
        "A server needs 20 windows of 200 ms at points it sustains, with 20 answered calls each; lengthen the points or add passes.",
    ),
    (
        audits.TooShortForGrowth(),
        "Points are too short to tell whether memory grows; it takes 10 s at one rate.",
    ),
    (
        audits.MemoryGrowth(
            servers=2,
            growth={
                "gevent": (1.2e6, -0.4e6, 2.8e6, False),
                "Twisted": (2_404e6, 2_330e6, 2_480e6, True),
            },
            seconds=240.0,
        ),
        "Memory grows under constant load, within 4 min: Twisted by 2,400 MB per hour (2,330 to 2,480). It leaks, or fills a cache; a longer point shows which.",
    ),
    (
        audits.MemoryGrowth(
            servers=1, growth={"gevent": (1.2e6, -0.4e6, 2.8e6, False)}, seconds=240.0
        ),
        "Memory does not grow within 4 min; most by 1.2 MB per hour (-0.4 to 2.8) (gevent).",
    ),
    (
        audits.SteadyState(servers=3),
        "Response times of 3 servers that could be checked are steady within points.",
    ),
    (
        audits.SteadyState(
            servers=4,
            unsteady={
                "gevent": ("warm-up", 31.2),
                "Trio": ("drift", -7.4),
                "Twisted": ("no-steady-state", 0.0),
            },
        ),
        "Not steady within points: gevent warms up, 31 % slower in its first windows than in the rest; Trio drifts, 7.4 % faster at the end of a point than at its beginning; Twisted has no steady state. Lengthen the warm-up or the points.",
    ),
    (
        audits.IndependentWindows(servers=3),
        "Windows of a point are independent enough for intervals from a single pass.",
    ),
    (
        audits.IndependentWindows(servers=3, dependent={"gevent": 0.25}),
        "Windows depend on one another: one of gevent is worth 0.25 independent ones. Intervals from a single pass are too narrow; compare passes.",
    ),
    (
        audits.NoLittlesLaw(),
        "Too many connections failed, so it is unknown how long they were open.",
    ),
    (
        audits.Schedule(points=66, planned_pct=1.0),
        "The clients kept their schedule at all 66 points: on time, and within 1 % of the planned load.",
    ),
    (
        audits.Schedule(points=66, at=AT, planned_pct=1.0),
        "The clients did not keep their schedule: gevent at 4,000/s and Trio at 4,000 and 6,000/s. They started late, left calls out, or offered another load than was planned.",
    ),
    (
        audits.NoSchedule(),
        "Closed loop: the servers set the pace, so there is no schedule to keep.",
    ),
    (
        audits.Overlap(points=66, clients=2, least_pct=99.63),
        "Both clients offered load together for at least 99.6 % of every point.",
    ),
    (
        audits.Overlap(points=66, clients=2, least_pct=71.2, at=AT),
        "The clients did not offer load at the same time: gevent at 4,000/s and Trio at 4,000 and 6,000/s (all of them in only 71.2 % of the point). Check their clocks and links.",
    ),
    (
        audits.Overlap(points=66, clients=2, least_pct=99.6, at=AT, missing=["iris"]),
        "iris took no part in some points: gevent at 4,000/s and Trio at 4,000 and 6,000/s. The others offered its share, so these points are not comparable with the rest.",
    ),
    (
        audits.OneClient(),
        "One client offered the whole load.",
    ),
    (
        audits.ClientLimit(limit_per_s=22_000.0),
        "The clients reach 22,000/s by themselves; failures beyond that are not counted against a server.",
    ),
    (
        audits.ClientLimit(limit_per_s=22_000.0, others_cpu_pct=57.0),
        "The client limit, 22,000/s, was measured while background load took 57 % of a core; it may be higher. Repeat on a quiet machine.",
    ),
    (
        audits.ClientLimit(limit_per_s=0.0),
        "The clients sustained no rate against the null server: no point can be trusted.",
    ),
    (
        audits.NoCalibration(),
        "The clients were not calibrated, so a limit may be theirs. Use calibrate: true.",
    ),
    (
        audits.NotCalibrated(),
        "The plan does not vary a rate, so the clients were not calibrated.",
    ),
    (
        audits.SameBacklog(servers=7, backlog=512, asked=512),
        "A backlog of 512 was in force for all 7 servers.",
    ),
    (
        audits.SameBacklog(servers=1, backlog=128, asked=512),
        "A backlog of 128 was in force for the server, not the 512 asked for.",
    ),
    (
        audits.SameBacklog(servers=7, backlog=512, asked=512, differing={"aiohttp": "128"}),
        "Servers listened with backlogs other than the 512 asked for: aiohttp 128. The smaller one alone can cause resets and refusals.",
    ),
    (
        audits.SameProcesses(servers=7),
        "One process for all 7 servers.",
    ),
    (
        audits.SameProcesses(servers=7, several={"nginx": 3}),
        "Processes, the same in every pass: nginx 3; the others one.",
    ),
    (
        audits.SameProcesses(servers=7, differing={"Gunicorn": "3 to 4"}),
        "The number of processes differed between passes: Gunicorn 3 to 4.",
    ),
    (
        audits.SameCores(servers=7, cores=[0], own=True),
        "All 7 servers ran on core 0, and the clients on others.",
    ),
    (
        audits.SameCores(servers=1, cores=[*range(32), 48]),
        "The server ran on cores 0 to 31, 48.",
    ),
    (
        audits.SameCores(servers=1, cores=[0, 1]),
        "The server ran on cores 0, 1.",
    ),
    (
        audits.SameCores(servers=7, shared=[0, 1]),
        "Servers and clients shared cores 0, 1: the load takes CPU time from the server, so measured rates are too low.",
    ),
    (
        audits.SameCores(servers=7, cores=[0], differing={"nginx": "cores 0, 1"}),
        "Servers ran on different cores: nginx on cores 0, 1, the others on core 0. Their figures cannot be compared.",
    ),
    (
        audits.SameDescriptors(servers=7, limit=20_000, asked=20_000),
        "A limit of 20,000 descriptors was in force for all 7 servers.",
    ),
    (
        audits.SameDescriptors(servers=7, limit=20_000, asked=20_000, differing={"nginx": "1,024"}),
        "Servers had descriptor limits other than the 20,000 asked for: nginx 1,024.",
    ),
    (
        audits.SameVersions(servers=7, runtimes=["CPython 3.11.7", "go1.22"]),
        "Versions and checksums of all 7 servers are recorded (CPython 3.11.7, go1.22).",
    ),
    (
        audits.SameVersions(servers=7, differing={"mine": ""}),
        "Not recorded for mine: version or files.",
    ),
    (
        audits.SameSetUp(servers=7),
        "No differences are known in the set-up of all 7 servers.",
    ),
    (
        audits.SameSetUp(
            servers=7, said={"Its backlog is its own.": ["inets", "fapws3"], "It is slow.": ["x"]}
        ),
        "inets and fapws3: Its backlog is its own. x: It is slow.",
    ),
    (
        audits.QuietHost(points=66, most_pct=7.0, limit_pct=25.0),
        "Background load took less than 25 % of a core at all 66 points (at most 7 %).",
    ),
    (
        audits.QuietHost(points=66, most_pct=61.0, limit_pct=25.0, at=AT),
        "Background load took up to 61 % of a core: gevent at 4,000/s and Trio at 4,000 and 6,000/s. Repeat on a quiet machine.",
    ),
    (
        audits.QuietHost(points=66, most_pct=61.0, limit_pct=25.0, stolen_pct=55.0, at=AT),
        "Background load took up to 61 % of a core (the host of the virtual machine took 55 %): gevent at 4,000/s and Trio at 4,000 and 6,000/s. Repeat on a quiet machine.",
    ),
    (
        audits.QuietHost(
            points=66, most_pct=61.0, limit_pct=25.0, at=[(name, 500.0) for name in "ABCDEFGH"]
        ),
        "Background load took up to 61 % of a core: A, B, C, D, E and 3 others at 500/s. Repeat on a quiet machine.",
    ),
    (
        audits.QuietHost(points=66, limit_pct=25.0, others=["bolt"]),
        "Another run was on bolt: each disturbs the other. Agree on who measures when.",
    ),
    (
        audits.LinkAudit(links=2),
        "Packet loss and capacity of both links were measured before the run, and suffice.",
    ),
    (
        audits.LinkAudit(links=2, both_ways=True),
        "Packet loss and capacity of both links were measured in both directions before the run, and suffice.",
    ),
    (
        audits.LinkAudit(links=2, lossy={"iris": 0.031}),
        "Links lost packets before the run: iris 3.1 %. Check the network.",
    ),
    (
        audits.LinkAudit(links=2, slow=["iris"]),
        "The link to iris carries less than the plan needs at its highest values: there the link may be the limit, not a server.",
    ),
    (
        audits.NoLink(),
        "Servers and clients share a machine: no network lies between them.",
    ),
    (
        audits.LinkNotChecked(clients=["iris"]),
        "The link of iris could not be measured.",
    ),
    (
        audits.Recording(points=2),
        "The run completed, and no window or sample is missing.",
    ),
    (
        audits.Recording(points=66, end="stopped"),
        "The run was stopped early: not all planned points were measured.",
    ),
    (
        audits.Recording(points=66, at=AT),
        "Some windows are missing: gevent at 4,000/s and Trio at 4,000 and 6,000/s.",
    ),
    (
        audits.Recording(points=66, at=AT, unwatched=True),
        "CPU, memory and counters are missing: gevent at 4,000/s and Trio at 4,000 and 6,000/s.",
    ),
    (
        audits.UnderWay(),
        "The run has not ended.",
    ),
    (
        audits.AllChecked(points=66),
        "The load tool reported all that verdicts rest on, at all 66 points.",
    ),
    (
        audits.NotAllChecked(by_tool={"wrk": ["replies"], "httperf": ["schedule", "queue"]}),
        "Could not be checked with wrk: replies against the expected one. Could not be checked with httperf: the schedule (calls started late) and a growing queue.",
    ),
]
