"""Sentences of reasons of a verdict, of limits, and of why a run ended."""

# ruff: noqa: E501 - a sentence stands on one line

from __future__ import annotations

from workbench.messages import reasons
from workbench.messages.base import Message
from workbench.messages.reasons import TooManyErrors, TooSlow

SENTENCES: list[tuple[Message, str]] = [
    (reasons.Interrupted(), "Ended early; excluded from results."),
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
        reasons.OfferedLess(offered_per_s=131.2, planned_per_s=200.0),
        "The load tool offered 131/s, not 200/s.",
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
            error="protocol-malformed",
            failed=9,
            calls=9,
            why="a transfer coding other than chunked",
        ),
        "The server gives malformed responses (a transfer coding other than chunked): 9 of 9 calls failed (100.0 %).",
    ),
    (
        reasons.UnexpectedReplies(
            error="protocol-closed", failed=1400, calls=2000, agreed=10, first_s=0.0, answered=3
        ),
        "The server ends connections after 3 of 10 calls: 1,400 of 2,000 calls failed (70.0 %), first after 0.00 s.",
    ),
    (
        reasons.UnexpectedReplies(error="tls-closed", failed=3960, calls=4000),
        "The server closes connections during the TLS handshake: 3,960 of 4,000 calls failed (99.0 %).",
    ),
    (
        reasons.UnexpectedReplies(error="tls-wrong-version-number", failed=3960, calls=4000),
        "The server fails TLS (wrong version number): 3,960 of 4,000 calls failed (99.0 %).",
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
        reasons.ServerEnded(status=1),
        "The server ended with status 1 during the point.",
    ),
    (
        reasons.ServerEnded(status=-9),
        "The server ended by signal 9 during the point.",
    ),
    (
        reasons.SustainedOverLossyLink(segments=412, calls=9000, by_clients=9, p99_us=212_000),
        "Sustained, but the link loses packets: target and clients retransmitted 412 segments in 9,000 calls, which waited for it (p99 212 ms). Check the network between the machines.",
    ),
    (
        reasons.SustainedOverLossyLink(segments=412, calls=9000),
        "Sustained, but the link loses packets: the target retransmitted 412 segments in 9,000 calls, which waited for it. Check the network between the machines.",
    ),
    (
        reasons.ClientSlower(client="c2", p50_us=81_234, others_p50_us=1_234),
        "c2 saw service times of 81.2 ms, the other clients 1.23 ms (p50): high percentiles are its own. Check its link.",
    ),
    (
        reasons.TooShortForQueue(stay_s=4.502, seconds=5.0),
        "Sustained, but 5.0 s are too short for these response times to show whether the server falls behind: connections stay open for 4.5 s. Use longer points.",
    ),
    (
        reasons.TooShortForQueue(stay_s=4.1, seconds=5.0, needed_s=19.0),
        "Sustained, but 5.0 s are too short for these response times to show whether the server falls behind: connections stay open for 4.1 s. Use points of at least 19 s.",
    ),
    (
        reasons.ResponseTimesRose(first_us=1234, last_us=81_400),
        "Response times rose throughout the point, from 1.23 to 81.4 ms (median of its first and last tenth): its percentiles depend on its length.",
    ),
    (
        reasons.SustainedWithOverflows(times=1),
        "Sustained, but the server's accept queue overflowed once; those clients waited a second or more.",
    ),
    (
        reasons.LoadWentElsewhere(share=1.0, host="127.0.0.1:9000"),
        "100.0 % of the requests went elsewhere, most of them to 127.0.0.1:9000, so nothing is stated about the server. Use paths without a host in the locustfile.",
    ),
    (
        reasons.TooLittleWork(calls=200000, cpu_ms=12.4),
        "The server used 12 ms of CPU time, too little for 200,000 replies, so something else answered. Check what listens on its port.",
    ),
    (
        reasons.ClientLimitedTimes(p50_us=0, p99_us=12000),
        "Response times are client-limited: up to 12.0 ms of p99 may be the clients' own.",
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
        reasons.ComputerSlept(seconds=30.4),
        "This computer slept for 30 s during this point. Excluded from results.",
    ),
    (
        reasons.TargetSilent(machine="bolt", within_s=4.0),
        "The machine 'bolt' did not answer within 4 s after this point. Excluded from results.",
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
        reasons.ToolFailed(tool="wrk", client="h3", said="ended with status 1 (cannot connect)"),
        "wrk on h3 ended with status 1 (cannot connect).",
    ),
    (
        reasons.ToolInterrupted(tool="httperf", client="h3"),
        "httperf on h3 did not end by itself and was interrupted; calls without a result count as in flight.",
    ),
    (
        reasons.WindowsLost(count=12),
        "The clients' link lost 12 reports of 200 ms; the windows have gaps, the point's figures are complete.",
    ),
    (reasons.Aborted(), "The run was aborted. Every point measured before that is in the session."),
    (
        reasons.Suspended(seconds=6.2),
        "Pongbench itself was suspended for 6 s. Servers and clients stop by themselves without contact for that long, so the run ended. Every point measured before is in the session.",
    ),
    (
        reasons.Suspended(seconds=30.4, asleep=True),
        "This computer slept for 30 s. Servers and clients stop by themselves without contact for that long, so the run ended. Every point measured before is in the session.",
    ),
    (
        reasons.NoResult(name="Tornado, wrk", said="wrk on h3 was killed by SIGKILL."),
        "No point of Tornado, wrk has a result. wrk on h3 was killed by SIGKILL.",
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
]
