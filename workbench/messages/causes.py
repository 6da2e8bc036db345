"""Why a server reaches its limit: a resource it used up, or something it waited for."""

from __future__ import annotations

from workbench.messages.base import FORMATS, Said, Templates, fill


def _whose(address: str, service: str) -> str:
    if service == address:
        return f"its database ({service})"
    return f"{service} ({address})" if service else address


FORMATS |= {
    "in_kernel": lambda pct: f", {pct:.0f} % of that in system calls" if pct >= 50 else "",
    "whose_answer": _whose,
}

CAUSES = Templates("""
# `busy_pct` and `cpu_pct` are percent of one core, other shares are of the point's length, of CPU
# time or of working threads, as each says.
cores-full:
    {cores:1?Its core was full|All its {cores} cores were full} ({busy_pct:.0f} % of a
    core{kernel_pct:known?{kernel_pct:in_kernel}}).
thread-full:
    One of its threads filled a core ({busy_pct:.0f} % of a
    core{kernel_pct:known?{kernel_pct:in_kernel}}); it may use {cores}.
turns-taken:
    {threads} threads together used one core of {cores} ({busy_pct:.0f} %): they take turns, as
    with an interpreter lock.
# `threads`: its own, if they shared fewer cores; 0: other programs had the CPU.
cpu-contended:
    Its busiest thread waited for a CPU {waited_pct:.0f} % of the time: {threads:?its
    {threads:,} threads shared {cores:1?one core and used {busy_pct:.0f} % of it|{cores} cores
    and used {busy_pct:.0f} % of one}|other programs ran there (it used {busy_pct:.0f} % of a
    core)}.
descriptors-used-up:
    It had {opened:,} descriptors open, of at most {limit:,} (nofile).
cpu-quota:
    Its CPU quota (cgroup) kept it from running {throttled_pct:.0f} % of the time (it used
    {busy_pct:.0f} % of a core).
garbage-collected:
    Garbage collection took {collecting_pct:.0f} % of its CPU time ({busy_pct:.0f} % of a core).
database-busy:
    Its database ({service}) took {share_pct:.0f} % of the CPU time of both ({busy_pct:.0f} % of
    a core, of {cores}).
# `service`: by default port; empty: unknown.
waited-for-answer:
    It waited for answers of {address:whose_answer $service}, over {connections:number_of
    connections}, and used only {busy_pct:.0f} % of a core.
waited-for-lock:
    {threads:.0f} of its threads waited for a lock, on average ({busy_pct:.0f} % of a core
    used).
waited-for-disk:
    {share_pct:.0f} % of its working threads waited for a disk ({busy_pct:.0f} % of a core
    used).
slept:
    {share_pct:.0f} % of its working threads slept (a timer, such as sleep()) and it used only
    {busy_pct:.0f} % of a core.
machine-waited:
    Programs on its machine waited for {resource:memory?memory|its disk} {pct:.0f} % of the
    time.
# `waiting`: the most connections seen in the queue; 0: it overflowed.
not-accepted:
    Its accept queue (backlog {backlog:,}) {waiting:?held {waiting:,} connections|was full}
    while it used only {busy_pct:.0f} % of a core: it waited, and accepted connections too
    slowly.
waited:
    It used only {busy_pct:.0f} % of a core: it waited for something else, such as a timer, a
    lock, a database or another service.
""")

_BRIEF = {
    "cores-full": "{cores:1?its core was|all its {cores} cores were} full",
    "thread-full": "one of its threads filled a core",
    "turns-taken": "its threads took turns on one core",
    "cpu-contended": "it waited for a CPU",
    "descriptors-used-up": "it ran out of descriptors",
    "cpu-quota": "its CPU quota was used up",
    "garbage-collected": "it collected garbage",
    "database-busy": "its database was busy",
    "waited-for-answer": "it waited for {address:whose_answer $service}",
    "waited-for-lock": "its threads waited for a lock",
    "waited-for-disk": "it waited for a disk",
    "slept": "its threads slept",
    "machine-waited": "its machine ran out of {resource:memory?memory|disk bandwidth}",
    "not-accepted": "it accepted connections too slowly",
    "waited": "it waited for something else",
}
"""Templates of a few words, to follow the server's rate."""

lacking = CAUSES.stated


def brief(cause: Said) -> str:
    """A few words; empty: it is no cause of this table."""
    return fill(_BRIEF.get(cause.code, ""), cause.data().get)
