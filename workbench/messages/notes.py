"""Notes, recorded in a session beside its points.

A note's topic is the code of its message, its data are the parameters (`documents.Note`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import Any

from workbench import formatting
from workbench.axis import RATE
from workbench.messages.base import FORMATS, Said, Templates, fill, place, share


class Severity(IntEnum):
    """How much a note matters to a reader of the figures."""

    QUIET = 0
    """The same in every pass; not printed in the terminal."""
    INFO = 1
    WARNING = 2
    """Changes what figures mean."""
    SERIOUS = 3
    """Figures are missing."""
    ALERT = 4
    """Unexpected and needs attention: shown at once, above the charts."""


STEADY_PCT = 5
"""Calls that a server answered more in the last third of its warm-up than in the second."""


def _rising(more_pct: int) -> str:
    if more_pct <= STEADY_PCT:
        return ""
    return (
        f", and was still getting faster: {more_pct} % more in the last third of them than in the"
        " one before"
    )


def _tuned(settings: Sequence[Mapping[str, Any]], machine: str) -> str:
    """What was changed (`machines.tuning.Setting`), and what could not be."""
    done = [s for s in settings if not s["problem"]]
    changed = [f"{s['key']} {s['old']} -> {s['got']}" for s in done if s["old"] != s["got"]]
    said = [f"{machine} is tuned for this run: {', '.join(changed)}."] * bool(changed)
    kept = (s for s in settings if s["problem"])
    said += [f"{s['key']} is unchanged on {machine}: {s['problem']}." for s in kept]
    said += [
        f"The kernel of {machine} set {s['key']} to {s['got']}, not {s['wanted']} as asked."
        for s in done
        if s["got"] != s["wanted"]
    ]
    return " ".join(said) or f"{machine} needed no tuning for this run."


_UNTUNED = {
    "profile": "its profile does not allow it (tuning)",
    "sudo": "its profile allows no root privileges (sudo)",
    "declined": "the run was started without tuning",
}

_FOUND = {
    "server-limited": "did not sustain",
    "client-limited": "could not be offered",
    "network-limited": "was limited by the network at",
    "faulty": "gave unexpected responses at",
}

FORMATS |= {
    "count": lambda values: f"{len(values):,}",
    "as_asked": lambda has, asked: FORMATS["other_asked"](has, asked) or ", as requested",
    "at": lambda values, suffix: formatting.counted(
        formatting.listed([*map(RATE.figure, values)]), suffix
    ),
    "ends": lambda values, suffix: f"{RATE.figure(values[0])} to {place(values[-1], suffix)}",
    "findings": lambda gate: " ".join(map(str, gate["sentences"])),
    "found_at": lambda verdict: _FOUND.get(verdict, "could not be judged at"),
    "now_in": lambda path, lost: "was written again" if path == lost else f"is now in {path}",
    "ordinal": formatting.ordinal,
    "quoted": lambda names: formatting.listed([f"'{name}'" for name in names]),
    "rising": _rising,
    "settings": lambda of: ", ".join(f"{name} = {value}" for name, value in of.items()),
    "tuned": _tuned,
    "untuned": _UNTUNED.__getitem__,
}


SOUND = 0.01
"""Share of segments; a healthy network loses far less."""


def lost_share(link: Mapping[str, Any]) -> float:
    """Of the segments that were sent to measure a link, by its parameters."""
    return share(link.get("resent", 0), link.get("segments", 0))


NOTICES = Templates("""
# After a code its severity, unless that is INFO, and parameters that are kept even if they are
# empty. Clients that are lost and recovered, and their limit; `left`: number of clients left.
# `ceiling_per_s`: against the null server, or what the server of this `name` sustained beyond the
# limit before; 0: no rate. `others_cpu_pct`: background load meanwhile, `disturbed`: so high that
# they may reach more. `reached_all`: all that the plan asks for. `load_tool`: where a run has
# several. `confirmed`: an earlier run found it, and this one reached it again at once.
ceiling: ceiling_per_s
    {name:?{name} sustained {ceiling_per_s:rate}/s, so the client limit is at least that (before:
    {before_per_s:?{before_per_s:rate}/s|none}).
    |{ceiling_per_s:?The clients reach {ceiling_per_s:,.0f}/s against the null server{load_tool:?
    with {load_tool}}{confirmed:?, as in an earlier run}{reached_all:?: all that the plan asks for
    |. Above this rate the clients are the limit}.
    |The clients sustained no rate against the null server: no point can be
    trusted.}{disturbed:? Background load took {others_cpu_pct:.0f} % of a core meanwhile, so they
    may reach more. Repeat on a quiet machine.}}
