"""Sentences of notes about machines, their links, clients and settings."""

# ruff: noqa: E501 - a sentence stands on one line

from __future__ import annotations

from workbench.messages import notes
from workbench.messages.base import Message

SENTENCES: list[tuple[Message, str]] = [
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
        "h2 reaches h1 in 95 µs (p99 240 ms) and at 9 Mbit/s. It lost 19 of 600 segments.",
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
        "The clients reach 8,000/s against the null server. Above this rate the clients are the limit.",
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
    (notes.ClientLimitUnknown(protocol=""), "The client limit was not measured."),
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
        notes.AnotherRun(title="Quick look", machines=["localhost", "h1"]),
        "Another run, 'Quick look', is on 'localhost' and 'h1' at the same time: each disturbs the other. Repeat one of them alone.",
    ),
    (
        notes.Confinement(machine="h1"),
        "The kernel of h1 offers no Landlock (Linux 5.13), so the servers may read and write what their user may.",
    ),
]
