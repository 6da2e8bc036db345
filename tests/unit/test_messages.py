"""Messages: every code has its sentence here; elsewhere tests assert codes and parameters."""

# ruff: noqa: E501 - a sentence stands on one line

from __future__ import annotations

import math
from typing import Any

import msgspec
import pytest

from tests.synthetic import session
from workbench.documents import Note, PointStop
from workbench.messages import (
    audits,
    causes,
    cross_check,
    ends,
    notes,
    plans,
    reasons,
    unchecked,
)
from workbench.messages.base import Message, Recorded, grouped, kinds, merged_text, read
from workbench.messages.errors import error_label, listed_errors
from workbench.messages.limits import Limit, TooManyErrors, TooSlow
from workbench.messages.notes import Notice
from workbench.messages.reasons import REASONS, Reason, reasons_of
from workbench.messages.topics import TOPICS
from workbench.sessions.format import encode

AT = [("gevent", 4000.0), ("Trio", 4000.0), ("Trio", 6000.0)]


def _peak(**changes: Any) -> notes.Peak:
    figures: dict[str, Any] = {
        "name": "gevent",
        "errors_pct": 1.0,
        "p99_ms": 50.0,
        "peak_per_s": 14250.0,
        "low_per_s": 14250.0,
        "high_per_s": 14500.0,
        "confidence": 0.96,
        "sure": True,
        "met": [3, 4],
        "missed": [5],
    }
    return notes.Peak(**(figures | changes))


PROFILE = {"name": "gevent", "tool": "py-spy 0.4.3", "seconds": 5.0, "x": 4000.0}
NOT_PROFILED = {"name": "gevent", "machine": "h1"}