client-limit-unknown: WARNING
    {protocol:?The null server does not support {protocol}, so the client limit was not measured
    |The client limit was not measured}.
client-lost: ALERT left
    {clients:joined} was lost; from here on {left:1?1 client offers the whole rate|{left} clients
    offer the rate}{limit_void:?, and the client limit found before no longer applies}.
client-not-back: WARNING
    {clients:joined} did not come back: {said}
client-back: WARNING left
    {clients:joined} is back; from here on {left:1?1 client offers the whole rate|{left} clients
    offer the rate}{limit_valid:?, and the client limit found with all of them applies
    again}.{changed:? Its facts changed meanwhile: {changed:joined}.}{said:? {said:sentences}}
# Servers: how they were deployed, and how they ended; `between`: two points, so that neither is
# excluded. `asked`: 0: nothing was, because the server was running already.
backlog: QUIET asked
    {name:?{name}} listens with a backlog of {backlog:,}{asked:?{backlog:other_asked $asked}}.
# What it runs on, according to the kernel; `nofile`: descriptor limit of each process, 0: unknown.
resources: QUIET processes threads cores nofile
    {name:?{name}} runs in {processes:number_of processes} on {cores:?{cores:cores}|unknown
    cores}{nofile:?, with at most {nofile:,}
    descriptors{processes:1?| each}}.{threads:?}{asked_nofile:?}
# `gate`: a `workloads.gating.GateResult`; its sentences are equal for servers that behave alike.
gate: QUIET
    {gate:findings}
database: QUIET
    It has a PostgreSQL of its own, set as in the benchmark of 2015, the same for all:
    {settings:settings}.
warm-up: more_pct
    {name} gets faster while it runs, so it was warmed up for {seconds:g} s with {calls:,}
    calls{more_pct:?{more_pct:rising}}.
deploy: ALERT
    {said}
unequal:
    {name:?{name}: }{said}
# `status`: of its exit; negative: the signal. `said`: its last line of output.
died: ALERT
    {name} ended {status:exit} {warming_up:?during its warm-up }at {x:place $suffix}; its sweep ends
    here.{said:? Last output: {said}}
server-changed: ALERT
    {name} changed {between:?between two points|during the run}: {said}.
cpu-time-lost:
    {name} ignores SIGCHLD, so the kernel drops the CPU time of the processes it starts: its CPU
    time is unknown, and so is background load on its cores. Let it wait for them (waitpid).
# `processes`: of its tree, if several, whose memory is added up, as PSS (`shared_once`) or RSS;
# `held`: the most connections that the plan kept open at once.
memory:
    {name} grew from {before_bytes:megabytes} to {after_bytes:megabytes} and did not shrink after
    its last point{processes:? ({shared_once:?PSS of {processes:,} processes|RSS of {processes:,}
    processes; memory they share counts in each})}: {held:?it had up to {held:number_of
    connections} open at once|it keeps the memory for later, or leaks it}.
# The course of a run: its rates, and points repeated, left out or waited for. A point is repeated
# where the limit of a server is decided in doubt; `look`: attempts so far.
rates:
    {values:count} rates up to the client limit: {values:ends $suffix}.
again:
    {name:?{name} }{held:?sustained|{verdict:found_at}} {rates_per_s:at $suffix} ({look:ordinal}
    try{passes:?{passes:1?|, pass {pass_number}}}): repeating, because its limit is decided there.
gave-up: SERIOUS left_out
    The sweep ended early at {x:place $suffix}: fewer than {success_below_pct:g} % of the calls
    succeeded at {points:1?this point|{points} points in a row}; {left_out:1?1 higher one was
    |{left_out:,} higher ones were} left out.
skipped:
    {name} was skipped.
written-again: WARNING
    The session file {lost} was deleted or moved; the session {path:now_in $lost}.
cool-down:
    Waiting {seconds:.0f} s until the client's local ports are free again.
settle: WARNING
    {name} still had connections waiting {seconds:.0f} s after the last point; they carry over into
    the next one.
paused:
    Paused after {x:known?{x:place $suffix}|the servers were tested}.
resumed:
    Resumed.
# Machines: who else uses them, and what is wrong with them.
shared-cores: WARNING
    Server and agents share {cores:cores} of '{machine}': the load generator takes CPU time from the
    server, so measured rates are too low. Give them cores of their own.
shared-machine: WARNING
    Another user's run is on '{machine}' ({there:joined ;}): each disturbs the other. Agree on who
    measures when.
