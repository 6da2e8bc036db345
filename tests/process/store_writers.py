"""One program of several that write to the same store at once; see test_stores_at_once.

    python store_writers.py WHO

Every line on standard input is the name of a store and how often to write to it. It answers
"ready", and begins at the next line, so that all begin together; afterwards it says "written".
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import asyncssh

from app.settings import SettingsFile
from workbench.machines import hostkeys, profiles
from workbench.plan import library
from workbench.plan.model import Plan
from workbench.servers import user_servers
from workbench.servers.catalogue import Catalogue
from workbench.servers.gate import GateResult, remember
from workbench.sessions.labels import Label, Titles

Write = Callable[[str, int], object]
PLAN = Plan(servers=["gevent"], rates=[1000], seconds=1, description="words " * 200)


def known_hosts() -> Write:
    key = asyncssh.generate_private_key("ssh-ed25519").convert_to_public()
    return lambda who, n: hostkeys.trust(f"{who}-{n}", 22, key)


def titles() -> Write:
    return lambda who, n: Titles().write(f"{who}-{n}", Label(f"Title {n}"))


def settings() -> Write:
    file = SettingsFile()
    kept = file.load()

    def write(who: str, n: int) -> None:
        kept.more[f"{who}-{n}"] = {"text": "a draft " * 20}
        file.write(file.changes(kept))

    return write


def new_profiles() -> Write:
    def write(who: str, n: int) -> None:
        values = {"name": f"{who}-{n}", "connector": "ssh", "address": "10.0.0.5"}
        profiles.save_profile(profiles.make_profile(values), replace=False)

    return write


def one_profile() -> Write:
    """Each changes a key of its own."""
    keys = {"w0": "description", "w1": "user", "w2": "python", "w3": "key"}
    return lambda who, n: profiles.change_profile("shared", {keys[who]: f"{who}-{n}"})


def plans() -> Write:
    return lambda who, n: library.save(PLAN, f"{who} {n}")


def one_plan() -> Write:
    return lambda who, n: library.save(PLAN, "Shared", over="shared")


def servers() -> Write:
    return lambda who, n: user_servers.new(f"{who} {n}")


def gates() -> Write:
    entry = Catalogue.load()["gevent"]
    gate = GateResult(server="gevent", passed=True, sentences=[])
    return lambda who, n: remember(entry, gate, machine=f"{who}-{n}")


def main(who: str) -> None:
    while line := sys.stdin.readline():
        store, times = line.split()
        write = globals()[store]()
        print("ready", flush=True)
        sys.stdin.readline()
        for n in range(int(times)):
            write(who, n)
        print("written", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
