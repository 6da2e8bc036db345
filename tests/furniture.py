"""Made-up machines, checks and tests of servers, for screenshots without waiting."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import asyncssh

from app.machines.records import Record, Records, stamp
from app.servers.tryout import Line, TrialResult
from workbench import paths
from workbench.errors import PongbenchError
from workbench.machines.checking import Step
from workbench.machines.hostkeys import ChangedHostKey, UnknownHostKey
from workbench.machines.knownhosts import Entry
from workbench.machines.profiles import make_profile, save_profile
from workbench.machines.runner_client import MachineBusy
from workbench.remote.builders import python as builder
from workbench.servers.entry import ServerEntry
from workbench.servers.gate import GateResult, remember

_MACHINES: dict[str, dict[str, Any]] = {
    "atlas": {"description": "The server under test, rack 4", "roles": ["target"]},
    "bolt": {"roles": ["client"]},
    "cedar": {"roles": ["client"]},
    "dune": {"roles": ["client"], "jump": "bolt"},
    "elm": {"roles": ["client"]},
    "fjord": {"roles": ["client"]},
    "a-client-with-a-long-name-in-the-lab-of-building-7": {"roles": ["client"]},
}
_CHANGES = [
    ["net.core.somaxconn", "4096", "250000"],
    ["net.ipv4.tcp_max_syn_backlog", "512", "2500"],
    ["net.core.netdev_max_backlog", "1000", "2500"],
    ["net.ipv4.ip_local_port_range", "32768 60999", "10152 65535"],
    ["fs.file-max", "9223372036854775807", "9223372036854775807"],
    ["net.ipv4.tcp_keepalive_time", "7200", "300"],
]


def machines(more: dict[str, Any]) -> None:
    """Profiles of machines in every state; `more`: of the settings, where checks are kept."""
    for number, (name, values) in enumerate(_MACHINES.items()):
        given = {"connector": "ssh", "address": f"10.0.4.{20 + number}", "user": "mila"}
        given |= {"sudo": "password", "tuning": name == "atlas"}
        save_profile(make_profile({"name": name, **given, **values}))
    damaged = paths.config_dir() / "profiles" / "gale.yaml"
    damaged.parent.mkdir(parents=True, exist_ok=True)
    damaged.write_text("name: gale\nconnector: ssh\naddress: 10.0.4.40\nprot: 22\n")
    records = Records(more)
    before = datetime.now().astimezone() - timedelta(days=12)
    for name, made in {
        "atlas": _checked(passed()),
        "bolt": _checked(passed(dead=True)),
        "cedar": _checked([_failed("Log in", changed_key())]),
        "dune": _checked([_failed("Log in", unknown_key())]),
        "elm": _checked([_failed("Start the runner", busy())]),
        "fjord": _checked(
            [
                _failed(
                    "Log in",
                    PongbenchError(
                        "'fjord' did not answer at 10.0.4.25 within 10 s; is it switched on, and"
                        " is the address right?"
                    ),
                )
            ]
        ),
    }.items():
        ended = before if name == "bolt" else datetime.now().astimezone()
        made.read = made.read and stamp(ended)
        made.finish(ended)
        records.put(name, made)


def many_machines(more: dict[str, Any]) -> None:
    """As `machines`, and clients until there are twelve machines."""
    machines(more)
    for number in range(4):
        values = {"connector": "ssh", "address": f"10.0.4.{50 + number}", "roles": ["client"]}
        save_profile(make_profile({"name": f"hazel-{number + 1}", **values}))


def passed(*, dead: bool = False) -> list[Step]:
    """The steps of a check of a machine over SSH."""
    facts = {
        "distribution": "Debian GNU/Linux 12 (bookworm)",
        "kernel": "6.1.0-28-amd64",
        "cpu_model": "Intel(R) Xeon(R) E-2388G CPU @ 3.20GHz",
        "cpu_count": 8,
        "cpus_allowed": list(range(8)),
        "governor": "performance",
        "memory_bytes": 32 << 30,
        "load_average": [0.12, 0.2, 0.18],
        "descriptor_limits": {"soft": 1024, "hard": 524_288},
        "sysctls": {"net.ipv4.ip_local_port_range": "32768 60999", "net.core.somaxconn": 4096},
    }
    cleaned = "Removed 1 leftover run with 1 process."
    return [
        Step("Log in", "passed", "mila logged in at 10.0.4.20 port 22 in 0.4 s."),
        Step(
            "Python",
            "passed",
            "Python 3.11.2 on x86_64 with glibc 2.36.",
            found={"python": "3.11.2"},
        ),
        Step("Space", "passed", "228.1 GB free in /home/mila/.cache/pongbench."),
        Step("Leftover runs", "warning", cleaned, found={"alive": []})
        if dead
        else Step("Leftover runs", "passed", "No leftovers of crashed runs.", found={"alive": []}),
        Step(
            "Cache",
            "passed",
            "/home/mila/.cache/pongbench has 88 MB of runtimes and agents, cached for later runs.",
            found={"cache_bytes": 88_300_000},
        ),
        Step("Start the runner", "passed", "Run directory: /home/mila/.cache/pongbench/runs/k7f2."),
        Step("Clock", "passed", "Clock offset known to ± 31 µs."),
        Step(
            "System facts",
            "passed",
            "Debian GNU/Linux 12 (bookworm), 6.1.0-28-amd64, Intel(R) Xeon(R) E-2388G CPU @"
            " 3.20GHz, 8 cores.",
            found={"facts": facts, "cpus": list(range(8))},
        ),
        Step(
            "Kernel settings",
            "passed",
            "Set 'piel-2010' would change 5.",
            found={"changes": {"piel-2010": _CHANGES}},
        ),
        Step(
            "Addresses",
            "passed",
            "Servers listen on 10.0.4.20; the others reach them at 10.0.4.20.",
        ),
    ]


@cache
def unknown_key() -> UnknownHostKey:
    key = asyncssh.generate_private_key("ssh-ed25519")
    sentence = (
        f"'dune' at 10.0.4.23 shows an unknown host key: {_shown(key)}; compare it with the one on"
        " the machine itself, then trust it."
    )
    return UnknownHostKey(sentence, "dune", "10.0.4.23", 22, key)


@cache
def changed_key() -> ChangedHostKey:
    old, new = (asyncssh.generate_private_key("ssh-ed25519") for _ in range(2))
    known = old.get_fingerprint("sha256")
    return ChangedHostKey(
        f"The host key of 'cedar' at 10.0.4.22 has changed: known is {known}, now it shows"
        f" {_shown(new)}; the machine was reinstalled, or this is a possible man-in-the-middle"
        " attack. Nothing was sent to it; trust the new key only if you know why it changed.",
        "cedar",
        "10.0.4.22",
        22,
        new,
        trusted=[Entry("", b"cedar", old.public_data, Path("~/.ssh/known_hosts").expanduser(), 1)],
    )


def _shown(key: asyncssh.SSHKey) -> str:
    return f"{key.get_algorithm()} {key.get_fingerprint('sha256')}"


def busy() -> MachineBusy:
    return MachineBusy("elm", "lena on fir", "")


def installed(entry: ServerEntry) -> None:
    """What a passed test of a server leaves in the cache: a runtime, and its result."""
    task = {
        "requirements": str(entry.requirements_path or ""),
        "imports": entry.imports,
        "build": entry.build,
    }
    place = builder.key(task, *builder.interpreter(task))
    made = paths.cache_dir() / "runtimes" / place
    made.mkdir(parents=True, exist_ok=True)
    (made / builder.STAMP).write_text("{}")
    remember(entry, GateResult(server=entry.id, passed=True, sentences=[]))


def trial_result() -> TrialResult:
    """The output of a test of a small HTTP server."""
    return TrialResult(
        True,
        [
            Line("Started in 0.4 s with CPython 3.11.2 and gevent 26.9.0."),
            Line("It answers 'Pong!' with 45 bytes on the wire."),
            Line("Closes after every reply: one call per connection.", "muted"),
            Line("Accept queue: 128 connections; 512 were requested.", "warn"),
        ],
        {
            "First request": "GET / HTTP/1.0\nHost: pongbench",
            "Response, 45 bytes": "HTTP/1.0 200 OK\nContent-Length: 5\n\nPong!",
            "Last output": "listening on 127.0.0.1:40123",
        },
    )


def _checked(steps: list[Step]) -> Record:
    made = Record()
    for step in steps:
        made.add(step)
    return made


def _failed(name: str, error: PongbenchError) -> Step:
    return Step(name, "failed", str(error), error)