another-run: WARNING
    Another run, '{title}', is on {machines:quoted} at the same time: each disturbs the other.
    Repeat one of them alone.
exposed:
    {said}; the user who started the run agreed.{servers:?}{address:?}
confinement:
    The kernel of {machine} offers no Landlock (Linux 5.13), so the servers may read and write what
    their user may.
# `bits_per_s`: from the target, the direction of replies, in one TCP stream; `to_target_...`: then
# measured the other way, 0: not recorded. `by`: of older sessions, "iperf3" where that measured it.
# `segments`: sent both ways to measure round-trip times; `resent` of them were lost.
link: min_us
    {client} reaches {target} in {p50_us:duration} (p99 {p99_us:duration}){to_target_bits_per_s:?,
    at {bits_per_s:bits} from {target} and {to_target_bits_per_s:bits} to it| and at
    {bits_per_s:bits}}{by:? ({by})}{needed_bits_per_s:?; the plan needs about
    {needed_bits_per_s:bits} at most}.{resent:? It lost {resent:,} of {segments:,}
    segments.}{min_us:?}
link-unchecked:
    {said}{client:?}
# `to_target`: the direction of requests.
slow-link: WARNING
    The link from {to_target:?{client} to {target}|{target} to {client}} carries {bits_per_s:bits}
    and the plan needs about {needed_bits_per_s:bits}: at its highest rates the link may be the
    limit, not a server. Lower them, or use a faster link.
sampler-lost: WARNING
    {said} From here on CPU, memory and counters are missing.
sampler-restarted: WARNING
    {said} It was started again.
target-lost: ALERT
    {said} No more load is offered to it.
# Kernel settings changed for the duration of a run; `set`: the name of the set that asks for them;
# `settings` of restored: as "net.core.somaxconn 4096".
tuned: settings
    {settings:tuned $machine}{set:?}
untuned:
    {why:failed?{said}|{machine} is not tuned: {why:untuned}.}
restored:
    Kernel settings of {machine} are restored: {settings:joined}.
crash-restored:
    A crashed run had left {machine} tuned: {said:sentences}
not-restored: WARNING
    {said}{machine:?}
still-tuned: WARNING
    {machine} is still tuned by another run, or by one that crashed: {said}
# `why`: one of these, or "failed", "slow" or "lost"; `detail`: what the profiler printed, the
# program that is absent, or a sentence.
not-profiled:
    {name} was not profiled: {why:missing?{detail}|{why:start?{detail}|{why:empty?{tool} saw it do
    nothing.|{why:absent?{detail:jfr?jfr, a part of the JDK, is not on {machine}; install a JDK
    there.|its runtime has no profiler that is known here, and {detail} is not on {machine}; install
    it there (Debian: linux-perf).}|{why:denied?{tool} is not permitted on {machine}; run as root
    there, or set kernel.{tool:perf?perf_event_paranoid to 2 or less|yama.ptrace_scope to 0}.
    |{why:denied-to-root?{tool} is not permitted on {machine}, not even to root, as in a container;
    give it the capability {tool:perf?PERFMON|SYS_PTRACE}.|{tool} failed{detail:? ({detail})}.}}}}}}
# Not recorded, but derived from the documents, or why a run ended.
windows-missing: ALERT
    {seconds:.1f} s of samples from the clients are missing at this point. Its totals are complete;
    its time series has a gap.
# A server's first point that cannot be trusted, or the first after a trusted one; `first`: of the
# run, at a server's lowest rate, so what it sustains stays unknown.
not-judged: WARNING
    {name} at {x:place $suffix} cannot be judged. {cause}{first:?}
faulty: WARNING
    {name} is faulty at {x:place $suffix}. {cause}
aborted:
    The run was aborted. Every point measured before that is in the session.
# The program itself was suspended for longer than its runners keep going without it; `asleep`: with
# this computer, by its clocks.
suspended:
    {asleep:?This computer slept|Pongbench itself was suspended} for {seconds:.0f} s. Servers and
    clients stop by themselves without contact for that long, so the run ended. Every point measured
    before is in the session.
# `name`: "Tornado", or of one of several load tools, "Tornado, wrk".
no-result:
    No point of {name} has a result.{said:? {said}}
""")

notice = NOTICES.stated

_OF_ALL = {
    "backlog": "A backlog of {backlog:,} is in force{asked:?{backlog:as_asked $asked}}.",
    "resources": NOTICES["resources"][1].partition("runs in ")[2],
}


def of_all(said: Said) -> str:
    """What servers have in common, without a name; empty: it is about one server."""
    return fill(_OF_ALL.get(said.code, ""), said.data().get)
