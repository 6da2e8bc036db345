"""Writes what the load agent is brought to machines with:  make agent-lock

The versions are those of uv.lock; the hashes are of all files of a release, for machines may have
Python 3.10 and uv.lock knows only what this program runs on.
"""

from __future__ import annotations

import subprocess
import tomllib
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LISTED = {
    "requirements.txt": ("gevent", "greenlet", "zope-event", "zope-interface"),
    "zeromq.txt": ("pyzmq",),
}
"""Packages by their list in resources/agent: gevent and what it does not begin without; what the
client of ZeroMQ servers has in its place."""
LOCUST = "locust==2.47.0"
"""With all it needs, for the users of locustfiles. It has no Python 3.10."""
HEAD = """\
# What the load agent is brought to machines with: the versions of uv.lock, and the hashes of all
# their files, for machines may have Python 3.10, of which uv.lock has none. See `make agent-lock`.
"""


def main() -> None:
    agent = ROOT / "resources" / "agent"
    for name, packages in LISTED.items():
        write(agent / name, pinned(packages), "3.10")
    write(
        agent / "locust.txt", f"{LOCUST}\n{pinned((*LISTED['requirements.txt'], 'pyzmq'))}", "3.11"
    )


def pinned(packages: Sequence[str]) -> str:
    # Newer Pythons get what is locked; for 3.10 the newest that fits is found.
    newer = "; python_version >= '3.11'"
    return "\n".join(
        f"{name}=={version}{newer if name.startswith('zope') else ''}"
        for name, version in locked(packages).items()
    )


def write(path: Path, pins: str, python: str) -> None:
    compile_ = ("pip", "compile", "-", "--generate-hashes", "--universal", "--quiet")
    options = ("--python-version", python, "--no-header", "--no-annotate", "--no-config")
    made = subprocess.run(
        [ROOT / ".tools" / "uv" / "bin" / "uv", *compile_, *options],
        input=pins,
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    ).stdout
    path.write_text(HEAD + made, encoding="utf-8")


def locked(packages: Sequence[str]) -> dict[str, str]:
    """Versions by name."""
    lock = tomllib.loads((ROOT / "uv.lock").read_text(encoding="utf-8"))
    return {p["name"]: p["version"] for p in lock["package"] if p["name"] in packages}


if __name__ == "__main__":
    main()