SENTENCES: list[tuple[Message, str]] = [
    (
        notes.Profile(
            **PROFILE, samples=400, frames=["main", "send"], stacks=[300, 2, 0, 1, 100, 1, 0]
        ),
        "CPU time of gevent at 4,000/s: 75 % in send, 25 % in main (400 samples, py-spy 0.4.3).",
    ),
    (
        notes.Profile(**PROFILE, samples=2, frames=["main"], stacks=[2, 1, 0]),
        "CPU time of gevent at 4,000/s: 100 % in main (2 samples are too few to rely on, py-spy 0.4.3).",
    ),
    (
        notes.NotProfiled(**NOT_PROFILED, tool="py-spy", why="denied"),
        "gevent was not profiled: py-spy is not permitted on h1; run as root there, or set kernel.yama.ptrace_scope to 0.",
    ),
    (
        notes.NotProfiled(**NOT_PROFILED, tool="py-spy", why="denied-to-root"),
        "gevent was not profiled: py-spy is not permitted on h1, not even to root, as in a container; give it the capability SYS_PTRACE.",
    ),
    (
        notes.NotProfiled(**NOT_PROFILED, tool="Java Flight Recorder", why="absent", detail="jfr"),
        "gevent was not profiled: jfr, a part of the JDK, is not on h1; install a JDK there.",
    ),
    (
        notes.NotProfiled(**NOT_PROFILED, tool="py-spy", why="failed", detail="no Python"),
        "gevent was not profiled: py-spy failed (no Python).",
    ),
    (
        plans.ProfileOutside(at=9000.0, low=500.0, high=4000.0),
        "9,000 is outside what the plan measures, 500 to 4,000/s.",
    ),
    (
        causes.CoresFull(cores=1, busy_pct=98.4, kernel_pct=12.0),
        "Its core was full (98 % of a core).",
    ),
    (
        causes.CoresFull(cores=2, busy_pct=197.0, kernel_pct=71.0),
        "All its 2 cores were full (197 % of a core, 71 % of that in system calls).",
    ),
    (
        causes.ThreadFull(busy_pct=99.0, cores=4),
        "One of its threads filled a core (99 % of a core); it may use 4.",
    ),
    (
        causes.TurnsTaken(threads=8, busy_pct=104.0, cores=4),
        "8 threads together used one core of 4 (104 %): they take turns, as with an interpreter lock.",
    ),
    (
        causes.CpuContended(waited_pct=42.0, busy_pct=55.0),
        "Its busiest thread waited for a CPU 42 % of the time: other programs ran there (it used 55 % of a core).",
    ),
    (
        causes.CpuContended(waited_pct=42.0, busy_pct=85.0, threads=16, cores=1),
        "Its busiest thread waited for a CPU 42 % of the time: its 16 threads shared one core and used 85 % of it.",
    ),
    (
        causes.DescriptorsUsedUp(opened=1000, limit=1000),
        "It had 1,000 descriptors open, of at most 1,000 (nofile).",
    ),
    (
        causes.CpuQuota(throttled_pct=81.0, busy_pct=10.0),
        "Its CPU quota (cgroup) kept it from running 81 % of the time (it used 10 % of a core).",
    ),
    (
        causes.GarbageCollected(collecting_pct=44.0, busy_pct=99.0),
        "Garbage collection took 44 % of its CPU time (99 % of a core).",
    ),
    (
        causes.DatabaseBusy(service="PostgreSQL", share_pct=71.0, busy_pct=98.0, cores=1),
        "Its database (PostgreSQL) took 71 % of the CPU time of both (98 % of a core, of 1).",
    ),
    (
        causes.WaitedForAnswer(
            address="10.0.0.9:5432", service="PostgreSQL", connections=4, busy_pct=8.0
        ),
        "It waited for answers of PostgreSQL (10.0.0.9:5432), over 4 connections, and used only"
        " 8 % of a core.",
    ),
    (
        causes.WaitedForLock(threads=6.6, busy_pct=4.0),
        "7 of its threads waited for a lock, on average (4 % of a core used).",
    ),
    (
        causes.WaitedForDisk(share_pct=67.0, busy_pct=22.0),
        "67 % of its working threads waited for a disk (22 % of a core used).",
    ),
    (
        causes.Slept(share_pct=92.0, busy_pct=3.0),
        "92 % of its working threads slept (a timer, such as sleep()) and it used only 3 % of a"
        " core.",
    ),
    (
        causes.MachineWaited(resource="io", pct=31.0),
        "Programs on its machine waited for its disk 31 % of the time.",
    ),
    (
        causes.NotAccepted(busy_pct=12.0, backlog=512),
        "Its accept queue (backlog 512) was full while it used only 12 % of a core: it waited, and accepted connections too slowly.",
    ),
    (
        causes.Waited(busy_pct=7.0),
        "It used only 7 % of a core: it waited for something else, such as a timer, a lock, a database or another service.",
    ),
    (
        audits.base.NothingYet(),
        "No point has been measured yet.",
    ),
    (
        audits.base.NotRecorded(what="pending"),
        "Recorded before calls in flight were counted.",
    ),
    (
        audits.base.NotRecorded(what="resources"),
        "Recorded before processes, cores and limits were read back.",
    ),
    (
        audits.base.NotReportedByTool(tool="wrk"),
        "The load tool 'wrk' does not report it.",
    ),
    (
        audits.load.Conservation(points=87, calls=1_203_000),
        "1,203,000 calls at all 87 points: each is counted once, as answered, failed, unsent or open at the end.",
    ),
    (
        audits.load.Conservation(points=87, calls=1_203_000, at=AT),
        "Calls are missing or counted twice: gevent at 4,000/s and Trio at 4,000 and 6,000/s. These points are excluded; please report this.",
    ),
    (
        audits.load.LittlesLaw(points=66, tolerance_pct=5.0),
        "Calls in flight equal rate × service time at all 66 points, within 5 %, 50 µs per call and the clients' own lateness.",
    ),
    (
        audits.load.LittlesLaw(points=1, tolerance_pct=5.0, left_out=2),
        "Calls in flight equal rate × service time at the point, within 5 %, 50 µs per call and the clients' own lateness; 2 more cannot be checked.",
    ),
    (
        audits.load.LittlesLaw(points=66, at=AT, in_flight=41.2, expected=12.34, tolerance_pct=5.0),
        "Calls in flight contradict rate × service time: gevent at 4,000/s and Trio at 4,000 and 6,000/s (at worst 41.2 calls were in flight, not 12.3). Do not trust response times there.",
    ),
    (
        audits.load.ClientsAlike(clients=3),
        "None of 3 clients sees service times 10 % longer than the others.",
    ),
    (
        audits.load.ClientsAlike(clients=3, slow={"c2": (41.3, 58.9)}),
        "A client sees longer service times than the others: c2 41 to 59 % longer (p50). It is slow or farther away; high percentiles are mostly its own.",
    ),
    (
        audits.base.NotRecorded(what="client times"),
        "Recorded before each client reported its own response times.",
    ),
    (
        audits.within.TooFewWindows(needed=20),
        "A server needs 20 windows of 200 ms at points it sustains, with 20 answered calls each; lengthen the points or add passes.",
    ),
    (
        audits.within.TooShortForGrowth(),
        "Points are too short to tell whether memory grows; it takes 10 s at one rate.",
    ),
    (
        audits.within.MemoryGrowth(
            servers=2,
            growth={
                "gevent": (1.2e6, -0.4e6, 2.8e6, False),
                "Twisted": (120.4e6, 110e6, 131e6, True),
            },
            seconds=240.0,
        ),
        "Memory grows under constant load, within 4 min: Twisted by 120 MB per hour (110 to 131). It leaks, or fills a cache; a longer point shows which.",
    ),
    (
        audits.within.MemoryGrowth(
            servers=1, growth={"gevent": (1.2e6, -0.4e6, 2.8e6, False)}, seconds=240.0
        ),
        "Memory does not grow within 4 min; most by 1.2 MB per hour (-0.4 to 2.8) (gevent).",
    ),
    (
        audits.within.SteadyState(servers=3),
        "Response times of all 3 servers are steady within points.",
    ),
    (
        audits.within.SteadyState(
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
        audits.within.IndependentWindows(servers=3),
        "Windows of a point are independent enough for intervals from a single pass.",
    ),
    (
        audits.within.IndependentWindows(servers=3, dependent={"gevent": 0.25}),
        "Windows depend on one another: one of gevent is worth 0.25 independent ones. Intervals from a single pass are too narrow; compare passes.",
    ),
    (
        audits.load.NoLittlesLaw(),
        "Too many connections failed, so it is unknown how long they were open.",
    ),
    (
        audits.load.Schedule(points=66, planned_pct=1.0),
        "The clients kept their schedule at all 66 points: on time, and within 1 % of the planned load.",
    ),
    (
        audits.load.Schedule(points=66, at=AT, planned_pct=1.0),
        "The clients did not keep their schedule: gevent at 4,000/s and Trio at 4,000 and 6,000/s. They started late, left calls out, or offered another load than was planned.",
    ),
    (
        audits.load.NoSchedule(),
        "Closed loop: the servers set the pace, so there is no schedule to keep.",
    ),
    (
        audits.load.Overlap(points=66, clients=2, least_pct=99.63),
        "Both clients offered load together for at least 99.6 % of every point.",
    ),
    (
        audits.load.Overlap(points=66, clients=2, least_pct=71.2, at=AT),
        "The clients did not offer load at the same time: gevent at 4,000/s and Trio at 4,000 and 6,000/s (all of them in only 71.2 % of the point). Check their clocks and links.",
    ),
    (
        audits.load.Overlap(points=66, clients=2, least_pct=99.6, at=AT, missing=["iris"]),
        "iris took no part in some points: gevent at 4,000/s and Trio at 4,000 and 6,000/s. The others offered its share, so these points are not comparable with the rest.",
    ),
    (
        audits.load.OneClient(),
        "One client offered the whole load.",
    ),
    (
        audits.load.ClientLimit(limit_per_s=22_000.0),
        "The clients reach 22,000/s by themselves; failures beyond that are not counted against a server.",
    ),
    (
        audits.load.ClientLimit(limit_per_s=22_000.0, others_cpu_pct=57.0),
        "The client limit, 22,000/s, was measured while background load took 57 % of a core; it may be higher. Repeat on a quiet machine.",
    ),
    (
        audits.load.ClientLimit(limit_per_s=0.0),
        "The clients sustained no rate against the null server: no point can be trusted.",
    ),
    (
        audits.load.NoCalibration(),
        "The clients were not calibrated, so a limit may be theirs. Use calibrate: true.",
    ),
    (
        audits.load.NotCalibrated(),
        "The plan does not vary a rate, so the clients were not calibrated.",
    ),
    (
        audits.servers.SameBacklog(servers=7, backlog=512, asked=512),
        "A backlog of 512 was in force for all 7 servers.",
    ),
    (
        audits.servers.SameBacklog(servers=1, backlog=128, asked=512),
        "A backlog of 128 was in force for the server, not the 512 asked for.",
    ),
    (
        audits.servers.SameBacklog(servers=7, backlog=512, asked=512, differing={"aiohttp": "128"}),
        "Servers listened with backlogs other than the 512 asked for: aiohttp 128. The smaller one alone can cause resets and refusals.",
    ),
    (
        audits.servers.SameProcesses(servers=7),
        "One process for all 7 servers.",
    ),
    (
        audits.servers.SameProcesses(servers=7, several={"nginx": 3}),
        "Processes, the same in every pass: nginx 3; the others one.",
    ),
    (
        audits.servers.SameProcesses(servers=7, differing={"Gunicorn": "3 to 4"}),
        "The number of processes differed between passes: Gunicorn 3 to 4.",
    ),
    (
        audits.servers.SameCores(servers=7, cores=[0], own=True),
        "All 7 servers ran on core 0, and the clients on others.",
    ),
    (
        audits.servers.SameCores(servers=1, cores=[*range(32), 48]),
        "The server ran on cores 0 to 31, 48.",
    ),
    (
        audits.servers.SameCores(servers=1, cores=[0, 1]),
        "The server ran on cores 0, 1.",
    ),
    (
        audits.servers.SameCores(servers=7, shared=[0, 1]),
        "Servers and clients shared cores 0, 1: the load takes CPU time from the server, so measured rates are too low.",
    ),
    (
        audits.servers.SameCores(servers=7, cores=[0], differing={"nginx": "cores 0, 1"}),
        "Servers ran on different cores: nginx on cores 0, 1, the others on core 0. Their figures cannot be compared.",
    ),
    (
        audits.servers.SameDescriptors(servers=7, limit=20_000, asked=20_000),
        "A limit of 20,000 descriptors was in force for all 7 servers.",
    ),
    (
        audits.servers.SameDescriptors(
            servers=7, limit=20_000, asked=20_000, differing={"nginx": "1,024"}
        ),
        "Servers had descriptor limits other than the 20,000 asked for: nginx 1,024.",
    ),
    (
        audits.servers.SameVersions(servers=7, runtimes=["CPython 3.11.7", "go1.22"]),
        "Versions and checksums of all 7 servers are recorded (CPython 3.11.7, go1.22).",
    ),
    (
        audits.servers.SameVersions(servers=7, differing={"mine": ""}),
        "Not recorded for mine: version or files.",
    ),
    (
        audits.servers.SameSetUp(servers=7),
        "No differences are known in the set-up of all 7 servers.",
    ),
    (
        audits.servers.SameSetUp(
            servers=7, said={"Its backlog is its own.": ["inets", "fapws3"], "It is slow.": ["x"]}
        ),
        "inets and fapws3: Its backlog is its own. x: It is slow.",
    ),
    (
        audits.surroundings.QuietHost(points=66, most_pct=7.0, limit_pct=25.0),
        "Background load took less than 25 % of a core at all 66 points (at most 7 %).",
    ),
    (
        audits.surroundings.QuietHost(points=66, most_pct=61.0, limit_pct=25.0, at=AT),
        "Background load took up to 61 % of a core: gevent at 4,000/s and Trio at 4,000 and 6,000/s. Repeat on a quiet machine.",
    ),
    (
        audits.surroundings.QuietHost(
            points=66, most_pct=61.0, limit_pct=25.0, stolen_pct=55.0, at=AT
        ),
        "Background load took up to 61 % of a core (the host of the virtual machine took 55 %): gevent at 4,000/s and Trio at 4,000 and 6,000/s. Repeat on a quiet machine.",
    ),
    (
        audits.surroundings.QuietHost(points=66, limit_pct=25.0, others=["bolt"]),
        "Another user's run was on bolt: each disturbs the other. Agree on who measures when.",
    ),
    (
        audits.surroundings.LinkAudit(links=2),
        "Packet loss and capacity of both links were measured before the run, and suffice.",
    ),
    (
        audits.surroundings.LinkAudit(links=2, both_ways=True),
        "Packet loss and capacity of both links were measured in both directions before the run, and suffice.",
    ),
    (
        audits.surroundings.LinkAudit(links=2, lossy={"iris": 0.031}),
        "Links lost packets before the run: iris 3.1 %. Check the network.",
    ),
    (
        audits.surroundings.LinkAudit(links=2, slow=["iris"]),
        "The link to iris carries less than the plan needs at its highest values: there the link may be the limit, not a server.",
    ),
    (
        audits.surroundings.NoLink(),
        "Servers and clients share a machine: no network lies between them.",
    ),
    (
        audits.surroundings.LinkNotChecked(clients=["iris"]),
        "The link of iris could not be measured.",
    ),
    (
        audits.surroundings.Recording(points=2),
        "The run completed, and no window or sample is missing.",
    ),
    (
        audits.surroundings.Recording(points=66, end="stopped"),
        "The run was stopped early: not all planned points were measured.",
    ),
    (
        audits.surroundings.Recording(points=66, at=AT),
        "Some windows are missing: gevent at 4,000/s and Trio at 4,000 and 6,000/s.",
    ),
    (
        audits.surroundings.Recording(points=66, at=AT, unwatched=True),
        "CPU, memory and counters are missing: gevent at 4,000/s and Trio at 4,000 and 6,000/s.",
    ),
    (
        audits.surroundings.UnderWay(),
        "The run has not ended.",
    ),
    (
        notes.Resources(name="nginx", processes=3, threads=3, cores=[0, 1], nofile=20_000),
        "nginx runs in 3 processes on cores 0, 1, with at most 20,000 descriptors each.",
    ),
    (
        notes.Resources(name="gevent", processes=1, threads=1, cores=[0], nofile=20_000),
        "gevent runs in 1 process on core 0, with at most 20,000 descriptors.",
    ),
    (reasons.Interrupted(), "Interrupted; excluded from results."),
    (reasons.RecordingCut(), "The recording ends during this point; excluded from results."),
    (
        reasons.AuditFailed(scheduled=9000, found=8990),
        "The audit failed: 9,000 calls were scheduled and 8,990 are accounted for. Please report this.",
    ),
    (
        reasons.ClientAuditFailed(),
        "The audit failed: the figures of one client do not add up. Please report this.",
    ),
    (
        reasons.TooFewCalls(calls=99, needed=100),
        "99 calls: too few for a verdict, which takes 100. Use more connections or more seconds per point.",
    ),
    (
        reasons.TooShort(seconds=0.4, needed_s=1.0),
        "0.4 s: too short for a verdict, which takes 1 s. Use more connections or more seconds per point.",
    ),
    (
        reasons.OutOfPorts(times=812),
        "The clients ran out of local ports 812 times. Widen their port range, add a client, or cool down longer.",
    ),
    (
        reasons.OutOfDescriptors(times=312),
        "The clients ran out of file descriptors 312 times. Raise nofile, or shorten the timeout.",
    ),
    (
        reasons.OutOfDescriptors(times=312, most_open=1_000),
        "The clients ran out of file descriptors 312 times. The load tool has at most 1,000 connections open in each worker, whatever nofile is: use more workers, or shorten the timeout.",
    ),
    (
        reasons.CallsUnsent(unsent=500, calls=9000, relief="machine"),
        "The clients never sent 500 of 9,000 calls. Add a client machine.",
    ),
    (
        reasons.ClientsLate(late_share=0.4449, p99_us=31000, relief="worker"),
        "The clients started 44.4 % of connections over 5 ms late (p99 31 ms). Use one more worker per client (workers).",
    ),
    (
        reasons.ClientBusy(cpu_pct=97.2, relief=""),
        "The busiest client worker used 97 % of its core.",
    ),
    (
        reasons.BeyondClientLimit(offered_per_s=6000.0, limit_per_s=5000.0, relief="machine"),
        "The clients reached at most 5,000/s against the null server, so 6,000/s says nothing about the server. Add a client machine.",
    ),
    (
        reasons.NoClientLimit(offered_per_s=6000.0, relief="machine"),
        "The clients sustained no rate against the null server, so 6,000/s says nothing about the server. Add a client machine.",
    ),
    (
        reasons.BackgroundLoad(cpu_pct=48.4),
        "Background load took 48 % of a core from server and clients. Repeat on a quiet machine.",
    ),
    (
        reasons.BackgroundLoad(cpu_pct=48.4, stolen_pct=40.2),
        "Background load took 48 % of a core from server and clients (the host of the virtual machine took 40 %). Repeat on a quiet machine.",
    ),
    (
        reasons.BackgroundLoadAtCalibration(cpu_pct=80.0),
        "Background load took 80 % of a core during calibration; the client limit may be higher. Repeat on a quiet machine.",
    ),
    (
        reasons.Unreachable(failed=9000, calls=9000),
        "The network could not reach the server for 9,000 of 9,000 calls. Check the route between the machines.",
    ),
    (
        reasons.CallsFailed(failed=91, calls=9000, errors={"client-timo": 80, "connreset": 11}),
        "91 of 9,000 calls failed (1.0 %): timeout (80), connection reset (11).",
    ),
    (
        reasons.UnexpectedReplies(error="protocol-500", failed=3960, calls=4000),
        "The server answers 500: 3,960 of 4,000 calls failed (99.0 %).",
    ),
    (
        reasons.UnexpectedReplies(
            error="protocol-body",
            failed=3960,
            calls=4000,
            first_s=0.212,
            received=6,
            example="Wrong!",
        ),
        'The server answers with a wrong body: 3,960 of 4,000 calls failed (99.0 %), first after 0.21 s. The first: "Wrong!".',
    ),
    (
        reasons.UnexpectedReplies(
            error="protocol-closed", failed=1400, calls=2000, agreed=10, first_s=0.0, answered=3
        ),
        "The server ends connections after 3 of 10 calls: 1,400 of 2,000 calls failed (70.0 %), first after 0.00 s.",
    ),
    (
        reasons.ResetsFromElsewhere(failed=600, calls=9000, sent=2),
        "600 of 9,000 calls ended with a reset, and the target sent 2 resets: something between the machines ends connections. Check firewalls on the way.",
    ),
    (
        reasons.FellBehind(replied=6000, calls=9000, waiting=3000),
        "The server fell behind: 6,000 of 9,000 calls were answered while they came in, and 3,000 connections were waiting at the end.",
    ),
    (
        reasons.AcceptQueueOverflowed(times=1204),
        "The server's accept queue overflowed 1,204 times.",
    ),
    (
        reasons.NoSingleCause(succeeded=8905, calls=9000, clients=45, server=50),
        "98.9 % of the calls succeeded: 45 failed at the clients and 50 at the server, neither enough to be the cause. Repeat the run.",
    ),
    (
        reasons.SustainedUnderBackgroundLoad(cpu_pct=48.4),
        "Sustained although background load took 48 % of a core; response times may be longer for it.",
    ),
    (
        reasons.SustainedWithOverflows(times=1),
        "Sustained, but the server's accept queue overflowed once; those clients waited a second or more.",
    ),
    (
        reasons.LatencyIncludesLateness(p99_us=12000),
        "The latency includes the clients' own lateness (p99 12 ms); the service time does not.",
    ),
    (
        reasons.ClientGone(client="h3", said="The machine 'h3' is gone: it was shut down."),
        "The machine 'h3' is gone: it was shut down.",
    ),
    (
        reasons.TargetLost(said="The machine 'bolt' is gone: it was shut down."),
        "The machine 'bolt' is gone: it was shut down. Excluded from results.",
    ),
    (
        reasons.TargetSilent(machine="bolt", within_s=4.0),
        "The machine 'bolt' did not answer within 4 s after this point. Excluded from results.",
    ),
    (
        plans.MoreRights(server="mod_wsgi", right="root", why="Apache drops them itself."),
        "mod_wsgi runs as root where root runs it: Apache drops them itself.",
    ),
    (
        plans.OldServersExposed(servers=("Cogen", "Fibra"), machine="bolt", address="10.0.0.5"),
        "Cogen and Fibra no longer get security fixes and would listen on 10.0.0.5 of bolt, where other machines reach them. The run asks before it begins.",
    ),
    (
        reasons.PointOverdue(client="h3", allowed_s=40.0),
        "The load agent on h3 had not finished after 40 s and was stopped: it had too little CPU time, or too many calls to end at once.",
    ),
    (
        reasons.AgentProblem(client="h3", said="no file descriptors are left"),
        "The load agent on h3: no file descriptors are left.",
    ),
    (
        plans.ToolCannotTell(tool="wrk", untold=["latency", "windows", "replies"]),
        "Not reported by wrk: latency from the scheduled time, anything while a point runs and whether replies are as expected. Verdicts do without.",
    ),
    (
        plans.ToolOpensFew(tool="httperf", connections=2_000),
        "httperf has at most 2,000 connections open on a client, whatever nofile is; beyond that they"
        " fail. More workers allow more.",
    ),
    (
        plans.ToolCommand(tool="wrk", command="wrk -t1 -c4 -d2s http://SERVER:80/"),
        "wrk runs as: wrk -t1 -c4 -d2s http://SERVER:80/",
    ),
    (
        reasons.ToolFailed(tool="wrk", client="h3", said="ended with status 1 (cannot connect)"),
        "wrk on h3 ended with status 1 (cannot connect). Excluded from results.",
    ),
    (
        reasons.ToolInterrupted(tool="httperf", client="h3"),
        "httperf on h3 did not end by itself and was interrupted; calls without a result count as in flight.",
    ),
    (
        plans.ToolOfAnotherWorkload(tool="Locust", workload="HTTP", runs=["locustfiles"]),
        "Locust runs locustfiles only, not HTTP; leave it out, or choose another load tool.",
    ),
    (
        plans.ToolCannotVary(tool="wrk", axis="rate"),
        "wrk cannot vary the rate; give concurrency (workload.mode: closed), or choose another load tool.",
    ),
    (
        plans.ToolOnOneClient(tool="Pongbench's ZeroMQ client", clients=2),
        "Pongbench's ZeroMQ client runs on one client, not on 2; leave the others out.",
    ),
    (
        plans.ToolWithOneConnection(tool="Pongbench's ZeroMQ client", connections=4),
        "Pongbench's ZeroMQ client has one connection per worker, here 4; lower the concurrency, or add workers or clients.",
    ),
    (
        plans.ToolCannotEnd(tool="wrk", end="connections", instead="seconds"),
        "wrk cannot end a point by connections; give seconds instead.",
    ),
    (
        plans.ToolWholeSeconds(tool="ab", key="workload.timeout_s"),
        "ab counts whole seconds; give a whole number as workload.timeout_s.",
    ),
    (
        plans.ToolHasNoLatency(tool="httperf"),
        "httperf does not measure from the scheduled time, as search.p99_ms needs; leave that out, or choose another load tool.",
    ),
    (
        plans.ToolShowsSecrets(tool="ab"),
        "ab shows its headers to every user of the client; leave the secrets out of workload.headers, or choose another load tool.",
    ),
    (
        plans.ToolProtocol(tool="ab", protocol="http/1.1", speaks=["pong", "http/1.0"]),
        "ab speaks pong and http/1.0 only, not http/1.1; set workload.protocol to http/1.0.",
    ),
    (
        plans.ToolLacks(tool="tsung", key="pipeline"),
        "tsung is used without pipelining here; leave workload.pipeline out, or choose another load tool.",
    ),
    (
        plans.ToolOnly(tool="tsung", key="arrivals", value="poisson"),
        "tsung starts users at random instants only; set workload.arrivals to poisson.",
    ),
    (
        plans.ToolThinksTooLong(tool="httperf", connections=2_300, most=1_000),
        "Think times keep 2,300 connections open, but httperf uses select(), which has no descriptors for more than 1,000 here; give more workers, or choose another load tool.",
    ),
    (
        plans.SearchWithOneTool(),
        "A search chooses its points by one load tool; name one.",
    ),
    (
        unchecked.NotChecked(tool="wrk", what=["client-cpu", "conservation", "replies"]),
        "Could not be checked with wrk: how busy the clients were, that every call is accounted for and replies against the expected one.",
    ),
    (
        audits.load.AllChecked(points=66),
        "The load tool reported all that verdicts rest on, at all 66 points.",
    ),
    (
        audits.load.NotAllChecked(by_tool={"wrk": ["replies"], "httperf": ["schedule", "queue"]}),
        "Could not be checked with wrk: replies against the expected one. Could not be checked with httperf: the schedule (calls started late) and a growing queue.",
    ),
    (
        cross_check.OffersOtherLoad(
            tool="tsung", offered_per_s=489.7, other="agent", other_per_s=500
        ),
        "schedule: tsung offered 490/s, agent 500/s",
    ),
    (
        cross_check.CountsToTheEnd(tool="httperf"),
        "schedule: httperf counts until its last timeout",
    ),
    (
        cross_check.LeavesConnectOut(tool="wrk"),
        "connect: times of wrk begin with the request",
    ),
    (
        cross_check.KeepsConnections(tool="ab"),
        "keep-alive: ab does not replace connections",
    ),
    (
        cross_check.Resolves(tool="httperf", resolution_us=1_000),
        "resolution of httperf: 1.00 ms",
    ),
    (
        cross_check.DelaysItself(tool="tsung"),
        "delays within tsung, which are in its times",
    ),
    (
        cross_check.OmitsStalls(
            tool="httperf", timed_by="agent", latency_p99_us=612_000, service_p99_us=410_000
        ),
        "coordinated omission: from the scheduled time p99 is 612 ms (agent), which httperf does not measure",
    ),
    (
        reasons.WindowsLost(count=12),
        "12 reports of 200 ms from the clients were lost; the windows have gaps, the point's figures are complete.",
    ),
    (
        plans.InvalidHeader(header="X-A", wrong="value", number=2),
        "Request 2: the value of X-A has line breaks or other characters that are not allowed.",
    ),
    (
        plans.InvalidHeader(header="Cookie", wrong="credential"),
        "Cookie may be a credential, and sessions record plans; give {secret: NAME} in place of"
        " the value.",
    ),
    (
        plans.BodyTooLarge(bytes=70_000, most=65_536),
        "The body has 70,000 bytes; a body has at most 65,536.",
    ),
    (
        plans.BesideRequests(keys=("workload.path",)),
        "Requests are given, too; give it in each of these.",
    ),
    (plans.NoServers(keys=("servers",)), "None is listed; name at least one of the catalogue."),
    (
        plans.ServerTwice(keys=("servers",), server="tornado"),
        "'tornado' is listed twice; for a second measurement use `repeats`.",
    ),
    (
        plans.NotInThisLoop(keys=("rates",), given="rates"),
        "A closed loop offers no rate; give concurrency in their place.",
    ),
    (
        plans.NotInThisLoop(keys=("concurrency",), given="concurrency"),
        "Only a closed loop has one; give rates, or set workload.mode to closed.",
    ),
    (
        plans.RangeDescends(keys=("rates",), first=9000.0, last=1000.0),
        "They run from 9000 down to 1000; swap the two.",
    ),
    (
        plans.TooManyPoints(keys=("rates",), points=2001, most=2000),
        "2,001 points for one server are more than 2,000; widen the step.",
    ),
    (
        plans.NoValues(keys=("rates",), closed=False),
        "None is given; give a list, or from, to and step.",
    ),
    (
        plans.NoValues(keys=("concurrency",), closed=True),
        "None is given; a closed loop needs a list, for example [50].",
    ),
    (
        plans.NoValues(keys=("vary",), varied=True),
        "None is given; list the values, for example [1, 2, 4].",
    ),
    (
        plans.NotAscending(keys=("rates",), earlier=1000.0, later=1000.0),
        "1000 is listed twice; list each value once.",
    ),
    (
        plans.NotAscending(keys=("rates",), earlier=2000.0, later=1000.0),
        "1000 comes after 2000; list them in ascending order, each once.",
    ),
    (
        plans.OneFieldOnly(fields=["size", "pipeline"]),
        "size and pipeline cannot vary together; keep one of them.",
    ),
    (
        plans.NotVaried(field="size", workload="HTTP", fields=["pipeline"]),
        "HTTP cannot vary 'size', only pipeline; or give several rates.",
    ),
    (
        plans.NotVaried(field="size", workload="Ping-pong", fields=[]),
        "Ping-pong has no field that can vary; give several rates instead.",
    ),
    (
        plans.OneLoadOnly(keys=("rates",), field="pipeline"),
        "With 'pipeline' varied, the load stays the same; give a single value.",
    ),
    (
        plans.InvalidValue(keys=("vary",), value=0.0, said="expected a number of at least 1."),
        "0 is not possible: expected a number of at least 1.",
    ),
    (
        plans.LengthUnclear(keys=("connections", "seconds"), both=True),
        "Both are given; give exactly one of the two.",
    ),
    (
        plans.LengthUnclear(keys=("connections", "seconds"), both=False),
        "Neither is given; give exactly one of the two.",
    ),
    (
        plans.InvalidPath(keys=("workload.path",)),
        "It must begin with / and have no spaces or control characters.",
    ),
    (
        plans.OneCallOnly(keys=("workload.calls_per_connection",), protocol="pong"),
        "It must be 1 with pong.",
    ),
    (
        plans.QueuesTooLarge(message_size=16777216, high_water_mark=1000, most_bytes=1 << 30),
        "A queue of 1,000 messages of 16,777,216 bytes takes more than 1 GiB; lower message_size or high_water_mark.",
    ),
    (
        plans.LocustfileMissing(),
        "None is named; give the path of a locustfile.",
    ),
    (
        plans.LocustfileMissing(path="shop.py", said="no such file or directory"),
        "shop.py cannot be read: no such file or directory.",
    ),
    (
        plans.LocustfileInvalid(path="shop.py", at_line=7, said="invalid syntax"),
        "shop.py, line 7: invalid syntax.",
    ),
    (
        plans.LoadShapeGiven(path="shop.py", at_line=9, name="Steps"),
        "shop.py, line 9: Steps is a LoadTestShape, and the plan decides the load; remove it, and give rates or users in the plan.",
    ),
    (
        plans.RequirementInvalid(requirement="faker"),
        "'faker' names no package of the index with its version; write faker==40.1.0.",
    ),
    (
        plans.OneCallOnly(keys=("workload.calls_per_connection",), protocol="websocket"),
        "Messages are not counted by connection; give rates (per second) and seconds.",
    ),
    (
        plans.NoClosedLoop(workload="WebSocket"),
        "WebSocket has no closed loop; set workload.mode to open, and give rates.",
    ),
    (
        plans.SecondsOnly(workload="WebSocket"),
        "Points of WebSocket last a number of seconds; give seconds, and workload.connections for those held open.",
    ),
    (
        plans.TooManyHeld(
            keys=("vary",),
            x=100_000.0,
            suffix=" connections",
            connections=100_000,
            where="clients",
            resource="ports",
            available=28_232,
            per_client=28_232,
        ),
        "100,000 connections held open need as many local ports; the clients have 28,232. Use 4 clients or a wider net.ipv4.ip_local_port_range.",
    ),
    (
        plans.TooManyHeld(
            keys=("vary",),
            x=20_000.0,
            suffix=" connections",
            connections=20_000,
            where="target",
            resource="descriptors",
            available=19_936,
        ),
        "20,000 connections held open need as many file descriptors; the target has 19,936. Raise nofile and the machine's hard limit, or hold fewer.",
    ),
    (
        plans.PipelineTooDeep(keys=("workload.pipeline",), pipeline=4),
        "4 calls at once need as many calls_per_connection.",
    ),
    (
        plans.ReconnectAlone(),
        "reconnect needs equal calls one after another: no pipeline, think_time_s or requests.",
    ),
    (
        plans.RunTooLong(
            keys=("seconds",), shortest_s=93606.5, longest_s=100000.0, limit_s=86400.0
        ),
        "It takes 26 to 28 h, but a run is ended after 24 h. Use fewer servers, rates or repeats, or shorter points.",
    ),
    (
        plans.ProtocolNotSupported(
            keys=("servers",), name="Tornado", protocols=["http/1.0", "http/1.1"], wanted="pong"
        ),
        "Tornado supports http/1.0, http/1.1, not pong. Leave it out of the plan.",
    ),
    (
        plans.OneClientOnly(keys=("servers", "concurrency"), what="ZeroMQ PAIR", clients=3),
        "ZeroMQ PAIR has one client at a time, here 3; leave it out, or set concurrency to 1.",
    ),
    (
        plans.OneClientOnly(
            keys=("workload.transport", "workers"), what="The transport inproc", clients=2
        ),
        "The transport inproc has one client at a time, here 2; leave it out, or set workers and clients to 1.",
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
        plans.PointsLengthened(
            keys=("connections",), lengthened=1, points=2, connections=400, most=9000
        ),
        "1 of 2 points get more than 400 connections, up to 9,000, to be long enough.",
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
        plans.ThinkTimeFills(
            keys=("nofile",),
            x=500.0,
            suffix="/s",
            connections=27500,
            think_s=55.0,
            resource="descriptors",
            available=19936,
        ),
        "From 500/s on up to 27,500 connections are open at once, because think time keeps each open for 55 s; the client has 19,936 file descriptors. Such points count as the client's limit, not the server's.",
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
        "One pass shows no difference between servers; 5 passes show 10 % in CPU per call (typical spread).",
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
        notes.SharedCores(machine="localhost", cores=[0]),
        "Server and agents share core 0 of 'localhost': the load generator takes CPU time from the server, so measured rates are too low. Give them cores of their own.",
    ),
    (
        notes.Link(
            client="h2",
            target="h1",
            min_us=80,
            p50_us=95,
            p99_us=140,
            bits_per_s=940000000.0,
            by="iperf3",
            needed_bits_per_s=2100000.0,
        ),
        "h2 reaches h1 in 95 µs (p99 140 µs) and at 940 Mbit/s (iperf3); the plan needs about 2.1 Mbit/s at most.",
    ),
    (
        notes.Link(
            client="h2",
            target="h1",
            min_us=80,
            p50_us=95,
            p99_us=140,
            bits_per_s=940000000.0,
            to_target_bits_per_s=930000000.0,
            by="iperf3",
        ),
        "h2 reaches h1 in 95 µs (p99 140 µs), at 940 Mbit/s from h1 and 930 Mbit/s to it (iperf3).",
    ),
    (
        notes.Link(
            client="h2",
            target="h1",
            min_us=80,
            p50_us=95,
            p99_us=240000,
            bits_per_s=9000000.0,
            segments=600,
            resent=19,
        ),
        "h2 reaches h1 in 95 µs (p99 240 ms) and at 9 Mbit/s. 19 of 600 segments were lost.",
    ),
    (
        notes.LinkUnchecked(
            client="h2", said="The link of h2 could not be checked: it did not answer."
        ),
        "The link of h2 could not be checked: it did not answer.",
    ),
    (
        notes.SlowLink(
            client="h2", target="h1", bits_per_s=940000000.0, needed_bits_per_s=1200000000.0
        ),
        "The link from h1 to h2 carries 940 Mbit/s and the plan needs about 1.2 Gbit/s: at its highest rates the link may be the limit, not a server. Lower them, or use a faster link.",
    ),
    (
        notes.Tuned(
            machine="h1",
            set="standard",
            settings=[
                notes.Setting(key="net.core.somaxconn", old="128", wanted="4096", got="4096"),
                notes.Setting(key="net.core.rmem_max", old="1", wanted="9", got="8"),
                notes.Setting(key="net.gone", wanted="2", problem="absent"),
            ],
        ),
        "h1 is tuned for this run: net.core.somaxconn 128 -> 4096, net.core.rmem_max 1 -> 8. net.gone is unchanged on h1: absent. The kernel of h1 set net.core.rmem_max to 8, not 9 as asked.",
    ),
    (notes.Tuned(machine="h1", set="standard", settings=[]), "h1 needed no tuning for this run."),
    (
        notes.Untuned(machine="h1", why="profile", said=""),
        "h1 is not tuned: its profile does not allow it (tuning).",
    ),
    (
        notes.Untuned(machine="h1", why="sudo", said=""),
        "h1 is not tuned: its profile allows no root privileges (sudo).",
    ),
    (
        notes.Untuned(machine="h1", why="declined", said=""),
        "h1 is not tuned: the run was started without tuning.",
    ),
    (
        notes.Untuned(machine="h1", why="failed", said="sudo on h1 refused the password."),
        "sudo on h1 refused the password.",
    ),
    (
        notes.Restored(machine="h1", settings=["net.core.somaxconn 128"]),
        "Kernel settings of h1 are restored: net.core.somaxconn 128.",
    ),
    (
        notes.CrashRestored(machine="h1", said=["net.core.somaxconn is 128 again on h1."]),
        "A crashed run had left h1 tuned: net.core.somaxconn is 128 again on h1.",
    ),
    (
        notes.NotRestored(
            machine="h1", said="net.core.somaxconn could not be put back on h1: permission denied."
        ),
        "net.core.somaxconn could not be put back on h1: permission denied.",
    ),
    (
        notes.StillTuned(machine="h1", said="sudo on h1 refused the password."),
        "h1 is still tuned by another run, or by one that crashed: sudo on h1 refused the password.",
    ),
    (
        notes.Gate(gate={"sentences": ["It answers 'Pong!' with 45 bytes on the wire."]}),
        "It answers 'Pong!' with 45 bytes on the wire.",
    ),
    (
        notes.Unequal(name="gunicorn", said="It has three workers."),
        "gunicorn: It has three workers.",
    ),
    (notes.Backlog(name="gevent", backlog=512, asked=512), "gevent listens with a backlog of 512."),
    (
        notes.Backlog(name="gevent", backlog=128, asked=512),
        "gevent listens with a backlog of 128, not the 512 asked for.",
    ),
    (
        notes.WarmUp(name="PyPy", seconds=10.0, calls=9000),
        "PyPy gets faster while it runs, so it was warmed up for 10 s.",
    ),
    (
        notes.Deploy(said="gevent did not start: its port is taken."),
        "gevent did not start: its port is taken.",
    ),
    (
        notes.Ceiling(
            ceiling_per_s=22000.0,
            reached_all=True,
            others_cpu_pct=0.0,
            disturbed=False,
            name="",
            before_per_s=0.0,
        ),
        "The clients reach 22,000/s against the null server: all that the plan asks for.",
    ),
    (
        notes.Ceiling(
            ceiling_per_s=8000.0,
            reached_all=False,
            others_cpu_pct=0.0,
            disturbed=False,
            name="",
            before_per_s=0.0,
        ),
        "The clients reach 8,000/s against the null server; beyond that a point says more about them than about a server.",
    ),
    (
        notes.Ceiling(
            ceiling_per_s=0.0,
            reached_all=False,
            others_cpu_pct=55.0,
            disturbed=True,
            name="",
            before_per_s=0.0,
        ),
        "The clients sustained no rate against the null server: no point can be trusted. Background load took 55 % of a core meanwhile, so they may reach more. Repeat on a quiet machine.",
    ),
    (
        notes.Ceiling(
            ceiling_per_s=3000.0,
            reached_all=False,
            others_cpu_pct=0.0,
            disturbed=False,
            name="gevent",
            before_per_s=1000.0,
        ),
        "gevent sustained 3,000/s, so the client limit is at least that (before: 1,000/s).",
    ),
    (
        notes.Ceiling(
            ceiling_per_s=500.0,
            reached_all=False,
            others_cpu_pct=0.0,
            disturbed=False,
            name="gevent",
            before_per_s=0.0,
        ),
        "gevent sustained 500/s, so the client limit is at least that (before: none).",
    ),
    (
        notes.ClientLimitUnknown(protocol="http/1.0"),
        "The null server does not support http/1.0, so the client limit was not measured.",
    ),
    (
        notes.Rates(values=[500.0, 2_500.0, 12_300.0], suffix="/s"),
        "3 rates up to the client limit: 500 to 12,300/s.",
    ),
    (
        plans.RatesEstimated(ceiling="20,000/s"),
        "The rates end at the client limit, which is measured first: duration, calls and ports are estimates for 20,000/s.",
    ),
    (
        plans.StepOrPoints(),
        "A range has either a step or a number of points; give one of the two.",
    ),
    (
        plans.CeilingInPoints(),
        "A range up to the ceiling needs a number of points in place of a step.",
    ),
    (
        plans.CeilingOfField(field="message_size"),
        "Nothing limits 'message_size' before a run; give its highest value.",
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
        plans.CeilingUnknown(),
        "The rates end at the client limit, which only a calibration finds; set calibrate to true, or give the highest rate.",
    ),
    (notes.ClientLimitUnknown(protocol=""), "The client limit was not measured."),
    (
        notes.Died(
            x=4000.0,
            suffix="/s",
            name="gevent",
            status=-11,
            warming_up=False,
            said="Segmentation fault",
        ),
        "gevent ended by signal 11 at 4,000/s; its sweep ends here. Last output: Segmentation fault",
    ),
    (
        notes.Died(x=500.0, suffix="/s", name="gevent", status=3, warming_up=True, said=""),
        "gevent ended with status 3 during its warm-up at 500/s; its sweep ends here.",
    ),
    (
        notes.GaveUp(x=9000.0, suffix="/s", success_below_pct=50.0, points=3, left_out=4),
        "The sweep ended early at 9,000/s: fewer than 50 % of the calls succeeded at 3 points in a row; 4 higher ones were left out.",
    ),
    (
        notes.GaveUp(x=9000.0, suffix="/s", success_below_pct=50.0, points=1, left_out=1),
        "The sweep ended early at 9,000/s: fewer than 50 % of the calls succeeded at this point; 1 higher one was left out.",
    ),
    (notes.Skipped(name="gevent"), "gevent was skipped."),
    (notes.CoolDown(seconds=58.2), "Waiting 58 s until the client's local ports are free again."),
    (
        notes.Settle(name="gevent", seconds=5.0),
        "gevent still had connections waiting 5 s after the last point; they carry over into the next one.",
    ),
    (
        notes.Memory(name="gevent", before_bytes=21000000, after_bytes=180000000),
        "gevent grew from 21 MB to 180 MB and did not shrink after its last point: it keeps the memory for later, or leaks it.",
    ),
    (
        notes.Memory(name="gevent", before_bytes=21000000, after_bytes=180000000, held=10000),
        "gevent grew from 21 MB to 180 MB and did not shrink after its last point: it had up to 10,000 connections open at once.",
    ),
    (
        notes.Again(
            name="gevent",
            look=1,
            pass_number=2,
            rates_per_s=[9000.0],
            suffix="/s",
            verdict="server-limited",
            held=False,
            passes=2,
        ),
        "gevent did not sustain 9,000/s (first try, pass 2): repeating, because its limit is decided there.",
    ),
    (
        notes.Again(
            name="gevent",
            look=2,
            pass_number=1,
            rates_per_s=[9000.0],
            suffix="/s",
            verdict="inconclusive",
            held=False,
            passes=1,
        ),
        "gevent could not be judged at 9,000/s (second try): repeating, because its limit is decided there.",
    ),
    (
        notes.Again(
            name="gevent",
            look=2,
            pass_number=1,
            rates_per_s=[9000.0],
            suffix="/s",
            verdict="ok",
            held=True,
            passes=1,
        ),
        "gevent sustained 9,000/s (second try): repeating, because its limit is decided there.",
    ),
    (notes.Paused(x=4500.0, suffix="/s"), "Paused after 4,500/s."),
    (notes.Paused(x=None, suffix="/s"), "Paused after the servers were tested."),
    (notes.Resumed(), "Resumed."),
    (
        notes.SamplerLost(said="The sampler on h1 ended."),
        "The sampler on h1 ended. From here on CPU, memory and counters are missing.",
    ),
    (
        notes.ClientLost(clients=["h3"], left=2, limit_void=True),
        "h3 was lost; from here on 2 clients offer the rate, and the client limit found before no longer applies.",
    ),
    (
        notes.ClientLost(clients=["h3"], left=1, limit_void=False),
        "h3 was lost; from here on 1 client offers the whole rate.",
    ),
    (
        notes.ClientNotBack(clients=["h3"], said="Its host key changed."),
        "h3 did not come back: Its host key changed.",
    ),
    (
        notes.ClientBack(
            clients=["h3"],
            left=2,
            limit_valid=True,
            changed=["kernel Linux 6.1 -> 6.6"],
            said=["h3 needed no tuning for this run."],
        ),
        "h3 is back; from here on 2 clients offer the rate, and the client limit found with all of them applies again. Its facts changed meanwhile: kernel Linux 6.1 -> 6.6. h3 needed no tuning for this run.",
    ),
    (
        notes.WindowsMissing(seconds=0.4),
        "0.4 s of this point's windows never arrived from the clients. Its totals are complete; only its course has a gap.",
    ),
    (
        notes.NotJudged(
            x=4000.0,
            suffix="/s",
            name="gevent",
            first=False,
            cause="The clients never sent 500 of 9,000 calls.",
            finding={"code": "calls-unsent", "unsent": 500, "calls": 9000},
        ),
        "gevent at 4,000/s cannot be judged. The clients never sent 500 of 9,000 calls.",
    ),
    (
        notes.Faulty(x=200.0, name="gevent", cause="The server answers 500."),
        "gevent is faulty at 200/s. The server answers 500.",
    ),
    (
        notes.SamplerRestarted(said="The sampler on h1 ended."),
        "The sampler on h1 ended. It was started again.",
    ),
    (
        notes.TargetGone(said="The machine 'h1' is gone: it was shut down."),
        "The machine 'h1' is gone: it was shut down. No more load is offered to it.",
    ),
    (
        notes.Exposed(
            servers=["Medusa"],
            address="10.0.0.2",
            said="Medusa no longer gets security fixes and would listen on 10.0.0.2 of h1, where other machines reach it",
        ),
        "Medusa no longer gets security fixes and would listen on 10.0.0.2 of h1, where other machines reach it; the user who started the run agreed.",
    ),
    (
        notes.SharedMachine(machine="h1", there=["process 812 of user ops (python3 -)"]),
        "Another user's run is on 'h1' (process 812 of user ops (python3 -)): each disturbs the other. Agree on who measures when.",
    ),
    (
        notes.Confinement(machine="h1"),
        "The kernel of h1 offers no Landlock (Linux 5.13), so the servers may read and write what their user may.",
    ),
    (ends.Aborted(), "The run was aborted. Every point measured before that is in the session."),
    (
        ends.Suspended(seconds=6.2),
        "Pongbench itself was suspended for 6 s. Servers and clients stop by themselves without contact for that long, so the run ended. Every point measured before is in the session.",
    ),
    (
        reasons.LossyLink(segments=412, calls=4000),
        "The link loses packets: the target retransmitted 412 segments in 4,000 calls, and no accept queue overflowed. Check the network between the machines.",
    ),
    (
        reasons.LossyLink(segments=412, calls=4000, measured_share=0.0312),
        "The link loses packets: the target retransmitted 412 segments in 4,000 calls; before the run it lost 3.1 %, and no accept queue overflowed. Check the network between the machines.",
    ),
    (
        reasons.LossyLink(segments=412, calls=4000, by_clients=300),
        "The link loses packets: target and clients retransmitted 412 segments in 4,000 calls, and no accept queue overflowed. Check the network between the machines.",
    ),
    (
        reasons.SlowConnections(connect_p90_us=310_000),
        "Connections took 310 ms (p90) to be established, and no accept queue overflowed. Check the network between the machines.",
    ),
    (
        reasons.NotEstablished(missing=60, connections=400),
        "60 of 400 connections were not established in time, and no accept queue overflowed. Check the network between the machines, or raise timeout_s.",
    ),
    (
        TooManyErrors(errors_pct=2.25, limit_pct=1.0),
        "2.25 % errors, more than the 1 % allowed.",
    ),
    (TooSlow(p99_ms=80.4, limit_ms=50.0), "p99 80.4 ms, above the limit of 50 ms."),
    (
        plans.SearchInClosedLoop(),
        "A closed loop offers no rate to search for; remove search, or set workload.mode to open.",
    ),
    (
        plans.BesideSearch(keys=("rates",)),
        "A search chooses its rates by itself; remove this, or remove search.",
    ),
    (
        plans.SearchBoundsDescend(low=9000.0, high=500.0),
        "It must be above from (9000), and is 500.",
    ),
    (
        plans.SearchStepTooLarge(step=900.0, low=500.0, high=1000.0),
        "900 is more than lies between 500 and 1000; use 50 or less.",
    ),
    (
        plans.TooFewForLimit(keys=("seconds",), x=500.0, calls=500, needed=1000, needed_s=2.0),
        "At 500/s a point has 500 calls: too few for a p99, which takes 1,000. Set seconds to 2 or more.",
    ),
    (
        _peak(),
        "gevent: peak 14,250/s with at most 1 % errors and a p99 of at most 50 ms (95 % interval 14,250 to 14,500/s; 3 points).",
    ),
    (
        _peak(high_per_s=None, sure=False, blocked_per_s=14500.0, blocked_by="client-limited"),
        "gevent: peak ≥ 14,250/s with at most 1 % errors and a p99 of at most 50 ms (95 % interval above 14,250/s; 3 points). From 14,500/s on the clients are the limit.",
    ),
    (
        _peak(peak_per_s=None, low_per_s=0.0, high_per_s=500.0, met=[], p99_ms=None),
        "gevent met the limits at no tested rate (at most 1 % errors; 1 point).",
    ),
    (
        _peak(low_per_s=13000.0, sure=False, pass_number=2, passes=3, p99_ms=None, errors_pct=0.0),
        "gevent: peak 14,250/s with no errors (95 % interval 13,000 to 14,500/s; 3 points, pass 2). The search ended before the peak was certain.",
    ),
]


@pytest.mark.parametrize(
    ("message", "sentence"), SENTENCES, ids=lambda value: getattr(value, "code", "")
)
def test_a_message_is_rendered(message: Message, sentence: str) -> None:
    assert message.text() == sentence


def test_every_code_has_its_sentence_here() -> None:
    assert {type(message) for message, _ in SENTENCES} >= {*kinds(Message).values()} - {
        Message,
        Recorded,
    }


RECORDED = [message for message, _ in SENTENCES if isinstance(message, Reason | Limit | Notice)]
REASON = [message for message, _ in SENTENCES if isinstance(message, Reason | Limit)]


@pytest.mark.parametrize("message", RECORDED, ids=lambda message: message.code)
def test_a_message_is_read_as_it_was_recorded(message: Message) -> None:
    recorded = msgspec.json.decode(msgspec.json.encode(message.record()))
    known = REASONS if isinstance(message, Reason | Limit) else TOPICS

    assert read(known, recorded["code"], recorded, "") == message


@pytest.mark.parametrize("message", RECORDED, ids=lambda message: message.code)
def test_a_message_survives_a_round_trip_through_a_session(message: Message) -> None:
    note = Note(t_us=1, topic="x", text=message.text(), data=message.record())

    assert msgspec.json.decode(encode(note), type=Note) == note


@pytest.mark.parametrize("message", REASON, ids=lambda message: message.code)
def test_reasons_that_differ_in_figures_alone_make_one_sentence(message: Message) -> None:
    doubled = msgspec.structs.replace(message, **_doubled(msgspec.structs.asdict(message)))
    differing = doubled != message

    assert grouped([message, doubled]) == [[message, doubled]]
    assert (" to " in merged_text([message, doubled])) >= differing


def _doubled(parameters: dict[str, Any]) -> dict[str, Any]:
    return {
        name: _doubled(value) if isinstance(value, dict) else 2 * value
        for name, value in parameters.items()
        if isinstance(value, int | float | dict)
    }


def test_a_figure_of_several_messages_is_written_from_least_to_most() -> None:
    late = [
        reasons.ClientsLate(late_share=share, p99_us=p99_us, relief="machine")
        for share, p99_us in ((0.36, 31_000), (0.251, 8_200), (0.36, 31_400))
    ]

    assert merged_text(late) == (
        "The clients started 25.1 to 36.0 % of connections over 5 ms late "
        "(p99 8 to 31 ms). Add a client machine."
    )


def test_one_example_represents_all_responses_of_a_faulty_server() -> None:
    first = reasons.UnexpectedReplies(
        error="protocol-500", failed=10, calls=100, first_s=0.1, example="HTTP/1.0 500 No"
    )
    other = msgspec.structs.replace(first, failed=40, calls=200, example="HTTP/1.0 500 Later")
    (group,) = grouped([first, other])
    assert merged_text(group) == (
        "The server answers 500: 10 to 40 of 100 to 200 calls failed (10.0 to 20.0 %), first after 0.10 s."
        ' The first: "HTTP/1.0 500 No".'
    )


def test_messages_that_differ_in_more_than_figures_are_not_merged() -> None:
    first = reasons.CallsFailed(failed=10, calls=100, errors={"connreset": 10})
    other = reasons.CallsFailed(failed=10, calls=100, errors={"client-timo": 10})
    calm = reasons.BackgroundLoad(cpu_pct=40.0)

    assert grouped([first, calm, other, first]) == [[first, first], [calm], [other]]


@pytest.mark.parametrize(
    "finding",
    [
        {},
        {"code": "of-a-later-version", "figure": 3},
        {"code": 7},
        {"code": "calls-failed", "failed": "many", "calls": 10, "errors": {}},
        {"code": "calls-failed", "failed": 1},
        {"code": "clients-late", "late_share": math.inf},
    ],
)
def test_an_unknown_code_shows_the_recorded_sentence(finding: dict[str, Any]) -> None:
    stop = next(d for d in session(1, 2) if isinstance(d, PointStop))
    stop = msgspec.structs.replace(stop, reasons=["As it was said."], findings=[finding])

    assert reasons_of(stop) == [Recorded(sentence="As it was said.")]


def test_a_point_recorded_before_there_were_codes_has_its_sentences() -> None:
    stop = next(d for d in session(1, 2) if isinstance(d, PointStop))
    stop = msgspec.structs.replace(stop, reasons=["One.", "Two."], findings=[])

    assert [reason.text() for reason in reasons_of(stop)] == ["One.", "Two."]


def test_an_unexpected_response_shows_its_status() -> None:
    assert error_label("protocol-503") == "unexpected response: 503"
    assert error_label("other-EPIPE") == "other error: EPIPE"
    assert error_label("connreset") == "connection reset"
    assert error_label("connreset", short=True) == "reset"
    assert error_label("of-a-later-version") == "of-a-later-version"


def test_errors_are_listed_by_frequency() -> None:
    assert listed_errors({"connreset": 3, "protocol-500": 12}) == (
        "unexpected response: 500 (12), connection reset (3)"
    )
    assert listed_errors({"protocol-500": 12, "connreset": 0}) == "unexpected response: 500"
